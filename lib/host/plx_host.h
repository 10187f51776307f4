/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host of an adapter: whoever owns its device and its engines. Programs have seats at it, and
 * make calls (plx_ipc.h), which the host judges and executes: it believes nothing that a program
 * says of itself. Start with plx_host_call().
 */
#ifndef PLX_HOST_H
#define PLX_HOST_H

#include "plx_host_rights.h"
#include "plx_ipc.h"
#include "plx_seat.h"

struct host_adapter;
struct host_seat;

/**
 * Open an adapter in this process, and a seat at it: as plx_adapter_open(), with options. Closing
 * the seat closes the adapter.
 */
PLX_API enum plx_status plx_host_embed(const char *name, const struct plx_adapter_options *options,
				       struct plx_seat **seat, struct plx_why *why) PLX_MUST_CHECK;

/** The adapter of an embedded seat. */
struct host_adapter *plx_host_of(struct plx_seat *seat);

/**
 * Serve a call of a seat.
 *
 * @param request [plx_ipc_request_bytes(op)] copied before, if a program can still change it
 * @param reply   [plx_ipc_reply_bytes(op)] written when OK; pads are then as they were
 * @param why     NULL: no sentence is wanted
 * Errors:  those of the call in plx_verbs.h; INVALID (no such operation); NO_KEY (an object that is
 *          not one of this seat)
 * Threads: any; calls about one object as plx_verbs.h says
 * Cost:    waits for the engine at most PLX_COMMAND_TIMEOUT_NS, and never for the network
 */
enum plx_status plx_host_call(struct host_seat *seat, enum plx_ipc_op op, const void *request,
			      void *reply, struct plx_why *why) PLX_MUST_CHECK;

/* ---- programs in other processes ---- */

struct plx_host; /* adapters that programs attach to, behind one socket */

/**
 * Make the socket of the Unix domain (SOCK_SEQPACKET) that programs connect to. A dead one at that
 * path is removed. Programs that connect wait for plx_host_serve().
 *
 * @param mode of the socket's file
 * Errors: with a sentence: INVALID, BUSY (another host listens there), CONFIG (no socket can be
 * made there), NO_MEMORY
 */
enum plx_status plx_host_start(const char *path, unsigned mode, struct plx_host **host,
			       struct plx_why *why) PLX_MUST_CHECK;
/** Open an adapter, and let programs attach to it that have the right to, which are copied.
 * Errors: as plx_adapter_open(); CONFIG (inline mode) */
enum plx_status plx_host_offer(struct plx_host *host, const char *adapter,
			       const struct plx_adapter_options *options,
			       const struct plx_host_rights *rights,
			       struct plx_why *why) PLX_MUST_CHECK;
/** Serve the programs that have connected, and those that will, each on a thread of its own.
 * Errors: NO_MEMORY. Called once */
enum plx_status plx_host_serve(struct plx_host *host) PLX_MUST_CHECK;
/** The adapters that it offers. */
uint32_t plx_host_offers(const struct plx_host *host);
struct host_adapter *plx_host_offered(const struct plx_host *host, uint32_t i);
/** End all seats, tell their peers, and close the adapters and the socket. */
void plx_host_stop(struct plx_host *host);

#endif
