/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is behind an adapter that a program has opened in its own process: the host's part. Start
 * with hosted().
 */
#ifndef PLX_TEST_HOSTED_H
#define PLX_TEST_HOSTED_H

#include "plx_host.h"
#include "plx_objects.h"

static inline struct host_adapter *
hosted(const struct plx_adapter *adapter)
{
	return plx_host_of(adapter->seat);
}

#endif
