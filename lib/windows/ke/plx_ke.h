/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke for the rooms above it and for ndkhost: checks of the IRQL, brackets of callbacks, objects and
 * handles of other kinds, and what a driver has left behind. Drivers never see it.
 * Start with plx_ke_require().
 *
 * Threads: every call from any thread.
 */
#ifndef PLX_KE_H
#define PLX_KE_H

#include <stdbool.h>
#include <wdm.h>

#include "plx_wdk.h"

/* ---- checks: who breaks a rule ends by plx_wdk_stop() ---- */

/** Whether calls check their rules. POLLUX_DBG=1 turns the checks on, POLLUX_DBG=0 off; without it
 * they are on in a build for debugging and off in one for release. */
bool plx_ke_checks(void);

/** Refuse a call above a level, if the checks are on.
 * @param call the name of the function that the driver called */
void plx_ke_require(const char *call, KIRQL max);
/** The same below a level. */
void plx_ke_require_least(const char *call, KIRQL min);
/** The rule of waits: at or below APC_LEVEL, and at DISPATCH_LEVEL if the timeout is 0. */
void plx_ke_require_wait(const char *call, const LARGE_INTEGER *timeout);

/* ---- callbacks at DISPATCH_LEVEL ---- */

/** Raise the thread to DISPATCH_LEVEL for a callback of a driver.
 * Returns: the level before, for plx_ke_callback_end() */
KIRQL plx_ke_callback_begin(void);
/** Lower it again. A callback that returns at another level, or with a spin lock, ends the process
 * with a sentence, if the checks are on.
 * @param callback its name */
void plx_ke_callback_end(const char *callback, KIRQL old);

/* ---- deferred calls ----
 *
 * One thread runs the DPCs without a target processor. It runs wherever the system puts it, unless
 * it is bound here. A DPC with a target processor runs on a thread bound to that. All of them start
 * when they are first needed.
 */

/** Bind the thread of the DPCs without a target, now or when it starts.
 * @param processor its index, as KeGetCurrentProcessorNumberEx() returns it
 * Returns: false: there is no such processor, and nothing has changed */
bool plx_ke_dpc_bind(ULONG processor);

/* ---- objects and handles ---- */

/* A kind of object. */
struct _OBJECT_TYPE {
	const char *name;              /* what one of it is, for reports */
	void (*closed)(PVOID object);  /* its last handle was closed; NULL: nothing is to do */
	void (*destroy)(PVOID object); /* its last hold was released; its memory goes after that */
};

/** Allocate an object of zeros, held once.
 * @param type  outlives it
 * @param bytes of the object, which is aligned to 16
 * Returns: NULL: no memory */
PVOID plx_ke_object_create(POBJECT_TYPE type, SIZE_T bytes);
/** Hold an object that is still in a list from which its end removes it.
 * Returns: false: its last hold was released, and its end has begun */
bool plx_ke_object_try_hold(PVOID object);
/** Returns: the type of an object of plx_ke_object_create() */
POBJECT_TYPE plx_ke_object_type(PVOID object);
/** Open a handle, which holds the object.
 * Returns: STATUS_SUCCESS; STATUS_INSUFFICIENT_RESOURCES (memory, PLX_KE_HANDLES_MAX) */
NTSTATUS plx_ke_handle_open(PVOID object, ACCESS_MASK access, PHANDLE handle);

enum {
	PLX_KE_HANDLES_MAX =
		65536, /* more than a driver has use for: one that leaks them is stopped */
};

/* ---- what is left ---- */

struct plx_ke_left {
	ULONG threads; /* of PsCreateSystemThread(), not ended */
	ULONG timers;  /* set */
	ULONG dpcs;    /* queued or running */
	ULONG handles; /* open */
};

/** Count what drivers have left in the process. What they do in the meantime may be counted or not.
 */
struct plx_ke_left plx_ke_left(void);

#endif
