/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The maps of the nine messages, field by field, transcribed from the specification's tables by way
 * of public implementations. Offsets are never written down: they follow from the widths.
 */
#include "map.h"

#define M(member, width)                                                \
	{                                                               \
#member, offsetof(struct plx_cm_msg, member),           \
			sizeof(((struct plx_cm_msg *)0)->member), width \
	}
#define RESERVED(width)                 \
	{                               \
		"reserved", 0, 0, width \
	}

/* Behind the four constant bytes: status, class specific, transaction, attribute, modifier. */
#define HEADER M(status, 16), RESERVED(16), M(transaction_id, 64), M(kind, 16), RESERVED(16 + 32)

#define WAY(way)                                                                                 \
	M(req.way.local_lid, 16), M(req.way.remote_lid, 16), M(req.way.local_gid, 128),          \
		M(req.way.remote_gid, 128), M(req.way.flow_label, 20), RESERVED(6),              \
		M(req.way.packet_rate, 6), M(req.way.traffic_class, 8), M(req.way.hop_limit, 8), \
		M(req.way.service_level, 4), M(req.way.subnet_local, 1), RESERVED(3),            \
		M(req.way.local_ack_timeout, 5), RESERVED(3)

static const struct strip req[] = {
	HEADER,
	M(req.local_comm_id, 32),
	RESERVED(32),
	M(req.service_id, 64),
	M(req.local_ca_guid, 64),
	RESERVED(32),
	M(req.local_qkey, 32),
	M(req.local_qpn, 24),
	M(req.responder_resources, 8),
	M(req.local_eecn, 24),
	M(req.initiator_depth, 8),
	M(req.remote_eecn, 24),
	M(req.remote_response_timeout, 5),
	M(req.transport_service, 2),
	M(req.flow_control, 1),
	M(req.starting_psn, 24),
	M(req.local_response_timeout, 5),
	M(req.retry_count, 3),
	M(req.pkey, 16),
	M(req.path_mtu, 4),
	M(req.rdc_exists, 1),
	M(req.rnr_retry_count, 3),
	M(req.max_cm_retries, 4),
	M(req.srq, 1),
	M(req.extended_transport, 3),
	WAY(primary),
	WAY(alternate),
	M(req.private_data, 92 * 8),
};

static const struct strip mra[] = {
	HEADER,
	M(mra.local_comm_id, 32),
	M(mra.remote_comm_id, 32),
	M(mra.about, 2),
	RESERVED(6),
	M(mra.service_timeout, 5),
	RESERVED(3),
	M(mra.private_data, 222 * 8),
};

static const struct strip rej[] = {
	HEADER,
	M(rej.local_comm_id, 32),
	M(rej.remote_comm_id, 32),
	M(rej.about, 2),
	RESERVED(6),
	M(rej.info_length, 7),
	RESERVED(1),
	M(rej.reason, 16),
	M(rej.info, 72 * 8),
	M(rej.private_data, 148 * 8),
};

static const struct strip rep[] = {
	HEADER,
	M(rep.local_comm_id, 32),
	M(rep.remote_comm_id, 32),
	M(rep.local_qkey, 32),
	M(rep.local_qpn, 24),
	RESERVED(8),
	M(rep.local_eecn, 24),
	RESERVED(8),
	M(rep.starting_psn, 24),
	RESERVED(8),
	M(rep.responder_resources, 8),
	M(rep.initiator_depth, 8),
	M(rep.target_ack_delay, 5),
	M(rep.failover, 2),
	M(rep.flow_control, 1),
	M(rep.rnr_retry_count, 3),
	M(rep.srq, 1),
	RESERVED(4),
	M(rep.local_ca_guid, 64),
	M(rep.private_data, 196 * 8),
};

static const struct strip rtu[] = {
	HEADER,
	M(rtu.local_comm_id, 32),
	M(rtu.remote_comm_id, 32),
	M(rtu.private_data, 224 * 8),
};

static const struct strip dreq[] = {
	HEADER,
	M(dreq.local_comm_id, 32),
	M(dreq.remote_comm_id, 32),
	M(dreq.remote_qpn, 24),
	RESERVED(8),
	M(dreq.private_data, 220 * 8),
};

static const struct strip drep[] = {
	HEADER,
	M(drep.local_comm_id, 32),
	M(drep.remote_comm_id, 32),
	M(drep.private_data, 224 * 8),
};

static const struct strip sidr_req[] = {
	HEADER,       M(sidr_req.request_id, 32), M(sidr_req.pkey, 16),
	RESERVED(16), M(sidr_req.service_id, 64), M(sidr_req.private_data, 216 * 8),
};

static const struct strip sidr_rep[] = {
	HEADER,
	M(sidr_rep.request_id, 32),
	M(sidr_rep.status, 8),
	M(sidr_rep.info_length, 8),
	RESERVED(16),
	M(sidr_rep.qpn, 24),
	RESERVED(8),
	M(sidr_rep.service_id, 64),
	M(sidr_rep.qkey, 32),
	M(sidr_rep.info, 72 * 8),
	M(sidr_rep.private_data, 136 * 8),
};

const struct map maps[MAPS] = {
	{"REQ", 0x10, req, PLX_COUNT_OF(req)},
	{"MRA", 0x11, mra, PLX_COUNT_OF(mra)},
	{"REJ", 0x12, rej, PLX_COUNT_OF(rej)},
	{"REP", 0x13, rep, PLX_COUNT_OF(rep)},
	{"RTU", 0x14, rtu, PLX_COUNT_OF(rtu)},
	{"DREQ", 0x15, dreq, PLX_COUNT_OF(dreq)},
	{"DREP", 0x16, drep, PLX_COUNT_OF(drep)},
	{"SIDR REQ", 0x17, sidr_req, PLX_COUNT_OF(sidr_req)},
	{"SIDR REP", 0x18, sidr_rep, PLX_COUNT_OF(sidr_rep)},
};

const struct strip *
strip_of(const struct map *map, uint32_t bit, uint32_t *within)
{
	uint32_t at = CONSTANT_BITS;

	*within = 0;
	if (bit < CONSTANT_BITS)
		return NULL;
	for (uint32_t i = 0; i < map->count; at += map->strips[i++].width) {
		const struct strip *strip = &map->strips[i];

		if (bit - at >= strip->width)
			continue;
		*within = strip_is_string(strip) ? bit - at : strip->width - 1 - (bit - at);
		return strip->bytes ? strip : NULL;
	}
	return NULL;
}
