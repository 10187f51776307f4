/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A signal's handler that reads from a pipe until somebody writes: it calls nothing that a handler
 * must not. Start with hold_thread().
 */
#include "hold.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	PATIENCE_S = 30,
};

static atomic_bool held;
static int gate[2] = {-1, -1};

static void
stand_still(int signal)
{
	int error = errno;
	char byte;

	(void)signal;
	atomic_store(&held, true);
	while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	atomic_store(&held, false);
	errno = error;
}

static pid_t
thread_named(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	pid_t found = 0;

	assert_non_null(tasks);
	while (!found && (task = readdir(tasks)) != NULL) {
		char path[300], is[32] = "";
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		comm = fopen(path, "r");
		if (comm && fscanf(comm, "%31s", is) == 1 && strcmp(is, name) == 0)
			found = (pid_t)strtol(task->d_name, NULL, 10);
		if (comm)
			fclose(comm);
	}
	closedir(tasks);
	return found;
}

static void
until_held_is(bool wanted)
{
	time_t late = time(NULL) + PATIENCE_S;

	while (atomic_load(&held) != wanted) {
		if (time(NULL) > late)
			fail_msg("the thread has not %s", wanted ? "stopped" : "gone on");
		sched_yield();
	}
}

void
hold_thread(const char *name)
{
	const struct sigaction action = {.sa_handler = stand_still, .sa_flags = SA_RESTART};
	pid_t thread = thread_named(name);

	assert_int_not_equal(thread, 0);
	if (gate[0] < 0)
		assert_int_equal(pipe(gate), 0);
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	assert_int_equal(syscall(SYS_tgkill, getpid(), thread, SIGUSR2), 0);
	until_held_is(true);
}

void
let_go(void)
{
	assert_int_equal(write(gate[1], "", 1), 1);
	until_held_is(false);
}
