/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that have arrived, and nobody asks for: whoever has the socket waits for them past the
 * switch, by a program without the library, stdio, or io_uring. The broker begins to copy then.
 * Start with session_look_after().
 */
#include <dirent.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"

enum {
	UNHEARD_MS = 500, /* a program with the library asks sooner */
	BUSY_MS = 5000,   /* ... unless it is busy */
	RINGS_MS = 1000,  /* how often it is looked whether a program has a ring */
};

/* ---- whose is the socket? ---- */

struct request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

struct reply {
	struct nlmsghdr head;
	struct inet_diag_msg body;
	uint8_t more[512];
};

/* What the kernel knows of the other end of a connection within the machine. */
static struct request
request_of(const struct san_address *near, const struct san_address *far)
{
	struct request request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = far->ip.version == 6 ? AF_INET6 : AF_INET,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = UINT32_MAX,
			 .id.idiag_sport = htons(far->port),
			 .id.idiag_dport = htons(near->port),
			 .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
	};

	memcpy(request.body.id.idiag_src, far->ip.v, sizeof(far->ip.v));
	memcpy(request.body.id.idiag_dst, near->ip.v, sizeof(near->ip.v));
	return request;
}

/* Returns: of the program's socket; 0: it waits in its listener's queue; -1: the kernel does not
 * say
 */
static int64_t
inode_of(const struct session *session)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	const struct request request = request_of(&session->anchor_local, &session->anchor_peer);
	struct reply reply;
	int64_t inode = -1;

	if (fd >= 0 && send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request) &&
	    recv(fd, &reply, sizeof(reply), MSG_DONTWAIT) >=
		    (ssize_t)(sizeof(reply.head) + sizeof(reply.body)) &&
	    reply.head.nlmsg_type == SOCK_DIAG_BY_FAMILY)
		inode = reply.body.idiag_inode;
	if (fd >= 0)
		close(fd);
	return inode;
}

/* The descriptors of a process are links that say what they are. */
static bool
has_file(pid_t pid, const char *wanted)
{
	char path[64], name[64];
	const struct dirent *entry;
	bool found = false;
	ssize_t length;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
		length = readlinkat(dirfd(folder), entry->d_name, name, sizeof(name) - 1);
		if (length > 0) {
			name[length] = '\0';
			found = strcmp(name, wanted) == 0;
		}
	}
	if (folder != NULL)
		closedir(folder);
	return found;
}

/* One program in a round: it may have many files. */
void
unheard_look_for_rings(struct san_broker *broker, uint64_t now)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->programs) {
		struct program *program = plx_list_entry(node, struct program, link);

		if (program->passes_by || program->control.fd < 0 || now < program->look_at)
			continue;
		program->look_at = now + RINGS_MS * PLX_MSEC;
		program->passes_by = has_file(program->pid, "anon_inode:[io_uring]");
		return;
	}
}

/* Has a program with the library the socket? It has not come to ask, as on a busy machine. */
static bool
is_of_program(const struct san_broker *broker, int64_t inode)
{
	char wanted[64];
	struct plx_list *node, *after;

	snprintf(wanted, sizeof(wanted), "socket:[%lld]", (long long)inode);
	plx_list_for_each (node, after, &broker->programs) {
		const struct program *program = plx_list_entry(node, struct program, link);

		if (program->control.fd >= 0 && !program->passes_by &&
		    has_file(program->pid, wanted))
			return true;
	}
	return false;
}

/* Returns: [ms] how long somebody may take to ask for what has arrived; 0: he has not accepted */
static uint32_t
patience(struct session *session)
{
	const bool asks = !session->segment.config.connects && listen_knows_anchor(session);
	const int64_t inode = asks ? inode_of(session) : -1;

	if (inode == 0)
		return 0;
	return inode > 0 && is_of_program(session->broker, inode) ? BUSY_MS : UNHEARD_MS;
}

/* ---- who hears of them ---- */

static bool
has_hearers(struct session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders)
		if (!plx_list_entry(node, struct holder, link)->program->passes_by)
			return true;
	return false;
}

static bool
is_unheard(struct session *session)
{
	return session->state == SESSION_UP && session->controls && !session->released &&
	       session->arbiter.count == 0 &&
	       (session->ready & (SAN_READY_IN | SAN_READY_END)) != 0 && !has_hearers(session);
}

/* What arrives for a program that passes by must not lie where only that one would find it. */
static void
call_in(struct session *session)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &session->holders) {
		struct program *program = plx_list_entry(node, struct holder, link)->program;

		if (program->passes_by && program->process == session->arbiter.process) {
			session_call_in(session, program);
			return;
		}
	}
}

/* It is looked for once in a round: that may take some time. */
static void
judge(struct session *session, uint64_t now)
{
	uint32_t ms;

	if (session->broker->judged == now)
		return;
	session->broker->judged = now;
	ms = patience(session);
	if (ms > 0 && now - session->unheard >= ms * PLX_MSEC)
		session_relay_for(session, "a program waits at its socket without pollux-run");
	else
		session->judge_at = now + UNHEARD_MS * PLX_MSEC;
	if (ms == 0)
		session->unheard = now;
}

void
session_look_after(struct session *session, uint64_t now)
{
	if (session->relay != RELAY_NOT)
		return;
	if (!session->controls && now >= session->judge_at) {
		call_in(session);
		session->judge_at = now + UNHEARD_MS * PLX_MSEC;
	}
	if (!is_unheard(session)) {
		session->unheard = 0;
		return;
	}
	if (session->unheard == 0) {
		session->unheard = now;
		session->judge_at = now + UNHEARD_MS * PLX_MSEC;
	}
	if (now >= session->judge_at)
		judge(session, now);
}
