/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program leaves when it is killed: messages that the host still sends, and queue pairs that
 * it has given away, or lent. The peer, at another adapter, gets all of them, and is then told that
 * the connection has ended. Start with a_program_that_is_killed_has_its_messages_sent().
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_side.h"

enum {
	PORT = 4242,
	DEPTH = 16,
	BYTES = 3000,
	SOON_MS = 20000,
	SHORT_MS = 400,
	TOLD_MS = 100, /* of a death, if nothing is left to do */
	FOR_EVER = 7,  /* RNR retries */
};

#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

static struct host_process host;

/* The program that is killed. */
struct program {
	struct host_side side;
	struct plx_event_channel *channel;
	struct plx_connector *connector;
};

/* Its peer: this process. */
static struct {
	struct host_side side; /* at "b" */
	struct plx_event_channel *channel;
	struct plx_listener *listener;
	struct plx_connector *connector;
} peer;

static void
connect_to_peer(struct program *p)
{
	struct plx_connect_options options;
	struct plx_connector_event event;

	host_side_open(&p->side, "a");
	MUST(plx_event_channel_create(p->side.adapter, 8, &p->channel) == PLX_OK);
	MUST(plx_connector_create(p->channel, 0, &p->connector) == PLX_OK);
	plx_connect_options_init(&options);
	options.remote = host_side_ip(2);
	options.remote_port = PORT;
	options.rnr_retry = FOR_EVER;
	MUST(plx_connect(p->connector, p->side.qp, &options, NULL) == PLX_OK);
	MUST(plx_event_channel_wait(p->channel, SOON_MS, &event) &&
	     event.kind == PLX_CM_EVENT_REPLIED);
	MUST(plx_establish(p->connector, NULL) == PLX_OK);
}

static void
post_messages(struct program *p)
{
	for (uint32_t i = 0; i < DEPTH; i++) {
		uint8_t *bytes = p->side.memory + i * BYTES;
		const struct plx_sge sge = {(uintptr_t)bytes, BYTES, plx_mr_key(p->side.mr)};

		memset(bytes, (int)(i + 1), BYTES);
		MUST(plx_post_one(p->side.qp, PLX_WR(PLX_WR_SEND, 0), i, &sge, 0,
				  (struct plx_key){0}) == PLX_OK);
	}
}

/* @param linger_ms 0: it does not say */
static pid_t
start_sender(uint32_t linger_ms)
{
	pid_t pid = fork();
	struct program p;

	if (pid != 0)
		return pid;
	alarm(60);
	connect_to_peer(&p);
	if (linger_ms > 0)
		MUST(plx_qp_linger(p.side.qp, linger_ms, NULL) == PLX_OK);
	post_messages(&p);
	kill(getpid(), SIGKILL);
	_exit(1);
}

static void
open_peer(void)
{
	const struct plx_listen_options listen = {.port = PORT};

	host_side_open(&peer.side, "b");
	assert_int_equal(plx_event_channel_create(peer.side.adapter, 8, &peer.channel), PLX_OK);
	assert_int_equal(plx_listen(peer.channel, &listen, &peer.listener, NULL), PLX_OK);
}

static struct plx_qp *
new_queue_pair(void)
{
	const struct plx_qp_options options = {.send_cq = peer.side.cq,
					       .recv_cq = peer.side.cq,
					       .sq_depth = DEPTH,
					       .rq_depth = DEPTH};
	struct plx_qp *qp;

	assert_int_equal(plx_qp_create(peer.side.pd, &options, &qp, NULL), PLX_OK);
	return qp;
}

static void
close_peer(void)
{
	assert_int_equal(plx_connector_destroy(peer.connector), PLX_OK);
	assert_int_equal(plx_listener_destroy(peer.listener), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(peer.channel), PLX_OK);
	host_side_close(&peer.side);
	host_side_await_nothing(&host);
}

static void
await_event(enum plx_cm_event_kind kind)
{
	struct plx_connector_event event;

	assert_true(plx_event_channel_wait(peer.channel, SOON_MS, &event));
	assert_int_equal(event.kind, kind);
	if (kind == PLX_CM_EVENT_REQUESTED)
		peer.connector = event.connector;
}

static void
accept_it(void)
{
	struct plx_connect_options options;

	await_event(PLX_CM_EVENT_REQUESTED);
	plx_connect_options_init(&options);
	assert_int_equal(plx_accept(peer.connector, peer.side.qp, &options, NULL), PLX_OK);
	await_event(PLX_CM_EVENT_ESTABLISHED);
}

static void
await_kill(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void
post_receives(void)
{
	for (uint32_t i = 0; i < DEPTH; i++) {
		const struct plx_sge sge = {(uintptr_t)peer.side.memory + i * BYTES, BYTES,
					    plx_mr_key(peer.side.mr)};
		const struct plx_recv_wr wr = {.wr_id = i, .sges = 1, .sge = &sge};

		assert_int_equal(plx_post_recv(peer.side.qp, &wr, 1, NULL), 1);
	}
}

static void
receive_all(void)
{
	for (uint32_t i = 0; i < DEPTH; i++) {
		const uint8_t *bytes = peer.side.memory + i * BYTES;
		struct plx_wc wc;

		test_until(plx_cq_poll(peer.side.cq, &wc, 1) == 1, (void)0);
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(bytes[0], i + 1);
		assert_int_equal(bytes[BYTES - 1], i + 1);
	}
}

static void
a_program_that_is_killed_has_its_messages_sent(void **state)
{
	struct plx_connector_event event;
	pid_t pid;

	(void)state;
	open_peer();
	pid = start_sender(SOON_MS);
	accept_it();
	await_kill(pid);
	/* There is no hurry. */
	usleep(300 * 1000);
	assert_false(plx_event_channel_next(peer.channel, &event));
	post_receives();
	receive_all();
	await_event(PLX_CM_EVENT_DISCONNECTED);
	close_peer();
}

static void
without_a_word_they_are_not_sent_and_the_peer_is_told_at_once(void **state)
{
	uint64_t killed;
	pid_t pid;

	(void)state;
	open_peer();
	pid = start_sender(0);
	accept_it();
	await_kill(pid);
	killed = test_ms();
	await_event(PLX_CM_EVENT_DISCONNECTED);
	assert_in_range(test_ms() - killed, 0, TOLD_MS + SHORT_MS);
	close_peer();
}

static void
a_peer_that_takes_nothing_is_told_when_the_time_is_over(void **state)
{
	uint64_t killed;
	pid_t pid;

	(void)state;
	open_peer();
	pid = start_sender(SHORT_MS);
	accept_it();
	await_kill(pid);
	killed = test_ms();
	await_event(PLX_CM_EVENT_DISCONNECTED);
	assert_true(test_ms() - killed >= SHORT_MS / 2);
	close_peer();
}

/* ---- given away, and then killed ---- */

/* A seat that it exports to, by a token through a pipe. */
static pid_t
start_giver(uint32_t seat, int *from)
{
	struct plx_qp_token token;
	struct program p;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	*from = fds[0];
	if (pid != 0) {
		close(fds[1]);
		return pid;
	}
	alarm(60);
	connect_to_peer(&p);
	MUST(plx_qp_export(p.side.qp, p.connector, seat, &token, NULL) == PLX_OK);
	MUST(write(fds[1], &token, sizeof(token)) == sizeof(token));
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* The heir has a seat at "a", in this process. */
struct heir {
	struct host_side side;
	struct plx_event_channel *channel;
	uint32_t seat;
};

static void
open_heir(struct heir *heir)
{
	struct plx_adapter_info info;

	host_side_open(&heir->side, "a");
	assert_int_equal(plx_event_channel_create(heir->side.adapter, 8, &heir->channel), PLX_OK);
	plx_adapter_query(heir->side.adapter, &info);
	heir->seat = info.seat;
}

static void
close_heir(struct heir *heir)
{
	assert_int_equal(plx_event_channel_destroy(heir->channel), PLX_OK);
	host_side_close(&heir->side);
}

static struct plx_qp_token
read_token(int from)
{
	struct plx_qp_token token;

	assert_int_equal(read(from, &token, sizeof(token)), sizeof(token));
	close(from);
	return token;
}

static enum plx_status
import(struct heir *heir, const struct plx_qp_token *token, struct plx_qp **qp,
       struct plx_connector **connector)
{
	const struct plx_qp_options options = {.send_cq = heir->side.cq,
					       .recv_cq = heir->side.cq,
					       .sq_depth = DEPTH,
					       .rq_depth = DEPTH};

	return plx_qp_import(heir->side.pd, token, &options, heir->channel, qp, connector, NULL);
}

static void
an_heir_takes_over_from_a_program_that_was_killed(void **state)
{
	struct plx_connector *connector;
	struct plx_qp_token token;
	struct heir heir;
	struct plx_qp *qp, *own;
	int from;
	pid_t pid;

	(void)state;
	open_heir(&heir);
	open_peer();
	pid = start_giver(heir.seat, &from);
	accept_it();
	token = read_token(from);
	await_kill(pid);
	usleep(SHORT_MS * 1000);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_OK);
	own = heir.side.qp;
	heir.side.qp = qp;
	host_side_write(&heir.side, &peer.side, 7);
	heir.side.qp = own;
	assert_int_equal(plx_disconnect(connector), PLX_OK);
	await_event(PLX_CM_EVENT_DISCONNECTED);
	assert_int_equal(plx_connector_destroy(connector), PLX_OK);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
	close_heir(&heir);
	close_peer();
}

static void
what_nobody_takes_over_ends(void **state)
{
	struct plx_connector *connector;
	struct plx_qp_token token;
	struct heir heir;
	struct plx_qp *qp;
	uint64_t killed;
	int from;
	pid_t pid;

	(void)state;
	open_heir(&heir);
	open_peer();
	pid = start_giver(heir.seat, &from);
	accept_it();
	token = read_token(from);
	await_kill(pid);
	killed = test_ms();
	await_event(PLX_CM_EVENT_DISCONNECTED);
	assert_true(test_ms() - killed >= 4000);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_NO_KEY);
	close_heir(&heir);
	close_peer();
}

/* ---- lent ---- */

/* It lends to that seat, posts receives and messages, and then is killed, or does nothing until it
 * is told to go on. @param exports it gives the queue pair away before. @param go NULL: it is
 * killed */
static pid_t
start_lender(uint32_t seat, bool exports, int *from, int *go)
{
	struct plx_qp_token token;
	int fds[2], more[2] = {-1, -1};
	enum plx_status status;
	struct program p;
	struct plx_wc wc;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	if (go != NULL)
		assert_int_equal(pipe(more), 0);
	pid = fork();
	*from = fds[0];
	if (pid != 0) {
		close(fds[1]);
		if (go != NULL) {
			*go = more[1];
			close(more[0]);
		}
		return pid;
	}
	alarm(60);
	connect_to_peer(&p);
	for (uint32_t i = 0; i < 2; i++) {
		const struct plx_sge sge = {(uintptr_t)p.side.memory, BYTES, plx_mr_key(p.side.mr)};
		const struct plx_recv_wr wr = {.wr_id = i, .sges = 1, .sge = &sge};

		MUST(plx_post_recv(p.side.qp, &wr, 1, NULL) == 1);
	}
	post_messages(&p);
	MUST(plx_qp_lend(p.side.qp, p.connector, seat, &token, NULL) == PLX_OK);
	while (exports &&
	       (status = plx_qp_export(p.side.qp, p.connector, seat, &token, NULL)) != PLX_OK)
		MUST(status == PLX_BUSY);
	MUST(write(fds[1], &token, sizeof(token)) == sizeof(token));
	if (go == NULL) {
		kill(getpid(), SIGKILL);
		_exit(1);
	}
	MUST(read(more[0], &token, sizeof(token)) == sizeof(token));
	/* Nothing of the connection is here any more. */
	for (uint32_t i = 0; i < DEPTH + 2; i++) {
		MUST(plx_cq_poll(p.side.cq, &wc, 1) == 1);
		MUST(wc.status == (i < DEPTH + 1 ? PLX_WC_SUCCESS : PLX_WC_FLUSHED));
	}
	MUST(plx_connector_destroy(p.connector) == PLX_OK);
	MUST(plx_event_channel_destroy(p.channel) == PLX_OK);
	host_side_close(&p.side);
	_exit(0);
}

static void
send_one(struct host_side *side, uint32_t seed)
{
	const struct plx_sge sge = {(uintptr_t)side->memory, BYTES, plx_mr_key(side->mr)};
	struct plx_wc wc;

	assert_int_equal(
		plx_post_one(side->qp, PLX_WR(PLX_WR_SEND, 0), seed, &sge, 0, (struct plx_key){0}),
		PLX_OK);
	test_until(plx_cq_poll(side->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.wr_id, seed);
}

/* The heir goes on, where the other one was. */
static void
go_on(struct heir *heir, struct plx_qp *qp, struct plx_connector *connector)
{
	struct plx_qp *own = heir->side.qp;

	heir->side.qp = qp;
	host_side_write(&heir->side, &peer.side, 7);
	heir->side.qp = own;
	assert_int_equal(plx_disconnect(connector), PLX_OK);
	await_event(PLX_CM_EVENT_DISCONNECTED);
	assert_int_equal(plx_connector_destroy(connector), PLX_OK);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
}

static void
what_was_lent_is_taken_from_a_program_that_does_nothing(void **state)
{
	struct plx_connector *connector;
	struct plx_qp_token token;
	struct plx_qp_past past;
	struct plx_qp *qp;
	struct heir heir;
	int from, go, status;
	pid_t pid;

	(void)state;
	open_heir(&heir);
	open_peer();
	pid = start_lender(heir.seat, false, &from, &go);
	accept_it();
	post_receives();
	token = read_token(from);
	receive_all();
	send_one(&peer.side, 100);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_OK);
	plx_qp_inherited(qp, &past);
	assert_int_equal(past.requests, DEPTH);
	assert_int_equal(past.receives, 1);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_NO_KEY);
	assert_int_equal(write(go, &token, sizeof(token)), sizeof(token));
	close(go);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	go_on(&heir, qp, connector);
	close_heir(&heir);
	close_peer();
}

/* All that the lender posted is done, once it can be taken. */
static void
take_and_go_on(struct heir *heir, const struct plx_qp_token *token, uint32_t receives)
{
	struct plx_connector *connector;
	struct plx_qp_past past;
	struct plx_qp *qp;

	test_until(import(heir, token, &qp, &connector) == PLX_OK, (void)0);
	plx_qp_inherited(qp, &past);
	assert_int_equal(past.requests, DEPTH);
	assert_int_equal(past.receives, receives);
	go_on(heir, qp, connector);
}

static void
what_a_killed_program_has_lent_is_taken_when_all_is_sent(void **state)
{
	struct plx_connector *connector;
	struct plx_qp_token token;
	struct plx_qp *qp;
	struct heir heir;
	pid_t pid;
	int from;

	(void)state;
	open_heir(&heir);
	open_peer();
	pid = start_lender(heir.seat, false, &from, NULL);
	accept_it();
	token = read_token(from);
	await_kill(pid);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_BUSY);
	post_receives();
	send_one(&peer.side, 100);
	take_and_go_on(&heir, &token, 1);
	close_heir(&heir);
	close_peer();
}

/* Nobody has told its heir of that. */
static void
what_a_killed_program_had_given_away_is_taken_by_its_heir(void **state)
{
	struct plx_qp_token token;
	struct heir heir;
	pid_t pid;
	int from;

	(void)state;
	open_heir(&heir);
	open_peer();
	pid = start_lender(heir.seat, true, &from, NULL);
	accept_it();
	post_receives();
	receive_all();
	token = read_token(from);
	await_kill(pid);
	take_and_go_on(&heir, &token, 0);
	close_heir(&heir);
	close_peer();
}

static void
what_was_lent_and_nobody_takes_ends(void **state)
{
	struct plx_connector *connector;
	struct plx_qp_token token;
	struct plx_qp *qp;
	struct heir heir;
	uint64_t killed;
	pid_t pid;
	int from;

	(void)state;
	open_heir(&heir);
	open_peer();
	pid = start_lender(heir.seat, false, &from, NULL);
	accept_it();
	post_receives();
	token = read_token(from);
	await_kill(pid);
	killed = test_ms();
	receive_all();
	await_event(PLX_CM_EVENT_DISCONNECTED);
	assert_in_range(test_ms() - killed, 4000, 9000);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_NO_KEY);
	close_heir(&heir);
	close_peer();
}

static void
a_loan_is_refused_with_a_sentence_or_ends_with_its_queue_pair(void **state)
{
	struct plx_connector *connector;
	struct plx_why why = {""};
	struct plx_qp_token token;
	struct host_side side;
	struct plx_qp *qp;
	struct heir heir;

	(void)state;
	open_heir(&heir);
	host_side_open(&side, "a");
	assert_int_equal(plx_qp_lend(side.qp, NULL, heir.seat, &token, &why), PLX_STATE);
	assert_non_null(strstr(why.text, "only a connected one is lent"));
	host_side_open(&peer.side, "b");
	host_side_join(&side, &peer.side);
	assert_int_equal(plx_qp_lend(side.qp, NULL, heir.seat, &token, &why), PLX_OK);
	host_side_close(&side);
	assert_int_equal(import(&heir, &token, &qp, &connector), PLX_NO_KEY);
	host_side_close(&peer.side);
	close_heir(&heir);
	host_side_await_nothing(&host);
}

/* ---- refusals ---- */

static void
a_time_without_sense_is_refused_with_a_sentence(void **state)
{
	struct host_side side;
	struct plx_why why = {""};

	(void)state;
	host_side_open(&side, "a");
	assert_int_equal(plx_qp_linger(side.qp, PLX_LINGER_MAX_MS + 1, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "600001 ms"));
	assert_int_equal(plx_qp_linger(side.qp, PLX_LINGER_MAX_MS, &why), PLX_OK);
	assert_int_equal(plx_qp_linger(side.qp, 0, &why), PLX_OK);
	host_side_close(&side);
	host_side_await_nothing(&host);
}

/* ---- the host stops ---- */

static int
begin(void **state)
{
	(void)state;
	return host_process_begin(&host) ? 0 : -1;
}

/* Nobody is waited for: neither a peer that takes nothing, nor an heir. */
static void
a_host_that_stops_waits_for_none_of_it(void **state)
{
	struct heir heir;
	uint64_t begun;
	pid_t giver, sender;
	int from;

	(void)state;
	open_heir(&heir);
	open_peer();
	giver = start_giver(heir.seat, &from);
	accept_it();
	(void)read_token(from);
	await_kill(giver);
	assert_int_equal(plx_connector_destroy(peer.connector), PLX_OK);
	assert_int_equal(plx_qp_destroy(peer.side.qp), PLX_OK);
	peer.side.qp = new_queue_pair();
	sender = start_sender(SOON_MS);
	accept_it();
	await_kill(sender);
	begun = test_ms();
	assert_true(host_process_end(&host));
	assert_true(test_ms() - begun < SOON_MS / 2);
	close_heir(&heir);
	assert_int_equal(plx_connector_destroy(peer.connector), PLX_OK);
	assert_int_equal(plx_listener_destroy(peer.listener), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(peer.channel), PLX_OK);
	host_side_close(&peer.side);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_is_killed_has_its_messages_sent),
		cmocka_unit_test(without_a_word_they_are_not_sent_and_the_peer_is_told_at_once),
		cmocka_unit_test(a_peer_that_takes_nothing_is_told_when_the_time_is_over),
		cmocka_unit_test(an_heir_takes_over_from_a_program_that_was_killed),
		cmocka_unit_test(what_nobody_takes_over_ends),
		cmocka_unit_test(what_was_lent_is_taken_from_a_program_that_does_nothing),
		cmocka_unit_test(what_a_killed_program_has_lent_is_taken_when_all_is_sent),
		cmocka_unit_test(what_a_killed_program_had_given_away_is_taken_by_its_heir),
		cmocka_unit_test(what_was_lent_and_nobody_takes_ends),
		cmocka_unit_test(a_loan_is_refused_with_a_sentence_or_ends_with_its_queue_pair),
		cmocka_unit_test(a_time_without_sense_is_refused_with_a_sentence),
		cmocka_unit_test(a_host_that_stops_waits_for_none_of_it),
	};

	host_process_fork(&host, host_side_offer);
	return _cmocka_run_group_tests("what a program leaves", tests,
				       sizeof(tests) / sizeof(tests[0]), begin, NULL);
}
