/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registrations for changes, of which the initial notification is all that comes. Start with
 * enroll().
 */
#include "netio.h"

#include <plx_base.h>
#include <plx_io.h>
#include <plx_ke.h>

#include <pthread.h>
#include <stdlib.h>

struct enrolled {
	struct plx_list node;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list all = {&all, &all};
static _Atomic uint64_t count;

static uint64_t
count_enrolled(void)
{
	return count;
}

/* @param has_callback was one given? */
static NETIO_STATUS
enroll(ADDRESS_FAMILY family, bool has_callback, HANDLE *handle)
{
	static const struct plx_io_watch watch = {"notification of changes", count_enrolled, false};
	struct enrolled *fresh;

	if (handle == NULL)
		return STATUS_INVALID_PARAMETER;
	*handle = NULL;
	if (!has_callback || !netio_is_family(family))
		return STATUS_INVALID_PARAMETER;
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL)
		return STATUS_NO_MEMORY;
	plx_io_watch(&watch);
	pthread_mutex_lock(&lock);
	plx_list_append(&all, &fresh->node);
	pthread_mutex_unlock(&lock);
	count++;
	*handle = fresh;
	return STATUS_SUCCESS;
}

/* The callbacks differ in the type of the row that they never get. */
#define NOTIFY(call, callback_type)                                                            \
	NETIO_STATUS WINAPI call(ADDRESS_FAMILY family, callback_type callback, PVOID context, \
				 BOOLEAN initial, HANDLE *handle)                              \
	{                                                                                      \
		NETIO_STATUS status;                                                           \
                                                                                               \
		plx_ke_require(#call, APC_LEVEL);                                              \
		status = enroll(family, callback != NULL, handle);                             \
		if (status == STATUS_SUCCESS && initial)                                       \
			callback(context, NULL, MibInitialNotification);                       \
		return status;                                                                 \
	}
NOTIFY(NotifyUnicastIpAddressChange, PUNICAST_IPADDRESS_CHANGE_CALLBACK)
NOTIFY(NotifyIpInterfaceChange, PIPINTERFACE_CHANGE_CALLBACK)
NOTIFY(NotifyRouteChange2, PIPFORWARD_CHANGE_CALLBACK)

NETIO_STATUS WINAPI
CancelMibChangeNotify2(HANDLE handle)
{
	struct plx_list *node, *after;
	struct enrolled *found = NULL;

	plx_ke_require("CancelMibChangeNotify2", PASSIVE_LEVEL);
	pthread_mutex_lock(&lock);
	plx_list_for_each (node, after, &all)
		if (handle == plx_list_entry(node, struct enrolled, node))
			found = handle;
	if (found != NULL)
		plx_list_remove(&found->node);
	pthread_mutex_unlock(&lock);
	if (found == NULL)
		return STATUS_INVALID_PARAMETER;
	count--;
	free(found);
	return STATUS_SUCCESS;
}
