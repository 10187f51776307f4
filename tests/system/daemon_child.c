/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See daemon_child.h. The threads that serve programs have no name of their own, unlike engines and
 * those of DPDK; so the waker is traced, too, which does no harm. Start with daemon_kill_at().
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "clock.h"
#include "daemon_child.h"

#define ENGINE "engine"  /* the worker's name */
#define SERVES "polluxd" /* threads without a name of their own */

/* ---- its folder ---- */

static const char config[] =
	"daemon = { socket = \"%s\"; };\n"
	"adapters = (\n"
	"  { name = \"a\"; device = \"net_wire0,end=0\"; address = [ \"10.79.0.1/24\" ];\n"
	"    idle = \"yield\"; worker = \"" ENGINE "\"; packets = 4096; },\n"
	"  { name = \"b\"; device = \"net_wire0,end=1\"; address = [ \"10.79.0.2/24\" ];\n"
	"    idle = \"yield\"; worker = \"" ENGINE "\"; packets = 4096; } );\n";

static void
path_in(const struct daemon_child *daemon, const char *name, char out[64])
{
	snprintf(out, 64, "%s/%s", daemon->folder, name);
}

void
daemon_prepare(struct daemon_child *daemon, const char *program)
{
	const struct timeval limit = {.tv_sec = TEST_PATIENCE_MS / 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[64];
	FILE *file;

	*daemon = (struct daemon_child){.program = program, .folder = "/tmp/plx-deaths-XXXXXX"};
	assert_non_null(mkdtemp(daemon->folder));
	snprintf(daemon->socket, sizeof(daemon->socket), "%s/socket", daemon->folder);
	path_in(daemon, "conf", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, config, daemon->socket);
	assert_int_equal(fclose(file), 0);
	path_in(daemon, "manager", address.sun_path);
	daemon->manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(daemon->manager >= 0);
	assert_int_equal(bind(daemon->manager, (void *)&address, sizeof(address)), 0);
	assert_int_equal(
		setsockopt(daemon->manager, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path);
}

void
daemon_remove(struct daemon_child *daemon)
{
	if (daemon->pid != 0)
		(void)daemon_kill(daemon);
	close(daemon->manager);
	assert_int_equal(nftw(daemon->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* ---- its life ---- */

static void
hears(struct daemon_child *daemon, const char *text)
{
	char told[64] = "";

	assert_true(recv(daemon->manager, told, sizeof(told) - 1, 0) > 0);
	assert_string_equal(told, text);
}

static void
be_daemon(const struct daemon_child *daemon)
{
	char manager[64], path[64];

	/* it ends with a test that is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	path_in(daemon, "manager", manager);
	path_in(daemon, "conf", path);
	setenv("NOTIFY_SOCKET", manager, 1);
	setenv("RUNTIME_DIRECTORY", daemon->folder, 1);
	execl(daemon->program, "polluxd", "--config", path, (char *)NULL);
	_exit(127);
}

void
daemon_start(struct daemon_child *daemon)
{
	daemon->threads = daemon->noted = 0;
	daemon->pid = fork();
	if (daemon->pid == 0)
		be_daemon(daemon);
	assert_true(daemon->pid > 0);
	hears(daemon, "READY=1\n");
}

/* All there are: one that was made right before the end is traced as its maker is, and nobody has
 * heard of it. */
static void
reap_threads(const struct daemon_child *daemon)
{
	char path[64];
	struct dirent *task;
	DIR *tasks;
	int status;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)daemon->pid);
	tasks = opendir(path);
	while (tasks != NULL && (task = readdir(tasks)) != NULL) {
		pid_t id = (pid_t)strtol(task->d_name, NULL, 10);

		if (id != 0 && id != daemon->pid)
			(void)waitpid(id, &status, __WALL | WNOHANG);
	}
	if (tasks != NULL)
		closedir(tasks);
}

/* Threads that are traced have ends of their own, and the process ends after them. */
static void
reap(struct daemon_child *daemon, int *status)
{
	bool ended = false;
	pid_t id;

	for (uint64_t late = test_ns() + TEST_PATIENCE_NS; !ended;) {
		assert_true(test_ns() < late);
		reap_threads(daemon);
		id = waitpid(daemon->pid, status, __WALL | WNOHANG);
		ended = id == daemon->pid && !WIFSTOPPED(*status);
		if (!ended)
			usleep(200);
	}
	daemon->pid = 0;
	daemon->threads = 0;
}

uint64_t
daemon_kill(struct daemon_child *daemon)
{
	uint64_t when = test_ns();
	int status;

	assert_int_equal(kill(daemon->pid, SIGKILL), 0);
	reap(daemon, &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return when;
}

uint64_t
daemon_end(struct daemon_child *daemon)
{
	uint64_t when = test_ns();
	int status;

	assert_int_equal(kill(daemon->pid, SIGTERM), 0);
	hears(daemon, "STOPPING=1\n");
	reap(daemon, &status);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return when;
}

/* ---- its threads ---- */

static struct daemon_thread *
thread_of(struct daemon_child *daemon, pid_t id)
{
	for (uint32_t i = 0; i < daemon->threads; i++)
		if (daemon->thread[i].id == id)
			return &daemon->thread[i];
	assert_true(daemon->threads < DAEMON_TRACED_MAX);
	daemon->thread[daemon->threads] = (struct daemon_thread){.id = id, .call = -1};
	return &daemon->thread[daemon->threads++];
}

/* A thread that is stopped is traced from now on. Returns: false: it has ended meanwhile, as does
 * that of a program which has left */
static bool
stop(struct daemon_child *daemon, pid_t id)
{
	const intptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD;
	int status;

	if (ptrace(PTRACE_SEIZE, id, NULL, (void *)options) != 0) {
		assert_int_equal(errno, ESRCH);
		return false;
	}
	(void)ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
	assert_int_equal(waitpid(id, &status, __WALL), id);
	if (!WIFSTOPPED(status))
		return false;
	(void)thread_of(daemon, id);
	return true;
}

static void
name_of(const struct daemon_child *daemon, const char *id, char out[32])
{
	char path[300];
	FILE *comm;

	*out = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)daemon->pid, id);
	comm = fopen(path, "r");
	if (comm == NULL)
		return;
	(void)!fscanf(comm, "%31s", out);
	fclose(comm);
}

/* Of all threads but the main one. */
static void
for_each_thread(struct daemon_child *daemon, const struct daemon_moment *moment,
		void (*act)(struct daemon_child *daemon, const struct daemon_moment *moment,
			    pid_t id, const char *name))
{
	char path[64], name[32];
	struct dirent *task;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)daemon->pid);
	tasks = opendir(path);
	assert_non_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		pid_t id = (pid_t)strtol(task->d_name, NULL, 10);

		if (id == 0 || id == daemon->pid)
			continue;
		name_of(daemon, task->d_name, name);
		act(daemon, moment, id, name);
	}
	closedir(tasks);
}

static void
note(struct daemon_child *daemon, const struct daemon_moment *moment, pid_t id, const char *name)
{
	(void)moment;
	if (strcmp(name, SERVES) != 0)
		return;
	assert_true(daemon->noted < DAEMON_TRACED_MAX);
	daemon->note[daemon->noted++] = id;
}

void
daemon_note_threads(struct daemon_child *daemon)
{
	for_each_thread(daemon, NULL, note);
}

static void
trace(struct daemon_child *daemon, const struct daemon_moment *moment, pid_t id, const char *name)
{
	if (moment->engine_halts && strcmp(name, ENGINE) == 0)
		assert_true(stop(daemon, id));
	if (strcmp(name, SERVES) != 0)
		return;
	for (uint32_t i = 0; i < daemon->noted; i++)
		if (daemon->note[i] == id)
			return;
	if (stop(daemon, id))
		assert_int_equal(ptrace(PTRACE_SYSCALL, id, NULL, NULL), 0);
}

void
daemon_trace(struct daemon_child *daemon, const struct daemon_moment *moment, bool all)
{
	if (all)
		daemon->noted = 0;
	for_each_thread(daemon, moment, trace);
}

/* Returns: whether the thread stands where it enters, or leaves, the call */
static bool
is_there(struct daemon_thread *thread, const struct daemon_moment *moment)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, (void *)sizeof(info), &info) <= 0)
		return false;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		thread->call = (long)info.entry.nr;
		return !moment->leaves && thread->call == moment->call;
	}
	return moment->leaves && info.op == PTRACE_SYSCALL_INFO_EXIT &&
	       thread->call == moment->call;
}

uint64_t
daemon_kill_at(struct daemon_child *daemon, const struct daemon_moment *moment)
{
	uint64_t late = test_ns() + TEST_PATIENCE_NS;
	unsigned count = 0;

	for (;;) {
		int status, signal;
		pid_t id = waitpid(-1, &status, __WALL | WNOHANG);

		assert_true(test_ns() < late);
		if (id == 0) {
			usleep(100);
			continue;
		}
		assert_true(id > 0 && (id != daemon->pid || WIFSTOPPED(status)));
		if (!WIFSTOPPED(status))
			continue; /* the thread of a program that has left */
		signal = WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80) && is_there(thread_of(daemon, id), moment) &&
		    ++count == moment->nth)
			break;
		/* the stop of a new thread, and of its maker */
		if (signal == (SIGTRAP | 0x80) || status >> 16 != 0)
			signal = 0;
		(void)thread_of(daemon, id);
		assert_int_equal(ptrace(PTRACE_SYSCALL, id, NULL, (void *)(intptr_t)signal), 0);
	}
	if (moment->is_ending) {
		assert_int_equal(kill(daemon->pid, SIGTERM), 0);
		hears(daemon, "STOPPING=1\n");
	}
	return daemon_kill(daemon);
}
