/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The whole engine: every operation through two engines, in worker and in inline mode, with packet
 * loss. The data is compared. Start with every_operation().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_pair.h"

/* A pattern that differs from every shift of itself. */
static void
paint(struct pair_side *side, uint32_t at, uint32_t bytes, uint32_t colour)
{
	for (uint32_t i = 0; i < bytes; i++)
		side->memory[at + i] = (uint8_t)((i * 167 + i / 251 + colour) >> (i % 3));
}

static void
expect(struct pair *pair, struct plx_cq *cq, uint64_t wr_id, uint8_t op, uint32_t bytes)
{
	struct plx_wc wc;

	assert_int_equal(pair_reap(pair, cq, &wc, 1, 20000), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.op, op);
	assert_int_equal(wc.bytes, bytes);
	assert_in_range(wc.mark, 0, 1);
}

static void
atomics(struct pair *pair)
{
	struct pair_side *a = &pair->side[0], *b = &pair->side[1];
	uint64_t *target = (uint64_t *)(void *)b->memory;
	const struct plx_sge sge = {(uintptr_t)a->memory + 64, 8, a->key};
	struct plx_send_wr wr = {.wr_id = 70,
				 .op = PLX_WR_FETCH_ADD,
				 .sges = 1,
				 .sge = &sge,
				 .remote_va = (uintptr_t)b->memory,
				 .rkey = b->key,
				 .swap_add = 5};

	*target = 37;
	assert_int_equal(plx_engine_qp_post_send(a->qp, &wr, 1, NULL), 1);
	expect(pair, a->send_cq, 70, PLX_WR_FETCH_ADD, 8);
	assert_int_equal(*target, 42);
	wr = (struct plx_send_wr){.wr_id = 71,
				  .op = PLX_WR_CMP_SWAP,
				  .sges = 1,
				  .sge = &sge,
				  .remote_va = (uintptr_t)b->memory,
				  .rkey = b->key,
				  .compare = 42,
				  .swap_add = 99};
	assert_int_equal(plx_engine_qp_post_send(a->qp, &wr, 1, NULL), 1);
	expect(pair, a->send_cq, 71, PLX_WR_CMP_SWAP, 8);
	assert_int_equal(*target, 99);
	assert_int_equal(*(uint64_t *)(void *)(a->memory + 64), 42);
}

static void
immediates(struct pair *pair)
{
	struct pair_side *a = &pair->side[0], *b = &pair->side[1];
	const struct plx_sge sge = {(uintptr_t)a->memory, 10, a->key};
	struct plx_send_wr wr[2] = {{.wr_id = 80,
				     .op = PLX_WR_SEND_IMM,
				     .flags = PLX_WR_SOLICITED,
				     .imm = 0x12345678,
				     .sges = 1,
				     .sge = &sge},
				    {.wr_id = 81,
				     .op = PLX_WR_WRITE_IMM,
				     .imm = 0x9abcdef0,
				     .sges = 1,
				     .sge = &sge,
				     .remote_va = (uintptr_t)b->memory + 512,
				     .rkey = b->key}};
	struct plx_wc wc[2];

	paint(a, 0, 10, 7);
	assert_int_equal(pair_recv(b, 1, 1024, 100), PLX_OK);
	assert_int_equal(pair_recv(b, 2, 2048, 100), PLX_OK);
	assert_int_equal(plx_engine_qp_post_send(a->qp, wr, 2, NULL), 2);
	assert_int_equal(pair_reap(pair, b->recv_cq, wc, 2, 20000), 2);
	assert_int_equal(wc[0].imm, 0x12345678);
	assert_int_equal(wc[0].flags, PLX_WC_RECV | PLX_WC_IMM | PLX_WC_SOLICITED);
	assert_int_equal(wc[0].op, PLX_WR_SEND_IMM);
	assert_int_equal(wc[0].context, 0x1001);
	assert_int_equal(wc[0].qpn, plx_engine_qp_number(b->qp));
	assert_int_equal(wc[1].imm, 0x9abcdef0);
	assert_int_equal(wc[1].op, PLX_WR_WRITE_IMM);
	assert_memory_equal(a->memory, b->memory + 1024, 10);
	assert_memory_equal(a->memory, b->memory + 512, 10);
	expect(pair, a->send_cq, 80, PLX_WR_SEND_IMM, 0);
	expect(pair, a->send_cq, 81, PLX_WR_WRITE_IMM, 0);
}

static void
every_operation(const struct pair_setup *setup, uint32_t lose)
{
	static struct pair pair;
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	pair_open_with(&pair, setup);
	pair_connect(&pair, 64);
	paint(a, 0, 50000, 1);
	a->port.lose = lose;
	assert_int_equal(pair_recv(b, 9, 0, 65536), PLX_OK);
	assert_int_equal(pair_send(a, 5, 0, 50000, 0), PLX_OK);
	expect(&pair, b->recv_cq, 9, PLX_WR_SEND, 50000);
	expect(&pair, a->send_cq, 5, PLX_WR_SEND, 0);
	assert_memory_equal(a->memory, b->memory, 50000);
	paint(a, 100000, 50000, 2);
	b->port.lose = lose;
	assert_int_equal(pair_write(a, b, 6, 100000, 50000, 0), PLX_OK);
	expect(&pair, a->send_cq, 6, PLX_WR_WRITE, 0);
	assert_memory_equal(a->memory + 100000, b->memory + 100000, 50000);
	paint(b, 200000, 50000, 3);
	b->port.lose = lose;
	assert_int_equal(pair_read(a, b, 7, 200000, 50000, 0), PLX_OK);
	expect(&pair, a->send_cq, 7, PLX_WR_READ, 50000);
	assert_memory_equal(a->memory + 200000, b->memory + 200000, 50000);
	a->port.lose = lose;
	atomics(&pair);
	b->port.lose = lose;
	immediates(&pair);
	/* In both directions at once. */
	assert_int_equal(pair_recv(a, 10, 300000, 65536), PLX_OK);
	assert_int_equal(pair_recv(b, 11, 300000, 65536), PLX_OK);
	assert_int_equal(pair_send(a, 12, 0, 40000, 0), PLX_OK);
	assert_int_equal(pair_send(b, 13, 100000, 40000, 0), PLX_OK);
	expect(&pair, b->recv_cq, 11, PLX_WR_SEND, 40000);
	expect(&pair, a->recv_cq, 10, PLX_WR_SEND, 40000);
	assert_memory_equal(a->memory, b->memory + 300000, 40000);
	assert_memory_equal(b->memory + 100000, a->memory + 300000, 40000);
	pair_close(&pair);
}

static void
every_operation_moves_its_bytes(void **state)
{
	(void)state;
	every_operation(&(struct pair_setup){0}, 0);
}

static void
every_operation_moves_its_bytes_in_inline_mode(void **state)
{
	(void)state;
	every_operation(&(struct pair_setup){.inline_mode = true}, 0);
}

static void
every_operation_moves_its_bytes_over_ipv6(void **state)
{
	(void)state;
	every_operation(&(struct pair_setup){.ipv6 = true}, 0);
	every_operation(&(struct pair_setup){.ipv6 = true}, 3);
}

static void
every_operation_survives_lost_packets(void **state)
{
	(void)state;
	every_operation(&(struct pair_setup){0}, 1);
	every_operation(&(struct pair_setup){0}, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_moves_its_bytes),
		cmocka_unit_test(every_operation_moves_its_bytes_in_inline_mode),
		cmocka_unit_test(every_operation_moves_its_bytes_over_ipv6),
		cmocka_unit_test(every_operation_survives_lost_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
