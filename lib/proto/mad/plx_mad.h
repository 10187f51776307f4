/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes <-> structs: management datagrams (MADs) of the communication manager, and the header of
 * the IP CM service in a REQ's private data. Decoding is total: any bytes give a struct or a
 * verdict. It never decides what a message means for a connection; lib/proto/cm does. Start with
 * plx_mad_decode().
 */
#ifndef PLX_MAD_H
#define PLX_MAD_H

#include "plx_base.h"

enum {
	PLX_MAD_BYTES = 256, /* exact length of every MAD */
	PLX_MAD_HEADER_BYTES = 24,
	PLX_MAD_CLASS_CM = 0x07,
	PLX_MAD_CM_CLASS_VERSION = 2,
	PLX_MAD_METHOD_SEND = 0x03, /* the only method that communication management uses */
	PLX_CMA_BYTES = 36,         /* header of the IP CM service */
};

#define PLX_GSI_QKEY UINT32_C(0x80010000)
#define PLX_CMA_QKEY UINT32_C(0x01234567) /* of UD queue pairs found through the IP CM service */

/* Length of the private data field of each message [bytes]. */
enum {
	PLX_CM_REQ_PRIVATE = 92,
	PLX_CM_REP_PRIVATE = 196,
	PLX_CM_RTU_PRIVATE = 224,
	PLX_CM_MRA_PRIVATE = 222,
	PLX_CM_REJ_PRIVATE = 148,
	PLX_CM_REJ_INFO = 72,
	PLX_CM_DREQ_PRIVATE = 220,
	PLX_CM_DREP_PRIVATE = 224,
	PLX_CM_SIDR_REQ_PRIVATE = 216,
	PLX_CM_SIDR_REP_PRIVATE = 136,
	PLX_CM_SIDR_REP_INFO = 72,
};

/* ---- the messages ---- */

/* Attributes of the CM class, with their values on the wire. Spec: IBTA vol 1, 12.6 and 16.7.3. */
enum plx_cm_kind {
	PLX_CM_NONE = 0,
	PLX_CM_REQ = 0x0010,
	PLX_CM_MRA = 0x0011,
	PLX_CM_REJ = 0x0012,
	PLX_CM_REP = 0x0013,
	PLX_CM_RTU = 0x0014,
	PLX_CM_DREQ = 0x0015,
	PLX_CM_DREP = 0x0016,
	PLX_CM_SIDR_REQ = 0x0017,
	PLX_CM_SIDR_REP = 0x0018,
};

/* A path between two ports. RoCE does not use LIDs, rates and service levels. */
struct plx_cm_path {
	uint16_t local_lid, remote_lid;
	uint8_t local_gid[16], remote_gid[16]; /* IPv4 addresses are mapped: ::ffff:a.b.c.d */
	uint32_t flow_label;                   /* 20 bits */
	uint8_t packet_rate;                   /* 6 bits */
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t service_level; /* 4 bits */
	bool subnet_local;
	uint8_t local_ack_timeout; /* 5 bits: 4.096 us * 2^n */
};

struct plx_cm_req {
	uint32_t local_comm_id;
	uint64_t service_id;
	uint64_t local_ca_guid;
	uint32_t local_qkey;
	uint32_t local_qpn; /* 24 bits */
	uint8_t responder_resources;
	uint32_t local_eecn; /* 24 bits */
	uint8_t initiator_depth;
	uint32_t remote_eecn;            /* 24 bits */
	uint8_t remote_response_timeout; /* 5 bits: how long the sender waits for a reply */
	uint8_t transport_service;       /* 2 bits: 0 RC, 1 UC, 2 RD */
	bool flow_control;               /* end to end */
	struct plx_psn starting_psn;     /* the first that the sender of the REQ expects */
	uint8_t local_response_timeout;  /* 5 bits: how soon the sender replies */
	uint8_t retry_count;             /* 3 bits */
	uint16_t pkey;
	uint8_t path_mtu; /* 4 bits: 1 .. 5 for 256 .. 4096 */
	bool rdc_exists;
	uint8_t rnr_retry_count;    /* 3 bits: for the receiver of the REQ to use */
	uint8_t max_cm_retries;     /* 4 bits */
	bool srq;                   /* the sender's queue pair has an SRQ */
	uint8_t extended_transport; /* 3 bits: 0 none, 1 XRC */
	struct plx_cm_path primary, alternate;
	uint8_t private_data[PLX_CM_REQ_PRIVATE];
};

struct plx_cm_rep {
	uint32_t local_comm_id, remote_comm_id;
	uint32_t local_qkey;
	uint32_t local_qpn;          /* 24 bits */
	uint32_t local_eecn;         /* 24 bits */
	struct plx_psn starting_psn; /* the first that the sender of the REP expects */
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t target_ack_delay; /* 5 bits */
	uint8_t failover;         /* 2 bits */
	bool flow_control;
	uint8_t rnr_retry_count; /* 3 bits: for the receiver of the REP to use */
	bool srq;
	uint64_t local_ca_guid;
	uint8_t private_data[PLX_CM_REP_PRIVATE];
};

struct plx_cm_rtu {
	uint32_t local_comm_id, remote_comm_id;
	uint8_t private_data[PLX_CM_RTU_PRIVATE];
};

/* The message that an MRA or REJ refers to, with its value on the wire. */
enum plx_cm_about {
	PLX_CM_ABOUT_REQ = 0,
	PLX_CM_ABOUT_REP = 1,
	PLX_CM_ABOUT_NONE = 2, /* REJ: no message; MRA: a LAP */
};

struct plx_cm_mra {
	uint32_t local_comm_id, remote_comm_id;
	uint8_t about;           /* 2 bits: enum plx_cm_about */
	uint8_t service_timeout; /* 5 bits */
	uint8_t private_data[PLX_CM_MRA_PRIVATE];
};

struct plx_cm_rej {
	uint32_t local_comm_id, remote_comm_id;
	uint8_t about;       /* 2 bits: enum plx_cm_about */
	uint8_t info_length; /* 7 bits [bytes] */
	uint16_t reason;     /* enum plx_cm_reason, or an unknown value */
	uint8_t info[PLX_CM_REJ_INFO];
	uint8_t private_data[PLX_CM_REJ_PRIVATE];
};

struct plx_cm_dreq {
	uint32_t local_comm_id, remote_comm_id;
	uint32_t remote_qpn; /* 24 bits */
	uint8_t private_data[PLX_CM_DREQ_PRIVATE];
};

struct plx_cm_drep {
	uint32_t local_comm_id, remote_comm_id;
	uint8_t private_data[PLX_CM_DREP_PRIVATE];
};

struct plx_cm_sidr_req {
	uint32_t request_id;
	uint16_t pkey;
	uint64_t service_id;
	uint8_t private_data[PLX_CM_SIDR_REQ_PRIVATE];
};

/* Status of a SIDR REP, with its value on the wire. */
enum plx_cm_sidr_status {
	PLX_CM_SIDR_OK = 0,
	PLX_CM_SIDR_UNSUPPORTED = 1, /* no listener at that port */
	PLX_CM_SIDR_REJECTED = 2,
	PLX_CM_SIDR_NO_QP = 3,
	PLX_CM_SIDR_REDIRECT = 4,
	PLX_CM_SIDR_VERSION = 5,
};

struct plx_cm_sidr_rep {
	uint32_t request_id;
	uint8_t status; /* enum plx_cm_sidr_status, or an unknown value */
	uint8_t info_length;
	uint32_t qpn; /* 24 bits */
	uint64_t service_id;
	uint32_t qkey;
	uint8_t info[PLX_CM_SIDR_REP_INFO];
	uint8_t private_data[PLX_CM_SIDR_REP_PRIVATE];
};

/* One message of the communication manager, in host byte order; `kind` selects the valid member. */
struct plx_cm_msg {
	uint16_t kind;           /* enum plx_cm_kind: the attribute */
	uint64_t transaction_id; /* the same in a message, its retransmissions and its replies */
	uint16_t status;
	union {
		struct plx_cm_req req;
		struct plx_cm_rep rep;
		struct plx_cm_rtu rtu;
		struct plx_cm_mra mra;
		struct plx_cm_rej rej;
		struct plx_cm_dreq dreq;
		struct plx_cm_drep drep;
		struct plx_cm_sidr_req sidr_req;
		struct plx_cm_sidr_rep sidr_rep;
	};
};

/* Why a datagram was refused. X(name, text) */
#define PLX_MAD_VERDICT_LIST(X)                                     \
	X(OK, "decoded")                                            \
	X(LENGTH, "a management datagram has 256 bytes")            \
	X(VERSION, "the base version is not 1")                     \
	X(CLASS, "the class is not communication management")       \
	X(CLASS_VERSION, "the class version is not 2")              \
	X(METHOD, "the method is not Send")                         \
	X(ATTRIBUTE, "unknown attribute, or one of path migration") \
	X(FIELD, "a length in the message is longer than the message allows")

enum plx_mad_verdict {
#define PLX_X(name, text) PLX_MAD_##name,
	PLX_MAD_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_MAD_VERDICT_COUNT,
};

/** The text of a verdict; any other value has a text that says so. Never NULL. */
const char *plx_mad_verdict_text(enum plx_mad_verdict verdict);

/**
 * Decode one MAD.
 *
 * @param bytes [len] nothing past len is read
 * @param out   complete if OK, else untouched or partly written; reserved bits are dropped
 * Spec:    IBTA vol 1, 13.4.2 to 13.4.3 (header), 12.6 (messages)
 * Tests:   tests/unit/proto/mad/codec.c, tests/unit/proto/mad/captures.c, tests/fuzz/mad.c
 */
enum plx_mad_verdict plx_mad_decode(const uint8_t *bytes, size_t len,
				    struct plx_cm_msg *out) PLX_MUST_CHECK;

/** Encode one MAD. Fields wider than their bits are truncated; reserved bits are zero.
 * @param msg a known kind @param out [PLX_MAD_BYTES] */
void plx_mad_encode(const struct plx_cm_msg *msg, uint8_t *out);

/* ---- the IP CM service ---- */

/**
 * The service id of a port.
 * Spec: IBTA vol 1, Annex A11, A11.3
 */
static inline uint64_t
plx_cma_service_id(enum plx_port_space space, uint16_t port)
{
	return (uint64_t)space << 16 | port;
}

/* The header at the start of the private data of a REQ or SIDR REQ. */
struct plx_cma {
	uint8_t major, minor; /* 4 bits each: 0 */
	struct plx_ip src, dst;
	uint16_t src_port;
};

/**
 * Decode the header.
 *
 * @param in [PLX_CMA_BYTES]
 * Returns: false if the version is not 0, or the IP version neither 4 nor 6; *out is then untouched
 *          or partly written
 * Tests:   tests/unit/proto/mad/cma.c
 */
bool plx_cma_decode(const uint8_t *in, struct plx_cma *out) PLX_MUST_CHECK;

/** @param out [PLX_CMA_BYTES] */
void plx_cma_encode(const struct plx_cma *cma, uint8_t *out);

/** An IP address as a GID: IPv6 as it is, IPv4 mapped. @param gid [16] */
void plx_gid_from_ip(const struct plx_ip *ip, uint8_t *gid);
/** A GID as an IP address; every GID is one. @param gid [16] */
struct plx_ip plx_gid_to_ip(const uint8_t *gid);

#endif
