/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every command in every stage: its status, and the events that both sides receive then. The table
 * is that of the states of a connection; a refused command changes nothing. It never tests
 * arguments: arguments.c does. Start with the table `outcomes`.
 */
#include "stages.h"

#include <stdio.h>
#include <string.h>

enum command {
	ACCEPT,
	REJECT,
	ESTABLISH,
	COMM_ESTABLISHED,
	DISCONNECT,
	QP_FAILED,
	ABANDON,
	CONTEXT,
	COMMANDS,
};

static const char *const command_names[COMMANDS] = {"accept",           "reject",     "establish",
						    "comm_established", "disconnect", "qp_failed",
						    "abandon",          "set_context"};

/* The events of a program: up to two, and NOTHING after them. */
struct outcome {
	uint8_t status;
	uint8_t ours[3], theirs[3];
};

#define NOTHING_SAID                 \
	{                            \
		PLX_CM_EVENT_NOTHING \
	}
#define TOLD(...)            \
	{                    \
		__VA_ARGS__, \
	}
#define REFUSED                                                                   \
	{                                                                         \
		.status = PLX_STATE, .ours = NOTHING_SAID, .theirs = NOTHING_SAID \
	}

/* If there are no other messages. `theirs` is the event at the other side, once lost messages
 * have been retransmitted. */
static const struct outcome outcomes[STAGES][COMMANDS] = {
	[REQ_SENT] =
		{
			[ACCEPT] = REFUSED,
			[REJECT] = REFUSED,
			[ESTABLISH] = REFUSED,
			[COMM_ESTABLISHED] = REFUSED,
			[DISCONNECT] = REFUSED,
			[QP_FAILED] = {PLX_OK, TOLD(PLX_CM_EVENT_ABORTED), NOTHING_SAID},
			[ABANDON] = {PLX_OK, NOTHING_SAID, NOTHING_SAID},
			[CONTEXT] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_REQUESTED)},
		},
	[REP_RCVD] =
		{
			[ACCEPT] = REFUSED,
			[REJECT] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_ABORTED)},
			[ESTABLISH] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_ESTABLISHED)},
			[COMM_ESTABLISHED] = REFUSED,
			[DISCONNECT] = REFUSED,
			[QP_FAILED] = {PLX_OK, TOLD(PLX_CM_EVENT_ABORTED),
				       TOLD(PLX_CM_EVENT_ABORTED)},
			[ABANDON] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_ABORTED)},
			[CONTEXT] = {PLX_OK, NOTHING_SAID, NOTHING_SAID},
		},
	[REQ_RCVD] =
		{
			[ACCEPT] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_REPLIED)},
			[REJECT] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_REJECTED)},
			[ESTABLISH] = REFUSED,
			[COMM_ESTABLISHED] = REFUSED,
			[DISCONNECT] = REFUSED,
			[QP_FAILED] = REFUSED,
			[ABANDON] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_REJECTED)},
			[CONTEXT] = {PLX_OK, NOTHING_SAID, NOTHING_SAID},
		},
	[REP_SENT] =
		{
			[ACCEPT] = REFUSED,
			[REJECT] = REFUSED,
			[ESTABLISH] = REFUSED,
			[COMM_ESTABLISHED] = {PLX_OK, TOLD(PLX_CM_EVENT_ESTABLISHED), NOTHING_SAID},
			[DISCONNECT] = {PLX_OK, TOLD(PLX_CM_EVENT_CLOSED),
					TOLD(PLX_CM_EVENT_REJECTED)},
			[QP_FAILED] = {PLX_OK, TOLD(PLX_CM_EVENT_DISCONNECTED),
				       TOLD(PLX_CM_EVENT_REJECTED)},
			[ABANDON] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_REJECTED)},
			[CONTEXT] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_REPLIED)},
		},
	[ESTABLISHED] =
		{
			[ACCEPT] = REFUSED,
			[REJECT] = REFUSED,
			[ESTABLISH] = REFUSED,
			[COMM_ESTABLISHED] = REFUSED,
			[DISCONNECT] = {PLX_OK, TOLD(PLX_CM_EVENT_CLOSED),
					TOLD(PLX_CM_EVENT_DISCONNECTED)},
			[QP_FAILED] = {PLX_OK, TOLD(PLX_CM_EVENT_DISCONNECTED),
				       TOLD(PLX_CM_EVENT_DISCONNECTED)},
			[ABANDON] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_DISCONNECTED)},
			[CONTEXT] = {PLX_OK, NOTHING_SAID, NOTHING_SAID},
		},
	[DREQ_SENT] =
		{
			[ACCEPT] = REFUSED,
			[REJECT] = REFUSED,
			[ESTABLISH] = REFUSED,
			[COMM_ESTABLISHED] = REFUSED,
			[DISCONNECT] = REFUSED,
			[QP_FAILED] = REFUSED,
			[ABANDON] = {PLX_OK, NOTHING_SAID, TOLD(PLX_CM_EVENT_DISCONNECTED)},
			[CONTEXT] = {PLX_OK, TOLD(PLX_CM_EVENT_CLOSED),
				     TOLD(PLX_CM_EVENT_DISCONNECTED)},
		},
	[TIMEWAIT] =
		{
			[ACCEPT] = REFUSED,
			[REJECT] = REFUSED,
			[ESTABLISH] = REFUSED,
			[COMM_ESTABLISHED] = REFUSED,
			[DISCONNECT] = REFUSED,
			[QP_FAILED] = REFUSED,
			[ABANDON] = {PLX_OK, NOTHING_SAID, NOTHING_SAID},
			[CONTEXT] = REFUSED,
		},
};

static enum plx_status
run(struct pair *pair, int host, struct plx_cm_id id, enum command command)
{
	struct plx_cm *cm = pair->cm[host];
	struct plx_cm_own own = pair_own(BOB_QPN);
	struct plx_cm_peer peer;

	if (command == ACCEPT)
		return plx_cm_accept(cm, id, &own, CONTEXT_BOB, NULL, 0, pair->now, &peer);
	if (command == REJECT)
		return plx_cm_reject(cm, id, NULL, 0, pair->now);
	if (command == ESTABLISH)
		return plx_cm_establish(cm, id, pair->now);
	if (command == COMM_ESTABLISHED)
		return plx_cm_comm_established(cm, id, pair->now);
	if (command == DISCONNECT)
		return plx_cm_disconnect(cm, id, pair->now);
	if (command == QP_FAILED)
		return plx_cm_qp_failed(cm, id, pair->now);
	if (command == CONTEXT)
		return plx_cm_set_context(cm, id, CONTEXT_BOB);
	plx_cm_abandon(cm, id, pair->now);
	return PLX_OK;
}

static void
expect_all(struct pair *pair, int host, const uint8_t *events)
{
	while (*events != PLX_CM_EVENT_NOTHING)
		pair_expect(pair, host, (enum plx_cm_event_kind) * events++);
	pair_expect_nothing(pair, host);
}

static void
one(enum stage stage, enum command command)
{
	const struct outcome *outcome = &outcomes[stage][command];
	int host = stage_host(stage);
	struct plx_cm_id ids[HOSTS], id;
	struct plx_cm_view before, after;
	struct pair pair;

	print_message("%s in %s\n", command_names[command], stage_names[stage]);
	pair_open(&pair);
	id = stage_reach(&pair, stage, ids);
	before = pair_view(&pair, host);
	assert_int_equal(run(&pair, host, id, command), outcome->status);
	after = pair_view(&pair, host);
	if (outcome->status != PLX_OK) {
		assert_memory_equal(&before, &after, sizeof before);
	} else {
		/* Long enough for lost messages to be retransmitted; not for giving up. */
		pair_wait(&pair, 2 * PLX_SEC);
		expect_all(&pair, host, outcome->ours);
		expect_all(&pair, !host, outcome->theirs);
	}
	pair_close(&pair);
}

static void
every_command_in_every_stage(void **state)
{
	uint32_t seen = 0;

	(void)state;
	for (int stage = 0; stage < STAGES; stage++) {
		if (stage == REQ_QUEUED || stage == ESTABLISHED_PASSIVE)
			continue; /* nobody has an id of it; and ESTABLISHED is the same */
		for (int command = 0; command < COMMANDS; command++, seen++)
			one((enum stage)stage, (enum command)command);
	}
	assert_int_equal(seen, 7 * COMMANDS);
}

/* Nobody listens to an id that was never assigned, either. */
static void
ids_that_never_were(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	for (int command = 0; command < COMMANDS; command++) {
		for (uint32_t id = 0; id < 1000; id += 7) {
			enum plx_status status =
				run(&pair, ALICE, (struct plx_cm_id){id}, (enum command)command);

			assert_int_equal(status, command == ABANDON ? PLX_OK : PLX_STATE);
		}
	}
	pair_carry(&pair);
	assert_int_equal(pair.logged, 0);
	assert_int_equal(pair_view(&pair, ALICE).connections, 1);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_in_every_stage),
		cmocka_unit_test(ids_that_never_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
