/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the Windows API that providers need and clients never see: overlapped files, pending
 * requests, handles as descriptors, and pumps.
 * Clients use the Windows names (include/windows.h). This header is for code that implements these
 * names, and for providers by other vendors. It owns no state.
 * Start with struct plx_pending_list.
 *
 * Threads: every function here may be called from any thread. Locks are taken in the order object,
 * file, event or port; no lock is held while a function of the caller runs.
 */
#ifndef PLX_OBJECTS_H
#define PLX_OBJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plx_crt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- overlapped files ----
 *
 * A file reports finished requests: as a packet if a completion port is associated, otherwise only
 * by the request's own event. The client closes the handle with CloseHandle(). An object created on
 * a file holds it, so closing the handle early is harmless.
 */

struct plx_file;

/** Create a file. Returns: the handle for the client; NULL: no memory */
PLX_WIN_API HANDLE plx_file_create(void);

/** Hold the file of a handle. Returns: NULL: the handle is not that of a file */
PLX_WIN_API struct plx_file *plx_file_hold(HANDLE handle);
PLX_WIN_API void plx_file_release(struct plx_file *file);

/* ---- pending requests ----
 *
 * Each object with overlapped methods has one list. A method that pends checks all arguments, calls
 * plx_pending_begin(), hands the request to the code that will finish it, and returns ND_PENDING. A
 * request is finished once: either by plx_pending_finish() of the provider or by
 * plx_pending_cancel_all(). The later of the two has no effect. The rules are in docs/windows.md,
 * Requests.
 */

struct plx_pending;

struct plx_pending_list {
	struct plx_file *file;            /* held; its lock is the list's */
	struct plx_pending *first, *last; /* in the order in which they began */
};

/** @param file held by the list until plx_pending_list_end() */
PLX_WIN_API void plx_pending_list_init(struct plx_pending_list *list, struct plx_file *file);

/** Finish all pending requests with `status`, and release the file. When this returns, no thread
 * touches an OVERLAPPED of this list any more. A later plx_pending_finish() does not touch the
 * list. */
PLX_WIN_API void plx_pending_list_end(struct plx_pending_list *list, int32_t status);

/**
 * Begin a request: take a reference on the event, reset it, set Internal to STATUS_PENDING. Only
 * hEvent of the OVERLAPPED is read. Two requests may use the same OVERLAPPED at once.
 *
 * Returns: the request, for which plx_pending_finish() must be called exactly once, by the caller
 * or on its behalf; NULL: nothing has changed, and the method returns plx_pending_refusal()
 * Cost: no system call; an allocation
 * Tests: tests/unit/windows/objects/pending.c, tests/unit/windows/objects/race.c,
 * tests/unit/windows/objects/quiet.c
 */
PLX_WIN_API struct plx_pending *plx_pending_begin(struct plx_pending_list *list,
						  OVERLAPPED *overlapped);

/** Begin a request that will hardly wait, such as one that the same call finishes or abandons. It
 * is in no list, so it cannot be cancelled, and finishing it does not take the file's lock. The
 * caller must hold a lock of its own when it finishes the request, and must not call
 * plx_pending_list_end() before that. Otherwise as plx_pending_begin().
 * Tests: tests/unit/windows/objects/pending.c */
PLX_WIN_API struct plx_pending *plx_pending_begin_brief(struct plx_pending_list *list,
							OVERLAPPED *overlapped);

/** Why this thread's last plx_pending_begin() returned NULL: STATUS_INVALID_HANDLE (hEvent is not
 * an event), STATUS_INSUFFICIENT_RESOURCES. */
PLX_WIN_API int32_t plx_pending_refusal(void);

/**
 * Finish a request, unless it was cancelled, and drop the caller's reference. Internal is stored
 * with release semantics, then the event is set, then the packet is queued (unless bit 0 of hEvent
 * is set). The OVERLAPPED is not touched after the store.
 *
 * @param information InternalHigh: bytes, usually 0
 * Returns: false: it had been cancelled, and is not reported twice
 * Cost: no system call unless a thread sleeps or a descriptor has been requested
 */
PLX_WIN_API bool plx_pending_finish(struct plx_pending *pending, int32_t status,
				    uint64_t information);

/**
 * Abandon a request because the method failed after all; called instead of plx_pending_finish().
 * The OVERLAPPED gets the status. Neither the event nor the port is notified, as if the request had
 * never begun.
 *
 * Returns: false: it had been cancelled, which is already reported: the method returns ND_PENDING
 */
PLX_WIN_API bool plx_pending_abandon(struct plx_pending *pending, int32_t status);

/**
 * Finish all pending requests with STATUS_CANCELLED, in order. When this returns they have been
 * reported, and so have requests that another thread was finishing.
 *
 * Returns: the number cancelled
 */
PLX_WIN_API uint32_t plx_pending_cancel_all(struct plx_pending_list *list);

/** Report the status of a method that succeeds at once or fails: store it in the OVERLAPPED, and
 * set the event on success. No packet is queued (docs/windows.md, rule 3). */
PLX_WIN_API void plx_overlapped_settle(OVERLAPPED *overlapped, int32_t status);

/**
 * Get the status of a request from its OVERLAPPED alone, whichever object, file or provider it
 * belongs to. An event is neither needed nor consumed. Once the status is final the request is
 * over: its event and packet have been handled, and the OVERLAPPED may be reused.
 *
 * Returns: its status; STATUS_PENDING: not finished, and `wait` is false
 * Cost: no system call unless it sleeps
 */
PLX_WIN_API int32_t plx_overlapped_result(OVERLAPPED *overlapped, bool wait);

/* ---- descriptors ---- */

/**
 * Get a descriptor that is readable while the handle is signalled: an event that is set, a port
 * that has packets, a thread that has ended, a file on which requests have finished since the
 * descriptor was last read. The handle owns the descriptor. Nothing is written to it before the
 * first call of this function.
 *
 * Returns: -1: the handle is invalid, or no descriptor is available
 */
PLX_WIN_API int plx_handle_fd(HANDLE handle);

/* ---- pumps ----
 *
 * An adapter in inline mode progresses only while it is polled. While such an adapter is open, its
 * provider registers a pump here. Waits of this library (WaitForSingleObject,
 * GetQueuedCompletionStatus, Sleep, plx_overlapped_result) then call the pump until their condition
 * is met, instead of sleeping. A check without waiting that finds nothing calls the pump once.
 * Without pumps, waits sleep.
 *
 * A pump belongs to one thread and is called only in waits of that thread, whatever it waits for.
 * The owner is the thread that added the pump, until another thread claims it or waits for
 * something that the pump delivers: a completion port that a file of the pump is associated with,
 * or an event named by a request on such a file. When the owner ends, the pump passes to the thread
 * that waits next. A pump is never called while a lock of this library is held.
 */

struct plx_pump;
typedef void plx_pump_fn(void *context);

/**
 * Add a pump, owned by the calling thread. Returns: valid until it is removed; NULL: PLX_PUMPS_MAX
 * are registered already
 * Tests: tests/unit/windows/objects/pump.c
 */
PLX_WIN_API struct plx_pump *plx_pump_add(plx_pump_fn *pump, void *context);
/**
 * Make the calling thread the owner of a pump. When this returns, no other thread is in the pump;
 * so do not hold a lock that the pump takes. Cost: a comparison if the thread owns it already
 * Tests: tests/unit/windows/objects/pump.c, tests/unit/face/nd2/apart.c
 */
PLX_WIN_API void plx_pump_claim(struct plx_pump *pump);
/** Declare that the pump delivers the requests pending on the file. Call it before the client gets
 * the file. */
PLX_WIN_API void plx_file_set_pump(HANDLE file, struct plx_pump *pump);
/**
 * Remove a pump. When this returns, no other thread is in it.
 * Tests: tests/unit/windows/objects/pump.c
 */
PLX_WIN_API void plx_pump_remove(plx_pump_fn *pump, void *context);

enum {
	PLX_PUMPS_MAX = 32,
};

#ifdef __cplusplus
}
#endif

#endif
