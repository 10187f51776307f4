/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs behind connectors and listeners, and what their files ask of each other. It owns no
 * state. Start with struct nd2_connector.
 *
 * Everything here is under nd2_port.events. "Wire" is the plx_connector that stands for a
 * connection below; its context is a party, or 0: what comes of it is of no interest any more.
 */
#ifndef PLX_ND2_ND2_CONNECTION_H
#define PLX_ND2_ND2_CONNECTION_H

#include "connector_state.h"
#include "nd2.h"

enum {
	ND2_PORT_WORDS = 65536 / 64,
	ND2_NOTIFIES_FIRST = 4, /* places for pending NotifyDisconnects, to begin with */
	ND2_PATH_MTU_LEAST = 256,
};

/* Whom an event of a wire is for: the first member of what its context points to. */
enum nd2_party_kind {
	ND2_PARTY_NONE,
	ND2_PARTY_CONNECTOR,
	ND2_PARTY_WAITING,   /* a request in a listener's backlog */
	ND2_PARTY_LINGERING, /* disconnected and released, and the peer has not answered */
};

struct nd2_party {
	enum nd2_party_kind kind;
};

struct nd2_terms {
	struct plx_ip local, remote;
	uint16_t local_port, remote_port;
	uint8_t inbound, outbound; /* READs at once */
};

struct nd2_words {
	bool there;
	uint32_t bytes;
	uint8_t data[PLX_PRIVATE_MAX];
};

struct nd2_connector {
	IND2Connector face;
	struct nd2_object object;
	struct nd2_adapter *adapter; /* held */
	struct plx_pending_list pending;
	struct nd2_party party;
	struct plx_list node; /* in tables->connectors */
	enum nd2_state state;
	struct plx_connector *wire;  /* NULL: none yet, or none any more */
	struct nd2_qp *qp;           /* held, from Connect or Accept on */
	struct plx_pending *request; /* Connect, Accept or Disconnect */
	struct plx_pending **notify; /* [notify_room] NotifyDisconnects */
	uint32_t notifies, notify_room;
	/* QUEUED */
	struct nd2_listener *listener;
	struct plx_pending *queued;
	struct plx_list queue_node; /* in listener->queue */

	int address; /* of a port taken by Bind: the index of its address; -1: none */
	struct nd2_terms terms;
	struct nd2_words heard;        /* GetPrivateData */
	uint8_t said[PLX_PRIVATE_MAX]; /* with Connect, for when it is asked again: */
	struct plx_connect_options asked;
};

enum nd2_listener_state {
	ND2_LISTENER_NEW,
	ND2_LISTENER_BOUND,
	ND2_LISTENER_LISTENING,
	ND2_LISTENER_CLOSED, /* released: what the engine tells of it is for nobody */
};

struct nd2_listener {
	IND2Listener face;
	struct nd2_object object;
	struct nd2_adapter *adapter; /* held */
	struct plx_pending_list pending;
	enum nd2_listener_state state;
	struct plx_ip ip;
	uint16_t port;
	uint32_t addresses; /* bits: of the port's addresses */
	struct plx_listener *wires[PLX_ADAPTER_ADDRESSES_MAX];
	struct plx_list queue;   /* connectors that wait for a request */
	struct plx_list waiting; /* requests that wait for a connector */
	uint32_t backlog, waits; /* 0: no limit */
};

/* Ports in use, by address. */
struct nd2_ports_taken {
	uint64_t bits[PLX_ADAPTER_ADDRESSES_MAX][ND2_PORT_WORDS];
	uint16_t next; /* to be chosen */
};

struct nd2_connection_tables {
	struct nd2_ports_taken active, passive; /* connectors', listeners': two spaces */
	struct plx_list connectors, lingering;
};

/* ---- port_numbers.c
 * ------------------------------------------------------------------------------
 */

/**
 * Take a port at all `addresses` (bits), or at none.
 * @param port [in/out] 0: choose one of ND2_FIRST_PORT .. 65535
 * Errors: ND_SHARING_VIOLATION, ND_TOO_MANY_ADDRESSES (none is left to choose)
 */
HRESULT nd2_ports_take(struct nd2_ports_taken *taken, uint32_t addresses, uint16_t *port);
void nd2_ports_give(struct nd2_ports_taken *taken, uint32_t addresses, uint16_t port);

/** Bits of the port's addresses that `ip` means: itself, or all of its family. */
uint32_t nd2_port_addresses(const struct nd2_port *port, const struct plx_ip *ip);

/* ---- connector.c --------------------------------------------------------------------------------
 */

static inline struct nd2_connector *
nd2_connector_of(IND2Connector *face)
{
	return (struct nd2_connector *)(void *)face;
}

/** NULL: none of ours, or another adapter's. */
struct nd2_connector *nd2_connector_find(const struct nd2_adapter *adapter, IUnknown *face);

/* ---- connector_calls.c: the methods that do something -------------------------------------------
 */

HRESULT STDMETHODCALLTYPE nd2_connector_bind(IND2Connector *face, const struct sockaddr *address,
					     ULONG length);
HRESULT STDMETHODCALLTYPE nd2_connector_connect(IND2Connector *face, IUnknown *qp,
						const struct sockaddr *address, ULONG length,
						ULONG inbound, ULONG outbound, const VOID *words,
						ULONG bytes, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_complete(IND2Connector *face, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_accept(IND2Connector *face, IUnknown *qp, ULONG inbound,
					       ULONG outbound, const VOID *words, ULONG bytes,
					       OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_reject(IND2Connector *face, const VOID *words, ULONG bytes);
HRESULT STDMETHODCALLTYPE nd2_connector_notify(IND2Connector *face, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_disconnect(IND2Connector *face, OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE nd2_connector_cancel(IND2Connector *face);

/* ---- connector_event.c --------------------------------------------------------------------------
 */

/** What a step does. @param event that it came from; NULL: from a call */
void nd2_connector_apply(struct nd2_connector *connector, struct nd2_step step,
			 const struct plx_channel_event *event);
/** Every event that is there now, port->events being held. */
void nd2_connections_deliver(struct nd2_port *port);
/** The queue pair is the connector's from now on. */
void nd2_connector_attach(struct nd2_connector *connector, struct nd2_qp *qp);
/** A disconnect, told to the peer before this returns. Errors: those of plx_disconnect() */
enum plx_status nd2_connector_part(struct nd2_connector *connector);

/* ---- deferred.c
 * -------------------------------------------------------------------------------------
 */

/** A wire that is of no more use. It ends later when the engine stands still. */
void nd2_wire_end(struct nd2_port *port, struct plx_connector *wire);

/* ---- listener.c ---------------------------------------------------------------------------------
 */

/** A peer asks. */
void nd2_listener_asked(struct nd2_listener *listener, const struct plx_channel_event *event);
/** What waited in a backlog has given up. */
void nd2_waiting_ends(struct nd2_party *party);
/** A connector that waits for a request does so no more; its GetConnectionRequest is finished. */
void nd2_listener_unqueue(struct nd2_connector *connector, HRESULT status);

/* ---- linger.c -----------------------------------------------------------------------------------
 */

/** A wire that was disconnected, until the peer answers. */
void nd2_linger(struct nd2_port *port, struct plx_connector *wire);
void nd2_linger_ends(struct nd2_port *port, struct nd2_party *party);
/**
 * After Disconnect has pended, on a port that forgets: what its ring holds for the peer is gone
 * when this process is, and a program may end with no handler running as soon as Disconnect returns
 * (A06). So the peer's answer is waited for: microseconds from a peer that lives, ND2_ANSWER_MS at
 * most. Without locks.
 */
void nd2_await_answer(struct nd2_connector *connector);

#endif
