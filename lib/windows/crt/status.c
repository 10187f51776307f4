/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The only table from NTSTATUS to Win32 errors: every status of ND2, and those that its providers
 * add. It never fails and changes nothing.
 * Start with win_error_of_status().
 */
#include "plx_crt.h"

#include <stddef.h>
#include <stdlib.h>

enum {
	NO_MAPPING = 317, /* ERROR_MR_MID_NOT_FOUND, as on Windows */
};

struct pair {
	uint32_t status, error;
};

/* Sorted by status, for binary search. */
static const struct pair pairs[] = {
	{0x00000000, 0},    /* success */
	{0x00000102, 258},  /* timeout: WAIT_TIMEOUT */
	{0x00000103, 997},  /* pending: ERROR_IO_PENDING */
	{0x80000005, 234},  /* buffer overflow: ERROR_MORE_DATA */
	{0x80000011, 170},  /* device busy: ERROR_BUSY */
	{0x8000001a, 259},  /* no more entries: ERROR_NO_MORE_ITEMS */
	{0xc0000001, 31},   /* unsuccessful: ERROR_GEN_FAILURE */
	{0xc0000005, 998},  /* access violation: ERROR_NOACCESS */
	{0xc0000008, 6},    /* invalid handle */
	{0xc000000d, 87},   /* invalid parameter */
	{0xc0000010, 1},    /* invalid device request: ERROR_INVALID_FUNCTION */
	{0xc0000017, 8},    /* no memory: ERROR_NOT_ENOUGH_MEMORY */
	{0xc0000023, 122},  /* buffer too small: ERROR_INSUFFICIENT_BUFFER */
	{0xc0000030, 87},   /* invalid parameter mix */
	{0xc000003c, 1117}, /* data overrun: ERROR_IO_DEVICE */
	{0xc000003e, 23},   /* data error: ERROR_CRC */
	{0xc0000043, 32},   /* sharing violation */
	{0xc000009a, 1450}, /* insufficient resources: ERROR_NO_SYSTEM_RESOURCES */
	{0xc00000a3, 21},   /* device not ready: ERROR_NOT_READY */
	{0xc00000b5, 121},  /* io timeout: ERROR_SEM_TIMEOUT */
	{0xc00000bb, 50},   /* not supported */
	{0xc00000cc, 67},   /* bad network name: ERROR_BAD_NET_NAME */
	{0xc00000e5, 1359}, /* internal error */
	{0xc00000ef, 87},   /* invalid parameter 1 to 10 */
	{0xc00000f0, 87},   {0xc00000f1, 87},  {0xc00000f2, 87}, {0xc00000f3, 87},
	{0xc00000f4, 87},   {0xc00000f5, 87},  {0xc00000f6, 87}, {0xc00000f7, 87},
	{0xc00000f8, 87},   {0xc0000120, 995}, /* cancelled: ERROR_OPERATION_ABORTED */
	{0xc000013d, 51},                      /* remote error: ERROR_REM_NOT_LIST */
	{0xc0000141, 59},                      /* invalid address: ERROR_UNEXP_NET_ERR */
	{0xc0000184, 22},                      /* invalid device state: ERROR_BAD_COMMAND */
	{0xc0000206, 1784},                    /* invalid buffer size: ERROR_INVALID_USER_BUFFER */
	{0xc0000209, 68},                      /* too many addresses: ERROR_TOO_MANY_NAMES */
	{0xc000020a, 52},                      /* address already exists: ERROR_DUP_NAME */
	{0xc000020c, 64},                      /* connection disconnected: ERROR_NETNAME_DELETED */
	{0xc0000236, 1225},                    /* connection refused */
	{0xc0000238, 1227},                    /* address already associated */
	{0xc0000239, 1228},                    /* address not associated */
	{0xc000023a, 1229},                    /* connection invalid */
	{0xc000023b, 1230},                    /* connection active */
	{0xc000023c, 1231},                    /* network unreachable */
	{0xc000023d, 1232},                    /* host unreachable */
	{0xc0000241, 1236},                    /* connection aborted */
	{0xc00002b6, 1617},                    /* device removed */
};

static int
by_status(const void *key, const void *entry)
{
	uint32_t status = *(const uint32_t *)key;
	const struct pair *pair = entry;

	return status < pair->status ? -1 : status > pair->status;
}

uint32_t
win_error_of_status(int32_t status)
{
	uint32_t key = (uint32_t)status;
	const struct pair *found =
		bsearch(&key, pairs, sizeof(pairs) / sizeof(pairs[0]), sizeof(pairs[0]), by_status);

	return found ? found->error : NO_MAPPING;
}
