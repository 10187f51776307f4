/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our own outstanding echo requests.
 * It never reads or writes a frame, and has no timer: a call for a result passes the time.
 * Start with plx_ping_begin(). There are few requests, so each search goes through all of them.
 */
#include "ping.h"

void
plx_pings_init(struct plx_pings *pings, const struct plx_secret *key)
{
	/* Ping numbers have 32 bits, so no id is drawn from this input. */
	uint64_t bits = plx_secret_word(key, UINT64_MAX);

	*pings = (struct plx_pings){.number = (uint32_t)bits, .key = *key};
}

void
plx_ping_insert(struct plx_pings *pings, struct plx_ping *ping, enum plx_ping_state state)
{
	pings->to_send -= ping->state == PLX_PING_TO_SEND;
	pings->to_send += state == PLX_PING_TO_SEND;
	ping->state = (uint8_t)state;
}

/* A free entry, else an expired one whose result was never fetched. */
static struct plx_ping *
place(struct plx_pings *pings, uint64_t now)
{
	struct plx_ping *late = NULL;

	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++) {
		struct plx_ping *ping = &pings->ping[i];

		if (ping->state == PLX_PING_FREE)
			return ping;
		if (now >= ping->deadline_ns)
			late = ping;
	}
	return late;
}

/* Numbers wrap, and one outstanding for long may have the sequence number of a new one. */
static bool
is_taken(const struct plx_pings *pings, uint32_t number)
{
	if (number == 0)
		return true;
	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++)
		if (pings->ping[i].state != PLX_PING_FREE &&
		    (uint16_t)pings->ping[i].number == (uint16_t)number)
			return true;
	return false;
}

struct plx_ping *
plx_ping_begin(struct plx_pings *pings, uint64_t now, uint64_t timeout)
{
	struct plx_ping *ping = place(pings, now);

	if (!ping)
		return NULL;
	plx_ping_insert(pings, ping, PLX_PING_FREE);
	do
		pings->number++;
	while (is_taken(pings, pings->number));
	*ping = (struct plx_ping){.number = pings->number,
				  .id = (uint16_t)plx_secret_word(&pings->key, pings->number),
				  .deadline_ns = plx_time_add(now, timeout)};
	plx_ping_insert(pings, ping, PLX_PING_LOOKING);
	return ping;
}

struct plx_ping *
plx_ping_find(struct plx_pings *pings, uint32_t number)
{
	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++)
		if (pings->ping[i].state != PLX_PING_FREE && pings->ping[i].number == number)
			return &pings->ping[i];
	return NULL;
}

struct plx_ping *
plx_ping_of_answer(struct plx_pings *pings, uint16_t sequence)
{
	for (uint32_t i = 0; i < PLX_NET_PINGS_MAX; i++)
		if (pings->ping[i].state == PLX_PING_SENT &&
		    (uint16_t)pings->ping[i].number == sequence)
			return &pings->ping[i];
	return NULL;
}

struct plx_ping *
plx_ping_to_send(struct plx_pings *pings)
{
	struct plx_ping *oldest = NULL;

	for (uint32_t i = 0; pings->to_send && i < PLX_NET_PINGS_MAX; i++) {
		struct plx_ping *ping = &pings->ping[i];

		/* Age is measured by number. */
		if (ping->state == PLX_PING_TO_SEND &&
		    (!oldest || pings->number - ping->number > pings->number - oldest->number))
			oldest = ping;
	}
	return oldest;
}
