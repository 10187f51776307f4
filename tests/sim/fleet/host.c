/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a host: its engine from birth to rest, when it polls, and what is asked of it after each
 * poll. At rest its counters must say what its port has seen, and every buffer must be home.
 * It never posts a request. Start with host_on_poll().
 */
#include <stdlib.h>

#include "fleet.h"

/* ---- birth ---- */

void *
host_aligned(size_t bytes)
{
	void *block = NULL;

	PLX_ASSERT(bytes > 0 && posix_memalign(&block, PLX_CACHE_LINE, bytes) == 0);
	return memset(block, 0, bytes);
}

struct plx_secret
host_secret(struct host *host)
{
	return (struct plx_secret){{plx_prng_next(&host->prng), plx_prng_next(&host->prng)}};
}

static void
make_net(struct host *host)
{
	struct plx_net_config config = {
		.addresses = 1, .neighbours = 8, .frame_max = PLX_NET_FRAME_MIN};
	uint8_t bits = host->ip.version == 4 ? 24 : 64;

	config.secret = host_secret(host);
	config.vlan = host->fleet->vlan;
	memcpy(config.mac, host->caps.mac, sizeof(config.mac));
	config.address[0] = (struct plx_net_address){.ip = host->ip, .prefix_bits = bits};
	host->net = plx_net_init(host_aligned(plx_net_bytes(&config)), &config);
}

static void
make_memory(struct host *host)
{
	const struct plx_mem_limits limits = {.slots = 4096, .domains = 64};
	struct plx_secret secret = host_secret(host);
	struct plx_region_attr attr = {.length = SIM_SOURCE_BYTES,
				       .host = source_bytes(),
				       .access = {PLX_ACCESS_REMOTE_READ}};

	host->mem = plx_mem_init(host_aligned(plx_mem_bytes(&limits)), &limits, &secret);
	PLX_ASSERT(plx_domain_create(host->mem, &host->domain) == PLX_OK);
	host->source_va = attr.va = (plx_prng_next(&host->prng) >> 1) & ~UINT64_C(7);
	PLX_ASSERT(plx_region_register(host->mem, host->domain, &attr, &host->source_region,
				       &host->source_key) == PLX_OK);
}

static void
make_pool(struct host *host)
{
	char name[32];

	snprintf(name, sizeof(name), "host%u", host->index);
	host->buffers = (uint32_t)draw_log(&host->prng, 511, 2047);
	host->pool = rte_pktmbuf_pool_create(name, host->buffers, 0, 0,
					     (uint16_t)(host->fleet->frame_max + 64), -1);
	PLX_ASSERT(host->pool != NULL);
	host->hog = calloc(host->buffers, sizeof(*host->hog));
	PLX_ASSERT(host->hog != NULL);
}

static void
make_srq(struct host *host)
{
	struct world *world = &host->fleet->world;
	struct plx_engine_srq_config config = {.sges = 3, .cookie = 0x5151};

	if (!draw_percent(&host->prng, 60))
		return;
	host->srq_depth = config.depth = (uint32_t)draw_log(&host->prng, 2, 128);
	config.threshold = host->srq_armed = (uint32_t)plx_prng_below(&host->prng, config.depth);
	host->srq_armed = 0; /* not filled yet: there may be an event at once, or not */
	arena_create(host, &host->shared, &host->prng, config.depth, world->config.message_max,
		     PLX_ACCESS_LOCAL_WRITE);
	if (host->cores > 1)
		host->srq_core = (uint32_t)plx_prng_below(&host->core_prng, host->cores);
	PLX_ASSERT(plx_engine_srq_create(host->core[host->srq_core].engine, &config, &host->srq) ==
		   PLX_OK);
}

void
host_prepare(struct fleet *fleet, uint32_t index)
{
	struct host *host = &fleet->host[index];
	struct world *world = &fleet->world;

	host->fleet = fleet;
	host->index = index;
	host->prng = draw_stream(world->seed, 'h', index, 0);
	host->station = &world->station[index];
	host->station->world = world;
	host->station->index = index;
	clock_start(host->station);
	host->ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, (uint8_t)(index + 1)}};
	if (world->config.ip_version == 6)
		host->ip = (struct plx_ip){.version = 6,
					   .v = {[0] = 0xfd, [15] = (uint8_t)(index + 1)}};
	host->inline_mode = draw_percent(&host->prng, 40);
	host->gap_ns = draw_log(&host->prng, 50, 20000);
	host->lazy_ns = draw_log(&host->prng, 1, 20000);
	crowd_host(host);
	host->poll_at = PLX_NEVER;
	program_host(host);
	port_open(host);
	make_net(host);
	make_memory(host);
	make_pool(host);
}

/* Its engine is not made yet. */
struct plx_engine_config
host_config(struct host *host)
{
	return (struct plx_engine_config){
		.engines = 1,
		.port = &host->core[0].port,
		.link = &plx_link,
		.mem = host->mem,
		.net = host->net,
		.pool = host->pool,
	};
}

/* One for each core; all share what an adapter's engines do. */
static void
make_engines(struct host *host, struct plx_engine_config config)
{
	struct world *world = &host->fleet->world;
	struct plx_engine_group_config group = {
		.engines = host->cores, .handoff_depth = PLX_HANDOFF_DEPTH, .socket = -1};
	struct plx_why why = {{0}};

	/* A ring that is full drops packets. */
	if (host->fleet->rough && host->cores > 1)
		group.handoff_depth = (uint32_t)draw_log(&host->core_prng, 1, PLX_HANDOFF_DEPTH);
	if (host->cores > 1)
		PLX_ASSERT(plx_engine_group_create(&group, &host->group) == PLX_OK);
	config.group = host->group;
	config.engines = host->cores;
	for (uint32_t i = 0; i < host->cores; i++) {
		config.index = i;
		config.port = &host->core[i].port;
		sim_must(world, plx_engine_create(&config, &host->core[i].engine, &why) == PLX_OK,
			 "I10", "%s", why.text);
	}
}

void
host_create(struct fleet *fleet, uint32_t index)
{
	struct host *host = &fleet->host[index];
	struct plx_engine_config config;

	host_prepare(fleet, index);
	config = host_config(host);
	config.qps = host->qps_max + (host->fleet->strangers > 0); /* and a datagram end */
	if (config.qps == 0) /* no connection was drawn for it */
		config.qps = 1;
	config.secret = host_secret(host);
	config.inline_mode = host->inline_mode;
	make_engines(host, config);
	program_begin(host);
	ud_end_create(host);
	make_srq(host);
	host->cq_count = (uint32_t)draw_between(&host->prng, 1, FLEET_CQS_USUAL);
	if (fleet->manifold)
		host->cq_count = FLEET_CQS_MAX;
	for (uint32_t i = 0; i < host->cq_count; i++)
		cq_create(host, i);
	if (host->srq != NULL)
		host_post_shared(host);
	trouble_start(host);
}

/* ---- the shared receive queue ---- */

/* false: not taken. */
static bool
post_shared(struct host *host, uint32_t index)
{
	struct world *world = &host->fleet->world;
	uint32_t bytes = host->shared.cell_bytes, half = bytes / 2;
	struct plx_sge sge[2];
	struct plx_recv_wr wr = {.wr_id = UINT64_C(3) << 62 | index, .sge = sge, .sges = 2};
	bool posted, cycled = true, empty = true;
	enum plx_status why;

	sge[0] = (struct plx_sge){arena_va(&host->shared, index), half, host->shared.key};
	sge[1] = (struct plx_sge){sge[0].va + half, bytes - half, host->shared.key};
	posted = plx_post_srq_recv(host->srq, &wr, 1, &why) == 1;
	if (!posted) {
		cycled = host_cycle(host);
		posted = plx_post_srq_recv(host->srq, &wr, 1, &why) == 1;
	}
	for (uint32_t i = 0; i < host->cq_count; i++)
		empty &= cq_empty(&host->cqs[i]);
	sim_must(world, posted || (why == PLX_FULL && (!cycled || !empty)), "I14",
		 "the SRQ has room for %u and refuses one more than %u: %s", host->srq_depth,
		 host->srq_posted, plx_status_text(why));
	memset(sge, 0xdd, sizeof(sge));
	if (posted) {
		arena_expect(&host->shared, index, NULL, bytes);
		host->srq_posted++;
	}
	return posted;
}

/* The application, which is not about to, fills the shared receive queue in `ns`. */
static void
fill_shared_in(struct host *host, uint64_t ns)
{
	struct world *world = &host->fleet->world;

	host->srq_pending = true;
	heap_push(world, world->now + ns, SIM_EV_RECV_SHARED, host);
}

void
host_post_shared(struct host *host)
{
	uint32_t index;

	while (arena_alloc(&host->shared, &index)) {
		if (post_shared(host, index))
			continue;
		arena_free(&host->shared, index);
		if (!host->srq_pending)
			fill_shared_in(host, 5000);
		return;
	}
}

/* A receive has completed, well or not: it may be posted again. */
void
host_reclaim(struct host *host, uint32_t cell)
{
	sim_must(&host->fleet->world, host->srq_posted > 0, "I8",
		 "more receives of an SRQ complete than were posted");
	host->srq_posted--;
	arena_forget(&host->shared, cell);
	arena_free(&host->shared, cell);
}

/* There is room for receives: the application fills it when it comes to it. */
void
host_receives(struct host *host, struct plx_prng *prng)
{
	uint64_t mean_ns = host->fleet->world.config.recv_delay_ns;

	if (!host->srq_pending)
		fill_shared_in(host, 1 + draw_exponential(prng, mean_ns));
}

/* The application fills it, and arms its threshold again. */
void
host_fill_shared(struct host *host)
{
	struct world *world = &host->fleet->world;

	host->srq_pending = false;
	host_post_shared(host);
	if (host->srq_armed == 0 && draw_percent(&host->prng, 50)) {
		uint32_t threshold = (uint32_t)draw_between(&host->prng, 1, host->srq_depth);

		host_call(host);
		host->srq_armed = threshold;
		sim_must(world, plx_engine_srq_arm(host->srq, threshold) == PLX_OK, "I8",
			 "a threshold of %u is refused, the depth is %u", threshold,
			 host->srq_depth);
	}
	host_poll_by(host, world->now);
}

static void
check_threshold(struct host *host)
{
	uint32_t count;

	if (host->srq == NULL || host->srq_armed == 0)
		return;
	count = plx_engine_srq_count(host->srq);
	sim_must(&host->fleet->world, count >= host->srq_armed, "I8",
		 "%u receives are left, the threshold is %u, and there was no event", count,
		 host->srq_armed);
}

/* ---- polling ---- */

void
host_call(struct host *host)
{
	fleet_clock(host);
	host_poll_by(host, host->fleet->world.now + 1);
}

void
host_poll_by(struct host *host, uint64_t at)
{
	struct world *world = &host->fleet->world;

	if (at < world->now)
		at = world->now;
	/* A cycle takes its time, however much happens meanwhile. */
	if (host->fleet->doorbells && at < host->polled_at + host->gap_ns)
		at = host->polled_at + host->gap_ns;
	if (at >= host->poll_at)
		return;
	host->poll_at = at;
	heap_push(world, at, SIM_EV_POLL, host);
}

void
host_events(struct host *host)
{
	struct fleet *fleet = host->fleet;
	struct plx_async_event event;

	while (program_next_async_event(host, &event)) {
		trace_as(&fleet->world, TRACE_EVENT, host->index, event.kind, event.cause,
			 event.qpn, event.context);
		if (event.kind == PLX_EVENT_SRQ_THRESHOLD) {
			sim_must(&fleet->world, event.context == 0x5151, "I8",
				 "a threshold of an SRQ that is not ours");
			host->srq_armed = 0;
			if (!host->srq_pending)
				fill_shared_in(host, plx_prng_below(&host->prng, 20000));
			continue;
		}
		sim_must(&fleet->world, event.kind != PLX_EVENT_CQ_OVERRUN, "I14",
			 "a completion queue overran that cannot");
		sim_must(&fleet->world, (uint32_t)event.context < 2 * fleet->connection_count, "I9",
			 "an event of no end: context %" PRIx64, event.context);
		end_on_async_event(
			&fleet->connection[(uint32_t)event.context / 2].end[event.context % 2],
			&event);
	}
}

static bool
all_polled(const struct host *host)
{
	for (uint32_t i = 0; i < host->cores; i++)
		if (!host->core[i].polled)
			return false;
	return true;
}

static void
count_free_cycle(struct host *host)
{
	uint64_t no_buffer = HOST_COUNTED(host, tx_no_buffer);

	host->free_cycles += all_polled(host) && !host->took_less && no_buffer == host->no_buffer;
	host->took_less = false;
	host->no_buffer = no_buffer;
}

/* What the application sees when the engine has had a cycle. */
void
host_after_poll(struct host *host)
{
	count_free_cycle(host);
	if (host->after_poll != NULL) {
		host->after_poll(host);
		return;
	}
	host_events(host);
	ud_end_listen(host);
	for (uint32_t i = 0; i < host->cq_count; i++)
		cq_look(&host->cqs[i]);
	check_threshold(host);
	if (host->fleet->crowd)
		crowd_check(host);
}

/* Of several, one or another may be away for a while, and each may be the first. */
static bool
is_away(struct core *core)
{
	struct host *host = core->host;
	uint64_t now = host->fleet->world.now;

	if (host->cores == 1 || host->fleet->world.calm)
		return false;
	if (now >= core->away_until && draw_percent(&host->core_prng, 2))
		core->away_until = now + draw_log(&host->core_prng, 100, 2 * PLX_MSEC);
	if (now >= core->away_until)
		return false;
	host_poll_by(host, core->away_until);
	return true;
}

/* All engines have a cycle. Returns: what they have done */
uint32_t
host_run(struct host *host)
{
	uint32_t first = 0, done = 0;

	fleet_clock(host);
	if (host->cores > 1)
		first = (uint32_t)plx_prng_below(&host->core_prng, host->cores);
	for (uint32_t i = 0; i < host->cores; i++) {
		struct core *core = &host->core[(first + i) % host->cores];

		core->polled = !is_away(core);
		if (core->polled)
			done += plx_engine_poll(core->engine, clock_local(host->station));
	}
	return done;
}

static void
cycle(struct host *host)
{
	(void)host_run(host);
	host_after_poll(host);
}

/* The engines have a cycle now, if their threads are at work: false when one is not. */
bool
host_cycle(struct host *host)
{
	if (host->fleet->world.now < host->stall_until)
		return false;
	cycle(host);
	return all_polled(host);
}

/* A timer that is due runs, though RX stays full: after a pause it waits for so many bursts at most
 * (T1). @param wake what plx_engine_wake_ns() returns after a cycle */
static void
check_timers(struct core *core, uint64_t wake)
{
	const struct host *host = core->host;
	uint64_t ticks = plx_engine_counters(core->engine)->ticks;
	uint64_t now = clock_local(host->station);
	bool is_due = wake > 0 && wake <= now;

	core->due_polls = is_due && ticks == core->ticks ? core->due_polls + 1 : 0;
	/* An engine that was away has not waited. */
	if (core->due_polls == 0 || now - core->checked_at > FLEET_LATE_NS)
		core->due_since = now;
	core->checked_at = now;
	core->ticks = ticks;
	/* One that waits for what others have received counts no cycles, and has a limit in time.
	 */
	if (host->cores > 1 && now - core->due_since < FLEET_GRACE_NS)
		return;
	sim_must(&host->fleet->world, core->due_polls <= FLEET_GRACE, "T1",
		 "engine %u of host %u has a timer that is due and ran none in %u cycles: at most "
		 "%u",
		 core->index, host->index, core->due_polls, FLEET_GRACE);
}

/* When the first of them wants to be polled; is_away() sees to those that are. */
static uint64_t
first_wake(struct host *host)
{
	uint64_t first = PLX_NEVER;

	for (uint32_t i = 0; i < host->cores; i++) {
		struct core *core = &host->core[i];
		uint64_t wake;

		if (!core->polled)
			continue;
		wake = plx_engine_wake_ns(core->engine);
		check_timers(core, wake);
		if (core->rx_count > 0 || core->flood > 0)
			wake = 0;
		if (wake < first)
			first = wake;
	}
	return first;
}

static void
next_poll(struct host *host, uint32_t done)
{
	uint64_t now = host->fleet->world.now;
	uint64_t wake = first_wake(host);
	uint32_t shift;

	host->idle_polls = done > 0 ? 0 : host->idle_polls + 1;
	if (wake == PLX_NEVER)
		return;
	if (wake > 0) {
		wake = clock_global(host->station, wake);
		host_poll_by(host, wake + plx_prng_below(&host->prng, host->lazy_ns));
		return;
	}
	/* A thread that spins for nothing, seen through ever slower eyes. */
	shift = host->idle_polls < 8 ? host->idle_polls : 8;
	host_poll_by(host, now + 1 + (host->gap_ns << shift));
}

/* Its core is away, except for a cycle now and then, after which it does not sleep until the next
 * deadline: a busy-polling thread that is rarely scheduled. */
static void
glimpse(struct host *host)
{
	if (host->fleet->world.now >= host->glimpse_at) {
		cycle(host);
		host->glimpse_at = trouble_glimpse(host);
	}
	host_poll_by(host,
		     host->glimpse_at < host->stall_until ? host->glimpse_at : host->stall_until);
}

void
host_on_poll(struct host *host, uint64_t at)
{
	struct world *world = &host->fleet->world;
	uint32_t done;

	if (at != host->poll_at)
		return;
	host->poll_at = PLX_NEVER;
	if (world->now < host->stall_until) {
		glimpse(host);
		return;
	}
	host->polled_at = world->now;
	done = host_run(host);
	trace_as(world, TRACE_TICK, host->index, done, host->core[0].rx_count, 0, 0);
	host_after_poll(host);
	next_poll(host, done);
}

/* ---- rest ---- */

/* Of one counter, the sum of its engines'. */
uint64_t
host_counted(const struct host *host, size_t at)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < host->cores; i++) {
		const struct plx_engine_counters *c = plx_engine_counters(host->core[i].engine);

		sum += *(const uint64_t *)(const void *)((const uint8_t *)c + at);
	}
	return sum;
}

static struct plx_engine_counters
count_all(const struct host *host)
{
	struct plx_engine_counters sum;
	uint64_t *to = (uint64_t *)(void *)&sum;

	for (size_t at = 0; at < sizeof(sum); at += sizeof(*to))
		to[at / sizeof(*to)] = host_counted(host, at);
	return sum;
}

/* Every packet that was received is counted once, and for what it was. */
static void
check_counters(struct host *host)
{
	const struct plx_engine_counters sum = count_all(host), *c = &sum;
	struct world *world = &host->fleet->world;
	uint64_t full = c->handoff_full, refused = full;
	uint64_t looped = c->rx_packets + full - host->rx_handed;

	for (int i = 0; i < PLX_WIRE_VERDICT_COUNT; i++)
		refused += c->refused[i];
	for (int i = 0; i < PLX_VERDICT_COUNT; i++)
		refused += c->denied[i];
	refused += c->rx_no_qp + c->rx_icrc + c->rx_too_long;
	sim_must(world, c->rx_packets + full >= host->rx_handed, "I7",
		 "%" PRIu64 " packets were received, and %" PRIu64
		 " found no room; the port gave %" PRIu64,
		 c->rx_packets, full, host->rx_handed);
	sim_must(world, looped > 0 || full > 0 || c->rx_bytes == host->rx_bytes, "I7",
		 "%" PRIu64 " bytes were received, the port gave %" PRIu64, c->rx_bytes,
		 host->rx_bytes);
	/* what was kept is judged again when it is taken */
	sim_must(world, c->rx_packets + full + c->rx_taken == refused + c->rx_net + host->judged,
		 "I7",
		 "%" PRIu64 " packets were received, %" PRIu64 " refused, %" PRIu64
		 " of neighbours and %" PRIu64 " judged by queue pairs",
		 c->rx_packets, refused, c->rx_net, host->judged);
	sim_must(world, refused >= host->bad_handed, "F4",
		 "%" PRIu64 " damaged packets came in, %" PRIu64 " were refused", host->bad_handed,
		 refused);
	sim_must(world, c->tx_packets == host->tx_taken && c->tx_bytes == host->tx_bytes, "I7",
		 "%" PRIu64 " packets and %" PRIu64 " bytes were sent, the port took %" PRIu64
		 " and %" PRIu64,
		 c->tx_packets, c->tx_bytes, host->tx_taken, host->tx_bytes);
	sim_must(world, c->completions == host->reaped, "I1",
		 "%" PRIu64 " completions were delivered, %" PRIu64 " taken", c->completions,
		 host->reaped);
	sim_must(world, c->posts_refused == 0, "I14",
		 "%" PRIu64 " requests were taken into a ring and then refused", c->posts_refused);
	sim_must(world, c->cq_overruns == 0, "I14", "a completion queue overran");
}

static void
collect(struct host *host)
{
	const struct plx_engine_counters sum = count_all(host), *c = &sum;
	const struct plx_net_counters *n = plx_engine_net_counters(host_engine(host));
	struct sim_stats *stats = &host->fleet->world.stats;

	stats->spilled += c->cq_spilled;
	stats->woken += c->notifications;
	stats->tx_full += c->tx_full;
	stats->tx_dropped += c->tx_dropped;
	stats->no_buffer += c->tx_no_buffer;
	stats->chained += c->rx_linearised;
	stats->commands += c->commands;
	stats->moved += n->moved;
	stats->handed += c->handed_over;
}

void
host_destroy(struct host *host)
{
	struct world *world = &host->fleet->world;

	fleet_clock(host);
	for (uint32_t i = 0; i < host->cq_count; i++)
		cq_destroy(&host->cqs[i]);
	if (host->srq != NULL) {
		sim_must(world, plx_engine_srq_destroy(host->srq) == PLX_OK, "I7",
			 "an unused SRQ cannot be destroyed");
		arena_check(host->fleet, &host->shared);
		arena_destroy(host, &host->shared);
	}
	stranger_settle(host);
	ud_end_destroy(host);
	program_end(host);
	check_counters(host);
	host_release(host);
}

/* Nothing is left of it. */
void
host_release(struct host *host)
{
	struct world *world = &host->fleet->world;

	collect(host);
	for (uint32_t i = 0; i < host->cores; i++)
		plx_engine_destroy(host->core[i].engine);
	if (host->group != NULL)
		plx_engine_group_destroy(host->group);
	port_drop_all(host);
	sim_must(world, rte_mempool_full(host->pool), "I7", "%u of %u buffers are returned at rest",
		 rte_mempool_avail_count(host->pool), host->buffers);
	rte_mempool_free(host->pool);
	PLX_ASSERT(plx_region_retire(host->mem, host->source_region) == PLX_OK);
	PLX_ASSERT(plx_region_release(host->mem, host->source_region) == PLX_OK);
	sim_must(world, plx_mem_in_use(host->mem) == 0, "I7",
		 "%u slots of the key table are in use at rest", plx_mem_in_use(host->mem));
	sim_must(world, plx_domain_destroy(host->mem, host->domain) == PLX_OK, "I7",
		 "a domain is held at rest");
	free(host->net);
	free(host->mem);
	free(host->hog);
}
