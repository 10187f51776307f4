/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that are killed: a program attaches to a host in another process, makes its way through
 * the steps of program_steps.h, and is killed after one of them. Whoever is connected to it is told
 * within TOLD_MS, nothing of it is left at the host, and the neighbour's own connection loses
 * nothing. Start with kill_after().
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"
#include "program_steps.h"

enum {
	TOLD_MS = 100,
	LATE_MAX = 6, /* of all steps, on a machine that has other things to do */
	NEWS_MAX = 8, /* connections of the neighbour's with one program */
};

static struct host_process host;

_Static_assert(PROGRAM_STEPS >= 60, "a program is killed at that many points at least");

/* ---- the program that is killed ---- */

/* @param last the step after which it is killed */
static pid_t
start_program(unsigned last)
{
	static struct program program;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(60);
	for (unsigned i = 0; i <= last; i++)
		program_steps[i].run(&program);
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* ---- the neighbour ---- */

static struct {
	struct program self; /* at adapter "b" */
	struct {
		struct plx_connector *connector;
		struct plx_qp *qp;
		bool open; /* accepted, and not ended */
	} news[NEWS_MAX];
	unsigned count;
	/* two queue pairs of its own, connected with each other by both adapters */
	struct program peer; /* at adapter "a" */
	uint64_t messages;
	unsigned late; /* steps after which it was told late */
} neighbour;

static void
accept_request(const struct plx_connector_event *event)
{
	const struct plx_qp_options qp = {.send_cq = neighbour.self.cq,
					  .recv_cq = neighbour.self.cq,
					  .sq_depth = PROGRAM_DEPTH,
					  .rq_depth = PROGRAM_DEPTH};
	const struct plx_sge sge = {(uintptr_t)neighbour.self.memory, PROGRAM_BYTES,
				    plx_mr_key(neighbour.self.mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};
	struct plx_connect_options options;
	unsigned i = neighbour.count++;

	assert_true(i < NEWS_MAX);
	plx_connect_options_init(&options);
	neighbour.news[i].connector = event->connector;
	assert_int_equal(plx_qp_create(neighbour.self.pd, &qp, &neighbour.news[i].qp, NULL),
			 PLX_OK);
	/* It may have given up already. */
	if (plx_accept(event->connector, neighbour.news[i].qp, &options, NULL) != PLX_OK)
		return;
	neighbour.news[i].open = true;
	for (int n = 0; n < 4; n++)
		assert_int_equal(plx_post_recv(neighbour.news[i].qp, &wr, 1, NULL), 1);
}

static void
handle_events(void)
{
	struct plx_connector_event event;

	while (plx_event_channel_next(neighbour.self.channel, &event)) {
		if (event.kind == PLX_CM_EVENT_REQUESTED) {
			accept_request(&event);
			continue;
		}
		for (unsigned i = 0; i < neighbour.count; i++)
			if (neighbour.news[i].connector == event.connector &&
			    event.kind != PLX_CM_EVENT_ESTABLISHED)
				neighbour.news[i].open = false;
	}
}

static unsigned
open_connections(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < neighbour.count; i++)
		n += neighbour.news[i].open;
	return n;
}

static void
drop_connections(void)
{
	for (unsigned i = 0; i < neighbour.count; i++) {
		assert_int_equal(plx_connector_destroy(neighbour.news[i].connector), PLX_OK);
		assert_int_equal(plx_qp_destroy(neighbour.news[i].qp), PLX_OK);
	}
	neighbour.count = 0;
}

/* A request may come late, and is accepted like others: its end comes, too. */
static void
tidy_up(void)
{
	handle_events();
	if (open_connections() == 0)
		drop_connections();
}

static void
open_side(struct program *p, const char *name)
{
	const struct plx_cq_options cq = {.depth = 256};
	struct plx_why why = {""};

	if (plx_adapter_open(name, NULL, &p->adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_int_equal(plx_pd_create(p->adapter, &p->pd), PLX_OK);
	p->memory = plx_mem_alloc(PROGRAM_BYTES, -1, NULL);
	assert_non_null(p->memory);
	assert_int_equal(
		plx_mr_register(p->pd, p->memory, PROGRAM_BYTES, PLX_ACCESS_LOCAL_WRITE, &p->mr),
		PLX_OK);
	assert_int_equal(plx_cq_create(p->adapter, &cq, &p->cq), PLX_OK);
	p->qp = program_create_qp(p, PLX_QP_RC, NULL);
}

static void
close_side(struct program *p)
{
	assert_int_equal(plx_qp_destroy(p->qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(p->cq), PLX_OK);
	assert_int_equal(plx_mr_deregister(p->mr), PLX_OK);
	plx_mem_free(p->memory);
	assert_int_equal(plx_pd_destroy(p->pd), PLX_OK);
	assert_int_equal(plx_adapter_close(p->adapter), PLX_OK);
}

/* One message between its own two queue pairs: not lost, not doubled, not changed. */
static void
exchange_one(void)
{
	struct program *from = &neighbour.peer, *to = &neighbour.self;
	const struct plx_sge out = {(uintptr_t)from->memory, 3000, plx_mr_key(from->mr)};
	const struct plx_sge in = {(uintptr_t)to->memory + 8192, 3000, plx_mr_key(to->mr)};
	const struct plx_recv_wr wr = {.wr_id = ++neighbour.messages, .sge = &in, .sges = 1};
	struct plx_wc wc;

	memset(from->memory, (int)neighbour.messages, 3000);
	assert_int_equal(plx_post_recv(to->qp, &wr, 1, NULL), 1);
	assert_int_equal(plx_post_one(from->qp, PLX_WR(PLX_WR_SEND, 0), neighbour.messages, &out, 0,
				      (struct plx_key){0}),
			 PLX_OK);
	test_until(plx_cq_poll(from->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	for (;;) {
		test_until(plx_cq_poll(to->cq, &wc, 1) == 1, (void)0);
		if (wc.wr_id == neighbour.messages && wc.flags & PLX_WC_RECV)
			break;
	}
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.bytes, 3000);
	assert_memory_equal(from->memory, to->memory + 8192, 3000);
}

static int
set_up(void **state)
{
	const struct plx_listen_options listen = {.port = PROGRAM_PORT};
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	(void)state;
	if (!host_process_begin(&host))
		return -1;
	open_side(&neighbour.self, "b");
	open_side(&neighbour.peer, "a");
	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(neighbour.self.qp, NULL, &address[0]), PLX_OK);
	assert_int_equal(plx_qp_address(neighbour.peer.qp, NULL, &address[1]), PLX_OK);
	assert_int_equal(plx_qp_connect(neighbour.self.qp, &address[1], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(plx_qp_connect(neighbour.peer.qp, &address[0], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(
		plx_event_channel_create(neighbour.self.adapter, 64, &neighbour.self.channel),
		PLX_OK);
	assert_int_equal(
		plx_listen(neighbour.self.channel, &listen, &neighbour.self.listener, NULL),
		PLX_OK);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	assert_int_equal(plx_listener_destroy(neighbour.self.listener), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(neighbour.self.channel), PLX_OK);
	close_side(&neighbour.self);
	close_side(&neighbour.peer);
	return host_process_end(&host) ? 0 : -1;
}

/* ---- the test ---- */

static void
kill_after(unsigned step, uint32_t baseline)
{
	pid_t pid = start_program(step);
	uint64_t killed;
	int status = 0;

	test_until(waitpid(pid, &status, WNOHANG) == pid, (handle_events(), usleep(200)));
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail_msg("a program did not get as far as %s", program_steps[step].name);
	killed = test_ns();
	test_until(open_connections() == 0, handle_events());
	if (test_ns() - killed > TOLD_MS * PLX_MSEC) {
		neighbour.late++;
		print_message("after %s its peer was told in %llu ms\n", program_steps[step].name,
			      (unsigned long long)((test_ns() - killed) / PLX_MSEC));
	}
	test_until(host_process_objects(&host) == baseline, tidy_up());
	exchange_one();
}

static void
whoever_is_killed_leaves_nothing_and_peers_are_told(void **state)
{
	uint32_t baseline = host_process_objects(&host);

	(void)state;
	exchange_one();
	for (unsigned step = 0; step < PROGRAM_STEPS; step++)
		kill_after(step, baseline);
	assert_true(neighbour.late <= LATE_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_is_killed_leaves_nothing_and_peers_are_told),
	};

	host_process_fork(&host, host_side_offer);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
