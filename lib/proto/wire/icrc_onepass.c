/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ICRC in one pass over the packet in place: AVX-512 with VPCLMULQDQ, 64 bytes a step. It never
 * copies or changes the headers: the masks are or-ed in registers. It never accesses a byte outside
 * [ip, ip + len): any others that a load covers are masked off. The algebra:
 *
 * Read bit i of the packet (low bit of each byte first) as the coefficient of y^i, and let P be the
 * reflected CRC-32 polynomial 0x1db710641. One step of the bitwise CRC divides the register by y
 * modulo P. So after n bits M, from an initial register of zero, the register is M * y^-n mod P.
 * Hence:
 *
 *  - Zero bytes in front change nothing. So the packet may be aligned to the *end* of its vectors,
 *    where the first vector has the odd length, not the last.
 *  - Starting with a register of ones is the same as or-ing in four bytes of ones before the packet
 *    (the other four of the eight that replace the LRH cancel it).
 *  - Each quad word q with e bits from its first bit to the end of the packet contributes q * y^-e.
 *    Multiplied by y^(64-e) mod P, which has 32 bits, it gives a product of 95 bits.
 *  - The products of all quad words are added, and the sum is divided by y^64 at the end.
 *  - That division is Montgomery's: add the multiple of P that makes the low 64 bits zero.
 *
 * So a packet of up to 124 bytes costs three dependent multiplications: one by the constants, two
 * for the division. For long packets, four vectors are kept and multiplied to move them by 2048
 * bits for each 256 bytes.
 */
#include "icrc.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define ONEPASS __attribute__((target("avx512f,avx512bw,avx512vl,pclmul,vpclmulqdq")))
#define VECTOR  64 /* [bytes] */

enum {
	LANES = 4,                       /* vectors kept by long_path() */
	TO_END_ROWS = LANES + LANES - 1, /* those and up to three after them */
};

/*
 * Row d, column j: y^(64j - 512(d+1) + 64) mod P, for quad word j of the vector that d whole
 * vectors follow.
 */
static const uint64_t to_end[TO_END_ROWS][8] __attribute__((aligned(VECTOR))) = {
	{0x1d9513d7, 0x3db1ecdc, 0xaf449247, 0xf1da05aa, 0x81256527, 0xae689191, 0xccaa009e,
	 0x00000001},
	{0x910eeec1, 0x31f8303f, 0x0cbec0ed, 0xdf068dc2, 0x57c54819, 0x1c279815, 0xae0b5394,
	 0x8f352d95},
	{0xf5e48c85, 0x5a1bb05d, 0xd1df2327, 0xe3543be0, 0x9026d5b1, 0x26b70c3d, 0x3f41287a,
	 0x33fff533},
	{0xe95c1271, 0x0077f00d, 0x1f0c2cdd, 0x4a28bd43, 0xfe807bbd, 0x682bdd4f, 0x3c656ced,
	 0x596c8d81},
	{0xcec97417, 0x32b0733c, 0xff6f2fc2, 0x2c538639, 0x71d54a59, 0xa749e894, 0xb918a347,
	 0xce3371cb},
	{0xd31343ea, 0x7eaed122, 0x9b9bdbd0, 0xc51b93e3, 0xf183c71b, 0x76278617, 0x1c63267b,
	 0x0e9bd5cc},
	{0xcd669a40, 0xeff5e99d, 0xf9d9c7ee, 0x4b700aa8, 0xeea395c4, 0x8b8d8645, 0x4470ac44,
	 0x2ce423f1},
};

/* y^-2048 for the low and y^(64-2048) for the high quad word of each 128 bits, modulo P. */
#define MOVE_2048_LOW  0xce3371cb
#define MOVE_2048_HIGH 0xe95c1271

#define POLYNOMIAL         0x1db710641
#define POLYNOMIAL_INVERSE 0xb4e5b025f7011641 /* modulo y^64 */

/* Add to x the quad words of a, each multiplied by its constant in k. */
static inline ONEPASS __m512i
add_products(__m512i x, __m512i a, __m512i k)
{
	return _mm512_ternarylogic_epi64(x, _mm512_clmulepi64_epi128(a, k, 0x00),
					 _mm512_clmulepi64_epi128(a, k, 0x11), 0x96);
}

static inline ONEPASS __m512i
load(uintptr_t at)
{
	return _mm512_loadu_si512((const void *)at);
}

/* Load those of the 64 bytes at `at` that `mask` selects. The others are zero and not accessed. */
static inline ONEPASS __m512i
load_masked(uint64_t mask, uintptr_t at)
{
	return _mm512_maskz_loadu_epi8(mask, (const void *)at);
}

static inline ONEPASS __m512i
constants_to_end(size_t vectors_behind)
{
	return _mm512_load_si512(to_end[vectors_behind]);
}

/* The sum of the lanes, divided by y^64. */
static inline ONEPASS uint32_t
finish(__m512i sum)
{
	const __m128i k = _mm_set_epi64x(POLYNOMIAL, (int64_t)POLYNOMIAL_INVERSE);
	__m256i half =
		_mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
	__m128i x = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
	__m128i multiple = _mm_clmulepi64_si128(x, k, 0x00);

	x = _mm_xor_si128(x, _mm_clmulepi64_si128(multiple, k, 0x10));
	return ~(uint32_t)_mm_extract_epi32(x, 2);
}

/*
 * Process the packet after its first two vectors if six or more follow. *at is the third vector,
 * and *vectors the number left; on return both describe what remains to be added.
 */
static inline ONEPASS __m512i
long_path(__m512i v0, __m512i v1, uintptr_t *at, size_t *vectors)
{
	const __m512i k =
		_mm512_set4_epi64(MOVE_2048_HIGH, MOVE_2048_LOW, MOVE_2048_HIGH, MOVE_2048_LOW);
	__m512i v2 = load(*at);
	__m512i v3 = load(*at + VECTOR);
	uintptr_t next = *at + (uintptr_t)2 * VECTOR;
	size_t left = *vectors - 2;
	__m512i sum;

	for (; left >= LANES; left -= LANES, next += (uintptr_t)LANES * VECTOR) {
		v0 = add_products(load(next), v0, k);
		v1 = add_products(load(next + VECTOR), v1, k);
		v2 = add_products(load(next + (uintptr_t)2 * VECTOR), v2, k);
		v3 = add_products(load(next + (uintptr_t)3 * VECTOR), v3, k);
	}
	sum = add_products(_mm512_setzero_si512(), v0, constants_to_end(left + 3));
	sum = add_products(sum, v1, constants_to_end(left + 2));
	sum = add_products(sum, v2, constants_to_end(left + 1));
	sum = add_products(sum, v3, constants_to_end(left));
	*at = next;
	*vectors = left;
	return sum;
}

PLX_HOT ONEPASS uint32_t
plx_icrc_onepass(const uint8_t *ip, size_t len)
{
	const uint8_t *ones = icrc_ones_for(ip, len);
	size_t bytes = ICRC_ONES_PREFIX + icrc_covered(len);
	size_t vectors = (bytes - 1) / VECTOR + 1;
	size_t first = (bytes - 1) % VECTOR + 1;  /* bytes of prefix and packet in vector 0 */
	int data = (int)first - ICRC_ONES_PREFIX; /* of the packet; negative: prefix in vector 1 */
	uintptr_t at = (uintptr_t)ip + (uintptr_t)(intptr_t)data; /* address of vector 1 */
	__m512i v0 = load_masked(data > 0 ? ~UINT64_C(0) << (VECTOR - data) : 0, at - VECTOR);
	__m512i v1, sum;

	/* The prefix is at byte 64 of the table, so `first` bytes from there end vector 0. */
	ones += first;
	v0 = _mm512_or_si512(v0, _mm512_loadu_si512(ones));
	if (vectors == 1)
		return finish(add_products(_mm512_setzero_si512(), v0, constants_to_end(0)));

	v1 = load_masked(~UINT64_C(0) << (data < 0 ? -data : 0), at);
	v1 = _mm512_or_si512(v1, _mm512_loadu_si512(ones + VECTOR));
	at += VECTOR;
	vectors -= 2;
	if (vectors >= TO_END_ROWS - 1) {
		sum = long_path(v0, v1, &at, &vectors);
	} else {
		sum = add_products(_mm512_setzero_si512(), v0, constants_to_end(vectors + 1));
		sum = add_products(sum, v1, constants_to_end(vectors));
	}
	for (; vectors; at += VECTOR)
		sum = add_products(sum, load(at), constants_to_end(--vectors));
	return finish(sum);
}

bool
plx_icrc_has_onepass(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("pclmul") &&
	       __builtin_cpu_supports("vpclmulqdq");
}

#else

uint32_t
plx_icrc_onepass(const uint8_t *ip, size_t len)
{
	return plx_icrc_isal(ip, len);
}

bool
plx_icrc_has_onepass(void)
{
	return false;
}

#endif
