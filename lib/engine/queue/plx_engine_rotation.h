/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rotations: the order in which what waits at an engine for one thing is served. Seats have turns,
 * and within its turn a seat serves its members, first come first served, so that a seat with many
 * members gets no more than one with few (decision 41). Only lists: who serves decides how long a
 * turn is. Start with rotation_append().
 */
#ifndef PLX_ENGINE_ROTATION_H
#define PLX_ENGINE_ROTATION_H

#include "plx_base.h"

/* What the queue pairs of a seat can wait for. */
enum wait_kind {
	WAIT_PORT,     /* to send */
	WAIT_LOOP,     /* to send to our own port */
	WAIT_FLUSH,    /* to flush: in ERROR, without need of a port */
	WAIT_ACK_PORT, /* to send an acknowledgement that found no room */
	WAIT_ACK_LOOP, /* ... to our own port */
	WAIT_KINDS,
};

/* One for each kind, at the engine. */
struct rotation {
	struct plx_list seats; /* those with members, in order of service: struct seat_turn */
	uint32_t count;        /* of them */
};

/* A seat's place in a rotation. If it is the only one, it keeps it without members, so that an
 * engine with one seat neither links nor unlinks it for each message. */
struct seat_turn {
	struct rotation *rotation;
	struct plx_list members; /* in order of service */
	struct plx_list link;    /* in rotation->seats */
	uint32_t count;          /* of members */
	uint32_t unserved;       /* those in front that this cycle has not served yet */
	uint32_t left;           /* [packets] of a turn that was cut short; 0: none was */
};

static inline void
rotation_init(struct rotation *rotation)
{
	plx_list_init(&rotation->seats);
	rotation->count = 0;
}

static inline void
seat_turn_init(struct seat_turn *turn, struct rotation *rotation)
{
	*turn = (struct seat_turn){.rotation = rotation};
	plx_list_init(&turn->members);
	plx_list_init(&turn->link);
}

/* The seat whose turn it is; there is one. */
static inline struct seat_turn *
rotation_first(const struct rotation *rotation)
{
	return plx_list_entry(rotation->seats.next, struct seat_turn, link);
}

/* A seat without members gives up its place. */
static inline void
rotation_leave(struct seat_turn *turn)
{
	if (turn->count > 0 || plx_list_empty(&turn->link))
		return;
	plx_list_remove(&turn->link);
	turn->rotation->count--;
	turn->left = 0;
}

/* A seat that has no place gets the last, or the first. */
static inline void
rotation_enter(struct seat_turn *turn, bool first)
{
	struct rotation *rotation = turn->rotation;

	if (rotation->count > 0)
		rotation_leave(rotation_first(rotation));
	plx_list_append(first ? rotation->seats.next : &rotation->seats, &turn->link);
	rotation->count++;
}

/* Let a member wait behind the others of its seat, and its seat behind the others. */
static inline void
rotation_append(struct seat_turn *turn, struct plx_list *member)
{
	plx_list_append(&turn->members, member);
	turn->count++;
	if (plx_unlikely(plx_list_empty(&turn->link)))
		rotation_enter(turn, false);
}

/* Let a member wait before the others of its seat, and a seat that had none before the others. */
static inline void
rotation_prepend(struct seat_turn *turn, struct plx_list *member)
{
	plx_list_append(turn->members.next, member);
	turn->count++;
	if (plx_unlikely(plx_list_empty(&turn->link)))
		rotation_enter(turn, true);
}

/* Take a member out. Its seat keeps its place until rotation_settle(). */
static inline void
rotation_take(struct seat_turn *turn, struct plx_list *member)
{
	plx_list_remove(member);
	turn->count--;
}

/* Beside others, a seat without members has no place. */
static inline void
rotation_settle(struct seat_turn *turn)
{
	if (plx_unlikely(turn->rotation->count > 1))
		rotation_leave(turn);
}

/* A turn is over: the seat is the last, if it has members. */
static inline void
rotation_end_turn(struct seat_turn *turn)
{
	turn->left = 0;
	rotation_leave(turn);
	if (plx_list_empty(&turn->link))
		return;
	plx_list_remove(&turn->link);
	plx_list_append(&turn->rotation->seats, &turn->link);
}

/* Begin a cycle: no member has been served. Its cost is a step for each seat with members.
 * Returns: the number of members */
static inline uint32_t
rotation_begin(struct rotation *rotation)
{
	struct plx_list *node, *after;
	uint32_t members = 0;

	plx_list_for_each (node, after, &rotation->seats) {
		struct seat_turn *turn = plx_list_entry(node, struct seat_turn, link);

		turn->unserved = turn->count;
		members += turn->count;
	}
	return members;
}

#endif
