/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the broker share. Start with struct session.
 */
#ifndef PLX_SANBROKER_BROKER_H
#define PLX_SANBROKER_BROKER_H

#include <plx_san_companion.h>
#include <plx_san_control.h>
#include <plx_san_segment.h>
#include <plx_sanqp.h>

#include "plx_san_arbiter.h"
#include "plx_san_broker.h"
#include "plx_san_token.h"

enum {
	BROKER_PROCESS = 1, /* in arbiters; programs from 2 on */
	SESSIONS_MAX = 65536,
	PROGRAMS_MAX = 4096,
	HELLO_MS = 10000, /* longest wait for a peer's */
	FALLBACKS_KEPT = 64,
};

/* Why a connection, or those of a listener, are the kernel's. */
#define FALLBACK_REASONS(X)                                                            \
	X(FALLBACK_NO_RULE, "no rule says RDMA")                                       \
	X(FALLBACK_NO_ADAPTER, "no adapter of this host can be used for this address") \
	X(FALLBACK_NO_PEER, "the peer has no broker, or does not answer by RDMA")      \
	X(FALLBACK_NO_ROOM, "the broker has no memory for it, or too many connections")

enum fallback_reason {
#define NAME(name, text) name,
	FALLBACK_REASONS(NAME)
#undef NAME
	FALLBACK_COUNT
};

struct fallback {
	struct san_address address; /* the peer's; of a listener its own */
	bool listens;
	enum fallback_reason reason;
	int error; /* of Winsock; 0: none */
	uint64_t when;
};

/* A descriptor that the broker sleeps on. */
struct watch {
	int fd; /* -1: none */
	void (*ready)(struct watch *watch);
	void *owner;
};

/* A program, by its control channel. */
struct program {
	struct plx_list link;
	struct san_broker *broker;
	struct watch control;
	uint64_t process; /* in arbiters */
	pid_t pid;        /* when it came; another may have its channel since */
	uid_t uid;
	bool passes_by;   /* it may use sockets past the switch, by io_uring */
	uint64_t look_at; /* when it is looked for that next */
};

/* A program that has said what it wants of a session. */
struct holder {
	struct plx_list link;
	struct program *program;
	uint32_t name; /* by which WSPDuplicateSocket() names it; 0: it has not asked yet */
	bool leaves;   /* when it has given control away */
};

enum session_state {
	SESSION_CONNECTING, /* WSPConnect() is under way */
	SESSION_HELLO,      /* connected; both ends introduce themselves */
	SESSION_UP,
	SESSION_CLOSING, /* no program has it: what was written is sent, then FIN */
	SESSION_OVER,    /* freed at the end of the round */
};

enum relay {
	RELAY_NOT,
	RELAY_WANTED, /* when all that have asked for control have had it */
	RELAY_ON,     /* the broker has control for good */
};

struct session {
	struct plx_list link;
	struct san_broker *broker;
	uint64_t number;
	enum session_state state;
	SOCKET s;      /* the provider's; INVALID_SOCKET: another process has it */
	bool controls; /* the companion is the broker's */
	bool released; /* nobody has a descriptor */
	bool aborts;   /* ... and whoever closed it last has asked for a reset */
	struct san_companion companion;
	struct san_segment segment;
	struct san_address local, peer;
	char adapter[SAN_ADAPTER_NAME];
	struct plx_san_arbiter arbiter;
	struct plx_list holders;
	struct watch completions, gone; /* while it controls */
	struct watch anchor;
	struct san_address anchor_local, anchor_peer; /* port 0: not asked for yet */
	bool rest; /* the connection is over, and programs may read what has arrived */
	enum relay relay;
	bool told_end;     /* the kernel's socket has the end of what the peer sends */
	uint32_t token;    /* of who gave it away */
	uint32_t loan;     /* by which the broker may take it; 0: it has it */
	uint64_t given_to; /* the process that it was given to */
	bool seizing;      /* the broker takes it by the loan */
	uint64_t seize_until;
	uint64_t waits; /* since when requests wait, and nothing happens */
	uint32_t step;  /* of the arbiter, then */
	uint64_t since, swaps;
	uint32_t ready;    /* as holders know it */
	uint64_t deadline; /* PLX_NEVER: none */
	uint64_t unheard;  /* since when nobody asks for what has arrived; 0: somebody does */
	uint64_t judge_at; /* ... when it is looked for why */
	/* until it is up */
	struct program *asker; /* NULL: it was accepted, or the program has gone */
	uint32_t question;
	int socket; /* the program's; -1: none */
};

struct listener {
	struct plx_list link;
	struct san_broker *broker;
	SOCKET s; /* INVALID_SOCKET: it has ended, and is freed at the end of the round */
	struct san_address local;
};

struct san_broker {
	struct san_broker_options options;
	struct plx_san_rule rule[PLX_SAN_RULES_MAX];
	char path[108];
	WSPPROC_TABLE call;
	int epoll;
	struct watch programs_at, events; /* new programs; the provider's upcalls */
	int spare;      /* a descriptor, to refuse programs with when there is no other */
	int anchors[2]; /* listeners for anchors, IPv4 and IPv6; -1: none */
	struct plx_list programs, sessions, listeners;
	struct plx_list handed; /* sockets that wait for their processes */
	struct plx_san_tokens tokens;
	uint64_t processes, numbers; /* given so far */
	struct san_broker_counts count;
	uint64_t reason[FALLBACK_COUNT];
	struct fallback fallback[FALLBACKS_KEPT]; /* number i is at i modulo their number */
	uint64_t fallbacks;
	uint32_t seizing; /* sessions that are; they are looked at often */
	uint64_t looked;  /* when sessions were looked at last */
	bool has_over;    /* some are to be freed */
	uint64_t judged;  /* when it was looked for who has a socket */
};

/* ---- broker.c ---- */

uint64_t broker_now(void);
void broker_log(const struct san_broker *broker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Do the rules say so? */
bool broker_is_rdma(const struct san_broker *broker, const struct san_address *address);
bool broker_watch(struct san_broker *broker, struct watch *watch, int fd,
		  void (*ready)(struct watch *watch), void *owner);
/* @param events of epoll, EPOLLHUP and EPOLLERR in any case */
void broker_watch_for(struct san_broker *broker, struct watch *watch, uint32_t events);
/* @param close the descriptor is ours */
void broker_unwatch(struct san_broker *broker, struct watch *watch, bool close_it);

/* ---- show.c ---- */

void broker_fall_back(struct san_broker *broker, const struct san_address *address, bool listens,
		      enum fallback_reason reason, int error);
/* Memory with a text, for a program that asks. -1: there is no room for it */
int broker_show(const struct program *asker);

/* ---- hand.c ---- */

/* A socket for another process, which a token stands for in the answer. The descriptor is taken. */
void hand_give(struct program *program, const struct san_control *m, int fd);
void hand_take(struct program *program, const struct san_control *m);
void hand_on_time(struct san_broker *broker, uint64_t now);
void hand_end_all(struct san_broker *broker);

/* ---- program.c ---- */

void program_send(struct program *program, const struct san_control *message, int fd);

void program_arrives(struct watch *watch);
void program_ends(struct program *program);
void program_tell(struct program *program, const struct session *session,
		  enum san_control_kind kind, uint32_t process, uint32_t token, int error);
void program_answer(struct program *program, uint32_t question, const struct session *session,
		    int error);

/* ---- session.c ---- */

/* NULL: there is no memory for it, or there are too many. */
struct session *session_make(struct san_broker *broker, SOCKET s, bool connects);
/* It is connected: the companion begins. */
void session_begin(struct session *session);
/* Do what can be done by the broker, and tell programs. */
void session_run(struct session *session);
/* Time has passed. */
void session_on_time(struct session *session, uint64_t now);
/* Both ends have shut, and both have all bytes; or the peer has closed, and what came is read. */
bool session_is_complete(const struct session *session);
/* The connection has ended, for all that have it. */
void session_end(struct session *session, int error);
void session_free(struct session *session);
struct session *session_find(struct san_broker *broker, uint64_t number);
struct holder *session_holder(struct session *session, const struct program *program);
/* NULL: there is no memory */
struct holder *session_add_holder(struct session *session, struct program *program);
/* A program has no descriptor of it any more; it has gone. */
void session_leave(struct session *session, struct program *program, bool aborts);
void session_lost(struct session *session, struct program *program);
/* What programs say of it. */
void session_ask(struct session *session, struct program *program, uint32_t name);
void session_done(struct session *session, const struct program *program);
void session_gave(struct session *session, const struct program *program, uint32_t token,
		  bool rest);
void session_took(struct session *session, const struct program *program, int error);
/* Take a socket of the host, by a token. INVALID_SOCKET, with an error of Winsock: it cannot be */
SOCKET session_redeem(const struct session *session, uint32_t token, int *error);
/* The broker has control: of the socket, or of the rest of a connection that is over. */
void session_have(struct session *session);
bool session_take_rest(struct session *session, const struct plx_san_stream *stream);
/* Programs that wanted to give control away, and have no descriptor. */
void session_forget_leavers(struct session *session);
/* How WSPDuplicateSocket() names a process. 0: it has said nothing of that */
uint32_t session_name_of(struct session *session, uint64_t process);
/* Say what the arbiter says, and run: whatever may have changed who is to have control. */
void session_go_on(struct session *session);
/* A program would wait, or goes: the broker is to have control. */
void session_call_in(struct session *session, const struct program *program);
/* The last descriptor has been closed; or something was written past the switch. */
void session_released(struct watch *watch);
/* A program will use the kernel's socket from now on, and so will all. */
void session_relay(struct session *session, struct program *program);

/* The broker itself finds that one does. */
void session_relay_for(struct session *session, const char *why);

/* ---- unheard.c ---- */

/* Time has passed: if nobody asks for what has arrived it goes to the kernel's socket. */
void session_look_after(struct session *session, uint64_t now);
/* ... whether programs may have been asking by io_uring. */
void unheard_look_for_rings(struct san_broker *broker, uint64_t now);

/* ---- seize.c ---- */

/* Take control from the program that has it, if it does nothing with it; or has ended. Returns:
 * false: nothing has changed */
bool session_seize(struct session *session, bool has_ended);
/* It is decided, or of no use any more. */
void session_stop_seizing(struct session *session);
/* Try once more. */
void session_go_on_seizing(struct session *session, uint64_t now);

/* ---- relay.c ---- */

/* Carry bytes, as far as both sides take them. It is RELAY_ON, and the broker has control. */
void relay_run(struct session *session);

/* ---- connect.c ---- */

void connect_begin(struct program *program, const struct san_control *question, int socket);
/* The provider says that something has happened. */
void connect_on_event(struct session *session);
/* The stream is open: a program gets it. Returns: false: nobody wants it any more */
bool connect_finish(struct session *session);

/* ---- listen.c ---- */

void listen_begin(struct program *program, const struct san_control *question, int socket);
void listen_on_event(struct listener *listener);
void listen_end(struct listener *listener);
/* Free those that have ended. */
void listen_clean(struct san_broker *broker);
/* Have the names of its anchor. Returns: false: it is not connected */
bool listen_knows_anchor(struct session *session);
/* The session whose anchor a kernel socket is connected to. NULL: none */
struct session *listen_find(struct san_broker *broker, int socket);

#endif
