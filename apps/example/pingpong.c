/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A first program: two adapters on the embedded link, a SEND one way and a WRITE the other, both
 * checked. With two machines each end is a process, and the addresses travel by whatever means.
 * To be copied. Build: cc pingpong.c $(pkg-config --cflags --libs pollux). Start with main().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plx_verbs.h"

#define ROUNDS  1000
#define BYTES   4096
#define TIMEOUT 5000 /* ms */

struct end {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_qp *qp;
	struct plx_mr *mr;
	unsigned char *buffer; /* BYTES to send from, BYTES to receive in */
};

static struct plx_why why;

static void
must(enum plx_status status, const char *what)
{
	if (status == PLX_OK)
		return;
	fprintf(stderr, "%s: %s. %s\n", what, plx_status_text(status), why.text);
	exit(1);
}

/* The adapter could come from a file as well: plx_adapter_open("plx0", NULL, ...). */
static void
open_end(struct end *end, int number)
{
	struct plx_cq_options cq;
	struct plx_qp_options qp;
	struct plx_adapter_options options;

	plx_adapter_options_init(&options);
	snprintf(options.device, sizeof(options.device), "net_wire0,end=%d", number);
	options.address[0].ip.version = 4;
	memcpy(options.address[0].ip.v, "\x0a\x4d\x00", 3); /* 10.77.0.1 and 10.77.0.2 */
	options.address[0].ip.v[3] = (uint8_t)(1 + number);
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	strcpy(options.worker, "pingpong"); /* both adapters share one thread */
	options.idle = PLX_IDLE_YIELD;      /* which leaves the core to others */
	must(plx_adapter_open(number ? "plx1" : "plx0", &options, &end->adapter, &why), "open");

	must(plx_pd_create(end->adapter, &end->pd), "domain");
	end->buffer = (unsigned char *)plx_mem_alloc(2 * BYTES, -1, &why);
	must(end->buffer ? PLX_OK : PLX_NO_MEMORY, "memory");
	must(plx_mr_register(end->pd, end->buffer, 2 * BYTES,
			     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE, &end->mr),
	     "region");
	memset(&cq, 0, sizeof(cq));
	cq.depth = 64;
	must(plx_cq_create(end->adapter, &cq, &end->cq), "completion queue");
	memset(&qp, 0, sizeof(qp));
	qp.send_cq = qp.recv_cq = end->cq;
	qp.sq_depth = qp.rq_depth = 16;
	must(plx_qp_create(end->pd, &qp, &end->qp, &why), "queue pair");
}

static void
close_end(struct end *end)
{
	must(plx_qp_destroy(end->qp), "queue pair");
	must(plx_cq_destroy(end->cq), "completion queue");
	must(plx_mr_deregister(end->mr), "region");
	must(plx_pd_destroy(end->pd), "domain");
	plx_mem_free(end->buffer);
	must(plx_adapter_close(end->adapter), "close");
}

/* Wait for one completion; polling would be faster, and this lets the core go. */
static void
reap(struct end *end, uint64_t wr_id)
{
	struct plx_wc wc;

	while (plx_cq_poll(end->cq, &wc, 1) == 0) {
		uint32_t fired = 0;

		must(plx_cq_arm(end->cq, PLX_CQ_NOTIFY_ANY, &fired), "arm");
		must(fired || plx_cq_wait(end->cq, TIMEOUT) ? PLX_OK : PLX_TIMEOUT, "wait");
	}
	if (wc.status != PLX_WC_SUCCESS)
		fprintf(stderr, "%s\n", plx_wc_text((enum plx_wc_status)wc.status));
	must(wc.status == PLX_WC_SUCCESS && wc.wr_id == wr_id ? PLX_OK : PLX_STATE, "request");
}

/* Move BYTES from the first half of one buffer to the second half of the other. */
static void
transfer(struct end *from, struct end *to, enum plx_wr_op op, int round)
{
	struct plx_sge out = {(uintptr_t)from->buffer, BYTES, plx_mr_key(from->mr)};
	struct plx_sge in = {(uintptr_t)to->buffer + BYTES, BYTES, plx_mr_key(to->mr)};
	struct plx_recv_wr recv = {2, &in, 1};
	struct plx_send_wr send;
	enum plx_status status;

	memset(from->buffer, round, BYTES);
	if (op == PLX_WR_SEND && plx_post_recv(to->qp, &recv, 1, &status) != 1)
		must(status, "post receive");
	memset(&send, 0, sizeof(send));
	send.wr_id = 1;
	send.op = (uint8_t)op;
	send.sge = &out;
	send.sges = 1;
	send.remote_va = in.va; /* for the WRITE: a peer would have been told */
	send.rkey = in.key;
	if (plx_post_send(from->qp, &send, 1, &status) != 1)
		must(status, "post send");
	reap(from, 1);
	if (op == PLX_WR_SEND)
		reap(to, 2); /* a WRITE does not tell its target */
	must(memcmp(from->buffer, to->buffer + BYTES, BYTES) ? PLX_INVALID : PLX_OK, "data");
}

int
main(void)
{
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;
	struct end end[2];

	for (int i = 0; i < 2; i++) {
		open_end(&end[i], i);
		must(plx_qp_address(end[i].qp, NULL, &address[i]), "address");
	}
	plx_qp_attr_init(&attr);
	for (int i = 0; i < 2; i++)
		must(plx_qp_connect(end[i].qp, &address[!i], &attr, TIMEOUT, &why), "connect");
	for (int round = 0; round < ROUNDS; round++) {
		transfer(&end[0], &end[1], PLX_WR_SEND, round);
		transfer(&end[1], &end[0], PLX_WR_WRITE, round);
	}
	for (int i = 0; i < 2; i++)
		close_end(&end[i]);
	printf("%d messages of %d bytes each way: all arrived, all right\n", ROUNDS, BYTES);
	return 0;
}
