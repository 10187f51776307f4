/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the simulated port: frames from the links become buffers of exactly their size, in one piece
 * or several; buffers sent become frames on the links. It is also the switch, and gives a host
 * another MAC outside than the one its engine knows, as a virtual machine has that moves.
 * It never decides what the weather does. Start with port_rx() and port_tx().
 */
#include <stdlib.h>

#include "fleet.h"

enum {
	TAG_AT = 12, /* behind the addresses of Ethernet */
};

/* Bytes of a received buffer, freed with it: who reads past them or afterwards is found out. */
struct piece {
	struct rte_mbuf_ext_shared_info shared;
	struct fleet *fleet;
	uint8_t *bytes;
};

/* ---- the MAC outside ---- */

static bool
is_arp(const uint8_t *bytes, size_t len)
{
	return len >= 42 && bytes[12] == 0x08 && bytes[13] == 0x06;
}

/* Where a solicitation or an advertisement of IPv6 has its link-layer address; 0: nowhere. */
static size_t
nd_option_at(const uint8_t *bytes, size_t len)
{
	bool nd = len >= 86 && bytes[12] == 0x86 && bytes[13] == 0xdd && bytes[20] == 58 &&
		  (bytes[54] == 135 || bytes[54] == 136);

	return nd && bytes[78] >= 1 && bytes[78] <= 2 && bytes[79] == 1 ? 80 : 0;
}

bool
port_is_net(const uint8_t *bytes, size_t len)
{
	return is_arp(bytes, len) ||
	       (len >= 55 && bytes[12] == 0x86 && bytes[13] == 0xdd && bytes[20] == 58);
}

/* The checksum of ICMPv6 after words of the packet have changed (RFC 1624). */
static void
patch_icmp6(uint8_t *bytes, size_t at, const uint8_t *to)
{
	uint32_t sum = (uint16_t) ~(bytes[56] << 8 | bytes[57]);

	for (size_t i = 0; i < 6; i += 2) {
		sum += (uint16_t) ~(bytes[at + i] << 8 | bytes[at + i + 1]);
		sum += (uint32_t)to[i] << 8 | to[i + 1];
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	bytes[56] = (uint8_t)(~sum >> 8);
	bytes[57] = (uint8_t)~sum;
	memcpy(bytes + at, to, 6);
}

static void
rename_sender(const struct host *host, uint8_t *bytes, size_t len)
{
	const uint8_t *inside = host->caps.mac, *outside = host->outside;
	size_t option = nd_option_at(bytes, len);

	memcpy(bytes + 6, outside, 6);
	if (is_arp(bytes, len) && memcmp(bytes + 22, inside, 6) == 0)
		memcpy(bytes + 22, outside, 6);
	if (option != 0 && memcmp(bytes + option, inside, 6) == 0)
		patch_icmp6(bytes, option, outside);
}

static void
rename_target(const struct host *host, uint8_t *bytes, size_t len)
{
	if (memcmp(bytes, host->outside, 6) == 0)
		memcpy(bytes, host->caps.mac, 6);
	if (is_arp(bytes, len) && memcmp(bytes + 32, host->outside, 6) == 0)
		memcpy(bytes + 32, host->caps.mac, 6);
}

/* ---- receiving ---- */

static void
piece_free(void *addr, void *opaque)
{
	struct piece *piece = opaque;

	(void)addr;
	piece->fleet->pieces_freed++;
	free(piece->bytes);
	free(piece);
}

/* The tag that the port's frames have outside of the simulated switch, which has none itself;
 * negative: none. */
int
port_tag(const struct host *host)
{
	return host->fleet->vlan != 0 ? host->fleet->vlan : -1;
}

/* Returns: bytes of the frame with its tag */
static uint32_t
insert_tag(uint8_t *out, const uint8_t *bytes, uint32_t len, int tag)
{
	const uint8_t header[PLX_VLAN_BYTES] = {0x81, 0, (uint8_t)(tag >> 8), (uint8_t)tag};
	uint32_t before = len < TAG_AT ? len : TAG_AT;

	memcpy(out, bytes, before);
	if (tag < 0) {
		memcpy(out + before, bytes + before, len - before);
		return len;
	}
	memcpy(out + before, header, sizeof(header));
	memcpy(out + before + sizeof(header), bytes + before, len - before);
	return len + (uint32_t)sizeof(header);
}

static struct rte_mbuf *
wrap(struct host *host, const uint8_t *bytes, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(host->pool);
	struct piece *piece;

	if (m == NULL)
		return NULL;
	piece = malloc(sizeof(*piece));
	PLX_ASSERT(piece != NULL);
	piece->fleet = host->fleet;
	piece->bytes = malloc(len);
	PLX_ASSERT(piece->bytes != NULL);
	memcpy(piece->bytes, bytes, len);
	piece->shared.free_cb = piece_free;
	piece->shared.fcb_opaque = piece;
	rte_mbuf_ext_refcnt_set(&piece->shared, 1);
	rte_pktmbuf_attach_extbuf(m, piece->bytes, 0, len, &piece->shared);
	m->data_len = len;
	m->pkt_len = len;
	host->fleet->pieces_made++;
	return m;
}

/* One frame in one to three buffers; NULL: there are not enough. */
static struct rte_mbuf *
buffers_of(struct host *host, const uint8_t *bytes, uint32_t all)
{
	uint32_t parts = all < 16 || draw_percent(&host->prng, 90)
				 ? 1
				 : (uint32_t)draw_between(&host->prng, 2, 3);
	struct rte_mbuf *head = NULL;
	uint32_t at = 0;

	for (uint32_t i = 0; i < parts; i++) {
		uint32_t rest = all - at;
		uint32_t len =
			i + 1 == parts ? rest : (uint32_t)draw_between(&host->prng, 1, rest / 2);
		struct rte_mbuf *m = wrap(host, bytes + at, (uint16_t)len);

		if (m == NULL || (head != NULL && rte_pktmbuf_chain(head, m) != 0)) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		if (head == NULL)
			head = m;
		at += len;
	}
	return head;
}

static void
strip(struct rte_mbuf *m, int tag)
{
	m->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = (uint16_t)tag;
}

/* One frame with a tag, or with what the device has taken off beside it; NULL: no buffer. */
struct rte_mbuf *
port_wrap_tagged(struct host *host, const uint8_t *bytes, uint32_t len, int tag, bool strips)
{
	uint8_t whole[FLEET_FRAME_ROOM];
	struct rte_mbuf *m;

	strips = strips && tag >= 0;
	len = insert_tag(whole, bytes, len, strips ? -1 : tag);
	m = wrap(host, whole, (uint16_t)len);
	if (m != NULL && strips)
		strip(m, tag);
	return m;
}

/* A frame of the link, as the engine gets it; NULL: there are not enough buffers. */
static struct rte_mbuf *
receive(struct host *host, const struct packet *packet)
{
	int tag = port_tag(host);
	bool strips = tag >= 0 && draw_percent(&host->stranger_prng, 10);
	uint8_t whole[FLEET_FRAME_ROOM];
	uint32_t len = insert_tag(whole, packet->bytes, packet->len, strips ? -1 : tag);
	struct rte_mbuf *m = buffers_of(host, whole, len);

	if (m != NULL && strips)
		strip(m, tag);
	return m;
}

static void
count_rx(struct host *host, const struct rte_mbuf *m)
{
	host->rx_handed++;
	host->rx_bytes += m->pkt_len;
}

static void
lose(struct host *host, struct packet *packet)
{
	host->fleet->world.stats.drops++;
	link_release(&host->fleet->world, packet);
}

/* Junk behind what has arrived, up to a full burst: no IP, and for no host. */
static uint16_t
fill_up(struct core *core, struct rte_mbuf **packets, uint16_t got, uint16_t n)
{
	static const uint8_t junk[60];
	struct host *host = core->host;

	core->flood--;
	for (; got < n; got++) {
		packets[got] = wrap(host, junk, sizeof(junk));
		if (packets[got] == NULL)
			break;
		count_rx(host, packets[got]);
	}
	return got;
}

static uint16_t
port_rx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	struct core *core = (struct core *)port;
	struct host *host = core->host;
	uint16_t got = 0;

	stranger_settle(host);
	while (got < n && core->rx_count > 0) {
		struct packet *packet = core->rx[core->rx_first++ % FLEET_RX_ROOM];

		core->rx_count--;
		rename_target(host, packet->bytes, packet->len);
		if (got + 1 < n)
			packets[got] = stranger_before(host, packet);
		if (got + 1 < n && packets[got] != NULL)
			count_rx(host, packets[got++]);
		packets[got] = receive(host, packet);
		if (packets[got] == NULL) {
			lose(host, packet);
			continue;
		}
		if (host->fleet->crowd)
			crowd_received(host, packet->bytes, packet->len);
		wire_received(host, packet);
		count_rx(host, packets[got]);
		host->bad_handed += packet->damage == DAMAGE_BAD;
		link_release(&host->fleet->world, packet);
		got++;
	}
	return core->flood > 0 ? fill_up(core, packets, got, n) : got;
}

/* The queue that a frame arrives on: that of its flow, its source address and UDP port, whoever it
 * is for. What has none arrives on any. */
static struct core *
queue_of(struct host *host, const struct packet *packet)
{
	bool v4 = host->ip.version == 4;
	uint32_t from = v4 ? 26 : 22, to = v4 ? 30 : 38, port = v4 ? 34 : 54;
	uint32_t hash = host->spread;

	if (host->cores == 1)
		return &host->core[0];
	for (uint32_t at = from; at < packet->len && at < port + 2; at++)
		if (at < to || at >= port)
			hash = hash * 31 + packet->bytes[at];
	return &host->core[(hash >> 8 ^ hash) % host->cores];
}

void
port_arrive(struct host *host, struct packet *packet)
{
	bool net = port_is_net(packet->bytes, packet->len);
	struct core *core = queue_of(host, packet);
	struct fleet *fleet = host->fleet;

	link_landed(&fleet->world, packet);
	if (core->rx_count == FLEET_RX_ROOM || (net && fleet->world.now < host->mute_until)) {
		lose(host, packet);
		return;
	}
	core->rx[(core->rx_first + core->rx_count++) % FLEET_RX_ROOM] = packet;
	host_poll_by(host, fleet->world.now + plx_prng_below(&host->prng, host->gap_ns));
}

void
port_drop_all(struct host *host)
{
	for (uint32_t i = 0; i < host->cores; i++)
		for (struct core *core = &host->core[i]; core->rx_count > 0; core->rx_count--)
			link_release(&host->fleet->world,
				     core->rx[core->rx_first++ % FLEET_RX_ROOM]);
}

/* ---- sending ---- */

static void
remember(struct host *host, const struct host *to, const uint8_t *bytes, size_t len)
{
	struct fleet *fleet = host->fleet;
	struct packet *old = &fleet->old[fleet->old_count % FLEET_OLD_FRAMES];

	if (!draw_percent(&host->prng, 2))
		return;
	free(old->bytes);
	*old = (struct packet){.bytes = malloc(len), .len = (uint32_t)len, .to = to->station};
	PLX_ASSERT(old->bytes != NULL);
	memcpy(old->bytes, bytes, len);
	fleet->old_at[fleet->old_count % FLEET_OLD_FRAMES] =
		fleet->world.link[host->station->index][to->station->index].last_arrival;
	fleet->old_count++;
}

/* A packet that looks like the one on its way and overtakes it, with other bytes, for a number that
 * no queue pair has: the same low bits, another generation. */
static void
forge(struct host *host, struct host *to, const uint8_t *bytes, size_t len)
{
	size_t bth = PLX_ETH_BYTES + PLX_UDP_BYTES +
		     (host->ip.version == 4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES);
	uint8_t *copy;

	if (host->fleet->world.calm || !draw_percent(&host->prng, 2))
		return;
	copy = malloc(len);
	PLX_ASSERT(copy != NULL);
	memcpy(copy, bytes, len);
	copy[bth + 5] ^= 0x80;
	copy[len - PLX_ICRC_BYTES - 4] ^= 0x55;
	weather_seal(copy, len);
	link_stray(&host->fleet->world, to->station, copy, len);
}

static void
carry(struct host *host, struct host *to, const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len);

	PLX_ASSERT(copy != NULL);
	memcpy(copy, bytes, len);
	if (!port_is_net(bytes, len))
		forge(host, to, bytes, len);
	link_send(host->fleet->world.carrier[host->index][to->index], copy, len);
	if (!port_is_net(bytes, len))
		remember(host, to, bytes, len);
}

/* The switch: a MAC that its owner has left is unknown. */
static void
forward(struct host *host, const uint8_t *bytes, size_t len)
{
	struct fleet *fleet = host->fleet;
	bool carried = false;

	if (fleet->world.now < host->mute_until && port_is_net(bytes, len)) {
		fleet->world.stats.drops++;
		return;
	}
	for (uint32_t i = 0; i < fleet->host_count; i++) {
		struct host *to = &fleet->host[i];

		if (to == host || !(bytes[0] & 1 || memcmp(bytes, to->outside, 6) == 0))
			continue;
		carry(host, to, bytes, len);
		carried = true;
	}
	fleet->world.stats.drops += !carried;
}

/* What leaves has the tag of its VLAN, if it is in one. Returns: bytes without it */
static size_t
remove_tag(const struct host *host, uint8_t *bytes, size_t len)
{
	int tag = port_tag(host);
	bool is_tagged =
		len >= TAG_AT + PLX_VLAN_BYTES && bytes[TAG_AT] == 0x81 && bytes[TAG_AT + 1] == 0;

	sim_must(&host->fleet->world,
		 is_tagged == (tag >= 0) &&
			 (tag < 0 || (bytes[TAG_AT + 2] << 8 | bytes[TAG_AT + 3]) == tag),
		 "S1", "a frame leaves with another tag than that of VLAN %u", host->fleet->vlan);
	if (tag < 0)
		return len;
	memmove(bytes + TAG_AT, bytes + TAG_AT + PLX_VLAN_BYTES, len - TAG_AT - PLX_VLAN_BYTES);
	return len - PLX_VLAN_BYTES;
}

static void
send_one(struct host *host, struct rte_mbuf *m)
{
	size_t len = rte_pktmbuf_pkt_len(m);
	uint8_t bytes[FLEET_FRAME_ROOM];

	sim_must(&host->fleet->world, len <= host->caps.frame_max, "I13",
		 "a frame of %zu bytes, the port carries %u", len, host->caps.frame_max);
	memcpy(bytes, rte_pktmbuf_read(m, 0, (uint32_t)len, bytes), len);
	host->tx_taken++;
	host->tx_bytes += len;
	rte_pktmbuf_free(m);
	len = remove_tag(host, bytes, len);
	wire_judge(host, bytes, len);
	rename_sender(host, bytes, len);
	forward(host, bytes, len);
}

static uint16_t
port_tx(struct plx_port *port, struct rte_mbuf **packets, uint16_t n)
{
	struct host *host = ((struct core *)port)->host;
	uint16_t given = n;

	if (host->fleet->world.now < host->refuse_until)
		n = 0;
	else if (host->stingy && n > 0)
		n = (uint16_t)draw_between(&host->prng, 0, n);
	if (host->fleet->crowd)
		n = crowd_takes(host, packets, n);
	host->took_less |= n < given;
	for (uint16_t i = 0; i < n; i++)
		send_one(host, packets[i]);
	return n;
}

void
port_open(struct host *host)
{
	struct plx_port_caps *caps = &host->caps;

	snprintf(caps->name, sizeof(caps->name), "host%u", host->index);
	caps->mac[0] = 2;
	caps->mac[5] = (uint8_t)(host->index + 1);
	caps->socket = -1;
	caps->frame_max = host->fleet->frame_max;
	memcpy(host->outside, caps->mac, sizeof(host->outside));
	for (uint32_t i = 0; i < host->cores; i++) {
		host->core[i].host = host;
		host->core[i].index = i;
		host->core[i].port = (struct plx_port){.rx = port_rx, .tx = port_tx, .caps = *caps};
	}
}

/* ---- unsolicited frames ---- */

static void
announce_arp(const struct host *host, uint8_t *bytes)
{
	static const uint8_t request[] = {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1};

	memcpy(bytes + 12, request, sizeof(request));
	memcpy(bytes + 22, host->outside, 6);
	memcpy(bytes + 28, host->ip.v, 4);
	memcpy(bytes + 38, host->ip.v, 4);
}

/* An unsolicited advertisement to all nodes (RFC 4861, 7.2.6). */
static void
announce_nd(const struct host *host, uint8_t *bytes)
{
	uint32_t sum;

	bytes[12] = 0x86;
	bytes[13] = 0xdd;
	bytes[14] = 0x60;
	bytes[19] = 32;
	bytes[20] = 58;
	bytes[21] = 255;
	memcpy(bytes + 22, host->ip.v, 16);
	bytes[38] = 0xff;
	bytes[39] = 0x02;
	bytes[53] = 1;
	bytes[54] = 136;
	bytes[58] = 0x20; /* override */
	memcpy(bytes + 62, host->ip.v, 16);
	bytes[78] = 2;
	bytes[79] = 1;
	memcpy(bytes + 80, host->outside, 6);
	/* The pseudo header, source and destination of which stand where they are. */
	sum = 32 + 58;
	for (size_t at = 22; at < 86; at += 2)
		sum += (uint32_t)bytes[at] << 8 | bytes[at + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	bytes[56] = (uint8_t)(~sum >> 8);
	bytes[57] = (uint8_t)~sum;
}

/* A host announces its MAC; `surely`: the announcement is not lost. */
void
port_announce(struct host *host, bool surely)
{
	struct fleet *fleet = host->fleet;
	bool calm = fleet->world.calm;
	uint8_t bytes[86] = {0};
	bool v4 = host->ip.version == 4;

	memset(bytes, 0xff, 6);
	if (!v4) {
		memcpy(bytes, (const uint8_t[]){0x33, 0x33, 0, 0, 0, 1}, 6);
		announce_nd(host, bytes);
	} else {
		announce_arp(host, bytes);
	}
	memcpy(bytes + 6, host->outside, 6);
	fleet->world.calm = calm || surely;
	forward(host, bytes, v4 ? 60 : 86);
	fleet->world.calm = calm;
}

/* A frame of long ago comes back, or one that never was. */
void
port_ghost(struct host *host)
{
	struct fleet *fleet = host->fleet;
	uint32_t kept = fleet->old_count < FLEET_OLD_FRAMES ? fleet->old_count : FLEET_OLD_FRAMES;
	uint8_t *bytes;
	size_t len = draw_between(&host->prng, 1, 200);

	if (kept > 0 && draw_percent(&host->prng, 70)) {
		uint32_t which = (uint32_t)plx_prng_below(&host->prng, kept);
		const struct packet *old = &fleet->old[which];

		if (fleet->old_at[which] > fleet->world.now)
			return; /* it would overtake itself and all before it */
		bytes = malloc(old->len);
		PLX_ASSERT(bytes != NULL);
		memcpy(bytes, old->bytes, old->len);
		memcpy(bytes, fleet->host[old->to->index].outside, 6);
		link_stray(&fleet->world, old->to, bytes, old->len);
		return;
	}
	bytes = malloc(len);
	PLX_ASSERT(bytes != NULL);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)plx_prng_next(&host->prng);
	if (len > 14 && draw_percent(&host->prng, 80))
		memcpy(bytes + 12, host->ip.version == 4 ? "\x08\x00\x45" : "\x86\xdd\x60", 3);
	link_stray(&fleet->world, host->station, bytes, len);
}
