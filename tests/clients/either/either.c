/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The machine, on either system. Start with either_now_us().
 */
#include "either.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

/* Extensions of Microsoft's C: the members of a structure with a tag and no name. */
struct stamp {
	either_u64 us;
};

#ifdef _WIN32
struct named {
	struct stamp;
	LARGE_INTEGER raw;
};

either_u64 EITHER_CALL
either_now_us(void)
{
	struct named now;
	LARGE_INTEGER frequency;

	QueryPerformanceCounter(&now.raw);
	QueryPerformanceFrequency(&frequency);
	now.us = (either_u64)now.raw.QuadPart * 1000000 / (either_u64)frequency.QuadPart;
	return now.us;
}

const char *EITHER_CALL
either_system(void)
{
	return "Windows";
}
#else
either_u64 EITHER_CALL
either_now_us(void)
{
	struct timespec now;
	struct stamp stamp;

	clock_gettime(CLOCK_MONOTONIC, &now);
	stamp.us = (either_u64)now.tv_sec * 1000000 + (either_u64)now.tv_nsec / 1000;
	return stamp.us;
}

const char *EITHER_CALL
either_system(void)
{
	return "Linux";
}
#endif
