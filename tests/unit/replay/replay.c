/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every capture that holds reliable-connection traffic, through responders of ours. The totals are
 * asserted, so that a capture that is read wrongly cannot compare nothing and pass.
 * It never talks to the recorded peers' requesters. Start with the table.
 */
#include "test.h"
#include "replay.h"

#include <stdio.h>

enum {
	BURST = 4,
	NOT_TRIED = 0xffff,
};

struct expected {
	const char *name;
	uint32_t flows, mtu;
	struct tally tally;
	uint32_t coalesced; /* recorded ACKs that one of ours covers, after bursts */
};

/* requests, recorded answers, answers of ours that are the same, lost on the wire, coalesced,
 * payload bytes checked in memory; coalesced when it transmits in bursts */
static const struct expected expected[] = {
	{"cm-rping-v4-1024", 2, 1024, {24, 24, 24, 0, 0, 9192}, 8},
	{"cm-rping-v4-4096", 2, 4096, {24, 24, 24, 0, 0, 30192}, 8},
	{"cm-rping-v6-1024", 2, 1024, {24, 24, 24, 0, 0, 9192}, 8},
	{"cm-rping-v6-4096", 2, 4096, {24, 24, 24, 0, 0, 30192}, 8},
	{"cm-ucmatose-v4", 4, 4096, {16, 8, 8, 0, 0, 40000}, 4},
	{"cm-rsocket-imm-v4", 2, 4096, {14, 14, 14, 0, 0, 24064}, 10},
	{"rc-bidir-write-v4", 2, 1024, {30, 10, 10, 0, 0, 30000}, 2},
	{"rc-cmp-swap-v4", 1, 256, {5, 5, 5, 0, 0, 0}, 0},
	{"rc-fetch-add-v4", 1, 256, {5, 5, 5, 0, 0, 0}, 0},
	{"rc-fetch-add-v6", 1, 256, {5, 5, 5, 0, 0, 0}, 0},
	{"rc-loss-read-v4", 1, 1024, {6, 23, 23, 1, 0, 0}, NOT_TRIED},
	{"rc-loss-v4", 1, 1024, {35, 5, 5, 1, 0, 20000}, NOT_TRIED},
	{"rc-pingpong-v4", 2, 1024, {24, 8, 8, 0, 0, 24000}, 2},
	{"rc-read-v4-1024", 1, 1024, {5, 45, 45, 0, 0, 0}, 0},
	{"rc-read-v4-4096", 1, 4096, {5, 15, 15, 0, 0, 0}, 0},
	{"rc-read-v6-1024", 1, 1024, {5, 45, 45, 0, 0, 0}, 0},
	{"rc-read-v6-4096", 1, 4096, {5, 15, 15, 0, 0, 0}, 0},
	{"rc-rnr-nak-v4", 1, 256, {14, 12, 12, 0, 0, 640}, NOT_TRIED},
	{"rc-send-v4-1024", 1, 1024, {45, 5, 5, 0, 0, 45000}, 0},
	{"rc-send-v4-4096", 1, 4096, {15, 5, 5, 0, 0, 45000}, 1},
	{"rc-send-v6-1024", 1, 1024, {45, 5, 5, 0, 0, 45000}, 0},
	{"rc-send-v6-4096", 1, 4096, {15, 5, 5, 0, 0, 45000}, 1},
	{"rc-small-odd-v4", 1, 256, {5, 5, 5, 0, 0, 65}, 3},
	{"rc-write-v4-1024", 1, 1024, {45, 5, 5, 0, 0, 45000}, 0},
	{"rc-write-v4-4096", 1, 4096, {15, 5, 5, 0, 0, 45000}, 1},
	{"rc-write-v6-1024", 1, 1024, {45, 5, 5, 0, 0, 45000}, 0},
	{"rc-write-v6-4096", 1, 4096, {15, 5, 5, 0, 0, 45000}, 1},
	{"nvme-rdma-v4", 4, 1024, {147, 94, 94, 0, 0, 85952}, 31},
};

/* The same, but that ours transmits after every fourth request only. Not for captures with NAKs:
 * those say what happened between two requests. */
static void
replay_in_bursts(void **state)
{
	static struct capture capture; /* large, both */
	static struct outcome outcome;
	const struct expected *want = *state;
	struct tally got = {0};

	capture_load(&capture, want->name);
	for (uint32_t i = 0; i < capture.flows; i++) {
		responder_replay(&capture, &capture.flow[i], BURST, &outcome);
		answers_compare(want->name, &capture.flow[i], &outcome, BURST, &got);
	}
	printf("%-18s in bursts of %u: recorded %2u = same %2u + coalesced %2u\n", want->name,
	       BURST, got.recorded, got.same, got.coalesced);
	assert_int_equal(got.recorded, want->tally.recorded);
	assert_int_equal(got.same + got.coalesced, got.recorded);
	assert_int_equal(got.coalesced, want->coalesced);
	assert_int_equal(got.lost, 0);
	assert_int_equal(got.bytes_placed, want->tally.bytes_placed);
	capture_free(&capture);
}

static void
replay(void **state)
{
	static struct capture capture; /* large, both */
	static struct outcome outcome;
	const struct expected *want = *state;
	struct tally got = {0};

	capture_load(&capture, want->name);
	for (uint32_t i = 0; i < capture.flows; i++) {
		responder_replay(&capture, &capture.flow[i], 1, &outcome);
		answers_compare(want->name, &capture.flow[i], &outcome, 1, &got);
	}
	printf("%-18s flows %u mtu %4u: requests %3u, recorded %2u = same %2u + coalesced %u, "
	       "lost %u, bytes placed %6lu\n",
	       want->name, capture.flows, capture.mtu, got.requests, got.recorded, got.same,
	       got.coalesced, got.lost, (unsigned long)got.bytes_placed);
	assert_int_equal(capture.flows, want->flows);
	assert_int_equal(capture.mtu, want->mtu);
	assert_int_equal(got.requests, want->tally.requests);
	assert_int_equal(got.recorded, want->tally.recorded);
	assert_int_equal(got.same, want->tally.same);
	assert_int_equal(got.lost, want->tally.lost);
	assert_int_equal(got.coalesced, want->tally.coalesced);
	assert_int_equal(got.bytes_placed, want->tally.bytes_placed);
	assert_int_equal(got.same + got.coalesced, got.recorded);
	capture_free(&capture);
}

int
main(void)
{
	struct CMUnitTest tests[2 * PLX_COUNT_OF(expected)] = {0};
	static char names[2 * PLX_COUNT_OF(expected)][96];
	size_t count = 0;

	for (size_t i = 0; i < PLX_COUNT_OF(expected); i++)
		for (int burst = 0; burst < 2; burst++) {
			if (burst && expected[i].coalesced == NOT_TRIED)
				continue;
			snprintf(names[count], sizeof(names[count]),
				 "a_responder_of_ours_answers_%s_as_recorded%s", expected[i].name,
				 burst ? "_when_it_coalesces" : "");
			tests[count].name = names[count];
			tests[count].test_func = burst ? replay_in_bursts : replay;
			tests[count].initial_state = (void *)(uintptr_t)&expected[i];
			count++;
		}
	return _cmocka_run_group_tests("replay", tests, count, NULL, NULL);
}
