/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A private network namespace, which disappears with the test's process and its children. It needs
 * root. There is one function, namespace_network().
 */
#ifndef PLX_TEST_NAMESPACE_H
#define PLX_TEST_NAMESPACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/** Move this process into a private network namespace, and run a shell command in it.
 * Returns: whether everything succeeded; otherwise a message is on stderr */
static inline bool
namespace_network(const char *command)
{
	if (unshare(CLONE_NEWNET) == 0 && system(command) == 0)
		return true;
	perror("a network namespace of the test's own, as root");
	return false;
}

#endif
