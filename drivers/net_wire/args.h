/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The device string of the embedded link. Private to the room; it accesses no device. Start with
 * args_parse().
 */
#ifndef PLX_NET_WIRE_ARGS_H
#define PLX_NET_WIRE_ARGS_H

#include "faults.h"

struct args {
	uint32_t link, end;
	uint32_t shift;
	struct fault_options faults;
};

/** Errors (each with a sentence): INVALID (which argument, its value, its range) */
enum plx_status args_parse(const char *device, struct args *out,
			   struct plx_why *why) PLX_MUST_CHECK;

#endif
