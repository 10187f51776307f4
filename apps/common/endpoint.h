/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The adapter that a program opens, as its command line names it: an adapter of the configuration
 * file, or a device and an address. Start with struct endpoint.
 */
#ifndef COMMON_ENDPOINT_H
#define COMMON_ENDPOINT_H

#include "options.h"
#include "plx_verbs.h"

struct endpoint {
	const char *adapter; /* NULL: use `device` */
	const char *device;  /* NULL: not given */
	struct option_address address;
	const char *eal;
};

enum {
	ENDPOINT_ROWS = 4,
};

/* --device, --address, --adapter and --eal, stored in a struct endpoint. */
extern const struct option_row endpoint_rows[ENDPOINT_ROWS];

extern const char *const mode_names[2];              /* by enum plx_mode */
extern const char *const idle_names[PLX_IDLE_COUNT]; /* by enum plx_idle */

/** Is an adapter given, or a device with its address?
 * @param who in the sentence: "ndping server" */
bool endpoint_is_named(const struct endpoint *endpoint, const char *who, struct plx_why *why);

/** Get the options of the adapter.
 * Errors: the configuration file */
bool endpoint_adapter_options(const struct endpoint *endpoint,
			      struct plx_adapter_options *adapter_options, struct plx_why *why);

/** Start DPDK. */
bool endpoint_start(const struct endpoint *endpoint, struct plx_why *why);

/** The sentence, or the meaning of the status if there is no sentence. */
const char *reason_text(const struct plx_why *why, enum plx_status status);

#endif
