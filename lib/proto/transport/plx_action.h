/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of a queue pair to the engine, the simulator or a test: work requests in, actions
 * out, and the functions that execute actions. It never decides anything. Start with
 * struct plx_actions.
 */
#ifndef PLX_ACTION_H
#define PLX_ACTION_H

#include "plx_base.h"
#include "plx_wire.h"

/* ---- limits ---- */

enum {
	PLX_WQE_BYTES = 128,
	PLX_WQE_SGES = 4,          /* in the WQE itself; further ones are in its spill */
	PLX_WQE_INLINE_BYTES = 64, /* in the WQE itself; more inline data is all in its spill */
	/* of the memory of one packet: the part of it that an SGE has may lie on two pages, and a
	 * datagram's header and payload may share an SGE */
	PLX_PIECES_MAX = 2 * (PLX_SGE_MAX + 1),
	PLX_ACTIONS_MAX = 64,
	PLX_IOVS_MAX = 112 + PLX_PIECES_MAX,
	/* entries that must be free when an entry point is called; completions of earlier requests
	 * use further ones if they are free */
	PLX_ACTIONS_PER_PACKET =
		PLX_PIECES_MAX + 3, /* places (or one atomic), completion, 2 events */
};

/* ---- work requests ---- */

/* What a REG registers: a promised life of a region (lib/proto/mem), and its terms. `host` is the
 * address of the memory, as a program registers it otherwise. */
struct plx_wqe_region {
	uint64_t va, length, host;
	uint32_t slot, life;
	struct plx_key key;
	struct plx_access access;
	uint8_t list; /* not 0: instead of `host`, a list of pages that the region has */
};

/*
 * One send queue entry, as stored in a ring: two cache lines, no pointers; most requests need only
 * the first line. It holds up to four SGEs or 64 inline bytes; longer lists and longer inline data
 * are in a spill buffer beside it.
 */
struct plx_wqe {
	uint64_t wr_id;
	union {
		struct {
			uint32_t inline_bytes; /* with PLX_WR_INLINE */
			uint8_t op;            /* enum plx_wr_op */
			uint8_t flags;         /* enum plx_wr_flag */
			uint8_t sges;          /* 0 .. the QP's limit */
			uint8_t mark;          /* used by the ring */
		};
		uint64_t word; /* written last in a ring */
	};
	union {
		uint32_t imm;           /* *_IMM, host byte order */
		struct plx_key inv_key; /* SEND_INV, LOCAL_INV; BIND: to be unbound if flushed */
	};
	union {
		struct plx_key rkey;
		uint32_t remote_qkey; /* of a datagram */
	};
	union {
		uint64_t remote_va;
		struct {
			uint32_t ah,
				remote_qpn; /* of a datagram; the handle's number in its engine */
		};
	};
	union {
		struct plx_sge sge[PLX_WQE_SGES];
		uint8_t data[PLX_WQE_INLINE_BYTES];
		struct plx_wqe_region region; /* REG */
	};
	uint64_t swap_add; /* CMP_SWAP: swap; FETCH_ADD: add; else ignored */
	uint64_t compare;  /* CMP_SWAP */
	uint64_t resv2[2];
};

_Static_assert(sizeof(struct plx_wqe) == PLX_WQE_BYTES, "a WQE is two cache lines");
_Static_assert(offsetof(struct plx_wqe, mark) == offsetof(struct plx_wqe, word) + 7,
	       "a ring's mark is bit 56 of the word");

/* ---- actions ---- */

enum plx_action_kind {
	PLX_ACT_NONE,
	PLX_ACT_PLACE,    /* copy into granted memory */
	PLX_ACT_LOAD,     /* fill a shadow from the private memory that it stands for */
	PLX_ACT_ATOMIC,   /* read-modify-write granted memory, keep the old value */
	PLX_ACT_COMPLETE, /* a completion queue entry */
	PLX_ACT_EVENT,    /* something happened to the QP */
	PLX_ACT_EMIT,     /* send one packet */
};

/* The executor copies in ascending order, the last byte last (docs/nd2.md, Order). */
struct plx_place {
	uint8_t *dst;
	const uint8_t *src; /* into the packet's payload, or into the QP */
	uint32_t bytes;
	uint32_t
		is_private; /* `dst` is a shadow: the bytes are for the memory that it stands for */
};

/* The QP emits nothing of what needs these bytes before they are there. It is called again when all
 * have been loaded, or after plx_rc_fail_load(). */
struct plx_load {
	uint8_t *shadow;
	uint32_t bytes;
	bool answers; /* a READ of the peer; else a request of ours */
};

/* Eight bytes at an aligned address, in host byte order. */
struct plx_atomic {
	uint8_t *target;
	uint64_t swap_add, compare;
	uint64_t *original; /* into the QP: the executor stores the old value here */
	bool cmp_swap;      /* else fetch-and-add */
};

struct plx_event {
	uint32_t qpn;
	uint8_t kind;  /* enum plx_event_kind */
	uint8_t cause; /* FAILED: enum plx_wc_status */
};

struct plx_iov {
	const uint8_t *base;
	uint32_t bytes;
	uint32_t is_private; /* PLX_PAGE_PRIVATE; 32 bits, to be stored with `bytes` at once */
};

enum plx_emit_flag {
	PLX_EMIT_RETRANSMIT = 1 << 0,
	PLX_EMIT_RESPONSE = 1 << 1,
	/* first transmission of a SEND or WRITE whose source regions all have PLX_ACCESS_STABLE:
	 * the only payload that may leave without a copy (docs/decisions/0004) */
	PLX_EMIT_STABLE = 1 << 2,
};

/* A packet to send: header fields, and where its payload is. `pkt.payload` is not used. */
struct plx_emit {
	struct plx_pkt pkt;
	uint16_t iov_first; /* into plx_actions.iov */
	uint8_t iovs;
	uint8_t flags; /* enum plx_emit_flag */
	uint32_t ah;   /* for a datagram: plx_wqe.ah */
};

struct plx_action {
	uint8_t kind; /* enum plx_action_kind */
	union {
		struct plx_place place;
		struct plx_load load;
		struct plx_atomic atomic;
		struct plx_completion completion;
		struct plx_event event;
		struct plx_emit emit;
	};
};

/*
 * The actions of a call, to be executed in this order; then the caller empties the list with
 * plx_actions_reset(). Pointers in it are valid until the next call on the same QP, or until the
 * packet that caused them is freed. Memory actions must be executed before the next plx_rc_*().
 */
struct plx_actions {
	uint32_t count;
	uint32_t iovs;
	struct plx_action list[PLX_ACTIONS_MAX];
	struct plx_iov iov[PLX_IOVS_MAX];
};

static inline void
plx_actions_reset(struct plx_actions *actions)
{
	actions->count = 0;
	actions->iovs = 0;
}

/** Execute a PLACE: copy its bytes, the last byte last. */
void plx_place_bytes(const struct plx_place *place);

/** Execute a PLACE or an ATOMIC on this process's memory; any other kind does nothing. */
void plx_action_apply_memory(const struct plx_action *action);

/**
 * Write the whole frame of an EMIT: headers, payload, pad, ICRC.
 *
 * @param out at least plx_emit_bytes() long
 * Returns: bytes written
 */
size_t plx_emit_write(const struct plx_frame_template *tmpl, const struct plx_actions *actions,
		      const struct plx_emit *emit, plx_icrc_fn icrc, uint8_t *out);

/** Bytes of the frame that plx_emit_write() writes. */
size_t plx_emit_bytes(const struct plx_frame_template *tmpl, const struct plx_emit *emit);

#endif
