/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs behind connectors, listeners and shared endpoints, and the functions that their files
 * share. It owns no state. Start with struct ndk_connector.
 *
 * Everything below is done by the dispatcher with plx_session.events held, except what a comment
 * puts under an object's own lock. The context of a plx_connector is its subscriber.
 */
#ifndef PLX_NDK_CONNECTION_H
#define PLX_NDK_CONNECTION_H

#include "connector_state.h"
#include "ndk.h"

/* ---- endpoint.c: addresses and ports in use ---- */

/* A local address and port; held by the listener or shared endpoint that owns it, and by each
 * connector that uses it. The port is free when the last hold is released. */
struct ndk_endpoint {
	struct plx_session *session;
	struct plx_ip ip;
	uint32_t addresses; /* of the adapter, as bits */
	uint16_t port;
	uint32_t holds;
};

/** Errors: STATUS_INVALID_ADDRESS, STATUS_SHARING_VIOLATION, STATUS_TOO_MANY_ADDRESSES,
 * STATUS_INSUFFICIENT_RESOURCES */
NTSTATUS ndk_endpoint_make(struct plx_session *session, const struct plx_ip *ip, uint16_t port,
			   struct ndk_endpoint **endpoint);
void ndk_endpoint_hold(struct ndk_endpoint *endpoint);
/** @param endpoint may be NULL */
void ndk_endpoint_release(struct ndk_endpoint *endpoint);

/** Read a socket address. Errors: STATUS_INVALID_ADDRESS */
NTSTATUS ndk_address_read(const struct sockaddr *address, ULONG length, struct plx_ip *ip,
			  uint16_t *port);
/** Write one. Errors: STATUS_BUFFER_TOO_SMALL (`length` is what is needed),
 * STATUS_INVALID_PARAMETER
 */
NTSTATUS ndk_address_write(const struct plx_ip *ip, uint16_t port, struct sockaddr *out,
			   ULONG *length);

/* ---- shared_endpoint.c, listener.c ---- */

struct ndk_shared_endpoint {
	struct ndk_object object;
	struct ndk_endpoint *endpoint;
};

NDK_OBJECT_OF(shared_endpoint, NDK_SHARED_ENDPOINT);

struct ndk_listener {
	struct ndk_object object;
	struct plx_session_subscriber subscriber;
	NDK_FN_CONNECT_EVENT_CALLBACK event;
	PVOID event_context;
	struct plx_listener *listeners[PLX_ADAPTER_ADDRESSES_MAX];
	_Atomic(struct ndk_endpoint *) endpoint; /* NULL: it does not listen */
	bool listens;                            /* ... and the engine knows */
	atomic_bool paused;
};

NDK_OBJECT_OF(listener, NDK_LISTENER);

/* ---- connector.c and its parts ---- */

struct ndk_private_data {
	uint32_t bytes;
	uint8_t data[PLX_PRIVATE_MAX];
};

struct ndk_connector {
	struct ndk_object object;
	struct plx_session_subscriber subscriber;
	struct plx_list node; /* in ndk_session.connectors */
	struct plx_connector *lower;
	struct ndk_endpoint *endpoint;
	struct ndk_qp *qp;                          /* held until the end */
	struct ndk_listener *listener;              /* held until the end; passive */
	struct ndk_shared_endpoint *shared;         /* held until the end */
	struct ndk_request *request;                /* pending on the peer */
	struct plx_connect_options connect_options; /* for another attempt */
	uint8_t sent_private_data[PLX_PRIVATE_MAX];
	struct ndk_task tell, closing, requested;
	NDK_FN_DISCONNECT_EVENT_CALLBACK event;
	NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event_ex;
	PVOID event_context;

	pthread_mutex_t lock; /* of the rest */
	enum ndk_connector_state state;
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	uint8_t inbound, outbound; /* outstanding READs */
	struct ndk_private_data private_data;
};

NDK_OBJECT_OF(connector, NDK_CONNECTOR);

/** An idle connector. Returns: NULL: no memory, or the adapter is closed */
struct ndk_connector *ndk_connector_make(struct ndk_adapter *adapter);
/** What the event would change, and change it. */
struct ndk_connector_step ndk_connector_peek(struct ndk_connector *connector,
					     enum ndk_connector_event event);
struct ndk_connector_step ndk_connector_take(struct ndk_connector *connector,
					     enum ndk_connector_event event);
/** Do the effects of a step. @param event NULL: a call */
void ndk_connector_apply(struct ndk_connector *connector, struct ndk_connector_step step,
			 const struct plx_connector_event *event);
void ndk_connector_on_event(struct plx_session *session, struct plx_session_subscriber *subscriber,
			    const struct plx_connector_event *event);
/** Keep what an event says about the connection. */
void ndk_connector_keep(struct ndk_connector *connector, const struct plx_connector_event *event);

/* connector_calls.c: slots of the table */
NTSTATUS ndk_connect(NDK_CONNECTOR *connector, NDK_QP *qp, CONST PSOCKADDR source,
		     ULONG source_bytes, CONST PSOCKADDR peer, ULONG peer_bytes, ULONG inbound,
		     ULONG outbound, CONST PVOID private_data, ULONG private_bytes,
		     NDK_FN_REQUEST_COMPLETION done, PVOID context);
NTSTATUS ndk_connect_shared(NDK_CONNECTOR *connector, NDK_QP *qp, NDK_SHARED_ENDPOINT *shared,
			    CONST PSOCKADDR peer, ULONG peer_bytes, ULONG inbound, ULONG outbound,
			    CONST PVOID private_data, ULONG private_bytes,
			    NDK_FN_REQUEST_COMPLETION done, PVOID context);
NTSTATUS ndk_complete_connect(NDK_CONNECTOR *connector, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
			      PVOID event_context, NDK_FN_REQUEST_COMPLETION done, PVOID context);
NTSTATUS ndk_complete_connect_ex(NDK_CONNECTOR *connector,
				 NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event, PVOID event_context,
				 NDK_FN_REQUEST_COMPLETION done, PVOID context);
NTSTATUS ndk_accept(NDK_CONNECTOR *connector, NDK_QP *qp, ULONG inbound, ULONG outbound,
		    CONST PVOID private_data, ULONG private_bytes,
		    NDK_FN_DISCONNECT_EVENT_CALLBACK event, PVOID event_context,
		    NDK_FN_REQUEST_COMPLETION done, PVOID context);
NTSTATUS ndk_accept_ex(NDK_CONNECTOR *connector, NDK_QP *qp, ULONG inbound, ULONG outbound,
		       CONST PVOID private_data, ULONG private_bytes,
		       NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event, PVOID event_context,
		       NDK_FN_REQUEST_COMPLETION done, PVOID context);
NTSTATUS ndk_reject(NDK_CONNECTOR *connector, CONST PVOID private_data, ULONG private_bytes);
NTSTATUS ndk_disconnect(NDK_CONNECTOR *connector, NDK_FN_REQUEST_COMPLETION done, PVOID context);

/* At the end of the session. plx_session.events is held. */
void ndk_connectors_disconnect(struct plx_session *session);
bool ndk_connectors_are_disconnected(struct plx_session *session);
void ndk_connectors_lose_host(struct plx_session *session);

#endif
