/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Semaphores. Start with KeReleaseSemaphore().
 */
#include "ke.h"

#include <wdmseh.h>

VOID
KeInitializeSemaphore(PRKSEMAPHORE semaphore, LONG count, LONG limit)
{
	if ((count < 0 || limit <= 0 || count > limit) && plx_ke_checks())
		plx_wdk_stop("KeInitializeSemaphore was called with count %d and limit %d; 0 <= "
			     "count <= limit, and the limit is above 0",
			     count, limit);
	ke_header_init(&semaphore->Header, KE_SEMAPHORE, sizeof(*semaphore), count);
	semaphore->Limit = limit;
}

LONG
KeReleaseSemaphore(PRKSEMAPHORE semaphore, KPRIORITY increment, LONG adjustment, BOOLEAN wait)
{
	LONG before;

	(void)increment;
	ke_require_signal("KeReleaseSemaphore", wait);
	ke_require_object("KeReleaseSemaphore", &semaphore->Header, KE_SEMAPHORE, KE_SEMAPHORE);
	ke_lock();
	before = ke_state(&semaphore->Header);
	if (adjustment <= 0 || adjustment > semaphore->Limit - before) {
		ke_unlock();
		ExRaiseStatus(STATUS_SEMAPHORE_LIMIT_EXCEEDED);
	}
	ke_set_state(&semaphore->Header, before + adjustment);
	ke_signal(&semaphore->Header);
	ke_unlock_or_hold(wait);
	return before;
}

LONG
KeReadStateSemaphore(PRKSEMAPHORE semaphore)
{
	return ke_state(&semaphore->Header);
}
