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

/** The name of an adapter. @param i 0 .. Returns: false: there are no more */
bool plx_sanqp_adapter_name(uint32_t i, char name[PLX_ADAPTER_NAME_MAX + 1]);

/** Open it, if it is not: 0 .. Returns: NULL: it is open; or why it cannot be, for a log */
const char *plx_sanqp_open(uint32_t i);

/** The adapter of a connected socket. @param name [out] Returns: false: it has no connection */
bool plx_sanqp_adapter(SOCKET s, char name[PLX_ADAPTER_NAME_MAX + 1]);

/** By which WSPDuplicateSocket() of other processes names this one, for sockets of an adapter.
 * Returns: 0: it cannot be opened, or is this process's own */
DWORD plx_sanqp_process(const char *adapter);

/** The path of the socket of an adapter's host. @param out [n] "": it is this process's own, or too
 * long */
void plx_sanqp_host(const char *adapter, char *out, size_t n);

/**
 * Another process may take a socket of this adapter over whenever it wishes, once this process has
 * taken it, by WSPSocket() with the same token: WSAEALREADY until all that was sent is complete.
 * Pending receives fail here then. @param process 0: none may
 */
void plx_sanqp_heir(const char *adapter, DWORD process);

/** Of a socket that other processes had: the sends and RDMA that they have asked for, which are
 * complete, and their receives that have a message. */
void plx_sanqp_past(SOCKET s, uint32_t *requests, uint32_t *receives);

/** The addresses of a connected socket. */
bool plx_sanqp_addresses(SOCKET s, struct plx_connector_info *out);

/** The adapters of this process are told by plx_sanqp_add(), and no file is read: before
 * WSPStartupEx(). */
void plx_sanqp_without_file(void);
/** An adapter of a host in another process. One that is known is not added.
 * @param host path of the host's socket
 * Returns: false: there are too many, or a name is too long */
bool plx_sanqp_add(const char *name, const char *host);

/** In the child of a fork(): what the provider has is the parent's, and WSPStartupEx() begins anew.
 */
void plx_sanqp_forget(void);

#endif
