/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Basics for all rooms: 24-bit serial numbers, time, counters, bitmaps, lists, IP addresses, prng,
 * texts, asserts.
 * It owns no state and depends only on the compiler.
 * Start with struct plx_psn: every comparison of sequence numbers in Pollux goes through it.
 */
#ifndef PLX_BASE_H
#define PLX_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "plx_types.h"

#define PLX_CACHE_LINE 64
/* Processors fetch two lines at once: an object that begins here does not share its first. */
#define PLX_LINE_PAIR (2 * PLX_CACHE_LINE)
/* Begins a cache line: before a member, or after the closing brace of a struct. */
#define PLX_ALIGNED_LINE __attribute__((aligned(PLX_CACHE_LINE)))
#define PLX_ALIGNED_PAIR __attribute__((aligned(PLX_LINE_PAIR)))

#define plx_likely(x)   __builtin_expect(!!(x), 1)
#define plx_unlikely(x) __builtin_expect(!!(x), 0)
#define PLX_COLD        __attribute__((cold, noinline))
#define PLX_HOT         __attribute__((hot))

#define PLX_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- texts of enums ---- */

/* Define the function NAME(), which returns the text of a value of TYPE, or `unknown` for a value
 * that is none of its COUNT. LIST is the enum's X-list, so no entry can be missing; ENTRY(name,
 * text) makes an entry of the table. */
#define PLX_TEXT_FUNCTION(name, type, count, LIST, ENTRY, unknown)           \
	const char *name(type value)                                         \
	{                                                                    \
		static const char *const texts[count] = {LIST(ENTRY)};       \
                                                                             \
		return (unsigned)value < (count) ? texts[value] : (unknown); \
	}

/* ---- the sentence that explains a refused call ---- */

/** Format the sentence; one that is too long is cut. @param why may be NULL */
void plx_why_set(struct plx_why *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- invariants ---- */

/**
 * Called when an invariant of Pollux is broken; must not return. The default traps; a program that
 * wants a message defines its own function. No packet and no argument of a caller can trigger it.
 */
__attribute__((noreturn, cold)) void plx_assert_failed(const char *expr, const char *file,
						       int line);

#define PLX_ASSERT(cond)                                              \
	do {                                                          \
		if (plx_unlikely(!(cond)))                            \
			plx_assert_failed(#cond, __FILE__, __LINE__); \
	} while (0)

/*
 * Mutants: deliberate faults, each compiled into a build of its own, which tests/sim must catch. In
 * all other builds PLX_MUTANT() is the constant 0 and generates no code. The names are plain
 * identifiers, so that grep finds both fault and test.
 */
enum plx_mutant {
	PLX_MUTANT_NONE,
	PLX_MUTANT_PSN_BARE_LESS,        /* sequence numbers compared with a bare < */
	PLX_MUTANT_ACK_ONE_TOO_MANY,     /* an ACK completes one request too many */
	PLX_MUTANT_DUP_ATOMIC_EXECUTES,  /* a duplicate atomic executes again */
	PLX_MUTANT_KEY_NOT_RECHECKED,    /* middle packets trust the key check of the first */
	PLX_MUTANT_PAD_NOT_SUBTRACTED,   /* pad bytes delivered as payload */
	PLX_MUTANT_UNKNOWN_OPCODE,       /* an unknown opcode is accepted */
	PLX_MUTANT_NAK_EVERY_GAP_PACKET, /* every packet after a gap causes a NAK */
	PLX_MUTANT_RNR_NOT_COUNTED,      /* RNR NAKs cost no retry */
	PLX_MUTANT_RETRY_NOT_RESET,      /* progress does not reset the retry counter */
	PLX_MUTANT_RECV_NOT_RETURNED,    /* an open receive entry is lost when the QP fails */
	PLX_MUTANT_TIMER_NOT_DISARMED,   /* a reset QP keeps its timer */
	PLX_MUTANT_GENERATION_IGNORED,   /* an earlier key of a slot stays valid */
	PLX_MUTANT_ICRC_SHORT,           /* the ICRC leaves out one byte */
	PLX_MUTANT_SQ_WRAPS_OVER,        /* a post to a full queue succeeds */
	PLX_MUTANT_DUP_READ_RESETS_OP,   /* a duplicate READ ends a WRITE in progress */
	PLX_MUTANT_DUP_WRITE_ACKS_READ,  /* a duplicate WRITE is acknowledged with a READ's PSN */
	PLX_MUTANT_RESTARTS_UNBOUNDED,   /* no limit to restarts for the same loss */
	PLX_MUTANT_PROBE_MOVES_CURSOR,   /* a probe becomes a retransmission of the whole flight */
	PLX_MUTANT_PROBE_COSTS_A_RETRY,  /* a probe costs a retry */
	PLX_MUTANT_PROBE_BUYS_TIME,      /* a probe restarts the ack timeout */
	PLX_MUTANT_AGAIN_BUYS_TIME,      /* going back again for a loss restarts it */
	PLX_MUTANT_STALE_BUYS_TIME,      /* a stale READ response restarts it */
	PLX_MUTANT_WINDOW_STAYS_WIDE,    /* going back does not narrow the window */
	PLX_MUTANT_GRANT_UNBOUNDED, /* what leaves is not charged to the congestion strategy's grant
				     */
	PLX_MUTANT_RNR_SENDS_ALL,   /* an RNR NAK does not narrow the window */
	PLX_MUTANT_UNKNOWN_READ_IN_PIECES, /* a READ is split that the responder may not have */
	PLX_MUTANT_ACK_SENDS_AGAIN,        /* each ACK retransmits all that is in flight */
	PLX_MUTANT_GO_BACK_SKIPS_ONE,      /* going back leaves out the missing packet */
	PLX_MUTANT_GO_BACK_TOO_FAR,        /* going back starts with acknowledged packets */
	PLX_MUTANT_WAIT_DOUBLES_ON,        /* the probe timeout doubles beyond the ack timeout */
	PLX_MUTANT_RNR_WAIT_FORGOTTEN,     /* the RNR timer is ignored */
	PLX_MUTANT_READ_AGAIN_FROM_START,  /* the rest of a READ is requested from its first byte */
	PLX_MUTANT_KEPT_STAYS,          /* a kept packet that is no longer needed is not returned */
	PLX_MUTANT_NAK_SAYS_TOO_MUCH,   /* a NAK says that a packet has arrived that has not */
	PLX_MUTANT_CNP_NEVER,           /* congestion marks cause no CNP */
	PLX_MUTANT_CNP_UNBOUNDED,       /* every congestion mark causes a CNP */
	PLX_MUTANT_CNP_UNASKED,         /* packets without a mark cause CNPs too */
	PLX_MUTANT_CQ_SPILL_WRAPS_LATE, /* the overflow area of a full CQ wraps one entry late */
	PLX_MUTANT_CQ_REFILL_NOT_TOLD,  /* entries from the overflow area wake no sleeper */
	PLX_MUTANT_ARM_DOES_NOT_LOOK,   /* arming ignores entries that are already queued */
	PLX_MUTANT_TIMER_NOT_SET_AGAIN, /* an expired timer is not set again */
	PLX_MUTANT_CREDIT_OFF_BY_ONE,   /* a send ring takes one request more than the queue */
	PLX_MUTANT_MAC_NOT_FOLLOWED,    /* frames go to a neighbour's old MAC */
	PLX_MUTANT_RECVS_BEFORE_SENDS,  /* a cycle publishes receives before sends */
	PLX_MUTANT_QPN_LOW_BITS,        /* only the low bits of a QPN are compared */
	PLX_MUTANT_ICRC_NOT_LOOKED_AT,  /* the ICRC is not checked */
	PLX_MUTANT_CE_MISREAD,          /* an ECN-capable packet counts as marked */
	PLX_MUTANT_VLAN_NOT_LOOKED_AT,  /* frames of another VLAN are received */
	PLX_MUTANT_STATION_NOT_LOOKED_AT, /* frames for another MAC are received */
	PLX_MUTANT_ADDRESS_NOT_LOOKED_AT, /* addresses other than the path's are accepted */
	PLX_MUTANT_DATAGRAM_FOR_ANYBODY,  /* datagrams for another IP address are received */
	PLX_MUTANT_READY_LIFO,            /* the queue pair that became ready last sends first */
	PLX_MUTANT_ANSWERS_PUSH_IN,       /* a queue pair that receives sends before others */
	PLX_MUTANT_DOORBELLS_FROM_SLOT_0, /* doorbells are always served from slot 0 on */
	PLX_MUTANT_GRACE_UNBOUNDED,       /* timers wait for as long as every RX burst is full */
	PLX_MUTANT_ABSENCE_CHARGED,       /* timers run while the engine does not */
	PLX_MUTANT_HANDOFF_NOT_TOLD,      /* an engine is not told of packets handed to it */
	PLX_MUTANT_BOARD_NOT_CLEARED,     /* engines are not told that neighbours have moved */
	PLX_MUTANT_MOVE_KEEPS_RECEIVES,   /* a queue pair that was given away is not flushed */
	PLX_MUTANT_MOVE_DOORBELL_STAYS,   /* ... and the new one's doorbell is not listened to */
	PLX_MUTANT_CM_RTU_NOT_REPEATED,   /* a duplicate REP is not answered by an RTU */
	PLX_MUTANT_CM_READS_OF_ONE_SIDE,  /* the peer's limit of outstanding READs is ignored */
	PLX_MUTANT_CM_HALF_OPEN_LEAKS,    /* a connection that is never completed stays counted */
	PLX_MUTANT_CM_DREQ_FOR_EVER,      /* a DREQ is retransmitted without limit */
	PLX_MUTANT_CM_REQ_TAKEN_TWICE,    /* a duplicate REQ counts as new */
	PLX_MUTANT_CM_ID_COMES_AGAIN,     /* an id is reused soon */
	PLX_MUTANT_CM_STRANGER_ENDS_IT,   /* a REQ that names a connected QP ends its connection */
	PLX_MUTANT_CC_DCQCN_NO_HYPER,     /* the increase stays additive */
	PLX_MUTANT_CC_DCQCN_ALPHA_STAYS,  /* alpha does not decay */
	PLX_MUTANT_CC_DCQCN_NO_MINIMUM,   /* CNPs slow a flow down without limit */
	PLX_MUTANT_CC_DCQCN_DECREASE_UNBOUNDED, /* every CNP slows a flow down */
	PLX_MUTANT_CC_DELAY_NO_MINIMUM,         /* delays slow a flow down without limit */
	PLX_MUTANT_CC_DELAY_DECREASE_UNBOUNDED, /* every round-trip time may slow it down */
	PLX_MUTANT_NDK_CQ_NOT_HELD,        /* a queue pair does not hold its completion queues */
	PLX_MUTANT_NDK_REGION_NOT_HELD,    /* a window does not hold the region it is bound to */
	PLX_MUTANT_NDK_PAUSE_IGNORED,      /* a paused listener takes requests */
	PLX_MUTANT_NDK_CLOSE_TOLD_TWICE,   /* a close completes twice */
	PLX_MUTANT_NDK_CLOSE_NO_FLUSH,     /* closing a queue pair forgets its requests */
	PLX_MUTANT_NDK_DONE_TWICE,         /* a request that has failed completes twice */
	PLX_MUTANT_NDK_STALLED_IS_LOST,    /* a request is forgotten while the engine is stalled */
	PLX_MUTANT_NDK_ARM_LOST,           /* a stronger arm withdraws a weaker that has fired */
	PLX_MUTANT_NDK_ARM_FIRES_TWICE,    /* an arm stays after its callback */
	PLX_MUTANT_NDK_MODERATED_FOR_EVER, /* a delayed callback waits for the count alone */
	PLX_MUTANT_NDK_DEFERRED_STAYS,     /* a refused post does not send what was deferred */
	PLX_MUTANT_NDK_SILENCE_IGNORED,    /* a silent request has a result */
	PLX_MUTANT_NDK_TOKEN_OF_BEFORE,    /* a region keeps the token of its first registration */
	PLX_MUTANT_NDK_FAST_STAYS_VALID,   /* invalidating a region's key does not end it */
	PLX_MUTANT_NDK_WINDOW_STAYS_VALID, /* invalidating a window's key does not end it */
	PLX_MUTANT_SAN_NO_CREDIT,          /* a stream sends data without a credit */
	PLX_MUTANT_SAN_CREDITS_AT_ONCE,    /* a CREDIT does not wait until the last one was seen */
	PLX_MUTANT_SAN_CREDIT_OF_NO_ROOM,  /* credits are granted whatever has not been read */
	PLX_MUTANT_SAN_SENDS_UNDER_WAY,    /* a stream is given away with sends under way */
	PLX_MUTANT_SAN_OFFER_STAYS,        /* what is offered for READs stays so in a suspension */
	PLX_MUTANT_SAN_OFFER_CROSSED,      /* an offer that crosses SUSPEND is taken */
	PLX_MUTANT_SAN_OFFER_FROM_START,   /* the rest of an offer is offered from its first byte */
	PLX_MUTANT_SAN_FETCH_STOPS,        /* nothing is fetched once control is wanted */
	PLX_MUTANT_SAN_BOTH_GIVE,          /* both ends are given away at once */
	PLX_MUTANT_SAN_EPOCH_STAYS,        /* RESUME does not count */
	PLX_MUTANT_SAN_DEADLINE_STAYS,     /* a suspension that has ended times out */
	PLX_MUTANT_SAN_FIN_OVERTAKES,      /* FIN does not wait for a large transfer */
	PLX_MUTANT_SAN_LARGE_OVERTAKES,    /* an offer does not wait for the bytes before it */
	PLX_MUTANT_SAN_URGENT_OVERTAKES,   /* an urgent byte does not wait for those before it */
	PLX_MUTANT_SAN_RING_FREE_EARLY, /* bytes of a send are overwritten before it is complete */
	PLX_MUTANT_SAN_TURN_OF_NEWEST,  /* the newest ticket is served first */
	PLX_MUTANT_SAN_TICKETS_STAY,    /* the tickets of a process that ended stay */
	PLX_MUTANT_SAN_SEIZED_SENDS,    /* sends of a process that ended are not complete */
	PLX_MUTANT_SAN_SEIZED_TOLD,     /* who lost control to the host counts as told */
	PLX_MUTANT_COUNT,
};

#ifdef PLX_MUTANT_BUILD
#define PLX_MUTANT(name) (PLX_MUTANT_BUILD == PLX_MUTANT_##name)
#else
#define PLX_MUTANT(name) 0
#endif

/* ---- 24-bit serial numbers ---- */

/**
 * A packet sequence number: 24 bits, modulo 2^24, always kept masked. A struct of its own, so that
 * `a < b` on two PSNs does not compile. Spec: IBTA vol 1, 9.7.2 (half of the space is "before").
 */
struct plx_psn {
	uint32_t v;
};

#define PLX_PSN_MASK 0xffffffu
#define PLX_PSN_HALF 0x800000u

static inline struct plx_psn
plx_psn(uint32_t v)
{
	return (struct plx_psn){v & PLX_PSN_MASK};
}

/** @param n [packets] any value; the result is modulo 2^24 */
static inline struct plx_psn
plx_psn_add(struct plx_psn a, uint32_t n)
{
	return plx_psn(a.v + n);
}

static inline struct plx_psn
plx_psn_sub(struct plx_psn a, uint32_t n)
{
	return plx_psn(a.v - n);
}

/**
 * How far `a` is ahead of `b` [packets], in -2^23 .. 2^23 - 1. A distance of exactly half the space
 * counts as behind: a READ of 2^31 bytes at path MTU 256 uses 2^23 PSNs, and its request is a
 * duplicate once all of them are used.
 */
static inline int32_t
plx_psn_diff(struct plx_psn a, struct plx_psn b)
{
	if (PLX_MUTANT(PSN_BARE_LESS))
		return (int32_t)a.v - (int32_t)b.v;
	return (int32_t)((a.v - b.v) << 8) >> 8;
}

static inline bool
plx_psn_eq(struct plx_psn a, struct plx_psn b)
{
	return a.v == b.v;
}

/** Is `a` before `b`? False when they are equal. */
static inline bool
plx_psn_before(struct plx_psn a, struct plx_psn b)
{
	return plx_psn_diff(a, b) < 0;
}

/** Is `a` in [first, first + count)? @param count [packets] at most 2^23 */
static inline bool
plx_psn_in(struct plx_psn a, struct plx_psn first, uint32_t count)
{
	return ((a.v - first.v) & PLX_PSN_MASK) < count;
}

/** A message sequence number, 24 bits; it only ever advances by one. */
struct plx_msn {
	uint32_t v;
};

static inline struct plx_msn
plx_msn_next(struct plx_msn a)
{
	return (struct plx_msn){(a.v + 1) & PLX_PSN_MASK};
}

/* ---- time ---- */

static inline uint64_t
plx_time_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** a + b, or PLX_NEVER on overflow. */
static inline uint64_t
plx_time_add(uint64_t a, uint64_t b)
{
	return a > PLX_NEVER - b ? PLX_NEVER : a + b;
}

/* ---- counters ---- */

/* Counters are plain integers that one thread writes. Other threads may read a value that is a
 * little old, never a torn one. They saturate, so that a flood cannot wrap one back to 0. */
static inline void
plx_count(uint64_t *counter, uint64_t n)
{
	uint64_t old = __atomic_load_n(counter, __ATOMIC_RELAXED);
	uint64_t sum = old + n;

	__atomic_store_n(counter, plx_unlikely(sum < old) ? UINT64_MAX : sum, __ATOMIC_RELAXED);
}

/* ---- sizes of tables ---- */

/** The smallest power of two that is not below n.
 * @param n up to 2^31 */
static inline uint32_t
plx_power_of_two(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* ---- bitmaps ---- */

#define PLX_BITMAP_WORDS(bits) (((bits) + 63) / 64)

static inline bool
plx_bitmap_test(const uint64_t *map, uint32_t bit)
{
	return map[bit / 64] >> (bit % 64) & 1;
}

static inline void
plx_bitmap_set(uint64_t *map, uint32_t bit)
{
	map[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static inline void
plx_bitmap_clear(uint64_t *map, uint32_t bit)
{
	map[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

/** The lowest set bit at or above `from`, or `bits` if no such bit is set. Cost: O(bits / 64). */
static inline uint32_t
plx_bitmap_next(const uint64_t *map, uint32_t bits, uint32_t from)
{
	for (uint32_t word = from / 64; word < PLX_BITMAP_WORDS(bits); word++) {
		uint64_t rest = map[word];

		if (word == from / 64)
			rest &= ~UINT64_C(0) << (from % 64);
		if (rest) {
			uint32_t bit = word * 64 + (uint32_t)__builtin_ctzll(rest);

			return bit < bits ? bit : bits;
		}
	}
	return bits;
}

/* ---- lists ---- */

/* An intrusive doubly linked list. The head is a node too; the head of an empty list, and a node in
 * no list, point at themselves. Removing a node twice is therefore harmless. */
struct plx_list {
	struct plx_list *next, *prev;
};

#define plx_list_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

/* The body may remove `node`; `after` is a second cursor, which the caller declares. */
#define plx_list_for_each(node, after, head)                                  \
	for ((node) = (head)->next, (after) = (node)->next; (node) != (head); \
	     (node) = (after), (after) = (node)->next)

static inline void
plx_list_init(struct plx_list *node)
{
	node->next = node->prev = node;
}

static inline bool
plx_list_empty(const struct plx_list *head)
{
	return head->next == head;
}

static inline void
plx_list_append(struct plx_list *head, struct plx_list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void
plx_list_remove(struct plx_list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	plx_list_init(node);
}

/* ---- memory that another process may write ---- */

/** From here on the compiler takes what was copied from the copy: it may not load it again. */
static inline void
plx_copied(void *copy)
{
	__asm__ volatile("" : : "r"(copy) : "memory");
}

/* ---- IP addresses ---- */

static inline size_t
plx_ip_bytes(const struct plx_ip *ip)
{
	return ip->version == 4 ? 4 : 16;
}

static inline uint32_t
plx_ip_bits(const struct plx_ip *ip)
{
	return ip->version == 4 ? 32 : 128;
}

/** The same address with zeros in the bytes that IPv4 leaves unused. */
static inline struct plx_ip
plx_ip_canonical(const struct plx_ip *ip)
{
	struct plx_ip out = {.version = ip->version};

	memcpy(out.v, ip->v, plx_ip_bytes(ip));
	return out;
}

/** Are two canonical addresses equal? */
static inline bool
plx_ip_equal(const struct plx_ip *a, const struct plx_ip *b)
{
	return a->version == b->version && memcmp(a->v, b->v, sizeof a->v) == 0;
}

/** Are the first `bits` of two addresses equal? They need not be canonical.
 * @param bits up to plx_ip_bits() of both */
static inline bool
plx_ip_same_prefix(const struct plx_ip *a, const struct plx_ip *b, uint32_t bits)
{
	uint32_t whole = bits / 8, rest = bits % 8;

	if (a->version != b->version || memcmp(a->v, b->v, whole) != 0)
		return false;
	return rest == 0 || (a->v[whole] ^ b->v[whole]) >> (8 - rest) == 0;
}

/* ---- prng ---- */

/**
 * A seeded generator (xoshiro256**, seeded by splitmix64; Blackman and Vigna, 2018). Equal seeds
 * give equal streams on every machine. For simulation and tests only; secrets come from the system.
 */
struct plx_prng {
	uint64_t s[4];
};

static inline uint64_t
plx_splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline void
plx_prng_init(struct plx_prng *prng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		prng->s[i] = plx_splitmix64(&seed);
}

static inline uint64_t
plx_prng_next(struct plx_prng *prng)
{
	uint64_t *s = prng->s;
	uint64_t five = s[1] * 5;
	uint64_t result = (five << 7 | five >> 57) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = s[3] << 45 | s[3] >> 19;
	return result;
}

/** Uniform in [0, n), by multiplication; the bias is below n / 2^64. @param n at least 1 */
static inline uint64_t
plx_prng_below(struct plx_prng *prng, uint64_t n)
{
	__extension__ typedef unsigned __int128 plx_u128;

	return (uint64_t)((plx_u128)plx_prng_next(prng) * n >> 64);
}

/** True with probability parts / 1,000,000. */
static inline bool
plx_prng_chance(struct plx_prng *prng, uint32_t parts_per_million)
{
	return plx_prng_below(prng, 1000000) < parts_per_million;
}

#endif
