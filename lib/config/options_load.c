/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of an adapter by its name: from the configuration file and the environment. It keeps
 * nothing and starts nothing. Start with plx_adapter_options_load().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plx_settings.h"

static enum plx_status
not_in_file(const char *adapter, const struct settings *file, struct plx_why *why)
{
	char names[160] = "none";
	size_t used = 0;

	if (!*file->path) {
		plx_why_set(why,
			    "adapter \"%.40s\" needs a configuration file: POLLUX_CONFIG is not "
			    "set, and " SETTINGS_SYSTEM_FILE " is not there%s",
			    adapter,
			    access("pollux.conf", F_OK) == 0
				    ? "; ./pollux.conf is read with POLLUX_CONFIG=./pollux.conf"
				    : "");
		return PLX_CONFIG;
	}
	for (uint32_t i = 0; i < file->sections && used < sizeof(names) - 1; i++) {
		snprintf(names + used, sizeof(names) - used, "%s\"%s\"", i ? ", " : "",
			 file->section[i].name);
		used = strlen(names);
	}
	plx_why_set(why, "%s: there is no adapter \"%.40s\"; there are: %s", file->path, adapter,
		    names);
	return PLX_CONFIG;
}

/* A program that POLLUX_HOST attaches needs no section: the host has one. */
static enum plx_status
options_find(const char *adapter, const struct settings *file, struct plx_adapter_options *options,
	     struct plx_why *why)
{
	enum plx_status status;

	plx_adapter_options_init(options);
	status = plx_adapter_options_attach(options, why);
	for (uint32_t i = 0; i < file->sections && status == PLX_OK; i++) {
		if (strcmp(file->section[i].name, adapter) != 0)
			continue;
		*options = file->section[i].options;
		return plx_adapter_options_attach(options, why);
	}
	if (status == PLX_OK && !*options->host)
		status = not_in_file(adapter, file, why);
	return status;
}

enum plx_status
plx_adapter_options_load(const char *adapter, struct plx_adapter_options *options,
			 struct plx_why *why)
{
	struct settings *file = malloc(sizeof(*file));
	struct plx_adapter_options found;
	enum plx_status status;

	if (!file) {
		plx_why_set(why, "there is no memory to read the configuration file");
		return PLX_NO_MEMORY;
	}
	status = settings_read(file, why);
	if (status == PLX_OK)
		status = options_find(adapter, file, &found, why);
	free(file);
	if (status == PLX_OK)
		*options = found;
	return status;
}

int
plx_adapter_list(char (*names)[PLX_ADAPTER_NAME_MAX + 1], uint32_t n, struct plx_why *why)
{
	struct settings *file = malloc(sizeof(*file));
	int found = -1;

	if (!file) {
		plx_why_set(why, "there is no memory to read the configuration file");
		return -1;
	}
	if (settings_read(file, why) == PLX_OK) {
		found = (int)file->sections;
		for (uint32_t i = 0; i < file->sections && i < n; i++)
			memcpy(names[i], file->section[i].name, sizeof(names[i]));
	}
	free(file);
	return found;
}
