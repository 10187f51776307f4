/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host that listens on a socket, and the programs that have connected: what serves them
 * (daemon.c) and what tells of them (telemetry.c) share it. Start with struct plx_host.
 */
#ifndef PLX_HOST_DAEMON_H
#define PLX_HOST_DAEMON_H

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "host.h"
#include "plx_channel.h"

struct offer {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	struct host_adapter *adapter;
	struct parking *parking;
	struct plx_host_rights rights;
};

struct plx_host {
	int listener;
	int stop; /* an eventfd: readable from the stop on */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct waker *waker;
	bool serves; /* `thread` runs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t sessions;
	struct plx_list seated; /* sessions that have a seat */
	uint32_t seats;         /* taken so far */
	struct plx_list link;   /* of the hosts that telemetry knows */
	uint32_t offers;
	struct offer offer[PLX_ADAPTERS_MAX];
};

/* A program that has connected. */
struct session {
	struct plx_host *host;
	int fd;
	int pidfd; /* -1: the kernel has none */
	struct ucred peer;
	struct plx_host_who who;
	gid_t *groups;
	struct offer *at;       /* NULL: not attached yet, */
	struct host_seat *seat; /* likewise; NULL again when it ends */
	uint32_t number;        /* of the seat: no other seat of the host has had it */
	uint64_t since_ns;      /* when it was taken */
	bool closed;            /* by its last call */
	uint64_t quiet_ns;      /* no refusal is logged before */
	struct plx_list link;   /* in host->seated */
	struct plx_ipc_message request, reply;
};

/* Answer /pollux/seats and /pollux/seat for the host, until the reverse. */
void seats_tell(struct plx_host *host);
void seats_tell_no_more(struct plx_host *host);

#endif
