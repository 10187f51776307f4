/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many adapters are open and how many objects there are, for the report on what a driver left
 * behind, and for a close that waits. Start with ndk_left_watch().
 */
#include "ndk.h"

#include <plx_io.h>

#include <stdio.h>

static _Atomic uint64_t adapters, objects;

static uint64_t
count_adapters(void)
{
	return adapters;
}

static uint64_t
count_objects(void)
{
	return objects;
}

void
ndk_left_watch(void)
{
	/* both call the driver: completions, and the callbacks of events */
	static const struct plx_io_watch open_adapters = {"NDK adapter", count_adapters, true};
	static const struct plx_io_watch made_objects = {"NDK object", count_objects, true};

	plx_io_watch(&open_adapters);
	plx_io_watch(&made_objects);
}

void
ndk_left_adapter(int change)
{
	adapters += (uint64_t)change;
}

void
ndk_left_object(struct ndk_adapter *adapter, NDK_OBJECT_TYPE type, int change)
{
	adapter->objects[type] += (uint32_t)change;
	objects += (uint64_t)change;
}

void
ndk_left_list(struct ndk_adapter *adapter, char *text, size_t bytes)
{
	static const char *const names[NdkObjectTypeMax] = {
		[NdkObjectTypeQp] = "queue pairs",
		[NdkObjectTypeCq] = "completion queues",
		[NdkObjectTypeMr] = "memory regions",
		[NdkObjectTypeMw] = "memory windows",
		[NdkObjectTypePd] = "protection domains",
		[NdkObjectTypeSharedEndpoint] = "shared endpoints",
		[NdkObjectTypeConnector] = "connectors",
		[NdkObjectTypeListener] = "listeners",
		[NdkObjectTypeSrq] = "shared receive queues",
	};
	size_t used = 0;

	(void)snprintf(text, bytes, "nothing but a callback");
	for (uint32_t type = 0; type < NdkObjectTypeMax; type++) {
		uint32_t count = adapter->objects[type];

		if (count != 0 && used < bytes)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s: %u",
						 used != 0 ? ", " : "", names[type], count);
	}
}
