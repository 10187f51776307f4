/* SPDX-License-Identifier: BSD-3-Clause
 *
 * polluxd as a child of the test, and its death: at once, or in the middle of a system call of a
 * thread that serves programs. Start with daemon_start(), then daemon_kill_at().
 */
#ifndef PLX_TEST_DAEMON_CHILD_H
#define PLX_TEST_DAEMON_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	DAEMON_TRACED_MAX = 32, /* threads */
};

/* A thread that is traced, and the system call that it is in; -1: none. */
struct daemon_thread {
	pid_t id;
	long call;
};

struct daemon_child {
	const char *program;
	pid_t pid;       /* 0: it does not run */
	char folder[32]; /* of its own */
	char socket[48]; /* that programs attach to */
	int manager;     /* where it tells the service manager, which we are */
	uint32_t threads;
	struct daemon_thread thread[DAEMON_TRACED_MAX];
	uint32_t noted;
	pid_t note[DAEMON_TRACED_MAX]; /* threads that are somebody else's */
};

/* When it is to die. */
struct daemon_moment {
	long call;         /* SYS_* of a thread that serves programs; 0: no such moment */
	unsigned nth;      /* of these calls; 1: the first */
	bool leaves;       /* having made the call, not before it */
	bool engine_halts; /* since before */
	bool is_ending;    /* asked to by SIGTERM, and about to */
};

/** A folder for one polluxd after the other, with the adapters "a" and "b" of host_side.h. */
void daemon_prepare(struct daemon_child *daemon, const char *program);
/** Remove the folder; what runs is killed. */
void daemon_remove(struct daemon_child *daemon);

/** Start it, and wait until programs can attach. */
void daemon_start(struct daemon_child *daemon);
/** Returns: [ns] when it was killed */
uint64_t daemon_kill(struct daemon_child *daemon);
/** By SIGTERM; it must end with 0. Returns: [ns] when it was asked to */
uint64_t daemon_end(struct daemon_child *daemon);

/** The programs that have attached so far are not those that the test is about. */
void daemon_note_threads(struct daemon_child *daemon);
/** Trace the threads that serve programs which have attached since, and with `all` also those from
 * before, and those that will be. By the thread that kills it. */
void daemon_trace(struct daemon_child *daemon, const struct daemon_moment *moment, bool all);
/** Let them go on until the moment, and kill it then. Returns: [ns] when */
uint64_t daemon_kill_at(struct daemon_child *daemon, const struct daemon_moment *moment);

#endif
