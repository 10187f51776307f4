/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what a host has sent, assigned and received: bounds on transmissions, ids that do not
 * come again, private data that is what was given. It never calls a manager.
 * Start with ledger_sent().
 */
#include <stdlib.h>

#include "fabric.h"

/* Anything but zeros, and other bytes for every serial and length. */
uint8_t
private_byte(uint64_t serial, uint32_t at)
{
	uint64_t mixed = (serial + 1) * UINT64_C(0x9e3779b97f4a7c15);

	if (at < SERIAL_BYTES)
		return (uint8_t)(serial >> (8 * at));
	mixed ^= mixed >> 29;
	return (uint8_t)(1 + (mixed >> (at % 7 * 8) & 0xff) % 255);
}

/* Shorter than a serial: none at all, so that no byte is mistaken for one. */
void
private_write(uint64_t serial, uint32_t length, uint8_t *out)
{
	for (uint32_t i = 0; i < length; i++)
		out[i] = private_byte(serial, i);
}

uint64_t
private_serial(const uint8_t *bytes)
{
	uint64_t serial = 0;

	for (uint32_t i = 0; i < SERIAL_BYTES; i++)
		serial |= (uint64_t)bytes[i] << (8 * i);
	return serial;
}

/* `count` bytes were delivered, where `length` were given and the wire has room for `whole`. */
void
private_check(struct cm_host *host, uint64_t serial, uint32_t length, const uint8_t *bytes,
	      uint32_t count, uint32_t whole)
{
	struct world *world = &host->fabric->world;

	sim_must(world, count == whole, "C5", "%u bytes of private data are delivered, %u travel",
		 count, whole);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t want = i < length ? private_byte(serial, i) : 0;

		if (bytes[i] != want)
			sim_fail(world, SIM_WRONG, "C5", WRONG_CORRUPT,
				 "byte %u of %u of private data is %02x, not %02x", i, length,
				 bytes[i], want);
	}
}

/* ---- ids ---- */

/* A new id: not one that is known, nor one of those before. */
void
ledger_id(struct cm_host *host, struct plx_cm_id id)
{
	struct world *world = &host->fabric->world;
	uint64_t first = host->ids > ID_HISTORY ? host->ids - ID_HISTORY : 0;

	sim_must(world, id.v != 0, "C2", "an id is 0");
	sim_must(world, connector_of(host, id) == NULL, "C2", "id %08x is in use twice", id.v);
	for (uint64_t i = first; i < host->ids; i++)
		sim_must(world, host->last_id[i % ID_HISTORY] != id.v, "C2",
			 "id %08x is reused after %" PRIu64 " others", id.v, host->ids - i);
	host->last_id[host->ids++ % ID_HISTORY] = id.v;
}

/* ---- transmissions ---- */

static void
tally_grow(struct cm_host *host)
{
	uint32_t room = host->tally_room ? host->tally_room * 2 : 256;
	struct tally *grown = calloc(room, sizeof(*grown));

	PLX_ASSERT(grown != NULL);
	for (uint32_t i = 0; i < host->tally_room; i++) {
		uint32_t at = host->tally[i].comm_id % room;

		if (host->tally[i].comm_id == 0)
			continue;
		while (grown[at].comm_id != 0)
			at = (at + 1) % room;
		grown[at] = host->tally[i];
	}
	free(host->tally);
	host->tally = grown;
	host->tally_room = room;
}

static struct tally *
tally_of(struct cm_host *host, uint32_t comm_id)
{
	uint32_t at;

	if (host->tally_count * 2 >= host->tally_room)
		tally_grow(host);
	at = comm_id % host->tally_room;
	while (host->tally[at].comm_id != 0 && host->tally[at].comm_id != comm_id)
		at = (at + 1) % host->tally_room;
	if (host->tally[at].comm_id == 0) {
		host->tally[at].comm_id = comm_id;
		host->tally_count++;
	}
	return &host->tally[at];
}

/* How often one connection may send a message of its own accord. */
static uint32_t
tries_of(uint16_t kind)
{
	switch (kind) {
	case PLX_CM_REQ:
	case PLX_CM_SIDR_REQ:
		return PLX_CM_TRIES;
	case PLX_CM_DREQ: /* and one when an RTU shows that the first came too early */
		return PLX_CM_DISCONNECT_TRIES + 1;
	default:
		return UINT32_MAX;
	}
}

static uint32_t
own_id(const struct plx_cm_msg *msg)
{
	/* A SIDR REQ has its id where the others have theirs. */
	return msg->kind == PLX_CM_SIDR_REP ? 0 : msg->req.local_comm_id;
}

/* Replies to all hosts against what was received from them. */
static void
check_answers(struct cm_host *host)
{
	struct world *world = &host->fabric->world;
	const uint64_t *sent = host->sent, *received = host->received;

#define SENT(kind)  sent[PLX_CM_##kind - PLX_CM_REQ]
#define HEARD(kind) received[PLX_CM_##kind - PLX_CM_REQ]
	sim_must(world, SENT(REP) <= host->accepts * PLX_CM_TRIES + HEARD(REQ), "C6",
		 "%" PRIu64 " REPs for %" PRIu64 " accepts and %" PRIu64 " REQs", SENT(REP),
		 host->accepts, HEARD(REQ));
	sim_must(world, SENT(RTU) <= HEARD(REP), "C6", "%" PRIu64 " RTUs for %" PRIu64 " REPs",
		 SENT(RTU), HEARD(REP));
	sim_must(world, SENT(MRA) <= HEARD(REQ) + HEARD(REP), "C6",
		 "%" PRIu64 " MRAs for %" PRIu64 " REQs and %" PRIu64 " REPs", SENT(MRA),
		 HEARD(REQ), HEARD(REP));
	sim_must(world, SENT(DREP) <= HEARD(DREQ), "C6", "%" PRIu64 " DREPs for %" PRIu64 " DREQs",
		 SENT(DREP), HEARD(DREQ));
	sim_must(world, SENT(SIDR_REP) <= HEARD(SIDR_REQ), "C6",
		 "%" PRIu64 " SIDR REPs for %" PRIu64 " SIDR REQs", SENT(SIDR_REP),
		 HEARD(SIDR_REQ));
	sim_must(world, SENT(REJ) <= host->received_all + SENT(REQ) + host->rejects, "C6",
		 "%" PRIu64 " REJs for %" PRIu64 " datagrams", SENT(REJ), host->received_all);
	sim_must(world, host->questions <= HEARD(REQ) + HEARD(REP), "C6",
		 "%" PRIu64 " questions for %" PRIu64 " REQs and %" PRIu64 " REPs", host->questions,
		 HEARD(REQ), HEARD(REP));
#undef SENT
#undef HEARD
}

/* A datagram leaves: it is whole, comes from us, and is not one too many. */
void
ledger_sent(struct cm_host *host, const struct plx_cm_route *route, const uint8_t *bytes)
{
	struct world *world = &host->fabric->world;
	struct plx_cm_msg msg = {0};
	enum plx_mad_verdict verdict = plx_mad_decode(bytes, PLX_MAD_BYTES, &msg);
	bool v6 = route->local.version == 6;
	bool requests;
	uint32_t id;

	sim_must(world, verdict == PLX_MAD_OK, "C7", "what is sent does not decode: %s",
		 plx_mad_verdict_text(verdict));
	sim_must(world, memcmp(&route->local, &host->ip[v6], sizeof(route->local)) == 0, "C7",
		 "a datagram leaves with an address that is not ours");
	sim_must(world, route->remote.version == route->local.version, "C7",
		 "a datagram from one IP version to the other");
	trace_as(world, TRACE_CM_SENDS, host->index, msg.kind, msg.req.local_comm_id,
		 msg.kind == PLX_CM_REQ ? 0 : msg.rtu.remote_comm_id,
		 msg.kind == PLX_CM_REJ ? msg.rej.reason : msg.transaction_id);
	id = own_id(&msg);
	host->sent[msg.kind - PLX_CM_REQ]++;
	/* Queries whether the peer has the connection: each for a REQ or REP that suggests it has
	 * not. */
	requests = msg.kind == PLX_CM_DREQ && msg.dreq.remote_qpn == 0;
	host->questions += requests;
	check_answers(host);
	if (id == 0 || requests)
		return;
	sim_must(world, ++tally_of(host, id)->sent[msg.kind - PLX_CM_REQ] <= tries_of(msg.kind),
		 "C6", "one message too many of connection %08x: attribute %04x", id, msg.kind);
}

/* A datagram that was lost, or that no host receives. `to` may be NULL. */
void
ledger_lost(struct cm_host *from, struct cm_host *to, const uint8_t *bytes)
{
	struct plx_cm_msg msg = {0};
	uint32_t theirs;

	if (plx_mad_decode(bytes, PLX_MAD_BYTES, &msg) != PLX_MAD_OK)
		return;
	if (own_id(&msg) != 0)
		tally_of(from, own_id(&msg))->lost++;
	theirs = msg.kind == PLX_CM_SIDR_REP   ? msg.sidr_rep.request_id
		 : msg.kind == PLX_CM_REQ      ? 0
		 : msg.kind == PLX_CM_SIDR_REQ ? 0
					       : msg.rtu.remote_comm_id;
	if (theirs != 0 && to != NULL)
		tally_of(to, theirs)->lost++;
}

uint32_t
ledger_losses(struct cm_host *host, struct plx_cm_id id)
{
	return tally_of(host, id.v)->lost;
}

void
ledger_received(struct cm_host *host, const uint8_t *bytes)
{
	struct plx_cm_msg msg = {0};

	host->received_all++;
	if (plx_mad_decode(bytes, PLX_MAD_BYTES, &msg) != PLX_MAD_OK)
		return;
	host->received[msg.kind - PLX_CM_REQ]++;
	trace_as(&host->fabric->world, TRACE_CM_RECV, host->index, msg.kind, msg.req.local_comm_id,
		 msg.kind == PLX_CM_REQ ? 0 : msg.rtu.remote_comm_id,
		 msg.kind == PLX_CM_REJ ? msg.rej.reason : msg.transaction_id);
}
