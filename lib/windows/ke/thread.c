/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads: an object for each thread that calls here, and the system threads, which drivers create.
 * A thread has ended when pthreads destroy the value of a key of ours, which is after C++ has
 * destroyed what is thread_local; so a driver may be unloaded when its threads have ended.
 * Start with PsCreateSystemThread() and run().
 */
#include "ke.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	PRIORITY = 8, /* of a thread that starts */
	ID_STEP = 4,
};

struct _EPROCESS {
	DISPATCHER_HEADER header;
};

static struct _OBJECT_TYPE thread_type = {.name = "thread"};
static struct _OBJECT_TYPE process_type = {.name = "process"};
static POBJECT_TYPE thread_type_pointer = &thread_type;
static POBJECT_TYPE process_type_pointer = &process_type;
/* Nobody releases the process' own hold. */
static struct {
	struct ke_object head;
	struct _EPROCESS process;
} process = {
	.head = {.type = &process_type, .holds = 1},
	/* never signalled: it outlives its threads */
	.process.header = {.Type = KE_PROCESS,
			   .Size = sizeof(struct _EPROCESS) / sizeof(LONG),
			   .WaitListHead = {&process.process.header.WaitListHead,
					    &process.process.header.WaitListHead}},
};

POBJECT_TYPE *PsThreadType = &thread_type_pointer;
POBJECT_TYPE *PsProcessType = &process_type_pointer;
PEPROCESS PsInitialSystemProcess = &process.process;

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static atomic_uint last_id, system_threads;

/* ---- the end of a thread ---- */

static void
ended(void *argument)
{
	PKTHREAD thread = argument;

	/* A destructor that runs later and calls here gets an object anew. */
	ke_self.thread = NULL;
	if (thread->is_system)
		atomic_fetch_sub_explicit(&system_threads, 1, memory_order_relaxed);
	ke_lock();
	ke_mutexes_abandon(thread);
	thread->tid = 0;
	ke_set_state(&thread->header, 1);
	ke_signal(&thread->header);
	ke_unlock();
	ObfDereferenceObject(thread);
}

static void
make_key(void)
{
	if (pthread_key_create(&key, ended) != 0)
		plx_wdk_stop("there is no key for the ends of threads");
}

/* ---- objects ---- */

static PKTHREAD
create(void)
{
	PKTHREAD thread = plx_ke_object_create(&thread_type, sizeof(*thread));

	if (thread == NULL)
		return NULL;
	ke_header_init(&thread->header, KE_THREAD, sizeof(*thread), 0);
	ke_list_init(&thread->mutexes);
	thread->priority = PRIORITY;
	thread->id = (HANDLE)(ULONG_PTR)(atomic_fetch_add_explicit(&last_id, ID_STEP,
								   memory_order_relaxed) +
					 ID_STEP);
	return thread;
}

/* Windows' 8 is the nice value 0, and higher is better. */
static void
apply_priority(const KTHREAD *thread)
{
	int nice = PRIORITY - thread->priority;

	/* Without the right to it the thread runs as before. */
	if (thread->tid != 0)
		(void)setpriority(PRIO_PROCESS, (id_t)thread->tid, nice);
}

/* The calling thread has this object from now on. */
static void
adopt(PKTHREAD thread)
{
	pthread_once(&key_once, make_key);
	if (pthread_setspecific(key, thread) != 0)
		plx_wdk_stop("there is no memory for a thread's object");
	ke_self.thread = thread;
	pthread_mutex_lock(&ke_dispatcher_lock);
	thread->tid = gettid();
	if (thread->priority != PRIORITY)
		apply_priority(thread);
	pthread_mutex_unlock(&ke_dispatcher_lock);
}

PKTHREAD
ke_thread(void)
{
	if (ke_self.thread == NULL) {
		PKTHREAD thread = create();

		if (thread == NULL)
			plx_wdk_stop("there is no memory for a thread's object");
		adopt(thread);
	}
	return ke_self.thread;
}

/* ---- starting ---- */

bool
ke_start(void *(*routine)(void *), void *argument, pthread_t *started)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	pthread_attr_t attributes;
	sigset_t blocked, before;
	int error;

	sigfillset(&blocked);
	for (unsigned int i = 0; i < ARRAYSIZE(own); i++)
		sigdelset(&blocked, own[i]);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	error = pthread_create(started, &attributes, routine, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error == 0;
}

void
ke_start_or_stop(void *(*routine)(void *), void *argument, const char *name)
{
	pthread_t thread;

	if (!ke_start(routine, argument, &thread))
		plx_wdk_stop("the thread %s cannot be created", name);
	pthread_setname_np(thread, name);
}

/* ---- system threads ---- */

/* The routine returns, or PsTerminateSystemThread() jumps here: nothing of the driver's is run on
 * the way, as on Windows. */
static void *
run(void *argument)
{
	PKTHREAD thread = argument;
	jmp_buf end;

	adopt(thread);
	pthread_setname_np(pthread_self(), "plx-system");
	thread->end = &end;
	if (setjmp(end) == 0)
		thread->routine(thread->context);
	if (plx_ke_checks() && ke_self.irql != PASSIVE_LEVEL)
		plx_wdk_stop("a system thread ended at IRQL %u", ke_self.irql);
	if (plx_ke_checks() && (ke_self.critical > 0 || ke_self.guarded > 0))
		plx_wdk_stop("a system thread ended in a critical or guarded region");
	return NULL;
}

NTSTATUS
PsCreateSystemThread(PHANDLE handle, ULONG access, POBJECT_ATTRIBUTES attributes,
		     HANDLE process_handle, PCLIENT_ID id, PKSTART_ROUTINE routine, PVOID context)
{
	PKTHREAD thread;
	pthread_t started;
	NTSTATUS status;

	plx_ke_require("PsCreateSystemThread", PASSIVE_LEVEL);
	if (process_handle != NULL && process_handle != ZwCurrentProcess())
		return STATUS_INVALID_HANDLE;
	if (attributes != NULL && attributes->ObjectName != NULL)
		return STATUS_INVALID_PARAMETER;
	thread = create();
	if (thread == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	thread->is_system = true;
	thread->routine = routine;
	thread->context = context;
	status = plx_ke_handle_open(thread, access, handle);
	if (status == STATUS_SUCCESS) {
		if (id != NULL)
			*id = (CLIENT_ID){PsGetCurrentProcessId(), thread->id};
		atomic_fetch_add_explicit(&system_threads, 1, memory_order_relaxed);
		/* The first hold becomes the running thread's. */
		if (ke_start(run, thread, &started))
			return STATUS_SUCCESS;
		atomic_fetch_sub_explicit(&system_threads, 1, memory_order_relaxed);
		ZwClose(*handle);
		status = STATUS_INSUFFICIENT_RESOURCES;
	}
	ObfDereferenceObject(thread);
	return status;
}

NTSTATUS
PsTerminateSystemThread(NTSTATUS status)
{
	PKTHREAD thread = ke_self.thread;

	(void)status;
	plx_ke_require("PsTerminateSystemThread", PASSIVE_LEVEL);
	if (thread == NULL || !thread->is_system)
		return STATUS_INVALID_PARAMETER;
	longjmp(*(jmp_buf *)thread->end, 1);
}

unsigned int
ke_system_threads(void)
{
	return atomic_load_explicit(&system_threads, memory_order_relaxed);
}

/* ---- who runs ---- */

PKTHREAD
KeGetCurrentThread(VOID)
{
	return ke_thread();
}

BOOLEAN
PsIsSystemThread(PETHREAD thread)
{
	return ((PKTHREAD)thread)->is_system;
}

HANDLE
PsGetThreadId(PETHREAD thread)
{
	return ((PKTHREAD)thread)->id;
}

HANDLE
PsGetCurrentThreadId(VOID)
{
	return ke_thread()->id;
}

HANDLE
PsGetCurrentProcessId(VOID)
{
	return (HANDLE)(ULONG_PTR)getpid();
}

HANDLE
PsGetProcessId(PEPROCESS of)
{
	(void)of;
	return PsGetCurrentProcessId();
}

HANDLE
PsGetThreadProcessId(PETHREAD thread)
{
	(void)thread;
	return PsGetCurrentProcessId();
}

PEPROCESS
IoGetCurrentProcess(VOID)
{
	return PsInitialSystemProcess;
}

/* ---- priority ---- */

KPRIORITY
KeSetPriorityThread(PKTHREAD thread, KPRIORITY priority)
{
	KPRIORITY before;

	plx_ke_require("KeSetPriorityThread", PASSIVE_LEVEL);
	if ((priority <= LOW_PRIORITY || priority > HIGH_PRIORITY) && plx_ke_checks())
		plx_wdk_stop("KeSetPriorityThread was called with priority %d; it is %d to %d",
			     priority, LOW_PRIORITY + 1, HIGH_PRIORITY);
	ke_lock();
	before = thread->priority;
	thread->priority = priority;
	apply_priority(thread);
	ke_unlock();
	return before;
}

KPRIORITY
KeQueryPriorityThread(PKTHREAD thread)
{
	KPRIORITY priority;

	ke_lock();
	priority = thread->priority;
	ke_unlock();
	return priority;
}
