/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many connections: a thousand in sequence, and 64 at once. Afterwards every counter of objects,
 * and the memory of the process, is what it was after the first hundred. Start with once().
 */
#include "verbs_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hosted.h"
#include "plx_adapter_object.h"

enum {
	FIRST = 100,
	ROUNDS = 1000,
	AT_ONCE = 64,
};

/* Memory that may fluctuate: malloc keeps it for later. */
#define SLACK_BYTES (256 * 1024)

struct many {
	struct plx_connector *connector[AT_ONCE];
	struct plx_qp *qp[AT_ONCE];
};

struct crowd {
	struct pair *pair;
	struct many a, b;
};

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* gcc has no header with it */

/* Freed memory stays resident for long here, on purpose. */
static uint64_t
resident_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes();
}
#else
static uint64_t
resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long size, resident;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
#endif

/* Objects on an adapter, apart from the test's own; waits for TIMEWAIT to end. */
static void
assert_nothing_is_left(const struct side *end)
{
	struct plx_cm_view view;

	do {
		assert_int_equal(plx_link_cm_query(hosted(end->adapter)->engine[0], &view), PLX_OK);
		pair_cycle();
	} while (view.timewait > 0);
	assert_int_equal(view.connections, 0);
	assert_int_equal(view.half_open, 0);
	assert_int_equal(hosted(end->adapter)->count.connectors, 0);
}

static struct crowd
gather(void)
{
	struct pair_options options = pair_usual();
	struct crowd c = {0};

	options.unconnected = true;
	options.channel = 4 * AT_ONCE;
	c.pair = pair_open(&options);
	c.pair->listener = pair_listen(&c.pair->b, PAIR_PORT, 0);
	return c;
}

static void
ask(struct crowd *c, uint32_t i)
{
	struct pair_options options = pair_usual();
	struct plx_connect_options to = pair_to(2);

	c->a.qp[i] = side_qp(&c->pair->a, &options);
	assert_int_equal(plx_connector_create(c->pair->a.channel, i, &c->a.connector[i]), PLX_OK);
	pair_connect(c->a.connector[i], c->a.qp[i], &to);
}

static void
take(struct crowd *c, uint32_t i)
{
	struct pair_options options = pair_usual();
	struct plx_connect_options with;

	plx_connect_options_init(&with);
	c->b.connector[i] = pair_event(c->pair->b.channel, PLX_CM_EVENT_REQUESTED).connector;
	c->b.qp[i] = side_qp(&c->pair->b, &options);
	pair_accept(c->b.connector[i], c->b.qp[i], &with);
}

static void
go(struct crowd *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(plx_connector_destroy(c->a.connector[i]), PLX_OK);
		assert_int_equal(plx_connector_destroy(c->b.connector[i]), PLX_OK);
		assert_int_equal(plx_qp_destroy(c->a.qp[i]), PLX_OK);
		assert_int_equal(plx_qp_destroy(c->b.qp[i]), PLX_OK);
	}
}

/* `n` connections at the same time, from nothing to nothing. */
static void
once(struct crowd *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ask(c, i);
	for (uint32_t i = 0; i < n; i++)
		take(c, i);
	for (uint32_t i = 0; i < n; i++)
		pair_complete(pair_event(c->pair->a.channel, PLX_CM_EVENT_REPLIED).connector);
	for (uint32_t i = 0; i < n; i++)
		pair_event(c->pair->b.channel, PLX_CM_EVENT_ESTABLISHED);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_disconnect(c->a.connector[i]), PLX_OK);
	for (uint32_t i = 0; i < n; i++)
		pair_event(c->pair->b.channel, PLX_CM_EVENT_DISCONNECTED);
	for (uint32_t i = 0; i < n; i++)
		pair_event(c->pair->a.channel, PLX_CM_EVENT_CLOSED);
	go(c, n);
}

static void
a_thousand_and_64_leave_nothing_behind(void **state)
{
	struct crowd c = gather();
	uint64_t before, after;

	(void)state;
	/* 64 at once first: the queues of so many allocate memory that is kept for later. */
	once(&c, AT_ONCE);
	for (int i = 0; i < FIRST; i++)
		once(&c, 1);
	before = resident_bytes();
	for (int i = 0; i < ROUNDS - FIRST; i++)
		once(&c, 1);
	once(&c, AT_ONCE);
	after = resident_bytes();
	if (after > before + SLACK_BYTES)
		fail_msg("%llu bytes more are resident", (unsigned long long)(after - before));
	assert_nothing_is_left(&c.pair->a);
	assert_nothing_is_left(&c.pair->b);
	pair_close(c.pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_thousand_and_64_leave_nothing_behind),
	};

	return pair_run("many connectors", tests, sizeof(tests) / sizeof(tests[0]));
}
