/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file of rules: what goes over RDMA. Start with rules_read().
 */
#ifndef BROKER_RULES_H
#define BROKER_RULES_H

#include "plx_san_broker.h"

struct rules {
	struct san_rule rule[SAN_RULES_MAX];
	uint32_t n;
};

/** Read a file. Returns: false: a sentence, which names file, line, value and what is allowed */
bool rules_read(const char *path, struct rules *rules, struct plx_why *why);

#endif
