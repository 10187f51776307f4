/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of ndping and the checks that involve several of them. It opens nothing.
 * Start with `rows`.
 */
#include "ping.h"

#include <string.h>

#define ROW(n, a, f, k, field) \
	.name = (n), .argument = (a), .forms = (f), .kind = (k), .offset = AT(field)
#define AT(field) offsetof(struct options, field)

static const struct option_row rows[] = {
	{ROW("port", "N", FORM_PAIR, OPTION_NUMBER, port), .least = 1, .most = 65535,
	 .value = "7472", .sentence = "port of the server, of the communication manager"},
	{ROW("count", "N", FORM_CLIENT, OPTION_NUMBER, count), .least = 1, .most = COUNT_MAX,
	 .value = "1000", .sentence = "messages there and back"},
	{ROW("size", "BYTES", FORM_CLIENT, OPTION_NUMBER, size), .least = 1, .most = SIZE_MAX_BYTES,
	 .value = "64", .sentence = "size of a message"},
	{ROW("timeout", "TIME", FORM_CLIENT, OPTION_TIME, timeout_ms), .least = 100, .value = "3s",
	 .sentence = "limit of every wait for the peer, such as 2s or 500ms"},
	{ROW("no-icmp", NULL, FORM_CLIENT, OPTION_FLAG, no_icmp),
	 .sentence = "skip the ICMP echo, for peers that do not answer it"},
	{ROW("json", NULL, FORM_CLIENT, OPTION_FLAG, json),
	 .sentence = "print one JSON object instead of lines"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static bool
parse_peer(void *options, const char *word, struct plx_why *why)
{
	struct options *o = options;
	if (o->is_server)
		return why_set(why, "\"%.60s\": ndping server serves every client; leave it out",
			       word);
	if (o->peer.version != 0)
		return why_set(why, "\"%.60s\" is a second peer; give one address", word);
	return parse_ip(word, &o->peer) || why_set(why,
						   "\"%.60s\" is neither an address, such as "
						   "10.77.0.1 or fd77::1, nor the word "
						   "server",
						   word);
}

static const struct program program = {
	.name = "ndping",
	.purpose = "finds out whether a peer can be reached, and if not, which layer fails",
	.forms =
		{
			{FORM_CLIENT, "ndping ADDR [OPTIONS]", "ndping ADDR",
			 "try one layer after the other: neighbour, ICMP echo, communication "
			 "manager, connection, messages, disconnect"},
			{FORM_SERVER, "ndping server [OPTIONS]", "ndping server",
			 "echo messages until interrupted"},
		},
	.groups = {{FORM_PAIR, "For both forms"}, {FORM_CLIENT, "For ndping ADDR"}},
	.parts = {{endpoint_rows, ENDPOINT_ROWS, AT(endpoint)},
		  {rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes = "A number may end in K, M or G, powers of 1024.",
	.example = "  ndping server --device net_tap0,iface=plx0 --address 10.77.0.1/24\n"
		   "  ndping 10.77.0.1 --device net_tap0,iface=plx0 --address 10.77.0.2/24",
	.exit_status = "0 every layer passed, 1 one failed, 2 a mistake in the arguments.",
	.word = parse_peer,
};

static bool
fits_together(const struct options *o, struct plx_why *why)
{
	const struct endpoint *e = &o->endpoint;
	if (!o->is_server && o->peer.version == 0)
		return why_set(why,
			       "give the address of a peer, such as `ndping 10.77.0.1`; `ndping "
			       "--help` has the usage");
	if (!endpoint_is_named(e, o->is_server ? "ndping server" : "ndping", why))
		return false;
	if (!o->is_server && e->device != NULL && e->address.ip.version != o->peer.version)
		return why_set(
			why,
			"the peer's address is IPv%u, --address is IPv%u; both must be of the "
			"same kind",
			o->peer.version, e->address.ip.version);
	return true;
}

enum parsed
ndping_options(int argc, char **argv, struct options *o, struct plx_why *why)
{
	uint64_t given;
	int words = argc > 1 && strcmp(argv[1], "server") == 0;
	*o = (struct options){.is_server = words != 0};
	enum parsed parsed = options_read(&program, o->is_server ? FORM_SERVER : FORM_CLIENT,
					  argc - words, argv + words, o, &given, why);
	return parsed == PARSED_RUN && !fits_together(o, why) ? PARSED_WRONG : parsed;
}
