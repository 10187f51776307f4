/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames for another VLAN, another MAC address or another IP address, on every path into an engine:
 * each is dropped and counted by its reason, and changes nothing else. Apart from that one fault,
 * the frames are real frames of a peer. Start with every_stranger().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connector.h"
#include "engine_pair.h"

enum {
	MAC_BYTES = 6,
	ADDRESSES = 2 * MAC_BYTES,
	OUR_VLAN = 7,
	SERVICE_PORT = 7,
	BYTES = 200,
	WATCHED = 4096, /* of the memory that a stranger might write */
	FRAME_MAX = 512,
	ROUNDS = 50,
	NO_TAG = -1,
};

static const uint32_t qkey = 0x11111111;

/* Paths into an engine. */
enum path {
	RC_FAST,
	RC_SLOW, /* by the decoder: over IPv6 always, over IPv4 with a UDP checksum */
	CNP,     /* the answer to a congestion mark */
	UD,
	GSI,
	NEIGHBOUR, /* ARP or a solicitation */
	ECHO,
	PATHS,
};

enum fault {
	VLAN_OTHER,
	VLAN_RESERVED,
	VLAN_NONE,     /* of an adapter in a VLAN: no tag */
	VLAN_PRIORITY, /* likewise: a tag that is a priority only */
	MAC_OTHER,
	MAC_NEAR, /* one bit off */
	MAC_GROUP,
	IP_OTHER,
	TARGET_OTHER, /* of ARP and solicitations: the target is somebody else */
	SOURCE_OTHER, /* of a connection: an IP address that is not its peer's */
	FAULTS,
};

struct frame {
	uint8_t bytes[FRAME_MAX];
	uint32_t len;
};

static struct pair pair;
static struct plx_qp *ud[2];
static struct whole_channel *queues[2];
static struct whole_listener *listener;
static struct whole_connector *connector;
static struct plx_ah *ah;
static uint16_t vlan;
static bool ipv6, wrongly_tagged;
static struct frame caught[PATHS];

/* ---- frames ---- */

static uint32_t
be(const uint8_t *at, uint32_t bytes)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < bytes; i++)
		v = v << 8 | at[i];
	return v;
}

static bool
is_tagged(const uint8_t *bytes)
{
	return be(bytes + ADDRESSES, 2) == 0x8100;
}

static uint32_t
ip_at(const uint8_t *bytes)
{
	return is_tagged(bytes) ? 18 : 14;
}

static uint8_t *
behind_ip(uint8_t *bytes)
{
	return bytes + ip_at(bytes) + (ipv6 ? PLX_IPV6_BYTES : PLX_IPV4_BYTES);
}

static void
set_tag(struct frame *frame, int tci)
{
	const uint8_t tag[PLX_VLAN_BYTES] = {0x81, 0, (uint8_t)(tci >> 8), (uint8_t)tci};
	uint8_t *at = frame->bytes + ADDRESSES;

	if (is_tagged(frame->bytes)) {
		frame->len -= PLX_VLAN_BYTES;
		memmove(at, at + PLX_VLAN_BYTES, frame->len - ADDRESSES);
	}
	if (tci == NO_TAG)
		return;
	memmove(at + PLX_VLAN_BYTES, at, frame->len - ADDRESSES);
	memcpy(at, tag, PLX_VLAN_BYTES);
	frame->len += PLX_VLAN_BYTES;
}

static uint32_t
add(uint32_t sum, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void
store_checksum(uint8_t *at, uint32_t sum)
{
	at[0] = (uint8_t)(~sum >> 8);
	at[1] = (uint8_t)~sum;
}

/* Make everything that covers the IP addresses right again. */
static void
fix_sums(struct frame *frame, bool roce)
{
	uint8_t *ip = frame->bytes + ip_at(frame->bytes), *inner = behind_ip(frame->bytes);
	uint32_t bytes = ipv6 ? PLX_IPV6_BYTES + be(ip + 4, 2) : be(ip + 2, 2);

	if (!ipv6) {
		memset(ip + 10, 0, 2);
		store_checksum(ip + 10, add(0, ip, PLX_IPV4_BYTES));
	} else if (!roce) {
		uint32_t icmp = bytes - PLX_IPV6_BYTES;

		memset(inner + 2, 0, 2);
		store_checksum(inner + 2, add(add(58 + icmp, ip + 8, 32), inner, icmp));
	}
	if (roce)
		plx_icrc_store(plx_icrc_isal(ip, bytes - PLX_ICRC_BYTES),
			       ip + bytes - PLX_ICRC_BYTES);
}

static enum path
path_of(uint8_t *bytes)
{
	uint32_t type = be(bytes + ip_at(bytes) - 2, 2);
	const uint8_t *inner = behind_ip(bytes), *bth = inner + PLX_UDP_BYTES;
	uint8_t protocol;

	if (type == 0x0806)
		return NEIGHBOUR;
	protocol = bytes[ip_at(bytes) + (ipv6 ? 6 : 9)];
	if (protocol == 58 && inner[0] == 135)
		return NEIGHBOUR;
	if (protocol == (ipv6 ? 58 : 1) && inner[0] == (ipv6 ? 128 : 8))
		return ECHO;
	if (protocol != 17)
		return PATHS;
	if (bth[0] == PLX_RC_WRITE_ONLY)
		return RC_FAST;
	if (bth[0] == PLX_CNP)
		return CNP;
	if (bth[0] != PLX_UD_SEND_ONLY)
		return PATHS;
	return be(bth + 5, 3) == PLX_GSI_QPN ? GSI : UD;
}

/* Have a switch mark the WRITE of side 1, which side 0 answers by a CNP. */
static void
mark_write(const struct rte_mbuf *m)
{
	uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);

	if (path_of(bytes) == RC_FAST)
		plx_frame_set_tos(bytes + ip_at(bytes), PLX_ECN_CE);
}

/* What side 0 sends to side 1: the first of each path is kept, and but for questions, lost. */
static bool
catch_frames(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);
	enum path path = path_of(bytes);

	(void)user;
	if (is_tagged(bytes) != (vlan != 0) || (vlan && be(bytes + ADDRESSES + 2, 2) != vlan))
		wrongly_tagged = true;
	if (from == &pair.side[1])
		mark_write(m);
	if (from != &pair.side[0] || path == PATHS)
		return true;
	if (caught[path].len == 0) {
		assert_true(m->pkt_len <= FRAME_MAX - PLX_VLAN_BYTES);
		memcpy(caught[path].bytes, bytes, m->pkt_len);
		caught[path].len = m->pkt_len;
	}
	return path == NEIGHBOUR;
}

/* ---- the scene ---- */

static void
make_objects(void)
{
	struct pair_options options = pair_defaults(16);
	const struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = SERVICE_PORT};
	const struct plx_engine_path path = {.remote = pair.side[1].ip};

	pair_connect_with(&pair, &options);
	options.type = PLX_QP_UD;
	options.qkey = qkey;
	pair_start(&pair);
	for (int i = 0; i < 2; i++) {
		ud[i] = pair_qp(&pair, i, &options);
		pair_ud_to_rts(ud[i]);
		assert_int_equal(plx_link_channel_create(pair.side[i].engine, 16, &queues[i]),
				 PLX_OK);
	}
	assert_int_equal(pair_listen(queues[1], &listen, 1, &listener), PLX_OK);
	assert_int_equal(plx_link_connector_create(queues[0], 2, &connector), PLX_OK);
	assert_int_equal(plx_link_ah_create(pair.side[0].engine, pair.side[0].domain, &path, &ah),
			 PLX_OK);
	pair_stop(&pair);
}

static void
send_datagram(void)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_sge from = {(uintptr_t)a->memory, 32, a->key};
	const struct plx_sge to = {(uintptr_t)b->memory + 1024, 256, b->key};
	const struct plx_recv_wr recv = {.sge = &to, .sges = 1};
	const struct plx_send_wr send = {.op = PLX_WR_SEND,
					 .sge = &from,
					 .sges = 1,
					 .ah = ah,
					 .remote_qpn = plx_engine_qp_number(ud[1]),
					 .remote_qkey = qkey};
	enum plx_status status;

	assert_int_equal(plx_post_recv(ud[1], &recv, 1, &status), 1);
	assert_int_equal(plx_engine_qp_post_send(ud[0], &send, 1, &status), 1);
}

/* Have side 0 send one frame on every path; then its requester is out of the game. */
static void
catch_all(void)
{
	struct pair_options options = pair_defaults(16);
	const struct plx_link_attr attr = {.rc = options.attr,
					   .path = {.remote = pair.side[1].ip},
					   .own = {.path_mtu = 1024, .retry = 7, .ack_timeout = 14},
					   .local_port = 50000,
					   .remote_port = SERVICE_PORT};
	struct plx_qp *third;
	enum plx_net_verdict verdict;
	uint32_t number;

	assert_int_equal(pair_write(&pair.side[0], &pair.side[1], 1, 0, BYTES, 0), PLX_OK);
	assert_int_equal(pair_write(&pair.side[1], &pair.side[0], 1, 0, BYTES, 0), PLX_OK);
	send_datagram();
	pair_start(&pair);
	assert_int_equal(plx_engine_ping(pair.side[0].engine, &pair.side[1].ip, 20, PLX_SEC,
					 &number, &verdict),
			 PLX_OK);
	third = pair_qp(&pair, 0, &options);
	assert_int_equal(plx_link_connect(connector, third, &attr), PLX_OK);
	pair_stop(&pair);
	pair_run(&pair, ROUNDS);
	pair_start(&pair);
	pair_connector_destroy(connector);
	assert_int_equal(plx_engine_qp_destroy(third), PLX_OK);
	assert_int_equal(plx_engine_qp_modify(pair.side[0].qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
	pair_stop(&pair);
	pair_run(&pair, ROUNDS);
	caught[RC_SLOW] = caught[RC_FAST];
	behind_ip(caught[RC_SLOW].bytes)[7] = 0x77; /* which the device has found right */
	for (int i = 0; i < PATHS; i++)
		assert_true(caught[i].len > 0);
}

static void
scene_open(uint16_t of_vlan, bool is_ipv6)
{
	vlan = of_vlan;
	ipv6 = is_ipv6;
	wrongly_tagged = false;
	memset(caught, 0, sizeof(caught));
	pair_open_with(&pair, &(struct pair_setup){.vlan = vlan, .ipv6 = ipv6});
	pair.side[0].port.pass = pair.side[1].port.pass = catch_frames;
	make_objects();
	catch_all();
}

static void
scene_close(void)
{
	assert_false(wrongly_tagged);
	pair_start(&pair);
	assert_int_equal(plx_link_ah_destroy(ah), PLX_OK);
	pair_listener_destroy(listener);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(plx_engine_qp_destroy(ud[i]), PLX_OK);
		assert_int_equal(plx_link_channel_destroy(queues[i]), PLX_OK);
	}
	pair_stop(&pair);
	pair_close(&pair);
}

/* ---- state that a stranger could change ---- */

struct state {
	struct plx_rc_view view[2];
	struct plx_rc_counters qp[2];
	struct plx_net_counters net;
	uint64_t net_wake_ns;
	uint32_t net_version, waits;
	struct plx_cm_view cm;
	struct plx_cm_counters cm_counters;
	uint64_t cm_wake_ns;
	struct plx_engine_counters engine;
	uint8_t memory[WATCHED];
};

static void
look(struct state *out)
{
	struct pair_side *b = &pair.side[1];

	memset(out, 0, sizeof(*out));
	plx_rc_query(b->qp->back->rc, &out->view[0]);
	plx_rc_query(ud[1]->back->rc, &out->view[1]);
	out->qp[0] = *plx_engine_qp_counters(b->qp);
	out->qp[1] = *plx_engine_qp_counters(ud[1]);
	out->net = *plx_net_counters(b->net);
	out->net_wake_ns = plx_net_wake_ns(b->net);
	out->net_version = plx_net_version(b->net);
	out->waits = b->engine->gsi->waiting_count;
	plx_cm_query(b->cm, &out->cm);
	out->cm_counters = *plx_cm_counters(b->cm);
	out->cm_wake_ns = plx_cm_wake_ns(b->cm);
	out->engine = b->engine->counters;
	memcpy(out->memory, b->memory, WATCHED);
}

static void
inject(const struct frame *frame, uint64_t flags, uint16_t tci)
{
	struct pair_port *port = &pair.side[1].port;
	struct rte_mbuf *m;

	assert_true(pair_inject(&pair, 1, frame->bytes, frame->len, 1));
	m = port->wire[(port->first + port->count - 1) % PAIR_WIRE];
	m->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_GOOD | flags;
	m->vlan_tci = tci;
	pair_run(&pair, 3);
}

/* It is dropped. Of all that is visible, only the counter of the reason has changed, and those
 * of packets, cycles and timers. @param counter in struct plx_engine_counters */
static void
is_dropped(const struct frame *frame, size_t counter, uint64_t flags, uint16_t tci)
{
	static struct state before, after;
	uint64_t count;

	memset(pair.side[1].memory, 0x5a, WATCHED);
	look(&before);
	inject(frame, flags, tci);
	look(&after);
	assert_int_equal(after.engine.rx_packets, before.engine.rx_packets + 1);
	memcpy(&count, (uint8_t *)&before.engine + counter, sizeof(count));
	count++;
	memcpy((uint8_t *)&before.engine + counter, &count, sizeof(count));
	before.engine.cycles = after.engine.cycles;
	before.engine.busy_cycles = after.engine.busy_cycles;
	before.engine.rx_packets = after.engine.rx_packets;
	before.engine.rx_bytes = after.engine.rx_bytes;
	before.engine.rx_tagged_again = after.engine.rx_tagged_again;
	before.engine.ticks = after.engine.ticks; /* of timers: the clock's, not the frame's */
	assert_memory_equal(&before, &after, sizeof(before));
}

/* It reaches its destination. */
static void
is_taken(const struct frame *frame, enum path path, uint64_t flags, uint16_t tci)
{
	static struct state before, after;

	look(&before);
	inject(frame, flags, tci);
	look(&after);
	assert_memory_equal(before.engine.refused, after.engine.refused,
			    sizeof(before.engine.refused));
	assert_memory_equal(before.engine.denied, after.engine.denied,
			    sizeof(before.engine.denied));
	if (path == RC_FAST || path == RC_SLOW)
		assert_true(after.qp[0].verdict[PLX_VERDICT_ACCEPT] +
				    after.qp[0].verdict[PLX_VERDICT_DUPLICATE] >
			    before.qp[0].verdict[PLX_VERDICT_ACCEPT] +
				    before.qp[0].verdict[PLX_VERDICT_DUPLICATE]);
	else if (path == CNP)
		assert_int_equal(after.qp[0].verdict[PLX_VERDICT_CNP],
				 before.qp[0].verdict[PLX_VERDICT_CNP] + 1);
	else if (path == UD)
		assert_true(after.qp[1].verdict[PLX_VERDICT_ACCEPT] +
				    after.qp[1].verdict[PLX_VERDICT_RNR] >
			    before.qp[1].verdict[PLX_VERDICT_ACCEPT] +
				    before.qp[1].verdict[PLX_VERDICT_RNR]);
	else if (path == GSI)
		assert_int_equal(after.engine.rx_gsi, before.engine.rx_gsi + 1);
	else if (path == NEIGHBOUR)
		assert_int_equal(after.net.requests_seen, before.net.requests_seen + 1);
	else
		assert_int_equal(after.net.echoes_seen, before.net.echoes_seen + 1);
}

/* ---- the table ---- */

static void
ask_for_another(struct frame *frame)
{
	static const uint8_t stranger[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77};
	uint8_t *arp = frame->bytes + ip_at(frame->bytes);

	if (ipv6) {
		behind_ip(frame->bytes)[8 + 15] ^= 4;
		fix_sums(frame, false);
		return;
	}
	/* From an unknown sender: known ones are accepted whatever their target (RFC 826). */
	memcpy(frame->bytes + MAC_BYTES, stranger, MAC_BYTES);
	memcpy(arp + 8, stranger, MAC_BYTES);
	arp[17] ^= 0x40;
	arp[27] ^= 4;
}

static void
move_destination(struct frame *frame, bool roce)
{
	frame->bytes[ip_at(frame->bytes) + (ipv6 ? 24 + 15 : 19)] ^= 4;
	fix_sums(frame, roce);
}

static void
move_source(struct frame *frame)
{
	frame->bytes[ip_at(frame->bytes) + (ipv6 ? 8 + 15 : 15)] ^= 4;
	fix_sums(frame, true);
}

static void
set_group(struct frame *frame, enum path path)
{
	static const uint8_t all_nodes[MAC_BYTES] = {0x33, 0x33, 0, 0, 0, 1};
	static const uint8_t others[MAC_BYTES] = {0x33, 0x33, 0xff, 0, 0, 0x77};
	static const uint8_t everybody[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (path == NEIGHBOUR)
		memcpy(frame->bytes, ipv6 ? others : all_nodes, MAC_BYTES);
	else
		memcpy(frame->bytes, ipv6 ? all_nodes : everybody, MAC_BYTES);
}

/* Anybody may send the others. */
static bool
is_rc(enum path path)
{
	return path == RC_FAST || path == RC_SLOW || path == CNP;
}

/* Damage a frame.
 * Returns: false: this path has no such fault */
static bool
spoil(struct frame *frame, enum path path, enum fault fault)
{
	static const uint8_t stranger[MAC_BYTES] = {2, 0, 0, 0, 0, 0x77};
	const uint8_t *own = pair.side[1].port.port.caps.mac;

	switch (fault) {
	case VLAN_OTHER:
		set_tag(frame, vlan + 1);
		return true;
	case VLAN_RESERVED:
		set_tag(frame, 4095);
		return true;
	case VLAN_NONE:
		set_tag(frame, NO_TAG);
		return vlan != 0;
	case VLAN_PRIORITY:
		set_tag(frame, 0x6000);
		return vlan != 0;
	case MAC_OTHER:
		memcpy(frame->bytes, stranger, MAC_BYTES);
		return true;
	case MAC_NEAR:
		memcpy(frame->bytes, own, MAC_BYTES);
		frame->bytes[5] ^= 0x80;
		return true;
	case MAC_GROUP:
		set_group(frame, path);
		return true;
	case IP_OTHER: /* ARP has none */
		if (path != NEIGHBOUR || ipv6)
			move_destination(frame, path != NEIGHBOUR && path != ECHO);
		return path != NEIGHBOUR || ipv6;
	case TARGET_OTHER:
		if (path == NEIGHBOUR)
			ask_for_another(frame);
		return path == NEIGHBOUR;
	case SOURCE_OTHER:
		if (is_rc(path))
			move_source(frame);
		return is_rc(path);
	case FAULTS:
		break;
	}
	return false;
}

#define REFUSED(reason) \
	(offsetof(struct plx_engine_counters, refused) + PLX_WIRE_##reason * sizeof(uint64_t))
#define DENIED(reason) \
	(offsetof(struct plx_engine_counters, denied) + PLX_VERDICT_##reason * sizeof(uint64_t))

static size_t
reason_of(enum path path, enum fault fault)
{
	if (fault < MAC_OTHER)
		return REFUSED(VLAN);
	if (fault < IP_OTHER)
		return REFUSED(STATION);
	return is_rc(path) ? DENIED(ADDRESS) : REFUSED(DESTINATION);
}

/* Is the frame one for the fast path? */
static bool
is_fast(const struct frame *frame)
{
	size_t ip_bytes;

	return plx_frame_flow_matches(&pair.side[1].qp->back->from_peer,
				      &pair.side[1].qp->back->to_peer, frame->bytes, frame->len,
				      &ip_bytes);
}

static void
every_stranger(void **state)
{
	unsigned dropped = 0;

	(void)state;
	for (int scene = 0; scene < 4; scene++) {
		scene_open(scene & 1 ? OUR_VLAN : 0, scene & 2);
		assert_true(is_fast(&caught[RC_FAST]));
		assert_false(is_fast(&caught[RC_SLOW]));
		for (enum path path = 0; path < PATHS; path++)
			for (enum fault fault = 0; fault < FAULTS; fault++) {
				struct frame frame = caught[path];

				if (!spoil(&frame, path, fault))
					continue;
				is_dropped(&frame, reason_of(path, fault), 0, 0);
				dropped++;
			}
		/* Without a fault each is taken: it was the fault that kept it out. */
		for (enum path path = 0; path < PATHS; path++)
			is_taken(&caught[path], path, 0, 0);
		scene_close();
	}
	/* Of 10 faults one is only of NEIGHBOUR, one only of connections, one not of ARP, and two
	 * only in a VLAN. */
	assert_int_equal(dropped,
			 4 * PATHS * 10 - 4 * (PATHS - 1) - 4 * (PATHS - 3) - 2 - 2 * 2 * PATHS);
}

/* IEEE 802.1Q: a tag with VLAN 0 counts as untagged. */
static void
a_tag_that_is_only_a_priority_is_no_vlan(void **state)
{
	(void)state;
	for (int is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
		scene_open(0, is_ipv6);
		for (enum path path = 0; path < PATHS; path++) {
			struct frame frame = caught[path];

			set_tag(&frame, 0xe000);
			is_taken(&frame, path, 0, 0);
		}
		scene_close();
	}
}

/* A frame of our VLAN may have any priority, on the fast path too. */
static void
the_priority_of_a_tag_is_free(void **state)
{
	(void)state;
	for (int is_ipv6 = 0; is_ipv6 < 2; is_ipv6++) {
		scene_open(OUR_VLAN, is_ipv6);
		for (enum path path = 0; path < PATHS; path++) {
			struct frame frame = caught[path];

			set_tag(&frame, 0xa000 | OUR_VLAN);
			if (path == RC_FAST)
				assert_true(is_fast(&frame));
			is_taken(&frame, path, 0, 0);
		}
		scene_close();
	}
}

/* Some devices strip the tag, and report it beside the packet. */
static void
a_tag_that_the_device_has_taken_off_counts(void **state)
{
	(void)state;
	for (int scene = 0; scene < 4; scene++) {
		scene_open(scene & 1 ? OUR_VLAN : 0, scene & 2);
		for (enum path path = 0; path < PATHS; path++) {
			struct frame frame = caught[path];

			set_tag(&frame, NO_TAG);
			is_dropped(&frame, REFUSED(VLAN), RTE_MBUF_F_RX_VLAN_STRIPPED,
				   OUR_VLAN + 1);
			is_taken(&frame, path, RTE_MBUF_F_RX_VLAN_STRIPPED, 0x2000 | vlan);
		}
		assert_int_equal(plx_engine_counters(pair.side[1].engine)->rx_tagged_again,
				 2 * PATHS);
		scene_close();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stranger),
		cmocka_unit_test(a_tag_that_is_only_a_priority_is_no_vlan),
		cmocka_unit_test(the_priority_of_a_tag_is_free),
		cmocka_unit_test(a_tag_that_the_device_has_taken_off_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
