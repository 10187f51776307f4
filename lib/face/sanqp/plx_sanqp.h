/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What Pollux's SAN service provider has beside san_provider.h: descriptors to sleep on, and the
 * names of processes. Start with plx_sanqp_arm().
 */
#ifndef PLX_SANQP_H
#define PLX_SANQP_H

#include <san_provider.h>

#include "plx_adapter.h"

enum {
	PLX_SANQP_FDS = 2,
};

/**
 * Sleep until a request of a connected socket completes: call this, look at the requests once more,
 * and poll the descriptors, which stay the socket's.
 * @param fds [out] readable: a request has completed; the adapter's host has gone
 * Returns: false: it has no connection, or nothing can be waited for
 */
bool plx_sanqp_arm(SOCKET s, int fds[PLX_SANQP_FDS]);

/** The adapter of a connected socket. @param name [out] Returns: false: it has no connection */
bool plx_sanqp_adapter(SOCKET s, char name[PLX_ADAPTER_NAME_MAX + 1]);

/** By which WSPDuplicateSocket() of other processes names this one, for sockets of an adapter.
 * Returns: 0: it cannot be opened, or is this process's own */
DWORD plx_sanqp_process(const char *adapter);

/** The addresses of a connected socket. */
bool plx_sanqp_addresses(SOCKET s, struct plx_connector_info *out);

/** In the child of a fork(): what the provider has is the parent's, and WSPStartupEx() begins anew.
 */
void plx_sanqp_forget(void);

#endif
