/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares HRESULTs in tests. There is one macro, assert_hr().
 */
#ifndef PLX_TEST_HR_H
#define PLX_TEST_HR_H

#include "test.h"

/** Equal statuses, printed as ND2 writes them. */
#define assert_hr(call, expected)                                                      \
	do {                                                                           \
		HRESULT is_ = (call), shall_ = (expected);                             \
                                                                                       \
		if (is_ != shall_)                                                     \
			fail_msg("%s is 0x%08x, not 0x%08x", #call, (unsigned int)is_, \
				 (unsigned int)shall_);                                \
	} while (0)

#endif
