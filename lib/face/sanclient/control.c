/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control of a session: asked for, taken, given away. Start with control_acquire().
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

#include "client.h"
#include "plx_session.h"

enum {
	SPIN_NS = 20000,    /* before it sleeps: a round trip or two */
	FLUSH_NS = 1000000, /* longest wait for credits at the end of a call */
	LOOK_MS = 250, /* longest sleep: another thread may have taken what was to wake this one */
	RELAY_MS = 10000, /* longest wait for a relay: it begins later all the same */
	CLOSE_MS = 5000,  /* longest wait for a turn that was asked for before a close */
};

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PLX_SEC + (uint64_t)t.tv_nsec;
}

/* ---- running ---- */

void
control_run(struct session *session)
{
	if (!session->controls)
		return;
	san_companion_run(&session->companion, now());
	(void)san_segment_publish(&session->segment, &session->companion.stream);
}

void
control_kick(struct session *session)
{
	if (session->sleepers > 0)
		(void)eventfd_write(session->kick, session->sleepers);
}

/* What completes meanwhile must not be missed: arm, then look. */
static bool
has_more(struct session *session, int fds[PLX_SANQP_FDS])
{
	uint64_t before = session->companion.completed;

	if (!plx_sanqp_arm(session->companion.s, fds))
		return false;
	control_run(session);
	return session->companion.completed != before || session->companion.given ||
	       session->companion.stream.end != PLX_SAN_END_NOT;
}

static bool
spins(struct session *session)
{
	uint64_t end = now() + SPIN_NS;
	uint64_t before = session->companion.completed;

	do {
		control_run(session);
		if (session->companion.completed != before)
			return true;
	} while (now() < end);
	return false;
}

void
control_sleep(struct session *session, int ms)
{
	struct pollfd fds[4] = {{client.control, POLLIN, 0}, {session->kick, POLLIN, 0}};
	int of[PLX_SANQP_FDS], n = 2;
	eventfd_t ignored;

	if (session->controls && (spins(session) || has_more(session, of)))
		return;
	if (session->controls)
		for (int i = 0; i < PLX_SANQP_FDS; i++)
			fds[n++] = (struct pollfd){of[i], POLLIN, 0};
	__atomic_add_fetch(&session->sleepers, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&session->lock);
	(void)poll(fds, (nfds_t)n, ms < 0 || ms > LOOK_MS ? LOOK_MS : ms);
	(void)eventfd_read(session->kick, &ignored);
	client_hear();
	pthread_mutex_lock(&session->lock);
	__atomic_sub_fetch(&session->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* ---- taking and giving ---- */

static int
take_rest(struct session *session, const struct plx_san_stream *stream)
{
	session->controls = san_companion_take_rest(&session->companion, &client.call, stream,
						    &session->segment.rings);
	return session->controls ? 0 : ECONNRESET;
}

/* Its memory for messages is made with the first time. */
static int
take(struct session *session, uint32_t token)
{
	WSAPROTOCOL_INFOW info = {
		.iAddressFamily = session->local.ip.version == 6 ? AF_INET6 : AF_INET,
		.iSocketType = SOCK_STREAM,
		.iProtocol = IPPROTO_TCP,
		.dwProviderReserved = token,
	};
	struct plx_san_stream stream = session->segment.shared->stream; /* copied, then judged */

	if (memcmp(&stream.config, &session->segment.config, sizeof(stream.config)) != 0)
		return ECONNRESET;
	if (token == 0)
		return take_rest(session, &stream);
	if (session->messages == NULL)
		session->messages =
			plx_mem_alloc(san_companion_bytes(&session->segment.config), -1, NULL);
	if (session->messages == NULL)
		return ENOMEM;
	/* The peer may have closed meanwhile. */
	if (san_companion_take(&session->companion, &client.call, &info, &stream,
			       &session->segment.rings, session->messages) != 0)
		return take_rest(session, &stream);
	session->controls = true;
	return 0;
}

static void
give(struct session *session)
{
	struct san_companion *companion = &session->companion;
	uint32_t token = 0;
	bool rest;

	if (session->giving) { /* another thread does */
		control_sleep(session, 100);
		return;
	}
	session->giving = true;
	san_companion_pass(companion, session->name);
	control_run(session);
	while (!companion->given && companion->stream.end == PLX_SAN_END_NOT) {
		control_sleep(session, 100);
		control_run(session);
	}
	rest = !companion->given && san_companion_has_ended_well(companion);
	if (companion->given || rest) {
		(void)san_segment_publish(&session->segment, &session->companion.stream);
		session->segment.shared->stream = companion->stream;
		token = rest ? 0 : companion->info.dwProviderReserved;
	}
	san_companion_close(companion);
	session->controls = session->wanted = session->giving = false;
	session->gives++;
	client_tell(session, SAN_CONTROL_GAVE, rest, token, 0);
}

static void
give_if_wanted(struct session *session)
{
	if (session->controls && session->wanted && !session->over)
		give(session);
}

void
control_attend(struct session *session)
{
	uint32_t told = atomic_load(&session->segment.shared->told);
	struct inbox inbox;

	/* No system call where nothing was said. Who sleeps hears in any case. */
	if (told != session->heard)
		client_hear();
	session->heard = told;
	pthread_mutex_lock(&client.lock);
	inbox = session->inbox;
	session->inbox = (struct inbox){.error = 0};
	pthread_mutex_unlock(&client.lock);
	if (inbox.take)
		client_tell(session, SAN_CONTROL_TOOK, 0, 0, take(session, inbox.token));
	session->turn |= inbox.turn;
	if (inbox.turn || inbox.over)
		control_kick(session); /* it may be another thread's matter */
	if (inbox.wanted) {
		session->wanted = session->controls;
		session->name = inbox.name;
	}
	if (inbox.relayed && !session->relayed) {
		session->relayed = true;
		session->asked = session->turn = false;
		client_relayed(session);
		control_kick(session);
	}
	if (inbox.over && !session->over) {
		session->over = true;
		session->error = inbox.error;
	}
}

static bool
is_free(const struct session *session)
{
	return session->turn ||
	       (!session->wanted && atomic_load(&session->segment.shared->waiting) == 0);
}

/* What this process knows of the end of a connection is in its stream, if it has control. */
int
control_acquire(struct session *session, int waits_ms)
{
	uint64_t end = waits_ms < 0 ? UINT64_MAX : now() + (uint64_t)waits_ms * PLX_MSEC;

	for (;;) {
		control_attend(session);
		if (session->relayed)
			return EREMOTE;
		if (session->controls && (session->over || is_free(session)))
			return 0;
		if (session->over)
			return ESHUTDOWN;
		if (session->controls && session->wanted) {
			give(session);
			continue;
		}
		if (!session->asked) {
			session->asked = true;
			client_tell(session, SAN_CONTROL_ASK, plx_sanqp_process(session->adapter),
				    0, 0);
		}
		if (now() >= end)
			return EAGAIN;
		control_sleep(session, waits_ms < 0 ? -1 : 1);
	}
}

void
control_release(struct session *session)
{
	if (session->turn) {
		session->turn = session->asked = false;
		client_tell(session, SAN_CONTROL_DONE, 0, 0, 0);
	}
	control_attend(session);
	give_if_wanted(session);
	control_kick(session);
}

/* Another thread may give control away meanwhile, and even have it again. */
static void
await_wanted(struct session *session)
{
	uint64_t gives = session->gives;

	while (session->controls && !session->over && session->gives == gives) {
		if (session->wanted)
			give(session);
		else
			control_sleep(session, 100);
		control_attend(session);
	}
}

static void
call_broker_in(struct session *session)
{
	if (!session->controls || session->over)
		return;
	client_tell(session, SAN_CONTROL_IDLE, 0, 0, 0);
	await_wanted(session);
}

/* Is there something that was written and is in no message yet? */
static bool
has_unsent(const struct session *session)
{
	const struct plx_san_stream *stream = &session->companion.stream;
	const struct plx_san_out *out = &stream->out;

	return session->controls && !session->over && stream->end == PLX_SAN_END_NOT &&
	       (out->put != out->sent || out->urgent || (out->fin_wanted && !out->fin));
}

/* A program that computes sends nothing and hears nothing. So what it has written is sent before a
 * call ends, or by the broker if the other end takes its time; and one that shares a session keeps
 * no control of it. */
void
control_leave(struct session *session)
{
	uint64_t end = now() + FLUSH_NS;

	control_release(session);
	while (has_unsent(session) && now() < end) {
		control_sleep(session, 1);
		control_run(session);
	}
	if (has_unsent(session) || atomic_load(&session->segment.shared->holders) > 1)
		call_broker_in(session);
}

void
control_share(struct session *session)
{
	control_attend(session);
	call_broker_in(session);
}

void
control_relay(struct session *session)
{
	uint64_t end = now() + RELAY_MS * PLX_MSEC;

	if (!session->relayed && !session->over)
		client_tell(session, SAN_CONTROL_RELAY, 0, 0, 0);
	while (!session->relayed && !session->over && now() < end) {
		control_sleep(session, 100);
		control_attend(session);
		give_if_wanted(session);
	}
}

/* Of one that is relayed nothing is said: its process may be permitted no such call. */
void
control_close(struct session *session)
{
	if (session->relayed)
		return;
	if (session->asked && !session->turn && !session->over)
		(void)control_acquire(session, CLOSE_MS);
	control_release(session);
	client_tell(session, SAN_CONTROL_CLOSE, session->aborts, 0, 0);
	if (!session->over)
		await_wanted(session);
	if (session->controls)
		san_companion_close(&session->companion);
	session->controls = false;
}
