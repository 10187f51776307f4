/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which adapter has an address? The configuration file answers this, so that neither the EAL is
 * started nor a device opened; of an adapter of a host in another process, the host does.
 * It keeps nothing between calls. Start with plx_session_directory_read().
 */
#include <stdlib.h>

#include "internal.h"

enum {
	NAMES_FIRST = 32, /* read again if the file has more adapters */
};

enum plx_status
plx_session_names_read(struct plx_session_names *out, struct plx_why *why)
{
	uint32_t room = NAMES_FIRST;

	*out = (struct plx_session_names){0};
	for (;;) {
		int found;
		void *more = realloc(out->name, room * sizeof(*out->name));

		if (!more) {
			free(out->name);
			return PLX_NO_MEMORY;
		}
		out->name = more;
		found = plx_adapter_list(out->name, room, why);
		if (found < 0) {
			free(out->name);
			return PLX_CONFIG;
		}
		out->n = (uint32_t)found;
		if (out->n <= room)
			return PLX_OK;
		room = out->n;
	}
}

static void
add(struct plx_session_directory *directory, uint32_t adapter, const struct plx_ip *ip)
{
	directory->name_of[directory->n] = adapter;
	directory->ip[directory->n++] = *ip;
}

static enum plx_status
ask_host(struct plx_session_directory *directory, uint32_t adapter, struct plx_why *why)
{
	struct plx_adapter_info info;
	struct plx_adapter *seat;
	enum plx_status status = plx_adapter_open(directory->names.name[adapter], NULL, &seat, why);

	if (status != PLX_OK)
		return status;
	plx_adapter_query(seat, &info);
	for (uint32_t i = 0; i < info.addresses; i++)
		add(directory, adapter, &info.address[i]);
	return plx_adapter_close(seat);
}

/* A host that cannot be asked hides none of the others; why it cannot is said if nothing is left.
 */
static enum plx_status
read_addresses(struct plx_session_directory *directory, struct plx_why *why)
{
	const struct plx_session_names *names = &directory->names;
	enum plx_status asked = PLX_OK;
	struct plx_adapter_options options;

	for (uint32_t i = 0; i < names->n; i++) {
		if (plx_adapter_options_load(names->name[i], &options, why) != PLX_OK)
			return PLX_CONFIG;
		/* What the file says of a host's adapter may be out of date. */
		if (options.host[0] != '\0') {
			enum plx_status status = ask_host(directory, i, why);

			if (status == PLX_OK)
				continue;
			asked = status;
		}
		for (uint32_t j = 0; j < options.addresses; j++)
			add(directory, i, &options.address[j].ip);
	}
	return directory->n == 0 ? asked : PLX_OK;
}

enum plx_status
plx_session_directory_read(struct plx_session_directory *out, struct plx_why *why)
{
	enum plx_status status;
	size_t most;

	*out = (struct plx_session_directory){0};
	status = plx_session_names_read(&out->names, why);
	if (status != PLX_OK)
		return status;
	most = (size_t)out->names.n * PLX_ADAPTER_ADDRESSES_MAX + 1;
	out->ip = calloc(most, sizeof(*out->ip));
	out->name_of = calloc(most, sizeof(*out->name_of));
	status = out->ip && out->name_of ? read_addresses(out, why) : PLX_NO_MEMORY;
	if (status != PLX_OK)
		plx_session_directory_free(out);
	return status;
}

const char *
plx_session_directory_find(const struct plx_session_directory *directory, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < directory->n; i++)
		if (plx_session_ip_equal(ip, &directory->ip[i]))
			return directory->names.name[directory->name_of[i]];
	return NULL;
}

void
plx_session_directory_free(struct plx_session_directory *directory)
{
	free(directory->names.name);
	free(directory->ip);
	free(directory->name_of);
}
