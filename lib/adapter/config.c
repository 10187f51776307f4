/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration file: finds it, reads it with libconfig, and reports every error with file,
 * line, setting, value and range. The whole file is checked, whichever adapter is requested.
 * It keeps nothing between calls and starts nothing. Start with settings_read().
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <libconfig.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter.h"
#include "plx_files.h"
#include "settings.h"

enum {
	NAME_FAR = 3, /* a name with this many wrong letters is not considered a typing error */
	NAME_LONGEST = 64,
};

static const struct settings_choice modes[] = {
	{"worker", PLX_MODE_WORKER},
	{"inline", PLX_MODE_INLINE},
	{NULL, 0},
};

static const struct settings_choice idles[] = {
	{"spin", PLX_IDLE_SPIN},
	{"pause", PLX_IDLE_PAUSE},
	{"yield", PLX_IDLE_YIELD},
	{NULL, 0},
};

#define OFFSET(member) offsetof(struct plx_adapter_options, member)
#define SIZE(member)   sizeof(((struct plx_adapter_options *)0)->member)

/* Every setting of an adapter. adapter_options_check() uses it for options from programs and from
 * the file. */
const struct settings_field settings_fields[] = {
	{"name", SETTINGS_NAME, 0, 0, 0, 0, NULL},
	{"device", SETTINGS_STRING, OFFSET(device), SIZE(device), 0, 0, NULL},
	{"address", SETTINGS_ADDRESSES, 0, 0, 0, 0, NULL},
	{"routes", SETTINGS_ROUTES, 0, 0, 0, 0, NULL},
	{"gateway", SETTINGS_GATEWAY, 0, 0, 0, 0, NULL},
	{"mode", SETTINGS_CHOICE, OFFSET(mode), SIZE(mode), 0, 0, modes},
	{"worker", SETTINGS_STRING, OFFSET(worker), SIZE(worker), 0, 0, NULL},
	{"core", SETTINGS_NUMBER, OFFSET(core), SIZE(core), -1, SETTINGS_CORE_MAX, NULL},
	{"idle", SETTINGS_CHOICE, OFFSET(idle), SIZE(idle), 0, 0, idles},
	{"path_mtu", SETTINGS_MTU, OFFSET(path_mtu), SIZE(path_mtu), 256, PLX_MTU_MAX, NULL},
	{"queue_pairs", SETTINGS_NUMBER, OFFSET(qps), SIZE(qps), 1, PLX_ENGINE_QPS_MAX, NULL},
	{"keys", SETTINGS_NUMBER, OFFSET(keys), SIZE(keys), 2, PLX_MEM_SLOTS_MAX - 1, NULL},
	{"queue_depth", SETTINGS_NUMBER, OFFSET(queue_depth), SIZE(queue_depth), 1,
	 PLX_QUEUE_DEPTH_MAX, NULL},
	{"connections", SETTINGS_NUMBER, OFFSET(connections), SIZE(connections), 1,
	 PLX_ENGINE_QPS_MAX, NULL},
	{"connections_per_peer", SETTINGS_NUMBER, OFFSET(connections_per_peer),
	 SIZE(connections_per_peer), 1, PLX_ENGINE_QPS_MAX, NULL},
	{"packets", SETTINGS_NUMBER, OFFSET(packets), SIZE(packets), SETTINGS_PACKETS_MIN,
	 SETTINGS_PACKETS_MAX, NULL},
	{"vlan", SETTINGS_NUMBER, OFFSET(vlan), SIZE(vlan), 0, PLX_VLAN_MAX, NULL},
	{"dscp", SETTINGS_NUMBER, OFFSET(dscp), SIZE(dscp), 0, 63, NULL},
	{"ecn", SETTINGS_SWITCH, OFFSET(ecn), SIZE(ecn), 0, 1, NULL},
	{"start_timeout_ms", SETTINGS_NUMBER, OFFSET(start_timeout_ms), SIZE(start_timeout_ms), 1,
	 SETTINGS_START_TIMEOUT_MAX, NULL},
	{"disconnect_grace_ms", SETTINGS_NUMBER, OFFSET(disconnect_grace_ms),
	 SIZE(disconnect_grace_ms), 0, SETTINGS_DISCONNECT_GRACE_MAX, NULL},
	{"interface_index", SETTINGS_NUMBER, OFFSET(interface_index), SIZE(interface_index), 1,
	 PLX_INTERFACE_MAX, NULL},
	{"dispatcher_core", SETTINGS_NUMBER, OFFSET(dispatcher_core), SIZE(dispatcher_core), -1,
	 SETTINGS_CORE_MAX, NULL},
};

const uint32_t settings_field_count = PLX_COUNT_OF(settings_fields);

/* ---- sentences ---- */

/* The location of an error, and where to write its sentence. */
struct place {
	const char *path;
	const config_setting_t *setting;
	struct plx_why *why;
};

static enum plx_status __attribute__((format(printf, 2, 3)))
wrong(const struct place *at, const char *format, ...)
{
	char text[sizeof(at->why->text)];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	plx_why_set(at->why, "%s:%u: %s", at->path, config_setting_source_line(at->setting), text);
	return PLX_CONFIG;
}

static uint32_t
least(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* The number of letters to insert, delete or replace to turn one word into the other. */
static uint32_t
distance(const char *a, const char *b)
{
	uint32_t row[NAME_LONGEST + 1], diagonal, above;
	size_t b_length = strlen(b);

	if (b_length > NAME_LONGEST)
		return UINT32_MAX;
	for (uint32_t i = 0; i <= b_length; i++)
		row[i] = i;
	for (; *a; a++) {
		diagonal = row[0]++;
		for (uint32_t i = 1; i <= b_length; i++) {
			above = row[i];
			row[i] = least(above + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
			diagonal = above;
		}
	}
	return row[b_length];
}

/* Find the most similar of `names`; NULL: none is similar enough. */
static const char *
nearest(const char *name, const char *const *names, uint32_t n)
{
	const char *best = NULL;
	uint32_t best_distance = NAME_FAR;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t off = distance(name, names[i]);

		if (off < best_distance) {
			best_distance = off;
			best = names[i];
		}
	}
	return best;
}

static enum plx_status
unknown_setting(const struct place *at, const char *const *names, uint32_t n)
{
	const char *name = config_setting_name(at->setting);
	const char *meant = nearest(name, names, n);

	if (meant)
		return wrong(at, "there is no setting %s; did you mean %s?", name, meant);
	return wrong(at, "there is no setting %s", name);
}

/* ---- values ---- */

static enum plx_status
read_string(const struct place *at, const struct settings_field *field, void *base)
{
	const char *value = config_setting_get_string(at->setting);

	if (!value)
		return wrong(at, "%s is not a string in quotes", field->name);
	if (!*value || strlen(value) >= field->size)
		return wrong(at, "%s = \"%.40s\" has %zu characters; it needs 1 to %zu",
			     field->name, value, strlen(value), field->size - 1);
	memcpy((char *)base + field->offset, value, strlen(value) + 1);
	return PLX_OK;
}

static enum plx_status
read_number(const struct place *at, const struct settings_field *field, void *base)
{
	int type = config_setting_type(at->setting);
	long long value;

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		return wrong(at, "%s is not a whole number; it needs %lld to %lld", field->name,
			     field->min, field->max);
	value = config_setting_get_int64(at->setting);
	if (value < field->min || value > field->max)
		return wrong(at, "%s = %lld is outside its range of %lld to %lld", field->name,
			     value, field->min, field->max);
	if (field->kind == SETTINGS_MTU && (value & (value - 1)))
		return wrong(at, "%s = %lld is not one of 256, 512, 1024, 2048, 4096", field->name,
			     value);
	settings_field_set(field, base, value);
	return PLX_OK;
}

static enum plx_status
read_switch(const struct place *at, const struct settings_field *field, void *base)
{
	if (config_setting_type(at->setting) != CONFIG_TYPE_BOOL)
		return wrong(at, "%s is neither true nor false", field->name);
	settings_field_set(field, base, config_setting_get_bool(at->setting));
	return PLX_OK;
}

static enum plx_status
read_choice(const struct place *at, const struct settings_field *field, void *base)
{
	const char *value = config_setting_get_string(at->setting);
	char all[64] = "";

	for (const struct settings_choice *choice = field->choices; choice->name; choice++) {
		if (value && strcmp(value, choice->name) == 0) {
			settings_field_set(field, base, choice->value);
			return PLX_OK;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s\"%s\"", *all ? ", " : "",
			 choice->name);
	}
	return wrong(at, "%s = \"%.40s\" is not one of %s", field->name, value ? value : "?", all);
}

/* "10.77.0.1/24" or "fd77::1/64" */
static bool
parse_address(const char *text, long bits_min, struct plx_ip *ip, uint8_t *prefix_bits)
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

static enum plx_status
read_addresses(const struct place *at, struct plx_adapter_options *options)
{
	int n = config_setting_length(at->setting);

	if (!config_setting_is_aggregate(at->setting) || n < 1 || n > PLX_ADAPTER_ADDRESSES_MAX)
		return wrong(at,
			     "address is not a list of 1 to %d addresses, such as "
			     "[ \"10.77.0.1/24\", \"fd77::1/64\" ]",
			     PLX_ADAPTER_ADDRESSES_MAX);
	for (int i = 0; i < n; i++) {
		const char *text = config_setting_get_string_elem(at->setting, i);
		uint32_t to = options->addresses;

		if (!text || !parse_address(text, 1, &options->address[to].ip,
					    &options->address[to].prefix_bits))
			return wrong(at,
				     "address \"%.60s\" is not an IP address with the length of "
				     "its prefix (1 to 32, for IPv6 1 to 128), such as "
				     "\"10.77.0.1/24\" or \"fd77::1/64\"",
				     text ? text : "?");
		options->addresses++;
	}
	return PLX_OK;
}

/* An address without a prefix length. */
static bool
parse_ip(const char *text, struct plx_ip *ip)
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
	return parse_address(head, 0, net, prefix_bits) && parse_ip(between + strlen(" via "), via);
}

/* Add a route after the existing ones; a gateway is a route to everywhere. */
static enum plx_status
read_route(const struct place *at, const char *text, bool is_gateway,
	   struct plx_adapter_options *options)
{
	uint32_t to = options->routes;
	bool good;

	if (to == PLX_ADAPTER_ROUTES_MAX)
		return wrong(at, "there are more than %d routes, gateways included",
			     PLX_ADAPTER_ROUTES_MAX);
	memset(&options->route[to], 0, sizeof(options->route[to]));
	if (is_gateway) {
		good = text && parse_ip(text, &options->route[to].via);
		options->route[to].net.version = options->route[to].via.version;
	} else {
		good = text &&
		       parse_route(text, &options->route[to].net, &options->route[to].prefix_bits,
				   &options->route[to].via);
	}
	if (!good && is_gateway)
		return wrong(at, "gateway \"%.60s\" is not an IP address, such as \"10.77.0.254\"",
			     text ? text : "?");
	if (!good)
		return wrong(
			at,
			"route \"%.100s\" is not a network with the length of its prefix and a "
			"gateway, such as \"10.88.0.0/16 via 10.77.0.254\"",
			text ? text : "?");
	options->routes++;
	return PLX_OK;
}

static enum plx_status
read_routes(const struct place *at, bool is_gateway, struct plx_adapter_options *options)
{
	int n = config_setting_length(at->setting);
	enum plx_status status = PLX_OK;

	if (is_gateway && config_setting_get_string(at->setting))
		return read_route(at, config_setting_get_string(at->setting), true, options);
	if (!config_setting_is_aggregate(at->setting) || n < 1 || (is_gateway && n > 2)) {
		if (is_gateway)
			return wrong(at,
				     "gateway is not an address or a list of two, one of IPv4 "
				     "and one of IPv6, such as [ \"10.77.0.254\", \"fd77::fe\" ]");
		return wrong(at,
			     "routes is not a list of 1 to %d routes, such as "
			     "[ \"10.88.0.0/16 via 10.77.0.254\" ]",
			     PLX_ADAPTER_ROUTES_MAX);
	}
	for (int i = 0; i < n && status == PLX_OK; i++) {
		struct place inner = {at->path, config_setting_get_elem(at->setting, (unsigned)i),
				      at->why};

		status = read_route(&inner, config_setting_get_string(inner.setting), is_gateway,
				    options);
	}
	return status;
}

/* Find the setting of route number `which`, from 0, of an adapter. */
static const config_setting_t *
route_setting(const config_setting_t *section, uint32_t which)
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

static enum plx_status
read_name(const struct place *at, struct settings_section *section)
{
	const char *value = config_setting_get_string(at->setting);

	if (!value || !adapter_name_is_right(value))
		return wrong(at,
			     "name = \"%.40s\" is not 1 to %d letters, digits, dots, dashes and "
			     "underscores",
			     value ? value : "?", PLX_ADAPTER_NAME_MAX);
	memcpy(section->name, value, strlen(value) + 1);
	return PLX_OK;
}

static enum plx_status
read_field(const struct place *at, const struct settings_field *field,
	   struct settings_section *section)
{
	switch (field->kind) {
	case SETTINGS_NAME:
		return read_name(at, section);
	case SETTINGS_STRING:
		return read_string(at, field, &section->options);
	case SETTINGS_SWITCH:
		return read_switch(at, field, &section->options);
	case SETTINGS_CHOICE:
		return read_choice(at, field, &section->options);
	case SETTINGS_ADDRESSES:
		return read_addresses(at, &section->options);
	case SETTINGS_ROUTES:
	case SETTINGS_GATEWAY:
		return read_routes(at, field->kind == SETTINGS_GATEWAY, &section->options);
	case SETTINGS_NUMBER:
	case SETTINGS_MTU:
		break;
	}
	return read_number(at, field, &section->options);
}

/* ---- the file ---- */

static enum plx_status
read_setting(const struct place *at, struct settings_section *section)
{
	const char *names[PLX_COUNT_OF(settings_fields)];

	for (uint32_t i = 0; i < settings_field_count; i++) {
		names[i] = settings_fields[i].name;
		if (strcmp(config_setting_name(at->setting), names[i]) == 0)
			return read_field(at, &settings_fields[i], section);
	}
	return unknown_setting(at, names, settings_field_count);
}

/* Give the adapter its default, unless it has an interface index. No two adapters have the same. */
static enum plx_status
settle_interface_index(const struct place *at, const struct settings *file,
		       struct settings_section *section)
{
	const config_setting_t *own = config_setting_get_member(at->setting, "interface_index");
	struct place guilty = {at->path, own ? own : at->setting, at->why};

	if (!own)
		section->options.interface_index = PLX_INTERFACE_FIRST + file->sections;
	for (uint32_t i = 0; i < file->sections; i++)
		if (file->section[i].options.interface_index == section->options.interface_index)
			return wrong(&guilty, "interface_index = %u is that of adapter \"%s\" too",
				     section->options.interface_index, file->section[i].name);
	return PLX_OK;
}

/* Read one { ... } of adapters. */
static enum plx_status
read_section(const struct place *at, struct settings *file)
{
	struct settings_section *section = &file->section[file->sections];
	int n = config_setting_length(at->setting);
	struct plx_why detail = {""};
	uint32_t route;

	if (!config_setting_is_group(at->setting))
		return wrong(at, "an adapter is not a group of settings in braces");
	plx_adapter_options_init(&section->options);
	for (int i = 0; i < n; i++) {
		struct place inner = {at->path, config_setting_get_elem(at->setting, (unsigned)i),
				      at->why};
		enum plx_status status = read_setting(&inner, section);

		if (status != PLX_OK)
			return status;
	}
	if (!*section->name)
		return wrong(at, "the adapter has no name; add name = \"plx0\";");
	for (uint32_t i = 0; i < file->sections; i++)
		if (strcmp(file->section[i].name, section->name) == 0)
			return wrong(at, "name = \"%s\" is that of an earlier adapter too",
				     section->name);
	if (settle_interface_index(at, file, section) != PLX_OK)
		return PLX_CONFIG;
	if (adapter_options_check(&section->options, &route, &detail) != PLX_OK) {
		struct place guilty = {at->path, route_setting(at->setting, route), at->why};

		return wrong(&guilty, "adapter \"%s\": %.180s", section->name, detail.text);
	}
	file->sections++;
	return PLX_OK;
}

static enum plx_status
read_adapters(const struct place *at, struct settings *file)
{
	int n = config_setting_length(at->setting);

	if (!config_setting_is_list(at->setting) || n > PLX_ADAPTERS_MAX)
		return wrong(at,
			     "adapters is not a list of at most %d groups: ( { ... }, { ... } )",
			     PLX_ADAPTERS_MAX);
	for (int i = 0; i < n; i++) {
		struct place inner = {at->path, config_setting_get_elem(at->setting, (unsigned)i),
				      at->why};
		enum plx_status status = read_section(&inner, file);

		if (status != PLX_OK)
			return status;
	}
	return PLX_OK;
}

/* DPDK searches the current directory first for the argument of -d, unless it is an exact path. */
static enum plx_status
read_eal(const struct place *at, struct settings *file)
{
	static const struct settings_field eal = {
		"eal", SETTINGS_STRING, 0, sizeof(((struct settings *)0)->eal), 0, 0, NULL};
	enum plx_status status = read_string(at, &eal, file->eal);
	char copy[SETTINGS_EAL_MAX], *rest = NULL;
	bool follows = false;

	if (status != PLX_OK)
		return status;
	memcpy(copy, file->eal, sizeof(copy));
	for (char *word = strtok_r(copy, " \t\n", &rest); word;
	     word = strtok_r(NULL, " \t\n", &rest)) {
		const char *name = NULL;

		if (follows)
			name = word;
		else if (strncmp(word, "-d", 2) == 0 && word[2])
			name = word + 2;
		follows = !follows && strcmp(word, "-d") == 0;
		if (name && *name != '/')
			return wrong(at,
				     "eal loads \"%.60s\" from wherever the program stands; give "
				     "-d an absolute path",
				     name);
	}
	return PLX_OK;
}

static enum plx_status
read_root(const char *path, const config_setting_t *root, struct settings *file,
	  struct plx_why *why)
{
	static const char *const names[] = {"eal", "adapters"};
	enum plx_status status = PLX_OK;

	for (int i = 0; i < config_setting_length(root) && status == PLX_OK; i++) {
		struct place at = {path, config_setting_get_elem(root, (unsigned)i), why};
		const char *name = config_setting_name(at.setting);

		if (strcmp(name, "eal") == 0)
			status = read_eal(&at, file);
		else if (strcmp(name, "adapters") == 0)
			status = read_adapters(&at, file);
		else
			status = unknown_setting(&at, names, PLX_COUNT_OF(names));
	}
	return status;
}

/* Find the file; NULL: there is none. A file named by POLLUX_CONFIG must exist. The current
 * directory is not searched, because anyone who can write there could then control us. */
static const char *
find_file(void)
{
	const char *named = secure_getenv("POLLUX_CONFIG");

	if (named && *named)
		return named;
	return access(SETTINGS_SYSTEM_FILE, F_OK) == 0 ? SETTINGS_SYSTEM_FILE : NULL;
}

enum plx_status
settings_read(struct settings *file, struct plx_why *why)
{
	const char *path = find_file();
	enum plx_status status = PLX_CONFIG;
	struct plx_files_why detail;
	config_t config;
	char *text;

	memset(file, 0, sizeof(*file));
	if (!path)
		return PLX_OK;
	snprintf(file->path, sizeof(file->path), "%s", path);
	text = plx_files_config(path, &detail);
	if (!text) {
		plx_why_set(why, "%s", detail.text);
		return PLX_CONFIG;
	}
	config_init(&config);
	if (config_read_string(&config, text))
		status = read_root(path, config_root_setting(&config), file, why);
	else
		plx_why_set(why, "%s:%d: %s", path, config_error_line(&config),
			    config_error_text(&config));
	config_destroy(&config);
	free(text);
	return status;
}
