/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a running program reports through DPDK's telemetry socket, queried as dpdk-telemetry.py
 * does: one packet with the request, one with the reply, in JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "plx_verbs.h"

enum {
	ANSWER_MAX = 16384,
	QPS = 3,
};

static struct plx_adapter *adapter;
static struct plx_pd *pd;
static struct plx_cq *cq;
static struct plx_qp *qp[QPS];
static int telemetry = -1;
static char answer[ANSWER_MAX + 1];

static const char *
ask(const char *question)
{
	ssize_t n;

	assert_int_equal(send(telemetry, question, strlen(question), 0), strlen(question));
	n = recv(telemetry, answer, ANSWER_MAX, 0);
	assert_true(n > 0);
	answer[n] = '\0';
	return answer;
}

static void
has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("%s\nhas no %s", text, words);
}

/* Every counter that the calls of plx_verbs.h know is in the answer, under its name. */
static void
has_counters(const char *text, const struct plx_counter *counter, uint32_t n)
{
	char name[96];

	assert_true(n > 20);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "\"%s\":", counter[i].name);
		has(text, name);
	}
}

/* The value of a counter in the last answer. */
static uint64_t
value_of(const char *name)
{
	char key[96];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(answer, key);
	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

/* ---- tests ---- */

static void
the_commands_are_listed(void **state)
{
	(void)state;
	ask("/");
	has(answer, "\"/pollux/list\"");
	has(answer, "\"/pollux/adapter\"");
	has(answer, "\"/pollux/qps\"");
	has(answer, "\"/pollux/qp\"");
	has(ask("/help,/pollux/qp"), "adapter,number");
}

static void
open_adapters_are_listed(void **state)
{
	(void)state;
	assert_string_equal(ask("/pollux/list"), "{\"/pollux/list\":[\"seen\"]}");
}

static void
an_adapter_shows_what_it_is_and_counts(void **state)
{
	struct plx_counter counter[256];
	uint32_t n = plx_adapter_counters(adapter, counter, 256);
	uint64_t cycles;

	(void)state;
	ask("/pollux/adapter,seen");
	has(answer, "{\"/pollux/adapter\":{\"name\":\"seen\",\"device\":\"");
	has(answer, "\"mode\":\"inline\"");
	has(answer, "\"memory\":\"pages\"");
	has(answer, "\"link\":\"up\"");
	has(answer, "\"path_mtu\":4096");
	has(answer, "\"interface_index\":77");
	has(answer, "\"dispatcher_core\":-1");
	has(answer, "\"addresses\":[\"10.0.0.1/24\",\"fd00::1/64\"]");
	has(answer, "\"pds\":1");
	has(answer, "\"cqs\":1");
	has(answer, "\"qps\":3");
	has(answer, "\"ahs\":0");
	has_counters(answer, counter, n);
	has(answer, "\"wire_lost\":0");
	cycles = value_of("engine_cycles");
	for (int i = 0; i < 10; i++)
		plx_adapter_poll(adapter);
	ask("/pollux/adapter,seen");
	assert_int_equal(value_of("engine_cycles"), cycles + 10);
}

static void
counters_have_names_of_their_own(void **state)
{
	struct plx_counter counter[256], few[3] = {{NULL, NULL, 0}};
	uint32_t n = plx_adapter_counters(adapter, counter, 256);

	(void)state;
	assert_in_range(n, 80, 256);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(counter[i].name && *counter[i].name);
		assert_true(counter[i].text && *counter[i].text);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(counter[i].name, counter[j].name);
	}
	assert_int_equal(plx_adapter_counters(adapter, few, 2), n);
	assert_non_null(few[1].name);
	assert_null(few[2].name);
	assert_int_equal(plx_adapter_counters(adapter, NULL, 0), n);
}

static void
queue_pairs_are_listed_and_shown(void **state)
{
	struct plx_counter counter[256];
	struct plx_qp_info info;
	char question[64], list[128];

	(void)state;
	strcpy(list, "{\"/pollux/qps\":[");
	for (int i = 0; i < QPS; i++) {
		assert_int_equal(plx_qp_query(qp[i], &info), PLX_OK);
		sprintf(list + strlen(list), "%s%u", i ? "," : "", info.qpn);
		snprintf(question, sizeof(question), "/pollux/qp,seen,%u", info.qpn);
		ask(question);
		has(answer, i == 1 ? "\"state\":\"error\"" : "\"state\":\"reset\"");
		has(answer, "\"type\":\"RC\"");
		has(answer, "\"sq_depth\":8");
		snprintf(question, sizeof(question), "\"context\":%d", 100 + i);
		has(answer, question);
		has_counters(answer, counter, plx_qp_counters(qp[i], counter, 256));
		snprintf(question, sizeof(question), "/pollux/qp,seen,0x%x", info.qpn);
		has(ask(question), "\"sq_depth\":8");
	}
	strcat(list, "]}");
	assert_string_equal(ask("/pollux/qps,seen"), list);
	ask("/pollux/qps,seen,2");
	assert_null(strchr(answer, ','));
	assert_string_equal(ask("/pollux/qps,seen,3"), "{\"/pollux/qps\":[]}");
}

static void
questions_that_are_wrong_have_no_answer(void **state)
{
	static const char *const wrong[] = {
		"/pollux/adapter",        "/pollux/adapter,none", "/pollux/adapter,",
		"/pollux/adapter,seen,1", "/pollux/qps",          "/pollux/qps,none",
		"/pollux/qps,seen,x",     "/pollux/qp,seen",      "/pollux/qp,seen,",
		"/pollux/qp,seen,0",      "/pollux/qp,seen,12x",  "/pollux/qp,none,5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!strstr(ask(wrong[i]), ":null}"))
			fail_msg("%s has the answer %s", wrong[i], answer);
	ask("/pollux/adapter,a_name_that_is_longer_than_any_parameter_can_be_"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	has(answer, "null");
}

static void
a_closed_adapter_is_gone(void **state)
{
	struct plx_adapter *other;
	struct plx_adapter_options adapter_options;

	(void)state;
	plx_adapter_options_init(&adapter_options);
	strcpy(adapter_options.device, "net_wire0,end=1");
	adapter_options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, 2}};
	adapter_options.address[0].prefix_bits = 24;
	adapter_options.addresses = 1;
	adapter_options.packets = 2048;
	adapter_options.idle = PLX_IDLE_YIELD;
	assert_int_equal(plx_adapter_open("other", &adapter_options, &other, NULL), PLX_OK);
	has(ask("/pollux/list"), "[\"seen\",\"other\"]");
	has(ask("/pollux/adapter,other"), "\"mode\":\"worker\"");
	assert_int_equal(plx_adapter_close(other), PLX_OK);
	has(ask("/pollux/list"), "[\"seen\"]");
	has(ask("/pollux/adapter,other"), "null");
}

/* ---- set-up ---- */

static int
connect_telemetry(void)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX};

	snprintf(path.sun_path, sizeof(path.sun_path), "%s/dpdk_telemetry.v2",
		 rte_eal_get_runtime_dir());
	telemetry = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (connect(telemetry, (struct sockaddr *)&path, sizeof(path)))
		return -1;
	/* the server opens with its version */
	return recv(telemetry, answer, ANSWER_MAX, 0) > 0 ? 0 : -1;
}

static int
set_up(void **state)
{
	struct plx_qp_options options = {.sq_depth = 8, .rq_depth = 8};
	struct plx_cq_options depth = {.depth = 64};
	struct plx_adapter_options adapter_options;
	struct plx_why why = {""};

	(void)state;
	plx_adapter_options_init(&adapter_options);
	strcpy(adapter_options.device, "net_wire0,end=0");
	adapter_options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, 1}};
	adapter_options.address[0].prefix_bits = 24;
	adapter_options.address[1].ip = (struct plx_ip){.version = 6, .v = {0xfd, [15] = 1}};
	adapter_options.address[1].prefix_bits = 64;
	adapter_options.addresses = 2;
	adapter_options.mode = PLX_MODE_INLINE;
	adapter_options.interface_index = 77;
	adapter_options.packets = 2048;
	if (plx_eal_start("--no-huge -m 256", &why) != PLX_OK ||
	    plx_adapter_open("seen", &adapter_options, &adapter, &why) != PLX_OK) {
		print_error("%s\n", why.text);
		return -1;
	}
	assert_int_equal(plx_pd_create(adapter, &pd), PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &depth, &cq), PLX_OK);
	options.send_cq = options.recv_cq = cq;
	for (int i = 0; i < QPS; i++) {
		options.context = 100 + (uint64_t)i;
		assert_int_equal(plx_qp_create(pd, &options, &qp[i], &why), PLX_OK);
	}
	assert_int_equal(plx_qp_flush(qp[1]), PLX_OK);
	return connect_telemetry();
}

static int
tear_down(void **state)
{
	(void)state;
	close(telemetry);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(plx_qp_destroy(qp[i]), PLX_OK);
	assert_int_equal(plx_cq_destroy(cq), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	return plx_adapter_close(adapter) == PLX_OK ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_commands_are_listed),
		cmocka_unit_test(open_adapters_are_listed),
		cmocka_unit_test(an_adapter_shows_what_it_is_and_counts),
		cmocka_unit_test(counters_have_names_of_their_own),
		cmocka_unit_test(queue_pairs_are_listed_and_shown),
		cmocka_unit_test(questions_that_are_wrong_have_no_answer),
		cmocka_unit_test(a_closed_adapter_is_gone),
	};

	unsetenv("POLLUX_CONFIG");
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
