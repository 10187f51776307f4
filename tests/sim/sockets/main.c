/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plx-sim-sockets: seeds, one after the other, on several cores. Start with run_one().
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system.h"

enum {
	EXIT_WRONG = 2,
	EXIT_USAGE = 4,
	JOBS_MAX = 64,
};

struct totals {
	uint64_t seeds, swaps, calls, deaths, forks, broken, bytes, turns, longest, longest_seed;
};

struct options {
	uint64_t seeds, first;
	uint32_t jobs;
	bool trace, twice, expect;
};

static struct totals *totals; /* [jobs], shared */

/* ---- one seed ---- */

static const uint32_t preempts[] = {1, 3, 10, 40, 200, 2000};
static const uint32_t payloads[] = {64, 256, 1024, 8192, 32704};

static void
draw_knobs(void)
{
	struct knobs *knobs = &sys->knobs;

	*knobs = (struct knobs){
		.preempt = preempts[sys_draw(PLX_COUNT_OF(preempts))],
		.kills = sys_one_in(3) ? 0 : 1 + sys_draw(6),
		.kill_every = 20u << sys_draw(8),
		.programs = 1 + sys_draw(4),
		.delay = 500u << sys_draw(10),
		.credits = 1 + sys_draw(12),
		.payload = payloads[sys_draw(PLX_COUNT_OF(payloads))],
	};
	knobs->jitter = sys_one_in(2) ? 0 : knobs->delay * (1 + sys_draw(8));
	knobs->most = 1 + sys_draw(2 * knobs->payload * (1 + sys_draw(3)));
	knobs->quota = 1 + sys_draw(40 * knobs->most);
	if (knobs->most > SENT_MAX / 8)
		knobs->most = SENT_MAX / 8;
	if (knobs->quota > SENT_MAX / 2)
		knobs->quota = SENT_MAX / 2;
}

/* Of a stream of its own: seeds in which nothing breaks stay what they are. */
static void
draw_breaking(uint64_t seed)
{
	uint64_t random = plx_splitmix64(&seed);
	struct knobs *knobs = &sys->knobs;

	if (random % 3 != 0)
		return;
	knobs->breaks = random & 256 ? BREAK_BROKER : BREAK_PATH;
	knobs->break_host = random & 512 ? 1 : 0;
	knobs->break_every = UINT64_C(20) << ((random >> 32) % 10);
}

static void
begin(uint64_t seed, bool trace)
{
	memset(sys->memory, 0, sys->memory_used);
	memset(sys, 0, offsetof(struct sys, messages));
	sys->random = seed * 0x2545f4914f6cdd1du + 1;
	sys->trace = trace;
	sys->now = sys->progress_at = PLX_SEC;
	draw_knobs();
	draw_breaking(seed);
	for (uint32_t i = 0; i < DIRECTIONS; i++) {
		struct direction *d = &sys->direction[i];

		d->stretches = 1;
		d->writer = d->reader = -1;
		d->quota = sys_draw(sys->knobs.quota + 1);
	}
}

static void
spawn(uint32_t i)
{
	uint8_t host = (uint8_t)(i % HOSTS);
	int place = sys_place(host, i < HOSTS);
	pid_t pid = fork();

	if (pid != 0) {
		sys->process[place].pid = pid;
		return;
	}
	sys_begin(place);
	if (i < HOSTS)
		broker_main(host);
	else
		program_main(host);
	_exit(0);
}

static void
judge_all(void)
{
	for (uint32_t i = 0; i < DIRECTIONS && sys->over == 1; i++) {
		const char *why = judge(i);

		if (why == NULL)
			continue;
		snprintf(sys->failure, sizeof(sys->failure), "%s", why);
		sys->over = 2;
	}
	if (sys->over == 1 && (kernel_left() > 0 || provider_left() > 0)) {
		snprintf(sys->failure, sizeof(sys->failure), "%u files and %u queue pairs are left",
			 kernel_left(), provider_left());
		sys->over = 2;
	}
}

/* Returns: it went well */
static bool
run_one(uint64_t seed, const struct options *options)
{
	int status;

	begin(seed, options->trace);
	for (uint32_t i = 0; i < 2 * HOSTS; i++)
		spawn(i);
	sys_run();
	for (int i = 0; sys->over == 2 && i < PROCESSES; i++)
		if (sys->process[i].pid > 0)
			kill(sys->process[i].pid, SIGKILL);
	while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
		;
	judge_all();
	if (sys->over == 1)
		return true;
	fprintf(stderr,
		"plx-sim-sockets: seed %llu: %s\n  preempt %u, kills %u, breaks %u, programs %u, "
		"delay %llu, "
		"credits %u, payload %u, calls of %u\n"
		"  again: plx-sim-sockets --first %llu --trace\n",
		(unsigned long long)seed, sys->failure, sys->knobs.preempt, sys->knobs.kills,
		sys->knobs.breaks, sys->knobs.programs, (unsigned long long)sys->knobs.delay,
		sys->knobs.credits, sys->knobs.payload, sys->knobs.most, (unsigned long long)seed);
	return false;
}

/* ---- many ---- */

static void
add(struct totals *to, const struct totals *one)
{
	to->seeds += one->seeds;
	to->swaps += one->swaps;
	to->calls += one->calls;
	to->deaths += one->deaths;
	to->forks += one->forks;
	to->broken += one->broken;
	to->bytes += one->bytes;
	to->turns += one->turns;
	if (one->longest > to->longest) {
		to->longest = one->longest;
		to->longest_seed = one->longest_seed;
	}
}

static struct totals
totals_of(uint64_t seed)
{
	return (struct totals){
		.seeds = 1,
		.swaps = sys->swaps,
		.calls = sys->calls,
		.deaths = sys->deaths,
		.forks = sys->forks,
		.broken = sys->broken,
		.bytes = sys->bytes_moved,
		.turns = sys->turns,
		.longest = sys->longest,
		.longest_seed = seed,
	};
}

static bool
run_again(uint64_t seed, const struct options *options)
{
	uint64_t hash = sys->hash, turns = sys->turns;

	if (!run_one(seed, options))
		return false;
	if (sys->hash == hash && sys->turns == turns)
		return true;
	fprintf(stderr, "plx-sim-sockets: seed %llu: two runs differ\n", (unsigned long long)seed);
	return false;
}

__attribute__((noreturn)) static void
work(const struct options *options, uint32_t job)
{
	cpu_set_t core;

	CPU_ZERO(&core);
	CPU_SET(job % (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), &core);
	(void)sched_setaffinity(0, sizeof(core), &core); /* the turn passes on one core */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sys = mmap(NULL, sizeof(*sys), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sys == MAP_FAILED)
		_exit(EXIT_WRONG);
	for (uint64_t n = job; n < options->seeds; n += options->jobs) {
		uint64_t seed = options->first + n;
		struct totals one;

		if (!run_one(seed, options) || (options->twice && !run_again(seed, options)))
			_exit(EXIT_WRONG);
		one = totals_of(seed);
		add(&totals[job], &one);
	}
	_exit(0);
}

static int
run_all(const struct options *options)
{
	struct totals sum = {0};
	int status, worst = 0;

	totals = mmap(NULL, JOBS_MAX * sizeof(*totals), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (totals == MAP_FAILED)
		return EXIT_WRONG;
	for (uint32_t i = 0; i < options->jobs; i++)
		if (fork() == 0)
			work(options, i);
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			worst = EXIT_WRONG;
	for (uint32_t i = 0; i < options->jobs; i++)
		add(&sum, &totals[i]);
	printf("seeds %llu  calls %llu  bytes %llu  swaps %llu  deaths %llu  forks %llu  "
	       "broken %llu  turns %llu\n"
	       "longest time in which no call returned: %.3f ms (seed %llu)\n",
	       (unsigned long long)sum.seeds, (unsigned long long)sum.calls,
	       (unsigned long long)sum.bytes, (unsigned long long)sum.swaps,
	       (unsigned long long)sum.deaths, (unsigned long long)sum.forks,
	       (unsigned long long)sum.broken, (unsigned long long)sum.turns,
	       (double)sum.longest / 1e6, (unsigned long long)sum.longest_seed);
	if (options->expect &&
	    (sum.swaps < sum.seeds || sum.deaths < sum.seeds / 2 || sum.forks < sum.seeds ||
	     sum.broken < sum.seeds / 10 || sum.calls < 50 * sum.seeds)) {
		fprintf(stderr, "plx-sim-sockets: too little has happened\n");
		worst = EXIT_WRONG;
	}
	return worst;
}

/* ---- the command line ---- */

static uint64_t
number(const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text == '\0' || *end != '\0') {
		fprintf(stderr, "plx-sim-sockets: '%s' is no number\n", text);
		exit(EXIT_USAGE);
	}
	return value;
}

int
main(int argc, char **argv)
{
	static const struct option names[] = {
		{"seeds", required_argument, NULL, 's'},
		{"first", required_argument, NULL, 'f'},
		{"jobs", required_argument, NULL, 'j'},
		{"trace", no_argument, NULL, 't'},
		{"twice", no_argument, NULL, '2'},
		{"expect-coverage", no_argument, NULL, 'e'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {.seeds = 1, .jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (c == 's')
			options.seeds = number(optarg);
		else if (c == 'f')
			options.first = number(optarg);
		else if (c == 'j')
			options.jobs = (uint32_t)number(optarg);
		else if (c == 't')
			options.trace = true;
		else if (c == '2')
			options.twice = true;
		else if (c == 'e')
			options.expect = true;
		else
			return EXIT_USAGE;
	}
	if (optind != argc || options.jobs < 1 || options.jobs > JOBS_MAX) {
		fprintf(stderr, "plx-sim-sockets: 1 to %d jobs, and no arguments\n", JOBS_MAX);
		return EXIT_USAGE;
	}
	return run_all(&options);
}
