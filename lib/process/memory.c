/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for messages: hugepages on the requested NUMA node, else normal pages there, else pages
 * anywhere. It never accesses memory that it has handed out. NUMA nodes are asked for by system
 * calls, because a program that attaches to a host loads no library (decision 49). Start with
 * plx_mem_alloc().
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plx_blocks.h"
#include "plx_process.h"
#include "plx_types.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum {
	HUGE_SHIFT = 21,  /* log2 of PLX_BLOCK_HUGE, for MAP_HUGETLB */
	NODES_MAX = 1024, /* CONFIG_NODES_SHIFT is at most 10 */
	NODES_OF_WORD = 8 * sizeof(unsigned long),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list blocks = {&blocks, &blocks};
static uint64_t serials;     /* given so far */
static atomic_bool attaches; /* the program has attached to a host */

/* ---- allocating ---- */

static size_t
rounded(size_t size, size_t unit)
{
	return size > SIZE_MAX - unit ? 0 : (size + unit - 1) / unit * unit;
}

/* Choose the node before the pages are populated. The node is a preference, not a requirement. */
static bool
prefer_node(void *memory, size_t bytes, int socket)
{
	unsigned long nodes[NODES_MAX / NODES_OF_WORD] = {0};

	if (socket < 0)
		return true;
	if (socket >= NODES_MAX)
		return false;
	nodes[socket / NODES_OF_WORD] = 1ul << socket % NODES_OF_WORD;
	/* One that the machine does not have is refused. */
	return syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, nodes, NODES_MAX + 1, 0) == 0;
}

/* Populate the pages now, not in the middle of a transfer. A missing hugepage becomes an error
 * here; on a plain access it would kill the process. */
static bool
populate(void *memory, size_t bytes)
{
	size_t step = (size_t)sysconf(_SC_PAGESIZE);

	if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0)
		return true;
	if (errno != EINVAL)
		return false;
	/* a kernel before 5.14 */
	for (size_t at = 0; at < bytes; at += step)
		((volatile char *)memory)[at] = 0;
	return true;
}

/* Does this program attach to hosts? They can reach memory that has a descriptor. */
static bool
is_for_hosts(void)
{
	return atomic_load(&attaches) || secure_getenv("POLLUX_HOST") != NULL;
}

void
plx_mem_share(void)
{
	atomic_store(&attaches, true);
}

/* A file without a name, of a fixed size. -1: the system has none */
static int
make_file(size_t bytes, bool huge)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd;

	if (huge)
		flags |= MFD_HUGETLB | (unsigned)HUGE_SHIFT << MAP_HUGE_SHIFT;
	fd = memfd_create("pollux-memory", flags);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		return fd;
	close(fd);
	return -1;
}

static void *
map_some(size_t bytes, bool huge, int fd)
{
	int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *memory;

	if (huge && fd < 0)
		flags |= MAP_HUGETLB | HUGE_SHIFT << MAP_HUGE_SHIFT;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	return memory != MAP_FAILED ? memory : NULL;
}

/* @param fd [out] -1: private memory */
static void *
map(size_t bytes, bool huge, int socket, bool *near, int *fd)
{
	void *memory = NULL;

	*fd = -1;
	if (bytes == 0)
		return NULL;
	if (is_for_hosts()) {
		*fd = make_file(bytes, huge);
		if (*fd < 0)
			return NULL;
	}
	memory = map_some(bytes, huge, *fd);
	if (memory != NULL) {
		*near = prefer_node(memory, bytes, socket);
		if (populate(memory, bytes))
			return memory;
		munmap(memory, bytes);
	}
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return NULL;
}

/* The node that the first page is really on. */
static int
node_of(void *memory)
{
	int node = -1;

	if (syscall(SYS_get_mempolicy, &node, NULL, 0, memory, MPOL_F_NODE | MPOL_F_ADDR) != 0)
		return -1;
	return node;
}

static void
say_what_was_given(const struct plx_block *block, int socket, bool near, struct plx_why *why)
{
	int node = node_of(block->memory);
	bool elsewhere = socket >= 0 && (!near || (node >= 0 && node != socket));

	if (!why)
		return;
	*why->text = '\0';
	if (!block->huge && elsewhere)
		plx_why_set(why,
			    "there are no %zu bytes of free hugepages and no memory of NUMA node "
			    "%d; these are pages of any node",
			    block->bytes, socket);
	else if (!block->huge)
		plx_why_set(why,
			    "there are no %zu bytes of free hugepages (reserve some in "
			    "/sys/kernel/mm/hugepages); these are pages of %ld bytes",
			    block->bytes, sysconf(_SC_PAGESIZE));
	else if (elsewhere)
		plx_why_set(why,
			    "NUMA node %d has no free hugepages, or is not there; these are "
			    "hugepages of node %d",
			    socket, node);
}

static void
add(struct plx_block *block)
{
	plx_list_init(&block->views);
	pthread_mutex_lock(&lock);
	if (block->fd >= 0)
		block->serial = ++serials;
	plx_list_append(&blocks, &block->node);
	pthread_mutex_unlock(&lock);
}

void *
plx_mem_alloc(size_t size, int socket, struct plx_why *why)
{
	struct plx_block *block = calloc(1, sizeof(*block));
	bool near = false;

	if (!block || size == 0) {
		free(block);
		plx_why_set(why,
			    size ? "there is no memory" : "0 bytes were asked for; at least 1");
		return NULL;
	}
	block->bytes = rounded(size, PLX_BLOCK_HUGE);
	block->memory = map(block->bytes, true, socket, &near, &block->fd);
	block->huge = block->memory != NULL;
	if (!block->huge) {
		block->bytes = rounded(size, (size_t)sysconf(_SC_PAGESIZE));
		block->memory = map(block->bytes, false, socket, &near, &block->fd);
	}
	if (!block->memory) {
		free(block);
		plx_why_set(why, "there are no %zu bytes of memory", size);
		return NULL;
	}
	say_what_was_given(block, socket, near, why);
	add(block);
	return block->memory;
}

/* Its size is fixed: what is mapped stays. Returns: [bytes]; 0: it is no such file */
static size_t
size_of(int fd)
{
	const int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat file;

	if (seals < 0 || (seals & fixed) != fixed || fstat(fd, &file) != 0 || file.st_size <= 0)
		return 0;
	return (size_t)file.st_size;
}

void *
plx_mem_map(int fd, struct plx_why *why)
{
	struct plx_block *block = calloc(1, sizeof(*block));
	size_t bytes = size_of(fd);

	if (block == NULL || bytes == 0) {
		free(block);
		plx_why_set(why, bytes == 0 ? "the file is no memfd whose size is sealed"
					    : "there is no memory");
		return NULL;
	}
	block->bytes = bytes;
	block->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	block->memory = block->fd >= 0 ? map_some(bytes, false, block->fd) : NULL;
	if (block->memory == NULL) {
		if (block->fd >= 0)
			close(block->fd);
		free(block);
		plx_why_set(why, "%zu bytes cannot be mapped", bytes);
		return NULL;
	}
	add(block);
	return block->memory;
}

/* ---- finding ---- */

void
plx_blocks_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
plx_blocks_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct plx_block *
plx_block_around(const void *memory, size_t length)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &blocks) {
		struct plx_block *block = plx_list_entry(node, struct plx_block, node);
		uintptr_t start = (uintptr_t)block->memory, at = (uintptr_t)memory;

		if (at >= start && at - start < block->bytes &&
		    length <= block->bytes - (at - start))
			return block;
	}
	return NULL;
}

bool
plx_mem_find_shared(const void *memory, size_t bytes, struct plx_shared *out)
{
	const struct plx_block *block;
	bool found;

	pthread_mutex_lock(&lock);
	block = plx_block_around(memory, bytes);
	found = block != NULL && block->fd >= 0;
	if (found)
		*out = (struct plx_shared){.fd = block->fd,
					   .serial = block->serial,
					   .base = block->memory,
					   .bytes = block->bytes};
	pthread_mutex_unlock(&lock);
	return found;
}

int
plx_mem_file(const void *memory)
{
	struct plx_shared shared;

	return plx_mem_find_shared(memory, 1, &shared) ? shared.fd : -1;
}

bool
plx_mem_is_alive(uint64_t serial)
{
	struct plx_list *node, *after;
	bool alive = false;

	pthread_mutex_lock(&lock);
	plx_list_for_each (node, after, &blocks)
		if (plx_list_entry(node, struct plx_block, node)->serial == serial)
			alive = true;
	pthread_mutex_unlock(&lock);
	return alive;
}

/* ---- freeing ---- */

static _Atomic uint64_t freed;

uint64_t
plx_mem_freed(void)
{
	return atomic_load(&freed);
}

void
plx_mem_free(void *memory)
{
	struct plx_block *block;

	if (!memory)
		return;
	pthread_mutex_lock(&lock);
	block = plx_block_around(memory, 1);
	/* Memory that is not the start of a block was not allocated here. A block that a device
	 * still has mapped contains a region that was not deregistered. Unmap neither. */
	if (block && (block->memory != memory || !plx_list_empty(&block->views)))
		block = NULL;
	if (block)
		plx_list_remove(&block->node);
	pthread_mutex_unlock(&lock);
	if (!block)
		return;
	atomic_fetch_add(&freed, 1);
	if (block->forget != NULL)
		block->forget(block);
	munmap(block->memory, block->bytes);
	if (block->fd >= 0)
		close(block->fd);
	free(block);
}
