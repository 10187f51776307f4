/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An lcore id for a polling thread, because DPDK's per-thread caches of buffers are indexed by it.
 * rte_thread_register() would permanently shut out secondary processes, such as dpdk-dumpcap. Ids
 * are assigned from the top; the EAL and rte_thread_register() start from the bottom.
 * Start with plx_lcore_assign().
 */
#include <pthread.h>

#include <rte_lcore.h>

#include "plx_thread.h"

enum {
	IDS = 64, /* polling threads at a time; further ones have no cache */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t taken;
static uint64_t bits[IDS]; /* a thread's key points to its bit of `taken` */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool key_is_there;

static void
leave(void *value)
{
	pthread_mutex_lock(&lock);
	RTE_PER_LCORE(_lcore_id) = LCORE_ID_ANY;
	taken &= ~*(const uint64_t *)value;
	pthread_mutex_unlock(&lock);
}

static void
make_key(void)
{
	key_is_there = pthread_key_create(&key, leave) == 0;
}

bool
plx_lcore_assign(void)
{
	uint32_t i = 0;

	if (rte_lcore_id() != LCORE_ID_ANY)
		return true;
	pthread_once(&once, make_key);
	if (!key_is_there)
		return false;
	pthread_mutex_lock(&lock);
	while (i < IDS && (taken >> i & 1))
		i++;
	if (i < IDS && pthread_setspecific(key, &bits[i]) == 0) {
		bits[i] = UINT64_C(1) << i;
		taken |= bits[i];
		RTE_PER_LCORE(_lcore_id) = RTE_MAX_LCORE - 1 - i;
	}
	pthread_mutex_unlock(&lock);
	return rte_lcore_id() != LCORE_ID_ANY;
}
