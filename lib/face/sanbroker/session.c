/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions: who has control of one, what the broker does while it is the one, and the end. Start
 * with session_run().
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"

enum {
	RING = 512 * 1024,
	SENDS = 8,
};

/* ---- making ---- */

static struct plx_san_config
config_of(const struct san_broker *broker, bool connects)
{
	return (struct plx_san_config){
		.connects = connects,
		.credits = broker->options.credits,
		.payload_bytes = broker->options.payload_bytes,
		.in_bytes = RING,
		.out_bytes = RING,
		.sends = SENDS,
		.suspend_ns = broker->options.suspend_ms * PLX_MSEC,
	};
}

struct session *
session_make(struct san_broker *broker, SOCKET s, bool connects)
{
	const struct plx_san_config config = config_of(broker, connects);
	struct session *session;

	if (broker->count.sessions == SESSIONS_MAX)
		return NULL;
	session = calloc(1, sizeof(*session));
	if (session == NULL)
		return NULL;
	if (san_segment_make(&session->segment, &config) != 0) {
		free(session);
		return NULL;
	}
	session->broker = broker;
	session->number = ++broker->numbers;
	session->s = s;
	session->since = session->waits = broker_now();
	session->deadline = PLX_NEVER;
	session->socket = session->completions.fd = session->gone.fd = session->anchor.fd = -1;
	plx_list_init(&session->holders);
	plx_san_arbiter_begin(&session->arbiter, BROKER_PROCESS);
	plx_list_append(&broker->sessions, &session->link);
	broker->count.sessions++;
	return session;
}

void
session_free(struct session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders)
		free(plx_list_entry(node, struct holder, link));
	plx_list_remove(&session->link);
	session->broker->count.sessions--;
	san_segment_free(&session->segment);
	free(session);
}

struct session *
session_find(struct san_broker *broker, uint64_t number)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		if (session->number == number && session->state != SESSION_OVER)
			return session;
	}
	return NULL;
}

/* ---- holders ---- */

struct holder *
session_holder(struct session *session, const struct program *program)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders) {
		struct holder *holder = plx_list_entry(node, struct holder, link);

		if (holder->program == program)
			return holder;
	}
	return NULL;
}

struct holder *
session_add_holder(struct session *session, struct program *program)
{
	struct holder *holder = session_holder(session, program);

	if (holder != NULL)
		return holder;
	holder = calloc(1, sizeof(*holder));
	if (holder == NULL)
		return NULL;
	holder->program = program;
	plx_list_append(&session->holders, &holder->link);
	return holder;
}

static void
drop_holder(struct holder *holder)
{
	plx_list_remove(&holder->link);
	free(holder);
}

void
session_forget_leavers(struct session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders) {
		struct holder *holder = plx_list_entry(node, struct holder, link);

		if (holder->leaves)
			drop_holder(holder);
	}
}

static struct holder *
holder_of(struct session *session, uint64_t process)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders) {
		struct holder *holder = plx_list_entry(node, struct holder, link);

		if (holder->program->process == process)
			return holder;
	}
	return NULL;
}

static void
tell_all(struct session *session, enum san_control_kind kind, int error)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders)
		program_tell(plx_list_entry(node, struct holder, link)->program, session, kind, 0,
			     0, error);
}

/* ---- the broker's own control ---- */

static void
sleep_no_more(struct session *session)
{
	broker_unwatch(session->broker, &session->completions, false);
	broker_unwatch(session->broker, &session->gone, false);
}

static void
on_completions(struct watch *watch)
{
	session_run(watch->owner);
}

/* Be woken by what completes from now on. */
static bool
arm(struct session *session)
{
	int fds[PLX_SANQP_FDS];

	if (!plx_sanqp_arm(session->s, fds))
		return false;
	if (session->completions.fd >= 0)
		return true;
	if (!broker_watch(session->broker, &session->completions, fds[0], on_completions, session))
		return false;
	/* All sessions of an adapter have this one in common: the first to watch it is woken. */
	(void)broker_watch(session->broker, &session->gone, fds[1], on_completions, session);
	return true;
}

static void
let_go(struct session *session)
{
	sleep_no_more(session);
	if (session->controls)
		san_companion_close(&session->companion);
	session->controls = false;
	session->s = INVALID_SOCKET;
}

void
session_begin(struct session *session)
{
	int error = san_companion_open(&session->companion, &session->broker->call, session->s,
				       &session->segment.config, &session->segment.rings,
				       session->segment.messages);
	struct plx_connector_info info;

	session->controls = true;
	session->state = SESSION_HELLO;
	session->deadline = broker_now() + HELLO_MS * PLX_MSEC;
	if (error != 0 || !plx_sanqp_adapter(session->s, session->adapter) ||
	    !plx_sanqp_addresses(session->s, &info)) {
		session_end(session, ECONNRESET);
		return;
	}
	session->segment.config.reads = session->companion.stream.config.reads;
	san_companion_record_in(&session->companion, &session->segment.shared->records);
	session->local = (struct san_address){info.local, info.local_port};
	session->peer = (struct san_address){info.remote, info.remote_port};
	session_run(session);
}

static WSAPROTOCOL_INFOW
info_of(const struct session *session, uint32_t token)
{
	return (WSAPROTOCOL_INFOW){
		.iAddressFamily = session->local.ip.version == 6 ? AF_INET6 : AF_INET,
		.iSocketType = SOCK_STREAM,
		.iProtocol = IPPROTO_TCP,
		.dwProviderReserved = token,
	};
}

SOCKET
session_redeem(const struct session *session, uint32_t token, int *error)
{
	WSAPROTOCOL_INFOW info = info_of(session, token);

	return session->broker->call.lpWSPSocket(info.iAddressFamily, info.iSocketType,
						 info.iProtocol, &info, 0, WSA_FLAG_OVERLAPPED,
						 error);
}

/* What cannot be gone on with is not left to the host, which would wait for somebody to take it. */
static void
refuse(const struct session *session)
{
	int ignored;
	SOCKET s = session_redeem(session, session->token, &ignored);

	if (s != INVALID_SOCKET)
		session->broker->call.lpWSPCloseSocket(s, &ignored);
}

/* The connection is over. Returns: false: there is nothing left of it, or it failed */
bool
session_take_rest(struct session *session, const struct plx_san_stream *stream)
{
	session->rest = san_companion_take_rest(&session->companion, &session->broker->call, stream,
						&session->segment.rings);
	return session->rest;
}

void
session_have(struct session *session)
{
	session->s = session->companion.s;
	session->controls = true;
	session->loan = 0;
	session->ready = 0; /* others had control since: whoever sleeps is told anew */
}

static void
take(struct session *session)
{
	WSAPROTOCOL_INFOW info = info_of(session, session->token);
	struct plx_san_stream stream;
	bool same, taken;

	san_segment_stream(&session->segment, &stream);
	same = memcmp(&stream.config, &session->segment.config, sizeof(stream.config)) == 0;
	taken = same && !session->rest &&
		san_companion_take(&session->companion, &session->broker->call, &info, &stream,
				   &session->segment.rings, session->segment.messages) == 0;

	if (!taken && !session->rest)
		refuse(session);
	/* The peer may have closed meanwhile. */
	if (!taken && !(same && session_take_rest(session, &stream))) {
		session_end(session, ECONNRESET);
		return;
	}
	san_companion_go_on_in(&session->companion, &session->segment.shared->records);
	session_have(session);
	(void)plx_san_took(&session->arbiter, BROKER_PROCESS);
}

/* The companion has given its socket away. */
static void
gave(struct session *session)
{
	san_companion_record_in(&session->companion, &session->segment.shared->records);
	session->token = session->rest ? 0 : session->companion.info.dwProviderReserved;
	session->loan = session->token;
	let_go(session);
	(void)plx_san_gave(&session->arbiter, BROKER_PROCESS);
}

/* ---- the end ---- */

bool
session_is_complete(const struct session *session)
{
	const struct plx_san_stream *stream = &session->companion.stream;

	return plx_san_is_at_end(stream) &&
	       (session->rest ||
		(plx_san_is_drained(stream) && stream->out.fin && stream->out.sends == 0));
}

/* Nobody reads any more: what has come, or comes, is answered by a reset, as TCP does. */
static void
close_on(struct session *session)
{
	struct plx_san_stream *stream = &session->companion.stream;

	if (session->state != SESSION_CLOSING) {
		session->state = SESSION_CLOSING;
		session->deadline = broker_now() + session->broker->options.linger_ms * PLX_MSEC;
		plx_san_shut(stream);
	}
	if (plx_san_readable(stream) > 0 || session->aborts)
		session_end(session, ECONNRESET);
	else if (session_is_complete(session))
		session_end(session, 0);
}

void
session_end(struct session *session, int error)
{
	const struct linger abort = {.l_onoff = 1};

	if (session->state == SESSION_OVER)
		return;
	session->state = SESSION_OVER;
	session->broker->has_over = true;
	session_stop_seizing(session);
	let_go(session);
	if (session->asker != NULL)
		program_answer(session->asker, session->question, NULL, error);
	tell_all(session, SAN_CONTROL_OVER, error);
	if (session->socket >= 0)
		close(session->socket);
	if (session->anchor.fd >= 0 && error != 0)
		(void)setsockopt(session->anchor.fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
	broker_unwatch(session->broker, &session->anchor, true);
}

/* Control is not taken within a call, which may be writing what would be gone on with, nor before
 * it takes what it was given. For one that is stopped there nobody waits for ever. The peer's part
 * of giving has a limit of its own. */
static bool
is_held_up(struct session *session, uint64_t now)
{
	const struct plx_san_arbiter *arbiter = &session->arbiter;
	const uint32_t step = arbiter->first << 8 | arbiter->phase;

	if (arbiter->count == 0 || session->controls || session->step != step)
		session->waits = now;
	session->step = step;
	return now - session->waits >= 2 * session->broker->options.suspend_ms * PLX_MSEC;
}

void
session_on_time(struct session *session, uint64_t now)
{
	if (session->state == SESSION_OVER)
		return;
	if (session->seizing)
		session_go_on_seizing(session, now);
	if (now >= session->deadline || is_held_up(session, now))
		session_end(session, ETIMEDOUT);
	else if (session->controls && now >= plx_san_timer(&session->companion.stream))
		session_run(session);
	session_look_after(session, now);
}

/* Until the broker has control nothing is carried, and the anchor is not looked at. */
static void
want_relay(struct session *session)
{
	session->relay = RELAY_WANTED;
	broker_watch_for(session->broker, &session->anchor, 0);
	(void)plx_san_ask(&session->arbiter, BROKER_PROCESS);
	session_go_on(session);
}

void
session_relay_for(struct session *session, const char *why)
{
	broker_log(session->broker, "session %llu: %s; bytes are copied from now on",
		   (unsigned long long)session->number, why);
	want_relay(session);
}

void
session_relay(struct session *session, struct program *program)
{
	if (session->state != SESSION_UP)
		return;
	if (session->relay == RELAY_NOT)
		want_relay(session);
	else if (session->relay == RELAY_ON)
		program_tell(program, session, SAN_CONTROL_RELAYED, 0, 0, 0);
}

/* All programs that want control have had it. */
static void
begin_relay(struct session *session)
{
	if (session->relay != RELAY_WANTED || session->state != SESSION_UP || !session->controls ||
	    session->arbiter.count > 0)
		return;
	session->relay = RELAY_ON;
	tell_all(session, SAN_CONTROL_RELAYED, 0);
}

void
session_released(struct watch *watch)
{
	struct session *session = watch->owner;
	char byte;
	ssize_t n;

	if (session->relay == RELAY_ON)
		session_run(session);
	if (session->relay != RELAY_NOT)
		return;
	n = recv(watch->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		session_relay_for(session, "a program uses its socket without pollux-run");
		return;
	}
	broker_unwatch(session->broker, watch, true);
	session->released = true;
	if (session->rest) {
		session_end(session, 0);
		return;
	}
	if (session->state == SESSION_HELLO) {
		session_end(session, ECONNRESET);
		return;
	}
	(void)plx_san_ask(&session->arbiter, BROKER_PROCESS);
	session_go_on(session);
}

/* ---- control passes on ---- */

uint32_t
session_name_of(struct session *session, uint64_t process)
{
	const struct holder *holder = holder_of(session, process);

	if (process == BROKER_PROCESS)
		return plx_sanqp_process(session->adapter);
	return holder != NULL ? holder->name : 0;
}

/* How the process whose ticket is the oldest is named. */
static uint32_t
name_of_next(struct session *session)
{
	return session_name_of(session, session->arbiter.ticket[session->arbiter.first]);
}

static void
tell_broker(struct session *session, enum plx_san_tell what)
{
	if (what == PLX_SAN_TELL_TURN)
		(void)plx_san_done(&session->arbiter, BROKER_PROCESS);
	else if (what == PLX_SAN_TELL_WANTED && session->rest)
		gave(session);
	else if (what == PLX_SAN_TELL_WANTED)
		san_companion_pass(&session->companion, name_of_next(session));
	else if (what == PLX_SAN_TELL_TAKE)
		take(session);
}

static void
say(struct session *session, struct program *program, enum plx_san_tell what)
{
	if (what == PLX_SAN_TELL_TURN)
		program_tell(program, session, SAN_CONTROL_TURN, 0, 0, 0);
	else if (what == PLX_SAN_TELL_WANTED)
		program_tell(program, session, SAN_CONTROL_WANTED, name_of_next(session), 0, 0);
	else if (what == PLX_SAN_TELL_TAKE)
		program_tell(program, session, SAN_CONTROL_TAKE, 0, session->token, 0);
}

/* Control is taken from a program that does nothing, and not given to one for which it is not. */
static void
tell_program(struct session *session, uint64_t process, enum plx_san_tell what)
{
	const struct holder *holder = holder_of(session, process);

	if (what == PLX_SAN_TELL_WANTED && session_seize(session, false))
		return;
	/* It was given to one that has ended since. */
	if (what == PLX_SAN_TELL_TAKE && process != session->given_to &&
	    session_seize(session, true))
		return;
	if (holder != NULL)
		say(session, holder->program, what);
	/* It may have ended its call before it could hear that. */
	if (what == PLX_SAN_TELL_WANTED)
		(void)session_seize(session, false);
}

static void
tell(struct session *session)
{
	enum plx_san_tell what;
	uint64_t process;

	/* Whom it was given to has ended: with nobody the peer could not send. */
	if (plx_san_is_abandoned(&session->arbiter))
		(void)plx_san_ask(&session->arbiter, BROKER_PROCESS);
	atomic_store(&session->segment.shared->waiting, session->arbiter.count);
	while (session->state != SESSION_OVER && session->state != SESSION_HELLO &&
	       (what = plx_san_tell(&session->arbiter, &process)) != PLX_SAN_TELL_NOTHING) {
		session->broker->count.swaps += what == PLX_SAN_TELL_TAKE;
		session->swaps += what == PLX_SAN_TELL_TAKE;
		if (what == PLX_SAN_TELL_WANTED)
			session->given_to = session->arbiter.ticket[session->arbiter.first];
		if (what == PLX_SAN_TELL_OVER)
			session_end(session, ECONNRESET);
		else if (process == BROKER_PROCESS)
			tell_broker(session, what);
		else
			tell_program(session, process, what);
	}
	atomic_store(&session->segment.shared->waiting, session->arbiter.count);
}

/* ---- running ---- */

static void
publish(struct session *session)
{
	uint32_t ready = san_segment_publish(&session->segment, &session->companion.stream);

	if ((ready & ~session->ready) != 0 && atomic_load(&session->segment.shared->parked) > 0)
		tell_all(session, SAN_CONTROL_READY, 0);
	session->ready = ready;
}

static bool
is_over(const struct session *session)
{
	return session->companion.stream.end != PLX_SAN_END_NOT;
}

/* A peer that has closed after both FINs is no error. */
static int
error_of(const struct session *session)
{
	const struct plx_san_stream *stream = &session->companion.stream;

	if (stream->in.fin && stream->out.fin)
		return 0;
	return stream->end == PLX_SAN_END_TIMEOUT ? ETIMEDOUT : ECONNRESET;
}

/* The other end has closed, after both have shut: what has arrived is to be read. */
static bool
has_rest(const struct session *session)
{
	return san_companion_has_ended_well(&session->companion) && !session->released &&
	       plx_san_readable(&session->companion.stream) > 0;
}

static void
keep_rest(struct session *session)
{
	let_go(session);
	session->controls = session->rest = true;
}

static void
advance(struct session *session)
{
	if (session->state == SESSION_HELLO && plx_san_is_open(&session->companion.stream)) {
		session->state = SESSION_UP;
		session->deadline = PLX_NEVER;
		/* One that was accepted has its anchor, and programs may ask for it already. */
		if (session->segment.config.connects && !connect_finish(session))
			session_end(session, ECONNRESET);
		tell(session);
	}
	if (session->released && session->controls &&
	    (session->state == SESSION_UP || session->state == SESSION_CLOSING))
		close_on(session);
}

/* Its companion has given its socket away; or cannot any more, and what is left is to be given. */
static bool
has_given(const struct session *session)
{
	return session->companion.given ||
	       (session->rest && session->arbiter.phase == PLX_SAN_PHASE_WANTED);
}

/* Returns: true: it is the broker's again, since the one that it was for has ended */
static bool
pass_on(struct session *session)
{
	if (!session->controls || !has_given(session))
		return false;
	gave(session);
	tell(session);
	return session->controls;
}

static void
run(struct session *session)
{
	if (!session->controls || session->state == SESSION_OVER)
		return;
	san_companion_run(&session->companion, broker_now());
	if (!session->companion.given && arm(session))
		san_companion_run(&session->companion, broker_now());
	if (is_over(session) && !has_rest(session)) {
		session_end(session, error_of(session));
		return;
	}
	if (is_over(session) && !session->rest)
		keep_rest(session);
	publish(session);
	advance(session);
	begin_relay(session);
	if (session->relay == RELAY_ON && session->controls)
		relay_run(session);
	/* What it has begun to send goes out now. */
	if (session->controls && !session->companion.given)
		san_companion_run(&session->companion, broker_now());
}

void
session_run(struct session *session)
{
	do
		run(session);
	while (pass_on(session));
}

/* ---- what programs say ---- */

void
session_go_on(struct session *session)
{
	tell(session);
	session_run(session);
}

void
session_ask(struct session *session, struct program *program, uint32_t name)
{
	struct holder *holder = session_holder(session, program);

	if (session->relay != RELAY_NOT)
		return; /* it hears, or has heard, that the kernel's socket is used */
	if (name == 0) {
		session_relay_for(session, "a program cannot use the adapter");
		return;
	}
	if (holder != NULL)
		holder->name = name;
	if (!plx_san_ask(&session->arbiter, program->process)) {
		program_tell(program, session, SAN_CONTROL_OVER, 0, 0, ENOBUFS);
		return;
	}
	session_go_on(session);
}

void
session_done(struct session *session, const struct program *program)
{
	if (!plx_san_done(&session->arbiter, program->process))
		return;
	session_go_on(session);
}

void
session_gave(struct session *session, const struct program *program, uint32_t token, bool rest)
{
	if (!plx_san_gave(&session->arbiter, program->process))
		return;
	session_forget_leavers(session);
	session->token = session->loan = token;
	session->rest |= rest;
	if (token == 0 && !rest)
		session_end(session, ECONNRESET);
	session_go_on(session);
}

void
session_took(struct session *session, const struct program *program, int error)
{
	if (!plx_san_took(&session->arbiter, program->process))
		return;
	if (error != 0)
		session_end(session, ECONNRESET);
	session_go_on(session);
}

static bool
has_control(const struct session *session, const struct program *program)
{
	return session->arbiter.process == program->process;
}

void
session_call_in(struct session *session, const struct program *program)
{
	if (session->controls || session->arbiter.phase != PLX_SAN_PHASE_HELD ||
	    session_holder(session, program) == NULL)
		return;
	(void)plx_san_ask(&session->arbiter, BROKER_PROCESS);
	session_go_on(session);
}

void
session_leave(struct session *session, struct program *program, bool aborts)
{
	struct holder *holder = session_holder(session, program);

	if (holder == NULL)
		return;
	session->aborts = aborts;
	if (has_control(session, program)) {
		holder->leaves = true;
		session_call_in(session, program);
		return;
	}
	plx_san_left(&session->arbiter, program->process, true);
	drop_holder(holder);
	session_go_on(session);
}

/* It may have been among those that wait: the others look again, and count themselves. */
static void
count_anew(struct session *session)
{
	struct san_shared *shared = session->segment.shared;

	if (atomic_load(&shared->parked) == 0)
		return;
	atomic_store(&shared->parked, 0);
	atomic_fetch_add(&shared->census, 1);
	tell_all(session, SAN_CONTROL_READY, 0);
}

/* What it had control of, and had not lent, is lost with it; but for the rest of a connection that
 * is over, of which nothing is anybody's but what it has written down. */
void
session_lost(struct session *session, struct program *program)
{
	struct holder *holder = session_holder(session, program);

	if (holder == NULL || session->state == SESSION_OVER)
		return;
	if (has_control(session, program))
		(void)session_seize(session, true);
	plx_san_left(&session->arbiter, program->process, session->rest);
	/* One that was leaving is forgotten when control is taken. */
	holder = session_holder(session, program);
	if (holder != NULL)
		drop_holder(holder);
	count_anew(session);
	session_go_on(session);
}
