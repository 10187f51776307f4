/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes <-> structs: Ethernet, one VLAN tag, IPv4, IPv6, UDP, the InfiniBand transport headers of
 * RoCEv2; also the opcode table and the ICRC. Decoding is total: any bytes give a struct or a
 * verdict. It never keeps a pointer past the call, allocates, or decides what a packet means for a
 * QP.
 * Start with plx_frame_decode(), then plx_pkt_decode().
 */
#ifndef PLX_WIRE_H
#define PLX_WIRE_H

#include "plx_base.h"

/* ---- limits and constants of the wire ---- */

enum {
	PLX_ETH_BYTES = 14,
	PLX_VLAN_BYTES = 4,
	PLX_VLAN_MAX = 4094, /* 0 is a priority only, 4095 is reserved: IEEE 802.1Q, 9.6 */
	PLX_IPV4_BYTES = 20,
	PLX_IPV6_BYTES = 40,
	PLX_UDP_BYTES = 8,
	PLX_BTH_BYTES = 12,
	PLX_ICRC_BYTES = 4,
	/* Ethernet + VLAN + IPv6 + UDP: maximum size of a frame template */
	PLX_FRAME_HEADER_MAX = 66,
	/* BTH + AtomicETH: the longest transport header */
	PLX_PKT_HEADER_MAX = 40,
	PLX_MTU_MIN = 256,
	PLX_MTU_MAX = 4096,
	PLX_ROCE_PORT = 4791, /* IANA: roce */
	PLX_PKEY_DEFAULT = 0xffff,
	PLX_GSI_QPN = 1,            /* the general services interface */
	PLX_CNP_PAYLOAD_BYTES = 16, /* Annex A17: sixteen reserved bytes after the BTH */
	PLX_CNP_TOS = 48 << 2,      /* DSCP 48, as RNICs send CNPs; not ECN-capable */
};

/* ---- why bytes were refused ---- */

/* Lines 1 to 3 of the decision table for invalid packets (docs/protocol.md). X(name, text) */
#define PLX_WIRE_VERDICT_LIST(X)                                               \
	X(OK, "decoded")                                                       \
	X(ETH_SHORT, "frame shorter than its Ethernet header")                 \
	X(VLAN, "frame of another VLAN")                                       \
	X(STATION, "Ethernet destination is not ours")                         \
	X(NOT_IP, "ethertype is neither IPv4 nor IPv6 (or a second VLAN tag)") \
	X(IP_SHORT, "frame shorter than its IP header")                        \
	X(IP_VERSION, "IP version disagrees with the ethertype")               \
	X(IP_OPTIONS, "IPv4 header with options")                              \
	X(IP_LENGTH, "IP length disagrees with the frame")                     \
	X(IP_FRAGMENT, "IP fragment")                                          \
	X(IP_CHECKSUM, "IPv4 header checksum wrong")                           \
	X(DESTINATION, "IP destination is not ours")                           \
	X(NOT_UDP, "IP protocol is not UDP")                                   \
	X(UDP_LENGTH, "UDP length disagrees with IP")                          \
	X(UDP_CHECKSUM, "UDP checksum present and wrong")                      \
	X(NOT_ROCE, "UDP destination port is not 4791")                        \
	X(BTH_SHORT, "datagram shorter than BTH and ICRC")                     \
	X(BTH_VERSION, "transport version is not 0")                           \
	X(OPCODE, "unknown or reserved opcode")                                \
	X(EXT_SHORT, "datagram shorter than its headers, pad and ICRC")

enum plx_wire_verdict {
#define PLX_X(name, text) PLX_WIRE_##name,
	PLX_WIRE_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_WIRE_VERDICT_COUNT,
};

/** The text of a verdict; any other value has a text that says so. Never NULL. */
const char *plx_wire_verdict_text(enum plx_wire_verdict verdict);

/* ---- Ethernet to UDP ---- */

enum plx_ecn {
	PLX_ECN_NOT_ECT = 0,
	PLX_ECN_ECT1 = 1,
	PLX_ECN_ECT0 = 2,
	PLX_ECN_CE = 3,
};

/* IPv4 without options; every bit of the header has a field. All in host byte order. */
struct plx_ipv4 {
	uint8_t tos; /* DSCP << 2 | ECN */
	uint8_t ttl;
	uint16_t id;
	uint16_t flags_offset; /* 0x4000: do not fragment */
	uint16_t checksum;     /* as received; as sent: see plx_frame_encode() */
	uint32_t src, dst;
};

struct plx_ipv6 {
	uint32_t flow; /* traffic class << 20 | flow label */
	uint8_t hop_limit;
	uint8_t src[16], dst[16];
};

/* All headers before the BTH, and the offsets of the parts of the frame [bytes]. */
struct plx_frame {
	uint8_t eth_dst[6], eth_src[6];
	bool vlan;
	uint16_t vlan_tci;  /* priority, DEI and id; meaningful when `vlan` */
	uint8_t ip_version; /* 4 or 6 */
	union {
		struct plx_ipv4 v4;
		struct plx_ipv6 v6;
	};
	uint16_t udp_src, udp_dst;
	uint16_t udp_checksum; /* 0: none */
	uint16_t ip_at;        /* offset of the IP header */
	uint16_t udp_at;       /* offset of the UDP header */
	uint16_t ip_bytes;     /* IP header and payload; Ethernet padding follows */
	uint16_t udp_bytes;    /* UDP header and payload */
};

/* Checksums that the port's hardware has verified; decoding verifies the others. */
enum plx_frame_trust {
	PLX_TRUST_IP_CHECKSUM = 1,
	PLX_TRUST_UDP_CHECKSUM = 2,
};

/**
 * Is this frame for us, judged by its Ethernet header? It must have the tag of our VLAN
 * (IEEE 802.1Q), and be addressed to our station or to any group address.
 *
 * @param bytes [len] one frame without FCS
 * @param mac   [6] our own Ethernet address
 * @param vlan  our VLAN, 1 .. PLX_VLAN_MAX; 0: none, frames must be untagged or priority-tagged
 * Returns: OK, ETH_SHORT, VLAN or STATION
 * Cost:    hot; O(1)
 * Tests:   tests/unit/proto/wire/wire_frame.c, tests/unit/engine/link/strangers.c
 */
enum plx_wire_verdict plx_frame_is_for(const uint8_t *bytes, size_t len, const uint8_t *mac,
				       uint16_t vlan) PLX_MUST_CHECK;

/**
 * Decode the headers from Ethernet to UDP; destination addresses are not checked. An IPv6 fragment
 * header gives IP_FRAGMENT, any other extension header NOT_UDP, and an IPv4 header length below
 * five words IP_LENGTH.
 *
 * @param bytes  [len] one frame without FCS; nothing past len is read
 * @param trust  enum plx_frame_trust bits
 * @param out    complete if OK or NOT_ROCE, else untouched or partly written
 * Returns: OK, or the first line of the decision table that the frame fails
 * Cost:    hot; O(1), O(len) when a UDP checksum is present and not trusted
 * Spec:    RFC 791, 8200, 768; IBTA Annex A17
 * Tests:   tests/unit/proto/wire/wire_frame.c, tests/fuzz/wire.c
 */
enum plx_wire_verdict plx_frame_decode(const uint8_t *bytes, size_t len, unsigned trust,
				       struct plx_frame *out) PLX_MUST_CHECK;

/**
 * Write the headers from Ethernet to UDP with every field as in `frame` (checksums and lengths
 * included), so that decoding and then encoding gives the same bytes.
 *
 * @param out [PLX_FRAME_HEADER_MAX]
 * Returns: bytes written
 */
size_t plx_frame_encode(const struct plx_frame *frame, uint8_t *out);

/** The two ECN bits of the frame's IP header. */
static inline enum plx_ecn
plx_frame_ecn(const struct plx_frame *frame)
{
	return (enum plx_ecn)((frame->ip_version == 4 ? frame->v4.tos : frame->v6.flow >> 20) & 3);
}

/**
 * Change a frame's DSCP and ECN bits, and update an IPv4 header's checksum. The ICRC does not cover
 * these bits.
 *
 * @param ip  first byte of a complete IPv4 or IPv6 header
 * @param tos DSCP << 2 | ECN
 * Tests: tests/unit/proto/wire/wire_frame.c
 */
void plx_frame_set_tos(uint8_t *ip, uint8_t tos);

/**
 * The headers of one flow, encoded once; only lengths and the IPv4 checksum differ from packet to
 * packet. The UDP checksum is 0, as in packets of RNICs, since the ICRC covers the bytes (IBTA
 * Annex A17; RFC 6935).
 */
struct plx_frame_template {
	uint8_t bytes[PLX_FRAME_HEADER_MAX];
	uint8_t header_bytes; /* Ethernet to UDP */
	uint8_t ip_at;
	uint8_t ip_version;
	uint32_t ip_sum; /* sum of the IPv4 header without total length and checksum */
};

/** @param frame ip_version, addresses, ports, DSCP, TTL, id and flags; lengths are ignored */
void plx_frame_template_init(struct plx_frame_template *tmpl, const struct plx_frame *frame);

/**
 * Write the template's headers for a datagram of `udp_payload` bytes (BTH to ICRC).
 *
 * @param udp_payload [bytes] the IP packet must not exceed 65535 bytes
 * @param out [header_bytes] the BTH follows directly, and may already be there
 * Returns: header_bytes
 * Cost:    hot; O(1)
 */
size_t plx_frame_template_write(const struct plx_frame_template *tmpl, size_t udp_payload,
				uint8_t *out);

/*
 * A pattern for the packets of one flow from the peer to our station and VLAN, which recognises the
 * usual packet with three comparisons. A packet that does not match is decoded, not refused.
 */
struct plx_frame_flow {
	uint8_t want[48], mask[48]; /* three pieces of sixteen bytes: see flow.c */
	uint8_t ip_version;         /* zeroed: no packet matches */
	uint8_t ip_at;
};

/** @param own the template of our packets; source and destination are exchanged in the peer's.
 * Zeroed: no packet matches */
void plx_frame_flow_init(struct plx_frame_flow *flow, const struct plx_frame_template *own);

enum {
	/* the shortest packet of a flow, by IPv4 and untagged; a tag adds PLX_VLAN_BYTES */
	PLX_FLOW_BYTES_MIN =
		PLX_ETH_BYTES + PLX_IPV4_BYTES + PLX_UDP_BYTES + PLX_BTH_BYTES + PLX_ICRC_BYTES,
};

/** The length of an IP header as our packets have it. @param version 4 or 6 */
static inline size_t
plx_frame_ip_header_bytes(uint8_t version)
{
	return plx_likely(version == 4) ? PLX_IPV4_BYTES : PLX_IPV6_BYTES;
}

/**
 * Is this a RoCE packet of the flow: tagged if the flow is, to our Ethernet address, without UDP
 * checksum? If so, plx_frame_is_for() and plx_frame_decode() would both return OK.
 *
 * @param own as in plx_frame_flow_init()
 * @param bytes [len] len at least that of the flow's headers to the BTH, and of BTH and ICRC
 * @param ip_bytes [out] IP header and payload
 * Cost: hot; O(1)
 * Tests: tests/unit/proto/wire/wire_flow.c
 */
bool plx_frame_flow_matches(const struct plx_frame_flow *flow, const struct plx_frame_template *own,
			    const uint8_t *bytes, size_t len, size_t *ip_bytes);

/* What a frame seems to be. */
enum plx_peek {
	PLX_PEEK_OTHER, /* none of these, or too short */
	PLX_PEEK_ROCE,
	PLX_PEEK_NET, /* ARP, neighbour discovery, echo or another message of ICMP */
};

/**
 * What a frame seems to be, from unverified bytes: for choosing who decodes and judges it.
 *
 * @param qpn [out] ROCE: the destination queue pair's number
 * Cost:  hot, with several engines; O(1)
 * Tests: tests/unit/proto/wire/wire_peek.c
 */
enum plx_peek plx_frame_peek(const uint8_t *bytes, size_t len, uint32_t *qpn);

/* ---- the opcode table ---- */

enum plx_service {
	PLX_SERVICE_UNKNOWN, /* unknown opcode: plx_pkt_decode() refuses it */
	PLX_SERVICE_RC,
	PLX_SERVICE_UC,
	PLX_SERVICE_UD,
	PLX_SERVICE_CNP,
};

enum plx_op_kind {
	PLX_OP_NONE, /* unknown opcodes only */
	PLX_OP_SEND,
	PLX_OP_WRITE,
	PLX_OP_READ_REQUEST,
	PLX_OP_READ_RESPONSE,
	PLX_OP_ACK,
	PLX_OP_ATOMIC_ACK,
	PLX_OP_CMP_SWAP,
	PLX_OP_FETCH_ADD,
	PLX_OP_CNP,
};

/* A type of its own, so that testing an opcode number against it does not compile. */
struct plx_op_flags {
	uint16_t bits;
};

enum plx_op_flag {
	PLX_OPF_FIRST = 1 << 0, /* first packet of several */
	PLX_OPF_MIDDLE = 1 << 1,
	PLX_OPF_LAST = 1 << 2, /* last packet of several */
	PLX_OPF_ONLY = 1 << 3, /* a message of one packet */
	PLX_OPF_REQUEST = 1 << 4,
	PLX_OPF_RETH = 1 << 5,
	PLX_OPF_AETH = 1 << 6,
	PLX_OPF_ATOMIC_ETH = 1 << 7,
	PLX_OPF_ATOMIC_ACK_ETH = 1 << 8,
	PLX_OPF_IMM = 1 << 9,
	PLX_OPF_IETH = 1 << 10,
	PLX_OPF_DETH = 1 << 11,
	PLX_OPF_PAYLOAD = 1 << 12, /* may carry payload; a CNP's reserved bytes count as such */
};

struct plx_opcode {
	const char *name; /* "rc.send.first"; "unknown" */
	uint8_t service;  /* enum plx_service */
	uint8_t kind;     /* enum plx_op_kind */
	struct plx_op_flags flags;
	uint8_t header_bytes; /* BTH and extended headers */
};

/**
 * All 256 opcodes. Unknown ones have SERVICE_UNKNOWN and the header_bytes of a bare BTH. Every
 * known opcode has exactly one of FIRST, MIDDLE, LAST, ONLY.
 */
extern const struct plx_opcode plx_opcodes[256];

static inline bool
plx_opcode_has(const struct plx_opcode *op, enum plx_op_flag flag)
{
	return op->flags.bits & flag;
}

/* Opcode numbers. Spec: IBTA vol 1, 9.2 table 38; CNP: Annex A17. */
enum {
	PLX_RC_SEND_FIRST = 0x00,
	PLX_RC_SEND_MIDDLE = 0x01,
	PLX_RC_SEND_LAST = 0x02,
	PLX_RC_SEND_LAST_IMM = 0x03,
	PLX_RC_SEND_ONLY = 0x04,
	PLX_RC_SEND_ONLY_IMM = 0x05,
	PLX_RC_WRITE_FIRST = 0x06,
	PLX_RC_WRITE_MIDDLE = 0x07,
	PLX_RC_WRITE_LAST = 0x08,
	PLX_RC_WRITE_LAST_IMM = 0x09,
	PLX_RC_WRITE_ONLY = 0x0a,
	PLX_RC_WRITE_ONLY_IMM = 0x0b,
	PLX_RC_READ_REQUEST = 0x0c,
	PLX_RC_READ_RESPONSE_FIRST = 0x0d,
	PLX_RC_READ_RESPONSE_MIDDLE = 0x0e,
	PLX_RC_READ_RESPONSE_LAST = 0x0f,
	PLX_RC_READ_RESPONSE_ONLY = 0x10,
	PLX_RC_ACK = 0x11,
	PLX_RC_ATOMIC_ACK = 0x12,
	PLX_RC_CMP_SWAP = 0x13,
	PLX_RC_FETCH_ADD = 0x14,
	PLX_RC_SEND_LAST_INV = 0x16,
	PLX_RC_SEND_ONLY_INV = 0x17,
	PLX_UC_SEND_FIRST = 0x20,
	PLX_UC_SEND_MIDDLE = 0x21,
	PLX_UC_SEND_LAST = 0x22,
	PLX_UC_SEND_LAST_IMM = 0x23,
	PLX_UC_SEND_ONLY = 0x24,
	PLX_UC_SEND_ONLY_IMM = 0x25,
	PLX_UC_WRITE_FIRST = 0x26,
	PLX_UC_WRITE_MIDDLE = 0x27,
	PLX_UC_WRITE_LAST = 0x28,
	PLX_UC_WRITE_LAST_IMM = 0x29,
	PLX_UC_WRITE_ONLY = 0x2a,
	PLX_UC_WRITE_ONLY_IMM = 0x2b,
	PLX_UD_SEND_ONLY = 0x64,
	PLX_UD_SEND_ONLY_IMM = 0x65,
	PLX_CNP = 0x81,
};

/* ---- BTH and extended headers ---- */

/* Offsets of the fields of a BTH [bytes], and their bits. Spec: IBTA vol 1, 9.2 */
enum {
	PLX_BTH_OPCODE_AT = 0,
	PLX_BTH_FLAGS_AT = 1,
	PLX_BTH_PKEY_AT = 2,
	PLX_BTH_QPN_AT = 4, /* FECN, BECN, reserved, and 24 bits */
	PLX_BTH_PSN_AT = 8, /* the request for an ACK, reserved, and 24 bits */

	PLX_BTH_SOLICITED = 0x80,
	PLX_BTH_MIGREQ = 0x40,
	PLX_BTH_PAD_SHIFT = 4,
	PLX_BTH_PAD_MASK = 3,
	PLX_BTH_VERSION_MASK = 0x0f,

	PLX_RETH_KEY_AT = 8, /* after the address */
	PLX_RETH_LENGTH_AT = 12,
	PLX_RETH_BYTES = 16,
	PLX_AETH_BYTES = 4,
};

#define PLX_BTH_FECN        UINT32_C(0x80000000) /* in the word with the QPN */
#define PLX_BTH_BECN        UINT32_C(0x40000000)
#define PLX_BTH_ACK_REQUEST UINT32_C(0x80000000) /* in the word with the PSN */

struct plx_reth {
	uint64_t va;
	uint32_t rkey;
	uint32_t length;
};

struct plx_aeth {
	uint8_t syndrome; /* bit 7 reserved, bits 6:5 type, 4:0 value; see PLX_AETH_* */
	struct plx_msn msn;
};

struct plx_atomic_eth {
	uint64_t va;
	uint32_t rkey;
	uint64_t swap_add;
	uint64_t compare;
};

struct plx_deth {
	uint32_t qkey;
	uint32_t src_qpn; /* 24 bits */
	uint8_t resv;
};

/* AETH syndromes. Spec: IBTA vol 1, 9.7.5.2.1 table 43 to 45. */
enum {
	PLX_AETH_TYPE_MASK = 0xe0, /* with the reserved bit */
	PLX_AETH_VALUE_MASK = 0x1f,
	PLX_AETH_ACK = 0x00,
	PLX_AETH_RNR = 0x20,
	PLX_AETH_NAK = 0x60,
	PLX_AETH_NO_CREDITS = 0x1f, /* ACK value: end-to-end credits not in use */
	PLX_NAK_SEQUENCE = 0,
	PLX_NAK_INVALID_REQUEST = 1,
	PLX_NAK_REMOTE_ACCESS = 2,
	PLX_NAK_REMOTE_OPERATION = 3,
};

/*
 * One packet from BTH to payload, in host byte order. plx_opcodes[opcode] determines which members
 * of the two unions are valid. Reserved bits have fields, so that a decoded packet can be encoded
 * unchanged; our own packets have zeros there.
 */
struct plx_pkt {
	uint8_t opcode;
	uint8_t pad; /* [bytes] 0..3 after the payload */
	uint8_t version;
	bool solicited;
	bool migreq;
	bool ack_request;
	bool fecn, becn;
	uint8_t resv6; /* the six reserved bits beside FECN and BECN */
	uint8_t resv7; /* the seven reserved bits beside AckReq */
	uint16_t pkey;
	uint32_t dest_qpn; /* 24 bits */
	struct plx_psn psn;
	union {
		uint32_t imm;     /* IMM */
		uint32_t inv_key; /* IETH */
	};
	union {
		struct plx_reth reth;
		struct plx_atomic_eth atomic;
		struct plx_deth deth;
		struct {
			struct plx_aeth aeth;
			uint64_t atomic_original; /* with ATOMIC_ACK_ETH */
		};
	};
	const uint8_t *payload; /* into the bytes decoded; never NULL, even if empty */
	uint32_t payload_bytes; /* without pad */
	bool ce; /* the IP header has ECN CE; set by the caller of plx_pkt_decode() */
};

/**
 * Decode a UDP payload from BTH to ICRC. The ICRC is not checked.
 *
 * @param bytes [len] BTH to ICRC inclusive; nothing past len is read
 * @param out   complete if OK (`ce` is false), else untouched or partly written
 * Returns: OK, BTH_SHORT, BTH_VERSION, OPCODE or EXT_SHORT
 * Cost:    hot; O(1)
 * Spec:    IBTA vol 1, 9.2 to 9.3; Annex A17
 * Tests:   tests/table/wire.c, tests/unit/proto/wire/captures.c, tests/fuzz/wire.c
 */
enum plx_wire_verdict plx_pkt_decode(const uint8_t *bytes, size_t len,
				     struct plx_pkt *out) PLX_MUST_CHECK;

/**
 * Write BTH and extended headers of `pkt`; the caller appends payload, pad and ICRC.
 *
 * @param pkt a known opcode
 * @param out [PLX_PKT_HEADER_MAX]
 * Returns: bytes written, plx_opcodes[opcode].header_bytes
 * Cost:    hot; O(1)
 */
size_t plx_pkt_encode(const struct plx_pkt *pkt, uint8_t *out);

/* ---- ICRC ---- */

/*
 * The invariant CRC of a RoCEv2 packet: CRC-32 over eight bytes of ones (in place of an LRH), then
 * the IP packet up to the ICRC. Fields that a router may change count as ones: IPv4 TOS, TTL and
 * checksum; IPv6 traffic class, flow label and hop limit; UDP checksum; BTH byte 4 (FECN, BECN,
 * resv6). It is sent low byte first.
 * Spec: IBTA Annex A17, A17.3.3.
 *
 * @param ip  first byte of the IP header; the version nibble selects the mask
 * @param len [bytes] from `ip` to the ICRC, exclusive; any length is safe, fields beyond it are
 *            ignored
 */
typedef uint32_t (*plx_icrc_fn)(const uint8_t *ip, size_t len);

/** The portable version: ISA-L over a masked copy of the headers, then over the rest in place. */
uint32_t plx_icrc_isal(const uint8_t *ip, size_t len);

/** One pass, with the mask applied in registers; only if plx_icrc_has_onepass() is true. */
uint32_t plx_icrc_onepass(const uint8_t *ip, size_t len);

/** Does this CPU support plx_icrc_onepass() (AVX-512 F, BW, VL and VPCLMULQDQ)? */
bool plx_icrc_has_onepass(void);

/** The fastest version for this CPU. An engine calls this once and keeps the result. */
plx_icrc_fn plx_icrc_choose(void);

/** Store an ICRC in wire byte order. @param out [PLX_ICRC_BYTES] */
void plx_icrc_store(uint32_t icrc, uint8_t *out);

/** Load an ICRC from wire byte order. @param in [PLX_ICRC_BYTES] */
uint32_t plx_icrc_load(const uint8_t *in);

#endif
