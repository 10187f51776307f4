/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GUID, and DEFINE_GUID, which declares an identifier, or defines it after initguid.h.
 * It names no interface. The identifiers of ND2 are also defined in the runtime library, so a
 * program that never includes initguid.h links as well.
 */
#ifndef PLX_WIN_GUIDDEF_H
#define PLX_WIN_GUIDDEF_H

#include <stdint.h>
#include <string.h>

typedef struct _GUID {
	uint32_t Data1;
	uint16_t Data2;
	uint16_t Data3;
	uint8_t Data4[8];
} GUID, *LPGUID;
typedef const GUID *LPCGUID;
typedef GUID UUID;
typedef GUID IID, *LPIID;
typedef GUID CLSID, *LPCLSID;
typedef GUID FMTID, *LPFMTID;

/* At machine level both are the same: C passes the address that a C++ reference is. */
#ifdef __cplusplus
#define REFGUID  const GUID &
#define REFIID   const IID &
#define REFCLSID const CLSID &
static inline bool
IsEqualGUID(REFGUID a, REFGUID b)
{
	return memcmp(&a, &b, sizeof(GUID)) == 0;
}
static inline bool
operator==(REFGUID a, REFGUID b)
{
	return IsEqualGUID(a, b);
}
static inline bool
operator!=(REFGUID a, REFGUID b)
{
	return !IsEqualGUID(a, b);
}
#else
#define REFGUID  const GUID *
#define REFIID   const IID *
#define REFCLSID const CLSID *
static inline int
IsEqualGUID(REFGUID a, REFGUID b)
{
	return memcmp(a, b, sizeof(GUID)) == 0;
}
#endif
#define InlineIsEqualGUID(a, b) IsEqualGUID(a, b)
#define IsEqualIID(a, b)        IsEqualGUID(a, b)
#define IsEqualCLSID(a, b)      IsEqualGUID(a, b)

#endif

/* Outside the guard, because initguid.h may be included after the first use. A definition is weak,
 * since as on Windows every requesting file gets one, and visible, since the library has one too.
 */
#undef DEFINE_GUID
#ifdef __cplusplus
#define PLX_GUID_EXTERN extern "C"
#else
#define PLX_GUID_EXTERN extern
#endif
#ifdef INITGUID
#define DEFINE_GUID(name, a, b, c, d, e, f, g, h, i, j, k)                                    \
	PLX_GUID_EXTERN const GUID name __attribute__((__visibility__("default"), __weak__)); \
	const GUID name = {(a), (b), (c), {(d), (e), (f), (g), (h), (i), (j), (k)}}
#else
#define DEFINE_GUID(name, a, b, c, d, e, f, g, h, i, j, k) \
	PLX_GUID_EXTERN const GUID name __attribute__((__visibility__("default")))
#endif
