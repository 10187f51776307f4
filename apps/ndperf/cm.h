/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The carrier by the communication manager: no side channel. The conversation has a queue pair of
 * its own, and the queue pairs that are measured are connected and disconnected one by one. Start
 * with carrier_cm.
 */
#ifndef NDPERF_CM_H
#define NDPERF_CM_H

#include "talk.h"

enum {
	CM_PORT = 7471,        /* where a server listens when nobody says otherwise */
	CM_VANISHED_MS = 5000, /* without an answer while messages flow: the peer is gone */
};

extern const struct carrier carrier_cm;

#endif
