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

static void
put_name(const struct sockaddr_storage *name, __be16 *port, __be32 *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)name;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)name;

	*port = v4->sin_port;
	if (name->ss_family == AF_INET6)
		memcpy(address, &v6->sin6_addr, sizeof(v6->sin6_addr));
	else
		memcpy(address, &v4->sin_addr, sizeof(v4->sin_addr));
}

/* What the kernel knows of the other end of a connection within the machine. */
static bool
write_request(int anchor, struct request *out)
{
	struct sockaddr_storage near, far;
	socklen_t bytes = sizeof(near), more = sizeof(far);

	if (getsockname(anchor, (struct sockaddr *)&near, &bytes) != 0 ||
	    getpeername(anchor, (struct sockaddr *)&far, &more) != 0)
		return false;
	*out = (struct request){
		.head = {.nlmsg_len = sizeof(*out),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = (uint8_t)far.ss_family,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = UINT32_MAX,
			 .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
	};
	put_name(&far, &out->body.id.idiag_sport, out->body.id.idiag_src);
	put_name(&near, &out->body.id.idiag_dport, out->body.id.idiag_dst);
	return true;
}

/* Returns: of the program's socket; 0: it waits in its listener's queue; -1: the kernel does not
 * say
 */
static int64_t
inode_of(int anchor)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct request request;
	struct reply reply;
	int64_t inode = -1;

	if (fd >= 0 && write_request(anchor, &request) &&
	    send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request) &&
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
patience(const struct session *session)
{
	const int64_t inode = session->segment.config.connects ? -1 : inode_of(session->anchor.fd);

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
