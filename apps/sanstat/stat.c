/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See stat.h. What is missing in the answer is printed as - or 0. Start with stat_print().
 */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "stat.h"

enum {
	PROGRAMS_TEXT = 40,
};

static uint64_t
count_of(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static const char *
text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : "-";
}

/* A pid, or - for one of another user. */
static const char *
pid_text(const json_t *pid, char text[static 16])
{
	if (json_is_integer(pid))
		snprintf(text, 16, "%" JSON_INTEGER_FORMAT, json_integer_value(pid));
	else
		snprintf(text, 16, "%s", json_is_string(pid) ? json_string_value(pid) : "-");
	return text;
}

/* Those that do not fit are counted. */
static const char *
programs_text(const json_t *pids, char text[static PROGRAMS_TEXT])
{
	size_t at = 0, n = json_array_size(pids);
	char one[16];

	snprintf(text, PROGRAMS_TEXT, n == 0 ? "none" : "");
	for (size_t i = 0; i < n; i++) {
		(void)pid_text(json_array_get(pids, i), one);
		if (at + strlen(one) + 16 > PROGRAMS_TEXT) {
			snprintf(text + at, PROGRAMS_TEXT - at, "+%zu", n - i);
			break;
		}
		at += (size_t)snprintf(text + at, PROGRAMS_TEXT - at, "%s%s", i == 0 ? "" : ",",
				       one);
	}
	return text;
}

static void
print_session(const json_t *session, FILE *to)
{
	char controller[16], programs[PROGRAMS_TEXT];

	fprintf(to,
		"%7" PRIu64 " %-10s %-8s %-22s %-22s %-10s %-20s %8" PRIu64 " %12" PRIu64
		" %12" PRIu64 " %7" PRIu64 "\n",
		count_of(session, "session"), text_of(session, "state"),
		text_of(session, "adapter"), text_of(session, "local"), text_of(session, "peer"),
		pid_text(json_object_get(session, "controller"), controller),
		programs_text(json_object_get(session, "programs"), programs),
		count_of(session, "swaps"), count_of(session, "received"),
		count_of(session, "sent"), count_of(session, "credits"));
}

static void
print_fallback(const json_t *fallback, FILE *to)
{
	const bool listens = json_object_get(fallback, "listener") != NULL;

	fprintf(to, "%-10s %-22s %.0f s ago: %s (%" PRIu64 ")\n", listens ? "listener" : "peer",
		text_of(fallback, listens ? "listener" : "peer"),
		json_real_value(json_object_get(fallback, "age")), text_of(fallback, "why"),
		count_of(fallback, "error"));
}

bool
stat_print(const char *text, FILE *to)
{
	json_t *all = json_loads(text, 0, NULL), *one;
	const json_t *sessions = json_object_get(all, "sessions");
	const json_t *listeners = json_object_get(all, "listeners");
	const json_t *last = json_object_get(all, "tcp_last");
	size_t i;

	if (!json_is_object(all)) {
		json_decref(all);
		return false;
	}
	fprintf(to,
		"programs %" PRIu64 ", sessions %zu, listeners %zu, swaps %" PRIu64
		", left to TCP %" PRIu64 "\n",
		count_of(all, "programs"), json_array_size(sessions), json_array_size(listeners),
		count_of(all, "swaps"), count_of(all, "tcp"));
	if (json_array_size(sessions) > 0)
		fprintf(to, "%7s %-10s %-8s %-22s %-22s %-10s %-20s %8s %12s %12s %7s\n", "session",
			"state", "adapter", "local", "peer", "controls", "programs", "swaps",
			"received", "sent", "credits");
	json_array_foreach(sessions, i, one) print_session(one, to);
	json_array_foreach(listeners, i, one) fprintf(to, "listening  %s\n", text_of(one, "local"));
	json_array_foreach(last, i, one) print_fallback(one, to);
	json_decref(all);
	return true;
}
