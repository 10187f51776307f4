/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state machine of NDK connectors: the consumer's calls, the events of the connection below,
 * and what each changes. It owns nothing and calls nobody. Start with ndk_connector_step().
 */
#ifndef PLX_NDK_CONNECTOR_STATE_H
#define PLX_NDK_CONNECTOR_STATE_H

#include <windef.h>

enum ndk_connector_state {
	NDK_NOWHERE,     /* in a step: stay */
	NDK_IDLE,        /* created, or refused: NdkConnect may be called */
	NDK_REQ_SENT,    /* NdkConnect is pending */
	NDK_REP_RCVD,    /* ... has completed: the consumer decides */
	NDK_REQ_RCVD,    /* by the connect event: the consumer decides */
	NDK_REP_SENT,    /* NdkAccept is pending */
	NDK_ESTABLISHED, /* ... or NdkCompleteConnect has completed */
	NDK_LEAVING,     /* NdkDisconnect is pending */
	NDK_PEER_LEFT,   /* the peer has disconnected, or is lost */
	NDK_ABORTED,     /* the peer gave up while the consumer decided */
	NDK_OVER,
	NDK_CONNECTOR_STATE_COUNT,
};

enum ndk_connector_event {
	NDK_NO_EVENT,
	/* the consumer's calls */
	NDK_ON_CONNECT,
	NDK_ON_COMPLETE_CONNECT,
	NDK_ON_ACCEPT,
	NDK_ON_REJECT,
	NDK_ON_DISCONNECT,
	NDK_ON_GET_DATA,
	NDK_ON_CLOSE_CONNECTOR,
	/* the connection below */
	NDK_ON_REPLY,
	NDK_ON_REFUSAL,
	NDK_ON_UNREACHABLE,
	NDK_ON_TIMEOUT,
	NDK_ON_ABORT,
	NDK_ON_ESTABLISHED,
	NDK_ON_PEER_DISCONNECT,
	NDK_ON_CLOSED,
	NDK_ON_HOST_GONE,
	NDK_CONNECTOR_EVENT_COUNT,
};

enum ndk_connector_effect {
	NDK_DO_FINISH =
		1 << 0,       /* complete the pending request with the step's status, or SUCCESS */
	NDK_DO_TELL = 1 << 1, /* the disconnect event */
	NDK_DO_KEEP = 1 << 2, /* keep read limits and private data of the event below */
	NDK_DO_DETACH = 1 << 3, /* the queue pair may be connected again */
	NDK_DO_PART = 1 << 4,   /* send a disconnect, which flushes the queue pair */
	NDK_DO_CUT = 1 << 5,    /* destroy the connection below: reject, abort, or nothing */
	NDK_DO_LINGER = 1 << 6, /* ... once the peer has answered */
};

/* For a call, `status` is what it returns or completes with; on failure nothing else changes. */
struct ndk_connector_step {
	enum ndk_connector_state next;
	NTSTATUS status;
	unsigned int effects; /* enum ndk_connector_effect */
};

/** Total: a call that the state does not allow fails; an event that cannot occur changes nothing.
 */
struct ndk_connector_step ndk_connector_step(enum ndk_connector_state state,
					     enum ndk_connector_event event);

#endif
