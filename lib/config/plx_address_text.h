/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of addresses, for sentences. Start with plx_address_text().
 */
#ifndef PLX_ADDRESS_TEXT_H
#define PLX_ADDRESS_TEXT_H

#include <netinet/in.h>

#include "plx_types.h"

struct plx_address_text {
	char s[INET6_ADDRSTRLEN];
};

/** The text of an address; "none" if there is none. */
struct plx_address_text plx_address_text(const struct plx_ip *ip);

#endif
