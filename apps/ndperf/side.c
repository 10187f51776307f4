/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The resources of an endpoint: the adapter while it is open, and memory, completion queues and
 * queue pairs during a job.
 * It never posts a message. Start with side_prepare().
 */
#include "side.h"

#include "face.h"
#include "message_qp.h"
#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	PING_DEPTH = 64,         /* of the queues in a ping-pong: allows for late ACKs */
	ADAPTER_QPS = 1024,      /* queue pairs of an adapter that is not asked for more */
	CONNECTIONS_MAX = 16384, /* of an adapter */
	PAUSE_US = 200,
	PAUSE_POLLS = 64,
	RECV_DEPTH_MIN = 256, /* receives posted, to cover the time between two polls */
};

static uint32_t
at_most(uint64_t value, uint32_t limit)
{
	return value < limit ? (uint32_t)value : limit;
}

bool
side_fail(struct side *side, const char *format, ...)
{
	va_list arguments;
	if (side->has_failed)
		return false;
	side->has_failed = true;
	va_start(arguments, format);
	vsnprintf(side->why.text, sizeof(side->why.text), format, arguments);
	va_end(arguments);
	return false;
}

/* ---- the adapter ---- */

/* The device string of an endpoint of the embedded link: the user's arguments, the end, its faults.
 * The second end uses another seed, or both ends would drop the same packets. */
static void
wire_device(const struct options *o, bool is_active, char *to, size_t size)
{
	const char *base = o->endpoint.device != NULL ? o->endpoint.device : "net_wire0";
	bool has_seed = o->fault != NULL && strstr(o->fault, "seed=") != NULL;
	int n = snprintf(to, size, "%s,end=%d", base, is_active ? 0 : 1);
	if (o->fault != NULL && n >= 0 && (size_t)n < size)
		snprintf(to + n, size - (size_t)n, ",%s%s", o->fault,
			 has_seed || is_active ? "" : ",seed=2");
}

static struct option_address
address_of(const struct options *o, bool is_active)
{
	const uint8_t number = is_active ? 1 : 2;
	if (o->ip == 0)
		return (struct option_address){.ip = {.version = 4, .v = {10, 77, 0, number}},
					       .prefix_bits = 24};
	return (struct option_address){.ip = {.version = 6, .v = {0xfd, 0x77, [15] = number}},
				       .prefix_bits = 64};
}

/* Make room for more queue pairs than an adapter has unless asked. A server does not know what its
 * clients will ask for. The connections of the row before may not have ended when those of the next
 * begin, and all are of one peer. */
static void
make_room(const struct options *o, struct plx_adapter_options *adapter_options)
{
	uint32_t most = o->role == ROLE_SERVER ? QPS_MAX : 0;
	for (uint32_t i = 0; i < o->qps.count; i++)
		most = o->qps.value[i] > most ? o->qps.value[i] : most;
	if (most < ADAPTER_QPS)
		return;
	adapter_options->qps = most + 1; /* one for a conversation */
	adapter_options->connections = at_most(2 * adapter_options->qps, CONNECTIONS_MAX);
	adapter_options->connections_per_peer = adapter_options->connections;
}

bool
side_adapter_options(const struct options *o, bool is_active,
		     struct plx_adapter_options *adapter_options, struct plx_why *why)
{
	struct endpoint endpoint = o->endpoint;
	char device[sizeof(adapter_options->device)];
	if (o->role == ROLE_SOLO) {
		wire_device(o, is_active, device, sizeof(device));
		endpoint.device = o->device2 == NULL ? device
				  : is_active        ? o->endpoint.device
						     : o->device2;
		endpoint.address = address_of(o, is_active);
	}
	if (!endpoint_adapter_options(&endpoint, adapter_options, why))
		return false;
	if (o->role == ROLE_SOLO) {
		adapter_options->vlan = o->vlan;
		adapter_options->congestion =
			(enum plx_congestion)(PLX_CONGESTION_NONE + o->congestion);
	}
	if (endpoint.adapter == NULL || o->is_mode_given)
		adapter_options->mode = o->mode;
	if (endpoint.adapter == NULL) {
		make_room(o, adapter_options);
		adapter_options->path_mtu = o->path_mtu;
		adapter_options->idle = o->idle;
		adapter_options->start_timeout_ms = o->timeout_ms;
		adapter_options->core = o->core[is_active ? 0 : 1];
	}
	if (o->layout == LAYOUT_SHARED_WORKER) {
		snprintf(adapter_options->worker, sizeof(adapter_options->worker), "ndperf");
		adapter_options->core = o->core[0];
	}
	return true;
}

const char *
side_name(const struct options *o, bool is_active)
{
	if (o->endpoint.adapter != NULL)
		return o->endpoint.adapter;
	return is_active ? "ndperf-active" : "ndperf-passive";
}

_Static_assert(sizeof(struct plx_wc) == sizeof(union entry), "a completion is an entry");

static const struct entry_fields verbs_fields = {
	.stride = sizeof(union entry),
	.id = offsetof(struct plx_wc, wr_id),
	.context = offsetof(struct plx_wc, context),
	.bytes = offsetof(struct plx_wc, bytes),
};

static bool
query_adapter(struct side *side, struct plx_why *why)
{
	plx_adapter_query(side->adapter, &side->info);
	side->is_inline = side->info.mode == PLX_MODE_INLINE;
	enum plx_status status = plx_pd_create(side->adapter, &side->pd);
	if (status == PLX_OK)
		return true;
	why_set(why, "no protection domain: %s", plx_status_text(status));
	side_close(side);
	return false;
}

bool
side_open(struct side *side, const struct options *o, bool is_active, struct plx_why *why)
{
	struct plx_adapter_options adapter_options;
	const char *name = side_name(o, is_active);
	const struct face *face = face_of(o->api);
	*side = (struct side){
		.options = o,
		.is_active = is_active,
		.fields = face != NULL ? face->fields : verbs_fields,
	};
	why->text[0] = '\0';
	if (face != NULL) {
		bool is_open = face_config(o, why) && face->open(side, o, why);
		side->face = is_open ? face : NULL;
		return is_open;
	}
	if (!side_adapter_options(o, is_active, &adapter_options, why))
		return false;
	enum plx_status status = plx_adapter_open(name, &adapter_options, &side->adapter, why);
	if (status != PLX_OK) {
		if (why->text[0] == '\0')
			why_set(why, "the adapter cannot be opened: %s", plx_status_text(status));
		return false;
	}
	return query_adapter(side, why);
}

bool
side_open_beside(struct side *side, const struct side *host, struct plx_why *why)
{
	*side = (struct side){
		.options = host->options,
		.is_active = host->is_active,
		.is_guest = true,
		.fields = verbs_fields,
		.adapter = host->face->adapter(host),
	};
	return query_adapter(side, why);
}

void
side_close(struct side *side)
{
	side_clear(side);
	if (side->face != NULL)
		side->face->close(side);
	side->face = NULL;
	if (side->pd != NULL)
		check_destroyed(plx_pd_destroy(side->pd), "the protection domain");
	side->pd = NULL;
	if (side->adapter != NULL && !side->is_guest)
		check_destroyed(plx_adapter_close(side->adapter), "the adapter");
	side->adapter = NULL;
}

/* ---- resources of a job ---- */

static bool
is_two_sided(const struct job *job)
{
	return job->op == OP_SEND;
}

/* Does the side need buffers for the peer's messages? The passive end does; the active one does if
 * messages are sent back or read back for checking. */
static bool
needs_target(const struct side *side)
{
	const struct job *job = &side->job;
	return !side->is_active || side->is_ping_pong || job->both ||
	       (job->op == OP_WRITE && job->check);
}

static bool
needs_local(const struct side *side)
{
	return side_sends(side) || side->is_ping_pong;
}

static bool
register_memory(struct side *side, uint64_t bytes)
{
	if (side->face != NULL)
		return side->face->register_memory(side, bytes);
	uint32_t rights = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE;
	if (!side->job.is_private)
		rights |= PLX_ACCESS_REMOTE_ATOMIC;
	enum plx_status status = plx_mr_register(side->pd, side->memory, bytes, rights, &side->mr);
	if (status != PLX_OK)
		return side_fail(side, "memory cannot be registered: %s", plx_status_text(status));
	side->key = plx_mr_key(side->mr);
	return true;
}

static void *
private_memory(uint64_t bytes)
{
	void *memory = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
	return memory != NULL ? memset(memory, 0, bytes) : NULL;
}

static bool
make_memory(struct side *side)
{
	const struct job *job = &side->job;
	uint64_t half = side->stride * job->slots;
	uint64_t halves = (uint64_t)needs_target(side) + (uint64_t)needs_local(side);
	uint64_t total = half * halves * job->qps;
	struct plx_why why = {{0}};
	char text[32];
	side->memory = job->is_private ? private_memory(total)
				       : plx_mem_alloc(total, side->info.socket, &why);
	if (side->memory == NULL)
		return side_fail(side,
				 "cannot allocate %s for messages; give a smaller "
				 "--working-set, --depth or --size",
				 bytes_text(total, text, sizeof(text)));
	if (!register_memory(side, total))
		return false;
	uint8_t *at = side->memory;
	for (uint32_t i = 0; i < job->qps; i++) {
		struct lane *lane = &side->lanes[i];
		lane->target = needs_target(side) ? at : NULL;
		at += needs_target(side) ? half : 0;
		lane->local = needs_local(side) ? at : NULL;
		at += needs_local(side) ? half : 0;
	}
	return true;
}

/* The number of receives to post: with --check each has a buffer of its own. */
static uint32_t
receives(const struct side *side)
{
	const struct job *job = &side->job;
	uint32_t wanted = 2 * job->depth > RECV_DEPTH_MIN ? 2 * job->depth : RECV_DEPTH_MIN;
	if (!is_two_sided(job) || (side->is_active && !side->is_ping_pong && !job->both))
		return 0;
	if (side->is_ping_pong)
		return PING_DEPTH;
	return job->check ? job->slots : at_most(wanted, side->info.queue_depth);
}

/* How many completions of requests there may be at once. */
static uint64_t
completions(const struct side *side, uint32_t sends)
{
	uint64_t all = (uint64_t)sends * side->job.qps, flying = 2 * (uint64_t)side->job.flight;
	return all < flying || side->is_ping_pong ? all : flying;
}

static bool
make_verbs_queues(struct side *side, uint32_t sends)
{
	const struct job *job = &side->job;
	struct plx_cq_options send = {
		.depth = at_most(completions(side, sends), side->info.cq_depth)};
	struct plx_cq_options recv = {
		.depth = at_most((uint64_t)(side->rq_depth + 1) * job->qps, side->info.cq_depth)};
	enum plx_status status = plx_cq_create(side->adapter, &send, &side->cq[QUEUE_SEND]);
	if (status == PLX_OK)
		status = plx_cq_create(side->adapter, &recv, &side->cq[QUEUE_RECEIVE]);
	if (status != PLX_OK)
		return side_fail(side, "no completion queue: %s", plx_status_text(status));
	for (uint32_t i = 0; i < job->qps; i++) {
		struct plx_why why = {{0}};
		struct plx_qp_options options = {
			.send_cq = side->cq[QUEUE_SEND],
			.recv_cq = side->cq[QUEUE_RECEIVE],
			.sq_depth = sends,
			.rq_depth = side->rq_depth != 0 ? side->rq_depth : 1,
			.inline_bytes = job->inline_bytes,
			/* as many outstanding READs and atomics as the peer may have in flight */
			.responder_resources = at_most(job->depth, side->info.rd_atomic_max),
			.context = i,
		};
		status = plx_qp_create(side->pd, &options, &side->lanes[i].qp, &why);
		if (status != PLX_OK)
			return side_fail(side, "queue pair %u of %u: %s", i + 1, job->qps,
					 reason_text(&why, status));
	}
	return true;
}

static bool
make_queues(struct side *side)
{
	const struct job *job = &side->job;
	uint32_t sends = side->is_ping_pong ? PING_DEPTH : side_sends(side) ? 2 * job->depth : 1;
	side->rq_depth = at_most(receives(side), side->info.queue_depth);
	if (sends > side->info.queue_depth)
		return side_fail(
			side, "--depth %u: the adapter's queues hold %u requests; give at most %u",
			job->depth, side->info.queue_depth, side->info.queue_depth / 2);
	if (job->inline_bytes > side->info.inline_bytes)
		return side_fail(side, "--inline %u: the adapter copies at most %u bytes",
				 job->inline_bytes, side->info.inline_bytes);
	if (job->qps > side->info.qps)
		return side_fail(side, "--qps %u: the adapter has %u at most", job->qps,
				 side->info.qps);
	return side->face != NULL ? side->face->make_queues(side, sends)
				  : make_verbs_queues(side, sends);
}

bool
side_prepare(struct side *side, const struct job *job)
{
	struct plx_async_event old;
	side_clear(side);
	/* discard events about the last job's queue pairs */
	while (side_next_event(side, &old))
		continue;
	side->job = *job;
	side->has_failed = false;
	side->is_stopping = side->is_measuring = side->was_paused = false;
	side->amount = side->checked_bytes = side->posted_at = side->flying = 0;
	side->next_lane = 0;
	side->twin = NULL;
	side->watch =
		(struct watch){.is_on = side->options->percentiles && job->test == TEST_LATENCY};
	side->peer_watch = NULL;
	side->undisturbed = NULL;
	side->sample_from = side->sample_to = 0;
	side->stride = stride_bytes(job->size);
	side->is_ping_pong = job->test == TEST_LATENCY && !job->open &&
			     (job->op == OP_SEND || job->op == OP_WRITE);
	side->lanes = calloc(job->qps, sizeof(*side->lanes));
	if (side->lanes == NULL)
		return side_fail(side, "no memory for %u queue pairs", job->qps);
	return open_make(side) && make_memory(side) && make_queues(side);
}

bool
side_cards(struct side *side, struct card *cards)
{
	if (side->face != NULL)
		side->face->cards(side, cards);
	for (uint32_t i = 0; i < side->job.qps && side->face == NULL; i++) {
		const struct lane *lane = &side->lanes[i];
		enum plx_status status = plx_qp_address(lane->qp, NULL, &cards[i].address);
		if (status != PLX_OK)
			return side_fail(side, "a queue pair has no address: %s",
					 plx_status_text(status));
		cards[i].va = (uint64_t)(uintptr_t)lane->target;
		cards[i].rkey = plx_mr_key(side->mr);
	}
	return true;
}

enum plx_status
side_connect(struct side *side, const struct card *cards)
{
	struct plx_qp_attr attr;
	char ip[64];
	if (side->face != NULL)
		return side->face->connect(side, cards);
	plx_qp_attr_init(&attr);
	attr.path_mtu = side->job.path_mtu;
	if (side->job.ack_timeout != 0)
		attr.ack_timeout = (uint8_t)side->job.ack_timeout;
	attr.access = PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	for (uint32_t i = 0; i < side->job.qps; i++) {
		struct plx_why why = {{0}};
		struct plx_qp_info info;
		struct lane *lane = &side->lanes[i];
		lane->peer = cards[i];
		enum plx_status status = plx_qp_query(lane->qp, &info);
		if (status == PLX_OK && info.state == PLX_QP_RTS)
			continue;
		if (status == PLX_OK)
			status = plx_qp_connect(lane->qp, &cards[i].address, &attr, 0, &why);
		if (status == PLX_AGAIN)
			return status;
		if (status != PLX_OK) {
			side_fail(side, "cannot connect to %s: %s",
				  ip_text(&cards[i].address.ip, ip, sizeof(ip)),
				  reason_text(&why, status));
			return status;
		}
	}
	return PLX_OK;
}

void
side_pause(struct side *side)
{
	struct timespec moment = {.tv_nsec = PAUSE_US * 1000};
	for (int i = 0; i < PAUSE_POLLS; i++)
		side_poll(side);
	nanosleep(&moment, NULL);
}

uint32_t
side_poll(struct side *side)
{
	if (!side->is_inline) /* a worker polls */
		return 0;
	return side->nd2 != NULL ? nd2_poll(side) : plx_adapter_poll(side->adapter);
}

void
side_clear(struct side *side)
{
	for (uint32_t i = 0; side->lanes != NULL && i < side->job.qps; i++) {
		if (side->lanes[i].qp != NULL)
			check_destroyed(plx_qp_destroy(side->lanes[i].qp), "a queue pair");
	}
	if (side->face != NULL)
		side->face->clear(side);
	free(side->lanes);
	open_clear(side);
	side->lanes = NULL;
	for (uint32_t i = 0; i < QUEUES; i++) {
		if (side->cq[i] != NULL)
			check_destroyed(plx_cq_destroy(side->cq[i]), "a completion queue");
		side->cq[i] = NULL;
	}
	if (side->mr != NULL)
		check_destroyed(plx_mr_deregister(side->mr), "a region");
	side->mr = NULL;
	if (side->job.is_private)
		free(side->memory);
	else if (side->memory != NULL)
		plx_mem_free(side->memory);
	side->memory = NULL;
	if (side->has_log)
		windows_fini(&side->log);
	side->has_log = false;
}
