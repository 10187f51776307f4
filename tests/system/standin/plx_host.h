/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What polluxd asks of a host, for a test of polluxd alone: standin.c opens adapters and a socket,
 * and serves nobody. Start with plx_host_start().
 */
#ifndef PLX_HOST_H
#define PLX_HOST_H

#include "plx_adapter.h"
#include "plx_host_rights.h"

struct plx_host;

/** Listen on a socket of the Unix domain. @param mode of its file */
enum plx_status plx_host_start(const char *path, unsigned mode, struct plx_host **host,
			       struct plx_why *why);
/** Open an adapter that programs can attach to. */
enum plx_status plx_host_offer(struct plx_host *host, const char *adapter,
			       const struct plx_adapter_options *options,
			       const struct plx_host_rights *rights, struct plx_why *why);
/** Close adapters and socket. */
void plx_host_stop(struct plx_host *host);

#endif
