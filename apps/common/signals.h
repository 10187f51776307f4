/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SIGINT and SIGTERM end every wait of a program. Start with catch_signals().
 */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

/** Set by SIGINT and SIGTERM. */
extern volatile int interrupted;

void catch_signals(void);

#endif
