/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The embedded link: a ring for each queue and direction and, for each attached end, a net_ring
 * port on them and, if it has faults, an RX callback on each queue. It never touches a packet
 * itself: faults.c does, on the polling thread. Start with plx_net_wire_attach().
 */
#include <pthread.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "args.h"

/* The faults of a queue; NULL: none, and no callback. */
struct bad_queue {
	struct faults *faults;
	const struct rte_eth_rxtx_callback *callback;
};

struct end {
	bool attached;
	uint16_t port_id;
	char port_name[64];
	struct bad_queue bad[PLX_NET_WIRE_QUEUES_MAX];
};

struct link {
	uint32_t queues; /* of both ends; 0: no end is attached */
	/* what each end receives, by the queue of the other that sends it; NULL: no end is attached
	 */
	struct rte_ring *ring[2][PLX_NET_WIRE_QUEUES_MAX];
	struct end end[2];
};

/* Attaching and detaching are allowed on any thread, and rare; the path of packets does not take
 * the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct link links[PLX_NET_WIRE_LINKS_MAX];

static uint16_t
on_rx(uint16_t port_id, uint16_t queue, struct rte_mbuf *packets[], uint16_t n, uint16_t room,
      void *faults)
{
	(void)port_id;
	(void)queue;
	return faults_on_burst(faults, packets, n, room);
}

/* Free at most as many as it holds, because the other end may go on sending. */
static void
empty_ring(struct rte_ring *ring)
{
	void *packet;

	for (int i = 0; i < PLX_NET_WIRE_RING && rte_ring_dequeue(ring, &packet) == 0; i++)
		rte_pktmbuf_free(packet);
}

static void
drop_undelivered(struct link *link, uint32_t end)
{
	for (uint32_t q = 0; q < link->queues; q++)
		if (link->ring[end][q] != NULL)
			empty_ring(link->ring[end][q]);
}

/* Detaching the last end frees the rings, too. */
static void
free_rings(struct link *link)
{
	if (link->end[0].attached || link->end[1].attached)
		return;
	for (uint32_t end = 0; end < 2; end++) {
		drop_undelivered(link, end);
		for (uint32_t q = 0; q < link->queues; q++) {
			rte_ring_free(link->ring[end][q]);
			link->ring[end][q] = NULL;
		}
	}
	link->queues = 0;
}

static enum plx_status
make_ring(struct link *link, uint32_t number, uint32_t end, uint32_t queue, struct plx_why *why)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "plx_wire%u_%u_%u", number, end, queue);
	link->ring[end][queue] = rte_ring_create(name, PLX_NET_WIRE_RING, (int)rte_socket_id(),
						 RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (link->ring[end][queue] != NULL)
		return PLX_OK;
	plx_why_set(why, "net_wire%u: no ring of %d packets (%s); give the EAL more memory", number,
		    PLX_NET_WIRE_RING, rte_strerror(rte_errno));
	return PLX_NO_MEMORY;
}

/* The rings of the first end that is attached are there for the second. */
static enum plx_status
make_rings(struct link *link, uint32_t number, uint32_t queues, struct plx_why *why)
{
	enum plx_status status = PLX_OK;

	if (link->queues == queues)
		return PLX_OK;
	if (link->queues != 0) {
		plx_why_set(why,
			    "net_wire%u: its other end has queues for %u engines, and this one "
			    "for %u; give both adapters the same number (`engines`)",
			    number, link->queues, queues);
		return PLX_INVALID;
	}
	link->queues = queues;
	for (uint32_t i = 0; i < 2 * queues && status == PLX_OK; i++)
		status = make_ring(link, number, i % 2, i / 2, why);
	return status;
}

static void
remove_faults(struct end *end)
{
	for (uint16_t q = 0; q < PLX_NET_WIRE_QUEUES_MAX; q++) {
		struct bad_queue *bad = &end->bad[q];

		if (bad->callback != NULL) {
			rte_eth_remove_rx_callback(end->port_id, q, bad->callback);
			/* Polling has stopped, so it can be freed; it is const only for pollers. */
			rte_free((void *)(uintptr_t)bad->callback);
		}
		faults_destroy(bad->faults);
		*bad = (struct bad_queue){NULL, NULL};
	}
}

static bool
add_faults(struct end *end, const struct args *args, uint32_t queues)
{
	if (!faults_wanted(&args->faults))
		return true;
	for (uint16_t q = 0; q < queues; q++) {
		struct bad_queue *bad = &end->bad[q];

		bad->faults = faults_create(&args->faults, args->end, q);
		if (bad->faults != NULL)
			bad->callback =
				rte_eth_add_rx_callback(end->port_id, q, on_rx, bad->faults);
		if (bad->callback == NULL)
			return false;
	}
	return true;
}

static void
remove_port(struct end *end)
{
	remove_faults(end);
	rte_eal_hotplug_remove("vdev", end->port_name);
}

static enum plx_status
make_port(struct link *link, const struct args *args, struct plx_why *why)
{
	struct rte_ring *rx[PLX_NET_WIRE_QUEUES_MAX], *tx[PLX_NET_WIRE_QUEUES_MAX];
	struct end *end = &link->end[args->end];
	char name[16];
	int port_id;

	for (uint32_t q = 0; q < link->queues; q++) {
		rx[(q + args->shift) % link->queues] = link->ring[args->end][q];
		tx[q] = link->ring[!args->end][q];
	}
	snprintf(name, sizeof(name), "wire%ue%u", args->link, args->end);
	port_id = rte_eth_from_rings(name, rx, link->queues, tx, link->queues, rte_socket_id());
	if (port_id < 0) {
		plx_why_set(why, "net_wire%u: the port of end %u cannot be made (%s)", args->link,
			    args->end, rte_strerror(rte_errno));
		return PLX_NO_MEMORY;
	}
	end->port_id = (uint16_t)port_id;
	snprintf(end->port_name, sizeof(end->port_name), "net_ring_%s", name);
	if (add_faults(end, args, link->queues))
		return PLX_OK;
	remove_port(end);
	plx_why_set(why, "net_wire%u: no memory for the faults of end %u; give the EAL more",
		    args->link, args->end);
	return PLX_NO_MEMORY;
}

static enum plx_status
attach(const struct args *args, uint32_t queues, char *name, struct plx_why *why)
{
	struct link *link = &links[args->link];
	struct end *end = &link->end[args->end];
	enum plx_status status;

	if (end->attached) {
		plx_why_set(why,
			    "net_wire%u: end %u is attached already; take the other end or "
			    "another link",
			    args->link, args->end);
		return PLX_BUSY;
	}
	status = make_rings(link, args->link, queues, why);
	if (status == PLX_OK) {
		/* Free packets that were sent while this end was detached. */
		drop_undelivered(link, args->end);
		status = make_port(link, args, why);
	}
	end->attached = status == PLX_OK;
	if (end->attached)
		snprintf(name, sizeof(end->port_name), "%s", end->port_name);
	else
		free_rings(link);
	return status;
}

enum plx_status
plx_net_wire_attach(const char *device, uint32_t queues, char *name, struct plx_why *why)
{
	struct args args;
	enum plx_status status = args_parse(device, &args, why);

	if (status == PLX_OK && (queues == 0 || queues > PLX_NET_WIRE_QUEUES_MAX)) {
		plx_why_set(why, "net_wire%u: %u pairs of queues; give 1 to %d", args.link, queues,
			    PLX_NET_WIRE_QUEUES_MAX);
		status = PLX_INVALID;
	}
	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&lock);
	status = attach(&args, queues, name, why);
	pthread_mutex_unlock(&lock);
	return status;
}

void
plx_net_wire_detach(const char *device)
{
	struct args args;
	struct end *end;

	if (args_parse(device, &args, NULL) != PLX_OK)
		return;
	pthread_mutex_lock(&lock);
	end = &links[args.link].end[args.end];
	if (end->attached) {
		remove_port(end);
		drop_undelivered(&links[args.link], args.end);
		end->attached = false;
		free_rings(&links[args.link]);
	}
	pthread_mutex_unlock(&lock);
}

/* Without faults, the port alone counts packets. */
static void
read_counters(const struct end *end, struct plx_net_wire_counters *out)
{
	struct rte_eth_stats stats = {0};

	*out = (struct plx_net_wire_counters){0};
	for (uint32_t q = 0; q < PLX_NET_WIRE_QUEUES_MAX; q++)
		if (end->bad[q].faults != NULL)
			faults_add_counters(end->bad[q].faults, out);
	if (end->bad[0].faults == NULL && rte_eth_stats_get(end->port_id, &stats) == 0)
		out->received = stats.ipackets;
}

bool
plx_net_wire_counters(const char *device, struct plx_net_wire_counters *out)
{
	struct args args;
	const struct end *end;
	bool attached;

	if (args_parse(device, &args, NULL) != PLX_OK)
		return false;
	pthread_mutex_lock(&lock);
	end = &links[args.link].end[args.end];
	attached = end->attached;
	if (attached)
		read_counters(end, out);
	pthread_mutex_unlock(&lock);
	return attached;
}
