/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The echo server: any number of clients, each with its own queue pair and buffers, all on one
 * thread and one completion queue. A client that is silent for a while is considered gone. Start
 * with serve_loop().
 */
#include "ping.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	CLIENTS_MAX = 64,
	SLOTS = 4, /* outstanding messages per client */
	WR_SENT = 1 << 8,
	SILENT_MS = 10 * 1000,
	LOOK_MS = 100,   /* interval between checks for silent clients */
	IDLE_TURNS = 64, /* without a client, before resting */
	REST_US = 200,
};

struct client {
	struct plx_connector *connector; /* NULL: unused */
	struct message_qp queue;         /* its memory: [SLOTS * size] */
	uint32_t size, qpn;
	uint64_t messages;
	uint64_t heard_ms;
	struct plx_connector_info connection;
};

struct server {
	const struct options *options;
	struct station at;
	struct plx_listener *listener;
	struct plx_cq *cq;
	struct client client[CLIENTS_MAX];
	uint32_t clients;
};

/* ---- clients connect and leave ---- */

static void
drop(struct server *s, struct client *c)
{
	char ip[64];
	if (c->connector != NULL)
		check_destroyed(plx_connector_destroy(c->connector), "a connector");
	message_qp_destroy(&c->queue);
	if (c->messages > 0) {
		printf("ndping: %s: %llu messages of %u bytes sent back\n",
		       ip_text(&c->connection.remote, ip, sizeof(ip)),
		       (unsigned long long)c->messages, c->size);
		fflush(stdout);
	}
	*c = (struct client){0};
	s->clients--;
}

static bool
post_receive(struct client *c, uint32_t slot)
{
	return message_qp_post_recv(&c->queue, slot, (size_t)slot * c->size, c->size) == PLX_OK;
}

static bool
make_queue_pair(struct server *s, struct client *c, uint32_t index, struct plx_why *why)
{
	const struct message_qp_options options = {
		.adapter = s->at.adapter,
		.pd = s->at.pd,
		.cq = s->cq,
		.bytes = (size_t)SLOTS * c->size,
		.sq_depth = SLOTS,
		.rq_depth = SLOTS,
		.context = index,
	};
	struct plx_qp_info info;
	if (!message_qp_create(&c->queue, &options, why) ||
	    plx_qp_query(c->queue.qp, &info) != PLX_OK)
		return false;
	c->qpn = info.qpn;
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (!post_receive(c, slot))
			return false;
	}
	return true;
}

static void
refuse(struct plx_connector *connector, const char *why)
{
	/* a peer that has given up meanwhile needs no answer */
	(void)!plx_reject(connector, why, (uint32_t)strlen(why));
	check_destroyed(plx_connector_destroy(connector), "a connector");
}

static void
welcome(struct server *s, const struct plx_connector_event *event)
{
	struct plx_connect_options options;
	struct plx_why why = {{0}};
	uint8_t greeting[GREETING_BYTES];
	uint32_t size, index = 0;
	if (!greeting_get(event, &size) || size < 1 || size > SIZE_MAX_BYTES) {
		refuse(event->connector,
		       "this is `ndping server`, which accepts ndping of its own release only");
		return;
	}
	while (index < CLIENTS_MAX && s->client[index].connector != NULL)
		index++;
	if (index == CLIENTS_MAX) {
		refuse(event->connector, "too many clients; try again later");
		return;
	}
	struct client *c = &s->client[index];
	*c = (struct client){.connector = event->connector,
			     .size = size,
			     .heard_ms = now_ms(),
			     .connection = event->info};
	s->clients++;
	plx_connector_set_context(c->connector, index);
	plx_connect_options_init(&options);
	greeting_put(size, greeting);
	options.private_data = greeting;
	options.private_bytes = sizeof(greeting);
	if (!make_queue_pair(s, c, index, &why) ||
	    plx_accept(c->connector, c->queue.qp, &options, &why) != PLX_OK) {
		fprintf(stderr, "ndping: a client cannot be accepted: %s\n",
			why.text[0] != '\0' ? why.text : "no memory or no queue pair for it");
		drop(s, c);
	}
}

static void
on_event(struct server *s, const struct plx_connector_event *event)
{
	if (event->kind == PLX_CM_EVENT_REQUESTED)
		welcome(s, event);
	else if (event->kind != PLX_CM_EVENT_ESTABLISHED)
		drop(s, &s->client[event->context]);
}

/* ---- messages ---- */

static void
on_completion(struct server *s, const struct plx_wc *wc)
{
	struct client *c = &s->client[wc->context];
	uint32_t slot = (uint32_t)wc->wr_id & (WR_SENT - 1);
	/* of a client that has left since */
	if (c->queue.qp == NULL || c->qpn != wc->qpn)
		return;
	bool is_good = wc->status == PLX_WC_SUCCESS;
	if (is_good && (wc->flags & PLX_WC_RECV)) {
		is_good = message_qp_post_send(&c->queue, WR_SENT | slot, (size_t)slot * c->size,
					       wc->bytes) == PLX_OK;
		c->messages++;
		c->heard_ms = now_ms();
	} else if (is_good) {
		is_good = post_receive(c, slot);
	}
	/* a peer's disconnect flushes, too: its event drops the client */
	if (!is_good && wc->status != PLX_WC_FLUSHED)
		drop(s, c);
}

static void
drop_silent(struct server *s)
{
	for (uint32_t i = 0; i < CLIENTS_MAX && s->clients > 0; i++) {
		if (s->client[i].connector != NULL && now_ms() - s->client[i].heard_ms > SILENT_MS)
			drop(s, &s->client[i]);
	}
}

/* Yield the core when there is nothing to do. */
static void
rest(const struct server *s)
{
	struct timespec moment = {.tv_nsec = REST_US * 1000};
	if (s->clients == 0)
		nanosleep(&moment, NULL);
	else
		sched_yield();
}

static void
serve_loop(struct server *s)
{
	uint64_t look_ms = 0;
	uint32_t empty = 0;
	while (!interrupted) {
		struct plx_connector_event event;
		struct plx_wc wc;
		bool has_worked = false;
		if (plx_cq_poll(s->cq, &wc, 1) == 1) {
			on_completion(s, &wc);
			has_worked = true;
		}
		if (!has_worked && plx_event_channel_next(s->at.channel, &event)) {
			on_event(s, &event);
			has_worked = true;
		}
		empty = has_worked ? 0 : empty + 1;
		if (empty >= IDLE_TURNS)
			rest(s);
		if (!has_worked && now_ms() - look_ms > LOOK_MS) {
			drop_silent(s);
			look_ms = now_ms();
		}
	}
}

/* ---- the server ---- */

static bool
begin(struct server *s, struct plx_why *why)
{
	struct plx_cq_options queue = {.depth = 2 * SLOTS * CLIENTS_MAX};
	struct plx_listen_options options = {.port = (uint16_t)s->options->port};
	enum plx_status status = plx_cq_create(s->at.adapter, &queue, &s->cq);
	if (status != PLX_OK)
		return why_set(why, "no completion queue: %s", plx_status_text(status));
	status = plx_listen(s->at.channel, &options, &s->listener, why);
	if (status != PLX_OK && why->text[0] == '\0')
		why_set(why, "cannot listen on port %u: %s", options.port, plx_status_text(status));
	return status == PLX_OK;
}

static void
end(struct server *s)
{
	struct plx_connector_event event;
	if (s->listener != NULL)
		check_destroyed(plx_listener_destroy(s->listener), "the listener");
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		if (s->client[i].connector != NULL)
			drop(s, &s->client[i]);
	}
	/* reject new requests, and let outstanding packets leave the machine */
	while (plx_event_channel_next(s->at.channel, &event)) {
		if (event.kind == PLX_CM_EVENT_REQUESTED)
			refuse(event.connector, "ndping server ends");
	}
	plx_adapter_poll(s->at.adapter);
	if (s->cq != NULL)
		check_destroyed(plx_cq_destroy(s->cq), "the completion queue");
}

bool
serve(const struct options *o, struct plx_why *why)
{
	struct server *s = calloc(1, sizeof(*s));
	char ip[64];
	if (s == NULL)
		return why_set(why, "no memory");
	s->options = o;
	bool is_good = station_open(&o->endpoint, &s->at, why);
	if (is_good) {
		why->text[0] = '\0';
		is_good = begin(s, why);
		if (is_good) {
			printf("ndping: serving on %s port %u; interrupt to end\n",
			       ip_text(&s->at.info.address[0], ip, sizeof(ip)), o->port);
			fflush(stdout);
			serve_loop(s);
		}
		end(s);
		station_close(&s->at);
	}
	free(s);
	return is_good;
}
