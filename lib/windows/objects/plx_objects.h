/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a provider needs of the Windows surface and a client never sees: overlapped files,
 * requests that are pending on them, a look at handles as descriptors, and pumps.
 * Clients use the Windows names (include/windows.h); this header is for who implements them and
 * for providers of other makers. It owns no state.
 * Start with struct plx_pending_list.
 *
 * Threads: every function here may be called from any thread. Locks are taken in the order
 * object, file, event or port; none is held while a caller's function runs.
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

/* ---- overlapped files -------------------------------------------------------------------------
 *
 * Where finished requests are told: a port packet when a completion port is associated, else only
 * the request's own event. The client closes the handle with CloseHandle(); an object that was
 * created on a file holds it, so that closing early breaks nothing.
 */

struct plx_file;

/** A new file as the handle that a client gets. Returns: NULL: no memory */
PLX_WIN_API HANDLE plx_file_create(void);

/** Hold the file of a handle. Returns: NULL: the handle is none of a file */
PLX_WIN_API struct plx_file *plx_file_hold(HANDLE handle);
PLX_WIN_API void plx_file_release(struct plx_file *file);

/* ---- requests that are pending ------------------------------------------------------------------
 *
 * Each object with overlapped methods has one list. A method that pends: checks everything,
 * plx_pending_begin(), hands the request to whoever will finish it, returns ND_PENDING. Whoever
 * is first finishes: plx_pending_finish() by the provider, or plx_pending_cancel_all(); the other
 * one's finish does nothing. The rules are in docs/windows.md, Requests.
 */

struct plx_pending;

struct plx_pending_list {
	struct plx_file *file;            /* held; its lock is the list's */
	struct plx_pending *first, *last; /* in the order of their begin */
};

/** @param file held by the list until plx_pending_list_end() */
PLX_WIN_API void plx_pending_list_init(struct plx_pending_list *list, struct plx_file *file);

/**
 * Everything pending is finished with `status`, and the file let go. When it returns no OVERLAPPED
 * of this list is touched any more, by whichever thread; a plx_pending_finish() that comes later
 * does not touch the list.
 */
PLX_WIN_API void plx_pending_list_end(struct plx_pending_list *list, int32_t status);

/**
 * Begin a request: takes a reference on the event, resets it, Internal = STATUS_PENDING. Of the
 * OVERLAPPED only hEvent is read. The same OVERLAPPED may be used by two requests at once.
 *
 * Returns: the request, which plx_pending_finish() must be called on exactly once by the caller or
 * on its behalf; NULL: nothing has changed, and plx_pending_refusal() is what the method returns
 * Cost: no system call; an allocation
 * Tests: tests/unit/windows/objects/pending.c, tests/unit/windows/objects/race.c,
 * tests/unit/windows/objects/quiet.c
 */
PLX_WIN_API struct plx_pending *plx_pending_begin(struct plx_pending_list *list,
						  OVERLAPPED *overlapped);

/**
 * As plx_pending_begin(), of a request that can hardly wait, such as one that the same call
 * finishes or abandons: it is in no list, nobody can cancel it meanwhile, and its end takes no lock
 * of the file. So the caller has a lock of its own at its end, and calls plx_pending_list_end()
 * only when it has ended. Tests: tests/unit/windows/objects/pending.c
 */
PLX_WIN_API struct plx_pending *plx_pending_begin_brief(struct plx_pending_list *list,
							OVERLAPPED *overlapped);

/** Why this thread's last plx_pending_begin() was NULL: STATUS_INVALID_HANDLE (hEvent is none of an
 * event), STATUS_INSUFFICIENT_RESOURCES. */
PLX_WIN_API int32_t plx_pending_refusal(void);

/**
 * Finish it, unless it was cancelled, and give the caller's reference back. Internal is stored with
 * release semantics, then the event is set, then the packet queued (unless bit 0 of hEvent is set);
 * the OVERLAPPED is not touched after the store.
 *
 * @param information InternalHigh: bytes, usually 0
 * Returns: false: it had been cancelled, nobody is told twice
 * Cost: no system call unless somebody sleeps or has asked for a descriptor
 */
PLX_WIN_API bool plx_pending_finish(struct plx_pending *pending, int32_t status,
				    uint64_t information);

/**
 * Instead of plx_pending_finish(): the method fails after all. The OVERLAPPED has the status;
 * neither event nor port is told, as if the request had never begun.
 *
 * Returns: false: it had been cancelled, which is told already: the method returns ND_PENDING
 */
PLX_WIN_API bool plx_pending_abandon(struct plx_pending *pending, int32_t status);

/**
 * Finish all that are pending with STATUS_CANCELLED, in order. When it returns they are told, and
 * so are those that another thread was just finishing.
 *
 * Returns: how many
 */
PLX_WIN_API uint32_t plx_pending_cancel_all(struct plx_pending_list *list);

/** For a method that succeeds at once or fails: the OVERLAPPED is given the status too, its event
 * is set on success, and no packet is queued (docs/windows.md, rule 3). */
PLX_WIN_API void plx_overlapped_settle(OVERLAPPED *overlapped, int32_t status);

/**
 * What became of a request, from its OVERLAPPED alone: whichever object, file or provider has it.
 * An event is neither needed nor consumed. After a final status nothing of that request is under
 * way any more: event and packet have been dealt with, and the OVERLAPPED may be used again.
 *
 * Returns: its status; STATUS_PENDING: not finished, and `wait` is false
 * Cost: no system call unless it sleeps
 */
PLX_WIN_API int32_t plx_overlapped_result(OVERLAPPED *overlapped, bool wait);

/* ---- descriptors --------------------------------------------------------------------------------
 */

/**
 * A descriptor that is readable while the handle is signalled: an event that is set, a port that
 * has packets, a thread that has ended, a file on which requests have finished since it was last
 * read. It belongs to the handle. Nothing is written to it before this was called once.
 *
 * Returns: -1: the handle is none, or no descriptor can be had
 */
PLX_WIN_API int plx_handle_fd(HANDLE handle);

/* ---- pumps
 * ----------------------------------------------------------------------------------------
 *
 * An adapter in inline mode moves only when it is polled. While one is open its provider has a pump
 * here, and waits of this library (WaitForSingleObject, GetQueuedCompletionStatus, Sleep,
 * plx_overlapped_result) call it until what they wait for is there, instead of sleeping. A look
 * without waiting that finds nothing calls it once. Without a pump waits sleep.
 *
 * A pump is of one thread, and is called in that thread's waits only, whatever they wait for: of
 * the one that has added it, until another makes it its own, or waits for what it brings: for a
 * completion port that a file of the pump is associated with, for an event that a request on such a
 * file has named. When its thread has ended it is of the thread that waits next. It is never called
 * while a lock of this library is held.
 */

struct plx_pump;
typedef void plx_pump_fn(void *context);

/** Of the calling thread. Returns: good until it is removed; NULL: there are PLX_PUMPS_MAX already
 * Tests: tests/unit/windows/objects/pump.c */
PLX_WIN_API struct plx_pump *plx_pump_add(plx_pump_fn *pump, void *context);
/**
 * It is this thread's from now on. When it returns no other thread is in the pump; so it is called
 * without any lock that the pump takes. Cost: a comparison when it is this thread's already
 * Tests: tests/unit/windows/objects/pump.c, tests/unit/face/nd2/apart.c
 */
PLX_WIN_API void plx_pump_claim(struct plx_pump *pump);
/** What is pending on the file is brought by the pump. Before the client has the file. */
PLX_WIN_API void plx_file_set_pump(HANDLE file, struct plx_pump *pump);
/** When it returns no thread is in the pump, this one excepted.
 * Tests: tests/unit/windows/objects/pump.c */
PLX_WIN_API void plx_pump_remove(plx_pump_fn *pump, void *context);

enum {
	PLX_PUMPS_MAX = 32,
};

#ifdef __cplusplus
}
#endif

#endif
