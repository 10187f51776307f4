/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles and waiting: what the files of this room share.
 * A handle is the address of a slot of the table in handle.c, whose memory is never given back; so
 * a handle that is stale, or no handle at all, is found out without touching what it points at.
 * Start with struct win_object, then struct win_sleeper.
 *
 * Locks: a file's, then an event's or a port's, then the table's and the list of sleepers.
 */
#ifndef PLX_WIN_OBJECTS_H
#define PLX_WIN_OBJECTS_H

#include <windows.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plx_objects.h"

#define win_likely(x)   __builtin_expect(!!(x), 1)
#define win_unlikely(x) __builtin_expect(!!(x), 0)

/* ---- handle.c: objects ------------------------------------------------------------------------
 */

enum win_kind {
	WIN_ANY, /* of no object; in a question it means that the kind does not matter */
	WIN_EVENT,
	WIN_FILE,
	WIN_PORT,
	WIN_THREAD,
	WIN_DISK, /* a file of the system */
	WIN_KINDS,
};

enum {
	WIN_SIGNALLED = 1, /* an event is set, a thread has ended */
	WIN_WATCHED = 2,   /* somebody is in the list of waiters */
	WIN_POLLED = 4,    /* there is a descriptor */
	WIN_TAG = 3,       /* the low bits of a handle that are the client's */
	WIN_SLOT = 160,    /* bytes of the largest object */
};

/* One entry of who waits, in the list of what is waited for. Lists have locks of their owners. */
struct win_waiter {
	struct win_sleeper *sleeper;
	struct win_waiter *previous, *next;
	bool listed;
};

struct win_waiters {
	struct win_waiter *first, *last;
};

struct win_object {
	_Alignas(16) atomic_uint holds; /* what keeps the object; 0: the slot is free */
	atomic_uint opens; /* what CloseHandle may still close; 0: no handle any more */
	atomic_uint state; /* WIN_SIGNALLED and so on */
	uint8_t kind;      /* enum win_kind */
	bool automatic;    /* who is let through by the signal takes it */
	atomic_uint pumps; /* bits: that bring what is waited for here */

	pthread_mutex_t lock; /* of what follows, and of the kind's own members */
	struct win_waiters waiters;
	struct win_object *next_free;
	int fd;
	bool fd_level; /* is the descriptor readable? */
};

/** A new object with one hold, no handle yet. Returns: NULL: ERROR_NOT_ENOUGH_MEMORY is set */
struct win_object *win_object_create(enum win_kind kind);
/** Give it its handle. */
HANDLE win_object_open(struct win_object *object);
/** The object of a handle, held. Returns: NULL: ERROR_INVALID_HANDLE is set */
struct win_object *win_object_hold(HANDLE handle, enum win_kind kind);
/** One hold more of what is held. */
void win_object_hold_again(struct win_object *object);
void win_object_release(struct win_object *object);
/** A pump (its bit) brings nothing to any object any more. */
void win_objects_leave_pump(unsigned pump);

/* ---- sleep.c: one thread that waits
 * -------------------------------------------------------------- */

/* On the stack of who waits. `woken` is what it sleeps on. */
struct win_sleeper {
	atomic_uint woken;
	struct win_sleeper *previous, *next; /* among all that sleep, for a pump's new owner */
};

#define WIN_FOREVER UINT64_MAX

/** When a wait of so many milliseconds from now ends [ns, CLOCK_MONOTONIC]. INFINITE: never. */
uint64_t win_deadline(DWORD milliseconds);

void win_sleep_begin(struct win_sleeper *sleeper);
/**
 * Wait until woken, or, where this thread has pumps, call them once. The caller looks again after
 * either.
 * Returns: false: the deadline has passed
 */
bool win_sleep(struct win_sleeper *sleeper, uint64_t deadline_ns);
/** The same of a thread that calls no pump. */
bool win_sleep_still(struct win_sleeper *sleeper, uint64_t deadline_ns);
void win_sleep_end(struct win_sleeper *sleeper);

void win_waiters_add(struct win_waiters *list, struct win_waiter *waiter);
/** Take it out, if it is in. */
void win_waiters_remove(struct win_waiters *list, struct win_waiter *waiter);
/** Wake all of them; they stay in the list. */
void win_waiters_wake(struct win_waiters *list);

/** Mark it as woken; under the lock of the list it was found in. */
static inline void
win_wake_mark(struct win_sleeper *sleeper)
{
	atomic_store_explicit(&sleeper->woken, 1, memory_order_release);
}

/** The second half of a wake, which may come after that lock was given back: a system call. */
void win_wake_call(struct win_sleeper *sleeper);

unsigned win_pump_bit(const struct plx_pump *pump);
/** For a look that found nothing: this thread's pumps once. Returns: false: it has none */
bool win_pump_once(void);
/** This thread is about to wait for what these pumps (bits) may bring: they are its own from here
 * on. No lock is held. */
void win_pumps_mine(unsigned pumps);
/** What an event is set for is brought by the pumps of that file, and by no others any more:
 * threads that take their events from one heap have nothing of each other's. */
static inline void
win_pumps_brought_by(struct win_object *event, const struct win_object *file)
{
	unsigned pumps = atomic_load_explicit(&file->pumps, memory_order_relaxed);

	if (win_unlikely(pumps != atomic_load_explicit(&event->pumps, memory_order_relaxed)))
		atomic_store_explicit(&event->pumps, pumps, memory_order_relaxed);
}
/** Waits of this thread never call a pump. */
void win_pump_never(void);

/* ---- wait.c: objects that can be waited for
 * ------------------------------------------------------- */

/** The state's bits have changed while somebody watches or polls: tell them. */
void win_signal_told(struct win_object *object);
/** Make the descriptor readable or not, if there is one; the object's lock is held. */
void win_fd_follow(struct win_object *object, bool level);

/** Set the signal. Cost: one atomic operation unless somebody watches or polls. */
static inline void
win_signal(struct win_object *object)
{
	unsigned old = atomic_fetch_or(&object->state, WIN_SIGNALLED);

	if (win_unlikely(old & (WIN_WATCHED | WIN_POLLED)) && !(old & WIN_SIGNALLED))
		win_signal_told(object);
}

/** Take it back. */
static inline void
win_unsignal(struct win_object *object)
{
	unsigned old = atomic_fetch_and(&object->state, ~(unsigned)WIN_SIGNALLED);

	if (win_unlikely(old & WIN_POLLED) && old & WIN_SIGNALLED)
		win_signal_told(object);
}

/* ---- port.c
 * ---------------------------------------------------------------------------------------- */

/* What a port hands out. The first member of a request, so that finishing needs no memory. */
struct win_packet {
	struct win_packet *next;
	OVERLAPPED *overlapped;
	ULONG_PTR key;
	uint64_t information;
	int32_t status;
	atomic_uint holds; /* the packet is given back to malloc with the last */
};

struct win_port {
	struct win_object object;
	struct win_packet *first, *last;
	bool closed;
};

void win_packet_hold(struct win_packet *packet);
void win_packet_release(struct win_packet *packet);

/** A new port without a handle. Returns: NULL: ERROR_NOT_ENOUGH_MEMORY is set */
struct win_port *win_port_create(void);
/** Queue a packet, of which the port takes one hold. Returns: false: the port is closed */
bool win_port_push(struct win_port *port, struct win_packet *packet);
/** The next packet, the caller's hold. Returns: NULL: none came in time, or the port was closed */
struct win_packet *win_port_pop(struct win_port *port, DWORD milliseconds);
bool win_port_is_closed(struct win_port *port);
/** Its lock is held. */
bool win_port_has_packets(const struct win_object *object);
void win_port_close(struct win_object *object);

/* ---- file.c
 * ------------------------------------------------------------------------------------------ */

struct plx_file {
	struct win_object object;
	_Atomic(struct win_port *) port; /* held, set once; NULL: not associated */
	ULONG_PTR key;                   /* before the port */
};

/** Finished requests go to the port from now on, which the file takes a hold of. Returns: false: it
 * has one already */
bool win_file_associate(struct plx_file *file, struct win_port *port, ULONG_PTR key);
void win_file_destroy(struct win_object *object);

/* ---- disk.c -----------------------------------------------------------------------------------
 */

void win_disk_destroy(struct win_object *object);

/* ---- thread.c ---------------------------------------------------------------------------------
 */

void win_thread_close(struct win_object *object);
/** One request more has finished. */
void win_file_tick(struct plx_file *file);

#endif
