/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state machine of arming. It is pure. Start with ndk_arming_step().
 */
#include "arming.h"

#include <ntstatus.h>

#include "plx_base.h"

/* What was armed has come: its callback is due. One that runs is followed by the next. */
static unsigned int
fire(struct ndk_arming *arming)
{
	bool waits = arming->due || arming->running;

	if (!PLX_MUTANT(NDK_ARM_FIRES_TWICE))
		arming->armed = NDK_ARM_NONE;
	arming->due = true;
	return waits ? 0 : NDK_DO_SCHEDULE;
}

/* Arms coalesce into the strongest; an arm of a callback that is due belongs to it. */
static unsigned int
arm(struct ndk_arming *arming, enum ndk_arm kind)
{
	if (arming->closed || arming->due)
		return 0;
	if (arming->error != STATUS_SUCCESS)
		return fire(arming);
	if (arming->armed >= kind)
		return 0;
	arming->armed = (uint8_t)kind;
	return NDK_DO_ARM_QUEUE;
}

/* The first error stays, and satisfies every arm. */
static unsigned int
fail(struct ndk_arming *arming, NTSTATUS error)
{
	if (arming->error == STATUS_SUCCESS)
		arming->error = error;
	return arming->armed != NDK_ARM_NONE ? fire(arming) : 0;
}

/* A callback that is due is dropped; one that runs returns. */
static unsigned int
close(struct ndk_arming *arming)
{
	bool scheduled = arming->due && !arming->running;

	arming->closed = true;
	arming->due = false;
	arming->armed = NDK_ARM_NONE;
	return scheduled ? NDK_DO_UNSCHEDULE : 0;
}

static unsigned int
dispatch(struct ndk_arming *arming)
{
	if (!arming->due || arming->running)
		return 0;
	arming->due = false;
	arming->running = true;
	return NDK_DO_MARK | NDK_DO_CALL;
}

static unsigned int
end_callback(struct ndk_arming *arming)
{
	bool ran = arming->running;

	arming->running = false;
	return ran && arming->due ? NDK_DO_SCHEDULE : 0;
}

unsigned int
ndk_arming_step(struct ndk_arming *arming, enum ndk_arming_event event)
{
	switch (event) {
	case NDK_ON_ARM_ERRORS:
		return arm(arming, NDK_ARM_ERRORS);
	case NDK_ON_ARM_SOLICITED:
		return arm(arming, NDK_ARM_SOLICITED);
	case NDK_ON_ARM_ANY:
		return arm(arming, NDK_ARM_ANY);
	case NDK_ON_CLOSE_CQ:
		return close(arming);
	case NDK_ON_FIRED: /* without an arm: the rest of one that a callback has answered */
		return arming->armed != NDK_ARM_NONE ? fire(arming) : 0;
	case NDK_ON_OVERRUN:
		return fail(arming, STATUS_BUFFER_OVERFLOW);
	case NDK_ON_CATASTROPHE:
		return fail(arming, STATUS_INTERNAL_ERROR);
	case NDK_ON_DISPATCH:
		return dispatch(arming);
	case NDK_ON_RETURN:
		return end_callback(arming);
	case NDK_ARMING_EVENT_COUNT:
		break;
	}
	return 0;
}
