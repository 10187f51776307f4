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
#include "settings.h"

/* The location of an error, and where to write its sentence. */
struct settings_place {
	const char *path;
	const config_setting_t *setting;
	struct plx_why *why;
};

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
/* Find the setting of route number `which`, from 0, of an adapter. */
const config_setting_t *settings_find_route(const config_setting_t *section, uint32_t which);

#endif
