/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndperf, the benchmark of Pollux: types shared by its files. The command line, one measurement (a
 * job), its outcome (a result), and how results are shown.
 * It uses plx_verbs.h only, with exceptions: raw*.c uses the layers below, because it measures
 * them; nd2*.c and ndk*.c use ND2 and NDK, which stand on plx_verbs.h.
 * Start with struct job; main.c leads from a command line to a table.
 */
#ifndef NDPERF_H
#define NDPERF_H

#include "endpoint.h"
#include "histogram.h"
#include "stalls.h"

enum {
	SIZES_MAX = 64,
	CORES = 2,
	DEPTH_MAX = 8192,
	QPS_MAX = 10000,
	FLIGHT = 8192, /* messages under way on all queue pairs, unless chosen */
	FLIGHT_MAX = 1 << 20,
	BATCH_MAX = 64,
	SLOTS_MAX = 1 << 20,
	ACK_TIMEOUT_MAX = 31,
	RATE_MAX = 100 << 20, /* [messages/s] of an open loop */
	LINE = 64,            /* [bytes] buffers start on a cache line */
};

#define SIZE_MAX_BYTES (UINT64_C(1) << 30)
/* [bytes] memory for one queue pair's messages, which lie side by side, unless a single one is
 * longer */
#define WORKING_SET_BYTES (UINT64_C(64) << 20)

enum role {
	ROLE_SOLO,   /* both endpoints in this process */
	ROLE_SERVER, /* the passive endpoint */
	ROLE_CLIENT, /* the active endpoint, which measures */
};

enum op {
	OP_NONE, /* never in a job */
	OP_SEND,
	OP_WRITE,
	OP_READ,
	OP_CMP_SWAP,
	OP_FETCH_ADD,
	OP_COUNT,
};

enum test {
	TEST_NONE, /* never in a job */
	TEST_LATENCY,
	TEST_RATE,
	TEST_BANDWIDTH,
	TEST_COUNT,
};

/* Who sends, in tests of rate and bandwidth. */
enum direction {
	DIRECTION_NONE, /* never in a job */
	DIRECTION_ONE,  /* the active endpoint */
	DIRECTION_BOTH, /* both at once; the figure is the sum */
	DIRECTION_COUNT,
};

/* The interface that messages are measured through. */
enum api {
	API_VERBS, /* plx_verbs.h */
	API_ND2,   /* NetworkDirect 2, which uses plx_verbs.h */
	API_NDK,   /* NDKPI, which uses it, too */
	/* verbs and one of them on the same adapters, alternating every few milliseconds */
	API_VERBS_ND2,
	API_VERBS_NDK,
	API_COUNT,
};

/* The threads and cores of the endpoints in one process. */
enum layout {
	LAYOUT_TWO_CORES,     /* one thread per endpoint */
	LAYOUT_ONE_CORE,      /* one thread for both */
	LAYOUT_SHARED_WORKER, /* one worker polls both, one thread is the application of both */
	LAYOUT_COUNT,
};

/** Does it alternate between two? */
static inline bool
api_takes_turns(enum api api)
{
	return api >= API_VERBS_ND2;
}

extern const char *const api_names[API_COUNT];
extern const char *const op_names[OP_COUNT];
extern const char *const test_names[TEST_COUNT];
extern const char *const direction_names[DIRECTION_COUNT];
extern const char *const layout_names[LAYOUT_COUNT];

/* The command line. A zero in a field that a job also has: chosen to suit the job. */
struct options {
	struct endpoint endpoint;
	uint64_t given; /* rows of the table that were given, for option_is_given() */
	enum role role;
	bool raw;         /* --raw: packets below the transport instead of operations */
	bool with_raw;    /* --with-raw: precede each row by the raw row that it is compared with */
	bool once;        /* server: serve one client */
	bool check;       /* verify every byte */
	bool histogram;   /* print it, too */
	bool fill;        /* --fill */
	bool is_private;  /* --private: messages are in memory of malloc() */
	bool percentiles; /* --percentiles: tell the machine's stalls from the library's time */
	bool quiet;       /* no progress line */
	int rewrite;      /* rewrite the source before each message: -1: chosen to suit the job */
	uint32_t ops;     /* bits 1 << enum op; 0: not given yet */
	uint32_t tests;   /* bits 1 << enum test */
	uint32_t open_rate;    /* --open: messages per second; 0: not given, or `open_percent` */
	uint32_t open_percent; /* ... of the rate measured just before */
	uint32_t schedule;     /* 0: fixed, 1: poisson */
	uint32_t seed;
	uint32_t directions; /* bits 1 << enum direction */
	uint64_t size[SIZES_MAX];
	uint32_t sizes;
	uint32_t depth, signal, flight, path_mtu, inline_bytes, ack_timeout;
	struct option_numbers batch, qps; /* a row for each */
	uint64_t working_set;
	enum api api;
	enum layout layout;
	uint32_t ip;                  /* 0: IPv4, 1: IPv6 */
	uint32_t vlan;                /* 0: untagged */
	uint32_t congestion;          /* 0: NONE; see congestion_names */
	bool one_core, shared_worker; /* as given; `layout` results from them */
	enum plx_mode mode;
	bool is_mode_given;
	enum plx_idle idle;
	int core[CORES]; /* of the active and the passive endpoint; -1: not pinned */
	uint32_t duration_ms, warmup_ms, timeout_ms, rounds;
	const char *device2, *fault, *json;
	char oob_host[256], oob_port[8]; /* of the side channel; empty: no side channel; */
	struct plx_ip peer; /* the server is then reached through the communication manager, */
	uint32_t port;      /* ... at this port; version 0: not given */
};

/* One measurement: a row of the table. It is complete: nothing is left to choose. */
struct job {
	enum op op;
	enum test test;
	bool raw;  /* `op` is that of the row it is compared with */
	bool both; /* both endpoints send at once, and the figure is the sum */
	bool rewrite, check;
	bool is_private; /* messages are in memory of malloc() */
	bool open;       /* an open loop: latencies of messages that are posted when they are due */
	bool is_random;  /* ... at random times */
	uint32_t rate;   /* ... so many per second; 0: `percent` of the last row's */
	uint32_t percent;
	uint32_t seed;
	bool fill; /* each turn of the loop posts until `depth` are in flight, not just one batch */
	uint32_t size;   /* [bytes] per message */
	uint32_t depth;  /* messages in flight per queue pair */
	uint32_t slots;  /* buffers of stride_bytes() each, used in rotation; >= depth */
	uint32_t batch;  /* requests per post */
	uint32_t signal; /* one request in this many is signaled */
	uint32_t qps;
	uint32_t flight;   /* messages in flight on all queue pairs together; >= batch */
	uint32_t path_mtu; /* [bytes]; 0: the largest that the ports support */
	uint32_t inline_bytes;
	uint32_t ack_timeout; /* 4.096 us * 2^n before a retransmission; 0: the default */
	uint32_t warmup_ms, duration_ms, timeout_ms;
};

/** Distance between buffers [bytes]; a job's working set is `slots` times this. */
static inline uint64_t
stride_bytes(uint32_t size)
{
	return ((uint64_t)size + LINE - 1) / LINE * LINE;
}

/** Rewrite the source, for raw packets and for messages alike.
 * @param n number of the message */
static inline void
source_rewrite(void *to, uint32_t size, uint64_t n)
{
	__builtin_memset(to, (int)(n % 255 + 1), size);
}

/* The present speed of the machine, to compare all results with. */
struct calibration {
	double crc_ns;  /* ISA-L's CRC of 4 KiB in the L1 cache */
	double line_ns; /* moving a cache line between cores, one way; 0: there is only one core */
	double ring_ns; /* moving an entry through an rte_ring between cores, one way; 0 as above */
};

/* Round-trip times, or times from post to completion [ns]. */
struct latency {
	uint64_t samples;
	double min, p50, p90, p99, p999, p9999, max;
};

struct result {
	struct job job;
	enum api api;      /* a single one */
	const char *unit;  /* "ns" (latency: p50), "msg/s" (rate), "bit/s" (bandwidth) */
	double value;      /* median of the clean windows, or of all windows if too few are clean */
	double mean;       /* over the whole measured time, same unit */
	double mean_clean; /* over all clean windows together, same unit; 0: there are none */
	uint64_t messages; /* in the measured time */
	double seconds;    /* the measured time */
	uint32_t windows, windows_clean; /* of 1 ms; 0: not divided into windows */
	struct latency latency;          /* TEST_LATENCY */
	struct histogram *histogram;     /* of the latency samples, in ticks; owned by the caller */
	uint64_t missed;            /* messages of an open loop that were due and never posted */
	bool has_stalls;            /* with --percentiles: */
	struct latency undisturbed; /* ... samples in which no thread had a stall */
	struct stalls in_loop, machine; /* ... stalls of the measuring threads, and of a meter */
	bool ping_pong;         /* the latency is a round trip, and half of it is shown, too */
	uint64_t checked_bytes; /* verified by either end */
	char note[160];         /* a remark that the reader needs; or "" */
};

/** Of an open loop: messages that ended, per second of the measured time. */
static inline double
result_achieved(const struct result *result)
{
	return result->seconds > 0 ? (double)result->messages / result->seconds : 0;
}

/* ---- measuring ---- */

/**
 * Run one row of raw packets.
 *
 * @param histogram [out] of a latency job, cleared before; result->histogram may stay as it is
 * Returns: 0, or STATUS_FAILURE with the sentence in `why`
 * Threads: the main thread, while no adapter is being polled; it starts the threads that it needs,
 * and ends them before it returns. Ports may stay open for the next row. It uses links of net_wire
 * from 8 up (`--device` as given if that is a net_ring), because verbs uses 0 and 1.
 */
int raw_run(const struct options *options, const struct job *job, struct result *result,
	    struct plx_why *why);

/** Measure the calibration pair and the ring hop, in about 20 ms.
 * @param core as in struct options */
void calibrate(const int core[CORES], struct calibration *out);

/** Measure the ring hop alone [ns], in 2 ms, between two different cores. 0: no memory or
 * threads */
double calibrate_ring(const int core[CORES]);

/** Compute percentiles in ns from a histogram of ticks. */
void latency_of(const struct histogram *histogram, struct latency *out);

#endif
