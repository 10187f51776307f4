/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds threads through /proc, and holds one in a signal handler that reads from a pipe until
 * somebody writes. The handler calls only async-signal-safe functions. Start with thread_hold().
 */
#include "thread.h"
#include "clock.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first thread whose name begins so, or is this; `count` all that do. */
static pid_t
look_for(const char *name, size_t bytes, int *count)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	pid_t found = 0;

	assert_non_null(tasks);
	*count = 0;
	while ((task = readdir(tasks)) != NULL) {
		char path[300], is[32] = "";
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		comm = fopen(path, "r");
		if (comm && fscanf(comm, "%31s", is) == 1 && strncmp(is, name, bytes) == 0 &&
		    (*count)++ == 0)
			found = (pid_t)strtol(task->d_name, NULL, 10);
		if (comm)
			fclose(comm);
	}
	closedir(tasks);
	return found;
}

pid_t
thread_find(const char *name)
{
	int count;

	return look_for(name, strlen(name) + 1, &count);
}

int
thread_count(const char *prefix)
{
	int count;

	(void)look_for(prefix, strlen(prefix), &count);
	return count;
}

bool
thread_sleeps(pid_t thread)
{
	char path[64], line[256] = "";
	const char *name_end;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	stat = fopen(path, "r");
	assert_non_null(stat);
	assert_non_null(fgets(line, sizeof(line), stat));
	fclose(stat);
	name_end = strrchr(line, ')');
	assert_non_null(name_end);
	return name_end[2] == 'S';
}

/* ---- holding ---- */

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

void
thread_hold(const char *name)
{
	const struct sigaction action = {.sa_handler = stand_still, .sa_flags = SA_RESTART};
	pid_t thread = thread_find(name);

	assert_int_not_equal(thread, 0);
	if (gate[0] < 0)
		assert_int_equal(pipe(gate), 0);
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	assert_int_equal(syscall(SYS_tgkill, getpid(), thread, SIGUSR2), 0);
	test_until(atomic_load(&held), sched_yield());
}

void
thread_let_go(void)
{
	assert_int_equal(write(gate[1], "", 1), 1);
	test_until(!atomic_load(&held), sched_yield());
}
