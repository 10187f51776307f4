/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two adapters and what stands on them. The adapters are opened once for all tests of a mode,
 * and closed at the end: that this succeeds says that no test has left an object behind.
 * Start with duo_run(), then duo_open().
 */
#include "verbs_pair.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum plx_mode mode;
static struct plx_adapter *adapters[2];
static int left_behind; /* cmocka prints that a group's end failed, and does not count it */

bool
duo_is_inline(void)
{
	return mode == PLX_MODE_INLINE;
}

void
duo_cycle(void)
{
	if (duo_is_inline()) {
		plx_adapter_poll(adapters[0]);
		plx_adapter_poll(adapters[1]);
	} else {
		sched_yield();
	}
}

/* Inline: as many cycles as any exchange needs that waits for no timer. With a worker: a time in
 * which it has had the core. */
void
duo_settle(void)
{
	uint64_t end = test_ns() + 30 * PLX_MSEC;

	for (int i = 0; i < 2000; i++)
		duo_cycle();
	while (!duo_is_inline() && test_ns() < end)
		sched_yield();
}

/* ---- adapters ---------------------------------------------------------------------------------
 */

struct plx_ip
duo_ip(unsigned last)
{
	return (struct plx_ip){.version = 4, .v = {10, 77, duo_is_inline() ? 1 : 2, (uint8_t)last}};
}

struct plx_ip
duo_ip6(unsigned last)
{
	return (struct plx_ip){
		.version = 6,
		.v = {0xfd, 0x77, [3] = duo_is_inline() ? 1 : 2, [15] = (uint8_t)last}};
}

struct duo_extra duo_extra;

void
duo_wishes(struct plx_wishes *wishes, unsigned end)
{
	plx_wishes_init(wishes);
	snprintf(wishes->device, sizeof(wishes->device), "net_wire%d,end=%u%s",
		 duo_is_inline() ? 0 : 1, end, duo_extra.faults ? duo_extra.faults : "");
	wishes->vlan = duo_extra.vlan;
	wishes->ecn = duo_extra.ecn;
	wishes->address[0].ip = duo_ip(end + 1);
	wishes->address[0].prefix_bits = 24;
	wishes->address[1].ip = duo_ip6(end + 1);
	wishes->address[1].prefix_bits = 64;
	wishes->addresses = 2;
	wishes->mode = mode;
	if (mode == PLX_MODE_WORKER)
		snprintf(wishes->worker, sizeof(wishes->worker), "duo");
	wishes->idle = PLX_IDLING_YIELD;
	wishes->qps = DUO_QPS;
	wishes->keys = DUO_KEYS;
	wishes->packets = 4096;
}

static int
open_adapters(void **state)
{
	struct plx_wishes wishes;
	struct plx_why why = {""};
	char name[8];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		duo_wishes(&wishes, i);
		snprintf(name, sizeof(name), "%c%d", 'a' + (int)i, (int)mode);
		if (plx_adapter_open(name, &wishes, &adapters[i], &why) != PLX_OK) {
			print_error("%s\n", why.text);
			return -1;
		}
	}
	return 0;
}

static int
close_adapters(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		if (plx_adapter_close(adapters[i]) != PLX_OK) {
			print_error("an object of adapter %u is left\n", i);
			left_behind++;
		}
	}
	return left_behind ? -1 : 0;
}

int
duo_run_in(enum plx_mode wanted, const char *name, const struct CMUnitTest *tests, size_t n)
{
	char title[64];
	int failures;

	mode = wanted;
	snprintf(title, sizeof(title), "%s, %s", name, duo_is_inline() ? "inline" : "worker");
	left_behind = 0;
	failures = _cmocka_run_group_tests(title, tests, n, open_adapters, close_adapters);
	return failures + left_behind;
}

int
duo_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
	int failures = duo_run_in(PLX_MODE_INLINE, name, tests, n);

	return failures + duo_run_in(PLX_MODE_WORKER, name, tests, n);
}

/* ---- ends -------------------------------------------------------------------------------------
 */

struct duo_options
duo_usual(void)
{
	struct duo_options options = {
		.qp = {.sq_depth = DUO_SQ, .rq_depth = DUO_RQ, .sq_sges = 4, .rq_sges = 4},
		.cq = {.depth = DUO_CQ},
	};

	plx_qp_link_init(&options.link);
	/* A test that has a message wait for its receive decides itself for how long. */
	options.link.rnr_retry = 7;
	options.link.rnr_timer = 14; /* 1.28 ms */
	return options;
}

struct plx_qp *
end_qp(struct end *end, const struct duo_options *options)
{
	struct plx_qp_options wanted = options->qp;
	struct plx_why why = {""};
	struct plx_qp *qp = NULL;

	wanted.send_cq = end->send_cq;
	wanted.recv_cq = end->recv_cq;
	wanted.srq = end->srq;
	if (plx_qp_create(end->pd, &wanted, &qp, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return qp;
}

static void
end_open(struct end *end, struct plx_adapter *adapter, const struct duo_options *options)
{
	end->adapter = adapter;
	end->arena = aligned_alloc(64, DUO_ARENA);
	assert_non_null(end->arena);
	memset(end->arena, 0, DUO_ARENA);
	assert_int_equal(plx_pd_create(adapter, &end->pd), PLX_OK);
	assert_int_equal(plx_mr_register(end->pd, end->arena, DUO_ARENA, DUO_ALL, &end->mr),
			 PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &options->cq, &end->send_cq), PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &options->cq, &end->recv_cq), PLX_OK);
	if (options->srq.depth)
		assert_int_equal(plx_srq_create(adapter, &options->srq, &end->srq), PLX_OK);
	end->qp = end_qp(end, options);
}

static void
end_close(struct end *end)
{
	if (end->qp)
		assert_int_equal(plx_qp_destroy(end->qp), PLX_OK);
	if (end->srq)
		assert_int_equal(plx_srq_destroy(end->srq), PLX_OK);
	if (end->send_cq)
		assert_int_equal(plx_cq_destroy(end->send_cq), PLX_OK);
	if (end->recv_cq)
		assert_int_equal(plx_cq_destroy(end->recv_cq), PLX_OK);
	if (end->mr)
		assert_int_equal(plx_mr_deregister(end->mr), PLX_OK);
	if (end->pd)
		assert_int_equal(plx_pd_destroy(end->pd), PLX_OK);
	free(end->arena);
}

struct duo *
duo_open(const struct duo_options *options)
{
	const struct duo_options usual = duo_usual();
	struct duo *duo = calloc(1, sizeof(*duo));

	assert_non_null(duo);
	if (!options)
		options = &usual;
	duo_settle();
	duo_drop_asyncs(adapters[0]);
	duo_drop_asyncs(adapters[1]);
	end_open(&duo->a, adapters[0], options);
	end_open(&duo->b, adapters[1], options);
	if (!options->unconnected)
		duo_join(duo->a.qp, duo->b.qp, &options->link);
	return duo;
}

void
duo_close(struct duo *duo)
{
	end_close(&duo->a);
	end_close(&duo->b);
	free(duo);
}

static void
connect_one(struct plx_qp *qp, const struct plx_qp_address *peer, const struct plx_qp_link *link)
{
	struct plx_why why = {""};
	enum plx_status status;

	duo_until((status = plx_qp_connect(qp, peer, link, 0, &why)) != PLX_AGAIN);
	if (status != PLX_OK)
		fail_msg("%s", why.text);
}

void
duo_join(struct plx_qp *a, struct plx_qp *b, const struct plx_qp_link *link)
{
	struct plx_qp_address of_a, of_b;

	assert_int_equal(plx_qp_address(a, NULL, &of_a), PLX_OK);
	assert_int_equal(plx_qp_address(b, NULL, &of_b), PLX_OK);
	connect_one(a, &of_b, link);
	connect_one(b, &of_a, link);
}

/* ---- requests ---------------------------------------------------------------------------------
 */

struct beyond
at_peer(const struct end *peer, uint32_t offset)
{
	return (struct beyond){
		.va = (uintptr_t)peer->arena + offset,
		.rkey = plx_mr_key(peer->mr),
	};
}

enum plx_status
end_try(struct end *end, struct plx_qp *qp, enum plx_wr_op op, uint64_t wr_id, uint8_t flags,
	uint32_t offset, uint32_t bytes, const struct beyond *beyond)
{
	const struct plx_sge sge = {
		.va = (uintptr_t)end->arena + offset,
		.length = bytes,
		.key = plx_mr_key(end->mr),
	};
	struct plx_send_wr wr = {
		.wr_id = wr_id,
		.op = (uint8_t)op,
		.flags = flags,
		.sge = &sge,
		.sges = bytes > 0,
	};
	enum plx_status why = PLX_STATUS_COUNT;
	uint32_t posted;

	if (beyond) {
		wr.remote_va = beyond->va;
		wr.rkey = beyond->rkey;
		wr.swap_add = beyond->swap_add;
		wr.compare = beyond->compare;
		wr.imm = beyond->imm;
		if (op == PLX_WR_SEND_INV || op == PLX_WR_LOCAL_INV)
			wr.inv_key = beyond->inv_key;
	}
	posted = plx_post_send(qp, &wr, 1, &why);
	assert_int_equal(posted, why == PLX_OK);
	return why;
}

void
end_post(struct end *end, enum plx_wr_op op, uint64_t wr_id, uint8_t flags, uint32_t offset,
	 uint32_t bytes, const struct beyond *beyond)
{
	assert_int_equal(end_try(end, end->qp, op, wr_id, flags, offset, bytes, beyond), PLX_OK);
}

void
end_receive(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t bytes)
{
	const struct plx_sge sge = {
		.va = (uintptr_t)end->arena + offset,
		.length = bytes,
		.key = plx_mr_key(end->mr),
	};
	const struct plx_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .sges = bytes > 0};
	enum plx_status why = PLX_STATUS_COUNT;

	if (end->srq)
		assert_int_equal(plx_srq_post(end->srq, &wr, 1, &why), 1);
	else
		assert_int_equal(plx_post_recv(end->qp, &wr, 1, &why), 1);
	assert_int_equal(why, PLX_OK);
}

static uint8_t
byte_at(uint32_t i, uint8_t seed)
{
	return (uint8_t)((i * 2654435761u >> 13) + seed);
}

void
end_fill(struct end *end, uint32_t offset, uint32_t bytes, uint8_t seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		end->arena[offset + i] = byte_at(i, seed);
}

void
end_assert_filled(const struct end *end, uint32_t offset, uint32_t bytes, uint8_t seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (end->arena[offset + i] != byte_at(i, seed))
			fail_msg("byte %u of %u is %02x, not %02x", i, bytes,
				 end->arena[offset + i], byte_at(i, seed));
}

/* ---- completions ------------------------------------------------------------------------------
 */

struct plx_wc
duo_reap(struct plx_cq *cq)
{
	struct plx_wc wc;

	duo_until(plx_cq_poll(cq, &wc, 1) == 1);
	return wc;
}

struct plx_wc
duo_expect(struct plx_cq *cq, uint64_t wr_id, enum plx_wc_status status)
{
	struct plx_wc wc = duo_reap(cq);

	if (wc.wr_id != wr_id || wc.status != status)
		fail_msg("request %llu completed with \"%s\"; expected %llu with \"%s\"",
			 (unsigned long long)wc.wr_id, plx_wc_text((enum plx_wc_status)wc.status),
			 (unsigned long long)wr_id, plx_wc_text(status));
	return wc;
}

void
duo_expect_none(struct plx_cq *cq)
{
	struct plx_wc wc;

	duo_settle();
	if (plx_cq_poll(cq, &wc, 1))
		fail_msg("request %llu completed with \"%s\"; expected nothing",
			 (unsigned long long)wc.wr_id, plx_wc_text((enum plx_wc_status)wc.status));
}

struct plx_channel_event
duo_event(struct plx_channel *channel, enum plx_cm_event_kind kind)
{
	struct plx_channel_event event;

	duo_until(plx_channel_next(channel, &event));
	if (event.kind != kind)
		fail_msg("\"%s\" came where \"%s\" was due", plx_cm_event_text(event.kind),
			 plx_cm_event_text(kind));
	return event;
}

enum plx_qp_state
duo_state(struct plx_qp *qp)
{
	struct plx_qp_info info;

	assert_int_equal(plx_qp_query(qp, &info), PLX_OK);
	return info.state;
}

struct plx_async
duo_async(struct plx_adapter *adapter)
{
	struct plx_async async;

	duo_until(plx_adapter_next_async(adapter, &async));
	return async;
}

void
duo_drop_asyncs(struct plx_adapter *adapter)
{
	struct plx_async async;

	while (plx_adapter_next_async(adapter, &async))
		;
}

void
duo_deliver(struct duo *duo, uint32_t n, uint8_t flags)
{
	for (uint32_t i = 0; i < n; i++)
		end_receive(&duo->b, i, 0, 64);
	for (uint32_t i = 0; i < n; i++)
		end_post(&duo->a, PLX_WR_SEND, i, flags, 0, 8, NULL);
	for (uint32_t i = 0; i < n; i++)
		duo_expect(duo->a.send_cq, i, PLX_WC_SUCCESS);
}
