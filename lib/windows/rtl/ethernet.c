/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ethernet addresses as text, and back: six pairs of digits between dashes. Start with ETHERNET().
 */
#include "plx_rtl.h"

#include <ip2string.h>
#include <wdm.h>

enum {
	BYTES = 6,
	DIGITS = 2, /* of a byte */
};

/* One set of functions for each kind of character. */
#define ETHERNET(kind, write, read)                                                              \
	kind *write(const DL_EUI48 *address, kind *s)                                            \
	{                                                                                        \
		static const char digits[] = "0123456789ABCDEF";                                 \
                                                                                                 \
		for (int i = 0; i < BYTES; i++) {                                                \
			if (i > 0)                                                               \
				*s++ = '-';                                                      \
			*s++ = (kind)digits[address->Byte[i] >> 4];                              \
			*s++ = (kind)digits[address->Byte[i] & 15];                              \
		}                                                                                \
		*s = 0;                                                                          \
		return s;                                                                        \
	}                                                                                        \
	NTSTATUS read(const kind *s, const kind **end, DL_EUI48 *address)                        \
	{                                                                                        \
		DL_EUI48 read_so_far = {{0}};                                                    \
                                                                                                 \
		for (int i = 0; i < BYTES; i++) {                                                \
			*end = s;                                                                \
			if (i > 0 && *s++ != '-')                                                \
				return STATUS_INVALID_PARAMETER;                                 \
			for (int j = 0; j < DIGITS; j++, s++) {                                  \
				unsigned int value = plx_rtl_digit((unsigned int)*s);            \
                                                                                                 \
				*end = s;                                                        \
				if (value >= 16)                                                 \
					return STATUS_INVALID_PARAMETER;                         \
				read_so_far.Byte[i] = (UCHAR)(read_so_far.Byte[i] << 4 | value); \
			}                                                                        \
		}                                                                                \
		*end = s;                                                                        \
		*address = read_so_far;                                                          \
		return STATUS_SUCCESS;                                                           \
	}
ETHERNET(char, RtlEthernetAddressToStringA, RtlEthernetStringToAddressA)
ETHERNET(WCHAR, RtlEthernetAddressToStringW, RtlEthernetStringToAddressW)
