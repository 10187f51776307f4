/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rooms of the driver kit share beneath its headers.
 */
#ifndef PLX_WDK_H
#define PLX_WDK_H

/**
 * End the process with one sentence on stderr, since the driver has broken a rule. Callers ask
 * plx_ke_checks() first, or cannot go on.
 * Tests: tests/unit/windows/wdk/seh_end.c, tests/unit/windows/ke/rules.c
 */
__attribute__((noreturn, cold, format(printf, 1, 2))) void plx_wdk_stop(const char *format, ...);

#endif
