/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Log lines for operators: why a queue pair failed, who was refused, and what is wrong with a
 * machine. The thread that fetches the event or opens the adapter writes them, never an engine's
 * thread. At most PLX_LOG_LINES_PER_S are written, since a peer can make many queue pairs fail.
 * Start with plx_log_async_event().
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plx_process.h"

enum {
	LINE_BYTES = PLX_ASYNC_EVENT_TEXT_BYTES + 128,
};

static struct {
	pthread_mutex_t lock;
	void (*write)(void *context, const char *line);
	void *context;
	time_t second; /* in which `written` lines were written */
	uint32_t written;
	uint64_t left_out; /* lines suppressed since the last one */
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER};

char *
plx_async_event_text(const struct plx_async_event *event, char *text, size_t bytes)
{
	const struct plx_qp_failure *failure = &event->failure;

	if (event->kind != PLX_EVENT_FAILED) {
		snprintf(text, bytes, "%s", plx_event_text((enum plx_event_kind)event->kind));
		return text;
	}
	snprintf(text, bytes,
		 "queue pair 0x%06" PRIx32 " (peer 0x%06" PRIx32 ") failed: %s; oldest PSN not "
		 "acknowledged 0x%06" PRIx32 ", next PSN expected 0x%06" PRIx32
		 "; %u of %u retries and %u of %u RNR retries spent; the engine stalled for up to "
		 "%" PRIu64 " ms in the last 10 s",
		 event->qpn, failure->peer_qpn, plx_wc_text((enum plx_wc_status)event->cause),
		 failure->psn_unacked, failure->psn_expected, failure->retries, failure->retry_max,
		 failure->rnr_retries, failure->rnr_retry_max, failure->stall_ns / PLX_MSEC);
	return text;
}

void
plx_log_to(void (*write)(void *context, const char *line), void *context)
{
	pthread_mutex_lock(&sink.lock);
	sink.write = write;
	sink.context = context;
	pthread_mutex_unlock(&sink.lock);
}

static void
to_stderr(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "pollux: %s\n", line);
}

/* The lock is held.
 * Returns: true: one more line may be written in this second */
static bool
may_write(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec != sink.second) {
		sink.second = now.tv_sec;
		sink.written = 0;
	}
	if (sink.written >= PLX_LOG_LINES_PER_S) {
		sink.left_out++;
		return false;
	}
	sink.written++;
	return true;
}

static void
write_line(void (*write)(void *context, const char *line), const char *line)
{
	char more[LINE_BYTES + 64];

	if (sink.left_out == 0) {
		write(sink.context, line);
		return;
	}
	snprintf(more, sizeof(more), "%s (%" PRIu64 " lines before this one were left out)", line,
		 sink.left_out);
	sink.left_out = 0;
	write(sink.context, more);
}

void
plx_log_line(const char *format, ...)
{
	void (*write)(void *context, const char *line);
	char line[LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&sink.lock);
	write = sink.write;
	if (write == NULL && secure_getenv("POLLUX_LOG") != NULL)
		write = to_stderr;
	if (write != NULL && may_write())
		write_line(write, line);
	pthread_mutex_unlock(&sink.lock);
}

void
plx_log_async_event(const char *adapter, const struct plx_async_event *event)
{
	char text[PLX_ASYNC_EVENT_TEXT_BYTES];

	plx_log_line("%s: %s", adapter, plx_async_event_text(event, text, sizeof(text)));
}
