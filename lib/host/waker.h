/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread that wakes the threads of attached programs: an engine tells it a descriptor, and it
 * sends a datagram there that never waits. It also closes descriptors, so that none becomes
 * another's while it is about to send. Start with waker_start().
 */
#ifndef PLX_HOST_WAKER_H
#define PLX_HOST_WAKER_H

#include "plx_base.h"
#include "plx_wake.h"

struct waker;

/* Errors:  NO_MEMORY */
enum plx_status waker_start(struct waker **waker) PLX_MUST_CHECK;
/* No engine refers to it any more. */
void waker_stop(struct waker *waker);
struct plx_waker *waker_of(struct waker *waker);

/* Make the descriptors of one object. It is closed by plx_waker.close.
 * @param ours   what wakes
 * @param theirs what a program waits for; the caller's
 * Returns: false: the system has none */
bool waker_open(struct waker *waker, int *ours, int *theirs);

#endif
