/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The flag that a signal sets. Start with catch_signals().
 */
#include "signals.h"

#include <signal.h>

volatile int interrupted;

static void
on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}
