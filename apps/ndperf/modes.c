/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads, adapters and the order of rows in the three forms of ndperf. In one process the passive
 * endpoint is a server on a thread of its own, with a pair of sockets as side channel; or both
 * endpoints share the main thread. Start with measure_here().
 */
#include "modes.h"

#include "clock.h"
#include "cpu.h"
#include "options.h"
#include "raw_port.h"
#include "report.h"
#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	PROGRESS_MS = 250,
};

/* The state of a measuring process. */
struct bench {
	const struct options *options;
	struct report report;
	struct session session; /* of the active endpoint */
	struct side passive;    /* on this thread too, or unused */
	struct session guest;   /* turns: the verbs endpoints on the adapters of the two above */
	struct side guest_passive;
	bool is_duo, is_open, has_passive;
	bool takes_turns; /* adapters and raw rows open the same devices, one after the other */
	bool has_head;    /* the report's heading has been printed */
	struct calibration calibration;
	uint64_t progress_at;
	const struct job *job;
	double saturated;        /* [messages/s] of the last row of rate */
	struct plx_why not_held; /* of a row whose open loop was too fast; or "" */
};

/* The thread of the passive endpoint. */
struct companion {
	const struct options *options;
	pthread_t thread;
	struct session session;
	struct plx_why why;
	bool has_failed;
};

/* Report once that an adapter has no hugepages: it works, but more slowly. */
static void
warn_hugepages(const struct plx_adapter_info *info)
{
	static bool is_told;
	if (!info->hugepages && !is_told)
		fprintf(stderr, "ndperf: no hugepages are free, so figures are lower; `echo 512 > "
				"/proc/sys/vm/nr_hugepages` reserves 1 GiB\n");
	is_told = true;
}

/* ---- rows ---- */

static bool
progress(struct run *run, uint64_t now)
{
	struct session *s = run->arg;
	struct bench *bench = (struct bench *)((char *)s - offsetof(struct bench, session));
	if (bench->report.has_progress && now >= bench->progress_at) {
		double share = now > run->start
				       ? (double)(now - run->start) / (double)(run->to - run->start)
				       : 0;
		report_progress(&bench->report, bench->job, share < 1 ? share : 1);
		bench->progress_at = now + ticks_of_ms(PROGRESS_MS);
	}
	return true;
}

static bool
raw_row(struct bench *bench, const struct job *job, struct result *result, struct plx_why *why)
{
	struct histogram *histogram = &bench->session.histogram;
	histogram_clear(histogram);
	memset(result, 0, sizeof(*result));
	why->text[0] = '\0';
	bool is_good = raw_run(bench->options, job, result, why) == 0;
	result->job = *job;
	result->histogram = histogram;
	return is_good;
}

/* Compare a row of ND2 or NDK with the row of verbs. */
static bool
both_rows(struct bench *bench, const struct job *job, struct plx_why *why)
{
	struct duo face = {&bench->session, &bench->passive};
	struct duo verbs = {&bench->guest, &bench->guest_passive};
	struct result results[2];
	bench->job = job;
	report_begin(&bench->report, job);
	if (!session_duo_rows(&verbs, &face, job, results, why))
		return false;
	report_row(&bench->report, &results[0]);
	report_row(&bench->report, &results[1]);
	return true;
}

/* The job as it is run: the rate of an open loop may be a part of that of the row before. */
static struct job
resolved(const struct bench *bench, const struct job *job)
{
	struct job run = *job;
	double rate = bench->saturated * job->percent / 100;
	if (job->percent != 0)
		run.rate = rate < 1 ? 1 : rate > RATE_MAX ? RATE_MAX : (uint32_t)rate;
	run.percent = 0;
	return run;
}

/* Was the rate of an open loop held? The latencies are true even if not. */
static void
check_rate(struct bench *bench, struct result *result)
{
	char text[80];
	if (result->missed == 0)
		return;
	snprintf(result->note, sizeof(result->note),
		 "not held: %.3f million/s ended, %llu messages were never posted",
		 result_achieved(result) / 1e6, (unsigned long long)result->missed);
	why_set(&bench->not_held,
		"%s: %.3f million messages a second were not held, %.3f ended; give a lower "
		"--open, "
		"or more --depth",
		job_text(&result->job, text, sizeof(text)), result->job.rate / 1e6,
		result_achieved(result) / 1e6);
}

/* The machine's own stalls, right before and right after a row. */
static void
meter(const struct bench *bench, const struct job *job, struct stalls *machine)
{
	const struct options *o = bench->options;
	if (o->percentiles && job->test == TEST_LATENCY)
		stalls_meter(o->core, bench->is_duo || o->core[0] == o->core[1] ? 1 : CORES,
			     machine);
}

static bool
one_row(struct bench *bench, const struct job *job, struct plx_why *why)
{
	struct duo duo = {&bench->session, &bench->passive};
	struct result result;
	struct job run = resolved(bench, job);
	bool is_good;
	bench->job = job;
	report_begin(&bench->report, job);
	struct stalls machine = {0};
	meter(bench, job, &machine);
	if (job->raw)
		is_good = raw_row(bench, &run, &result, why);
	else if (bench->is_duo)
		is_good = session_duo_row(&duo, &run, &result, why);
	else
		is_good = session_client_row(&bench->session, &run, &result, why);
	if (!is_good)
		return false;
	meter(bench, job, &machine);
	result.machine = machine;
	check_rate(bench, &result);
	report_row(&bench->report, &result);
	bench->saturated = run.test == TEST_RATE ? result.value : bench->saturated;
	return true;
}

/* Measure rows with the open adapters. The report's heading describes them once. */
static bool
rows(struct bench *bench, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	bool is_good = true;
	if (!bench->has_head)
		report_head(&bench->report, bench->is_open ? &bench->session.side.info : NULL,
			    &bench->calibration);
	bench->has_head = true;
	bench->session.look = progress;
	for (uint32_t i = 0; i < n && is_good; i++)
		is_good = api_takes_turns(bench->options->api) && !jobs[i].raw
				  ? both_rows(bench, &jobs[i], why)
				  : one_row(bench, &jobs[i], why);
	return is_good;
}

/* Measures a list of jobs: rows(), or a function that opens the adapters first. */
typedef bool measure_fn(struct bench *bench, const struct job *jobs, uint32_t n,
			struct plx_why *why);

/* Produce the whole report: call `measure` once per round. */
static bool
all_rounds(struct bench *bench, measure_fn *measure, const struct job *jobs, uint32_t n,
	   struct plx_why *why)
{
	const struct options *o = bench->options;
	bool is_good = true;
	calibrate(o->core, &bench->calibration);
	if (!report_open(&bench->report, o, n * o->rounds, why))
		return false;
	for (uint32_t round = 0; round < o->rounds && is_good; round++) {
		bench->report.round = round;
		is_good = measure(bench, jobs, n, why);
	}
	if (is_good && bench->not_held.text[0] != '\0') {
		*why = bench->not_held;
		is_good = false;
	}
	if (!report_close(&bench->report, is_good ? NULL : why->text) && is_good)
		return why_set(why, "--json %.150s could not be written in full: %s", o->json,
			       strerror(errno));
	return is_good;
}

/* Measure all rounds; or the given jobs once, if another function counts the rounds. */
static bool
all_rows(struct bench *bench, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	return bench->takes_turns ? rows(bench, jobs, n, why)
				  : all_rounds(bench, rows, jobs, n, why);
}

/* ---- both endpoints in this process ---- */

static void *
companion_main(void *arg)
{
	struct companion *c = arg;
	struct session *s = &c->session;
	cpu_pin(c->options->core[1]);
	if (side_open(&s->side, c->options, false, &c->why)) {
		c->has_failed = !session_serve(s, &c->why);
		side_close(&s->side);
	} else {
		c->has_failed = true;
		talk_refuse(&s->talk, c->why.text);
		s->talk.carrier->close(&s->talk);
	}
	return NULL;
}

static bool
start_companion(struct companion *c, struct bench *bench, struct plx_why *why)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return why_set(why, "no pair of sockets: %s", strerror(errno));
	c->options = bench->options;
	c->session.is_solo = true;
	talk_init(&c->session.talk, c->options, &c->session.side);
	c->session.talk.fd = ends[1];
	strcpy(c->session.talk.peer, "the active endpoint");
	talk_init(&bench->session.talk, c->options, &bench->session.side);
	bench->session.talk.fd = ends[0];
	strcpy(bench->session.talk.peer, "the passive endpoint");
	bench->session.other = &c->session.side;
	int error = pthread_create(&c->thread, NULL, companion_main, c);
	if (error != 0) {
		c->session.talk.carrier->close(&c->session.talk);
		return why_set(why, "no thread for the passive endpoint: %s", strerror(error));
	}
	return true;
}

static bool
with_companion(struct bench *bench, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	struct companion *c = calloc(1, sizeof(*c));
	if (c == NULL)
		return why_set(why, "no memory");
	bool is_started = start_companion(c, bench, why);
	bool is_good = is_started && talk_hello(&bench->session.talk, why) &&
		       all_rows(bench, jobs, n, why);
	if (is_started)
		bench->session.talk.carrier->close(&bench->session.talk);
	if (is_started)
		pthread_join(c->thread, NULL);
	/* the other thread's failure is the better sentence, unless it only says that we left */
	if (is_started && !is_good && c->has_failed && strstr(c->why.text, "vanished") == NULL &&
	    strstr(c->why.text, "the active endpoint:") == NULL)
		*why = c->why;
	free(c);
	return is_good;
}

static bool
wants_adapters(const struct job *jobs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!jobs[i].raw)
			return true;
	}
	return false;
}

static bool
open_guests(struct bench *bench, struct plx_why *why)
{
	return side_open_beside(&bench->guest.side, &bench->session.side, why) &&
	       side_open_beside(&bench->guest_passive, &bench->passive, why);
}

static bool
measure_with(struct bench *bench, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	const struct options *o = bench->options;
	if (n > 0 && !wants_adapters(jobs, n))
		return all_rows(bench, jobs, n, why);
	/* with a shared worker, core A is the worker's and core B the application's */
	cpu_pin(o->core[o->layout == LAYOUT_SHARED_WORKER]);
	bench->is_open = side_open(&bench->session.side, o, true, why);
	if (!bench->is_open)
		return false;
	warn_hugepages(&bench->session.side.info);
	if (!bench->is_duo)
		return with_companion(bench, jobs, n, why);
	bench->has_passive = side_open(&bench->passive, o, false, why);
	return bench->has_passive && (!api_takes_turns(o->api) || open_guests(bench, why)) &&
	       all_rows(bench, jobs, n, why);
}

/* Open what the jobs need, measure them, and close it again. */
static bool
measure_and_close(struct bench *bench, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	bool is_good = measure_with(bench, jobs, n, why);
	side_close(&bench->guest_passive); /* no effect if there are none */
	side_close(&bench->guest.side);
	if (bench->has_passive)
		side_close(&bench->passive);
	if (bench->is_open)
		side_close(&bench->session.side);
	bench->has_passive = bench->is_open = false;
	return is_good;
}

/* Measure a round in which raw rows and the rows that they are compared with open the same devices
 * in turns. The adapters are opened once before, for the report's heading. */
static bool
round_in_turns(struct bench *bench, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	bool is_good = bench->has_head || measure_and_close(bench, jobs, 0, why);
	for (uint32_t i = 0; i < n && is_good; i++) {
		is_good = measure_and_close(bench, &jobs[i], 1, why);
		if (jobs[i].raw)
			raw_ports_close();
	}
	return is_good;
}

/* Does the device exist only once? The embedded link has as many ends as needed. */
static bool
shares_devices(const struct options *o)
{
	return o->with_raw && o->endpoint.device != NULL &&
	       strncmp(o->endpoint.device, "net_wire", 8) != 0;
}

bool
measure_here(const struct options *o, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	if (bench == NULL)
		return why_set(why, "no memory");
	bench->options = o;
	bench->is_duo = o->layout != LAYOUT_TWO_CORES;
	bench->takes_turns = shares_devices(o);
	bool is_good = bench->takes_turns ? all_rounds(bench, round_in_turns, jobs, n, why)
					  : measure_and_close(bench, jobs, n, why);
	free(bench);
	return is_good;
}

/* ---- client and server ---- */

/* Open the adapter and reach the server. If the server is reached through the kernel, connect
 * first, so that a wrong address fails before a device is opened. */
static bool
reach_server(struct bench *bench, struct plx_why *why)
{
	struct session *s = &bench->session;
	struct talk *talk = &s->talk;
	bool is_reached = !talk->carrier->needs_adapter;
	if (is_reached && (!talk->carrier->connect(talk, why) || !talk_hello(talk, why)))
		return false;
	bench->is_open = side_open(&s->side, bench->options, true, why);
	if (!bench->is_open)
		return false;
	warn_hugepages(&s->side.info);
	return is_reached || (talk->carrier->connect(talk, why) && talk_hello(talk, why));
}

bool
measure_remote(const struct options *o, const struct job *jobs, uint32_t n, struct plx_why *why)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	if (bench == NULL)
		return why_set(why, "no memory");
	struct session *s = &bench->session;
	bench->options = o;
	talk_init(&s->talk, o, &s->side);
	cpu_pin(o->core[0]);
	bool is_good = reach_server(bench, why) && all_rows(bench, jobs, n, why);
	s->talk.carrier->close(&s->talk);
	if (bench->is_open)
		side_close(&s->side);
	free(bench);
	return is_good;
}

static bool
serve_clients(struct session *s, const struct options *o, struct plx_why *why)
{
	for (;;) {
		if (!s->talk.carrier->accept(&s->talk, why))
			return interrupted;
		bool is_good = session_serve(s, why);
		if (interrupted)
			return true;
		if (o->once)
			return is_good;
		if (!is_good)
			fprintf(stderr, "ndperf: %s; waiting for the next client\n", why->text);
	}
}

static void
announce_server(const struct session *s, const struct options *o)
{
	char ip[64];
	if (!s->talk.carrier->needs_adapter)
		printf("ndperf: serving on %s:%s; interrupt to end\n", o->oob_host, o->oob_port);
	else
		printf("ndperf: serving on %s port %u; interrupt to end\n",
		       ip_text(&s->side.info.address[0], ip, sizeof(ip)), o->port);
	fflush(stdout);
}

bool
serve(const struct options *o, struct plx_why *why)
{
	struct session *s = calloc(1, sizeof(*s));
	if (s == NULL)
		return why_set(why, "no memory");
	struct talk *talk = &s->talk;
	talk_init(talk, o, &s->side);
	cpu_pin(o->core[0]);
	bool is_listening = !talk->carrier->needs_adapter && talk->carrier->listen(talk, why);
	bool is_open = (is_listening || talk->carrier->needs_adapter) &&
		       side_open(&s->side, o, false, why);
	if (is_open)
		warn_hugepages(&s->side.info);
	if (is_open && !is_listening)
		is_listening = talk->carrier->listen(talk, why);
	bool is_good = false;
	if (is_open && is_listening) {
		announce_server(s, o);
		is_good = serve_clients(s, o, why);
	}
	if (is_listening)
		talk->carrier->shut(talk);
	if (is_open)
		side_close(&s->side);
	free(s);
	return is_good;
}
