/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text of addresses, for sentences. Start with plx_address_text().
 */
#include <arpa/inet.h>

#include "plx_address_text.h"

struct plx_address_text
plx_address_text(const struct plx_ip *ip)
{
	struct plx_address_text text = {"none"};

	if (ip->version == 4 || ip->version == 6)
		inet_ntop(ip->version == 4 ? AF_INET : AF_INET6, ip->v, text.s, sizeof(text.s));
	return text;
}
