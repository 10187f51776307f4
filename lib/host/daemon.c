/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The socket that programs attach to, and a thread for each that has: it serves one call at a time,
 * so that a program that floods the host with calls, or an engine that stalls, holds up nobody
 * else's. Start with plx_host_start(), then serve().
 */
#include <errno.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon.h"

enum {
	BACKLOG = 64,
	SESSIONS_MAX = 1024,
	SEND_TIMEOUT_S = 2, /* a program that does not read its replies */
};

/* To the first message of a program [ms]. */
enum {
	ATTACH_TIMEOUT_MS = 5000,
	GOODBYE_MS = 1000, /* to tell peers, when the host stops */
};

/* ---- one program ---- */

/* The lock is held. */
static struct offer *
find_offer(struct plx_host *host, const char *name)
{
	for (uint32_t i = 0; i < host->offers; i++)
		if (strcmp(host->offer[i].name, name) == 0)
			return &host->offer[i];
	return NULL;
}

/* The network namespace that a descriptor of the program's is of. {0, 0}: it is none's */
static struct plx_host_namespace
namespace_of(int fd)
{
	struct plx_host_namespace none = {0, 0};
	struct stat status;

	if (ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET || fstat(fd, &status) != 0)
		return none;
	return (struct plx_host_namespace){status.st_dev, status.st_ino};
}

/* The supplementary groups of a program, when it connected. */
static bool
find_groups(struct session *session)
{
	socklen_t bytes = 0;

	if (getsockopt(session->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) == 0 || bytes == 0)
		return true;
	if (errno != ERANGE)
		return false;
	session->groups = malloc(bytes);
	if (session->groups == NULL ||
	    getsockopt(session->fd, SOL_SOCKET, SO_PEERGROUPS, session->groups, &bytes) != 0)
		return false;
	session->who.group = session->groups;
	session->who.groups = (uint32_t)(bytes / sizeof(gid_t));
	return true;
}

static void
find_name(struct plx_host_who *who)
{
	struct passwd entry, *found;
	char text[4096];

	if (getpwuid_r(who->uid, &entry, text, sizeof(text), &found) == 0 && found != NULL)
		snprintf(who->user, sizeof(who->user), "%s", entry.pw_name);
}

/* Who it is, as the kernel says. */
static bool
find_who(struct session *session, int net)
{
	struct plx_host_who *who = &session->who;

	*who = (struct plx_host_who){.uid = session->peer.uid,
				     .gid = session->peer.gid,
				     .pid = session->peer.pid,
				     .net = namespace_of(net)};
	find_name(who);
	return find_groups(session);
}

/* May it have a seat beside those that there are? The lock is held. */
static enum plx_status
judge(struct session *session, const struct offer *offer, struct plx_why *why)
{
	const struct plx_host_who *who = &session->who;
	uint32_t seats = 0, of_user = 0;
	struct plx_list *node, *after;
	enum plx_status status = plx_host_may_sit(&offer->rights, who, offer->name, why);

	plx_list_for_each (node, after, &session->host->seated) {
		const struct session *other = plx_list_entry(node, struct session, link);

		seats += other->at == offer;
		of_user += other->at == offer && other->who.uid == who->uid;
	}
	if (status == PLX_OK)
		status = plx_host_quota(&offer->rights, who, offer->name, PLX_HOST_SEATS, seats, 1,
					why);
	if (status == PLX_OK)
		status = plx_host_quota(&offer->rights, who, offer->name, PLX_HOST_USER_SEATS,
					of_user, 1, why);
	return status;
}

static enum plx_status
take_seat(struct session *session, const char *name, struct plx_why *why)
{
	struct plx_host *host = session->host;
	struct offer *offer;
	enum plx_status status;

	pthread_mutex_lock(&host->lock);
	offer = find_offer(host, name);
	if (offer == NULL) {
		plx_why_set(why, "the host at %s has no adapter \"%s\"", host->path, name);
		status = PLX_CONFIG;
	} else {
		status = judge(session, offer, why);
	}
	if (status == PLX_OK) {
		const struct seat_terms terms = {.adapter = offer->adapter,
						 .waker = host->waker,
						 .parking = offer->parking,
						 .rights = &offer->rights,
						 .who = &session->who,
						 .number = host->seats + 1,
						 .stop_fd = host->stop};

		status = host_seat_attach(&terms, &session->seat);
	}
	if (status == PLX_OK) {
		session->at = offer;
		session->number = ++host->seats;
		session->since_ns = plx_clock_ns();
		plx_list_append(&host->seated, &session->link);
	}
	pthread_mutex_unlock(&host->lock);
	return status;
}

static enum plx_status
attach(struct session *session, struct plx_ipc_attach *request, struct plx_why *why)
{
	enum plx_status status;
	struct plx_why who;

	request->version[sizeof(request->version) - 1] = '\0';
	request->adapter[sizeof(request->adapter) - 1] = '\0';
	if (strcmp(request->version, plx_version()) != 0) {
		plx_why_set(why,
			    "the program has version %.20s of Pollux, and the host at %s has %s; "
			    "install the same",
			    request->version, session->host->path, plx_version());
		return PLX_CONFIG;
	}
	if (!find_who(session, request->net)) {
		plx_why_set(why, "the groups of the program are not known: %s", strerror(errno));
		return PLX_NO_MEMORY;
	}
	status = take_seat(session, request->adapter, why);
	if (status == PLX_OK)
		plx_log_line("%s takes seat %u of adapter %s",
			     plx_host_program_text(&session->who, &who), session->number,
			     session->at->name);
	else
		plx_log_line("%s", why->text);
	return status;
}

/* A refusal is the operator's business if a quota is the reason. One of a seat in a second: a
 * program that repeats itself leaves room for others. */
static void
log_refusal(struct session *session, enum plx_status status, const struct plx_why *why)
{
	uint64_t now;

	if (status != PLX_FULL && status != PLX_DENIED)
		return;
	atomic_fetch_add(&session->seat->refused, 1);
	now = plx_clock_ns();
	if (why->text[0] == '\0' || now < session->quiet_ns)
		return;
	session->quiet_ns = now + PLX_SEC;
	plx_log_line("%s", why->text);
}

static enum plx_status
execute(struct session *session, enum plx_ipc_op op, struct plx_why *why)
{
	enum plx_status status;

	if (session->seat == NULL)
		return op == PLX_IPC_ATTACH ? attach(session, (void *)session->request.body, why)
					    : PLX_STATE;
	status = plx_host_call(session->seat, op, session->request.body, session->reply.body, why);
	log_refusal(session, status, why);
	session->closed = op == PLX_IPC_CLOSE && status == PLX_OK;
	return status;
}

/* Returns: false: the program cannot be talked to any more */
static bool
answer(struct session *session, enum plx_ipc_op op, enum plx_status status,
       const struct plx_why *why)
{
	struct plx_ipc_message *reply = &session->reply;
	int32_t *member[PLX_IPC_FDS_MAX];
	int fds[PLX_IPC_FDS_MAX];
	uint32_t count = 0;
	bool sent;

	reply->head =
		(struct plx_ipc_head){PLX_IPC_MAGIC, op, session->request.head.number, status};
	if (status == PLX_OK)
		count = plx_ipc_reply_fds(op, reply->body, member);
	else
		memcpy(reply->body, why, sizeof(*why));
	for (uint32_t i = 0; i < count; i++) {
		fds[i] = *member[i];
		*member[i] = -1; /* the number is nothing to the program */
	}
	sent = plx_channel_send(session->fd, reply, plx_ipc_reply_size(op, status), fds, count);
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
	return sent;
}

static bool
serve_one(struct session *session)
{
	struct plx_ipc_message *request = &session->request;
	int32_t *member[PLX_IPC_FDS_MAX];
	int fds[PLX_IPC_FDS_MAX];
	struct plx_why why = {""};
	enum plx_status status;
	enum plx_ipc_op op;
	uint32_t count;
	ssize_t bytes = plx_channel_receive(session->fd, request, fds, &count);
	bool right = bytes > 0 && plx_ipc_check_request(request, (size_t)bytes, count);

	if (right) {
		op = (enum plx_ipc_op)request->head.op;
		(void)plx_ipc_request_fds(op, request->body, member);
		for (uint32_t i = 0; i < count; i++)
			*member[i] = fds[i];
		memset(session->reply.body, 0, plx_ipc_reply_bytes(op));
		status = execute(session, op, &why);
		right = answer(session, op, status, &why);
	}
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
	return right;
}

/* Returns: false: it has ended, or does not begin, or we stop */
static bool
wait_for_request(const struct session *session)
{
	struct pollfd set[] = {
		{.fd = session->fd, .events = POLLIN},
		{.fd = session->pidfd, .events = POLLIN},
		{.fd = session->host->stop, .events = POLLIN},
	};
	int timeout = session->seat != NULL ? -1 : ATTACH_TIMEOUT_MS;
	int n;

	do
		n = poll(set, PLX_COUNT_OF(set), timeout);
	while (n < 0 && errno == EINTR);
	return n > 0 && set[1].revents == 0 && set[2].revents == 0 && set[0].revents & POLLIN;
}

/* Why it ends. A program's end closes its socket first; of a socket that its children have, too,
 * only the process tells. */
static const char *
reason_of(const struct session *session)
{
	struct pollfd set[] = {
		{.fd = session->host->stop, .events = POLLIN},
		{.fd = session->fd},
		{.fd = session->pidfd, .events = POLLIN},
	};

	if (session->closed)
		return "closed";
	(void)!poll(set, PLX_COUNT_OF(set), 0);
	if (set[0].revents != 0)
		return "the host stops";
	return set[1].revents & POLLHUP || set[2].revents != 0
		       ? "the program has ended, or executes another"
		       : "the program broke the protocol, or does not read replies";
}

static void
end_session(struct session *session, const char *reason)
{
	struct plx_host *host = session->host;
	struct host_seat *seat = session->seat;
	struct plx_why who;

	/* Telemetry looks at it no more, but it counts until nothing of it is left. */
	pthread_mutex_lock(&host->lock);
	session->seat = NULL;
	pthread_mutex_unlock(&host->lock);
	if (seat != NULL) {
		host_seat_end(seat);
		plx_log_line("%s has left seat %u of adapter %s: %s",
			     plx_host_program_text(&session->who, &who), session->number,
			     session->at->name, reason);
	}
	close(session->fd);
	if (session->pidfd >= 0)
		close(session->pidfd);
	pthread_mutex_lock(&host->lock);
	plx_list_remove(&session->link);
	free(session->groups);
	free(session);
	host->sessions--;
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
}

static void *
serve(void *arg)
{
	struct session *session = arg;

	while (wait_for_request(session) && serve_one(session))
		;
	end_session(session, reason_of(session));
	return NULL;
}

/* ---- programs that connect ---- */

static bool
admit(struct plx_host *host)
{
	bool room;

	pthread_mutex_lock(&host->lock);
	room = host->sessions < SESSIONS_MAX;
	host->sessions += room;
	pthread_mutex_unlock(&host->lock);
	return room;
}

static struct session *
begin_session(struct plx_host *host, int fd)
{
	const struct timeval limit = {.tv_sec = SEND_TIMEOUT_S};
	struct session *session = calloc(1, sizeof(*session));
	socklen_t bytes = sizeof(session->peer);

	if (session == NULL)
		return NULL;
	session->host = host;
	session->fd = fd;
	session->pidfd = -1;
	plx_list_init(&session->link);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &session->peer, &bytes) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0) {
		free(session);
		return NULL;
	}
	session->pidfd = (int)syscall(SYS_pidfd_open, session->peer.pid, 0);
	return session;
}

static void
accept_one(struct plx_host *host)
{
	int fd = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC);
	struct session *session;
	pthread_attr_t attr;
	pthread_t thread;

	if (fd < 0)
		return;
	if (!admit(host)) {
		close(fd);
		return;
	}
	session = begin_session(host, fd);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (session == NULL) {
		close(fd);
		pthread_mutex_lock(&host->lock);
		host->sessions--;
		pthread_mutex_unlock(&host->lock);
	} else if (pthread_create(&thread, &attr, serve, session) != 0) {
		end_session(session, "there is no thread for it");
	}
	pthread_attr_destroy(&attr);
}

static void *
listen_for_programs(void *arg)
{
	struct plx_host *host = arg;
	struct pollfd set[] = {
		{.fd = host->listener, .events = POLLIN},
		{.fd = host->stop, .events = POLLIN},
	};

	for (;;) {
		if (poll(set, PLX_COUNT_OF(set), -1) < 0 && errno != EINTR)
			return NULL;
		if (set[1].revents != 0)
			return NULL;
		if (set[0].revents != 0)
			accept_one(host);
	}
}

/* ---- the socket ---- */

/* Is somebody listening there? */
static bool
is_alive(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool alive = fd >= 0 && connect(fd, (const void *)address, sizeof(*address)) == 0;

	if (fd >= 0)
		close(fd);
	return alive;
}

static enum plx_status
open_socket(struct plx_host *host, unsigned mode, struct plx_why *why)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, host->path, sizeof(address.sun_path));
	if (is_alive(&address)) {
		plx_why_set(why, "another host listens at %s; stop it, or choose another `socket`",
			    host->path);
		return PLX_BUSY;
	}
	(void)unlink(host->path);
	host->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (host->listener < 0 || bind(host->listener, (void *)&address, sizeof(address)) != 0 ||
	    chmod(host->path, (mode_t)mode) != 0 || listen(host->listener, BACKLOG) != 0) {
		plx_why_set(why, "no socket at %s: %s", host->path, strerror(errno));
		return PLX_CONFIG;
	}
	return PLX_OK;
}

static void
free_host(struct plx_host *host)
{
	if (host->waker != NULL)
		waker_stop(host->waker);
	if (host->listener >= 0)
		close(host->listener);
	if (host->stop >= 0)
		close(host->stop);
	pthread_mutex_destroy(&host->lock);
	pthread_cond_destroy(&host->changed);
	free(host);
}

enum plx_status
plx_host_start(const char *path, unsigned mode, struct plx_host **out, struct plx_why *why)
{
	struct plx_host *host;
	enum plx_status status;

	if (*path == '\0' || strlen(path) >= sizeof(host->path)) {
		plx_why_set(why, "the socket's path has %zu bytes; give 1 to %zu", strlen(path),
			    sizeof(host->path) - 1);
		return PLX_INVALID;
	}
	host = calloc(1, sizeof(*host));
	if (host == NULL)
		return PLX_NO_MEMORY;
	snprintf(host->path, sizeof(host->path), "%s", path);
	pthread_mutex_init(&host->lock, NULL);
	pthread_cond_init(&host->changed, NULL);
	plx_list_init(&host->seated);
	host->listener = -1;
	host->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	status = host->stop >= 0 ? waker_start(&host->waker) : PLX_NO_MEMORY;
	if (status == PLX_OK)
		status = open_socket(host, mode, why);
	if (status != PLX_OK) {
		free_host(host);
		return status;
	}
	seats_tell(host);
	*out = host;
	return PLX_OK;
}

enum plx_status
plx_host_serve(struct plx_host *host)
{
	if (pthread_create(&host->thread, NULL, listen_for_programs, host) != 0)
		return PLX_NO_MEMORY;
	host->serves = true;
	return PLX_OK;
}

enum plx_status
plx_host_offer(struct plx_host *host, const char *name, const struct plx_adapter_options *options,
	       const struct plx_host_rights *rights, struct plx_why *why)
{
	struct host_adapter *adapter;
	struct parking *parking;
	enum plx_status status = plx_host_adapter_open(name, options, &adapter, why);

	if (status != PLX_OK)
		return status;
	parking = parking_create(adapter);
	if (parking == NULL) {
		plx_why_set(why, "there is no memory to offer adapter %s", name);
		PLX_ASSERT(plx_host_adapter_close(adapter) == PLX_OK);
		return PLX_NO_MEMORY;
	}
	if (adapter->inline_mode || host->offers == PLX_ADAPTERS_MAX) {
		plx_why_set(why,
			    adapter->inline_mode
				    ? "adapter %s has mode \"inline\", in which the program polls; "
				      "a host's has mode \"worker\""
				    : "adapter %s is one too many",
			    name);
		parking_destroy(parking);
		PLX_ASSERT(plx_host_adapter_close(adapter) == PLX_OK);
		return PLX_CONFIG;
	}
	pthread_mutex_lock(&host->lock);
	host->offer[host->offers].parking = parking;
	snprintf(host->offer[host->offers].name, sizeof(host->offer[0].name), "%s", name);
	host->offer[host->offers].rights = *rights;
	host->offer[host->offers++].adapter = adapter;
	pthread_mutex_unlock(&host->lock);
	return PLX_OK;
}

uint32_t
plx_host_offers(const struct plx_host *host)
{
	return host->offers;
}

struct host_adapter *
plx_host_offered(const struct plx_host *host, uint32_t i)
{
	return host->offer[i].adapter;
}

/* Until the messages that end connections have been sent, and answered. */
static void
say_goodbye(struct host_adapter *adapter)
{
	struct plx_cm_view view;

	for (int ms = 0; ms < GOODBYE_MS; ms++) {
		if (plx_link_cm_query(adapter->engine[0], &view) != PLX_OK || view.connections == 0)
			return;
		host_pause();
	}
}

void
plx_host_stop(struct plx_host *host)
{
	const uint64_t one = 1;

	seats_tell_no_more(host);
	(void)!write(host->stop, &one, sizeof(one));
	if (host->serves)
		pthread_join(host->thread, NULL);
	(void)unlink(host->path);
	pthread_mutex_lock(&host->lock);
	while (host->sessions > 0)
		pthread_cond_wait(&host->changed, &host->lock);
	pthread_mutex_unlock(&host->lock);
	for (uint32_t i = 0; i < host->offers; i++) {
		say_goodbye(host->offer[i].adapter);
		parking_destroy(host->offer[i].parking);
		PLX_ASSERT(plx_host_adapter_close(host->offer[i].adapter) == PLX_OK);
	}
	free_host(host);
}
