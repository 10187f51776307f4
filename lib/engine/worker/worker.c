/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker threads: a loop around plx_engine_poll() for one or several engines, and idling when none
 * of them has work. Start with work().
 *
 * Other threads add and remove engines. A slot is a pointer that the worker reads once per round; a
 * thread that removes an engine waits until the worker has started a round without it.
 *
 * An adaptive worker (decision 69) spins, yields and sleeps. Before it sleeps it tells its engines,
 * and does one more round: whoever has work later wakes it.
 */
#include <errno.h>
#include <pthread.h>
#include <rte_pause.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "plx_thread.h"
#include "sleep.h"

enum {
	IDLE_SPINS = 64,  /* empty rounds before sched_yield() */
	CLOCK_ROUNDS = 8, /* empty rounds until an adaptive worker looks at the clock */
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
	bool naps; /* one of the engines has no descriptor to wake it */
	struct sleep sleep;
};

static inline bool
is_adaptive(const struct plx_worker *worker)
{
	return worker->config.idle == PLX_IDLE_ADAPTIVE;
}

/* What may wake an adaptive worker now. */
static void
watch_engines(struct plx_worker *worker)
{
	worker->naps = false;
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++) {
		struct plx_engine *engine = worker->online[i];

		if (engine != NULL && (!sleep_watch(&worker->sleep, plx_engine_bell(engine)) ||
				       !sleep_watch(&worker->sleep, plx_engine_rx_fd(engine))))
			worker->naps = true;
	}
}

static void
unwatch_engine(struct plx_worker *worker, struct plx_engine *engine)
{
	plx_engine_wake_up(engine);
	sleep_unwatch(&worker->sleep, plx_engine_bell(engine));
	sleep_unwatch(&worker->sleep, plx_engine_rx_fd(engine));
}

/* An engine came or went. */
static PLX_COLD void
change(struct plx_worker *worker, uint32_t slot, struct plx_engine *engine)
{
	uint32_t n = 0;

	if (worker->online[slot] != NULL) {
		if (is_adaptive(worker))
			unwatch_engine(worker, worker->online[slot]);
		plx_engine_set_online(worker->online[slot], false);
	}
	if (engine != NULL)
		plx_engine_set_online(engine, true);
	worker->online[slot] = engine;
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++)
		n += worker->online[i] != NULL;
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++)
		if (worker->online[i] != NULL)
			plx_engine_set_company(worker->online[i], n > 1);
	if (is_adaptive(worker))
		watch_engines(worker);
}

static uint32_t
round_of(struct plx_worker *worker)
{
	/* Acquire: pairs with the release in use_slot(). */
	uint32_t used = atomic_load_explicit(&worker->used, memory_order_acquire);
	uint32_t done = 0;

	for (uint32_t i = 0; i < used; i++) {
		struct plx_engine *engine = atomic_load(&worker->engines[i]);

		if (plx_unlikely(engine != worker->online[i])) {
			change(worker, i, engine);
			done++; /* whoever removes an engine waits for more rounds */
		}
		if (engine != NULL)
			done += plx_engine_poll(engine, plx_clock_ns());
	}
	/* no other thread writes it */
	atomic_store_explicit(&worker->rounds,
			      atomic_load_explicit(&worker->rounds, memory_order_relaxed) + 1,
			      memory_order_release);
	return done;
}

static inline bool
stops(const struct plx_worker *worker)
{
	return atomic_load_explicit(&worker->stop, memory_order_acquire);
}

/* ---- sleeping ---- */

/* May all engines sleep?
 * @param until [out] the earliest of their times */
static bool
may_sleep(struct plx_worker *worker, uint64_t *until)
{
	*until = PLX_NEVER;
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++) {
		uint64_t wake;

		if (worker->online[i] == NULL)
			continue;
		if (!plx_engine_may_sleep(worker->online[i], &wake))
			return false;
		*until = plx_time_min(*until, wake);
	}
	return true;
}

static void
for_each_online(struct plx_worker *worker, void (*act)(struct plx_engine *engine))
{
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++)
		if (worker->online[i] != NULL)
			act(worker->online[i]);
}

static void
go_offline(struct plx_engine *engine)
{
	plx_engine_set_online(engine, false);
}

static void
go_online(struct plx_engine *engine)
{
	plx_engine_set_online(engine, true);
}

/* Sleep, unless there is work after all.
 * @param over [out] the time was over, and nobody has woken it
 * Returns: how much work there was */
static uint32_t
fall_asleep(struct plx_worker *worker, bool *over)
{
	uint64_t until;
	uint32_t done;

	*over = false;
	sleep_prepare(&worker->sleep);
	for_each_online(worker, plx_engine_fall_asleep);
	done = round_of(worker);
	if (done == 0 && !stops(worker) && may_sleep(worker, &until)) {
		/* Nobody waits for a thread that sleeps. */
		for_each_online(worker, go_offline);
		*over = !sleep_until(&worker->sleep, until, worker->naps);
		for_each_online(worker, go_online);
	} else if (done == 0) {
		sched_yield(); /* something waits for others: a program to reap, a port to send */
	}
	for_each_online(worker, plx_engine_wake_up);
	return done;
}

/* From nap to nap: the round in which it falls asleep again is the one that looks for work. Who has
 * been woken finds that at once.
 * Returns: whether there was work */
static bool
sleep_while_idle(struct plx_worker *worker)
{
	uint32_t done;
	bool over;

	do
		done = fall_asleep(worker, &over);
	while (done == 0 && over);
	return done > 0;
}

static void
work_adaptively(struct plx_worker *worker)
{
	uint64_t awake_ns =
		worker->config.awake_ns != 0 ? worker->config.awake_ns : PLX_WORKER_AWAKE_NS;
	uint64_t since = 0; /* there was work until about then; 0: it is not known yet */
	uint32_t idle = 0;  /* rounds without work, since the clock was looked at */

	/* A nap ends when it should, not 50 us later. */
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	while (!stops(worker)) {
		uint64_t now;

		if (round_of(worker) > 0) {
			since = 0;
			idle = 0;
			continue;
		}
		if (++idle < CLOCK_ROUNDS)
			continue;
		idle = 0;
		now = plx_clock_ns();
		if (since == 0) {
			since = now;
			sleep_reset(&worker->sleep);
		}
		if (now - since >= awake_ns)
			since = sleep_while_idle(worker) ? 0 : since;
		else if (now - since >= PLX_WORKER_SPIN_NS)
			sched_yield();
		else
			continue;
		idle = CLOCK_ROUNDS; /* after the next round */
	}
}

/* ---- the thread ---- */

static void
work_always(struct plx_worker *worker)
{
	uint32_t idle = 0;

	while (!stops(worker)) {
		idle = round_of(worker) > 0 ? 0 : idle + 1;
		if (plx_likely(idle == 0 || worker->config.idle == PLX_IDLE_SPIN))
			continue;
		if (worker->config.idle == PLX_IDLE_PAUSE || idle < IDLE_SPINS)
			rte_pause();
		else
			sched_yield();
	}
}

static void *
work(void *arg)
{
	struct plx_worker *worker = arg;

	(void)plx_lcore_assign();
	if (is_adaptive(worker))
		work_adaptively(worker);
	else
		work_always(worker);
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
	if (is_adaptive(worker) && !sleep_open(&worker->sleep, config->sleep_max_ns)) {
		plx_why_set(why, "no descriptors for a worker that sleeps: %s", strerror(errno));
		free(worker);
		return PLX_NO_MEMORY;
	}
	error = start_thread(worker);
	if (error != 0) {
		if (is_adaptive(worker))
			sleep_close(&worker->sleep);
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

/* What the caller did before is seen by the next round: the worker forgets what has woken it, then
 * looks. */
static void
rouse(struct plx_worker *worker)
{
	if (is_adaptive(worker))
		sleep_rouse(&worker->sleep);
}

enum plx_status
plx_worker_add(struct plx_worker *worker, struct plx_engine *engine)
{
	for (uint32_t i = 0; i < PLX_WORKER_ENGINES_MAX; i++) {
		struct plx_engine *none = NULL;

		if (!atomic_compare_exchange_strong(&worker->engines[i], &none, engine))
			continue;
		use_slot(worker, i);
		rouse(worker);
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
	while (atomic_load_explicit(&worker->rounds, memory_order_acquire) - round < 2) {
		rouse(worker);
		sched_yield();
	}
}

enum plx_status
plx_worker_watch(struct plx_worker *worker, int bell)
{
	if (!is_adaptive(worker))
		return PLX_STATE;
	return sleep_watch(&worker->sleep, bell) ? PLX_OK : PLX_NO_MEMORY;
}

void
plx_worker_unwatch(struct plx_worker *worker, int bell)
{
	if (is_adaptive(worker))
		sleep_unwatch(&worker->sleep, bell);
}

void
plx_worker_sleeps(const struct plx_worker *worker, struct plx_worker_sleeps *out)
{
	const struct plx_worker_sleeps *done = &worker->sleep.done;

	out->sleeps = __atomic_load_n(&done->sleeps, __ATOMIC_RELAXED);
	out->woken = __atomic_load_n(&done->woken, __ATOMIC_RELAXED);
}

void
plx_worker_stop(struct plx_worker *worker)
{
	atomic_store(&worker->stop, true);
	rouse(worker);
	pthread_join(worker->thread, NULL);
	if (is_adaptive(worker))
		sleep_close(&worker->sleep);
	free(worker);
}
