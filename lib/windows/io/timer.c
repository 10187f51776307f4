/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A timer for each device: once a second, at DISPATCH_LEVEL. Start with IoStartTimer().
 */
#include "io.h"

enum {
	SECOND_MS = 1000,
	SECOND_100NS = 10 * 1000 * 1000,
};

static VOID
tick(PKDPC dpc, PVOID device, PVOID a, PVOID b)
{
	struct _IO_TIMER *timer = ((PDEVICE_OBJECT)device)->Timer;

	(void)dpc, (void)a, (void)b;
	if (__atomic_load_n(&timer->is_running, __ATOMIC_ACQUIRE))
		timer->routine(device, timer->context);
}

NTSTATUS
IoInitializeTimer(PDEVICE_OBJECT device, PIO_TIMER_ROUTINE routine, PVOID context)
{
	struct _IO_TIMER *timer = &device->DeviceObjectExtension->timer;

	plx_ke_require("IoInitializeTimer", PASSIVE_LEVEL);
	timer->routine = routine;
	timer->context = context;
	KeInitializeTimer(&timer->timer);
	KeInitializeDpc(&timer->dpc, tick, device);
	device->Timer = timer;
	return STATUS_SUCCESS;
}

VOID
IoStartTimer(PDEVICE_OBJECT device)
{
	LARGE_INTEGER due = {.QuadPart = -SECOND_100NS};

	plx_ke_require("IoStartTimer", DISPATCH_LEVEL);
	__atomic_store_n(&device->Timer->is_running, true, __ATOMIC_RELEASE);
	(void)KeSetTimerEx(&device->Timer->timer, due, SECOND_MS, &device->Timer->dpc);
}

VOID
IoStopTimer(PDEVICE_OBJECT device)
{
	plx_ke_require("IoStopTimer", DISPATCH_LEVEL);
	__atomic_store_n(&device->Timer->is_running, false, __ATOMIC_RELEASE);
	(void)KeCancelTimer(&device->Timer->timer);
	(void)KeRemoveQueueDpc(&device->Timer->dpc);
}
