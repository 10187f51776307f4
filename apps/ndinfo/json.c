/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs see: one JSON object, described in docs/ndinfo.md. It decides nothing.
 * Start with show_json().
 */
#include "info.h"
#include "options.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum {
	JSON_FORMAT_VERSION = 1,
};

static json_t *
limits_of(const ND2_ADAPTER_INFO *info)
{
	json_t *all = json_object();

	for (uint32_t i = 0; i < limit_count; i++)
		json_object_set_new(all, limits[i].name,
				    json_integer((json_int_t)limit_value(info, &limits[i])));
	return all;
}

static json_t *
flags_of(const ND2_ADAPTER_INFO *info)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < flag_count; i++)
		if (info->AdapterFlags & flags[i].bit)
			json_array_append_new(all, json_string(flags[i].name));
	return all;
}

static json_t *
adapter_of(const struct found_adapter *adapter)
{
	json_t *out = json_object(), *addresses = json_array();
	char id[24], room[16];

	snprintf(id, sizeof(id), "0x%016llx", adapter->id);
	json_object_set_new(out, "id", json_string(id));
	for (uint32_t i = 0; i < adapter->addresses; i++)
		json_array_append_new(addresses, json_string(adapter->address[i].text));
	json_object_set_new(out, "addresses", addresses);
	if (adapter->index) {
		json_object_set_new(out, "interface", json_integer(adapter->index));
		json_object_set_new(out, "name", json_string(adapter->name));
		json_object_set_new(out, "description", json_string(adapter->description));
	}
	json_object_set_new(out, "state",
			    json_string(adapter->status == ND_PENDING   ? "not opened"
					: adapter->status == ND_SUCCESS ? "ready"
									: "failed"));
	if (adapter->status == ND_PENDING)
		return out;
	json_object_set_new(out, "status", json_string(status_name(adapter->status, room)));
	if (adapter->status != ND_SUCCESS)
		return out;
	json_object_set_new(out, "limits", limits_of(&adapter->limits));
	json_object_set_new(out, "flags", flags_of(&adapter->limits));
	return out;
}

static json_t *
provider_of(const struct found_provider *provider)
{
	json_t *out = json_object(), *families = json_array(), *adapters = json_array();
	char id[39], room[16];

	json_object_set_new(out, "id", json_string(guid_text(&provider->id, id)));
	json_object_set_new(out, "name", json_string(provider->name));
	json_object_set_new(out, "library", json_string(provider->library));
	json_object_set_new(out, "version", json_integer(provider->version));
	json_object_set_new(out, "nd2", json_boolean(provider->is_nd2));
	for (uint32_t i = 0; i < provider->families; i++)
		json_array_append_new(families,
				      json_string(family_name(provider->family[i], room)));
	json_object_set_new(out, "families", families);
	if (*provider->sentence)
		json_object_set_new(out, "error", json_string(provider->sentence));
	for (uint32_t i = 0; i < provider->adapters; i++)
		json_array_append_new(adapters, adapter_of(&provider->adapter[i]));
	json_object_set_new(out, "adapters", adapters);
	return out;
}

static json_t *
lines_of(const char *text)
{
	json_t *all = json_array();

	while (*text) {
		size_t n = strcspn(text, "\n");

		json_array_append_new(all, json_stringn(text, n));
		text += n + (text[n] == '\n');
	}
	return all;
}

bool
show_json(const struct survey *survey)
{
	json_t *out = json_object(), *providers = json_array();
	bool good;

	json_object_set_new(out, "format", json_integer(JSON_FORMAT_VERSION));
	json_object_set_new(out, "version", json_string(program_version()));
	for (uint32_t i = 0; i < survey->providers; i++)
		json_array_append_new(providers, provider_of(&survey->provider[i]));
	json_object_set_new(out, "providers", providers);
	json_object_set_new(out, "complaints", lines_of(survey->complaints));
	good = out && json_dumpf(out, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF &&
	       fflush(stdout) == 0;
	json_decref(out);
	return good;
}
