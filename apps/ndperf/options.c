/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of ndperf and the checks that involve several of them. It queries the machine for the
 * processors that it may use, and opens nothing. Start with `rows`.
 */
#include "options.h"

#include "cpu.h"

#include <stdio.h>
#include <string.h>

const char *const api_names[API_COUNT] = {
	[API_VERBS] = "verbs",
	[API_ND2] = "nd2",
	[API_NDK] = "ndk",
	[API_VERBS_ND2] = "verbs+nd2",
	[API_VERBS_NDK] = "verbs+ndk",
};
const char *const op_names[OP_COUNT] = {
	[OP_NONE] = "none", [OP_SEND] = "send",         [OP_WRITE] = "write",
	[OP_READ] = "read", [OP_CMP_SWAP] = "cmp-swap", [OP_FETCH_ADD] = "fetch-add",
};
const char *const test_names[TEST_COUNT] = {
	[TEST_NONE] = "none",
	[TEST_LATENCY] = "latency",
	[TEST_RATE] = "rate",
	[TEST_BANDWIDTH] = "bandwidth",
};
const char *const direction_names[DIRECTION_COUNT] = {
	[DIRECTION_NONE] = "none",
	[DIRECTION_ONE] = "one",
	[DIRECTION_BOTH] = "both",
};
const char *const layout_names[LAYOUT_COUNT] = {
	[LAYOUT_TWO_CORES] = "two cores",
	[LAYOUT_ONE_CORE] = "one core",
	[LAYOUT_SHARED_WORKER] = "shared worker",
};

enum {
	CPUS_MAX = 1024,
	ATOMICS = 1 << OP_CMP_SWAP | 1 << OP_FETCH_ADD,
	ALL_OPS = 1 << OP_SEND | 1 << OP_WRITE | 1 << OP_READ | ATOMICS,
	ALL_TESTS = 1 << TEST_LATENCY | 1 << TEST_RATE | 1 << TEST_BANDWIDTH,
};

/* ---- arguments specific to ndperf ---- */

static bool
parse_sizes(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;
	const char *left = value;
	char word[32];
	o->sizes = 0;
	if (strcmp(value, "all") == 0) {
		for (uint64_t size = 1; size <= SIZE_MAX_BYTES; size *= 2)
			o->size[o->sizes++] = size;
		return true;
	}
	while (next_word(&left, word, sizeof(word))) {
		uint64_t size;
		if (!parse_bytes(word, &size) || size < 1 || size > SIZE_MAX_BYTES)
			return why_set(
				why,
				"--size %.60s: \"%s\" is not a size; give bytes from 1 to 1G, "
				"with K, M and G as powers of 1024",
				value, word);
		if (o->sizes == SIZES_MAX)
			return why_set(why, "--size: more than %d sizes; give fewer", SIZES_MAX);
		o->size[o->sizes++] = size;
	}
	return o->sizes != 0 || why_set(why, "--size %.60s: give a list of sizes", value);
}

static bool
parse_mtu(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;
	uint64_t mtu;
	if (!parse_bytes(value, &mtu) || mtu < 256 || mtu > 4096 || (mtu & (mtu - 1)) != 0)
		return why_set(why, "--mtu %.60s: a path MTU is 256, 512, 1024, 2048 or 4096 bytes",
			       value);
	o->path_mtu = (uint32_t)mtu;
	return true;
}

static bool
parse_cores(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;
	const char *left = value;
	char word[16];
	uint32_t n = 0;
	while (next_word(&left, word, sizeof(word))) {
		uint64_t core;
		if (n == CORES || !parse_bytes(word, &core) || core >= CPUS_MAX)
			return why_set(why,
				       "--cores %.60s: give one or two processors, such as 0,1",
				       value);
		if (!cpu_is_allowed((uint32_t)core))
			return why_set(
				why,
				"--cores %.60s: processor %u does not exist, or this process "
				"may not use it; `taskset -p $$` shows which it may",
				value, (unsigned int)core);
		o->core[n++] = (int)core;
	}
	if (n == 0)
		return why_set(why, "--cores: give one or two processors, such as 0,1");
	if (n == 1)
		o->core[1] = o->core[0];
	return true;
}

static bool
parse_open(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;
	char number[32];
	size_t length = strlen(value);
	bool is_percent = length > 1 && length < sizeof(number) && value[length - 1] == '%';
	uint64_t most = is_percent ? 1000 : RATE_MAX, rate;
	snprintf(number, sizeof(number), "%.*s", (int)(length - is_percent), value);
	if (length >= sizeof(number) || !parse_bytes(number, &rate) || rate < 1 || rate > most)
		return why_set(why,
			       "--open %.60s: give messages per second from 1 to 100M, or percents "
			       "of the rate that is measured before, from 1%% to 1000%%",
			       value);
	o->open_rate = is_percent ? 0 : (uint32_t)rate;
	o->open_percent = is_percent ? (uint32_t)rate : 0;
	return true;
}

static bool
parse_oob(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;
	const char *colon = strrchr(value, ':');
	uint64_t port = 0;
	size_t length = colon != NULL ? (size_t)(colon - value) : 0;
	const char *host = value;
	if (length >= 2 && host[0] == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	}
	if (colon == NULL || length == 0 || length >= sizeof(o->oob_host) ||
	    !parse_bytes(colon + 1, &port) || port < 1 || port > 65535)
		return why_set(
			why,
			"--oob %.60s: give HOST:PORT, an address of the kernel and a TCP port "
			"from 1 to 65535, such as 192.0.2.1:7471 or [::1]:7471",
			value);
	snprintf(o->oob_host, sizeof(o->oob_host), "%.*s", (int)length, host);
	snprintf(o->oob_port, sizeof(o->oob_port), "%u", (unsigned int)port);
	return true;
}

/* ---- the table ---- */

#define ROW(n, a, f, k, field) \
	.name = (n), .argument = (a), .forms = (f), .kind = (k), .offset = AT(field)
#define AT(field) offsetof(struct options, field)

static const char *const congestion_names[] = {"none", "dcqcn", "delay"};
static const char *const ip_names[] = {"4", "6"};
static const char *const schedule_names[] = {"fixed", "poisson"};
static const char *const yes_names[] = {"no", "yes"};
static const struct option_set op_sets[] = {{"atomic", ATOMICS}, {"all", ALL_OPS}, {NULL, 0}};
static const struct option_set test_sets[] = {{"all", ALL_TESTS}, {NULL, 0}};

static const struct option_row rows[] = {
	{ROW("op", "LIST", FORM_ACTIVE, OPTION_WORDS, ops), .least = 1, .most = OP_COUNT - 1,
	 .noun = "operation", .names = op_names, .sets = op_sets,
	 .otherwise = "send,write,read and, by verbs, fetch-add",
	 .sentence = "operations: send, write, read, cmp-swap, fetch-add; atomic for both atomics; "
		     "all"},
	{ROW("test", "LIST", FORM_ACTIVE, OPTION_WORDS, tests), .least = 1, .most = TEST_COUNT - 1,
	 .noun = "test", .names = test_names, .sets = test_sets, .value = "all",
	 .sentence = "latency, rate, bandwidth, all"},
	{ROW("direction", "LIST", FORM_ACTIVE, OPTION_WORDS, directions), .least = 1,
	 .most = DIRECTION_COUNT - 1, .noun = "direction", .names = direction_names, .value = "one",
	 .sentence = "who sends in tests of rate and bandwidth: one, the active endpoint; both at "
		     "once, the figure being the sum; a row for each word"},
	{ROW("size", "LIST", FORM_ACTIVE, OPTION_OTHER, size), .parse = parse_sizes,
	 .otherwise = "latency 8, rate 64, bandwidth 64K,1M",
	 .sentence = "message sizes of 1 to 1G, such as 64,4K,1M; all: the powers of two"},
	{ROW("depth", "N", FORM_ACTIVE, OPTION_NUMBER, depth), .least = 1, .most = DEPTH_MAX,
	 .otherwise = "128, fewer when messages are long",
	 .sentence = "messages in flight on each queue pair"},
	{ROW("batch", "LIST", FORM_ACTIVE, OPTION_NUMBERS, batch), .least = 1, .most = BATCH_MAX,
	 .otherwise = "32, or 1 when messages are long",
	 .sentence = "requests in one post, receives too; a row for each number"},
	{ROW("fill", NULL, FORM_ACTIVE, OPTION_FLAG, fill),
	 .sentence = "post batches until --depth messages are in flight in each turn of the loop, "
		     "instead of one batch, which is what a program with other work does"},
	{ROW("open", "RATE", FORM_ACTIVE, OPTION_OTHER, open_rate), .parse = parse_open,
	 .sentence =
		 "latencies of an open loop: so many messages per second are posted when they are "
		 "due, and a latency counts from then; with %, of the rate that a row before "
		 "measures"},
	{ROW("schedule", "NAME", FORM_ACTIVE, OPTION_WORD, schedule), .most = 1, .noun = "schedule",
	 .names = schedule_names, .value = "fixed",
	 .sentence = "when messages of --open are due: at a fixed rate, or poisson, at random"},
	{ROW("seed", "N", FORM_ACTIVE, OPTION_NUMBER, seed), .most = UINT32_MAX, .value = "1",
	 .sentence = "of the random times of --schedule poisson"},
	{ROW("signal", "N", FORM_ACTIVE, OPTION_NUMBER, signal), .least = 1, .most = DEPTH_MAX,
	 .otherwise = "as --batch", .sentence = "one request in N asks for a completion"},
	{ROW("qps", "LIST", FORM_ACTIVE, OPTION_NUMBERS, qps), .least = 1, .most = QPS_MAX,
	 .value = "1", .sentence = "queue pairs, such as 1,100,1000; a row for each number"},
	{ROW("flight", "N", FORM_ACTIVE, OPTION_NUMBER, flight), .least = 1, .most = FLIGHT_MAX,
	 .otherwise = "8192, or --depth if that is more",
	 .sentence = "messages in flight on all queue pairs together, which take turns"},
	{ROW("inline", "BYTES", FORM_ACTIVE, OPTION_NUMBER, inline_bytes), .most = PLX_INLINE_MAX,
	 .value = "0", .sentence = "the post copies messages of up to this size"},
	{ROW("ack-timeout", "N", FORM_ACTIVE, OPTION_NUMBER, ack_timeout), .least = 1,
	 .most = ACK_TIMEOUT_MAX, .otherwise = "the library's, 14",
	 .sentence = "retransmit after 4.096 us * 2^N without an ACK"},
	{ROW("api", "NAME", FORM_ALL, OPTION_WORD, api), .most = API_COUNT - 1, .noun = "interface",
	 .names = api_names, .value = "verbs",
	 .sentence =
		 "interface that is measured: verbs (plx_verbs.h), nd2 (NetworkDirect 2) or ndk "
		 "(NDKPI), which post one by one, or verbs and one of them in turns of 5 ms "
		 "that share --duration"},
	{ROW("mtu", "BYTES", FORM_ALL, OPTION_OTHER, path_mtu), .parse = parse_mtu,
	 .otherwise = "the largest that the ports carry",
	 .sentence = "path MTU: 256, 512, 1024, 2048 or 4096"},
	{ROW("working-set", "BYTES", FORM_ACTIVE, OPTION_BYTES, working_set), .least = 1,
	 .most = 4 * SIZE_MAX_BYTES, .otherwise = "--depth messages",
	 .sentence = "memory through which the messages of a queue pair go"},
	{ROW("rewrite", "yes|no", FORM_ACTIVE, OPTION_WORD, rewrite), .most = 1, .noun = "word",
	 .names = yes_names, .otherwise = "yes, but no for READ, whose source is the peer's",
	 .sentence = "write the source before each message"},
	{ROW("check", NULL, FORM_ACTIVE, OPTION_FLAG, check),
	 .sentence = "verify every byte; figures are lower"},
	{ROW("private", NULL, FORM_ACTIVE, OPTION_FLAG, is_private),
	 .sentence = "messages are in memory of malloc(), which the host of an attached adapter "
		     "copies (default memory that it shares)"},
	{ROW("duration", "TIME", FORM_ACTIVE, OPTION_TIME, duration_ms), .least = 1,
	 .value = "500ms", .sentence = "measured time of each row, such as 2s or 500ms"},
	{ROW("warmup", "TIME", FORM_ACTIVE, OPTION_TIME, warmup_ms), .value = "100ms",
	 .sentence = "time before it that is not measured"},
	{ROW("rounds", "N", FORM_ACTIVE, OPTION_NUMBER, rounds), .least = 1, .most = 10000,
	 .value = "1", .sentence = "how often all rows are measured"},
	{ROW("mode", "inline|worker", FORM_ALL, OPTION_WORD, mode), .most = 1, .noun = "mode",
	 .names = mode_names, .value = "inline",
	 .sentence = "what polls the adapter: the measuring thread, or a worker of the adapter"},
	{ROW("idle", "NAME", FORM_ALL, OPTION_WORD, idle), .most = PLX_IDLE_COUNT - 1,
	 .noun = "way to idle", .names = idle_names, .value = "spin",
	 .sentence = "what a thread without work does: spin, pause, yield, for shared cores, or "
		     "adaptive: spin, then yield, then sleep, if it is a worker"},
	{ROW("cores", "A,B", FORM_ALL, OPTION_OTHER, core), .parse = parse_cores,
	 .otherwise = "the first two; of server and client any",
	 .sentence = "processors of the active and the passive endpoint"},
	{ROW("one-core", NULL, FORM_ALONE, OPTION_FLAG, one_core),
	 .sentence = "both endpoints on one thread, on core A"},
	{ROW("ip", "4|6", FORM_ALONE, OPTION_WORD, ip), .most = 1, .noun = "version of IP",
	 .names = ip_names, .value = "4", .sentence = "version of IP"},
	{ROW("vlan", "ID", FORM_ALONE, OPTION_NUMBER, vlan), .least = 1, .most = 4094,
	 .otherwise = "untagged", .sentence = "tag of all frames"},
	{ROW("congestion", "NAME", FORM_ALONE, OPTION_WORD, congestion), .most = 2,
	 .noun = "congestion strategy", .names = congestion_names, .value = "none",
	 .sentence = "congestion strategy of queue pairs: none, dcqcn or delay"},
	{ROW("shared-worker", NULL, FORM_ALONE, OPTION_FLAG, shared_worker),
	 .sentence = "one worker on core A polls both adapters; one thread on core B uses both"},
	{ROW("device2", "SPEC", FORM_ALONE, OPTION_TEXT, device2), .most = 199,
	 .sentence = "device of the passive endpoint, when --device is not a net_wire"},
	{ROW("port", "N", FORM_PAIR, OPTION_NUMBER, port), .least = 1, .most = 65535,
	 .value = "7471", .sentence = "port of the server, of the communication manager"},
	{ROW("oob", "HOST:PORT", FORM_PAIR, OPTION_OTHER, oob_host), .parse = parse_oob,
	 .sentence = "a TCP side channel instead; the server listens at this address of the "
		     "kernel"},
	{ROW("timeout", "TIME", FORM_ALL, OPTION_TIME, timeout_ms), .least = 100, .value = "10s",
	 .sentence = "limit of every wait for the peer"},
	{ROW("once", NULL, FORM_SERVER, OPTION_FLAG, once),
	 .sentence = "serve one client, then end"},
	{ROW("fault", "LIST", FORM_ALONE, OPTION_TEXT, fault), .most = 149,
	 .sentence =
		 "faults of net_wire in both directions: loss, duplicate, reorder, depth, corrupt, "
		 "delay_us, rate_mbps, mark, mark_us, seed, such as loss=0.01,delay_us=50"},
	{ROW("raw", NULL, FORM_ALONE, OPTION_FLAG, raw),
	 .sentence = "packets without a transport: the ceiling of what the machine allows"},
	{ROW("with-raw", NULL, FORM_ALONE, OPTION_FLAG, with_raw),
	 .sentence = "the raw row before each row, to compare it with"},
	{ROW("percentiles", NULL, FORM_ALONE, OPTION_FLAG, percentiles),
	 .sentence =
		 "latencies also without the samples in which the machine stalled a thread, and "
		 "its stalls"},
	{ROW("histogram", NULL, FORM_ACTIVE, OPTION_FLAG, histogram),
	 .sentence = "print the histogram of latencies, too"},
	{ROW("json", "FILE|-", FORM_ACTIVE, OPTION_TEXT, json),
	 .sentence = "write the results as JSON, to a file or, with -, instead of the table"},
	{ROW("quiet", NULL, FORM_ALL, OPTION_FLAG, quiet), .sentence = "print no progress line"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static const struct program program = {
	.name = "ndperf",
	.purpose = "latency, message rate and bandwidth of Pollux",
	.forms =
		{
			{FORM_ALONE, "ndperf [OPTIONS]", "ndperf in one process",
			 "both endpoints in this process, on the embedded link (net_wire0) or on "
			 "--device and --device2"},
			{FORM_SERVER, "ndperf server [OPTIONS]", "ndperf server",
			 "the passive endpoint, until interrupted"},
			{FORM_CLIENT, "ndperf client [ADDR] [OPTIONS]", "ndperf client",
			 "the active endpoint, which measures with the server at ADDR; without "
			 "ADDR, with the one at --oob"},
		},
	.groups =
		{
			{FORM_ALL, "For every form"},
			{FORM_ACTIVE, "For ndperf alone and ndperf client"},
			{FORM_ALONE, "For ndperf alone"},
			{FORM_PAIR, "For ndperf server and ndperf client"},
			{FORM_SERVER, "For ndperf server"},
		},
	.parts = {{endpoint_rows, ENDPOINT_ROWS, AT(endpoint)},
		  {rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes = "A number may end in K, M or G, powers of 1024.",
	.example = "  ndperf server --device net_tap0,iface=plx0 --address 10.77.0.1/24\n"
		   "  ndperf client 10.77.0.1 --device net_tap0,iface=plx0 --address 10.77.0.2/24",
	.exit_status = "0 measured, 1 something failed, 2 a mistake in the arguments.",
};

/* ---- checks that involve several options ---- */

static const uint8_t forms[] = {
	[ROLE_SOLO] = FORM_ALONE,
	[ROLE_SERVER] = FORM_SERVER,
	[ROLE_CLIENT] = FORM_CLIENT,
};

static bool
is_given(const struct options *o, const char *name)
{
	return option_is_given(&program, o->given, name);
}

/* Check how the two endpoints find each other. */
static bool
finds_peer(const struct options *o, struct plx_why *why)
{
	bool has_oob = o->oob_host[0] != '\0', has_peer = o->peer.version != 0;
	if (o->role == ROLE_CLIENT && !has_oob && !has_peer)
		return why_set(why,
			       "ndperf client needs the server's address, such as `ndperf client "
			       "10.77.0.1`, or --oob HOST:PORT for a TCP side channel");
	if (has_oob && has_peer)
		return why_set(why, "the server's address and --oob exclude each other; leave out "
				    "--oob, unless the server has one");
	if (has_oob && is_given(o, "port"))
		return why_set(why, "--port %u has no use with --oob; leave one of them out",
			       o->port);
	return true;
}

/* NDK's callbacks need a thread that polls while the program waits for them. */
static bool
fits_ndk(struct options *o, struct plx_why *why)
{
	if (o->api != API_NDK && o->api != API_VERBS_NDK)
		return true;
	if (o->is_mode_given && o->mode == PLX_MODE_INLINE)
		return why_set(why, "--mode inline: NDK has workers only; leave it out");
	if (o->layout == LAYOUT_ONE_CORE)
		return why_set(why, "--one-core: NDK has workers only; give --shared-worker");
	o->mode = PLX_MODE_WORKER;
	return true;
}

/* Check for options that the interfaces above verbs lack or leave to the configuration file. */
static bool
fits_face(const struct options *o, struct plx_why *why)
{
	const char *name = api_names[o->api];
	if (o->api == API_VERBS)
		return true;
	if (o->ops & ATOMICS)
		return why_set(why, "--api %s has no atomics; give --op send,write,read", name);
	if (o->ack_timeout != 0)
		return why_set(why, "--ack-timeout %u: --api %s has no such setting; leave it out",
			       o->ack_timeout, name);
	if (api_takes_turns(o->api) && (o->layout == LAYOUT_TWO_CORES || o->with_raw))
		return why_set(why,
			       "--api %s takes turns on one thread; give %s--shared-worker, "
			       "and leave out --with-raw",
			       name, o->api == API_VERBS_ND2 ? "--one-core or " : "");
	if (o->role != ROLE_SOLO && o->oob_host[0] == '\0')
		return why_set(why,
			       "--api %s between two processes needs --oob HOST:PORT on both "
			       "sides",
			       name);
	if (o->endpoint.adapter != NULL && o->is_mode_given)
		return why_set(why,
			       "--mode: with --api %s, --adapter %.31s has its mode from the "
			       "configuration file; leave out --mode",
			       name, o->endpoint.adapter);
	return true;
}

/* Check what both directions at once cannot have. */
static bool
fits_direction(const struct options *o, struct plx_why *why)
{
	if ((o->directions >> DIRECTION_BOTH & 1) == 0)
		return true;
	if (o->check)
		return why_set(why, "--direction both and --check exclude each other: bytes are "
				    "checked one direction at a time");
	if (o->raw || o->with_raw)
		return why_set(why, "--direction both and raw packets exclude each other: those go "
				    "one way");
	return true;
}

/* Check what an open loop cannot have. */
static bool
fits_open(const struct options *o, struct plx_why *why)
{
	if (o->open_rate == 0 && o->open_percent == 0)
		return true;
	if ((o->tests >> TEST_LATENCY & 1) == 0)
		return why_set(why, "--open measures latencies; give --test latency");
	if (o->check || o->raw || o->with_raw)
		return why_set(why, "--open and %s exclude each other",
			       o->check ? "--check" : "raw packets");
	if (api_takes_turns(o->api))
		return why_set(why,
			       "--open with --api %s: a loop that takes turns cannot post when it "
			       "is due; give one interface",
			       api_names[o->api]);
	return true;
}

/* Check what tells the machine's stalls from the library's time: all threads must be ours. */
static bool
fits_percentiles(const struct options *o, struct plx_why *why)
{
	if (!o->percentiles)
		return true;
	if (o->mode == PLX_MODE_WORKER || o->layout == LAYOUT_SHARED_WORKER)
		return why_set(why,
			       "--percentiles: a worker's stalls are not seen; give --mode inline");
	if (o->raw || o->with_raw || api_takes_turns(o->api))
		return why_set(why, "--percentiles is for one interface, without raw packets");
	if (o->open_rate != 0 || o->open_percent != 0)
		return why_set(why,
			       "--percentiles and --open exclude each other: in an open loop a "
			       "stall also delays the messages after it");
	return true;
}

/* Check what private memory cannot have. */
static bool
fits_memory(const struct options *o, struct plx_why *why)
{
	if (!o->is_private)
		return true;
	if (o->ops & ATOMICS)
		return why_set(why, "--private: no host can execute atomics on memory of malloc(); "
				    "give --op send,write,read");
	if (o->raw || o->with_raw)
		return why_set(why, "--private and raw packets exclude each other: nobody copies "
				    "those for them");
	return true;
}

/* Check the devices and the options that depend on them. */
static bool
fits_device(const struct options *o, struct plx_why *why)
{
	const char *device = o->endpoint.device;
	bool is_wire = device == NULL || strncmp(device, "net_wire", 8) == 0;
	if (o->role != ROLE_SOLO &&
	    !endpoint_is_named(&o->endpoint, program_form(&program, forms[o->role]), why))
		return false;
	if (o->endpoint.adapter != NULL && o->path_mtu != 0)
		return why_set(
			why,
			"--adapter %.31s has its path MTU from the configuration file; leave "
			"out --mtu",
			o->endpoint.adapter);
	if (o->device2 != NULL && device == NULL)
		return why_set(why, "--device2 %.60s needs a --device for the active endpoint",
			       o->device2);
	if (o->fault != NULL && !is_wire)
		return why_set(why, "--fault %.60s: only net_wire has faults", o->fault);
	if (o->fault != NULL && (o->raw || o->with_raw))
		return why_set(why,
			       "--fault and raw packets exclude each other: raw packets are not "
			       "retransmitted");
	if (o->role == ROLE_SOLO && !is_wire && o->device2 == NULL && !o->raw)
		return why_set(
			why,
			"--device %.60s: one process has two endpoints; give the --device2 of "
			"the other, or use ndperf server and ndperf client",
			device);
	return true;
}

/* Check what depends on all options. */
static bool
fits_together(struct options *o, struct plx_why *why)
{
	o->is_mode_given = is_given(o, "mode");
	if (o->one_core && o->shared_worker)
		return why_set(why, "--one-core and --shared-worker exclude each other");
	if (o->is_mode_given && o->mode == PLX_MODE_INLINE && o->shared_worker)
		return why_set(why, "--mode inline and --shared-worker exclude each other");
	if (o->one_core)
		o->layout = LAYOUT_ONE_CORE;
	if (o->shared_worker)
		o->layout = LAYOUT_SHARED_WORKER;
	if (!finds_peer(o, why) || !fits_face(o, why) || !fits_ndk(o, why) ||
	    !fits_memory(o, why) || !fits_direction(o, why) || !fits_open(o, why) ||
	    !fits_percentiles(o, why) || !fits_device(o, why))
		return false;
	if (o->ops == 0)
		o->ops = 1 << OP_SEND | 1 << OP_WRITE | 1 << OP_READ |
			 (o->api == API_VERBS && !o->is_private) << OP_FETCH_ADD;
	if (o->layout == LAYOUT_SHARED_WORKER)
		o->mode = PLX_MODE_WORKER;
	else if (o->mode == PLX_MODE_WORKER && o->role == ROLE_SOLO && !is_given(o, "idle"))
		o->idle = PLX_IDLE_YIELD; /* worker and application share a core */
	return true;
}

/* Parse the words before the options: server, or client and perhaps an address.
 * Returns: how many; -1: error */
static int
parse_role(int argc, char **argv, struct options *o, struct plx_why *why)
{
	if (argc < 2 || argv[1][0] == '-')
		return 0;
	o->role = strcmp(argv[1], "server") == 0 ? ROLE_SERVER : ROLE_CLIENT;
	if (o->role == ROLE_CLIENT && strcmp(argv[1], "client") != 0) {
		why_set(why,
			"\"%.60s\" is neither server nor client; `ndperf --help` has the usage",
			argv[1]);
		return -1;
	}
	if (o->role == ROLE_SERVER || argc < 3 || argv[2][0] == '-')
		return 1;
	if (parse_ip(argv[2], &o->peer))
		return 2;
	why_set(why, "client %.60s: give the server's Pollux address, such as 10.77.0.1 or fd77::1",
		argv[2]);
	return -1;
}

enum parsed
ndperf_options(int argc, char **argv, struct options *o, struct plx_why *why)
{
	*o = (struct options){.rewrite = -1, .core = {-1, -1}};
	int words = parse_role(argc, argv, o, why);
	if (words < 0)
		return PARSED_WRONG;
	enum parsed parsed = options_read(&program, forms[o->role], argc - words, argv + words, o,
					  &o->given, why);
	return parsed == PARSED_RUN && !fits_together(o, why) ? PARSED_WRONG : parsed;
}
