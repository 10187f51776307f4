/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory in pieces: messages from and into regions whose pages are in reverse order, with a gap
 * behind each. Whatever is not in the range must not change. Start with struct scattered.
 */
#include <stdlib.h>

#include "rc_pair.h"

enum {
	PAGES = 24,
	ARENA = 2 * PAGES * PLX_PAGE_BYTES,
	GUARD = 0x5a,
	EVERYTHING = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
		     PLX_ACCESS_REMOTE_ATOMIC,
};

#define BASE UINT64_C(0x40000000) /* no memory is there */

/* One side's memory. */
struct scattered {
	uint8_t *arena;
	uint64_t page[PAGES];
	uint64_t va, length;
	struct plx_key key;
};

struct stage {
	struct pair pair;
	struct scattered from, to; /* of side 0, of side 1 */
};

static uint8_t
content(uint64_t at)
{
	return (uint8_t)(at * 7 + at / 256 + at / 4096 * 13 + 1);
}

/* Byte `at` of the region. */
static uint8_t *
byte_of(const struct scattered *memory, uint64_t at)
{
	uint64_t offset = memory->va % PLX_PAGE_BYTES + at;

	return (uint8_t *)(uintptr_t)(memory->page[offset / PLX_PAGE_BYTES] +
				      offset % PLX_PAGE_BYTES);
}

/* @param offset of the first byte in its page */
static void
scatter(struct scattered *memory, struct pair *pair, uint32_t offset, uint8_t access)
{
	struct plx_region_attr attr;

	memory->arena = aligned_alloc(PLX_PAGE_BYTES, ARENA);
	assert_non_null(memory->arena);
	memset(memory->arena, GUARD, ARENA);
	for (uint64_t i = 0; i < PAGES; i++)
		memory->page[i] = (uintptr_t)memory->arena + (PAGES - 1 - i) * 2 * PLX_PAGE_BYTES;
	memory->va = BASE + offset;
	memory->length = PAGES * PLX_PAGE_BYTES - offset;
	attr = (struct plx_region_attr){.va = memory->va,
					.length = memory->length,
					.access = {access},
					.page = memory->page};
	memory->key = test_region_at(pair->mem, pair->domain, &attr, NULL);
}

static void
open_stage(struct stage *stage, uint32_t mtu, uint32_t from, uint32_t to)
{
	struct pair_config config = pair_defaults();

	config.caps.sq_sges = config.rq_sges = PLX_SGE_MAX;
	pair_init(&stage->pair, &config);
	stage->pair.attr.mtu = mtu;
	scatter(&stage->from, &stage->pair, from, EVERYTHING);
	scatter(&stage->to, &stage->pair, to, EVERYTHING);
	pair_connect(&stage->pair);
}

static void
close_stage(struct stage *stage)
{
	free(stage->from.arena);
	free(stage->to.arena);
	pair_fini(&stage->pair);
}

static void
fill(struct scattered *memory, uint64_t at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		*byte_of(memory, at + i) = content(i);
}

/* The bytes at `at` are those of a message, and nothing else has changed. */
static void
check(struct scattered *memory, uint64_t at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		assert_int_equal(*byte_of(memory, at + i), content(i));
		*byte_of(memory, at + i) = GUARD;
	}
	for (uint64_t i = 0; i < ARENA; i++)
		assert_int_equal(memory->arena[i], GUARD);
}

static void
expect(struct stage *stage, int side, enum plx_wc_status status, uint32_t bytes)
{
	struct side *of = &stage->pair.side[side];

	assert_int_equal(of->dones, 1);
	assert_int_equal(of->done[0].status, status);
	if (status == PLX_WC_SUCCESS)
		assert_int_equal(of->done[0].bytes, bytes);
	of->dones = 0;
}

static struct plx_sge
sge_of(const struct scattered *memory, uint64_t at, uint32_t bytes)
{
	return (struct plx_sge){memory->va + at, bytes, memory->key};
}

static struct plx_wqe
request(const struct stage *stage, enum plx_wr_op op, uint64_t from, uint64_t to, uint32_t bytes)
{
	struct plx_wqe wqe = {.op = (uint8_t)op,
			      .sges = 1,
			      .rkey = stage->to.key,
			      .remote_va = stage->to.va + to};

	wqe.sge[0] = sge_of(&stage->from, from, bytes);
	return wqe;
}

static void
post(struct stage *stage, const struct plx_wqe *wqe)
{
	assert_int_equal(plx_rc_post_send(stage->pair.side[0].qp, wqe, NULL), PLX_OK);
}

/* A WRITE and a READ of some bytes: both ends cross pages, each elsewhere. */
static void
write_and_read(struct stage *stage, uint64_t from, uint64_t to, uint32_t bytes)
{
	struct plx_wqe wqe = request(stage, PLX_WR_WRITE, from, to, bytes);

	fill(&stage->from, from, bytes);
	post(stage, &wqe);
	pair_run(&stage->pair);
	expect(stage, 0, PLX_WC_SUCCESS, 0);
	check(&stage->to, to, bytes);
	check(&stage->from, from, bytes);

	fill(&stage->to, to, bytes);
	wqe = request(stage, PLX_WR_READ, from, to, bytes);
	post(stage, &wqe);
	pair_run(&stage->pair);
	expect(stage, 0, PLX_WC_SUCCESS, bytes);
	check(&stage->from, from, bytes);
	check(&stage->to, to, bytes);
}

static void
writes_and_reads_cross_pages(void **state)
{
	static const uint32_t mtus[] = {256, 1024, 4096};
	static const uint32_t offsets[] = {0, 1, 100, 4088, 4095};
	static const uint32_t lengths[] = {1, 2, 4095, 4096, 4097, 3 * 4096 + 77};

	(void)state;
	for (size_t m = 0; m < PLX_COUNT_OF(mtus); m++)
		for (size_t o = 0; o < PLX_COUNT_OF(offsets); o++) {
			struct stage stage = {0};

			open_stage(&stage, mtus[m], offsets[o], offsets[(o + 2) % 5]);
			for (size_t i = 0; i < PLX_COUNT_OF(lengths); i++) {
				write_and_read(&stage, 0, 0, lengths[i]);
				write_and_read(&stage, 4000, 4095, lengths[i]);
			}
			/* up to the last byte */
			write_and_read(&stage, stage.from.length - 5000, stage.to.length - 5000,
				       5000);
			close_stage(&stage);
		}
}

/* As many pieces as a packet can have: each SGE's bytes lie on two pages. */
static void
a_message_of_most_pieces_is_one_packet(void **state)
{
	enum {
		EACH = PLX_MTU_MAX / PLX_SGE_MAX,
	};
	struct plx_wqe wqe = {.op = PLX_WR_SEND, .sges = PLX_SGE_MAX};
	struct plx_sge send[PLX_SGE_MAX], recv[PLX_SGE_MAX];
	struct stage stage = {0};

	(void)state;
	open_stage(&stage, PLX_MTU_MAX, 0, 0);
	for (uint32_t i = 0; i < PLX_SGE_MAX; i++) {
		send[i] = sge_of(&stage.from, (i + 1) * 4096ull - 1, EACH);
		recv[i] = sge_of(&stage.to, (i + 2) * 4096ull - EACH + 1, EACH);
		for (uint32_t k = 0; k < EACH; k++)
			*byte_of(&stage.from, (i + 1) * 4096ull - 1 + k) = content(i * EACH + k);
	}
	memcpy(wqe.sge, send, sizeof(wqe.sge));
	assert_int_equal(plx_rc_post_recv(stage.pair.side[1].qp, 0, recv, PLX_SGE_MAX), PLX_OK);
	assert_int_equal(plx_rc_post_send(stage.pair.side[0].qp, &wqe, send + PLX_WQE_SGES),
			 PLX_OK);
	pair_run(&stage.pair);
	assert_int_equal(stage.pair.side[0].emitted, 1);
	expect(&stage, 0, PLX_WC_SUCCESS, 0);
	expect(&stage, 1, PLX_WC_SUCCESS, PLX_MTU_MAX);
	for (uint32_t i = 0; i < PLX_SGE_MAX; i++)
		for (uint32_t k = 0; k < EACH; k++) {
			uint8_t *byte = byte_of(&stage.to, (i + 2) * 4096ull - EACH + 1 + k);

			assert_int_equal(*byte, content(i * EACH + k));
			*byte = GUARD;
		}
	check(&stage.to, 0, 0);
	close_stage(&stage);
}

/* The same for a datagram, whose header has pieces of its own. */
static void
a_datagram_falls_into_most_pieces(void **state)
{
	enum {
		HEADS = PLX_UD_HEADER_BYTES / 4,
		BODIES = PLX_SGE_MAX - HEADS,
		BODY = 600,
	};
	static const uint8_t ip[PLX_IPV4_BYTES] = {0x45};
	const struct plx_rc_caps caps = {.sq_depth = 1};
	const struct plx_ud_attr attr = {.mtu = PLX_MTU_MAX, .pkey = PLX_PKEY_DEFAULT};
	struct plx_pkt pkt = {.opcode = PLX_UD_SEND_ONLY,
			      .pkey = PLX_PKEY_DEFAULT,
			      .payload_bytes = BODIES * BODY};
	uint8_t payload[BODIES * BODY];
	struct plx_sge recv[PLX_SGE_MAX];
	struct stage stage = {0};
	struct plx_ud_ids ids;
	struct plx_ud *ud;
	void *block;

	(void)state;
	open_stage(&stage, PLX_MTU_MAX, 0, 0);
	block = test_block(plx_ud_bytes(&caps));
	ids = (struct plx_ud_ids){.qpn = 0x300,
				  .domain = stage.pair.domain,
				  .mem = stage.pair.mem,
				  .rq = stage.pair.side[1].rq};
	ud = plx_ud_init(block, &caps, &ids);
	assert_int_equal(plx_ud_modify(ud, PLX_QP_INIT, NULL), PLX_OK);
	assert_int_equal(plx_ud_modify(ud, PLX_QP_RTR, &attr), PLX_OK);
	for (uint32_t i = 0; i < PLX_SGE_MAX; i++)
		recv[i] = sge_of(&stage.to, (i + 1) * 4096ull - 2, i < HEADS ? 4 : BODY);
	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = content(i);
	pkt.payload = payload;
	assert_int_equal(plx_rc_post_recv(plx_ud_base(ud), 0, recv, PLX_SGE_MAX), PLX_OK);
	plx_actions_reset(&stage.pair.out);
	assert_int_equal(plx_ud_on_packet(ud, &pkt, ip, &stage.pair.out), PLX_VERDICT_ACCEPT);
	assert_int_equal(stage.pair.out.count, 2 * PLX_SGE_MAX + 1);
	for (uint32_t i = 0; i < stage.pair.out.count; i++)
		plx_action_apply_memory(&stage.pair.out.list[i]);
	for (uint32_t i = 0; i < PLX_SGE_MAX; i++)
		for (uint32_t k = 0; k < recv[i].length; k++) {
			uint8_t *byte = byte_of(&stage.to, (i + 1) * 4096ull - 2 + k);

			if (i >= HEADS)
				assert_int_equal(*byte, content((i - HEADS) * BODY + k));
			else /* 20 bytes of nothing, and the IP header */
				assert_int_equal(*byte, i * 4 + k == 20 ? 0x45 : 0);
			*byte = GUARD;
		}
	check(&stage.to, 0, 0);
	free(block);
	close_stage(&stage);
}

static uint64_t
load(const struct scattered *memory, uint64_t at)
{
	uint64_t word;

	memcpy(&word, byte_of(memory, at), sizeof(word));
	return word;
}

static void
atomics_reach_the_ends_of_pages(void **state)
{
	static const uint64_t places[] = {0, 4088, 4096, 8184, 8192, PAGES * 4096 - 8};
	struct stage stage = {0};

	(void)state;
	open_stage(&stage, 1024, 0, 0);
	for (size_t i = 0; i < PLX_COUNT_OF(places); i++) {
		struct plx_wqe wqe = request(&stage, PLX_WR_FETCH_ADD, 4092, places[i], 8);
		uint64_t guard = load(&stage.to, places[i]);

		wqe.swap_add = 5;
		post(&stage, &wqe);
		pair_run(&stage.pair);
		expect(&stage, 0, PLX_WC_SUCCESS, 8);
		assert_true(load(&stage.to, places[i]) == guard + 5);
		memset(byte_of(&stage.to, places[i]), GUARD, 8);
		check(&stage.to, 0, 0);
		/* the old value is on two pages */
		for (int k = 0; k < 8; k++)
			assert_int_equal(*byte_of(&stage.from, 4092 + (uint64_t)k), GUARD);
	}
	close_stage(&stage);
}

/* The range of the whole message counts, and it ends with the region. */
static void
one_byte_beyond_is_refused_before_any_is_placed(void **state)
{
	static const enum plx_wr_op ops[] = {PLX_WR_WRITE, PLX_WR_READ};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(ops); i++) {
		struct stage stage = {0};
		struct plx_wqe wqe;

		open_stage(&stage, 1024, 0, 100);
		wqe = request(&stage, ops[i], 0, stage.to.length - 8192, 8193);
		post(&stage, &wqe);
		pair_run(&stage.pair);
		expect(&stage, 0, PLX_WC_REMOTE_ACCESS, 0);
		check(&stage.to, 0, 0);
		close_stage(&stage);
	}
}

static void
a_local_range_beyond_the_region_fails_its_request(void **state)
{
	struct stage stage = {0};
	struct plx_wqe wqe;

	(void)state;
	open_stage(&stage, 4096, 0, 0);
	wqe = request(&stage, PLX_WR_WRITE, stage.from.length - 10, 0, 11);
	post(&stage, &wqe);
	pair_run(&stage.pair);
	expect(&stage, 0, PLX_WC_LOCAL_PROTECTION, 0);
	check(&stage.to, 0, 0);
	close_stage(&stage);
}

/* ---- registered again while the peer writes ---- */

/* A fast-register region of side 1, whose key its owner changes after some packets of side 0. */
struct switched {
	struct stage stage;
	struct plx_page_lists *lists;
	struct plx_region region;
	struct plx_promise now, next;
	uint32_t after, packets;
	uint8_t *other; /* the second list's pages */
};

static struct plx_promise
promise(struct switched *s, uint8_t *first)
{
	struct plx_promise promised;
	uint64_t page[PAGES];

	for (uint64_t i = 0; i < PAGES; i++)
		page[i] = (uintptr_t)first + (PAGES - 1 - i) * 2 * PLX_PAGE_BYTES;
	assert_int_equal(
		plx_region_promise_pages(s->stage.pair.mem, s->region, page, PAGES, &promised),
		PLX_OK);
	return promised;
}

static void
fulfil(struct switched *s, const struct plx_promise *promised)
{
	const struct plx_region_attr attr = {
		.va = s->stage.to.va,
		.length = s->stage.to.length,
		.access = {EVERYTHING | PLX_ACCESS_INVALIDATE},
	};

	assert_int_equal(
		plx_region_fulfil(s->stage.pair.mem, s->stage.pair.domain, promised, &attr),
		PLX_OK);
}

static bool
switch_lists(struct pair *pair, int from, const struct plx_emit *emit)
{
	struct switched *s = pair->user;
	const struct plx_asker asker = {.domain = pair->domain, .qpn = 0x999};

	(void)emit;
	if (from == 0 && s->packets++ == s->after) {
		assert_int_equal(plx_key_invalidate(pair->mem, s->now.key, &asker),
				 PLX_KEY_GRANTED);
		fulfil(s, &s->next);
	}
	return true;
}

static void
open_switched(struct switched *s, uint32_t mtu, uint32_t after)
{
	open_stage(&s->stage, mtu, 0, 100);
	s->lists = plx_page_lists_init(malloc(plx_page_lists_bytes(PAGES)), PAGES);
	assert_non_null(s->lists);
	assert_int_equal(
		plx_region_reserve(s->stage.pair.mem, s->stage.pair.domain, s->lists, &s->region),
		PLX_OK);
	s->other = aligned_alloc(PLX_PAGE_BYTES, ARENA);
	assert_non_null(s->other);
	memset(s->other, GUARD, ARENA);
	s->now = promise(s, s->stage.to.arena);
	s->next = promise(s, s->other);
	fulfil(s, &s->now);
	s->stage.to.key = s->now.key;
	s->after = after;
	s->stage.pair.pass = switch_lists;
	s->stage.pair.user = s;
}

static void
close_switched(struct switched *s)
{
	for (uint64_t i = 0; i < ARENA; i++)
		assert_int_equal(s->other[i], GUARD);
	close_stage(&s->stage);
	free(s->other);
	free(s->lists);
}

/* What has arrived before is in the old pages; nothing is in the new ones. */
static void
an_old_key_writes_no_new_page(void **state)
{
	enum {
		BYTES = 6 * 4096
	};

	(void)state;
	for (uint32_t after = 0; after < 6; after++) {
		struct switched s = {0};
		struct plx_wqe wqe;

		open_switched(&s, 4096, after);
		fill(&s.stage.from, 0, BYTES);
		wqe = request(&s.stage, PLX_WR_WRITE, 0, 0, BYTES);
		post(&s.stage, &wqe);
		for (int i = 0; i < 20; i++) /* a packet at a time */
			if (pair_send(&s.stage.pair, 0, 1) == 0)
				break;
		pair_run(&s.stage.pair);
		expect(&s.stage, 0, PLX_WC_REMOTE_ACCESS, 0);
		check(&s.stage.to, 0, after * 4096ull);
		close_switched(&s);
	}
}

/* The key is invalid at some point of the response; what was sent came from the old pages. */
static void
an_old_key_reads_no_new_page(void **state)
{
	struct switched s = {0};
	struct plx_wqe wqe;

	(void)state;
	open_switched(&s, 1024, 1); /* with the second request of side 0 */
	fill(&s.stage.to, 0, 8192);
	wqe = request(&s.stage, PLX_WR_READ, 0, 0, 8192);
	post(&s.stage, &wqe);
	assert_int_equal(pair_send(&s.stage.pair, 0, 1), 1);
	assert_int_equal(pair_send(&s.stage.pair, 1, 3), 3);
	wqe = request(&s.stage, PLX_WR_WRITE, 20000, 20000, 8);
	post(&s.stage, &wqe);
	assert_int_equal(pair_send(&s.stage.pair, 0, 1), 1);
	pair_run(&s.stage.pair);
	assert_int_equal(s.stage.pair.side[0].done[0].status, PLX_WC_REMOTE_ACCESS);
	check(&s.stage.from, 0, 3 * 1024);
	close_switched(&s);
}

/* ---- registration by request ---- */

static struct plx_wqe
registration(struct switched *s, const struct plx_promise *promised)
{
	return (struct plx_wqe){
		.op = PLX_WR_REG,
		.region = {.va = s->stage.to.va,
			   .length = s->stage.to.length,
			   .slot = promised->slot,
			   .life = promised->life,
			   .key = promised->key,
			   .access = {EVERYTHING | PLX_ACCESS_INVALIDATE},
			   .list = promised->list},
	};
}

static void
post_here(struct switched *s, const struct plx_wqe *wqe)
{
	assert_int_equal(plx_rc_post_send(s->stage.pair.side[1].qp, wqe, NULL), PLX_OK);
}

static enum plx_status
room_for_a_list(struct switched *s)
{
	const uint64_t page = (uintptr_t)s->other;
	struct plx_promise promised;
	enum plx_status status =
		plx_region_promise_pages(s->stage.pair.mem, s->region, &page, 1, &promised);

	if (status == PLX_OK)
		plx_region_void(s->stage.pair.mem, &promised);
	return status;
}

/* Invalidated and registered again by requests posted together. */
static void
a_request_registers_pages(void **state)
{
	struct plx_wqe inv = {.op = PLX_WR_LOCAL_INV}, reg, wqe;
	struct switched s = {0};

	(void)state;
	open_switched(&s, 1024, UINT32_MAX);
	inv.inv_key = s.now.key;
	reg = registration(&s, &s.next);
	post_here(&s, &inv);
	post_here(&s, &reg);
	pair_run(&s.stage.pair);
	assert_int_equal(s.stage.pair.side[1].dones, 2);
	assert_int_equal(s.stage.pair.side[1].done[1].status, PLX_WC_SUCCESS);
	fill(&s.stage.from, 0, 5000);
	s.stage.to.key = s.next.key;
	wqe = request(&s.stage, PLX_WR_WRITE, 0, 0, 5000);
	post(&s.stage, &wqe);
	pair_run(&s.stage.pair);
	expect(&s.stage, 0, PLX_WC_SUCCESS, 0);
	check(&s.stage.to, 0, 0);
	for (uint64_t i = 0; i < PAGES; i++)
		s.stage.to.page[i] += (uintptr_t)s.other - (uintptr_t)s.stage.to.arena;
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(*byte_of(&s.stage.to, i), content(i));
		*byte_of(&s.stage.to, i) = GUARD;
	}
	close_switched(&s);
}

/* However a registration ends without being executed, its list can be used again. */
static void
a_registration_that_is_not_executed_returns_its_list(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct switched s = {0};
		struct plx_promise last[2];
		struct plx_wqe wqe;

		open_switched(&s, 1024, UINT32_MAX);
		for (int i = 0; i < 2; i++)
			last[i] = promise(&s, s.other);
		assert_int_equal(room_for_a_list(&s), PLX_FULL);
		wqe = registration(&s, &last[1]);
		if (how == 0) { /* flushed */
			assert_int_equal(plx_rc_modify(s.stage.pair.side[1].qp, PLX_QP_ERROR, NULL),
					 PLX_OK);
			post_here(&s, &wqe);
			pair_run(&s.stage.pair);
			expect(&s.stage, 1, PLX_WC_FLUSHED, 0);
		} else if (how == 1) { /* discarded */
			post_here(&s, &wqe);
			assert_int_equal(room_for_a_list(&s), PLX_FULL);
			assert_int_equal(plx_rc_modify(s.stage.pair.side[1].qp, PLX_QP_RESET, NULL),
					 PLX_OK);
		} else { /* too early: the key before is valid */
			post_here(&s, &wqe);
			pair_run(&s.stage.pair);
			expect(&s.stage, 1, PLX_WC_LOCAL_INVALIDATE, 0);
		}
		assert_int_equal(room_for_a_list(&s), PLX_OK);
		close_switched(&s);
	}
}

/* ---- the fast path ---- */

/* It takes what is on the page used last, and leaves the rest unchanged for plx_rc_transmit(). */
static void
the_fast_path_sends_from_the_page_used_last(void **state)
{
	uint8_t out[PLX_FAST_HEADER_MAX];
	struct plx_fast_packet fast;
	struct stage stage = {0};

	(void)state;
	open_stage(&stage, 1024, 0, 0);
	for (int round = 0; round < 3; round++) {
		uint64_t at = round == 2 ? 4096 + 4090 : 4096; /* the last one crosses */
		struct plx_wqe wqe = request(&stage, PLX_WR_WRITE, at, 4000, 64);
		enum plx_fast_kind kind;

		post(&stage, &wqe);
		kind = plx_rc_send_fast(stage.pair.side[0].qp, 0, out, &fast);
		if (round == 1) {
			assert_int_equal(kind, PLX_FAST_SENT);
			assert_ptr_equal(fast.payload, byte_of(&stage.from, 4096));
			continue;
		}
		assert_int_equal(kind, PLX_FAST_NO);
		plx_actions_reset(&stage.pair.out);
		assert_int_equal(plx_rc_transmit(stage.pair.side[0].qp, 0, 1, &stage.pair.out), 1);
		assert_int_equal(stage.pair.out.list[0].emit.iovs, round == 2 ? 2 : 1);
	}
	close_stage(&stage);
}

/* A WRITE to side 1, with the PSN that it expects. */
static struct plx_pkt
write_packet(const struct stage *stage, uint64_t to, uint32_t bytes)
{
	return (struct plx_pkt){
		.opcode = PLX_RC_WRITE_ONLY,
		.migreq = true,
		.pkey = PLX_PKEY_DEFAULT,
		.dest_qpn = 0x101,
		.psn = pair_view(&stage->pair, 1).psn_expected,
		.reth = {.va = stage->to.va + to, .rkey = stage->to.key.v, .length = bytes},
		.payload_bytes = bytes,
	};
}

static enum plx_fast_kind
receive_fast(struct stage *stage, uint64_t to, struct plx_place *place)
{
	uint8_t bytes[PLX_PKT_HEADER_MAX + 64 + PLX_ICRC_BYTES] = {0};
	const struct plx_pkt pkt = write_packet(stage, to, 64);
	struct plx_completion completion;
	size_t len = plx_pkt_encode(&pkt, bytes) + 64 + PLX_ICRC_BYTES;

	return plx_rc_receive_fast(stage->pair.side[1].qp, bytes, len, stage->pair.now, place,
				   &completion);
}

static void
the_fast_path_places_on_the_page_used_last(void **state)
{
	static const uint8_t payload[64];
	struct stage stage = {0};
	struct plx_place place;
	struct plx_pkt pkt;

	(void)state;
	open_stage(&stage, 1024, 0, 0);
	pkt = write_packet(&stage, 0, 64); /* the first is for the slow path anyway */
	pkt.payload = payload;
	assert_int_equal(pair_hand(&stage.pair, 1, &pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(receive_fast(&stage, 4090, &place), PLX_FAST_NO);
	assert_int_equal(receive_fast(&stage, 4096, &place), PLX_FAST_NO);
	assert_int_equal(receive_fast(&stage, 4096 - 64, &place), PLX_FAST_PLACED);
	assert_ptr_equal(place.dst, byte_of(&stage.to, 4096 - 64));
	close_stage(&stage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_and_reads_cross_pages),
		cmocka_unit_test(a_message_of_most_pieces_is_one_packet),
		cmocka_unit_test(a_datagram_falls_into_most_pieces),
		cmocka_unit_test(atomics_reach_the_ends_of_pages),
		cmocka_unit_test(one_byte_beyond_is_refused_before_any_is_placed),
		cmocka_unit_test(a_local_range_beyond_the_region_fails_its_request),
		cmocka_unit_test(an_old_key_writes_no_new_page),
		cmocka_unit_test(an_old_key_reads_no_new_page),
		cmocka_unit_test(a_request_registers_pages),
		cmocka_unit_test(a_registration_that_is_not_executed_returns_its_list),
		cmocka_unit_test(the_fast_path_sends_from_the_page_used_last),
		cmocka_unit_test(the_fast_path_places_on_the_page_used_last),
	};

	return cmocka_run_group_tests_name("transport: pages", tests, NULL, NULL);
}
