/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What both sides of ndping start with: an adapter that this thread polls, a domain, a channel, and
 * the greeting in private data. Start with station_open().
 */
#include "numbers.h"
#include "ping.h"

#include <stdio.h>
#include <string.h>

static const uint8_t magic[GREETING_MAGIC_BYTES] = {'n', 'd', 'p', 'i', 'n', 'g', '\r', '\n'};

char *
event_text(const struct plx_connector_event *event, char *text)
{
	snprintf(text, EVENT_TEXT_MAX, "%s",
		 plx_cm_event_text((enum plx_cm_event_kind)event->kind));
	text[strcspn(text, ";,")] = '\0';
	return text;
}

/* ---- the greeting ---- */

void
greeting_put(uint32_t size, uint8_t *bytes)
{
	memcpy(bytes, magic, GREETING_MAGIC_BYTES);
	number_put(bytes + GREETING_MAGIC_BYTES, GREETING_VERSION, 4);
	number_put(bytes + GREETING_MAGIC_BYTES + 4, size, 4);
}

bool
greeting_get(const struct plx_connector_event *event, uint32_t *size)
{
	const uint8_t *at = event->private_data;
	if (event->private_bytes < GREETING_BYTES || memcmp(at, magic, GREETING_MAGIC_BYTES) != 0 ||
	    number_get(at + GREETING_MAGIC_BYTES, 4) != GREETING_VERSION)
		return false;
	*size = (uint32_t)number_get(at + GREETING_MAGIC_BYTES + 4, 4);
	return true;
}

/* ---- the adapter ---- */

static bool
name_failure(struct plx_why *why, const char *what, enum plx_status status)
{
	return why->text[0] != '\0' ? false : why_set(why, "%s: %s", what, plx_status_text(status));
}

bool
station_open(const struct endpoint *endpoint, struct station *at, struct plx_why *why)
{
	struct plx_adapter_options adapter_options;
	*at = (struct station){0};
	if (!endpoint_start(endpoint, why) ||
	    !endpoint_adapter_options(endpoint, &adapter_options, why))
		return false;
	/* The host of an adapter that is attached to polls it. */
	if (adapter_options.host[0] == '\0')
		adapter_options.mode = PLX_MODE_INLINE;
	adapter_options.idle = PLX_IDLE_YIELD;
	enum plx_status status =
		plx_adapter_open(endpoint->adapter != NULL ? endpoint->adapter : "ndping",
				 &adapter_options, &at->adapter, why);
	if (status != PLX_OK)
		return name_failure(why, "the adapter cannot be opened", status);
	plx_adapter_query(at->adapter, &at->info);
	status = plx_pd_create(at->adapter, &at->pd);
	if (status == PLX_OK)
		status = plx_event_channel_create(at->adapter, 256, &at->channel);
	if (status == PLX_OK)
		return true;
	station_close(at);
	return name_failure(why, "no protection domain or no event channel", status);
}

void
station_close(struct station *at)
{
	if (at->channel != NULL)
		check_destroyed(plx_event_channel_destroy(at->channel), "the channel");
	if (at->pd != NULL)
		check_destroyed(plx_pd_destroy(at->pd), "the protection domain");
	if (at->adapter != NULL)
		check_destroyed(plx_adapter_close(at->adapter), "the adapter");
	*at = (struct station){0};
}
