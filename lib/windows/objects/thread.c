/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads: pthreads with a handle that is signalled when they have ended, and with an exit code. As
 * on Windows, per-thread data of the program (C++'s thread_local) is destroyed by then, and when
 * the last handle of an ended thread is closed nothing of it remains. No thread is ended from
 * outside.
 * Start with CreateThread() and run().
 */
#include "win_objects.h"
#include "plx_catalog.h"

#include <errno.h>
#include <process.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	STILL_RUNNING = 259,              /* STILL_ACTIVE, for GetExitCodeThread */
	STACK_SIZE_IS_RESERVED = 0x10000, /* the only flag supported; every size is reserved here */
	SMALLEST_STACK = 1 << 16,
	GROUP = 64, /* processors in a mask */
};

/* GetCurrentThread()'s value: the calling thread. */
#define THIS_THREAD ((HANDLE)(LONG_PTR)-2)

struct thread {
	struct win_object object;
	LPTHREAD_START_ROUTINE start;
	void *argument;
	pthread_t pthread;
	DWORD id;
	DWORD code; /* STILL_RUNNING until it has ended; protected by the lock */
};

_Static_assert(sizeof(struct thread) <= WIN_SLOT, "a thread fits its slot");

static __thread struct thread *self; /* NULL: not made by CreateThread */
static __thread DWORD self_id;
static atomic_uint last_id;

/* Ids are assigned here, since the creator of a thread needs its id before it runs. */
static DWORD
new_id(void)
{
	return atomic_fetch_add_explicit(&last_id, 4, memory_order_relaxed) + 4;
}

/* Runs at the end of a thread, whether it returned, called ExitThread or pthread_exit. */
static void
ended(void *argument)
{
	struct thread *thread = argument;

	pthread_mutex_lock(&thread->object.lock);
	if (thread->code == STILL_RUNNING)
		thread->code = 0;
	pthread_mutex_unlock(&thread->object.lock);
	win_signal(&thread->object);
	win_object_release(&thread->object);
}

/* Its value in a thread of ours is the thread. It ends when pthreads destroy the values of keys,
 * which is after C++ has destroyed thread_local objects. */
static pthread_key_t ending;
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;
static bool ending_is_there;

static void
make_ending(void)
{
	ending_is_there = pthread_key_create(&ending, ended) == 0;
}

/* The last handle is closed. An ended thread may still execute its last instructions; wait for
 * them, so that a library it was in may be unloaded, too. */
void
win_thread_close(struct win_object *object)
{
	struct thread *thread = (struct thread *)object;

	if ((atomic_load(&object->state) & WIN_SIGNALLED) &&
	    !pthread_equal(thread->pthread, pthread_self()))
		pthread_join(thread->pthread, NULL);
	else
		pthread_detach(thread->pthread);
}

static void
set_code(struct thread *thread, DWORD code)
{
	pthread_mutex_lock(&thread->object.lock);
	thread->code = code;
	pthread_mutex_unlock(&thread->object.lock);
}

static void
tell_detach(void *unused)
{
	(void)unused;
	win_dll_tell(DLL_THREAD_DETACH);
}

/* The thread as libraries see it. They are notified of its end by the thread itself, while its
 * thread_local objects and the values of its keys still exist. */
static void
live(struct thread *thread)
{
	pthread_cleanup_push(tell_detach, NULL);
	win_dll_tell(DLL_THREAD_ATTACH);
	set_code(thread, thread->start(thread->argument));
	pthread_cleanup_pop(1);
}

static void *
run(void *argument)
{
	struct thread *thread = argument;

	self = thread;
	self_id = thread->id;
	if (ending_is_there && pthread_setspecific(ending, thread) == 0) {
		live(thread);
		return NULL;
	}
	/* without memory for that: slightly early */
	pthread_cleanup_push(ended, thread);
	live(thread);
	pthread_cleanup_pop(1);
	return NULL;
}

/* Returns: 0, or an errno */
static int
start(struct thread *thread, size_t stack)
{
	pthread_attr_t attributes;
	int error;

	pthread_once(&ending_once, make_ending);
	pthread_attr_init(&attributes);
	/* Windows takes the default size from the linker; here it is the system's. */
	if (stack)
		pthread_attr_setstacksize(
			&attributes,
			((stack < SMALLEST_STACK ? SMALLEST_STACK : stack) + 4095) & ~(size_t)4095);
	win_object_hold_again(&thread->object); /* the thread's own, until it has ended */
	error = pthread_create(&thread->pthread, &attributes, run, thread);
	pthread_attr_destroy(&attributes);
	if (error)
		win_object_release(&thread->object);
	return error;
}

HANDLE
CreateThread(LPSECURITY_ATTRIBUTES security, SIZE_T stack, LPTHREAD_START_ROUTINE routine,
	     LPVOID argument, DWORD flags, LPDWORD id)
{
	struct thread *thread;

	(void)security;
	if (!routine || flags & ~(DWORD)STACK_SIZE_IS_RESERVED) {
		win_fail(routine ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER);
		return NULL;
	}
	thread = (struct thread *)win_object_create(WIN_THREAD);
	if (!thread)
		return NULL;
	thread->start = routine;
	thread->argument = argument;
	thread->code = STILL_RUNNING;
	thread->id = new_id();
	if (id)
		*id = thread->id;
	if (start(thread, stack)) {
		win_object_release(&thread->object);
		win_fail(ERROR_NOT_ENOUGH_MEMORY);
		return NULL;
	}
	return win_object_open(&thread->object);
}

uintptr_t
_beginthreadex(void *security, unsigned stack, _beginthreadex_proc_type routine, void *argument,
	       unsigned flags, unsigned *id)
{
	HANDLE thread =
		CreateThread((LPSECURITY_ATTRIBUTES)security, stack, routine, argument, flags, id);

	if (!thread)
		errno = routine ? EAGAIN : EINVAL;
	return (uintptr_t)thread;
}

VOID
ExitThread(DWORD code)
{
	if (self)
		set_code(self, code);
	else
		win_dll_tell(DLL_THREAD_DETACH); /* run() does not do it for a thread that is not
						    its own */
	pthread_exit(NULL);
}

void
_endthreadex(unsigned code)
{
	ExitThread(code);
}

BOOL
GetExitCodeThread(HANDLE handle, LPDWORD code)
{
	struct thread *thread;

	if (!code)
		return win_fail(ERROR_INVALID_PARAMETER);
	if (handle == THIS_THREAD) {
		*code = STILL_RUNNING;
		return TRUE;
	}
	thread = (struct thread *)win_object_hold(handle, WIN_THREAD);
	if (!thread)
		return FALSE;
	/* The code is set a moment before the thread has ended; hide that moment. */
	*code = STILL_RUNNING;
	if (atomic_load(&thread->object.state) & WIN_SIGNALLED) {
		pthread_mutex_lock(&thread->object.lock);
		*code = thread->code;
		pthread_mutex_unlock(&thread->object.lock);
	}
	win_object_release(&thread->object);
	return TRUE;
}

HANDLE
GetCurrentThread(void)
{
	return THIS_THREAD;
}

DWORD
GetCurrentThreadId(void)
{
	if (!self_id)
		self_id = new_id();
	return self_id;
}

HANDLE
GetCurrentProcess(void)
{
	return (HANDLE)(LONG_PTR)-1;
}

DWORD
GetCurrentProcessId(void)
{
	return (DWORD)getpid();
}

VOID
ExitProcess(UINT code)
{
	exit((int)code);
}

/* Bit n of a mask is processor n of the first group. Returns: 0: the error is set */
static DWORD_PTR
exchange_affinity(pthread_t pthread, DWORD_PTR mask)
{
	cpu_set_t now, wanted;
	DWORD_PTR old = 0;

	CPU_ZERO(&wanted);
	for (unsigned i = 0; i < GROUP; i++)
		if (mask >> i & 1)
			CPU_SET(i, &wanted);
	if (pthread_getaffinity_np(pthread, sizeof(now), &now) ||
	    pthread_setaffinity_np(pthread, sizeof(wanted), &wanted)) {
		win_fail(ERROR_INVALID_PARAMETER);
		return 0;
	}
	for (unsigned i = 0; i < GROUP; i++)
		if (CPU_ISSET(i, &now))
			old |= (DWORD_PTR)1 << i;
	return old;
}

DWORD_PTR
SetThreadAffinityMask(HANDLE handle, DWORD_PTR mask)
{
	struct thread *thread;
	DWORD_PTR old = 0;

	if (handle == THIS_THREAD)
		return exchange_affinity(pthread_self(), mask);
	thread = (struct thread *)win_object_hold(handle, WIN_THREAD);
	if (!thread)
		return 0;
	/* Under the lock it has not ended, so its pthread is valid. */
	pthread_mutex_lock(&thread->object.lock);
	if (thread->code == STILL_RUNNING)
		old = exchange_affinity(thread->pthread, mask);
	else
		win_fail(ERROR_GEN_FAILURE);
	pthread_mutex_unlock(&thread->object.lock);
	win_object_release(&thread->object);
	return old;
}

BOOL
SwitchToThread(void)
{
	return sched_yield() == 0;
}
