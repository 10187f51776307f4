/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See private.h. What a thread needs is counted, since one may hang for ever in a page that its
 * program never lets it read: then it is abandoned, and frees its part when it comes back.
 * Start with private_begin(), then copy_all().
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "plx_copy.h"
#include "plx_thread.h"
#include "private.h"

#define GIVE_UP_NS (2 * PLX_SEC)

/* Its first member is compared by order(). */
struct shadow {
	uint8_t *base;
	size_t bytes;
	uint64_t at;    /* where the program has its first byte */
	uint64_t *page; /* instead: where it has each page; NULL: they follow each other */
	uint32_t uses;  /* by threads, and by the region; under the lock */
};

struct mover {
	struct private_memory *memory;
	struct plx_copier *copier;
	pthread_t thread;
	atomic_bool has_ended;
};

struct private_memory {
	int fd;
	pthread_mutex_t lock;
	void *shadows; /* a tree of struct shadow */
	uint32_t uses; /* by its movers, and by the seat; under the lock */
	uint32_t movers;
	struct mover *mover[PLX_ENGINES_MAX];
};

/* ---- shadows ---- */

/* Ranges that have a byte in common are equal: none of the tree has with another. */
static int
order(const void *a, const void *b)
{
	const struct shadow *one = a, *other = b;

	if (one->base + one->bytes <= other->base)
		return -1;
	return other->base + other->bytes <= one->base ? 1 : 0;
}

/* The lock is held. */
static void
unuse(struct shadow *shadow)
{
	if (--shadow->uses > 0)
		return;
	munmap(shadow->base, shadow->bytes);
	free(shadow->page);
	free(shadow);
}

/* Returns: what has all of a range, used; NULL: none has */
static struct shadow *
use(struct private_memory *memory, const struct plx_copy *copy)
{
	struct shadow range = {.base = copy->shadow, .bytes = copy->bytes}, *shadow = NULL;
	void *found;

	pthread_mutex_lock(&memory->lock);
	found = tfind(&range, &memory->shadows, order);
	if (found != NULL)
		shadow = *(struct shadow **)found;
	if (shadow != NULL && range.base >= shadow->base &&
	    range.bytes <= shadow->bytes - (size_t)(range.base - shadow->base))
		shadow->uses++;
	else
		shadow = NULL;
	pthread_mutex_unlock(&memory->lock);
	return shadow;
}

static enum plx_status
make(struct private_memory *memory, uint64_t pages, struct shadow **out)
{
	struct shadow *made = calloc(1, sizeof(*made));
	void *base;

	if (made == NULL)
		return PLX_NO_MEMORY;
	base = mmap(NULL, pages << PLX_PAGE_SHIFT, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		free(made);
		return PLX_NO_MEMORY;
	}
	made->base = base;
	made->bytes = pages << PLX_PAGE_SHIFT;
	made->uses = 1;
	pthread_mutex_lock(&memory->lock);
	if (tsearch(made, &memory->shadows, order) == NULL) {
		unuse(made);
		made = NULL;
	}
	pthread_mutex_unlock(&memory->lock);
	*out = made;
	return made != NULL ? PLX_OK : PLX_NO_MEMORY;
}

enum plx_status
private_shadow(struct private_memory *memory, uint64_t at, uint64_t va, uint64_t length,
	       struct shadow **out)
{
	enum plx_status status = make(memory, plx_pages_spanned(va, length), out);

	if (status == PLX_OK)
		(*out)->at = at - va % PLX_PAGE_BYTES;
	return status;
}

enum plx_status
private_shadow_list(struct private_memory *memory, uint64_t pages, struct shadow **out)
{
	uint64_t *page = calloc(pages, sizeof(*page));
	enum plx_status status = page != NULL ? make(memory, pages, out) : PLX_NO_MEMORY;

	if (status == PLX_OK)
		(*out)->page = page;
	else
		free(page);
	return status;
}

void
private_pages(const struct shadow *shadow, uint64_t pages, uint64_t *page)
{
	for (uint64_t i = 0; i < pages; i++)
		page[i] = ((uint64_t)(uintptr_t)shadow->base + (i << PLX_PAGE_SHIFT)) |
			  PLX_PAGE_PRIVATE;
}

struct plx_page_map
private_map(const struct shadow *shadow)
{
	return (struct plx_page_map){
		.page = shadow->page,
		.first = (uintptr_t)shadow->base,
		.places = (uint32_t)(shadow->bytes >> PLX_PAGE_SHIFT),
	};
}

static void
wait_for(const struct private_memory *memory)
{
	uint64_t end = plx_clock_ns() + GIVE_UP_NS;
	uint32_t looks = 0;
	uint32_t asked[PLX_ENGINES_MAX];

	for (uint32_t i = 0; i < memory->movers; i++)
		asked[i] = plx_copier_asked(memory->mover[i]->copier);
	for (uint32_t i = 0; i < memory->movers; i++)
		while (!plx_copier_is_idle(memory->mover[i]->copier, asked[i]) &&
		       plx_clock_ns() < end)
			plx_engine_backoff(&looks);
}

/* A thread that hangs has a page that it no longer looks up. */
void
private_assign(struct private_memory *memory, struct shadow *shadow, const uint64_t *page,
	       uint64_t pages)
{
	wait_for(memory);
	pthread_mutex_lock(&memory->lock);
	memcpy(shadow->page, page, pages * sizeof(*page));
	pthread_mutex_unlock(&memory->lock);
}

void
private_unshadow(struct private_memory *memory, struct shadow *shadow)
{
	wait_for(memory);
	pthread_mutex_lock(&memory->lock);
	tdelete(shadow, &memory->shadows, order);
	unuse(shadow);
	pthread_mutex_unlock(&memory->lock);
}

/* ---- threads ---- */

/* Copy what follows each other in the program.
 * Returns: false: the program has no memory there, or no longer any */
static bool
copy_bytes(int fd, const struct plx_copy *copy, uint32_t from, uint32_t bytes, uint64_t at)
{
	uint8_t *shadow = copy->shadow;

	while (bytes > 0) {
		ssize_t n = copy->staged != NULL ? pwrite(fd, copy->staged + from, bytes, (off_t)at)
						 : pread(fd, shadow + from, bytes, (off_t)at);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n < 0)
			continue;
		from += (uint32_t)n;
		bytes -= (uint32_t)n;
		at += (uint64_t)n;
	}
	return true;
}

/* Where the program has a byte of a shadow, and how many from there on follow each other. */
static uint64_t
place_of(struct private_memory *memory, const struct shadow *shadow, size_t offset, uint32_t *bytes)
{
	uint32_t left = PLX_PAGE_BYTES - (uint32_t)(offset % PLX_PAGE_BYTES);
	uint64_t page;

	if (shadow->page == NULL)
		return shadow->at + offset;
	if (*bytes > left)
		*bytes = left;
	pthread_mutex_lock(&memory->lock);
	/* an engine may give other pages their places */
	page = __atomic_load_n(&shadow->page[offset >> PLX_PAGE_SHIFT], __ATOMIC_RELAXED);
	pthread_mutex_unlock(&memory->lock);
	return page + offset % PLX_PAGE_BYTES;
}

static bool
carry_out(struct private_memory *memory, const struct plx_copy *copy)
{
	struct shadow *shadow = use(memory, copy);
	bool right = shadow != NULL;

	for (uint32_t done = 0, bytes; right && done < copy->bytes; done += bytes) {
		size_t offset = (size_t)((uint8_t *)copy->shadow - shadow->base) + done;
		uint64_t at;

		bytes = copy->bytes - done;
		at = place_of(memory, shadow, offset, &bytes);
		right = copy_bytes(memory->fd, copy, done, bytes, at);
	}
	if (shadow == NULL)
		return false;
	pthread_mutex_lock(&memory->lock);
	unuse(shadow);
	pthread_mutex_unlock(&memory->lock);
	return right;
}

static void
unuse_memory(struct private_memory *memory)
{
	bool last;

	pthread_mutex_lock(&memory->lock);
	last = --memory->uses == 0;
	pthread_mutex_unlock(&memory->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&memory->lock);
	close(memory->fd);
	free(memory);
}

static void
free_mover(struct mover *mover)
{
	struct private_memory *memory = mover->memory;

	plx_copier_free(mover->copier);
	free(mover);
	unuse_memory(memory);
}

static void *
copy_all(void *arg)
{
	struct mover *mover = arg;
	struct plx_copy copy;

	while (plx_copier_wait(mover->copier, &copy))
		plx_copier_finish(mover->copier, !carry_out(mover->memory, &copy));
	/* Who comes second frees it: see end_mover(). */
	if (atomic_exchange(&mover->has_ended, true))
		free_mover(mover);
	return NULL;
}

static enum plx_status
begin_mover(struct private_memory *memory, struct engine_seat *back)
{
	struct mover *mover = calloc(1, sizeof(*mover));
	enum plx_status status;

	if (mover == NULL)
		return PLX_NO_MEMORY;
	mover->memory = memory;
	mover->copier = plx_copier_create();
	if (mover->copier == NULL || pthread_create(&mover->thread, NULL, copy_all, mover) != 0) {
		plx_copier_free(mover->copier);
		free(mover);
		return PLX_NO_MEMORY;
	}
	memory->uses++;
	status = plx_seat_back_set_copier(back, mover->copier);
	memory->mover[memory->movers++] = mover;
	return status;
}

static void
end_mover(struct mover *mover)
{
	uint64_t end = plx_clock_ns() + GIVE_UP_NS;
	uint32_t looks = 0;

	plx_copier_stop(mover->copier);
	while (!atomic_load(&mover->has_ended) && plx_clock_ns() < end)
		plx_engine_backoff(&looks);
	if (atomic_exchange(&mover->has_ended, true)) {
		pthread_join(mover->thread, NULL);
		free_mover(mover);
	} else {
		pthread_detach(mover->thread);
	}
}

/* ---- of a seat ---- */

/* Is it PID/mem in a proc, whose place may be another than /proc, or none that we reach? */
static bool
is_memory_of_process(const char *name)
{
	const char *file = strrchr(name, '/'), *pid = file;

	if (file == NULL || strcmp(file, "/mem") != 0)
		return false;
	while (pid > name && pid[-1] >= '0' && pid[-1] <= '9')
		pid--;
	return pid < file && pid > name && pid[-1] == '/';
}

/* What another process opened is no more than it may reach. */
static bool
is_memory(int fd)
{
	char path[32], name[256];
	struct statfs system;
	ssize_t n;

	if (fstatfs(fd, &system) != 0 || system.f_type != PROC_SUPER_MAGIC ||
	    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return is_memory_of_process(name);
}

enum plx_status
private_begin(int fd, struct engine_seat *const *back, uint32_t engines,
	      struct private_memory **out, struct plx_why *why)
{
	struct private_memory *memory;
	enum plx_status status = PLX_OK;

	*out = NULL;
	if (!is_memory(fd)) {
		plx_why_set(why, "the descriptor is not the /proc/PID/mem of a process, open for "
				 "reading and writing");
		return PLX_INVALID;
	}
	memory = calloc(1, sizeof(*memory));
	if (memory == NULL)
		return PLX_NO_MEMORY;
	memory->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (memory->fd < 0) {
		free(memory);
		return PLX_NO_MEMORY;
	}
	pthread_mutex_init(&memory->lock, NULL);
	memory->uses = 1;
	for (uint32_t i = 0; status == PLX_OK && i < engines; i++)
		status = begin_mover(memory, back[i]);
	*out = memory;
	return status;
}

void
private_end(struct private_memory *memory)
{
	if (memory == NULL)
		return;
	for (uint32_t i = 0; i < memory->movers; i++)
		end_mover(memory->mover[i]);
	unuse_memory(memory);
}
