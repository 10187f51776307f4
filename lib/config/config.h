/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that read the configuration share: the place of a setting, and the readers of
 * values. Each reader stores what is right, or says what is wrong. Start with struct
 * settings_place.
 */
#ifndef PLX_CONFIG_H
#define PLX_CONFIG_H

#include <libconfig.h>

#include "plx_base.h"
#include "plx_settings.h"

/* Where mistakes go. Whoever wants all of them gives `tell`; else reading ends with the first. */
struct settings_mistakes {
	struct plx_why *why; /* the first */
	void (*tell)(void *context, const char *mistake);
	void *context;
	uint32_t count;
};

/* The location of an error, and where to write its sentence. */
struct settings_place {
	const char *path;
	const config_setting_t *setting;
	struct settings_mistakes *mistakes;
};

/* Add a mistake. Returns: CONFIG */
enum plx_status settings_mistake(struct settings_mistakes *mistakes, const char *sentence);
/* Does reading end here? Not as long as somebody wants to know the other mistakes, too. */
bool settings_ends(const struct settings_place *at, enum plx_status status);

/* Say what is wrong with the setting, after its file and line.
 * Returns: CONFIG */
enum plx_status __attribute__((format(printf, 2, 3)))
settings_wrong(const struct settings_place *at, const char *format, ...);
/* There is no setting of this name, but perhaps a similar one of these. */
enum plx_status settings_unknown(const struct settings_place *at, const char *const *names,
				 uint32_t n);

/* Store the value of `field` at its offset from `base`. */
enum plx_status settings_read_string(const struct settings_place *at,
				     const struct settings_field *field, void *base);
enum plx_status settings_read_number(const struct settings_place *at,
				     const struct settings_field *field, void *base);
enum plx_status settings_read_switch(const struct settings_place *at,
				     const struct settings_field *field, void *base);
enum plx_status settings_read_choice(const struct settings_place *at,
				     const struct settings_field *field, void *base);

enum plx_status settings_read_addresses(const struct settings_place *at,
					struct plx_adapter_options *options);
enum plx_status settings_read_routes(const struct settings_place *at, bool is_gateway,
				     struct plx_adapter_options *options);
enum settings_id {
	SETTINGS_USER_ID,
	SETTINGS_GROUP_ID,
};

/* The number of a user or group: of a name, or a number.
 * @param at      the whole setting
 * @param element where the name is; the setting, or a part of it */
enum plx_status settings_find_id(const struct settings_place *at, enum settings_id kind,
				 const config_setting_t *element, uint32_t *id);
/* Read a setting of the rights of programs at an adapter.
 * Returns: false: it is none of these */
bool settings_read_right(const struct settings_place *at, struct plx_host_rights *rights,
			 enum plx_status *status);
/* The names of these settings, after the `n` that are in the list.
 * Returns: how many there are then */
uint32_t settings_right_names(const char **names, uint32_t n);
/* A setting of a section of its own. */
struct settings_reader {
	const char *name;
	enum plx_status (*read)(const struct settings_place *at, void *section);
};
#define SETTINGS_READERS_MAX 8

/* Of a section that begins with a struct plx_host_socket. */
#define SETTINGS_SOCKET_READERS                                       \
	{"socket", settings_read_path}, {"mode", settings_read_mode}, \
	{                                                             \
		"group", settings_read_group                          \
	}
enum plx_status settings_read_path(const struct settings_place *at, void *section);
enum plx_status settings_read_mode(const struct settings_place *at, void *section);
enum plx_status settings_read_group(const struct settings_place *at, void *section);

/* Read a section. @param readers the last one has no name */
enum plx_status settings_read_all(const struct settings_place *at,
				  const struct settings_reader *readers, void *section);
/* The sections of the daemon, and of programs of sockets. */
enum plx_status settings_read_daemon(const struct settings_place *at,
				     struct plx_host_socket *daemon);
enum plx_status settings_read_sockets(const struct settings_place *at,
				      struct plx_host_sockets *sockets);
/* May the host open an adapter with these options? */
enum plx_status settings_check_hosted(const struct settings_place *at,
				      const struct settings_section *section);

/* "10.77.0.0/16" or "fd77::/64" */
bool settings_parse_prefix(const char *text, long bits_min, struct plx_ip *ip,
			   uint8_t *prefix_bits);
/* An address without a prefix length. */
bool settings_parse_ip(const char *text, struct plx_ip *ip);

/* Find the setting of route number `which`, from 0, of an adapter. */
const config_setting_t *settings_find_route(const config_setting_t *section, uint32_t which);

#endif
