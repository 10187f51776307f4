/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of datagram queue pairs: the input is a program of packets (any bytes behind a BTH),
 * posts, receives, transmissions and state changes for one of them, mixed as a peer and a program
 * may mix them. No input has to be valid; the only expectations are the properties checked below.
 * Start with LLVMFuzzerTestOneInput(); step() has the language.
 */
#include "check.h"
#include "input.h"
#include "rc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	STEPS = 200,
	DEPTH = 8, /* of both queues */
	AHS = 4,
	MTU = 256,
	ARENA = 512, /* [bytes] that may be written, and as many behind them that must not be */
	GUARD = 0xa5,
	OUR_QPN = 0x42,
};

struct world {
	struct input in;
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key writable, readable;
	uint8_t arena[2 * ARENA];
	struct plx_ud *ud;
	struct plx_rc *base;
	struct plx_rq *rq;
	struct plx_actions out;
	struct plx_ud_ah ahs[AHS];
	/* by the model: posted requests that have not completed. Numbers count up; a bit marks
	 * the unsignaled ones */
	uint64_t sends_posted, sends_done, recvs_posted, recvs_done;
	uint64_t unsignaled; /* bit: number % 64 */
	uint64_t emitted;
};

static bool
is_silent(const struct world *world, uint64_t number)
{
	return world->unsignaled >> number % 64 & 1;
}

/* Each post completes once, in the order of its queue; unsignaled ones are skipped. */
static void
check_completion(struct world *world, const struct plx_completion *done)
{
	if (done->flags & PLX_WC_RECV) {
		CHECK(done->wr_id == world->recvs_done);
		CHECK(world->recvs_done++ < world->recvs_posted);
		CHECK(done->status == PLX_WC_SUCCESS || done->status == PLX_WC_FLUSHED ||
		      done->status == PLX_WC_LOCAL_PROTECTION);
		return;
	}
	while (done->status == PLX_WC_SUCCESS && world->sends_done < done->wr_id &&
	       is_silent(world, world->sends_done))
		world->sends_done++;
	if (done->status != PLX_WC_SUCCESS)
		while (world->sends_done < done->wr_id && is_silent(world, world->sends_done))
			world->sends_done++;
	CHECK(done->wr_id == world->sends_done);
	CHECK(world->sends_done++ < world->sends_posted);
	CHECK(done->qpn == OUR_QPN);
}

static void
check_emit(struct world *world, const struct plx_emit *emit)
{
	uint32_t bytes = 0;

	CHECK(emit->pkt.opcode == PLX_UD_SEND_ONLY || emit->pkt.opcode == PLX_UD_SEND_ONLY_IMM);
	CHECK(emit->ah < AHS && emit->iov_first + emit->iovs <= world->out.iovs);
	CHECK(emit->pkt.psn.v == (world->emitted++ & PLX_PSN_MASK));
	for (uint32_t i = 0; i < emit->iovs; i++)
		bytes += world->out.iov[emit->iov_first + i].bytes;
	CHECK(bytes == emit->pkt.payload_bytes && bytes <= MTU);
	CHECK((bytes + emit->pkt.pad) % 4 == 0);
}

/* @param may_emit packets were requested */
static void
execute(struct world *world, bool may_emit)
{
	CHECK(world->out.count <= PLX_ACTIONS_MAX && world->out.iovs <= PLX_IOVS_MAX);
	for (uint32_t i = 0; i < world->out.count; i++) {
		const struct plx_action *action = &world->out.list[i];

		plx_action_apply_memory(action);
		if (action->kind == PLX_ACT_COMPLETE)
			check_completion(world, &action->completion);
		else if (action->kind == PLX_ACT_EMIT)
			check_emit(world, &action->emit);
		CHECK(action->kind != PLX_ACT_ATOMIC);
		CHECK(may_emit || action->kind != PLX_ACT_EMIT);
	}
	plx_actions_reset(&world->out);
}

/* ---- steps ---- */

static void
step_packet(struct world *world)
{
	uint32_t len = PLX_BTH_BYTES + PLX_ICRC_BYTES + input_byte(&world->in) % 200 * 2;
	uint8_t *bytes = malloc(len), ip[PLX_IPV6_BYTES];
	struct plx_rc_view before, after;
	enum plx_verdict verdict;
	struct plx_pkt pkt;

	CHECK(bytes);
	memset(bytes, input_byte(&world->in), len);
	for (uint32_t i = 0; i < 24 && i < len; i++)
		bytes[i] = input_byte(&world->in);
	if (input_byte(&world->in) % 4) {
		bytes[0] = PLX_UD_SEND_ONLY + input_byte(&world->in) % 2;
		bytes[1] &= 0xf0;
		bytes[2] = bytes[3] = 0xff;
	}
	memset(ip, input_byte(&world->in) % 2 ? 0x45 : 0x60, sizeof(ip));
	if (plx_pkt_decode(bytes, len, &pkt) == PLX_WIRE_OK) {
		if (input_byte(&world->in) % 4)
			pkt.deth.qkey = 1;
		plx_rc_query(world->base, &before);
		verdict = plx_ud_admit(world->ud, &pkt);
		if (verdict == PLX_VERDICT_ACCEPT)
			verdict = plx_ud_on_packet(world->ud, &pkt, ip, &world->out);
		plx_rc_query(world->base, &after);
		CHECK(after.state == before.state || verdict == PLX_VERDICT_RECV_ACCESS);
		CHECK(world->out.count == 0 || verdict == PLX_VERDICT_ACCEPT ||
		      verdict == PLX_VERDICT_RECV_ACCESS);
		execute(world, false);
	}
	free(bytes);
}

static struct plx_sge
take_sge(struct world *world)
{
	uint8_t kind = input_byte(&world->in);
	struct plx_key key = kind % 8 == 0   ? (struct plx_key){input_word(&world->in)}
			     : kind % 8 == 1 ? world->readable
					     : world->writable;

	/* beyond the region now and then */
	return (struct plx_sge){(uintptr_t)world->arena + input_byte(&world->in),
				input_byte(&world->in) * 2u, key};
}

static void
step_send(struct world *world)
{
	struct plx_sge spill[2 * PLX_SGE_MAX]; /* or inline data */
	uint8_t kind = input_byte(&world->in);
	struct plx_wqe wqe = {.wr_id = world->sends_posted,
			      .op = kind & 1 ? PLX_WR_SEND : input_byte(&world->in),
			      .flags = input_byte(&world->in) & (kind & 2 ? 0x07 : 0xff),
			      .sges = input_byte(&world->in) % (kind & 4 ? 3 : 255),
			      .remote_qkey = input_word(&world->in),
			      .ah = input_byte(&world->in) % (AHS + 1), /* or none */
			      .remote_qpn = input_word(&world->in) >> (kind & 8 ? 8 : 0)};
	uint64_t bit = UINT64_C(1) << wqe.wr_id % 64;

	wqe.inline_bytes = input_byte(&world->in) * 2u;
	for (uint32_t i = 0; i < PLX_WQE_SGES; i++)
		wqe.sge[i] = take_sge(world);
	for (uint32_t i = 0; i < 2 * PLX_SGE_MAX; i++)
		spill[i] = wqe.sge[i % PLX_WQE_SGES];
	if (plx_ud_post_send(world->ud, &wqe, kind & 16 ? spill : NULL) != PLX_OK)
		return;
	world->unsignaled =
		wqe.flags & PLX_WR_UNSIGNALED ? world->unsignaled | bit : world->unsignaled & ~bit;
	world->sends_posted++;
}

static void
step_receive(struct world *world)
{
	struct plx_sge sge[2] = {take_sge(world), take_sge(world)};

	if (plx_rc_post_recv(world->base, world->recvs_posted, sge, input_byte(&world->in) % 3) ==
	    PLX_OK)
		world->recvs_posted++;
}

static void
step_modify(struct world *world)
{
	const struct plx_ud_attr attr = {
		.mtu = MTU, .pkey = 0xffff, .sq_psn = plx_psn((uint32_t)world->emitted)};
	enum plx_qp_state to = (enum plx_qp_state)(input_byte(&world->in) % PLX_QP_STATE_COUNT);

	if (plx_ud_modify(world->ud, to, &attr) == PLX_OK && to == PLX_QP_RESET) {
		world->sends_done = world->sends_posted;
		world->recvs_done = world->recvs_posted;
	}
}

static void
step(struct world *world)
{
	struct plx_rc_view view;
	uint32_t waiting = 0, used = 0;

	switch (input_byte(&world->in) % 8) {
	case 0:
	case 1:
		step_packet(world);
		break;
	case 2:
	case 3:
		step_send(world);
		break;
	case 4:
		step_receive(world);
		break;
	case 5:
		plx_ud_transmit(world->ud, input_byte(&world->in) % 16, &world->out);
		execute(world, true);
		break;
	case 6:
		step_modify(world);
		break;
	default:
		if (input_byte(&world->in) % 8 == 0)
			plx_rc_fail(world->base, &world->out);
		plx_rc_on_tick(world->base, 0, &world->out);
		execute(world, false);
	}
	plx_rc_query(world->base, &view);
	waiting = view.sq_posted - view.sq_consumed;
	for (uint32_t i = 0; i < AHS; i++)
		used += world->ahs[i].posted;
	/* Sent, its completion not delivered: it no longer uses its path. */
	CHECK(used <= waiting && waiting <= DEPTH);
	CHECK(view.state == PLX_QP_RTS || view.state == PLX_QP_SQD || view.state == PLX_QP_ERROR ||
	      used == 0);
	for (uint32_t i = ARENA; i < 2 * ARENA; i++)
		CHECK(world->arena[i] == GUARD);
}

/* ---- the world ---- */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct plx_rc_caps caps = {
		.sq_depth = DEPTH, .sq_sges = PLX_SGE_MAX, .inline_bytes = 300};
	const struct plx_ud_attr attr = {.mtu = MTU, .pkey = 0xffff};
	struct world *world = calloc(1, sizeof(*world));
	struct plx_ud_ids ids = {.qpn = OUR_QPN, .qkey = 1};
	void *rq_block = test_block(plx_rq_bytes(DEPTH, 2)),
	     *qp_block = test_block(plx_ud_bytes(&caps));

	CHECK(world);
	world->in = (struct input){data, size};
	memset(world->arena, GUARD, sizeof(world->arena));
	world->mem = test_mem(64, &world->domain);
	world->writable =
		test_region(world->mem, world->domain, world->arena, ARENA, PLX_ACCESS_LOCAL_WRITE);
	world->readable = test_region(world->mem, world->domain, world->arena, ARENA, 0);
	world->rq = plx_rq_init(rq_block, DEPTH, 2, false);
	ids.domain = world->domain;
	ids.mem = world->mem;
	ids.rq = world->rq;
	for (uint32_t i = 0; i < AHS; i++)
		world->ahs[i].domain = world->domain;
	ids.ahs = world->ahs;
	ids.ah_count = AHS;
	world->ud = plx_ud_init(qp_block, &caps, &ids);
	world->base = plx_ud_base(world->ud);
	/* Mostly where most happens. */
	for (enum plx_qp_state to = PLX_QP_INIT; input_byte(&world->in) % 8 && to <= PLX_QP_RTS;
	     to++)
		CHECK(plx_ud_modify(world->ud, to, &attr) == PLX_OK);
	for (uint32_t i = 0; i < STEPS && world->in.left > 0; i++)
		step(world);
	/* It ends: everything that was posted completes. */
	CHECK(plx_ud_modify(world->ud, PLX_QP_ERROR, NULL) == PLX_OK);
	for (uint32_t i = 0; i < DEPTH; i++) {
		plx_ud_transmit(world->ud, 4, &world->out);
		execute(world, true);
	}
	CHECK(world->recvs_done == world->recvs_posted);
	while (world->sends_done < world->sends_posted && is_silent(world, world->sends_done))
		world->sends_done++;
	CHECK(world->sends_done == world->sends_posted);
	free(qp_block);
	free(rq_block);
	free(world->mem);
	free(world);
	return 0;
}
