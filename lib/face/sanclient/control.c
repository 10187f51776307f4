/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control of a session: asked for, taken, given away. Start with control_acquire().
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>

#include "client.h"
#include "plx_session.h"

enum {
	LOOKS = 40,         /* before it sleeps: a round trip or two */
	SPIN_NS = 200000,   /* ... while others have the core meanwhile */
	HOG_NS = 400000,    /* whoever has it longer does something else */
	CROWDED = 4000,     /* looks until the core is given again */
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

/* ---- between calls ---- */

/* May the broker take control between calls? Not of the rest of a connection that is over: nothing
 * of that is the host's. */
static bool
is_lent(const struct session *session)
{
	return session->controls && session->companion.s != INVALID_SOCKET;
}

/* What the broker has taken is closed when it has it: not while it still takes it. */
static void
bury(struct session *session)
{
	if (!session->lost || atomic_load(&session->segment.shared->word) ==
				      san_word(session->process, SAN_WORD_SEIZED))
		return;
	san_companion_close(&session->companion);
	session->lost = false;
}

static void
lose(struct session *session)
{
	session->lost = true;
	session->controls = session->wanted = session->calls_in = false;
	session->gives++;
}

static void
begin(struct session *session)
{
	uint64_t idle = san_word(session->process, SAN_WORD_IDLE);

	if (is_lent(session) &&
	    !atomic_compare_exchange_strong(&session->segment.shared->word, &idle,
					    san_word(session->process, SAN_WORD_BUSY)))
		lose(session);
	bury(session);
}

static void
end(struct session *session)
{
	if (is_lent(session))
		atomic_store(&session->segment.shared->word,
			     san_word(session->process, SAN_WORD_IDLE));
}

void
control_lock(struct session *session)
{
	pthread_mutex_lock(&session->lock);
	begin(session);
}

static void release_unused(struct session *session);

/* What the broker says meanwhile it says before it looks whether control can be taken, and here it
 * is the other way round: one of both notices. */
void
control_unlock(struct session *session)
{
	const _Atomic uint32_t *told = &session->segment.shared->told;

	end(session);
	while (is_lent(session) && atomic_load(told) != session->heard) {
		begin(session);
		control_attend(session);
		release_unused(session);
		end(session);
	}
	if (session->calls_in)
		client_tell(session, SAN_CONTROL_IDLE, 0, 0, 0);
	session->calls_in = false;
	pthread_mutex_unlock(&session->lock);
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

/* What has completed meanwhile the next call sees. */
void
control_changed(struct session *session)
{
	if (!session->controls)
		return;
	san_companion_record(&session->companion);
	san_companion_step(&session->companion, now());
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

/* The other end may be on this core. Who keeps it instead is not given it again for a while.
 * Returns: the time */
static uint64_t
yield(uint64_t before)
{
	static _Atomic uint32_t crowded; /* looks without */
	uint32_t left = atomic_load_explicit(&crowded, memory_order_relaxed);
	uint64_t after;

	if (left == 0)
		sched_yield();
	after = now();
	if (left > 0)
		left--;
	else if (after - before >= HOG_NS)
		left = CROWDED;
	atomic_store_explicit(&crowded, left, memory_order_relaxed);
	return after;
}

bool
control_spin(struct session *session)
{
	uint64_t before = session->companion.completed;
	uint64_t begin = now(), at = begin;

	for (uint32_t looks = 0; looks < LOOKS && at - begin < SPIN_NS; looks++) {
		at = yield(at);
		control_run(session);
		if (session->companion.completed != before)
			return true;
	}
	return false;
}

void
control_sleep(struct session *session, int ms)
{
	if (!session->controls || !control_spin(session))
		control_doze(session, ms);
}

void
control_doze(struct session *session, int ms)
{
	struct pollfd fds[4] = {{client.control, POLLIN, 0}, {session->kick, POLLIN, 0}};
	int of[PLX_SANQP_FDS], n = 2;
	eventfd_t ignored;

	if (session->controls && has_more(session, of)) {
		/* Of one that has ended there is always more: its broker may have gone as well. */
		if (session->companion.stream.end != PLX_SAN_END_NOT)
			client_hear();
		return;
	}
	if (session->controls)
		for (int i = 0; i < PLX_SANQP_FDS; i++)
			fds[n++] = (struct pollfd){of[i], POLLIN, 0};
	__atomic_add_fetch(&session->sleepers, 1, __ATOMIC_SEQ_CST);
	end(session);
	pthread_mutex_unlock(&session->lock);
	(void)poll(fds, (nfds_t)n, ms < 0 || ms > LOOK_MS ? LOOK_MS : ms);
	(void)eventfd_read(session->kick, &ignored);
	client_hear();
	control_lock(session);
	__atomic_sub_fetch(&session->sleepers, 1, __ATOMIC_SEQ_CST);
}

/* ---- taking and giving ---- */

static int
take_rest(struct session *session, const struct plx_san_stream *stream)
{
	struct san_companion *companion = &session->companion;

	session->controls =
		san_companion_take_rest(companion, &client.call, stream, &session->segment.rings);
	if (!session->controls)
		return ECONNRESET;
	san_companion_record_in(companion, &session->segment.shared->records);
	return 0;
}

static int
take(struct session *session, uint32_t token)
{
	WSAPROTOCOL_INFOW info = {
		.iAddressFamily = session->local.ip.version == 6 ? AF_INET6 : AF_INET,
		.iSocketType = SOCK_STREAM,
		.iProtocol = IPPROTO_TCP,
		.dwProviderReserved = token,
	};
	struct san_companion *companion = &session->companion;
	struct plx_san_stream stream;

	bury(session);
	san_segment_stream(&session->segment, &stream);
	if (memcmp(&stream.config, &session->segment.config, sizeof(stream.config)) != 0)
		return ECONNRESET;
	if (token == 0)
		return take_rest(session, &stream);
	/* The peer may have closed meanwhile. */
	if (san_companion_take(companion, &client.call, &info, &stream, &session->segment.rings,
			       session->segment.messages) != 0)
		return take_rest(session, &stream);
	session->controls = true;
	san_companion_go_on_in(companion, &session->segment.shared->records);
	session->process = plx_sanqp_process(session->adapter);
	atomic_store(&session->segment.shared->word, san_word(session->process, SAN_WORD_BUSY));
	return 0;
}

/* The companion has nothing in progress any more, or the connection has ended. */
static void
hand_over(struct session *session)
{
	struct san_companion *companion = &session->companion;
	bool rest = !companion->given && san_companion_has_ended_well(companion);
	uint32_t token = 0;

	if (companion->given || rest) {
		(void)san_segment_publish(&session->segment, &companion->stream);
		san_companion_record_in(companion, &session->segment.shared->records);
		token = rest ? 0 : companion->info.dwProviderReserved;
	}
	san_companion_close(companion);
	session->controls = session->wanted = session->calls_in = false;
	session->gives++;
	atomic_store(&session->segment.shared->word, SAN_WORD_BROKER);
	client_tell(session, SAN_CONTROL_GAVE, rest, token, 0);
}

static void
give(struct session *session)
{
	struct san_companion *companion = &session->companion;

	if (session->giving) { /* another thread does */
		control_sleep(session, 100);
		return;
	}
	session->giving = true;
	san_companion_pass(companion, session->name);
	control_run(session);
	while (session->controls && !companion->given && companion->stream.end == PLX_SAN_END_NOT) {
		control_sleep(session, 100);
		control_run(session);
	}
	session->giving = false;
	if (session->controls)
		hand_over(session);
}

static void
give_if_wanted(struct session *session)
{
	if (session->controls && session->wanted && !session->over)
		give(session);
}

/* One of those that waited has ended: the others count themselves again. */
static void
count_anew(struct session *session)
{
	struct san_shared *shared = session->segment.shared;
	uint32_t census = atomic_load(&shared->census);

	if (session->parked == 0 || census == session->census)
		return;
	session->census = census;
	atomic_fetch_add(&shared->parked, session->parked);
}

static struct inbox
empty_inbox(struct session *session)
{
	struct inbox inbox;

	pthread_mutex_lock(&client.lock);
	inbox = session->inbox;
	session->inbox = (struct inbox){.error = 0};
	atomic_store(&session->mail, false);
	pthread_mutex_unlock(&client.lock);
	return inbox;
}

static void
act_upon(struct session *session, const struct inbox *inbox)
{
	if (inbox->take)
		client_tell(session, SAN_CONTROL_TOOK, 0, 0, take(session, inbox->token));
	session->turn |= inbox->turn;
	if (inbox->turn || inbox->over)
		control_kick(session); /* it may be another thread's matter */
	if (inbox->wanted) {
		session->wanted = session->controls;
		session->name = inbox->name;
	}
	if (inbox->relayed && !session->relayed) {
		session->relayed = true;
		session->asked = session->turn = false;
		client_relayed(session);
		control_kick(session);
	}
	if (inbox->over && !session->over) {
		session->over = true;
		session->error = inbox->error;
	}
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
	count_anew(session);
	if (!atomic_load(&session->mail))
		return;
	inbox = empty_inbox(session);
	act_upon(session, &inbox);
}

/* Whoever has asked waits for its turn, which may be on its way while nobody waits any more. */
static bool
is_free(const struct session *session)
{
	return session->turn || (!session->asked && !session->wanted &&
				 atomic_load(&session->segment.shared->waiting) == 0);
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

/* Others have their turn. */
static void
end_turn(struct session *session)
{
	if (!session->turn)
		return;
	session->turn = session->asked = false;
	client_tell(session, SAN_CONTROL_DONE, 0, 0, 0);
}

void
control_release(struct session *session)
{
	end_turn(session);
	control_attend(session);
	give_if_wanted(session);
	control_kick(session);
}

/* A turn that came when its call had given up is not kept, unless another thread may wait for it.
 */
static void
release_unused(struct session *session)
{
	if (session->sleepers == 0)
		end_turn(session);
	give_if_wanted(session);
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

void
control_park(struct session *session)
{
	struct san_shared *shared = session->segment.shared;

	count_anew(session);
	session->parked++;
	atomic_fetch_add(&shared->parked, 1);
	session->census = atomic_load(&shared->census);
	/* Who computes tells nobody. */
	if (!session->controls && !session->over &&
	    (atomic_load(&shared->word) & SAN_WORD_STATE) != SAN_WORD_BROKER)
		client_tell(session, SAN_CONTROL_IDLE, 0, 0, 0);
}

void
control_unpark(struct session *session)
{
	count_anew(session);
	atomic_fetch_sub(&session->segment.shared->parked, 1);
	session->parked--;
}

static bool
others_wait(const struct session *session)
{
	return atomic_load(&session->segment.shared->parked) > session->parked;
}

/* A program that computes sends nothing and hears nothing. So what it has written is sent before a
 * call ends, or by the broker if the other end takes its time; and the broker has control while
 * others wait, or if it could not take it. */
void
control_leave(struct session *session)
{
	uint64_t end = now() + FLUSH_NS;

	control_release(session);
	while (has_unsent(session) && now() < end) {
		control_sleep(session, 1);
		control_run(session);
	}
	if (!session->controls || session->over)
		return;
	if (is_lent(session))
		session->calls_in = has_unsent(session) || others_wait(session);
	else if (others_wait(session))
		call_broker_in(session);
}

void
control_share(struct session *session)
{
	control_attend(session);
	if (!is_lent(session))
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
	for (uint32_t ms = 0; session->lost && ms < CLOSE_MS && !client.gone; ms++) {
		(void)poll(NULL, 0, 1);
		bury(session);
	}
	if (session->controls || session->lost)
		san_companion_close(&session->companion);
	session->controls = false;
}
