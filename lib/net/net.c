/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One port's neighbour resolution: what a question or a frame means, and what is sent.
 * It never believes a claim to an address of ours, and never waits: time is an argument.
 * Start with plx_net_resolve() and plx_net_on_frame(); a neighbour's life is in neighbour.c.
 */
#include "address.h"
#include "neighbour.h"

/* What is owed to somebody who asked for an address of ours. */
struct plx_net_answer {
	struct plx_ip own;
	struct plx_ip asker; /* version 0: it has no address yet */
	uint8_t mac[PLX_MAC_BYTES];
};

struct plx_net {
	struct plx_net_config config;
	struct plx_table table;
	struct plx_net_counters counters;
	bool answered_last; /* whose turn it is: answers or requests */
	uint32_t answer_first, answers;
	struct plx_net_answer answer[PLX_NET_ANSWERS_MAX]; /* a ring */
} __attribute__((aligned(PLX_CACHE_LINE)));

/* ---- set-up --------------------------------------------------------------------------------- */

size_t
plx_net_bytes(const struct plx_net_config *config)
{
	if (!plx_address_config_is_good(config))
		return 0;
	return sizeof(struct plx_net) + plx_table_bytes(config->neighbours);
}

struct plx_net *
plx_net_init(void *memory, const struct plx_net_config *config)
{
	struct plx_net *net = memory;

	PLX_ASSERT(plx_address_config_is_good(config));
	memset(net, 0, sizeof *net);
	net->config = *config;
	for (uint32_t i = 0; i < config->addresses; i++)
		net->config.address[i].ip = plx_ip_canonical(&config->address[i].ip);
	plx_table_init(&net->table, net + 1, config->neighbours, config->seed, &net->counters);
	return net;
}

/* ---- questions ------------------------------------------------------------------------------ */

bool
plx_net_source(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *source)
{
	const struct plx_net_address *own = plx_address_own(&net->config, ip);

	if (!own)
		own = plx_address_of_network(&net->config, ip);
	if (!own)
		return false;
	*source = own->ip;
	return true;
}

bool
plx_net_is_own(const struct plx_net *net, const struct plx_ip *ip)
{
	return plx_address_own(&net->config, ip) != NULL;
}

enum plx_net_verdict
plx_net_resolve(struct plx_net *net, const struct plx_ip *ip, uint64_t now, uint8_t *mac)
{
	const struct plx_neighbour *neighbour;
	struct plx_ip wanted;

	if (plx_net_is_own(net, ip)) {
		memcpy(mac, net->config.mac, PLX_MAC_BYTES);
		return PLX_NET_READY;
	}
	if (!plx_address_is_unicast(&net->config, ip))
		return PLX_NET_NOT_UNICAST;
	if (!plx_address_of_network(&net->config, ip))
		return PLX_NET_NO_ROUTE;
	wanted = plx_ip_canonical(ip);
	neighbour = plx_table_want(&net->table, &wanted, now);
	if (neighbour->state == PLX_NEIGHBOUR_ASKING)
		return PLX_NET_WAIT;
	if (neighbour->state == PLX_NEIGHBOUR_SILENT)
		return PLX_NET_NO_ANSWER;
	memcpy(mac, neighbour->mac, PLX_MAC_BYTES);
	return PLX_NET_READY;
}

/* ---- frames --------------------------------------------------------------------------------- */

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

/* Somebody asks, us or (ARP, which is heard by all) another. Who is known is heard in either case,
 * RFC 826; who is not becomes a guest only when it was us that it asked. */
static enum plx_net_verdict
on_request(struct plx_net *net, const struct plx_message *request, uint64_t now)
{
	bool for_us = plx_net_is_own(net, &request->target);
	struct plx_neighbour *neighbour = NULL;

	if (for_us) {
		plx_count(&net->counters.requests_seen, 1);
		owe_answer(net, request);
	} else if (request->to.version) {
		return PLX_NET_NOT_OURS; /* RFC 4861, 7.2.3 */
	}
	if (!request->has_mac || !request->subject.version)
		return for_us ? PLX_NET_TAKEN : PLX_NET_NOT_OURS;
	neighbour = plx_table_find(&net->table, &request->subject);
	if (neighbour)
		plx_neighbour_heard(&net->table, neighbour, request, false, now);
	else if (for_us && plx_address_of_network(&net->config, &request->subject))
		plx_table_welcome(&net->table, &request->subject, request->mac, now);
	return for_us || neighbour ? PLX_NET_TAKEN : PLX_NET_NOT_OURS;
}

static enum plx_net_verdict
on_answer(struct plx_net *net, const struct plx_message *answer, uint64_t now)
{
	struct plx_neighbour *neighbour = plx_table_find(&net->table, &answer->subject);
	bool solicited = answer->solicited && plx_net_is_own(net, &answer->target);

	if (!neighbour) {
		plx_count(&net->counters.unasked, 1);
		return PLX_NET_TAKEN;
	}
	plx_count(&net->counters.replies_seen, 1);
	plx_neighbour_heard(&net->table, neighbour, answer, solicited, now);
	return PLX_NET_TAKEN;
}

/* What only we can tell: a MAC that is ours, or an IP address that is everybody's in its network.
 */
static bool
claim_is_malformed(const struct plx_net *net, const struct plx_message *message)
{
	if (message->has_mac && memcmp(message->mac, net->config.mac, PLX_MAC_BYTES) == 0)
		return true;
	return message->subject.version && !plx_address_is_unicast(&net->config, &message->subject);
}

enum plx_net_verdict
plx_net_on_frame(struct plx_net *net, const uint8_t *bytes, size_t len, uint64_t now)
{
	struct plx_message message;
	enum plx_net_verdict verdict;

	verdict = plx_message_decode(bytes, len, net->config.mac, &message);
	if (verdict == PLX_NET_TAKEN && claim_is_malformed(net, &message))
		verdict = PLX_NET_MALFORMED;
	if (verdict == PLX_NET_MALFORMED)
		plx_count(&net->counters.malformed, 1);
	if (verdict != PLX_NET_TAKEN)
		return verdict;
	if (message.to.version && !plx_ip_is_multicast(&message.to) &&
	    !plx_net_is_own(net, &message.to))
		return PLX_NET_NOT_OURS;
	if (message.subject.version && plx_net_is_own(net, &message.subject)) {
		plx_count(&net->counters.conflicts, 1);
		return PLX_NET_TAKEN;
	}
	return message.kind == PLX_MESSAGE_REQUEST ? on_request(net, &message, now)
						   : on_answer(net, &message, now);
}

/* ---- sending -------------------------------------------------------------------------------- */

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

/* Who is known is asked where it was; who is not, everybody is asked for. */
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
	if (neighbour->state == PLX_NEIGHBOUR_PROBING) {
		memcpy(message.eth_dst, neighbour->mac, PLX_MAC_BYTES);
	} else if (neighbour->ip.version == 4) {
		memset(message.eth_dst, 0xff, PLX_MAC_BYTES);
	} else {
		message.to = plx_nd_solicited_node(&neighbour->ip);
		plx_nd_group_mac(&message.to, message.eth_dst);
	}
	plx_neighbour_asked(&net->table, neighbour, now);
	plx_count(&net->counters.requests_sent, 1);
	return plx_message_encode(&message, out);
}

size_t
plx_net_transmit(struct plx_net *net, uint64_t now, uint8_t *out)
{
	struct plx_neighbour *neighbour = plx_table_to_ask(&net->table);

	net->answered_last = net->answers && !(net->answered_last && neighbour);
	if (net->answered_last)
		return send_answer(net, out);
	return neighbour ? send_request(net, neighbour, now, out) : 0;
}

/* ---- time, and what is to be seen ----------------------------------------------------------- */

void
plx_net_on_tick(struct plx_net *net, uint64_t now)
{
	plx_table_tick(&net->table, now);
}

uint64_t
plx_net_wake_ns(const struct plx_net *net)
{
	if (net->answers || plx_table_to_ask(&net->table))
		return 0;
	return plx_table_due_ns(&net->table);
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
