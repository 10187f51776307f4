/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posts and GetResults without allocations, locks and system calls. With a worker that spins: none
 * of them, by any thread of the process. In inline mode, where only an empty GetResults runs the
 * adapters: no allocation and next to no system call. On an adapter set to yield, only polls that
 * find nothing make system calls. Each claim has a control that must be detected. Start with
 * talk().
 */
#include "nd2_pair.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread.h"
#include "watch.h"

enum {
	TALK,
	CONTROL,
	ROUNDS = 3000,
	LOOKS = 6400,
	LOOKS_PER_YIELD = 64,
	LONG_BYTES = 20000,
};

static ULONG
look(IND2CompletionQueue *cq)
{
	ND2_RESULT results[8];
	ULONG n = IND2CompletionQueue_GetResults(cq, results, 8);

	for (ULONG i = 0; i < n; i++)
		assert_hr(results[i].Status, ND_SUCCESS);
	return n;
}

/* Polls both sides, since in inline mode that runs them; without nd_until(), which reads the
 * clock and yields. */
static void
reap(struct nd_pair *pair, ULONG of_a, ULONG of_b)
{
	while (of_a + of_b > 0) {
		of_a -= look(pair->a.initiator_cq);
		of_b -= look(pair->b.receive_cq);
	}
}

static void
write_inline(struct nd_pair *pair)
{
	ND2_SGE sge = nd_sge(&pair->a, 0, 64);

	assert_hr(IND2QueuePair_Write(pair->a.qp, NULL, &sge, 1, (uintptr_t)pair->b.arena,
				      pair->b.remote, ND_OP_FLAG_INLINE),
		  ND_SUCCESS);
}

static void
talk(struct nd_pair *pair, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		uint32_t bytes = i % 16 == 0 ? LONG_BYTES : 64;

		for (int k = 0; k < 4; k++)
			nd_receive(&pair->b, 1, 0, LONG_BYTES);
		for (int k = 0; k < 4; k++)
			nd_send(&pair->a, 2, 0, bytes,
				k % 2 ? ND_OP_FLAG_SEND_AND_SOLICIT_EVENT : 0);
		reap(pair, 4, 4);
		nd_write(&pair->a, &pair->b, 3, 0, bytes, 0);
		nd_write(&pair->a, &pair->b, 4, 0, bytes, ND_OP_FLAG_SILENT_SUCCESS);
		write_inline(pair);
		nd_read(&pair->a, &pair->b, 5, 0, bytes, ND_OP_FLAG_READ_FENCE);
		reap(pair, 3, 0);
	}
}

static void
misbehave(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void *volatile memory;

	watch_begin(CONTROL);
	memory = malloc(100);
	free(memory);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	(void)getppid();
	watch_end(CONTROL);
}

/* Connecting has woken the dispatchers, and each makes one more system call before it sleeps
 * again: between two threads that spin it may run late. */
static void
rest(void)
{
	if (!nd_is_inline())
		nd_until(thread_sleeps(thread_find("nd2-nd0")) &&
			 thread_sleeps(thread_find("nd2-nd1")));
}

static void
talk_long(struct nd_pair *pair)
{
	talk(pair, ROUNDS);
}

static void
look_in_vain(struct nd_pair *pair)
{
	for (int i = 0; i < LOOKS; i++)
		assert_int_equal(look(pair->a.initiator_cq), 0);
}

static void
watch(void (*what)(struct nd_pair *pair))
{
	struct nd_options options = {.inline_bytes = 64};
	struct nd_pair *pair = nd_pair_open(&options);

	talk(pair, 20);
	rest();
	watch_begin(TALK);
	what(pair);
	watch_end(TALK);
	misbehave();
	nd_pair_close(pair);
}

static void
watched(void **state)
{
	(void)state;
	watch(talk_long);
}

static void
watched_in_vain(void **state)
{
	(void)state;
	watch(look_in_vain);
}

static const struct CMUnitTest body[] = {
	ND_TEST(watched),
};

static const struct CMUnitTest body_in_vain[] = {
	ND_TEST(watched_in_vain),
};

/* Without a worker, whose yields would be among those that are counted. */
static const char yielding[] =
	"adapters = (\n"
	"  { name = \"in0\"; device = \"net_wire1,end=0\"; mode = \"inline\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.1.1/24\" ]; },\n"
	"  { name = \"in1\"; device = \"net_wire1,end=1\"; mode = \"inline\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.1.2/24\" ]; });\n";

static void
with_a_worker(void)
{
	nd_start(nd_link((const char *const[2]){"", ""},
			 (const char *const[2]){ND_SPINNING, ND_SPINNING}));
	if (nd_run("watched", body, 1) != 0)
		abort();
}

static void
in_inline_mode(void)
{
	if (nd_run_inline("watched", body, 1) != 0)
		abort();
}

static void
told_to_yield(void)
{
	nd_start(yielding);
	if (nd_run_inline("watched", body_in_vain, 1) != 0)
		abort();
}

static void
count(void (*what)(void), struct watch_counts counts[WATCH_PHASES])
{
	assert_int_equal(watch_run(what, counts), 0);
	assert_int_equal(counts[TALK].seen, 1);
	assert_int_equal(counts[TALK].allocations, 0);
	assert_int_equal(counts[CONTROL].seen, 1);
	assert_true(counts[CONTROL].allocations >= 2);
	assert_true(counts[CONTROL].locks >= 1);
	assert_true(counts[CONTROL].calls >= 1);
}

static void
posts_and_results_are_quiet(void **state)
{
	struct watch_counts counts[WATCH_PHASES] = {{0}};

	(void)state;
	count(with_a_worker, counts);
	assert_int_equal(counts[TALK].locks, 0);
	assert_int_equal(counts[TALK].first_call, -1);
	assert_int_equal(counts[TALK].calls, 0);
}

static void
in_inline_mode_they_nearly_are(void **state)
{
	struct watch_counts counts[WATCH_PHASES] = {{0}};

	(void)state;
	count(in_inline_mode, counts);
	assert_in_range(counts[TALK].calls, 0, ROUNDS / 100);
}

/* Two clients that poll, on one core: the one that finds nothing lets the other one run. */
static void
told_to_yield_they_do_so_in_vain_only(void **state)
{
	struct watch_counts counts[WATCH_PHASES] = {{0}};

	(void)state;
	count(told_to_yield, counts);
	assert_int_equal(counts[TALK].first_call, SYS_sched_yield);
	assert_in_range(counts[TALK].calls, LOOKS / LOOKS_PER_YIELD, LOOKS / LOOKS_PER_YIELD + 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_to_yield_they_do_so_in_vain_only),
		cmocka_unit_test(posts_and_results_are_quiet),
		cmocka_unit_test(in_inline_mode_they_nearly_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
