/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's end of an interoperability test: the same commands as ours (README.md), on
 * libibverbs, for one driver at a time over TCP. It does what perftest and the pingpongs cannot.
 * With a DEVICE it only hands lines to guest_kernel_device.c. It judges nothing. Start with main().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

enum {
	GIDS = 16,
	ACCESS_LOCAL_WRITE = 1 << 0, /* as PLX_ACCESS_*, which this program does not see */
	ACCESS_REMOTE_READ = 1 << 1,
	ACCESS_REMOTE_WRITE = 1 << 2,
	ACCESS_REMOTE_ATOMIC = 1 << 3,
	ACCESS_BIND = 1 << 4,
};

struct guest guest;

void
guest_answer(int number)
{
	if (number == 0)
		line_answer("ok");
	else
		line_answer("error %s", strerror(number));
}

unsigned int
guest_access(uint64_t bits)
{
	return (bits & ACCESS_LOCAL_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0u) |
	       (bits & ACCESS_REMOTE_READ ? IBV_ACCESS_REMOTE_READ : 0u) |
	       (bits & ACCESS_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0u) |
	       (bits & ACCESS_REMOTE_ATOMIC ? IBV_ACCESS_REMOTE_ATOMIC : 0u) |
	       (bits & ACCESS_BIND ? IBV_ACCESS_MW_BIND : 0u);
}

struct guest_qp *
guest_qp_of(const struct line *line)
{
	uint64_t id = line_number(line, "id", GUEST_QPS);

	if (id < GUEST_QPS && guest.qp[id].qp)
		return &guest.qp[id];
	line_answer("error id names no queue pair");
	return NULL;
}

/* The GID that a peer of that one's family is spoken to from; -1: none. Link-local ones are not. */
static int
gid_for(const union ibv_gid *peer, union ibv_gid *found)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	int is_v4 = memcmp(peer->raw, mapped, sizeof(mapped)) == 0;

	for (int i = 0; i < GIDS; i++) {
		if (ibv_query_gid(guest.device, 1, i, found) != 0 || found->raw[0] == 0xfe)
			continue;
		if ((memcmp(found->raw, mapped, sizeof(mapped)) == 0) == is_v4 &&
		    found->raw[15] != 0)
			return i;
	}
	return -1;
}

static void
drop_qp(struct guest_qp *one)
{
	if ((one->qp && ibv_destroy_qp(one->qp)) ||
	    (one->send_cq && ibv_destroy_cq(one->send_cq)) ||
	    (one->recv_cq && ibv_destroy_cq(one->recv_cq)))
		fprintf(stderr, "a queue pair or completion queue cannot be destroyed\n");
	memset(one, 0, sizeof(*one));
}

static int
to_init(struct guest_qp *one)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	return ibv_modify_qp(one->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* qp id= gid= [depth=]: create one, which accepts receives; `gid` is the peer's, which selects
 * one of our addresses. */
static void
run_qp(const struct line *line)
{
	uint64_t id = line_number(line, "id", GUEST_QPS);
	uint32_t depth = (uint32_t)line_number(line, "depth", 64);
	struct ibv_qp_init_attr options = {
		.cap = {depth, depth, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	union ibv_gid peer, own;
	struct guest_qp *one;
	char text[33];

	if (id >= GUEST_QPS || guest.qp[id].qp || line_bytes(line, "gid", peer.raw, 16) != 16) {
		line_answer("error id is out of range or in use, or gid is not 32 digits");
		return;
	}
	one = &guest.qp[id];
	one->gid = gid_for(&peer, &own);
	options.send_cq = one->send_cq = ibv_create_cq(guest.device, (int)depth, NULL, NULL, 0);
	options.recv_cq = one->recv_cq = ibv_create_cq(guest.device, (int)depth, NULL, NULL, 0);
	if (one->gid >= 0 && one->send_cq && one->recv_cq)
		one->qp = ibv_create_qp(guest.pd, &options);
	if (!one->qp || to_init(one) != 0) {
		line_answer("error no queue pair: %s", strerror(errno));
		drop_qp(one);
		return;
	}
	one->psn = (uint32_t)random() & 0xffffff;
	line_hex(own.raw, 16, text);
	line_answer("ok qpn=%u psn=%u gid=%s", one->qp->qp_num, one->psn, text);
}

/* The enum of a path MTU in bytes. */
static enum ibv_mtu
mtu_of(uint64_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 128u << mtu < bytes)
		mtu++;
	return mtu;
}

static int
to_rtr(struct guest_qp *one, const struct line *line)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_of(line_number(line, "mtu", 1024)),
		.dest_qp_num = (uint32_t)line_number(line, "qpn", 0),
		.rq_psn = (uint32_t)line_number(line, "psn", 0),
		.max_dest_rd_atomic = (uint8_t)line_number(line, "rd", 16),
		.min_rnr_timer = (uint8_t)line_number(line, "timer", 12),
		.qp_access_flags = guest_access(line_number(
			line, "access",
			ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC)),
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.sgid_index = (uint8_t)one->gid,
				    .hop_limit = 64,
				    .traffic_class = (uint8_t)line_number(line, "tclass", 0)}},
	};

	if (line_bytes(line, "gid", attr.ah_attr.grh.dgid.raw, 16) != 16)
		return EINVAL;
	return ibv_modify_qp(one->qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS);
}

/* connect id= qpn= psn= gid= mtu= [rd=] [access= retry= rnr= timer= timeout= tclass=] */
static void
run_connect(const struct line *line)
{
	struct guest_qp *one = guest_qp_of(line);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)line_number(line, "timeout", 18),
		.retry_cnt = (uint8_t)line_number(line, "retry", 7),
		.rnr_retry = (uint8_t)line_number(line, "rnr", 7),
		.max_rd_atomic = (uint8_t)line_number(line, "rd", 16),
	};
	int error;

	if (!one)
		return;
	attr.sq_psn = one->psn;
	error = to_rtr(one, line);
	if (!error)
		error = ibv_modify_qp(one->qp, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC);
	guest_answer(error);
}

/* state id=: in which state is it? */
static void
run_state(const struct line *line)
{
	static const char *const names[] = {
		[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR",
		[IBV_QPS_RTS] = "RTS",     [IBV_QPS_SQD] = "SQD",   [IBV_QPS_SQE] = "SQE",
		[IBV_QPS_ERR] = "ERROR",
	};
	struct guest_qp *one = guest_qp_of(line);
	struct ibv_qp_init_attr options;
	struct ibv_qp_attr attr;
	int error;

	if (!one)
		return;
	error = ibv_query_qp(one->qp, &attr, IBV_QP_STATE, &options);
	if (error)
		guest_answer(error);
	else
		line_answer("ok state=%s", names[attr.qp_state]);
}

static void
run_qpdrop(const struct line *line)
{
	struct guest_qp *one = guest_qp_of(line);

	if (!one)
		return;
	drop_qp(one);
	line_answer("ok");
}

/* mr mr= bytes= access=: register so much memory, of zeros */
static void
run_mr(const struct line *line)
{
	int access = (int)guest_access(line_number(line, "access", ACCESS_LOCAL_WRITE));
	struct area *area = area_make(line);
	struct ibv_mr *mr;

	if (!area)
		return;
	mr = ibv_reg_mr(guest.pd, area->memory, area->bytes, access);
	if (!mr) {
		area_drop(area);
		guest_answer(errno);
		return;
	}
	guest.mr[area_id(line)] = mr;
	line_answer("ok va=%llu rkey=%u", (unsigned long long)(uintptr_t)area->memory, mr->rkey);
}

static void
run_mrdrop(const struct line *line)
{
	struct area *area = area_of(line);
	int error;

	if (!area)
		return;
	error = ibv_dereg_mr(guest.mr[area_id(line)]);
	if (!error)
		area_drop(area);
	guest_answer(error);
}

static const struct line_command commands[] = {
	{"qp", run_qp},         {"connect", run_connect}, {"state", run_state},
	{"qpdrop", run_qpdrop}, {"mr", run_mr},           {"mrdrop", run_mrdrop},
	{"fill", run_fill},     {"check", run_check},     {"peek", run_peek},
	{"poke", run_poke},     {"send", guest_send},     {"recv", guest_recv},
	{"bind", guest_bind},   {"reap", guest_reap},
};

/* Wait for the driver, and use its connection as standard input and output. */
static int
meet_driver(int port)
{
	struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	int listener = socket(AF_INET6, SOCK_STREAM, 0), one = 1, driver;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&own, sizeof(own)) || listen(listener, 1))
		return -1;
	driver = accept(listener, NULL, NULL);
	close(listener);
	return driver < 0 || dup2(driver, STDIN_FILENO) < 0 || dup2(driver, STDOUT_FILENO) < 0 ? -1
											       : 0;
}

/* Hand every line to a device, and what the device then says to the driver. */
static int
relay(const char *path)
{
	static char text[LINE_BYTES];
	int device = open(path, O_RDWR);

	if (device < 0)
		return -1;
	line_answer("ok");
	while (fgets(text, sizeof(text), stdin) && strcmp(text, "quit\n") != 0) {
		ssize_t n = (ssize_t)strlen(text);

		if (write(device, text, (size_t)n) != n)
			return -1;
		n = read(device, text, sizeof(text));
		if (n < 0 || write(STDOUT_FILENO, text, (size_t)n) != n)
			return -1;
	}
	close(device);
	return 0;
}

int
main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (argc == 3) {
		if (meet_driver(atoi(argv[1])) == 0 && relay(argv[2]) == 0)
			return 0;
		perror(argv[2]);
		return 1;
	}
	srandom((unsigned int)time(NULL));
	if (argc != 2 || !list || !list[0]) {
		fprintf(stderr, "usage: %s PORT [DEVICE], where there is a verbs device\n",
			argv[0]);
		return 2;
	}
	guest.device = ibv_open_device(list[0]);
	if (guest.device)
		guest.pd = ibv_alloc_pd(guest.device);
	if (!guest.pd || meet_driver(atoi(argv[1])) != 0) {
		perror("guest");
		return 1;
	}
	line_answer("ok");
	lines_serve(commands, sizeof(commands) / sizeof(commands[0]), NULL);
	return 0;
}
