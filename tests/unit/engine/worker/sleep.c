/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An adaptive worker falls asleep, and is woken by whatever brings it work: a post, a command, a
 * packet, a timer, an engine that comes or goes, its end. Most workers here would sleep for an hour
 * and ports have descriptors, so that whatever does not wake them fails the test.
 * Start with sleeper().
 */
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "eal.h"
#include "engine_pair.h"
#include "plx_engine_cycle.h"
#include "plx_engine_member.h"

#define LONG_NS (3600 * PLX_SEC)

enum {
	RACES = 100000,
	SPREAD_NS =
		20000, /* about what a worker takes to fall asleep; grows where it takes longer */
	SPREAD_MAX_NS = 640000,
	SPREAD_RACES = 500, /* between two looks at that */
	SHORT_NS = 1,       /* awake: it falls asleep at once */
};

static struct pair pair;

/* ---- ports with descriptors ---- */

static int fds[2]; /* what each side's packets make readable */
static uint16_t (*plain_tx)(struct plx_port *port, struct rte_mbuf **packets, uint16_t n);

static int
side_of(const struct plx_port *port)
{
	return port == &pair.side[1].port.port;
}

static int
port_fd(struct plx_port *port)
{
	return fds[side_of(port)];
}

static uint16_t
telling_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	const uint64_t one = 1;
	uint16_t sent = plain_tx(port, packets, n);

	if (sent > 0)
		assert_int_equal(write(fds[!side_of(port)], &one, sizeof(one)), sizeof(one));
	return sent;
}

static void
give_descriptors(void)
{
	for (int i = 0; i < 2; i++) {
		struct plx_port *port = &pair.side[i].port.port;

		fds[i] = eventfd(0, EFD_NONBLOCK);
		assert_true(fds[i] >= 0);
		plain_tx = port->tx;
		port->tx = telling_tx;
		port->rx_fd = port_fd;
	}
}

/* ---- fixture ---- */

static void
open_with(uint64_t ack_timeout_ns)
{
	struct pair_options options = pair_defaults(64);

	options.attr.ack_timeout_ns = ack_timeout_ns;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	give_descriptors();
}

static void
close_all(void)
{
	pair.now = plx_clock_ns();
	pair_close(&pair);
	close(fds[0]);
	close(fds[1]);
}

static struct plx_worker *
start(struct plx_worker_config config)
{
	struct plx_worker *worker = NULL;
	struct plx_why why;

	config.core = -1;
	config.name = "plx-test";
	assert_int_equal(plx_worker_start(&config, &worker, &why), PLX_OK);
	return worker;
}

/* One that sleeps until it is woken. */
static struct plx_worker *
sleeper(uint64_t awake_ns)
{
	return start((struct plx_worker_config){
		.idle = PLX_IDLE_ADAPTIVE, .awake_ns = awake_ns, .sleep_max_ns = LONG_NS});
}

static void
add_both(struct plx_worker *worker)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(plx_worker_add(worker, pair.side[i].engine), PLX_OK);
}

static void
end(struct plx_worker *worker)
{
	for (int i = 0; i < 2; i++)
		plx_worker_remove(worker, pair.side[i].engine);
	plx_worker_stop(worker);
	close_all();
}

static uint64_t
cycles(void)
{
	return __atomic_load_n(&plx_engine_counters(pair.side[0].engine)->cycles, __ATOMIC_RELAXED);
}

/* Does it do nothing for some time? */
static bool
is_still(void)
{
	uint64_t before = cycles();

	usleep(20000);
	return cycles() == before;
}

static void
post(uint64_t wr_id)
{
	assert_int_equal(pair_write(&pair.side[0], &pair.side[1], wr_id, 0, 8, 0), PLX_OK);
}

static void
await(uint64_t wr_id)
{
	struct plx_wc wc;

	test_until(plx_engine_cq_poll(pair.side[0].send_cq, &wc, 1) == 1, sched_yield());
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
}

/* ---- what wakes it ---- */

static void
it_sleeps_when_it_has_been_idle_long_enough(void **state)
{
	struct plx_worker *worker = sleeper(500 * PLX_MSEC);
	uint64_t began, from;
	struct plx_worker_sleeps slept = {0};

	(void)state;
	open_with(PLX_SEC);
	began = test_ns();
	add_both(worker);
	post(0);
	await(0);
	from = cycles();
	usleep(1000);
	/* A machine that stops us for that long proves nothing. */
	if (test_ns() - began < 400 * PLX_MSEC)
		test_until(cycles() > from + 2, sched_yield());
	test_until(slept.sleeps > slept.woken, plx_worker_sleeps(worker, &slept));
	assert_true(test_ns() - began >= 500 * PLX_MSEC);
	end(worker);
}

static void
a_post_wakes_it(void **state)
{
	struct plx_worker *worker = sleeper(0);

	(void)state;
	open_with(PLX_SEC);
	add_both(worker);
	for (uint32_t i = 0; i < 20; i++) {
		test_until(is_still(), (void)0);
		post(i);
		await(i);
	}
	end(worker);
}

static void
a_command_wakes_it(void **state)
{
	struct plx_worker *worker = sleeper(0);
	struct plx_rc_view view;

	(void)state;
	open_with(PLX_SEC);
	add_both(worker);
	for (uint32_t i = 0; i < 5; i++) {
		test_until(is_still(), (void)0);
		/* It fails after 5 s. */
		assert_int_equal(plx_engine_qp_query(pair.side[0].qp, &view), PLX_OK);
	}
	end(worker);
}

/* @param telling does the second side's port have a descriptor? */
static void
receive_asleep(bool telling)
{
	struct plx_worker *spinner = start((struct plx_worker_config){.idle = PLX_IDLE_YIELD});
	struct plx_worker *worker = sleeper(0);
	struct plx_worker_sleeps before, after;

	open_with(20 * PLX_SEC);
	if (!telling)
		pair.side[1].port.port.rx_fd = NULL;
	assert_int_equal(plx_worker_add(spinner, pair.side[0].engine), PLX_OK);
	assert_int_equal(plx_worker_add(worker, pair.side[1].engine), PLX_OK);
	for (uint32_t i = 0; i < 10; i++) {
		plx_worker_sleeps(worker, &before);
		after = before;
		/* It sleeps now; or, without a descriptor, it has napped since. */
		test_until(telling ? after.sleeps > after.woken : after.sleeps > before.sleeps + 1,
			   plx_worker_sleeps(worker, &after));
		post(i);
		await(i);
	}
	plx_worker_sleeps(worker, &after);
	assert_true(telling ? after.woken > 0 : after.sleeps > after.woken);
	plx_worker_remove(spinner, pair.side[0].engine);
	plx_worker_remove(worker, pair.side[1].engine);
	plx_worker_stop(spinner);
	plx_worker_stop(worker);
	close_all();
}

static void
a_packet_wakes_it(void **state)
{
	(void)state;
	receive_asleep(true);
}

static void
without_a_descriptor_it_naps_and_finds_a_packet(void **state)
{
	(void)state;
	receive_asleep(false);
}

static void
a_timer_wakes_it(void **state)
{
	struct plx_worker *worker = sleeper(0);

	(void)state;
	open_with(50 * PLX_MSEC);
	add_both(worker);
	post(0);
	await(0);
	pthread_mutex_lock(&pair.side[1].port.lock);
	pair.side[0].port.lose = 1;
	pthread_mutex_unlock(&pair.side[1].port.lock);
	post(1);
	await(1); /* by a probe, or a timeout; nothing else would come within the hour */
	assert_int_equal(pair.side[0].port.lose, 0);
	end(worker);
}

static void
its_end_wakes_it(void **state)
{
	struct plx_worker *worker = sleeper(0);
	struct plx_worker_sleeps slept = {0};

	(void)state;
	test_until(slept.sleeps == 0, plx_worker_sleeps(worker, &slept));
	usleep(20000);
	plx_worker_stop(worker); /* or this takes an hour */
}

static void
an_engine_that_comes_or_goes_wakes_it(void **state)
{
	struct plx_worker *worker = sleeper(0);

	(void)state;
	open_with(PLX_SEC);
	for (uint32_t i = 0; i < 20; i++) {
		usleep(i % 2 == 0 ? 5000 : 100);
		add_both(worker);
		post(i);
		await(i);
		if (i % 2 == 0)
			test_until(is_still(), (void)0);
		plx_worker_remove(worker, pair.side[0].engine);
		plx_worker_remove(worker, pair.side[1].engine);
		assert_true(is_still());
	}
	plx_worker_stop(worker);
	close_all();
}

/* The bell of a program in another process, which its host lets the worker watch. */
static void
a_bell_of_a_seat_wakes_it(void **state)
{
	struct plx_worker *worker = sleeper(0);
	int bell = eventfd(0, EFD_NONBLOCK);
	uint64_t full;

	(void)state;
	open_with(PLX_SEC);
	assert_int_equal(plx_worker_watch(worker, bell), PLX_OK);
	add_both(worker);
	pair.side[0].qp->sq.doorbell.bell = bell;
	for (uint32_t i = 0; i < 20; i++) {
		test_until(is_still(), (void)0);
		post(i);
		await(i);
	}
	/* Full, it wakes nobody, and does not hold up the worker. */
	assert_int_equal(read(bell, &full, sizeof(full)), sizeof(full));
	full = UINT64_MAX - 1;
	assert_int_equal(write(bell, &full, sizeof(full)), sizeof(full));
	test_until(is_still(), (void)0);
	post(20);
	plx_engine_rouse(pair.side[0].engine);
	await(20);
	plx_worker_unwatch(worker, bell);
	close(bell);
	end(worker);
}

/* A thread that has locked a watched ring does not ring: the engine stays awake for it. */
static void
a_poster_that_was_preempted_keeps_it_awake(void **state)
{
	struct plx_worker *worker = sleeper(300 * PLX_MSEC);
	struct producer *producer;

	(void)state;
	open_with(PLX_SEC);
	producer = &pair.side[0].qp->sq.front->producer;
	add_both(worker);
	post(0);
	await(0);
	atomic_store(&producer->locked, true);
	/* A machine that stops us until it sleeps proves nothing. */
	if (atomic_load(&pair.side[0].qp->sq.front->watched)) {
		usleep(600000);
		test_until(!is_still(), (void)0);
	}
	atomic_store(&producer->locked, false);
	test_until(is_still(), (void)0);
	post(1);
	await(1);
	end(worker);
}

/* ---- races ---- */

static void
wait_a_moment(struct plx_prng *prng, uint64_t spread_ns)
{
	uint64_t until = plx_clock_ns() + plx_prng_below(prng, spread_ns);

	while (plx_clock_ns() < until)
		continue;
}

/* Wait longer where the worker slept too seldom: on a busy machine, under a sanitizer. */
static uint64_t
widen(const struct plx_worker *worker, uint64_t spread_ns, uint64_t *slept_before)
{
	struct plx_worker_sleeps slept;
	bool seldom;

	plx_worker_sleeps(worker, &slept);
	seldom = slept.sleeps - *slept_before < SPREAD_RACES / 10;
	*slept_before = slept.sleeps;
	return seldom && spread_ns < SPREAD_MAX_NS ? 2 * spread_ns : spread_ns;
}

/* Each post meets the worker at another moment of falling asleep. */
static void
no_post_is_lost_however_it_meets_a_worker_that_falls_asleep(void **state)
{
	struct plx_worker *worker = sleeper(SHORT_NS);
	uint64_t spread_ns = SPREAD_NS, slept_before = 0;
	struct plx_worker_sleeps slept;
	struct plx_prng prng;

	(void)state;
	plx_prng_init(&prng, 70);
	open_with(PLX_SEC);
	add_both(worker);
	for (uint32_t i = 0; i < RACES; i++) {
		post(i);
		await(i);
		wait_a_moment(&prng, spread_ns);
		if (i % SPREAD_RACES == SPREAD_RACES - 1)
			spread_ns = widen(worker, spread_ns, &slept_before);
	}
	plx_worker_sleeps(worker, &slept);
	print_message("%llu sleeps, %llu woken\n", (unsigned long long)slept.sleeps,
		      (unsigned long long)slept.woken);
	assert_true(slept.woken > RACES / 100);
	end(worker);
}

static void
no_command_is_lost_either(void **state)
{
	struct plx_worker *worker = sleeper(SHORT_NS);
	struct plx_prng prng;
	struct plx_rc_view view;

	(void)state;
	plx_prng_init(&prng, 71);
	open_with(PLX_SEC);
	add_both(worker);
	for (uint32_t i = 0; i < RACES / 10; i++) {
		assert_int_equal(plx_engine_qp_query(pair.side[i % 2].qp, &view), PLX_OK);
		wait_a_moment(&prng, SPREAD_NS);
	}
	end(worker);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_sleeps_when_it_has_been_idle_long_enough),
		cmocka_unit_test(a_post_wakes_it),
		cmocka_unit_test(a_command_wakes_it),
		cmocka_unit_test(a_packet_wakes_it),
		cmocka_unit_test(without_a_descriptor_it_naps_and_finds_a_packet),
		cmocka_unit_test(a_timer_wakes_it),
		cmocka_unit_test(its_end_wakes_it),
		cmocka_unit_test(an_engine_that_comes_or_goes_wakes_it),
		cmocka_unit_test(a_bell_of_a_seat_wakes_it),
		cmocka_unit_test(a_poster_that_was_preempted_keeps_it_awake),
		cmocka_unit_test(no_post_is_lost_however_it_meets_a_worker_that_falls_asleep),
		cmocka_unit_test(no_command_is_lost_either),
	};

	test_eal_start(); /* for the clock */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
