/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndperf, the benchmark of Pollux: the words its files share. What the command line asked for, one
 * measurement (a job), what came of it (a result), and how results are shown.
 * It stands on plx_verbs.h alone; only raw*.c goes below, because it measures what lies there, and
 * nd2*.c to the side: what they measure stands on plx_verbs.h itself.
 * Start with struct job; main.c has the way from a command line to a table.
 */
#ifndef NDPERF_H
#define NDPERF_H

#include "endpoint.h"
#include "histogram.h"

enum {
	SIZES_MAX = 64,
	CORES = 2,
	DEPTH_MAX = 8192,
	QPS_MAX = 256,
	BATCH_MAX = 64,
	SLOTS_MAX = 1 << 20,
	ACK_TIMEOUT_MAX = 31,
	LINE = 64, /* [bytes] buffers start on a cache line */
};

#define SIZE_MAX_BYTES (UINT64_C(1) << 30)
/* [bytes] a queue pair's messages lie side by side in this much memory, unless one is longer */
#define WORKING_SET_BYTES (UINT64_C(64) << 20)

enum role {
	ROLE_SOLO,   /* both endpoints, in this process */
	ROLE_SERVER, /* the passive endpoint */
	ROLE_CLIENT, /* the active one, which measures */
};

enum op {
	OP_NONE, /* no job has it */
	OP_SEND,
	OP_WRITE,
	OP_READ,
	OP_CMP_SWAP,
	OP_FETCH_ADD,
	OP_COUNT,
};

enum test {
	TEST_NONE, /* no job has it */
	TEST_LATENCY,
	TEST_RATE,
	TEST_BANDWIDTH,
	TEST_COUNT,
};

/* What the measured messages go through. */
enum api {
	API_VERBS, /* plx_verbs.h */
	API_ND2,   /* NetworkDirect 2, which stands on it */
	API_BOTH,  /* both on the same adapters, in turns of a few milliseconds */
	API_COUNT,
};

/* Who runs where, in one process. */
enum layout {
	LAYOUT_TWO_CORES,     /* a thread for each endpoint */
	LAYOUT_ONE_CORE,      /* one thread for both */
	LAYOUT_SHARED_WORKER, /* one worker polls both, one thread is the application of both */
	LAYOUT_COUNT,
};

extern const char *const api_names[API_COUNT];
extern const char *const op_names[OP_COUNT];
extern const char *const test_names[TEST_COUNT];
extern const char *const layout_names[LAYOUT_COUNT];

/* The command line. Zero in a field that a job has too: what suits the job. */
struct options {
	struct endpoint endpoint;
	uint64_t given; /* rows of the table, for option_is_given() */
	enum role role;
	bool raw;       /* --raw: packets below the transport, instead of operations */
	bool with_raw;  /* --with-raw: before each row the raw row that judges it */
	bool once;      /* server: one client */
	bool check;     /* every byte is verified */
	bool histogram; /* printed too */
	bool fill;      /* --fill */
	bool quiet;     /* no progress line */
	int rewrite;    /* the source is written anew before each message: -1 as it suits */
	uint32_t ops;   /* bits 1 << enum op; 0: not given yet */
	uint32_t tests; /* bits 1 << enum test */
	uint64_t size[SIZES_MAX];
	uint32_t sizes;
	uint32_t depth, batch, signal, qps, path_mtu, inline_bytes, ack_timeout;
	uint64_t working_set;
	enum api api;
	enum layout layout;
	bool one_core, shared_worker; /* as given; `layout` is what they mean */
	enum plx_mode mode;
	bool is_mode_given;
	enum plx_idle idle;
	int core[CORES]; /* of the active and the passive endpoint; -1: not pinned */
	uint32_t duration_ms, warmup_ms, timeout_ms, rounds;
	const char *device2, *fault, *json;
	char oob_host[256], oob_port[8]; /* of the side channel; empty: there is none, but */
	struct plx_ip peer;              /* the server, by the communication manager, */
	uint32_t port;                   /* ... at this port; version 0: not given */
};

/* One measurement: a row of the table. Complete: nothing in it is left to be chosen. */
struct job {
	enum op op;
	enum test test;
	bool raw; /* `op` is that of the row it judges */
	bool rewrite, check;
	bool fill;       /* a turn of the loop posts until `depth` are in flight, not one batch */
	uint32_t size;   /* [bytes] of a message */
	uint32_t depth;  /* messages in flight, of one queue pair */
	uint32_t slots;  /* buffers of stride_bytes() each, used in turn; >= depth */
	uint32_t batch;  /* requests in one post */
	uint32_t signal; /* one request in so many asks for its completion */
	uint32_t qps;
	uint32_t path_mtu; /* [bytes]; 0: what the ports carry */
	uint32_t inline_bytes;
	uint32_t ack_timeout; /* 4.096 us * 2^n before a packet is sent again; 0: as usual */
	uint32_t warmup_ms, duration_ms, timeout_ms;
};

/** From one buffer to the next [bytes]; the working set of a job is slots times this. */
static inline uint64_t
stride_bytes(uint32_t size)
{
	return ((uint64_t)size + LINE - 1) / LINE * LINE;
}

/** What "the source is written anew" means, for raw packets and for messages alike. @param n of the
 * message */
static inline void
source_rewrite(void *to, uint32_t size, uint64_t n)
{
	__builtin_memset(to, (int)(n % 255 + 1), size);
}

/* How fast the machine is just now: what every figure must be read beside. */
struct calibration {
	double crc_ns;  /* ISA-L's CRC of 4 KiB that lie in L1 */
	double line_ns; /* a cache line from core to core, one way; 0: there is only one core */
	double ring_ns; /* an entry through an rte_ring from core to core, one way; 0 so too */
};

/* Round trips, or post to completion [ns]. */
struct latency {
	uint64_t samples;
	double min, p50, p90, p99, p999, p9999, max;
};

struct result {
	struct job job;
	enum api api;      /* not BOTH */
	const char *unit;  /* "ns" (latency: p50), "msg/s" (rate), "bit/s" (bandwidth) */
	double value;      /* median of the clean windows, or of all when there are too few */
	double mean;       /* of the whole measured time, same unit */
	double mean_clean; /* of all clean windows together, same unit; 0: there are none */
	uint64_t messages; /* in the measured time */
	double seconds;    /* the measured time */
	uint32_t windows, windows_clean; /* of 1 ms; 0: not divided */
	struct latency latency;          /* TEST_LATENCY */
	struct histogram *histogram;     /* of its samples, in ticks; owned by who runs jobs */
	bool ping_pong;                  /* latency is a round trip, of which half is shown too */
	uint64_t checked_bytes;          /* found right, by either end */
	char note[160];                  /* what a reader must know beside the figure; or "" */
};

/* ---- the measuring ----------------------------------------------------------------------------
 */

/**
 * Run one row of raw packets.
 *
 * @param histogram [out] of a latency job, cleared before; result->histogram may stay as it is
 * Returns: 0, or STATUS_FAILURE with the sentence in `why`
 * Threads: the main thread, no adapter is being polled meanwhile; it starts what it needs, and ends
 *          it before it returns. Ports may stay open for the next row. It uses links of net_wire
 *          from 8 up (`--device` as given when that is a net_ring), as verbs has 0 and 1.
 */
int raw_run(const struct options *options, const struct job *job, struct result *result,
	    struct plx_why *why);

/** Measure the calibration pair and the ring hop, about 20 ms. @param core as struct options has it
 */
void calibrate(const int core[CORES], struct calibration *out);

/** The ring hop alone [ns], in 2 ms; two different cores. 0: no memory, no threads */
double calibrate_ring(const int core[CORES]);

/** Percentiles of a histogram of ticks, in ns. */
void latency_of(const struct histogram *histogram, struct latency *out);

#endif
