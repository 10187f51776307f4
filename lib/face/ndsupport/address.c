/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses of programs (sockaddr) and of each provider's list. Comparisons ignore the port. It
 * opens no adapter. Start with address_list_read().
 */
#include "address.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum {
	QUERY_TRIES = 8, /* addresses may be added between querying the size and reading */
};

HRESULT
address_read(const struct sockaddr *address, SIZE_T bytes, struct plx_ip *ip, uint32_t *scope)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	memset(ip, 0, sizeof(*ip));
	if (scope)
		*scope = 0;
	if (bytes < sizeof(struct sockaddr) || bytes > UINT32_MAX)
		return ND_INVALID_PARAMETER_2;
	switch (address->sa_family) {
	case AF_INET:
		memcpy(&v4, address, sizeof(v4));
		ip->version = 4;
		memcpy(ip->v, &v4.sin_addr, sizeof(v4.sin_addr));
		return ND_SUCCESS;
	case AF_INET6:
		if (bytes < sizeof(v6))
			return ND_INVALID_PARAMETER_2;
		memcpy(&v6, address, sizeof(v6));
		ip->version = 6;
		memcpy(ip->v, &v6.sin6_addr, sizeof(v6.sin6_addr));
		if (scope)
			*scope = v6.sin6_scope_id;
		return ND_SUCCESS;
	default:
		return ND_INVALID_ADDRESS;
	}
}

SIZE_T
address_write(const struct plx_ip *ip, struct sockaddr *out)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	if (ip->version == 4) {
		memcpy(&v4.sin_addr, ip->v, sizeof(v4.sin_addr));
		memcpy(out, &v4, sizeof(v4));
		return sizeof(v4);
	}
	memcpy(&v6.sin6_addr, ip->v, sizeof(v6.sin6_addr));
	memcpy((void *)out, &v6, sizeof(v6));
	return sizeof(v6);
}

bool
address_same(const struct plx_ip *a, const struct plx_ip *b)
{
	return a->version == b->version && memcmp(a->v, b->v, a->version == 4 ? 4 : 16) == 0;
}

bool
address_is_unicast(const struct plx_ip *ip)
{
	static const uint8_t none[16];

	if (ip->version == 4)
		return memcmp(ip->v, none, 4) != 0 &&
		       ip->v[0] < 0xe0; /* multicast groups, 255.255.255.255 */
	return memcmp(ip->v, none, 16) != 0 && ip->v[0] != 0xff;
}

/* ---- addresses of providers ---- */

static bool
append(struct address_list *list, struct provider *provider, const SOCKET_ADDRESS *reported)
{
	struct address *fresh;

	if (list->count == list->room) {
		uint32_t room = list->room ? 2 * list->room : 16;
		struct address *more = realloc(list->one, room * sizeof(*more));

		if (!more)
			return false;
		list->one = more;
		list->room = room;
	}
	fresh = &list->one[list->count];
	memset(fresh, 0, sizeof(*fresh));
	/* skip an entry that is too short for its family, or of another family */
	if (!reported->lpSockaddr || reported->iSockaddrLength < 0 ||
	    address_read(reported->lpSockaddr, (SIZE_T)reported->iSockaddrLength, &fresh->ip,
			 NULL) != ND_SUCCESS)
		return true;
	fresh->provider = provider;
	fresh->bytes = fresh->ip.version == 4 ? sizeof(fresh->as.v4) : sizeof(fresh->as.v6);
	memcpy(&fresh->as, reported->lpSockaddr, fresh->bytes);
	list->count++;
	return true;
}

/* A provider's list, to be freed; NULL: it has none. A provider without addresses may return
 * ND_SUCCESS to the query for the size, and then has written nothing. */
static HRESULT
query(IND2Provider *provider, SOCKET_ADDRESS_LIST **out)
{
	HRESULT status = ND_BUFFER_OVERFLOW;
	ULONG bytes = 0;

	*out = NULL;
	for (int i = 0; i < QUERY_TRIES && status == ND_BUFFER_OVERFLOW; i++) {
		free(*out);
		*out = NULL;
		if (bytes) {
			*out = calloc(1, bytes < sizeof(**out) ? sizeof(**out) : bytes);
			if (!*out)
				return ND_NO_MEMORY;
		}
		status = IND2Provider_QueryAddressList(provider, *out, &bytes);
	}
	return status;
}

static HRESULT
read_one(struct address_list *list, struct provider *provider)
{
	SOCKET_ADDRESS_LIST *reported;
	HRESULT status;
	IND2Provider *object;

	/* a provider that fails has no addresses; providers_complain() reports why */
	if (provider_open(provider, &object) != ND_SUCCESS)
		return ND_SUCCESS;
	status = query(object, &reported);
	IND2Provider_Release(object);
	if (status == ND_SUCCESS) {
		for (int i = 0; reported && i < reported->iAddressCount && status == ND_SUCCESS;
		     i++)
			if (!append(list, provider, &reported->Address[i]))
				status = ND_NO_MEMORY;
	} else if (status != ND_NO_MEMORY) {
		provider_failed(provider, "QueryAddressList", status);
		status = ND_SUCCESS;
	}
	free(reported);
	return status;
}

HRESULT
address_list_read(struct address_list *out)
{
	HRESULT status;

	memset(out, 0, sizeof(*out));
	status = providers_get(&out->providers);
	for (uint32_t i = 0; i < out->providers.count && status == ND_SUCCESS; i++)
		status = read_one(out, out->providers.one[i]);
	if (status != ND_SUCCESS)
		address_list_free(out);
	return status;
}

void
address_list_free(struct address_list *list)
{
	providers_put(&list->providers);
	free(list->one);
	list->one = NULL;
	list->count = 0;
}

bool
address_list_has(const struct address_list *list, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (address_same(&list->one[i].ip, ip))
			return true;
	return false;
}
