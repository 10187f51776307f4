/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets that one program hands to another by a token. The descriptor waits here for the process
 * that it is for. Start with hand_give().
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker.h"

enum {
	HANDED_MAX = 64, /* of a user */
	HANDED_MS = 60000,
};

struct handed {
	struct plx_list link;
	struct san_broker *broker;
	struct watch target; /* the process's descriptor: readable when it has ended */
	uid_t uid;           /* of who gave it */
	int fd;
	uint64_t deadline;
};

/* How tokens know it. */
static uint64_t
name_of(const struct handed *handed)
{
	return (uintptr_t)handed;
}

static void
end(struct handed *handed)
{
	plx_san_tokens_forget(&handed->broker->tokens, 0, name_of(handed));
	plx_list_remove(&handed->link);
	broker_unwatch(handed->broker, &handed->target, true);
	close(handed->fd);
	free(handed);
}

static void
on_end(struct watch *watch)
{
	end(watch->owner);
}

static uint32_t
count_of(struct san_broker *broker, uid_t uid)
{
	struct plx_list *node, *after;
	uint32_t n = 0;

	plx_list_for_each (node, after, &broker->handed)
		n += plx_list_entry(node, struct handed, link)->uid == uid;
	return n;
}

/* ---- to give ---- */

/* Returns: 0; an error of errno.h */
static int
keep(struct program *program, uint32_t process, int fd, uint32_t *token)
{
	struct san_broker *broker = program->broker;
	struct handed *handed;
	int type, target;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof(type)}) != 0)
		return ENOTSOCK;
	if (count_of(broker, program->uid) >= HANDED_MAX)
		return EMFILE;
	target = (int)syscall(SYS_pidfd_open, (pid_t)process, 0);
	if (target < 0)
		return ESRCH;
	handed = calloc(1, sizeof(*handed));
	*token = handed != NULL ? plx_san_token_make(&broker->tokens, process, name_of(handed)) : 0;
	if (*token == 0 || !broker_watch(broker, &handed->target, target, on_end, handed)) {
		if (*token != 0)
			plx_san_tokens_forget(&broker->tokens, 0, name_of(handed));
		close(target);
		free(handed);
		return EMFILE;
	}
	handed->broker = broker;
	handed->uid = program->uid;
	handed->fd = fd;
	handed->deadline = broker_now() + HANDED_MS * PLX_MSEC;
	plx_list_append(&broker->handed, &handed->link);
	return 0;
}

void
hand_give(struct program *program, const struct san_control *m, int fd)
{
	struct san_control answer = {.kind = SAN_CONTROL_ANSWER, .number = m->number};

	answer.error = keep(program, m->process, fd, &answer.token);
	if (answer.error != 0)
		close(fd);
	program_send(program, &answer, -1);
}

/* ---- to take ---- */

/* NULL: it is for another process, or has been taken, or that process has ended, which an event of
 * this round may be about to say */
static struct handed *
find(struct program *program, uint32_t token)
{
	uint64_t name = plx_san_token_redeem(&program->broker->tokens, token,
					     (uint64_t)(uint32_t)program->pid);
	struct handed *handed = (struct handed *)(uintptr_t)name;
	struct pollfd target = {.events = POLLIN};

	if (handed == NULL)
		return NULL;
	target.fd = handed->target.fd;
	return poll(&target, 1, 0) == 0 ? handed : NULL;
}

void
hand_take(struct program *program, const struct san_control *m)
{
	struct handed *handed = find(program, m->token);
	const struct san_control answer = {.kind = SAN_CONTROL_ANSWER,
					   .number = m->number,
					   .error = handed == NULL ? EINVAL : 0};

	program_send(program, &answer, handed != NULL ? handed->fd : -1);
	if (handed != NULL)
		end(handed);
}

/* ---- time ---- */

void
hand_on_time(struct san_broker *broker, uint64_t now)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->handed) {
		struct handed *handed = plx_list_entry(node, struct handed, link);

		if (now >= handed->deadline)
			end(handed);
	}
}

void
hand_end_all(struct san_broker *broker)
{
	hand_on_time(broker, PLX_NEVER);
}
