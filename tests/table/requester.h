/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requester's decision table as a test: a play (what was posted, sent and acknowledged so far),
 * an answer (one arriving packet), a forecast (the outcome by the table). The model uses
 * docs/protocol.md and the play, never the code under test. Start with requester.c, which
 * enumerates; requester_model.c is the table.
 */
#ifndef PLX_TEST_REQUESTER_H
#define PLX_TEST_REQUESTER_H

#include "bench.h"

/* ---- plays ---- */

enum {
	REQS_MAX = 5,
	RETRY_MAX = 2,
	LOCAL_BYTES = 1024, /* of each request */
	PLAY_BYTES = REQS_MAX * LOCAL_BYTES,
};

/* One posted request. */
struct req {
	enum plx_wr_op op;
	uint32_t bytes;
	struct plx_psn psn; /* the first of `psns` */
	uint32_t psns;
	uint64_t local; /* the address of its payload, under the bench's receive key */
};

static inline bool
req_is_read(const struct req *req)
{
	return req->op == PLX_WR_READ;
}

static inline bool
req_is_atomic(const struct req *req)
{
	return req->op == PLX_WR_CMP_SWAP || req->op == PLX_WR_FETCH_ADD;
}

/* Answered by data, so that an ACK alone cannot complete it. */
static inline bool
req_has_response(const struct req *req)
{
	return req_is_read(req) || req_is_atomic(req);
}

/* X(name): how far it went before the answer comes */
#define STAGE_LIST(X)                                                                            \
	X(SENT)      /* everything is sent, nothing is answered */                               \
	X(PARTLY)    /* the first PSN is answered */                                             \
	X(WENT_BACK) /* a sequence NAK of the first PSN arrived, nothing is sent again yet */    \
	X(RESENT)    /* ... and everything is sent again */                                      \
	X(TIMEOUT)   /* nothing came until the ack timer fired, and everything is sent again */  \
	X(TIMED)     /* the first PSN is answered, a NAK of the next came, the rest is resent */ \
	X(SPENT)     /* ... and that NAK came again as often as it is obeyed */                  \
	X(PROBED)    /* the first PSN is answered, then nothing: a probe requested the rest */   \
	X(RNR)       /* an RNR NAK of the first PSN came, its time is not over */

enum stage {
#define PLX_X(name) STAGE_##name,
	STAGE_LIST(PLX_X)
#undef PLX_X
	STAGE_COUNT,
};

struct play {
	/* the axes */
	uint32_t mix;
	enum stage stage;
	enum plx_qp_state state;
	uint8_t retry_max, rnr_retry_max;
	bool denied;    /* the local key of the responses was revoked meanwhile */
	uint32_t chunk; /* responses that one READ request asks for at most */
	/* what follows from them */
	struct req req[REQS_MAX];
	uint32_t reqs;
	struct plx_psn first, una, next, high;
	uint32_t completed; /* requests that PARTLY completed */
	uint8_t retries_left, rnr_retries_left;
	bool went_back, rnr_waiting;
	bool again;       /* went back, and it may turn out that this was unnecessary */
	bool asked_again; /* responses to a READ, so that some may arrive that add nothing */
};

uint32_t play_mixes(void);
const char *play_mix_name(uint32_t mix);
const char *play_stage_name(enum stage stage);

/** False when the axes contradict each other. */
bool play_possible(const struct play *play);
void play_reach(struct bench *bench, struct play *play);

/* ---- answers ---- */

#define BYTES_LIST(X)                                            \
	X(RIGHT) /* what the responder of this PSN would send */ \
	X(NONE)                                                  \
	X(ONE)                                                   \
	X(LESS) /* one less than right */                        \
	X(MORE) /* one more than right */                        \
	X(MTU)

enum bytes_class {
#define PLX_X(name) BYTES_##name,
	BYTES_LIST(PLX_X)
#undef PLX_X
	BYTES_COUNT,
};

struct answer {
	uint8_t opcode;
	uint8_t syndrome;
	enum bytes_class bytes;
	struct plx_psn psn;
	struct plx_pkt pkt;
};

/** What a correct responder sends at PSN number `index` of a READ that was requested in chunks. */
uint8_t response_opcode(uint32_t index, uint32_t psns, uint32_t chunk);
uint32_t response_bytes(uint32_t index, const struct req *req);

/** The byte at `offset` of the data of a READ or atomic at `psn`: mixed data would show. */
uint8_t response_byte(struct plx_psn psn, uint32_t offset);

void answer_build(const struct play *play, struct answer *answer);

/* ---- forecasts ---- */

struct expectation {
	enum plx_verdict verdict;
	uint32_t completed; /* requests that completed with success, from the first */
	bool error;         /* request number `completed` ends with `status`, the rest is flushed */
	enum plx_wc_status status;
	struct plx_psn una, next, high;
	uint8_t retries_left, rnr_retries_left;
	bool rnr_waiting;
	bool puts_off;     /* it has no data, and shows that the peer is still answering */
	uint32_t placed;   /* bytes */
	uint64_t place_at; /* as struct req.local */
};

void requester_model(const struct play *play, const struct answer *answer, struct expectation *out);

/** Pass the answer to the requester and compare. Then let a correct responder answer the rest:
 * everything completes, once, in order.
 * Returns: false when anything differs, with a message on stderr */
bool answer_check(struct bench *bench, const struct play *play, const struct answer *answer,
		  const struct expectation *want);

/** Act as a correct responder from here on: answer what is sent until nothing is left. Calls
 * `done` for each completion.
 * Returns: false when it does not end */
bool play_out(struct bench *bench, uint64_t now,
	      void (*done)(void *user, const struct plx_completion *completion), void *user);

#endif
