/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of the communication manager: the input is a program of datagrams, commands and time
 * for one manager with a few listeners. Datagrams are valid ones that are then damaged, or any
 * bytes; they name existing connections, and come from their peer's address, or from another one.
 * No input has to be valid; the only expectations are the properties checked below. Start with
 * LLVMFuzzerTestOneInput(); step() has the language.
 */
#include "plx_cm.h"
#include "block.h"
#include "check.h"
#include "input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	PEERS = 4,  /* the last is ourselves */
	HEARD = 8,  /* datagrams of the manager's that answers are made from */
	KNOWN = 16, /* connections that programs have */
	EARS = 4,
	PORT = 7000,
	STEPS_MAX = 400,
	TURNS_MAX = 100000,
};

struct heard {
	struct plx_cm_route route;
	struct plx_cm_msg msg;
};

struct world {
	struct plx_cm_config config;
	struct plx_cm *cm;
	uint64_t now;
	struct plx_cm_id known[KNOWN];
	struct plx_cm_id ear[EARS];
	struct heard heard[HEARD];
	uint32_t heards;
	struct input in;
};

static struct plx_ip
peer(unsigned number)
{
	if (number % PEERS == 2)
		return (struct plx_ip){6, {0xfd, [15] = 2}};
	return (struct plx_ip){4, {10, 0, 0, (uint8_t)(1 + (number + 1) % PEERS)}};
}

static struct plx_ip
ourselves(uint8_t version)
{
	return version == 6 ? (struct plx_ip){6, {0xfd, [15] = 1}}
			    : (struct plx_ip){4, {10, 0, 0, 1}};
}

/* ---- what programs know ---- */

static struct plx_cm_id *
slot_of(struct world *world, uint32_t id)
{
	for (unsigned i = 0; i < KNOWN; i++) {
		if (world->known[i].v == id)
			return &world->known[i];
	}
	return NULL;
}

/* A new one; when there are too many, it is left at once. */
static void
learn(struct world *world, struct plx_cm_id id)
{
	struct plx_cm_id *slot = slot_of(world, 0);

	CHECK(id.v != 0 && slot_of(world, id.v) == NULL);
	if (slot)
		*slot = id;
	else
		plx_cm_abandon(world->cm, id, world->now);
}

static void
forget(struct world *world, uint32_t id)
{
	struct plx_cm_id *slot = slot_of(world, id);

	CHECK(id != 0 && slot != NULL);
	slot->v = 0;
}

static void
check_event(struct world *world, const struct plx_cm_event *event)
{
	bool ear = false;

	CHECK(event->kind > PLX_CM_EVENT_NOTHING && event->kind < PLX_CM_EVENT_COUNT);
	CHECK(event->private_bytes <= PLX_CM_PRIVATE_MAX);
	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		for (unsigned i = 0; i < EARS; i++)
			ear |= event->listener.v != 0 && world->ear[i].v == event->listener.v;
		CHECK(ear);
		CHECK(event->peer.info.path_mtu >= 256 && event->peer.info.path_mtu <= 4096);
		CHECK(event->peer.info.remote_qpn > 1 &&
		      event->peer.info.remote_qpn <= PLX_PSN_MASK);
		CHECK(event->peer.info.rnr_retry < 8 && event->peer.info.retry < 8);
		learn(world, event->id);
		return;
	}
	CHECK(slot_of(world, event->id.v) != NULL);
	if (event->kind != PLX_CM_EVENT_REPLIED && event->kind != PLX_CM_EVENT_ESTABLISHED)
		forget(world, event->id.v);
}

static void
events(struct world *world, unsigned most)
{
	for (unsigned i = 0; i < most && plx_cm_has_event(world->cm); i++) {
		uint64_t context = plx_cm_event_context(world->cm);
		struct plx_cm_event event;

		CHECK(plx_cm_next_event(world->cm, &event));
		CHECK(event.context == context);
		check_event(world, &event);
	}
}

/* ---- what the manager sends ---- */

static bool
transmit(struct world *world)
{
	struct heard *heard = &world->heard[world->heards % HEARD];
	uint8_t out[PLX_MAD_BYTES]; /* a sanitizer sees one byte more */
	uint64_t wake_ns = plx_cm_wake_ns(world->cm);
	bool sent;

	sent = plx_cm_transmit(world->cm, world->now, &heard->route, out);
	CHECK(sent == (wake_ns == 0));
	if (sent) {
		CHECK(plx_mad_decode(out, PLX_MAD_BYTES, &heard->msg) == PLX_MAD_OK);
		CHECK(heard->route.local.version == heard->route.remote.version);
		world->heards++;
	}
	return sent;
}

/* ---- datagrams ---- */

static void
deliver(struct world *world, const struct plx_cm_route *route, const uint8_t *bytes, size_t len)
{
	uint8_t *exact = calloc(len ? len : 1, 1);
	enum plx_cm_verdict verdict;

	CHECK(exact);
	if (len)
		memcpy(exact, bytes, len);
	verdict = plx_cm_on_mad(world->cm, route, exact, len, world->now);
	CHECK(verdict < PLX_CM_VERDICT_COUNT);
	free(exact);
}

static void
make_req(struct world *world, const struct plx_cm_route *route, struct plx_cm_msg *msg)
{
	struct plx_cma cma = {.src = route->remote, .dst = route->local, .src_port = 4711};
	uint8_t number = input_byte(&world->in);

	msg->req = (struct plx_cm_req){
		.local_comm_id = 1 + number % 16,
		.service_id = plx_cma_service_id(PLX_PORT_SPACE_TCP,
						 (uint16_t)(PORT + input_byte(&world->in) % EARS)),
		.local_ca_guid = 7,
		.local_qpn = 2 + number % 8,
		.responder_resources = 4,
		.initiator_depth = 4,
		.remote_response_timeout = 18,
		.starting_psn = plx_psn(number),
		.local_response_timeout = 18,
		.retry_count = 7,
		.pkey = 0xffff,
		.path_mtu = 3,
		.rnr_retry_count = 7,
		.max_cm_retries = 7,
		.primary = {.local_lid = 0xffff, .hop_limit = 64, .local_ack_timeout = 18},
	};
	plx_gid_from_ip(&route->remote, msg->req.primary.local_gid);
	plx_gid_from_ip(&route->local, msg->req.primary.remote_gid);
	plx_cma_encode(&cma, msg->req.private_data);
}

/* An answer to what the manager has sent, of any kind, with matching ids. */
static void
make_answer(const struct heard *to, uint8_t number, struct plx_cm_msg *msg)
{
	uint32_t theirs = to->msg.req.local_comm_id;
	uint32_t ours = to->msg.kind == PLX_CM_REQ ? 100u + number % 4 : to->msg.rtu.remote_comm_id;

	msg->transaction_id = to->msg.transaction_id;
	/* the two ids are in the same place in all of them */
	msg->rtu.local_comm_id = ours;
	msg->rtu.remote_comm_id = theirs;
	if (msg->kind == PLX_CM_REP) {
		msg->rep.local_qpn = 2 + number % 8;
		msg->rep.starting_psn = plx_psn(number);
		msg->rep.local_ca_guid = 7;
		msg->rep.responder_resources = msg->rep.initiator_depth = 2;
		msg->rep.rnr_retry_count = 7;
	} else if (msg->kind == PLX_CM_DREQ) {
		msg->dreq.remote_qpn = 0x10;
	} else if (msg->kind == PLX_CM_MRA || msg->kind == PLX_CM_REJ) {
		msg->mra.about = number % 3;
		if (msg->kind == PLX_CM_MRA)
			msg->mra.service_timeout = 20;
		else
			msg->rej.reason = number % 40;
	} else if (msg->kind == PLX_CM_SIDR_REP) {
		msg->sidr_rep = (struct plx_cm_sidr_rep){.request_id = theirs,
							 .status = number % 8,
							 .qpn = 5,
							 .service_id = to->msg.sidr_req.service_id};
	}
}

/* A message as a peer writes it, and then bytes of it that it never wrote. */
static void
message(struct world *world)
{
	struct plx_cm_msg msg = {.kind = (uint16_t)(PLX_CM_REQ + input_byte(&world->in) % 9)};
	uint8_t number = input_byte(&world->in), flags = input_byte(&world->in);
	const struct heard *to = &world->heard[number % HEARD];
	struct plx_cm_route route = {.remote = peer(number >> 4)};
	uint8_t bytes[PLX_MAD_BYTES];

	route.local = ourselves(route.remote.version);
	if (msg.kind == PLX_CM_REQ) {
		make_req(world, &route, &msg);
	} else if (msg.kind == PLX_CM_SIDR_REQ) {
		struct plx_cma cma = {.src = route.remote, .dst = route.local};

		msg.sidr_req.request_id = number;
		msg.sidr_req.pkey = 0xffff;
		msg.sidr_req.service_id = plx_cma_service_id(PLX_PORT_SPACE_UDP, PORT);
		plx_cma_encode(&cma, msg.sidr_req.private_data);
	} else {
		make_answer(to, number, &msg);
		if (!(flags & 0x80) && to->route.local.version)
			route = (struct plx_cm_route){.local = to->route.local,
						      .remote = to->route.remote};
	}
	plx_mad_encode(&msg, bytes);
	for (unsigned spoilt = flags & 3; spoilt > 0; spoilt--) {
		uint8_t at = input_byte(&world->in);

		bytes[at] ^= input_byte(&world->in);
	}
	deliver(world, &route, bytes, sizeof bytes);
}

/* Its own message is returned to it: unchanged, as in loopback, or from the wrong side. */
static void
reflect(struct world *world)
{
	const struct heard *what = &world->heard[input_byte(&world->in) % HEARD];
	struct plx_cm_route route = {.local = what->route.remote, .remote = what->route.local};
	uint8_t bytes[PLX_MAD_BYTES];

	if (!what->msg.kind)
		return;
	plx_mad_encode(&what->msg, bytes);
	deliver(world, &route, bytes, sizeof bytes);
}

static void
any_bytes(struct world *world)
{
	struct plx_cm_route route = {.remote = peer(input_byte(&world->in))};
	size_t len = input_byte(&world->in) + (input_byte(&world->in) & 1) * 256u;
	uint8_t bytes[512] = {1, PLX_MAD_CLASS_CM, PLX_MAD_CM_CLASS_VERSION, PLX_MAD_METHOD_SEND};
	uint8_t header = input_byte(&world->in);

	route.local = ourselves(route.remote.version);
	for (size_t i = header & 1 ? 4 : 0; i < len && world->in.left; i++)
		bytes[i] = input_byte(&world->in);
	if (header & 2)
		len = PLX_MAD_BYTES;
	deliver(world, &route, bytes, len);
}

/* ---- commands ---- */

static struct plx_cm_own
draw_own(struct world *world)
{
	uint8_t number = input_byte(&world->in);

	return (struct plx_cm_own){
		.qpn = number & 1 ? 0x10 : number,
		.psn = plx_psn(number * 65537u),
		.path_mtu = number & 2 ? 1024 : UINT32_C(1) << number % 16,
		.responder_resources = number,
		.initiator_depth = input_byte(&world->in),
		.rnr_retry = number % 9,
		.retry = number % 8,
		.ack_timeout = number % 33,
		.srq = number & 4,
	};
}

static void
ask(struct world *world, bool sidr)
{
	uint8_t private_data[PLX_CM_PRIVATE_MAX] = {0};
	struct plx_cm_connect connect = {
		.remote = peer(input_byte(&world->in)),
		.local_port = 4711,
		.remote_port = (uint16_t)(PORT + input_byte(&world->in) % EARS),
		.own = draw_own(world),
		.context = input_byte(&world->in),
		.private_data = private_data,
		.private_bytes = input_byte(&world->in) % 60,
	};
	struct plx_cm_id id = {0};
	enum plx_status status;

	connect.local = ourselves(connect.remote.version);
	memset(private_data, (int)connect.context, sizeof private_data);
	status =
		(sidr ? plx_cm_sidr_request : plx_cm_connect)(world->cm, &connect, world->now, &id);
	CHECK(status == PLX_OK || status == PLX_FULL || status == PLX_INVALID ||
	      status == PLX_TOO_LONG);
	if (status == PLX_OK)
		learn(world, id);
}

static void
listen(struct world *world)
{
	unsigned number = input_byte(&world->in) % EARS;
	struct plx_cm_listen listen = {
		.space = number ? PLX_PORT_SPACE_TCP : PLX_PORT_SPACE_UDP,
		.port = (uint16_t)(PORT + number),
		.backlog = input_byte(&world->in) % 4,
		.qpn = 9,
		.qkey = PLX_CMA_QKEY,
	};

	if (world->ear[number].v) {
		CHECK(plx_cm_unlisten(world->cm, world->ear[number], world->now) == PLX_OK);
		world->ear[number].v = 0;
	} else {
		CHECK(plx_cm_listen(world->cm, &listen, &world->ear[number]) == PLX_OK);
		CHECK(world->ear[number].v != 0);
	}
}

/* A peer's connection, most often; now and then one that has ended or never existed. */
static void
command(struct world *world)
{
	uint8_t private_data[PLX_CM_PRIVATE_MAX] = {0xcc};
	uint8_t which = input_byte(&world->in), what = input_byte(&world->in);
	struct plx_cm_id id = {which < 0xf0 ? world->known[which % KNOWN].v
					    : input_word(&world->in)};
	struct plx_cm_own own;
	struct plx_cm_peer agreed;
	enum plx_status status = PLX_OK;

	switch (what % 9) {
	case 0:
	case 1:
		own = draw_own(world);
		status = plx_cm_accept(world->cm, id, &own, what, private_data,
				       input_byte(&world->in), world->now, &agreed);
		break;
	case 2:
		status = plx_cm_reject(world->cm, id, private_data, input_byte(&world->in),
				       world->now);
		if (status == PLX_OK)
			forget(world, id.v);
		break;
	case 3:
		status = plx_cm_establish(world->cm, id, world->now);
		break;
	case 4:
		status = plx_cm_disconnect(world->cm, id, world->now);
		break;
	case 5:
		status = plx_cm_qp_failed(world->cm, id, world->now);
		break;
	case 6:
		status = plx_cm_comm_established(world->cm, id, world->now);
		break;
	case 7:
		status = plx_cm_set_context(world->cm, id, what);
		break;
	default:
		plx_cm_abandon(world->cm, id, world->now);
		if (id.v && slot_of(world, id.v))
			forget(world, id.v);
		break;
	}
	CHECK(status == PLX_OK || status == PLX_STATE || status == PLX_INVALID ||
	      status == PLX_TOO_LONG);
	CHECK(status != PLX_OK || what % 9 == 8 || id.v != 0);
}

/* ---- time, and what always holds ---- */

static void
tick(struct world *world, uint64_t passed)
{
	uint64_t wake_ns;

	world->now += passed;
	for (unsigned turn = 0;; turn++) {
		CHECK(turn < TURNS_MAX);
		plx_cm_on_tick(world->cm, world->now);
		wake_ns = plx_cm_wake_ns(world->cm);
		if (wake_ns == 0 || wake_ns > world->now)
			break;
	}
}

static void
check(struct world *world)
{
	struct plx_cm_view view;
	uint32_t known = 0, ears = 0;

	plx_cm_query(world->cm, &view);
	for (unsigned i = 0; i < KNOWN; i++)
		known += world->known[i].v != 0;
	for (unsigned i = 0; i < EARS; i++)
		ears += world->ear[i].v != 0;
	CHECK(view.connections <= world->config.connections && view.connections >= known);
	CHECK(view.half_open <= world->config.half_open && view.half_open <= view.connections);
	CHECK(view.listeners == ears);
}

static void
step(struct world *world)
{
	uint8_t what = input_byte(&world->in);

	switch (what % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
		message(world);
		break;
	case 4:
		reflect(world);
		break;
	case 5:
		any_bytes(world);
		break;
	case 6:
		ask(world, what & 0x80);
		break;
	case 7:
		listen(world);
		break;
	case 8:
	case 9:
	case 10:
		command(world);
		break;
	case 11:
		tick(world, UINT64_C(1) << (what >> 4) * 3);
		break;
	case 12: {
		struct plx_ip ip = peer(input_byte(&world->in));

		plx_cm_on_unreachable(world->cm, &ip, world->now);
		break;
	}
	case 13:
		if (plx_cm_has_event(world->cm))
			plx_cm_defer_event(world->cm);
		break;
	case 14:
		events(world, 1 + (what >> 4));
		break;
	default:
		for (unsigned i = 0; i <= what >> 4; i++)
			(void)transmit(world);
		break;
	}
	check(world);
}

/* All go away, and time passes: nothing is left, and nothing wants to be woken. */
static void
rest(struct world *world)
{
	struct plx_cm_view view;
	uint64_t wake_ns;

	for (unsigned i = 0; i < EARS; i++) {
		if (world->ear[i].v)
			CHECK(plx_cm_unlisten(world->cm, world->ear[i], world->now) == PLX_OK);
	}
	events(world, UINT32_MAX);
	for (unsigned i = 0; i < KNOWN; i++) {
		if (world->known[i].v)
			plx_cm_abandon(world->cm, world->known[i], world->now);
	}
	for (unsigned turn = 0;; turn++) {
		CHECK(turn < TURNS_MAX);
		while (transmit(world))
			continue;
		wake_ns = plx_cm_wake_ns(world->cm);
		if (wake_ns == PLX_NEVER)
			break;
		tick(world, wake_ns - world->now);
	}
	CHECK(!plx_cm_has_event(world->cm));
	plx_cm_query(world->cm, &view);
	CHECK(view.connections == 0 && view.half_open == 0 && view.timewait == 0 &&
	      view.listeners == 0);
}

/* A manager as it is made: written once, and put back for every input, for most of it is tables. */
static struct plx_cm *
fresh(const struct plx_cm_config *config)
{
	static void *memory, *image;
	size_t bytes = plx_cm_bytes(config);

	CHECK(bytes > 0);
	if (memory) {
		memcpy(memory, image, bytes);
		return memory;
	}
	memory = test_block(bytes);
	image = malloc(bytes);
	CHECK(image);
	CHECK(plx_cm_init(memory, config) == memory);
	memcpy(image, memory, bytes);
	return memory;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world world = {
		.config = {.connections = 12, .half_open = 8, .ca_guid = 1, .secret = {{1, 2}}},
		.now = PLX_SEC,
		.in = {data, size},
	};

	world.cm = fresh(&world.config);
	for (unsigned i = 0; i < STEPS_MAX && world.in.left; i++)
		step(&world);
	rest(&world);
	return 0;
}
