/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting until every engine has completed a duty cycle, which is required between invalidating a
 * key and reusing its slot.
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
engines_passed(const struct host_adapter *adapter, uint64_t token, bool offline_passes)
{
	for (uint32_t i = 0; i < adapter->engines; i++) {
		/* Acquire: pairs with the release in rte_rcu_qsbr_quiescent(). 0: offline. */
		uint64_t seen = __atomic_load_n(&adapter->rcu->qsbr_cnt[i].cnt, __ATOMIC_ACQUIRE);

		if (seen == 0 ? !offline_passes : seen < token)
			return false;
	}
	return true;
}

/* In inline mode the caller is the engine's thread, between two duty cycles, so the engine holds no
 * grant. */
static enum plx_status
wait_for_engines(const struct host_adapter *adapter, uint64_t token, bool offline_passes,
		 uint64_t timeout_ns)
{
	uint64_t deadline = plx_clock_ns() + timeout_ns;
	uint32_t looks = 0;

	if (adapter->rcu == NULL)
		return PLX_OK;
	while (!engines_passed(adapter, token, offline_passes)) {
		if (plx_clock_ns() >= deadline)
			return PLX_TIMEOUT;
		plx_engine_backoff(&looks);
	}
	return PLX_OK;
}

enum plx_status
plx_engines_wait(struct host_adapter *adapter, uint64_t token, uint64_t timeout_ns)
{
	return wait_for_engines(adapter, token, true, timeout_ns);
}

enum plx_status
plx_engines_run(struct host_adapter *adapter, uint64_t timeout_ns)
{
	return wait_for_engines(adapter, plx_engines_token(adapter), false, timeout_ns);
}
