/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of connections: its memory, its three hashes, ids, and timers.
 * It never interprets a message, and knows no state except IDLE. Start with cm_open().
 */
#include "connection.h"

/* ---- memory ---- */

static uint32_t
retired_for(const struct plx_cm_config *config)
{
	uint32_t least = 64; /* so that a connection that has just ended is not evicted */

	if (config->connections < least)
		return least;
	return config->connections < PLX_CM_RETIRED_MAX ? config->connections : PLX_CM_RETIRED_MAX;
}

static bool
config_is_good(const struct plx_cm_config *config)
{
	return config->connections >= 1 && config->connections <= PLX_CM_CONNECTIONS_MAX &&
	       config->half_open >= 1 && config->half_open <= config->connections &&
	       config->per_peer <= config->connections &&
	       (config->path_mtu == 0 || cm_path_mtu_code(config->path_mtu) != 0);
}

size_t
plx_cm_bytes(const struct plx_cm_config *config)
{
	size_t slots;

	if (!config_is_good(config))
		return 0;
	slots = (size_t)config->connections + retired_for(config);
	return sizeof(struct plx_cm) + slots * sizeof(struct cm_connection) +
	       4 * (size_t)plx_power_of_two((uint32_t)slots) * sizeof(struct plx_list) +
	       (size_t)config->connections * sizeof(struct cm_holder);
}

static struct plx_list *
lists_init(struct plx_list *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		plx_list_init(&list[i]);
	return list + count;
}

static void
small_tables_init(struct plx_cm *cm)
{
	lists_init(cm->timer, CM_TIMERS);
	lists_init(cm->listener_at, CM_LISTENER_BUCKETS);
	lists_init(cm->source_at, CM_SOURCE_BUCKETS);
	plx_list_init(&cm->free);
	plx_list_init(&cm->holder_free);
	plx_list_init(&cm->silent);
	plx_list_init(&cm->timewait);
	plx_list_init(&cm->send);
	plx_list_init(&cm->event);
	plx_list_init(&cm->listener_free);
	plx_list_init(&cm->source_idle);
	for (uint32_t i = 0; i < PLX_CM_LISTENERS_MAX; i++)
		plx_list_append(&cm->listener_free, &cm->listener[i].same);
	for (uint32_t i = 0; i < PLX_CM_SOURCES; i++) {
		plx_list_init(&cm->source[i].same);
		plx_list_append(&cm->source_idle, &cm->source[i].idle);
	}
	for (int i = 0; i < 2; i++) {
		plx_list_init(&cm->shared[i].same);
		plx_list_init(&cm->shared[i].idle);
	}
}

static void
secrets_init(struct plx_cm *cm, const struct plx_secret *of)
{
	struct plx_secret ids = plx_secret_for(of, PLX_SECRET_COMM_IDS, 0);

	plx_permutation_init(&cm->id_of, &ids);
	cm->tables = plx_secret_for(of, PLX_SECRET_TABLES, 0);
	cm->transactions = plx_secret_for(of, PLX_SECRET_TRANSACTIONS, 0);
	plx_secret_wipe(&ids, sizeof ids);
	plx_secret_wipe(&cm->config.secret, sizeof cm->config.secret);
}

struct plx_cm *
plx_cm_init(void *memory, const struct plx_cm_config *config)
{
	struct plx_cm *cm = memory;
	struct plx_list *lists;

	PLX_ASSERT(config_is_good(config));
	memset(memory, 0, plx_cm_bytes(config));
	cm->config = *config;
	if (cm->config.path_mtu == 0)
		cm->config.path_mtu = 4096;
	if (cm->config.per_peer == 0)
		cm->config.per_peer = config->connections;
	cm->retired_max = retired_for(config);
	cm->slots = config->connections + cm->retired_max;
	cm->bucket_mask = plx_power_of_two(cm->slots) - 1;
	secrets_init(cm, &config->secret);
	cm->connection = (void *)(cm + 1);
	lists = (void *)(cm->connection + cm->slots);
	cm->by_id = lists;
	cm->by_request = lists_init(cm->by_id, cm->bucket_mask + 1);
	cm->by_qp = lists_init(cm->by_request, cm->bucket_mask + 1);
	cm->by_holder = lists_init(cm->by_qp, cm->bucket_mask + 1);
	cm->holder = (void *)lists_init(cm->by_holder, cm->bucket_mask + 1);
	small_tables_init(cm);
	for (uint32_t i = 0; i < config->connections; i++)
		plx_list_append(&cm->holder_free, &cm->holder[i].same);
	for (uint32_t i = 0; i < cm->slots; i++)
		plx_list_append(&cm->free, &cm->connection[i].group);
	return cm;
}

/* ---- addresses and hashes ---- */

/* Peers cannot choose addresses or ids that share a chain. */
uint64_t
cm_hash(const struct plx_cm *cm, const struct plx_ip *ip, uint64_t a, uint64_t b)
{
	uint64_t word[5] = {ip->version, 0, 0, a, b};

	memcpy(&word[1], ip->v, sizeof ip->v);
	return plx_secret_hash(&cm->tables, word, PLX_COUNT_OF(word));
}

static struct plx_list *
chain(const struct plx_cm *cm, struct plx_list *table, uint64_t hash)
{
	return &table[hash & cm->bucket_mask];
}

struct cm_connection *
cm_find(const struct plx_cm *cm, uint32_t id)
{
	const struct plx_list *head = chain(cm, cm->by_id, id);

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		struct cm_connection *c = plx_list_entry(node, struct cm_connection, by_id);

		if (c->id == id)
			return c;
	}
	return NULL;
}

struct cm_connection *
cm_find_request(const struct plx_cm *cm, const struct plx_ip *remote, uint64_t ca_guid,
		uint32_t remote_id)
{
	const struct plx_list *head =
		chain(cm, cm->by_request, cm_hash(cm, remote, ca_guid, remote_id));

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		struct cm_connection *c = plx_list_entry(node, struct cm_connection, by_request);

		if (c->remote_id == remote_id && c->ca_guid == ca_guid &&
		    plx_ip_equal(&c->peer.info.remote, remote))
			return c;
	}
	return NULL;
}

void
cm_insert_request(struct plx_cm *cm, struct cm_connection *c)
{
	uint64_t hash = cm_hash(cm, &c->peer.info.remote, c->ca_guid, c->remote_id);

	plx_list_append(chain(cm, cm->by_request, hash), &c->by_request);
}

struct cm_connection *
cm_find_qp(const struct plx_cm *cm, const struct plx_ip *remote, uint64_t ca_guid, uint32_t qpn)
{
	const struct plx_list *head = chain(cm, cm->by_qp, cm_hash(cm, remote, ca_guid, qpn));

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		struct cm_connection *c = plx_list_entry(node, struct cm_connection, by_qp);

		if (c->peer.info.remote_qpn == qpn && c->ca_guid == ca_guid &&
		    plx_ip_equal(&c->peer.info.remote, remote))
			return c;
	}
	return NULL;
}

void
cm_insert_qp(struct plx_cm *cm, struct cm_connection *c)
{
	uint64_t hash = cm_hash(cm, &c->peer.info.remote, c->ca_guid, c->peer.info.remote_qpn);

	plx_list_remove(&c->by_qp);
	plx_list_append(chain(cm, cm->by_qp, hash), &c->by_qp);
}

struct plx_list *
cm_req_sent_to(const struct plx_cm *cm, const struct plx_ip *remote)
{
	return chain(cm, cm->by_qp, cm_hash(cm, remote, 0, 0));
}

/* ---- ids ---- */

/*
 * A secret permutation of a counter: no id repeats before all others were assigned, and seeing many
 * does not help to guess the next.
 */
static uint32_t
new_id(struct plx_cm *cm)
{
	uint32_t id;

	do {
		id = plx_permute(&cm->id_of,
				 PLX_MUTANT(CM_ID_COMES_AGAIN) ? cm->ids++ % 256 : cm->ids++);
	} while (id == 0 || cm_find(cm, id));
	return id;
}

/* Exchanges that one side begins: those that connect and those that disconnect. */
uint64_t
cm_tid(const struct plx_cm *cm, const struct cm_connection *c, bool leaving)
{
	return plx_secret_word(&cm->transactions, (uint64_t)c->id << 1 | leaving);
}

/* ---- open and free ---- */

struct cm_connection *
cm_open(struct plx_cm *cm, enum cm_state state)
{
	struct cm_connection *c;

	if (cm->connections == cm->config.connections)
		return NULL;
	c = plx_list_entry(cm->free.next, struct cm_connection, group);
	plx_list_remove(&c->group);
	memset(c, 0, sizeof *c);
	plx_list_init(&c->by_request);
	plx_list_init(&c->by_qp);
	plx_list_init(&c->timer);
	plx_list_init(&c->send);
	plx_list_init(&c->event);
	plx_list_init(&c->group);
	c->id = new_id(cm);
	plx_list_append(chain(cm, cm->by_id, c->id), &c->by_id);
	c->state = (uint8_t)state;
	c->tries_max = PLX_CM_TRIES;
	c->response = PLX_CM_RESPONSE_TIMEOUT;
	c->private_of = CM_PENDING_NONE;
	cm->connections++;
	return c;
}

void
cm_free(struct plx_cm *cm, struct cm_connection *c)
{
	plx_list_remove(&c->by_id);
	plx_list_remove(&c->by_request);
	plx_list_remove(&c->by_qp);
	plx_list_remove(&c->timer);
	plx_list_remove(&c->send);
	plx_list_remove(&c->event);
	plx_list_remove(&c->group);
	c->state = CM_IDLE;
	plx_list_append(&cm->free, &c->group);
}

/* ---- timers ---- */

enum cm_timer
cm_timer_response(uint32_t exponent)
{
	if (exponent < PLX_CM_TIMEOUT_MIN)
		exponent = PLX_CM_TIMEOUT_MIN;
	if (exponent > PLX_CM_SERVICE_TIMEOUT)
		exponent = PLX_CM_SERVICE_TIMEOUT;
	return (enum cm_timer)(CM_TIMER_RESPONSE + exponent - PLX_CM_TIMEOUT_MIN);
}

static uint64_t
delay_ns(enum cm_timer timer)
{
	if (timer == CM_TIMER_CONSUMER)
		return PLX_CM_CONSUMER_TIMEOUT_NS;
	if (timer == CM_TIMER_TIMEWAIT)
		return PLX_CM_TIMEWAIT_NS;
	return (UINT64_C(4096) << (PLX_CM_TIMEOUT_MIN + timer - CM_TIMER_RESPONSE)) + CM_MARGIN_NS;
}

void
cm_timer_set(struct plx_cm *cm, struct cm_connection *c, enum cm_timer timer, uint64_t now)
{
	c->deadline_ns = plx_time_add(now, delay_ns(timer));
	plx_list_remove(&c->timer);
	plx_list_append(&cm->timer[timer], &c->timer);
}

void
cm_timer_clear(struct cm_connection *c)
{
	plx_list_remove(&c->timer);
}
