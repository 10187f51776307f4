/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client for two systems, which chooses by what its compiler defines, as most that are portable
 * do: Windows' side stands on NetworkDirect, Linux' side on sockets. Its own words for a keyword
 * come before any include. Start with run_either().
 */
#ifndef EITHER_H
#define EITHER_H

#if defined(_WIN32)
#define EITHER_EXPORT   __declspec(dllexport)
#define EITHER_CALL     __cdecl
#define EITHER_ALIGN(n) __declspec(align(n))
typedef unsigned __int64 either_u64;
#elif defined(__linux__)
#define EITHER_EXPORT __attribute__((visibility("default")))
#define EITHER_CALL
#define EITHER_ALIGN(n) __attribute__((aligned(n)))
typedef unsigned long long either_u64;
#else
#error "neither Windows nor Linux"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* either.c: the machine */
either_u64 EITHER_CALL either_now_us(void);
const char *EITHER_CALL either_system(void);

/* adapters_windows.cpp, adapters_linux.cpp. Returns: how many addresses there are; < 0: none can be
 * asked for */
int EITHER_CALL either_addresses(void);

/* plugin.c, a library that is loaded */
typedef int EITHER_CALL either_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
