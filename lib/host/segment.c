/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See segment.h. A program that shrinks a file under its mapping would end the host by SIGBUS: the
 * seals forbid that. A hole in hugepages would, too, when there are no more; in ordinary memory it
 * is read as zeros. Start with segment_create().
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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

/* An arena as the host has mapped it, for all seats of one program: of hugepages the seal that
 * keeps holes out keeps out a second mapping, too. */
struct mapping {
	struct plx_list node;
	uint32_t uid;
	int32_t pid;
	dev_t device;
	ino_t file;
	struct timespec changed; /* the file's last change; its size is sealed, so it stays */
	uint8_t *base;
	size_t bytes;
	uint32_t segments;
};

/* Of all seats of all adapters of this process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list mappings = {&mappings, &mappings};

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

static uint8_t *
map(int fd, size_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return base != MAP_FAILED ? base : NULL;
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
	    fcntl(fd, F_ADD_SEALS, FIXED_SIZE) != 0 || (segment->base = map(fd, bytes)) == NULL) {
		free(all);
		if (fd >= 0)
			close(fd);
		*segment = (struct segment){.fd = -1};
		return PLX_NO_MEMORY;
	}
	segment->bytes = bytes;
	plx_list_append(&segment->extents, &all->link);
	return PLX_OK;
}

/* ---- arenas ---- */

/* Does a mapping have the same file of the same program? The lock is held. Numbers of files may
 * come again while nobody else's file has them: a program that brings that about meets itself. */
static struct mapping *
find_mapping(const struct plx_host_who *owner, const struct stat *file)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &mappings) {
		struct mapping *one = plx_list_entry(node, struct mapping, node);

		if (one->uid == owner->uid && one->pid == owner->pid &&
		    one->device == file->st_dev && one->file == file->st_ino &&
		    one->changed.tv_sec == file->st_ctim.tv_sec &&
		    one->changed.tv_nsec == file->st_ctim.tv_nsec)
			return one;
	}
	return NULL;
}

/* The lock is held. NULL: errno says why */
static struct mapping *
new_mapping(const struct plx_host_who *owner, int fd, const struct stat *file)
{
	struct mapping *made = malloc(sizeof(*made));

	if (made == NULL)
		return NULL;
	*made = (struct mapping){.uid = owner->uid,
				 .pid = owner->pid,
				 .device = file->st_dev,
				 .file = file->st_ino,
				 .changed = file->st_ctim,
				 .base = map(fd, (size_t)file->st_size),
				 .bytes = (size_t)file->st_size};
	if (made->base == NULL) {
		free(made);
		return NULL;
	}
	plx_list_append(&mappings, &made->node);
	return made;
}

static void
drop_mapping(struct mapping *mapping)
{
	pthread_mutex_lock(&lock);
	if (--mapping->segments == 0) {
		plx_list_remove(&mapping->node);
		munmap(mapping->base, mapping->bytes);
		free(mapping);
	}
	pthread_mutex_unlock(&lock);
}

static bool
is_of_hugepages(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && (unsigned long)system.f_type == HUGETLBFS_MAGIC;
}

static enum plx_status
not_mapped(size_t bytes, struct plx_why *why)
{
	if (errno == EPERM)
		plx_why_set(why,
			    "these hugepages are sealed against writing, as they are when another "
			    "host or program has had them; give each host memory of its own from "
			    "plx_mem_alloc()");
	else
		plx_why_set(why, "the host cannot map %zu bytes: %s", bytes, strerror(errno));
	return PLX_NO_MEMORY;
}

enum plx_status
segment_import(struct segment *segment, const struct plx_host_who *owner, int fd, size_t bytes,
	       struct plx_why *why)
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
	pthread_mutex_lock(&lock);
	segment->mapping = find_mapping(owner, &status);
	if (segment->mapping == NULL)
		segment->mapping = new_mapping(owner, fd, &status);
	if (segment->mapping != NULL)
		segment->mapping->segments++;
	pthread_mutex_unlock(&lock);
	if (segment->mapping == NULL)
		return not_mapped(bytes, why);
	segment->base = segment->mapping->base;
	segment->bytes = bytes;
	/* It may be sealed already, for the program has mapped it. Not the host's own failure. */
	if (is_of_hugepages(fd))
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
	if (segment->mapping != NULL)
		drop_mapping(segment->mapping);
	else
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
