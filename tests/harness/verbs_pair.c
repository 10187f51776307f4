/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two adapters and the objects on them. The adapters are opened once for all tests of a mode
 * and closed at the end: closing them succeeds only if no test has left an object behind. Start
 * with pair_run(), then pair_open().
 */
#include "verbs_pair.h"
#include "pattern.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum plx_mode mode;
static bool attached; /* the adapters are another process's; mode is PLX_MODE_WORKER */
static struct plx_adapter *adapters[2];
char pair_atomics[1];   /* PAIR_ATOMIC_TEST() */
static int left_behind; /* cmocka prints that a group's end failed, and does not count it */

bool
pair_is_inline(void)
{
	return mode == PLX_MODE_INLINE;
}

bool
pair_is_attached(void)
{
	return attached;
}

bool
pair_is_private(void)
{
	return getenv("POLLUX_TEST_PRIVATE") != NULL;
}

uint32_t
pair_rights(void)
{
	return pair_is_private() ? PAIR_ALL & ~(uint32_t)PLX_ACCESS_REMOTE_ATOMIC : PAIR_ALL;
}

uint32_t
pair_remote_rights(void)
{
	return pair_rights() & PAIR_REMOTE;
}

void
pair_cycle(void)
{
	if (pair_is_inline()) {
		plx_adapter_poll(adapters[0]);
		plx_adapter_poll(adapters[1]);
	} else {
		sched_yield();
	}
}

/* Inline: as many turns as any exchange needs that waits for no timer. With a worker: a time in
 * which it has had the core. */
void
pair_settle(void)
{
	uint64_t end = test_ns() + 30 * PLX_MSEC;

	for (int i = 0; i < 2000; i++)
		pair_cycle();
	while (!pair_is_inline() && test_ns() < end)
		sched_yield();
}

/* ---- adapters ---- */

struct plx_ip
pair_ip(unsigned last)
{
	return (struct plx_ip){.version = 4,
			       .v = {10, 77, pair_is_inline() ? 1 : 2, (uint8_t)last}};
}

struct plx_ip
pair_ip6(unsigned last)
{
	return (struct plx_ip){
		.version = 6,
		.v = {0xfd, 0x77, [3] = pair_is_inline() ? 1 : 2, [15] = (uint8_t)last}};
}

struct pair_extra pair_extra;

/* All tests run once more with several engines, which hand over every packet to each other. */
uint32_t
pair_engines(void)
{
	const char *several = getenv("POLLUX_TEST_ENGINES");

	return several != NULL ? (uint32_t)atoi(several) : 1;
}

void
pair_adapter_options(struct plx_adapter_options *options, unsigned end)
{
	plx_adapter_options_init(options);
	options->engines = pair_engines();
	snprintf(options->device, sizeof(options->device), "net_wire%d,end=%u,shift=%d%s",
		 pair_is_inline() || attached ? 0 : 1, end, options->engines > 1,
		 pair_extra.faults ? pair_extra.faults : "");
	options->vlan = pair_extra.vlan;
	options->ecn = pair_extra.ecn;
	options->congestion = pair_extra.congestion;
	options->address[0].ip = pair_ip(end + 1);
	options->address[0].prefix_bits = 24;
	options->address[1].ip = pair_ip6(end + 1);
	options->address[1].prefix_bits = 64;
	options->addresses = 2;
	options->mode = mode;
	if (mode == PLX_MODE_WORKER)
		snprintf(options->worker, sizeof(options->worker), "pair");
	options->idle = getenv("POLLUX_TEST_IDLE") != NULL ? PLX_IDLE_ADAPTIVE : PLX_IDLE_YIELD;
	options->qps = PAIR_QPS;
	options->keys = PAIR_KEYS;
	options->packets = 4096 * options->engines;
}

void
pair_set_attached(bool wanted)
{
	attached = wanted;
	mode = PLX_MODE_WORKER;
}

void
pair_adapter_name(unsigned i, char *name)
{
	snprintf(name, 8, "%c%d", 'a' + (int)i, attached ? 2 : (int)mode);
}

static int
open_adapters(void **state)
{
	char name[PLX_ADAPTER_NAME_MAX + 1];
	struct plx_adapter_options options;
	struct plx_why why = {""};
	enum plx_status status;

	(void)state;
	/* Without hugepages, as in host_process.c; STATE: it is up already. */
	status = attached ? PLX_OK : plx_eal_start("--no-huge -m 1024", &why);
	if (status != PLX_OK && status != PLX_STATE) {
		print_error("%s\n", why.text);
		return -1;
	}
	for (unsigned i = 0; i < 2; i++) {
		pair_adapter_options(&options, i);
		pair_adapter_name(i, name);
		if (plx_adapter_open(name, &options, &adapters[i], &why) != PLX_OK) {
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
pair_run_in(enum plx_mode wanted, const char *name, const struct CMUnitTest *tests, size_t n)
{
	struct CMUnitTest *kept;
	size_t count = 0;
	char title[64];
	int failures;

	mode = wanted;
	snprintf(title, sizeof(title), "%s, %s", name,
		 attached           ? "attached"
		 : pair_is_inline() ? "inline"
				    : "worker");
	left_behind = 0;
	kept = calloc(n, sizeof(*kept));
	if (kept == NULL)
		return 1;
	for (size_t i = 0; i < n; i++)
		if (tests[i].initial_state != pair_atomics || !pair_is_private())
			kept[count++] = tests[i];
	failures = _cmocka_run_group_tests(title, kept, count, open_adapters, close_adapters);
	free(kept);
	return failures + left_behind;
}

int
pair_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
	int failures = pair_run_in(PLX_MODE_INLINE, name, tests, n);

	return failures + pair_run_in(PLX_MODE_WORKER, name, tests, n);
}

/* ---- ends ---- */

static bool
has_arenas(void)
{
	return attached && !pair_is_private();
}

void *
pair_memory(size_t bytes)
{
	return has_arenas() ? plx_mem_alloc(bytes, -1, NULL) : aligned_alloc(64, bytes);
}

void
pair_memory_free(void *memory)
{
	if (has_arenas())
		plx_mem_free(memory);
	else
		free(memory);
}

struct pair_options
pair_usual(void)
{
	struct pair_options options = {
		.qp = {.sq_depth = PAIR_SQ, .rq_depth = PAIR_RQ, .sq_sges = 4, .rq_sges = 4},
		.cq = {.depth = PAIR_CQ},
	};

	plx_qp_attr_init(&options.attr);
	/* A test that has a message wait for its receive decides itself for how long. */
	options.attr.rnr_retry = 7;
	options.attr.rnr_timer = 14; /* 1.28 ms */
	/* An exchange of packets that are handed over waits for five threads, on two cores. */
	if (pair_engines() > 1)
		options.attr.ack_timeout = 17; /* 0.5 s */
	return options;
}

struct plx_qp *
side_qp(struct side *side, const struct pair_options *options)
{
	struct plx_qp_options wanted = options->qp;
	struct plx_why why = {""};
	struct plx_qp *qp = NULL;

	wanted.send_cq = side->send_cq;
	wanted.recv_cq = side->recv_cq;
	wanted.srq = side->srq;
	if (plx_qp_create(side->pd, &wanted, &qp, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return qp;
}

static void
side_open(struct side *side, struct plx_adapter *adapter, const struct pair_options *options)
{
	struct plx_cq_options cq = options->cq;

	/* One end has all on its last engine, the other where the adapter puts it. */
	if (adapter == adapters[0])
		cq.engine = pair_engines();
	side->adapter = adapter;
	side->arena = pair_memory(PAIR_ARENA);
	assert_non_null(side->arena);
	memset(side->arena, 0, PAIR_ARENA);
	assert_int_equal(plx_pd_create(adapter, &side->pd), PLX_OK);
	assert_int_equal(
		plx_mr_register(side->pd, side->arena, PAIR_ARENA, pair_rights(), &side->mr),
		PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &cq, &side->send_cq), PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &cq, &side->recv_cq), PLX_OK);
	if (options->srq.depth)
		assert_int_equal(plx_srq_create(adapter, &options->srq, &side->srq), PLX_OK);
	if (options->channel)
		assert_int_equal(
			plx_event_channel_create(adapter, options->channel, &side->channel),
			PLX_OK);
	side->qp = side_qp(side, options);
}

static void
side_close(struct side *side)
{
	if (side->channel)
		assert_int_equal(plx_event_channel_destroy(side->channel), PLX_OK);
	if (side->qp)
		assert_int_equal(plx_qp_destroy(side->qp), PLX_OK);
	if (side->srq)
		assert_int_equal(plx_srq_destroy(side->srq), PLX_OK);
	if (side->send_cq)
		assert_int_equal(plx_cq_destroy(side->send_cq), PLX_OK);
	if (side->recv_cq)
		assert_int_equal(plx_cq_destroy(side->recv_cq), PLX_OK);
	if (side->mr)
		assert_int_equal(plx_mr_deregister(side->mr), PLX_OK);
	if (side->pd)
		assert_int_equal(plx_pd_destroy(side->pd), PLX_OK);
	pair_memory_free(side->arena);
}

struct pair *
pair_open(const struct pair_options *options)
{
	const struct pair_options usual = pair_usual();
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	if (!options)
		options = &usual;
	pair_settle();
	pair_drop_asyncs(adapters[0]);
	pair_drop_asyncs(adapters[1]);
	side_open(&pair->a, adapters[0], options);
	side_open(&pair->b, adapters[1], options);
	if (!options->unconnected)
		pair_join(pair->a.qp, pair->b.qp, &options->attr);
	return pair;
}

struct pair *
pair_open_apart(void)
{
	struct pair_options options = pair_usual();

	options.unconnected = true;
	return pair_open(&options);
}

void
pair_close(struct pair *pair)
{
	if (pair->a.connector)
		assert_int_equal(plx_connector_destroy(pair->a.connector), PLX_OK);
	if (pair->b.connector)
		assert_int_equal(plx_connector_destroy(pair->b.connector), PLX_OK);
	if (pair->listener)
		assert_int_equal(plx_listener_destroy(pair->listener), PLX_OK);
	side_close(&pair->a);
	side_close(&pair->b);
	free(pair);
}

static void
connect_one(struct plx_qp *qp, const struct plx_qp_address *peer, const struct plx_qp_attr *attr)
{
	struct plx_why why = {""};
	enum plx_status status;

	pair_until((status = plx_qp_connect(qp, peer, attr, 0, &why)) != PLX_AGAIN);
	if (status != PLX_OK)
		fail_msg("%s", why.text);
}

void
pair_join(struct plx_qp *a, struct plx_qp *b, const struct plx_qp_attr *attr)
{
	struct plx_qp_address of_a, of_b;

	assert_int_equal(plx_qp_address(a, NULL, &of_a), PLX_OK);
	assert_int_equal(plx_qp_address(b, NULL, &of_b), PLX_OK);
	connect_one(a, &of_b, attr);
	connect_one(b, &of_a, attr);
}

/* ---- by the communication manager ---- */

struct plx_connect_options
pair_to(unsigned last)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = pair_ip(last);
	options.remote_port = PAIR_PORT;
	return options;
}

struct plx_listener *
pair_listen(struct side *side, uint16_t port, uint64_t context)
{
	const struct plx_listen_options options = {.port = port, .context = context};
	struct plx_listener *listener = NULL;
	struct plx_why why = {""};

	if (plx_listen(side->channel, &options, &listener, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return listener;
}

void
pair_connect(struct plx_connector *connector, struct plx_qp *qp,
	     const struct plx_connect_options *options)
{
	struct plx_why why = {""};

	if (plx_connect(connector, qp, options, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

void
pair_accept(struct plx_connector *connector, struct plx_qp *qp,
	    const struct plx_connect_options *options)
{
	struct plx_why why = {""};

	if (plx_accept(connector, qp, options, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

void
pair_complete(struct plx_connector *connector)
{
	struct plx_why why = {""};

	if (plx_establish(connector, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

/* ---- requests ---- */

struct beyond
at_peer(const struct side *peer, uint32_t offset)
{
	return (struct beyond){
		.va = (uintptr_t)peer->arena + offset,
		.rkey = plx_mr_key(peer->mr),
	};
}

enum plx_status
side_try(struct side *side, struct plx_qp *qp, enum plx_wr_op op, uint64_t wr_id, uint8_t flags,
	 uint32_t offset, uint32_t bytes, const struct beyond *beyond)
{
	const struct plx_sge sge = {
		.va = (uintptr_t)side->arena + offset,
		.length = bytes,
		.key = plx_mr_key(side->mr),
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
side_post(struct side *side, enum plx_wr_op op, uint64_t wr_id, uint8_t flags, uint32_t offset,
	  uint32_t bytes, const struct beyond *beyond)
{
	assert_int_equal(side_try(side, side->qp, op, wr_id, flags, offset, bytes, beyond), PLX_OK);
}

void
side_receive(struct side *side, uint64_t wr_id, uint32_t offset, uint32_t bytes)
{
	const struct plx_sge sge = {
		.va = (uintptr_t)side->arena + offset,
		.length = bytes,
		.key = plx_mr_key(side->mr),
	};
	const struct plx_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .sges = bytes > 0};
	enum plx_status why = PLX_STATUS_COUNT;

	if (side->srq)
		assert_int_equal(plx_post_srq_recv(side->srq, &wr, 1, &why), 1);
	else
		assert_int_equal(plx_post_recv(side->qp, &wr, 1, &why), 1);
	assert_int_equal(why, PLX_OK);
}

void
side_fill(struct side *side, uint32_t offset, uint32_t bytes, uint8_t seed)
{
	pattern_fill(side->arena + offset, bytes, seed);
}

void
side_assert_filled(const struct side *side, uint32_t offset, uint32_t bytes, uint8_t seed)
{
	pattern_assert(side->arena + offset, bytes, seed);
}

/* ---- completions ---- */

struct plx_wc
pair_reap(struct plx_cq *cq)
{
	struct plx_wc wc;

	pair_until(plx_cq_poll(cq, &wc, 1) == 1);
	return wc;
}

struct plx_wc
pair_expect(struct plx_cq *cq, uint64_t wr_id, enum plx_wc_status status)
{
	struct plx_wc wc = pair_reap(cq);

	if (wc.wr_id != wr_id || wc.status != status)
		fail_msg("request %llu completed with \"%s\"; expected %llu with \"%s\"",
			 (unsigned long long)wc.wr_id, plx_wc_text((enum plx_wc_status)wc.status),
			 (unsigned long long)wr_id, plx_wc_text(status));
	return wc;
}

void
pair_expect_none(struct plx_cq *cq)
{
	struct plx_wc wc;

	pair_settle();
	if (plx_cq_poll(cq, &wc, 1))
		fail_msg("request %llu completed with \"%s\"; expected nothing",
			 (unsigned long long)wc.wr_id, plx_wc_text((enum plx_wc_status)wc.status));
}

struct plx_connector_event
pair_event(struct plx_event_channel *channel, enum plx_cm_event_kind kind)
{
	struct plx_connector_event event;

	pair_until(plx_event_channel_next(channel, &event));
	if (event.kind != kind)
		fail_msg("\"%s\" came where \"%s\" was due", plx_cm_event_text(event.kind),
			 plx_cm_event_text(kind));
	return event;
}

enum plx_qp_state
pair_state(struct plx_qp *qp)
{
	struct plx_qp_info info;

	assert_int_equal(plx_qp_query(qp, &info), PLX_OK);
	return info.state;
}

struct plx_async_event
pair_async_event(struct plx_adapter *adapter)
{
	struct plx_async_event event;

	pair_until(plx_adapter_next_async_event(adapter, &event));
	return event;
}

void
pair_drop_asyncs(struct plx_adapter *adapter)
{
	struct plx_async_event event;

	while (plx_adapter_next_async_event(adapter, &event))
		;
}

void
pair_deliver(struct pair *pair, uint32_t n, uint8_t flags)
{
	for (uint32_t i = 0; i < n; i++)
		side_receive(&pair->b, i, 0, 64);
	for (uint32_t i = 0; i < n; i++)
		side_post(&pair->a, PLX_WR_SEND, i, flags, 0, 8, NULL);
	for (uint32_t i = 0; i < n; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
}
