/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns strangers: frames that are whole, but of another VLAN, for another station or from or to
 * another address, on every way into an engine: connections, datagrams, queue pair 1, neighbour
 * resolution. Each is dropped and counted by its reason, and changes nothing else (S1). It also
 * owns a host's datagram end: a queue pair that receives from its friends and nobody else.
 * It never changes a frame that is on its way. Start with stranger_before().
 */
#include "fleet.h"
#include "plx_mad.h"

enum {
	UD_END_DEPTH = 64,
	UD_END_CELLS = 32,   /* receives */
	UD_END_FRIENDS = 16, /* datagrams that it has not heard, at most */
	UD_END_BYTES = 256,
	MAC_BYTES = 6,
	DATAGRAM_BYTES = 64, /* payload */
};

static const uint32_t ud_end_qkey = 0x22222222;

/* ---- birth ---- */

/* Half of the fleets in which something may go wrong, and three of ten of these in a VLAN, by a
 * stream of their own: what else a seed means stays what it was. */
void
stranger_draw(struct fleet *fleet)
{
	struct plx_prng prng = draw_stream(fleet->world.seed, 's', 0, 0);

	if (fleet->crowd || fleet->world.config.profile == SIM_PROFILE_clean ||
	    !draw_percent(&prng, 50))
		return;
	fleet->strangers = (uint32_t)draw_between(&prng, 1, 8);
	if (draw_percent(&prng, 30))
		fleet->vlan = (uint16_t)draw_between(&prng, 1, PLX_VLAN_MAX);
}

static void
ud_end_becomes(struct host *host, enum plx_qp_state to)
{
	const struct plx_rc_attr attr = {.mtu = 256, .pkey = PLX_PKEY_DEFAULT};

	host_call(host);
	sim_must(&host->fleet->world,
		 plx_engine_qp_modify(host->ud_end.qp, to, to == PLX_QP_INIT ? NULL : &attr,
				      NULL) == PLX_OK,
		 "I9", "the datagram end of host %u cannot become %s", host->index,
		 plx_qp_state_name(to));
}

static void
post_ear(struct host *host, uint32_t cell)
{
	struct ud_end *ud_end = &host->ud_end;
	struct plx_sge sge = {arena_va(&ud_end->cells, cell), UD_END_BYTES, ud_end->cells.key};
	struct plx_recv_wr wr = {.wr_id = cell, .sge = &sge, .sges = 1};

	arena_expect(&ud_end->cells, cell, NULL, UD_END_BYTES);
	sim_must(&host->fleet->world, plx_post_recv(ud_end->qp, &wr, 1, NULL) == 1, "I14",
		 "the datagram end of host %u takes fewer than %u receives", host->index,
		 UD_END_CELLS);
}

void
ud_end_create(struct host *host)
{
	const struct plx_engine_cq_config cq = {.depth = UD_END_DEPTH};
	struct ud_end *ud_end = &host->ud_end;
	struct plx_engine_qp_config config = {.type = PLX_QP_UD,
					      .domain = host->domain,
					      .caps = {.sq_depth = 1, .sq_sges = 1},
					      .rq_depth = UD_END_DEPTH,
					      .rq_sges = 1,
					      .qkey = ud_end_qkey,
					      .context = UINT64_MAX};
	uint32_t cell;

	host->stranger_prng = draw_stream(host->fleet->world.seed, 's', 1, host->index);
	if (host->fleet->strangers == 0)
		return;
	arena_create(host, &ud_end->cells, &host->stranger_prng, UD_END_CELLS, UD_END_BYTES,
		     PLX_ACCESS_LOCAL_WRITE);
	host_call(host);
	PLX_ASSERT(plx_engine_cq_create(host_engine(host), &cq, &ud_end->queue) == PLX_OK);
	config.send_cq = config.recv_cq = ud_end->queue;
	PLX_ASSERT(plx_domain_hold(host->mem, host->domain) == PLX_OK);
	host_call(host);
	PLX_ASSERT(plx_engine_qp_create(host_engine(host), &config, &ud_end->qp) == PLX_OK);
	for (enum plx_qp_state to = PLX_QP_INIT; to <= PLX_QP_RTS; to++)
		ud_end_becomes(host, to);
	while (arena_alloc(&ud_end->cells, &cell))
		post_ear(host, cell);
}

/* ---- counters ---- */

static uint64_t
counted(const struct host *host, enum stranger_fault fault)
{
	const struct plx_engine_counters *c = plx_engine_counters(host_engine(host));
	uint64_t sum = c->rx_no_qp;

	switch (fault) {
	case STRANGER_VLAN:
		return c->refused[PLX_WIRE_VLAN];
	case STRANGER_STATION:
		return c->refused[PLX_WIRE_STATION];
	case STRANGER_ADDRESS:
		return c->refused[PLX_WIRE_DESTINATION];
	case STRANGER_PATH: /* or its queue pair is gone, or does not receive */
		for (int i = 0; i < PLX_VERDICT_COUNT; i++)
			sum += c->denied[i];
		return sum;
	case STRANGER_FAULTS:
		break;
	}
	return 0;
}

/* The engine has looked at all that it was handed. */
void
stranger_settle(struct host *host)
{
	static const char *const what[STRANGER_FAULTS] = {
		[STRANGER_VLAN] = "of another VLAN",
		[STRANGER_STATION] = "for another MAC",
		[STRANGER_ADDRESS] = "for another IP address",
		[STRANGER_PATH] = "of a connection between other addresses",
	};

	for (enum stranger_fault fault = 0; fault < STRANGER_FAULTS; fault++) {
		uint64_t now = counted(host, fault);

		sim_must(&host->fleet->world,
			 now >= host->stranger_base[fault] + host->strange[fault], "S1",
			 "host %u was handed %u frames %s, and counts %" PRIu64, host->index,
			 host->strange[fault], what[fault], now - host->stranger_base[fault]);
		host->stranger_base[fault] = now;
		host->strange[fault] = 0;
	}
}

/* A datagram end receives what its friends send. */
void
ud_end_listen(struct host *host)
{
	struct world *world = &host->fleet->world;
	struct ud_end *ud_end = &host->ud_end;
	struct plx_wc wc;

	while (ud_end->qp != NULL && plx_engine_cq_poll(ud_end->queue, &wc, 1) == 1) {
		host->reaped++;
		sim_must(world, wc.status == PLX_WC_SUCCESS, "S1",
			 "the datagram end of host %u: %s", host->index,
			 plx_wc_text((enum plx_wc_status)wc.status));
		sim_must(world, ++ud_end->heard <= ud_end->friends, "S1",
			 "the datagram end of host %u receives %" PRIu64
			 " datagrams, friends have sent %" PRIu64,
			 host->index, ud_end->heard, ud_end->friends);
		post_ear(host, (uint32_t)wc.wr_id);
	}
}

void
ud_end_destroy(struct host *host)
{
	struct world *world = &host->fleet->world;
	struct ud_end *ud_end = &host->ud_end;
	const struct plx_rc_counters *c;

	if (ud_end->qp == NULL)
		return;
	ud_end_listen(host);
	sim_must(world, ud_end->heard == ud_end->friends, "S1",
		 "the datagram end of host %u has received %" PRIu64 " datagrams of %" PRIu64,
		 host->index, ud_end->heard, ud_end->friends);
	c = plx_engine_qp_counters(ud_end->qp);
	for (int i = 0; i < PLX_VERDICT_COUNT; i++)
		host->judged += c->verdict[i];
	host_call(host);
	PLX_ASSERT(plx_engine_qp_destroy(ud_end->qp) == PLX_OK);
	plx_domain_unhold(host->mem, host->domain);
	PLX_ASSERT(plx_engine_cq_destroy(ud_end->queue) == PLX_OK);
	arena_destroy(host, &ud_end->cells);
	ud_end->qp = NULL;
}

/* ---- frames ---- */

struct frame {
	uint8_t bytes[FLEET_FRAME_ROOM];
	uint32_t len;
	int tag; /* its TCI; negative: it has none */
};

/* Another last byte of the source (behind it: destination) address. */
static void
move_address(struct frame *frame, bool is_destination)
{
	uint8_t *ip = frame->bytes + PLX_ETH_BYTES;
	bool v4 = ip[0] >> 4 == 4;
	size_t last = v4 ? 15 : 23;

	if (is_destination)
		last += v4 ? 4 : 16;
	ip[last] ^= 0x40;
	if (v4)
		plx_frame_set_tos(ip, ip[1]); /* which sets the checksum right */
	weather_seal(frame->bytes, frame->len);
}

/* A datagram of a neighbour for queue pair `qpn`, as it should be. */
static void
make_datagram(struct host *host, uint32_t qpn, struct frame *out)
{
	bool gsi = qpn == PLX_GSI_QPN;
	const struct plx_pkt pkt = {.opcode = PLX_UD_SEND_ONLY,
				    .pkey = PLX_PKEY_DEFAULT,
				    .dest_qpn = qpn,
				    .migreq = true,
				    .deth = {.qkey = gsi ? PLX_GSI_QKEY : ud_end_qkey,
					     .src_qpn = gsi ? PLX_GSI_QPN : 0x123456}};
	const struct host *from = &host->fleet->host[(host->index + 1) % host->fleet->host_count];
	struct plx_frame frame = {
		.ip_version = host->ip.version, .udp_src = 50000, .udp_dst = PLX_ROCE_PORT};
	uint32_t payload = gsi ? PLX_MAD_BYTES : DATAGRAM_BYTES;
	struct plx_frame_template headers;
	size_t at, bth;

	memset(out->bytes, 0, FLEET_FRAME_ROOM);
	memcpy(frame.eth_dst, host->caps.mac, MAC_BYTES);
	memcpy(frame.eth_src, from->outside, MAC_BYTES);
	if (host->ip.version == 4) {
		frame.v4.ttl = 64;
		for (int i = 0; i < 4; i++) {
			frame.v4.src = frame.v4.src << 8 | from->ip.v[i];
			frame.v4.dst = frame.v4.dst << 8 | host->ip.v[i];
		}
	} else {
		frame.v6.hop_limit = 64;
		memcpy(frame.v6.src, from->ip.v, sizeof(frame.v6.src));
		memcpy(frame.v6.dst, host->ip.v, sizeof(frame.v6.dst));
	}
	plx_frame_template_init(&headers, &frame);
	bth = plx_pkt_encode(&pkt, out->bytes + headers.header_bytes);
	at = plx_frame_template_write(&headers, bth + payload + PLX_ICRC_BYTES, out->bytes);
	out->len = (uint32_t)(at + bth + payload + PLX_ICRC_BYTES);
	weather_seal(out->bytes, out->len);
}

static int
strange_tag(struct host *host)
{
	uint16_t own = host->fleet->vlan;
	int id;

	if (own != 0 && draw_percent(&host->stranger_prng, 30))
		return draw_percent(&host->stranger_prng, 50) ? -1 : 0x6000;
	do
		id = (int)draw_between(&host->stranger_prng, 1, PLX_VLAN_MAX + 1);
	while (id == own);
	return id;
}

static void
spoil(struct host *host, struct frame *frame, enum stranger_fault fault)
{
	struct plx_prng *prng = &host->stranger_prng;

	switch (fault) {
	case STRANGER_VLAN:
		frame->tag = strange_tag(host);
		break;
	case STRANGER_STATION: /* a bit of our MAC, but not that of groups */
		memcpy(frame->bytes, host->caps.mac, MAC_BYTES);
		frame->bytes[plx_prng_below(prng, MAC_BYTES)] ^=
			(uint8_t)(2 << plx_prng_below(prng, 7));
		break;
	case STRANGER_ADDRESS:
		move_address(frame, true);
		break;
	case STRANGER_PATH:
		move_address(frame, draw_percent(prng, 50));
		break;
	case STRANGER_FAULTS:
		break;
	}
}

/* A copy of a frame that is handed next, which overtakes it with another payload. */
static enum stranger_fault
copy_strangely(struct host *host, const struct packet *packet, struct frame *out)
{
	bool net = port_is_net(packet->bytes, packet->len);

	memcpy(out->bytes, packet->bytes, packet->len);
	out->len = packet->len;
	if (!(out->bytes[0] & 1)) /* it may go to where the host was */
		memcpy(out->bytes, host->caps.mac, MAC_BYTES);
	if (net)
		return draw_percent(&host->stranger_prng, 50) ? STRANGER_VLAN : STRANGER_STATION;
	out->bytes[out->len - PLX_ICRC_BYTES - 4] ^= 0x55;
	weather_seal(out->bytes, out->len);
	switch (plx_prng_below(&host->stranger_prng, 3)) {
	case 0:
		return STRANGER_VLAN;
	case 1:
		return STRANGER_STATION;
	default:
		return STRANGER_PATH;
	}
}

static struct rte_mbuf *
hand(struct host *host, const struct frame *frame)
{
	bool strips = draw_percent(&host->stranger_prng, 20);

	host->fleet->world.stats.strangers++;
	return port_wrap_tagged(host, frame->bytes, frame->len, frame->tag, strips);
}

/* Nothing is wrong with it: only so is it known that datagrams arrive. */
static struct rte_mbuf *
befriend(struct host *host, struct frame *frame)
{
	struct rte_mbuf *m;

	if (host->ud_end.friends - host->ud_end.heard >= UD_END_FRIENDS)
		return NULL;
	make_datagram(host, plx_engine_qp_number(host->ud_end.qp), frame);
	m = hand(host, frame);
	host->ud_end.friends += m != NULL;
	return m;
}

/* May stand in front of a frame that the engine is handed: a stranger, or a friend of the datagram
 * end. Returns: NULL: neither */
struct rte_mbuf *
stranger_before(struct host *host, const struct packet *packet)
{
	struct plx_prng *prng = &host->stranger_prng;
	static struct frame frame;
	enum stranger_fault fault = STRANGER_FAULTS;
	struct rte_mbuf *m;

	if (host->fleet->strangers == 0 || host->ud_end.qp == NULL ||
	    !draw_percent(prng, host->fleet->strangers))
		return NULL;
	frame.tag = port_tag(host);
	if (draw_percent(prng, 60)) {
		if (packet->damage != DAMAGE_NONE)
			return NULL;
		fault = copy_strangely(host, packet, &frame);
	} else if (draw_percent(prng, 10)) {
		return befriend(host, &frame);
	} else {
		make_datagram(host,
			      draw_percent(prng, 50) ? PLX_GSI_QPN
						     : plx_engine_qp_number(host->ud_end.qp),
			      &frame);
		fault = (enum stranger_fault)plx_prng_below(prng, STRANGER_PATH);
	}
	spoil(host, &frame, fault);
	m = hand(host, &frame);
	host->strange[fault] += m != NULL;
	return m;
}
