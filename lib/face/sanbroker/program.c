/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs and what they say. Start with hear().
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"

/* ---- to them ---- */

/* Whoever does not take what it is told is as good as gone, and ends when its channel is looked at:
 * whoever tells goes through lists of programs. */
void
program_send(struct program *program, const struct san_control *message, int fd)
{
	if (program->control.fd >= 0 && !san_control_send(program->control.fd, message, fd))
		(void)shutdown(program->control.fd, SHUT_RDWR);
}

void
program_tell(struct program *program, const struct session *session, enum san_control_kind kind,
	     uint32_t process, uint32_t token, int error)
{
	const struct san_control message = {
		.kind = kind,
		.session = session->number,
		.process = process,
		.token = token,
		.error = error,
	};

	program_send(program, &message, -1);
	atomic_fetch_add(&session->segment.shared->told, 1);
}

void
program_answer(struct program *program, uint32_t question, const struct session *session, int error)
{
	struct san_control message = {
		.kind = SAN_CONTROL_ANSWER, .number = question, .error = error};

	if (session == NULL) {
		/* What a listener will need: one that changes its user attaches before. */
		if (error == 0 && plx_sanqp_adapter_name(0, message.adapter)) {
			plx_sanqp_host(message.adapter, message.host, sizeof(message.host));
			message.broker = plx_sanqp_process(message.adapter);
		}
		program_send(program, &message, -1);
		return;
	}
	message.session = session->number;
	message.relayed = session->relay == RELAY_ON;
	message.local = session->local;
	message.peer = session->peer;
	message.config = session->segment.config;
	message.broker = plx_sanqp_process(session->adapter);
	memcpy(message.adapter, session->adapter, sizeof(message.adapter));
	plx_sanqp_host(session->adapter, message.host, sizeof(message.host));
	program_send(program, &message, session->segment.fd);
}

/* ---- from them ---- */

static void
find(struct program *program, const struct san_control *m, int fd)
{
	struct session *session = listen_find(program->broker, fd);

	if (fd >= 0)
		close(fd);
	if (session == NULL)
		program_answer(program, m->number, NULL, ENOENT);
	else if (session_add_holder(session, program) == NULL)
		program_answer(program, m->number, NULL, ENOMEM);
	else
		program_answer(program, m->number, session, 0);
}

static void
show(struct program *program, const struct san_control *m)
{
	int fd = broker_show(program);
	const struct san_control answer = {
		.kind = SAN_CONTROL_ANSWER, .number = m->number, .error = fd < 0 ? ENOMEM : 0};

	program_send(program, &answer, fd);
	if (fd >= 0)
		close(fd);
}

/* Of a session that it holds. */
static void
hear_of_session(struct program *program, const struct san_control *m)
{
	struct session *session = session_find(program->broker, m->session);

	if (session == NULL || session_holder(session, program) == NULL)
		return; /* it has ended, and the program will hear so */
	switch ((enum san_control_kind)m->kind) {
	case SAN_CONTROL_ASK:
		session_ask(session, program, m->process);
		break;
	case SAN_CONTROL_DONE:
		session_done(session, program);
		break;
	case SAN_CONTROL_GAVE:
		session_gave(session, program, m->token, m->token == 0 && m->process != 0);
		break;
	case SAN_CONTROL_TOOK:
		session_took(session, program, m->error);
		break;
	case SAN_CONTROL_IDLE:
		session_call_in(session, program);
		break;
	case SAN_CONTROL_RELAY:
		session_relay(session, program);
		break;
	case SAN_CONTROL_CLOSE:
		session_leave(session, program, m->process != 0);
		break;
	case SAN_CONTROL_NONE:
	case SAN_CONTROL_CONNECT:
	case SAN_CONTROL_LISTEN:
	case SAN_CONTROL_FIND:
	case SAN_CONTROL_SHOW:
	case SAN_CONTROL_HAND:
	case SAN_CONTROL_FETCH:
	case SAN_CONTROL_ANSWER:
	case SAN_CONTROL_TURN:
	case SAN_CONTROL_WANTED:
	case SAN_CONTROL_TAKE:
	case SAN_CONTROL_RELAYED:
	case SAN_CONTROL_READY:
	case SAN_CONTROL_OVER:
	case SAN_CONTROL_COUNT:
		program_ends(program); /* these are not a program's to say */
		break;
	}
}

/* A question whose descriptor is lost: this process has no room for it. */
static bool
has_lost_descriptor(const struct san_control *m, int fd)
{
	return fd < 0 && (m->kind == SAN_CONTROL_CONNECT || m->kind == SAN_CONTROL_LISTEN ||
			  m->kind == SAN_CONTROL_FIND || m->kind == SAN_CONTROL_HAND);
}

static void
hear(struct program *program, const struct san_control *m, int fd)
{
	if (has_lost_descriptor(m, fd)) {
		bool tcp = m->kind == SAN_CONTROL_CONNECT || m->kind == SAN_CONTROL_LISTEN;

		program_answer(program, m->number, NULL, tcp ? SAN_USE_TCP : EMFILE);
		return;
	}
	if (m->kind == SAN_CONTROL_CONNECT) {
		connect_begin(program, m, fd);
	} else if (m->kind == SAN_CONTROL_LISTEN) {
		listen_begin(program, m, fd);
	} else if (m->kind == SAN_CONTROL_FIND) {
		find(program, m, fd);
	} else if (m->kind == SAN_CONTROL_HAND) {
		hand_give(program, m, fd);
	} else {
		if (fd >= 0)
			close(fd);
		if (m->kind == SAN_CONTROL_SHOW)
			show(program, m);
		else if (m->kind == SAN_CONTROL_FETCH)
			hand_take(program, m);
		else
			hear_of_session(program, m);
	}
}

static void
on_control(struct watch *watch)
{
	struct program *program = watch->owner;
	struct san_control message;
	int fd;

	while (program->control.fd >= 0) {
		switch (san_control_receive(program->control.fd, &message, &fd)) {
		case SAN_CONTROL_GOT:
			hear(program, &message, fd);
			break;
		case SAN_CONTROL_NOTHING_YET:
			return;
		case SAN_CONTROL_GONE:
			program_ends(program);
			break;
		}
	}
}

/* ---- from its beginning to its end ---- */

/* Whoever cannot be served learns it at once, and does not keep the broker busy. */
static void
refuse_one(struct san_broker *broker, int listener)
{
	if (broker->spare >= 0)
		close(broker->spare);
	broker->spare = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (broker->spare >= 0)
		close(broker->spare);
	broker->spare = eventfd(0, EFD_CLOEXEC);
}

void
program_arrives(struct watch *watch)
{
	struct san_broker *broker = watch->owner;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t bytes = sizeof(who);
	struct program *program;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			refuse_one(broker, watch->fd);
		return;
	}
	program = broker->count.programs < PROGRAMS_MAX ? calloc(1, sizeof(*program)) : NULL;
	if (program == NULL || !broker_watch(broker, &program->control, fd, on_control, program)) {
		close(fd);
		free(program);
		return;
	}
	program->broker = broker;
	program->process = ++broker->processes;
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes);
	program->pid = who.pid;
	program->uid = who.uid;
	plx_list_append(&broker->programs, &program->link);
	broker->count.programs++;
}

/* It is freed at the end of the round. */
void
program_ends(struct program *program)
{
	struct san_broker *broker = program->broker;
	struct plx_list *node, *after;

	if (program->control.fd < 0)
		return;
	broker_unwatch(broker, &program->control, true);
	broker->count.programs--;
	plx_list_for_each (node, after, &broker->sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		if (session->asker == program)
			session->asker = NULL;
		session_lost(session, program);
	}
}
