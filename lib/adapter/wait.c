/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting until every engine has completed a duty cycle, which is required between invalidating a
 * key and reusing its slot. An engine whose thread sleeps is offline, and not waited for.
 * It holds no lock. Start with plx_engines_wait().
 */
#include <rte_rcu_qsbr.h>

#include "plx_adapter_object.h"

uint64_t
plx_engines_token(struct host_adapter *adapter)
{
	return adapter->rcu ? rte_rcu_qsbr_start(adapter->rcu) : 0;
}

/* Do what rte_rcu_qsbr_check() does, without writing. That function records the lowest token that
 * all have reached, by an atomic write to a cache line that engines read in each cycle, and reads
 * the record non-atomically. It would need a lock, and costs as much as the wait itself. */
static bool
engines_passed(const struct host_adapter *adapter, uint64_t token)
{
	for (uint32_t i = 0; i < adapter->engines; i++) {
		/* Acquire: pairs with the release in rte_rcu_qsbr_quiescent(). 0: offline. */
		uint64_t seen = __atomic_load_n(&adapter->rcu->qsbr_cnt[i].cnt, __ATOMIC_ACQUIRE);

		if (seen != 0 && seen < token)
			return false;
	}
	return true;
}

/* In inline mode the caller is the engine's thread, between two duty cycles, so the engine holds no
 * grant. */
enum plx_status
plx_engines_wait(struct host_adapter *adapter, uint64_t token, uint64_t timeout_ns)
{
	uint64_t deadline = plx_clock_ns() + timeout_ns;
	uint32_t looks = 0;

	if (adapter->rcu == NULL)
		return PLX_OK;
	while (!engines_passed(adapter, token)) {
		if (plx_clock_ns() >= deadline)
			return PLX_TIMEOUT;
		plx_engine_backoff(&looks);
	}
	return PLX_OK;
}

static uint64_t
cycles_of(const struct plx_engine *engine)
{
	return __atomic_load_n(&plx_engine_counters(engine)->cycles, __ATOMIC_RELAXED);
}

/* A thread that sleeps is woken, and may sleep again before we look: its cycles tell. */
enum plx_status
plx_engines_run(struct host_adapter *adapter, uint64_t timeout_ns)
{
	uint64_t deadline = plx_clock_ns() + timeout_ns, from[PLX_ENGINES_MAX];
	uint32_t looks = 0;

	if (adapter->rcu == NULL)
		return PLX_OK;
	for (uint32_t i = 0; i < adapter->engines; i++)
		from[i] = cycles_of(adapter->engine[i]);
	for (uint32_t i = 0; i < adapter->engines; i++)
		while (cycles_of(adapter->engine[i]) == from[i]) {
			plx_engine_rouse(adapter->engine[i]);
			if (plx_clock_ns() >= deadline)
				return PLX_TIMEOUT;
			plx_engine_backoff(&looks);
		}
	return PLX_OK;
}
