/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's decision table, enumerated: every mix of requests at every stage, with every
 * syndrome, every READ response and atomic result at every PSN around those in flight. It asserts
 * the number of combinations, and that every verdict occurred. Start with main().
 */
#include "test.h"
#include "requester.h"

#include <stdio.h>

enum {
	COMBINATIONS = 1726136,
	DIFFERENCES_SHOWN = 20,
	AROUND = 2
};

struct run {
	struct bench *bench;
	struct bench_saved saved;
	struct play play;
	uint8_t memory[PLAY_BYTES]; /* what lay in local memory when it was saved */
	uint64_t answers, differences;
	uint64_t verdicts[PLX_VERDICT_COUNT];
};

static void
try(struct run *run, struct answer *answer)
{
	struct expectation want;

	answer_build(&run->play, answer);
	requester_model(&run->play, answer, &want);
	bench_restore(run->bench, &run->saved);
	memcpy(run->bench->recv_arena, run->memory, PLAY_BYTES);
	run->answers++;
	run->verdicts[want.verdict]++;
	if (!answer_check(run->bench, &run->play, answer, &want))
		run->differences++;
	if (run->differences >= DIFFERENCES_SHOWN)
		fail();
}

static void
try_psn(struct run *run, struct plx_psn psn)
{
	static const uint8_t responses[] = {PLX_RC_READ_RESPONSE_FIRST, PLX_RC_READ_RESPONSE_MIDDLE,
					    PLX_RC_READ_RESPONSE_LAST, PLX_RC_READ_RESPONSE_ONLY};
	struct answer answer = {.psn = psn};

	answer.opcode = PLX_RC_ACK;
	for (uint32_t syndrome = 0; syndrome < 256 && !run->play.denied; syndrome++) {
		answer.syndrome = (uint8_t)syndrome;
		try(run, &answer);
	}
	answer.syndrome = PLX_AETH_ACK | PLX_AETH_NO_CREDITS;
	for (uint32_t i = 0; i < PLX_COUNT_OF(responses) * BYTES_COUNT; i++) {
		answer.opcode = responses[i / BYTES_COUNT];
		answer.bytes = (enum bytes_class)(i % BYTES_COUNT);
		try(run, &answer);
	}
	answer.opcode = PLX_RC_ATOMIC_ACK;
	answer.bytes = BYTES_RIGHT;
	try(run, &answer);
}

static void
try_play(struct run *run)
{
	static const struct plx_rc_caps caps = {.sq_depth = 8, .sq_sges = 1};
	struct bench bench;
	struct plx_psn psn, end;

	if (!play_possible(&run->play))
		return;
	bench_init(&bench, &caps, 1);
	run->bench = &bench;
	play_reach(&bench, &run->play);
	bench_save(&bench, &run->saved);
	memcpy(run->memory, bench.recv_arena, PLAY_BYTES);
	end = plx_psn_add(run->play.high, AROUND + 1);
	for (psn = plx_psn_sub(run->play.una, AROUND); !plx_psn_eq(psn, end);
	     psn = plx_psn_add(psn, 1))
		try_psn(run, psn);
	try_psn(run, plx_psn_add(run->play.una, PLX_PSN_HALF));
	try_psn(run, plx_psn_add(run->play.high, PLX_PSN_HALF - 1));
	bench_saved_free(&run->saved);
	bench_fini(&bench);
}

static void
every_play(struct run *run)
{
	static const struct {
		enum plx_qp_state state;
		uint8_t retry_max, rnr_retry_max;
		bool denied;
		uint32_t chunk;
	} how[] = {
		{PLX_QP_RTS, RETRY_MAX, RETRY_MAX, false, 1024},
		{PLX_QP_RTS, 0, RETRY_MAX, false, 1024},
		{PLX_QP_RTS, RETRY_MAX, 0, false, 1024},
		{PLX_QP_RTS, RETRY_MAX, PLX_RNR_RETRY_FOREVER, false, 1024},
		{PLX_QP_SQD, RETRY_MAX, RETRY_MAX, false, 1024},
		{PLX_QP_RTS, RETRY_MAX, RETRY_MAX, true, 1024},
		{PLX_QP_RTS, RETRY_MAX, RETRY_MAX, false, 2},
		{PLX_QP_RTS, RETRY_MAX, RETRY_MAX, false, 1},
	};

	for (uint32_t i = 0; i < PLX_COUNT_OF(how) * STAGE_COUNT * play_mixes(); i++) {
		uint32_t rest = i;
		struct play *p = &run->play;

		*p = (struct play){0};
		p->state = how[rest % PLX_COUNT_OF(how)].state;
		p->retry_max = how[rest % PLX_COUNT_OF(how)].retry_max;
		p->rnr_retry_max = how[rest % PLX_COUNT_OF(how)].rnr_retry_max;
		p->denied = how[rest % PLX_COUNT_OF(how)].denied;
		p->chunk = how[rest % PLX_COUNT_OF(how)].chunk;
		rest /= PLX_COUNT_OF(how);
		p->stage = (enum stage)(rest % STAGE_COUNT), rest /= STAGE_COUNT;
		p->mix = rest;
		try_play(run);
	}
}

static void
every_answer_meets_the_verdict_completions_and_state_of_the_decision_table(void **state)
{
	static const enum plx_verdict must[] = {
		PLX_VERDICT_ACKED,           PLX_VERDICT_RESPONSE,      PLX_VERDICT_GHOST,
		PLX_VERDICT_STALE,           PLX_VERDICT_RESPONSE_LOST, PLX_VERDICT_RESPONSE_BAD,
		PLX_VERDICT_RESPONSE_DENIED, PLX_VERDICT_NAK_SEQUENCE,  PLX_VERDICT_NAK_RNR,
		PLX_VERDICT_NAK_INVALID,     PLX_VERDICT_NAK_ACCESS,    PLX_VERDICT_NAK_OPERATION,
		PLX_VERDICT_NAK_AGAIN,       PLX_VERDICT_LOST_AGAIN,    PLX_VERDICT_SYNDROME,
	};
	static struct run run; /* large */

	(void)state;
	every_play(&run);
	for (uint32_t i = 0; i < PLX_VERDICT_COUNT; i++)
		if (run.verdicts[i])
			printf("  %-20s %9llu\n", plx_verdict_name((enum plx_verdict)i),
			       (unsigned long long)run.verdicts[i]);
	printf("requester: %llu combinations, %llu differ\n", (unsigned long long)run.answers,
	       (unsigned long long)run.differences);
	assert_int_equal(run.differences, 0);
	assert_int_equal(run.answers, COMBINATIONS);
	for (size_t i = 0; i < PLX_COUNT_OF(must); i++)
		assert_true(run.verdicts[must[i]] > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_answer_meets_the_verdict_completions_and_state_of_the_decision_table),
	};

	return cmocka_run_group_tests_name("requester", tests, NULL, NULL);
}
