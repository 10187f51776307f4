/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the processes that run seeds, so that a crash is a result like any other.
 * It never looks into a run; results come through pipes.
 * Start with jobs_run().
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

static int result_fd = -1; /* in a child: where its results go */
static const struct sim_keys *result_keys;

struct worker {
	pid_t pid;
	int fd;
	uint64_t seed; /* the one it is at */
	bool open;
};

static void
send_all(const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len > 0) {
		ssize_t sent = write(result_fd, at, len);

		if (sent <= 0)
			_exit(SIM_CRASH);
		at += sent;
		len -= (size_t)sent;
	}
}

static bool
receive_all(int fd, void *data, size_t len)
{
	uint8_t *at = data;

	while (len > 0) {
		ssize_t got = read(fd, at, len);

		if (got <= 0)
			return false;
		at += got;
		len -= (size_t)got;
	}
	return true;
}

static void
report(const struct job_result *result)
{
	struct job_result whole = *result;

	whole.keys = result_keys ? result_keys->count : 0;
	send_all(&whole, sizeof(whole));
	if (whole.keys > 0)
		send_all(result_keys->list, whole.keys * sizeof(uint64_t));
}

void
jobs_failed(struct world *world, enum sim_exit how, const char *invariant)
{
	struct job_result result = {.how = how, .seed = world->seed, .stats = world->stats};

	snprintf(result.invariant, sizeof(result.invariant), "%s", invariant);
	result.stats.seeds = 1;
	script_write(world, invariant);
	if (result_fd >= 0)
		report(&result);
	_exit(how);
}

static uint64_t
real_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * PLX_SEC + (uint64_t)at.tv_nsec;
}

static void
run_one(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	struct sim_stats *stats)
{
	run_fn run = options->cm       ? fabric_run
		     : options->engine ? fleet_run
		     : options->ndk    ? drivers_run
				       : world_run;
	struct sim_stats again;

	run(options, seed, mask, stats);
	if (!options->twice)
		return;
	run(options, seed, mask, &again);
	if (memcmp(stats, &again, sizeof(again)) == 0)
		return;
	fprintf(stderr,
		"plx-sim: seed %" PRIu64 ": I12: two runs differ (%016" PRIx64 ", %016" PRIx64
		")\n",
		seed, stats->hash, again.hash);
	_exit(SIM_WRONG);
}

__attribute__((noreturn)) static void
work(const struct sim_options *options, uint64_t first)
{
	for (uint64_t n = first; n < options->seeds; n += options->jobs) {
		struct job_result result = {.how = SIM_PASS, .seed = options->first + n};

		run_one(options, result.seed, NULL, &result.stats);
		report(&result);
	}
	exit(SIM_PASS); /* not _exit(): the leak check runs here */
}

static void
start(const struct sim_options *options, struct worker *workers, uint32_t index)
{
	struct worker *worker = &workers[index];
	int ends[2];

	PLX_ASSERT(pipe(ends) == 0);
	fflush(NULL);
	worker->pid = fork();
	PLX_ASSERT(worker->pid >= 0);
	if (worker->pid == 0) {
		for (uint32_t i = 0; i < index; i++)
			close(workers[i].fd);
		close(ends[0]);
		result_fd = ends[1];
		work(options, index);
	}
	close(ends[1]);
	worker->fd = ends[0];
	worker->seed = options->first + index;
	worker->open = true;
}

static int
exit_of(pid_t pid)
{
	int status;

	PLX_ASSERT(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == SIM_PASS || WEXITSTATUS(status) == SIM_WRONG ||
	     WEXITSTATUS(status) == SIM_STUCK))
		return WEXITSTATUS(status);
	return SIM_CRASH;
}

/* Take one result, or find out that there will be no more. Returns: the worker's verdict */
static int
listen(const struct sim_options *options, struct worker *worker, struct sim_stats *sum)
{
	struct job_result result;
	int how;

	if (receive_all(worker->fd, &result, sizeof(result))) {
		sim_stats_add(sum, &result.stats);
		worker->seed = result.seed + options->jobs;
		return SIM_PASS; /* a failure's exit code follows */
	}
	close(worker->fd);
	worker->open = false;
	how = exit_of(worker->pid);
	if (how == SIM_CRASH)
		fprintf(stderr,
			"plx-sim: seed %" PRIu64 " crashes\nplx-sim: again: %s%s --first %" PRIu64
			" --seeds 1 --ops %" PRIu32 "\n",
			worker->seed, options->program, sim_subject_option(options), worker->seed,
			options->ops);
	return how;
}

static void
progress(const struct sim_options *options, const struct sim_stats *sum)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " seeds, %" PRIu64 " operations ", sum->seeds,
		options->seeds, sum->ops);
	if (sum->seeds == options->seeds)
		fputc('\n', stderr);
}

/* The first failure ends the run: the other workers have nothing to add. */
static int
collect(const struct sim_options *options, struct worker *workers, struct sim_stats *sum)
{
	struct pollfd fds[SIM_JOBS_MAX];
	uint32_t open = options->jobs;
	int how = SIM_PASS;

	while (open > 0 && how == SIM_PASS) {
		for (uint32_t i = 0; i < options->jobs; i++)
			fds[i] = (struct pollfd){.fd = workers[i].open ? workers[i].fd : -1,
						 .events = POLLIN};
		PLX_ASSERT(poll(fds, options->jobs, -1) > 0);
		for (uint32_t i = 0; i < options->jobs; i++) {
			if (fds[i].revents == 0 || how != SIM_PASS)
				continue;
			how = listen(options, &workers[i], sum);
			open -= !workers[i].open;
		}
		progress(options, sum);
	}
	for (uint32_t i = 0; i < options->jobs; i++) {
		if (!workers[i].open)
			continue;
		kill(workers[i].pid, SIGKILL);
		(void)exit_of(workers[i].pid);
		close(workers[i].fd);
	}
	return how;
}

int
jobs_run(const struct sim_options *options)
{
	struct worker workers[SIM_JOBS_MAX];
	struct sim_stats sum = {0};
	uint64_t started = real_ns(), passed;
	int how = SIM_PASS;

	if (options->trace || (options->jobs == 1 && options->seeds == 1)) {
		run_one(options, options->first, NULL, &sum); /* in this process, for a debugger */
	} else {
		for (uint32_t i = 0; i < options->jobs; i++)
			start(options, workers, i);
		how = collect(options, workers, &sum);
	}
	passed = real_ns() - started;
	printf("plx-sim: seeds %" PRIu64 " to %" PRIu64 ", %" PRIu32 " operations each: %s\n",
	       options->first, options->first + options->seeds - 1, options->ops,
	       how == SIM_PASS ? "passed" : "FAILED");
	sim_stats_print(&sum, passed * options->jobs);
	if (how == SIM_PASS && options->expect_coverage &&
	    !sim_stats_covered(&sum, options->cm       ? SIM_OF_MANAGERS
				     : options->engine ? SIM_OF_ENGINES
				     : options->ndk    ? SIM_OF_DRIVERS
						       : SIM_OF_PAIRS))
		return SIM_WRONG;
	return how;
}

/* One seed, masked, in a child; what it recorded is added to mask->record. */
void
jobs_run_one(const struct sim_options *options, const struct sim_mask *mask, bool quiet,
	     struct job_result *out)
{
	int ends[2], how;
	pid_t pid;

	PLX_ASSERT(pipe(ends) == 0);
	fflush(NULL);
	pid = fork();
	PLX_ASSERT(pid >= 0);
	if (pid == 0) {
		struct job_result result = {.how = SIM_PASS, .seed = options->first};

		close(ends[0]);
		result_fd = ends[1];
		result_keys = mask->record;
		if (quiet && freopen("/dev/null", "w", stderr) == NULL)
			_exit(SIM_CRASH);
		world_run(options, options->first, mask, &result.stats);
		report(&result);
		_exit(SIM_PASS);
	}
	close(ends[1]);
	memset(out, 0, sizeof(*out));
	if (receive_all(ends[0], out, sizeof(*out))) {
		for (uint64_t i = 0; i < out->keys; i++) {
			uint64_t key;

			PLX_ASSERT(receive_all(ends[0], &key, sizeof(key)));
			keys_add(mask->record, key);
		}
	}
	close(ends[0]);
	how = exit_of(pid);
	if (how == SIM_CRASH)
		snprintf(out->invariant, sizeof(out->invariant), "crash");
	out->how = how;
}
