/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDK_CQ: arming, callbacks, their moderation, and the life of the queue. arming.c alone decides
 * when a callback is due; the queue below says which entries are new. Results are in result.c.
 * Start with do_effects().
 *
 * Only the dispatcher makes callbacks, so there are never two at once.
 */
#include "cq.h"

#include <ntstatus.h>

static const uint32_t kinds_of[NDK_ARM_COUNT] = {
	[NDK_ARM_ERRORS] = PLX_CQ_NOTIFY_ERRORS,
	[NDK_ARM_SOLICITED] = PLX_CQ_NOTIFY_ERRORS | PLX_CQ_NOTIFY_SOLICITED,
	[NDK_ARM_ANY] = PLX_CQ_NOTIFY_ERRORS | PLX_CQ_NOTIFY_ANY,
};

/* ---- with the lock held ---- */

/* Entries since the last callback began that have not been polled. */
static uint64_t
new_entries(const struct ndk_cq *cq)
{
	struct plx_cq_info info;
	uint64_t old;

	plx_cq_query(cq->cq, &info);
	old = info.polled > cq->marked ? info.polled : cq->marked;
	return info.produced > old ? info.produced - old : 0;
}

/* While a callback is delayed, the queue below fires for each further entry: the count may be full.
 * Returns: true: an entry has come since the last look */
static bool
is_to_look_again(struct ndk_cq *cq)
{
	uint32_t fired = 0;

	(void)!plx_cq_arm(cq->cq, kinds_of[NDK_ARM_ANY], &fired);
	if (fired & PLX_CQ_NOTIFY_ERRORS)
		(void)ndk_arming_step(&cq->arming, NDK_ON_OVERRUN);
	return fired != 0;
}

/* Have the dispatcher make the callback that is due, as soon as moderation lets it. */
static void
schedule(struct ndk_cq *cq)
{
	struct ndk_dispatcher *dispatcher = ndk_dispatcher_of(&cq->object);
	uint64_t due;

	if (!cq->delayed)
		cq->due_since = plx_session_now_ns();
	do {
		due = cq->arming.error != STATUS_SUCCESS
			      ? cq->due_since
			      : ndk_moderation_due_ns(&cq->moderation, cq->due_since,
						      new_entries(cq));
		cq->delayed = due > cq->due_since;
	} while (cq->delayed && is_to_look_again(cq));
	if (!cq->delayed)
		ndk_post(dispatcher, &cq->task);
	else if (due != PLX_NEVER && !PLX_MUTANT(NDK_MODERATED_FOR_EVER))
		ndk_post_at(dispatcher, &cq->task, due);
}

/* The step that the kinds which have fired below mean. A kind that nobody waits for any more is the
 * rest of an earlier arm; but one that fired for a weaker arm satisfies the stronger arm that has
 * replaced it meanwhile. */
static unsigned int
step_of(struct ndk_cq *cq, uint32_t kinds)
{
	static const uint32_t satisfied_by[NDK_ARM_COUNT] = {
		[NDK_ARM_SOLICITED] = PLX_CQ_NOTIFY_SOLICITED,
		[NDK_ARM_ANY] = PLX_MUTANT(NDK_ARM_LOST)
					? PLX_CQ_NOTIFY_ANY
					: PLX_CQ_NOTIFY_ANY | PLX_CQ_NOTIFY_SOLICITED,
	};

	if (kinds & PLX_CQ_NOTIFY_ERRORS)
		return ndk_arming_step(&cq->arming, NDK_ON_OVERRUN);
	if (kinds & satisfied_by[cq->arming.armed])
		return ndk_arming_step(&cq->arming, NDK_ON_FIRED);
	return 0;
}

static void
do_effects(struct ndk_cq *cq, unsigned int effects)
{
	uint32_t fired = 0;

	/* FULL: the queue has overrun, and every kind has fired */
	if (effects & NDK_DO_ARM_QUEUE)
		(void)!plx_cq_arm(cq->cq, kinds_of[cq->arming.armed], &fired);
	effects |= step_of(cq, fired);
	if (effects & NDK_DO_SCHEDULE)
		schedule(cq);
	if (effects & NDK_DO_UNSCHEDULE)
		ndk_unpost(ndk_dispatcher_of(&cq->object), &cq->task);
}

static void
on_event(struct ndk_cq *cq, enum ndk_arming_event event)
{
	do_effects(cq, ndk_arming_step(&cq->arming, event));
}

/* ---- the queue below ---- */

/* A callback that moderation delays already is looked at again. */
static void
on_news(struct ndk_cq *cq, unsigned int effects)
{
	if (cq->delayed)
		schedule(cq);
	do_effects(cq, effects);
}

static void
fired(struct plx_session_watch *watch)
{
	struct ndk_cq *cq = plx_list_entry(watch, struct ndk_cq, watch);

	pthread_mutex_lock(&cq->lock);
	on_news(cq, step_of(cq, plx_cq_get_event(cq->cq)));
	pthread_mutex_unlock(&cq->lock);
}

/* session->lock is held. */
static void
overrun(struct plx_session_queue *queue)
{
	struct ndk_cq *cq = plx_list_entry(queue, struct ndk_cq, queue);

	pthread_mutex_lock(&cq->lock);
	on_news(cq, ndk_arming_step(&cq->arming, NDK_ON_OVERRUN));
	pthread_mutex_unlock(&cq->lock);
}

/* session->lock is held. */
static void
lose_host(struct plx_session_queue *queue)
{
	struct ndk_cq *cq = plx_list_entry(queue, struct ndk_cq, queue);

	pthread_mutex_lock(&cq->lock);
	on_news(cq, ndk_arming_step(&cq->arming, NDK_ON_CATASTROPHE));
	pthread_mutex_unlock(&cq->lock);
}

/* ---- the callback ---- */

/* What the queue holds now, this callback tells of. */
static void
mark(struct ndk_cq *cq)
{
	struct plx_cq_info info;

	plx_cq_set_notified(cq->cq);
	plx_cq_query(cq->cq, &info);
	cq->marked = info.produced;
}

static void
call(struct ndk_task *task)
{
	struct ndk_cq *cq = plx_list_entry(task, struct ndk_cq, task);
	unsigned int effects;
	NTSTATUS status;
	KIRQL old;

	pthread_mutex_lock(&cq->lock);
	cq->delayed = false;
	effects = ndk_arming_step(&cq->arming, NDK_ON_DISPATCH);
	if (effects & NDK_DO_MARK)
		mark(cq);
	status = cq->arming.error;
	/* The consumer's close takes this lock before it closes. */
	if (effects & NDK_DO_CALL && !ndk_hold(&cq->object))
		effects = 0;
	pthread_mutex_unlock(&cq->lock);
	if (!(effects & NDK_DO_CALL))
		return;
	old = ndk_callback_begin();
	cq->notify(cq->notify_context, status);
	ndk_callback_end("NdkCqNotificationCallback", old);
	pthread_mutex_lock(&cq->lock);
	on_event(cq, NDK_ON_RETURN);
	pthread_mutex_unlock(&cq->lock);
	ndk_release(&cq->object);
}

/* ---- the table ---- */

static VOID
arm(NDK_CQ *face, ULONG type)
{
	static const uint8_t events[] = {
		[NDK_CQ_NOTIFY_ERRORS] = NDK_ON_ARM_ERRORS,
		[NDK_CQ_NOTIFY_ANY] = NDK_ON_ARM_ANY,
		[NDK_CQ_NOTIFY_SOLICITED] = NDK_ON_ARM_SOLICITED,
	};
	struct ndk_cq *cq = ndk_cq_of(face);

	/* void: there is nobody to tell */
	if (type >= PLX_COUNT_OF(events)) {
		ndk_log("NdkArmCq: type %u is none; give NDK_CQ_NOTIFY_ERRORS, ANY or SOLICITED",
			(unsigned int)type);
		return;
	}
	pthread_mutex_lock(&cq->lock);
	on_event(cq, (enum ndk_arming_event)events[type]);
	pthread_mutex_unlock(&cq->lock);
}

static NTSTATUS
control_moderation(NDK_CQ *face, ULONG interval, ULONG count)
{
	struct ndk_cq *cq = ndk_cq_of(face);
	NTSTATUS status;

	pthread_mutex_lock(&cq->lock);
	status = ndk_moderation_set(&cq->moderation, interval, count, cq->depth);
	/* The newest setting decides about a callback that waits. */
	if (status == STATUS_SUCCESS && cq->delayed)
		schedule(cq);
	pthread_mutex_unlock(&cq->lock);
	return status;
}

static NTSTATUS
run_resize(struct ndk_request *request)
{
	struct ndk_cq *cq = plx_list_entry(request->object, struct ndk_cq, object);
	enum plx_status status = plx_cq_resize(cq->cq, request->depth);

	if (status == PLX_OK) {
		pthread_mutex_lock(&cq->lock);
		cq->depth = request->depth;
		pthread_mutex_unlock(&cq->lock);
	}
	return status == PLX_BUSY ? STATUS_BUFFER_OVERFLOW : ndk_call_status(status);
}

static NTSTATUS
resize(NDK_CQ *face, ULONG depth, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct ndk_cq *cq = ndk_cq_of(face);
	struct ndk_request *request;

	if (depth == 0 || depth > ndk_limits(&cq->object)->MaxCqDepth)
		return STATUS_INVALID_PARAMETER;
	request = ndk_request_make(&cq->object, run_resize, done, context);
	if (request == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	request->depth = depth;
	return ndk_request_begin(request);
}

static const NDK_CQ_DISPATCH table = {
	.NdkCloseCq = ndk_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkResizeCq = resize,
	.NdkArmCq = arm,
	.NdkGetCqResults = ndk_get_results,
	.NdkControlCqInterruptModeration = control_moderation,
	.NdkGetCqResultsEx = ndk_get_results_ex,
};

/* ---- lifetime ---- */

/* No callback begins after this. */
static void
close_cq(struct ndk_object *object)
{
	struct ndk_cq *cq = plx_list_entry(object, struct ndk_cq, object);

	pthread_mutex_lock(&cq->lock);
	on_event(cq, NDK_ON_CLOSE_CQ);
	cq->delayed = false;
	pthread_mutex_unlock(&cq->lock);
}

static enum plx_status
teardown(struct ndk_object *object)
{
	struct ndk_cq *cq = plx_list_entry(object, struct ndk_cq, object);
	struct plx_session *session = ndk_session_for(object);
	enum plx_status status;

	plx_session_queue_remove(session, &cq->queue);
	plx_session_watch_remove(session, &cq->watch);
	status = plx_cq_destroy(cq->cq);
	PLX_ASSERT(status != PLX_BUSY); /* queue pairs hold their queues */
	return status;
}

static void
destroy(struct ndk_object *object)
{
	pthread_mutex_destroy(&plx_list_entry(object, struct ndk_cq, object)->lock);
}

static const struct ndk_kind kind = {
	.type = NdkObjectTypeCq,
	.dispatch = &table,
	.bytes = sizeof(struct ndk_cq),
	.close = close_cq,
	.teardown = teardown,
	.destroy = destroy,
};

static NTSTATUS
watch(struct ndk_cq *cq)
{
	struct plx_session *session = ndk_session_for(&cq->object);
	enum plx_status status = PLX_FULL;

	cq->watch = (struct plx_session_watch){.fd = plx_cq_fd(cq->cq), .ready = fired};
	if (cq->watch.fd >= 0)
		status = plx_session_watch_add(session, &cq->watch);
	if (status == PLX_OK) {
		plx_session_queue_add(session, &session->cqs, &cq->queue);
		return STATUS_SUCCESS;
	}
	/* its adapter could not be closed with it */
	return plx_cq_destroy(cq->cq) == PLX_TIMEOUT ? NDK_STALLED : STATUS_INSUFFICIENT_RESOURCES;
}

/* A stalled engine is asked again, for what is missing yet. */
static NTSTATUS
run_create(struct ndk_request *request)
{
	struct ndk_cq *cq = plx_list_entry(request->object, struct ndk_cq, object);
	const struct plx_cq_options options = {
		.depth = cq->depth,
		.strict = true,
		.context = cq->queue.id,
	};
	enum plx_status status = PLX_OK;

	if (cq->cq == NULL)
		status =
			plx_cq_create(ndk_session_for(request->object)->adapter, &options, &cq->cq);
	return status == PLX_OK ? watch(cq) : ndk_call_status(status);
}

NTSTATUS
ndk_create_cq(NDK_ADAPTER *face, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
	      PVOID notify_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION created,
	      PVOID context, NDK_CQ **out)
{
	struct ndk_adapter *adapter = ndk_adapter_of(face);
	struct ndk_cq *cq;

	(void)affinity, (void)out; /* a hint: one thread makes all callbacks; always pending */
	if (depth == 0 || depth > ndk_limits(&adapter->object)->MaxCqDepth || notify == NULL)
		return STATUS_INVALID_PARAMETER;
	cq = ndk_object_alloc(&kind, adapter);
	if (cq == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	cq->depth = depth;
	cq->notify = notify;
	cq->notify_context = notify_context;
	cq->queue.id = plx_session_queue_id(adapter->session);
	cq->queue.on_event = overrun;
	cq->queue.on_host_gone = lose_host;
	plx_list_init(&cq->queue.node);
	plx_list_init(&cq->task.node);
	cq->task.run = call;
	pthread_mutex_init(&cq->lock, NULL);
	return ndk_create_begin(&cq->object, run_create, created, context);
}
