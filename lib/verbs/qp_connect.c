/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From two addresses to a connection: checking what both ends of a queue pair agree on, resolving
 * the neighbour, and the steps from RESET to RTS.
 * It never guesses: a value out of range is refused with a sentence that names it and its limit.
 * Start with plx_qp_connect(), then qp_agree().
 */
#include "objects.h"

enum {
	RETRY_DEFAULT = 7,
	RNR_RETRY_DEFAULT = 6,
	RNR_TIMER_DEFAULT =
		29, /* 245.76 ms; with six retries, a missing receive is reported after 1.5 s */
	ACK_TIMEOUT_DEFAULT = 14, /* 67 ms */
	WINDOW_PACKETS_DEFAULT = 128,
	ACK_INTERVAL_DEFAULT = 16,
	DSCP_OF_ADAPTER = 0xff,
	DSCP_MAX = 63,
	PKEY_DEFAULT = 0xffff,
};

#define NEIGHBOUR_PAUSE_NS (1 * PLX_MSEC)
#define PEER_ACCESS \
	(uint32_t)(PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

void
plx_qp_attr_init(struct plx_qp_attr *attr)
{
	*attr = (struct plx_qp_attr){
		.access = PEER_ACCESS,
		.retry = RETRY_DEFAULT,
		.rnr_retry = RNR_RETRY_DEFAULT,
		.rnr_timer = RNR_TIMER_DEFAULT,
		.ack_timeout = ACK_TIMEOUT_DEFAULT,
		.dscp = DSCP_OF_ADAPTER,
	};
}

enum plx_status
plx_qp_address(const struct plx_qp *qp, const struct plx_ip *remote, struct plx_qp_address *out)
{
	const struct plx_adapter *adapter = adapter_of(qp);
	struct plx_ip ip = adapter->options.address[0].ip;

	if (remote != NULL && remote->version != 4 && remote->version != 6)
		return PLX_INVALID;
	if (remote != NULL && !plx_net_source(adapter->net[0], remote, &ip))
		return PLX_UNREACHABLE;
	*out = (struct plx_qp_address){
		.qpn = plx_engine_qp_number(qp),
		.psn = plx_engine_qp_first_psn(qp).v,
		.ip = ip,
		.path_mtu = adapter->path_mtu,
		.responder_resources = responder_resources_of(qp),
	};
	return PLX_OK;
}

/* ---- what both ends agree on ---- */

static enum plx_status
check_peer(const struct plx_qp_address *peer, struct plx_why *why)
{
	const struct range ranges[] = {
		{"the peer's queue pair number", peer->qpn, 2, PLX_PSN_MASK},
		{"the peer's first PSN", peer->psn, 0, PLX_PSN_MASK},
	};

	if (!is_mtu(peer->path_mtu)) {
		plx_why_set(why,
			    "the peer's path MTU is %u; it can be 256, 512, 1024, 2048 or 4096",
			    peer->path_mtu);
		return PLX_INVALID;
	}
	if (peer->ip.version != 4 && peer->ip.version != 6) {
		plx_why_set(why, "the peer's address has version %u; give an IPv4 or IPv6 address",
			    peer->ip.version);
		return PLX_INVALID;
	}
	return check_ranges(ranges, PLX_COUNT_OF(ranges), why);
}

enum plx_status
qp_attr_check(const struct plx_qp_attr *attr, struct plx_why *why)
{
	const struct range ranges[] = {
		{"retry", attr->retry, 0, PLX_RETRY_MAX},
		{"rnr_retry", attr->rnr_retry, 0, PLX_RNR_RETRY_FOREVER},
		{"rnr_timer", attr->rnr_timer, 0, 31},
		{"ack_timeout", attr->ack_timeout, 1, 31},
		{"window_packets", attr->window_packets, 0, PLX_WINDOW_PACKETS_MAX},
		{"ack_interval", attr->ack_interval, 0, PLX_WINDOW_PACKETS_MAX},
	};

	if (attr->access & ~PEER_ACCESS) {
		plx_why_set(why,
			    "access 0x%x has bits that are not rights of a peer; give some of "
			    "PLX_ACCESS_REMOTE_READ, _WRITE and _ATOMIC",
			    attr->access);
		return PLX_INVALID;
	}
	if (attr->dscp > DSCP_MAX && attr->dscp != DSCP_OF_ADAPTER) {
		plx_why_set(why, "dscp is %u; give 0 to %d, or 255 for the adapter's", attr->dscp,
			    DSCP_MAX);
		return PLX_INVALID;
	}
	return check_ranges(ranges, PLX_COUNT_OF(ranges), why);
}

static enum plx_status
agree_mtu(const struct plx_qp *qp, const struct plx_qp_address *peer,
	  const struct plx_qp_attr *attr, uint32_t *mtu, struct plx_why *why)
{
	uint32_t ours = adapter_of(qp)->path_mtu;
	uint32_t least = peer->path_mtu < ours ? peer->path_mtu : ours;

	*mtu = attr->path_mtu ? attr->path_mtu : least;
	if (!is_mtu(*mtu)) {
		plx_why_set(why, "path MTU %u is none; give 256, 512, 1024, 2048 or 4096, or 0",
			    *mtu);
		return PLX_INVALID;
	}
	if (*mtu > least) {
		plx_why_set(why,
			    "path MTU %u is more than %u, which is what %s; give %u, or 0 to "
			    "let both ends agree",
			    *mtu, least,
			    least == ours ? "our port carries" : "the peer's port carries", least);
		return PLX_TOO_LONG;
	}
	return PLX_OK;
}

static uint8_t
agree_initiator_depth(const struct plx_qp_address *peer, const struct plx_qp_attr *attr)
{
	return attr->initiator_depth && attr->initiator_depth < peer->responder_resources
		       ? attr->initiator_depth
		       : peer->responder_resources;
}

void
qp_attr_to_rc(const struct plx_adapter *adapter, const struct plx_qp_attr *attr,
	      struct plx_rc_attr *rc, struct plx_engine_path *path)
{
	*rc = (struct plx_rc_attr){
		.pkey = PKEY_DEFAULT,
		.enabled = {(uint8_t)attr->access},
		.rnr_timer = attr->rnr_timer,
		.retry_max = attr->retry,
		.rnr_retry_max = attr->rnr_retry,
		.ack_timeout_ns = plx_ack_timeout_ns(attr->ack_timeout),
		.window_packets =
			attr->window_packets ? attr->window_packets : WINDOW_PACKETS_DEFAULT,
		.ack_interval = attr->ack_interval ? attr->ack_interval : ACK_INTERVAL_DEFAULT,
		.read_chunk_packets = PLX_READ_CHUNK_PACKETS_MAX,
	};
	path->dscp = attr->dscp == DSCP_OF_ADAPTER ? adapter->options.dscp : attr->dscp;
	path->ecn = adapter->options.ecn;
}

enum plx_status
qp_agree(const struct plx_qp *qp, const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
	 struct plx_rc_attr *rc, struct plx_engine_path *path, struct plx_why *why)
{
	enum plx_status status;
	uint32_t mtu;

	if (peer == NULL || attr == NULL) {
		plx_why_set(why,
			    "no %s given; a connection needs the peer's address and attributes",
			    peer == NULL ? "peer" : "attributes");
		return PLX_INVALID;
	}
	status = check_peer(peer, why);
	if (status == PLX_OK)
		status = qp_attr_check(attr, why);
	if (status == PLX_OK)
		status = agree_mtu(qp, peer, attr, &mtu, why);
	if (status != PLX_OK)
		return status;
	*path = (struct plx_engine_path){.remote = peer->ip};
	qp_attr_to_rc(adapter_of(qp), attr, rc, path);
	rc->mtu = mtu;
	rc->dest_qpn = peer->qpn;
	rc->rq_psn = plx_psn(peer->psn);
	rc->sq_psn = plx_engine_qp_first_psn(qp);
	rc->initiator_depth = agree_initiator_depth(peer, attr);
	return PLX_OK;
}

/* ---- steps ---- */

/* Write the sentence for a status from the engine. */
static enum plx_status
explain(const struct plx_qp *qp, enum plx_status status, enum plx_qp_state to,
	const struct plx_qp_address *peer, struct plx_why *why)
{
	struct plx_address_text ip = {"the peer"};

	if (peer != NULL)
		ip = plx_address_text(&peer->ip);
	if (status == PLX_STATE)
		plx_why_set(why, "queue pair 0x%06x is in %s, and there is no way from there to %s",
			    plx_engine_qp_number(qp), plx_qp_state_name(plx_engine_qp_state(qp)),
			    plx_qp_state_name(to));
	else if (status == PLX_AGAIN)
		plx_why_set(why, "%s was asked for its Ethernet address; call again", ip.s);
	else if (status == PLX_UNREACHABLE)
		plx_why_set(why,
			    "%s does not answer, or no network or route of adapter %s leads there; "
			    "check both addresses and prefixes, and that the peer runs",
			    ip.s, adapter_of(qp)->info.name);
	else if (status == PLX_TIMEOUT)
		plx_why_set(why,
			    "the engine of adapter %s has not answered for %d s; in worker mode "
			    "see whether its core is free",
			    adapter_of(qp)->info.name, (int)(PLX_COMMAND_TIMEOUT_NS / PLX_SEC));
	else if (status != PLX_OK)
		plx_why_set(why, "queue pair 0x%06x cannot go to %s: %s", plx_engine_qp_number(qp),
			    plx_qp_state_name(to), plx_status_text(status));
	return status;
}

/* Datagram queue pairs have no peer and no attributes: the step changes only the state. */
static enum plx_status
modify_ud(struct plx_qp *qp, enum plx_qp_state to, struct plx_why *why)
{
	const struct plx_rc_attr rc = {
		.mtu = adapter_of(qp)->path_mtu,
		.pkey = PKEY_DEFAULT,
		.sq_psn = plx_engine_qp_first_psn(qp),
	};

	return explain(qp, plx_engine_qp_modify(qp, to, &rc, NULL), to, NULL, why);
}

/* Move from INIT to RTR, waiting for the neighbour. */
static enum plx_status
resolve_to_rtr(struct plx_qp *qp, const struct plx_rc_attr *rc, const struct plx_engine_path *path,
	       uint32_t timeout_ms, struct plx_why *why)
{
	uint64_t deadline = plx_steady_ns() + timeout_ms * PLX_MSEC;

	for (;;) {
		enum plx_status status = plx_engine_qp_modify(qp, PLX_QP_RTR, rc, path);

		if (status != PLX_AGAIN)
			return status;
		if (timeout_ms == 0)
			return PLX_AGAIN;
		if (plx_steady_ns() >= deadline) {
			plx_why_set(why,
				    "%s has not answered for its Ethernet address within %u ms; "
				    "check that the peer runs, or give it longer",
				    plx_address_text(&path->remote).s, timeout_ms);
			return PLX_TIMEOUT;
		}
		plx_adapter_pause(adapter_of(qp), NEIGHBOUR_PAUSE_NS);
	}
}

enum plx_status
plx_qp_connect(struct plx_qp *qp, const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
	       uint32_t timeout_ms, struct plx_why *why)
{
	bool from_reset = plx_engine_qp_state(qp) == PLX_QP_RESET;
	struct plx_why late = {""};
	struct plx_engine_path path;
	struct plx_rc_attr rc;
	enum plx_status status;

	if (is_ud(qp)) {
		plx_why_set(why,
			    "queue pair 0x%06x is for datagrams, which have no peer; take it to "
			    "RTS by plx_qp_modify()",
			    plx_engine_qp_number(qp));
		return PLX_INVALID;
	}
	status = qp_agree(qp, peer, attr, &rc, &path, why);
	if (status != PLX_OK)
		return status;
	if (from_reset)
		status = plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL);
	if (status != PLX_OK)
		return explain(qp, status, PLX_QP_INIT, peer, why);
	status = resolve_to_rtr(qp, &rc, &path, timeout_ms, &late);
	if (status == PLX_OK) {
		status = plx_engine_qp_modify(qp, PLX_QP_RTS, &rc, &path);
		return explain(qp, status, PLX_QP_RTS, peer, why);
	}
	(void)explain(qp, status, PLX_QP_RTR, peer, why);
	if (late.text[0] != '\0')
		plx_why_set(why, "%s", late.text);
	/* A refused call changes nothing. If it began in INIT, its receives are still posted. */
	if (from_reset)
		(void)!plx_engine_qp_modify(qp, PLX_QP_RESET, NULL, NULL);
	return status;
}

enum plx_status
plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to, const struct plx_qp_address *peer,
	      const struct plx_qp_attr *attr, struct plx_why *why)
{
	bool needs_terms =
		to == PLX_QP_RTR || (to == PLX_QP_RTS && plx_engine_qp_state(qp) != PLX_QP_SQD);
	struct plx_engine_path path;
	struct plx_rc_attr rc;
	enum plx_status status;

	if ((unsigned)to >= PLX_QP_STATE_COUNT || to == PLX_QP_NONE) {
		plx_why_set(why, "%u is not a state of queue pairs; see enum plx_qp_state", to);
		return PLX_INVALID;
	}
	if (is_ud(qp))
		return modify_ud(qp, to, why);
	if (!needs_terms)
		return explain(qp, plx_engine_qp_modify(qp, to, NULL, NULL), to, NULL, why);
	status = qp_agree(qp, peer, attr, &rc, &path, why);
	if (status != PLX_OK)
		return status;
	return explain(qp, plx_engine_qp_modify(qp, to, &rc, &path), to, peer, why);
}
