/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel's routes, for addresses that no configured adapter reaches: one rtnetlink query, one
 * reply. It changes nothing in the kernel. Start with kernel_route().
 */
#include "kernel.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	ANSWER_SECONDS = 2,
	ANSWER_BYTES = 4096,
};

struct question {
	struct nlmsghdr head;
	struct rtmsg route;
	char attributes[RTA_SPACE(16) + RTA_SPACE(4)];
};

static void
add_attribute(struct question *question, uint16_t type, const void *value, uint32_t bytes)
{
	struct rtattr *attribute =
		(void *)((char *)question + NLMSG_ALIGN(question->head.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = (uint16_t)RTA_LENGTH(bytes);
	memcpy(RTA_DATA(attribute), value, bytes);
	question->head.nlmsg_len =
		(uint32_t)(NLMSG_ALIGN(question->head.nlmsg_len) + RTA_SPACE(bytes));
}

static int
judge(const struct rtmsg *route)
{
	switch (route->rtm_type) {
	case RTN_UNREACHABLE:
		return EHOSTUNREACH;
	case RTN_BLACKHOLE:
	case RTN_PROHIBIT:
	case RTN_THROW:
		return ENETUNREACH;
	default:
		return 0;
	}
}

static int
read_answer(struct nlmsghdr *head, const struct plx_ip *to, struct plx_route *out)
{
	const struct nlmsgerr *error;
	struct rtmsg *route = NLMSG_DATA(head);
	uint32_t ip_bytes = to->version == 4 ? 4 : 16;
	int left;

	if (head->nlmsg_type == NLMSG_ERROR) {
		error = NLMSG_DATA(head);
		return error->error ? -error->error : EPROTO;
	}
	if (head->nlmsg_type != RTM_NEWROUTE)
		return EPROTO;
	memset(out, 0, sizeof(*out));
	out->net = *to;
	out->prefix_bits = (uint8_t)(8 * ip_bytes);
	left = (int)RTM_PAYLOAD(head);
	for (struct rtattr *at = RTM_RTA(route); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == RTA_OIF && RTA_PAYLOAD(at) == sizeof(uint32_t))
			memcpy(&out->interface_index, RTA_DATA(at), sizeof(uint32_t));
		if (at->rta_type == RTA_PREFSRC && RTA_PAYLOAD(at) == ip_bytes) {
			out->local.version = to->version;
			memcpy(out->local.v, RTA_DATA(at), ip_bytes);
		}
		if (at->rta_type == RTA_GATEWAY && RTA_PAYLOAD(at) == ip_bytes) {
			out->via.version = to->version;
			memcpy(out->via.v, RTA_DATA(at), ip_bytes);
		}
	}
	return judge(route);
}

int
kernel_route(const struct plx_ip *to, uint32_t by, struct plx_route *out)
{
	struct question question = {
		.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
			 .nlmsg_type = RTM_GETROUTE,
			 .nlmsg_flags = NLM_F_REQUEST},
		.route = {.rtm_family = to->version == 4 ? AF_INET : AF_INET6,
			  .rtm_dst_len = to->version == 4 ? 32 : 128},
	};
	const struct timeval timeout = {.tv_sec = ANSWER_SECONDS};
	union {
		struct nlmsghdr head;
		char bytes[ANSWER_BYTES];
	} answer;
	ssize_t n;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return errno;
	add_attribute(&question, RTA_DST, to->v, to->version == 4 ? 4 : 16);
	if (by)
		add_attribute(&question, RTA_OIF, &by, sizeof(by));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	n = send(fd, &question, question.head.nlmsg_len, 0);
	if (n >= 0)
		n = recv(fd, &answer, sizeof(answer), 0);
	if (n < 0) {
		int error = errno;

		close(fd);
		return error;
	}
	close(fd);
	return NLMSG_OK(&answer.head, (size_t)n) ? read_answer(&answer.head, to, out) : EPROTO;
}
