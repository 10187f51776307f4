/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many adapters are open and how many objects there are, for the report on what a driver left
 * behind. Start with ndk_left_watch().
 */
#include "ndk.h"

#include <plx_io.h>

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
ndk_left_object(int change)
{
	objects += (uint64_t)change;
}
