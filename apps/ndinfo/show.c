/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output for people: a block for each provider, which contains a block for each adapter. It
 * makes no decisions.
 * Start with show().
 */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>

static void
show_limits(const ND2_ADAPTER_INFO *info)
{
	const char *between = "";

	for (uint32_t i = 0; i < limit_count; i++)
		/* ids of two bytes are conventionally written in hexadecimal */
		if (limits[i].size == sizeof(UINT16))
			printf("    %-28s 0x%04" PRIx64 "\n", limits[i].name,
			       limit_value(info, &limits[i]));
		else
			printf("    %-28s %" PRIu64 "\n", limits[i].name,
			       limit_value(info, &limits[i]));
	printf("    %-28s", "AdapterFlags");
	for (uint32_t i = 0; i < flag_count; i++)
		if (info->AdapterFlags & flags[i].bit) {
			printf("%s %s", between, flags[i].name);
			between = ",";
		}
	printf("\n");
}

static void
show_adapter(const struct found_adapter *adapter)
{
	char room[16];

	printf("  adapter 0x%016llx", adapter->id);
	if (*adapter->name)
		printf(" %s, %s", adapter->name, adapter->description);
	if (adapter->index)
		printf("\n    %-28s %" PRIu32, "interface", adapter->index);
	printf("\n    %-28s ", "state");
	if (adapter->status == ND_PENDING)
		printf("not opened\n");
	else if (adapter->status == ND_SUCCESS)
		printf("ready\n");
	else
		printf("FAILED: %s\n", status_name(adapter->status, room));
	printf("    %-28s", "addresses");
	for (uint32_t i = 0; i < adapter->addresses; i++)
		printf("%s %s", i ? "," : "", adapter->address[i].text);
	printf("\n");
	if (adapter->status == ND_SUCCESS)
		show_limits(&adapter->limits);
}

static void
show_provider(const struct found_provider *provider)
{
	char id[39], room[16];

	printf("%s %s\n  library %s\n  families", provider->name, guid_text(&provider->id, id),
	       provider->library);
	for (uint32_t i = 0; i < provider->families; i++)
		printf("%s %s", i ? "," : "", family_name(provider->family[i], room));
	printf("\n");
	if (!provider->is_nd2)
		printf("  is not a provider of NetworkDirect 2 (its version is 0x%x)\n",
		       (unsigned)provider->version);
	else if (*provider->sentence)
		printf("  FAILED: %s\n", provider->sentence);
	else if (!provider->adapters)
		printf("  has no adapters\n");
	for (uint32_t i = 0; i < provider->adapters; i++)
		show_adapter(&provider->adapter[i]);
}

void
show(const struct survey *survey)
{
	for (uint32_t i = 0; i < survey->providers; i++) {
		if (i)
			printf("\n");
		show_provider(&survey->provider[i]);
	}
}
