/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the driver for tests understands, for the driver and for its callers. Start with
 * IOTEST_REVERSE.
 */
#ifndef DRIVER_H
#define DRIVER_H

/* Control codes, as CTL_CODE makes them of FILE_DEVICE_UNKNOWN and functions from 0x800 on. */
#define IOTEST_REVERSE 0x222000u /* buffered: the input, backwards */
#define IOTEST_FILL    0x222006u /* out direct: the output, full of the first byte of the input */
#define IOTEST_COPY    0x22200bu /* neither: the input */
#define IOTEST_PEND    0x22200cu /* buffered: ends by cancellation alone */
#define IOTEST_LATER   0x222010u /* buffered: ends from a work item */
#define IOTEST_DEPTH   0x222014u /* buffered: the parameter Depth */
#define IOTEST_PENDING 0x222018u /* buffered: how many requests pend */

/* Bits of the value Leave: what the driver forgets. */
enum {
	LEAVE_POOL = 0x001, /* two blocks, together 128 bytes */
	LEAVE_DEVICE = 0x002,
	LEAVE_LINK = 0x004,
	LEAVE_HANDLE = 0x008,
	LEAVE_WORK_ITEM = 0x010,
	LEAVE_IRP = 0x020,
	LEAVE_TIMER = 0x040, /* from here on: the image cannot go */
	LEAVE_DPC = 0x080,
	LEAVE_THREAD = 0x100,
	LEAVE_WORK = 0x200,
	LEAVE_ALL = 0x400, /* it has no DriverUnload */
};

#endif
