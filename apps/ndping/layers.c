/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of the layers, the three that need no connection, and the meaning of their failures: a
 * layer that works rules out causes for failures of the layers above.
 * It prints nothing. Start with layers_try().
 */
#include "ping.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	ICMP_BYTES = 56, /* the default of ping */
};

const char *const layer_names[LAYER_COUNT] = {
	[LAYER_NEIGHBOUR] = "neighbour", [LAYER_ICMP] = "ICMP echo",
	[LAYER_MANAGER] = "manager",     [LAYER_CONNECT] = "connect",
	[LAYER_MESSAGES] = "messages",   [LAYER_DISCONNECT] = "disconnect",
};

bool
layer_fail(struct ping *ping, enum layer layer, const char *format, ...)
{
	va_list arguments;
	int n = snprintf(ping->sentence, sizeof(ping->sentence), "%s: ", layer_names[layer]);
	va_start(arguments, format);
	vsnprintf(ping->sentence + n, sizeof(ping->sentence) - (size_t)n, format, arguments);
	va_end(arguments);
	return false;
}

static void
found(struct ping *ping, enum layer layer, const char *text)
{
	snprintf(ping->finding[layer].text, sizeof(ping->finding[layer].text), "%s", text);
}

/* ---- is the host reachable? ---- */

static bool
try_neighbour(struct ping *ping)
{
	struct plx_why why = {{0}};
	uint8_t mac[6];
	char text[64], ip[64];
	enum plx_status status = plx_adapter_resolve(ping->at.adapter, &ping->options->peer,
						     ping->options->timeout_ms, mac, &why);
	if (status != PLX_OK)
		return layer_fail(
			ping, LAYER_NEIGHBOUR,
			"requested the Ethernet address of %s: %s; either no host has this "
			"address, or device, cable, VLAN, prefix or routes are wrong",
			ip_text(&ping->options->peer, ip, sizeof(ip)), reason_text(&why, status));
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	found(ping, LAYER_NEIGHBOUR, text);
	return true;
}

static bool
try_icmp(struct ping *ping)
{
	struct plx_why why = {{0}};
	uint64_t rtt_ns = 0;
	char text[64];
	enum plx_status status =
		plx_adapter_ping(ping->at.adapter, &ping->options->peer, ICMP_BYTES,
				 ping->options->timeout_ms, &rtt_ns, &why);
	if (status != PLX_OK)
		return layer_fail(ping, LAYER_ICMP,
				  "%s, although its Ethernet address is known; either it does not "
				  "answer pings, or it (or a router) has no route back; let "
				  "ICMP echo through there, and check its prefix and routes; "
				  "--no-icmp skips this layer",
				  reason_text(&why, status));
	snprintf(text, sizeof(text), "%d bytes, round trip %.1f us", ICMP_BYTES,
		 (double)rtt_ns / 1e3);
	found(ping, LAYER_ICMP, text);
	return true;
}

/* ---- is there a communication manager? ---- */

static bool
no_manager(struct ping *ping, const char *how)
{
	const struct options *o = ping->options;
	char ip[64];
	return layer_fail(ping, LAYER_MANAGER,
			  "asked %s over RoCEv2 (UDP port 4791) for the service on port %u: %s; "
			  "%s, so either no RDMA stack runs there, or a filter drops UDP port "
			  "4791; start one (`ndping server`; on Linux, `rdma link` lists the "
			  "kernel's), and let that port through",
			  ip_text(&o->peer, ip, sizeof(ip)), o->port, how,
			  o->no_icmp ? "its Ethernet address is known" : "it answers pings");
}

/* Any answer will do, because only a manager can report that a service does not exist. */
static bool
try_manager(struct ping *ping)
{
	const struct options *o = ping->options;
	struct plx_connect_options options;
	struct plx_connector_event event;
	struct plx_connector *connector = NULL;
	struct plx_why why = {{0}};
	char text[EVENT_TEXT_MAX];
	plx_connect_options_init(&options);
	options.remote = o->peer;
	options.remote_port = (uint16_t)o->port;
	enum plx_status status = plx_connector_create(ping->at.channel, 0, &connector);
	if (status == PLX_OK)
		status = plx_sidr_request(connector, &options, &why);
	if (status != PLX_OK) {
		if (connector != NULL)
			check_destroyed(plx_connector_destroy(connector), "a connector");
		return no_manager(ping, reason_text(&why, status));
	}
	bool has_come = plx_event_channel_wait(ping->at.channel, o->timeout_ms, &event);
	check_destroyed(plx_connector_destroy(connector), "a connector");
	if (!has_come) {
		snprintf(text, sizeof(text), "no answer within %u ms", o->timeout_ms);
		return no_manager(ping, text);
	}
	if (event.kind != PLX_CM_EVENT_SIDR_REPLY)
		return no_manager(ping, event_text(&event, text));
	found(ping, LAYER_MANAGER, "a communication manager answers");
	return true;
}

/* ---- all layers ---- */

bool
layers_try(struct ping *ping, void (*show)(const struct ping *ping, enum layer layer))
{
	static bool (*const tries[LAYER_COUNT])(struct ping *) = {
		[LAYER_NEIGHBOUR] = try_neighbour,    [LAYER_ICMP] = try_icmp,
		[LAYER_MANAGER] = try_manager,        [LAYER_CONNECT] = dialogue_connect,
		[LAYER_MESSAGES] = dialogue_exchange, [LAYER_DISCONNECT] = dialogue_disconnect,
	};
	bool is_good = true;
	for (uint32_t layer = 0; layer < LAYER_COUNT && is_good; layer++) {
		struct finding *finding = &ping->finding[layer];
		double start = now_ns();
		if (layer == LAYER_ICMP && ping->options->no_icmp)
			continue;
		finding->is_tried = true;
		is_good = finding->is_good = tries[layer](ping);
		finding->ms = (now_ns() - start) / 1e6;
		show(ping, (enum layer)layer);
	}
	dialogue_clear(ping);
	return is_good;
}
