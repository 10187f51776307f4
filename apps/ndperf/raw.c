/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One row of raw packets: ports, memory and threads around the pipeline of raw_hot.c, and the
 * evaluation of its counters.
 * It never touches a packet. Start with raw_run().
 */
#include "ndperf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "cpu.h"
#include "plx_engine.h"
#include "plx_thread.h"
#include "raw_end.h"
#include "raw_port.h"

enum {
	SIDES = 2,             /* 0 sends or requests; 1 receives or responds */
	STUCK_TURNS = 1 << 16, /* between two reads of the clock while nothing arrives */
	WARMUP_MIN_MS = 1,     /* both threads are running by then */
	GIVE_UP_MS = 1000,     /* longer than a system keeps a thread from its core */
};

struct raw_row {
	struct raw_end end[SIDES];
	struct histogram *histogram; /* the caller's, or `own` */
	struct histogram own;
	uint64_t start, finish; /* of the measured time [ticks] */
	uint64_t give_up;       /* a reply that has not arrived by then is lost [ticks] */
	bool one_core, latency, bits;
	bool quit;  /* the first side has finished */
	bool stuck; /* a message was lost */
	int core[SIDES];
};

struct side {
	struct raw_row *row;
	int which;
};

/* ---- loops ---- */

static bool
has_quit(const struct raw_row *row)
{
	return __atomic_load_n(&row->quit, __ATOMIC_ACQUIRE);
}

static void
quit(struct raw_row *row)
{
	/* release: pairs with the acquire in has_quit(); the results are read after joining */
	__atomic_store_n(&row->quit, true, __ATOMIC_RELEASE);
}

/* Is the time over? On a machine so busy that nothing has been done yet, it lasts longer. */
static bool
is_running(const struct raw_row *row, uint64_t now, uint64_t done)
{
	return now < row->finish || plx_unlikely(!done && now < row->give_up);
}

static void
rate_send(struct raw_row *row)
{
	struct raw_end *end = &row->end[0];

	for (uint64_t now = ticks(); is_running(row, now, end->acked); now = ticks()) {
		windows_look(&end->windows, now, 0);
		raw_rate_turn_send(end);
	}
	quit(row);
}

static void
rate_receive(struct raw_row *row)
{
	struct raw_end *end = &row->end[1];

	while (!has_quit(row)) {
		windows_look(&end->windows, ticks(), row->bits ? end->bytes * 8 : end->packets);
		raw_rate_turn_receive(end);
	}
}

static void
rate_both(struct raw_row *row)
{
	struct raw_end *sender = &row->end[0];
	struct raw_end *receiver = &row->end[1];

	for (uint64_t now = ticks(); is_running(row, now, sender->acked); now = ticks()) {
		windows_look(&receiver->windows, now,
			     row->bits ? receiver->bytes * 8 : receiver->packets);
		raw_rate_turn_send(sender);
		raw_rate_turn_receive(receiver);
	}
}

static void
echo(struct raw_row *row)
{
	struct raw_end *end = &row->end[1];

	while (!has_quit(row)) {
		if (raw_receive_message(end))
			raw_send_message(end);
	}
}

/* Wait for the reply. If both ends are on this thread, send it here. */
static bool
await_reply(struct raw_row *row)
{
	for (uint32_t turns = 1; !raw_receive_message(&row->end[0]); turns++) {
		if (row->one_core && raw_receive_message(&row->end[1]))
			raw_send_message(&row->end[1]);
		if (plx_unlikely(turns % STUCK_TURNS == 0) && ticks() >= row->give_up)
			return false;
	}
	return true;
}

static void
measure_round_trips(struct raw_row *row)
{
	uint64_t before = ticks();
	uint64_t now;

	for (; is_running(row, before, row->histogram->count); before = now) {
		raw_send_message(&row->end[0]);
		if (!await_reply(row)) {
			row->stuck = true;
			break;
		}
		now = ticks();
		if (before >= row->start)
			histogram_add(row->histogram, now - before);
	}
	quit(row);
}

static void *
side_thread(void *arg)
{
	struct side *side = arg;
	struct raw_row *row = side->row;
	/* The command line has been checked against the available cores. */
	(void)cpu_pin(row->core[side->which]);
	/* With an lcore id, the PMD uses this core's mempool cache for its own buffers, as an
	 * engine's thread does. Without one, the buffers rotate through the whole pool, which
	 * exceeds the processor's caches. */
	(void)plx_lcore_assign();
	if (row->latency && side->which == 0)
		measure_round_trips(row);
	else if (row->latency)
		echo(row);
	else if (row->one_core)
		rate_both(row);
	else if (side->which == 0)
		rate_send(row);
	else
		rate_receive(row);
	return NULL;
}

/* ---- setup ---- */

static void
row_fini(struct raw_row *row)
{
	for (int i = 0; i < SIDES; i++) {
		windows_fini(&row->end[i].windows);
		raw_end_fini(&row->end[i]);
	}
	free(row);
}

static enum plx_status
row_init(struct raw_row *row, const struct options *options, const struct job *job,
	 struct plx_why *why)
{
	uint32_t warmup_ms = job->warmup_ms > WARMUP_MIN_MS ? job->warmup_ms : WARMUP_MIN_MS;
	struct raw_ports ports;
	enum plx_status status =
		raw_ports_open(options->endpoint.device, options->device2, &ports, why);

	if (status != PLX_OK)
		return status;
	row->one_core = options->layout != LAYOUT_TWO_CORES;
	row->latency = job->test == TEST_LATENCY;
	row->bits = job->test == TEST_BANDWIDTH;
	for (int i = 0; i < SIDES; i++) {
		row->core[i] = options->core[row->one_core ? 0 : i];
		status = raw_end_init(&row->end[i], i, job, &ports, row->one_core);
		if (status != PLX_OK)
			goto no_memory;
	}
	row->start = ticks() + ticks_of_ms(warmup_ms);
	row->finish = row->start + ticks_of_ms(job->duration_ms);
	row->give_up = row->finish + ticks_of_ms(GIVE_UP_MS);
	for (int i = 0; i < SIDES; i++) {
		if (!windows_init(&row->end[i].windows, row->start, job->duration_ms / 1e3,
				  (uint64_t)ticks_hz()))
			goto no_memory;
	}
	return PLX_OK;
no_memory:
	why_set(why, "no memory for %u messages of %u bytes at both ends", job->slots, job->size);
	return PLX_NO_MEMORY;
}

/* Run both threads until the first one ends the row. If a thread cannot be created, the row
 * fails. */
static bool
row_run(struct raw_row *row, struct plx_why *why)
{
	struct side side[SIDES] = {{.row = row, .which = 0}, {.row = row, .which = 1}};
	int sides = row->one_core ? 1 : SIDES;
	pthread_t thread[SIDES];
	bool started[SIDES] = {false};
	bool whole = true;

	/* The responding end starts before the requesting one. */
	for (int i = sides - 1; i >= 0 && whole; i--) {
		whole = !pthread_create(&thread[i], NULL, side_thread, &side[i]);
		started[i] = whole;
	}
	if (!whole)
		quit(row);
	for (int i = 0; i < sides; i++) {
		if (started[i])
			pthread_join(thread[i], NULL);
	}
	for (int i = 0; i < SIDES; i++)
		raw_drain(&row->end[i]);
	if (!whole)
		why_set(why, "cannot start a thread: see `ulimit -u`");
	return whole;
}

/* ---- the result ---- */

static bool
row_is_sound(const struct raw_row *row, struct plx_why *why)
{
	uint64_t icrc = row->end[0].faults.icrc + row->end[1].faults.icrc;
	uint64_t other = row->end[0].faults.other + row->end[1].faults.other;

	if (icrc || other) {
		why_set(why,
			"raw packets were lost or changed on the way (%llu with a wrong ICRC, "
			"%llu wrong otherwise), and are not retransmitted: use a device "
			"without faults",
			(unsigned long long)icrc, (unsigned long long)other);
	} else if (row->stuck || !row->end[1].packets) {
		why_set(why, "raw packets do not arrive: are the two devices joined, and up?");
	} else {
		return true;
	}
	return false;
}

static bool
row_report(const struct raw_row *row, struct result *result, struct plx_why *why)
{
	const struct raw_end *end = &row->end[1];
	/* Packets are counted. The result has the unit of the row that is compared with this one:
	 * bits or messages. */
	double each = row->bits ? 1 : 1.0 / ((end->size + end->packet - 1) / end->packet);
	struct windows_result rate;

	if (row->latency) {
		latency_of(row->histogram, &result->latency);
		result->unit = "ns";
		result->ping_pong = true;
		result->value = result->latency.p50;
		result->mean = result->latency.p50;
		result->messages = result->latency.samples;
		result->seconds = ticks_to_ns((double)(row->finish - row->start)) / 1e9;
		return true;
	}
	if (!windows_judge(&row->end[1].windows, row->one_core ? NULL : &row->end[0].windows, false,
			   (uint64_t)ticks_hz(), &rate)) {
		why_set(why, "no memory to compare %u windows", rate.all);
		return false;
	}
	result->unit = row->bits ? "bit/s" : "msg/s";
	/* The same rule as for operations. */
	result->value = windows_figure(&rate, true, result->note, sizeof result->note) * each;
	result->mean = rate.mean * each;
	result->mean_clean = rate.mean_clean * each;
	result->messages =
		row->bits ? rate.amount / 8 / end->size : (uint64_t)((double)rate.amount * each);
	result->seconds = rate.seconds;
	result->windows = rate.all;
	result->windows_clean = rate.clean;
	return true;
}

int
raw_run(const struct options *options, const struct job *job, struct result *result,
	struct plx_why *why)
{
	struct raw_row *row;
	bool good;

	if (options->role != ROLE_SOLO || options->fault) {
		why_set(why, options->fault ? "raw packets are not retransmitted: --fault is "
					      "for operations, not for --raw"
					    : "--raw has both ends in one process: leave out "
					      "'server' or 'client'");
		return STATUS_USAGE;
	}
	if (plx_eal_start(NULL, why) != PLX_OK)
		return STATUS_FAILURE;
	row = aligned_alloc(_Alignof(struct raw_row), sizeof *row);
	if (!row) {
		why_set(why, "no memory");
		return STATUS_FAILURE;
	}
	memset(row, 0, sizeof *row);
	row->histogram = result->histogram ? result->histogram : &row->own;
	histogram_clear(row->histogram);
	*result = (struct result){.job = *job, .histogram = result->histogram};
	good = row_init(row, options, job, why) == PLX_OK && row_run(row, why) &&
	       row_is_sound(row, why) && row_report(row, result, why);
	row_fini(row);
	return good ? 0 : STATUS_FAILURE;
}
