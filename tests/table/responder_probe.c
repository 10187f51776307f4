/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds the packet that a probe's classes describe, for its scene. It never judges whether the
 * packet is valid. Start with probe_build().
 */
#include "responder.h"

static const uint8_t probe_bytes[BENCH_MTU + 8];

static const struct past *
remembered_read(const struct scene *scene)
{
	for (uint32_t i = 0; i < scene->pasts; i++)
		if (scene->past[i].remembered && scene->past[i].psns > 1)
			return &scene->past[i];
	return NULL;
}

static bool
psn_of(const struct scene *scene, enum relation relation, struct plx_psn *out)
{
	const struct past *read = remembered_read(scene);
	uint32_t index = (uint32_t)relation - RELATION_PAST_0;

	switch (relation) {
	case RELATION_EXPECTED:
		*out = scene->expected;
		return true;
	case RELATION_AHEAD_ONE:
		*out = plx_psn_add(scene->expected, 1);
		return true;
	case RELATION_AHEAD_FAR:
		*out = plx_psn_add(scene->expected, 1000);
		return true;
	case RELATION_AHEAD_MOST:
		*out = plx_psn_add(scene->expected, PLX_PSN_HALF - 1);
		return true;
	case RELATION_NEWEST:
		*out = plx_psn_sub(scene->expected, 1);
		return true;
	case RELATION_PAST_0:
	case RELATION_PAST_1:
	case RELATION_PAST_2:
	case RELATION_PAST_3:
	case RELATION_PAST_4:
		*out = scene->past[index].psn;
		return index < scene->pasts;
	case RELATION_READ_SECOND:
		if (read)
			*out = plx_psn_add(read->psn, 1);
		return read;
	case RELATION_BEFORE:
		*out = plx_psn_sub(scene->base, 1);
		return true;
	case RELATION_HALF:
		*out = plx_psn_sub(scene->expected, PLX_PSN_HALF);
		return true;
	case RELATION_COUNT:
		break;
	}
	return false;
}

static uint32_t
reth_length(enum reth_class reth, uint32_t right)
{
	switch (reth) {
	case RETH_ZERO:
		return 0;
	case RETH_SHORT:
		return right - 1;
	case RETH_LONG:
		return right + 1;
	case RETH_MOST:
		return PLX_MESSAGE_MAX;
	case RETH_OVER:
		return PLX_MESSAGE_MAX + 1;
	case RETH_RIGHT:
	case RETH_COUNT:
		break;
	}
	return right;
}

/* The READ or atomic of the past that this PSN was spent on, when it is remembered. */
static const struct past *
original_of(const struct scene *scene, const struct plx_pkt *pkt)
{
	for (uint32_t i = 0; i < scene->pasts; i++)
		if (scene->past[i].remembered &&
		    plx_psn_in(pkt->psn, scene->past[i].psn, scene->past[i].psns))
			return &scene->past[i];
	return NULL;
}

static void
build_reth(const struct bench *bench, const struct scene *scene, const struct plx_opcode *op,
	   struct probe *probe)
{
	struct plx_pkt *pkt = &probe->pkt;
	const struct past *original = original_of(scene, pkt);
	uint32_t right = pkt->payload_bytes, skip = 0;

	if (plx_opcode_has(op, PLX_OPF_FIRST))
		right++;
	if (op->kind == PLX_OP_READ_REQUEST) {
		right = BENCH_MTU + 1;
		if (original) {
			skip = (uint32_t)plx_psn_diff(pkt->psn, original->psn) * BENCH_MTU;
			right = original->length - skip;
		}
	}
	pkt->reth.length = reth_length(probe->reth, right);
	pkt->reth.rkey = bench->key[probe->key].v;
	pkt->reth.va = bench_va(probe->key, pkt->reth.length);
	if (original && probe->key == BENCH_KEY_FAST)
		pkt->reth.va = original->va + skip;
}

static void
build_atomic(const struct bench *bench, const struct scene *scene, struct probe *probe)
{
	const struct past *original = original_of(scene, &probe->pkt);
	struct plx_atomic_eth *atomic = &probe->pkt.atomic;

	*atomic = (struct plx_atomic_eth){.va = bench_va(probe->key, 1),
					  .rkey = bench->key[probe->key].v,
					  .swap_add = SWAP_ADD,
					  .compare = COMPARE};
	if (probe->key == BENCH_KEY_RANGE_LOW)
		atomic->va = BENCH_VA - 8;
	if (original && probe->key == BENCH_KEY_FAST)
		atomic->va = original->va;
	if (probe->twist == TWIST_MISALIGNED)
		atomic->va += 4;
	if (probe->twist == TWIST_OPERAND)
		atomic->swap_add++;
}

bool
probe_build(const struct bench *bench, const struct scene *scene, struct probe *probe)
{
	static const uint32_t bytes[PAYLOAD_COUNT] = {0, 1, BENCH_MTU - 1, BENCH_MTU, BENCH_MTU + 1,
						      1};
	const struct plx_opcode *op = &plx_opcodes[probe->opcode];
	struct plx_pkt *pkt = &probe->pkt;

	*pkt = (struct plx_pkt){.opcode = probe->opcode,
				.dest_qpn = BENCH_QPN,
				.pkey = PLX_PKEY_DEFAULT,
				.ack_request = probe->ack_request,
				.solicited = probe->payload == PAYLOAD_ONE,
				.payload = probe_bytes,
				.payload_bytes = bytes[probe->payload]};
	if (!psn_of(scene, probe->relation, &pkt->psn))
		return false;
	if (probe->payload != PAYLOAD_BAD_PAD)
		pkt->pad = (uint8_t)(-pkt->payload_bytes & 3);
	if (plx_opcode_has(op, PLX_OPF_IMM))
		pkt->imm = 0xabcd1234;
	if (plx_opcode_has(op, PLX_OPF_IETH))
		pkt->inv_key = bench->key[probe->key].v;
	if (plx_opcode_has(op, PLX_OPF_RETH))
		build_reth(bench, scene, op, probe);
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH))
		build_atomic(bench, scene, probe);
	return true;
}
