/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Setting up one end of the raw pipeline. Start with raw_end_init().
 */
#ifndef NDPERF_RAW_END_H
#define NDPERF_RAW_END_H

#include "ndperf.h"
#include "raw_hot.h"
#include "raw_port.h"

/**
 * Initialize an end that sends messages of the job's size in packets of its path MTU. It has no
 * mempool cache; the caller adds one if needed.
 *
 * @param which    0 or 1, index of the port
 * @param one_core one thread runs both ends
 * Errors: NO_MEMORY; call raw_end_fini() even then
 */
enum plx_status raw_end_init(struct raw_end *end, int which, const struct job *job,
			     const struct raw_ports *ports, bool one_core) PLX_MUST_CHECK;

void raw_end_fini(struct raw_end *end);

#endif
