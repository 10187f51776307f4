/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log line that says why a queue pair failed: written once, with all the details, and never
 * more lines than the limit. Start with the table of tests at the end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_pair.h"
#include "adapter.h"

static struct {
	uint32_t lines;
	uint64_t left_out; /* that the lines have reported */
	char last[1024];
} heard;

static void
hear_line(void *context, const char *line)
{
	const char *more = strstr(line, " (");

	assert_ptr_equal(context, &heard);
	assert_null(strchr(line, '\n'));
	heard.lines++;
	snprintf(heard.last, sizeof(heard.last), "%s", line);
	while (more != NULL && strstr(more, "were left out") != NULL) {
		unsigned long n = strtoul(more + 2, NULL, 10);

		if (n > 0)
			heard.left_out += n;
		more = n > 0 ? NULL : strstr(more + 2, " (");
	}
}

static void
listen_to_log(void)
{
	memset(&heard, 0, sizeof(heard));
	plx_log_to(hear_line, &heard);
}

/* The limit counts by seconds of the clock: earlier lines must not count here. */
static void
await_next_second(void)
{
	uint64_t second = test_ns() / PLX_SEC;

	pair_until(test_ns() / PLX_SEC > second);
}

static void
the_cause_of_a_failed_queue_pair_is_said_once(void **state)
{
	struct pair_options options = pair_usual();
	char text[PLX_ASYNC_EVENT_TEXT_BYTES], number[16];
	struct plx_async_event event;
	struct plx_qp_info info;
	struct beyond beyond;
	struct pair *pair;

	(void)state;
	options.attr.retry = 2;
	options.attr.ack_timeout = 8; /* 1 ms */
	pair = pair_open(&options);
	beyond = at_peer(&pair->b, 0);
	assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_OK);
	snprintf(number, sizeof(number), "0x%06x", info.qpn);
	pair_drop_asyncs(pair->a.adapter);
	await_next_second();
	listen_to_log();
	assert_int_equal(plx_qp_destroy(pair->b.qp), PLX_OK);
	pair->b.qp = NULL;
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 8, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_RETRY_EXCEEDED);
	do
		event = pair_async_event(pair->a.adapter);
	while (event.kind != PLX_EVENT_FAILED);
	pair_settle();
	pair_drop_asyncs(pair->a.adapter);
	assert_int_equal(event.cause, PLX_WC_RETRY_EXCEEDED);
	assert_int_equal(event.failure.retries, 2);
	assert_int_equal(event.failure.retry_max, 2);
	assert_int_equal(heard.lines, 1);
	assert_ptr_equal(plx_async_event_text(&event, text, sizeof(text)), text);
	assert_non_null(strstr(heard.last, text));
	assert_non_null(strstr(text, number));
	assert_non_null(strstr(text, plx_wc_text(PLX_WC_RETRY_EXCEEDED)));
	assert_non_null(strstr(text, "2 of 2 retries"));
	assert_non_null(strstr(text, "the engine stalled for up to"));
	plx_log_to(NULL, NULL);
	pair_close(pair);
}

/* The longest possible text fits; a shorter buffer gets its beginning. */
static void
the_longest_text_fits(void **state)
{
	struct plx_async_event event = {.kind = PLX_EVENT_FAILED, .qpn = PLX_PSN_MASK};
	char text[PLX_ASYNC_EVENT_TEXT_BYTES + 1], cut[10];

	(void)state;
	memset(&event.failure, 0xff, sizeof(event.failure));
	event.failure.peer_qpn = event.failure.psn_unacked = event.failure.psn_expected =
		PLX_PSN_MASK;
	for (uint8_t cause = 0; cause < PLX_WC_COUNT; cause++) {
		event.cause = cause;
		plx_async_event_text(&event, text, sizeof(text));
		assert_true(strlen(text) < PLX_ASYNC_EVENT_TEXT_BYTES);
		plx_async_event_text(&event, cut, sizeof(cut));
		assert_int_equal(strlen(cut), sizeof(cut) - 1);
		assert_memory_equal(cut, text, sizeof(cut) - 1);
	}
	for (uint8_t kind = 0; kind < PLX_EVENT_COUNT; kind++) {
		event.kind = kind;
		assert_true(strlen(plx_async_event_text(&event, text, sizeof(text))) > 0);
	}
}

static void
more_lines_than_the_limit_are_counted(void **state)
{
	const struct plx_async_event event = {.kind = PLX_EVENT_FAILED, .cause = PLX_WC_FLUSHED};
	const uint32_t calls = 1000;
	uint64_t from;

	(void)state;
	await_next_second();
	listen_to_log();
	from = test_ns() / PLX_SEC;
	for (uint32_t i = 0; i < calls; i++)
		plx_log_async_event("test", &event);
	assert_true(heard.lines >= PLX_LOG_LINES_PER_S);
	assert_true(heard.lines <= PLX_LOG_LINES_PER_S * (test_ns() / PLX_SEC - from + 1));
	await_next_second();
	plx_log_async_event("test", &event);
	assert_int_equal(heard.lines + heard.left_out, calls + 1);
	plx_log_to(NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(the_cause_of_a_failed_queue_pair_is_said_once),
		PAIR_TEST(the_longest_text_fits),
		PAIR_TEST(more_lines_than_the_limit_are_counted),
	};

	return pair_run("log", tests, PLX_COUNT_OF(tests));
}
