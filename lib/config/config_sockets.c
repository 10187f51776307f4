/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section of programs of sockets: their socket, and the rules that say which connections go
 * over RDMA. Start with settings_read_sockets().
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

/* ---- a rule ---- */

static enum plx_status
read_address(const struct settings_place *at, void *section)
{
	const char *text = config_setting_get_string(at->setting);
	struct plx_san_rule *rule = section;

	if (text && settings_parse_prefix(text, 0, &rule->ip, &rule->bits))
		return PLX_OK;
	if (text && settings_parse_ip(text, &rule->ip)) {
		rule->bits = (uint8_t)plx_ip_bits(&rule->ip);
		return PLX_OK;
	}
	return settings_wrong(at,
			      "address = \"%.60s\" is not an IP address, with or without the "
			      "length of a prefix, such as \"10.77.0.0/16\"",
			      text ? text : "?");
}

static bool
read_port(const char **at, uint16_t *out)
{
	char *end;
	unsigned long port = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : 0;

	if (port < 1 || port > UINT16_MAX)
		return false;
	*out = (uint16_t)port;
	*at = end;
	return true;
}

/* "6379" or "8000-8999" */
static bool
parse_ports(const char *text, struct plx_san_rule *rule)
{
	if (!read_port(&text, &rule->first))
		return false;
	rule->last = rule->first;
	if (*text == '\0')
		return true;
	return *text++ == '-' && read_port(&text, &rule->last) && *text == '\0' &&
	       rule->first <= rule->last;
}

static enum plx_status
read_ports(const struct settings_place *at, void *section)
{
	const char *text = config_setting_get_string(at->setting);

	if (text && parse_ports(text, section))
		return PLX_OK;
	return settings_wrong(at,
			      "ports = \"%.60s\" is neither a port, 1 to 65535, nor a range, such "
			      "as \"8000-8999\", in quotes",
			      text ? text : "?");
}

static enum plx_status
read_use(const struct settings_place *at, void *section)
{
	const char *text = config_setting_get_string(at->setting);
	struct plx_san_rule *rule = section;

	rule->rdma = text && strcmp(text, "rdma") == 0;
	if (rule->rdma || (text && strcmp(text, "tcp") == 0))
		return PLX_OK;
	return settings_wrong(at, "use = \"%.60s\" is neither \"rdma\" nor \"tcp\"",
			      text ? text : "?");
}

static enum plx_status
read_rule(const struct settings_place *at, struct plx_san_rule *rule)
{
	static const struct settings_reader readers[] = {
		{"address", read_address}, {"ports", read_ports}, {"use", read_use}, {NULL, NULL}};

	*rule = (struct plx_san_rule){.first = 1, .last = UINT16_MAX};
	if (!config_setting_is_group(at->setting) || !config_setting_get_member(at->setting, "use"))
		return settings_wrong(at,
				      "a rule is { use = \"rdma\"; } or { use = \"tcp\"; }, with "
				      "address and ports if it is not for all");
	return settings_read_all(at, readers, rule);
}

/* ---- the section ---- */

static enum plx_status
read_rules(const struct settings_place *at, void *section)
{
	struct plx_host_sockets *sockets = section;
	int n = config_setting_length(at->setting);

	if (!config_setting_is_list(at->setting) || n > PLX_SAN_RULES_MAX)
		return settings_wrong(at,
				      "rules is not a list of at most %d groups: ( { ... }, { ... "
				      "} )",
				      PLX_SAN_RULES_MAX);
	for (int i = 0; i < n; i++) {
		struct settings_place inner = {
			at->path, config_setting_get_elem(at->setting, (unsigned)i), at->mistakes};
		enum plx_status status = read_rule(&inner, &sockets->rule[sockets->rules]);

		if (settings_ends(at, status))
			return status;
		sockets->rules++;
	}
	return PLX_OK;
}

/* Readers of a socket find it there. */
_Static_assert(offsetof(struct plx_host_sockets, socket) == 0, "the first member");

enum plx_status
settings_read_sockets(const struct settings_place *at, struct plx_host_sockets *sockets)
{
	static const struct settings_reader readers[] = {
		SETTINGS_SOCKET_READERS, {"rules", read_rules}, {NULL, NULL}};

	sockets->served = true;
	return settings_read_all(at, readers, sockets);
}
