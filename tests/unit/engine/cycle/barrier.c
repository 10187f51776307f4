/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arming on systems without membarrier(), or where it stops working: from the middle of the first
 * test on, a seccomp filter refuses it to this process. Start with refuse_membarrier().
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

static void
refuse_membarrier(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = PLX_COUNT_OF(code), .filter = code};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	assert_int_equal(syscall(SYS_membarrier, 0, 0, 0), -1);
}

/* Armed, then one receive: one notification. */
static void
arm_and_receive(void)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint32_t fired = 0;
	struct plx_wc wc;

	assert_int_equal(pair_recv(b, 1, 0, 64), PLX_OK);
	pair_start(&pair); /* the engine may need to reply */
	assert_int_equal(plx_cq_arm(b->recv_cq, PLX_CQ_NOTIFY_ANY, &fired), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(fired, 0);
	assert_int_equal(plx_cq_get_event(b->recv_cq), 0);
	assert_int_equal(pair_send(a, 1, 0, 8, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, b->recv_cq, &wc, 1, 100), 1);
	assert_true(plx_cq_get_event(b->recv_cq) & PLX_CQ_NOTIFY_ANY);
	assert_int_equal(plx_cq_get_event(b->recv_cq), 0);
}

static void
a_queue_is_armed_after_the_barrier_was_taken_away(void **state)
{
	struct pair_side *b = &pair.side[1];

	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	assert_false(atomic_load(&b->recv_cq->front->armable));
	refuse_membarrier();
	arm_and_receive();
	assert_true(atomic_load(&b->recv_cq->arm_ready));
	arm_and_receive();
	pair_close(&pair);
}

static void
a_queue_made_without_the_barrier_is_looked_at_always(void **state)
{
	struct pair_side *b = &pair.side[1];

	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	assert_true(atomic_load(&b->recv_cq->front->armable));
	assert_true(atomic_load(&b->recv_cq->arm_ready));
	arm_and_receive();
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_armed_after_the_barrier_was_taken_away),
		cmocka_unit_test(a_queue_made_without_the_barrier_is_looked_at_always),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
