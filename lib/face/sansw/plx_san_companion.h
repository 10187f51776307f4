/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SAN socket behind a connected socket, in the process that controls it: what its stream wants
 * (plx_san_stream.h) becomes calls of a provider (san_provider.h), and their completions go back.
 * It polls: no upcall says that something is complete. Start with san_companion_open().
 *
 * Threads: one at a time
 */
#ifndef PLX_SAN_COMPANION_H
#define PLX_SAN_COMPANION_H

#include <san_provider.h>

#include "plx_san_record.h"

enum {
	SAN_RECEIVES_MAX = 64, /* posted: plx_san_receives() */
};

/* The extensions of a provider, looked up once for a socket. */
struct san_extensions {
	LPFN_WSPREGISTERMEMORY register_memory;
	LPFN_WSPDEREGISTERMEMORY deregister_memory;
	LPFN_WSPREGISTERRDMAMEMORY register_rdma;
	LPFN_WSPDEREGISTERRDMAMEMORY deregister_rdma;
	LPFN_WSPRDMAWRITE write;
	LPFN_WSPRDMAREAD read; /* NULL: it has none */
};

/* RDMA memory that the peer can name. */
struct san_rdma {
	bool registered;
	struct plx_san_descriptor descriptor;
};

struct san_companion {
	const WSPPROC_TABLE *call;
	struct san_extensions extension;
	SOCKET s;
	int error; /* of the call that ended the stream; 0: none did */
	struct plx_san_stream stream;
	struct plx_san_rings rings;

	uint8_t *receives; /* of message_bytes each */
	uint8_t *heads;    /* of messages that are sent, PLX_SAN_HEAD_MAX each */
	uint32_t message_bytes, receive_count;
	/* of all of them, and of the ring that messages are sent from; NULL: not registered */
	HANDLE receives_handle, heads_handle, payloads_handle;
	WSAOVERLAPPED receive[SAN_RECEIVES_MAX];
	WSAOVERLAPPED send[PLX_SAN_SENDS_MAX];
	uint32_t next_receive, next_send; /* the oldest */
	uint64_t completed;               /* requests, since the beginning */
	uint32_t requested, received;     /* san_record.requests, .receives */
	struct san_records *records;      /* NULL: nobody goes on */
	HANDLE ring_handle;               /* READs' destination */
	WSAOVERLAPPED read, write;

	uint8_t *large; /* the program's large transfer; NULL: none */
	uint64_t large_bytes;
	HANDLE large_handle;     /* WRITEs' source */
	struct san_rdma offered; /* ... for the peer's READs */
	struct san_rdma exposed; /* of the ring, for its WRITEs */

	DWORD next_process; /* who is to have it */
	bool given;
	WSAPROTOCOL_INFOW info; /* what that process needs; valid when given */
};

/** [bytes] of memory for messages that a companion of this configuration needs. */
size_t san_companion_bytes(const struct plx_san_config *config);

/**
 * The socket has connected: register memory, and post receives. The stream begins.
 * @param s       of the provider
 * @param config  `reads` is set as the provider is
 * @param memory  [san_companion_bytes()] for messages
 * Returns: 0, or an error of Winsock, WSAEINVAL for the configuration among them; then the socket
 * is to be closed
 */
int san_companion_open(struct san_companion *companion, const WSPPROC_TABLE *call, SOCKET s,
		       const struct plx_san_config *config, const struct plx_san_rings *rings,
		       void *memory);

/** From now on write down there what others need to go on. @param records NULL: nothing */
void san_companion_record_in(struct san_companion *companion, struct san_records *records);
/** ... where the process that has given the socket away has: its numbers go on. */
void san_companion_go_on_in(struct san_companion *companion, struct san_records *records);
/** The program has read or written. */
void san_companion_record(struct san_companion *companion);

/** Send what can be sent now, and take other steps of the stream; completions are not looked for.
 */
void san_companion_step(struct san_companion *companion, uint64_t now);
/** Do all that can be done now. */
void san_companion_run(struct san_companion *companion, uint64_t now);

/**
 * Send memory of the program without copying it, behind what was written.
 * @param bytes must stay until companion->large is NULL
 * Returns: 0; WSAEWOULDBLOCK (plx_san_offer() says no), WSAEMSGSIZE (above 2^32 - 1), WSAENOBUFS
 * and other errors of registering
 */
int san_companion_offer(struct san_companion *companion, void *memory, uint64_t bytes);

/** Give the socket to another process, once all in progress has ended: companion->given. */
void san_companion_give(struct san_companion *companion, DWORD process);
/** ... without the other end's help, where the provider hands the connection over as it is. */
void san_companion_pass(struct san_companion *companion, DWORD process);

/**
 * Take over what another process has given away.
 * @param stream its stream: plx_san_can_take()
 * @param info   what its provider said
 * @param memory as san_companion_open()
 * Returns: 0, or an error: there is no socket then
 */
int san_companion_take(struct san_companion *companion, const WSPPROC_TABLE *call,
		       WSAPROTOCOL_INFOW *info, const struct plx_san_stream *stream,
		       const struct plx_san_rings *rings, void *memory);

/**
 * Go on with a socket that another process had, and has not given away: it computes, or has ended.
 * @param s        the socket, this process's now
 * @param config   that its stream must have
 * @param records  of that process: copied
 * @param requests what it, and those before it, had posted, which is complete
 * @param receives of their receives that have a message
 * @param memory   its memory for messages, with those
 * Returns: 0, or an error: the socket is the caller's to close. WSAECONNRESET: what it left cannot
 * be gone on with
 */
int san_companion_inherit(struct san_companion *companion, const WSPPROC_TABLE *call, SOCKET s,
			  const struct plx_san_config *config, const struct san_records *records,
			  uint32_t requests, uint32_t receives, const struct plx_san_rings *rings,
			  void *memory);

/**
 * ... of a connection that is over: messages may have arrived before its end.
 * Returns: as san_companion_take_rest()
 */
bool san_companion_inherit_rest(struct san_companion *companion, const WSPPROC_TABLE *call,
				const struct plx_san_config *config,
				const struct san_records *records,
				const struct plx_san_rings *rings, void *memory);

/**
 * Take over the rest of a connection that is over: bytes that have arrived. There is no socket.
 * @param stream as another process left it
 * Returns: false: it is none, or one that has not ended as both ends wished
 */
bool san_companion_take_rest(struct san_companion *companion, const WSPPROC_TABLE *call,
			     const struct plx_san_stream *stream,
			     const struct plx_san_rings *rings);

/** Has the connection ended as both ends wished: has each said that it sends no more? */
bool san_companion_has_ended_well(const struct san_companion *companion);

/** Close the socket of this process, if there is one. */
void san_companion_close(struct san_companion *companion);

#endif
