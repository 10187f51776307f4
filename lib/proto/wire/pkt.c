/* SPDX-License-Identifier: BSD-3-Clause
 *
 * BTH and extended headers <-> struct plx_pkt. Only this file derives a payload length from a
 * datagram's length. It never subtracts before it has compared, and never checks the ICRC.
 * Start with plx_pkt_decode(); the opcode table determines which headers follow the BTH.
 */
#include "plx_bytes.h"
#include "plx_wire.h"

#define LOW_24 UINT32_C(0x00ffffff)

static void
bth_decode(const uint8_t *at, struct plx_pkt *out)
{
	uint32_t qpn_word = plx_be32_load(at + PLX_BTH_QPN_AT);
	uint32_t psn_word = plx_be32_load(at + PLX_BTH_PSN_AT);

	out->opcode = at[PLX_BTH_OPCODE_AT];
	out->solicited = at[PLX_BTH_FLAGS_AT] & PLX_BTH_SOLICITED;
	out->migreq = at[PLX_BTH_FLAGS_AT] & PLX_BTH_MIGREQ;
	out->pad = at[PLX_BTH_FLAGS_AT] >> PLX_BTH_PAD_SHIFT & PLX_BTH_PAD_MASK;
	out->version = at[PLX_BTH_FLAGS_AT] & PLX_BTH_VERSION_MASK;
	out->pkey = plx_be16_load(at + PLX_BTH_PKEY_AT);
	out->fecn = qpn_word & PLX_BTH_FECN;
	out->becn = qpn_word & PLX_BTH_BECN;
	out->resv6 = qpn_word >> 24 & 0x3f;
	out->dest_qpn = qpn_word & LOW_24;
	out->ack_request = psn_word & PLX_BTH_ACK_REQUEST;
	out->resv7 = psn_word >> 24 & 0x7f;
	out->psn = plx_psn(psn_word);
}

static void
bth_encode(const struct plx_pkt *pkt, uint8_t *at)
{
	at[PLX_BTH_OPCODE_AT] = pkt->opcode;
	at[PLX_BTH_FLAGS_AT] = (uint8_t)((pkt->solicited ? PLX_BTH_SOLICITED : 0) |
					 (pkt->migreq ? PLX_BTH_MIGREQ : 0) |
					 (pkt->pad & PLX_BTH_PAD_MASK) << PLX_BTH_PAD_SHIFT |
					 (pkt->version & PLX_BTH_VERSION_MASK));
	plx_be16_store(at + PLX_BTH_PKEY_AT, pkt->pkey);
	plx_be32_store(at + PLX_BTH_QPN_AT,
		       (pkt->fecn ? PLX_BTH_FECN : 0) | (pkt->becn ? PLX_BTH_BECN : 0) |
			       (uint32_t)(pkt->resv6 & 0x3f) << 24 | (pkt->dest_qpn & LOW_24));
	plx_be32_store(at + PLX_BTH_PSN_AT, (pkt->ack_request ? PLX_BTH_ACK_REQUEST : 0) |
						    (uint32_t)(pkt->resv7 & 0x7f) << 24 |
						    (pkt->psn.v & PLX_PSN_MASK));
}

/* The extended headers of `op` start at `at`. The caller has compared header_bytes with len. */
static void
extended_decode(const struct plx_opcode *op, const uint8_t *at, struct plx_pkt *out)
{
	if (plx_opcode_has(op, PLX_OPF_DETH)) {
		uint32_t src_word = plx_be32_load(at + 4);

		out->deth = (struct plx_deth){
			.qkey = plx_be32_load(at),
			.src_qpn = src_word & LOW_24,
			.resv = (uint8_t)(src_word >> 24),
		};
		at += 8;
	}
	if (plx_opcode_has(op, PLX_OPF_RETH)) {
		out->reth = (struct plx_reth){
			.va = plx_be64_load(at),
			.rkey = plx_be32_load(at + PLX_RETH_KEY_AT),
			.length = plx_be32_load(at + PLX_RETH_LENGTH_AT),
		};
		at += PLX_RETH_BYTES;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		out->atomic = (struct plx_atomic_eth){
			.va = plx_be64_load(at),
			.rkey = plx_be32_load(at + 8),
			.swap_add = plx_be64_load(at + 12),
			.compare = plx_be64_load(at + 20),
		};
		at += 28;
	}
	if (plx_opcode_has(op, PLX_OPF_AETH)) {
		out->aeth.syndrome = at[0];
		out->aeth.msn.v = plx_be32_load(at) & LOW_24;
		at += PLX_AETH_BYTES;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH))
		out->atomic_original = plx_be64_load(at);
	if (plx_opcode_has(op, PLX_OPF_IMM))
		out->imm = plx_be32_load(at);
	if (plx_opcode_has(op, PLX_OPF_IETH))
		out->inv_key = plx_be32_load(at);
}

static void
extended_encode(const struct plx_opcode *op, const struct plx_pkt *pkt, uint8_t *at)
{
	if (plx_opcode_has(op, PLX_OPF_DETH)) {
		plx_be32_store(at, pkt->deth.qkey);
		plx_be32_store(at + 4,
			       (uint32_t)pkt->deth.resv << 24 | (pkt->deth.src_qpn & LOW_24));
		at += 8;
	}
	if (plx_opcode_has(op, PLX_OPF_RETH)) {
		plx_be64_store(at, pkt->reth.va);
		plx_be32_store(at + PLX_RETH_KEY_AT, pkt->reth.rkey);
		plx_be32_store(at + PLX_RETH_LENGTH_AT, pkt->reth.length);
		at += PLX_RETH_BYTES;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		plx_be64_store(at, pkt->atomic.va);
		plx_be32_store(at + 8, pkt->atomic.rkey);
		plx_be64_store(at + 12, pkt->atomic.swap_add);
		plx_be64_store(at + 20, pkt->atomic.compare);
		at += 28;
	}
	if (plx_opcode_has(op, PLX_OPF_AETH)) {
		plx_be32_store(at, (uint32_t)pkt->aeth.syndrome << 24 | (pkt->aeth.msn.v & LOW_24));
		at += PLX_AETH_BYTES;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH))
		plx_be64_store(at, pkt->atomic_original);
	if (plx_opcode_has(op, PLX_OPF_IMM))
		plx_be32_store(at, pkt->imm);
	if (plx_opcode_has(op, PLX_OPF_IETH))
		plx_be32_store(at, pkt->inv_key);
}

PLX_HOT enum plx_wire_verdict
plx_pkt_decode(const uint8_t *bytes, size_t len, struct plx_pkt *out)
{
	const struct plx_opcode *op;
	size_t overhead;

	if (plx_unlikely(len < PLX_BTH_BYTES + PLX_ICRC_BYTES))
		return PLX_WIRE_BTH_SHORT;
	bth_decode(bytes, out);
	if (plx_unlikely(out->version != 0))
		return PLX_WIRE_BTH_VERSION;
	op = &plx_opcodes[out->opcode];
	if (plx_unlikely(op->service == PLX_SERVICE_UNKNOWN) && !PLX_MUTANT(UNKNOWN_OPCODE))
		return PLX_WIRE_OPCODE;
	overhead = (size_t)op->header_bytes + out->pad + PLX_ICRC_BYTES;
	if (plx_unlikely(len < overhead))
		return PLX_WIRE_EXT_SHORT;
	extended_decode(op, bytes + PLX_BTH_BYTES, out);
	out->payload = bytes + op->header_bytes;
	out->payload_bytes = (uint32_t)(len - overhead);
	if (PLX_MUTANT(PAD_NOT_SUBTRACTED))
		out->payload_bytes += out->pad;
	out->ce = false;
	return PLX_WIRE_OK;
}

PLX_HOT size_t
plx_pkt_encode(const struct plx_pkt *pkt, uint8_t *out)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];

	bth_encode(pkt, out);
	extended_encode(op, pkt, out + PLX_BTH_BYTES);
	return op->header_bytes;
}
