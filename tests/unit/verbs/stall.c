/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every kind of object, destroyed while the worker is stopped for longer than a call waits for the
 * engine. TIMEOUT has changed nothing: the handle is still valid, and a later call completes the
 * destruction. Meanwhile the peer posts and connects; AddressSanitizer detects accesses of the
 * engine to freed memory. Start with a_destroy_that_timed_out_is_called_again().
 */
#include "verbs_pair.h"
#include "thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OTHER_PORT = 4243,
	WRITES = 32,
	BYTES = 4096,
	KINDS = 9,
};

#define STALL_NS (7 * PLX_SEC)

typedef enum plx_status destroy_fn(void *object);

/* One kind after the other; the casts would hide which function is called. */
#define DESTROY(kind, call)                             \
	static enum plx_status destroy_##kind(void *it) \
	{                                               \
		return call(it);                        \
	}
DESTROY(mr, plx_mr_deregister)
DESTROY(mw, plx_mw_destroy)
DESTROY(cq, plx_cq_destroy)
DESTROY(srq, plx_srq_destroy)
DESTROY(qp, plx_qp_destroy)
DESTROY(ah, plx_ah_destroy)
DESTROY(listener, plx_listener_destroy)
DESTROY(asked, plx_connector_destroy)
DESTROY(connected, plx_connector_destroy)

struct owner {
	destroy_fn *destroy;
	void *object, *memory; /* freed when it is destroyed */
	uint32_t timeouts;
	uint64_t done;
	enum plx_status status;
	pthread_t thread;
};

static void *
destroy_it(void *context)
{
	struct owner *owner = context;

	while ((owner->status = owner->destroy(owner->object)) == PLX_TIMEOUT)
		owner->timeouts++;
	owner->done = test_ns();
	free(owner->memory);
	return NULL;
}

struct scene {
	struct pair *pair;
	struct plx_listener *listener, *other;
	struct plx_connector *asks, *connects; /* b's */
	struct plx_qp *qa, *qb, *asking_qp;
	struct plx_mr *mr;
	void *memory;
	struct owner owner[KINDS];
};

/* Returns: a's end of it */
static struct plx_connector *
connect_both(struct scene *scene)
{
	struct plx_connect_options options = pair_to(1);
	struct plx_connector_event event;

	options.remote_port = OTHER_PORT;
	assert_int_equal(plx_connector_create(scene->pair->b.channel, 0, &scene->connects), PLX_OK);
	pair_connect(scene->connects, scene->qb, &options);
	event = pair_event(scene->pair->a.channel, PLX_CM_EVENT_REQUESTED);
	plx_connect_options_init(&options);
	pair_accept(event.connector, scene->qa, &options);
	(void)pair_event(scene->pair->b.channel, PLX_CM_EVENT_REPLIED);
	pair_complete(scene->connects);
	(void)pair_event(scene->pair->a.channel, PLX_CM_EVENT_ESTABLISHED);
	return event.connector;
}

/* A request that is queued in a's channel, and is not fetched. */
static void
ask(struct scene *scene)
{
	struct plx_connect_options options = pair_to(1);

	assert_int_equal(plx_connector_create(scene->pair->b.channel, 0, &scene->asks), PLX_OK);
	pair_connect(scene->asks, scene->asking_qp, &options);
	pair_settle();
}

static void
make_owners(struct scene *scene, struct plx_connector *connected)
{
	struct side *a = &scene->pair->a;
	const struct plx_cq_options depth = {.depth = 8};
	const struct plx_srq_options shared = {.depth = 8, .sges = 1};
	const struct plx_ah_options way = {.remote = pair_ip(2), .dscp = 0xff};
	struct pair_options usual = pair_usual();
	struct plx_connector *idle;
	struct plx_why why = {""};
	struct plx_srq *srq;
	struct plx_cq *cq;
	struct plx_mw *mw;
	struct plx_ah *ah;

	assert_int_equal(plx_cq_create(a->adapter, &depth, &cq), PLX_OK);
	assert_int_equal(plx_srq_create(a->adapter, &shared, &srq), PLX_OK);
	assert_int_equal(plx_mw_create(a->pd, &mw), PLX_OK);
	assert_int_equal(plx_ah_create(a->pd, &way, &ah, &why), PLX_OK);
	assert_int_equal(plx_connector_create(scene->pair->a.channel, 0, &idle), PLX_OK);
	scene->memory = aligned_alloc(64, BYTES);
	assert_non_null(scene->memory);
	assert_int_equal(plx_mr_register(a->pd, scene->memory, BYTES, pair_rights(), &scene->mr),
			 PLX_OK);
	memcpy(scene->owner,
	       (struct owner[KINDS]){
		       {.destroy = destroy_mr, .object = scene->mr, .memory = scene->memory},
		       {.destroy = destroy_mw, .object = mw},
		       {.destroy = destroy_cq, .object = cq},
		       {.destroy = destroy_srq, .object = srq},
		       {.destroy = destroy_qp, .object = side_qp(a, &usual)},
		       {.destroy = destroy_ah, .object = ah},
		       {.destroy = destroy_listener, .object = scene->listener},
		       {.destroy = destroy_asked, .object = idle},
		       {.destroy = destroy_connected, .object = connected},
	       },
	       sizeof(scene->owner));
}

static void
scene_open(struct scene *scene)
{
	struct pair_options usual = pair_usual();

	memset(scene, 0, sizeof(*scene));
	usual.channel = 16;
	scene->pair = pair_open(&usual);
	scene->qa = side_qp(&scene->pair->a, &usual);
	scene->qb = side_qp(&scene->pair->b, &usual);
	scene->asking_qp = side_qp(&scene->pair->b, &usual);
	scene->listener = pair_listen(&scene->pair->a, PAIR_PORT, 0);
	scene->other = pair_listen(&scene->pair->a, OTHER_PORT, 0);
	make_owners(scene, connect_both(scene));
	ask(scene);
}

static void
scene_close(struct scene *scene)
{
	assert_int_equal(plx_connector_destroy(scene->asks), PLX_OK);
	assert_int_equal(plx_connector_destroy(scene->connects), PLX_OK);
	assert_int_equal(plx_listener_destroy(scene->other), PLX_OK);
	assert_int_equal(plx_qp_destroy(scene->qa), PLX_OK);
	assert_int_equal(plx_qp_destroy(scene->qb), PLX_OK);
	assert_int_equal(plx_qp_destroy(scene->asking_qp), PLX_OK);
	pair_close(scene->pair);
}

static void
a_destroy_that_timed_out_is_called_again(void **state)
{
	struct scene scene;
	struct beyond there;
	struct plx_connector_event event;
	uint64_t begun, resumed;

	(void)state;
	scene_open(&scene);
	there = (struct beyond){.va = (uintptr_t)scene.memory, .rkey = plx_mr_key(scene.mr)};
	thread_hold("pair");
	begun = test_ns();
	for (uint32_t i = 0; i < WRITES; i++)
		assert_int_equal(side_try(&scene.pair->b, scene.pair->b.qp, PLX_WR_WRITE, i, 0, 0,
					  BYTES, &there),
				 PLX_OK);
	for (uint32_t i = 0; i < KINDS; i++)
		assert_int_equal(
			pthread_create(&scene.owner[i].thread, NULL, destroy_it, &scene.owner[i]),
			0);
	pair_until(test_ns() - begun >= STALL_NS);
	resumed = test_ns();
	thread_let_go();
	for (uint32_t i = 0; i < KINDS; i++) {
		struct owner *owner = &scene.owner[i];

		assert_int_equal(pthread_join(owner->thread, NULL), 0);
		assert_int_equal(owner->status, PLX_OK);
		assert_int_equal(owner->timeouts, 1);
		assert_true(owner->done >= resumed);
	}
	/* The first WRITE may complete before its key is invalid, but not after its memory was
	 * freed: AddressSanitizer detects that. In the end they fail. */
	pair_until(pair_state(scene.pair->b.qp) == PLX_QP_ERROR);
	/* a's connector is destroyed, and its peer learns of it; the request that waited for the
	 * listener is refused when somebody looks for it. */
	(void)pair_event(scene.pair->b.channel, PLX_CM_EVENT_DISCONNECTED);
	assert_false(plx_event_channel_next(scene.pair->a.channel, &event));
	(void)pair_event(scene.pair->b.channel, PLX_CM_EVENT_REJECTED);
	/* A peer that connects now finds no listener, and the port is free. */
	assert_int_equal(plx_connect(scene.asks, scene.asking_qp,
				     &(struct plx_connect_options){.remote = pair_ip(1),
								   .remote_port = PAIR_PORT,
								   .retry = 7,
								   .rnr_retry = 6,
								   .ack_timeout = 14},
				     NULL),
			 PLX_OK);
	(void)pair_event(scene.pair->b.channel, PLX_CM_EVENT_REJECTED);
	scene.listener = pair_listen(&scene.pair->a, PAIR_PORT, 0);
	assert_int_equal(plx_listener_destroy(scene.listener), PLX_OK);
	scene_close(&scene);
}

static enum plx_status
close_it(void *adapter)
{
	return plx_adapter_close(adapter);
}

/* ... and meanwhile those with another worker come and go. */
static void
an_adapter_closes_when_its_worker_runs_again(void **state)
{
	struct plx_adapter *adapter[2];
	struct owner owner = {.destroy = close_it};
	struct plx_why why = {""};
	uint64_t resumed;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct plx_adapter_options options;

		pair_adapter_options(&options, i);
		snprintf(options.device, sizeof(options.device), "net_wire7,end=%u", i);
		snprintf(options.worker, sizeof(options.worker), "stall-%u", i);
		if (plx_adapter_open(options.worker, &options, &adapter[i], &why) != PLX_OK)
			fail_msg("%s", why.text);
	}
	thread_hold("stall-0");
	owner.object = adapter[0];
	assert_int_equal(pthread_create(&owner.thread, NULL, destroy_it, &owner), 0);
	pair_settle();
	assert_int_equal(plx_adapter_close(adapter[1]), PLX_OK);
	resumed = test_ns();
	thread_let_go();
	assert_int_equal(pthread_join(owner.thread, NULL), 0);
	assert_int_equal(owner.status, PLX_OK);
	assert_true(owner.done >= resumed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_destroy_that_timed_out_is_called_again),
		PAIR_TEST(an_adapter_closes_when_its_worker_runs_again),
	};

	return pair_run_in(PLX_MODE_WORKER, "stall", tests, sizeof(tests) / sizeof(tests[0]));
}
