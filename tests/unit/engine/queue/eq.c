/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues on their own: order, a full queue, and the descriptor. The test plays the engine's
 * thread. Start with push().
 */
#include <poll.h>

#include "eal.h"
#include "plx_engine_eq.h"
#include "plx_eq_front.h"
#include "test.h"

enum {
	DEPTH = 3,
};

static const struct engine_queues queues = {.socket = -1};
static struct engine_eq back;
static struct eq eq;

/* 12 bytes, as no other queue has them. */
struct event {
	uint32_t number, more[2];
};

static int
descriptor(struct front_owner *owner, uint64_t object, int *wake_fd)
{
	(void)owner;
	*wake_fd = engine_eq_fd((struct engine_eq *)(uintptr_t)object);
	return *wake_fd;
}

static int
set_up(void **state)
{
	static struct front_owner owner = {.descriptor = descriptor};
	static struct front_memory memory;

	(void)state;
	test_eal_start();
	front_memory_init(&memory, -1);
	if (engine_eq_init(&back, &queues, &memory, NULL, DEPTH, sizeof(struct event)) != PLX_OK)
		return -1;
	eq_open(&eq, back.ring.shared, sizeof(struct event), &owner, (uintptr_t)&back);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	engine_eq_free(&back);
	engine_eq_free(&back);
	return 0;
}

static bool
push(uint32_t number)
{
	const struct event event = {number, {~number, number + 1}};

	return engine_eq_push(&back, &event);
}

static void
expect(uint32_t number)
{
	struct event event;

	assert_true(eq_pop(&eq, &event));
	assert_int_equal(event.number, number);
	assert_int_equal(event.more[0], ~number);
	assert_int_equal(event.more[1], number + 1);
}

static bool
readable(int fd)
{
	struct pollfd look = {.fd = fd, .events = POLLIN};

	return poll(&look, 1, 0) == 1;
}

static void
events_come_in_order_and_what_has_no_room_is_refused(void **state)
{
	struct event event;
	uint32_t in = 0, out = 0;

	(void)state;
	for (int lap = 0; lap < 5; lap++) {
		while (engine_eq_has_room(&back))
			assert_true(push(in++));
		assert_int_equal(in - out, DEPTH);
		assert_false(push(in));
		expect(out++);
		expect(out++);
	}
	while (out < in)
		expect(out++);
	assert_false(eq_pop(&eq, &event));
}

static void
the_descriptor_is_readable_while_there_is_an_event(void **state)
{
	struct event event;
	int fd;

	(void)state;
	/* Also created for events that came before it. */
	assert_true(push(1));
	fd = eq_fd(&eq);
	assert_true(fd >= 0);
	assert_int_equal(eq_fd(&eq), fd);
	assert_true(readable(fd));
	assert_true(push(2));
	expect(1);
	assert_true(readable(fd));
	expect(2);
	assert_false(eq_pop(&eq, &event));
	assert_false(readable(fd));
	assert_true(push(3));
	assert_true(readable(fd));
	expect(3);
	assert_false(eq_pop(&eq, &event));
	assert_false(readable(fd));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_come_in_order_and_what_has_no_room_is_refused),
		TEST(the_descriptor_is_readable_while_there_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
