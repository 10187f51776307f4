/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every message in every stage: its verdict, the reply, and the event of our program. Each message
 * is repeated: a second time, from another source, and with other ids: then there are no events. It
 * never loses a datagram: loss.c does. Start with the table `outcomes`.
 */
#include "stages.h"

#include <string.h>

enum {
	KINDS = 9,
};

struct outcome {
	uint8_t verdict;
	uint16_t answer; /* enum plx_cm_kind */
	uint8_t told[2]; /* enum plx_cm_event_kind */
};

#define AT(kind) [PLX_CM_##kind - PLX_CM_REQ]
#define SAYS(verdict_name, answer_name, ...)                 \
	{                                                    \
		PLX_CM_##verdict_name, PLX_CM_##answer_name, \
		{                                            \
			__VA_ARGS__                          \
		}                                            \
	}
#define NOT_TOLD PLX_CM_EVENT_NOTHING

static const struct outcome outcomes[STAGES][KINDS] =
	{
		[REQ_SENT] =
			{
				AT(REQ) = SAYS(REFUSED, REJ, NOT_TOLD),
				AT(MRA) = SAYS(TAKEN, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_REJECTED),
				AT(REP) = SAYS(TAKEN, NONE, PLX_CM_EVENT_REPLIED),
				AT(RTU) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(DREP) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		[REP_RCVD] =
			{
				AT(REQ) = SAYS(REFUSED, REJ, NOT_TOLD),
				AT(MRA) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_ABORTED),
				AT(REP) = SAYS(REPEATED, MRA, NOT_TOLD),
				AT(RTU) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(TAKEN, DREP, PLX_CM_EVENT_ABORTED),
				AT(DREP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		/* Nobody knows our id yet, and the messages name none. */
		[REQ_QUEUED] =
			{
				AT(REQ) = SAYS(REPEATED, MRA, PLX_CM_EVENT_REQUESTED),
				AT(MRA) = SAYS(UNKNOWN, NONE, PLX_CM_EVENT_REQUESTED),
				AT(REJ) = SAYS(TAKEN, NONE, NOT_TOLD),
				AT(REP) = SAYS(UNKNOWN, REJ, PLX_CM_EVENT_REQUESTED),
				AT(RTU) = SAYS(UNKNOWN, NONE, PLX_CM_EVENT_REQUESTED),
				AT(DREQ) = SAYS(UNKNOWN, DREP, PLX_CM_EVENT_REQUESTED),
				AT(DREP) = SAYS(UNKNOWN, NONE, PLX_CM_EVENT_REQUESTED),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, PLX_CM_EVENT_REQUESTED),
				AT(SIDR_REP) = SAYS(UNKNOWN, NONE, PLX_CM_EVENT_REQUESTED),
			},
		[REQ_RCVD] =
			{
				AT(REQ) = SAYS(REPEATED, MRA, NOT_TOLD),
				AT(MRA) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_ABORTED),
				AT(REP) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(RTU) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(DREP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		[REP_SENT] =
			{
				AT(REQ) = SAYS(REPEATED, REP, NOT_TOLD),
				AT(MRA) = SAYS(TAKEN, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_ABORTED),
				AT(REP) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(RTU) = SAYS(TAKEN, NONE, PLX_CM_EVENT_ESTABLISHED),
				AT(DREQ) = SAYS(TAKEN, DREP, PLX_CM_EVENT_ESTABLISHED,
						PLX_CM_EVENT_DISCONNECTED),
				AT(DREP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		[ESTABLISHED] =
			{
				AT(REQ) = SAYS(REFUSED, REJ, NOT_TOLD),
				AT(MRA) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_DISCONNECTED),
				AT(REP) = SAYS(REPEATED, RTU, NOT_TOLD),
				AT(RTU) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(TAKEN, DREP, PLX_CM_EVENT_DISCONNECTED),
				AT(DREP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		[ESTABLISHED_PASSIVE] =
			{
				AT(REQ) = SAYS(REPEATED, NONE, NOT_TOLD),
				AT(MRA) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_DISCONNECTED),
				AT(REP) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(RTU) = SAYS(REPEATED, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(TAKEN, DREP, PLX_CM_EVENT_DISCONNECTED),
				AT(DREP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		[DREQ_SENT] =
			{
				AT(REQ) = SAYS(REFUSED, REJ, NOT_TOLD),
				AT(MRA) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(REJ) = SAYS(TAKEN, NONE, PLX_CM_EVENT_CLOSED),
				AT(REP) = SAYS(REPEATED, NONE, NOT_TOLD),
				AT(RTU) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(TAKEN, DREP, PLX_CM_EVENT_CLOSED),
				AT(DREP) = SAYS(TAKEN, NONE, PLX_CM_EVENT_CLOSED),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
		[TIMEWAIT] =
			{
				AT(REQ) = SAYS(REFUSED, REJ, NOT_TOLD),
				AT(MRA) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
				AT(REJ) = SAYS(REPEATED, NONE, NOT_TOLD),
				AT(REP) = SAYS(UNKNOWN, REJ, NOT_TOLD),
				AT(RTU) = SAYS(UNKNOWN, NONE, NOT_TOLD),
				AT(DREQ) = SAYS(REPEATED, DREP, NOT_TOLD),
				AT(DREP) = SAYS(REPEATED, NONE, NOT_TOLD),
				AT(SIDR_REQ) = SAYS(REFUSED, SIDR_REP, NOT_TOLD),
				AT(SIDR_REP) = SAYS(UNEXPECTED, NONE, NOT_TOLD),
			},
};

/* Only messages of this host; nobody listens at their destination. */
static void
expect_answer(struct pair *pair, int host, enum plx_cm_kind kind)
{
	pair_forget(pair);
	pair->silent[!host] = true;
	assert_int_equal(pair_carry_from(pair, host), kind != PLX_CM_NONE);
	if (kind != PLX_CM_NONE)
		pair_last(pair, host, kind);
	pair->silent[!host] = false;
}

static void
expect_told(struct pair *pair, int host, const struct outcome *outcome)
{
	for (size_t i = 0; i < 2 && outcome->told[i] != PLX_CM_EVENT_NOTHING; i++)
		pair_expect(pair, host, (enum plx_cm_event_kind)outcome->told[i]);
	pair_expect_nothing(pair, host);
}

/* As it should be; then again, which raises no event. */
static void
twice(enum stage stage, enum plx_cm_kind kind)
{
	const struct outcome *outcome = &outcomes[stage][kind - PLX_CM_REQ];
	int host = stage_host(stage);
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	print_message("%#x in %s\n", kind, stage_names[stage]);
	pair_open(&pair);
	stage_reach(&pair, stage, ids);
	msg = stage_message(&pair, stage, ids, kind);
	assert_int_equal(pair_inject(&pair, host, &msg), outcome->verdict);
	expect_answer(&pair, host, (enum plx_cm_kind)outcome->answer);
	expect_told(&pair, host, outcome);
	assert_int_not_equal(pair_inject(&pair, host, &msg), PLX_CM_MALFORMED);
	pair_expect_nothing(&pair, host);
	pair_close(&pair);
}

enum way {
	BETWEEN_BOTH,
	FROM_ELSEWHERE,
	TO_ELSEWHERE, /* an address that this host has beside that of the connection */
};

/* From or to elsewhere, or with another's id: it is unknown, and not a word of it counts. */
static void
forged(enum stage stage, enum plx_cm_kind kind, enum way way, uint32_t flip_ours,
       uint32_t flip_theirs)
{
	int host = stage_host(stage);
	struct plx_cm_id ids[HOSTS];
	const struct plx_ip elsewhere = pair_ip(4, 0x0a4d0063);
	struct plx_cm_view before, after;
	enum plx_cm_verdict verdict;
	struct plx_cm_msg msg;
	struct pair pair;

	pair_open(&pair);
	stage_reach(&pair, stage, ids);
	plx_cm_query(pair.cm[host], &before);
	msg = stage_message(&pair, stage, ids, kind);
	msg.rtu.remote_comm_id ^= flip_ours;
	msg.rtu.local_comm_id ^= flip_theirs;
	if (way == TO_ELSEWHERE)
		verdict = pair_inject_at(&pair, host, elsewhere, &msg);
	else
		verdict = pair_inject_from(
			&pair, host, way == FROM_ELSEWHERE ? elsewhere : pair.ip[!host], &msg);
	assert_int_equal(verdict, PLX_CM_UNKNOWN);
	plx_cm_query(pair.cm[host], &after);
	assert_memory_equal(&before, &after, sizeof before);
	if (stage == REQ_QUEUED)
		pair_expect(&pair, host, PLX_CM_EVENT_REQUESTED);
	pair_expect_nothing(&pair, host);
	pair_close(&pair);
}

static void
every_message_in_every_stage(void **state)
{
	(void)state;
	for (int stage = 0; stage < STAGES; stage++) {
		for (int kind = PLX_CM_REQ; kind <= PLX_CM_SIDR_REP; kind++)
			twice((enum stage)stage, (enum plx_cm_kind)kind);
	}
}

static void
no_message_counts_from_elsewhere_or_with_other_ids(void **state)
{
	(void)state;
	for (int stage = 0; stage < STAGES; stage++) {
		for (int kind = PLX_CM_MRA; kind <= PLX_CM_DREP; kind++) {
			bool new_id = stage == REQ_SENT && kind != PLX_CM_RTU &&
				      kind != PLX_CM_DREQ && kind != PLX_CM_DREP;

			forged((enum stage)stage, (enum plx_cm_kind)kind, FROM_ELSEWHERE, 0, 0);
			forged((enum stage)stage, (enum plx_cm_kind)kind, TO_ELSEWHERE, 0, 0);
			forged((enum stage)stage, (enum plx_cm_kind)kind, BETWEEN_BOTH, 1u << 20,
			       0);
			/* The active side cannot know the peer's id. */
			if (!new_id)
				forged((enum stage)stage, (enum plx_cm_kind)kind, BETWEEN_BOTH, 0,
				       1u << 20);
		}
	}
}

/* A DREQ names our queue pair. */
static void
a_dreq_for_another_queue_pair_is_invalid(void **state)
{
	static const enum stage stages[] = {REP_RCVD,  REP_SENT, ESTABLISHED, ESTABLISHED_PASSIVE,
					    DREQ_SENT, TIMEWAIT};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(stages); i++) {
		struct plx_cm_id ids[HOSTS];
		struct plx_cm_msg msg;
		struct pair pair;

		pair_open(&pair);
		stage_reach(&pair, stages[i], ids);
		msg = stage_message(&pair, stages[i], ids, PLX_CM_DREQ);
		msg.dreq.remote_qpn++;
		assert_int_equal(pair_inject(&pair, stage_host(stages[i]), &msg), PLX_CM_INVALID);
		pair_expect_nothing(&pair, stage_host(stages[i]));
		expect_answer(&pair, stage_host(stages[i]), PLX_CM_NONE);
		pair_close(&pair);
	}
}

static void
a_rep_with_an_impossible_queue_pair_is_invalid(void **state)
{
	static const uint32_t qpns[] = {0, 1, 0xffffff};
	struct plx_cm_id ids[HOSTS];
	struct plx_cm_msg msg;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	stage_reach(&pair, REQ_SENT, ids);
	for (size_t i = 0; i < PLX_COUNT_OF(qpns); i++) {
		msg = stage_message(&pair, REQ_SENT, ids, PLX_CM_REP);
		msg.rep.local_qpn = qpns[i];
		assert_int_equal(pair_inject(&pair, ALICE, &msg), PLX_CM_INVALID);
	}
	msg = stage_message(&pair, REQ_SENT, ids, PLX_CM_REP);
	msg.rep.local_comm_id = 0;
	assert_int_equal(pair_inject(&pair, ALICE, &msg), PLX_CM_INVALID);
	pair_expect_nothing(&pair, ALICE);
	pair_close(&pair);
}

static void
what_is_no_message_is_counted_by_its_fault(void **state)
{
	uint8_t bytes[PLX_MAD_BYTES] = {0};
	struct plx_cm_route route;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	route = (struct plx_cm_route){.local = pair.ip[BOB], .remote = pair.ip[ALICE]};
	for (size_t len = 0; len <= PLX_MAD_BYTES; len++)
		assert_int_equal(plx_cm_on_mad(pair.cm[BOB], &route, bytes, len, pair.now),
				 PLX_CM_MALFORMED);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->verdict[PLX_CM_MALFORMED],
			 PLX_MAD_BYTES + 1);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->refused[PLX_MAD_LENGTH], PLX_MAD_BYTES);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->refused[PLX_MAD_VERSION], 1);
	pair_close(&pair);
}

static void
every_verdict_has_its_text(void **state)
{
	(void)state;
	for (int i = 0; i < PLX_CM_VERDICT_COUNT; i++) {
		assert_non_null(plx_cm_verdict_text((enum plx_cm_verdict)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(plx_cm_verdict_text((enum plx_cm_verdict)i),
						plx_cm_verdict_text((enum plx_cm_verdict)j));
	}
	assert_string_equal(plx_cm_verdict_text(PLX_CM_VERDICT_COUNT),
			    "not a verdict of the communication manager");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_in_every_stage),
		cmocka_unit_test(no_message_counts_from_elsewhere_or_with_other_ids),
		cmocka_unit_test(a_dreq_for_another_queue_pair_is_invalid),
		cmocka_unit_test(a_rep_with_an_impossible_queue_pair_is_invalid),
		cmocka_unit_test(what_is_no_message_is_counted_by_its_fault),
		cmocka_unit_test(every_verdict_has_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
