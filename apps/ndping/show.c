/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What people and programs see: a line for each layer as it is done, or one JSON object at the end.
 * docs/ndping.md describes the JSON. Start with show_layer().
 */
#include "ping.h"

#include "clock.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	JSON_FORMAT = 1,
};

void
show_head(const struct ping *ping)
{
	const struct plx_adapter_info *info = &ping->at.info;
	char from[64], to[64];
	printf("ndping %s from %s over %s\n", ip_text(&ping->options->peer, to, sizeof(to)),
	       ip_text(&info->address[0], from, sizeof(from)), info->device);
	fflush(stdout);
}

void
show_layer(const struct ping *ping, enum layer layer)
{
	const struct finding *finding = &ping->finding[layer];
	if (ping->options->json)
		return;
	printf("  %-11s %-6s %10.3f ms%s%s\n", layer_names[layer],
	       finding->is_good ? "ok" : "FAILED", finding->ms,
	       finding->text[0] != '\0' ? "   " : "", finding->text);
	fflush(stdout);
}

static void
put_text(const char *name, const char *text)
{
	printf("\"%s\": \"", name);
	for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			printf("\\%c", *at);
		else if (*at < ' ' || *at >= 0x7f)
			printf("\\u%04x", *at);
		else
			putchar(*at);
	}
	putchar('"');
}

static void
put_trips(const struct histogram *trips)
{
	printf(", \"round_trip_ns\": {\"samples\": %" PRIu64
	       ", \"min\": %.0f, \"p50\": %.0f, \"p99\": %.0f, \"max\": %.0f}",
	       trips->count, ticks_to_ns((double)trips->min),
	       ticks_to_ns(histogram_percentile(trips, 0.5)),
	       ticks_to_ns(histogram_percentile(trips, 0.99)), ticks_to_ns((double)trips->max));
}

void
show_json(const struct ping *ping, bool is_good)
{
	char ip[64];
	printf("{\"format\": %d, ", JSON_FORMAT);
	put_text("version", plx_version());
	printf(", ");
	put_text("peer", ip_text(&ping->options->peer, ip, sizeof(ip)));
	printf(", \"port\": %u, \"count\": %u, \"size\": %u, \"layers\": [", ping->options->port,
	       ping->options->count, ping->options->size);
	for (uint32_t i = 0; i < LAYER_COUNT; i++) {
		const struct finding *finding = &ping->finding[i];
		if (!finding->is_tried)
			continue;
		printf("%s\n  {", i > 0 ? "," : "");
		put_text("layer", layer_names[i]);
		printf(", \"ok\": %s, \"ms\": %.3f, ", finding->is_good ? "true" : "false",
		       finding->ms);
		put_text("found", finding->text);
		if (i == LAYER_MESSAGES && finding->is_good)
			put_trips(&ping->trips);
		putchar('}');
	}
	printf("]");
	if (!is_good) {
		printf(", ");
		put_text("error", ping->sentence);
	}
	printf("}\n");
}
