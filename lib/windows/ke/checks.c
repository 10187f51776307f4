/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether rules are checked, and those of levels. Start with plx_ke_checks().
 */
#include "ke.h"

#include <stdlib.h>
#include <string.h>

/* The build says KE_CHECKED: 1 for debugging, 0 for release. */
bool
plx_ke_checks(void)
{
	static atomic_int checks; /* 0: not known; 1: off; 2: on */
	int known = atomic_load_explicit(&checks, memory_order_relaxed);

	if (known == 0) {
		const char *wanted = secure_getenv("POLLUX_DBG");
		bool on = wanted != NULL && *wanted != '\0' ? strcmp(wanted, "0") != 0 : KE_CHECKED;

		known = on ? 2 : 1;
		atomic_store_explicit(&checks, known, memory_order_relaxed);
	}
	return known == 2;
}

void
plx_ke_require(const char *call, KIRQL max)
{
	if (ke_self.irql > max && plx_ke_checks())
		plx_wdk_stop("%s was called at IRQL %u; it is allowed at %u and below", call,
			     ke_self.irql, max);
}

void
plx_ke_require_least(const char *call, KIRQL min)
{
	if (ke_self.irql < min && plx_ke_checks())
		plx_wdk_stop("%s was called at IRQL %u; it is allowed at %u and above", call,
			     ke_self.irql, min);
}

void
plx_ke_require_wait(const char *call, const LARGE_INTEGER *timeout)
{
	if (ke_self.irql <= APC_LEVEL || !plx_ke_checks())
		return;
	if (timeout == NULL || timeout->QuadPart != 0)
		plx_wdk_stop("%s was called at IRQL %u to wait; it waits at %u and below, and "
			     "at %u its timeout must be 0",
			     call, ke_self.irql, APC_LEVEL, DISPATCH_LEVEL);
	plx_ke_require(call, DISPATCH_LEVEL);
}

struct plx_ke_left
plx_ke_left(void)
{
	return (struct plx_ke_left){
		.threads = ke_system_threads(),
		.timers = ke_timers_set(),
		.dpcs = ke_dpcs_left(),
		.handles = ke_handles_open(),
	};
}
