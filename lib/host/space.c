/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions of all memory that a program in another process can have, as NDK's privileged token
 * grants. One shadow serves all of a seat's: a page gets a place in it when an engine first asks
 * for it, and keeps it as long as there is such a region (decision 48). Start with
 * host_space_use().
 */
#include "host.h"

/* No program has so much: it means whatever it will have. */
#define SPACE_LEAST (UINT64_C(1) << 46)

/* Of the memory that the seat may still have, it takes half at most. */
#define SHADOW_BYTES_MAX (UINT64_C(1) << 30)
#define SHADOW_BYTES_MIN ((uint64_t)PLX_MAP_PLACES_MIN << PLX_PAGE_SHIFT)

bool
host_is_space(const struct plx_ipc_mr_register *request)
{
	return request->length >= SPACE_LEAST;
}

/* Errors: FULL: with a sentence */
static enum plx_status
choose_size(const struct host_seat *seat, uint64_t *bytes, struct plx_why *why)
{
	for (*bytes = SHADOW_BYTES_MAX; *bytes >= SHADOW_BYTES_MIN; *bytes /= 2)
		if (host_quota(seat, PLX_HOST_MEMORY, 2 * *bytes, why) == PLX_OK)
			return PLX_OK;
	return PLX_FULL;
}

static enum plx_status
begin(struct host_seat *seat, struct plx_why *why)
{
	struct host_space *space = &seat->space;
	enum plx_status status = choose_size(seat, &space->bytes, why);

	if (status == PLX_OK)
		status = private_shadow_list(seat->private_memory, space->bytes >> PLX_PAGE_SHIFT,
					     &space->shadow);
	if (status != PLX_OK)
		return status;
	space->map = private_map(space->shadow);
	seat->used[PLX_HOST_MEMORY] += space->bytes;
	return PLX_OK;
}

enum plx_status
host_space_use(struct host_seat *seat, struct plx_page_map **map, struct plx_why *why)
{
	struct host_space *space = &seat->space;
	enum plx_status status = space->regions == 0 ? begin(seat, why) : PLX_OK;

	if (status != PLX_OK)
		return status;
	space->regions++;
	*map = &space->map;
	return PLX_OK;
}

void
host_space_unuse(struct host_seat *seat)
{
	struct host_space *space = &seat->space;

	if (--space->regions > 0)
		return;
	private_unshadow(seat->private_memory, space->shadow);
	seat->used[PLX_HOST_MEMORY] -= space->bytes;
	*space = (struct host_space){0};
}
