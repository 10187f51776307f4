/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fixture of the engine's tests: see engine_pair.h. Its ports lose or reorder packets only when
 * a test tells them to. Start with pair_open().
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "engine_pair.h"
#include "eal.h"
#include "rc.h"

static uint16_t
port_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	struct pair_port *self = (struct pair_port *)port;
	uint16_t got = 0;

	pthread_mutex_lock(&self->lock);
	while (got < n && self->count > 0 && !self->side->port.hold) {
		packets[got++] = self->wire[self->first++ % PAIR_WIRE];
		self->count--;
	}
	pthread_mutex_unlock(&self->lock);
	return got;
}

/* The queue that the port's next packet arrives on. */
static struct pair_port *
next_queue(struct pair_side *side)
{
	if (side->arrives_on != PAIR_IN_TURN)
		return side->queue[side->arrives_on];
	return side->queue[__atomic_fetch_add(&side->turn, 1, __ATOMIC_RELAXED) % side->engines];
}

static bool
is_lost(struct pair_port *self, const struct rte_mbuf *m)
{
	if (self->lose > 0) {
		self->lose--;
		return true;
	}
	return self->pass != NULL && !self->pass(self->side, m, self->user);
}

/* Returns: false: no room */
static bool
carry(struct pair_port *self, struct pair_port *to, struct rte_mbuf *m)
{
	bool room;

	pthread_mutex_lock(&to->lock);
	room = to->count < PAIR_WIRE;
	if (room && is_lost(self, m))
		rte_pktmbuf_free(m);
	else if (room)
		to->wire[(to->first + to->count++) % PAIR_WIRE] = m;
	pthread_mutex_unlock(&to->lock);
	return room;
}

static uint16_t
port_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	struct pair_port *self = &((struct pair_port *)port)->side->port;

	if (self->refuse > 0) {
		self->refuse--;
		return 0;
	}
	if (self->take > 0 && n > self->take)
		n = (uint16_t)self->take;
	for (uint16_t i = 0; i < n; i++)
		if (!carry(self, next_queue(self->peer->side), packets[i]))
			return i;
	return n;
}

static void
open_queue(struct pair *pair, int i, struct pair_port *queue)
{
	struct plx_port_caps *caps = &queue->port.caps;

	*queue = (struct pair_port){.port = {.rx = port_rx, .tx = port_tx},
				    .side = &pair->side[i],
				    .peer = &pair->side[!i].port};
	pthread_mutex_init(&queue->lock, NULL);
	caps->mac[0] = 2;
	caps->mac[5] = (uint8_t)(i + 1);
	caps->frame_max = PAIR_FRAME;
	caps->socket = -1;
}

static void
open_port(struct pair *pair, int i, uint32_t queues)
{
	struct pair_side *side = &pair->side[i];

	side->engines = queues;
	side->arrives_on = queues > 1 ? PAIR_IN_TURN : 0;
	side->queue[0] = &side->port;
	for (uint32_t q = 0; q < queues; q++) {
		if (q > 0)
			side->queue[q] = test_block(sizeof(struct pair_port));
		open_queue(pair, i, side->queue[q]);
	}
}

/* Engines 1 and up share everything of engine 0's but the communication manager. */
static void
make_engines(struct pair_side *side, struct plx_engine_config config, uint32_t handoff_depth)
{
	const struct plx_engine_group_config group = {
		.engines = side->engines, .handoff_depth = handoff_depth, .socket = -1};
	struct plx_why why;

	config.engines = side->engines;
	if (side->engines > 1)
		PLX_ASSERT(plx_engine_group_create(&group, &side->group) == PLX_OK);
	config.group = side->group;
	for (config.index = 0; config.index < side->engines; config.index++) {
		PLX_ASSERT(plx_engine_create(&config, &side->all[config.index], &why) == PLX_OK);
		if (config.index + 1 < side->engines)
			config.port = &side->queue[config.index + 1]->port;
		config.cm = NULL;
	}
	side->engine = side->all[side->engines - 1];
}

/* A test of one engine runs once more with several, of which it uses the last. */
static uint32_t
engines_of(const struct pair_setup *setup, int i)
{
	const char *several = getenv("POLLUX_TEST_ENGINES");

	if (setup->engines > 0)
		return setup->engines;
	return several != NULL && setup->port[i] == NULL && setup->rcu[i] == NULL
		       ? (uint32_t)atoi(several)
		       : 1;
}

static void
open_side(struct pair *pair, int i, const struct pair_setup *setup)
{
	struct pair_side *side = &pair->side[i];
	struct plx_net_config net = {.addresses = 1, .neighbours = PAIR_NEIGHBOURS};
	struct plx_region_attr attr = {.length = PAIR_BYTES, .access = {0x1f}};
	struct plx_cm_config cm = {.connections = PAIR_CONNECTIONS,
				   .half_open = PAIR_CONNECTIONS,
				   .ca_guid = (uint64_t)i + 1,
				   .secret = {{(uint64_t)i + 1, 1}}};
	struct plx_engine_config config = {.link = &plx_link,
					   .pool = pair->pool,
					   .rcu = setup->rcu[i],
					   .engines = 1,
					   .qps = setup->qps > 0 ? setup->qps : PAIR_QPS,
					   .secret = {{(uint64_t)i + 1, 1}},
					   .inline_mode = pair->inline_mode};

	open_port(pair, i, engines_of(setup, i));
	if (setup->engines == 0) /* as with one engine, but for what engine 0 alone handles */
		side->arrives_on = side->engines - 1;
	side->ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, (uint8_t)(i + 1)}};
	if (setup->ipv6)
		side->ip = (struct plx_ip){.version = 6, .v = {0xfd, [15] = (uint8_t)(i + 1)}};
	config.port = setup->port[i] != NULL ? setup->port[i] : &side->port.port;
	memcpy(net.mac, config.port->caps.mac, sizeof(net.mac));
	net.vlan = setup->vlan;
	net.address[0] = (struct plx_net_address){.ip = side->ip, .prefix_bits = 24};
	if (pair->own_pool && setup->port[i] == NULL)
		net.frame_max = PAIR_FRAME;
	side->net = plx_net_init(test_block(plx_net_bytes(&net)), &net);
	side->mem = test_mem(1024, &side->domain);
	side->memory = memset(test_block(PAIR_BYTES), 0, PAIR_BYTES);
	attr.host = side->memory;
	attr.va = (uintptr_t)side->memory;
	side->key = test_region_at(side->mem, side->domain, &attr, &side->region);
	config.mem = side->mem;
	config.net = side->net;
	side->cm = plx_cm_init(test_block(plx_cm_bytes(&cm)), &cm);
	config.cm = setup->no_cm ? NULL : side->cm;
	side->config = config;
	make_engines(side, config,
		     setup->handoff_depth > 0 ? setup->handoff_depth : PLX_HANDOFF_DEPTH);
}

void
pair_open_with(struct pair *pair, const struct pair_setup *setup)
{
	test_eal_start();
	memset(pair, 0, sizeof(*pair));
	pair->inline_mode = setup->inline_mode;
	pair->now = PLX_MSEC;
	pair->own_pool = setup->pool == NULL;
	pair->pool = setup->pool;
	if (pair->own_pool)
		pair->pool = rte_pktmbuf_pool_create("pair", PAIR_POOL, 0, 0, PAIR_ROOM, -1);
	PLX_ASSERT(pair->pool != NULL);
	open_side(pair, 0, setup);
	open_side(pair, 1, setup);
}

void
pair_open(struct pair *pair, bool inline_mode)
{
	pair_open_with(pair, &(struct pair_setup){.inline_mode = inline_mode});
}

static void
close_side(struct pair_side *side)
{
	for (uint32_t q = 0; q < side->engines; q++)
		plx_engine_destroy(side->all[q]);
	if (side->group != NULL)
		plx_engine_group_destroy(side->group);
	for (uint32_t q = 0; q < side->engines; q++) {
		struct pair_port *port = side->queue[q];

		for (; port->count > 0; port->count--)
			rte_pktmbuf_free(port->wire[port->first++ % PAIR_WIRE]);
		if (q > 0)
			free(port);
	}
	free(side->net);
	free(side->cm);
	free(side->mem);
	free(side->memory);
}

static void
destroy_objects(struct pair_side *side)
{
	if (side->qp != NULL)
		PLX_ASSERT(plx_engine_qp_destroy(side->qp) == PLX_OK);
	if (side->srq != NULL)
		PLX_ASSERT(plx_engine_srq_destroy(side->srq) == PLX_OK);
	if (side->send_cq != NULL)
		PLX_ASSERT(plx_engine_cq_destroy(side->send_cq) == PLX_OK);
	if (side->recv_cq != NULL && side->recv_cq != side->send_cq)
		PLX_ASSERT(plx_engine_cq_destroy(side->recv_cq) == PLX_OK);
	side->qp = NULL;
	side->srq = NULL;
	side->send_cq = side->recv_cq = NULL;
}

static bool
has_objects(const struct pair_side *side)
{
	return side->qp != NULL || side->srq != NULL || side->send_cq != NULL ||
	       side->recv_cq != NULL;
}

void
pair_destroy_objects(struct pair *pair)
{
	pair_start(pair);
	destroy_objects(&pair->side[0]);
	destroy_objects(&pair->side[1]);
	pair_stop(pair);
}

void
pair_close(struct pair *pair)
{
	if (has_objects(&pair->side[0]) || has_objects(&pair->side[1]))
		pair_destroy_objects(pair);
	close_side(&pair->side[0]);
	close_side(&pair->side[1]);
	if (!pair->own_pool)
		return;
	PLX_ASSERT(rte_mempool_full(pair->pool));
	rte_mempool_free(pair->pool);
}

/* ---- time ---- */

void
pair_poll_side(struct pair *pair, int i)
{
	const struct pair_side *side = &pair->side[i];

	for (uint32_t q = 0; q < side->engines; q++)
		plx_engine_poll(side->all[q], pair->now);
}

void
pair_run(struct pair *pair, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++) {
		/* Inline mode: commands poll with the real clock, and so do we. */
		pair->now = pair->inline_mode ? plx_clock_ns() : pair->now + PLX_USEC;
		pair_poll_side(pair, 0);
		pair_poll_side(pair, 1);
	}
}

void
pair_pass(struct pair *pair, uint64_t ns)
{
	for (uint64_t end = pair->now + ns; pair->now < end;) {
		pair->now = plx_time_min(end, pair->now + PLX_MSEC);
		pair_poll_side(pair, 0);
		pair_poll_side(pair, 1);
	}
}

static void *
poll_both(void *arg)
{
	struct pair *pair = arg;

	while (!__atomic_load_n(&pair->stop, __ATOMIC_ACQUIRE)) {
		pair_run(pair, 1);
		sched_yield();
	}
	return NULL;
}

void
pair_start(struct pair *pair)
{
	if (pair->inline_mode)
		return;
	pair->stop = false;
	PLX_ASSERT(pthread_create(&pair->poller, NULL, poll_both, pair) == 0);
}

void
pair_stop(struct pair *pair)
{
	if (pair->inline_mode)
		return;
	__atomic_store_n(&pair->stop, true, __ATOMIC_RELEASE);
	pthread_join(pair->poller, NULL);
}

uint32_t
pair_reap(struct pair *pair, struct plx_cq *cq, struct plx_wc *wc, uint32_t n, uint32_t rounds)
{
	uint32_t got = plx_engine_cq_poll(cq, wc, n);

	while (got < n && rounds-- > 0) {
		pair_run(pair, 1);
		got += plx_engine_cq_poll(cq, wc + got, n - got);
	}
	return got;
}

/* ---- objects ---- */

struct pair_options
pair_defaults(uint32_t depth)
{
	return (struct pair_options){
		.depth = depth,
		.sges = PLX_SGE_MAX,
		.inline_bytes = PLX_INLINE_MAX,
		.attr = {.mtu = 1024,
			 .pkey = PLX_PKEY_DEFAULT,
			 .enabled = {0x0e},
			 .rnr_timer = 1,
			 .retry_max = 7,
			 .rnr_retry_max = 7,
			 .initiator_depth = 16,
			 .ack_timeout_ns = PLX_MSEC,
			 .window_packets = 128,
			 .ack_interval = 16,
			 .read_chunk_packets = 1024},
	};
}

static void
make_queues(struct pair_side *side, const struct pair_options *options)
{
	struct plx_engine_cq_config cq = {.depth = options->cq_depth ? options->cq_depth
								     : options->depth,
					  .strict = options->strict,
					  .cookie = 0xc0};
	struct plx_engine_srq_config srq = {.depth = options->depth,
					    .sges = options->sges,
					    .threshold = options->threshold,
					    .cookie = 0x50};

	PLX_ASSERT(plx_engine_cq_create(side->engine, &cq, &side->send_cq) == PLX_OK);
	side->recv_cq = side->send_cq;
	cq.cookie++;
	if (!options->one_cq)
		PLX_ASSERT(plx_engine_cq_create(side->engine, &cq, &side->recv_cq) == PLX_OK);
	if (options->shared)
		PLX_ASSERT(plx_engine_srq_create(side->engine, &srq, &side->srq) == PLX_OK);
}

void
pair_make_queues(struct pair *pair, const struct pair_options *options)
{
	make_queues(&pair->side[0], options);
	make_queues(&pair->side[1], options);
}

struct plx_qp *
pair_qp_on(struct pair *pair, int i, const struct pair_options *options, struct plx_cq *send_cq,
	   struct plx_cq *recv_cq, struct plx_domain domain)
{
	struct pair_side *side = &pair->side[i];
	struct plx_engine_qp_config config = {
		.type = options->type,
		.qkey = options->qkey,
		.congestion = options->congestion,
		.domain = domain,
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.srq = side->srq,
		.caps = {.sq_depth = options->depth,
			 .sq_sges = options->sges,
			 .inline_bytes = options->inline_bytes,
			 .responder_resources = options->type == PLX_QP_RC ? 16 : 0},
		.rq_depth = options->depth,
		.rq_sges = options->sges,
		.context = 0x1000u + (unsigned)i};
	struct plx_qp *qp = NULL;

	PLX_ASSERT(plx_engine_qp_create(side->engine, &config, &qp) == PLX_OK);
	return qp;
}

struct plx_qp *
pair_qp(struct pair *pair, int i, const struct pair_options *options)
{
	const struct pair_side *side = &pair->side[i];

	return pair_qp_on(pair, i, options, side->send_cq, side->recv_cq, side->domain);
}

void
pair_ud_to_rts(struct plx_qp *qp)
{
	const struct plx_rc_attr attr = {.mtu = 1024, .pkey = PLX_PKEY_DEFAULT};

	PLX_ASSERT(plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL) == PLX_OK);
	PLX_ASSERT(plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, NULL) == PLX_OK);
	PLX_ASSERT(plx_engine_qp_modify(qp, PLX_QP_RTS, &attr, NULL) == PLX_OK);
}

static void
join_one(struct pair *pair, struct plx_qp *qp, const struct plx_qp *peer,
	 const struct pair_side *there, const struct pair_options *options)
{
	struct plx_engine_path path = {.remote = there->ip, .ecn = true};
	struct plx_rc_attr attr = options->attr;
	enum plx_status status;

	attr.dest_qpn = plx_engine_qp_number(peer);
	attr.rq_psn = plx_engine_qp_first_psn(peer);
	attr.sq_psn = plx_engine_qp_first_psn(qp);
	PLX_ASSERT(plx_engine_qp_modify(qp, PLX_QP_INIT, NULL, NULL) == PLX_OK);
	do {
		if (pair->inline_mode)
			pair_run(pair, 1);
		status = plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &path);
	} while (status == PLX_AGAIN);
	PLX_ASSERT(status == PLX_OK);
	PLX_ASSERT(plx_engine_qp_modify(qp, PLX_QP_RTS, &attr, NULL) == PLX_OK);
}

void
pair_join(struct pair *pair, int i, struct plx_qp *one, int j, struct plx_qp *other,
	  const struct pair_options *options)
{
	join_one(pair, one, other, &pair->side[j], options);
	join_one(pair, other, one, &pair->side[i], options);
}

void
pair_connect_with(struct pair *pair, const struct pair_options *options)
{
	pair_start(pair);
	pair_make_queues(pair, options);
	pair->side[0].qp = pair_qp(pair, 0, options);
	pair->side[1].qp = pair_qp(pair, 1, options);
	pair_join(pair, 0, pair->side[0].qp, 1, pair->side[1].qp, options);
	pair_stop(pair);
}

void
pair_connect(struct pair *pair, uint32_t depth)
{
	struct pair_options options = pair_defaults(depth);

	pair_connect_with(pair, &options);
}

struct plx_ah *
pair_ah(struct pair *pair, int i, const struct plx_engine_path *path)
{
	struct pair_side *side = &pair->side[i];
	struct plx_ah *ah = NULL;

	pair_start(pair);
	PLX_ASSERT(plx_link_ah_create(side->engine, side->domain, path, &ah) == PLX_OK);
	pair_stop(pair);
	return ah;
}

void
pair_ah_destroy(struct pair *pair, struct plx_ah *ah)
{
	pair_start(pair);
	PLX_ASSERT(plx_link_ah_destroy(ah) == PLX_OK);
	pair_stop(pair);
}

/* ---- requests ---- */

static enum plx_status
post(struct pair_side *side, struct plx_send_wr *wr, uint32_t at, uint32_t bytes)
{
	const struct plx_sge sge = {(uintptr_t)side->memory + at, bytes, side->key};
	enum plx_status status;

	wr->sge = &sge;
	wr->sges = 1;
	plx_engine_qp_post_send(side->qp, wr, 1, &status);
	return status;
}

enum plx_status
pair_send(struct pair_side *side, uint64_t wr_id, uint32_t at, uint32_t bytes, uint8_t flags)
{
	struct plx_send_wr wr = {.wr_id = wr_id, .op = PLX_WR_SEND, .flags = flags};

	return post(side, &wr, at, bytes);
}

enum plx_status
pair_recv(struct pair_side *side, uint64_t wr_id, uint32_t at, uint32_t bytes)
{
	const struct plx_sge sge = {(uintptr_t)side->memory + at, bytes, side->key};
	const struct plx_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .sges = 1};
	enum plx_status status;

	if (side->srq != NULL)
		plx_post_srq_recv(side->srq, &wr, 1, &status);
	else
		plx_post_recv(side->qp, &wr, 1, &status);
	return status;
}

enum plx_status
pair_write(struct pair_side *side, const struct pair_side *to, uint64_t wr_id, uint32_t at,
	   uint32_t bytes, uint8_t flags)
{
	struct plx_send_wr wr = {.wr_id = wr_id,
				 .op = PLX_WR_WRITE,
				 .flags = flags,
				 .remote_va = (uintptr_t)to->memory + at,
				 .rkey = to->key};

	return post(side, &wr, at, bytes);
}

enum plx_status
pair_read(struct pair_side *side, const struct pair_side *from, uint64_t wr_id, uint32_t at,
	  uint32_t bytes, uint8_t flags)
{
	struct plx_send_wr wr = {.wr_id = wr_id,
				 .op = PLX_WR_READ,
				 .flags = flags,
				 .remote_va = (uintptr_t)from->memory + at,
				 .rkey = from->key};

	return post(side, &wr, at, bytes);
}

/* ---- packets ---- */

bool
pair_inject(struct pair *pair, int to, const uint8_t *bytes, uint32_t len, uint32_t segs)
{
	struct pair_port *port = next_queue(&pair->side[to]);
	struct rte_mbuf *first = NULL, *last = NULL;

	if (port->count == PAIR_WIRE)
		return false;
	for (uint32_t i = 0; i < segs; i++) {
		uint32_t from = (uint32_t)((uint64_t)len * i / segs);
		uint32_t part = (uint32_t)((uint64_t)len * (i + 1) / segs) - from;
		struct rte_mbuf *m = rte_pktmbuf_alloc(pair->pool);

		PLX_ASSERT(m != NULL && part <= rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), bytes + from, part);
		m->data_len = (uint16_t)part;
		if (first == NULL)
			first = m;
		else
			last->next = m;
		last = m;
	}
	first->nb_segs = (uint16_t)segs;
	first->pkt_len = len;
	port->wire[(port->first + port->count++) % PAIR_WIRE] = first;
	return true;
}

int
pair_opcode(const struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	struct plx_frame frame;

	if (plx_frame_decode(bytes, m->pkt_len, 0, &frame) != PLX_WIRE_OK)
		return -1;
	return bytes[frame.udp_at + PLX_UDP_BYTES];
}

uint32_t
pair_psn(const struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	struct plx_frame frame;
	const uint8_t *at;

	PLX_ASSERT(plx_frame_decode(bytes, m->pkt_len, 0, &frame) == PLX_WIRE_OK);
	at = bytes + frame.udp_at + PLX_UDP_BYTES + PLX_BTH_PSN_AT + 1;
	return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

enum plx_status
pair_listen(struct whole_channel *channel, const struct plx_cm_listen *listen, uint64_t cookie,
	    struct whole_listener **listener)
{
	return plx_link_listen(channel, listen, cookie, listener);
}

void
pair_listener_destroy(struct whole_listener *listener)
{
	PLX_ASSERT(plx_link_listener_destroy(listener) == PLX_OK);
}

void
pair_connector_destroy(struct whole_connector *connector)
{
	PLX_ASSERT(plx_link_connector_destroy(connector) == PLX_OK);
}
