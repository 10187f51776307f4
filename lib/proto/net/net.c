/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbour resolution and echo of one port: handling of calls and received frames, and sending.
 * It never accepts a claim to an address of ours, and never waits: time is an argument.
 * Start with plx_net_resolve() and plx_net_on_frame(); a neighbour's life is in neighbour.c.
 */
#include "address.h"
#include "echo.h"
#include "neighbour.h"
#include "ping.h"

/* A queued reply to a request for an address of ours. */
struct plx_net_answer {
	struct plx_ip own;
	struct plx_ip asker; /* version 0: the sender has no address yet */
	uint8_t mac[PLX_MAC_BYTES];
};

/* Kinds of frames to send, in round-robin order. */
enum kind {
	ANSWER,
	REQUEST,
	ECHO,
	PING,
	ANNOUNCEMENT,
	KINDS,
};

struct plx_net {
	struct plx_net_config config;
	struct plx_table table;
	struct plx_net_counters counters;

	/* checked in every duty cycle, as is the front of `pings` */
	uint32_t answers, echoes;
	uint32_t announce_left; /* rounds, including the current one */
	bool announcing;
	uint64_t announce_ns; /* when the next round begins, unless announcing */
	struct plx_pings pings;

	uint32_t turn;          /* enum kind: checked first */
	uint32_t announce_next; /* of our addresses */
	uint32_t answer_first, echo_first;
	struct plx_net_answer answer[PLX_NET_ANSWERS_MAX]; /* a ring */
	uint32_t groups;
	uint8_t group[PLX_NET_GROUPS_MAX * PLX_MAC_BYTES]; /* addresses, one after another */
	uint32_t echo_bytes[PLX_NET_ECHOES_MAX];           /* a ring; untagged frames: */
	uint8_t *echo_frames; /* [PLX_NET_ECHOES_MAX] of config.frame_max */
} PLX_ALIGNED_LINE;

/* ---- set-up ---- */

static uint32_t
frame_max_of(const struct plx_net_config *config)
{
	return config->frame_max ? config->frame_max : PLX_NET_FRAME_USUAL;
}

size_t
plx_net_bytes(const struct plx_net_config *config)
{
	if (!plx_address_config_is_good(config))
		return 0;
	return sizeof(struct plx_net) + plx_table_bytes(config->neighbours) +
	       (size_t)PLX_NET_ECHOES_MAX * frame_max_of(config);
}

struct plx_net *
plx_net_init(void *memory, const struct plx_net_config *config)
{
	struct plx_secret neighbours = plx_secret_for(&config->secret, PLX_SECRET_NEIGHBOURS, 0);
	struct plx_secret echoes = plx_secret_for(&config->secret, PLX_SECRET_ECHOES, 0);
	struct plx_net *net = memory;

	PLX_ASSERT(plx_address_config_is_good(config));
	memset(net, 0, sizeof *net);
	net->config = *config;
	for (uint32_t i = 0; i < config->addresses; i++)
		net->config.address[i].ip = plx_ip_canonical(&config->address[i].ip);
	net->config.frame_max = frame_max_of(config);
	net->groups = plx_net_groups(net->config.address, config->addresses, net->group);
	plx_table_init(&net->table, net + 1, config->neighbours, &neighbours, &net->counters);
	net->echo_frames = (uint8_t *)(net + 1) + plx_table_bytes(config->neighbours);
	plx_pings_init(&net->pings, &echoes);
	plx_secret_wipe(&net->config.secret, sizeof net->config.secret);
	plx_secret_wipe(&neighbours, sizeof neighbours);
	plx_secret_wipe(&echoes, sizeof echoes);
	net->announce_left = config->announce;
	net->announcing = config->announce > 0;
	return net;
}

/* ---- requests ---- */

bool
plx_net_source(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *source)
{
	const struct plx_net_address *own = plx_address_own(&net->config, ip);
	struct plx_next_hop next_hop;

	if (!own && plx_address_next_hop(&net->config, ip, &next_hop))
		own = next_hop.from;
	if (!own)
		return false;
	*source = own->ip;
	return true;
}

bool
plx_net_next_hop(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *hop)
{
	struct plx_next_hop next_hop;

	if (plx_net_is_own(net, ip)) {
		*hop = plx_ip_canonical(ip);
		return true;
	}
	if (!plx_address_next_hop(&net->config, ip, &next_hop))
		return false;
	*hop = next_hop.ip;
	return true;
}

bool
plx_net_is_own(const struct plx_net *net, const struct plx_ip *ip)
{
	return plx_address_own(&net->config, ip) != NULL;
}

bool
plx_net_is_own4(const struct plx_net *net, uint32_t ip)
{
	const uint8_t bytes[4] = {(uint8_t)(ip >> 24), (uint8_t)(ip >> 16), (uint8_t)(ip >> 8),
				  (uint8_t)ip};

	for (uint32_t i = 0; i < net->config.addresses; i++) {
		const struct plx_ip *own = &net->config.address[i].ip;

		if (own->version == 4 && memcmp(own->v, bytes, sizeof(bytes)) == 0)
			return true;
	}
	return false;
}

bool
plx_net_is_own6(const struct plx_net *net, const uint8_t *ip)
{
	for (uint32_t i = 0; i < net->config.addresses; i++) {
		const struct plx_ip *own = &net->config.address[i].ip;

		if (own->version == 6 && memcmp(own->v, ip, sizeof(own->v)) == 0)
			return true;
	}
	return false;
}

uint16_t
plx_net_vlan(const struct plx_net *net)
{
	return net->config.vlan;
}

/* Our own address: READY, with our MAC. A reachable address: WAIT, with its next hop,
 * which the caller looks up. */
static enum plx_net_verdict
next_hop_of(const struct plx_net *net, const struct plx_ip *ip, uint8_t *mac,
	    struct plx_next_hop *next_hop)
{
	if (plx_net_is_own(net, ip)) {
		memcpy(mac, net->config.mac, PLX_MAC_BYTES);
		return PLX_NET_READY;
	}
	if (!plx_address_is_unicast(&net->config, ip))
		return PLX_NET_NOT_UNICAST;
	return plx_address_next_hop(&net->config, ip, next_hop) ? PLX_NET_WAIT : PLX_NET_NO_ROUTE;
}

enum plx_net_verdict
plx_net_reach(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *hop, uint8_t *mac)
{
	struct plx_next_hop next_hop;
	enum plx_net_verdict verdict = next_hop_of(net, ip, mac, &next_hop);

	if (verdict == PLX_NET_WAIT)
		*hop = next_hop.ip;
	return verdict;
}

enum plx_net_verdict
plx_net_resolve(struct plx_net *net, const struct plx_ip *ip, uint64_t now, uint8_t *mac)
{
	const struct plx_neighbour *neighbour;
	struct plx_next_hop next_hop;
	enum plx_net_verdict verdict = next_hop_of(net, ip, mac, &next_hop);

	if (verdict != PLX_NET_WAIT)
		return verdict;
	neighbour = plx_table_want(&net->table, &next_hop.ip, now);
	if (neighbour->state == PLX_NEIGHBOUR_INCOMPLETE)
		return PLX_NET_WAIT;
	if (neighbour->state == PLX_NEIGHBOUR_FAILED)
		return PLX_NET_NO_ANSWER;
	memcpy(mac, neighbour->mac, PLX_MAC_BYTES);
	return PLX_NET_READY;
}

enum plx_net_verdict
plx_net_resolve_reply(const struct plx_net *net, const struct plx_ip *ip, const uint8_t *from,
		      uint8_t *mac)
{
	const struct plx_neighbour *neighbour;
	struct plx_next_hop next_hop;
	enum plx_net_verdict verdict = next_hop_of(net, ip, mac, &next_hop);

	if (verdict != PLX_NET_WAIT)
		return verdict;
	neighbour = plx_table_find(&net->table, &next_hop.ip);
	if (neighbour && (neighbour->state == PLX_NEIGHBOUR_INCOMPLETE ||
			  neighbour->state == PLX_NEIGHBOUR_FAILED))
		neighbour = NULL;
	memcpy(mac, neighbour ? neighbour->mac : from, PLX_MAC_BYTES);
	return PLX_NET_READY;
}

void
plx_net_welcome(struct plx_net *net, const struct plx_ip *ip, const uint8_t *from, uint64_t now)
{
	struct plx_ip own = plx_ip_canonical(ip);
	struct plx_next_hop next_hop;

	/* A station reached through a gateway is not a neighbour. */
	if (plx_net_is_own(net, ip) || !plx_address_is_unicast(&net->config, ip) ||
	    !plx_address_next_hop(&net->config, ip, &next_hop) ||
	    !plx_ip_equal(&next_hop.ip, &own) || plx_table_find(&net->table, &own))
		return;
	plx_table_welcome(&net->table, &own, from, now);
}

/* ---- frames ---- */

static void
owe_answer(struct plx_net *net, const struct plx_message *request)
{
	struct plx_net_answer *answer;

	if (net->answers == PLX_NET_ANSWERS_MAX) {
		plx_count(&net->counters.replies_dropped, 1);
		return;
	}
	answer = &net->answer[(net->answer_first + net->answers) % PLX_NET_ANSWERS_MAX];
	net->answers++;
	answer->own = request->target;
	answer->asker = request->subject;
	/* A unicast solicitation may leave its MAC out: the frame has one. */
	memcpy(answer->mac, request->has_mac ? request->mac : request->eth_src, PLX_MAC_BYTES);
}

/* A request, to us or (ARP broadcasts) to another station. It updates a known sender in either case
 * (RFC 826). An unknown sender becomes a guest only if the request is for us. */
static enum plx_net_verdict
on_request(struct plx_net *net, const struct plx_message *request, uint64_t now)
{
	bool for_us = plx_net_is_own(net, &request->target);
	struct plx_neighbour *neighbour = NULL;

	if (for_us) {
		plx_count(&net->counters.requests_seen, 1);
		owe_answer(net, request);
	} else if (request->to.version) {
		return PLX_NET_OTHER_ADDRESS; /* RFC 4861, 7.2.3 */
	}
	if (!request->has_mac || !request->subject.version)
		return for_us ? PLX_NET_TAKEN : PLX_NET_OTHER_ADDRESS;
	neighbour = plx_table_find(&net->table, &request->subject);
	if (neighbour)
		plx_neighbour_update(&net->table, neighbour, request, false, now);
	else if (for_us && plx_address_of_network(&net->config, &request->subject))
		plx_table_welcome(&net->table, &request->subject, request->mac, now);
	return for_us || neighbour ? PLX_NET_TAKEN : PLX_NET_OTHER_ADDRESS;
}

static enum plx_net_verdict
on_answer(struct plx_net *net, const struct plx_message *answer, uint64_t now)
{
	struct plx_neighbour *neighbour = plx_table_find(&net->table, &answer->subject);
	bool solicited = answer->solicited && plx_net_is_own(net, &answer->target);

	if (!neighbour) {
		plx_count(&net->counters.unsolicited, 1);
		return PLX_NET_TAKEN;
	}
	plx_count(&net->counters.replies_seen, 1);
	plx_neighbour_update(&net->table, neighbour, answer, solicited, now);
	return PLX_NET_TAKEN;
}

/*
 * Does the message claim a MAC of ours, or an address that no station in our network can have, such
 * as a broadcast address? Only this check needs our configuration.
 */
static bool
claim_is_malformed(const struct plx_net *net, const struct plx_message *message)
{
	if (message->has_mac && memcmp(message->mac, net->config.mac, PLX_MAC_BYTES) == 0)
		return true;
	return message->subject.version && !plx_address_is_unicast(&net->config, &message->subject);
}

/* ARP has no destination other than Ethernet's. */
static bool
is_for_us(const struct plx_net *net, const struct plx_ip *to)
{
	return !to->version || plx_net_is_own(net, to) ||
	       plx_address_is_our_group(&net->config, to);
}

static enum plx_net_verdict
on_message(struct plx_net *net, const struct plx_message *message, uint64_t now)
{
	if (!is_for_us(net, &message->to))
		return PLX_NET_OTHER_ADDRESS;
	if (claim_is_malformed(net, message))
		return PLX_NET_MALFORMED;
	if (message->subject.version && plx_net_is_own(net, &message->subject)) {
		plx_count(&net->counters.conflicts, 1);
		return PLX_NET_TAKEN;
	}
	return message->kind == PLX_MESSAGE_REQUEST ? on_request(net, message, now)
						    : on_answer(net, message, now);
}

/* ---- echo ---- */

static size_t
tag_bytes(const struct plx_net *net)
{
	return net->config.vlan ? PLX_VLAN_BYTES : 0;
}

/* The reply goes to the Ethernet source of the frame, so that no lookup is needed and a forged
 * sender costs us nothing. It is built at once, because the frame belongs to the caller. */
static void
owe_echo(struct plx_net *net, const struct plx_echo *request)
{
	uint32_t at = (net->echo_first + net->echoes) % PLX_NET_ECHOES_MAX;
	struct plx_echo answer = *request;

	if (net->echoes == PLX_NET_ECHOES_MAX ||
	    plx_echo_frame_bytes(request) + tag_bytes(net) > net->config.frame_max) {
		plx_count(&net->counters.echoes_dropped, 1);
		return;
	}
	answer.asks = false;
	answer.traffic_class &= 0xfc; /* without congestion marks: RFC 3168, 6.1 */
	answer.from = request->to;
	answer.to = request->from;
	memcpy(answer.eth_dst, request->eth_src, PLX_MAC_BYTES);
	memcpy(answer.eth_src, net->config.mac, PLX_MAC_BYTES);
	net->echo_bytes[at] = (uint32_t)plx_echo_encode(
		&answer, net->echo_frames + (size_t)at * net->config.frame_max);
	net->echoes++;
}

static void
on_echo_answer(struct plx_net *net, const struct plx_echo *answer, uint64_t now)
{
	struct plx_ping *ping = plx_ping_of_answer(&net->pings, answer->sequence);

	if (!ping || answer->id != ping->id || answer->bytes != ping->bytes ||
	    memcmp(&answer->from, &ping->to, sizeof ping->to) != 0 ||
	    memcmp(&answer->to, &ping->from, sizeof ping->from) != 0 || !plx_echo_counts(answer)) {
		plx_count(&net->counters.pings_unsolicited, 1);
		return;
	}
	plx_count(&net->counters.pings_answered, 1);
	ping->rtt_ns = now - ping->sent_ns;
	plx_ping_insert(&net->pings, ping, PLX_PING_ANSWERED);
}

static enum plx_net_verdict
on_echo(struct plx_net *net, const struct plx_echo *echo, uint64_t now)
{
	if (!plx_net_is_own(net, &echo->to))
		return PLX_NET_OTHER_ADDRESS;
	if (!plx_address_is_unicast(&net->config, &echo->from))
		return PLX_NET_MALFORMED;
	if (plx_net_is_own(net, &echo->from)) {
		plx_count(&net->counters.conflicts, 1);
	} else if (echo->asks) {
		plx_count(&net->counters.echoes_seen, 1);
		owe_echo(net, echo);
	} else {
		on_echo_answer(net, echo, now);
	}
	return PLX_NET_TAKEN;
}

/* Broadcasts are for ARP. Multicasts are for neighbour discovery, if we are in the group. */
static bool
is_our_group(const struct plx_net *net, const struct plx_ether *ether)
{
	static const uint8_t everybody[PLX_MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (ether->type == PLX_ETHERTYPE_ARP)
		return memcmp(ether->dst, everybody, PLX_MAC_BYTES) == 0;
	for (uint32_t i = 0; i < net->groups; i++)
		if (memcmp(ether->dst, net->group + (size_t)i * PLX_MAC_BYTES, PLX_MAC_BYTES) == 0)
			return ether->type == PLX_ETHERTYPE_IPV6;
	return false;
}

enum plx_net_verdict
plx_net_on_frame(struct plx_net *net, const uint8_t *bytes, size_t len, uint64_t now)
{
	struct plx_message message;
	struct plx_ether ether;
	struct plx_echo echo;
	enum plx_net_verdict verdict;

	verdict = plx_ether_decode(bytes, len, &net->config, &ether);
	if (verdict == PLX_NET_TAKEN && ether.dst[0] & 1 && !is_our_group(net, &ether))
		verdict = PLX_NET_OTHER_STATION;
	if (verdict == PLX_NET_TAKEN) {
		verdict = plx_message_decode(&ether, bytes, len, &message);
		if (verdict == PLX_NET_TAKEN) {
			verdict = on_message(net, &message, now);
		} else if (verdict == PLX_NET_NOT_OURS && ether.type != PLX_ETHERTYPE_ARP) {
			verdict = plx_echo_decode(&ether, bytes, len, &echo);
			if (verdict == PLX_NET_TAKEN)
				verdict = on_echo(net, &echo, now);
		}
	}
	if (verdict == PLX_NET_MALFORMED)
		plx_count(&net->counters.malformed, 1);
	return verdict;
}

/* ---- echo requests of our own ---- */

/* The request can be sent once the next hop is resolved. */
static enum plx_net_verdict
look(struct plx_net *net, struct plx_ping *ping, uint64_t now)
{
	enum plx_net_verdict verdict = plx_net_resolve(net, &ping->to, now, ping->mac);

	if (verdict == PLX_NET_READY)
		plx_ping_insert(&net->pings, ping, PLX_PING_TO_SEND);
	return verdict;
}

/* The request as sent. */
static struct plx_echo
echo_of(const struct plx_net *net, const struct plx_ping *ping)
{
	struct plx_echo echo = {.asks = true,
				.id = ping->id,
				.sequence = (uint16_t)ping->number,
				.from = ping->from,
				.to = ping->to,
				.bytes = ping->bytes};

	memcpy(echo.eth_dst, ping->mac, PLX_MAC_BYTES);
	memcpy(echo.eth_src, net->config.mac, PLX_MAC_BYTES);
	return echo;
}

enum plx_net_verdict
plx_net_ping(struct plx_net *net, const struct plx_ip *ip, uint32_t bytes, uint64_t now,
	     uint64_t timeout, uint32_t *number)
{
	bool own = plx_net_is_own(net, ip);
	struct plx_ip source;
	struct plx_ping *ping;
	struct plx_echo echo;

	if (!own && !plx_address_is_unicast(&net->config, ip))
		return PLX_NET_NOT_UNICAST;
	if (!plx_net_source(net, ip, &source))
		return PLX_NET_NO_ROUTE;
	echo = (struct plx_echo){.from = source, .bytes = bytes};
	if (bytes > PLX_NET_FRAME_MAX ||
	    plx_echo_frame_bytes(&echo) + tag_bytes(net) > net->config.frame_max)
		return PLX_NET_TOO_LONG;
	ping = plx_ping_begin(&net->pings, now, timeout);
	if (!ping)
		return PLX_NET_BUSY;
	ping->from = source;
	ping->to = plx_ip_canonical(ip);
	ping->bytes = bytes;
	*number = ping->number;
	if (own)
		plx_ping_insert(&net->pings, ping, PLX_PING_ANSWERED);
	else
		(void)look(net, ping, now);
	return PLX_NET_WAIT;
}

enum plx_net_verdict
plx_net_ping_result(struct plx_net *net, uint32_t number, uint64_t now, uint64_t *rtt_ns)
{
	struct plx_ping *ping = plx_ping_find(&net->pings, number);
	enum plx_net_verdict verdict = PLX_NET_LOST;

	if (!ping)
		return PLX_NET_LOST;
	if (ping->state == PLX_PING_ANSWERED) {
		*rtt_ns = ping->rtt_ns;
		verdict = PLX_NET_READY;
	} else if (ping->state == PLX_PING_LOOKING) {
		verdict = look(net, ping, now);
		if (verdict != PLX_NET_NO_ANSWER && now < ping->deadline_ns)
			return PLX_NET_WAIT;
		verdict = PLX_NET_NO_ANSWER;
	} else if (now < ping->deadline_ns) {
		return PLX_NET_WAIT;
	}
	plx_ping_insert(&net->pings, ping, PLX_PING_FREE);
	return verdict;
}

/* ---- sending ---- */

static size_t
send_answer(struct plx_net *net, uint8_t *out)
{
	const struct plx_net_answer *answer = &net->answer[net->answer_first];
	struct plx_message message = {
		.kind = PLX_MESSAGE_ANSWER,
		.solicited = answer->asker.version != 0,
		.subject = answer->own,
		.target = answer->asker,
		.to = answer->asker,
	};

	memcpy(message.eth_dst, answer->mac, PLX_MAC_BYTES);
	memcpy(message.eth_src, net->config.mac, PLX_MAC_BYTES);
	memcpy(message.mac, net->config.mac, PLX_MAC_BYTES);
	if (answer->own.version == 6 && !answer->asker.version) {
		message.to = plx_nd_all_nodes(); /* RFC 4861, 7.2.4 */
		plx_nd_group_mac(&message.to, message.eth_dst);
	}
	net->answer_first = (net->answer_first + 1) % PLX_NET_ANSWERS_MAX;
	net->answers--;
	plx_count(&net->counters.replies_sent, 1);
	return plx_message_encode(&message, out);
}

/* A request for a neighbour with a known MAC is unicast; others are multicast or broadcast. */
static size_t
send_request(struct plx_net *net, struct plx_neighbour *neighbour, uint64_t now, uint8_t *out)
{
	struct plx_message message = {
		.kind = PLX_MESSAGE_REQUEST,
		.subject = plx_address_of_network(&net->config, &neighbour->ip)->ip,
		.target = neighbour->ip,
		.to = neighbour->ip,
	};

	memcpy(message.eth_src, net->config.mac, PLX_MAC_BYTES);
	memcpy(message.mac, net->config.mac, PLX_MAC_BYTES);
	if (neighbour->state == PLX_NEIGHBOUR_PROBE) {
		memcpy(message.eth_dst, neighbour->mac, PLX_MAC_BYTES);
	} else if (neighbour->ip.version == 4) {
		memset(message.eth_dst, 0xff, PLX_MAC_BYTES);
	} else {
		message.to = plx_nd_solicited_node(&neighbour->ip);
		plx_nd_group_mac(&message.to, message.eth_dst);
	}
	plx_neighbour_request_sent(&net->table, neighbour, now);
	plx_count(&net->counters.requests_sent, 1);
	return plx_message_encode(&message, out);
}

static size_t
send_echo(struct plx_net *net, uint8_t *out)
{
	uint32_t bytes = net->echo_bytes[net->echo_first];

	memcpy(out, net->echo_frames + (size_t)net->echo_first * net->config.frame_max, bytes);
	net->echo_first = (net->echo_first + 1) % PLX_NET_ECHOES_MAX;
	net->echoes--;
	plx_count(&net->counters.echoes_sent, 1);
	return bytes;
}

static size_t
send_ping(struct plx_net *net, uint64_t now, uint8_t *out)
{
	struct plx_ping *ping = plx_ping_to_send(&net->pings);
	struct plx_echo echo = echo_of(net, ping);

	ping->sent_ns = now;
	plx_ping_insert(&net->pings, ping, PLX_PING_SENT);
	plx_count(&net->counters.pings_sent, 1);
	return plx_echo_encode(&echo, out);
}

/* An ARP request for our own address (RFC 5227, 3) or an unsolicited advertisement (RFC 4861,
 * 7.2.6); once per address in each round of announcements. */
static size_t
send_announcement(struct plx_net *net, uint64_t now, uint8_t *out)
{
	const struct plx_ip *own = &net->config.address[net->announce_next].ip;
	struct plx_message message = {
		.kind = own->version == 4 ? PLX_MESSAGE_REQUEST : PLX_MESSAGE_ANSWER,
		.subject = *own,
		.target = *own,
	};

	memcpy(message.eth_src, net->config.mac, PLX_MAC_BYTES);
	memcpy(message.mac, net->config.mac, PLX_MAC_BYTES);
	if (own->version == 4) {
		memset(message.eth_dst, 0xff, PLX_MAC_BYTES);
	} else {
		message.to = plx_nd_all_nodes();
		plx_nd_group_mac(&message.to, message.eth_dst);
	}
	if (++net->announce_next == net->config.addresses) {
		net->announce_next = 0;
		net->announce_left--;
		net->announcing = false;
		net->announce_ns = plx_time_add(now, PLX_NET_ANNOUNCE_NS);
	}
	plx_count(&net->counters.announcements_sent, 1);
	return plx_message_encode(&message, out);
}

static bool
waits(const struct plx_net *net, enum kind kind)
{
	switch (kind) {
	case ANSWER:
		return net->answers > 0;
	case REQUEST:
		return plx_table_next_request(&net->table) != NULL;
	case ECHO:
		return net->echoes > 0;
	case PING:
		return net->pings.to_send > 0;
	case ANNOUNCEMENT:
		return net->announcing;
	case KINDS:
		break;
	}
	return false;
}

/* Write an untagged frame. */
static size_t
write_next(struct plx_net *net, uint64_t now, uint8_t *out)
{
	uint32_t kind = net->turn, looked = 0;

	while (!waits(net, (enum kind)kind)) {
		if (++looked == KINDS)
			return 0;
		kind = (kind + 1) % KINDS;
	}
	net->turn = (kind + 1) % KINDS;
	switch ((enum kind)kind) {
	case ANSWER:
		return send_answer(net, out);
	case REQUEST:
		return send_request(net, plx_table_next_request(&net->table), now, out);
	case ECHO:
		return send_echo(net, out);
	case PING:
		return send_ping(net, now, out);
	case ANNOUNCEMENT:
	case KINDS:
		break;
	}
	return send_announcement(net, now, out);
}

/* Write the frame with room for a tag, then move the Ethernet addresses in front of the tag. */
size_t
plx_net_transmit(struct plx_net *net, uint64_t now, uint8_t *out)
{
	enum {
		ADDRESSES = 2 * PLX_MAC_BYTES
	};
	size_t len = write_next(net, now, out + tag_bytes(net));

	if (!net->config.vlan || len == 0)
		return len;
	memmove(out, out + PLX_VLAN_BYTES, ADDRESSES);
	plx_put16(out + ADDRESSES, PLX_ETHERTYPE_VLAN);
	plx_put16(out + ADDRESSES + 2, net->config.vlan);
	return len + PLX_VLAN_BYTES;
}

/* ---- time and queries ---- */

void
plx_net_on_tick(struct plx_net *net, uint64_t now)
{
	plx_table_tick(&net->table, now);
	if (net->announce_left > 0 && now >= net->announce_ns)
		net->announcing = true;
}

uint64_t
plx_net_wake_ns(const struct plx_net *net)
{
	uint64_t due_ns = net->announce_left > 0 ? net->announce_ns : PLX_NEVER;

	/* Checked in every duty cycle: equal to waits() of every kind. */
	if ((net->answers | net->echoes | net->pings.to_send) != 0 || net->announcing ||
	    plx_table_next_request(&net->table))
		return 0;
	return plx_time_min(due_ns, plx_table_due_ns(&net->table));
}

uint32_t
plx_net_frame_max(const struct plx_net *net)
{
	return net->config.frame_max;
}

uint32_t
plx_net_version(const struct plx_net *net)
{
	return net->table.version;
}

const struct plx_net_counters *
plx_net_counters(const struct plx_net *net)
{
	return &net->counters;
}
