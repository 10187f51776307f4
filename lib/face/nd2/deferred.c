/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What waits for an engine that stands still: a worker that was preempted, stopped, or sits in a
 * debugger. An object that was released then keeps its memory, and its parents, until the engine
 * has let go of it: an event, or a peer's packet, finds what it names. A Deregister stays pending.
 * The port's dispatcher finishes all of it, in the order in which it came, as soon as the engine
 * has been through a cycle.
 * It never has a client wait but where memory would be written that the client may free: a region's
 * and a window's Release. Start with nd2_let_go().
 *
 * The list is as long as objects were alive, which the adapter's limits bound. When one call has
 * waited for the engine in vain, `still` says so until it runs again, and no further one waits. In
 * inline mode the caller is the engine: nothing is ever left.
 */
#include <stdlib.h>

#include "nd2_connection.h"

enum {
	LOOK_MS = 5,    /* for a cycle of the engine, before anything is asked of it */
	REPEAT_MS = 20, /* between two such looks */
};

/* A connection below whose connector has gone. */
struct left_wire {
	struct nd2_left left;
	struct nd2_port *port;
	struct plx_connector *wire;
};

void
nd2_left_init(struct nd2_port *port)
{
	pthread_mutex_init(&port->left_lock, NULL);
	plx_list_init(&port->left);
}

int
nd2_left_wait_ms(const struct nd2_port *port)
{
	return atomic_load(&port->left_count) > 0 ? REPEAT_MS : -1;
}

bool
nd2_stands_still(const struct nd2_port *port)
{
	return atomic_load(&port->still);
}

void
nd2_leave(struct nd2_port *port, struct nd2_left *left, nd2_left_fn *finish)
{
	left->finish = finish;
	pthread_mutex_lock(&port->left_lock);
	plx_list_append(&port->left, &left->node);
	atomic_fetch_add(&port->left_count, 1);
	pthread_mutex_unlock(&port->left_lock);
	nd2_dispatch_wake(port);
}

/* An engine did not answer. */
static void
stands_still(struct nd2_port *port)
{
	if (!atomic_exchange(&port->still, true))
		nd2_say("adapter %s: its worker stands still; what is released meanwhile ends when "
			"it runs again",
			port->name);
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static bool
finish_object(struct nd2_left *left)
{
	struct nd2_object *object = plx_list_entry(left, struct nd2_object, left);

	if (object->kind->let_go(object) == PLX_TIMEOUT)
		return false;
	nd2_object_end(object);
	return true;
}

bool
nd2_let_go(struct nd2_object *object)
{
	struct nd2_port *port = object->port;
	enum plx_status status =
		nd2_stands_still(port) ? PLX_TIMEOUT : object->kind->let_go(object);

	if (status != PLX_TIMEOUT)
		return true;
	stands_still(port);
	nd2_leave(port, &object->left, finish_object);
	return false;
}

/* ---- connections below ------------------------------------------------------------------------
 */

static bool
finish_wire(struct nd2_left *left)
{
	struct left_wire *it = plx_list_entry(left, struct left_wire, left);
	struct nd2_port *port = it->port;
	enum plx_status status;

	pthread_mutex_lock(&port->events);
	status = plx_connector_destroy(it->wire);
	pthread_mutex_unlock(&port->events);
	if (status != PLX_TIMEOUT)
		free(it);
	return status != PLX_TIMEOUT;
}

void
nd2_wire_end(struct nd2_port *port, struct plx_connector *wire)
{
	struct left_wire *it;

	/* What still comes of it is for nobody. */
	plx_connector_set_context(wire, 0);
	if (!nd2_stands_still(port) && plx_connector_destroy(wire) != PLX_TIMEOUT)
		return;
	stands_still(port);
	it = malloc(sizeof(*it));
	if (it == NULL) {
		while (plx_connector_destroy(wire) == PLX_TIMEOUT)
			;
		atomic_store(&port->still, false);
		return;
	}
	it->port = port;
	it->wire = wire;
	nd2_leave(port, &it->left, finish_wire);
}

/* ---- finishing --------------------------------------------------------------------------------
 */

/* The first one, out of the list; it is counted until it is finished. */
static struct nd2_left *
take_first(struct nd2_port *port)
{
	struct nd2_left *left = NULL;

	pthread_mutex_lock(&port->left_lock);
	if (!plx_list_empty(&port->left)) {
		left = plx_list_entry(port->left.next, struct nd2_left, node);
		plx_list_remove(&left->node);
	}
	pthread_mutex_unlock(&port->left_lock);
	return left;
}

/* Back to where it was. */
static void
put_back(struct nd2_port *port, struct nd2_left *left)
{
	pthread_mutex_lock(&port->left_lock);
	plx_list_append(port->left.next, &left->node); /* in front of the first */
	pthread_mutex_unlock(&port->left_lock);
}

/* As far as the engine comes round. */
static void
finish_all(struct nd2_port *port)
{
	struct nd2_left *left;

	if (!plx_adapter_runs(port->adapter, LOOK_MS))
		return;
	atomic_store(&port->still, false);
	while ((left = take_first(port)) != NULL) {
		if (!left->finish(left)) {
			put_back(port, left);
			return;
		}
		atomic_fetch_sub(&port->left_count, 1);
	}
}

void
nd2_left_finish(struct nd2_port *port)
{
	if (atomic_load(&port->left_count) > 0)
		finish_all(port);
}

void
nd2_left_end(struct nd2_port *port)
{
	while (atomic_load(&port->left_count) > 0)
		finish_all(port);
	pthread_mutex_destroy(&port->left_lock);
}
