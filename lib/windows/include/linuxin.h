/* SPDX-License-Identifier: BSD-3-Clause
 *
 * <netinet/in.h> with the additional members that addresses have on Windows: in_addr.S_un and
 * in6_addr.u, and s_host and the like, which are macros there and members here.
 *
 * The layout is unchanged, and the names of Linux stay. The structures are glibc's; while its
 * header is read, a macro expands one member name into more members. A program that has included
 * that header before gets the names of Linux only.
 */
#ifndef PLX_WIN_LINUXIN_H
#define PLX_WIN_LINUXIN_H

#include <stdint.h>
#include <sys/types.h>

/* With _FORTIFY_SOURCE glibc's recv() and recvfrom() are inline functions, which the names that
 * winsock2.h gives them would not reach. */
#pragma push_macro("__fortify_function")
#undef __fortify_function
#include <sys/socket.h>
#pragma pop_macro("__fortify_function")

#if defined(__GLIBC__) && !defined(_NETINET_IN_H)

/* "in_addr_t s_addr;": a bit-field of no bits, and the union of all names. */
#define s_addr                                       \
	:0;                                          \
	__extension__ union {                        \
		in_addr_t s_addr;                    \
		union {                              \
			struct {                     \
				uint8_t s_b1, s_b2;  \
				uint8_t s_b3, s_b4;  \
			} S_un_b;                    \
			struct {                     \
				uint16_t s_w1, s_w2; \
			} S_un_w;                    \
			in_addr_t S_addr;            \
		} S_un;                              \
		struct {                             \
			uint8_t s_net, s_host;       \
			uint8_t s_lh, s_impno;       \
		};                                   \
		struct {                             \
			uint16_t : 16;               \
			uint16_t s_imp;              \
		};                                   \
	}

/* The union is called u. Macros of the header speak of __in6_u, which stays a word for it. */
#define __in6_u u
#define __u6_addr8      \
	__u6_addr8[16]; \
	uint8_t Byte
#define __u6_addr16     \
	__u6_addr16[8]; \
	uint16_t Word
#include <netinet/in.h>
#undef s_addr
#undef __u6_addr8
#undef __u6_addr16

#else
#include <netinet/in.h>
#endif

#endif
