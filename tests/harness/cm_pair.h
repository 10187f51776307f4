/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communication managers of a few imaginary hosts, connected in memory, in virtual time. Datagrams
 * move only when the test moves them; it can drop, inspect and inject them. It never looks inside a
 * manager: it uses only plx_cm.h. Start with pair_open(). ALICE usually connects; BOB listens at
 * PORT.
 */
#ifndef PLX_TEST_PAIR_H
#define PLX_TEST_PAIR_H

#include "test.h"
#include "plx_cm.h"

enum {
	ALICE,
	BOB,
	HOSTS,
	PORT = 7174,
	ALICE_PORT = 40000,
	ALICE_QPN = 0x11,
	BOB_QPN = 0x22,
	LOG_MAX = 1 << 12,
	CONTEXT_LISTENER = 100,
	CONTEXT_ALICE = 101,
	CONTEXT_BOB = 102,
};

/* A datagram that has left, whether or not it arrived. */
struct seen {
	int from;
	struct plx_cm_route route;
	struct plx_cm_msg msg;
};

struct pair {
	struct plx_cm_config config[HOSTS];
	struct plx_cm *cm[HOSTS];
	void *memory[HOSTS];
	struct plx_ip ip[HOSTS];
	uint64_t now;
	/* how many more of a message (its attribute - PLX_CM_REQ) to drop on the way */
	uint32_t lose[9];
	bool silent[HOSTS]; /* drops everything for this host */
	struct seen *log;   /* [LOG_MAX]: the first since pair_forget() */
	uint32_t logged;
	struct plx_cm_event event;   /* the last that was taken */
	enum plx_cm_verdict verdict; /* on the last datagram that arrived */
};

/* Both have room for 64 connections, all of which may be half open; version 4 or 6. */
void pair_open(struct pair *pair);
/* ... and ALICE's REQ has arrived at BOB, who listens.
 * Returns: ALICE's connection */
struct plx_cm_id pair_open_asked(struct pair *pair);
void pair_open_with(struct pair *pair, uint32_t connections, uint32_t half_open, uint8_t version);
void pair_close(struct pair *pair);
/* One end is destroyed, and made anew, with other ids. */
void pair_reboot(struct pair *pair, int host);

/* Deliver everything queued, and everything sent in response, until nothing is left. Time does
 * not advance. */
void pair_carry(struct pair *pair);
/* Deliver what this host has queued, but not what other hosts send in response.
 * Returns: how many */
uint32_t pair_carry_from(struct pair *pair, int host);
/* Time passes, as fast as timers are due; datagrams are carried. */
void pair_wait(struct pair *pair, uint64_t ns);
void pair_forget(struct pair *pair);
/* How many of this kind have left this host. */
uint32_t pair_count(const struct pair *pair, int from, enum plx_cm_kind kind);
/* The last of this kind that left this host; there must be one. */
const struct plx_cm_msg *pair_last(const struct pair *pair, int from, enum plx_cm_kind kind);

/* A datagram comes to a host, from an address. */
enum plx_cm_verdict pair_inject_from(struct pair *pair, int to, struct plx_ip from,
				     const struct plx_cm_msg *msg);
/* To an additional address of this host. */
enum plx_cm_verdict pair_inject_at(struct pair *pair, int to, struct plx_ip at,
				   const struct plx_cm_msg *msg);
enum plx_cm_verdict pair_inject(struct pair *pair, int to, const struct plx_cm_msg *msg);

struct plx_cm_view pair_view(const struct pair *pair, int host);

/* The host's next event is this one. */
const struct plx_cm_event *pair_expect(struct pair *pair, int host, enum plx_cm_event_kind kind);
void pair_expect_nothing(struct pair *pair, int host);

struct plx_ip pair_ip(uint8_t version, uint32_t number);
struct plx_cm_own pair_own(uint32_t qpn);
struct plx_cm_id pair_listen(struct pair *pair, int host, uint16_t port, uint32_t backlog);
struct plx_cm_connect pair_wish(const struct pair *pair, int from, int to, uint32_t qpn);
struct plx_cm_id pair_connect(struct pair *pair, int from, int to, uint32_t qpn);
/* With private data of `bytes` that contain `qpn`. */
struct plx_cm_peer pair_accept(struct pair *pair, int host, struct plx_cm_id id, uint32_t qpn);

/* A REQ as a stranger writes it, for BOB's PORT. */
struct plx_cm_msg pair_req(const struct pair *pair, struct plx_ip from, uint32_t comm_id,
			   uint32_t qpn);

/* A living connection, ids[ALICE] and ids[BOB]; BOB listens. */
void pair_establish(struct pair *pair, struct plx_cm_id *ids);
/* The same, while BOB listens already. */
void pair_establish_more(struct pair *pair, uint32_t qpn, struct plx_cm_id *ids);
/* Everything is over after a while, on both sides, and nothing is held. */
void pair_expect_rest(struct pair *pair);

#endif
