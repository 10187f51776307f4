/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calibration: short loops, each the median of many batches, so that an interruption of a
 * millisecond affects one batch and not the result.
 * It does not need the EAL: the rings are in memory of its own. Start with calibrate().
 */
#include "clock.h"
#include "cpu.h"
#include "ndperf.h"
#include "plx_base.h"
#include "window.h"

#include <isa-l/crc.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_pause.h>
#include <rte_ring.h>

enum {
	CRC_BYTES = 4096,
	CRC_BUFFERS = 4, /* 16 KiB: fits into a first-level cache together with the stack */
	CRC_BATCHES = 101,
	CRC_BATCH = 256,
	TRIP_BATCHES = 101,
	TRIP_BATCHES_SHORT = 15, /* 2 ms: alternates with the results that it accompanies */
	TRIP_BATCH = 500,
	RING_ENTRIES = 64,
};

/* A trip goes there and back; both sides know in advance how many there will be. */
enum trip_kind {
	TRIP_LINE,
	TRIP_RING,
};

struct trips {
	uint64_t line __attribute__((aligned(2 * PLX_CACHE_LINE)));
	struct rte_ring *there __attribute__((aligned(2 * PLX_CACHE_LINE)));
	struct rte_ring *back;
	enum trip_kind kind;
	int cores[2];
	int batches;
	double one_way_ns[TRIP_BATCHES];
};

static void *
crc_thread(void *arg)
{
	static uint8_t buffers[CRC_BUFFERS][CRC_BYTES] PLX_ALIGNED_LINE;
	double *out = ((double **)arg)[1];
	double batches[CRC_BATCHES];
	uint32_t crc = 0;

	cpu_pin(*((int **)arg)[0]);
	memset(buffers, 1, sizeof buffers); /* otherwise all would be the system's one zero page */
	for (int batch = 0; batch < CRC_BATCHES; batch++) {
		double start = now_ns();

		for (int i = 0; i < CRC_BATCH; i++)
			crc = crc32_gzip_refl(crc, buffers[i % CRC_BUFFERS], CRC_BYTES);
		batches[batch] = (now_ns() - start) / CRC_BATCH;
	}
	/* Use the sum, or the compiler may remove the computation. */
	__asm__ volatile("" : : "r"(crc));
	*out = median(batches, CRC_BATCHES);
	return NULL;
}

static void
send_one(struct trips *trips, struct rte_ring *ring, uint64_t value)
{
	if (trips->kind == TRIP_LINE) {
		__atomic_store_n(&trips->line, value, __ATOMIC_RELEASE);
	} else {
		while (rte_ring_sp_enqueue(ring, (void *)(uintptr_t)value))
			rte_pause();
	}
}

static void
await_one(struct trips *trips, struct rte_ring *ring, uint64_t value)
{
	void *entry = NULL;

	if (trips->kind == TRIP_LINE) {
		while (__atomic_load_n(&trips->line, __ATOMIC_ACQUIRE) != value)
			;
	} else {
		while (rte_ring_sc_dequeue(ring, &entry))
			;
	}
}

static void *
pong_thread(void *arg)
{
	struct trips *trips = arg;

	cpu_pin(trips->cores[1]);
	for (uint64_t i = 0; i < (uint64_t)trips->batches * TRIP_BATCH; i++) {
		await_one(trips, trips->there, 2 * i + 1);
		send_one(trips, trips->back, 2 * i + 2);
	}
	return NULL;
}

static void *
ping_thread(void *arg)
{
	struct trips *trips = arg;
	uint64_t i = 0;

	cpu_pin(trips->cores[0]);
	for (int batch = 0; batch < trips->batches; batch++) {
		double start = now_ns();

		for (int k = 0; k < TRIP_BATCH; k++, i++) {
			send_one(trips, trips->there, 2 * i + 1);
			await_one(trips, trips->back, 2 * i + 2);
		}
		trips->one_way_ns[batch] = (now_ns() - start) / TRIP_BATCH / 2;
	}
	return NULL;
}

/* Start both threads or neither: one alone would wait forever. */
static double
trips_measure(struct trips *trips)
{
	pthread_t ping, pong;

	trips->line = 0;
	if (pthread_create(&ping, NULL, ping_thread, trips))
		return 0;
	if (pthread_create(&pong, NULL, pong_thread, trips))
		pong_thread(trips);
	else
		pthread_join(pong, NULL);
	pthread_join(ping, NULL);
	return median(trips->one_way_ns, (uint32_t)trips->batches);
}

static struct rte_ring *
ring_make(const char *name)
{
	size_t bytes = (size_t)rte_ring_get_memsize(RING_ENTRIES);
	struct rte_ring *ring = aligned_alloc(2 * PLX_CACHE_LINE, bytes);

	if (ring && rte_ring_init(ring, name, RING_ENTRIES, RING_F_SP_ENQ | RING_F_SC_DEQ)) {
		free(ring);
		ring = NULL;
	}
	return ring;
}

static double
ring_trips(const int cores[CORES], int batches)
{
	static struct trips trips;
	double ring_ns = 0;

	trips = (struct trips){
		.kind = TRIP_RING,
		.cores = {cores[0], cores[1]},
		.batches = batches,
		.there = ring_make("there"),
		.back = ring_make("back"),
	};
	if (trips.there && trips.back)
		ring_ns = trips_measure(&trips);
	free(trips.there);
	free(trips.back);
	return ring_ns;
}

double
calibrate_ring(const int cores[CORES])
{
	return ring_trips(cores, TRIP_BATCHES_SHORT);
}

void
calibrate(const int cores[CORES], struct calibration *out)
{
	static struct trips trips;
	int core = cores[0];
	void *arg[2] = {&core, &out->crc_ns};
	pthread_t thread;

	*out = (struct calibration){0};
	if (!pthread_create(&thread, NULL, crc_thread, arg))
		pthread_join(thread, NULL);
	if (cores[0] == cores[1])
		return;
	trips = (struct trips){
		.kind = TRIP_LINE, .cores = {cores[0], cores[1]}, .batches = TRIP_BATCHES};
	out->line_ns = trips_measure(&trips);
	out->ring_ns = ring_trips(cores, TRIP_BATCHES);
}
