/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of settings: text, numbers, switches, choices. Each is checked before it is stored. Start
 * with settings_read_number().
 */
#include <stdio.h>
#include <string.h>

#include "config.h"

enum plx_status
settings_read_string(const struct settings_place *at, const struct settings_field *field,
		     void *base)
{
	const char *value = config_setting_get_string(at->setting);

	if (!value)
		return settings_wrong(at, "%s is not a string in quotes", field->name);
	if (!*value || strlen(value) >= field->size)
		return settings_wrong(at, "%s = \"%.40s\" has %zu characters; it needs 1 to %zu",
				      field->name, value, strlen(value), field->size - 1);
	memcpy((char *)base + field->offset, value, strlen(value) + 1);
	return PLX_OK;
}

enum plx_status
settings_read_number(const struct settings_place *at, const struct settings_field *field,
		     void *base)
{
	int type = config_setting_type(at->setting);
	long long value;

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		return settings_wrong(at, "%s is not a whole number; it needs %lld to %lld",
				      field->name, field->min, field->max);
	value = config_setting_get_int64(at->setting);
	if (value < field->min || value > field->max)
		return settings_wrong(at, "%s = %lld is outside its range of %lld to %lld",
				      field->name, value, field->min, field->max);
	if (field->kind == SETTINGS_MTU && (value & (value - 1)))
		return settings_wrong(at, "%s = %lld is not one of 256, 512, 1024, 2048, 4096",
				      field->name, value);
	settings_field_set(field, base, value);
	return PLX_OK;
}

enum plx_status
settings_read_switch(const struct settings_place *at, const struct settings_field *field,
		     void *base)
{
	if (config_setting_type(at->setting) != CONFIG_TYPE_BOOL)
		return settings_wrong(at, "%s is neither true nor false", field->name);
	settings_field_set(field, base, config_setting_get_bool(at->setting));
	return PLX_OK;
}

enum plx_status
settings_read_choice(const struct settings_place *at, const struct settings_field *field,
		     void *base)
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
	return settings_wrong(at, "%s = \"%.40s\" is not one of %s", field->name,
			      value ? value : "?", all);
}
