/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of the transport's enums, and the two timer tables of the standard. It has no state.
 * Each table of texts is made from the X-list of its enum, so that no entry can be missing.
 */
#include "qp.h"

const char *
plx_verdict_text(enum plx_verdict verdict)
{
	static const char *const texts[PLX_VERDICT_COUNT] = {
#define PLX_X(name, text) [PLX_VERDICT_##name] = text,
		PLX_VERDICT_LIST(PLX_X)
#undef PLX_X
	};

	return (unsigned)verdict < PLX_VERDICT_COUNT ? texts[verdict] : "not a verdict";
}

const char *
plx_verdict_name(enum plx_verdict verdict)
{
	static const char *const names[PLX_VERDICT_COUNT] = {
#define PLX_X(name, text) [PLX_VERDICT_##name] = #name,
		PLX_VERDICT_LIST(PLX_X)
#undef PLX_X
	};

	return (unsigned)verdict < PLX_VERDICT_COUNT ? names[verdict] : "?";
}

uint64_t
plx_ack_timeout_ns(uint8_t code)
{
	return code == 0 ? PLX_NEVER : UINT64_C(4096) << (code & 31);
}

/* Spec: IBTA vol 1, 9.7.5.2.8, table 45; in units of 10 us. Code 0 is the longest. */
uint64_t
plx_rnr_timer_ns(uint8_t code)
{
	static const uint32_t tens_of_usec[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return tens_of_usec[code & 31] * 10 * PLX_USEC;
}
