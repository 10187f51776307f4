/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long an NDK object lives: what keeps it, what its close returns, and when its close is
 * complete, as a state machine over one word. It never calls the consumer. Start with
 * ndk_lifetime_step().
 *
 * An object is held once for the consumer, until it closes the object, and once for each successor
 * (whatever was created from it), each pending request and each callback that runs. A successor
 * releases its antecedents after its own CloseCompletion has returned. So closing an antecedent
 * first is only the consumer's release of it, and nothing is complete before what depends on it.
 */
#ifndef PLX_NDK_LIFETIME_H
#define PLX_NDK_LIFETIME_H

#include <stdint.h>

enum ndk_life {
	NDK_LIFE_OPEN,
	NDK_LIFE_CLOSING,    /* closed by the consumer, and still held */
	NDK_LIFE_COMPLETING, /* its CloseCompletion is due, or runs */
	NDK_LIFE_ENDED,
	NDK_LIFE_COUNT,
};

/* Eight bytes, so that one compare-and-swap is one step. */
struct ndk_lifetime {
	uint32_t life;  /* enum ndk_life */
	uint32_t holds; /* the consumer's is one of them */
};

enum ndk_lifetime_event {
	NDK_ON_HOLD,         /* a successor, request or callback begins */
	NDK_ON_RELEASE,      /* ... is over: a callback only after it has returned */
	NDK_ON_CLOSE_OBJECT, /* the consumer calls the object's close */
	NDK_ON_COMPLETE,     /* its CloseCompletion has returned */
	NDK_LIFETIME_EVENT_COUNT,
};

enum ndk_lifetime_effect {
	NDK_DO_REFUSE = 1 << 0, /* the object is closed: nothing begins */
	NDK_DO_RETURN_SUCCESS =
		1 << 1, /* the close returns STATUS_SUCCESS, and completes nothing */
	NDK_DO_RETURN_PENDING = 1 << 2,
	NDK_DO_COMPLETE = 1 << 3, /* the dispatcher calls CloseCompletion, then NDK_ON_COMPLETE */
	NDK_DO_END = 1 << 4,      /* release the antecedents, and free the object */
};

/** The life of an object that has just been created. */
struct ndk_lifetime ndk_lifetime_begin(void);

/** Total: what breaks a rule (a second close, a release without a hold) changes nothing and has
 * NDK_DO_REFUSE.
 * @param effects  enum ndk_lifetime_effect; after NDK_DO_END the object must not be touched */
struct ndk_lifetime ndk_lifetime_step(struct ndk_lifetime was, enum ndk_lifetime_event event,
				      unsigned int *effects);

#endif
