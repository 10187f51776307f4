/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pollux: RDMA on any NIC. Adapters: their configuration, opening and closing, memory for messages,
 * neighbours, counters. The objects on them are in plx_verbs.h, which programs include.
 * No call prints or ends the program. A refused call changes nothing. The notes on threads in
 * plx_verbs.h apply here too. Start with plx_adapter_open().
 */
#ifndef PLX_ADAPTER_H
#define PLX_ADAPTER_H

#include "plx_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct plx_adapter;

/* ---- version ---- */

/** The library's version, such as "0.1.0". */
PLX_API const char *plx_version(void);

/* ---- adapters ---- */

enum {
	PLX_ADAPTER_NAME_MAX = 31,
	PLX_ADAPTER_ADDRESSES_MAX = 8,
	PLX_ADAPTER_ROUTES_MAX = 16,
	PLX_ADAPTERS_MAX = 32, /* in one process, open at once */
	/* interface index of the first adapter of the configuration file, if that does not give it
	 * one; the others follow in its order. The kernel counts its interfaces from 1, and does
	 * not get so far */
	PLX_INTERFACE_FIRST = 0x506c00,
	PLX_INTERFACE_MAX = 0xffffff, /* 24 bits, which is what a NET_LUID of Windows has for it */
};

enum plx_mode {
	PLX_MODE_WORKER, /* a thread of Pollux polls */
	PLX_MODE_INLINE, /* the application polls, by plx_adapter_poll() */
};

/* How to open an adapter: one section of the configuration file. */
struct plx_adapter_options {
	/* path of the socket of a host (polluxd) that owns the adapter; device, addresses and all
	 * else but the name are then the host's. Empty: this program opens the device itself */
	char host[108];
	char device[256]; /* "net_wire0,end=0", "net_tap0,iface=plx0", "0000:3b:00.0" */
	struct {
		struct plx_ip ip;
		uint8_t prefix_bits;
	} address[PLX_ADAPTER_ADDRESSES_MAX];
	uint32_t addresses;
	/* routes to networks other than those of the addresses; the longest prefix wins; prefix 0:
	 * the default route */
	struct {
		struct plx_ip net;
		uint8_t prefix_bits;
		struct plx_ip via;
	} route[PLX_ADAPTER_ROUTES_MAX];
	uint32_t routes;
	enum plx_mode mode;
	/* adapters that name the same worker share its thread; the first one opened sets `core` and
	 * `idle`; empty: a thread of its own */
	char worker[16];
	int core; /* of the worker of engine 0; the next engines' are on the next cores; -1: any */
	/* 1 .. 16: pairs of queues of the device, each with an engine and in worker mode a thread
	 * of its own; 0: 1 */
	uint32_t engines;
	enum plx_idle idle;
	uint32_t path_mtu;    /* [bytes] 256 .. 4096; 0: the largest that the device supports */
	uint32_t qps;         /* maximum number of queue pairs of each engine; 0: 1024 */
	uint32_t keys;        /* ... of regions and windows; 0: 65536 */
	uint32_t connections; /* ... of connections of the communication manager; 0: qps, but at
				 least 1024 */
	/* ... of connections requested by one address; 0: all but one in 64, so that other peers
	 * find room */
	uint32_t connections_per_peer;
	uint32_t packets; /* buffers of the pool; 0: 8192 for each engine, but at least 16384 */
	uint32_t vlan;    /* 1 .. 4094: frames sent and accepted carry this tag; 0: none */
	uint8_t dscp;
	/* packets of all connections are ECN-capable, ECT(0), so that switches mark them instead of
	 * dropping them. Marks on received packets are always answered */
	bool ecn;
	enum plx_congestion congestion; /* of queue pairs without a choice of their own; 0: NONE */
	uint32_t rate_mbps;        /* of the port, by which congestion strategies pace; 0: 10000 */
	uint32_t start_timeout_ms; /* 0: 10000 */
	/* maximum depth of a send, receive or shared receive queue; 0: 32768 */
	uint32_t queue_depth;
	/* delay between DISCONNECTED and the flush of the queue pair if the peer disconnected */
	uint32_t disconnect_grace_ms; /* 0: at once; plx_adapter_options_init(): 10 */
	/* 1 .. PLX_INTERFACE_MAX: by which programs for Windows find it (GetAdaptersAddresses,
	 * WskOpenNdkAdapter), and unique in the configuration file; 0: none. The file's always have
	 * one */
	uint32_t interface_index;
	/* of the thread that ND2 and NDK make their callbacks on, in worker mode; -1: any */
	int dispatcher_core;
};

/** Set defaults: worker mode, any core, idle by spinning, a disconnect grace of 10 ms, no address.
 * The caller sets the device and at least one address. */
PLX_API void plx_adapter_options_init(struct plx_adapter_options *options);

/**
 * Read the options of an adapter from the configuration file. The environment variable
 * POLLUX_CONFIG names it; the default is /etc/pollux/pollux.conf. A program with more rights than
 * its caller (setuid) ignores the variable.
 *
 * Errors: CONFIG (no such file; the file is owned by neither root nor the effective user, or others
 * may write to it; no such adapter; an invalid setting: file, line, value, range)
 */
PLX_API enum plx_status plx_adapter_options_load(const char *adapter,
						 struct plx_adapter_options *options,
						 struct plx_why *why) PLX_MUST_CHECK;

/**
 * List the adapters of the configuration file, without starting the EAL.
 * Returns: the number of adapters, of which the first `n` were written; -1: the file is invalid
 */
PLX_API int plx_adapter_list(char (*names)[PLX_ADAPTER_NAME_MAX + 1], uint32_t n,
			     struct plx_why *why);

/**
 * Start DPDK's EAL, if it is not running. The first plx_adapter_open() calls this. A program that
 * needs its own EAL arguments calls this, or rte_eal_init(), first. The EAL is never stopped.
 *
 * @param arguments one string, as on a command line, separated by blanks; NULL: the `eal` setting
 *                  of the file; without it, hugepages if available
 * Errors: NO_MEMORY, NO_DEVICE, CONFIG, STATE (already started, and `arguments` is not NULL)
 */
PLX_API enum plx_status plx_eal_start(const char *arguments, struct plx_why *why) PLX_MUST_CHECK;

/**
 * Open an adapter: its device, pool and engine, and in worker mode its thread.
 *
 * @param name    [1 .. PLX_ADAPTER_NAME_MAX] in telemetry; if `options` is NULL, the section of the
 *                configuration file
 * @param options NULL: plx_adapter_options_load(name)
 * Errors (each with a sentence): INVALID, CONFIG, NO_DEVICE, NO_MEMORY, TOO_LONG (path_mtu), BUSY
 * (name in use), TIMEOUT (the device does not start)
 */
PLX_API enum plx_status plx_adapter_open(const char *name,
					 const struct plx_adapter_options *options,
					 struct plx_adapter **adapter,
					 struct plx_why *why) PLX_MUST_CHECK;

/** Close an adapter after its worker has stopped using the engine. Errors: BUSY (it still has
 * objects) */
PLX_API enum plx_status plx_adapter_close(struct plx_adapter *adapter) PLX_MUST_CHECK;

struct plx_adapter_info {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	char device[64];
	uint8_t mac[6];
	int socket; /* NUMA node; -1: any */
	uint32_t path_mtu;
	uint32_t vlan; /* 0: none */
	bool hugepages;
	bool link_up;
	uint32_t engines;
	bool tx_lost_on_exit; /* e.g. memif: the exit of the process loses packets not read yet */
	enum plx_mode mode;
	enum plx_idle idle; /* as in the options; a shared worker uses its first adapter's */
	uint32_t addresses;
	struct plx_ip address[PLX_ADAPTER_ADDRESSES_MAX];
	/* limits */
	uint32_t qps, keys, cq_depth, queue_depth, srq_depth, sges, inline_bytes, rd_atomic_max;
	uint64_t message_max;
	uint16_t udp_port;
	uint32_t interface_index; /* 0: none */
	int dispatcher_core;      /* as in the options */
	/* this program's seat at a host in another process, by which other programs name it to
	 * plx_qp_export(); 0: the adapter is the program's own */
	uint32_t seat;
};

/** Describe the adapter and its limits. Threads: any. */
PLX_API void plx_adapter_query(const struct plx_adapter *adapter, struct plx_adapter_info *out);

/**
 * Run one duty cycle of each engine (inline mode).
 * Returns: the amount of work done; 0: none. In worker mode it does nothing and returns 0.
 * Cost: hot; no system call
 */
PLX_API uint32_t plx_adapter_poll(struct plx_adapter *adapter);

/**
 * Prepare the calling thread to poll an engine in inline mode, as the thread is that has opened the
 * adapter: DPDK then caches packet buffers for it. Without, it works, several times slower. In
 * worker mode it does nothing.
 * Returns: false: 64 threads are prepared already. Threads: any; once is enough
 */
PLX_API bool plx_adapter_prepare_thread(struct plx_adapter *adapter);

/**
 * Check that the adapter's worker is running: wait until each engine has completed a duty cycle
 * that ended after this call began.
 *
 * @param timeout_ms longest wait
 * Returns: false: an engine has not completed one in time; other calls that wait for it return
 * TIMEOUT. In inline mode always true, at once. Threads: any.
 */
PLX_API bool plx_adapter_is_running(struct plx_adapter *adapter, uint32_t timeout_ms);

/** Fetch the next asynchronous event. HOST_GONE comes once: nothing completes any more, and no
 * other descriptor tells so. Returns: false: no event is pending. Threads: any. */
PLX_API bool plx_adapter_next_async_event(struct plx_adapter *adapter, struct plx_async_event *out);

/** Get a descriptor that is readable while an asynchronous event is pending. The adapter owns it.
 */
PLX_API int plx_adapter_async_fd(struct plx_adapter *adapter);

enum {
	PLX_ASYNC_EVENT_TEXT_BYTES = 384, /* enough for the text of any event */
	PLX_LOG_LINES_PER_S = 10, /* per process; further lines are counted and reported later */
};

/**
 * Describe an event in one sentence. For FAILED it includes the cause, PSNs, retries, and how long
 * the engine was not polled. The text is truncated to `bytes`.
 *
 * @param text [bytes]
 * Returns: text
 * Threads: any
 */
PLX_API char *plx_async_event_text(const struct plx_async_event *event, char *text, size_t bytes);

/**
 * Send log lines to `write` from now on, one at a time, without a line end. NULL restores the
 * default: stderr if POLLUX_LOG is set in the environment, otherwise nowhere. Each queue pair that
 * fails produces one line, written by the thread that fetches the event with
 * plx_adapter_next_async_event(). At most PLX_LOG_LINES_PER_S lines are written.
 *
 * @param write must not call plx_log_to()
 * Threads: any
 */
PLX_API void plx_log_to(void (*write)(void *context, const char *line), void *context);

/* ---- memory ---- */

/**
 * Allocate memory for messages: hugepages on a NUMA node if available, otherwise normal pages of
 * that node, otherwise any pages. The memory is zeroed and aligned to a cache line. The EAL need
 * not be running.
 *
 * @param size   [bytes] 1 ..
 * @param socket NUMA node; -1: the caller's
 * @param why    what was allocated instead, if not hugepages on that node; else empty; may be NULL
 * Returns: NULL: no memory
 */
PLX_API void *plx_mem_alloc(size_t size, int socket, struct plx_why *why);
/**
 * Map memory that another process has made, so that both can register it: at a host it is memory of
 * each, and messages in it need not be copied. What is in it anybody may change who has mapped it.
 * @param fd a memfd whose size is sealed (F_SEAL_SHRINK, F_SEAL_GROW); it stays the caller's
 * Returns: NULL, with a sentence: it is none, or cannot be mapped
 */
PLX_API void *plx_mem_map(int fd, struct plx_why *why);
/** The memfd of memory of plx_mem_map(), for another process to map; it stays the memory's.
 * Returns: -1: this is none */
PLX_API int plx_mem_file(const void *memory);
/** Free memory of plx_mem_alloc() or plx_mem_map(). @param memory may be NULL */
PLX_API void plx_mem_free(void *memory);

/* ---- neighbours and echo ---- */

/**
 * Find the Ethernet address of a neighbour, or of the gateway to a peer. Inline mode polls
 * meanwhile.
 * @param mac [6] out, may be NULL
 * Errors (each with a sentence): TIMEOUT, UNREACHABLE (no answer, or no route), INVALID
 */
PLX_API enum plx_status plx_adapter_resolve(struct plx_adapter *adapter, const struct plx_ip *ip,
					    uint32_t timeout_ms, uint8_t *mac,
					    struct plx_why *why) PLX_MUST_CHECK;

/**
 * Send one ICMP echo request and wait for the reply. Inline mode polls meanwhile.
 * @param bytes  0 .. 1400, of payload
 * @param rtt_ns [out] 0: the address is the adapter's own
 * Errors (each with a sentence): INVALID, TIMEOUT, UNREACHABLE (no route, no neighbour), BUSY
 */
PLX_API enum plx_status plx_adapter_ping(struct plx_adapter *adapter, const struct plx_ip *ip,
					 uint32_t bytes, uint32_t timeout_ms, uint64_t *rtt_ns,
					 struct plx_why *why) PLX_MUST_CHECK;

/* ---- counters ---- */

/** One counter: its name, what it counts, its value. */
struct plx_counter {
	const char *name;
	const char *text;
	uint64_t value;
};

/**
 * Read the counters of an adapter: engine, neighbours, connection manager, port.
 * @param out [n]
 * Returns: the number of counters, of which the first `n` were written. Threads: any.
 */
PLX_API uint32_t plx_adapter_counters(const struct plx_adapter *adapter, struct plx_counter *out,
				      uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
