/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that have arrived, and nobody asks for: whoever has the socket waits for them past the
 * switch, by a program without the library, stdio, or io_uring. The broker begins to copy then.
 * Start with session_look_after().
 */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"

enum {
	UNHEARD_MS = 500, /* a program with the library asks sooner */
};

/* ---- has the socket been accepted? ---- */

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

/* One that waits in its listener's queue has no inode yet. If the kernel does not say, it has been
 * accepted: copying is slower, and not wrong. */
static bool
is_accepted(int anchor)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct request request;
	struct reply reply;
	bool asked, waits = false;

	if (fd < 0)
		return true;
	asked = write_request(anchor, &request) &&
		send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request);
	if (asked && recv(fd, &reply, sizeof(reply), MSG_DONTWAIT) >=
			     (ssize_t)(sizeof(reply.head) + sizeof(reply.body)))
		waits = reply.head.nlmsg_type == SOCK_DIAG_BY_FAMILY && reply.body.idiag_inode == 0;
	close(fd);
	return !waits;
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

void
session_look_after(struct session *session, uint64_t now)
{
	if (session->relay != RELAY_NOT)
		return;
	if (!session->controls)
		call_in(session);
	if (!is_unheard(session)) {
		session->unheard = PLX_NEVER;
		return;
	}
	if (session->unheard == PLX_NEVER)
		session->unheard = now + UNHEARD_MS * PLX_MSEC;
	if (now < session->unheard)
		return;
	session->unheard = PLX_NEVER;
	if (session->segment.config.connects || is_accepted(session->anchor.fd))
		session_relay_for(session, "a program waits at its socket without pollux-run");
}
