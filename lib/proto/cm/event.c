/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pending events. An event has no memory of its own: it is a bit of its connection.
 * It never raises one for a connection that its program has abandoned.
 * Start with plx_cm_next_event().
 */
#include "connection.h"

static struct cm_connection *
first(const struct plx_cm *cm)
{
	return plx_list_entry(cm->event.next, struct cm_connection, event);
}

static enum plx_cm_event_kind
kind_of(const struct cm_connection *c, enum cm_pending event)
{
	static const uint8_t kinds[CM_PENDING_COUNT] = {
		[CM_PENDING_REQUESTED] = PLX_CM_EVENT_REQUESTED,
		[CM_PENDING_REPLIED] = PLX_CM_EVENT_REPLIED,
		[CM_PENDING_ESTABLISHED] = PLX_CM_EVENT_ESTABLISHED,
	};

	return (enum plx_cm_event_kind)(event == CM_PENDING_END ? c->end_kind : kinds[event]);
}

bool
plx_cm_has_event(const struct plx_cm *cm)
{
	return !plx_list_empty(&cm->event);
}

uint64_t
plx_cm_event_context(const struct plx_cm *cm)
{
	PLX_ASSERT(plx_cm_has_event(cm));
	return first(cm)->context;
}

enum plx_cm_event_kind
plx_cm_event_kind(const struct plx_cm *cm)
{
	PLX_ASSERT(plx_cm_has_event(cm));
	return kind_of(first(cm), (enum cm_pending)__builtin_ctz(first(cm)->pending));
}

void
plx_cm_defer_event(struct plx_cm *cm)
{
	struct cm_connection *c;

	if (!plx_cm_has_event(cm))
		return;
	c = first(cm);
	plx_list_remove(&c->event);
	plx_list_append(&cm->event, &c->event);
}

static void
fill(const struct cm_connection *c, enum cm_pending event, struct plx_cm_event *out)
{
	memset(out, 0, sizeof *out);
	out->kind = (uint8_t)kind_of(c, event);
	out->id = (struct plx_cm_id){c->id};
	if (event == CM_PENDING_REQUESTED && c->listener)
		out->listener = (struct plx_cm_id){c->listener->id};
	out->context = c->context;
	out->peer = c->peer;
	if (event == CM_PENDING_END)
		out->reason = c->reason;
	if (out->kind == PLX_CM_EVENT_SIDR_REPLY) {
		out->qpn = c->peer.info.remote_qpn;
		out->qkey = c->qkey;
	}
	if (c->private_of == event) {
		out->private_bytes = c->private_bytes;
		memcpy(out->private_data, c->private_data, c->private_bytes);
	}
}

bool
plx_cm_next_event(struct plx_cm *cm, struct plx_cm_event *out)
{
	struct cm_connection *c;
	enum cm_pending event;

	if (!plx_cm_has_event(cm))
		return false;
	c = first(cm);
	event = (enum cm_pending)__builtin_ctz(c->pending);
	fill(c, event, out);
	c->pending &= (uint8_t)(c->pending - 1);
	plx_list_remove(&c->event);
	if (event == CM_PENDING_REQUESTED) {
		c->delivered = true;
		plx_count(&cm->counters.requests, 1);
	}
	if (c->private_of == event)
		c->private_of = CM_PENDING_NONE;
	if (c->pending)
		plx_list_append(&cm->event, &c->event);
	else if (c->state == CM_TIMEWAIT)
		cm_retire(cm, c);
	return true;
}
