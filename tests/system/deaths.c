/* SPDX-License-Identifier: BSD-3-Clause
 *
 * polluxd is killed while programs are attached: deaths POLLUXD. It dies after each step of a
 * program's life (program_steps.h) and at each moment of moments.c, most of them within a call or a
 * wait. Every call and every wait of its two programs ends with the documented status, and within
 * TOLD_MS; they can give up what they have, and then have what they had before; the next polluxd,
 * at the same socket, serves them again; programs of another polluxd notice nothing. Start with
 * die_at() and bury().
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "clock.h"
#include "daemon_child.h"
#include "host_side.h"
#include "moments.h"
#include "orphan.h"
#include "thread.h"

enum {
	TOLD_MS = 100,
	SOON_MS = 5000, /* what nothing exceeds, however busy the machine is */
	LATE_MAX = 8,   /* of all deaths, on a machine that has other things to do */
	TEST_S = 240,
};

_Static_assert(MOMENTS >= 20, "polluxd is killed at that many points at least");

static const char *polluxd;
static struct daemon_child daemon_child, other_daemon;
static struct host_side other[2]; /* programs of the other polluxd, connected with each other */
static struct orphan_holds before;
static struct board *board; /* shared with the neighbour */
static pid_t neighbour_pid;
static unsigned late;
static uint64_t longest_ms;

/* What the program does meanwhile, on a thread of its own. */
struct act {
	const struct moment *moment;
	struct program *program;
	atomic_int thread;      /* its number; 0: not yet */
	enum plx_status status; /* how it ended, */
	atomic_ullong ended;    /* [ns] when; 0: not yet */
};

static void *
run_act(void *arg)
{
	struct act *act = arg;

	atomic_store(&act->thread, (int)syscall(SYS_gettid));
	act->status = act->moment->act(act->program);
	atomic_store(&act->ended, test_ns());
	return NULL;
}

static void
take_steps(struct program *p, const char *last)
{
	for (unsigned i = 0; last != NULL; i++) {
		PROGRAM_MUST(i < PROGRAM_STEPS);
		program_steps[i].run(p);
		if (strcmp(program_steps[i].name, last) == 0)
			return;
	}
}

/* A polluxd, the neighbour at it, and one whole life of the program, in which data moves. */
static void
begin(struct program *p)
{
	daemon_start(&daemon_child);
	test_until(atomic_load(&board->listens), usleep(200));
	daemon_note_threads(&daemon_child);
	take_steps(p, program_steps[PROGRAM_STEPS - 1].name);
	orphan_close(p);
	memset(p, 0, sizeof(*p));
}

static void
in_time(const char *name, const char *what, uint64_t killed, uint64_t ended)
{
	uint64_t ms = ended > killed ? (ended - killed) / PLX_MSEC : 0;

	longest_ms = ms > longest_ms ? ms : longest_ms;
	if (ms > SOON_MS)
		fail_msg("%s: %s after %llu ms", name, what, (unsigned long long)ms);
	if (ms <= TOLD_MS)
		return;
	print_message("%s: %s after %llu ms\n", name, what, (unsigned long long)ms);
	late++;
}

/* Both programs give up what they have, and those of the other polluxd go on. */
static void
bury(struct program *p, const char *name, unsigned deaths, uint64_t killed)
{
	uint64_t begun = test_ns();

	orphan_calls_end(p);
	orphan_calls_end(&moments_caller);
	in_time(name, "calls end", begun, test_ns());
	orphan_close(p);
	orphan_close(&moments_caller);
	if (!orphan_holds_no_more(&before))
		fail_msg("%s: the program keeps something", name);
	test_until(atomic_load(&board->deaths) == deaths, {
		if (waitpid(neighbour_pid, NULL, WNOHANG) != 0)
			fail_msg("%s: the neighbour has ended", name);
		usleep(200);
	});
	in_time(name, "the neighbour is told", killed, atomic_load(&board->told));
	host_side_write(&other[0], &other[1], (uint8_t)deaths);
}

static void
die_after(unsigned step)
{
	const char *name = program_steps[step].name;
	unsigned deaths = atomic_load(&board->deaths) + 1;
	struct program p = {0};

	begin(&p);
	take_steps(&p, name);
	bury(&p, name, deaths, daemon_kill(&daemon_child));
}

static bool
sleeps(struct act *act)
{
	if (atomic_load(&act->ended) != 0)
		fail_msg("%s ends with \"%s\" before polluxd does", act->moment->name,
			 plx_status_text(act->status));
	return atomic_load(&act->thread) != 0 && thread_sleeps(atomic_load(&act->thread));
}

static uint64_t
die_asleep(struct act *act)
{
	test_until(sleeps(act), usleep(100));
	return act->moment->when.is_ending ? daemon_end(&daemon_child) : daemon_kill(&daemon_child);
}

static void
die_at(const struct moment *moment)
{
	unsigned deaths = atomic_load(&board->deaths) + 1;
	static struct program p; /* a thread that does not end keeps them */
	static struct act act;
	pthread_t thread;
	uint64_t killed;

	memset(&p, 0, sizeof(p));
	act = (struct act){.moment = moment, .program = &p};
	print_message("%s\n", moment->name);
	begin(&p);
	take_steps(&p, moment->after);
	if (moment->before != NULL)
		moment->before(&p);
	if (moment->when.call != 0)
		daemon_trace(&daemon_child, &moment->when, moment->after == NULL);
	assert_int_equal(pthread_create(&thread, NULL, run_act, &act), 0);
	killed = moment->when.call != 0 ? daemon_kill_at(&daemon_child, &moment->when)
					: die_asleep(&act);
	test_until(atomic_load(&act.ended) != 0, usleep(100));
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (act.status != moment->ends)
		fail_msg("%s ends with \"%s\" instead of \"%s\"", moment->name,
			 plx_status_text(act.status), plx_status_text(moment->ends));
	in_time(moment->name, "it ends", killed, act.ended);
	bury(&p, moment->name, deaths, killed);
}

static void
whoever_is_attached_survives_after_any_step(void **state)
{
	(void)state;
	for (unsigned step = 0; step < PROGRAM_STEPS; step++)
		die_after(step);
}

static void
whoever_is_attached_survives_within_any_call(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MOMENTS; i++)
		die_at(&moments[i]);
	print_message("the longest took %llu ms\n", (unsigned long long)longest_ms);
	assert_true(late <= LATE_MAX);
}

static int
set_up(void **state)
{
	(void)state;
	alarm(TEST_S);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_true(board != MAP_FAILED);
	daemon_prepare(&daemon_child, polluxd);
	setenv("POLLUX_HOST", daemon_child.socket, 1);
	moments_board = board;
	neighbour_pid = neighbour_start(board);
	daemon_prepare(&other_daemon, polluxd);
	setenv("POLLUX_HOST", other_daemon.socket, 1);
	daemon_start(&other_daemon);
	host_side_open(&other[0], "a");
	host_side_open(&other[1], "b");
	host_side_join(&other[0], &other[1]);
	setenv("POLLUX_HOST", daemon_child.socket, 1);
	before = orphan_count();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	kill(neighbour_pid, SIGKILL);
	waitpid(neighbour_pid, NULL, 0);
	host_side_close(&other[0]);
	host_side_close(&other[1]);
	(void)daemon_end(&other_daemon);
	daemon_remove(&other_daemon);
	daemon_remove(&daemon_child);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_is_attached_survives_after_any_step),
		cmocka_unit_test(whoever_is_attached_survives_within_any_call),
	};

	if (argc != 2)
		return 2;
	polluxd = argv[1];
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
