/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of steps: prepare, exchange cards, connect, ready, go, done, verify. Both ends run the
 * same steps. An end that fails notifies the other, and the session ends. It never posts a message.
 * Start with client_steps().
 */
#include "session.h"

#include "clock.h"
#include "options.h"

#include <string.h>
#include <time.h>

enum {
	NEXT_JOB_MS_SOLO = 3600 * 1000, /* rows of raw packets may run in between */
};

/* ---- steps of both ends ---- */

static bool
prepare(struct session *s, const struct job *job)
{
	return side_prepare(&s->side, job) && side_welcome(&s->side);
}

/* Fail with the sentence that a call has already written to side->why. */
static bool
fail_as_said(struct session *s)
{
	s->side.has_failed = true;
	return false;
}

static bool
send_cards(struct session *s)
{
	if (!side_cards(&s->side, s->mine))
		return false;
	message_put_cards(&s->talk, s->mine, s->side.job.qps);
	return talk_send(&s->talk, MESSAGE_CARD, &s->side.why) || fail_as_said(s);
}

static bool
receive(struct session *s, enum message kind)
{
	return talk_receive(&s->talk, kind, &s->side.why) || fail_as_said(s);
}

static bool
send_numbers(struct session *s, enum message kind, const uint64_t *numbers, uint32_t n)
{
	message_put_numbers(&s->talk, numbers, n);
	return talk_send(&s->talk, kind, &s->side.why) || fail_as_said(s);
}

static bool
receive_cards(struct session *s)
{
	if (!receive(s, MESSAGE_CARD))
		return false;
	return message_get_cards(&s->talk, s->theirs, s->side.job.qps, &s->side.why) ||
	       fail_as_said(s);
}

/* Connect, and wait until the peer has connected, too. */
static bool
join(struct session *s)
{
	if (!s->talk.carrier->join(&s->talk, s->theirs))
		return false;
	side_start(&s->side);
	return send_numbers(s, MESSAGE_READY, NULL, 0) && receive(s, MESSAGE_READY);
}

/* Tell how many messages each queue pair has posted. */
static bool
send_counts(struct session *s)
{
	for (uint32_t i = 0; i < s->side.job.qps; i++)
		s->counts[i] = s->side.lanes[i].posted;
	return send_numbers(s, MESSAGE_DONE, s->counts, s->side.job.qps);
}

static bool
receive_counts(struct session *s, uint64_t *counts)
{
	if (!receive(s, MESSAGE_DONE))
		return false;
	return message_get_numbers(&s->talk, counts, s->side.job.qps, &s->side.why) ||
	       fail_as_said(s);
}

/* Tell samples in which a thread had a stall from the others, if that is asked for. */
static void
watch(struct session *s, const struct watch *peer)
{
	histogram_clear(&s->undisturbed);
	s->side.undisturbed = s->side.watch.is_on ? &s->undisturbed : NULL;
	s->side.peer_watch = s->side.watch.is_on ? peer : NULL;
}

/* ---- the client ---- */

/* The server sends nothing while messages flow, except to report a failure and, if both send, that
 * all of its messages are done. */
static bool
client_look(struct run *run, uint64_t now)
{
	struct session *s = run->arg;
	if (interrupted)
		return side_fail(&s->side, "interrupted");
	if (s->side.job.both && !run->is_peer_done) {
		run->is_peer_done =
			s->talk.carrier->has_news(&s->talk) && receive_counts(s, s->their_counts);
	} else if (s->talk.carrier->has_news(&s->talk)) {
		receive(s, MESSAGE_VERDICT);
		return side_fail(&s->side, "%s sent its verdict too early", s->talk.peer);
	}
	return !s->side.has_failed && (s->look == NULL || s->look(run, now));
}

static bool
client_steps(struct session *s, const struct job *job, struct run *run, struct result *result)
{
	uint64_t verdict[4], start;
	message_put_job(&s->talk, job);
	if (!talk_send(&s->talk, MESSAGE_JOB, &s->side.why))
		return fail_as_said(s);
	if (!prepare(s, job) || !send_cards(s) || !receive_cards(s) || !join(s))
		return false;
	watch(s, s->other != NULL ? &s->other->watch : NULL);
	start = ticks();
	run->start = start;
	if (!send_numbers(s, MESSAGE_GO, &start, 1) || !run_loop(run))
		return false;
	if (job->both)
		run_out(&s->side, s->their_counts, job->timeout_ms);
	if (job->both && !passive_judge(&s->side, s->their_counts))
		return false;
	if (!send_counts(s) || !receive(s, MESSAGE_VERDICT))
		return false;
	if (!message_get_numbers(&s->talk, verdict, 4, &s->side.why))
		return fail_as_said(s);
	struct share theirs = {verdict[2], verdict[3]};
	run_result(run, s->other != NULL ? &s->other->log : NULL, job->both ? &theirs : NULL,
		   result);
	if (s->side.peer_watch != NULL)
		stalls_add(&result->in_loop, &s->side.peer_watch->total);
	result->checked_bytes += verdict[1];
	return true;
}

bool
session_client_row(struct session *s, const struct job *job, struct result *result,
		   struct plx_why *why)
{
	struct run run = {.active = &s->side, .look = client_look, .arg = s};
	histogram_clear(&s->histogram);
	s->side.histogram = &s->histogram;
	s->side.has_failed = false;
	bool done = client_steps(s, job, &run, result);
	if (!done) {
		*why = s->side.why;
		talk_refuse(&s->talk, why->text);
	}
	s->talk.carrier->part(&s->talk, done);
	side_clear(&s->side);
	return done;
}

/* ---- the server ---- */

static bool
server_look(struct run *run, uint64_t now)
{
	struct session *s = run->arg;
	(void)now;
	if (interrupted)
		return side_fail(&s->side, "interrupted");
	if (s->side.job.both && s->side.is_stopping && side_is_drained(&s->side) && !s->has_told) {
		s->has_told = true;
		if (!send_counts(s))
			return false;
	}
	return !s->talk.carrier->has_news(&s->talk);
}

static bool
server_steps(struct session *s)
{
	uint64_t start;
	struct job job;
	if (!message_get_job(&s->talk, &job, &s->side.why))
		return fail_as_said(s);
	struct run run = {.passive = &s->side, .look = server_look, .arg = s};
	if (!prepare(s, &job) || !receive_cards(s) || !send_cards(s) || !join(s) ||
	    !receive(s, MESSAGE_GO))
		return false;
	if (!message_get_numbers(&s->talk, &start, 1, &s->side.why))
		return fail_as_said(s);
	run.start = s->is_solo ? start : 0;
	s->has_told = false;
	if (!run_loop(&run) || !receive_counts(s, s->their_counts))
		return false;
	run_out(&s->side, s->their_counts, job.timeout_ms);
	if (!passive_judge(&s->side, s->their_counts))
		return false;
	struct share share = job.both ? run_share(&run) : (struct share){0};
	uint64_t verdict[4] = {s->side.amount, s->side.checked_bytes, share.messages, share.ns};
	if (!send_numbers(s, MESSAGE_VERDICT, verdict, 4))
		return false;
	s->talk.carrier->part(&s->talk, true);
	return true;
}

/* Serve rows until the client leaves. */
static bool
serve_rows(struct session *s, struct plx_why *why)
{
	for (;;) {
		s->talk.may_sleep = true;
		enum message kind = talk_receive_any(
			&s->talk, s->is_solo ? NEXT_JOB_MS_SOLO : 2 * s->talk.timeout_ms, why);
		if (kind == MESSAGE_NONE)
			return why->text[0] == '\0';
		if (kind != MESSAGE_JOB)
			return why_set(why, "%s sent message %u where a job was expected",
				       s->talk.peer, kind);
		s->talk.may_sleep = false;
		s->side.has_failed = false;
		if (!server_steps(s)) {
			*why = s->side.why;
			return false;
		}
	}
}

bool
session_serve(struct session *s, struct plx_why *why)
{
	bool done = talk_hello(&s->talk, why) && serve_rows(s, why);
	if (!done)
		talk_refuse(&s->talk, why->text);
	s->talk.carrier->part(&s->talk, false);
	/* in one process the other thread reads our log until it has the row's result */
	side_clear(&s->side);
	s->talk.carrier->close(&s->talk);
	return done;
}

/* ---- both on one thread ---- */

static bool
duo_connect(struct session *s, struct side *passive)
{
	struct side *active = &s->side;
	if (!side_cards(active, s->mine) || !side_cards(passive, s->theirs))
		return false;
	uint64_t deadline = ticks() + ticks_of_ms(active->job.timeout_ms);
	for (;;) {
		enum plx_status a = side_connect(active, s->theirs);
		enum plx_status b = side_connect(passive, s->mine);
		if (a == PLX_OK && b == PLX_OK)
			return true;
		if ((a != PLX_OK && a != PLX_AGAIN) || (b != PLX_OK && b != PLX_AGAIN))
			return false;
		if (ticks() > deadline)
			return side_fail(active,
					 "the endpoints did not connect within "
					 "%u ms",
					 active->job.timeout_ms);
		side_pause(active);
		side_pause(passive);
	}
}

static bool
duo_look(struct run *run, uint64_t now)
{
	struct session *s = run->arg;
	if (interrupted)
		return side_fail(run->active, "interrupted");
	return s->look == NULL || s->look(run, now);
}

/* Run all steps before the first message. */
static bool
duo_begin(struct duo *duo, const struct job *job, struct run *run)
{
	struct side *active = &duo->session->side, *passive = duo->passive;
	histogram_clear(&duo->session->histogram);
	active->histogram = &duo->session->histogram;
	active->has_failed = passive->has_failed = false;
	if (!side_prepare(active, job) || !side_welcome(active) || !side_prepare(passive, job) ||
	    !side_welcome(passive) || !duo_connect(duo->session, passive))
		return false;
	side_start(active);
	side_start(passive);
	watch(duo->session, NULL);
	active->twin = job->both ? passive : NULL;
	*run = (struct run){
		.active = active,
		.passive = passive,
		.look = duo_look,
		.arg = duo->session,
	};
	return true;
}

/* Has one side received what the other posted? */
static bool
took_all(struct session *s, const struct side *from, struct side *to)
{
	for (uint32_t i = 0; i < from->job.qps; i++)
		s->counts[i] = from->lanes[i].posted;
	run_out(to, s->counts, to->job.timeout_ms);
	return passive_judge(to, s->counts);
}

/* Run all steps after the last message. */
static bool
duo_end(struct duo *duo, struct run *run, struct result *result)
{
	struct side *active = run->active;
	if (!took_all(duo->session, active, duo->passive))
		return false;
	if (active->job.both && !took_all(duo->session, duo->passive, active))
		return false;
	run_result(run, NULL, NULL, result);
	result->checked_bytes += duo->passive->checked_bytes;
	return true;
}

static bool
duo_why(const struct duo *duo, struct plx_why *why)
{
	const struct side *active = &duo->session->side;
	if (active->has_failed || duo->passive->has_failed)
		*why = active->has_failed ? active->why : duo->passive->why;
	return active->has_failed || duo->passive->has_failed;
}

static void
duo_clear(struct duo *duo)
{
	side_clear(&duo->session->side);
	side_clear(duo->passive);
}

bool
session_duo_row(struct duo *duo, const struct job *job, struct result *result, struct plx_why *why)
{
	struct run run;
	bool done = duo_begin(duo, job, &run);
	if (done) {
		run.start = ticks();
		done = run_loop(&run) && duo_end(duo, &run, result);
	}
	duo_why(duo, why);
	duo_clear(duo);
	return done;
}

bool
session_duo_rows(struct duo *one, struct duo *other, const struct job *job,
		 struct result results[2], struct plx_why *why)
{
	struct run a, b;
	bool done = duo_begin(one, job, &a) && duo_begin(other, job, &b);
	if (done) {
		a.start = b.start = ticks();
		done = run_in_turns(&a, &b) && duo_end(one, &a, &results[0]) &&
		       duo_end(other, &b, &results[1]);
	}
	if (!duo_why(one, why))
		duo_why(other, why);
	duo_clear(one);
	duo_clear(other);
	return done;
}
