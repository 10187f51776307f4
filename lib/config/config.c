/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration file: finds it, reads it with libconfig, and reports every error with file,
 * line, setting, value and range. The whole file is checked, whichever adapter is requested.
 * It keeps nothing between calls and starts nothing. Start with settings_read().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "plx_engine.h"
#include "plx_files.h"

static const struct settings_choice modes[] = {
	{"worker", PLX_MODE_WORKER},
	{"inline", PLX_MODE_INLINE},
	{NULL, 0},
};

static const struct settings_choice idles[] = {
	{"spin", PLX_IDLE_SPIN},
	{"pause", PLX_IDLE_PAUSE},
	{"yield", PLX_IDLE_YIELD},
	{"adaptive", PLX_IDLE_ADAPTIVE},
	{NULL, 0},
};

static const struct settings_choice congestions[] = {
	{"none", PLX_CONGESTION_NONE},
	{"dcqcn", PLX_CONGESTION_DCQCN},
	{"delay", PLX_CONGESTION_DELAY},
	{NULL, 0},
};

#define OFFSET(member) offsetof(struct plx_adapter_options, member)
#define SIZE(member)   sizeof(((struct plx_adapter_options *)0)->member)

/* Every setting of an adapter. adapter_options_check() uses it for options from programs and from
 * the file. */
const struct settings_field settings_fields[] = {
	{"name", SETTINGS_NAME, 0, 0, 0, 0, NULL},
	{"host", SETTINGS_STRING, OFFSET(host), SIZE(host), 0, 0, NULL},
	{"device", SETTINGS_STRING, OFFSET(device), SIZE(device), 0, 0, NULL},
	{"address", SETTINGS_ADDRESSES, 0, 0, 0, 0, NULL},
	{"routes", SETTINGS_ROUTES, 0, 0, 0, 0, NULL},
	{"gateway", SETTINGS_GATEWAY, 0, 0, 0, 0, NULL},
	{"mode", SETTINGS_CHOICE, OFFSET(mode), SIZE(mode), 0, 0, modes},
	{"worker", SETTINGS_STRING, OFFSET(worker), SIZE(worker), 0, 0, NULL},
	{"core", SETTINGS_NUMBER, OFFSET(core), SIZE(core), -1, SETTINGS_CORE_MAX, NULL},
	{"engines", SETTINGS_NUMBER, OFFSET(engines), SIZE(engines), 1, PLX_ENGINES_MAX, NULL},
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
	{"congestion", SETTINGS_CHOICE, OFFSET(congestion), SIZE(congestion), 0, 0, congestions},
	{"rate_mbps", SETTINGS_NUMBER, OFFSET(rate_mbps), SIZE(rate_mbps), 1, SETTINGS_RATE_MAX,
	 NULL},
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

static enum plx_status
read_name(const struct settings_place *at, struct settings_section *section)
{
	const char *value = config_setting_get_string(at->setting);

	if (!value || !adapter_name_is_right(value))
		return settings_wrong(
			at,
			"name = \"%.40s\" is not 1 to %d letters, digits, dots, dashes and "
			"underscores",
			value ? value : "?", PLX_ADAPTER_NAME_MAX);
	memcpy(section->name, value, strlen(value) + 1);
	return PLX_OK;
}

static enum plx_status
read_field(const struct settings_place *at, const struct settings_field *field,
	   struct settings_section *section)
{
	switch (field->kind) {
	case SETTINGS_NAME:
		return read_name(at, section);
	case SETTINGS_STRING:
		return settings_read_string(at, field, &section->options);
	case SETTINGS_SWITCH:
		return settings_read_switch(at, field, &section->options);
	case SETTINGS_CHOICE:
		return settings_read_choice(at, field, &section->options);
	case SETTINGS_ADDRESSES:
		return settings_read_addresses(at, &section->options);
	case SETTINGS_ROUTES:
	case SETTINGS_GATEWAY:
		return settings_read_routes(at, field->kind == SETTINGS_GATEWAY, &section->options);
	case SETTINGS_NUMBER:
	case SETTINGS_MTU:
		break;
	}
	return settings_read_number(at, field, &section->options);
}

/* ---- the file ---- */

static enum plx_status
read_setting(const struct settings_place *at, struct settings_section *section)
{
	const char *names[PLX_COUNT_OF(settings_fields) + SETTINGS_RIGHTS_MAX];
	enum plx_status status;

	for (uint32_t i = 0; i < settings_field_count; i++) {
		names[i] = settings_fields[i].name;
		if (strcmp(config_setting_name(at->setting), names[i]) == 0)
			return read_field(at, &settings_fields[i], section);
	}
	if (settings_read_right(at, &section->rights, &status))
		return status;
	return settings_unknown(at, names, settings_right_names(names, settings_field_count));
}

/* Give the adapter its default, unless it has an interface index. No two adapters have the same. */
static enum plx_status
settle_interface_index(const struct settings_place *at, const struct settings *file,
		       struct settings_section *section)
{
	const config_setting_t *own = config_setting_get_member(at->setting, "interface_index");
	struct settings_place guilty = {at->path, own ? own : at->setting, at->mistakes};

	if (!own)
		section->options.interface_index = PLX_INTERFACE_FIRST + file->sections;
	for (uint32_t i = 0; i < file->sections; i++)
		if (file->section[i].options.interface_index == section->options.interface_index)
			return settings_wrong(
				&guilty, "interface_index = %u is that of adapter \"%s\" too",
				section->options.interface_index, file->section[i].name);
	return PLX_OK;
}

/* The network namespace of this process; {0, 0}: without /proc nobody knows. */
static struct plx_host_namespace
own_namespace(void)
{
	struct stat found;

	if (stat("/proc/self/ns/net", &found) != 0)
		return (struct plx_host_namespace){0, 0};
	return (struct plx_host_namespace){found.st_dev, found.st_ino};
}

/* Read one { ... } of adapters. */
static enum plx_status
read_section(const struct settings_place *at, struct settings *file)
{
	struct settings_section *section = &file->section[file->sections];
	int n = config_setting_length(at->setting);
	uint32_t route, before = at->mistakes->count;
	struct plx_why detail = {""};

	memset(section, 0, sizeof(*section));
	if (!config_setting_is_group(at->setting))
		return settings_wrong(at, "an adapter is not a group of settings in braces");
	plx_adapter_options_init(&section->options);
	plx_host_rights_init(&section->rights, geteuid(), own_namespace(), at->path);
	for (int i = 0; i < n; i++) {
		struct settings_place inner = {
			at->path, config_setting_get_elem(at->setting, (unsigned)i), at->mistakes};
		enum plx_status status = read_setting(&inner, section);

		if (settings_ends(at, status))
			return status;
	}
	if (at->mistakes->count != before)
		return PLX_CONFIG;
	if (!*section->name)
		return settings_wrong(at, "the adapter has no name; add name = \"plx0\";");
	for (uint32_t i = 0; i < file->sections; i++)
		if (strcmp(file->section[i].name, section->name) == 0)
			return settings_wrong(at, "name = \"%s\" is that of an earlier adapter too",
					      section->name);
	if (settle_interface_index(at, file, section) != PLX_OK)
		return PLX_CONFIG;
	if (adapter_options_check(&section->options, &route, &detail) != PLX_OK) {
		struct settings_place guilty = {at->path, settings_find_route(at->setting, route),
						at->mistakes};

		return settings_wrong(&guilty, "adapter \"%s\": %.180s", section->name,
				      detail.text);
	}
	if (file->is_hosts && settings_check_hosted(at, section) != PLX_OK)
		return PLX_CONFIG;
	file->sections++;
	return PLX_OK;
}

static enum plx_status
read_adapters(const struct settings_place *at, struct settings *file)
{
	int n = config_setting_length(at->setting);

	if (!config_setting_is_list(at->setting) || n > PLX_ADAPTERS_MAX)
		return settings_wrong(
			at, "adapters is not a list of at most %d groups: ( { ... }, { ... } )",
			PLX_ADAPTERS_MAX);
	for (int i = 0; i < n; i++) {
		struct settings_place inner = {
			at->path, config_setting_get_elem(at->setting, (unsigned)i), at->mistakes};
		enum plx_status status = read_section(&inner, file);

		if (settings_ends(at, status))
			return status;
	}
	return PLX_OK;
}

/* DPDK searches the current directory first for the argument of -d, unless it is an exact path. */
static enum plx_status
read_eal(const struct settings_place *at, struct settings *file)
{
	static const struct settings_field eal = {
		"eal", SETTINGS_STRING, 0, sizeof(((struct settings *)0)->eal), 0, 0, NULL};
	enum plx_status status = settings_read_string(at, &eal, file->eal);
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
			return settings_wrong(
				at,
				"eal loads \"%.60s\" from wherever the program stands; give "
				"-d an absolute path",
				name);
	}
	return PLX_OK;
}

static enum plx_status
read_root(const char *path, const config_setting_t *root, struct settings *file,
	  struct settings_mistakes *mistakes)
{
	static const char *const names[] = {"eal", "daemon", "sockets", "adapters"};
	enum plx_status status = PLX_OK;

	for (int i = 0; i < config_setting_length(root); i++) {
		struct settings_place at = {path, config_setting_get_elem(root, (unsigned)i),
					    mistakes};
		const char *name = config_setting_name(at.setting);

		if (strcmp(name, "eal") == 0)
			status = read_eal(&at, file);
		else if (strcmp(name, "daemon") == 0)
			status = settings_read_daemon(&at, &file->daemon);
		else if (strcmp(name, "sockets") == 0)
			status = settings_read_sockets(&at, &file->sockets);
		else if (strcmp(name, "adapters") == 0)
			status = read_adapters(&at, file);
		else
			status = settings_unknown(&at, names, PLX_COUNT_OF(names));
		if (settings_ends(&at, status))
			return status;
	}
	return mistakes->count ? PLX_CONFIG : PLX_OK;
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

/* The rest of the file is empty. */
static enum plx_status
read_file(struct settings *file, const char *path, struct settings_mistakes *mistakes)
{
	enum plx_status status = PLX_CONFIG;
	struct plx_files_why detail;
	struct plx_why sentence;
	config_t config;
	char *text;

	snprintf(file->path, sizeof(file->path), "%s", path);
	text = plx_files_config(path, &detail);
	if (!text)
		return settings_mistake(mistakes, detail.text);
	config_init(&config);
	if (config_read_string(&config, text)) {
		status = read_root(path, config_root_setting(&config), file, mistakes);
	} else {
		plx_why_set(&sentence, "%s:%d: %s", path, config_error_line(&config),
			    config_error_text(&config));
		settings_mistake(mistakes, sentence.text);
	}
	config_destroy(&config);
	free(text);
	return status;
}

enum plx_status
settings_read(struct settings *file, struct plx_why *why)
{
	struct settings_mistakes mistakes = {.why = why};
	const char *path = find_file();

	memset(file, 0, sizeof(*file));
	return path ? read_file(file, path, &mistakes) : PLX_OK;
}

enum plx_status
settings_read_hosts(struct settings *file, const char *path, struct settings_mistakes *mistakes)
{
	memset(file, 0, sizeof(*file));
	file->is_hosts = true;
	return read_file(file, path, mistakes);
}
