/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loads and stores of big-endian integers at any alignment.
 * It never checks a length; the caller does.
 */
#ifndef PLX_BYTES_H
#define PLX_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PLX_SWAP16(v) __builtin_bswap16(v)
#define PLX_SWAP32(v) __builtin_bswap32(v)
#define PLX_SWAP64(v) __builtin_bswap64(v)
#else
#define PLX_SWAP16(v) (v)
#define PLX_SWAP32(v) (v)
#define PLX_SWAP64(v) (v)
#endif

static inline uint16_t
plx_be16_load(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof v);
	return PLX_SWAP16(v);
}

static inline uint32_t
plx_be32_load(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof v);
	return PLX_SWAP32(v);
}

static inline uint64_t
plx_be64_load(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return PLX_SWAP64(v);
}

static inline void
plx_be16_store(uint8_t *at, uint16_t v)
{
	v = PLX_SWAP16(v);
	memcpy(at, &v, sizeof v);
}

static inline void
plx_be32_store(uint8_t *at, uint32_t v)
{
	v = PLX_SWAP32(v);
	memcpy(at, &v, sizeof v);
}

static inline void
plx_be64_store(uint8_t *at, uint64_t v)
{
	v = PLX_SWAP64(v);
	memcpy(at, &v, sizeof v);
}

#endif
