/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The addresses that network interfaces have. Empty elsewhere.
 */
#ifdef __linux__
#include "either.h"

#include <ifaddrs.h>
#include <sys/socket.h>

int EITHER_CALL either_addresses(void)
{
	struct ifaddrs *all, *at;
	int found = 0;

	if (getifaddrs(&all) != 0)
		return -1;
	for (at = all; at; at = at->ifa_next)
		found += at->ifa_addr && at->ifa_addr->sa_family == AF_INET;
	freeifaddrs(all);
	return found;
}
#endif
