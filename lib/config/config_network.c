/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses and routes of an adapter, from the text of the configuration file. Start with
 * settings_read_addresses().
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

bool
settings_parse_prefix(const char *text, long bits_min, struct plx_ip *ip, uint8_t *prefix_bits)
{
	char host[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	char *end;
	long bits;

	if (!slash || (size_t)(slash - text) >= sizeof(host) || !isdigit((unsigned char)slash[1]))
		return false;
	memcpy(host, text, (size_t)(slash - text));
	host[slash - text] = '\0';
	bits = strtol(slash + 1, &end, 10);
	memset(ip, 0, sizeof(*ip));
	if (inet_pton(AF_INET, host, ip->v) == 1)
		ip->version = 4;
	else if (inet_pton(AF_INET6, host, ip->v) == 1)
		ip->version = 6;
	if (*end || !ip->version || bits < bits_min || bits > plx_ip_bits(ip))
		return false;
	*prefix_bits = (uint8_t)bits;
	return true;
}

enum plx_status
settings_read_addresses(const struct settings_place *at, struct plx_adapter_options *options)
{
	int n = config_setting_length(at->setting);

	if (!config_setting_is_aggregate(at->setting) || n < 1 || n > PLX_ADAPTER_ADDRESSES_MAX)
		return settings_wrong(at,
				      "address is not a list of 1 to %d addresses, such as "
				      "[ \"10.77.0.1/24\", \"fd77::1/64\" ]",
				      PLX_ADAPTER_ADDRESSES_MAX);
	for (int i = 0; i < n; i++) {
		const char *text = config_setting_get_string_elem(at->setting, i);
		uint32_t to = options->addresses;

		if (!text || !settings_parse_prefix(text, 1, &options->address[to].ip,
						    &options->address[to].prefix_bits))
			return settings_wrong(
				at,
				"address \"%.60s\" is not an IP address with the length of "
				"its prefix (1 to 32, for IPv6 1 to 128), such as "
				"\"10.77.0.1/24\" or \"fd77::1/64\"",
				text ? text : "?");
		options->addresses++;
	}
	return PLX_OK;
}

bool
settings_parse_ip(const char *text, struct plx_ip *ip)
{
	memset(ip, 0, sizeof(*ip));
	if (inet_pton(AF_INET, text, ip->v) == 1)
		ip->version = 4;
	else if (inet_pton(AF_INET6, text, ip->v) == 1)
		ip->version = 6;
	return ip->version != 0;
}

/* "10.88.0.0/16 via 10.77.0.254" */
static bool
parse_route(const char *text, struct plx_ip *net, uint8_t *prefix_bits, struct plx_ip *via)
{
	char head[INET6_ADDRSTRLEN + 4];
	const char *between = strstr(text, " via ");

	if (!between || (size_t)(between - text) >= sizeof(head))
		return false;
	memcpy(head, text, (size_t)(between - text));
	head[between - text] = '\0';
	return settings_parse_prefix(head, 0, net, prefix_bits) &&
	       settings_parse_ip(between + strlen(" via "), via);
}

/* Add a route after the existing ones; a gateway is a route to everywhere. */
static enum plx_status
read_route(const struct settings_place *at, const char *text, bool is_gateway,
	   struct plx_adapter_options *options)
{
	uint32_t to = options->routes;
	bool good;

	if (to == PLX_ADAPTER_ROUTES_MAX)
		return settings_wrong(at, "there are more than %d routes, gateways included",
				      PLX_ADAPTER_ROUTES_MAX);
	memset(&options->route[to], 0, sizeof(options->route[to]));
	if (is_gateway) {
		good = text && settings_parse_ip(text, &options->route[to].via);
		options->route[to].net.version = options->route[to].via.version;
	} else {
		good = text &&
		       parse_route(text, &options->route[to].net, &options->route[to].prefix_bits,
				   &options->route[to].via);
	}
	if (!good && is_gateway)
		return settings_wrong(
			at, "gateway \"%.60s\" is not an IP address, such as \"10.77.0.254\"",
			text ? text : "?");
	if (!good)
		return settings_wrong(
			at,
			"route \"%.100s\" is not a network with the length of its prefix and a "
			"gateway, such as \"10.88.0.0/16 via 10.77.0.254\"",
			text ? text : "?");
	options->routes++;
	return PLX_OK;
}

enum plx_status
settings_read_routes(const struct settings_place *at, bool is_gateway,
		     struct plx_adapter_options *options)
{
	int n = config_setting_length(at->setting);
	enum plx_status status = PLX_OK;

	if (is_gateway && config_setting_get_string(at->setting))
		return read_route(at, config_setting_get_string(at->setting), true, options);
	if (!config_setting_is_aggregate(at->setting) || n < 1 || (is_gateway && n > 2)) {
		if (is_gateway)
			return settings_wrong(
				at, "gateway is not an address or a list of two, one of IPv4 "
				    "and one of IPv6, such as [ \"10.77.0.254\", \"fd77::fe\" ]");
		return settings_wrong(at,
				      "routes is not a list of 1 to %d routes, such as "
				      "[ \"10.88.0.0/16 via 10.77.0.254\" ]",
				      PLX_ADAPTER_ROUTES_MAX);
	}
	for (int i = 0; i < n && status == PLX_OK; i++) {
		struct settings_place inner = {
			at->path, config_setting_get_elem(at->setting, (unsigned)i), at->mistakes};

		status = read_route(&inner, config_setting_get_string(inner.setting), is_gateway,
				    options);
	}
	return status;
}

const config_setting_t *
settings_find_route(const config_setting_t *section, uint32_t which)
{
	for (int i = 0; i < config_setting_length(section); i++) {
		const config_setting_t *one = config_setting_get_elem(section, (unsigned)i);
		bool is_list = config_setting_is_aggregate(one);
		uint32_t n = is_list ? (uint32_t)config_setting_length(one) : 1;

		if (strcmp(config_setting_name(one), "routes") != 0 &&
		    strcmp(config_setting_name(one), "gateway") != 0)
			continue;
		if (which < n)
			return is_list ? config_setting_get_elem(one, which) : one;
		which -= n;
	}
	return section;
}
