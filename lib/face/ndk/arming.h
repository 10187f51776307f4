/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the callback of an NDK completion queue is due: NdkArmCq, the events of the queue below, the
 * dispatcher, and the close of the queue, as a state machine. It owns no thread, lock or entry: it
 * says what its caller has to do. Start with ndk_arming_step().
 *
 * The queue below counts: what is new is what came after the last mark and was not polled
 * (plx_cq_arm()). The machine decides when it is armed, when it is marked, and when the consumer is
 * called. Between a firing and its callback every further arm belongs to that callback.
 */
#ifndef PLX_NDK_ARMING_H
#define PLX_NDK_ARMING_H

#include <stdbool.h>
#include <stdint.h>

#include <windef.h>

/* What an arm waits for, in order of strength: each includes those before it. NDK's own numbers
 * (NDK_CQ_NOTIFY_ERRORS 0, ANY 1, SOLICITED 2) have another order. */
enum ndk_arm {
	NDK_ARM_NONE,
	NDK_ARM_ERRORS,
	NDK_ARM_SOLICITED,
	NDK_ARM_ANY,
	NDK_ARM_COUNT,
};

struct ndk_arming {
	uint8_t armed;  /* enum ndk_arm */
	bool due;       /* a callback is due, and has not begun */
	bool running;   /* a callback has begun, and has not returned */
	bool closed;    /* by the consumer: no callback begins any more */
	NTSTATUS error; /* of the queue, which stays; STATUS_SUCCESS: none */
};

enum ndk_arming_event {
	/* the consumer's calls */
	NDK_ON_ARM_ERRORS,
	NDK_ON_ARM_SOLICITED,
	NDK_ON_ARM_ANY,
	NDK_ON_CLOSE_CQ,
	/* the queue below */
	NDK_ON_FIRED,   /* something came that it was armed for */
	NDK_ON_OVERRUN, /* an entry had no place */
	NDK_ON_CATASTROPHE,
	/* the dispatcher */
	NDK_ON_DISPATCH, /* it has time for the callback that was scheduled */
	NDK_ON_RETURN,   /* the callback has returned */
	NDK_ARMING_EVENT_COUNT,
};

enum ndk_arming_effect {
	NDK_DO_ARM_QUEUE = 1 << 0, /* arm the queue below for what `armed` says */
	NDK_DO_MARK = 1 << 1,      /* what it holds now is not new any more */
	NDK_DO_SCHEDULE = 1 << 2,  /* the dispatcher calls ndk_arming_step(NDK_ON_DISPATCH) later */
	NDK_DO_UNSCHEDULE = 1 << 3,
	NDK_DO_CALL = 1 << 4, /* call the consumer, with `error` as its CqStatus */
};

/** Total: what an event does not apply to stays as it is.
 * Returns: enum ndk_arming_effect, to be done in the order of their values. NDK_DO_CALL comes from
 *          NDK_ON_DISPATCH alone, so never from inside a call of the consumer's.
 * Threads: under the queue's lock; it is not held while the consumer is called. */
unsigned int ndk_arming_step(struct ndk_arming *arming, enum ndk_arming_event event);

#endif
