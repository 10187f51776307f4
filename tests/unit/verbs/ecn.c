/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings `ecn`, `congestion` and `vlan` as a program sees them, over a link that marks every
 * ECN-capable packet: marks are answered by CNPs, with and without a VLAN. Start with main(), which
 * opens the adapters with each setting.
 */
#include "verbs_pair.h"

#include <string.h>

enum {
	COUNTERS = 256,
	MESSAGES = 50,
	BYTES = 5000, /* several packets */
};

static uint64_t
value_of(const struct plx_counter *list, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n && i < COUNTERS; i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].value;
	fail_msg("there is no counter %s", name);
	return 0;
}

static uint64_t
of_qp(const struct plx_qp *qp, const char *name)
{
	struct plx_counter list[COUNTERS];

	return value_of(list, plx_qp_counters(qp, list, COUNTERS), name);
}

static uint64_t
of_adapter(const struct plx_adapter *adapter, const char *name)
{
	struct plx_counter list[COUNTERS];

	return value_of(list, plx_adapter_counters(adapter, list, COUNTERS), name);
}

/* Requests are marked on their way to b, acknowledgements on their way to a. */
static void
marks_are_answered_when_there_are_any(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_adapter_info info;

	(void)state;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const struct beyond beyond = at_peer(&pair->b, 0);

		side_fill(&pair->a, 0, BYTES, (uint8_t)i);
		side_post(&pair->a, PLX_WR_WRITE, i, 0, 0, BYTES, &beyond);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
		side_assert_filled(&pair->b, 0, BYTES, (uint8_t)i);
	}
	pair_settle();
	if (pair_extra.ecn || pair_extra.congestion == PLX_CONGESTION_DCQCN) {
		assert_true(of_qp(pair->b.qp, "ce_marks") >= MESSAGES);
		assert_in_range(of_qp(pair->b.qp, "cnps_sent"), 1, of_qp(pair->b.qp, "ce_marks"));
		assert_int_equal(of_qp(pair->a.qp, "CNP"), of_qp(pair->b.qp, "cnps_sent"));
	} else {
		assert_int_equal(of_qp(pair->b.qp, "ce_marks"), 0);
		assert_int_equal(of_qp(pair->b.qp, "cnps_sent"), 0);
	}
	plx_adapter_query(pair->a.adapter, &info);
	assert_int_equal(info.vlan, pair_extra.vlan);
	assert_int_equal(of_adapter(pair->b.adapter, "refused_VLAN"), 0);
	assert_int_equal(of_adapter(pair->b.adapter, "refused_STATION"), 0);
	pair_close(pair);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		PAIR_TEST(marks_are_answered_when_there_are_any),
	};
	int failures = 0;

	pair_extra.faults = ",mark=1";
	for (int way = 0; way < 4; way++) {
		pair_extra.ecn = way & 1;
		pair_extra.vlan = way & 2 ? 4094 : 0;
		failures += pair_run(pair_extra.ecn ? "with ecn" : "without ecn", tests, 1);
	}
	pair_extra.ecn = false;
	pair_extra.vlan = 0;
	pair_extra.congestion = PLX_CONGESTION_DCQCN; /* its packets are ECN-capable */
	failures += pair_run("with DCQCN", tests, 1);
	pair_extra.congestion = PLX_CONGESTION_DELAY;
	failures += pair_run("with the delay controller", tests, 1);
	return failures;
}
