/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads: a loop around plx_engine_poll() for one or several engines, and idling when none
 * of them has work. Start with work().
 *
 * Other threads add and remove engines. A slot is a pointer that the worker reads once per round; a
 * thread that removes an engine waits until the worker has started a round without it.
 */
#include <errno.h>
#include <pthread.h>
#include <rte_pause.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "plx_thread.h"
#include "plx_worker.h"

enum {
	IDLE_SPINS = 64, /* empty rounds before sched_yield() */
};

struct plx_worker {
	pthread_t thread;
	struct plx_worker_config config;
	char name[16];
	atomic_bool stop;
	_Atomic(struct plx_engine *) engines[PLX_WORKER_ENGINES_MAX];
	atomic_uint used; /* slots that ever had an engine; a round skips the others */

	/* written by the worker each round, on cache lines of their own */
	PLX_ALIGNED_LINE struct plx_engine *online[PLX_WORKER_ENGINES_MAX];
	atomic_ulong rounds;
};

/* An engine came or went. */
static PLX_COLD void
change(struct plx_worker *worker, uint32_t slot, struct plx_engine *engine)
{
	uint32_t n = 0;

	if (worker->online[slot] != NULL)
		plx_engine_set_online(worker->online[slot], false);
	if (engine != NULL)
		plx_engine_set_online(engine, true);
	worker->online[slot] = engine;
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++)
		n += worker->online[i] != NULL;
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++)
		if (worker->online[i] != NULL)
			plx_engine_set_company(worker->online[i], n > 1);
}

static uint32_t
round_of(struct plx_worker *worker)
{
	/* Acquire: pairs with the release in use_slot(). */
	uint32_t used = atomic_load_explicit(&worker->used, memory_order_acquire);
	uint32_t done = 0;

	for (uint32_t i = 0; i < used; i++) {
		struct plx_engine *engine = atomic_load(&worker->engines[i]);

		if (plx_unlikely(engine != worker->online[i]))
			change(worker, i, engine);
		if (engine != NULL)
			done += plx_engine_poll(engine, plx_clock_ns());
	}
	/* no other thread writes it */
	atomic_store_explicit(&worker->rounds,
			      atomic_load_explicit(&worker->rounds, memory_order_relaxed) + 1,
			      memory_order_release);
	return done;
}

static void *
work(void *arg)
{
	struct plx_worker *worker = arg;
	uint32_t idle = 0;

	(void)plx_lcore_assign();
	while (!atomic_load_explicit(&worker->stop, memory_order_acquire)) {
		idle = round_of(worker) > 0 ? 0 : idle + 1;
		if (plx_likely(idle == 0 || worker->config.idle == PLX_IDLE_SPIN))
			continue;
		if (worker->config.idle == PLX_IDLE_PAUSE || idle < IDLE_SPINS)
			rte_pause();
		else
			sched_yield();
	}
	return NULL;
}

static int
start_thread(struct plx_worker *worker)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int error = pthread_attr_init(&attr);

	if (error != 0)
		return error;
	if (worker->config.core >= 0) {
		CPU_ZERO(&set);
		CPU_SET((size_t)worker->config.core, &set);
		error = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	if (error == 0)
		error = pthread_create(&worker->thread, &attr, work, worker);
	pthread_attr_destroy(&attr);
	if (error == 0)
		pthread_setname_np(worker->thread, worker->name);
	return error;
}

enum plx_status
plx_worker_start(const struct plx_worker_config *config, struct plx_worker **out,
		 struct plx_why *why)
{
	long cores = sysconf(_SC_NPROCESSORS_CONF);
	struct plx_worker *worker;
	int error;

	if (config->core < -1 || config->core >= cores || config->core >= CPU_SETSIZE) {
		plx_why_set(why, "there is no core %d for a worker; this machine has 0 to %ld",
			    config->core, cores - 1);
		return PLX_INVALID;
	}
	worker = aligned_alloc(_Alignof(struct plx_worker), sizeof(*worker));
	if (worker == NULL) {
		plx_why_set(why, "no memory for a worker (%zu bytes)", sizeof(*worker));
		return PLX_NO_MEMORY;
	}
	memset(worker, 0, sizeof(*worker));
	worker->config = *config;
	strncpy(worker->name, config->name, sizeof(worker->name) - 1);
	error = start_thread(worker);
	if (error != 0) {
		plx_why_set(why, "the worker's thread cannot be started on core %d: %s",
			    config->core, strerror(error));
		free(worker);
		return error == EINVAL ? PLX_INVALID : PLX_NO_MEMORY;
	}
	*out = worker;
	return PLX_OK;
}

/* From its next round on the worker polls slots up to this one. */
static void
use_slot(struct plx_worker *worker, uint32_t slot)
{
	uint32_t used = atomic_load_explicit(&worker->used, memory_order_relaxed);

	while (used <= slot &&
	       !atomic_compare_exchange_weak_explicit(&worker->used, &used, slot + 1,
						      memory_order_release, memory_order_relaxed))
		;
}

enum plx_status
plx_worker_add(struct plx_worker *worker, struct plx_engine *engine)
{
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++) {
		struct plx_engine *none = NULL;

		if (!atomic_compare_exchange_strong(&worker->engines[i], &none, engine))
			continue;
		use_slot(worker, i);
		return PLX_OK;
	}
	return PLX_FULL;
}

void
plx_worker_remove(struct plx_worker *worker, struct plx_engine *engine)
{
	uint64_t round;

	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++) {
		struct plx_engine *it = engine;

		if (atomic_compare_exchange_strong(&worker->engines[i], &it, NULL))
			break;
	}
	/* The current round may have read the slot before; the next one has not. */
	round = atomic_load_explicit(&worker->rounds, memory_order_acquire);
	while (atomic_load_explicit(&worker->rounds, memory_order_acquire) - round < 2)
		sched_yield();
}

void
plx_worker_stop(struct plx_worker *worker)
{
	atomic_store_explicit(&worker->stop, true, memory_order_release);
	pthread_join(worker->thread, NULL);
	free(worker);
}
