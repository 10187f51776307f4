/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events. Start with KeSetEvent().
 */
#include "ke.h"

VOID
KeInitializeEvent(PRKEVENT event, EVENT_TYPE type, BOOLEAN state)
{
	ke_header_init(&event->Header,
		       type == NotificationEvent ? KE_NOTIFICATION_EVENT : KE_SYNCHRONIZATION_EVENT,
		       sizeof(*event), state ? 1 : 0);
}

static void
require_event(const char *call, PRKEVENT event)
{
	ke_require_object(call, &event->Header, KE_NOTIFICATION_EVENT, KE_SYNCHRONIZATION_EVENT);
}

LONG
KeSetEvent(PRKEVENT event, KPRIORITY increment, BOOLEAN wait)
{
	LONG before;

	(void)increment;
	ke_require_signal("KeSetEvent", wait);
	require_event("KeSetEvent", event);
	ke_lock();
	before = ke_state(&event->Header);
	ke_set_state(&event->Header, 1);
	ke_signal(&event->Header);
	ke_unlock_or_hold(wait);
	return before;
}

LONG
KePulseEvent(PRKEVENT event, KPRIORITY increment, BOOLEAN wait)
{
	LONG before;

	(void)increment;
	ke_require_signal("KePulseEvent", wait);
	require_event("KePulseEvent", event);
	ke_lock();
	before = ke_state(&event->Header);
	ke_set_state(&event->Header, 1);
	ke_signal(&event->Header);
	ke_set_state(&event->Header, 0);
	ke_unlock_or_hold(wait);
	return before;
}

static LONG
reset(const char *call, PRKEVENT event)
{
	LONG before;

	plx_ke_require(call, DISPATCH_LEVEL);
	require_event(call, event);
	ke_lock();
	before = ke_state(&event->Header);
	ke_set_state(&event->Header, 0);
	ke_unlock();
	return before;
}

LONG
KeResetEvent(PRKEVENT event)
{
	return reset("KeResetEvent", event);
}

VOID
KeClearEvent(PRKEVENT event)
{
	reset("KeClearEvent", event);
}

LONG
KeReadStateEvent(PRKEVENT event)
{
	return ke_state(&event->Header);
}
