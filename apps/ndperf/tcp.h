/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The carrier over TCP: the side channel of --oob, and a pair of sockets in one process.
 * Start with carrier_tcp.
 */
#ifndef NDPERF_TCP_H
#define NDPERF_TCP_H

#include "talk.h"

/* Its connect() and listen() are at --oob; a talk with `fd` set is connected already. Its queue
 * pairs are connected by what the cards say, without a message of their own. */
extern const struct carrier carrier_tcp;

#endif
