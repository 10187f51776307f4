/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bench of the tables: one queue pair with its receive queue and key table, all in our own
 * blocks, so that copying the blocks back restores a state that was reached once. It never looks
 * inside a block. Start with bench_init(), then bench_save() and bench_restore().
 */
#ifndef PLX_TEST_BENCH_H
#define PLX_TEST_BENCH_H

#include "rc.h"

enum {
	BENCH_MTU = 256,
	BENCH_QPN = 0x123456,
	BENCH_PEER = 0x654321,
	BENCH_RNR_TIMER = 14,
	BENCH_ARENA = 64 * BENCH_MTU,
	BENCH_SLOTS = 64, /* of the key table */
};

/* Addresses that keys name are not addresses of this process, so that mixing them up shows. */
#define BENCH_VA      UINT64_C(0x7000000000)
#define BENCH_HUGE_VA UINT64_C(0x9000000000)
#define BENCH_HUGE    (UINT64_C(1) << 33)

/* The kind of a request's key. X(name) */
#define BENCH_KEY_LIST(X)                                                        \
	X(GRANTED)                                                               \
	X(HUGE)     /* granted, a region of 2^33 bytes */                        \
	X(WINDOW)   /* granted, a window bound to this QP */                     \
	X(FAST)     /* granted, a fast-register region; some scenes revoke it */ \
	X(UNKNOWN)  /* never issued */                                           \
	X(DOMAIN)   /* of another protection domain */                           \
	X(REVOKED)  /* of a region that was retired */                           \
	X(OLD_LIFE) /* of a deregistered region; its slot has a region again */  \
	X(NO_RIGHT)                                                              \
	X(OTHER_QP)  /* a window bound to another QP */                          \
	X(RANGE)     /* granted, but the range ends one byte past the region */  \
	X(RANGE_LOW) /* granted, but the range starts one byte before the region */

enum bench_key {
#define PLX_X(name) BENCH_KEY_##name,
	BENCH_KEY_LIST(PLX_X)
#undef PLX_X
	BENCH_KEY_COUNT,
};

struct bench_block {
	uint8_t *bytes;
	size_t size;
};

/* Three blocks, copied: queue pair, receive queue, key table. */
struct bench_saved {
	uint8_t *copy[3];
};

struct bench {
	struct bench_block block[3];
	struct plx_rc *qp;
	struct plx_rq *rq;
	struct plx_mem *mem;
	struct plx_domain domain, other;
	struct plx_key key[BENCH_KEY_COUNT];
	struct plx_key recv;      /* local write only */
	struct plx_key read_only; /* no local write */
	struct plx_region granted_region, fast_region, recv_region;
	uint8_t *arena;      /* behind GRANTED, WINDOW, NO_RIGHT */
	uint8_t *recv_arena; /* behind recv and read_only */
	uint8_t *huge;       /* behind HUGE: reserved, never touched */
	struct plx_actions out;
};

/** Blocks, keys, and a QP in RESET. */
void bench_init(struct bench *bench, const struct plx_rc_caps *caps, uint32_t rq_depth);
void bench_fini(struct bench *bench);

/** RESET -> INIT -> RTR -> RTS -> SQD, as far as `state`. */
void bench_bring(struct bench *bench, enum plx_qp_state state, const struct plx_rc_attr *attr);

/** Attributes that grant everything; the PSNs are the caller's. */
struct plx_rc_attr bench_attr(void);

void bench_save(const struct bench *bench, struct bench_saved *saved);
void bench_restore(struct bench *bench, const struct bench_saved *saved);
void bench_saved_free(struct bench_saved *saved);

/** The address to use with a key, so that `length` bytes are as the key's class says. */
uint64_t bench_va(enum bench_key key, uint64_t length);

/** Where that is in this process. */
uint8_t *bench_host(const struct bench *bench, enum bench_key key, uint64_t va);

/** Hand one packet to the QP; `out` is fresh. An atomic gets BENCH_ORIGINAL as the value found. */
enum plx_verdict bench_feed(struct bench *bench, const struct plx_pkt *pkt, uint64_t now);

/** Let the QP transmit until it has nothing more to send; its packets are dropped. */
void bench_drain(struct bench *bench, uint64_t now);

#define BENCH_ORIGINAL UINT64_C(0x1122334455667788)

/** A condition that a bench relies on: reports the place, and aborts. Enabled in every build. */
#define BENCH_CHECK(cond)                                        \
	do {                                                     \
		if (!(cond))                                     \
			bench_failed(#cond, __FILE__, __LINE__); \
	} while (0)

__attribute__((noreturn)) void bench_failed(const char *expr, const char *file, int line);

#endif
