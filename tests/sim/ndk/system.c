/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What NDK, sessions and verbs need of the system, in virtual time and on one thread: the clock,
 * pauses, timers, the session's thread, adapters by name; and the places where a lock is released,
 * at which another thread may run. The functions stand in for lib/session/system.c,
 * lib/verbs/pause.c, lib/adapter/adapter.c, lib/config/options_load.c and
 * lib/engine/thread/backoff.c, which are not linked.
 * It never decides when a thread runs. Start with plx_session_thread_start().
 */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "drivers.h"
#include "plx_host_config.h"
#include "plx_objects.h"
#include "plx_session.h"

static struct drivers *run;
static uint32_t locks; /* held by the code of drivers */

void
system_begin(struct drivers *drivers)
{
	run = drivers;
	locks = 0;
	for (uint32_t i = 0; drivers != NULL && i < DRIVERS_TIMERS; i++)
		drivers->timer[i].fd = -1;
}

uint32_t
system_locks(void)
{
	return locks;
}

/* ---- time ---- */

uint64_t
plx_session_now_ns(void)
{
	return clock_local(driver_current()->host->station);
}

void
plx_session_nap(uint64_t ns)
{
	driver_wait(driver_current(), ns);
}

uint64_t
plx_steady_ns(void)
{
	return plx_session_now_ns();
}

void
plx_adapter_pause(struct plx_adapter *adapter, uint64_t ns)
{
	(void)adapter;
	plx_session_nap(ns);
}

/* Whoever waits looks at the clock, and that lets the others go on (fleet/eal.c). */
void
plx_engine_backoff(uint32_t *looks)
{
	(void)looks;
}

/* ---- timers ---- */

static struct timer_fd *
timer_of(int fd)
{
	for (uint32_t i = 0; i < DRIVERS_TIMERS; i++)
		if (run->timer[i].fd == fd)
			return &run->timer[i];
	return NULL;
}

int
plx_session_timer_open(void)
{
	struct timer_fd *timer = timer_of(-1);

	PLX_ASSERT(timer != NULL);
	*timer = (struct timer_fd){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				   .driver = driver_current(),
				   .at = PLX_NEVER};
	return timer->fd;
}

void
plx_session_timer_set(int fd, uint64_t at_ns)
{
	struct timer_fd *timer = timer_of(fd);

	timer->at =
		at_ns == PLX_NEVER ? PLX_NEVER : clock_global(timer->driver->host->station, at_ns);
	if (timer->at != PLX_NEVER)
		heap_push(&run->fleet.world, timer->at, SIM_EV_RECV, timer);
}

void
system_on_timer(struct timer_fd *timer)
{
	const uint64_t one = 1;

	if (timer->fd < 0 || timer->at != run->fleet.world.now)
		return;
	timer->at = PLX_NEVER;
	(void)!write(timer->fd, &one, sizeof(one));
	driver_turn_soon(timer->driver);
}

void
plx_session_timer_clear(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

void
plx_session_timer_close(int fd)
{
	if (fd < 0)
		return;
	timer_of(fd)->fd = -1;
	close(fd);
}

/* ---- the session's thread ---- */

bool
plx_session_thread_start(struct plx_session_thread *thread, struct plx_session *session,
			 const char *name, int core)
{
	struct driver *driver = driver_current();

	(void)name, (void)core;
	driver->session = session;
	driver->thread = thread;
	thread->running = true;
	driver_turn_soon(driver);
	return true;
}

void
plx_session_thread_join(struct plx_session_thread *thread)
{
	struct driver *driver = driver_current();

	sim_must(world_of(driver), driver->thread == thread, "I7", "another session's thread ends");
	while (driver->session != NULL)
		if (driver_turn(driver))
			driver_wait(driver, driver->late_ns);
	thread->running = false;
}

/* ---- adapters ---- */

/* Every adapter is of this process, and has no section in a file. */
enum plx_status
plx_adapter_options_attach(struct plx_adapter_options *options, struct plx_why *why)
{
	(void)why;
	options->host[0] = '\0';
	return PLX_OK;
}

enum plx_status
plx_adapter_options_load(const char *adapter, struct plx_adapter_options *options,
			 struct plx_why *why)
{
	(void)adapter;
	*options = (struct plx_adapter_options){0};
	return plx_adapter_options_attach(options, why);
}

static void
fill_info(struct host_adapter *adapter, const struct host *host)
{
	struct plx_adapter_info *info = &adapter->info;

	*info = (struct plx_adapter_info){
		.path_mtu = host->fleet->mtu_max,
		.mode = PLX_MODE_WORKER,
		.addresses = 1,
		.address = {host->ip},
		.qps = 4 * DRIVERS_CHANNELS_MAX,
		.keys = 4096,
		.cq_depth = PLX_CQ_DEPTH_MAX,
		.queue_depth = 4096,
		.srq_depth = 4096,
		.sges = PLX_SGE_MAX,
		.inline_bytes = PLX_INLINE_MAX,
		.rd_atomic_max = PLX_RD_ATOMIC_MAX,
		.message_max = PLX_MESSAGE_MAX,
		.udp_port = PLX_ROCE_PORT,
		.link_up = true,
	};
	snprintf(info->name, sizeof(info->name), "host%u", host->index);
	memcpy(info->mac, host->caps.mac, sizeof(info->mac));
}

enum plx_status
plx_host_adapter_open(const char *name, const struct plx_adapter_options *options,
		      struct host_adapter **out, struct plx_why *why)
{
	struct driver *driver = driver_current();
	struct host *host = driver->host;
	struct host_adapter *adapter = calloc(1, sizeof(*adapter));

	(void)name, (void)options, (void)why;
	PLX_ASSERT(adapter != NULL && driver->below == NULL);
	adapter->engine[0] = host_engine(host);
	adapter->engines = 1;
	adapter->mem = host->mem;
	adapter->rcu = driver->rcu;
	adapter->net[0] = host->net;
	adapter->path_mtu = host->fleet->mtu_max;
	adapter->options.addresses = 1;
	adapter->options.address[0].ip = host->ip;
	adapter->options.ecn = true;
	pthread_mutex_init(&adapter->lock, NULL);
	plx_list_init(&adapter->qps);
	fill_info(adapter, host);
	driver->below = adapter;
	*out = adapter;
	return PLX_OK;
}

/* Nothing of it may be left: NDK has closed everything. */
enum plx_status
plx_host_adapter_close(struct host_adapter *adapter)
{
	const struct plx_object_counts *count = &adapter->count;
	struct driver *driver = driver_current();

	sim_must(
		world_of(driver),
		!(count->pds || count->mrs || count->mws || count->cqs || count->srqs ||
		  count->qps || count->event_channels || count->listeners || count->connectors),
		"I7",
		"an adapter is closed that has %u domains, %u regions, %u windows, %u + %u queues, "
		"%u queue pairs, %u channels, %u listeners, %u connectors",
		count->pds, count->mrs, count->mws, count->cqs, count->srqs, count->qps,
		count->event_channels, count->listeners, count->connectors);
	pthread_mutex_destroy(&adapter->lock);
	free(adapter);
	driver->below = NULL;
	return PLX_OK;
}

void
plx_host_adapter_query(const struct host_adapter *adapter, struct plx_adapter_info *out)
{
	*out = adapter->info;
}

uint32_t
plx_host_adapter_run(struct host_adapter *adapter, uint32_t engine)
{
	(void)adapter; /* it has a worker */
	(void)engine;
	return 0;
}

/* ---- locks ---- */

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock);

/* What one thread of a driver holds, no other of it may want while the first waits for an engine or
 * for time: NDK's calls do not wait (decision 36). */
int
__wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	struct driver *driver = run != NULL ? driver_current() : NULL;

	if (driver == NULL)
		return __real_pthread_mutex_lock(lock);
	sim_must(world_of(driver), pthread_mutex_trylock(lock) == 0, "N7",
		 "driver %u waits for a lock that is held while somebody waits for an engine",
		 driver->index);
	locks++;
	return 0;
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	int error = __real_pthread_mutex_unlock(lock);

	if (run == NULL || driver_current() == NULL)
		return error;
	if (--locks == 0)
		driver_preempt();
	return error;
}

/* The only one that waits so is an adapter's close, and everything is closed by then. */
int
__wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
	if (run == NULL || driver_current() == NULL)
		return __real_pthread_cond_wait(cond, lock);
	sim_fail(&run->fleet.world, SIM_STUCK, "N6", WRONG_LOST,
		 "the close of driver %u's adapter waits, and everything is closed",
		 driver_current()->index);
}
