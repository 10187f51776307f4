/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings `ecn` and `vlan` as a program sees them, over a link that marks whatever is
 * ECN-capable: marks are answered by CNPs, in a VLAN and outside.
 * Start with main(), which opens the adapters in each way.
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

/* Requests are marked on their way to b, acknowledgements on theirs to a. */
static void
marks_are_answered_when_there_are_any(void **state)
{
	struct duo *duo = duo_open(NULL);
	struct plx_adapter_info info;

	(void)state;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const struct beyond beyond = at_peer(&duo->b, 0);

		end_fill(&duo->a, 0, BYTES, (uint8_t)i);
		end_post(&duo->a, PLX_WR_WRITE, i, 0, 0, BYTES, &beyond);
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
		end_assert_filled(&duo->b, 0, BYTES, (uint8_t)i);
	}
	duo_settle();
	if (duo_extra.ecn) {
		assert_true(of_qp(duo->b.qp, "ce_marks") >= MESSAGES);
		assert_in_range(of_qp(duo->b.qp, "cnps_sent"), 1, of_qp(duo->b.qp, "ce_marks"));
		assert_int_equal(of_qp(duo->a.qp, "CNP"), of_qp(duo->b.qp, "cnps_sent"));
	} else {
		assert_int_equal(of_qp(duo->b.qp, "ce_marks"), 0);
		assert_int_equal(of_qp(duo->b.qp, "cnps_sent"), 0);
	}
	plx_adapter_query(duo->a.adapter, &info);
	assert_int_equal(info.vlan, duo_extra.vlan);
	assert_int_equal(of_adapter(duo->b.adapter, "refused_VLAN"), 0);
	assert_int_equal(of_adapter(duo->b.adapter, "refused_STATION"), 0);
	duo_close(duo);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		DUO_TEST(marks_are_answered_when_there_are_any),
	};
	int failures = 0;

	duo_extra.faults = ",mark=1";
	for (int way = 0; way < 4; way++) {
		duo_extra.ecn = way & 1;
		duo_extra.vlan = way & 2 ? 4094 : 0;
		failures += duo_run(duo_extra.ecn ? "with ecn" : "without ecn", tests, 1);
	}
	return failures;
}
