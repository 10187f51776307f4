/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The opcode table: service, kind, position in a message and headers of each of the 256 opcodes. It
 * decides nothing. Unknown opcodes have entries too, which are not zero.
 * Spec: IBTA vol 1, 9.2 table 38; CNP: Annex A17. Reserved, RD and XRC opcodes are unknown.
 */
#include "plx_wire.h"

enum {
	RETH = 16,
	ATOMIC_ETH = 28,
	AETH = 4,
	ATOMIC_ACK_ETH = 8,
	IMM = 4,
	IETH = 4,
	DETH = 8,
};

_Static_assert((int)PLX_PKT_HEADER_MAX == (int)PLX_BTH_BYTES + (int)ATOMIC_ETH,
	       "the longest transport header is BTH and AtomicETH");

/* Combinations of flags: position in the message, and whether there is a payload. */
#define FIRST  (PLX_OPF_FIRST | PLX_OPF_PAYLOAD)
#define MIDDLE (PLX_OPF_MIDDLE | PLX_OPF_PAYLOAD)
#define LAST   (PLX_OPF_LAST | PLX_OPF_PAYLOAD)
#define ONLY   (PLX_OPF_ONLY | PLX_OPF_PAYLOAD)
#define BARE   PLX_OPF_ONLY /* a message of one packet without payload */

#define OP(number, text, serv, op_kind, op_flags, extended_bytes) \
	[number] = {                                              \
		.name = text,                                     \
		.service = PLX_SERVICE_##serv,                    \
		.kind = PLX_OP_##op_kind,                         \
		.flags = {op_flags},                              \
		.header_bytes = PLX_BTH_BYTES + (extended_bytes), \
	}

/* A request: sets the request flag, and may add an extended header. */
#define REQ(number, text, serv, kind, place, extended, extended_bytes) \
	OP(number, text, serv, kind, PLX_OPF_REQUEST | (place) | (extended), extended_bytes)

/* Opcodes that RC and UC share: SEND and WRITE, first to only, some with immediate data. */
#define SEND_AND_WRITE(S, prefix)                                                                 \
	REQ(PLX_##S##_SEND_FIRST, prefix ".send.first", S, SEND, FIRST, 0, 0),                    \
		REQ(PLX_##S##_SEND_MIDDLE, prefix ".send.middle", S, SEND, MIDDLE, 0, 0),         \
		REQ(PLX_##S##_SEND_LAST, prefix ".send.last", S, SEND, LAST, 0, 0),               \
		REQ(PLX_##S##_SEND_LAST_IMM, prefix ".send.last_imm", S, SEND, LAST, PLX_OPF_IMM, \
		    IMM),                                                                         \
		REQ(PLX_##S##_SEND_ONLY, prefix ".send.only", S, SEND, ONLY, 0, 0),               \
		REQ(PLX_##S##_SEND_ONLY_IMM, prefix ".send.only_imm", S, SEND, ONLY, PLX_OPF_IMM, \
		    IMM),                                                                         \
		REQ(PLX_##S##_WRITE_FIRST, prefix ".write.first", S, WRITE, FIRST, PLX_OPF_RETH,  \
		    RETH),                                                                        \
		REQ(PLX_##S##_WRITE_MIDDLE, prefix ".write.middle", S, WRITE, MIDDLE, 0, 0),      \
		REQ(PLX_##S##_WRITE_LAST, prefix ".write.last", S, WRITE, LAST, 0, 0),            \
		REQ(PLX_##S##_WRITE_LAST_IMM, prefix ".write.last_imm", S, WRITE, LAST,           \
		    PLX_OPF_IMM, IMM),                                                            \
		REQ(PLX_##S##_WRITE_ONLY, prefix ".write.only", S, WRITE, ONLY, PLX_OPF_RETH,     \
		    RETH),                                                                        \
		REQ(PLX_##S##_WRITE_ONLY_IMM, prefix ".write.only_imm", S, WRITE, ONLY,           \
		    PLX_OPF_RETH | PLX_OPF_IMM, RETH + IMM)

/*
 * Standard C has no ranges in initializers, and a duplicate row would be a warning, so each unknown
 * opcode has its own row.
 */
#define UNKNOWN(number) OP(number, "unknown", UNKNOWN, NONE, 0, 0)
#define UNKNOWN_2(n)    UNKNOWN(n), UNKNOWN((n) + 1)
#define UNKNOWN_4(n)    UNKNOWN_2(n), UNKNOWN_2((n) + 2)
#define UNKNOWN_8(n)    UNKNOWN_4(n), UNKNOWN_4((n) + 4)
#define UNKNOWN_16(n)   UNKNOWN_8(n), UNKNOWN_8((n) + 8)
#define UNKNOWN_32(n)   UNKNOWN_16(n), UNKNOWN_16((n) + 16)

const struct plx_opcode plx_opcodes[256] = {
	/* 0x00 to 0x1f: reliable connection */
	SEND_AND_WRITE(RC, "rc"),
	REQ(PLX_RC_READ_REQUEST, "rc.read.request", RC, READ_REQUEST, BARE, PLX_OPF_RETH, RETH),
	OP(PLX_RC_READ_RESPONSE_FIRST, "rc.read.response_first", RC, READ_RESPONSE,
	   FIRST | PLX_OPF_AETH, AETH),
	OP(PLX_RC_READ_RESPONSE_MIDDLE, "rc.read.response_middle", RC, READ_RESPONSE, MIDDLE, 0),
	OP(PLX_RC_READ_RESPONSE_LAST, "rc.read.response_last", RC, READ_RESPONSE,
	   LAST | PLX_OPF_AETH, AETH),
	OP(PLX_RC_READ_RESPONSE_ONLY, "rc.read.response_only", RC, READ_RESPONSE,
	   ONLY | PLX_OPF_AETH, AETH),
	OP(PLX_RC_ACK, "rc.ack", RC, ACK, BARE | PLX_OPF_AETH, AETH),
	OP(PLX_RC_ATOMIC_ACK, "rc.atomic_ack", RC, ATOMIC_ACK,
	   BARE | PLX_OPF_AETH | PLX_OPF_ATOMIC_ACK_ETH, AETH + ATOMIC_ACK_ETH),
	REQ(PLX_RC_CMP_SWAP, "rc.cmp_swap", RC, CMP_SWAP, BARE, PLX_OPF_ATOMIC_ETH, ATOMIC_ETH),
	REQ(PLX_RC_FETCH_ADD, "rc.fetch_add", RC, FETCH_ADD, BARE, PLX_OPF_ATOMIC_ETH, ATOMIC_ETH),
	UNKNOWN(0x15),
	REQ(PLX_RC_SEND_LAST_INV, "rc.send.last_inv", RC, SEND, LAST, PLX_OPF_IETH, IETH),
	REQ(PLX_RC_SEND_ONLY_INV, "rc.send.only_inv", RC, SEND, ONLY, PLX_OPF_IETH, IETH),
	UNKNOWN_8(0x18),

	/* 0x20 to 0x3f: unreliable connection */
	SEND_AND_WRITE(UC, "uc"),
	UNKNOWN_4(0x2c),
	UNKNOWN_16(0x30),

	/* 0x40 to 0x5f: reliable datagram, which has no implementations */
	UNKNOWN_32(0x40),

	/* 0x60 to 0x7f: unreliable datagram */
	UNKNOWN_4(0x60),
	REQ(PLX_UD_SEND_ONLY, "ud.send.only", UD, SEND, ONLY, PLX_OPF_DETH, DETH),
	REQ(PLX_UD_SEND_ONLY_IMM, "ud.send.only_imm", UD, SEND, ONLY, PLX_OPF_DETH | PLX_OPF_IMM,
	    DETH + IMM),
	UNKNOWN_2(0x66),
	UNKNOWN_8(0x68),
	UNKNOWN_16(0x70),

	/* 0x80 to 0x9f: congestion notification; its sixteen reserved bytes decode as payload */
	UNKNOWN(0x80),
	OP(PLX_CNP, "cnp", CNP, CNP, ONLY, 0),
	UNKNOWN_2(0x82),
	UNKNOWN_4(0x84),
	UNKNOWN_8(0x88),
	UNKNOWN_16(0x90),

	/* 0xa0 to 0xff: extended reliable connection, reserved, and manufacturer-specific */
	UNKNOWN_32(0xa0),
	UNKNOWN_32(0xc0),
	UNKNOWN_32(0xe0),
};
