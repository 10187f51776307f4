/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program can do to the descriptors that wake it, and to itself: descriptors that block and
 * are full, and another program in its process. The host goes on, and nothing of it is left. Start
 * with wake().
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"
#include "plx_objects.h"

enum {
	BYTES = 64,
	WAIT_MS = 20000,
	TURNS = 50,
};

static struct host_process host;

/* The completion of a WRITE, for which the queue was armed. */
static void
wake(struct host_side *a, struct host_side *b, bool waits)
{
	const struct plx_sge sge = {(uintptr_t)a->memory, BYTES, plx_mr_key(a->mr)};
	struct plx_wc wc;

	assert_int_equal(plx_cq_arm(a->cq, PLX_CQ_NOTIFY_ANY, NULL), PLX_OK);
	assert_int_equal(plx_post_one(a->qp, PLX_WR(PLX_WR_WRITE, 0), 1, &sge, (uintptr_t)b->memory,
				      plx_mr_key(b->mr)),
			 PLX_OK);
	if (waits)
		assert_int_equal(plx_cq_wait(a->cq, WAIT_MS), PLX_CQ_NOTIFY_ANY);
	test_until(plx_cq_poll(a->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	(void)plx_cq_get_event(a->cq);
}

static void
let_block(int fd)
{
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
}

/* Until nothing more fits. */
static void
fill(int fd)
{
	const uint64_t one = 1;

	while (send(fd, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		continue;
}

/* The waker's thread is that of all programs. */
static void
descriptors_that_block_and_are_full_hold_up_nobody(void **state)
{
	struct host_side a, b, c, d;
	int wake_fd;

	(void)state;
	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_open(&c, "a");
	host_side_open(&d, "b");
	host_side_join(&a, &b);
	host_side_join(&c, &d);
	let_block(plx_cq_fd(a.cq));
	wake_fd = atomic_load(&a.cq->wake_fd);
	let_block(wake_fd);
	for (int i = 0; i < TURNS; i++) {
		fill(wake_fd);
		wake(&a, &b, false);
		wake(&c, &d, true);
	}
	host_side_close(&a);
	host_side_close(&b);
	host_side_close(&c);
	host_side_close(&d);
	host_side_await_nothing(&host);
}

/* The same process, another program: its seat ends, and its memory is not that program's. */
static void
a_program_that_executes_another_has_left(void **state)
{
	int told[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (pid == 0) {
		struct host_side side;

		host_side_open(&side, "a");
		if (write(told[1], "r", 1) == 1)
			execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	host_side_await_nothing(&host);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(told[0]);
	close(told[1]);
}

static void
the_descriptors_of_an_object_end_with_it(void **state)
{
	unsigned before = host_side_descriptors(), open;
	struct plx_event_channel *channel;
	struct host_side side;

	(void)state;
	host_side_open(&side, "a");
	open = host_side_descriptors();
	assert_true(plx_cq_fd(side.cq) >= 0);
	assert_int_equal(plx_event_channel_create(side.adapter, 16, &channel), PLX_OK);
	assert_true(plx_event_channel_fd(channel) >= 0);
	assert_true(host_side_descriptors() > open);
	assert_int_equal(plx_event_channel_destroy(channel), PLX_OK);
	host_side_close(&side);
	assert_int_equal(host_side_descriptors(), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_that_block_and_are_full_hold_up_nobody),
		cmocka_unit_test(the_descriptors_of_an_object_end_with_it),
		cmocka_unit_test(a_program_that_executes_another_has_left),
	};

	return host_side_run(&host, tests, PLX_COUNT_OF(tests));
}
