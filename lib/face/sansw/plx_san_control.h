/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs and the broker of their host say to each other, over a socket that keeps messages
 * apart (SOCK_SEQPACKET). All messages have one length; some bring a descriptor along.
 * Start with enum san_control_kind.
 */
#ifndef PLX_SAN_CONTROL_H
#define PLX_SAN_CONTROL_H

#include "plx_san_stream.h"
#include "plx_types.h"

enum {
	SAN_CONTROL_VERSION = 1,
	SAN_HOST_PATH = 108,
	SAN_ADAPTER_NAME = 32, /* [bytes] with its end: PLX_ADAPTER_NAME_MAX + 1 or more */
};

enum san_control_kind {
	SAN_CONTROL_NONE,
	/* A program asks, and gets one ANSWER, each with its number. */
	SAN_CONTROL_CONNECT, /* the socket that comes along, to `peer` */
	SAN_CONTROL_LISTEN,  /* it listens at `local`, with `backlog` */
	SAN_CONTROL_FIND,    /* the session of the socket that comes along */
	SAN_CONTROL_SHOW,    /* what the broker has, as JSON in memory that comes along */
	SAN_CONTROL_HAND,  /* the socket that comes along is for `process`, a number of the system's
			    */
	SAN_CONTROL_FETCH, /* the socket that `token` of such an answer stands for */
	SAN_CONTROL_ANSWER, /* `error`; 0: `session`, and its segment comes along */
	/* Of a session. */
	SAN_CONTROL_ASK,    /* a request wants control; `process`: how to name its program; 0: it
				cannot use the adapter */
	SAN_CONTROL_DONE,   /* the request whose turn it was is carried out */
	SAN_CONTROL_TURN,   /* it is the turn of the oldest request that asked */
	SAN_CONTROL_WANTED, /* give control to `process` */
	SAN_CONTROL_GAVE, /* `token` is for `process`; 0: it could not be given, or, if `process` is
			     not 0, the connection is over and the rest of its bytes is here */
	SAN_CONTROL_TAKE, /* take control: `token`; 0: of that rest */
	SAN_CONTROL_TOOK, /* `error`; 0: it has control */
	SAN_CONTROL_IDLE, /* others wait for bytes or room: the broker is to have control */
	SAN_CONTROL_RELAY,   /* this program will use the kernel's socket */
	SAN_CONTROL_RELAYED, /* all do, from now on */
	SAN_CONTROL_READY,   /* look again: bytes have come, or there is room */
	SAN_CONTROL_CLOSE,   /* this program has no descriptor of it any more; `process`: not 0:
				if it was the last, the connection is reset */
	SAN_CONTROL_OVER,    /* the connection has ended: `error` */
	SAN_CONTROL_COUNT,
};

/* Answers that are no errors of errno.h. */
enum {
	SAN_USE_TCP =
		-1, /* no rule says RDMA, the peer has none, or it failed: the kernel connects */
};

struct san_address {
	struct plx_ip ip;
	uint16_t port;
};

struct san_control {
	uint32_t version;
	uint32_t kind; /* enum san_control_kind */
	uint64_t session;
	uint32_t number; /* of the question */
	int32_t error;
	uint32_t process, token;
	uint32_t backlog;
	uint32_t relayed; /* of the session of an ANSWER: 1: its programs use the kernel's socket */
	struct san_address local, peer;
	struct plx_san_config config;
	uint32_t broker; /* how WSPDuplicateSocket() names it */
	char adapter[SAN_ADAPTER_NAME];
	char host[SAN_HOST_PATH]; /* where the adapter's host is */
};

/** A channel to the broker at `path`. -1, with errno: there is none; ENAMETOOLONG */
int san_control_connect(const char *path);

/**
 * Send one. @param fd comes along; -1: none
 * Returns: false: the other side has gone, or takes no more
 */
bool san_control_send(int socket, const struct san_control *message, int fd);

enum san_control_got {
	SAN_CONTROL_GOT,
	SAN_CONTROL_NOTHING_YET,
	SAN_CONTROL_GONE, /* or has sent what is no message */
};

/**
 * Receive one, without waiting.
 * @param fd [out] what came along, the caller's; -1: nothing
 */
enum san_control_got san_control_receive(int socket, struct san_control *message, int *fd);

#endif
