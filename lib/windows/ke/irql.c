/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The IRQL of the calling thread, its regions without APCs, callbacks at DISPATCH_LEVEL, and the
 * end by KeBugCheckEx(). Start with KeRaiseIrql().
 */
#include "ke.h"

__thread struct ke_self ke_self;

KIRQL
KeGetCurrentIrql(VOID)
{
	return ke_self.irql;
}

static void
raise_to(const char *call, KIRQL irql)
{
	if (irql < ke_self.irql && plx_ke_checks())
		plx_wdk_stop("%s was called at IRQL %u to raise it to %u, which is lower", call,
			     ke_self.irql, irql);
	ke_self.irql = irql;
}

VOID
KeRaiseIrql(KIRQL irql, PKIRQL old)
{
	*old = ke_self.irql;
	raise_to("KeRaiseIrql", irql);
}

KIRQL
KeRaiseIrqlToDpcLevel(VOID)
{
	KIRQL old = ke_self.irql;

	raise_to("KeRaiseIrqlToDpcLevel", DISPATCH_LEVEL);
	return old;
}

KIRQL
ke_raise_to_dispatch(const char *call)
{
	KIRQL old = ke_self.irql;

	plx_ke_require(call, DISPATCH_LEVEL);
	ke_self.irql = DISPATCH_LEVEL;
	return old;
}

void
ke_lower(const char *call, KIRQL irql)
{
	if (plx_ke_checks()) {
		if (irql > ke_self.irql)
			plx_wdk_stop("%s was called at IRQL %u to lower it to %u, which is "
				     "higher",
				     call, ke_self.irql, irql);
		if (irql < DISPATCH_LEVEL && ke_self.held > 0)
			plx_wdk_stop("%s lowers the IRQL to %u while this thread holds %u spin "
				     "lock(s), the last at %p",
				     call, irql, ke_self.held, ke_last_held());
	}
	ke_self.irql = irql;
}

VOID
KeLowerIrql(KIRQL irql)
{
	ke_lower("KeLowerIrql", irql);
}

/* ---- callbacks ---- */

KIRQL
plx_ke_callback_begin(void)
{
	KIRQL old = ke_self.irql;

	if (old < DISPATCH_LEVEL)
		ke_self.irql = DISPATCH_LEVEL;
	return old;
}

void
plx_ke_callback_end(const char *callback, KIRQL old)
{
	KIRQL expected = old < DISPATCH_LEVEL ? DISPATCH_LEVEL : old;

	if (plx_ke_checks()) {
		if (ke_self.irql != expected)
			plx_wdk_stop("%s was called at IRQL %u and returned at %u", callback,
				     expected, ke_self.irql);
		if (old < DISPATCH_LEVEL && ke_self.held > 0)
			plx_wdk_stop("%s returned with the spin lock at %p held", callback,
				     ke_last_held());
	}
	ke_self.irql = old;
}

/* ---- regions ---- */

static void
enter_region(const char *call, unsigned int *depth)
{
	plx_ke_require(call, APC_LEVEL);
	++*depth;
}

static void
leave_region(const char *call, unsigned int *depth)
{
	plx_ke_require(call, APC_LEVEL);
	if (*depth == 0 && plx_ke_checks())
		plx_wdk_stop("%s was called in no such region", call);
	*depth -= *depth > 0;
}

VOID
KeEnterCriticalRegion(VOID)
{
	enter_region("KeEnterCriticalRegion", &ke_self.critical);
}

VOID
KeLeaveCriticalRegion(VOID)
{
	leave_region("KeLeaveCriticalRegion", &ke_self.critical);
}

VOID
KeEnterGuardedRegion(VOID)
{
	enter_region("KeEnterGuardedRegion", &ke_self.guarded);
}

VOID
KeLeaveGuardedRegion(VOID)
{
	leave_region("KeLeaveGuardedRegion", &ke_self.guarded);
}

BOOLEAN
KeAreAllApcsDisabled(VOID)
{
	return ke_self.guarded > 0 || ke_self.irql >= APC_LEVEL;
}

BOOLEAN
KeAreApcsDisabled(VOID)
{
	/* Its mutexes change while it runs by itself alone. */
	return KeAreAllApcsDisabled() || ke_self.critical > 0 ||
	       (ke_self.thread != NULL && !ke_list_is_empty(&ke_self.thread->mutexes));
}

/* ---- the end ---- */

VOID
KeBugCheckEx(ULONG code, ULONG_PTR p1, ULONG_PTR p2, ULONG_PTR p3, ULONG_PTR p4)
{
	plx_wdk_stop("the driver stopped the system by bug check 0x%08X (0x%zX, 0x%zX, 0x%zX, "
		     "0x%zX)",
		     code, p1, p2, p3, p4);
}

VOID
KeBugCheck(ULONG code)
{
	KeBugCheckEx(code, 0, 0, 0, 0);
}
