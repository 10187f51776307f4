/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The responder's decision table as a test: a scene (what the responder has received so far), a
 * probe (one packet), a forecast (the outcome by the decision table). The model uses
 * docs/protocol.md and the scene, never the code under test. Start with responder.c, which
 * enumerates; responder_model.c is the table.
 */
#ifndef PLX_TEST_RESPONDER_H
#define PLX_TEST_RESPONDER_H

#include "bench.h"

/* ---- scenes ---- */

/* X(name): the message that is open when the probe arrives */
#define OPEN_LIST(X)                                  \
	X(NONE)                                       \
	X(SEND)                                       \
	X(WRITE_ONE)  /* one byte is still to come */ \
	X(WRITE_MTU)  /* mtu bytes */                 \
	X(WRITE_MORE) /* mtu + 1 bytes */

/* past requests, in this order; the responder remembers two READs or atomics */
#define PAST_LIST(X)                                                      \
	X(ENDS_WITH_SEND)  /* READ, READ, WRITE, FETCH_ADD, SEND */       \
	X(ENDS_WITH_READ)  /* READ, SEND, WRITE, FETCH_ADD, READ */       \
	X(ENDS_WITH_EMPTY) /* READ, SEND, WRITE, READ, READ of nothing */ \
	X(ONLY_SENDS)      /* SEND, SEND, SEND: possible when nothing else is enabled */

#define RECV_LIST(X)                                            \
	X(NONE)                                                 \
	X(PLENTY)                                               \
	X(SMALL) /* room for one byte more than what arrived */ \
	X(BAD_KEY)

#define GAP_LIST(X)                                                                   \
	X(NONE)                                                                       \
	X(NAK)       /* a sequence NAK of the expected PSN is out */                  \
	X(NAK_FAR)   /* the same, of a flight that reached the probes' far PSN */     \
	X(NAK_SPENT) /* the same, and the flight restarted up to the limit of NAKs */ \
	X(RNR)       /* an RNR NAK of the expected PSN is out */                      \
	X(READS)     /* as many READs as agreed are accepted and not yet answered */  \
	X(REPLAYS)   /* remembered answers are queued once more, not sent yet */

enum open_kind {
#define PLX_X(name) OPEN_##name,
	OPEN_LIST(PLX_X)
#undef PLX_X
	OPEN_COUNT,
};

enum past_kind {
#define PLX_X(name) PAST_##name,
	PAST_LIST(PLX_X)
#undef PLX_X
	PAST_COUNT,
};

enum recv_kind {
#define PLX_X(name) RECV_##name,
	RECV_LIST(PLX_X)
#undef PLX_X
	RECV_COUNT,
};

enum gap_kind {
#define PLX_X(name) GAP_##name,
	GAP_LIST(PLX_X)
#undef PLX_X
	GAP_COUNT,
};

enum {
	REMEMBERED = 2,
	PAST_MAX = 5,
	SWAP_ADD = 1,
	COMPARE = 2,
};

/* One message of the past. */
struct past {
	uint8_t kind; /* enum plx_op_kind */
	bool remembered;
	struct plx_psn psn;
	uint32_t psns;
	uint64_t va; /* READ and atomic, under BENCH_KEY_FAST */
	uint32_t length;
};

struct scene {
	/* the axes */
	enum plx_qp_state state;
	enum past_kind past_kind;
	enum open_kind open;
	enum recv_kind recv;
	enum gap_kind gap;
	bool enabled; /* the operations that may be disabled */
	bool revoked; /* BENCH_KEY_FAST, after all of the past used it */
	struct plx_psn base;
	/* what follows from them */
	struct past past[PAST_MAX];
	uint32_t pasts;
	struct plx_psn expected;
	struct plx_psn newest_ackable; /* the newest packet of a SEND or WRITE */
	struct plx_msn msn;
	uint32_t recvs;     /* posted and not taken */
	uint32_t recv_room; /* bytes, of the open SEND's receive or of the next */
	uint32_t remaining; /* bytes of the open WRITE */
	uint64_t write_va;  /* the address of its next byte */
};

extern const char *const *const open_names, *const *const past_names;
extern const char *const *const recv_names, *const *const gap_names;

/** Bring a fresh bench there; false when the axes contradict each other. */
bool scene_possible(const struct scene *scene);
void scene_reach(struct bench *bench, struct scene *scene);

/* ---- probes ---- */

#define RELATION_LIST(X)                                                   \
	X(EXPECTED)                                                        \
	X(AHEAD_ONE)                                                       \
	X(AHEAD_FAR)                                                       \
	X(AHEAD_MOST) /* 2^23 - 1 */                                       \
	X(NEWEST)     /* one before the expected */                        \
	X(PAST_0)                                                          \
	X(PAST_1)                                                          \
	X(PAST_2)                                                          \
	X(PAST_3)                                                          \
	X(PAST_4)                                                          \
	X(READ_SECOND) /* the second PSN of the READ that is remembered */ \
	X(BEFORE)      /* before the first PSN ever expected */            \
	X(HALF)        /* half the space away: behind */

#define PAYLOAD_LIST(X) \
	X(NONE)         \
	X(ONE)          \
	X(MTU_LESS)     \
	X(MTU)          \
	X(MTU_MORE)     \
	X(BAD_PAD) /* a byte, padded to five */

/* the RETH's length, relative to what fits */
#define RETH_LIST(X)            \
	X(RIGHT)                \
	X(ZERO)                 \
	X(SHORT) /* one less */ \
	X(LONG)  /* one more */ \
	X(MOST)  /* 2^31 */     \
	X(OVER)  /* 2^31 + 1 */

enum relation {
#define PLX_X(name) RELATION_##name,
	RELATION_LIST(PLX_X)
#undef PLX_X
	RELATION_COUNT,
};

enum payload_class {
#define PLX_X(name) PAYLOAD_##name,
	PAYLOAD_LIST(PLX_X)
#undef PLX_X
	PAYLOAD_COUNT,
};

enum reth_class {
#define PLX_X(name) RETH_##name,
	RETH_LIST(PLX_X)
#undef PLX_X
	RETH_COUNT,
};

/* other faults of an atomic; the other operand matters to a duplicate only */
enum twist {
	TWIST_NONE,
	TWIST_MISALIGNED,
	TWIST_OPERAND,
	TWIST_COUNT
};

struct probe {
	uint8_t opcode;
	enum relation relation;
	enum payload_class payload;
	enum reth_class reth;
	enum bench_key key;
	bool ack_request;
	enum twist twist; /* atomics */
	struct plx_pkt pkt;
};

/** Fill in probe->pkt; false when the scene has no such packet (a past that is not there). */
bool probe_build(const struct bench *bench, const struct scene *scene, struct probe *probe);

/* ---- forecasts ---- */

enum reply_kind {
	REPLY_NONE,
	REPLY_ACK,
	REPLY_READ,
	REPLY_ATOMIC
};

struct forecast {
	enum plx_verdict verdict;
	/* the one reply */
	enum reply_kind reply;
	uint8_t syndrome;
	struct plx_psn reply_psn;
	struct plx_msn reply_msn;
	enum bench_key read_key;
	uint64_t read_va;
	uint32_t read_bytes;
	/* the queue pair afterwards */
	bool error;
	struct plx_psn expected;
	struct plx_msn msn;
	bool recv_open;
	uint32_t recvs; /* not taken; all are flushed when `error` */
	/* memory */
	bool to_recv; /* the payload is placed in the receive, from `recv_offset` on */
	uint32_t place_bytes, recv_offset;
	enum bench_key place_key;
	uint64_t place_va;
	bool atomic;
	/* a receive that completes, not one that is flushed */
	bool completes;
	bool any_error; /* the status is any but SUCCESS */
	enum plx_wc_status status;
	uint32_t recv_bytes;
	enum plx_wr_op recv_op;
	uint8_t recv_flags;
};

void model(const struct scene *scene, const struct probe *probe, struct forecast *out);

/** Feed the probe and compare. The bench cannot be used again.
 * Returns: false when anything differs, with a message on stderr */
bool probe_check(struct bench *bench, const struct scene *scene, const struct probe *probe,
		 const struct forecast *forecast);

#endif
