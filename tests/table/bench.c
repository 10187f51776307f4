/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bench's blocks, regions, windows and their copies. It never feeds a packet: the tables do.
 * Start with bench_init().
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	QP,
	RQ,
	MEM
};

#define REMOTE (PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

void
bench_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "%s:%d: the bench is broken: %s\n", file, line, expr);
	abort();
}

static void *
block(struct bench *bench, int which, size_t size)
{
	void *bytes = test_block(size);

	bench->block[which] = (struct bench_block){bytes, size};
	return bytes;
}

static struct plx_key
region(struct bench *bench, struct plx_domain domain, const struct plx_region_attr *attr,
       struct plx_region *out)
{
	return test_region_at(bench->mem, domain, attr, out);
}

static struct plx_key
window(struct bench *bench, uint32_t qpn)
{
	const struct plx_window_attr attr = {.region = bench->granted_region,
					     .va = BENCH_VA,
					     .length = BENCH_ARENA,
					     .access = {REMOTE},
					     .qpn = qpn};
	struct plx_window out;
	struct plx_key key;

	BENCH_CHECK(plx_window_create(bench->mem, bench->domain, &out) == PLX_OK);
	BENCH_CHECK(plx_window_bind(bench->mem, out, &attr, &key) == PLX_OK);
	return key;
}

/* A number that is no key: found by asking, for keys look random. */
static struct plx_key
never_issued(const struct bench *bench)
{
	const struct plx_asker asker = {.domain = bench->domain, .qpn = BENCH_QPN};
	struct plx_grant grant;
	struct plx_key key = {0x5a5a5a5a};

	while (plx_key_check(bench->mem, key, &asker, BENCH_VA, 1, (struct plx_access){0},
			     &grant) != PLX_KEY_UNKNOWN)
		key.v++;
	return key;
}

/* The key of a deregistered region, whose slot now has a region of the same range and rights. */
static struct plx_key
old_life(struct bench *bench, const struct plx_region_attr *attr)
{
	struct plx_region first, next;
	struct plx_key key = region(bench, bench->domain, attr, &first);

	next = first;
	for (int i = 0; i <= BENCH_SLOTS; i++) {
		BENCH_CHECK(plx_region_retire(bench->mem, next) == PLX_OK);
		BENCH_CHECK(plx_region_release(bench->mem, next) == PLX_OK);
		(void)region(bench, bench->domain, attr, &next);
		if (next.slot == first.slot)
			return key;
	}
	bench_failed("a slot is used again", __FILE__, __LINE__);
}

static void
make_keys(struct bench *bench)
{
	struct plx_region_attr attr = {
		.va = BENCH_VA,
		.host = bench->arena,
		.length = BENCH_ARENA,
		.access = {REMOTE | PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND}};
	struct plx_region revoked;

	bench->key[BENCH_KEY_GRANTED] = region(bench, bench->domain, &attr, &bench->granted_region);
	bench->key[BENCH_KEY_RANGE] = bench->key[BENCH_KEY_RANGE_LOW] =
		bench->key[BENCH_KEY_GRANTED];
	bench->key[BENCH_KEY_DOMAIN] = region(bench, bench->other, &attr, NULL);
	bench->key[BENCH_KEY_REVOKED] = region(bench, bench->domain, &attr, &revoked);
	BENCH_CHECK(plx_region_retire(bench->mem, revoked) == PLX_OK);
	bench->key[BENCH_KEY_OLD_LIFE] = old_life(bench, &attr);
	bench->key[BENCH_KEY_WINDOW] = window(bench, BENCH_QPN);
	bench->key[BENCH_KEY_OTHER_QP] = window(bench, BENCH_QPN + 1);
	attr.access.bits = PLX_ACCESS_LOCAL_WRITE;
	bench->key[BENCH_KEY_NO_RIGHT] = region(bench, bench->domain, &attr, NULL);
	attr.access.bits = REMOTE | PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_INVALIDATE;
	bench->key[BENCH_KEY_FAST] = region(bench, bench->domain, &attr, &bench->fast_region);
	attr.host = bench->recv_arena;
	attr.access.bits = PLX_ACCESS_LOCAL_WRITE;
	bench->recv = region(bench, bench->domain, &attr, &bench->recv_region);
	attr.access.bits = PLX_ACCESS_REMOTE_READ;
	bench->read_only = region(bench, bench->domain, &attr, NULL);
	attr = (struct plx_region_attr){.va = BENCH_HUGE_VA,
					.host = bench->huge,
					.length = BENCH_HUGE,
					.access = {REMOTE | PLX_ACCESS_LOCAL_WRITE}};
	bench->key[BENCH_KEY_HUGE] = region(bench, bench->domain, &attr, NULL);
	bench->key[BENCH_KEY_UNKNOWN] = never_issued(bench);
}

void
bench_init(struct bench *bench, const struct plx_rc_caps *caps, uint32_t rq_depth)
{
	const struct plx_mem_limits limits = {.slots = BENCH_SLOTS, .domains = 2};
	const struct plx_secret secret = {{0x0123456789abcdef, 0xfedcba9876543210}};
	struct plx_rc_ids ids = {.qpn = BENCH_QPN, .cc = &plx_cc_none};

	*bench = (struct bench){0};
	bench->arena = calloc(1, BENCH_ARENA);
	bench->recv_arena = calloc(1, BENCH_ARENA);
	BENCH_CHECK(bench->arena && bench->recv_arena);
	bench->huge = mmap(NULL, BENCH_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);
	BENCH_CHECK(bench->huge != MAP_FAILED);
	bench->mem = plx_mem_init(block(bench, MEM, plx_mem_bytes(&limits)), &limits, &secret);
	BENCH_CHECK(plx_domain_create(bench->mem, &bench->domain) == PLX_OK);
	BENCH_CHECK(plx_domain_create(bench->mem, &bench->other) == PLX_OK);
	BENCH_CHECK(plx_domain_hold(bench->mem, bench->domain) == PLX_OK);
	make_keys(bench);
	bench->rq = plx_rq_init(block(bench, RQ, plx_rq_bytes(rq_depth, 2)), rq_depth, 2, false);
	ids.domain = bench->domain;
	ids.mem = bench->mem;
	ids.rq = bench->rq;
	bench->qp = plx_rc_init(block(bench, QP, plx_rc_bytes(caps)), caps, &ids);
	BENCH_CHECK(bench->qp);
}

void
bench_fini(struct bench *bench)
{
	for (size_t i = 0; i < PLX_COUNT_OF(bench->block); i++)
		free(bench->block[i].bytes);
	munmap(bench->huge, BENCH_HUGE);
	free(bench->arena);
	free(bench->recv_arena);
}

struct plx_rc_attr
bench_attr(void)
{
	return (struct plx_rc_attr){
		.path = {.ip_version = 0},
		.mtu = BENCH_MTU,
		.dest_qpn = BENCH_PEER,
		.pkey = PLX_PKEY_DEFAULT,
		.enabled = {REMOTE},
		.rnr_timer = BENCH_RNR_TIMER,
		.retry_max = 7,
		.rnr_retry_max = 3,
		.initiator_depth = 16,
		.ack_timeout_ns = PLX_SEC,
		.window_packets = 1024,
		.ack_interval = 64,
		.read_chunk_packets = 1024,
	};
}

void
bench_bring(struct bench *bench, enum plx_qp_state state, const struct plx_rc_attr *attr)
{
	test_rc_bring(bench->qp, state, attr);
}

void
bench_save(const struct bench *bench, struct bench_saved *saved)
{
	for (size_t i = 0; i < PLX_COUNT_OF(bench->block); i++) {
		saved->copy[i] = malloc(bench->block[i].size);
		BENCH_CHECK(saved->copy[i]);
		memcpy(saved->copy[i], bench->block[i].bytes, bench->block[i].size);
	}
}

void
bench_restore(struct bench *bench, const struct bench_saved *saved)
{
	for (size_t i = 0; i < PLX_COUNT_OF(bench->block); i++)
		memcpy(bench->block[i].bytes, saved->copy[i], bench->block[i].size);
}

void
bench_saved_free(struct bench_saved *saved)
{
	for (size_t i = 0; i < PLX_COUNT_OF(saved->copy); i++)
		free(saved->copy[i]);
}

uint64_t
bench_va(enum bench_key key, uint64_t length)
{
	switch (key) {
	case BENCH_KEY_HUGE:
		return BENCH_HUGE_VA;
	case BENCH_KEY_RANGE:
		return BENCH_VA + BENCH_ARENA - length + 1;
	case BENCH_KEY_RANGE_LOW:
		return BENCH_VA - 1;
	case BENCH_KEY_GRANTED:
	case BENCH_KEY_WINDOW:
	case BENCH_KEY_FAST:
	case BENCH_KEY_UNKNOWN:
	case BENCH_KEY_DOMAIN:
	case BENCH_KEY_REVOKED:
	case BENCH_KEY_OLD_LIFE:
	case BENCH_KEY_NO_RIGHT:
	case BENCH_KEY_OTHER_QP:
	case BENCH_KEY_COUNT:
		break;
	}
	return BENCH_VA;
}

uint8_t *
bench_host(const struct bench *bench, enum bench_key key, uint64_t va)
{
	return key == BENCH_KEY_HUGE ? bench->huge + (va - BENCH_HUGE_VA)
				     : bench->arena + (va - BENCH_VA);
}

enum plx_verdict
bench_feed(struct bench *bench, const struct plx_pkt *pkt, uint64_t now)
{
	enum plx_verdict verdict;

	plx_actions_reset(&bench->out);
	verdict = plx_rc_on_packet(bench->qp, pkt, now, &bench->out);
	BENCH_CHECK(bench->out.count <= PLX_ACTIONS_PER_PACKET);
	for (uint32_t i = 0; i < bench->out.count; i++)
		if (bench->out.list[i].kind == PLX_ACT_ATOMIC)
			*bench->out.list[i].atomic.original = BENCH_ORIGINAL;
	return verdict;
}

void
bench_drain(struct bench *bench, uint64_t now)
{
	uint32_t calls = 0;

	do {
		BENCH_CHECK(++calls < 1000);
		plx_actions_reset(&bench->out);
		(void)plx_rc_transmit(bench->qp, now, 64, &bench->out);
	} while (bench->out.count);
}
