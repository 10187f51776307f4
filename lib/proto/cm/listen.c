/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Listeners. A listener is for one address of ours, or for all of them.
 * It never answers a request: passive.c and sidr.c do.
 * Start with cm_listener_find().
 */
#include "connection.h"

enum {
	ID_INDEX_BITS = 10, /* of a listener's id; the others count uses of the slot */
};

_Static_assert(PLX_CM_LISTENERS_MAX == 1 << ID_INDEX_BITS, "an index fits");

static uint32_t
bucket_of(const struct plx_cm *cm, uint64_t service_id)
{
	return (uint32_t)(plx_secret_word(&cm->tables, service_id) % CM_LISTENER_BUCKETS);
}

static struct cm_listener *
by_id(struct plx_cm *cm, struct plx_cm_id id)
{
	struct cm_listener *listener = &cm->listener[id.v % PLX_CM_LISTENERS_MAX];

	return id.v && listener->id == id.v ? listener : NULL;
}

static bool
has_service_id(const struct cm_listener *listener, uint64_t service_id)
{
	return plx_cma_service_id(listener->what.space, listener->what.port) == service_id;
}

struct cm_listener *
cm_listener_find(const struct plx_cm *cm, const struct plx_ip *local, uint64_t service_id,
		 enum plx_port_space space)
{
	const struct plx_list *head = &cm->listener_at[bucket_of(cm, service_id)];

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		struct cm_listener *listener = plx_list_entry(node, struct cm_listener, same);

		if (listener->what.space == space && has_service_id(listener, service_id) &&
		    (listener->what.local.version == 0 ||
		     plx_ip_equal(&listener->what.local, local)))
			return listener;
	}
	return NULL;
}

static bool
is_taken(struct plx_cm *cm, const struct plx_cm_listen *listen)
{
	uint64_t service_id = plx_cma_service_id(listen->space, listen->port);
	const struct plx_list *head = &cm->listener_at[bucket_of(cm, service_id)];
	struct plx_ip local = plx_ip_canonical(&listen->local);

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		const struct cm_listener *other = plx_list_entry(node, struct cm_listener, same);

		if (has_service_id(other, service_id) &&
		    (local.version == 0 || other->what.local.version == 0 ||
		     plx_ip_equal(&other->what.local, &local)))
			return true;
	}
	return false;
}

static bool
listen_is_good(const struct plx_cm_listen *listen)
{
	bool udp = listen->space == PLX_PORT_SPACE_UDP;
	uint8_t version = listen->local.version;

	return (udp || listen->space == PLX_PORT_SPACE_TCP) && listen->port != 0 &&
	       (version == 0 || version == 4 || version == 6) &&
	       listen->backlog <= PLX_CM_BACKLOG_MAX && (!udp || cm_qpn_is_good(listen->qpn));
}

enum plx_status
plx_cm_listen(struct plx_cm *cm, const struct plx_cm_listen *listen, struct plx_cm_id *id)
{
	struct cm_listener *listener;
	uint64_t service_id;

	if (!listen_is_good(listen))
		return PLX_INVALID;
	if (is_taken(cm, listen))
		return PLX_BUSY;
	if (plx_list_empty(&cm->listener_free))
		return PLX_FULL;
	listener = plx_list_entry(cm->listener_free.next, struct cm_listener, same);
	plx_list_remove(&listener->same);
	service_id = plx_cma_service_id(listen->space, listen->port);
	plx_list_append(&cm->listener_at[bucket_of(cm, service_id)], &listener->same);
	listener->what = *listen;
	listener->what.local = plx_ip_canonical(&listen->local);
	plx_list_init(&listener->requests);
	listener->waiting = 0;
	do
		listener->id = ++listener->generation << ID_INDEX_BITS |
			       (uint32_t)(listener - cm->listener);
	while (listener->id == 0);
	cm->listeners++;
	*id = (struct plx_cm_id){listener->id};
	return PLX_OK;
}

/*
 * Requests whose event was fetched belong to their program; the others are never reported by an
 * event.
 */
enum plx_status
plx_cm_unlisten(struct plx_cm *cm, struct plx_cm_id id, uint64_t now)
{
	struct cm_listener *listener = by_id(cm, id);
	struct plx_list *node, *after;

	if (!listener)
		return PLX_STATE;
	plx_list_for_each (node, after, &listener->requests) {
		struct cm_connection *c = plx_list_entry(node, struct cm_connection, group);

		if (c->delivered) {
			c->listener = NULL;
			plx_list_remove(&c->group);
		} else {
			cm_end(cm, c, PLX_CM_EVENT_NOTHING, 0, now);
			cm_reject(cm, c, PLX_CM_ABOUT_REQ, PLX_CM_REASON_INVALID_SERVICE_ID);
		}
	}
	listener->id = 0;
	plx_list_remove(&listener->same);
	plx_list_append(&cm->listener_free, &listener->same);
	cm->listeners--;
	return PLX_OK;
}
