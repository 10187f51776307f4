/* SPDX-License-Identifier: BSD-3-Clause
 *
 * BTH and extended headers <-> struct plx_pkt. The only place that turns a datagram's length into
 * a payload length; it never subtracts before it has compared, and never looks at the ICRC.
 * Start with plx_pkt_decode(); which headers follow the BTH is the opcode table's knowledge.
 */
#include "plx_wire.h"
#include "bytes.h"

enum {
	BTH_SOLICITED = 0x80,
	BTH_MIGREQ = 0x40,
	BTH_PAD_SHIFT = 4,
	BTH_PAD_MASK = 3,
	BTH_VERSION_MASK = 0x0f,
};

#define BTH_FECN        UINT32_C(0x80000000) /* of bytes 4 to 7 */
#define BTH_BECN        UINT32_C(0x40000000)
#define BTH_ACK_REQUEST UINT32_C(0x80000000) /* of bytes 8 to 11 */
#define LOW_24          UINT32_C(0x00ffffff)

static void
bth_decode(const uint8_t *at, struct plx_pkt *out)
{
	uint32_t qpn_word = be32_load(at + 4);
	uint32_t psn_word = be32_load(at + 8);

	out->opcode = at[0];
	out->solicited = at[1] & BTH_SOLICITED;
	out->migreq = at[1] & BTH_MIGREQ;
	out->pad = at[1] >> BTH_PAD_SHIFT & BTH_PAD_MASK;
	out->version = at[1] & BTH_VERSION_MASK;
	out->pkey = be16_load(at + 2);
	out->fecn = qpn_word & BTH_FECN;
	out->becn = qpn_word & BTH_BECN;
	out->resv6 = qpn_word >> 24 & 0x3f;
	out->dest_qpn = qpn_word & LOW_24;
	out->ack_request = psn_word & BTH_ACK_REQUEST;
	out->resv7 = psn_word >> 24 & 0x7f;
	out->psn = plx_psn(psn_word);
}

static void
bth_encode(const struct plx_pkt *pkt, uint8_t *at)
{
	at[0] = pkt->opcode;
	at[1] = (uint8_t)((pkt->solicited ? BTH_SOLICITED : 0) | (pkt->migreq ? BTH_MIGREQ : 0) |
			  (pkt->pad & BTH_PAD_MASK) << BTH_PAD_SHIFT |
			  (pkt->version & BTH_VERSION_MASK));
	be16_store(at + 2, pkt->pkey);
	be32_store(at + 4, (pkt->fecn ? BTH_FECN : 0) | (pkt->becn ? BTH_BECN : 0) |
				   (uint32_t)(pkt->resv6 & 0x3f) << 24 | (pkt->dest_qpn & LOW_24));
	be32_store(at + 8, (pkt->ack_request ? BTH_ACK_REQUEST : 0) |
				   (uint32_t)(pkt->resv7 & 0x7f) << 24 |
				   (pkt->psn.v & PLX_PSN_MASK));
}

/* The extended headers of `op` lie from `at` on: the caller has compared header_bytes with len. */
static void
extended_decode(const struct plx_opcode *op, const uint8_t *at, struct plx_pkt *out)
{
	if (plx_opcode_has(op, PLX_OPF_DETH)) {
		uint32_t src_word = be32_load(at + 4);

		out->deth = (struct plx_deth){
			.qkey = be32_load(at),
			.src_qpn = src_word & LOW_24,
			.resv = (uint8_t)(src_word >> 24),
		};
		at += 8;
	}
	if (plx_opcode_has(op, PLX_OPF_RETH)) {
		out->reth = (struct plx_reth){
			.va = be64_load(at),
			.rkey = be32_load(at + 8),
			.length = be32_load(at + 12),
		};
		at += 16;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		out->atomic = (struct plx_atomic_eth){
			.va = be64_load(at),
			.rkey = be32_load(at + 8),
			.swap_add = be64_load(at + 12),
			.compare = be64_load(at + 20),
		};
		at += 28;
	}
	if (plx_opcode_has(op, PLX_OPF_AETH)) {
		out->aeth.syndrome = at[0];
		out->aeth.msn.v = be32_load(at) & LOW_24;
		at += 4;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH))
		out->atomic_original = be64_load(at);
	if (plx_opcode_has(op, PLX_OPF_IMM))
		out->imm = be32_load(at);
	if (plx_opcode_has(op, PLX_OPF_IETH))
		out->inv_key = be32_load(at);
}

static void
extended_encode(const struct plx_opcode *op, const struct plx_pkt *pkt, uint8_t *at)
{
	if (plx_opcode_has(op, PLX_OPF_DETH)) {
		be32_store(at, pkt->deth.qkey);
		be32_store(at + 4, (uint32_t)pkt->deth.resv << 24 | (pkt->deth.src_qpn & LOW_24));
		at += 8;
	}
	if (plx_opcode_has(op, PLX_OPF_RETH)) {
		be64_store(at, pkt->reth.va);
		be32_store(at + 8, pkt->reth.rkey);
		be32_store(at + 12, pkt->reth.length);
		at += 16;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		be64_store(at, pkt->atomic.va);
		be32_store(at + 8, pkt->atomic.rkey);
		be64_store(at + 12, pkt->atomic.swap_add);
		be64_store(at + 20, pkt->atomic.compare);
		at += 28;
	}
	if (plx_opcode_has(op, PLX_OPF_AETH)) {
		be32_store(at, (uint32_t)pkt->aeth.syndrome << 24 | (pkt->aeth.msn.v & LOW_24));
		at += 4;
	}
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ACK_ETH))
		be64_store(at, pkt->atomic_original);
	if (plx_opcode_has(op, PLX_OPF_IMM))
		be32_store(at, pkt->imm);
	if (plx_opcode_has(op, PLX_OPF_IETH))
		be32_store(at, pkt->inv_key);
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
