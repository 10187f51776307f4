/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state machine of lifetimes. It is pure. Start with ndk_lifetime_step().
 */
#include "lifetime.h"

struct ndk_lifetime
ndk_lifetime_begin(void)
{
	return (struct ndk_lifetime){NDK_LIFE_OPEN, 1};
}

static struct ndk_lifetime
refuse(struct ndk_lifetime was, unsigned int *effects)
{
	*effects = NDK_DO_REFUSE;
	return was;
}

static struct ndk_lifetime
hold(struct ndk_lifetime was, unsigned int *effects)
{
	if (was.life != NDK_LIFE_OPEN || was.holds == UINT32_MAX)
		return refuse(was, effects);
	was.holds++;
	return was;
}

/* The consumer's hold is not released here. */
static struct ndk_lifetime
release(struct ndk_lifetime was, unsigned int *effects)
{
	uint32_t of_consumer = was.life == NDK_LIFE_OPEN;

	if (was.life > NDK_LIFE_CLOSING || was.holds <= of_consumer)
		return refuse(was, effects);
	if (--was.holds > 0)
		return was;
	was.life = NDK_LIFE_COMPLETING;
	*effects = NDK_DO_COMPLETE;
	return was;
}

static struct ndk_lifetime
close(struct ndk_lifetime was, unsigned int *effects)
{
	if (was.life != NDK_LIFE_OPEN || was.holds == 0)
		return refuse(was, effects);
	was.holds--;
	was.life = was.holds > 0 ? NDK_LIFE_CLOSING : NDK_LIFE_ENDED;
	*effects = was.holds > 0 ? NDK_DO_RETURN_PENDING : NDK_DO_RETURN_SUCCESS | NDK_DO_END;
	return was;
}

static struct ndk_lifetime
complete(struct ndk_lifetime was, unsigned int *effects)
{
	if (was.life != NDK_LIFE_COMPLETING)
		return refuse(was, effects);
	was.life = NDK_LIFE_ENDED;
	*effects = NDK_DO_END;
	return was;
}

struct ndk_lifetime
ndk_lifetime_step(struct ndk_lifetime was, enum ndk_lifetime_event event, unsigned int *effects)
{
	*effects = 0;
	switch (event) {
	case NDK_ON_HOLD:
		return hold(was, effects);
	case NDK_ON_RELEASE:
		return release(was, effects);
	case NDK_ON_CLOSE_OBJECT:
		return close(was, effects);
	case NDK_ON_COMPLETE:
		return complete(was, effects);
	case NDK_LIFETIME_EVENT_COUNT:
		break;
	}
	return refuse(was, effects);
}
