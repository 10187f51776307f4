/* SPDX-License-Identifier: BSD-3-Clause
 *
 * N messages of 64 bytes, each alone, between two inline adapters on the embedded link in one
 * process: through ND2's methods, and through plx_verbs.h, both in their shared libraries. What
 * tests/perf/run counts instructions of. It never sleeps, or measures time.
 * Start with in_parts() and in_whole(). Each of the count_*() functions is a cell of the table.
 */
#include "verbs_pair.h"
#include "nd2_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BYTES = 64,
	TURNS = 4,               /* of both adapters, in which any message gets across, */
	ACK_WAIT_NS = 20 * 1000, /* ... and its ACK, which may wait (decision 67) */
};

#define COUNTED __attribute__((noinline, noclone))
#ifdef __clang__
#undef COUNTED
#define COUNTED __attribute__((noinline))
#endif
#define PART static inline __attribute__((always_inline))

static uint64_t messages;

/* ---- the two interfaces ---- */

/* Completion queues: of the sender's requests, of the receiver's messages, and on each adapter one
 * that stays empty, by which it can be moved and nothing is taken. */
enum queue {
	SENT,
	RECEIVED,
	SENDER_EMPTY,
	RECEIVER_EMPTY,
	QUEUES,
};

static struct {
	struct nd_pair *pair;
	IND2CompletionQueue *queue[QUEUES];
	ND2_SGE from, to;
} nd2;

static struct {
	struct pair *pair;
	struct plx_cq *queue[QUEUES];
	struct plx_sge from, to;
	struct plx_send_wr write, send;
	struct plx_recv_wr receive;
} verbs;

PART bool
nd2_write(void)
{
	return IND2QueuePair_Write(nd2.pair->a.qp, &nd2, &nd2.from, 1, (uintptr_t)nd2.pair->b.arena,
				   nd2.pair->b.remote, 0) == ND_SUCCESS;
}

PART bool
nd2_send(void)
{
	return IND2QueuePair_Send(nd2.pair->a.qp, &nd2, &nd2.from, 1, 0) == ND_SUCCESS;
}

PART bool
nd2_receive(void)
{
	return IND2QueuePair_Receive(nd2.pair->b.qp, &nd2, &nd2.to, 1) == ND_SUCCESS;
}

PART bool
nd2_look(enum queue queue)
{
	ND2_RESULT result;

	return IND2CompletionQueue_GetResults(nd2.queue[queue], &result, 1) == 1 &&
	       result.Status == ND_SUCCESS;
}

PART bool
verbs_write(void)
{
	return plx_post_send(verbs.pair->a.qp, &verbs.write, 1, NULL) == 1;
}

PART bool
verbs_send(void)
{
	return plx_post_send(verbs.pair->a.qp, &verbs.send, 1, NULL) == 1;
}

PART bool
verbs_receive(void)
{
	return plx_post_recv(verbs.pair->b.qp, &verbs.receive, 1, NULL) == 1;
}

PART bool
verbs_look(enum queue queue)
{
	struct plx_wc wc;

	return plx_cq_poll(verbs.queue[queue], &wc, 1) == 1 && wc.status == PLX_WC_SUCCESS;
}

/* ---- what is counted ---- */

/* One interface, one kind of message; `received`: it needs a receive. */
struct kind {
	bool (*post)(void);
	bool (*reap)(void);
	void (*whole)(void);
	bool (*receive)(void);
	bool (*look)(enum queue queue);
	bool received;
};

#define KIND(api, op, with_receive)                            \
	COUNTED static bool count_##api##_##op##_post(void)    \
	{                                                      \
		return api##_##op();                           \
	}                                                      \
	COUNTED static bool count_##api##_##op##_reap(void)    \
	{                                                      \
		return api##_look(SENT);                       \
	}                                                      \
	COUNTED static void count_##api##_##op##_whole(void)   \
	{                                                      \
		bool sent = false, received = !(with_receive); \
                                                               \
		if ((with_receive) && !api##_receive())        \
			fail();                                \
		if (!api##_##op())                             \
			fail();                                \
		while (!sent || !received) {                   \
			received |= api##_look(RECEIVED);      \
			sent |= api##_look(SENT);              \
		}                                              \
	}                                                      \
	static const struct kind api##_##op##_kind = {         \
		.post = count_##api##_##op##_post,             \
		.reap = count_##api##_##op##_reap,             \
		.whole = count_##api##_##op##_whole,           \
		.receive = api##_receive_now,                  \
		.look = api##_look_now,                        \
		.received = (with_receive),                    \
	};

static bool
nd2_receive_now(void)
{
	return nd2_receive();
}

static bool
nd2_look_now(enum queue queue)
{
	return nd2_look(queue);
}

static bool
verbs_receive_now(void)
{
	return verbs_receive();
}

static bool
verbs_look_now(enum queue queue)
{
	return verbs_look(queue);
}

KIND(nd2, write, false)
KIND(nd2, send, true)
KIND(verbs, write, false)
KIND(verbs, send, true)

static uint64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The completion is there when it is asked for. */
static void
in_parts(const struct kind *kind)
{
	uint64_t until;

	if (kind->received)
		assert_true(kind->receive());
	assert_true(kind->post());
	until = clock_ns() + ACK_WAIT_NS;
	for (int i = 0; i < TURNS || clock_ns() < until; i++) {
		assert_false(kind->look(SENDER_EMPTY));
		assert_false(kind->look(RECEIVER_EMPTY));
	}
	assert_true(kind->reap());
	if (kind->received)
		assert_true(kind->look(RECEIVED));
}

/* Whoever waits looks until it is there, and that moves the adapters. */
static void
in_whole(const struct kind *kind)
{
	kind->whole();
}

static void
run(const struct kind *kind, uint8_t *from, uint8_t *to)
{
	for (uint64_t i = 1; i <= messages; i++) {
		memcpy(from, &i, sizeof(i));
		memset(to, 0, BYTES);
		in_parts(kind);
		assert_memory_equal(from, to, BYTES);
		memset(to, 0, BYTES);
		in_whole(kind);
		assert_memory_equal(from, to, BYTES);
	}
}

/* ---- set-up ---- */

static void
through_nd2(void **state)
{
	const struct nd_options options = {.two_cqs = true};

	(void)state;
	nd2.pair = nd_pair_open(&options);
	nd2.queue[SENT] = nd2.pair->a.initiator_cq;
	nd2.queue[RECEIVED] = nd2.pair->b.receive_cq;
	nd2.queue[SENDER_EMPTY] = nd2.pair->a.receive_cq;
	nd2.queue[RECEIVER_EMPTY] = nd2.pair->b.initiator_cq;
	nd2.from = nd_sge(&nd2.pair->a, 0, BYTES);
	nd2.to = nd_sge(&nd2.pair->b, 0, BYTES);
	nd_fill(&nd2.pair->a, 0, BYTES, 1);
	run(&nd2_write_kind, nd2.pair->a.arena, nd2.pair->b.arena);
	run(&nd2_send_kind, nd2.pair->a.arena, nd2.pair->b.arena);
	nd_pair_close(nd2.pair);
}

static void
through_verbs(void **state)
{
	struct pair_options options = pair_usual();
	struct side *a, *b;

	(void)state;
	options.qp.responder_resources = 16;
	verbs.pair = pair_open(&options);
	a = &verbs.pair->a;
	b = &verbs.pair->b;
	verbs.queue[SENT] = a->send_cq;
	verbs.queue[RECEIVED] = b->recv_cq;
	verbs.queue[SENDER_EMPTY] = a->recv_cq;
	verbs.queue[RECEIVER_EMPTY] = b->send_cq;
	verbs.from = (struct plx_sge){(uintptr_t)a->arena, BYTES, plx_mr_key(a->mr)};
	verbs.to = (struct plx_sge){(uintptr_t)b->arena, BYTES, plx_mr_key(b->mr)};
	verbs.send = (struct plx_send_wr){.op = PLX_WR_SEND, .sge = &verbs.from, .sges = 1};
	verbs.write = verbs.send;
	verbs.write.op = PLX_WR_WRITE;
	verbs.write.remote_va = verbs.to.va;
	verbs.write.rkey = verbs.to.key;
	verbs.receive = (struct plx_recv_wr){.sge = &verbs.to, .sges = 1};
	side_fill(a, 0, BYTES, 1);
	run(&verbs_write_kind, a->arena, b->arena);
	run(&verbs_send_kind, a->arena, b->arena);
	pair_close(verbs.pair);
}

/* ND2's adapters; those of verbs are at the other link of the same EAL. */
static const char config[] =
	"eal = \"--no-huge -m 256 --no-pci --no-telemetry --log-level=error\";\n"
	"adapters = (\n"
	"  { name = \"in0\"; device = \"net_wire1,end=0\"; mode = \"inline\";\n"
	"    packets = 2048; address = [ \"10.78.1.1/24\" ]; },\n"
	"  { name = \"in1\"; device = \"net_wire1,end=1\"; mode = \"inline\";\n"
	"    packets = 2048; address = [ \"10.78.1.2/24\" ]; }\n"
	");\n";

int
main(int argc, char **argv)
{
	const struct CMUnitTest of_nd2[] = {ND_TEST(through_nd2)};
	const struct CMUnitTest of_verbs[] = {cmocka_unit_test(through_verbs)};
	int failures;

	messages = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
	if (messages == 0) {
		fprintf(stderr, "usage: message64 MESSAGES\n");
		return 4;
	}
	nd_start(config);
	failures = nd_run_inline("message64", of_nd2, 1);
	return failures + pair_run_in(PLX_MODE_INLINE, "message64", of_verbs, 1);
}
