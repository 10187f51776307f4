/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output for programs: one JSON object, described in docs/ndinfo.md. It makes no decisions.
 * Start with show_json().
 */
#include "info.h"
#include "json.h"
#include "options.h"

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
		json_put_count(all, limits[i].name, limit_value(info, &limits[i]));
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
	json_put_text(out, "id", id);
	for (uint32_t i = 0; i < adapter->addresses; i++)
		json_array_append_new(addresses, json_string(adapter->address[i].text));
	json_put(out, "addresses", addresses);
	if (adapter->index) {
		json_put_count(out, "interface", (uint64_t)adapter->index);
		json_put_text(out, "name", adapter->name);
		json_put_text(out, "description", adapter->description);
	}
	json_put_text(out, "state",
		      adapter->status == ND_PENDING   ? "not opened"
		      : adapter->status == ND_SUCCESS ? "ready"
						      : "failed");
	if (adapter->status == ND_PENDING)
		return out;
	json_put_text(out, "status", status_name(adapter->status, room));
	if (adapter->status != ND_SUCCESS)
		return out;
	json_put(out, "limits", limits_of(&adapter->limits));
	json_put(out, "flags", flags_of(&adapter->limits));
	return out;
}

static json_t *
provider_of(const struct found_provider *provider)
{
	json_t *out = json_object(), *families = json_array(), *adapters = json_array();
	char id[39], room[16];

	json_put_text(out, "id", guid_text(&provider->id, id));
	json_put_text(out, "name", provider->name);
	json_put_text(out, "library", provider->library);
	json_put_count(out, "version", (uint64_t)provider->version);
	json_put_flag(out, "nd2", provider->is_nd2);
	for (uint32_t i = 0; i < provider->families; i++)
		json_array_append_new(families,
				      json_string(family_name(provider->family[i], room)));
	json_put(out, "families", families);
	if (*provider->sentence)
		json_put_text(out, "error", provider->sentence);
	for (uint32_t i = 0; i < provider->adapters; i++)
		json_array_append_new(adapters, adapter_of(&provider->adapter[i]));
	json_put(out, "adapters", adapters);
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

	json_put_count(out, "format", (uint64_t)JSON_FORMAT_VERSION);
	json_put_text(out, "version", program_version());
	for (uint32_t i = 0; i < survey->providers; i++)
		json_array_append_new(providers, provider_of(&survey->provider[i]));
	json_put(out, "providers", providers);
	json_put(out, "complaints", lines_of(survey->complaints));
	return json_write(out, stdout);
}
