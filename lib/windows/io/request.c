/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and requests of the host. A request is its own memory, which outlives its completion, so
 * that another thread can cancel it at any moment. Start with send_one().
 */
#include "io.h"

#include <pthread.h>
#include <stdlib.h>

struct plx_driver_file {
	PFILE_OBJECT file;
	HANDLE handle;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct plx_list requests; /* that threads wait for */
};

struct request {
	struct plx_list node;
	PIRP irp;
	KEVENT ended;
	uint32_t cancellers; /* that use irp now */
	bool is_cancelled;
};

int32_t
plx_driver_open(const char *name, struct plx_driver_file **out)
{
	static const char program[] = "\\\\.\\";
	struct plx_driver_file *file = calloc(1, sizeof(*file));
	UNICODE_STRING text = {0, 0, NULL};
	char whole[512];
	bool is_program = strncmp(name, program, strlen(program)) == 0;
	NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;

	*out = NULL;
	if ((size_t)snprintf(whole, sizeof(whole), "%s%s", is_program ? "\\??\\" : "",
			     is_program ? name + strlen(program) : name) >= sizeof(whole) ||
	    (file != NULL && !text_from_utf8(&text, whole)))
		status = STATUS_OBJECT_NAME_INVALID;
	else if (file != NULL)
		status = file_open(&text, GENERIC_READ | GENERIC_WRITE, &file->file, &file->handle);
	free(text.Buffer);
	if (!NT_SUCCESS(status)) {
		free(file);
		return status;
	}
	pthread_mutex_init(&file->lock, NULL);
	pthread_cond_init(&file->changed, NULL);
	plx_list_init(&file->requests);
	*out = file;
	return status;
}

static NTSTATUS
on_end(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	struct request *request = context;

	(void)device, (void)irp;
	(void)KeSetEvent(&request->ended, IO_NO_INCREMENT, FALSE);
	return STATUS_MORE_PROCESSING_REQUIRED;
}

/* Wait for the end of a request, and leave the list of those that may be cancelled. */
static void
await(struct plx_driver_file *file, struct request *request, uint32_t timeout_ms)
{
	LARGE_INTEGER limit = {.QuadPart = -(LONGLONG)timeout_ms * 10000};

	if (KeWaitForSingleObject(&request->ended, UserRequest, KernelMode, FALSE,
				  timeout_ms != 0 ? &limit : NULL) == STATUS_TIMEOUT) {
		(void)IoCancelIrp(request->irp);
		(void)KeWaitForSingleObject(&request->ended, UserRequest, KernelMode, FALSE, NULL);
	}
	pthread_mutex_lock(&file->lock);
	while (request->cancellers != 0)
		pthread_cond_wait(&file->changed, &file->lock);
	plx_list_remove(&request->node);
	pthread_cond_broadcast(&file->changed);
	pthread_mutex_unlock(&file->lock);
}

static NTSTATUS
send_one(struct plx_driver_file *file, const struct io_ask *ask, struct plx_driver_request *told)
{
	struct request request = {.is_cancelled = false};
	PIRP irp = irp_prepare(file->file->DeviceObject, ask);
	KPROCESSOR_MODE mode;
	NTSTATUS status;

	told->information = 0;
	if (irp == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	irp->RequestorMode = UserMode;
	irp->Tail.Overlay.OriginalFileObject = file->file;
	IoGetNextIrpStackLocation(irp)->FileObject = file->file;
	request.irp = irp;
	KeInitializeEvent(&request.ended, NotificationEvent, FALSE);
	IoSetCompletionRoutine(irp, on_end, &request, TRUE, TRUE, TRUE);
	pthread_mutex_lock(&file->lock);
	plx_list_append(&file->requests, &request.node);
	pthread_mutex_unlock(&file->lock);
	mode = plx_ex_previous_mode_set(UserMode);
	(void)IoCallDriver(file->file->DeviceObject, irp);
	(void)plx_ex_previous_mode_set(mode);
	await(file, &request, told->timeout_ms);
	irp_release_buffers(irp);
	status = irp->IoStatus.Status;
	told->information = irp->IoStatus.Information;
	IoFreeIrp(irp);
	return status;
}

static NTSTATUS
ask(struct plx_driver_file *file, UCHAR function, struct plx_driver_request *r)
{
	LARGE_INTEGER offset = {.QuadPart = r->offset};

	return send_one(
		file,
		&(struct io_ask){
			.function = function,
			.code = r->code,
			/* the driver gets an address, and a method that says what it may do */
			.in = (PVOID)(uintptr_t)r->in,
			.in_bytes = r->in_bytes,
			.out = r->out,
			.out_bytes = r->out_bytes,
			.offset = &offset,
		},
		r);
}

int32_t
plx_driver_ioctl(struct plx_driver_file *file, struct plx_driver_request *request)
{
	return ask(file, IRP_MJ_DEVICE_CONTROL, request);
}

int32_t
plx_driver_read(struct plx_driver_file *file, struct plx_driver_request *request)
{
	return ask(file, IRP_MJ_READ, request);
}

int32_t
plx_driver_write(struct plx_driver_file *file, struct plx_driver_request *request)
{
	return ask(file, IRP_MJ_WRITE, request);
}

/* A request that nobody has cancelled, which stays while it is used. With the lock. */
static struct request *
next_to_cancel(struct plx_driver_file *file)
{
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &file->requests) {
		struct request *request = plx_list_entry(node, struct request, node);

		if (!request->is_cancelled) {
			request->is_cancelled = true;
			request->cancellers++;
			return request;
		}
	}
	return NULL;
}

void
plx_driver_cancel(struct plx_driver_file *file)
{
	struct request *request;

	pthread_mutex_lock(&file->lock);
	while ((request = next_to_cancel(file)) != NULL) {
		pthread_mutex_unlock(&file->lock);
		(void)IoCancelIrp(request->irp);
		pthread_mutex_lock(&file->lock);
		request->cancellers--;
		pthread_cond_broadcast(&file->changed);
	}
	pthread_mutex_unlock(&file->lock);
}

void
plx_driver_close(struct plx_driver_file *file)
{
	(void)ZwClose(file->handle);
	plx_driver_cancel(file);
	pthread_mutex_lock(&file->lock);
	while (!plx_list_empty(&file->requests))
		pthread_cond_wait(&file->changed, &file->lock);
	pthread_mutex_unlock(&file->lock);
	ObDereferenceObject(file->file);
	pthread_cond_destroy(&file->changed);
	pthread_mutex_destroy(&file->lock);
	free(file);
}
