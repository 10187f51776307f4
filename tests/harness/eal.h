/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The EAL for tests that need only DPDK's memory: no hugepages, no devices, and no files that
 * another process could see. Start with test_eal_start().
 */
#ifndef PLX_TEST_START_H
#define PLX_TEST_START_H

/** Once a process; later calls do nothing. */
void test_eal_start(void);

#endif
