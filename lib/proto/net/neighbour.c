/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of neighbours: its hash, eviction, and the states of a neighbour.
 * It never reads or writes a frame, and does not know our own addresses.
 * Start with enter(): a state, its timer and its rank change there and nowhere else.
 */
#include "neighbour.h"

static const uint64_t timer_delay_ns[PLX_TIMERS] = {
	[PLX_TIMER_RETRY] = PLX_NET_RETRY_NS,
	[PLX_TIMER_REACHABLE] = PLX_NET_FRESH_NS,
	[PLX_TIMER_FAILED] = PLX_NET_NEGATIVE_NS,
	[PLX_TIMER_GUEST] = PLX_NET_GUEST_NS,
};

static const uint8_t state_rank[PLX_NEIGHBOUR_STATES] = {
	[PLX_NEIGHBOUR_GUEST] = PLX_RANK_GUEST,    [PLX_NEIGHBOUR_INCOMPLETE] = PLX_RANK_UNKNOWN,
	[PLX_NEIGHBOUR_FAILED] = PLX_RANK_UNKNOWN, [PLX_NEIGHBOUR_REACHABLE] = PLX_RANK_KNOWN,
	[PLX_NEIGHBOUR_PROBE] = PLX_RANK_KNOWN,
};

/* ---- memory and hash ---- */

size_t
plx_table_bytes(uint32_t entries)
{
	return entries * sizeof(struct plx_neighbour) +
	       plx_power_of_two(entries) * sizeof(struct plx_neighbour *);
}

void
plx_table_init(struct plx_table *table, void *memory, uint32_t entries,
	       const struct plx_secret *key, struct plx_net_counters *counters)
{
	memset(memory, 0, plx_table_bytes(entries));
	*table = (struct plx_table){
		.key = *key,
		.entries = entries,
		.guests_max = entries / PLX_NET_GUEST_SHARE,
		.bucket_mask = plx_power_of_two(entries) - 1,
		.neighbour = memory,
		.counters = counters,
	};
	table->bucket = (void *)(table->neighbour + entries);
	for (int i = 0; i < PLX_TIMERS; i++)
		plx_list_init(&table->timer[i]);
	for (int i = 0; i < PLX_RANKS; i++)
		plx_list_init(&table->rank[i]);
	for (uint32_t i = 0; i < entries; i++) {
		plx_list_append(&table->timer[PLX_TIMER_NONE], &table->neighbour[i].timer);
		plx_list_init(&table->neighbour[i].rank);
	}
}

/* Keyed by the secret, so that a peer cannot choose addresses that collide. */
static struct plx_neighbour **
bucket_of(const struct plx_table *table, const struct plx_ip *ip)
{
	uint64_t word[3] = {ip->version};

	memcpy(&word[1], ip->v, sizeof ip->v);
	return &table->bucket[plx_secret_hash(&table->key, word, PLX_COUNT_OF(word)) &
			      table->bucket_mask];
}

struct plx_neighbour *
plx_table_find(const struct plx_table *table, const struct plx_ip *ip)
{
	struct plx_neighbour *found = *bucket_of(table, ip);

	while (found && !plx_ip_equal(&found->ip, ip))
		found = found->next;
	return found;
}

/* ---- states, timers, ranks ---- */

/* Make it the youngest of its rank. */
static void
touch(struct plx_table *table, struct plx_neighbour *neighbour)
{
	plx_list_remove(&neighbour->rank);
	plx_list_append(&table->rank[state_rank[neighbour->state]], &neighbour->rank);
}

/* Enter a state, at the end of its timer list. Age counts from the last use of the entry; requests
 * and answers do not change an entry's place within its rank. */
static void
set_state(struct plx_table *table, struct plx_neighbour *neighbour, enum plx_neighbour_state state,
	  enum plx_timer timer, uint64_t now)
{
	enum plx_neighbour_state before = (enum plx_neighbour_state)neighbour->state;

	if (before == PLX_NEIGHBOUR_GUEST)
		table->guests--;
	if (state == PLX_NEIGHBOUR_GUEST)
		table->guests++;
	neighbour->state = (uint8_t)state;
	neighbour->deadline_ns = plx_time_add(now, timer_delay_ns[timer]);
	plx_list_remove(&neighbour->timer);
	plx_list_append(&table->timer[timer], &neighbour->timer);
	if (state == PLX_NEIGHBOUR_FREE)
		plx_list_remove(&neighbour->rank);
	else if (before == PLX_NEIGHBOUR_FREE || state_rank[before] != state_rank[state])
		touch(table, neighbour);
}

static void
forget(struct plx_table *table, struct plx_neighbour *neighbour)
{
	struct plx_neighbour **link = bucket_of(table, &neighbour->ip);

	while (*link != neighbour)
		link = &(*link)->next;
	*link = neighbour->next;
	set_state(table, neighbour, PLX_NEIGHBOUR_FREE, PLX_TIMER_NONE, 0);
}

/* Evict an entry and return it: the oldest of the lowest rank, up to `highest`; or NULL. */
static struct plx_neighbour *
evict(struct plx_table *table, enum plx_rank highest)
{
	for (int rank = 0; rank <= (int)highest; rank++) {
		struct plx_neighbour *oldest;

		if (plx_list_empty(&table->rank[rank]))
			continue;
		oldest = plx_list_entry(table->rank[rank].next, struct plx_neighbour, rank);
		forget(table, oldest);
		plx_count(&table->counters->evicted, 1);
		return oldest;
	}
	return NULL;
}

/* A free entry becomes the neighbour `ip`, without a MAC; the caller sets its state. */
static void
begin(struct plx_table *table, struct plx_neighbour *neighbour, const struct plx_ip *ip)
{
	struct plx_neighbour **bucket = bucket_of(table, ip);

	neighbour->ip = *ip;
	neighbour->tries = 0;
	neighbour->move_after_ns = 0;
	neighbour->next = *bucket;
	*bucket = neighbour;
}

static struct plx_neighbour *
free_entry(const struct plx_table *table)
{
	const struct plx_list *list = &table->timer[PLX_TIMER_NONE];

	return plx_list_empty(list) ? NULL
				    : plx_list_entry(list->next, struct plx_neighbour, timer);
}

/* The MAC is unsolicited: used at once, and verified by a request soon unless confirmed before. */
static void
verify(struct plx_table *table, struct plx_neighbour *neighbour, uint64_t now)
{
	neighbour->tries = 0;
	set_state(table, neighbour, PLX_NEIGHBOUR_PROBE, PLX_TIMER_RETRY, now);
}

/* ---- users and messages ---- */

struct plx_neighbour *
plx_table_want(struct plx_table *table, const struct plx_ip *ip, uint64_t now)
{
	struct plx_neighbour *neighbour = plx_table_find(table, ip);

	if (!neighbour) {
		neighbour = free_entry(table);
		if (!neighbour)
			neighbour = evict(table, PLX_RANK_KNOWN);
		PLX_ASSERT(neighbour);
		begin(table, neighbour, ip);
		set_state(table, neighbour, PLX_NEIGHBOUR_INCOMPLETE, PLX_TIMER_ASK, now);
	} else if (neighbour->state == PLX_NEIGHBOUR_GUEST) {
		verify(table, neighbour, now);
	} else if (neighbour->state == PLX_NEIGHBOUR_FAILED && now >= neighbour->deadline_ns) {
		neighbour->tries = 0;
		set_state(table, neighbour, PLX_NEIGHBOUR_INCOMPLETE, PLX_TIMER_ASK, now);
	}
	touch(table, neighbour);
	return neighbour;
}

void
plx_table_welcome(struct plx_table *table, const struct plx_ip *ip, const uint8_t *mac,
		  uint64_t now)
{
	struct plx_neighbour *neighbour = NULL;

	if (table->guests < table->guests_max)
		neighbour = free_entry(table);
	if (!neighbour)
		neighbour = evict(table, PLX_RANK_GUEST);
	if (!neighbour) {
		plx_count(&table->counters->guests_refused, 1);
		return;
	}
	begin(table, neighbour, ip);
	memcpy(neighbour->mac, mac, PLX_MAC_BYTES);
	set_state(table, neighbour, PLX_NEIGHBOUR_GUEST, PLX_TIMER_GUEST, now);
}

static void
learn(struct plx_table *table, struct plx_neighbour *neighbour, const uint8_t *mac, bool solicited,
      uint64_t now)
{
	memcpy(neighbour->mac, mac, PLX_MAC_BYTES);
	if (solicited)
		set_state(table, neighbour, PLX_NEIGHBOUR_REACHABLE, PLX_TIMER_REACHABLE, now);
	else
		verify(table, neighbour, now);
}

/* A known neighbour claims another MAC. At most one claim in PLX_NET_MOVE_NS is accepted, so that a
 * station that repeats it does not make all users of the table resolve again and again. */
static void
move(struct plx_table *table, struct plx_neighbour *neighbour, const struct plx_message *message,
     bool solicited, uint64_t now)
{
	if (!message->override) {
		/* RFC 4861, 7.2.5: keep the old MAC, and verify it. */
		if (neighbour->state == PLX_NEIGHBOUR_REACHABLE)
			verify(table, neighbour, now);
		return;
	}
	if (now < neighbour->move_after_ns) {
		plx_count(&table->counters->moves_refused, 1);
		return;
	}
	neighbour->move_after_ns = plx_time_add(now, PLX_NET_MOVE_NS);
	plx_count(&table->counters->moved, 1);
	table->version++;
	learn(table, neighbour, message->mac, solicited, now);
}

/* No user has resolved a guest, so its change needs no new version. */
static void
guest_update(struct plx_table *table, struct plx_neighbour *guest,
	     const struct plx_message *message, uint64_t now)
{
	if (message->has_mac && message->override)
		memcpy(guest->mac, message->mac, PLX_MAC_BYTES);
	set_state(table, guest, PLX_NEIGHBOUR_GUEST, PLX_TIMER_GUEST, now);
	touch(table, guest);
}

/** Spec: RFC 826; RFC 4861 (7.2.3, 7.2.5). */
void
plx_neighbour_update(struct plx_table *table, struct plx_neighbour *neighbour,
		     const struct plx_message *message, bool solicited, uint64_t now)
{
	bool known = neighbour->state == PLX_NEIGHBOUR_REACHABLE ||
		     neighbour->state == PLX_NEIGHBOUR_PROBE;

	if (neighbour->state == PLX_NEIGHBOUR_GUEST) {
		guest_update(table, neighbour, message, now);
	} else if (!known) {
		/* An answer without a MAC is useless: RFC 4861, 7.2.5. */
		if (message->has_mac)
			learn(table, neighbour, message->mac, solicited, now);
	} else if (message->has_mac && memcmp(neighbour->mac, message->mac, PLX_MAC_BYTES) != 0) {
		move(table, neighbour, message, solicited, now);
	} else if (solicited && neighbour->state == PLX_NEIGHBOUR_PROBE) {
		set_state(table, neighbour, PLX_NEIGHBOUR_REACHABLE, PLX_TIMER_REACHABLE, now);
	}
}

/* ---- requests and time ---- */

struct plx_neighbour *
plx_table_next_request(const struct plx_table *table)
{
	const struct plx_list *list = &table->timer[PLX_TIMER_ASK];

	return plx_list_empty(list) ? NULL
				    : plx_list_entry(list->next, struct plx_neighbour, timer);
}

void
plx_neighbour_request_sent(struct plx_table *table, struct plx_neighbour *neighbour, uint64_t now)
{
	neighbour->tries++;
	set_state(table, neighbour, (enum plx_neighbour_state)neighbour->state, PLX_TIMER_RETRY,
		  now);
}

/* No answer to all tries. An entry that was never resolved is kept as silent, so that it is not
 * requested again at once; a resolved one is forgotten, so that the next request is multicast or
 * broadcast. RFC 4861, 7.3.3. */
static void
give_up(struct plx_table *table, struct plx_neighbour *neighbour, uint64_t now)
{
	plx_count(&table->counters->no_answer, 1);
	if (neighbour->state == PLX_NEIGHBOUR_INCOMPLETE) {
		set_state(table, neighbour, PLX_NEIGHBOUR_FAILED, PLX_TIMER_FAILED, now);
		return;
	}
	table->version++;
	forget(table, neighbour);
}

static void
due(struct plx_table *table, struct plx_neighbour *neighbour, enum plx_timer timer, uint64_t now)
{
	if (timer == PLX_TIMER_RETRY) {
		if (neighbour->tries < PLX_NET_TRIES)
			set_state(table, neighbour, (enum plx_neighbour_state)neighbour->state,
				  PLX_TIMER_ASK, now);
		else
			give_up(table, neighbour, now);
	} else if (timer == PLX_TIMER_REACHABLE) {
		neighbour->tries = 0;
		set_state(table, neighbour, PLX_NEIGHBOUR_PROBE, PLX_TIMER_ASK, now);
	} else {
		forget(table, neighbour);
	}
}

void
plx_table_tick(struct plx_table *table, uint64_t now)
{
	for (int timer = PLX_TIMER_RETRY; timer < PLX_TIMERS; timer++) {
		struct plx_list *list = &table->timer[timer];

		for (int i = 0; i < PLX_NET_DUE_MAX && !plx_list_empty(list); i++) {
			struct plx_neighbour *first =
				plx_list_entry(list->next, struct plx_neighbour, timer);

			if (now < first->deadline_ns)
				break;
			due(table, first, (enum plx_timer)timer, now);
		}
	}
}

uint64_t
plx_table_due_ns(const struct plx_table *table)
{
	uint64_t due_ns = PLX_NEVER;

	for (int timer = PLX_TIMER_RETRY; timer < PLX_TIMERS; timer++) {
		const struct plx_list *list = &table->timer[timer];

		if (!plx_list_empty(list))
			due_ns = plx_time_min(
				due_ns, plx_list_entry(list->next, struct plx_neighbour, timer)
						->deadline_ns);
	}
	return due_ns;
}
