/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process of polluxd that serves programs of sockets, if the configuration asks for it. Start
 * with sockets_fork().
 *
 * Threads: main()'s
 */
#ifndef POLLUXD_SOCKETS_H
#define POLLUXD_SOCKETS_H

#include <plx_host_config.h>

/** Make the process, which waits. After rights_drop(), before the first device and thread. */
bool sockets_fork(const struct plx_host_config *config, struct plx_why *why);

/** Programs can attach to polluxd: the process begins.
 * Returns: true: programs of sockets can come; nobody asked for it */
bool sockets_serve(struct plx_why *why);

/** Has the process ended by itself? After SIGCHLD. */
bool sockets_have_ended(void);

/** End it, and all connections that it has; within 2 s. */
void sockets_end(void);

#endif
