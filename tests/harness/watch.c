/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See watch.h. The tracer stops the process at each system call, so a thread that makes none runs
 * at full speed. Two calls with otherwise unused arguments mark the begin and end of a phase. Start
 * with watch_run().
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rte_malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plx_base.h"
#include "watch.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
	MARK_BEGIN = 0x506c7800, /* + phase: first argument of getpriority() */
	MARK_END = 0x506c7900
};

static atomic_bool watching;
static atomic_uint allocations, locks;
static struct watch_counts *shared; /* of both processes */

static void
count(atomic_uint *what)
{
	if (atomic_load_explicit(&watching, memory_order_relaxed))
		atomic_fetch_add(what, 1);
}

/* ---- standing in front of the library ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOOKS 1
#endif
#endif

#ifdef HOOKS

/* A sanitizer has its own allocator, and reports each call. */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
					      void (*)(const volatile void *));

static void
on_malloc(const volatile void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
	count(&allocations);
}

static void
on_free(const volatile void *memory)
{
	(void)memory;
	count(&allocations);
}

static void
install(void)
{
	PLX_ASSERT(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0);
}

#else

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *memory);

EXPORTED void *
malloc(size_t bytes)
{
	count(&allocations);
	return __libc_malloc(bytes);
}

EXPORTED void *
calloc(size_t n, size_t bytes)
{
	count(&allocations);
	return __libc_calloc(n, bytes);
}

EXPORTED void *
realloc(void *memory, size_t bytes)
{
	count(&allocations);
	return __libc_realloc(memory, bytes);
}

EXPORTED void
free(void *memory)
{
	count(&allocations);
	__libc_free(memory);
}

EXPORTED int
posix_memalign(void **memory, size_t align, size_t bytes)
{
	count(&allocations);
	*memory = __libc_memalign(align, bytes);
	return *memory != NULL ? 0 : ENOMEM;
}

EXPORTED void *
aligned_alloc(size_t align, size_t bytes)
{
	count(&allocations);
	return __libc_memalign(align, bytes);
}

static void
install(void)
{
}

#endif

/* A function that counts and forwards. The first call of each precedes any phase. */
#define STAND_IN(type, name, counter, arguments, values)           \
	EXPORTED type name arguments                               \
	{                                                          \
		static type(*real) arguments;                      \
                                                                   \
		count(&counter);                                   \
		if (real == NULL)                                  \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		return real values;                                \
	}

STAND_IN(int, pthread_mutex_lock, locks, (pthread_mutex_t * lock), (lock))
STAND_IN(int, pthread_mutex_trylock, locks, (pthread_mutex_t * lock), (lock))
STAND_IN(int, pthread_rwlock_rdlock, locks, (pthread_rwlock_t * lock), (lock))
STAND_IN(int, pthread_rwlock_wrlock, locks, (pthread_rwlock_t * lock), (lock))
STAND_IN(int, pthread_spin_lock, locks, (pthread_spinlock_t * lock), (lock))
STAND_IN(int, sem_wait, locks, (sem_t * lock), (lock))
STAND_IN(void *, rte_malloc_socket, allocations,
	 (const char *type, size_t bytes, unsigned align, int socket), (type, bytes, align, socket))
STAND_IN(void *, rte_zmalloc_socket, allocations,
	 (const char *type, size_t bytes, unsigned align, int socket), (type, bytes, align, socket))
STAND_IN(void *, rte_malloc, allocations, (const char *type, size_t bytes, unsigned align),
	 (type, bytes, align))
STAND_IN(void *, rte_zmalloc, allocations, (const char *type, size_t bytes, unsigned align),
	 (type, bytes, align))

/* ---- the watched process ---- */

void
watch_begin(uint32_t phase)
{
	atomic_store(&allocations, 0);
	atomic_store(&locks, 0);
	atomic_store(&watching, true);
	syscall(SYS_getpriority, MARK_BEGIN + phase, 0);
}

void
watch_end(uint32_t phase)
{
	syscall(SYS_getpriority, MARK_END + phase, 0);
	atomic_store(&watching, false);
	shared[phase].allocations = atomic_load(&allocations);
	shared[phase].locks = atomic_load(&locks);
}

/* ---- the tracer ---- */

/* A thread enters a system call. */
static void
on_call(int number, uint64_t argument, int *phase)
{
	uint64_t begin = argument - MARK_BEGIN, end = argument - MARK_END;

	if (number == SYS_getpriority && begin < WATCH_PHASES) {
		*phase = (int)begin;
		shared[*phase].calls = 0;
		shared[*phase].first_call = -1;
		return;
	}
	if (number == SYS_getpriority && end < WATCH_PHASES) {
		shared[end].seen = 1;
		*phase = -1;
		return;
	}
	if (*phase < 0)
		return;
	if (shared[*phase].calls++ == 0)
		shared[*phase].first_call = number;
}

/* One stop of one thread. Returns: the signal to hand on */
static int
on_stop(pid_t thread, int status, int *phase)
{
	struct __ptrace_syscall_info info;
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY)
			on_call((int)info.entry.nr, info.entry.args[0], phase);
		return 0;
	}
	/* The stop of a new thread, and of its maker. */
	return signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

static int
trace(pid_t child)
{
	int status, phase = -1, signal;
	pid_t thread;

	PLX_ASSERT(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	PLX_ASSERT(ptrace(PTRACE_SETOPTIONS, child, NULL,
			  PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
	ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			signal = on_stop(thread, status, &phase);
			ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal);
		} else if (thread == child) {
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
	return -1;
}

int
watch_run(void (*body)(void), struct watch_counts counts[WATCH_PHASES])
{
	size_t bytes = WATCH_PHASES * sizeof(*shared);
	pid_t child;
	int status;

	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	PLX_ASSERT(shared != MAP_FAILED);
	child = fork();
	PLX_ASSERT(child >= 0);
	if (child == 0) {
		PLX_ASSERT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
		raise(SIGSTOP);
		install();
		body();
		_exit(0);
	}
	status = trace(child);
	memcpy(counts, shared, bytes);
	munmap(shared, bytes);
	return status;
}
