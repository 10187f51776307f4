/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kinds of interfaces, by IANA's numbers (ifType): those that are reported here.
 * It declares no functions.
 */
#ifndef PLX_WIN_IPIFCONS_H
#define PLX_WIN_IPIFCONS_H

#define IF_TYPE_OTHER             1
#define IF_TYPE_ETHERNET_CSMACD   6
#define IF_TYPE_SOFTWARE_LOOPBACK 24

#endif
