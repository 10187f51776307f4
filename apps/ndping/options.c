/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the command line of ndping: words to struct wants, and every mistake to one sentence.
 * It opens nothing, and prints only --help and --version. Start with wants_parse().
 */
#include "ping.h"

#include <stdio.h>
#include <string.h>

enum who {
	CLIENT = 1 << 0,
	SERVER = 1 << 1,
	BOTH = CLIENT | SERVER,
};

/* ---- one setter for each option ----------------------------------------------------------- */

static bool
number(const char *name, const char *value, uint32_t least, uint32_t most, uint32_t *out,
       struct plx_why *why)
{
	uint64_t n;
	if (!parse_bytes(value, &n) || n < least || n > most)
		return say(why, "%s %.60s: a number from %u to %u is wanted", name, value, least,
			   most);
	*out = (uint32_t)n;
	return true;
}

static bool
set_device(struct wants *w, const char *value, struct plx_why *why)
{
	w->device = value;
	return strlen(value) < 200 ||
	       say(why, "--device: %zu letters are too many; at most 199", strlen(value));
}

static bool
set_address(struct wants *w, const char *value, struct plx_why *why)
{
	return parse_address(value, &w->address.ip, &w->address.prefix_bits) ||
	       say(why,
		   "--address %.60s: an address with its prefix is wanted, such as 10.77.0.2/24 or "
		   "fd77::2/64",
		   value);
}

static bool
set_adapter(struct wants *w, const char *value, struct plx_why *why)
{
	(void)why;
	w->adapter = value;
	return true;
}

static bool
set_port(struct wants *w, const char *value, struct plx_why *why)
{
	uint32_t port = 0;
	bool is_good = number("--port", value, 1, 65535, &port, why);
	w->port = (uint16_t)port;
	return is_good;
}

static bool
set_count(struct wants *w, const char *value, struct plx_why *why)
{
	return number("--count", value, 1, COUNT_MAX, &w->count, why);
}

static bool
set_size(struct wants *w, const char *value, struct plx_why *why)
{
	return number("--size", value, 1, SIZE_MAX_BYTES, &w->size, why);
}

static bool
set_timeout(struct wants *w, const char *value, struct plx_why *why)
{
	return (parse_duration_ms(value, &w->timeout_ms) && w->timeout_ms >= 100) ||
	       say(why,
		   "--timeout %.60s: a duration from 100 ms to 1 hour is wanted, such as 2s or "
		   "500ms",
		   value);
}

static bool
set_json(struct wants *w, const char *value, struct plx_why *why)
{
	(void)value;
	(void)why;
	w->json = true;
	return true;
}

static bool
set_no_icmp(struct wants *w, const char *value, struct plx_why *why)
{
	(void)value;
	(void)why;
	w->no_icmp = true;
	return true;
}

static bool
set_eal(struct wants *w, const char *value, struct plx_why *why)
{
	(void)why;
	w->eal = value;
	return true;
}

/* ---- the table ---------------------------------------------------------------------------- */

static const struct row {
	const char *name;
	const char *value; /* what it is called in the help; NULL: the option has none */
	uint8_t who;
	bool (*set)(struct wants *w, const char *value, struct plx_why *why);
	const char *help;
} rows[] = {
	{"--device", "SPEC", BOTH, set_device,
	 "a DPDK device, such as net_tap0,iface=plx0 or 0000:3b:00.0"},
	{"--address", "IP/PREFIX", BOTH, set_address, "of the device"},
	{"--adapter", "NAME", BOTH, set_adapter,
	 "an adapter of the configuration file, instead of --device and --address"},
	{"--port", "N", BOTH, set_port, "of the server, for the communication manager; 7472"},
	{"--count", "N", CLIENT, set_count, "messages there and back; 1000"},
	{"--size", "BYTES", CLIENT, set_size, "of a message, up to 1M; 64"},
	{"--timeout", "TIME", CLIENT, set_timeout, "of every wait for the peer; 3s"},
	{"--no-icmp", NULL, CLIENT, set_no_icmp,
	 "leave the ICMP echo out, for peers that do not answer it"},
	{"--json", NULL, CLIENT, set_json, "print one JSON object instead of lines"},
	{"--eal", "ARGS", BOTH, set_eal, "arguments of DPDK's EAL, such as \"--no-huge -m 512\""},
	{"--help", NULL, BOTH, NULL, "this"},
	{"--version", NULL, BOTH, NULL, "the version"},
};

enum {
	ROWS = sizeof(rows) / sizeof(rows[0]),
};

static void
print_help(void)
{
	puts("ndping: is there a way to a peer, and if not, which layer fails?\n"
	     "\n"
	     "  ndping ADDR [OPTIONS]      try one layer after the other: neighbour, ICMP echo,\n"
	     "                             communication manager, connection, messages, "
	     "disconnect\n"
	     "  ndping server [OPTIONS]    send back what comes, until interrupted\n"
	     "\n"
	     "Behind the semicolon stands what is chosen when the option is not given.\n");
	for (uint32_t i = 0; i < ROWS; i++) {
		char left[40];
		snprintf(left, sizeof(left), "%s %s", rows[i].name,
			 rows[i].value != NULL ? rows[i].value : "");
		printf("  %-22s %s%s\n", left, rows[i].help,
		       rows[i].who == CLIENT ? " (not for the server)" : "");
	}
	puts("\nTwo machines, or two terminals:\n"
	     "  ndping server --device net_tap0,iface=plx0 --address 10.77.0.1/24\n"
	     "  ndping 10.77.0.1 --device net_tap0,iface=plx0 --address 10.77.0.2/24\n"
	     "\nExit status: 0 every layer is fine, 1 one fails, 2 a mistake in the arguments.");
}

/* ---- parsing ------------------------------------------------------------------------------ */

static const struct row *
find_row(const char *word, const char **glued)
{
	size_t length = strcspn(word, "=");
	*glued = word[length] == '=' ? word + length + 1 : NULL;
	for (uint32_t i = 0; i < ROWS; i++) {
		if (strlen(rows[i].name) == length && strncmp(word, rows[i].name, length) == 0)
			return &rows[i];
	}
	return NULL;
}

/* One option. Returns: how many words it took; -1: it is wrong */
static int
apply(const struct row *row, const char *glued, const char *next, struct wants *w,
      struct plx_why *why)
{
	const char *value = glued != NULL ? glued : next;
	if ((row->who & (w->is_server ? SERVER : CLIENT)) == 0) {
		say(why, "%s is no option of ndping server", row->name);
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
	if (!row->set(w, value, why))
		return -1;
	return row->value != NULL && glued == NULL ? 2 : 1;
}

static bool
take_peer(struct wants *w, const char *word, struct plx_why *why)
{
	if (w->is_server)
		return say(why, "\"%.60s\": ndping server waits for whoever comes; leave it out",
			   word);
	if (w->peer.version != 0)
		return say(why, "\"%.60s\" is a second peer; give one address", word);
	return parse_ip(word, &w->peer) ||
	       say(why,
		   "\"%.60s\" is neither an address, such as 10.77.0.1 or fd77::1, nor the word "
		   "server",
		   word);
}

static bool
fits_together(const struct wants *w, struct plx_why *why)
{
	if (!w->is_server && w->peer.version == 0)
		return say(why,
			   "the address of a peer is wanted, such as `ndping 10.77.0.1`; `ndping "
			   "--help` has the forms");
	if ((w->adapter != NULL) == (w->device != NULL))
		return say(why,
			   "either --adapter NAME or --device SPEC with --address IP/PREFIX is "
			   "needed");
	if (w->device != NULL && w->address.ip.version == 0)
		return say(why, "--device %.60s needs --address IP/PREFIX, such as 10.77.0.2/24",
			   w->device);
	if (w->adapter != NULL && w->address.ip.version != 0)
		return say(why,
			   "--adapter %.31s has its address from the configuration file; leave out "
			   "--address",
			   w->adapter);
	if (!w->is_server && w->device != NULL && w->address.ip.version != w->peer.version)
		return say(
			why,
			"the peer's address is of IPv%u, --address of IPv%u; both must be of one "
			"kind",
			w->peer.version, w->address.ip.version);
	return true;
}

enum parsed
wants_parse(int argc, char **argv, struct wants *w, struct plx_why *why)
{
	*w = (struct wants){.port = PORT, .count = 1000, .size = 64, .timeout_ms = 3000};
	w->is_server = argc > 1 && strcmp(argv[1], "server") == 0;
	int at = w->is_server ? 2 : 1;
	while (at < argc) {
		const char *glued;
		const struct row *row = find_row(argv[at], &glued);
		if (row == NULL && argv[at][0] != '-') {
			if (!take_peer(w, argv[at], why))
				return PARSED_WRONG;
			at++;
			continue;
		}
		if (row == NULL) {
			say(why, "\"%.60s\" is no option of ndping; `ndping --help` lists them",
			    argv[at]);
			return PARSED_WRONG;
		}
		if (strcmp(row->name, "--help") == 0) {
			print_help();
			return PARSED_DONE;
		}
		if (strcmp(row->name, "--version") == 0) {
			printf("ndping %s\n", plx_version());
			return PARSED_DONE;
		}
		int took = apply(row, glued, at + 1 < argc ? argv[at + 1] : NULL, w, why);
		if (took < 0)
			return PARSED_WRONG;
		at += took;
	}
	return fits_together(w, why) ? PARSED_RUN : PARSED_WRONG;
}
