/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output: a line for each layer when it ends, or one JSON object at the end. docs/ndping.md
 * describes the JSON. Start with show_layer().
 */
#include "ping.h"

#include "json.h"

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

static json_t *
round_trips(const struct histogram *trips)
{
	json_t *object = json_object();
	json_put_count(object, "samples", trips->count);
	json_put_number(object, "min", ticks_to_ns((double)trips->min), 0);
	json_put_number(object, "p50", ticks_to_ns(histogram_percentile(trips, 0.5)), 0);
	json_put_number(object, "p99", ticks_to_ns(histogram_percentile(trips, 0.99)), 0);
	json_put_number(object, "max", ticks_to_ns((double)trips->max), 0);
	return object;
}

static json_t *
layer_of(const struct ping *ping, enum layer layer)
{
	const struct finding *finding = &ping->finding[layer];
	json_t *object = json_object();
	json_put_text(object, "layer", layer_names[layer]);
	json_put_flag(object, "ok", finding->is_good);
	json_put_number(object, "ms", finding->ms, 3);
	json_put_text(object, "found", finding->text);
	if (layer == LAYER_MESSAGES && finding->is_good)
		json_put(object, "round_trip_ns", round_trips(&ping->trips));
	return object;
}

bool
show_json(const struct ping *ping, bool is_good)
{
	json_t *object = json_object(), *layers = json_array();
	char ip[64];
	json_put_count(object, "format", JSON_FORMAT);
	json_put_text(object, "version", plx_version());
	json_put_text(object, "peer", ip_text(&ping->options->peer, ip, sizeof(ip)));
	json_put_count(object, "port", ping->options->port);
	json_put_count(object, "count", ping->options->count);
	json_put_count(object, "size", ping->options->size);
	for (uint32_t i = 0; i < LAYER_COUNT; i++) {
		if (ping->finding[i].is_tried)
			json_array_append_new(layers, layer_of(ping, (enum layer)i));
	}
	json_put(object, "layers", layers);
	if (!is_good)
		json_put_text(object, "error", ping->sentence);
	return json_write(object, stdout);
}
