/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration of a host: its socket, and what an adapter must be that it lends to programs.
 * Start with plx_host_config_read().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "plx_file_mode.h"

enum {
	MODE_DEFAULT = 0666, /* rights are judged when a program attaches, which then learns why */
	SOCKETS_MODE_DEFAULT = 0600, /* whoever can open this one has its connections made */
};

#define SOCKET_DEFAULT  "/run/pollux/polluxd.sock"
#define SOCKETS_DEFAULT "/run/pollux/sockets.sock"

/* ---- the section of the daemon ---- */

enum plx_status
settings_read_path(const struct settings_place *at, void *section)
{
	static const struct settings_field field = {
		"socket", SETTINGS_STRING, 0, PLX_HOST_SOCKET_MAX, 0, 0, NULL};
	const char *value = config_setting_get_string(at->setting);
	struct plx_host_socket *to = section;

	if (value && *value && *value != '/')
		return settings_wrong(at,
				      "socket = \"%.40s\" is not an absolute path, such as "
				      "\"" SOCKET_DEFAULT "\"",
				      value);
	return settings_read_string(at, &field, to->path);
}

/* libconfig has no octal numbers, so the mode is a string. */
enum plx_status
settings_read_mode(const struct settings_place *at, void *section)
{
	const char *value = config_setting_get_string(at->setting);
	uint32_t mode = value != NULL ? plx_file_mode_read(value) : 0;
	struct plx_host_socket *to = section;

	if (mode == 0)
		return settings_wrong(at,
				      "mode = \"%.20s\" is not the mode of a file in octal digits, "
				      "0%o to 0%o, such as \"0660\"",
				      value ? value : "?", PLX_FILE_MODE_LEAST, PLX_FILE_MODE_MOST);
	to->mode = mode;
	return PLX_OK;
}

enum plx_status
settings_read_group(const struct settings_place *at, void *section)
{
	struct plx_host_socket *to = section;
	enum plx_status status = settings_find_id(at, SETTINGS_GROUP_ID, at->setting, &to->group);

	to->has_group = status == PLX_OK;
	return status;
}

enum plx_status
settings_read_all(const struct settings_place *at, const struct settings_reader *readers,
		  void *section)
{
	const char *names[SETTINGS_READERS_MAX];
	uint32_t n = 0;

	if (!config_setting_is_group(at->setting))
		return settings_wrong(at, "%s is not a group of settings in braces",
				      config_setting_name(at->setting));
	for (; readers[n].name != NULL; n++)
		names[n] = readers[n].name;
	for (int i = 0; i < config_setting_length(at->setting); i++) {
		struct settings_place inner = {
			at->path, config_setting_get_elem(at->setting, (unsigned)i), at->mistakes};
		enum plx_status status;
		uint32_t row = 0;

		while (row < n && strcmp(config_setting_name(inner.setting), names[row]) != 0)
			row++;
		status = row < n ? readers[row].read(&inner, section)
				 : settings_unknown(&inner, names, n);
		if (settings_ends(at, status))
			return status;
	}
	return PLX_OK;
}

enum plx_status
settings_read_daemon(const struct settings_place *at, struct plx_host_socket *daemon)
{
	static const struct settings_reader readers[] = {SETTINGS_SOCKET_READERS, {NULL, NULL}};

	return settings_read_all(at, readers, daemon);
}

/* ---- its adapters ---- */

/* The setting, or else its section. */
static struct settings_place
place_of(const struct settings_place *at, const char *name)
{
	const config_setting_t *setting = config_setting_get_member(at->setting, name);

	return (struct settings_place){at->path, setting ? setting : at->setting, at->mistakes};
}

enum plx_status
settings_check_hosted(const struct settings_place *at, const struct settings_section *section)
{
	struct settings_place host = place_of(at, "host"), mode = place_of(at, "mode");
	enum plx_status status = PLX_OK;

	if (*section->options.host)
		status = settings_wrong(&host,
					"adapter \"%s\": host is for programs that attach; polluxd "
					"owns the device: leave host out, and name the device",
					section->name);
	if (section->options.mode == PLX_MODE_INLINE)
		status = settings_wrong(&mode,
					"adapter \"%s\": mode = \"inline\" is for programs that "
					"poll themselves; polluxd needs \"worker\"",
					section->name);
	return status;
}

static void
set_defaults(struct plx_host_socket *socket, const char *path, uint32_t mode)
{
	if (!*socket->path)
		snprintf(socket->path, sizeof(socket->path), "%s", path);
	if (socket->mode == 0)
		socket->mode = mode;
}

static void
convert(const struct settings *file, struct plx_host_config *config)
{
	memset(config, 0, sizeof(*config));
	config->socket = file->daemon;
	set_defaults(&config->socket, SOCKET_DEFAULT, MODE_DEFAULT);
	config->sockets = file->sockets;
	set_defaults(&config->sockets.socket, SOCKETS_DEFAULT, SOCKETS_MODE_DEFAULT);
	config->adapters = file->sections;
	for (uint32_t i = 0; i < file->sections; i++) {
		memcpy(config->adapter[i].name, file->section[i].name,
		       sizeof(config->adapter[i].name));
		config->adapter[i].options = file->section[i].options;
		config->adapter[i].rights = file->section[i].rights;
	}
}

enum plx_status
plx_host_config_read(const char *path, struct plx_host_config *config,
		     void (*tell)(void *context, const char *mistake), void *context,
		     struct plx_why *why)
{
	struct settings_mistakes mistakes = {.why = why, .tell = tell, .context = context};
	struct settings *file = malloc(sizeof(*file));
	struct plx_why sentence;
	enum plx_status status;

	if (!file) {
		plx_why_set(why, "there is no memory to read the configuration file");
		return PLX_NO_MEMORY;
	}
	status = settings_read_hosts(file, path, &mistakes);
	if (status == PLX_OK && file->sections == 0) {
		plx_why_set(&sentence, "%s: there is no adapter; a host needs one in adapters",
			    path);
		status = settings_mistake(&mistakes, sentence.text);
	}
	if (status == PLX_OK)
		convert(file, config);
	free(file);
	return status;
}
