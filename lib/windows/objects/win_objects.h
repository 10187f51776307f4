/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles and waiting: what the files of this room share.
 * A handle is the address of a slot in the table of handle.c, whose memory is never freed. So a
 * stale or invalid handle is detected without dereferencing it.
 * Start with struct win_object, then struct win_sleeper.
 *
 * Lock order: a file's, then an event's or a port's, then the table's and that of the list of
 * sleepers.
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

/* ---- handle.c: objects ---- */

enum win_kind {
	WIN_ANY, /* not a kind of object; in a query: any kind */
	WIN_EVENT,
	WIN_FILE,
	WIN_PORT,
	WIN_THREAD,
	WIN_DISK, /* a file of the file system */
	WIN_KINDS,
};

enum {
	WIN_SIGNALLED = 1, /* an event is set, a thread has ended */
	WIN_WATCHED = 2,   /* the list of waiters is not empty */
	WIN_POLLED = 4,    /* a descriptor exists */
	WIN_TAG = 3,       /* the low bits of a handle belong to the client */
	WIN_SLOT = 160,    /* bytes of the largest object */
};

/* A waiter, in the list of the object that it waits for. The object's lock protects the list. */
struct win_waiter {
	struct win_sleeper *sleeper;
	struct win_waiter *previous, *next;
	bool listed;
};

struct win_waiters {
	struct win_waiter *first, *last;
};

struct win_object {
	_Alignas(16) atomic_uint holds; /* references; 0: the slot is free */
	atomic_uint opens;              /* open handles; 0: the handle is invalid */
	atomic_uint state;              /* WIN_SIGNALLED and so on */
	uint8_t kind;                   /* enum win_kind */
	bool automatic;                 /* the thread that the signal releases also resets it */
	atomic_uint pumps; /* bit mask of the pumps that deliver what is waited for here */

	pthread_mutex_t lock; /* protects the following and the kind's own members */
	struct win_waiters waiters;
	struct win_object *next_free;
	int fd;
	bool fd_level; /* is the descriptor readable? */
};

/** Create an object with one hold and no handle. Returns: NULL: ERROR_NOT_ENOUGH_MEMORY is set */
struct win_object *win_object_create(enum win_kind kind);
/** Open the object's handle. */
HANDLE win_object_open(struct win_object *object);
/** Hold the object of a handle. Returns: NULL: ERROR_INVALID_HANDLE is set */
struct win_object *win_object_hold(HANDLE handle, enum win_kind kind);
/** Add a hold to an object that is held. */
void win_object_hold_again(struct win_object *object);
void win_object_release(struct win_object *object);
/** Remove a pump (its bit) from all objects. */
void win_objects_leave_pump(unsigned pump);

/* ---- sleep.c: a waiting thread ---- */

/* On the stack of the waiting thread, which sleeps on `woken`. */
struct win_sleeper {
	atomic_uint woken;
	struct win_sleeper *previous,
		*next; /* in the list of all sleepers, to find a new owner for a pump */
};

#define WIN_FOREVER UINT64_MAX

/** The end of a wait that starts now [ns, CLOCK_MONOTONIC]. INFINITE: never. */
uint64_t win_deadline(DWORD milliseconds);

void win_sleep_begin(struct win_sleeper *sleeper);
/**
 * Wait until woken. If this thread owns pumps, call them once instead. The caller checks its
 * condition again after either.
 * Returns: false: the deadline has passed
 */
bool win_sleep(struct win_sleeper *sleeper, uint64_t deadline_ns);
/** As win_sleep(), without calling pumps. */
bool win_sleep_still(struct win_sleeper *sleeper, uint64_t deadline_ns);
void win_sleep_end(struct win_sleeper *sleeper);

void win_waiters_add(struct win_waiters *list, struct win_waiter *waiter);
/** Remove the waiter if it is listed. */
void win_waiters_remove(struct win_waiters *list, struct win_waiter *waiter);
/** Wake all of them; they stay in the list. */
void win_waiters_wake(struct win_waiters *list);

/** Mark a sleeper as woken; the lock of the list that contains it is held. */
static inline void
win_wake_mark(struct win_sleeper *sleeper)
{
	atomic_store_explicit(&sleeper->woken, 1, memory_order_release);
}

/** The second half of a wake, a system call; that lock need not be held any longer. */
void win_wake_call(struct win_sleeper *sleeper);

unsigned win_pump_bit(const struct plx_pump *pump);
/** Call this thread's pumps once, after a check that found nothing. Returns: false: it has none */
bool win_pump_once(void);
/** This thread is about to wait for something that these pumps (bits) may deliver: make it their
 * owner. No lock is held. */
void win_pumps_mine(unsigned pumps);
/** Only the pumps of this file deliver what the event is set for: threads that draw their events
 * from a shared pool do not inherit each other's pumps. */
static inline void
win_pumps_brought_by(struct win_object *event, const struct win_object *file)
{
	unsigned pumps = atomic_load_explicit(&file->pumps, memory_order_relaxed);

	if (win_unlikely(pumps != atomic_load_explicit(&event->pumps, memory_order_relaxed)))
		atomic_store_explicit(&event->pumps, pumps, memory_order_relaxed);
}
/** Exclude this thread's waits from calling pumps. */
void win_pump_never(void);

/* ---- wait.c: waitable objects ---- */

/** Notify watchers and pollers of a change of the state's bits. */
void win_signal_told(struct win_object *object);
/** Make the descriptor readable or not, if it exists; the object's lock is held. */
void win_fd_follow(struct win_object *object, bool level);

/** Set the signal. Cost: one atomic operation unless the object is watched or polled. */
static inline void
win_signal(struct win_object *object)
{
	unsigned old = atomic_fetch_or(&object->state, WIN_SIGNALLED);

	if (win_unlikely(old & (WIN_WATCHED | WIN_POLLED)) && !(old & WIN_SIGNALLED))
		win_signal_told(object);
}

/** Reset the signal. */
static inline void
win_unsignal(struct win_object *object)
{
	unsigned old = atomic_fetch_and(&object->state, ~(unsigned)WIN_SIGNALLED);

	if (win_unlikely(old & WIN_POLLED) && old & WIN_SIGNALLED)
		win_signal_told(object);
}

/* ---- port.c ---- */

/* What a port delivers. It is the first member of a request, so that finishing needs no allocation.
 */
struct win_packet {
	struct win_packet *next;
	OVERLAPPED *overlapped;
	ULONG_PTR key;
	uint64_t information;
	int32_t status;
	atomic_uint holds; /* the last one frees the packet */
};

struct win_port {
	struct win_object object;
	struct win_packet *first, *last;
	bool closed;
};

void win_packet_hold(struct win_packet *packet);
void win_packet_release(struct win_packet *packet);

/** Create a port without a handle. Returns: NULL: ERROR_NOT_ENOUGH_MEMORY is set */
struct win_port *win_port_create(void);
/** Queue a packet; the port takes one hold of it. Returns: false: the port is closed */
bool win_port_push(struct win_port *port, struct win_packet *packet);
/** Get the next packet, whose hold passes to the caller. Returns: NULL: timeout, or the port was
 * closed */
struct win_packet *win_port_pop(struct win_port *port, DWORD milliseconds);
bool win_port_is_closed(struct win_port *port);
/** The port's lock is held. */
bool win_port_has_packets(const struct win_object *object);
void win_port_close(struct win_object *object);

/* ---- file.c ---- */

struct plx_file {
	struct win_object object;
	_Atomic(struct win_port *) port; /* held, set once; NULL: not associated */
	ULONG_PTR key;                   /* set before the port */
};

/** Report finished requests to the port from now on; the file takes a hold of it. Returns: false:
 * the file is associated already */
bool win_file_associate(struct plx_file *file, struct win_port *port, ULONG_PTR key);
void win_file_destroy(struct win_object *object);

/* ---- disk.c ---- */

void win_disk_destroy(struct win_object *object);

/* ---- thread.c ---- */

void win_thread_close(struct win_object *object);
/** Count a finished request, for the file's descriptor. */
void win_file_tick(struct plx_file *file);

#endif
