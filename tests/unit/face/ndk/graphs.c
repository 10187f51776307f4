/* SPDX-License-Identifier: BSD-3-Clause
 *
 * T14: whole graphs of objects of two adapters, which are closed in any order, by two threads and
 * from completions of each other, with connections in any state, requests and receives pending, and
 * the adapters' own closes waiting. What has to hold of each object and of each edge between two is
 * checked for every graph; every graph of four objects is in lifetime.c. Start with play().
 *
 * POLLUX_ROUNDS is the number of graphs, POLLUX_SEED the first one's seed.
 */
#include <inttypes.h>
#include <ntstatus.h>
#include <pthread.h>
#include <stdlib.h>

#include "asked.h"
#include "ndk_pair.h"
#include "plx_base.h"

enum {
	ROUNDS = 300,
	NODES_MAX = 32,
	EDGES_MAX = 96,
	RECEIVES_MAX = 4,
	PORT = 20000, /* of the first graph's listener */
	PORTS = 20000,
};

/* How far a graph's connection has come when the closes begin. */
enum stage {
	NONE,
	REQUESTED, /* NdkConnect is pending, and b has its connector */
	ACCEPTED,  /* ... NdkAccept is pending, and NdkConnect has completed */
	CONNECTED,
	STAGES,
};

struct graph;

struct node {
	struct graph *graph;
	unsigned int side;
	NDK_OBJECT_HEADER *object;
	NDK_FN_CLOSE_OBJECT close;
	_Atomic(NTSTATUS) called; /* what the close returned; NOT_YET */
	atomic_int completions;
	/* by the graph's clock: the close was called, its completion was called, and has returned
	 */
	atomic_uint begun, began, ended;
	struct node *then; /* closed in this one's completion; NULL: none */
	bool is_chained;   /* ... and so by nobody else */
};
#define NOT_YET ((NTSTATUS)1)

struct side {
	struct ndk_side of; /* its adapter, queue pair, connector ... */
	struct node *cq, *pd, *qp, *connector;
	NDK_SHARED_ENDPOINT *shared;
	struct node *shared_node;
	struct ndk_done registered;
	NTSTATUS register_called;
	pthread_t closer; /* of the adapter */
	atomic_bool is_closed;
	struct graph *graph;
};

struct graph {
	struct plx_prng random;
	atomic_uint clock;
	struct side side[2];
	struct node node[NODES_MAX];
	struct {
		const struct node *antecedent, *successor;
	} edge[EDGES_MAX];
	struct node *order[NODES_MAX];
	unsigned int nodes, edges;
	atomic_uint next; /* of `order` */
	enum stage stage;
	uint16_t port;
	_Atomic(NDK_CONNECTOR *) requested;
	struct node *listener;
	struct ndk_done connected, accepted;
};

/* ---- chance ---- */

static uint32_t
draw(struct graph *graph, uint32_t below)
{
	return (uint32_t)plx_prng_below(&graph->random, below);
}

static bool
chance(struct graph *graph)
{
	return draw(graph, 2) == 0;
}

/* ---- the graph ---- */

static struct node *
node_add(struct side *side, NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_OBJECT close)
{
	struct graph *graph = side->graph;
	struct node *node = &graph->node[graph->nodes];

	assert_true(graph->nodes < NODES_MAX);
	graph->nodes++;
	*node = (struct node){
		.graph = graph,
		.side = side == &graph->side[1],
		.object = object,
		.close = close,
		.called = NOT_YET,
	};
	return node;
}

/* The antecedent's close has to wait for the successor's. */
static void
edge_add(struct node *antecedent, struct node *successor)
{
	struct graph *graph = antecedent->graph;

	assert_true(graph->edges < EDGES_MAX);
	graph->edge[graph->edges].antecedent = antecedent;
	graph->edge[graph->edges++].successor = successor;
}

/* ---- events: none of an object that has ended ---- */

static VOID
on_notify(PVOID context, NTSTATUS status)
{
	const struct node *cq = ((struct side *)context)->cq;

	assert_nt(status, STATUS_SUCCESS);
	assert_int_equal(cq->ended, 0);
}

static VOID
on_low(PVOID context, NTSTATUS status)
{
	assert_nt(status, STATUS_SUCCESS);
	assert_false(((struct side *)context)->is_closed);
}

static VOID
on_disconnect(PVOID context)
{
	const struct side *side = context;

	assert_int_equal(side->connector->ended, 0);
}

static VOID
on_request(PVOID context, NDK_CONNECTOR *connector)
{
	struct graph *graph = context;

	assert_int_equal(graph->listener->ended, 0);
	assert_null(atomic_exchange(&graph->requested, connector));
}

/* ---- planting ---- */

static void
plant_memory(struct side *side)
{
	struct graph *graph = side->graph;
	NDK_PD *pd = side->of.pd;
	const bool fast = chance(graph);
	NDK_MR *mr = ndk_create(NDK_MR, pd->Dispatch->NdkCreateMr, pd, fast);
	NDK_MW *mw = ndk_create(NDK_MW, pd->Dispatch->NdkCreateMw, pd);

	edge_add(side->pd, node_add(side, &mr->Header, mr->Dispatch->NdkCloseMr));
	edge_add(side->pd, node_add(side, &mw->Header, mw->Dispatch->NdkCloseMw));
	if (fast) {
		assert_nt(ndk_result(mr->Dispatch->NdkInitializeFastRegisterMr, mr, 4, TRUE),
			  STATUS_SUCCESS);
		return;
	}
	side->register_called = mr->Dispatch->NdkRegisterMr(mr, side->of.mdl, NDK_ARENA,
							    NDK_MR_FLAG_ALLOW_REMOTE_WRITE,
							    ndk_on_done, &side->registered);
	/* the close may come first */
	if (chance(graph))
		assert_nt(ndk_status(side->register_called, &side->registered), STATUS_SUCCESS);
}

static void
plant_qp(struct side *side)
{
	struct ndk_side *of = &side->of;
	const struct ndk_options options = {.depth = RECEIVES_MAX, .sges = 1};

	if (chance(side->graph)) {
		of->srq = ndk_create(NDK_SRQ, of->pd->Dispatch->NdkCreateSrq, of->pd, RECEIVES_MAX,
				     1, 1, on_low, side, NULL);
		edge_add(side->pd,
			 node_add(side, &of->srq->Header, of->srq->Dispatch->NdkCloseSrq));
	}
	of->qp = ndk_side_qp(of, &options, side);
	side->qp = node_add(side, &of->qp->Header, of->qp->Dispatch->NdkCloseQp);
	edge_add(side->pd, side->qp);
	edge_add(side->cq, side->qp);
	if (of->srq != NULL)
		edge_add(side->qp - 1, side->qp);
}

static void
plant_receives(struct side *side)
{
	UINT32 token;
	NDK_SGE sge;

	side->of.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(side->of.pd, &token);
	for (uint32_t i = draw(side->graph, RECEIVES_MAX); i > 0; i--) {
		sge = (NDK_SGE){
			.VirtualAddress = side->of.arena, .Length = 64, .MemoryRegionToken = token};
		assert_nt(
			side->of.srq
				? side->of.srq->Dispatch->NdkSrqReceive(side->of.srq, NULL, &sge, 1)
				: side->of.qp->Dispatch->NdkReceive(side->of.qp, NULL, &sge, 1),
			STATUS_SUCCESS);
	}
}

static void
plant(struct graph *graph, unsigned int end, const struct ndk_side *base)
{
	struct side *side = &graph->side[end];
	NDK_CQ *cq;

	side->graph = graph;
	side->of = (struct ndk_side){
		.adapter = ndk_adapter(end), .arena = base->arena, .mdl = base->mdl};
	cq = ndk_create(NDK_CQ, side->of.adapter->Dispatch->NdkCreateCq, side->of.adapter,
			4 * RECEIVES_MAX, on_notify, side, NULL);
	side->of.cq = side->of.receive_cq = cq;
	side->cq = node_add(side, &cq->Header, cq->Dispatch->NdkCloseCq);
	side->of.pd = ndk_create(NDK_PD, side->of.adapter->Dispatch->NdkCreatePd, side->of.adapter);
	side->pd = node_add(side, &side->of.pd->Header, side->of.pd->Dispatch->NdkClosePd);
	plant_memory(side);
	plant_qp(side);
	plant_receives(side);
	if (chance(graph))
		cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
}

/* ---- connecting ---- */

static void
listen_at(struct graph *graph)
{
	struct side *b = &graph->side[1];
	NDK_LISTENER *listener =
		ndk_create(NDK_LISTENER, b->of.adapter->Dispatch->NdkCreateListener, b->of.adapter,
			   on_request, graph);

	graph->listener = node_add(b, &listener->Header, listener->Dispatch->NdkCloseListener);
	assert_nt(ndk_listen(listener, ndk_address(1, graph->port)), STATUS_SUCCESS);
}

static NTSTATUS
dial(struct side *a, NDK_CONNECTOR *connector)
{
	struct graph *graph = a->graph;
	struct sockaddr_in to = ndk_address(1, graph->port);

	if (a->shared == NULL)
		return ndk_dial(connector, a->of.qp, ndk_address(0, 0), to, &graph->connected);
	edge_add(a->shared_node, a->connector);
	return connector->Dispatch->NdkConnectWithSharedEndpoint(
		connector, a->of.qp, a->shared, ndk_any(&to), sizeof(to), 1, 1, NULL, 0,
		ndk_on_done, &graph->connected);
}

static void
request(struct graph *graph)
{
	struct side *a = &graph->side[0], *b = &graph->side[1];

	assert_nt(dial(a, a->of.connector), STATUS_PENDING);
	edge_add(a->qp, a->connector);
	ndk_until(graph->requested != NULL);
	b->of.connector = graph->requested;
	b->connector =
		node_add(b, &b->of.connector->Header, b->of.connector->Dispatch->NdkCloseConnector);
	edge_add(graph->listener, b->connector);
}

static void
accept_request(struct graph *graph)
{
	struct side *b = &graph->side[1];

	assert_nt(b->of.connector->Dispatch->NdkAccept(b->of.connector, b->of.qp, 1, 1, NULL, 0,
						       on_disconnect, b, ndk_on_done,
						       &graph->accepted),
		  STATUS_PENDING);
	edge_add(b->qp, b->connector);
	assert_nt(ndk_status(STATUS_PENDING, &graph->connected), STATUS_SUCCESS);
}

static void
complete(struct graph *graph)
{
	struct side *a = &graph->side[0];

	assert_nt(ndk_result(a->of.connector->Dispatch->NdkCompleteConnect, a->of.connector,
			     on_disconnect, a),
		  STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &graph->accepted), STATUS_SUCCESS);
}

/* A message that b may have no receive for, and so one that is pending for long. */
static void
send_some(struct side *a)
{
	NDK_SGE sge = {.VirtualAddress = a->of.arena, .Length = 8};

	a->of.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(a->of.pd, &sge.MemoryRegionToken);
	for (uint32_t i = draw(a->graph, RECEIVES_MAX); i > 0; i--)
		assert_nt(a->of.qp->Dispatch->NdkSend(a->of.qp, NULL, &sge, 1, 0), STATUS_SUCCESS);
}

static void
join(struct graph *graph)
{
	struct side *a = &graph->side[0];
	struct sockaddr_in at = ndk_address(0, 0);

	a->of.connector = ndk_side_connector(&a->of);
	a->connector =
		node_add(a, &a->of.connector->Header, a->of.connector->Dispatch->NdkCloseConnector);
	if (chance(graph)) {
		a->shared = ndk_create(NDK_SHARED_ENDPOINT,
				       a->of.adapter->Dispatch->NdkCreateSharedEndpoint,
				       a->of.adapter, ndk_any(&at), sizeof(at));
		a->shared_node = node_add(a, &a->shared->Header,
					  a->shared->Dispatch->NdkCloseSharedEndpoint);
	}
	listen_at(graph);
	if (graph->stage >= REQUESTED)
		request(graph);
	if (graph->stage >= ACCEPTED)
		accept_request(graph);
	if (graph->stage >= CONNECTED) {
		complete(graph);
		send_some(a);
	}
}

/* ---- closing ---- */

static void close_node(struct node *node);

static VOID
on_closed(PVOID context)
{
	struct node *node = context;

	node->began = ++node->graph->clock;
	assert_false(node->graph->side[node->side].is_closed && node->called == STATUS_PENDING);
	if (node->then != NULL)
		close_node(node->then);
	node->ended = ++node->graph->clock;
	/* the graph may be gone after this */
	atomic_fetch_add(&node->completions, 1);
}

static void
close_node(struct node *node)
{
	NTSTATUS called;

	node->begun = ++node->graph->clock;
	called = node->close(node->object, on_closed, node);
	if (called == STATUS_PENDING) {
		/* the main thread waits for this, too */
		node->called = called;
		return;
	}
	assert_nt(called, STATUS_SUCCESS);
	assert_int_equal(node->completions, 0);
	node->called = called;
	on_closed(node);
}

static void *
close_all(void *context)
{
	struct graph *graph = context;
	unsigned int i;

	for (i = graph->next++; i < graph->nodes; i = graph->next++)
		if (!graph->order[i]->is_chained)
			close_node(graph->order[i]);
	return NULL;
}

/* When it returns, all of its objects are closed, and every callback of theirs has returned. */
static void *
close_adapter(void *context)
{
	struct side *side = context;
	const struct graph *graph = side->graph;

	plx_ndk_close(side->of.adapter);
	side->is_closed = true;
	for (unsigned int i = 0; i < graph->nodes; i++)
		if (graph->node[i].side == (side != graph->side) &&
		    graph->node[i].called == STATUS_PENDING)
			assert_int_not_equal(graph->node[i].ended, 0);
	return NULL;
}

/* Any order; and one in four is closed in the completion of another. */
static void
shuffle(struct graph *graph)
{
	for (unsigned int i = 0; i < graph->nodes; i++) {
		unsigned int j = draw(graph, i + 1);

		graph->order[i] = graph->order[j];
		graph->order[j] = &graph->node[i];
	}
	for (unsigned int i = 1; i < graph->nodes; i++) {
		struct node *first = graph->order[draw(graph, i)];
		bool waits = false;

		/* What waits for its successor must not be what the successor's close waits for:
		 * a chain follows the edges, from successors to antecedents. */
		for (unsigned int e = 0; e < graph->edges; e++)
			waits |= graph->edge[e].antecedent == first;
		if (waits || first->then != NULL || draw(graph, 4) != 0)
			continue;
		first->then = graph->order[i];
		graph->order[i]->is_chained = true;
	}
}

static void
close_graph(struct graph *graph)
{
	pthread_t other;
	const bool early = chance(graph), both = chance(graph);

	for (int end = 0; early && end < 2; end++)
		assert_int_equal(pthread_create(&graph->side[end].closer, NULL, close_adapter,
						&graph->side[end]),
				 0);
	if (both)
		assert_int_equal(pthread_create(&other, NULL, close_all, graph), 0);
	close_all(graph);
	if (both)
		pthread_join(other, NULL);
	for (int end = 0; end < 2; end++) {
		if (early)
			pthread_join(graph->side[end].closer, NULL);
		else
			close_adapter(&graph->side[end]);
	}
	for (unsigned int i = 0; i < graph->nodes; i++)
		ndk_until(graph->node[i].completions > 0 && graph->node[i].called != NOT_YET);
}

/* ---- judging ---- */

static void
ended_once(NTSTATUS called, const struct ndk_done *done)
{
	assert_int_equal(done->calls, called == STATUS_PENDING);
}

static void
judge(const struct graph *graph)
{
	for (unsigned int i = 0; i < graph->nodes; i++)
		assert_int_equal(graph->node[i].completions, 1);
	for (unsigned int i = 0; i < graph->edges; i++) {
		const struct node *first = graph->edge[i].antecedent;
		const struct node *second = graph->edge[i].successor;

		/* a close that returned SUCCESS ended some time after it was called */
		assert_true(first->began >
			    (second->called == STATUS_PENDING ? second->ended : second->begun));
	}
	for (int end = 0; end < 2; end++)
		ended_once(graph->side[end].register_called, &graph->side[end].registered);
	ended_once(graph->stage >= REQUESTED ? STATUS_PENDING : STATUS_SUCCESS, &graph->connected);
	ended_once(graph->stage >= ACCEPTED ? STATUS_PENDING : STATUS_SUCCESS, &graph->accepted);
}

static void
play(uint64_t seed, const struct ndk_side base[2])
{
	struct graph *graph = calloc(1, sizeof(*graph));

	assert_non_null(graph);
	plx_prng_init(&graph->random, seed);
	graph->port = (uint16_t)(PORT + seed % PORTS);
	graph->stage = (enum stage)draw(graph, STAGES);
	for (unsigned int end = 0; end < 2; end++)
		plant(graph, end, &base[end]);
	join(graph);
	shuffle(graph);
	close_graph(graph);
	judge(graph);
	free(graph);
}

static uint64_t playing;

static int
say_last_seed(void **state)
{
	(void)state;
	print_message("the last graph has seed %" PRIu64 "\n", playing);
	return 0;
}

static void
t14_whole_graphs_are_closed_in_any_order(void **state)
{
	const uint64_t rounds = test_asked("POLLUX_ROUNDS", ROUNDS),
		       first = test_asked("POLLUX_SEED", 1);
	struct ndk_side base[2];

	(void)state;
	/* they keep the sessions, and have the memory */
	for (unsigned int end = 0; end < 2; end++)
		ndk_side_open(&base[end], end, &(struct ndk_options){0});
	for (uint64_t round = 0; round < rounds; round++) {
		playing = first + round;
		play(playing, base);
	}
	for (unsigned int end = 0; end < 2; end++)
		ndk_side_close(&base[end]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(t14_whole_graphs_are_closed_in_any_order, say_last_seed),
	};

	return ndk_run("ndk_graphs", tests, sizeof(tests) / sizeof(tests[0]));
}
