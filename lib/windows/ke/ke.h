/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room share: the calling thread, the dispatcher lock, waking.
 * Start with struct ke_self, then struct _KTHREAD.
 *
 * Lock order: the dispatcher lock, then that of the DPCs. The table of handles has a lock of its
 * own, under which no other is taken.
 */
#ifndef PLX_KE_PRIVATE_H
#define PLX_KE_PRIVATE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "plx_ke.h"

/* Wdm.h's objects by their numbers in Windows, which debuggers know. */
enum ke_type {
	KE_NOTIFICATION_EVENT = 0,
	KE_SYNCHRONIZATION_EVENT = 1,
	KE_MUTANT = 2,
	KE_PROCESS = 3,
	KE_SEMAPHORE = 5,
	KE_THREAD = 6,
	KE_NOTIFICATION_TIMER = 8,
	KE_SYNCHRONIZATION_TIMER = 9,
	KE_DPC = 19,
	KE_THREADED_DPC = 24,
};

enum {
	KE_HELD_MAX = 32,         /* spin locks of one thread whose names are kept for the checks */
	KE_PROCESSORS_MAX = 1024, /* those of a cpu_set_t */
	KE_GROUP = 64,            /* processors in a group */
	KE_SPINS = 100,           /* then yield: the holder may be preempted */
	KE_TICKS_PER_MS = 10000,
};

/* ---- the calling thread ---- */

struct ke_self {
	PKTHREAD thread; /* NULL: it has not been needed yet */
	KIRQL irql;
	bool wait_follows; /* it has the dispatcher lock since a call with Wait = TRUE */
	bool runs_dpcs;
	unsigned int held; /* spin locks */
	unsigned int critical, guarded;
	const volatile void *locks[KE_HELD_MAX];
};

extern __thread struct ke_self ke_self;

struct _KTHREAD {
	DISPATCHER_HEADER header; /* signalled when it has ended */
	LIST_ENTRY mutexes;       /* which it owns */
	HANDLE id;
	/* The wait: by the dispatcher lock. */
	PKWAIT_BLOCK blocks;
	ULONG count; /* of blocks */
	WAIT_TYPE wait_type;
	NTSTATUS status;     /* of the wait that is over */
	PKTHREAD woken_next; /* the list of those to wake */
	atomic_uint asleep;  /* the futex */
	KWAIT_BLOCK own_blocks[THREAD_WAIT_OBJECTS];
	/* Of a system thread. */
	bool is_system;
	PKSTART_ROUTINE routine;
	PVOID context;
	PVOID end; /* a jmp_buf in the frame below the routine */
	/* By the dispatcher lock. */
	KPRIORITY priority;
	pid_t tid; /* 0: it has not started, or has ended */
	/* Its own. */
	bool is_bound;
	GROUP_AFFINITY bound; /* while is_bound */
	cpu_set_t unbound;    /* where it ran before */
};

/** The calling thread's object. */
PKTHREAD ke_thread(void);
/** Start a detached thread that gets no signals but those of its own faults.
 * Returns: false: there is no memory or no thread for it */
bool ke_start(void *(*run)(void *), void *argument, pthread_t *started);
/** Start a thread that never ends, and without which the room cannot go on. */
void ke_start_or_stop(void *(*run)(void *), void *argument, const char *name);

/* ---- the dispatcher lock ---- */

/** Lock; after a call with Wait = TRUE only waits may do it. */
void ke_lock(void);
void ke_lock_for_wait(void);
/** Wake those whose waits ended, and unlock. */
void ke_unlock(void);
/** Unlock, unless a wait follows. */
void ke_unlock_or_hold(BOOLEAN wait);
extern pthread_mutex_t ke_dispatcher_lock;
/** Wake those whose waits ended; ke_unlock() does it, too. */
void ke_wake(void);

/** Its state has changed: end the waits that it satisfies. The lock is held. It is not touched when
 * the lock has been released, so that whoever is woken may free it. */
void ke_signal(DISPATCHER_HEADER *object);
void ke_header_init(DISPATCHER_HEADER *object, enum ke_type type, size_t bytes, LONG state);
void ke_set_state(DISPATCHER_HEADER *object, LONG state);
LONG ke_state(const DISPATCHER_HEADER *object);
/** Refuse what is no such object, if the checks are on. */
void ke_require_object(const char *call, const DISPATCHER_HEADER *object, enum ke_type one,
		       enum ke_type other);
/** The IRQL rule of calls that signal, with their parameter Wait. */
void ke_require_signal(const char *call, BOOLEAN wait);

/** Make a mutex the thread's once more.
 * Returns: STATUS_WAIT_0, STATUS_ABANDONED_WAIT_0 */
NTSTATUS ke_mutex_acquire(PKMUTEX mutex, PKTHREAD thread);
/** The thread ends: abandon what it owns. The lock is held. */
void ke_mutexes_abandon(PKTHREAD thread);

/* ---- time ---- */

/** Now on a clock, in units of 100 ns; CLOCK_REALTIME counts from 1601. */
LONGLONG ke_now(clockid_t clock);

/* A time as waits and timers have it. */
struct ke_due {
	clockid_t clock;
	LONGLONG at; /* of ke_now(clock) */
};

struct ke_due ke_due(LONGLONG time);
struct timespec ke_timespec(struct ke_due due);

/** Queue the DPC of a timer. */
void ke_dpc_insert(PKDPC dpc);
/** What plx_ke_left() reports. */
unsigned int ke_system_threads(void);
unsigned int ke_timers_set(void);
unsigned int ke_dpcs_left(void);
unsigned int ke_handles_open(void);

/* ---- processors ---- */

/** Returns: the system's number of the processor with this index; -1: there is none */
int ke_cpu_of(ULONG index);
/** The system's processors of a mask of a group. */
cpu_set_t ke_cpus_of(const GROUP_AFFINITY *affinity);

/* ---- levels and spin locks ---- */

/** Raise the thread for a lock, whose acquisition is allowed at DISPATCH_LEVEL and below.
 * Returns: the level before */
KIRQL ke_raise_to_dispatch(const char *call);
/** KeLowerIrql() on behalf of a call. */
void ke_lower(const char *call, KIRQL irql);
/** The lock that this thread acquired last. It holds one. */
const volatile void *ke_last_held(void);
/** Before it acquires one: it must not hold it. */
void ke_spin_check(const char *call, const volatile void *lock);
void ke_spin_acquired(const volatile void *lock);
/** Before it releases one: it must hold it. */
void ke_spin_release(const char *call, const volatile void *lock);

/** One turn of waiting for a lock. @param turns starts as 0 */
static inline void
ke_relax(unsigned int *turns)
{
	if (++*turns < KE_SPINS)
		YieldProcessor();
	else
		sched_yield();
}

/* ---- lists ---- */

static inline void
ke_list_init(LIST_ENTRY *head)
{
	head->Flink = head->Blink = head;
}

static inline bool
ke_list_is_empty(const LIST_ENTRY *head)
{
	return head->Flink == head;
}

/** Insert before a node; before the head is at the end. */
static inline void
ke_list_insert(LIST_ENTRY *before, LIST_ENTRY *node)
{
	node->Flink = before;
	node->Blink = before->Blink;
	before->Blink->Flink = node;
	before->Blink = node;
}

static inline void
ke_list_remove(LIST_ENTRY *node)
{
	node->Blink->Flink = node->Flink;
	node->Flink->Blink = node->Blink;
}

/* ---- objects ---- */

/* Before each object. */
struct ke_object {
	_Alignas(16) POBJECT_TYPE type;
	atomic_llong holds;
	atomic_uint handles;
};

#endif
