/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control of a session is taken from a program that does not give it: it computes, is stopped, or
 * has ended. It has lent its socket when it took control (decision 56), and what it had done lies
 * in the session's memory. Start with session_seize().
 */
#include <errno.h>

#include "broker.h"

enum {
	SEIZE_MS = 10000, /* longest wait until what it had sent is complete */
};

void
session_stop_seizing(struct session *session)
{
	if (!session->seizing)
		return;
	atomic_store(&session->segment.shared->word, SAN_WORD_BROKER);
	session->broker->seizing--;
	session->seizing = false;
}

/* Copied, for its program may still write there. */
static struct san_records
records_of(const struct session *session)
{
	return session->segment.shared->records;
}

/* Returns: 0, or an error of Winsock */
static int
inherit(struct session *session, SOCKET s)
{
	struct san_records records = records_of(session);
	uint32_t requests, receives;
	int error;

	plx_sanqp_past(s, &requests, &receives);
	error = san_companion_inherit(&session->companion, &session->broker->call, s,
				      &session->segment.config, &records, requests, receives,
				      &session->segment.rings, session->segment.messages);
	if (error == 0)
		san_companion_record_in(&session->companion, &session->segment.shared->records);
	return error;
}

/* The connection has ended meanwhile. */
static bool
inherit_rest(struct session *session)
{
	struct san_records records = records_of(session);

	session->rest = san_companion_inherit_rest(
		&session->companion, &session->broker->call, &session->segment.config, &records,
		&session->segment.rings, session->segment.messages);
	return session->rest;
}

/* Go on with the socket, or with the rest of its bytes if it has ended. What arrived before it did
 * so while it was taken is in the companion's stream. Returns: 0, or an error of Winsock */
static int
go_on_with(struct session *session, SOCKET s, int error)
{
	struct plx_san_stream stream;
	bool rest;
	int ignored;

	if (s == INVALID_SOCKET) {
		rest = inherit_rest(session);
	} else {
		error = inherit(session, s);
		if (error == 0)
			return 0;
		session->broker->call.lpWSPCloseSocket(s, &ignored);
		stream = session->companion.stream;
		rest = error == WSAENOTCONN && session_take_rest(session, &stream);
	}
	return rest ? 0 : error;
}

static void
have(struct session *session)
{
	session_stop_seizing(session);
	session_have(session);
	session->swaps++;
	session->broker->count.swaps++;
	(void)plx_san_seized(&session->arbiter, BROKER_PROCESS);
	session_forget_leavers(session);
}

/* Returns: true: it is decided */
static bool
try(struct session *session)
{
	int error = 0;
	SOCKET s = session_redeem(session, session->loan, &error);

	if (s == INVALID_SOCKET && error == WSAEALREADY)
		return false;
	error = go_on_with(session, s, error);
	if (error == 0) {
		have(session);
		return true;
	}
	broker_log(session->broker,
		   "session %llu: what its program has left cannot be gone on with (%d)",
		   (unsigned long long)session->number, error);
	session_end(session, ECONNRESET);
	return true;
}

bool
session_seize(struct session *session, bool has_ended)
{
	_Atomic uint64_t *word = &session->segment.shared->word;
	uint32_t name = session_name_of(session, session->arbiter.process);
	uint64_t idle = san_word(name, SAN_WORD_IDLE), seized = san_word(name, SAN_WORD_SEIZED);

	if (session->loan == 0 || session->seizing || session->state == SESSION_OVER)
		return false;
	if (has_ended)
		atomic_store(word, seized);
	else if (!atomic_compare_exchange_strong(word, &idle, seized))
		return false;
	if (!plx_san_seize(&session->arbiter))
		return false;
	session->seizing = true;
	session->seize_until = broker_now() + SEIZE_MS * PLX_MSEC;
	session->broker->seizing++;
	(void)try(session);
	return true;
}

void
session_go_on_seizing(struct session *session, uint64_t now)
{
	if (!try(session)) {
		if (now >= session->seize_until)
			session_end(session, ETIMEDOUT);
		return;
	}
	session_go_on(session);
}
