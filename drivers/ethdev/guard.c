/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMD calls munmap() by a slot of its own library, as every shared library calls another. That
 * slot is pointed at unmap_guarded(), and nothing else of the process is touched. Why this is done:
 * docs/decisions/0054-a-peer-of-memif-leaves.md. Start with unmap_guarded().
 */
#include <elf.h>
#include <link.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"

enum {
	NAP_US = 100, /* a burst takes less, unless a debugger holds its thread */
	NAPS = 10000,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *guarded; /* list */

/* ---- the thread that unmaps ---- */

/* A burst that begins now sees that the PMD is disconnected. One that began before has said so by
 * now: the barrier makes the stores of all threads visible. A kernel without it made several system
 * calls since, which last longer than a store. */
static int
unmap_guarded(void *address, size_t bytes)
{
	int naps = 0;

	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	pthread_mutex_lock(&lock);
	for (const struct queue *queue = guarded; queue != NULL; queue = queue->next)
		while (__atomic_load_n(&queue->inside, __ATOMIC_ACQUIRE) && naps++ < NAPS)
			usleep(NAP_US);
	pthread_mutex_unlock(&lock);
	return munmap(address, bytes);
}

/* ---- the slot ---- */

/* What the dynamic linker knows of a library, by the numbers of elf(5). */
struct library {
	const char *name; /* of its file, in part */
	uintptr_t base;
	uintptr_t entry[DT_JMPREL + 1];
	bool found;
};

static void
point_at_guard(void **slot)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)slot & ~(page - 1));
	void *guard = (void *)(uintptr_t)unmap_guarded;

	/* The linker has made it read-only (RELRO); a slot never crosses a page. */
	if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
		return;
	__atomic_store_n(slot, guard, __ATOMIC_RELEASE);
	(void)mprotect(start, page, PROT_READ);
}

static void
replace(struct library *library)
{
	const ElfW(Rela) *rela = (const ElfW(Rela) *)library->entry[DT_JMPREL];
	const ElfW(Sym) *symbols = (const ElfW(Sym) *)library->entry[DT_SYMTAB];
	const char *texts = (const char *)library->entry[DT_STRTAB];
	size_t n = library->entry[DT_PLTRELSZ] / sizeof(*rela);

	for (size_t i = 0; rela != NULL && i < n; i++) {
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(rela[i].r_info)];

		if (strcmp(texts + symbol->st_name, "munmap") != 0)
			continue;
		point_at_guard((void **)(library->base + rela[i].r_offset));
		library->found = true;
	}
}

static int
look_at(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct library *library = context;

	(void)bytes;
	if (strstr(info->dlpi_name, library->name) == NULL)
		return 0;
	library->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *dynamic =
			(const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (; dynamic->d_tag != DT_NULL; dynamic++)
			if (dynamic->d_tag > 0 && dynamic->d_tag <= DT_JMPREL)
				library->entry[dynamic->d_tag] = dynamic->d_un.d_ptr;
	}
	replace(library);
	return 1;
}

/* ---- queues ---- */

bool
guard_add(struct queue *queue, const char *driver)
{
	char name[64];
	struct library library = {.name = name};

	snprintf(name, sizeof(name), "/librte_%s.so", driver);
	pthread_mutex_lock(&lock);
	dl_iterate_phdr(look_at, &library);
	if (library.found) {
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
		queue->port.rx = guarded_rx;
		queue->port.tx = guarded_tx;
		queue->next = guarded;
		guarded = queue;
	}
	pthread_mutex_unlock(&lock);
	return library.found;
}

void
guard_remove(struct queue *queue)
{
	struct queue **at = &guarded;

	pthread_mutex_lock(&lock);
	while (*at != NULL && *at != queue)
		at = &(*at)->next;
	if (*at != NULL)
		*at = queue->next;
	pthread_mutex_unlock(&lock);
}
