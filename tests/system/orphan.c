/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See orphan.h. A function for each kind of object; posting and polling go on for as long as a
 * queue has entries or room. Start with orphan_calls_end().
 */
#include <dirent.h>
#include <string.h>

#include "host_side.h"
#include "orphan.h"

enum {
	WAIT_MS = 60000,   /* of waits that end before */
	ENTRIES_MAX = 256, /* more than any queue has */
};

#define GONE(call) PROGRAM_MUST((call) == PLX_GONE)

/* ---- calls ---- */

static void
adapter_ends(struct program *p)
{
	const struct plx_srq_options srq = {.depth = 16, .sges = 1};
	const struct plx_cq_options cq = {.depth = 16};
	const struct plx_ip ip = host_side_ip(2);
	struct plx_event_channel *channel;
	struct plx_counter counter[4];
	struct plx_async_event event = {0};
	struct plx_adapter_info info;
	struct plx_why why = {""};
	struct plx_srq *made_srq;
	struct plx_cq *made_cq;
	struct plx_pd *pd;
	uint64_t rtt;

	GONE(plx_pd_create(p->adapter, &pd));
	GONE(plx_cq_create(p->adapter, &cq, &made_cq));
	GONE(plx_srq_create(p->adapter, &srq, &made_srq));
	GONE(plx_event_channel_create(p->adapter, 16, &channel));
	GONE(plx_adapter_resolve(p->adapter, &ip, WAIT_MS, NULL, NULL));
	GONE(plx_adapter_ping(p->adapter, &ip, 100, WAIT_MS, &rtt, &why));
	PROGRAM_MUST(strstr(why.text, "has gone") != NULL);
	PROGRAM_MUST(plx_adapter_counters(p->adapter, counter, 4) == 0);
	PROGRAM_MUST(!plx_adapter_is_running(p->adapter, WAIT_MS));
	plx_adapter_query(p->adapter, &info);
	PROGRAM_MUST(info.addresses == 0);
	for (int i = 0; plx_adapter_next_async_event(p->adapter, &event); i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
}

static void
domain_ends(struct program *p)
{
	const struct plx_ah_options options = {.remote = host_side_ip(2), .dscp = 0xff};
	struct plx_mr *mr;
	struct plx_mw *mw;
	struct plx_ah *ah;

	if (p->memory != NULL)
		GONE(plx_mr_register(p->pd, p->memory, PROGRAM_BYTES, PLX_ACCESS_LOCAL_WRITE, &mr));
	GONE(plx_mw_create(p->pd, &mw));
	GONE(plx_ah_create(p->pd, &options, &ah, NULL));
}

/* Of a queue that has not been armed before, arming is a call. */
static void
cq_ends(struct program *p)
{
	const struct plx_qp_options options = {
		.send_cq = p->cq, .recv_cq = p->cq, .sq_depth = 16, .rq_depth = 16};
	enum plx_status status = plx_cq_arm(p->cq, PLX_CQ_NOTIFY_ERRORS, NULL);
	struct plx_qp *qp;
	struct plx_wc wc;

	PROGRAM_MUST(status == PLX_OK || status == PLX_GONE);
	GONE(plx_cq_resize(p->cq, 32));
	if (p->pd != NULL)
		GONE(plx_qp_create(p->pd, &options, &qp, NULL));
	for (int i = 0; plx_cq_wait(p->cq, WAIT_MS) != 0; i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
	for (int i = 0; plx_cq_poll(p->cq, &wc, 1) > 0; i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
}

/* Posts are refused, or taken until the queue is full: nothing completes any more. */
static void
qp_ends(struct program *p, struct plx_qp *qp)
{
	const struct plx_send_wr send = {.op = PLX_WR_SEND};
	const struct plx_recv_wr receive = {.wr_id = 1};
	struct plx_qp_address address;
	struct plx_counter counter[4];
	struct plx_qp_attr attr;
	struct plx_qp_info info;

	for (int i = 0; qp != p->ud && plx_post_send(qp, &send, 1, NULL) == 1; i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
	for (int i = 0; plx_post_recv(qp, &receive, 1, NULL) == 1; i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
	plx_qp_ring_doorbell(qp);
	plx_qp_attr_init(&attr);
	GONE(plx_qp_query(qp, &info));
	GONE(plx_qp_modify(qp, PLX_QP_RESET, NULL, NULL, NULL));
	GONE(plx_qp_flush(qp));
	GONE(plx_qp_address(qp, NULL, &address));
	PROGRAM_MUST(plx_qp_counters(qp, counter, 4) == 0);
	address = (struct plx_qp_address){.qpn = 2, .ip = host_side_ip(2), .path_mtu = 1024};
	if (qp != p->ud)
		GONE(plx_qp_connect(qp, &address, &attr, WAIT_MS, NULL));
}

static void
window_ends(struct program *p)
{
	const struct plx_bind bind = {.mr = p->mr, .va = (uintptr_t)p->memory, .length = 4096};
	struct plx_key key;

	GONE(plx_post_bind(p->qp, p->mw, &bind, &key));
}

static void
srq_ends(struct program *p)
{
	const struct plx_recv_wr receive = {.wr_id = 1};

	for (int i = 0; plx_post_srq_recv(p->srq, &receive, 1, NULL) == 1; i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
	GONE(plx_srq_arm(p->srq, 1));
}

/* Events that had come before are still there. */
static void
channel_ends(struct program *p)
{
	const struct plx_listen_options options = {.port = PROGRAM_OWN_PORT + 1};
	struct plx_connector_event event;
	struct plx_connector *connector;
	struct plx_listener *listener;

	GONE(plx_listen(p->channel, &options, &listener, NULL));
	GONE(plx_connector_create(p->channel, 0, &connector));
	for (int i = 0; plx_event_channel_wait(p->channel, WAIT_MS, &event); i++)
		PROGRAM_MUST(i < ENTRIES_MAX);
}

static void
connector_ends(struct program *p, struct plx_connector *connector)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = host_side_ip(2);
	options.remote_port = PROGRAM_PORT;
	GONE(plx_connect(connector, p->qp, &options, NULL));
	GONE(plx_accept(connector, p->qp, &options, NULL));
	GONE(plx_establish(connector, NULL));
	GONE(plx_reject(connector, NULL, 0));
	GONE(plx_disconnect(connector));
}

void
orphan_calls_end(struct program *p)
{
	struct plx_qp *qps[] = {p->qp, p->other, p->ud};
	struct plx_connector *connectors[] = {p->connector, p->second};

	if (p->adapter != NULL)
		adapter_ends(p);
	if (p->pd != NULL)
		domain_ends(p);
	for (int i = 0; i < 3; i++)
		if (qps[i] != NULL)
			qp_ends(p, qps[i]);
	if (p->qp != NULL && p->mw != NULL && p->mr != NULL)
		window_ends(p);
	if (p->srq != NULL)
		srq_ends(p);
	if (p->cq != NULL)
		cq_ends(p);
	for (int i = 0; i < 2; i++)
		if (connectors[i] != NULL)
			connector_ends(p, connectors[i]);
	if (p->channel != NULL)
		channel_ends(p);
}

/* ---- the end ---- */

#define END(object, call)                               \
	do {                                            \
		if ((object) != NULL)                   \
			PROGRAM_MUST((call) == PLX_OK); \
		(object) = NULL;                        \
	} while (0)

void
orphan_close(struct program *p)
{
	END(p->connector, plx_connector_destroy(p->connector));
	END(p->second, plx_connector_destroy(p->second));
	END(p->listener, plx_listener_destroy(p->listener));
	END(p->channel, plx_event_channel_destroy(p->channel));
	END(p->qp, plx_qp_destroy(p->qp));
	END(p->other, plx_qp_destroy(p->other));
	END(p->ud, plx_qp_destroy(p->ud));
	END(p->ah, plx_ah_destroy(p->ah));
	END(p->mw, plx_mw_destroy(p->mw));
	END(p->srq, plx_srq_destroy(p->srq));
	END(p->cq, plx_cq_destroy(p->cq));
	END(p->mr, plx_mr_deregister(p->mr));
	if (p->memory != NULL)
		plx_mem_free(p->memory);
	p->memory = NULL;
	END(p->pd, plx_pd_destroy(p->pd));
	END(p->adapter, plx_adapter_close(p->adapter));
}

/* ---- what the process has ---- */

static unsigned
count_descriptors(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	unsigned n = 0;

	PROGRAM_MUST(descriptors != NULL);
	while (readdir(descriptors) != NULL)
		n++;
	closedir(descriptors);
	return n;
}

static unsigned
count_shared_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	unsigned n = 0;

	PROGRAM_MUST(maps != NULL);
	while (fgets(line, sizeof(line), maps) != NULL)
		n += sscanf(line, "%*s %7s", rights) == 1 && rights[3] == 's';
	fclose(maps);
	return n;
}

struct orphan_holds
orphan_count(void)
{
	return (struct orphan_holds){count_descriptors(), count_shared_mappings()};
}

bool
orphan_holds_no_more(const struct orphan_holds *before)
{
	struct orphan_holds now = orphan_count();

	if (now.descriptors == before->descriptors &&
	    now.shared_mappings == before->shared_mappings)
		return true;
	fprintf(stderr, "%u descriptors and %u shared mappings were %u and %u\n", now.descriptors,
		now.shared_mappings, before->descriptors, before->shared_mappings);
	return false;
}
