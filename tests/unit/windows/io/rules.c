/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a driver must not do with requests, devices and work items ends the process with one
 * sentence, each in a process of its own. Start with violations[].
 */
#include "io_rig.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "subprocess.h"

static PIRP
sent_irp(void)
{
	PIRP irp = IoAllocateIrp(1, FALSE);

	IoSetNextIrpStackLocation(irp);
	return irp;
}

static NTSTATUS
stop(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	(void)device, (void)irp, (void)context;
	return STATUS_MORE_PROCESSING_REQUIRED;
}

static VOID
cancel(PDEVICE_OBJECT device, PIRP irp)
{
	(void)device, (void)irp;
}

static int
complete_twice(void)
{
	PIRP irp = IoAllocateIrp(1, FALSE);

	IoSetCompletionRoutine(irp, stop, NULL, TRUE, TRUE, TRUE);
	IoSetNextIrpStackLocation(irp);
	rig_complete(irp, STATUS_SUCCESS, 0);
	rig_complete(irp, STATUS_SUCCESS, 0);
	return 0;
}

static int
complete_as_pending(void)
{
	rig_complete(sent_irp(), STATUS_PENDING, 0);
	return 0;
}

static int
complete_with_a_cancel_routine(void)
{
	PIRP irp = sent_irp();

	IoSetCancelRoutine(irp, cancel);
	rig_complete(irp, STATUS_SUCCESS, 0);
	return 0;
}

static int
complete_without_an_owner(void)
{
	rig_complete(sent_irp(), STATUS_SUCCESS, 0);
	return 0;
}

static int
send_too_far(void)
{
	struct rig rig;

	rig_open(&rig, NULL, NULL);
	IoCallDriver(rig.device, sent_irp());
	return 0;
}

static int
free_a_foreign_irp(void)
{
	union {
		IRP irp;
		UCHAR room[512];
	} own;

	IoInitializeIrp(&own.irp, IoSizeOfIrp(1), 1);
	IoFreeIrp(&own.irp);
	return 0;
}

static NTSTATUS
answer_too_much(PDEVICE_OBJECT device, PIRP irp)
{
	(void)device;
	return rig_complete(irp, STATUS_SUCCESS, 9);
}

static int
answer_more_than_there_is_room(void)
{
	IO_STATUS_BLOCK result;
	struct rig rig;
	char out[8];

	rig_open(&rig, NULL, answer_too_much);
	IoCallDriver(rig.device, IoBuildDeviceIoControlRequest(0x222000, rig.device, NULL, 0, out,
							       8, FALSE, NULL, &result));
	return 0;
}

static int
delete_twice(void)
{
	struct rig rig;

	rig_open(&rig, NULL, NULL);
	ObReferenceObject(rig.device);
	IoDeleteDevice(rig.device);
	IoDeleteDevice(rig.device);
	return 0;
}

static VOID
wait_for_ever(PDEVICE_OBJECT device, PVOID context)
{
	(void)device;
	KeWaitForSingleObject(context, Executive, KernelMode, FALSE, NULL);
}

static int
queue_twice(void)
{
	PIO_WORKITEM items[PLX_EX_WORKERS_MAX + 1];
	struct rig rig;
	KEVENT never;

	KeInitializeEvent(&never, NotificationEvent, FALSE);
	rig_open(&rig, NULL, NULL);
	/* all workers are busy with the others, so that the last one waits */
	for (int i = 0; i <= PLX_EX_WORKERS_MAX; i++) {
		items[i] = IoAllocateWorkItem(rig.device);
		IoQueueWorkItem(items[i], wait_for_ever, DelayedWorkQueue, &never);
	}
	IoQueueWorkItem(items[PLX_EX_WORKERS_MAX], wait_for_ever, DelayedWorkQueue, &never);
	return 0;
}

static int
release_a_removal_too_often(void)
{
	IO_REMOVE_LOCK lock;

	IoInitializeRemoveLock(&lock, 0, 0, 0);
	IoReleaseRemoveLock(&lock, NULL);
	return 0;
}

static int
open_a_key_at_dispatch_level(void)
{
	HANDLE key;
	KIRQL irql;

	KeRaiseIrql(DISPATCH_LEVEL, &irql);
	ZwOpenKey(&key, KEY_READ, NULL);
	return 0;
}

static const struct {
	struct scene scene;
	const char *words;
} violations[] = {
	{{"complete_twice", complete_twice}, "completed before"},
	{{"complete_as_pending", complete_as_pending}, "completed with STATUS_PENDING"},
	{{"complete_with_a_cancel_routine", complete_with_a_cancel_routine}, "cancel routine"},
	{{"complete_without_an_owner", complete_without_an_owner}, "stopped it"},
	{{"send_too_far", send_too_far}, "no location left"},
	{{"free_a_foreign_irp", free_a_foreign_irp}, "IoAllocateIrp did not make"},
	{{"answer_more_than_there_is_room", answer_more_than_there_is_room}, "room for 8"},
	{{"delete_twice", delete_twice}, "called twice"},
	{{"queue_twice", queue_twice}, "queued already"},
	{{"release_a_removal_too_often", release_a_removal_too_often}, "more often"},
	{{"open_a_key_at_dispatch_level", open_a_key_at_dispatch_level}, "ZwOpenKey"},
};

static void
a_violation_ends_the_process_with_a_sentence(void **state)
{
	char out[2048];

	(void)state;
	setenv("POLLUX_DBG", "1", 1);
	for (size_t i = 0; i < ARRAYSIZE(violations); i++) {
		int status = scene_run(violations[i].scene.name, out, sizeof(out));

		if (!WIFSIGNALED(status) || strstr(out, violations[i].words) == NULL)
			fail_msg("%s: %#x: %s", violations[i].scene.name, (unsigned int)status,
				 out);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_violation_ends_the_process_with_a_sentence),
	};
	int result = -1;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	for (size_t i = 0; result < 0 && i < ARRAYSIZE(violations); i++)
		result = scene_main(argc, argv, &violations[i].scene, 1);
	return result >= 0 ? result : cmocka_run_group_tests(tests, NULL, NULL);
}
