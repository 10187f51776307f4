/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses of programs, in the form in which the helpers compare them, and the addresses of all
 * providers. It owns no state. Start with address_read().
 */
#ifndef PLX_NDSUPPORT_ADDRESS_H
#define PLX_NDSUPPORT_ADDRESS_H

#include "plx_types.h"
#include "providers.h"

/** Read a socket address. Errors: ND_INVALID_PARAMETER_2 (too short for its family),
 * ND_INVALID_ADDRESS (neither IPv4 nor IPv6). @param scope [out] of an IPv6 address; may be NULL */
HRESULT address_read(const struct sockaddr *address, SIZE_T bytes, struct plx_ip *ip,
		     uint32_t *scope);

/** Write a socket address with port 0. @param out at least 28 bytes of room. Returns: 16 or 28 */
SIZE_T address_write(const struct plx_ip *ip, struct sockaddr *out);

bool address_same(const struct plx_ip *a, const struct plx_ip *b);
/** Is the address unicast: neither unspecified, multicast nor broadcast? */
bool address_is_unicast(const struct plx_ip *ip);

/* An address reported by a provider. */
struct address {
	struct provider *provider;
	struct plx_ip ip;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} as;
	SIZE_T bytes; /* 16 or 28 */
};

struct address_list {
	struct providers providers;
	struct address *one; /* [count] */
	uint32_t count, room;
};

/** Read the current addresses of all providers; a provider that does not answer has none. The list
 * holds the providers. Errors: ND_NO_MEMORY, ND_UNSUCCESSFUL */
HRESULT address_list_read(struct address_list *out);
void address_list_free(struct address_list *list);

bool address_list_has(const struct address_list *list, const struct plx_ip *ip);

#endif
