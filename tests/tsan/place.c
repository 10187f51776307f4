/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The crowd's fixture: see crowd.h. Packets and free buffers cross threads on our own rings, so
 * that ThreadSanitizer sees every handover between threads. Start with crowd_open().
 */
#include <rte_mempool.h>
#include <rte_rcu_qsbr.h>
#include <sched.h>
#include <stdlib.h>

#include "crowd.h"
#include "eal.h"

/* ---- a pool on a ring ---- */

static int
pool_alloc(struct rte_mempool *pool)
{
	const struct plx_ring_config config = {.entries = pool->size,
					       .entry_bytes = sizeof(void *),
					       .producers = PLX_RING_MANY,
					       .consumers = PLX_RING_MANY,
					       .socket = -1};

	pool->pool_data = plx_ring_create(&config);
	return pool->pool_data != NULL ? 0 : -1;
}

static void
pool_free(struct rte_mempool *pool)
{
	plx_ring_destroy(pool->pool_data);
}

static int
pool_put(struct rte_mempool *pool, void *const *objects, unsigned n)
{
	return plx_ring_enqueue(pool->pool_data, sizeof(void *), objects, n) == n ? 0 : -1;
}

static int
pool_get(struct rte_mempool *pool, void **objects, unsigned n)
{
	unsigned got = plx_ring_dequeue(pool->pool_data, sizeof(void *), objects, n);

	if (got == n)
		return 0;
	/* All or nothing. */
	PLX_ASSERT(plx_ring_enqueue(pool->pool_data, sizeof(void *), objects, got) == got);
	return -1;
}

static unsigned
pool_count(const struct rte_mempool *pool)
{
	return plx_ring_count(pool->pool_data);
}

static const struct rte_mempool_ops pool_ops = {.name = "plx_test",
						.alloc = pool_alloc,
						.free = pool_free,
						.enqueue = pool_put,
						.dequeue = pool_get,
						.get_count = pool_count};

/* ---- ports ---- */

static struct rte_ring *wires[2];

static int
side_of(const struct plx_port *port)
{
	return port->caps.mac[5] - 1;
}

static uint16_t
wire_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	return (uint16_t)plx_ring_dequeue(wires[side_of(port)], sizeof(void *), packets, n);
}

static uint16_t
wire_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	return (uint16_t)plx_ring_enqueue(wires[!side_of(port)], sizeof(void *), packets, n);
}

/* ---- the place ---- */

static struct rte_rcu_qsbr *
make_rcu(void)
{
	void *rcu = NULL;

	PLX_ASSERT(posix_memalign(&rcu, PLX_CACHE_LINE, rte_rcu_qsbr_get_memsize(1)) == 0);
	PLX_ASSERT(rte_rcu_qsbr_init(rcu, 1) == 0);
	return rcu;
}

static void
start_worker(struct crowd *crowd, int i)
{
	const struct plx_worker_config config = {
		.core = -1, .idle = crowd->idle, .awake_ns = 1, .name = "plx-crowd"};
	struct plx_why why;

	PLX_ASSERT(plx_worker_start(&config, &crowd->worker[i], &why) == PLX_OK);
	PLX_ASSERT(plx_worker_add(crowd->worker[i], crowd->pair.side[i].engine) == PLX_OK);
}

static struct pair_options
options_of_all(void)
{
	struct pair_options options = pair_defaults(32);

	options.cq_depth = CQ_DEPTH;
	/* Threads are stopped for long by a sanitizer: that is not loss. */
	options.attr.ack_timeout_ns = PLX_SEC;
	return options;
}

void
crowd_open(struct crowd *crowd)
{
	const struct plx_ring_config wire = {.entries = 2047,
					     .entry_bytes = sizeof(void *),
					     .producers = PLX_RING_ONE,
					     .consumers = PLX_RING_ONE,
					     .socket = -1};
	struct pair_options options = options_of_all();
	struct pair_setup setup = {0};

	test_eal_start();
	PLX_ASSERT(rte_mempool_register_ops(&pool_ops) >= 0);
	setup.pool = rte_pktmbuf_pool_create_by_ops("crowd", PAIR_POOL, 0, 0, PAIR_ROOM, -1,
						    pool_ops.name);
	PLX_ASSERT(setup.pool != NULL);
	for (int i = 0; i < 2; i++) {
		setup.rcu[i] = crowd->rcu[i] = make_rcu();
		crowd->wire[i] = wires[i] = plx_ring_create(&wire);
		PLX_ASSERT(wires[i] != NULL);
	}
	PLX_ASSERT(pthread_mutex_init(&crowd->table, NULL) == 0);
	pair_open_with(&crowd->pair, &setup);
	for (int i = 0; i < 2; i++) {
		crowd->pair.side[i].port.port.rx = wire_rx;
		crowd->pair.side[i].port.port.tx = wire_tx;
		start_worker(crowd, i);
	}
	pair_make_queues(&crowd->pair, &options);
	for (uint32_t i = 0; i < QPS; i++) {
		crowd->qp[0][i] = pair_qp(&crowd->pair, 0, &options);
		crowd->qp[1][i] = pair_qp(&crowd->pair, 1, &options);
		pair_join(&crowd->pair, 0, crowd->qp[0][i], 1, crowd->qp[1][i], &options);
	}
}

void
crowd_close(struct crowd *crowd)
{
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < QPS; i++) {
		PLX_ASSERT(plx_engine_qp_destroy(crowd->qp[0][i]) == PLX_OK);
		PLX_ASSERT(plx_engine_qp_destroy(crowd->qp[1][i]) == PLX_OK);
	}
	for (int i = 0; i < 2; i++) {
		plx_worker_remove(crowd->worker[i], crowd->pair.side[i].engine);
		plx_worker_stop(crowd->worker[i]);
	}
	crowd->pair.now = plx_clock_ns();
	for (int i = 0; i < 2; i++)
		while (plx_ring_dequeue(wires[i], sizeof(m), &m, 1) == 1)
			rte_pktmbuf_free(m);
	pair_close(&crowd->pair);
	for (int i = 0; i < 2; i++) {
		plx_ring_destroy(wires[i]);
		free(crowd->rcu[i]);
	}
	PLX_ASSERT(rte_mempool_full(crowd->pair.pool));
	rte_mempool_free(crowd->pair.pool);
	pthread_mutex_destroy(&crowd->table);
}

/* ---- memory ---- */

void
crowd_settle_in(struct crowd *crowd, struct resident *me)
{
	struct pair_options options = options_of_all();
	const struct plx_engine_cq_config cq = {.depth = 64};
	struct pair_side *side = crowd->pair.side;
	struct plx_cq *usual;

	for (int i = 0; i < 2; i++) {
		PLX_ASSERT(plx_engine_cq_create(side[i].engine, &cq, &me->cq[i]) == PLX_OK);
		usual = side[i].send_cq;
		side[i].send_cq = me->cq[i];
		me->qp[i] = pair_qp(&crowd->pair, i, &options);
		side[i].send_cq = usual;
	}
	pair_join(&crowd->pair, 0, me->qp[0], 1, me->qp[1], &options);
	me->lent = malloc(LENT_BYTES);
	PLX_ASSERT(me->lent != NULL);
}

void
crowd_move_out(struct crowd *crowd, struct resident *me)
{
	(void)crowd;
	for (int i = 0; i < 2; i++) {
		PLX_ASSERT(plx_engine_qp_destroy(me->qp[i]) == PLX_OK);
		PLX_ASSERT(plx_engine_cq_destroy(me->cq[i]) == PLX_OK);
	}
	free(me->lent);
}

static bool
write_it(struct crowd *crowd, struct resident *me, struct plx_key rkey)
{
	struct pair_side *from = &crowd->pair.side[0];
	const struct plx_sge sge = {(uintptr_t)from->memory, LENT_BYTES, from->key};
	const struct plx_send_wr wr = {.op = PLX_WR_WRITE,
				       .sge = &sge,
				       .sges = 1,
				       .remote_va = (uintptr_t)me->lent,
				       .rkey = rkey};
	uint64_t end = plx_clock_ns() + 20 * PLX_SEC;
	struct plx_wc wc;

	if (plx_engine_qp_post_send(me->qp[0], &wr, 1, NULL) != 1)
		return false;
	while (plx_engine_cq_poll(me->cq[0], &wc, 1) == 0) {
		if (plx_clock_ns() > end)
			return false;
		sched_yield();
	}
	return wc.status == PLX_WC_SUCCESS;
}

bool
crowd_lend_memory(struct crowd *crowd, struct resident *me, struct plx_prng *prng)
{
	struct pair_side *to = &crowd->pair.side[1];
	const struct plx_region_attr attr = {
		.va = (uintptr_t)me->lent,
		.host = me->lent,
		.length = LENT_BYTES,
		.access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE}};
	uint8_t colour = (uint8_t)plx_prng_next(prng);
	struct plx_region region;
	struct plx_key key;
	enum plx_status status;
	bool good;

	memset(me->lent, colour, LENT_BYTES);
	pthread_mutex_lock(&crowd->table);
	status = plx_region_register(to->mem, to->domain, &attr, &region, &key);
	pthread_mutex_unlock(&crowd->table);
	/* Written with side 0's memory, which nobody writes to: zeros. */
	good = status == PLX_OK && write_it(crowd, me, key) && me->lent[0] == 0 &&
	       me->lent[LENT_BYTES - 1] == 0;
	pthread_mutex_lock(&crowd->table);
	status = plx_region_retire(to->mem, region);
	pthread_mutex_unlock(&crowd->table);
	good = good && status == PLX_OK;
	rte_rcu_qsbr_synchronize(crowd->rcu[1], RTE_QSBR_THRID_INVALID);
	/* From here on it is ours alone. */
	memset(me->lent, colour, LENT_BYTES);
	pthread_mutex_lock(&crowd->table);
	status = plx_region_release(to->mem, region);
	pthread_mutex_unlock(&crowd->table);
	atomic_fetch_add(&crowd->lent, 1);
	return good && status == PLX_OK;
}
