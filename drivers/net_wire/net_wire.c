/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The embedded link: two rings per link and, for each attached end, a net_ring port on them and, if
 * it has faults, an RX callback. It never touches a packet itself: faults.c does, on the polling
 * thread. Start with plx_net_wire_attach().
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

struct end {
	bool attached;
	uint16_t port_id;
	char port_name[64];
	struct faults *faults; /* NULL: none, and no callback */
	const struct rte_eth_rxtx_callback *callback;
};

struct link {
	struct rte_ring *ring[2]; /* what end 0 and end 1 receive; NULL: no end is attached */
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

/* Free at most the number at the beginning, because the other end may go on sending. */
static void
drop_undelivered(struct rte_ring *ring)
{
	void *packet;

	for (int i = 0; i < PLX_NET_WIRE_RING && rte_ring_dequeue(ring, &packet) == 0; i++)
		rte_pktmbuf_free(packet);
}

/* Detaching the last end frees the rings, too. */
static void
free_rings(struct link *link)
{
	if (link->end[0].attached || link->end[1].attached)
		return;
	for (int i = 0; i < 2; i++) {
		if (link->ring[i] != NULL)
			drop_undelivered(link->ring[i]);
		rte_ring_free(link->ring[i]);
		link->ring[i] = NULL;
	}
}

static enum plx_status
make_rings(struct link *link, uint32_t number, struct plx_why *why)
{
	char name[RTE_RING_NAMESIZE];

	for (uint32_t i = 0; i < 2; i++) {
		if (link->ring[i] != NULL)
			continue;
		snprintf(name, sizeof(name), "plx_wire%u_%u", number, i);
		link->ring[i] = rte_ring_create(name, PLX_NET_WIRE_RING, (int)rte_socket_id(),
						RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (link->ring[i] == NULL) {
			plx_why_set(why,
				    "net_wire%u: no ring of %d packets (%s); give the EAL more "
				    "memory",
				    number, PLX_NET_WIRE_RING, rte_strerror(rte_errno));
			return PLX_NO_MEMORY;
		}
	}
	return PLX_OK;
}

static void
remove_faults(struct end *end)
{
	if (end->callback != NULL) {
		rte_eth_remove_rx_callback(end->port_id, 0, end->callback);
		/* Polling has stopped, so it can be freed; it is const only for pollers. */
		rte_free((void *)(uintptr_t)end->callback);
	}
	faults_destroy(end->faults);
	end->callback = NULL;
	end->faults = NULL;
}

static bool
add_faults(struct end *end, const struct args *args)
{
	if (!faults_wanted(&args->faults))
		return true;
	end->faults = faults_create(&args->faults, args->end);
	if (end->faults != NULL)
		end->callback = rte_eth_add_rx_callback(end->port_id, 0, on_rx, end->faults);
	return end->callback != NULL;
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
	struct end *end = &link->end[args->end];
	struct rte_ring *rx[1] = {link->ring[args->end]};
	struct rte_ring *tx[1] = {link->ring[!args->end]};
	char name[16];
	int port_id;

	snprintf(name, sizeof(name), "wire%ue%u", args->link, args->end);
	port_id = rte_eth_from_rings(name, rx, 1, tx, 1, rte_socket_id());
	if (port_id < 0) {
		plx_why_set(why, "net_wire%u: the port of end %u cannot be made (%s)", args->link,
			    args->end, rte_strerror(rte_errno));
		return PLX_NO_MEMORY;
	}
	end->port_id = (uint16_t)port_id;
	snprintf(end->port_name, sizeof(end->port_name), "net_ring_%s", name);
	if (add_faults(end, args))
		return PLX_OK;
	remove_port(end);
	plx_why_set(why, "net_wire%u: no memory for the faults of end %u; give the EAL more",
		    args->link, args->end);
	return PLX_NO_MEMORY;
}

static enum plx_status
attach(const struct args *args, char *name, struct plx_why *why)
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
	status = make_rings(link, args->link, why);
	if (status == PLX_OK) {
		/* Free packets that were sent while this end was detached. */
		drop_undelivered(link->ring[args->end]);
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
plx_net_wire_attach(const char *device, char *name, struct plx_why *why)
{
	struct args args;
	enum plx_status status = args_parse(device, &args, why);

	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&lock);
	status = attach(&args, name, why);
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
		drop_undelivered(links[args.link].ring[args.end]);
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
	if (end->faults != NULL)
		faults_counters(end->faults, out);
	else if (rte_eth_stats_get(end->port_id, &stats) == 0)
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
