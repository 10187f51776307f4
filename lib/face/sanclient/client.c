/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process and the broker: what it says, and which descriptor is which session. Start with
 * client_hear().
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client.h"
#include "plx_session.h"

struct client client = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.sessions = {&client.sessions, &client.sessions},
	.questions = {&client.questions, &client.questions},
	.control = -1,
	.kick = -1,
};

/* Written with client.lock held; that there is one is seen without. */
static _Atomic(struct session *) file[SAN_FILES_MAX];
static atomic_int file_end;                /* those from here on never were */
static atomic_bool relayed[SAN_FILES_MAX]; /* ... and that the kernel's socket is used */

void
client_close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- the switch's upcalls: nothing waits for them ---- */

static SOCKET WSPAPI
create_handle(DWORD entry, DWORD_PTR context, LPINT lpErrno)
{
	(void)entry;
	(void)lpErrno;
	return context;
}

static int WSPAPI
close_handle(SOCKET s, LPINT lpErrno)
{
	(void)s;
	(void)lpErrno;
	return 0;
}

static WSPUPCALLTABLEEX upcalls = {
	.lpWPUCreateSocketHandle = create_handle,
	.lpWPUCloseSocketHandle = close_handle,
};

/* ---- sessions ---- */

static struct session *
find_session(uint64_t number)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &client.sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		if (session->number == number)
			return session;
	}
	return NULL;
}

/* If it cannot be used, nobody takes control. */
static void
use_adapter(const struct known *known)
{
	if (!plx_sanqp_add(known->adapter, known->host))
		return;
	(void)plx_sanqp_process(known->adapter);
	plx_sanqp_heir(known->adapter, known->broker);
}

static void
remember(const struct san_control *answer)
{
	struct known known = {.broker = answer->broker};

	memcpy(known.adapter, answer->adapter, sizeof(known.adapter));
	memcpy(known.host, answer->host, sizeof(known.host));
	known.adapter[sizeof(known.adapter) - 1] = known.host[sizeof(known.host) - 1] = '\0';
	for (uint32_t i = 0; i < client.knows; i++)
		if (strcmp(client.known[i].adapter, known.adapter) == 0)
			return;
	if (client.knows == KNOWN_MAX || known.adapter[0] == '\0')
		return;
	client.known[client.knows++] = known;
	use_adapter(&known);
}

/* client.lock is held. NULL: there is no memory, or the segment is none */
static struct session *
make_session(const struct san_control *answer, int fd)
{
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL || fd < 0 ||
	    san_segment_map(&session->segment, &answer->config, fd) != 0) {
		free(session);
		return NULL;
	}
	session->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (session->kick < 0) {
		san_segment_free(&session->segment);
		free(session);
		return NULL;
	}
	session->number = answer->session;
	session->relayed = answer->relayed != 0;
	session->local = answer->local;
	session->peer = answer->peer;
	memcpy(session->adapter, answer->adapter, sizeof(session->adapter));
	session->adapter[sizeof(session->adapter) - 1] = '\0';
	pthread_mutex_init(&session->lock, NULL);
	plx_list_append(&client.sessions, &session->link);
	return session;
}

static void
free_session(struct session *session)
{
	san_segment_free(&session->segment);
	client_close_file(session->kick);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

struct session *
client_session(int fd)
{
	struct session *session = NULL;

	pthread_mutex_lock(&client.lock);
	if (fd >= 0 && fd < SAN_FILES_MAX)
		session = atomic_load(&file[fd]);
	if (session != NULL)
		session->uses++;
	pthread_mutex_unlock(&client.lock);
	return session;
}

/* The last one closes it. Who finds it meanwhile, by another descriptor, asks again. */
void
client_put(struct session *session)
{
	bool last;

	pthread_mutex_lock(&client.lock);
	last = --session->uses == 0;
	session->closes = last;
	pthread_mutex_unlock(&client.lock);
	if (!last)
		return;
	control_lock(session);
	control_close(session);
	control_unlock(session);
	pthread_mutex_lock(&client.lock);
	plx_list_remove(&session->link);
	pthread_mutex_unlock(&client.lock);
	free_session(session);
}

/* ---- what the broker says ---- */

/* The session of an answer, in use. NULL, with an error: it closes, ask again; there is no memory
 */
static struct session *
session_of(const struct san_control *m, int fd, int *error)
{
	struct session *session = find_session(m->session);

	if (session == NULL)
		session = make_session(m, fd);
	else if (fd >= 0)
		close(fd);
	*error = session == NULL ? ENOMEM : session->closes ? EAGAIN : 0;
	if (*error != 0)
		return NULL;
	session->uses++;
	return session;
}

/* Whoever has asked may have closed its descriptor: then nobody has the session. */
static void
on_answer(const struct san_control *m, int fd)
{
	const struct san_control close_it = {.kind = SAN_CONTROL_CLOSE, .session = m->session};
	struct question *question = client_question(m->number);
	struct answer answer = {.error = m->error, .file = -1, .token = m->token};
	bool has_session = m->error == 0 && m->session != 0;

	if (question == NULL) {
		client_close_file(fd);
		if (has_session)
			(void)san_control_send(client.control, &close_it, -1);
		return;
	}
	if (m->error == 0)
		remember(m);
	if (has_session)
		answer.found = session_of(m, fd, &answer.error);
	else
		answer.file = fd;
	client_answered(question, &answer);
}

static void
put_into(struct inbox *inbox, const struct san_control *m)
{
	if (m->kind == SAN_CONTROL_TURN) {
		inbox->turn = true;
	} else if (m->kind == SAN_CONTROL_WANTED) {
		inbox->wanted = true;
		inbox->name = m->process;
	} else if (m->kind == SAN_CONTROL_TAKE) {
		inbox->take = true;
		inbox->wanted = false; /* what was said before is of the time before */
		inbox->token = m->token;
	} else if (m->kind == SAN_CONTROL_RELAYED) {
		inbox->relayed = true;
	} else if (m->kind == SAN_CONTROL_OVER) {
		inbox->over = true;
		inbox->error = m->error;
	}
}

/* More than there are sleepers: whoever comes later looks once in vain. */
static void
wake_up(const struct session *session)
{
	(void)eventfd_write(session->kick,
			    __atomic_load_n(&session->sleepers, __ATOMIC_SEQ_CST) + 1);
}

static void
on_message(const struct san_control *m, int fd)
{
	struct session *session;

	if (m->kind == SAN_CONTROL_ANSWER) {
		on_answer(m, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	session = find_session(m->session);
	if (session == NULL)
		return;
	put_into(&session->inbox, m);
	atomic_store(&session->mail, true);
	wake_up(session);
}

/* Nothing is decided any more. */
static void
on_gone(void)
{
	struct plx_list *node, *after;

	client.gone = true;
	client_unanswered();
	plx_list_for_each (node, after, &client.sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		session->inbox.over = true;
		session->inbox.error = ENETDOWN;
		atomic_store(&session->mail, true);
		wake_up(session);
	}
}

void
client_hear(void)
{
	enum san_control_got got = SAN_CONTROL_GOT;
	struct san_control message;
	int fd;

	pthread_mutex_lock(&client.lock);
	while (!client.gone && got == SAN_CONTROL_GOT) {
		got = san_control_receive(client.control, &message, &fd);
		if (got == SAN_CONTROL_GOT)
			on_message(&message, fd);
		else if (got == SAN_CONTROL_GONE)
			on_gone();
	}
	pthread_mutex_unlock(&client.lock);
}

void
client_tell(const struct session *session, enum san_control_kind kind, uint32_t process,
	    uint32_t token, int error)
{
	const struct san_control message = {
		.kind = kind,
		.session = session->number,
		.process = process,
		.token = token,
		.error = error,
	};

	/* One that has gone is noticed by who hears. */
	(void)san_control_send(client.control, &message, -1);
}

/* ---- descriptors that ask ---- */

static enum san_verdict
verdict_of(int error, int is_tcp)
{
	if (error == 0)
		return SAN_IS_RDMA;
	if (error == is_tcp)
		return SAN_IS_TCP;
	errno = error;
	return SAN_FAILED;
}

void
client_enter(int fd, struct session *session)
{
	struct session *before;

	pthread_mutex_lock(&client.lock);
	before = atomic_exchange(&file[fd], session);
	if (fd >= atomic_load(&file_end))
		atomic_store(&file_end, fd + 1);
	atomic_store(&relayed[fd], session != NULL && session->relayed);
	pthread_mutex_unlock(&client.lock);
	if (before != NULL)
		client_put(before);
}

static bool
may_ask(int fd)
{
	return client.runs && fd >= 0 && fd < SAN_FILES_MAX;
}

static enum san_verdict
ask_for(struct san_control *question, int fd, int is_tcp)
{
	struct answer answer;

	if (!may_ask(fd))
		return SAN_IS_TCP;
	while ((answer = client_ask(question, fd)).error == EAGAIN)
		(void)poll(NULL, 0, 1);
	if (answer.found != NULL)
		client_enter(fd, answer.found);
	client_close_file(answer.file);
	return verdict_of(answer.error, is_tcp);
}

static bool
read_name(int fd, struct san_address *out)
{
	struct sockaddr_storage name;
	socklen_t bytes = sizeof(name);

	return getsockname(fd, (struct sockaddr *)&name, &bytes) == 0 &&
	       plx_session_sockaddr_read((struct sockaddr *)&name, bytes, &out->ip, &out->port) ==
		       PLX_OK;
}

bool
client_connect_question(int fd, const struct sockaddr *address, socklen_t bytes,
			struct san_control *out)
{
	*out = (struct san_control){.kind = SAN_CONTROL_CONNECT};
	if (!may_ask(fd) ||
	    plx_session_sockaddr_read(address, bytes, &out->peer.ip, &out->peer.port) != PLX_OK ||
	    !read_name(fd, &out->local))
		return false;
	/* Bound to nothing: RDMA chooses. */
	if (out->local.port == 0 && plx_session_ip_is_any(&out->local.ip))
		out->local.ip.version = 0;
	return true;
}

enum san_verdict
san_client_connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct san_control question;

	return client_connect_question(fd, address, bytes, &question)
		       ? ask_for(&question, fd, SAN_USE_TCP)
		       : SAN_IS_TCP;
}

enum san_verdict
san_client_listen(int fd, int backlog)
{
	struct san_control question = {.kind = SAN_CONTROL_LISTEN,
				       .backlog = backlog > 0 ? (uint32_t)backlog : 1};
	socklen_t bytes = sizeof(int);
	int only = 0;

	if (!read_name(fd, &question.local))
		return SAN_IS_TCP;
	/* A provider listens at the addresses of both families, where TCP is to listen at one. */
	if (question.local.ip.version == 6 &&
	    getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &bytes) == 0 && only != 0 &&
	    plx_session_ip_is_any(&question.local.ip))
		return SAN_IS_TCP;
	return ask_for(&question, fd, SAN_USE_TCP);
}

enum san_verdict
san_client_adopt(int fd)
{
	struct san_control question = {.kind = SAN_CONTROL_FIND};

	return san_client_has(fd) || san_client_is_relayed(fd) ? SAN_IS_RDMA
							       : ask_for(&question, fd, ENOENT);
}

/* ---- sockets by a token ---- */

/* Returns: false: errno is set */
static bool
is_answered(const struct answer *answer)
{
	errno = answer->error;
	return answer->error == 0;
}

int
san_client_hand(int fd, uint32_t process, uint32_t *token)
{
	struct san_control question = {.kind = SAN_CONTROL_HAND, .process = process};
	struct answer answer = client_ask(&question, fd);

	client_close_file(answer.file);
	*token = answer.token;
	return is_answered(&answer) ? 0 : -1;
}

int
san_client_fetch(uint32_t token)
{
	struct san_control question = {.kind = SAN_CONTROL_FETCH, .token = token};
	struct answer answer = client_ask(&question, -1);

	return is_answered(&answer) ? answer.file : -1;
}

/* ---- descriptors ---- */

bool
san_client_has(int fd)
{
	return fd >= 0 && fd < SAN_FILES_MAX &&
	       atomic_load_explicit(&file[fd], memory_order_relaxed) != NULL &&
	       !atomic_load_explicit(&relayed[fd], memory_order_relaxed);
}

bool
san_client_is_relayed(int fd)
{
	return fd >= 0 && fd < SAN_FILES_MAX &&
	       atomic_load_explicit(&relayed[fd], memory_order_relaxed);
}

void
client_relayed(const struct session *session)
{
	pthread_mutex_lock(&client.lock);
	for (int fd = 0; fd < atomic_load(&file_end); fd++)
		if (atomic_load_explicit(&file[fd], memory_order_relaxed) == session)
			atomic_store(&relayed[fd], true);
	pthread_mutex_unlock(&client.lock);
}

void
san_client_relay(int fd)
{
	struct session *session = client_session(fd);

	if (session == NULL)
		return;
	control_lock(session);
	control_relay(session);
	control_unlock(session);
	client_put(session);
}

/* What the kernel's socket says of a close is asked for while there is one. */
void
san_client_close(int fd)
{
	struct session *session = client_session(fd);
	struct linger linger = {0};
	socklen_t bytes = sizeof(linger);

	if (san_client_is_connecting(fd))
		client_abandon(fd);
	if (session == NULL)
		return;
	if (!san_client_is_relayed(fd))
		(void)getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &bytes);
	pthread_mutex_lock(&client.lock);
	session->aborts = linger.l_onoff != 0 && linger.l_linger == 0;
	pthread_mutex_unlock(&client.lock);
	client_enter(fd, NULL);
	client_put(session);
}

void
san_client_dup(int fd, int copy)
{
	struct session *session = client_session(fd);

	if (copy >= 0 && copy < SAN_FILES_MAX)
		client_enter(copy, session);
	else if (session != NULL)
		client_put(session);
}

/* ---- from its beginning to its end ---- */

/* What the parent had is the parent's. Of its descriptors the child finds out by asking. */
static void
start_anew(void)
{
	pthread_mutex_init(&client.lock, NULL);
	plx_list_init(&client.sessions);
	client_questions_begin();
	for (int fd = 0; fd < atomic_load(&file_end); fd++) {
		atomic_store_explicit(&file[fd], NULL, memory_order_relaxed);
		atomic_store_explicit(&relayed[fd], false, memory_order_relaxed);
	}
	client_close_file(client.control);
	client_close_file(client.kick);
	client.control = client.kick = -1;
	client.runs = client.gone = false;
	plx_sanqp_forget();
}

void
san_client_forget(void)
{
	if (client.runs)
		start_anew();
}

int
san_client_start(const char *path)
{
	static pid_t owner;
	WSAPROTOCOL_INFOW tcp = {
		.iAddressFamily = AF_INET, .iSocketType = SOCK_STREAM, .iProtocol = IPPROTO_TCP};
	WSPDATA data;

	if (client.runs && owner == getpid())
		return 0;
	if (client.runs)
		start_anew();
	owner = getpid();
	client.control = san_control_connect(path);
	if (client.control < 0)
		return -1;
	client.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	plx_sanqp_without_file();
	client.runs = client.kick >= 0 &&
		      WSPStartupEx(MAKEWORD(2, 2), &data, &tcp, &upcalls, &client.call) == 0;
	for (uint32_t i = 0; client.runs && i < client.knows; i++)
		use_adapter(&client.known[i]);
	if (client.runs)
		return 0;
	client_close_file(client.control);
	client_close_file(client.kick);
	client.control = client.kick = -1;
	errno = ENETDOWN;
	return -1;
}

void
san_client_share(void)
{
	for (int fd = 0; client.runs && fd < atomic_load(&file_end); fd++) {
		struct session *session = san_client_has(fd) ? client_session(fd) : NULL;

		if (session == NULL)
			continue;
		control_lock(session);
		control_share(session);
		control_unlock(session);
		client_put(session);
	}
}

void
san_client_stop(void)
{
	int ignored;

	if (!client.runs)
		return;
	for (int fd = 0; fd < SAN_FILES_MAX; fd++)
		if (san_client_is_connecting(fd))
			client_abandon(fd);
		else if (san_client_has(fd) || san_client_is_relayed(fd))
			client_enter(fd, NULL);
	client.runs = false;
	client_close_file(client.control);
	client_close_file(client.kick);
	client.control = client.kick = -1;
	client.call.lpWSPCleanup(&ignored);
}
