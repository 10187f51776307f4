/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host that is killed: every call and every wait of a program that was attached to it ends, and
 * says so; what the program has can be given up; and another host serves it again.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"
#include "plx_verbs.h"

enum {
	BYTES = 64 * 1024,
	SOON_MS = 5000,  /* a call that does not hang, on a busy machine */
	WAIT_MS = 60000, /* of waits that end before */
};

static struct host_process first, second;

struct program {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	uint8_t *memory;
	struct plx_mr *mr;
	struct plx_mw *mw;
	struct plx_cq *cq, *unarmed;
	struct plx_srq *srq;
	struct plx_qp *qp;
	struct plx_event_channel *channel;
	struct plx_listener *listener;
	struct plx_connector *connector;
};

static void
open_all(struct program *p)
{
	const struct plx_cq_options cq = {.depth = 16};
	const struct plx_srq_options srq = {.depth = 16, .sges = 1};
	const struct plx_listen_options listen = {.port = 4242};
	struct plx_qp_options qp = {.sq_depth = 16, .rq_depth = 16};
	struct plx_why why = {""};

	if (plx_adapter_open("a", NULL, &p->adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_int_equal(plx_pd_create(p->adapter, &p->pd), PLX_OK);
	p->memory = plx_mem_alloc(BYTES, -1, NULL);
	assert_int_equal(plx_mr_register(p->pd, p->memory, BYTES, PLX_ACCESS_LOCAL_WRITE, &p->mr),
			 PLX_OK);
	assert_int_equal(plx_mw_create(p->pd, &p->mw), PLX_OK);
	assert_int_equal(plx_cq_create(p->adapter, &cq, &p->cq), PLX_OK);
	assert_int_equal(plx_cq_create(p->adapter, &cq, &p->unarmed), PLX_OK);
	assert_int_equal(plx_srq_create(p->adapter, &srq, &p->srq), PLX_OK);
	qp.send_cq = qp.recv_cq = p->cq;
	assert_int_equal(plx_qp_create(p->pd, &qp, &p->qp, NULL), PLX_OK);
	assert_int_equal(plx_event_channel_create(p->adapter, 16, &p->channel), PLX_OK);
	assert_int_equal(plx_listen(p->channel, &listen, &p->listener, NULL), PLX_OK);
	assert_int_equal(plx_connector_create(p->channel, 0, &p->connector), PLX_OK);
	assert_int_equal(plx_cq_arm(p->cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	assert_true(plx_cq_fd(p->cq) >= 0 && plx_event_channel_fd(p->channel) >= 0);
}

static void
close_all(struct program *p)
{
	assert_int_equal(plx_connector_destroy(p->connector), PLX_OK);
	assert_int_equal(plx_listener_destroy(p->listener), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(p->channel), PLX_OK);
	assert_int_equal(plx_qp_destroy(p->qp), PLX_OK);
	assert_int_equal(plx_srq_destroy(p->srq), PLX_OK);
	assert_int_equal(plx_cq_destroy(p->cq), PLX_OK);
	assert_int_equal(plx_cq_destroy(p->unarmed), PLX_OK);
	assert_int_equal(plx_mw_destroy(p->mw), PLX_OK);
	assert_int_equal(plx_mr_deregister(p->mr), PLX_OK);
	plx_mem_free(p->memory);
	assert_int_equal(plx_pd_destroy(p->pd), PLX_OK);
	assert_int_equal(plx_adapter_close(p->adapter), PLX_OK);
}

static bool
is_readable(int fd)
{
	struct pollfd set = {.fd = fd, .events = POLLIN};

	return poll(&set, 1, 0) == 1;
}

static void
every_call_ends_when_the_host_is_killed(void **state)
{
	const struct plx_ip ip = host_side_ip(9);
	struct plx_connector_event event;
	struct plx_counter counter[4];
	struct plx_why why = {""};
	struct plx_async_event async;
	struct plx_qp_info info;
	struct plx_adapter *none;
	struct program p;
	struct plx_pd *pd;
	uint64_t begun;
	int status;

	(void)state;
	assert_true(host_process_begin(&first));
	open_all(&p);
	assert_false(is_readable(plx_adapter_async_fd(p.adapter)));
	/* One queue has its descriptor from before, the channel has not. */
	assert_true(plx_cq_fd(p.cq) >= 0);
	assert_int_equal(kill(first.pid, SIGKILL), 0);
	assert_int_equal(waitpid(first.pid, &status, 0), first.pid);
	begun = test_ms();
	assert_int_equal(plx_pd_create(p.adapter, &pd), PLX_GONE);
	assert_int_equal(plx_qp_query(p.qp, &info), PLX_GONE);
	assert_int_equal(plx_qp_modify(p.qp, PLX_QP_INIT, NULL, NULL, &why), PLX_GONE);
	assert_non_null(strstr(why.text, "has gone"));
	assert_int_equal(plx_adapter_resolve(p.adapter, &ip, 1000, NULL, NULL), PLX_GONE);
	assert_int_equal(plx_adapter_counters(p.adapter, counter, 4), 0);
	assert_int_equal(plx_cq_resize(p.cq, 32), PLX_GONE);
	assert_int_equal(plx_cq_arm(p.unarmed, PLX_CQ_NOTIFY_ANY, NULL), PLX_GONE);
	assert_false(plx_adapter_is_running(p.adapter, 1000));
	assert_true(is_readable(plx_adapter_async_fd(p.adapter)));
	assert_true(plx_adapter_next_async_event(p.adapter, &async));
	assert_int_equal(async.kind, PLX_EVENT_HOST_GONE);
	assert_false(plx_adapter_next_async_event(p.adapter, &async));
	assert_false(is_readable(plx_adapter_async_fd(p.adapter)));
	assert_int_equal(plx_cq_wait(p.cq, WAIT_MS), 0);
	assert_false(plx_event_channel_wait(p.channel, WAIT_MS, &event));
	close_all(&p);
	assert_int_equal(plx_adapter_open("a", NULL, &none, &why), PLX_NO_DEVICE);
	assert_non_null(strstr(why.text, first.path));
	assert_true(test_ms() - begun < SOON_MS);
}

static void
another_host_serves_the_program_again(void **state)
{
	struct program p;

	(void)state;
	assert_true(host_process_begin(&second));
	open_all(&p);
	close_all(&p);
	assert_true(host_process_end(&second));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_ends_when_the_host_is_killed),
		cmocka_unit_test(another_host_serves_the_program_again),
	};

	host_process_fork(&first, host_side_offer);
	host_process_fork(&second, host_side_offer);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
