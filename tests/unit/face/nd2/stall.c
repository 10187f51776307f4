/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects that are released while the worker of their adapter is stopped for longer than the
 * engine's commands wait; and peers that connect and write when it resumes. Each adapter has its
 * own worker: that of "nd-b" is held, that of "nd-a", the peer's, is not. AddressSanitizer detects
 * accesses of the engine to memory that the client has freed. Start with
 * everything_may_be_released_while_the_worker_stands_still().
 */
#include "thread.h"
#include "nd2_pair.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	STALL_MS = 7000,   /* longer than PLX_COMMAND_TIMEOUT_NS */
	COMMAND_MS = 5000, /* that is */
	SLACK_MS = 1500,   /* of a machine that has more to do */
	BRIEF_MS = 400,
	WRITES = 16,
	BYTES = 4096,
	BACKLOG_PORT = 7401,
	QUEUE_PORT = 7402,
};

static const char *const device[2] = {"", ""};
static const char *const settings[2] = {"worker = \"nd-a\"; idle = \"yield\"; packets = 4096;",
					"worker = \"nd-b\"; idle = \"yield\"; packets = 4096;"};

/* ---- memory that is freed as early as possible ---- */

/* A region, and memory that is freed when its Release has returned. */
struct owner {
	IND2MemoryRegion *mr;
	IND2MemoryWindow *mw; /* released before it; NULL: none */
	void *memory;
	ULONG left;        /* what the Releases returned */
	uint64_t released; /* [test_ms()] */
	pthread_t thread;
};

static void *
release_and_free(void *context)
{
	struct owner *owner = context;

	if (owner->mw)
		owner->left += IND2MemoryWindow_Release(owner->mw);
	owner->left += IND2MemoryRegion_Release(owner->mr);
	owner->released = test_ms();
	free(owner->memory);
	return NULL;
}

static void
owner_begins(struct owner *owner)
{
	assert_int_equal(pthread_create(&owner->thread, NULL, release_and_free, owner), 0);
}

static void
owner_waited_until(struct owner *owner, uint64_t ms)
{
	assert_int_equal(pthread_join(owner->thread, NULL), 0);
	assert_int_equal(owner->left, 0);
	assert_true(owner->released >= ms);
}

/* ---- objects that exist when the worker stops ---- */

struct asker {
	IND2Connector *connector;
	IND2QueuePair *qp;
	OVERLAPPED connected;
};

struct scene {
	struct nd_pair *pair; /* connected */
	struct owner arena, windowed;
	UINT32 window_token;
	IND2MemoryRegion *leaving; /* Deregister is called on it */
	void *leaving_memory;
	IND2Listener *backlogged, *queueing;
	struct asker waits, half;           /* in a backlog; has an answer and thinks */
	IND2Connector *queued, *half_taker; /* waits for a request; has accepted `half` */
	IND2QueuePair *half_qp;
	IND2SharedReceiveQueue *srq;
	IND2CompletionQueue *cq;
	OVERLAPPED queued_asked, half_asked, half_accepted, srq_told, cq_told, left, told;
};

static IND2Listener *
listen_at(struct nd_side *side, int family, uint16_t port)
{
	struct nd_address at = nd_address(1, family, port);
	void *listener = NULL;

	assert_hr(
		IND2Adapter_CreateListener(side->adapter, &IID_IND2Listener, side->file, &listener),
		ND_SUCCESS);
	assert_hr(IND2Listener_Bind((IND2Listener *)listener, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen((IND2Listener *)listener, 0), ND_SUCCESS);
	return listener;
}

static void
asks(struct nd_pair *pair, struct asker *asker, uint16_t port)
{
	struct nd_address at = nd_address(1, pair->at.any.sa_family, port);

	asker->connector = nd_side_connector(&pair->a);
	asker->qp = nd_side_qp(&pair->a, &pair->options, NULL);
	assert_hr(
		IND2Connector_Bind(asker->connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
	assert_hr(IND2Connector_Connect(asker->connector, nd_unknown(asker->qp), &at.any, at.length,
					1, 1, NULL, 0, &asker->connected),
		  ND_PENDING);
}

/* Up to b's Accept: a has the answer, and does not complete. */
static void
connect_half(struct scene *scene)
{
	struct nd_pair *pair = scene->pair;

	scene->half_taker = nd_side_connector(&pair->b);
	scene->half_qp = nd_side_qp(&pair->b, &pair->options, NULL);
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(scene->half_taker),
						    &scene->half_asked),
		  ND_PENDING);
	asks(pair, &scene->half, nd_port_of(&pair->at));
	assert_hr(nd_wait(&scene->half_asked), ND_SUCCESS);
	assert_hr(IND2Connector_Accept(scene->half_taker, nd_unknown(scene->half_qp), 1, 1, NULL, 0,
				       &scene->half_accepted),
		  ND_PENDING);
	assert_hr(nd_wait(&scene->half.connected), ND_SUCCESS);
}

static void
bind_window(struct scene *scene)
{
	struct nd_side *b = &scene->pair->b;

	scene->windowed.memory = aligned_alloc(4096, BYTES);
	assert_non_null(scene->windowed.memory);
	scene->windowed.mr =
		nd_side_mr(b, scene->windowed.memory, BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	scene->windowed.mw = nd_side_mw(b);
	assert_hr(IND2QueuePair_Bind(b->qp, (void *)1, nd_unknown(scene->windowed.mr),
				     nd_unknown(scene->windowed.mw), scene->windowed.memory, BYTES,
				     ND_OP_FLAG_ALLOW_WRITE),
		  ND_SUCCESS);
	scene->window_token = IND2MemoryWindow_GetRemoteToken(scene->windowed.mw);
	nd_expect(b->initiator_cq, 1, ND_SUCCESS);
}

static void
make_queues(struct scene *scene)
{
	struct nd_side *b = &scene->pair->b;
	void *made = NULL;

	assert_hr(IND2Adapter_CreateSharedReceiveQueue(b->adapter, &IID_IND2SharedReceiveQueue,
						       b->file, 8, 1, 0, 0, 0, &made),
		  ND_SUCCESS);
	scene->srq = made;
	assert_hr(IND2Adapter_CreateCompletionQueue(b->adapter, &IID_IND2CompletionQueue, b->file,
						    8, 0, 0, &made),
		  ND_SUCCESS);
	scene->cq = made;
	assert_hr(IND2SharedReceiveQueue_Notify(scene->srq, &scene->srq_told), ND_PENDING);
	assert_hr(IND2CompletionQueue_Notify(scene->cq, ND_CQ_NOTIFY_ANY, &scene->cq_told),
		  ND_PENDING);
}

static struct scene *
scene_open(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct nd_side *b;
	int family;

	assert_non_null(scene);
	scene->pair = nd_pair_established(state, NULL);
	b = &scene->pair->b;
	family = scene->pair->at.any.sa_family;
	connect_half(scene);
	bind_window(scene);
	make_queues(scene);
	scene->leaving_memory = aligned_alloc(4096, BYTES);
	assert_non_null(scene->leaving_memory);
	scene->leaving = nd_side_mr(b, scene->leaving_memory, BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	scene->arena.mr = b->mr;
	scene->arena.memory = b->arena;
	scene->queued = nd_side_connector(b);
	scene->queueing = listen_at(b, family, QUEUE_PORT);
	assert_hr(IND2Listener_GetConnectionRequest(scene->queueing, nd_unknown(scene->queued),
						    &scene->queued_asked),
		  ND_PENDING);
	scene->backlogged = listen_at(b, family, BACKLOG_PORT);
	asks(scene->pair, &scene->waits, BACKLOG_PORT);
	assert_hr(IND2Connector_NotifyDisconnect(scene->pair->a.connector, &scene->told),
		  ND_PENDING);
	nd_settle();
	return scene;
}

/* The peer's requests in flight when the worker stops. */
static void
peer_writes(struct scene *scene)
{
	struct nd_pair *pair = scene->pair;
	ND2_SGE sge = nd_sge(&pair->a, 0, BYTES);

	for (uint32_t i = 0; i < WRITES / 2; i++) {
		nd_write(&pair->a, &pair->b, i, 0, BYTES, 0);
		assert_hr(IND2QueuePair_Write(pair->a.qp, NULL, &sge, 1,
					      (uint64_t)(uintptr_t)scene->windowed.memory,
					      scene->window_token, 0),
			  ND_SUCCESS);
	}
}

/* Release everything of b; releases that must not wait for the worker do not. */
static void
release_all_of_b(struct scene *scene)
{
	struct nd_side *b = &scene->pair->b;

	nd_release(scene->backlogged, 0);
	nd_release(scene->queueing, 0);
	assert_hr(nd_status(&scene->queued_asked), ND_CANCELED);
	nd_release(scene->queued, 0);
	nd_release(scene->pair->listener, 0);
	nd_release(scene->half_taker, 0);
	assert_hr(nd_status(&scene->half_accepted), ND_CANCELED);
	nd_release(scene->half_qp, 0);
	nd_release(b->qp, 0);
	nd_release(b->connector, 0);
	nd_release(scene->srq, 0);
	assert_hr(nd_status(&scene->srq_told), ND_CANCELED);
	nd_release(scene->cq, 0);
	assert_hr(nd_status(&scene->cq_told), ND_CANCELED);
	nd_release(b->receive_cq, 0);
	assert_true(CloseHandle(b->file));
	nd_release(b->adapter, 0);
}

static void
scene_close(struct scene *scene)
{
	struct nd_pair *pair = scene->pair;

	nd_release(scene->waits.connector, 0);
	nd_release(scene->waits.qp, 0);
	nd_release(scene->half.connector, 0);
	nd_release(scene->half.qp, 0);
	nd_side_close(&pair->a);
	free(scene->leaving_memory);
	free(pair);
	free(scene);
}

/* ---- tests ---- */

static void
nobody_listens_at(struct nd_pair *pair, uint16_t port)
{
	struct asker late = {0};

	asks(pair, &late, port);
	assert_hr(nd_wait(&late.connected), ND_CONNECTION_REFUSED);
	nd_release(late.connector, 0);
	nd_release(late.qp, 0);
}

static void
everything_may_be_released_while_the_worker_stands_still(void **state)
{
	struct scene *scene = scene_open(state);
	struct nd_pair *pair = scene->pair;
	OVERLAPPED leaves = {0};
	IND2Adapter *adapter;
	uint64_t begun, done;

	thread_hold("nd-b");
	begun = test_ms();
	peer_writes(scene);
	assert_hr(IND2MemoryRegion_Deregister(scene->leaving, &leaves), ND_PENDING);
	owner_begins(&scene->windowed);
	owner_begins(&scene->arena);
	release_all_of_b(scene);
	/* One of them has waited for the engine. By then the others know that it is stopped. */
	assert_true(test_ms() - begun < COMMAND_MS + SLACK_MS);
	assert_hr(nd_status(&leaves), ND_PENDING);
	assert_hr(nd_can_unload(), S_FALSE);
	nd_until(test_ms() - begun >= STALL_MS);
	done = test_ms();
	thread_let_go();
	owner_waited_until(&scene->windowed, done);
	owner_waited_until(&scene->arena, done);
	assert_hr(nd_wait(&leaves), ND_SUCCESS);
	nd_release(scene->leaving, 0);
	/* The adapter closes once its engine has released everything; here it is opened again. */
	adapter = nd_adapter(1);
	assert_hr(nd_wait(&scene->waits.connected), ND_CONNECTION_REFUSED);
	assert_hr(nd_wait(&scene->told), ND_SUCCESS);
	nobody_listens_at(pair, BACKLOG_PORT);
	nobody_listens_at(pair, QUEUE_PORT);
	nobody_listens_at(pair, nd_port_of(&pair->at));
	nd_release(adapter, 0);
	scene_close(scene);
	nd_until(nd_can_unload() == S_OK);
}

/* The adapter lives on, with other objects. */
static void
a_listener_released_while_the_worker_stands_still_hears_nobody(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);
	uint64_t begun = test_ms();
	IND2Listener *again;

	thread_hold("nd-b");
	nd_release(pair->listener, 0);
	nd_until(test_ms() - begun >= STALL_MS);
	thread_let_go();
	assert_hr(nd_pair_ask(pair, "x", 1), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_CONNECTION_REFUSED);
	/* and its place is free */
	again = listen_at(&pair->b, pair->at.any.sa_family, nd_port_of(&pair->at));
	pair->listener = again;
	nd_pair_establish(pair);
	nd_pair_close(pair);
}

static void
deregister_pends_until_the_worker_has_let_go(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	void *memory = aligned_alloc(4096, BYTES);
	OVERLAPPED leaves = {0}, again = {0};
	IND2MemoryRegion *mr;
	uint64_t begun;

	(void)state;
	assert_non_null(memory);
	mr = nd_side_mr(&pair->b, memory, BYTES, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	thread_hold("nd-b");
	begun = test_ms();
	assert_hr(IND2MemoryRegion_Deregister(mr, &leaves), ND_PENDING);
	assert_true(test_ms() - begun < COMMAND_MS);
	/* No memory is registered twice by one region, nor taken back twice. */
	assert_hr(IND2MemoryRegion_Register(mr, memory, BYTES, 0, &again), ND_INVALID_DEVICE_STATE);
	assert_hr(IND2MemoryRegion_Deregister(mr, &again), ND_INVALID_DEVICE_STATE);
	/* Writes of the peer that are in progress cannot be cancelled. */
	assert_hr(IND2MemoryRegion_CancelOverlappedRequests(mr), ND_SUCCESS);
	nd_until(test_ms() - begun >= BRIEF_MS);
	assert_hr(nd_status(&leaves), ND_PENDING);
	thread_let_go();
	assert_hr(nd_wait(&leaves), ND_SUCCESS);
	free(memory);
	assert_int_equal(IND2MemoryRegion_GetLocalToken(mr), 0);
	nd_release(mr, 0);
	nd_pair_close(pair);
}

/* Its OVERLAPPED completes before Release returns, and Release returns when the memory is free. */
static void
release_of_a_region_waits_for_its_deregister(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	struct owner owner = {.memory = aligned_alloc(4096, BYTES)};
	OVERLAPPED leaves = {0};
	uint64_t begun, done;

	(void)state;
	assert_non_null(owner.memory);
	owner.mr = nd_side_mr(&pair->b, owner.memory, BYTES, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	thread_hold("nd-b");
	begun = test_ms();
	assert_hr(IND2MemoryRegion_Deregister(owner.mr, &leaves), ND_PENDING);
	owner_begins(&owner);
	nd_until(test_ms() - begun >= BRIEF_MS);
	assert_hr(nd_status(&leaves), ND_PENDING);
	done = test_ms();
	thread_let_go();
	owner_waited_until(&owner, done);
	assert_hr(nd_status(&leaves), ND_SUCCESS);
	nd_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		{"a listener, IPv6", a_listener_released_while_the_worker_stands_still_hears_nobody,
		 NULL, NULL, &nd_family6},
		{"everything, IPv4", everything_may_be_released_while_the_worker_stands_still, NULL,
		 NULL, &nd_family4},
		ND_TEST(deregister_pends_until_the_worker_has_let_go),
		ND_TEST(release_of_a_region_waits_for_its_deregister),
	};

	nd_start(nd_link(device, settings));
	return nd_run("stall", tests, sizeof(tests) / sizeof(tests[0]));
}
