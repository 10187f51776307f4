/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WskGetAddressInfo by getaddrinfo(), in the caller's thread. Start with wsk_get_address_info().
 */
#include "wsk_client.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	HOST_BYTES = 1025, /* NI_MAXHOST */
	SERVICE_BYTES = 32,
	NAME_SPACE_DNS = 12,
};

struct entry {
	ADDRINFOEXW info; /* first */
	struct sockaddr_storage address;
	WCHAR name[];
};

static NTSTATUS
status_of(int error)
{
	switch (error) {
	case 0:
		return STATUS_SUCCESS;
	case EAI_NONAME:
	case EAI_NODATA:
	case EAI_ADDRFAMILY:
	case EAI_AGAIN:
	case EAI_FAIL:
		return STATUS_NO_MATCH;
	case EAI_BADFLAGS:
	case EAI_FAMILY:
	case EAI_SERVICE:
	case EAI_SOCKTYPE:
		return STATUS_INVALID_PARAMETER;
	case EAI_MEMORY:
		return STATUS_INSUFFICIENT_RESOURCES;
	default:
		return STATUS_UNSUCCESSFUL;
	}
}

/* @param text NULL: out becomes NULL. Returns: false: it does not fit */
static bool
narrow(const UNICODE_STRING *text, char *room, ULONG bytes, const char **out)
{
	ULONG used = 0;

	*out = NULL;
	if (text == NULL)
		return true;
	if (RtlUnicodeToUTF8N(room, bytes - 1, &used, text->Buffer, text->Length) != STATUS_SUCCESS)
		return false;
	room[used] = '\0';
	*out = room;
	return true;
}

static struct entry *
entry_of(const struct addrinfo *from)
{
	size_t bytes = from->ai_canonname != NULL ? strlen(from->ai_canonname) : 0;
	/* a character has at least as many bytes in UTF-8 as words in UTF-16 */
	struct entry *entry = calloc(1, sizeof(*entry) + (bytes + 1) * sizeof(WCHAR));

	if (entry == NULL)
		return NULL;
	entry->info = (ADDRINFOEXW){.ai_flags = from->ai_flags,
				    .ai_family = from->ai_family,
				    .ai_socktype = from->ai_socktype,
				    .ai_protocol = from->ai_protocol,
				    .ai_addrlen = from->ai_addrlen,
				    .ai_addr = (struct sockaddr *)&entry->address};
	memcpy(&entry->address, from->ai_addr, from->ai_addrlen);
	if (from->ai_canonname != NULL) {
		ULONG used;

		RtlUTF8ToUnicodeN(entry->name, (ULONG)(bytes * sizeof(WCHAR)), &used,
				  from->ai_canonname, (ULONG)bytes);
		entry->info.ai_canonname = entry->name;
	}
	return entry;
}

static void
free_list(PADDRINFOEXW at)
{
	while (at != NULL) {
		PADDRINFOEXW next = at->ai_next;

		free(at);
		at = next;
	}
}

static NTSTATUS
copy(const struct addrinfo *from, PADDRINFOEXW *result)
{
	PADDRINFOEXW first = NULL, *end = &first;

	for (; from != NULL; from = from->ai_next) {
		struct entry *entry = entry_of(from);

		if (entry == NULL) {
			free_list(first);
			return STATUS_INSUFFICIENT_RESOURCES;
		}
		*end = &entry->info;
		end = &entry->info.ai_next;
	}
	*result = first;
	return STATUS_SUCCESS;
}

static NTSTATUS
find(const UNICODE_STRING *node, const UNICODE_STRING *service, const ADDRINFOEXW *hints,
     PADDRINFOEXW *result)
{
	char host_text[HOST_BYTES], service_text[SERVICE_BYTES];
	const char *host_at, *service_at;
	struct addrinfo wanted = {0}, *list = NULL;
	NTSTATUS status;

	if ((node == NULL && service == NULL) ||
	    !narrow(node, host_text, sizeof(host_text), &host_at) ||
	    !narrow(service, service_text, sizeof(service_text), &service_at))
		return STATUS_INVALID_PARAMETER;
	if (hints != NULL) {
		if (hints->ai_addrlen || hints->ai_canonname || hints->ai_addr || hints->ai_next ||
		    hints->ai_blob || hints->ai_bloblen || hints->ai_provider)
			return STATUS_INVALID_PARAMETER;
		wanted.ai_flags = hints->ai_flags;
		wanted.ai_family = hints->ai_family;
		wanted.ai_socktype = hints->ai_socktype;
		wanted.ai_protocol = hints->ai_protocol;
	}
	status = status_of(getaddrinfo(host_at, service_at, &wanted, &list));
	if (status != STATUS_SUCCESS)
		return status;
	status = copy(list, result);
	freeaddrinfo(list);
	return status;
}

NTSTATUS WSKAPI
wsk_get_address_info(PWSK_CLIENT client, PUNICODE_STRING node, PUNICODE_STRING service,
		     ULONG name_space, GUID *provider, PADDRINFOEXW hints, PADDRINFOEXW *result,
		     PEPROCESS process, PETHREAD thread, PIRP irp)
{
	NTSTATUS status;

	client_enter(client, "WskGetAddressInfo", PASSIVE_LEVEL);
	if (result == NULL || (thread != NULL && process == NULL))
		status = STATUS_INVALID_PARAMETER;
	else if (provider != NULL || (name_space != 0 && name_space != NAME_SPACE_DNS))
		status = STATUS_NOT_SUPPORTED;
	else
		status = find(node, service, hints, result);
	status = wsk_complete(irp, status, (ULONG_PTR)(ULONG)status);
	client_leave(client, 0);
	return status;
}

VOID WSKAPI
wsk_free_address_info(PWSK_CLIENT client, PADDRINFOEXW info)
{
	client_enter(client, "WskFreeAddressInfo", PASSIVE_LEVEL);
	free_list(info);
	client_leave(client, 0);
}
