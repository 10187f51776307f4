/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The states of a connector, and what each call and each event does to it: the state machine of
 * docs/nd2.md, Connections, as data. It owns no state. Start with nd2_step().
 */
#ifndef PLX_ND2_CONNECTOR_STATE_H
#define PLX_ND2_CONNECTOR_STATE_H

#include <windows.h>

enum nd2_state {
	ND2_NOWHERE, /* not a state of a connector; as the target of a step: the state does not
			change */
	ND2_IDLE,
	ND2_BOUND,
	ND2_QUEUED, /* in a listener's GetConnectionRequest */
	ND2_REQ_SENT,
	ND2_REP_RCVD,
	ND2_REQ_RCVD,
	ND2_REP_SENT,
	ND2_ESTABLISHED,
	ND2_LOCAL_DISC,
	ND2_PEER_LEFT, /* the peer has disconnected; our queue pair is flushed soon, or already was
			*/
	ND2_PEER_DISC, /* ended, but not by our Disconnect */
	ND2_DEAD,      /* was connected before */
	ND2_ABORTED,   /* the peer gave up while our program was deciding */
	ND2_FAILED,    /* the attempt has failed; another one is not possible */
	ND2_STATE_COUNT,
};

enum nd2_event {
	ND2_NO_EVENT,
	/* the client's calls */
	ND2_ON_BIND,
	ND2_ON_CONNECT,
	ND2_ON_COMPLETE,
	ND2_ON_ACCEPT,
	ND2_ON_REJECT,
	ND2_ON_QUEUE, /* GetConnectionRequest */
	ND2_ON_NOTIFY,
	ND2_ON_DISCONNECT,
	ND2_ON_GET_LIMITS,
	ND2_ON_GET_PRIVATE,
	ND2_ON_GET_LOCAL,
	ND2_ON_GET_PEER,
	ND2_ON_CANCEL,
	ND2_ON_RELEASE,
	ND2_ON_QP_RELEASE,
	/* events of the listener and the peer */
	ND2_ON_UNQUEUED,
	ND2_ON_REQUEST,
	ND2_ON_REPLY,
	ND2_ON_REFUSAL,
	ND2_ON_UNREACHABLE,
	ND2_ON_TIMEOUT,
	ND2_ON_ABORT,
	ND2_ON_ESTABLISHED,
	ND2_ON_PEER_DISCONNECT,
	ND2_ON_CLOSED,
	ND2_ON_HOST_GONE,
	ND2_EVENT_COUNT,
};

enum nd2_effect {
	ND2_DO_FINISH =
		1
		<< 0, /* finish Connect, Accept or Disconnect with the step's status, or SUCCESS */
	ND2_DO_NOTIFY_PEER = 1 << 1,  /* finish NotifyDisconnect: the peer has disconnected */
	ND2_DO_NOTIFY_LOCAL = 1 << 2, /* finish NotifyDisconnect: we have disconnected */
	ND2_DO_KEEP = 1 << 3,         /* keep parameters and private data of the event */
	ND2_DO_FORGET = 1 << 4,       /* drop the private data */
	ND2_DO_DETACH = 1 << 5,       /* detach the queue pair, which is unchanged */
	ND2_DO_BREAK = 1 << 6,        /* detach the queue pair, which is flushed */
	ND2_DO_END = 1 << 7,          /* no further events follow */
	ND2_DO_LINGER = 1 << 8,       /* the DREQ may have to be retransmitted */
	ND2_DO_NOTIFY_GONE = 1 << 9,  /* finish NotifyDisconnect: the adapter's host has gone */
};

/* For a call, `status` is what it returns; on failure the step has no other effect. */
struct nd2_step {
	enum nd2_state next;
	HRESULT status;
	unsigned int effects; /* enum nd2_effect */
};

/** Total: a call that is not allowed in the state fails; an event that cannot occur changes
 * nothing. */
struct nd2_step nd2_step(enum nd2_state state, enum nd2_event event);

#endif
