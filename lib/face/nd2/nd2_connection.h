/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs behind connectors and listeners, and the functions that their files share. It owns no
 * state. Start with struct nd2_connector.
 *
 * Everything here is protected by plx_session.events. The context of a plx_connector is its
 * subscriber; 0: its events are dropped.
 */
#ifndef PLX_ND2_ND2_CONNECTION_H
#define PLX_ND2_ND2_CONNECTION_H

#include "connector_state.h"
#include "nd2.h"

enum {
	ND2_NOTIFIES_FIRST = 4, /* initial room for pending NotifyDisconnects */
};

struct nd2_conn_param {
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	uint8_t inbound, outbound; /* outstanding READs */
};

struct nd2_private_data {
	bool there;
	uint32_t bytes;
	uint8_t data[PLX_PRIVATE_MAX];
};

struct nd2_connector {
	struct nd2_object object;
	struct plx_session_subscriber subscriber;
	struct plx_list node; /* in nd2_session.connectors */
	enum nd2_state state;
	struct plx_connector *connector; /* NULL: not created yet, or already destroyed */
	struct nd2_qp *qp;               /* held, from Connect or Accept on */
	struct plx_pending *request;     /* Connect, Accept or Disconnect */
	struct plx_pending **notify;     /* [notify_room] NotifyDisconnects */
	uint32_t notifies, notify_room;
	/* in state QUEUED */
	struct nd2_listener *listener;
	struct plx_pending *queued;
	struct plx_list queue_node; /* in listener->queue */

	int address; /* the index of the address whose port number Bind has reserved; -1: none */
	struct nd2_conn_param conn_param;
	struct nd2_private_data private_data;       /* GetPrivateData */
	uint8_t sent_private_data[PLX_PRIVATE_MAX]; /* kept because Connect may be retried, with
						       these options: */
	struct plx_connect_options connect_options;
};

ND2_OBJECT_OF(connector, IND2Connector);
extern const struct nd2_kind nd2_connector_kind;

enum nd2_listener_state {
	ND2_LISTENER_NEW,
	ND2_LISTENER_BOUND,
	ND2_LISTENER_LISTENING,
	ND2_LISTENER_CLOSED, /* released: its events are dropped */
};

struct nd2_listener {
	struct nd2_object object;
	struct plx_session_subscriber subscriber;
	enum nd2_listener_state state;
	struct plx_ip ip;
	uint16_t port;
	uint32_t addresses; /* bit mask of the session's addresses */
	struct plx_listener *listeners[PLX_ADAPTER_ADDRESSES_MAX];
	struct plx_list queue;   /* connectors that wait for a request */
	struct plx_list waiting; /* requests that wait for a connector */
	uint32_t backlog, waits; /* 0: no limit */
};

ND2_OBJECT_OF(listener, IND2Listener);

/** Call plx_session_reserve_port(). Errors: ND_SHARING_VIOLATION, ND_TOO_MANY_ADDRESSES (no port
 * number is left) */
HRESULT nd2_reserve_port(struct plx_session_port_numbers *numbers, uint32_t addresses,
			 uint16_t *port);

/* ---- connector_calls.c: the methods that do something ---- */

HRESULT STDMETHODCALLTYPE nd2_connector_bind(IND2Connector *face, const struct sockaddr *address,
					     ULONG length);
HRESULT STDMETHODCALLTYPE nd2_connector_connect(IND2Connector *face, IUnknown *qp,
						const struct sockaddr *address, ULONG length,
						ULONG inbound, ULONG outbound,
						const VOID *private_data, ULONG bytes,
						OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_complete(IND2Connector *face, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_accept(IND2Connector *face, IUnknown *qp, ULONG inbound,
					       ULONG outbound, const VOID *private_data,
					       ULONG bytes, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_reject(IND2Connector *face, const VOID *private_data,
					       ULONG bytes);
HRESULT STDMETHODCALLTYPE nd2_connector_notify(IND2Connector *face, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_disconnect(IND2Connector *face, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_cancel(IND2Connector *face);

/* ---- connector_event.c ---- */

/** Apply the effects of a step. @param event that caused it; NULL: a call did */
void nd2_connector_apply(struct nd2_connector *connector, struct nd2_step step,
			 const struct plx_connector_event *event);
/** Handle an event of a connector, as its subscriber. */
void nd2_connector_on_event(struct plx_session *session, struct plx_session_subscriber *subscriber,
			    const struct plx_connector_event *event);
/** The adapter's host has gone: finish what is pending. */
void nd2_connector_lose_host(struct nd2_connector *connector);
/** Attach the queue pair to the connector. */
void nd2_connector_attach(struct nd2_connector *connector, struct nd2_qp *qp);
/** End the connection because its queue pair is released, or as if it were. */
void nd2_connector_release_qp(struct nd2_connector *connector);
/** Disconnect. When this returns, the DREQ has been sent. Errors: those of plx_disconnect() */
enum plx_status nd2_connector_send_disconnect(struct nd2_connector *connector);

/* ---- listener.c ---- */

/** Remove a connector from the listener's queue, and finish its GetConnectionRequest. */
void nd2_listener_unqueue(struct nd2_connector *connector, HRESULT status);

#endif
