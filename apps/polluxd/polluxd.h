/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of polluxd share: the command line, its rights in the system, its log, and the
 * messages to the service manager. Start with main().
 */
#ifndef POLLUXD_H
#define POLLUXD_H

#include "options.h"

#include <plx_host_config.h>

/* Exit status beside those of every program: mistakes in the configuration file. A restart does not
 * help, so config/polluxd.service does not try one. */
enum {
	STATUS_CONFIG = 3,
};

struct options {
	const char *config; /* path */
	bool check;
};

/** Parse the command line.
 * Returns: as options_read() */
enum parsed polluxd_options(int argc, char **argv, struct options *options, struct plx_why *why);

/* ---- log.c ---- */

/** One line on stderr. What is not printable becomes a question mark, since names that programs
 * chose may be in it. Threads: any, as plx_log_to() wants it. */
void polluxd_log(void *context, const char *line);

/* ---- notify.c ---- */

/** Take the service manager's socket from the environment, NOTIFY_SOCKET of sd_notify(3). */
void notify_open(void);
/** Tell the service manager, if there is one: lines of NAME=VALUE. */
void notify(const char *text);

/* ---- rights.c ---- */

/**
 * Give up what polluxd does not need, for good: all capabilities but those that the devices of the
 * configuration ask for, new privileges by execve(2), core files, which would show memory of
 * programs, and write permission of others on new files. Before the first thread starts, since
 * capabilities are each thread's own.
 */
bool rights_drop(const struct plx_host_config *config, struct plx_why *why);

/** Give the socket's file to its group, if it has one: rights_drop() has made polluxd a member. */
bool rights_give(const struct plx_host_socket *socket, struct plx_why *why);

/** Give up all capabilities. */
bool rights_drop_all(struct plx_why *why);

/** The capabilities that a device needs, as bits 1 << CAP_... */
uint64_t rights_of_device(const char *device);

/* ---- filter.c ---- */

/** Forbid every thread of the process, from now on, system calls that a daemon which has started
 * never makes: those that run programs, look into other processes, or change namespaces, mounts,
 * users and the kernel. One of them ends the process. */
bool filter_install(struct plx_why *why);

#endif
