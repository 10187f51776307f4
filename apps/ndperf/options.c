/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Goes through the command line by the table of options, and checks what several options mean
 * together. It never opens anything. Start with options_parse().
 */
#include "cm.h"
#include "option_table.h"

#include <stdio.h>
#include <string.h>

const char *const api_names[API_COUNT] = {
	[API_VERBS] = "verbs",
	[API_ND2] = "nd2",
	[API_BOTH] = "both",
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
const char *const layout_names[LAYOUT_COUNT] = {
	[LAYOUT_TWO_CORES] = "two cores",
	[LAYOUT_ONE_CORE] = "one core",
	[LAYOUT_SHARED_WORKER] = "shared worker",
};

static void
print_help(void)
{
	static const struct {
		uint8_t who;
		const char *title;
	} parts[] = {
		{ALL, "For every form"},       {ASKING, "For ndperf alone and ndperf client"},
		{SOLO, "For ndperf alone"},    {PAIR, "For ndperf server and ndperf client"},
		{SERVER, "For ndperf server"},
	};
	puts("ndperf: latency, message rate and bandwidth of Pollux\n"
	     "\n"
	     "  ndperf [OPTIONS]                both endpoints in this process, on the embedded "
	     "link\n"
	     "  ndperf server [OPTIONS]         the passive endpoint, until interrupted\n"
	     "  ndperf client ADDR [OPTIONS]    the active endpoint, which measures with the "
	     "server at\n"
	     "                                  ADDR; without ADDR, with the one at --oob\n"
	     "\n"
	     "Behind the semicolon stands what is chosen when the option is not given.");
	for (uint32_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
		printf("\n%s:\n", parts[part].title);
		for (uint32_t i = 0; i < rows_count; i++) {
			char left[40];
			if (rows[i].who != parts[part].who)
				continue;
			snprintf(left, sizeof(left), "%s %s", rows[i].name,
				 rows[i].value != NULL ? rows[i].value : "");
			printf("  %-25s %s\n", left, rows[i].help);
		}
	}
	puts("\nTwo machines, or two terminals:\n"
	     "  ndperf server --device net_tap0,iface=plx0 --address 10.77.0.1/24\n"
	     "  ndperf client 10.77.0.1 --device net_tap0,iface=plx0 --address 10.77.0.2/24\n"
	     "\nExit status: 0 measured, 1 something failed, 2 a mistake in the arguments.");
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* How many letters differ, roughly: enough to tell a slip from another word. */
static uint32_t
distance(const char *a, const char *b)
{
	uint32_t row[32], n = (uint32_t)strlen(b);
	if (n >= 31)
		return 99;
	for (uint32_t j = 0; j <= n; j++)
		row[j] = j;
	for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
		uint32_t corner = row[0];
		row[0] = i;
		for (uint32_t j = 1; j <= n; j++) {
			uint32_t change = corner + (a[i - 1] != b[j - 1]);
			uint32_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			corner = row[j];
			row[j] = change < shift ? change : shift;
		}
	}
	return row[n];
}

static enum parsed
unknown(const char *word, struct plx_why *why)
{
	const char *nearest = NULL;
	uint32_t best = 3;
	for (uint32_t i = 0; i < rows_count; i++) {
		uint32_t d = distance(word, rows[i].name);
		if (d < best) {
			best = d;
			nearest = rows[i].name;
		}
	}
	say(why, "\"%.60s\" is no option of ndperf%s%s; `ndperf --help` lists them", word,
	    nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "");
	return PARSED_WRONG;
}

static const char *
role_text(enum role role)
{
	static const char *const names[] = {
		[ROLE_SOLO] = "ndperf in one process",
		[ROLE_SERVER] = "ndperf server",
		[ROLE_CLIENT] = "ndperf client",
	};
	return names[role];
}

/* One option. @param value behind its `=`, or the next word; NULL: there is none
 * Returns: how many words it took; -1 when it is wrong */
static int
apply(const struct row *row, const char *glued, const char *next, struct options *o,
      struct plx_why *why)
{
	const char *value = glued != NULL ? glued : next;
	if ((row->who >> o->role & 1) == 0) {
		say(why, "%s is no option of %s; `ndperf --help` says whose it is", row->name,
		    role_text(o->role));
		return -1;
	}
	if (row->value == NULL && glued != NULL) {
		say(why, "%s takes no value; it was given \"%.60s\"", row->name, glued);
		return -1;
	}
	if (row->value != NULL && (value == NULL || value[0] == '\0')) {
		say(why, "%s wants a value: %s %s", row->name, row->name, row->value);
		return -1;
	}
	if (row->set != NULL && !row->set(o, value, why))
		return -1;
	if (row->set == NULL && row->value != NULL)
		memcpy((char *)o + row->offset, &value, sizeof(value));
	if (row->set == NULL && row->value == NULL)
		*(bool *)((char *)o + row->offset) = true;
	return row->value != NULL && glued == NULL ? 2 : 1;
}

/* How the two find each other. */
static bool
finds_peer(const struct options *o, struct plx_why *why)
{
	bool has_oob = o->oob_host[0] != '\0', has_peer = o->peer.version != 0;
	if (o->role == ROLE_CLIENT && !has_oob && !has_peer)
		return say(why, "ndperf client needs the server's address, such as `ndperf client "
				"10.77.0.1`, or --oob HOST:PORT for a TCP side channel");
	if (has_oob && has_peer)
		return say(why,
			   "the server's address and --oob exclude each other; leave out --oob, "
			   "unless the server has one");
	if (has_oob && o->port_set)
		return say(why,
			   "--port %u: with --oob there is no use for it; leave one of them out",
			   o->port);
	return true;
}

/* What NetworkDirect 2 does not have, or leaves to the configuration file. */
static bool
fits_nd2(struct options *o, struct plx_why *why)
{
	const uint32_t atomics = 1 << OP_CMP_SWAP | 1 << OP_FETCH_ADD;
	if (o->api == API_VERBS)
		return true;
	if (o->ops & atomics)
		return say(why, "--api nd2 has no atomics; ask for --op send,write,read");
	if (o->ack_timeout != 0)
		return say(why, "--ack-timeout %u: --api nd2 has no such setting; leave it out",
			   o->ack_timeout);
	if (o->api == API_BOTH && (o->layout == LAYOUT_TWO_CORES || o->with_raw))
		return say(why, "--api both: they take turns on one thread; it goes with "
				"--one-core or --shared-worker, and without --with-raw");
	if (o->role != ROLE_SOLO && o->oob_host[0] == '\0')
		return say(why, "--api nd2 between two processes needs --oob HOST:PORT, for both, "
				"where they talk");
	if (o->adapter != NULL && o->mode_set)
		return say(why,
			   "--mode: with --api nd2 --adapter %.31s has its mode from the "
			   "configuration file; leave it out",
			   o->adapter);
	return true;
}

/* What only shows when all are known. */
static bool
fits_together(struct options *o, struct plx_why *why)
{
	if (!finds_peer(o, why) || !fits_nd2(o, why))
		return false;
	if (o->ops == 0)
		o->ops = 1 << OP_SEND | 1 << OP_WRITE | 1 << OP_READ |
			 (o->api == API_VERBS) << OP_FETCH_ADD;
	if (o->role != ROLE_SOLO && (o->adapter != NULL) == (o->device != NULL))
		return say(
			why,
			"%s needs either --adapter NAME or --device SPEC with --address IP/PREFIX",
			role_text(o->role));
	if (o->device != NULL && o->role != ROLE_SOLO && o->address.ip.version == 0)
		return say(why, "--device %.60s needs --address IP/PREFIX, such as 10.77.0.1/24",
			   o->device);
	if (o->adapter != NULL && (o->address.ip.version != 0 || o->path_mtu != 0))
		return say(why,
			   "--adapter %.31s has its address and path MTU from the configuration "
			   "file; leave out --address and --mtu",
			   o->adapter);
	if (o->device != NULL && strlen(o->device) >= 200)
		return say(why, "--device: %zu letters are too many; at most 199",
			   strlen(o->device));
	if (o->device2 != NULL && (o->device == NULL || strlen(o->device2) >= 200))
		return say(why,
			   "--device2 %.60s: it stands beside a --device, with at most 199 "
			   "letters",
			   o->device2);
	bool is_wire = o->device == NULL || strncmp(o->device, "net_wire", 8) == 0;
	if (o->fault != NULL && (!is_wire || strlen(o->fault) >= 150))
		return say(why, "--fault %.60s: only net_wire has faults, with at most 149 letters",
			   o->fault);
	if (o->fault != NULL && (o->raw || o->with_raw))
		return say(why, "--fault and raw packets exclude each other: nobody repeats them");
	if (o->role == ROLE_SOLO && !is_wire && o->device2 == NULL && !o->raw)
		return say(why,
			   "--device %.60s: one process has two endpoints; give the other one's "
			   "--device2, or use ndperf server and ndperf client",
			   o->device);
	if (o->mode == PLX_MODE_INLINE && o->mode_set && o->layout == LAYOUT_SHARED_WORKER)
		return say(why, "--mode inline and --shared-worker exclude each other");
	if (o->layout == LAYOUT_SHARED_WORKER)
		o->mode = PLX_MODE_WORKER;
	else if (o->mode == PLX_MODE_WORKER && o->role == ROLE_SOLO && !o->idle_set)
		o->idle = PLX_IDLING_YIELD; /* worker and application share a core */
	return true;
}

static void
set_defaults(struct options *o)
{
	*o = (struct options){
		.rewrite = -1,
		.mode = PLX_MODE_INLINE,
		.idle = PLX_IDLING_SPIN,
		.core = {-1, -1},
		.duration_ms = 500,
		.warmup_ms = 100,
		.timeout_ms = TIMEOUT_MS,
		.port = CM_PORT,
		.rounds = 1,
		.tests = 1 << TEST_LATENCY | 1 << TEST_RATE | 1 << TEST_BANDWIDTH,
	};
}

static const struct row *
find_row(const char *word, const char **glued)
{
	size_t length = strcspn(word, "=");
	*glued = word[length] == '=' ? word + length + 1 : NULL;
	for (uint32_t i = 0; i < rows_count; i++) {
		if (strlen(rows[i].name) == length && strncmp(word, rows[i].name, length) == 0)
			return &rows[i];
	}
	return NULL;
}

/* The words before the options: server, or client and perhaps an address. Returns: how many; -1 */
static int
parse_role(int argc, char **argv, struct options *o, struct plx_why *why)
{
	if (argc < 2 || argv[1][0] == '-')
		return 0;
	o->role = strcmp(argv[1], "server") == 0 ? ROLE_SERVER : ROLE_CLIENT;
	if (o->role == ROLE_CLIENT && strcmp(argv[1], "client") != 0) {
		say(why, "\"%.60s\" is neither server nor client; `ndperf --help` has the forms",
		    argv[1]);
		return -1;
	}
	if (o->role == ROLE_SERVER || argc < 3 || argv[2][0] == '-')
		return 1;
	if (!parse_ip(argv[2], &o->peer)) {
		say(why,
		    "client %.60s: the Pollux address of the server is wanted, such as 10.77.0.1 "
		    "or fd77::1",
		    argv[2]);
		return -1;
	}
	return 2;
}

enum parsed
options_parse(int argc, char **argv, struct options *o, struct plx_why *why)
{
	set_defaults(o);
	int at = 1 + parse_role(argc, argv, o, why);
	if (at == 0)
		return PARSED_WRONG;
	while (at < argc) {
		const char *glued;
		const struct row *row = find_row(argv[at], &glued);
		if (row == NULL)
			return unknown(argv[at], why);
		if (strcmp(row->name, "--help") == 0) {
			print_help();
			return PARSED_DONE;
		}
		if (strcmp(row->name, "--version") == 0) {
			printf("ndperf %s\n", plx_version());
			return PARSED_DONE;
		}
		int took = apply(row, glued, at + 1 < argc ? argv[at + 1] : NULL, o, why);
		if (took < 0)
			return PARSED_WRONG;
		at += took;
	}
	return fits_together(o, why) ? PARSED_RUN : PARSED_WRONG;
}
