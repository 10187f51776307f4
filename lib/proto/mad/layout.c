/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the nine messages: one line for each field, in the order sent. As in the
 * specification's tables, bytes are counted from the end of the MAD header and bits from the
 * highest. Reserved fields have no line: they are written as zero and not read.
 * Spec: IBTA vol 1, 13.4.2 (the header), 12.6 (the messages).
 */
#include "layout.h"

#define SIZE_OF(member) sizeof(((struct plx_cm_msg *)0)->member)

/* `width` bits, starting at bit `first` of byte `byte`. */
#define BITS(member, byte, first, width)                                        \
	{                                                                       \
		offsetof(struct plx_cm_msg, member), SIZE_OF(member),           \
			(PLX_MAD_HEADER_BYTES + (byte)) * 8 + (first), (width), \
	}
/* All bits of the member, starting at `byte`. */
#define WHOLE(member, byte) BITS(member, byte, 0, SIZE_OF(member) * 8)

/* `byte` counts from the start of the datagram. */
static const struct mad_field header[] = {
	WHOLE(status, 4 - PLX_MAD_HEADER_BYTES),
	WHOLE(transaction_id, 8 - PLX_MAD_HEADER_BYTES),
	WHOLE(kind, 16 - PLX_MAD_HEADER_BYTES),
};

/* A REQ has two paths with the same fields, one after the other. */
#define LIDS_AND_GIDS(way, byte)                                                 \
	WHOLE(req.way.local_lid, (byte)), WHOLE(req.way.remote_lid, (byte) + 2), \
		WHOLE(req.way.local_gid, (byte) + 4), WHOLE(req.way.remote_gid, (byte) + 20)
#define REST_OF_WAY(way, byte)                                                                  \
	BITS(req.way.flow_label, (byte), 0, 20), BITS(req.way.packet_rate, (byte) + 3, 2, 6),   \
		WHOLE(req.way.traffic_class, (byte) + 4), WHOLE(req.way.hop_limit, (byte) + 5), \
		BITS(req.way.service_level, (byte) + 6, 0, 4),                                  \
		BITS(req.way.subnet_local, (byte) + 6, 4, 1),                                   \
		BITS(req.way.local_ack_timeout, (byte) + 7, 0, 5)

static const struct mad_field req[] = {
	WHOLE(req.local_comm_id, 0),
	WHOLE(req.service_id, 8),
	WHOLE(req.local_ca_guid, 16),
	WHOLE(req.local_qkey, 28),
	BITS(req.local_qpn, 32, 0, 24),
	WHOLE(req.responder_resources, 35),
	BITS(req.local_eecn, 36, 0, 24),
	WHOLE(req.initiator_depth, 39),
	BITS(req.remote_eecn, 40, 0, 24),
	BITS(req.remote_response_timeout, 43, 0, 5),
	BITS(req.transport_service, 43, 5, 2),
	BITS(req.flow_control, 43, 7, 1),
	BITS(req.starting_psn.v, 44, 0, 24),
	BITS(req.local_response_timeout, 47, 0, 5),
	BITS(req.retry_count, 47, 5, 3),
	WHOLE(req.pkey, 48),
	BITS(req.path_mtu, 50, 0, 4),
	BITS(req.rdc_exists, 50, 4, 1),
	BITS(req.rnr_retry_count, 50, 5, 3),
	BITS(req.max_cm_retries, 51, 0, 4),
	BITS(req.srq, 51, 4, 1),
	BITS(req.extended_transport, 51, 5, 3),
	LIDS_AND_GIDS(primary, 52),
	REST_OF_WAY(primary, 88),
	LIDS_AND_GIDS(alternate, 96),
	REST_OF_WAY(alternate, 132),
	WHOLE(req.private_data, 140),
};

static const struct mad_field mra[] = {
	WHOLE(mra.local_comm_id, 0),        WHOLE(mra.remote_comm_id, 4), BITS(mra.about, 8, 0, 2),
	BITS(mra.service_timeout, 9, 0, 5), WHOLE(mra.private_data, 10),
};

static const struct mad_field rej[] = {
	WHOLE(rej.local_comm_id, 0),    WHOLE(rej.remote_comm_id, 4), BITS(rej.about, 8, 0, 2),
	BITS(rej.info_length, 9, 0, 7), WHOLE(rej.reason, 10),        WHOLE(rej.info, 12),
	WHOLE(rej.private_data, 84),
};

static const struct mad_field rep[] = {
	WHOLE(rep.local_comm_id, 0),
	WHOLE(rep.remote_comm_id, 4),
	WHOLE(rep.local_qkey, 8),
	BITS(rep.local_qpn, 12, 0, 24),
	BITS(rep.local_eecn, 16, 0, 24),
	BITS(rep.starting_psn.v, 20, 0, 24),
	WHOLE(rep.responder_resources, 24),
	WHOLE(rep.initiator_depth, 25),
	BITS(rep.target_ack_delay, 26, 0, 5),
	BITS(rep.failover, 26, 5, 2),
	BITS(rep.flow_control, 26, 7, 1),
	BITS(rep.rnr_retry_count, 27, 0, 3),
	BITS(rep.srq, 27, 3, 1),
	WHOLE(rep.local_ca_guid, 28),
	WHOLE(rep.private_data, 36),
};

static const struct mad_field rtu[] = {
	WHOLE(rtu.local_comm_id, 0),
	WHOLE(rtu.remote_comm_id, 4),
	WHOLE(rtu.private_data, 8),
};

static const struct mad_field dreq[] = {
	WHOLE(dreq.local_comm_id, 0),
	WHOLE(dreq.remote_comm_id, 4),
	BITS(dreq.remote_qpn, 8, 0, 24),
	WHOLE(dreq.private_data, 12),
};

static const struct mad_field drep[] = {
	WHOLE(drep.local_comm_id, 0),
	WHOLE(drep.remote_comm_id, 4),
	WHOLE(drep.private_data, 8),
};

static const struct mad_field sidr_req[] = {
	WHOLE(sidr_req.request_id, 0),
	WHOLE(sidr_req.pkey, 4),
	WHOLE(sidr_req.service_id, 8),
	WHOLE(sidr_req.private_data, 16),
};

static const struct mad_field sidr_rep[] = {
	WHOLE(sidr_rep.request_id, 0),  WHOLE(sidr_rep.status, 4),
	WHOLE(sidr_rep.info_length, 5), BITS(sidr_rep.qpn, 8, 0, 24),
	WHOLE(sidr_rep.service_id, 12), WHOLE(sidr_rep.qkey, 20),
	WHOLE(sidr_rep.info, 24),       WHOLE(sidr_rep.private_data, 96),
};

#define LAYOUT(table)                        \
	{                                    \
		(table), PLX_COUNT_OF(table) \
	}

const struct mad_layout mad_header_layout = LAYOUT(header);

const struct mad_layout *
mad_layout(uint16_t kind)
{
	static const struct mad_layout none = {NULL, 0};
	static const struct mad_layout layouts[] = {
		[PLX_CM_REQ - PLX_CM_REQ] = LAYOUT(req),
		[PLX_CM_MRA - PLX_CM_REQ] = LAYOUT(mra),
		[PLX_CM_REJ - PLX_CM_REQ] = LAYOUT(rej),
		[PLX_CM_REP - PLX_CM_REQ] = LAYOUT(rep),
		[PLX_CM_RTU - PLX_CM_REQ] = LAYOUT(rtu),
		[PLX_CM_DREQ - PLX_CM_REQ] = LAYOUT(dreq),
		[PLX_CM_DREP - PLX_CM_REQ] = LAYOUT(drep),
		[PLX_CM_SIDR_REQ - PLX_CM_REQ] = LAYOUT(sidr_req),
		[PLX_CM_SIDR_REP - PLX_CM_REQ] = LAYOUT(sidr_rep),
	};

	if (kind < PLX_CM_REQ || kind > PLX_CM_SIDR_REP)
		return &none;
	return &layouts[kind - PLX_CM_REQ];
}
