/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reachability: resolving and pinging over the embedded link, in both modes; refusals with their
 * messages; and a network behind a gateway. Start with the_other_end_is_resolved_and_answers().
 */
#include "verbs_pair.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LONG_MS 20000

static uint64_t
counter_of(const struct plx_adapter *adapter, const char *name)
{
	struct plx_counter counter[256];
	uint32_t n = plx_adapter_counters(adapter, counter, 256);

	assert_in_range(n, 1, 256);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(counter[i].name, name) == 0)
			return counter[i].value;
	fail_msg("there is no counter %s", name);
	return 0;
}

static void
says(const struct plx_why *why, const char *words)
{
	if (!strstr(why->text, words))
		fail_msg("\"%s\" does not say \"%s\"", why->text, words);
}

static void
resolve_refuses(struct plx_adapter *adapter, const struct plx_ip *ip, uint32_t timeout_ms,
		enum plx_status status, const char *words)
{
	uint8_t mac[6] = {0}, untouched[6] = {0};
	struct plx_why why = {""};

	assert_int_equal(plx_adapter_resolve(adapter, ip, timeout_ms, mac, &why), status);
	assert_memory_equal(mac, untouched, sizeof(mac));
	says(&why, words);
}

static void
ping_refuses(struct plx_adapter *adapter, const struct plx_ip *ip, uint32_t bytes,
	     uint32_t timeout_ms, enum plx_status status, const char *words)
{
	struct plx_why why = {""};
	uint64_t rtt_ns = 77;

	assert_int_equal(plx_adapter_ping(adapter, ip, bytes, timeout_ms, &rtt_ns, &why), status);
	assert_int_equal(rtt_ns, 77);
	says(&why, words);
}

/* ---- the other end ---- */

/* Inline, a call polls only its own adapter; the responder is polled by a thread of its own. */
static struct {
	pthread_t thread;
	struct plx_adapter *adapter;
	atomic_bool stop;
} other;

static void *
poll_other(void *arg)
{
	(void)arg;
	while (!atomic_load(&other.stop))
		if (plx_adapter_poll(other.adapter) == 0)
			sched_yield();
	return NULL;
}

static void
other_starts(struct plx_adapter *adapter)
{
	other.adapter = adapter;
	atomic_store(&other.stop, false);
	if (pair_is_inline())
		assert_int_equal(pthread_create(&other.thread, NULL, poll_other, NULL), 0);
}

static void
other_stops(void)
{
	atomic_store(&other.stop, true);
	if (pair_is_inline())
		assert_int_equal(pthread_join(other.thread, NULL), 0);
}

static uint64_t
pings(struct plx_adapter *adapter, const struct plx_ip *ip, uint32_t bytes)
{
	struct plx_why why = {""};
	uint64_t rtt_ns = 0;

	if (plx_adapter_ping(adapter, ip, bytes, LONG_MS, &rtt_ns, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_in_range(rtt_ns, 1, LONG_MS * PLX_MSEC);
	return rtt_ns;
}

static void
resolves(struct plx_adapter *adapter, const struct plx_ip *ip, const struct plx_adapter *owner)
{
	struct plx_adapter_info info;
	struct plx_why why = {""};
	uint8_t mac[6] = {0};

	plx_adapter_query(owner, &info);
	if (plx_adapter_resolve(adapter, ip, LONG_MS, mac, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_memory_equal(mac, info.mac, sizeof(mac));
}

/* ---- tests ---- */

static void
the_other_end_is_resolved_and_answers(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_ip ip = pair_ip(2);
	uint64_t sent = counter_of(pair->a.adapter, "net_pings_sent");
	uint64_t answered = counter_of(pair->b.adapter, "net_echoes_sent");
	struct plx_why why = {""};

	(void)state;
	other_starts(pair->b.adapter);
	resolves(pair->a.adapter, &ip, pair->b.adapter);
	assert_int_equal(plx_adapter_resolve(pair->a.adapter, &ip, LONG_MS, NULL, &why), PLX_OK);
	pings(pair->a.adapter, &ip, 0);
	pings(pair->a.adapter, &ip, 56);
	pings(pair->a.adapter, &ip, 1400);
	other_stops();
	assert_int_equal(counter_of(pair->a.adapter, "net_pings_sent"), sent + 3);
	assert_int_equal(counter_of(pair->b.adapter, "net_echoes_sent"), answered + 3);
	assert_int_equal(counter_of(pair->a.adapter, "net_malformed"), 0);
	pair_close(pair);
}

static void
an_address_of_ours_answers_at_once(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_adapter_info info;
	struct plx_why why = {""};
	uint64_t rtt_ns = 77;
	uint8_t mac[6] = {0};

	(void)state;
	plx_adapter_query(pair->a.adapter, &info);
	assert_int_equal(plx_adapter_ping(pair->a.adapter, &info.address[0], 56, 0, &rtt_ns, &why),
			 PLX_OK);
	assert_int_equal(rtt_ns, 0);
	assert_int_equal(plx_adapter_resolve(pair->a.adapter, &info.address[0], 0, mac, &why),
			 PLX_OK);
	assert_memory_equal(mac, info.mac, sizeof(mac));
	pair_close(pair);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_ip none = {0}, five = {.version = 5},
		      group = {.version = 4, .v = {224, 0, 0, 1}};
	struct plx_ip all = pair_ip(255), far = {.version = 4, .v = {192, 0, 2, 1}};
	struct plx_ip far6 = {.version = 6, .v = {0x20, 0x01, [15] = 1}}, near = pair_ip(2);
	struct plx_adapter *a = pair->a.adapter;

	(void)state;
	resolve_refuses(a, NULL, 0, PLX_INVALID, "no address given");
	resolve_refuses(a, &none, 0, PLX_INVALID, "version 0");
	resolve_refuses(a, &five, 0, PLX_INVALID, "version 5");
	resolve_refuses(a, &group, 0, PLX_INVALID, "224.0.0.1 is a multicast");
	resolve_refuses(a, &all, 0, PLX_INVALID, "255 is a multicast, broadcast");
	resolve_refuses(a, &far, 0, PLX_UNREACHABLE, "192.0.2.1 is in no network of adapter a");
	resolve_refuses(a, &far6, 0, PLX_UNREACHABLE, "2001::1 is in no network");
	ping_refuses(a, NULL, 0, 0, PLX_INVALID, "no address given");
	ping_refuses(a, &five, 0, 0, PLX_INVALID, "version 5");
	ping_refuses(a, &group, 0, 0, PLX_INVALID, "224.0.0.1 is a multicast");
	ping_refuses(a, &far, 0, 0, PLX_UNREACHABLE, "no route leads there");
	ping_refuses(a, &near, 1401, 0, PLX_INVALID, "an echo of 1401 bytes; give 0 to 1400");
	pair_close(pair);
}

static void
who_is_silent_is_told_of(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_adapter *a = pair->a.adapter;
	struct plx_ip silent = pair_ip(99), another = pair_ip(98);

	(void)state;
	other_starts(pair->b.adapter);
	resolve_refuses(a, &silent, 20, PLX_TIMEOUT,
			"99 has not answered for its Ethernet address within 20 ms");
	ping_refuses(a, &another, 56, 20, PLX_UNREACHABLE,
		     "98 does not answer for its Ethernet address");
	/* Solicited three times, which lasts three seconds. */
	resolve_refuses(a, &silent, LONG_MS, PLX_UNREACHABLE,
			"99 does not answer for its Ethernet address; check");
	ping_refuses(a, &silent, 56, LONG_MS, PLX_UNREACHABLE, "99 does not answer");
	other_stops();
	pair_close(pair);
}

/* The neighbour is known, and then nobody polls it any more. */
static void
a_lost_echo_is_told_from_a_silent_neighbour(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_ip ip = pair_ip(2);

	(void)state;
	other_starts(pair->b.adapter);
	pings(pair->a.adapter, &ip, 56);
	other_stops();
	ping_refuses(pair->a.adapter, &ip, 64, 20, PLX_TIMEOUT,
		     "has not answered an echo of 64 bytes within 20 ms");
	pair_close(pair);
}

/* ---- behind a gateway ---- */

enum {
	FAR_A,
	FAR_B,
	FARS,
};

/* Two adapters on a private link: the address behind B is one of B's. */
static void
open_far(struct plx_adapter **adapter)
{
	static const char *const names[] = {"far-a", "far-b"};

	for (int i = 0; i < FARS; i++) {
		struct plx_adapter_options options;
		struct plx_why why = {""};

		pair_adapter_options(&options, (unsigned)i);
		snprintf(options.device, sizeof(options.device), "net_wire%d,end=%d",
			 pair_is_inline() ? 2 : 3, i);
		if (i == FAR_A) {
			options.route[0].net = (struct plx_ip){.version = 4, .v = {192, 0, 2, 0}};
			options.route[0].prefix_bits = 24;
			options.route[0].via = pair_ip(2);
			options.route[1].net.version = 4;
			options.route[1].via = pair_ip(77);
			options.routes = 2;
		} else {
			options.address[1].ip = (struct plx_ip){.version = 4, .v = {192, 0, 2, 9}};
			options.address[1].prefix_bits = 24;
			options.addresses = 2;
		}
		if (plx_adapter_open(names[i], &options, &adapter[i], &why) != PLX_OK)
			fail_msg("%s", why.text);
	}
}

static void
a_peer_behind_a_gateway_is_reached(void **state)
{
	const struct plx_ip behind = {.version = 4, .v = {192, 0, 2, 9}};
	const struct plx_ip beyond = {.version = 4, .v = {198, 51, 100, 1}};
	struct plx_adapter *far[FARS];
	struct plx_why why = {""};
	char words[128];

	(void)state;
	open_far(far);
	other_starts(far[FAR_B]);
	resolves(far[FAR_A], &behind, far[FAR_B]);
	pings(far[FAR_A], &behind, 1400);
	/* And by the default route, whose gateway is nobody. */
	snprintf(words, sizeof(words), "gateway 10.77.%d.77 on the way to 198.51.100.1",
		 pair_ip(77).v[2]);
	assert_int_equal(plx_adapter_resolve(far[FAR_A], &beyond, 20, NULL, &why), PLX_TIMEOUT);
	says(&why, words);
	other_stops();
	for (int i = 0; i < FARS; i++)
		assert_int_equal(plx_adapter_close(far[i]), PLX_OK);
}

/* An adapter announces itself when it starts, twice for each address. */
static void
addresses_are_announced(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_adapter_info info;

	(void)state;
	plx_adapter_query(pair->a.adapter, &info);
	pair_until(counter_of(pair->a.adapter, "net_announcements_sent") == 2 * info.addresses);
	pair_until(counter_of(pair->b.adapter, "net_announcements_sent") == 2 * info.addresses);
	pair_close(pair);
}

static void
a_gateway_that_is_none_is_refused_at_opening(void **state)
{
	struct plx_adapter *adapter = NULL;
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	pair_adapter_options(&options, 0);
	options.route[0].net.version = 4;
	options.route[0].via = (struct plx_ip){.version = 4, .v = {192, 0, 2, 1}};
	options.routes = 1;
	assert_int_equal(plx_adapter_open("wrong", &options, &adapter, &why), PLX_INVALID);
	says(&why, "its gateway 192.0.2.1 is in no network");
	assert_null(adapter);
	/* The last address of a network is nobody's. */
	options.route[0].via = pair_ip(255);
	snprintf(options.device, sizeof(options.device), "net_wire%d,end=0",
		 pair_is_inline() ? 2 : 3);
	assert_int_equal(plx_adapter_open("wrong", &options, &adapter, &why), PLX_INVALID);
	says(&why, "gateway");
	assert_null(adapter);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(the_other_end_is_resolved_and_answers),
		PAIR_TEST(an_address_of_ours_answers_at_once),
		PAIR_TEST(what_makes_no_sense_is_refused),
		PAIR_TEST(who_is_silent_is_told_of),
		PAIR_TEST(a_peer_behind_a_gateway_is_reached),
		PAIR_TEST(addresses_are_announced),
		PAIR_TEST(a_gateway_that_is_none_is_refused_at_opening),
	};
	/* With a worker there is always a responder. */
	const struct CMUnitTest inline_tests[] = {
		PAIR_TEST(a_lost_echo_is_told_from_a_silent_neighbour),
	};
	int failures = pair_run("verbs/reach", tests, sizeof(tests) / sizeof(tests[0]));

	return failures + pair_run_in(PLX_MODE_INLINE, "verbs/reach, alone", inline_tests,
				      sizeof(inline_tests) / sizeof(inline_tests[0]));
}
