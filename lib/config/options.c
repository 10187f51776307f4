/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of an adapter: defaults and ranges. It keeps nothing and starts nothing. Start with
 * adapter_options_check().
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plx_address_text.h"
#include "plx_settings.h"

enum {
	QPS_DEFAULT = 1024,
	CONNECTIONS_DEFAULT = 1024,
	CONNECTIONS_OF_OTHERS = 64, /* one in this many is not for a peer that has all others */
	KEYS_DEFAULT = 65536,
	PACKETS_DEFAULT = 16384,  /* for one engine or two, */
	PACKETS_OF_ENGINE = 8192, /* and for each of more */
	START_TIMEOUT_DEFAULT = 10000,
};

void
settings_field_set(const struct settings_field *field, void *options, long long value)
{
	uint8_t byte = (uint8_t)value;
	int32_t word = (int32_t)value;
	bool small = field->size == sizeof(byte);

	memcpy((char *)options + field->offset, small ? (void *)&byte : (void *)&word, field->size);
}

long long
settings_field_get(const struct settings_field *field, const void *options)
{
	const char *at = (const char *)options + field->offset;
	int32_t word;

	if (field->size == 1)
		return *(const uint8_t *)at;
	memcpy(&word, at, sizeof(word));
	return field->min < 0 ? word : (long long)(uint32_t)word;
}

bool
adapter_name_is_right(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789._-");

	return length >= 1 && length <= PLX_ADAPTER_NAME_MAX && !name[length];
}

bool
device_is_pci(const char *device)
{
	unsigned int domain, bus, slot, function;
	int end = 0;

	/* 0000:3b:00.0 or 3b:00.0, with or without arguments */
	if (sscanf(device, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4)
		end = 0;
	if (!end && sscanf(device, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) != 3)
		return false;
	return end > 0 && (!device[end] || device[end] == ',');
}

void
adapter_options_set_defaults(struct plx_adapter_options *options)
{
	if (!options->qps)
		options->qps = QPS_DEFAULT;
	if (!options->connections)
		options->connections =
			options->qps > CONNECTIONS_DEFAULT ? options->qps : CONNECTIONS_DEFAULT;
	if (!options->connections_per_peer)
		options->connections_per_peer =
			options->connections - options->connections / CONNECTIONS_OF_OTHERS;
	if (options->connections_per_peer > options->connections)
		options->connections_per_peer = options->connections;
	if (!options->keys)
		options->keys = KEYS_DEFAULT;
	if (!options->queue_depth)
		options->queue_depth = PLX_QUEUE_DEPTH_MAX;
	if (!options->engines)
		options->engines = 1;
	if (!options->packets)
		options->packets = options->engines * PACKETS_OF_ENGINE > PACKETS_DEFAULT
					   ? options->engines * PACKETS_OF_ENGINE
					   : PACKETS_DEFAULT;
	if (!options->start_timeout_ms)
		options->start_timeout_ms = START_TIMEOUT_DEFAULT;
}

/* ---- checks ---- */

static enum plx_status
check_packets(const struct plx_adapter_options *options, struct plx_why *why)
{
	if (!options->packets || options->packets >= options->engines * SETTINGS_PACKETS_MIN)
		return PLX_OK;
	plx_why_set(why, "packets = %u are too few for engines = %u; each needs %d",
		    options->packets, options->engines, SETTINGS_PACKETS_MIN);
	return PLX_INVALID;
}

static bool
is_unicast(const struct plx_ip *ip)
{
	static const uint8_t none[16];

	if (ip->version == 4)
		return ip->v[0] != 0 && ip->v[0] < 224;
	return ip->version == 6 && ip->v[0] != 0xff && memcmp(ip->v, none, sizeof(none)) != 0;
}

static enum plx_status
check_addresses(const struct plx_adapter_options *options, struct plx_why *why)
{
	uint32_t n = options->addresses;

	if (n < 1 || n > PLX_ADAPTER_ADDRESSES_MAX) {
		plx_why_set(why,
			    "address: there are %u; an adapter needs 1 to %d, such as "
			    "[ \"10.77.0.1/24\" ]",
			    n, PLX_ADAPTER_ADDRESSES_MAX);
		return PLX_INVALID;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct plx_ip *ip = &options->address[i].ip;
		uint8_t bits = options->address[i].prefix_bits;

		if (!is_unicast(ip) || bits < 1 || bits > plx_ip_bits(ip)) {
			plx_why_set(why,
				    "address number %u is not a unicast IP address with a prefix "
				    "of 1 to 32 bits (IPv6: 1 to 128)",
				    i + 1);
			return PLX_INVALID;
		}
		for (uint32_t j = 0; j < i; j++) {
			if (memcmp(ip, &options->address[j].ip, sizeof(*ip)) == 0) {
				plx_why_set(why, "address number %u is the same as number %u",
					    i + 1, j + 1);
				return PLX_INVALID;
			}
		}
	}
	return PLX_OK;
}

static bool
has_bits_behind(const struct plx_ip *net, uint32_t prefix_bits)
{
	for (uint32_t bit = prefix_bits; bit < plx_ip_bits(net); bit++)
		if (net->v[bit / 8] & 0x80 >> bit % 8)
			return true;
	return false;
}

/* The gateway must be a neighbour, and not our own address. */
static enum plx_status
check_via(const struct plx_adapter_options *options, uint32_t i, struct plx_why *why)
{
	const struct plx_ip *via = &options->route[i].via;
	struct plx_address_text text = plx_address_text(via);
	bool found = false;

	for (uint32_t j = 0; j < options->addresses; j++) {
		const struct plx_ip *ip = &options->address[j].ip;

		if (plx_ip_same_prefix(ip, via, plx_ip_bits(ip))) {
			plx_why_set(why, "route number %u: its gateway %s is the adapter itself",
				    i + 1, text.s);
			return PLX_INVALID;
		}
		found |= plx_ip_same_prefix(ip, via, options->address[j].prefix_bits);
	}
	if (found && is_unicast(via))
		return PLX_OK;
	plx_why_set(why,
		    "route number %u: its gateway %s is in no network of the adapter's addresses; "
		    "give one that is reached directly",
		    i + 1, text.s);
	return PLX_INVALID;
}

/* Check route `i`; the preceding ones are valid. */
static enum plx_status
check_route(const struct plx_adapter_options *options, uint32_t i, struct plx_why *why)
{
	const struct plx_ip *net = &options->route[i].net;
	uint8_t bits = options->route[i].prefix_bits;

	if ((net->version != 4 && net->version != 6) || bits > plx_ip_bits(net) ||
	    has_bits_behind(net, bits) || options->route[i].via.version != net->version) {
		plx_why_set(why,
			    "route number %u is not a network without bits behind its prefix and a "
			    "gateway, both of IPv4 or both of IPv6, such as "
			    "10.88.0.0/16 via 10.77.0.254",
			    i + 1);
		return PLX_INVALID;
	}
	for (uint32_t j = 0; j < i; j++) {
		if (options->route[j].prefix_bits == bits &&
		    plx_ip_same_prefix(net, &options->route[j].net, bits)) {
			plx_why_set(why, "route number %u leads to the same network as number %u",
				    i + 1, j + 1);
			return PLX_INVALID;
		}
	}
	return check_via(options, i, why);
}

/* @param i [out] the first invalid one */
static enum plx_status
check_routes(const struct plx_adapter_options *options, uint32_t *i, struct plx_why *why)
{
	*i = UINT32_MAX;
	if (options->routes > PLX_ADAPTER_ROUTES_MAX) {
		plx_why_set(why, "there are %u routes; an adapter has at most %d", options->routes,
			    PLX_ADAPTER_ROUTES_MAX);
		return PLX_INVALID;
	}
	for (*i = 0; *i < options->routes; ++*i) {
		enum plx_status status = check_route(options, *i, why);

		if (status != PLX_OK)
			return status;
	}
	return PLX_OK;
}

static enum plx_status
check_field(const struct settings_field *field, const struct plx_adapter_options *options,
	    struct plx_why *why)
{
	long long value = settings_field_get(field, options), max = field->max;

	if (field->kind == SETTINGS_CHOICE)
		for (uint32_t i = 0; field->choices[i].name; i++)
			max = field->choices[i].value; /* the last one is the largest */
	else if (value == 0 && field->min > 0)
		return PLX_OK; /* the default */
	if (value < field->min || value > max) {
		plx_why_set(why, "%s = %lld is outside its range of %lld to %lld", field->name,
			    value, field->min, max);
		return PLX_INVALID;
	}
	if (field->kind == SETTINGS_MTU && (value & (value - 1))) {
		plx_why_set(why, "%s = %lld is not one of 256, 512, 1024, 2048, 4096", field->name,
			    value);
		return PLX_INVALID;
	}
	return PLX_OK;
}

static enum plx_status
check_string(const struct settings_field *field, const struct plx_adapter_options *options,
	     struct plx_why *why)
{
	if (memchr((const char *)options + field->offset, 0, field->size))
		return PLX_OK;
	plx_why_set(why, "%s has no end within %zu characters", field->name, field->size);
	return PLX_INVALID;
}

/* What the host decides is not looked at. */
static enum plx_status
check_host(const struct plx_adapter_options *options, struct plx_why *why)
{
	if (*options->host != '/') {
		plx_why_set(why,
			    "host = \"%.60s\" is not the absolute path of a socket, such as "
			    "\"/run/pollux/polluxd.sock\"",
			    options->host);
		return PLX_INVALID;
	}
	if (options->mode == PLX_MODE_INLINE) {
		plx_why_set(why,
			    "host = \"%.60s\" has no meaning with mode = \"inline\", since its "
			    "worker polls; leave one of them out",
			    options->host);
		return PLX_INVALID;
	}
	return PLX_OK;
}

enum plx_status
adapter_options_check(const struct plx_adapter_options *options, uint32_t *route,
		      struct plx_why *why)
{
	enum plx_status status = PLX_OK;
	uint32_t unsaid;

	if (!route)
		route = &unsaid;
	*route = UINT32_MAX;

	for (uint32_t i = 0; i < settings_field_count && status == PLX_OK; i++) {
		const struct settings_field *field = &settings_fields[i];

		if (field->kind == SETTINGS_STRING)
			status = check_string(field, options, why);
		else if (field->kind == SETTINGS_NUMBER || field->kind == SETTINGS_MTU ||
			 field->kind == SETTINGS_CHOICE)
			status = check_field(field, options, why);
	}
	if (status != PLX_OK)
		return status;
	if (*options->host)
		return check_host(options, why);
	if (!*options->device) {
		plx_why_set(why,
			    "device is empty; it names a port, such as \"net_tap0,iface=plx0\" "
			    "or \"0000:3b:00.0\"");
		return PLX_INVALID;
	}
	if (options->mode == PLX_MODE_INLINE && *options->worker) {
		plx_why_set(why,
			    "worker = \"%s\" has no meaning with mode = \"inline\"; leave one "
			    "of them out",
			    options->worker);
		return PLX_INVALID;
	}
	status = check_packets(options, why);
	if (status == PLX_OK)
		status = check_addresses(options, why);
	return status == PLX_OK ? check_routes(options, route, why) : status;
}
