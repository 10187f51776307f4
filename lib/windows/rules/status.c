/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The only table from NTSTATUS to Win32 errors: every status of ND2, and those that
 * drivers of networks and storage return. It never fails and changes nothing.
 * Start with win_error_of_status().
 */
#include "plx_rules.h"

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
	{0x00000080, 735},  /* abandoned */
	{0x00000102, 258},  /* timeout */
	{0x00000103, 997},  /* pending */
	{0x80000005, 234},  /* buffer overflow */
	{0x80000006, 18},   /* no more files */
	{0x80000011, 170},  /* device busy */
	{0x8000001a, 259},  /* no more entries */
	{0xc0000001, 31},   /* unsuccessful */
	{0xc0000002, 1},    /* not implemented */
	{0xc0000003, 87},   /* invalid info class */
	{0xc0000004, 24},   /* info length mismatch */
	{0xc0000005, 998},  /* access violation */
	{0xc0000008, 6},    /* invalid handle */
	{0xc000000d, 87},   /* invalid parameter */
	{0xc000000e, 2},    /* no such device */
	{0xc000000f, 2},    /* no such file */
	{0xc0000010, 1},    /* invalid device request */
	{0xc0000011, 38},   /* end of file */
	{0xc0000013, 1112}, /* no media in device */
	{0xc0000016, 234},  /* more processing required */
	{0xc0000017, 8},    /* no memory */
	{0xc0000018, 487},  /* conflicting addresses */
	{0xc0000022, 5},    /* access denied */
	{0xc0000023, 122},  /* buffer too small */
	{0xc0000024, 6},    /* object type mismatch */
	{0xc000002a, 158},  /* not locked */
	{0xc0000030, 87},   /* invalid parameter mix */
	{0xc0000033, 123},  /* object name invalid */
	{0xc0000034, 2},    /* object name not found */
	{0xc0000035, 183},  /* object name collision */
	{0xc0000039, 161},  /* object path invalid */
	{0xc000003a, 3},    /* object path not found */
	{0xc000003b, 161},  /* object path syntax bad */
	{0xc000003c, 1117}, /* data overrun */
	{0xc000003e, 23},   /* data error */
	{0xc000003f, 23},   /* crc error */
	{0xc0000043, 32},   /* sharing violation */
	{0xc0000044, 1816}, /* quota exceeded */
	{0xc0000046, 288},  /* mutant not owned */
	{0xc0000047, 298},  /* semaphore limit exceeded */
	{0xc0000054, 33},   /* file lock conflict */
	{0xc0000055, 33},   /* lock not granted */
	{0xc0000056, 5},    /* delete pending */
	{0xc0000061, 1314}, /* privilege not held */
	{0xc000006d, 1326}, /* logon failure */
	{0xc000007a, 127},  /* procedure not found */
	{0xc000007b, 193},  /* invalid image format */
	{0xc000007e, 158},  /* range not locked */
	{0xc000007f, 112},  /* disk full */
	{0xc0000095, 534},  /* integer overflow */
	{0xc000009a, 1450}, /* insufficient resources */
	{0xc000009c, 23},   /* device data error */
	{0xc000009d, 1167}, /* device not connected */
	{0xc00000a2, 19},   /* media write protected */
	{0xc00000a3, 21},   /* device not ready */
	{0xc00000ab, 231},  /* instance not available */
	{0xc00000ac, 231},  /* pipe not available */
	{0xc00000ad, 230},  /* invalid pipe state */
	{0xc00000ae, 231},  /* pipe busy */
	{0xc00000af, 1},    /* illegal function */
	{0xc00000b0, 233},  /* pipe disconnected */
	{0xc00000b1, 232},  /* pipe closing */
	{0xc00000b2, 535},  /* pipe connected */
	{0xc00000b3, 536},  /* pipe listening */
	{0xc00000b5, 121},  /* io timeout */
	{0xc00000ba, 5},    /* file is a directory */
	{0xc00000bb, 50},   /* not supported */
	{0xc00000bc, 51},   /* remote not listening */
	{0xc00000bd, 52},   /* duplicate name */
	{0xc00000be, 53},   /* bad network path */
	{0xc00000bf, 54},   /* network busy */
	{0xc00000c0, 55},   /* device does not exist */
	{0xc00000c1, 56},   /* too many commands */
	{0xc00000c2, 57},   /* adapter hardware error */
	{0xc00000c3, 58},   /* invalid network response */
	{0xc00000c4, 59},   /* unexpected network error */
	{0xc00000c5, 60},   /* bad remote adapter */
	{0xc00000c9, 64},   /* network name deleted */
	{0xc00000ca, 65},   /* network access denied */
	{0xc00000cb, 66},   /* bad device type */
	{0xc00000cc, 67},   /* bad network name */
	{0xc00000cd, 68},   /* too many names */
	{0xc00000ce, 69},   /* too many sessions */
	{0xc00000cf, 70},   /* sharing paused */
	{0xc00000d0, 71},   /* request not accepted */
	{0xc00000d1, 72},   /* redirector paused */
	{0xc00000d4, 17},   /* not same device */
	{0xc00000d6, 240},  /* virtual circuit closed */
	{0xc00000d9, 232},  /* pipe empty */
	{0xc00000e5, 1359}, /* internal error */
	{0xc00000e8, 1784}, /* invalid user buffer */
	{0xc00000ef, 87},   /* invalid parameter 1 */
	{0xc00000f0, 87},   /* invalid parameter 2 */
	{0xc00000f1, 87},   /* invalid parameter 3 */
	{0xc00000f2, 87},   /* invalid parameter 4 */
	{0xc00000f3, 87},   /* invalid parameter 5 */
	{0xc00000f4, 87},   /* invalid parameter 6 */
	{0xc00000f5, 87},   /* invalid parameter 7 */
	{0xc00000f6, 87},   /* invalid parameter 8 */
	{0xc00000f7, 87},   /* invalid parameter 9 */
	{0xc00000f8, 87},   /* invalid parameter 10 */
	{0xc0000101, 145},  /* directory not empty */
	{0xc0000102, 1392}, /* file corrupt error */
	{0xc0000103, 267},  /* not a directory */
	{0xc0000106, 206},  /* name too long */
	{0xc0000120, 995},  /* cancelled */
	{0xc0000121, 5},    /* cannot delete */
	{0xc0000128, 6},    /* file closed */
	{0xc000012d, 1455}, /* commitment limit */
	{0xc0000135, 126},  /* dll not found */
	{0xc000013b, 64},   /* local disconnect */
	{0xc000013c, 64},   /* remote disconnect */
	{0xc000013d, 51},   /* remote resources */
	{0xc000013e, 59},   /* link failed */
	{0xc000013f, 59},   /* link timeout */
	{0xc0000140, 59},   /* invalid connection */
	{0xc0000141, 59},   /* invalid address */
	{0xc0000148, 124},  /* invalid level */
	{0xc000014b, 109},  /* pipe broken */
	{0xc0000178, 1112}, /* no media */
	{0xc0000184, 22},   /* invalid device state */
	{0xc0000185, 1117}, /* io device error */
	{0xc0000186, 1117}, /* device protocol error */
	{0xc0000194, 1131}, /* possible deadlock */
	{0xc0000205, 1130}, /* insuff server resources */
	{0xc0000206, 1784}, /* invalid buffer size */
	{0xc0000209, 68},   /* too many addresses */
	{0xc000020a, 52},   /* address already exists */
	{0xc000020c, 64},   /* connection disconnected */
	{0xc000020d, 64},   /* connection reset */
	{0xc0000225, 1168}, /* not found */
	{0xc000022d, 1237}, /* retry */
	{0xc0000236, 1225}, /* connection refused */
	{0xc0000237, 1226}, /* graceful disconnect */
	{0xc0000238, 1227}, /* address already associated */
	{0xc0000239, 1228}, /* address not associated */
	{0xc000023a, 1229}, /* connection invalid */
	{0xc000023b, 1230}, /* connection active */
	{0xc000023c, 1231}, /* network unreachable */
	{0xc000023d, 1232}, /* host unreachable */
	{0xc000023e, 1233}, /* protocol unreachable */
	{0xc000023f, 1234}, /* port unreachable */
	{0xc0000240, 1235}, /* request aborted */
	{0xc0000241, 1236}, /* connection aborted */
	{0xc0000246, 1238}, /* connection count limit */
	{0xc0000272, 1169}, /* no match */
	{0xc00002b6, 1617}, /* device removed */
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
