/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the client share.
 *
 * Locks: session->lock, then client.lock. Whoever sleeps holds none.
 * Start with struct session.
 */
#ifndef PLX_SANCLIENT_CLIENT_H
#define PLX_SANCLIENT_CLIENT_H

#include <pthread.h>

#include <plx_san_companion.h>
#include <plx_san_control.h>
#include <plx_san_segment.h>
#include <plx_sanqp.h>

#include "plx_san_client.h"

/* What the broker has said of a session, and nobody has acted upon. */
struct inbox {
	bool wanted, take, turn, over, relayed;
	uint32_t name, token; /* of WANTED, TAKE */
	int error;            /* of OVER */
};

struct session {
	struct plx_list link;
	uint64_t number;
	uint32_t uses;      /* descriptors, and calls under way; client.lock */
	bool closes;        /* nobody has it any more; client.lock */
	bool aborts;        /* SO_LINGER of 0, when a descriptor was closed last; client.lock */
	struct inbox inbox; /* client.lock */
	atomic_bool mail;   /* there is something in it */
	int kick;           /* a semaphore: one for each sleeper */

	/* as the broker has said */
	struct san_segment segment;
	struct san_address local, peer;
	char adapter[SAN_ADAPTER_NAME];

	pthread_mutex_t lock; /* protects what follows: control_lock() */
	uint32_t sleepers;
	uint32_t heard; /* shared->told, when the broker was listened to */
	bool controls;
	bool asked, turn; /* for control; it is ours */
	bool wanted;      /* control is to be given to `name` */
	bool giving;      /* a thread is at it */
	uint64_t gives;   /* how often it was */
	uint32_t name;
	uint32_t process; /* how WSPDuplicateSocket() names this one */
	bool calls_in;    /* the broker is to take control after this call */
	bool lost;        /* it has: the companion is to be closed */
	struct san_companion companion;
	atomic_bool relayed; /* the kernel's socket is used from now on */
	bool over;
	int error;       /* of OVER */
	uint32_t parked; /* calls of this process that wait for bytes or room */
	uint32_t census; /* in which they are counted */
	bool blocks;     /* as the descriptor was when it was asked last */
	bool reads_shut;
	bool error_told; /* how the connection has ended: once, as the kernel does */
};

enum {
	KNOWN_MAX = 8,
};

/* An adapter that the broker has named. */
struct known {
	char adapter[SAN_ADAPTER_NAME], host[SAN_HOST_PATH];
	uint32_t broker; /* how WSPDuplicateSocket() names it */
};

struct client {
	struct known known[KNOWN_MAX]; /* children know them, too */
	uint32_t knows;
	pthread_mutex_t lock;
	bool runs, gone; /* the broker has */
	int control;
	WSPPROC_TABLE call;
	struct plx_list sessions;
	struct plx_list questions; /* that are not answered */
	uint32_t asked;            /* questions, since the beginning */
	uint32_t askers;           /* threads that wait for an answer */
	int kick;                  /* a semaphore for them */
};

struct answer {
	int error;
	struct session *found; /* in use; NULL: it has none */
	int file;              /* that it brings, but for a session; -1: none */
	uint32_t token;
};

/* To the broker. */
struct question {
	struct plx_list link;
	uint32_t number;
	int kick; /* readable when it is answered; -1: a thread waits, for client.kick */
	bool answered;
	struct answer answer;
};

extern struct client client;

/* ---- client.c ---- */

/* Read what the broker has said. */
void client_hear(void);
void client_tell(const struct session *session, enum san_control_kind kind, uint32_t process,
		 uint32_t token, int error);
/* Of a descriptor; to be put back. NULL: it is none of the switch's */
struct session *client_session(int fd);
void client_put(struct session *session);
/* Its descriptors are the kernel's from now on. */
void client_relayed(const struct session *session);
/* A session's use becomes that of the descriptor. */
void client_enter(int fd, struct session *session);
/* What a connect() asks. Returns: false: the kernel is to say what is wrong with it */
bool client_connect_question(int fd, const struct sockaddr *address, socklen_t bytes,
			     struct san_control *out);
/* -1: there is none */
void client_close_file(int fd);

/* ---- question.c ---- */

/* client.lock is held. NULL: nobody has asked, or it has closed its descriptor */
struct question *client_question(uint32_t number);
void client_answered(struct question *question, const struct answer *answer);
/* The broker has gone: of all. */
void client_unanswered(void);
/* Ask, and wait. */
struct answer client_ask(struct san_control *message, int fd);
/* What tells that a descriptor does not connect any more; -1: it does not */
int client_connecting(int fd);
/* It is closed. */
void client_abandon(int fd);
/* In a process that has asked nothing. */
void client_questions_begin(void);

/* ---- control.c ---- */

/* Between both the broker does not take control: at the beginning it may have. */
void control_lock(struct session *session);
void control_unlock(struct session *session);
/* Act upon what the broker has said. The lock is held, as for all of these. */
void control_attend(struct session *session);
/**
 * Have control, for one request.
 * @param waits_ms at most; -1: as long as it takes
 * Returns: 0; EAGAIN; ESHUTDOWN: the connection is over, and nothing of it is here; EREMOTE: the
 * kernel's socket is used
 */
int control_acquire(struct session *session, int waits_ms);
/* The request is carried out, or waits: others have their turn. */
void control_release(struct session *session);
/* ... at the end of a call: control that others may want is the broker's. */
void control_leave(struct session *session);
/* Others will have it: what the broker cannot take by itself it gets. */
void control_share(struct session *session);
/* The kernel's socket is to be used; wait until that is so, the connection is over, or 10 s. */
void control_relay(struct session *session);
/* Nobody here has a descriptor any more. */
void control_close(struct session *session);
/* Do what can be done. */
void control_run(struct session *session);
/* ... when the program has read or written. */
void control_changed(struct session *session);
/* It waits for bytes or room, and somebody tells it. */
void control_park(struct session *session);
void control_unpark(struct session *session);
/* Look for what comes soon, in place of a sleep: it has control. Returns: something has completed
 */
bool control_spin(struct session *session);
/* Sleep until something has happened, at most so long; the lock is let go. */
void control_doze(struct session *session, int ms);
/* Both, as long as it takes. */
void control_sleep(struct session *session, int ms);
/* Others of this process that sleep look again. */
void control_kick(struct session *session);

#endif
