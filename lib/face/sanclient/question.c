/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Questions to the broker, of threads that wait for their answer, and of descriptors that connect
 * meanwhile. Start with client_ask().
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "client.h"

enum {
	SOON_MS = 1, /* longest wait of a connect() that does not: enough for what no rule names */
};

/* A descriptor that connects. */
struct connecting {
	struct question question;
	struct sockaddr_storage to;
	socklen_t bytes;
};

static const struct answer no_answer = {.error = ENETDOWN, .file = -1};

/* Written with client.lock held; that there is one is seen without. */
static _Atomic(struct connecting *) connecting[SAN_FILES_MAX];

/* ---- questions ---- */

struct question *
client_question(uint32_t number)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &client.questions) {
		struct question *question = plx_list_entry(node, struct question, link);

		if (question->number == number)
			return question;
	}
	return NULL;
}

static void
wake(const struct question *question)
{
	if (question->kick >= 0)
		(void)eventfd_write(question->kick, 1);
	else
		(void)eventfd_write(client.kick, client.askers);
}

void
client_answered(struct question *question, const struct answer *answer)
{
	plx_list_remove(&question->link);
	question->answered = true;
	question->answer = *answer;
	wake(question);
}

void
client_unanswered(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &client.questions)
		client_answered(plx_list_entry(node, struct question, link), &no_answer);
}

/* @param kick -1: somebody waits */
static void
begin(struct question *question, int kick, struct san_control *message)
{
	*question = (struct question){.kick = kick};
	pthread_mutex_lock(&client.lock);
	message->number = question->number = ++client.asked;
	client.askers += kick < 0;
	plx_list_append(&client.questions, &question->link);
	if (client.gone)
		client_answered(question, &no_answer);
	pthread_mutex_unlock(&client.lock);
}

static void
ask_broker(struct question *question, const struct san_control *message, int fd)
{
	if (san_control_send(client.control, message, fd))
		return;
	pthread_mutex_lock(&client.lock);
	if (!question->answered)
		client_answered(question, &no_answer);
	pthread_mutex_unlock(&client.lock);
}

static bool
is_answered(const struct question *question)
{
	bool answered;

	client_hear();
	pthread_mutex_lock(&client.lock);
	answered = question->answered;
	pthread_mutex_unlock(&client.lock);
	return answered;
}

struct answer
client_ask(struct san_control *message, int fd)
{
	struct pollfd fds[] = {{client.control, POLLIN, 0}, {client.kick, POLLIN, 0}};
	struct question question;
	eventfd_t ignored;

	begin(&question, -1, message);
	ask_broker(&question, message, fd);
	while (!is_answered(&question)) {
		(void)poll(fds, 2, -1);
		(void)eventfd_read(client.kick, &ignored);
	}
	pthread_mutex_lock(&client.lock);
	client.askers--;
	pthread_mutex_unlock(&client.lock);
	return question.answer;
}

/* ---- descriptors that connect ---- */

/* client.lock is held. What is not answered yet is answered to nobody. */
static void
end(int fd, struct connecting *one)
{
	atomic_store(&connecting[fd], NULL);
	if (!one->question.answered)
		plx_list_remove(&one->question.link);
	client_close_file(one->question.kick);
	free(one);
}

bool
san_client_is_connecting(int fd)
{
	return fd >= 0 && fd < SAN_FILES_MAX &&
	       atomic_load_explicit(&connecting[fd], memory_order_relaxed) != NULL;
}

int
client_connecting(int fd)
{
	const struct connecting *one;
	int kick = -1;

	pthread_mutex_lock(&client.lock);
	one = san_client_is_connecting(fd) ? atomic_load(&connecting[fd]) : NULL;
	if (one != NULL)
		kick = one->question.kick;
	pthread_mutex_unlock(&client.lock);
	return kick;
}

static enum san_verdict
await(int fd, int ms, struct sockaddr_storage *to, socklen_t *bytes)
{
	struct pollfd fds[] = {{client.control, POLLIN, 0}, {client_connecting(fd), POLLIN, 0}};
	enum san_verdict verdict = san_client_settle(fd, to, bytes);

	while (verdict == SAN_IS_PENDING && poll(fds, 2, ms) != 0)
		verdict = san_client_settle(fd, to, bytes);
	return verdict;
}

enum san_verdict
san_client_await(int fd, struct sockaddr_storage *to, socklen_t *bytes)
{
	return await(fd, -1, to, bytes);
}

enum san_verdict
san_client_connect_soon(int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct san_control message;
	struct sockaddr_storage to;
	struct connecting *one;
	socklen_t ignored;
	int kick;

	if (bytes > (socklen_t)sizeof(to) || !client_connect_question(fd, address, bytes, &message))
		return SAN_IS_TCP;
	one = calloc(1, sizeof(*one));
	kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (one == NULL || kick < 0) {
		free(one);
		client_close_file(kick);
		return SAN_IS_TCP;
	}
	memcpy(&one->to, address, bytes);
	one->bytes = bytes;
	begin(&one->question, kick, &message);
	atomic_store(&connecting[fd], one);
	ask_broker(&one->question, &message, fd);
	return await(fd, SOON_MS, &to, &ignored);
}

enum san_verdict
san_client_settle(int fd, struct sockaddr_storage *to, socklen_t *bytes)
{
	enum san_verdict verdict = SAN_IS_PENDING;
	struct session *found = NULL;
	struct connecting *one;

	client_hear();
	pthread_mutex_lock(&client.lock);
	one = atomic_load(&connecting[fd]);
	if (one == NULL) {
		verdict = SAN_FAILED;
	} else if (one->question.answered) {
		found = one->question.answer.found;
		*to = one->to;
		*bytes = one->bytes;
		end(fd, one);
		verdict = found != NULL ? SAN_IS_RDMA : SAN_IS_TCP;
	}
	pthread_mutex_unlock(&client.lock);
	if (found != NULL)
		client_enter(fd, found);
	return verdict;
}

void
client_abandon(int fd)
{
	struct session *found = NULL;
	struct connecting *one;

	pthread_mutex_lock(&client.lock);
	one = atomic_load(&connecting[fd]);
	if (one != NULL) {
		found = one->question.answer.found;
		end(fd, one);
	}
	pthread_mutex_unlock(&client.lock);
	if (found != NULL)
		client_put(found);
}

void
client_questions_begin(void)
{
	plx_list_init(&client.questions);
	client.askers = 0;
	for (int fd = 0; fd < SAN_FILES_MAX; fd++) {
		struct connecting *one = atomic_exchange(&connecting[fd], NULL);

		if (one != NULL)
			client_close_file(one->question.kick);
		free(one);
	}
}
