/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our end of an interoperability test: an adapter in inline mode, or one of a polluxd, with queue
 * pairs and memory that a driver creates, connects and uses by commands (README.md). It polls while
 * it waits for the next command. It judges nothing: the driver does, from captures. Start with
 * main().
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ours.h"

enum {
	COUNTERS_MAX = 512, /* more than an adapter has */
};

struct ours ours;

void
ours_answer(enum plx_status status, const struct plx_why *why)
{
	if (status == PLX_OK)
		line_answer("ok");
	else
		line_answer("error %s. %s", plx_status_text(status), why ? why->text : "");
}

struct ours_qp *
ours_qp_of(const struct line *line)
{
	uint64_t id = line_number(line, "id", OURS_QPS);

	if (id < OURS_QPS && ours.qp[id].qp)
		return &ours.qp[id];
	line_answer("error id names no queue pair");
	return NULL;
}

bool
ours_ip_of(const struct line *line, const char *name, struct plx_ip *ip)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint8_t gid[16];

	memset(ip, 0, sizeof(*ip));
	if (line_bytes(line, name, gid, 16) != 16) {
		line_answer("error %s is not the 32 digits of a GID", name);
		return false;
	}
	ip->version = memcmp(gid, mapped, sizeof(mapped)) ? 6 : 4;
	memcpy(ip->v, ip->version == 4 ? gid + 12 : gid, ip->version == 4 ? 4 : 16);
	return true;
}

void
ours_ip_text(const struct plx_ip *ip, char text[33])
{
	uint8_t gid[16] = {[10] = 0xff, [11] = 0xff};

	if (ip->version == 4)
		memcpy(gid + 12, ip->v, 4);
	else
		memcpy(gid, ip->v, 16);
	line_hex(gid, 16, text);
}

static bool
make_cq(uint32_t depth, uint32_t engine, struct plx_cq **cq)
{
	struct plx_cq_options options = {.depth = depth, .engine = engine};

	return plx_cq_create(ours.adapter, &options, cq) == PLX_OK;
}

static void
drop_qp(struct ours_qp *one)
{
	if (one->qp && plx_qp_destroy(one->qp) != PLX_OK)
		fprintf(stderr, "a queue pair cannot be destroyed\n");
	if (one->send_cq && plx_cq_destroy(one->send_cq) != PLX_OK)
		fprintf(stderr, "a completion queue cannot be destroyed\n");
	if (one->recv_cq && plx_cq_destroy(one->recv_cq) != PLX_OK)
		fprintf(stderr, "a completion queue cannot be destroyed\n");
	memset(one, 0, sizeof(*one));
}

/* A new queue pair accepts receives; one for datagrams is ready for everything. */
static enum plx_status
start_qp(struct plx_qp *qp, enum plx_qp_type type, struct plx_why *why)
{
	enum plx_qp_state last = type == PLX_QP_UD ? PLX_QP_RTS : PLX_QP_INIT;
	enum plx_status status = PLX_OK;

	for (int to = PLX_QP_INIT; to <= (int)last && status == PLX_OK; to++)
		status = plx_qp_modify(qp, (enum plx_qp_state)to, NULL, NULL, why);
	return status;
}

/* qp id= gid= [depth=] [rd=] [qkey=] [engine=]: create one, which accepts receives; `gid` is the
 * peer's, which selects one of our addresses. With a Q_Key it is one for datagrams; with an engine
 * that one serves it. */
static void
run_qp(const struct line *line)
{
	uint64_t id = line_number(line, "id", OURS_QPS);
	uint32_t depth = (uint32_t)line_number(line, "depth", 64);
	uint32_t engine = (uint32_t)line_number(line, "engine", 0);
	struct plx_qp_options options = {
		.sq_depth = depth,
		.rq_depth = depth,
		.qkey = (uint32_t)line_number(line, "qkey", 0),
	};
	struct plx_qp_address address;
	struct ours_qp *one;
	struct plx_ip peer;
	struct plx_why why = {""};
	enum plx_status status;
	char text[33];

	if (!ours_ip_of(line, "gid", &peer))
		return;
	if (id >= OURS_QPS || ours.qp[id].qp) {
		line_answer("error id is out of range or in use");
		return;
	}
	options.type = options.qkey ? PLX_QP_UD : PLX_QP_RC;
	options.responder_resources =
		options.type == PLX_QP_UD ? 0 : (uint32_t)line_number(line, "rd", 16);
	one = &ours.qp[id];
	if (!make_cq(depth, engine, &one->send_cq) || !make_cq(depth, engine, &one->recv_cq)) {
		drop_qp(one);
		line_answer("error no completion queue");
		return;
	}
	options.send_cq = one->send_cq;
	options.recv_cq = one->recv_cq;
	status = plx_qp_create(ours.pd, &options, &one->qp, &why);
	if (status == PLX_OK)
		status = start_qp(one->qp, options.type, &why);
	if (status == PLX_OK)
		status = plx_qp_address(one->qp, &peer, &address);
	if (status != PLX_OK) {
		drop_qp(one);
		ours_answer(status, &why);
		return;
	}
	ours_ip_text(&address.ip, text);
	line_answer("ok qpn=%u psn=%u gid=%s", address.qpn, address.psn, text);
}

void
ours_qp_attr_of(const struct line *line, struct plx_qp_attr *attr)
{
	plx_qp_attr_init(attr);
	attr->path_mtu = (uint32_t)line_number(line, "mtu", 0);
	attr->access = (uint32_t)line_number(line, "access",
					     PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
						     PLX_ACCESS_REMOTE_ATOMIC);
	attr->retry = (uint8_t)line_number(line, "retry", 7);
	attr->rnr_retry = (uint8_t)line_number(line, "rnr", 7);
	attr->rnr_timer = (uint8_t)line_number(line, "timer", 12);
	attr->ack_timeout = (uint8_t)line_number(line, "timeout", 18);
}

/* connect id= qpn= psn= gid= mtu= [rd=] [access= retry= rnr= timer= timeout=] */
static void
run_connect(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	struct plx_qp_address peer = {
		.qpn = (uint32_t)line_number(line, "qpn", 0),
		.psn = (uint32_t)line_number(line, "psn", 0),
		.path_mtu = (uint32_t)line_number(line, "mtu", 0),
		.responder_resources = (uint8_t)line_number(line, "rd", 16),
	};
	struct plx_why why = {""};
	struct plx_qp_attr attr;

	if (!one || !ours_ip_of(line, "gid", &peer.ip))
		return;
	ours_qp_attr_of(line, &attr);
	ours_answer(plx_qp_connect(one->qp, &peer, &attr, 5000, &why), &why);
}

/* state id=: in which state is it? */
static void
run_state(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	struct plx_qp_info info;

	if (!one)
		return;
	if (plx_qp_query(one->qp, &info) != PLX_OK)
		line_answer("error it cannot be asked");
	else
		line_answer("ok state=%s", plx_qp_state_name(info.state));
}

static void
run_qpdrop(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);

	if (!one)
		return;
	drop_qp(one);
	line_answer("ok");
}

/* Attached, it is memory that polluxd can reach. NULL: there is none, and was answered so. */
static struct area *
make_area(const struct line *line)
{
	uint64_t bytes = line_number(line, "bytes", 0);
	struct area *area;
	uint8_t *memory;

	if (!ours.is_attached)
		return area_make(line);
	memory = bytes ? plx_mem_alloc(bytes, -1, NULL) : NULL;
	if (bytes && !memory) {
		line_answer("error no memory");
		return NULL;
	}
	area = area_lend(line, memory);
	if (!area)
		plx_mem_free(memory);
	return area;
}

static void
drop_area(struct area *area)
{
	uint8_t *memory = area->memory;

	area_drop(area);
	if (ours.is_attached)
		plx_mem_free(memory);
}

/* mr mr= bytes= access=: register so much memory, of zeros */
static void
run_mr(const struct line *line)
{
	uint32_t access = (uint32_t)line_number(line, "access", PLX_ACCESS_LOCAL_WRITE);
	struct area *area = make_area(line);
	struct plx_mr **mr = &ours.mr[area_id(line) % AREAS];
	enum plx_status status;

	if (!area)
		return;
	status = plx_mr_register(ours.pd, area->memory, area->bytes, access, mr);
	if (status != PLX_OK) {
		drop_area(area);
		ours_answer(status, NULL);
		return;
	}
	line_answer("ok va=%llu rkey=%u", (unsigned long long)(uintptr_t)area->memory,
		    plx_mr_key(*mr).v);
}

static void
run_mrdrop(const struct line *line)
{
	struct area *area = area_of(line);
	struct plx_mr **mr = &ours.mr[area_id(line) % AREAS];
	enum plx_status status;

	if (!area)
		return;
	status = plx_mr_deregister(*mr);
	if (status == PLX_OK) {
		*mr = NULL;
		drop_area(area);
	}
	ours_answer(status, NULL);
}

/* port: does it have a link? */
static void
run_port(const struct line *line)
{
	struct plx_adapter_info info;

	(void)line;
	plx_adapter_query(ours.adapter, &info);
	line_answer("ok link=%d engines=%u", info.link_up, info.engines);
}

/* counters: those of the adapter that are not zero */
static void
run_counters(const struct line *line)
{
	static struct plx_counter counters[COUNTERS_MAX];
	static char text[LINE_BYTES];
	uint32_t n = plx_adapter_counters(ours.adapter, counters, COUNTERS_MAX);
	int used = 0;

	(void)line;
	*text = 0;
	for (uint32_t i = 0; i < n && i < COUNTERS_MAX; i++)
		if (counters[i].value)
			used += snprintf(text + used, sizeof(text) - (size_t)used, " %s=%llu",
					 counters[i].name, (unsigned long long)counters[i].value);
	line_answer("ok%s", text);
}

static const struct line_command commands[] = {
	{"port", run_port},
	{"counters", run_counters},
	{"qp", run_qp},
	{"connect", run_connect},
	{"state", run_state},
	{"qpdrop", run_qpdrop},
	{"mr", run_mr},
	{"mrdrop", run_mrdrop},
	{"fill", run_fill},
	{"check", run_check},
	{"peek", run_peek},
	{"poke", run_poke},
	{"send", ours_send},
	{"recv", ours_recv},
	{"bind", ours_bind},
	{"reap", ours_reap},
	{"ah", ours_ah},
	{"ahdrop", ours_ahdrop},
	{"listen", ours_listen},
	{"unlisten", ours_unlisten},
	{"dial", ours_dial},
	{"sidr", ours_sidr},
	{"event", ours_event},
	{"accept", ours_accept},
	{"complete", ours_complete},
	{"reject", ours_reject},
	{"hangup", ours_hangup},
	{"conndrop", ours_conndrop},
};

static uint32_t
poll_adapter(void)
{
	return plx_adapter_poll(ours.adapter);
}

/* ADDRESS/BITS into the options. */
static bool
wish_address(struct plx_adapter_options *options, const char *text)
{
	char copy[64], *bits;
	struct plx_ip *ip = &options->address[options->addresses].ip;

	snprintf(copy, sizeof(copy), "%s", text);
	bits = strchr(copy, '/');
	if (!bits || options->addresses == PLX_ADAPTER_ADDRESSES_MAX)
		return false;
	*bits++ = 0;
	ip->version = strchr(copy, ':') ? 6 : 4;
	options->address[options->addresses++].prefix_bits = (uint8_t)atoi(bits);
	return inet_pton(ip->version == 6 ? AF_INET6 : AF_INET, copy, ip->v) == 1;
}

static void
drop_all(void)
{
	ours_cm_close();
	for (int i = 0; i < OURS_QPS; i++)
		drop_qp(&ours.qp[i]);
	for (int i = 0; i < OURS_AHS; i++)
		if (ours.ah[i] && plx_ah_destroy(ours.ah[i]) != PLX_OK)
			fprintf(stderr, "address handle %d cannot be destroyed\n", i);
	for (int i = 0; i < OURS_MWS; i++)
		if (ours.mw[i] && plx_mw_destroy(ours.mw[i]) != PLX_OK)
			fprintf(stderr, "window %d cannot be destroyed\n", i);
	for (int i = 0; i < AREAS; i++)
		if (ours.mr[i] && plx_mr_deregister(ours.mr[i]) != PLX_OK)
			fprintf(stderr, "region %d cannot be given back\n", i);
}

/* One word behind the device: an address, or an option of the adapter. */
static bool
wish(struct plx_adapter_options *options, const char *word)
{
	unsigned int number;

	if (strcmp(word, "ecn") == 0)
		options->ecn = true;
	else if (sscanf(word, "engines=%u", &number) == 1)
		options->engines = number;
	else if (sscanf(word, "path_mtu=%u", &number) == 1)
		options->path_mtu = number;
	else
		return wish_address(options, word);
	return true;
}

/* DEVICE ADDRESS/BITS... [OPTION...], or the socket of a polluxd. */
static bool
parse(int argc, char **argv, struct plx_adapter_options *options)
{
	if (argc == 2) {
		snprintf(options->host, sizeof(options->host), "%s", argv[1]);
		ours.is_attached = true;
		return true;
	}
	options->mode = PLX_MODE_INLINE;
	for (int i = 2; i < argc; i++) {
		if (!wish(options, argv[i])) {
			fprintf(stderr, "%s is neither ADDRESS/BITS nor an option\n", argv[i]);
			return false;
		}
	}
	if (argc < 3) {
		fprintf(stderr,
			"usage: %s DEVICE ADDRESS/BITS... [ecn] [engines=N] [path_mtu=BYTES], "
			"or %s SOCKET\n",
			argv[0], argv[0]);
		return false;
	}
	snprintf(options->device, sizeof(options->device), "%s", argv[1]);
	return true;
}

int
main(int argc, char **argv)
{
	struct plx_adapter_info info;
	struct plx_adapter_options options;
	struct plx_why why = {""};

	plx_adapter_options_init(&options);
	if (!parse(argc, argv, &options))
		return 2;
	if (plx_adapter_open("ours", &options, &ours.adapter, &why) != PLX_OK ||
	    plx_pd_create(ours.adapter, &ours.pd) != PLX_OK) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	plx_adapter_query(ours.adapter, &info);
	ours.has_engines = info.engines > 1;
	line_answer("ok mtu=%u mac=%02x:%02x:%02x:%02x:%02x:%02x", info.path_mtu, info.mac[0],
		    info.mac[1], info.mac[2], info.mac[3], info.mac[4], info.mac[5]);
	lines_serve(commands, sizeof(commands) / sizeof(commands[0]), poll_adapter);
	drop_all();
	return plx_pd_destroy(ours.pd) != PLX_OK || plx_adapter_close(ours.adapter) != PLX_OK;
}
