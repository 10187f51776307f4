/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests: what a consumer's call leaves to the dispatcher, and how it is completed. One completes
 * exactly once; the consumer may close the object inside the completion. Start with
 * ndk_request_begin().
 */
#include "ndk.h"

#include <stdlib.h>

void
ndk_request_drop(struct ndk_request *request)
{
	struct ndk_object *object = request->object;

	free(request);
	ndk_release(object);
}

/* The consumer has never seen it, and the engine has no part of it. */
static void
discard(struct ndk_object *object)
{
	if (object->kind->destroy)
		object->kind->destroy(object);
	ndk_object_free(object);
}

/* An object that could not be created is freed once the consumer has been told. Until then it
 * holds the adapter, in whose code the consumer is. */
static void
tell_created(struct ndk_request *request)
{
	struct ndk_object *object = request->object;
	bool made = request->status == STATUS_SUCCESS;

	request->created(request->context, request->status, made ? &object->header : NULL);
}

void
ndk_request_finish(struct ndk_request *request, NTSTATUS status)
{
	bool failed = request->creates && status != STATUS_SUCCESS;
	struct ndk_object *object = request->object;
	KIRQL old;

	request->status = status;
	old = ndk_callback_begin();
	if (request->creates)
		tell_created(request);
	else if (request->done != NULL)
		request->done(request->context, status);
	if (PLX_MUTANT(NDK_DONE_TWICE) && !request->creates && status != STATUS_SUCCESS &&
	    request->done != NULL)
		request->done(request->context, status);
	ndk_callback_end(request->creates ? "NdkCreateCompletion" : "NdkRequestCompletion", old);
	free(request);
	if (failed)
		discard(object);
	else
		ndk_release(object);
}

/* ---- running ---- */

static bool
run_later(struct plx_session_deferred *deferred)
{
	struct ndk_request *request = plx_list_entry(deferred, struct ndk_request, deferred);
	NTSTATUS status = request->run(request);

	if (status == NDK_STALLED)
		return false;
	if (status != STATUS_PENDING)
		ndk_request_finish(request, status);
	return true;
}

static void
run(struct ndk_task *task)
{
	struct ndk_request *request = plx_list_entry(task, struct ndk_request, task);
	struct plx_session *session = ndk_session_for(request->object);
	NTSTATUS status = plx_session_is_stalled(session) ? NDK_STALLED : request->run(request);

	if (status == NDK_STALLED && PLX_MUTANT(NDK_STALLED_IS_LOST))
		return;
	if (status == NDK_STALLED)
		plx_session_defer(session, &request->deferred, run_later);
	else if (status != STATUS_PENDING)
		ndk_request_finish(request, status);
}

static struct ndk_request *
make(struct ndk_object *object, ndk_request_fn *function, PVOID context)
{
	struct ndk_request *request = calloc(1, sizeof(*request));

	if (request == NULL)
		return NULL;
	if (!ndk_hold(object)) {
		free(request);
		return NULL;
	}
	plx_list_init(&request->task.node);
	request->task.run = run;
	request->object = object;
	request->run = function;
	request->context = context;
	return request;
}

struct ndk_request *
ndk_request_make(struct ndk_object *object, ndk_request_fn *function,
		 NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct ndk_request *request = make(object, function, context);

	if (request != NULL)
		request->done = done;
	return request;
}

NTSTATUS
ndk_request_begin(struct ndk_request *request)
{
	ndk_post(ndk_dispatcher_of(request->object), &request->task);
	return STATUS_PENDING;
}

struct ndk_request *
ndk_create_make(struct ndk_object *object, ndk_request_fn *function,
		NDK_FN_CREATE_COMPLETION created, PVOID context)
{
	struct ndk_request *request = make(object, function, context);

	if (request == NULL) {
		discard(object);
		return NULL;
	}
	request->creates = true;
	request->created = created;
	return request;
}

NTSTATUS
ndk_create_begin(struct ndk_object *object, ndk_request_fn *function,
		 NDK_FN_CREATE_COMPLETION created, PVOID context)
{
	struct ndk_request *request = ndk_create_make(object, function, created, context);

	return request ? ndk_request_begin(request) : STATUS_INSUFFICIENT_RESOURCES;
}

/* ---- requests that the peer finishes ---- */

static void
finish(struct ndk_task *task)
{
	struct ndk_request *request = plx_list_entry(task, struct ndk_request, task);

	ndk_request_finish(request, request->status);
}

void
ndk_request_finish_later(struct ndk_request *request, NTSTATUS status)
{
	request->status = status;
	request->task.run = finish;
	(void)ndk_request_begin(request);
}
