/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Admission: a token bucket for each source, and the slots for half-open connections. It never
 * refuses an established connection, or a message of one.
 * Start with cm_admit(); docs/cm.md has the reasons for the numbers.
 */
#include "connection.h"

/* ---- buckets ---- */

bool
cm_bucket_consume(struct cm_bucket *bucket, uint32_t burst, uint32_t per_second, uint64_t now)
{
	uint64_t each_ns = PLX_SEC / per_second;
	uint64_t until_ns = bucket->until_ns > now ? bucket->until_ns : now;

	if (until_ns - now > (burst - 1) * each_ns)
		return false;
	bucket->until_ns = until_ns + each_ns;
	return true;
}

static void
refund(struct cm_bucket *bucket, uint32_t per_second)
{
	uint64_t each_ns = PLX_SEC / per_second;

	bucket->until_ns = bucket->until_ns > each_ns ? bucket->until_ns - each_ns : 0;
}

/* ---- peers with an established connection ---- */

static uint32_t
cell_of(const struct plx_cm *cm, const struct plx_ip *remote)
{
	return (uint32_t)(cm_hash(cm, remote, 1, 0) % CM_ESTABLISHED_CELLS);
}

void
cm_established_count(struct plx_cm *cm, const struct plx_ip *remote, bool begins)
{
	uint32_t *cell = &cm->established[cell_of(cm, remote)];

	PLX_ASSERT(begins || *cell > 0);
	*cell += begins ? 1 : -1u;
}

/*
 * Two addresses may share a cell. An unknown peer is then treated as a known one, which is
 * harmless.
 */
bool
cm_peer_is_known(const struct plx_cm *cm, const struct plx_ip *remote)
{
	return cm->established[cell_of(cm, remote)] > 0;
}

/* ---- connections of one address ---- */

static struct plx_list *
holder_chain(struct plx_cm *cm, const struct plx_ip *ip)
{
	return &cm->by_holder[cm_hash(cm, ip, 3, 0) & cm->bucket_mask];
}

static struct cm_holder *
holder_of(struct plx_cm *cm, const struct plx_ip *ip)
{
	struct plx_list *head = holder_chain(cm, ip);

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		struct cm_holder *holder = plx_list_entry(node, struct cm_holder, same);

		if (plx_ip_equal(&holder->ip, ip))
			return holder;
	}
	return NULL;
}

bool
cm_peer_is_full(struct plx_cm *cm, const struct plx_ip *remote)
{
	const struct cm_holder *holder = holder_of(cm, remote);

	if (!holder || holder->held < cm->config.per_peer)
		return false;
	plx_count(&cm->counters.peer_full, 1);
	return true;
}

/* There are as many entries as connections, so one is always free. */
void
cm_holder_get(struct plx_cm *cm, struct cm_connection *c)
{
	struct cm_holder *holder = holder_of(cm, &c->peer.info.remote);

	if (!holder) {
		holder = plx_list_entry(cm->holder_free.next, struct cm_holder, same);
		plx_list_remove(&holder->same);
		plx_list_append(holder_chain(cm, &c->peer.info.remote), &holder->same);
		holder->ip = c->peer.info.remote;
	}
	holder->held++;
	c->holder = holder;
}

void
cm_holder_put(struct plx_cm *cm, struct cm_connection *c)
{
	struct cm_holder *holder = c->holder;

	c->holder = NULL;
	if (!holder || --holder->held > 0)
		return;
	plx_list_remove(&holder->same);
	plx_list_append(&cm->holder_free, &holder->same);
}

/* ---- sources ---- */

static struct plx_list *
source_chain(struct plx_cm *cm, const struct plx_ip *ip)
{
	return &cm->source_at[cm_hash(cm, ip, 2, 0) % CM_SOURCE_BUCKETS];
}

/* A source with no state: nothing half open, and a full bucket. Checks a few of the oldest. */
static struct cm_source *
source_to_reuse(struct plx_cm *cm, uint64_t now)
{
	for (int i = 0; i < 4 && !plx_list_empty(&cm->source_idle); i++) {
		struct cm_source *oldest =
			plx_list_entry(cm->source_idle.next, struct cm_source, idle);

		if (oldest->bucket.until_ns <= now)
			return oldest;
		plx_list_remove(&oldest->idle);
		plx_list_append(&cm->source_idle, &oldest->idle);
	}
	return NULL;
}

static struct cm_source *
source_of(struct plx_cm *cm, const struct plx_ip *ip, bool known, uint64_t now)
{
	struct plx_list *head = source_chain(cm, ip);
	struct cm_source *source;

	for (struct plx_list *node = head->next; node != head; node = node->next) {
		source = plx_list_entry(node, struct cm_source, same);
		if (plx_ip_equal(&source->ip, ip))
			return source;
	}
	source = source_to_reuse(cm, now);
	if (!source)
		return &cm->shared[known];
	plx_list_remove(&source->same);
	plx_list_append(head, &source->same);
	source->ip = *ip;
	source->bucket.until_ns = 0;
	return source;
}

static bool
source_is_shared(const struct plx_cm *cm, const struct cm_source *source)
{
	return source == &cm->shared[0] || source == &cm->shared[1];
}

void
cm_source_release(struct plx_cm *cm, struct cm_source *source, bool done)
{
	PLX_ASSERT(source->half_open > 0);
	source->half_open--;
	if (done)
		refund(&source->bucket, PLX_CM_SOURCE_PER_SECOND);
	if (source->half_open == 0 && !source_is_shared(cm, source)) {
		plx_list_remove(&source->idle);
		plx_list_append(&cm->source_idle, &source->idle);
	}
}

/* ---- half-open connections ---- */

/*
 * Evict the oldest accepted connection of an unknown peer that has not replied. An honest peer
 * replies before as many newer connections arrive as there are slots.
 */
static bool
make_room(struct plx_cm *cm, uint64_t now)
{
	if (plx_list_empty(&cm->silent))
		return false;
	plx_count(&cm->counters.gave_way, 1);
	cm_give_up(cm, plx_list_entry(cm->silent.next, struct cm_connection, group),
		   PLX_CM_EVENT_TIMED_OUT, now);
	return true;
}

/* In a small table, shares would exclude honest peers. */
static uint32_t
limit_of_strangers(const struct plx_cm *cm)
{
	uint32_t all = cm->config.half_open;

	return all > PLX_CM_SHARED_MIN ? all - all / PLX_CM_KNOWN_SHARE : all;
}

static uint32_t
limit_of_source(const struct plx_cm *cm)
{
	uint32_t part = cm->config.half_open / PLX_CM_SOURCE_SHARE;

	return part > PLX_CM_SHARED_MIN ? part : PLX_CM_SHARED_MIN;
}

static bool
has_room(struct plx_cm *cm, bool known, uint64_t now)
{
	uint32_t limit = known ? cm->config.half_open : limit_of_strangers(cm);

	if (cm->half_open < limit || make_room(cm, now))
		return true;
	plx_count(&cm->counters.half_open_full, 1);
	return false;
}

/* Otherwise a peer could probe for queue pairs in use without limit. */
bool
cm_admit_doubt(struct plx_cm *cm, const struct plx_ip *remote, uint64_t now)
{
	struct cm_source *source = source_of(cm, remote, cm_peer_is_known(cm, remote), now);

	if (cm_bucket_consume(&source->bucket, PLX_CM_SOURCE_BURST, PLX_CM_SOURCE_PER_SECOND, now))
		return true;
	plx_count(&cm->counters.source_full, 1);
	return false;
}

struct cm_source *
cm_admit(struct plx_cm *cm, const struct plx_ip *remote, bool *known, uint64_t now)
{
	struct cm_source *source;

	*known = cm_peer_is_known(cm, remote);
	source = source_of(cm, remote, *known, now);
	if (source->half_open >= limit_of_source(cm) ||
	    !cm_bucket_consume(&source->bucket, PLX_CM_SOURCE_BURST, PLX_CM_SOURCE_PER_SECOND,
			       now)) {
		plx_count(&cm->counters.source_full, 1);
		return NULL;
	}
	if (!has_room(cm, *known, now)) {
		refund(&source->bucket, PLX_CM_SOURCE_PER_SECOND);
		return NULL;
	}
	plx_list_remove(&source->idle);
	source->half_open++;
	cm->half_open++;
	return source;
}
