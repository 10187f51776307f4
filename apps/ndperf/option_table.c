/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the table of options: each one's name, value, who may give it, its help, and the function
 * that reads its value.
 * It never looks at the machine but for the processors it may use. Start with the table, at the
 * end.
 */
#include "option_table.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* ---- one setter for each kind ------------------------------------------------------------- */

static bool
number(const char *name, const char *value, uint32_t least, uint32_t most, uint32_t *out,
       struct plx_why *why)
{
	uint64_t n;
	if (!parse_bytes(value, &n) || n < least || n > most)
		return say(why, "%s %s: a number from %u to %u is wanted", name, value, least,
			   most);
	*out = (uint32_t)n;
	return true;
}

static bool
duration(const char *name, const char *value, uint32_t least_ms, uint32_t *out, struct plx_why *why)
{
	if (!parse_duration_ms(value, out) || *out < least_ms)
		return say(why,
			   "%s %s: a duration from %u ms to 1 hour is wanted, such as 2s or 500ms",
			   name, value, least_ms);
	return true;
}

/* The words of a comma-separated list, one after the other; false: `text` is used up. */
static bool
next_word(const char **text, char *word, size_t size)
{
	size_t length = strcspn(*text, ",");
	if (**text == '\0')
		return false;
	snprintf(word, size, "%.*s", (int)length, *text);
	*text += length + ((*text)[length] == ',');
	return true;
}

static bool
set_op(struct options *o, const char *value, struct plx_why *why)
{
	static const struct {
		const char *name;
		uint32_t ops;
	} groups[] = {
		{"atomic", 1 << OP_CMP_SWAP | 1 << OP_FETCH_ADD},
		{"all", 1 << OP_SEND | 1 << OP_WRITE | 1 << OP_READ | 1 << OP_CMP_SWAP |
				1 << OP_FETCH_ADD},
	};
	const char *left = value;
	char word[32];
	o->ops = 0;
	while (next_word(&left, word, sizeof(word))) {
		uint32_t bits = 0;
		for (uint32_t i = 1; i < OP_COUNT; i++)
			bits |= strcmp(word, op_names[i]) == 0 ? 1u << i : 0;
		for (uint32_t i = 0; i < 2; i++)
			bits |= strcmp(word, groups[i].name) == 0 ? groups[i].ops : 0;
		if (bits == 0)
			return say(why,
				   "--op %s: \"%s\" is no operation; there are send, write, read, "
				   "cmp-swap, fetch-add, atomic and all",
				   value, word);
		o->ops |= bits;
	}
	return o->ops != 0 || say(why, "--op: a list of operations is wanted");
}

static bool
set_test(struct options *o, const char *value, struct plx_why *why)
{
	const char *left = value;
	char word[32];
	o->tests = 0;
	while (next_word(&left, word, sizeof(word))) {
		uint32_t bits = strcmp(word, "all") == 0
					? 1 << TEST_LATENCY | 1 << TEST_RATE | 1 << TEST_BANDWIDTH
					: 0;
		for (uint32_t i = 1; i < TEST_COUNT; i++)
			bits |= strcmp(word, test_names[i]) == 0 ? 1u << i : 0;
		if (bits == 0)
			return say(why,
				   "--test %s: \"%s\" is no test; there are latency, rate, "
				   "bandwidth and all",
				   value, word);
		o->tests |= bits;
	}
	return o->tests != 0 || say(why, "--test: a list of tests is wanted");
}

static bool
set_size(struct options *o, const char *value, struct plx_why *why)
{
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
			return say(why,
				   "--size %s: \"%s\" is no size from 1 to 1G [bytes; K, M, G are "
				   "powers of 1024]",
				   value, word);
		if (o->sizes == SIZES_MAX)
			return say(why, "--size: more than %d sizes; give fewer", SIZES_MAX);
		o->size[o->sizes++] = size;
	}
	return o->sizes != 0 || say(why, "--size: a list of sizes is wanted");
}

static bool
set_depth(struct options *o, const char *value, struct plx_why *why)
{
	return number("--depth", value, 1, DEPTH_MAX, &o->depth, why);
}

static bool
set_batch(struct options *o, const char *value, struct plx_why *why)
{
	return number("--batch", value, 1, BATCH_MAX, &o->batch, why);
}

static bool
set_signal(struct options *o, const char *value, struct plx_why *why)
{
	return number("--signal", value, 1, DEPTH_MAX, &o->signal, why);
}

static bool
set_qps(struct options *o, const char *value, struct plx_why *why)
{
	return number("--qps", value, 1, QPS_MAX, &o->qps, why);
}

static bool
set_inline(struct options *o, const char *value, struct plx_why *why)
{
	return number("--inline", value, 0, PLX_INLINE_MAX, &o->inline_bytes, why);
}

static bool
set_ack_timeout(struct options *o, const char *value, struct plx_why *why)
{
	return number("--ack-timeout", value, 1, ACK_TIMEOUT_MAX, &o->ack_timeout, why);
}

static bool
set_mtu(struct options *o, const char *value, struct plx_why *why)
{
	uint32_t mtu = 0;
	if (!number("--mtu", value, 256, 4096, &mtu, why) || (mtu & (mtu - 1)) != 0)
		return say(why, "--mtu %s: a path MTU is 256, 512, 1024, 2048 or 4096 bytes",
			   value);
	o->path_mtu = mtu;
	return true;
}

static bool
set_rounds(struct options *o, const char *value, struct plx_why *why)
{
	return number("--rounds", value, 1, 10000, &o->rounds, why);
}

static bool
set_working_set(struct options *o, const char *value, struct plx_why *why)
{
	if (!parse_bytes(value, &o->working_set) || o->working_set < 1 ||
	    o->working_set > 4 * SIZE_MAX_BYTES)
		return say(why, "--working-set %s: a size from 1 to 4G is wanted", value);
	return true;
}

static bool
set_duration(struct options *o, const char *value, struct plx_why *why)
{
	return duration("--duration", value, 1, &o->duration_ms, why);
}

static bool
set_warmup(struct options *o, const char *value, struct plx_why *why)
{
	return duration("--warmup", value, 0, &o->warmup_ms, why);
}

static bool
set_timeout(struct options *o, const char *value, struct plx_why *why)
{
	return duration("--timeout", value, 100, &o->timeout_ms, why);
}

static bool
set_mode(struct options *o, const char *value, struct plx_why *why)
{
	o->mode_set = true;
	o->mode = strcmp(value, "worker") == 0 ? PLX_MODE_WORKER : PLX_MODE_INLINE;
	return o->mode == PLX_MODE_WORKER || strcmp(value, "inline") == 0 ||
	       say(why, "--mode %s: it is inline or worker", value);
}

static bool
set_idle(struct options *o, const char *value, struct plx_why *why)
{
	static const char *const names[] = {
		[PLX_IDLING_SPIN] = "spin",
		[PLX_IDLING_PAUSE] = "pause",
		[PLX_IDLING_YIELD] = "yield",
	};
	for (uint32_t i = 0; i < 3; i++) {
		if (strcmp(value, names[i]) == 0) {
			o->idle = (enum plx_idling)i;
			o->idle_set = true;
			return true;
		}
	}
	return say(why, "--idle %s: it is spin, pause or yield", value);
}

static bool
set_cores(struct options *o, const char *value, struct plx_why *why)
{
	cpu_set_t may;
	const char *left = value;
	char word[16];
	uint32_t n = 0;
	if (sched_getaffinity(0, sizeof(may), &may) != 0)
		CPU_ZERO(&may);
	while (next_word(&left, word, sizeof(word))) {
		uint32_t core = 0;
		if (n == CORES || !number("--cores", word, 0, CPU_SETSIZE - 1, &core, why))
			return say(why, "--cores %s: one or two processors are wanted, such as 0,1",
				   value);
		if (!CPU_ISSET(core, &may))
			return say(why,
				   "--cores %s: processor %u is not there, or not for this "
				   "process; `taskset -p $$` tells which are",
				   value, core);
		o->core[n++] = (int)core;
	}
	if (n == 0)
		return say(why, "--cores: one or two processors are wanted, such as 0,1");
	if (n == 1)
		o->core[1] = o->core[0];
	return true;
}

static bool
set_api(struct options *o, const char *value, struct plx_why *why)
{
	for (uint32_t i = 0; i < API_COUNT; i++) {
		o->api = (enum api)i;
		if (strcmp(value, api_names[i]) == 0)
			return true;
	}
	return say(why, "--api %s: it is verbs, nd2 or both", value);
}

static bool
set_one_core(struct options *o, const char *value, struct plx_why *why)
{
	(void)value;
	if (o->layout == LAYOUT_SHARED_WORKER)
		return say(why, "--one-core and --shared-worker exclude each other");
	o->layout = LAYOUT_ONE_CORE;
	return true;
}

static bool
set_shared_worker(struct options *o, const char *value, struct plx_why *why)
{
	(void)value;
	if (o->layout == LAYOUT_ONE_CORE)
		return say(why, "--one-core and --shared-worker exclude each other");
	o->layout = LAYOUT_SHARED_WORKER;
	return true;
}

static bool
set_rewrite(struct options *o, const char *value, struct plx_why *why)
{
	o->rewrite = strcmp(value, "yes") == 0;
	return o->rewrite || strcmp(value, "no") == 0 ||
	       say(why, "--rewrite %s: it is yes or no", value);
}

static bool
set_address(struct options *o, const char *value, struct plx_why *why)
{
	return parse_address(value, &o->address.ip, &o->address.prefix_bits) ||
	       say(why,
		   "--address %s: an address with its prefix is wanted, such as 10.0.0.1/24 or "
		   "fd77::1/64",
		   value);
}

static bool
set_oob(struct options *o, const char *value, struct plx_why *why)
{
	const char *colon = strrchr(value, ':');
	uint32_t port = 0;
	size_t length = colon != NULL ? (size_t)(colon - value) : 0;
	const char *host = value;
	if (length >= 2 && host[0] == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	}
	if (colon == NULL || length == 0 || length >= sizeof(o->oob_host) ||
	    !number("--oob", colon + 1, 1, 65535, &port, why))
		return say(why,
			   "--oob %s: HOST:PORT is wanted, an address of the kernel and a TCP port "
			   "from 1 to 65535, such as 192.0.2.1:7471 or [::1]:7471",
			   value);
	snprintf(o->oob_host, sizeof(o->oob_host), "%.*s", (int)length, host);
	snprintf(o->oob_port, sizeof(o->oob_port), "%u", port);
	return true;
}

static bool
set_port(struct options *o, const char *value, struct plx_why *why)
{
	uint32_t port = 0;
	if (!number("--port", value, 1, 65535, &port, why))
		return false;
	o->port = (uint16_t)port;
	o->port_set = true;
	return true;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define AT(field) NULL, offsetof(struct options, field)

const struct row rows[] = {
	{"--op", "LIST", ASKING, set_op, 0,
	 "send, write, read, cmp-swap, fetch-add, atomic (both), all; send,write,read,fetch-add"},
	{"--test", "LIST", ASKING, set_test, 0, "latency, rate, bandwidth, all; all"},
	{"--size", "LIST", ASKING, set_size, 0,
	 "of a message: 64,4K,1M; all: powers of two from 1 to 1G; latency 8, rate 64, bandwidth "
	 "64K,1M"},
	{"--depth", "N", ASKING, set_depth, 0,
	 "messages in flight, each queue pair; 128, less for long ones"},
	{"--batch", "N", ASKING, set_batch, 0,
	 "requests in one post, receives alike; 32, long messages 1"},
	{"--fill", NULL, ASKING, AT(fill),
	 "in each turn of the loop post batches until --depth messages are in flight; without it "
	 "one "
	 "batch a turn, as a program does that has other work"},
	{"--signal", "N", ASKING, set_signal, 0,
	 "one request in N asks for a completion; as --batch"},
	{"--qps", "N", ASKING, set_qps, 0, "queue pairs; 1"},
	{"--inline", "BYTES", ASKING, set_inline, 0,
	 "messages up to this are copied by the post; 0: none"},
	{"--ack-timeout", "N", ASKING, set_ack_timeout, 0,
	 "4.096 us * 2^N without an answer, and a packet is sent again; the library's, 14"},
	{"--api", "verbs|nd2|both", ALL, set_api, 0,
	 "what messages go through: plx_verbs.h; NetworkDirect 2, which posts one by one; or both "
	 "in turns of 5 ms, which share the --duration; verbs"},
	{"--mtu", "BYTES", ALL, set_mtu, 0, "path MTU, 256 to 4096; the largest the ports carry"},
	{"--working-set", "BYTES", ASKING, set_working_set, 0,
	 "of messages that lie side by side, each queue pair; depth times size"},
	{"--rewrite", "yes|no", ASKING, set_rewrite, 0,
	 "write the source anew before each message; yes (READ: no, the source is the peer's)"},
	{"--check", NULL, ASKING, AT(check), "verify every byte; the figures are lower then"},
	{"--duration", "TIME", ASKING, set_duration, 0, "of a row, such as 2s or 500ms; 500ms"},
	{"--warmup", "TIME", ASKING, set_warmup, 0, "before it; 100ms"},
	{"--rounds", "N", ASKING, set_rounds, 0, "go through all rows N times; 1"},
	{"--mode", "inline|worker", ALL, set_mode, 0,
	 "who polls the adapter: this thread, or one of the adapter's own; inline"},
	{"--idle", "spin|pause|yield", ALL, set_idle, 0,
	 "what a thread that finds nothing does; spin. yield where cores are shared"},
	{"--cores", "A,B", ALL, set_cores, 0,
	 "processors of the active and the passive endpoint; the first two, server and client: "
	 "any"},
	{"--one-core", NULL, SOLO, set_one_core, 0, "both endpoints on one thread, on core A"},
	{"--shared-worker", NULL, SOLO, set_shared_worker, 0,
	 "one worker on core A polls both endpoints, one thread on core B uses both"},
	{"--device", "SPEC", ALL, AT(device),
	 "a DPDK device, such as net_tap0,iface=plx0 or 0000:3b:00.0; alone: net_wire0"},
	{"--device2", "SPEC", SOLO, AT(device2), "the passive endpoint's, when it is not net_wire"},
	{"--address", "IP/PREFIX", PAIR, set_address, 0, "of the device"},
	{"--adapter", "NAME", PAIR, AT(adapter),
	 "an adapter of the configuration file, instead of --device and --address"},
	{"--port", "N", PAIR, set_port, 0, "of the server, for the communication manager; 7471"},
	{"--oob", "HOST:PORT", PAIR, set_oob, 0,
	 "a TCP side channel instead, an address of the kernel: the server listens there"},
	{"--timeout", "TIME", ALL, set_timeout, 0, "of every wait for the peer; 10s"},
	{"--once", NULL, SERVER, AT(once), "serve one client, then end"},
	{"--fault", "LIST", SOLO, AT(fault),
	 "of net_wire, both ends: loss=0.01,duplicate=0.1,reorder=0.1,depth=8,corrupt=0.01,"
	 "delay_us=50,rate_mbps=1000,mark=0.1,seed=1"},
	{"--raw", NULL, SOLO, AT(raw),
	 "packets without a transport: the ceiling of what the machine allows"},
	{"--with-raw", NULL, SOLO, AT(with_raw), "before each row, the raw row to compare it with"},
	{"--histogram", NULL, ASKING, AT(histogram), "print that of latencies too"},
	{"--json", "FILE|-", ASKING, AT(json),
	 "write the results to a file, or instead of the table"},
	{"--quiet", NULL, ALL, AT(quiet), "no progress line"},
	{"--eal", "ARGS", ALL, AT(eal), "arguments of DPDK's EAL, such as \"--no-huge -m 512\""},
	{"--help", NULL, ALL, NULL, 0, "this"},
	{"--version", NULL, ALL, NULL, 0, "the version"},
};

const uint32_t rows_count = sizeof(rows) / sizeof(rows[0]);
