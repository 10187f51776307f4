/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMD calls munmap() and sendmsg() by slots of its own library, as every shared library calls
 * another. Those slots are pointed at the functions here, and nothing else of the process is
 * touched. Why this is done: docs/decisions/0054-a-peer-of-memif-leaves.md and
 * docs/decisions/0063-a-peer-of-memif-that-left.md. Start with unmap_guarded().
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

/* What a peer that has left cannot get counts as sent: the end of the connection comes next, and
 * the PMD closes what it has. It closes too much when its first message fails. */
static ssize_t
send_guarded(int fd, const struct msghdr *message, int flags)
{
	ssize_t sent = sendmsg(fd, message, flags);

	if (sent >= 0 || errno != EPIPE)
		return sent;
	sent = 0;
	for (size_t i = 0; i < message->msg_iovlen; i++)
		sent += (ssize_t)message->msg_iov[i].iov_len;
	return sent;
}

/* ---- the slots ---- */

/* What the dynamic linker knows of a library, by the numbers of elf(5). */
struct library {
	const char *name; /* of its file, in part */
	uintptr_t base;
	uintptr_t entry[DT_JMPREL + 1];
	bool found; /* its slot of munmap() */
};

static uintptr_t
guard_of(const char *name)
{
	if (strcmp(name, "munmap") == 0)
		return (uintptr_t)unmap_guarded;
	if (strcmp(name, "sendmsg") == 0)
		return (uintptr_t)send_guarded;
	return 0;
}

static void
point_at(void **slot, void *guard)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)slot & ~(page - 1));

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
		const uintptr_t guard = guard_of(texts + symbol->st_name);

		if (guard == 0)
			continue;
		point_at((void **)(library->base + rela[i].r_offset), (void *)guard);
		library->found |= guard == (uintptr_t)unmap_guarded;
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
