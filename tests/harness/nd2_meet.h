/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection step by step: each step of either side is one call here, so that a test can stop
 * between any two. It never goes further than it says.
 * Start with meet(), then meet_request().
 */
#ifndef MEET_H
#define MEET_H

#include "nd2_pair.h"

enum {
	CALLER_BYTES = 56, /* of private data, at most */
	CALLEE_BYTES = 148,
};

struct meeting {
	struct nd_pair *pair;
	struct nd_side *a, *b; /* of the pair: who asks, who is asked */
	IND2Connector *ca, *cb;
	OVERLAPPED asked, connected, accepted, completed, left;
};

/* Tests take the family as their state: each of them once for IPv4, once for IPv6. */
#define MEET_TESTS(test)                                        \
	{#test ", IPv4", test, NULL, NULL, &meet_family4},      \
	{                                                       \
#test ", IPv6", test, NULL, NULL, &meet_family6 \
	}

extern int meet_family4, meet_family6; /* which nobody changes */

/** Two sides and a listener; a is bound. */
struct meeting *meet(void **state, const struct nd_options *options);
/** As meet(), but a is idle. */
struct meeting *meet_unbound(void **state, const struct nd_options *options);
void part(struct meeting *m);

/** Connect to where the pair's listener is. */
HRESULT meet_connect(struct meeting *m, const void *words, ULONG bytes);
HRESULT meet_accept(struct meeting *m, const void *words, ULONG bytes);

/** ReqSent here, ReqRcvd there. */
void meet_request(struct meeting *m);
/** RepRcvd here, RepSent there. */
void meet_reply(struct meeting *m);
/** Established on both sides. */
void meet_complete(struct meeting *m);
/** The three of them. */
void meet_join(struct meeting *m);
/** As far as the active sides can: established here, and there when a message has come, which may
 * be lost. All at once, since each loss takes a second. */
void meet_join_all(struct meeting *m[], int n);
/** All of it. */
struct meeting *meet_whole(void **state, const struct nd_options *options);

/** It is pending, and stays so. */
void meet_still_pending(const OVERLAPPED *overlapped);

/** A connection is gone from this connector: its read limits cannot be asked for any more. */
void meet_gone(IND2Connector *connector);

/** A message crosses from one to the other. */
void meet_message(struct nd_side *from, struct nd_side *to, uint8_t seed);

IUnknown *meet_unknown(void *object);

#endif
