/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What both ends of a queue pair agree on: checked, with a sentence that names the value that is
 * out of range and its limit, and converted for the transport. It never guesses.
 * Start with host_agree().
 */
#include "host.h"

enum {
	WINDOW_PACKETS_DEFAULT = 128,
	ACK_INTERVAL_DEFAULT = 16,
	DSCP_OF_ADAPTER = 0xff,
	DSCP_MAX = 63,
	PKEY_DEFAULT = 0xffff,
};

#define PEER_ACCESS \
	(uint32_t)(PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

enum plx_status
host_check_ranges(const struct range *range, size_t n, struct plx_why *why)
{
	for (size_t i = 0; i < n; i++) {
		if (range[i].value >= range[i].first && range[i].value <= range[i].last)
			continue;
		plx_why_set(why, "%s is %u; give %u to %u", range[i].what, range[i].value,
			    range[i].first, range[i].last);
		return PLX_INVALID;
	}
	return PLX_OK;
}

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
	return host_check_ranges(ranges, PLX_COUNT_OF(ranges), why);
}

enum plx_status
host_attr_check(const struct plx_qp_attr *attr, struct plx_why *why)
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
	return host_check_ranges(ranges, PLX_COUNT_OF(ranges), why);
}

static enum plx_status
agree_mtu(const struct host_adapter *adapter, const struct plx_qp_address *peer,
	  const struct plx_qp_attr *attr, uint32_t *mtu, struct plx_why *why)
{
	uint32_t ours = adapter->path_mtu;
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
host_attr_to_rc(const struct host_adapter *adapter, const struct plx_qp_attr *attr,
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
host_agree(const struct host_adapter *adapter, const struct host_queue_pair *qp,
	   const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
	   struct plx_rc_attr *rc, struct plx_engine_path *path, struct plx_why *why)
{
	enum plx_status status;
	uint32_t mtu;

	status = check_peer(peer, why);
	if (status == PLX_OK)
		status = host_attr_check(attr, why);
	if (status == PLX_OK)
		status = agree_mtu(adapter, peer, attr, &mtu, why);
	if (status != PLX_OK)
		return status;
	*path = (struct plx_engine_path){.remote = peer->ip};
	host_attr_to_rc(adapter, attr, rc, path);
	rc->mtu = mtu;
	rc->dest_qpn = peer->qpn;
	rc->selective = peer->selective;
	rc->rq_psn = plx_psn(peer->psn);
	rc->sq_psn = qp->made.first_psn;
	rc->initiator_depth = agree_initiator_depth(peer, attr);
	return PLX_OK;
}
