/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The only TCP/IP control supported: keep-alive.
 */
#ifndef PLX_WIN_MSTCPIP_H
#define PLX_WIN_MSTCPIP_H
#include "ws2ipdef.h"

#define SIO_KEEPALIVE_VALS 0x98000004

struct tcp_keepalive {
	ULONG onoff;
	ULONG keepalivetime;     /* [ms] until the first probe; in whole seconds, at least 1 */
	ULONG keepaliveinterval; /* [ms] between two */
};

#endif
