/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Congestion strategies of a queue pair (struct plx_cc_ops): DCQCN, which reacts to congestion
 * notifications, and a delay controller in the manner of Swift, which reacts to round-trip times.
 * They never set a timer: what time has changed since the last call is computed from `now`. They
 * allocate nothing, and each call does a bounded amount of work. Start with struct plx_dcqcn and
 * plx_dcqcn_init(); docs/decisions/0065-congestion.md says why they are as they are.
 */
#ifndef PLX_CONGESTION_H
#define PLX_CONGESTION_H

#include "plx_base.h"
#include "plx_transport.h"

/* ---- limits ---- */

#define PLX_CC_RATE_MIN UINT64_C(1000000)      /* [bit/s] */
#define PLX_CC_RATE_MAX UINT64_C(800000000000) /* [bit/s]; rates have 40 bits */

enum {
	PLX_CC_BURST_NS_MAX = 1000000,
	PLX_CC_BURST_BYTES_MIN = PLX_MTU_MAX + (int)PLX_CC_HEADER_BYTES, /* a packet */
	PLX_CC_BURST_BYTES_MAX = 1 << 20,
	PLX_CC_PERIOD_NS_MIN = 1000, /* of a strategy's timers and intervals */
	PLX_CC_PERIOD_NS_MAX = 1000000000,
	PLX_DCQCN_BYTES_MIN = 1 << 16, /* from one rate increase to the next */
	PLX_DCQCN_BYTES_MAX = 1 << 30,
	PLX_DCQCN_GAIN_MAX = 12,  /* a gain of 1/4096 */
	PLX_DCQCN_STEPS_MAX = 16, /* of fast recovery */
	PLX_DELAY_AI_BYTES_MAX = 1 << 16,
	PLX_DELAY_FACTOR_ONE = 256,
};

#define PLX_DELAY_EXPIRY_NS_MIN (10 * PLX_MSEC)
#define PLX_DELAY_EXPIRY_NS_MAX (600 * PLX_SEC)

/* ---- pacing ---- */

/* Which rates a strategy may choose, and what may leave at once. */
struct plx_cc_limits {
	uint64_t line_rate; /* [bit/s] of the port; a flow is never faster */
	uint64_t min_rate;  /* [bit/s] a flow is never slower, whatever its peer sends */
	uint64_t burst_ns; /* a grant holds what leaves in this time; as much may be made up after a
			    * timer that fires late */
	uint32_t burst_bytes; /* and never more than this */
};

/* When the next packet may leave. */
struct plx_cc_pace {
	uint64_t next_at;  /* [ns] */
	uint32_t fraction; /* [2^-10 ns] */
};

/* ---- DCQCN ---- */

/* The parameters of DCQCN's reaction point, as in Zhu et al., Congestion Control for Large-Scale
 * RDMA Deployments, SIGCOMM 2015. The names that mlx5 has for them are in brackets. */
struct plx_dcqcn_params {
	struct plx_cc_limits limits;
	uint64_t ai_rate;        /* [bit/s] additive increase, 1 .. line rate [rpg_ai_rate] */
	uint64_t hai_rate;       /* [bit/s] hyper increase, ai_rate .. line rate [rpg_hai_rate] */
	uint64_t increase_ns;    /* from one increase to the next [rpg_time_reset] */
	uint64_t increase_bytes; /* likewise, counted in bytes sent [rpg_byte_reset] */
	uint64_t alpha_ns;       /* without a CNP, alpha decays once in this time [dce_tcp_rtt] */
	uint64_t decrease_ns;    /* at most one decrease in it [rate_reduce_monitor_period] */
	uint32_t gain;           /* g = 2^-gain [dce_tcp_g] */
	uint32_t recovery_steps; /* F: increases before the additive ones [rpg_threshold] */
};

/** The defaults for a port of `line_rate` bit/s. */
struct plx_dcqcn_params plx_dcqcn_defaults(uint64_t line_rate);

/** Errors: INVALID, and `why` says which value is out of its range; it may be NULL. */
enum plx_status plx_dcqcn_check(const struct plx_dcqcn_params *params,
				struct plx_why *why) PLX_MUST_CHECK;

/* Private to plx_cc_dcqcn; its size is public, so that it can be part of another object. */
struct plx_dcqcn {
	const struct plx_dcqcn_params *params;
	uint64_t rate, target; /* [bit/s] Rc and Rt; meaningless while not limited */
	struct plx_cc_pace pace;
	uint64_t increased_at;            /* [ns] when the increase timer was last set */
	uint64_t alpha_at;                /* [ns] when alpha's timer was last set */
	uint64_t decrease_at;             /* [ns] no decrease before */
	uint32_t alpha;                   /* [2^-20] */
	uint32_t bytes;                   /* since the byte counter was last set */
	uint16_t timer_steps, byte_steps; /* increases since the last decrease */
	bool limited;                     /* slower than the line rate */
	bool cnp_waits;                   /* until decrease_at */
};

/**
 * The strategy that reacts to CNPs. A flow without congestion is not paced at all. A CNP slows it
 * down; it recovers in the stages of DCQCN, and is not paced any more once it is within 1/128 of
 * the line rate.
 * CNPs of any number cause at most one decrease in decrease_ns, and no rate under min_rate.
 * Its state is a struct plx_dcqcn.
 * Tests: tests/unit/proto/congestion/dcqcn.c, tests/sim/congestion/main.c
 */
extern const struct plx_cc_ops plx_cc_dcqcn;

/** @param params accepted by plx_dcqcn_check(); outlives the state, and may be shared */
void plx_dcqcn_init(struct plx_dcqcn *state, const struct plx_dcqcn_params *params, uint64_t now);

/** The rate [bit/s] at `now`, which is not before that of any earlier call; the line rate if the
 * flow is not paced. */
uint64_t plx_dcqcn_rate(const struct plx_dcqcn *state, uint64_t now);

/* ---- delay ---- */

/* The parameters of the delay controller, after Kumar et al., Swift: Delay is Simple and Effective
 * for Congestion Control in the Datacenter, SIGCOMM 2020. */
struct plx_delay_params {
	struct plx_cc_limits limits;
	uint64_t queue_ns;       /* the delay in queues that it aims at */
	uint64_t base_rtt_ns;    /* an upper limit of the base round-trip time; 0: unknown */
	uint64_t base_expiry_ns; /* a minimum is forgotten after one to two of these */
	uint32_t ai_bytes;       /* additive increase of the window in a round-trip time */
	uint32_t beta;           /* [1/256] decrease, of the part of a round trip beyond the base */
	uint32_t decrease_max;   /* [1/256] maximum decrease in a round-trip time */
};

/** The defaults for a port of `line_rate` bit/s. */
struct plx_delay_params plx_delay_defaults(uint64_t line_rate);

/** Errors: as plx_dcqcn_check() */
enum plx_status plx_delay_check(const struct plx_delay_params *params,
				struct plx_why *why) PLX_MUST_CHECK;

/* Private to plx_cc_delay. */
struct plx_delay {
	const struct plx_delay_params *params;
	uint64_t window;            /* [1/256 bytes] */
	uint64_t rtt;               /* [ns] the newest; 0: none yet */
	uint64_t least, least_past; /* [ns] minima of this period and of the one before */
	uint64_t period_at;         /* [ns] when this period began */
	uint64_t updated_at;        /* [ns] of the newest round-trip time */
	uint64_t decreased_at;      /* [ns] of the last decrease */
	struct plx_cc_pace pace;
};

/**
 * The strategy that reacts to round-trip times. It keeps a window as Swift does, and paces it over
 * a round-trip time: the longer that is, the slower the flow. CNPs do not concern it; its own
 * congestion marks are answered all the same.
 * Its state is a struct plx_delay.
 * Tests: tests/unit/proto/congestion/delay.c, tests/sim/congestion/main.c
 */
extern const struct plx_cc_ops plx_cc_delay;

/** @param params accepted by plx_delay_check(); outlives the state, and may be shared */
void plx_delay_init(struct plx_delay *state, const struct plx_delay_params *params, uint64_t now);

/** The rate [bit/s]; an eighth of the line rate until a round-trip time is known. */
uint64_t plx_delay_rate(const struct plx_delay *state);

/** [ns] The round-trip time without queues, as far as known; 0: not known. */
uint64_t plx_delay_base(const struct plx_delay *state);

_Static_assert(sizeof(struct plx_dcqcn) <= 128 && sizeof(struct plx_delay) <= 128,
	       "the state of a strategy takes two cache lines of a queue pair");

#endif
