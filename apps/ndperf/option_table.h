/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of options, between the file that owns it and the one that goes through it.
 * Start with struct row.
 */
#ifndef NDPERF_OPTION_TABLE_H
#define NDPERF_OPTION_TABLE_H

#include "options.h"

enum who {
	SOLO = 1 << ROLE_SOLO,
	SERVER = 1 << ROLE_SERVER,
	CLIENT = 1 << ROLE_CLIENT,
	PAIR = SERVER | CLIENT,
	ASKING = SOLO | CLIENT,
	ALL = SOLO | SERVER | CLIENT,
};

struct row {
	const char *name;
	const char *value; /* what it is called in the help; NULL: the option has none */
	uint8_t who;       /* enum who bits */
	bool (*set)(struct options *o, const char *value, struct plx_why *why);
	size_t offset; /* without `set`: of the text, or of the bool when there is no value */
	const char *help;
};

extern const struct row rows[];
extern const uint32_t rows_count;

#endif
