/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See segment.h. A program that shrinks a file under its mapping would end the host by SIGBUS: the
 * seals forbid that, and holes. Start with segment_create().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1 */
#endif

enum {
	FIXED_SIZE = F_SEAL_SHRINK | F_SEAL_GROW,
};

/* A part of a segment, free or used; two free ones are never neighbours. */
struct extent {
	struct plx_list link;
	size_t at, bytes;
	bool used;
};

static struct extent *
extent_of(struct plx_list *link)
{
	return plx_list_entry(link, struct extent, link);
}

static struct extent *
extent_new(size_t at, size_t bytes)
{
	struct extent *extent = malloc(sizeof(*extent));

	if (extent == NULL)
		return NULL;
	*extent = (struct extent){.at = at, .bytes = bytes};
	plx_list_init(&extent->link);
	return extent;
}

/* ---- creation ---- */

static bool
map(struct segment *segment, int fd, size_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return false;
	segment->base = base;
	segment->bytes = bytes;
	return true;
}

enum plx_status
segment_create(struct segment *segment, size_t bytes)
{
	int fd = memfd_create("pollux-fronts", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct extent *all;

	*segment = (struct segment){.fd = fd};
	plx_list_init(&segment->extents);
	bytes = segment_bytes(bytes);
	all = extent_new(0, bytes);
	if (fd < 0 || all == NULL || ftruncate(fd, (off_t)bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, FIXED_SIZE) != 0 || !map(segment, fd, bytes)) {
		free(all);
		if (fd >= 0)
			close(fd);
		*segment = (struct segment){.fd = -1};
		return PLX_NO_MEMORY;
	}
	plx_list_append(&segment->extents, &all->link);
	return PLX_OK;
}

enum plx_status
segment_import(struct segment *segment, int fd, size_t bytes, struct plx_why *why)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;

	*segment = (struct segment){.fd = -1, .arena = true};
	plx_list_init(&segment->extents);
	if (seals < 0 || (seals & FIXED_SIZE) != FIXED_SIZE || fstat(fd, &status) != 0 ||
	    (uint64_t)status.st_size != bytes) {
		plx_why_set(why,
			    "the memory is not a sealed memfd of %zu bytes; allocate it by "
			    "plx_mem_alloc()",
			    bytes);
		return PLX_INVALID;
	}
	if (!map(segment, fd, bytes)) {
		plx_why_set(why, "the host cannot map %zu bytes: %s", bytes, strerror(errno));
		return PLX_NO_MEMORY;
	}
	/* It may be sealed already, for the program has mapped it. Not the host's own failure. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	segment->ready = true;
	return PLX_OK;
}

void
segment_seal(struct segment *segment)
{
	if (segment->fd < 0)
		return;
	(void)fcntl(segment->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	close(segment->fd);
	segment->fd = -1;
	segment->ready = true;
}

void
segment_destroy(struct segment *segment)
{
	struct plx_list *node, *after;

	if (segment->base == NULL)
		return;
	plx_list_for_each (node, after, &segment->extents)
		free(extent_of(node));
	if (segment->fd >= 0)
		close(segment->fd);
	munmap(segment->base, segment->bytes);
	*segment = (struct segment){.fd = -1};
}

/* ---- fronts ---- */

void *
segment_alloc(struct segment *segment, size_t bytes)
{
	struct plx_list *node, *after;

	bytes = (bytes + PLX_LINE_PAIR - 1) / PLX_LINE_PAIR * PLX_LINE_PAIR;
	plx_list_for_each (node, after, &segment->extents) {
		struct extent *extent = extent_of(node), *rest;

		if (extent->used || extent->bytes < bytes)
			continue;
		if (extent->bytes > bytes) {
			rest = extent_new(extent->at + bytes, extent->bytes - bytes);
			if (rest == NULL)
				return NULL;
			plx_list_append(after, &rest->link);
			extent->bytes = bytes;
		}
		extent->used = true;
		return memset(segment->base + extent->at, 0, bytes);
	}
	return NULL;
}

/* Join an extent with the next one if both are free. */
static void
join(struct segment *segment, struct extent *extent)
{
	struct extent *next;

	if (extent->link.next == &segment->extents)
		return;
	next = extent_of(extent->link.next);
	if (extent->used || next->used)
		return;
	extent->bytes += next->bytes;
	plx_list_remove(&next->link);
	free(next);
}

void
segment_free(struct segment *segment, void *memory)
{
	size_t at = (size_t)((uint8_t *)memory - segment->base);
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &segment->extents) {
		struct extent *extent = extent_of(node);

		if (extent->at != at)
			continue;
		PLX_ASSERT(extent->used);
		extent->used = false;
		join(segment, extent);
		if (node->prev != &segment->extents)
			join(segment, extent_of(node->prev));
		return;
	}
	PLX_ASSERT(false);
}
