/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the broker tells of itself: its sessions, and which connections it left to the kernel and
 * why. docs/sockets.md says what the members mean. Start with broker_show().
 */
#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "broker.h"

enum {
	ADDRESS_TEXT = INET6_ADDRSTRLEN + 8, /* [address]:port */
};

static const char *reason_text(enum fallback_reason value);

#define SENTENCE(name, text) [name] = (text),
PLX_TEXT_FUNCTION(reason_text, enum fallback_reason, FALLBACK_COUNT, FALLBACK_REASONS, SENTENCE,
		  "unknown")
#undef SENTENCE

static const char *
address_text(const struct san_address *address, char text[static ADDRESS_TEXT])
{
	bool v6 = address->ip.version == 6;
	char ip[INET6_ADDRSTRLEN] = "?";

	inet_ntop(v6 ? AF_INET6 : AF_INET, address->ip.v, ip, sizeof(ip));
	snprintf(text, ADDRESS_TEXT, v6 ? "[%s]:%u" : "%s:%u", ip, address->port);
	return text;
}

/* ---- connections that the kernel was left to make ---- */

void
broker_fall_back(struct san_broker *broker, const struct san_address *address, bool listens,
		 enum fallback_reason reason, int error)
{
	char text[ADDRESS_TEXT];

	broker->count.fallback++;
	broker->reason[reason]++;
	if (reason == FALLBACK_NO_RULE)
		return; /* as it is meant to be */
	broker->fallback[broker->fallbacks++ % FALLBACKS_KEPT] =
		(struct fallback){*address, listens, reason, error, broker_now()};
	broker_log(broker, "%s %s by TCP: %s (%d)", listens ? "listening at" : "connecting to",
		   address_text(address, text), reason_text(reason), error);
}

/* ---- as JSON ---- */

/* jansson frees what it cannot add, and refuses what it could not make. */
static void
put(json_t *object, const char *name, json_t *value)
{
	(void)json_object_set_new(object, name, value);
}

static void
put_count(json_t *object, const char *name, uint64_t value)
{
	put(object, name, json_integer((json_int_t)value));
}

static void
put_address(json_t *object, const char *name, const struct san_address *address)
{
	char text[ADDRESS_TEXT];

	put(object, name, json_string(address_text(address, text)));
}

static double
seconds_since(uint64_t then)
{
	return (double)(broker_now() - then) / (double)PLX_SEC;
}

static json_t *
show_reasons(const struct san_broker *broker)
{
	json_t *reasons = json_object();

	for (enum fallback_reason i = 0; i < FALLBACK_COUNT; i++)
		put_count(reasons, reason_text(i), broker->reason[i]);
	return reasons;
}

/* The newest first. */
static json_t *
show_fallbacks(const struct san_broker *broker)
{
	json_t *list = json_array();

	for (uint64_t i = broker->fallbacks; i > 0 && broker->fallbacks - i < FALLBACKS_KEPT; i--) {
		const struct fallback *fallback = &broker->fallback[(i - 1) % FALLBACKS_KEPT];
		json_t *one = json_object();

		put_address(one, fallback->listens ? "listener" : "peer", &fallback->address);
		put(one, "why", json_string(reason_text(fallback->reason)));
		put(one, "error", json_integer(fallback->error));
		put(one, "age", json_real(seconds_since(fallback->when)));
		(void)json_array_append_new(list, one);
	}
	return list;
}

static json_t *
show_listeners(struct san_broker *broker)
{
	json_t *list = json_array();
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->listeners) {
		const struct listener *listener = plx_list_entry(node, struct listener, link);
		json_t *one = json_object();

		if (listener->s != INVALID_SOCKET)
			put_address(one, "local", &listener->local);
		(void)json_array_append_new(list, one);
	}
	return list;
}

/* Who asks learns of programs of other users that they are there, as of the kernel's sockets. */
static json_t *
show_pid(const struct program *asker, const struct program *program)
{
	return asker->uid == 0 || asker->uid == program->uid ? json_integer(program->pid)
							     : json_null();
}

static const char *
state_text(const struct session *session)
{
	static const char *const texts[] = {
		[SESSION_CONNECTING] = "connecting",
		[SESSION_HELLO] = "greeting",
		[SESSION_UP] = "up",
		[SESSION_CLOSING] = "closing",
		[SESSION_OVER] = "over",
	};

	return texts[session->state];
}

/* Programs write these words; what they show harms nobody. */
static void
put_stream(json_t *one, const struct session *session)
{
	const struct san_shared *shared = session->segment.shared;
	struct plx_san_stream stream;
	const uint32_t ready = atomic_load(&shared->ready);
	const uint32_t marks = !!(ready & SAN_READY_END) + !!(ready & SAN_READY_URGENT);

	put_count(one, "received", atomic_load(&shared->arrived) - marks);
	put_count(one, "sent", atomic_load(&shared->released));
	san_segment_stream(&session->segment, &stream);
	put_count(one, "credits", stream.out.posted - stream.out.messages);
	put_count(one, "epoch", stream.epoch);
}

static json_t *
show_session(const struct program *asker, struct session *session)
{
	json_t *one = json_object(), *programs = json_array(), *controller = json_null();
	struct plx_list *node, *after;

	put_count(one, "session", session->number);
	put(one, "state", json_string(state_text(session)));
	put(one, "adapter", json_string(session->adapter));
	put_address(one, "local", &session->local);
	put_address(one, "peer", &session->peer);
	put(one, "accepted", json_boolean(!session->segment.config.connects));
	plx_list_for_each (node, after, &session->holders) {
		const struct program *program = plx_list_entry(node, struct holder, link)->program;

		(void)json_array_append_new(programs, show_pid(asker, program));
		if (session->arbiter.process == program->process) {
			json_decref(controller);
			controller = show_pid(asker, program);
		}
	}
	if (session->controls) {
		json_decref(controller);
		controller = json_string("broker");
	}
	put(one, "controller", controller);
	put(one, "programs", programs);
	put(one, "relayed", json_boolean(session->relay == RELAY_ON));
	put_count(one, "waiting", session->arbiter.count);
	put_count(one, "swaps", session->swaps);
	put_stream(one, session);
	put(one, "age", json_real(seconds_since(session->since)));
	return one;
}

static json_t *
show_sessions(const struct program *asker)
{
	json_t *list = json_array();
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &asker->broker->sessions)
		(void)json_array_append_new(
			list, show_session(asker, plx_list_entry(node, struct session, link)));
	return list;
}

static char *
text_for(const struct program *asker)
{
	struct san_broker *broker = asker->broker;
	json_t *all = json_object();
	char *text;

	put_count(all, "programs", broker->count.programs);
	put_count(all, "swaps", broker->count.swaps);
	put_count(all, "tcp", broker->count.fallback);
	put(all, "tcp_why", show_reasons(broker));
	put(all, "tcp_last", show_fallbacks(broker));
	put(all, "listeners", show_listeners(broker));
	put(all, "sessions", show_sessions(asker));
	text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(all);
	return text;
}

/* A descriptor of a text. -1: there is no room for one */
static int
memory_of(const char *text)
{
	int fd = text != NULL ? memfd_create("pollux-show", MFD_CLOEXEC) : -1;
	size_t n = text != NULL ? strlen(text) : 0;

	for (size_t at = 0; fd >= 0 && at < n;) {
		ssize_t written = write(fd, text + at, n - at);

		if (written <= 0) {
			close(fd);
			return -1;
		}
		at += (size_t)written;
	}
	return fd;
}

int
broker_show(const struct program *asker)
{
	char *text = text_for(asker);
	int fd = memory_of(text);

	free(text);
	return fd;
}
