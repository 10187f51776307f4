/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting and reaping without the kernel: a seccomp filter kills the process at the thread's first
 * system call, except for the thread's own exit. Adapters run on a worker thread, to which the
 * filter does not apply. The sealed thread is in a process of its own; a second one is killed, to
 * show that the filter works. Attached, the worker is a polluxd's, and is watched: while it spins,
 * it makes no call either. Start with play().
 */
#include "nd2_pair.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "polluxd.h"

enum {
	ROUNDS = 5000,
	WINDOW_EVERY = 8, /* rounds */
	BYTES = 256,
	PATIENCE = 2000000000, /* turns of a loop that finds nothing */
};

struct sealed {
	struct nd_pair *pair;
	IND2MemoryWindow *window;
	bool calls; /* the kernel, once */
	bool yields;
	atomic_bool begins; /* the worker is watched */
	atomic_uint rounds;
	const char *wrong; /* set when the thread has exited */
};

static void
seal(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(3);
}

static bool
right(struct sealed *sealed, bool good, const char *what)
{
	if (!good && !sealed->wrong)
		sealed->wrong = what;
	return good;
}

/* The next result, by polling alone. */
static bool
reap(struct sealed *sealed, struct nd_side *side, ND2_REQUEST_TYPE type)
{
	ND2_RESULT result;

	for (uint32_t i = 0; i < PATIENCE; i++) {
		if (IND2CompletionQueue_GetResults(side->receive_cq, &result, 1) == 0) {
			__builtin_ia32_pause();
			continue;
		}
		return right(sealed, result.RequestType == type, "an unexpected result") &&
		       right(sealed, result.Status == ND_SUCCESS, "a request has failed");
	}
	return right(sealed, false, "a result never came");
}

/* A window opened and shut; the peer's messages are not what this is about. */
static bool
play_window(struct sealed *sealed)
{
	struct nd_side *a = &sealed->pair->a;
	const ULONG rights = ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE;

	return right(sealed,
		     IND2QueuePair_Bind(a->qp, NULL, (IUnknown *)a->mr, (IUnknown *)sealed->window,
					a->arena, BYTES, rights) == ND_SUCCESS,
		     "Bind") &&
	       right(sealed, IND2MemoryWindow_GetRemoteToken(sealed->window) != 0, "a token") &&
	       reap(sealed, a, Nd2RequestTypeBind) &&
	       right(sealed,
		     IND2QueuePair_Invalidate(a->qp, NULL, (IUnknown *)sealed->window, 0) ==
			     ND_SUCCESS,
		     "Invalidate") &&
	       reap(sealed, a, Nd2RequestTypeInvalidate);
}

/* One of each: receive, send (in place and inline), write, read. */
static bool
play_round(struct sealed *sealed, unsigned round)
{
	struct nd_side *a = &sealed->pair->a, *b = &sealed->pair->b;
	ND2_SGE from = {a->arena, BYTES, a->local}, to = {b->arena, BYTES, b->local};
	const UINT64 there = (uintptr_t)b->arena + BYTES;
	HRESULT posted;

	posted = b->srq ? IND2SharedReceiveQueue_Receive(b->srq, NULL, &to, 1)
			: IND2QueuePair_Receive(b->qp, NULL, &to, 1);
	return right(sealed, posted == ND_SUCCESS, "Receive") &&
	       right(sealed,
		     IND2QueuePair_Send(a->qp, NULL, &from, 1, round % 2 ? ND_OP_FLAG_INLINE : 0) ==
			     ND_SUCCESS,
		     "Send") &&
	       reap(sealed, a, Nd2RequestTypeSend) && reap(sealed, b, Nd2RequestTypeReceive) &&
	       right(sealed,
		     IND2QueuePair_Write(a->qp, NULL, &from, 1, there, b->remote, 0) == ND_SUCCESS,
		     "Write") &&
	       right(sealed,
		     IND2QueuePair_Read(a->qp, NULL, &from, 1, there, b->remote,
					ND_OP_FLAG_READ_FENCE) == ND_SUCCESS,
		     "Read") &&
	       reap(sealed, a, Nd2RequestTypeWrite) && reap(sealed, a, Nd2RequestTypeRead) &&
	       /* Binding is a call to the host. */
	       (round % WINDOW_EVERY || nd_is_attached() || play_window(sealed));
}

static void *
play(void *context)
{
	struct sealed *sealed = context;

	/* Beside an engine that yields, ND2 yields, too. */
	if (!sealed->yields)
		seal();
	while (!atomic_load(&sealed->begins))
		__builtin_ia32_pause();
	for (unsigned i = 0; i < ROUNDS && play_round(sealed, i); i++)
		atomic_store(&sealed->rounds, i + 1);
	if (sealed->calls)
		syscall(SYS_getppid);
	syscall(SYS_exit, 0); /* pthread_exit() would clean up with the kernel's help */
	return NULL;
}

/* ---- the engine's thread of a polluxd ---- */

static pid_t
find_worker(void)
{
	char path[64], name[32] = "";
	const struct dirent *task;
	pid_t found = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)polluxd_pid());
	tasks = opendir(path);
	assert_non_null(tasks);
	while (found == 0 && (task = readdir(tasks)) != NULL) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)polluxd_pid(),
			 task->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fgets(name, sizeof(name), file) != NULL && strcmp(name, "nd\n") == 0)
			found = atoi(task->d_name);
		fclose(file);
	}
	closedir(tasks);
	assert_true(found > 0);
	return found;
}

/* The first or the last core that this process has, for a thread of its own: now and then the
 * kernel leaves two that spin on one core, where each round waits for the end of a time slice. */
static cpu_set_t
core_at(bool last)
{
	cpu_set_t cores, one;
	int core = -1;

	assert_int_equal(sched_getaffinity(0, sizeof(cores), &cores), 0);
	for (int i = 0; i < CPU_SETSIZE && (core < 0 || last); i++)
		core = CPU_ISSET(i, &cores) ? i : core;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	return one;
}

/* Returns: whether it makes a system call while all rounds are played; one that yields does
 * afterwards at the latest, when it has nothing to do */
static bool
worker_calls(struct sealed *sealed, pthread_t player)
{
	const cpu_set_t first = core_at(false), last = core_at(true);
	uint64_t late = test_ms() + TEST_PATIENCE_MS;
	pid_t worker = find_worker();
	bool called = false;
	int status;

	assert_int_equal(pthread_setaffinity_np(player, sizeof(first), &first), 0);
	assert_int_equal(sched_setaffinity(worker, sizeof(last), &last), 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, worker, NULL, (void *)PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, worker, NULL, NULL), 0);
	assert_int_equal(waitpid(worker, &status, __WALL), worker);
	assert_int_equal(ptrace(PTRACE_SYSCALL, worker, NULL, NULL), 0);
	atomic_store(&sealed->begins, true);
	while (!called && (sealed->yields || atomic_load(&sealed->rounds) < ROUNDS) &&
	       !sealed->wrong) {
		called = waitpid(worker, &status, __WALL | WNOHANG) == worker;
		assert_true(test_ms() < late);
		usleep(1000);
	}
	if (!called) {
		assert_int_equal(ptrace(PTRACE_INTERRUPT, worker, NULL, NULL), 0);
		assert_int_equal(waitpid(worker, &status, __WALL), worker);
	}
	assert_int_equal(ptrace(PTRACE_DETACH, worker, NULL, NULL), 0);
	return called;
}

/* The sealed process. */
static bool srq, calls, yields;

static void
a_sealed_thread_posts_and_reaps(void **state)
{
	const struct nd_options options = {.srq = srq, .inline_bytes = BYTES};
	struct sealed sealed = {.pair = nd_pair_open(&options), .calls = calls, .yields = yields};
	void *window = NULL;
	pthread_t thread;

	(void)state;
	assert_hr(IND2Adapter_CreateMemoryWindow(sealed.pair->a.adapter, &IID_IND2MemoryWindow,
						 &window),
		  ND_SUCCESS);
	sealed.window = window;
	atomic_init(&sealed.begins, !nd_is_attached());
	assert_int_equal(pthread_create(&thread, NULL, play, &sealed), 0);
	if (nd_is_attached())
		assert_int_equal(worker_calls(&sealed, thread), yields);
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (sealed.wrong)
		fail_msg("%s", sealed.wrong);
	assert_int_equal(atomic_load(&sealed.rounds), ROUNDS);
	nd_release(sealed.window, 0);
	nd_pair_close(sealed.pair);
}

static int
run_sealed(const char *how)
{
	const struct CMUnitTest tests[] = {ND_TEST(a_sealed_thread_posts_and_reaps)};

	srq = strcmp(how, "srq") == 0;
	calls = strcmp(how, "calls") == 0;
	yields = strcmp(how, "yields") == 0;
	nd_start(nd_link((const char *const[2]){"", ""},
			 yields ? (const char *const[2]){ND_YIELDING, ND_YIELDING}
				: (const char *const[2]){ND_SPINNING, ND_SPINNING}));
	return nd_run("sealed", tests, 1);
}

/* ---- the test ---- */

static int
end_of(const char *how)
{
	extern char **environ;
	const char *const arguments[] = {"sealed", how, NULL};
	pid_t child;
	int status;

	assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL,
				     (char *const *)(uintptr_t)arguments, environ),
			 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void
posts_and_results_call_nothing_of_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(end_of("queue pairs"), 0);
	assert_int_equal(end_of("srq"), 0);
}

static void
one_call_would_have_been_the_end(void **state)
{
	(void)state;
	assert_int_equal(end_of("calls"), -SIGSYS);
	/* And a polluxd's worker that yields is seen to do so. */
	if (nd_is_attached())
		assert_int_equal(end_of("yields"), 0);
}

int
main(int n, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posts_and_results_call_nothing_of_the_kernel),
		cmocka_unit_test(one_call_would_have_been_the_end),
	};

	return n == 2 ? run_sealed(arguments[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
