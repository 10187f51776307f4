/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The carrier by the communication manager: no side channel. The conversation has a queue pair of
 * its own, and the queue pairs that are measured are connected and disconnected one by one.
 * Private data says what a request is for: talk_magic, a session of 64 bits, a line of 32. A REQ
 * with line 256 and session 0 requests a conversation; its REP names the session. A REQ with that
 * session and a queue pair's number as line connects it; the addresses in the cards are then not
 * used. Anything else is rejected with a sentence in the private data. Start with carrier_cm.
 */
#ifndef NDPERF_CM_H
#define NDPERF_CM_H

#include "talk.h"

enum {
	CM_VANISHED_MS = 5000, /* without an answer while messages flow: the peer is gone */
};

extern const struct carrier carrier_cm;

#endif
