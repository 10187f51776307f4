/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: pool, memory from malloc() with a tag. A block of a page or more begins a page; others are
 * aligned to 16 bytes. No memory is executable or paged out; the types differ in what the checks
 * allow: paged pool is for APC_LEVEL and below, the other for DISPATCH_LEVEL and below.
 *
 * If the checks are on (POLLUX_DBG), a block that is freed twice, with another tag, or after more
 * was written than it has, ends the process with a sentence; memory that is not zeroed is filled
 * with a pattern, and so is what is freed. What was not freed is counted for each tag (plx_ex.h).
 * Threads: every call from any thread. Tests: tests/unit/windows/ex/pool.c
 */
#ifndef PLX_WDK_WDMPOOL_H
#define PLX_WDK_WDMPOOL_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _POOL_TYPE {
	NonPagedPool = 0,
	NonPagedPoolExecute = NonPagedPool,
	PagedPool = 1,
	NonPagedPoolMustSucceed = 2,
	DontUseThisType = 3,
	NonPagedPoolCacheAligned = 4,
	PagedPoolCacheAligned = 5,
	NonPagedPoolCacheAlignedMustS = 6,
	MaxPoolType = 7,
	NonPagedPoolBase = 0,
	NonPagedPoolBaseMustSucceed = 2,
	NonPagedPoolBaseCacheAligned = 4,
	NonPagedPoolBaseCacheAlignedMustS = 6,
	NonPagedPoolNx = 512,
	NonPagedPoolNxCacheAligned = 516,
	NonPagedPoolSessionNx = 544,
} POOL_TYPE;

/* Bits of a POOL_TYPE. */
#define POOL_QUOTA_FAIL_INSTEAD_OF_RAISE 8
#define POOL_RAISE_IF_ALLOCATION_FAILURE 16
#define POOL_COLD_ALLOCATION             256
#define POOL_NX_ALLOCATION               512
#define POOL_ZERO_ALLOCATION             1024

/* A driver that defines POOL_NX_OPTIN gets memory that is not executable for NonPagedPool. Here it
 * never is. */
#define ExInitializeDriverRuntime(RuntimeFlags) ((void)(RuntimeFlags))
#define DrvRtPoolNxOptIn                        0x00000001

typedef enum _EX_POOL_PRIORITY {
	LowPoolPriority,
	LowPoolPrioritySpecialPoolOverrun = 8,
	LowPoolPrioritySpecialPoolUnderrun = 9,
	NormalPoolPriority = 16,
	NormalPoolPrioritySpecialPoolOverrun = 24,
	NormalPoolPrioritySpecialPoolUnderrun = 25,
	HighPoolPriority = 32,
	HighPoolPrioritySpecialPoolOverrun = 40,
	HighPoolPrioritySpecialPoolUnderrun = 41,
} EX_POOL_PRIORITY;

/* ---- by type ----
 *
 * Returns: NULL: no memory. With POOL_RAISE_IF_ALLOCATION_FAILURE it is raised as
 * STATUS_INSUFFICIENT_RESOURCES instead, and so it is by the calls with Quota in their names,
 * unless the type has POOL_QUOTA_FAIL_INSTEAD_OF_RAISE. A tag is four characters, the first in the
 * lowest byte.
 */

PVOID ExAllocatePool(POOL_TYPE PoolType, SIZE_T NumberOfBytes) PLX_WIN_NAME(ExAllocatePool);
PVOID ExAllocatePoolWithTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePoolWithTag);
/** @param Priority makes no difference */
PVOID ExAllocatePoolWithTagPriority(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag,
				    EX_POOL_PRIORITY Priority)
	PLX_WIN_NAME(ExAllocatePoolWithTagPriority);
PVOID ExAllocatePoolWithQuota(POOL_TYPE PoolType, SIZE_T NumberOfBytes)
	PLX_WIN_NAME(ExAllocatePoolWithQuota);
PVOID ExAllocatePoolWithQuotaTag(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePoolWithQuotaTag);
PVOID ExAllocatePoolZero(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePoolZero);
PVOID ExAllocatePoolUninitialized(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePoolUninitialized);
PVOID ExAllocatePoolQuotaZero(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePoolQuotaZero);
PVOID ExAllocatePoolQuotaUninitialized(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePoolQuotaUninitialized);
PVOID ExAllocatePoolPriorityZero(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag,
				 EX_POOL_PRIORITY Priority)
	PLX_WIN_NAME(ExAllocatePoolPriorityZero);
PVOID ExAllocatePoolPriorityUninitialized(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag,
					  EX_POOL_PRIORITY Priority)
	PLX_WIN_NAME(ExAllocatePoolPriorityUninitialized);

/* ---- by flags ---- */

typedef ULONG64 POOL_FLAGS;

#define POOL_FLAG_USE_QUOTA         0x0000000000000001ULL
#define POOL_FLAG_UNINITIALIZED     0x0000000000000002ULL
#define POOL_FLAG_SESSION           0x0000000000000004ULL
#define POOL_FLAG_CACHE_ALIGNED     0x0000000000000008ULL
#define POOL_FLAG_RAISE_ON_FAILURE  0x0000000000000020ULL
#define POOL_FLAG_NON_PAGED         0x0000000000000040ULL
#define POOL_FLAG_NON_PAGED_EXECUTE 0x0000000000000080ULL
#define POOL_FLAG_PAGED             0x0000000000000100ULL
#define POOL_FLAG_REQUIRED_START    0x0000000000000001ULL
#define POOL_FLAG_REQUIRED_END      0x0000000080000000ULL
#define POOL_FLAG_OPTIONAL_START    0x0000000100000000ULL
#define POOL_FLAG_SPECIAL_POOL      0x0000000100000000ULL
#define POOL_FLAG_OPTIONAL_END      0x8000000000000000ULL

typedef enum POOL_EXTENDED_PARAMETER_TYPE {
	PoolExtendedParameterInvalidType = 0,
	PoolExtendedParameterPriority,
	PoolExtendedParameterSecurePool,
	PoolExtendedParameterNumaNode,
	PoolExtendedParameterMax,
} POOL_EXTENDED_PARAMETER_TYPE;

typedef ULONG POOL_NODE_REQUIREMENT;

typedef struct _POOL_EXTENDED_PARAMETER {
	__extension__ struct {
		ULONG64 Type : 8;
		ULONG64 Optional : 1;
		ULONG64 Reserved : 55;
	};
	__extension__ union {
		ULONG64 Reserved2;
		PVOID Reserved3;
		EX_POOL_PRIORITY Priority;
		POOL_NODE_REQUIREMENT PreferredNode;
	};
} POOL_EXTENDED_PARAMETER, *PPOOL_EXTENDED_PARAMETER;
typedef const POOL_EXTENDED_PARAMETER *PCPOOL_EXTENDED_PARAMETER;

/**
 * Allocate zeroed memory.
 *
 * @param Flags         exactly one of POOL_FLAG_NON_PAGED, POOL_FLAG_NON_PAGED_EXECUTE and
 *                      POOL_FLAG_PAGED. With POOL_FLAG_UNINITIALIZED it is not zeroed
 * @param NumberOfBytes above 0
 * @param Tag           not 0
 * Returns: NULL: no memory, or an argument that is not allowed. With POOL_FLAG_RAISE_ON_FAILURE
 * this is raised, as STATUS_INSUFFICIENT_RESOURCES or STATUS_INVALID_PARAMETER
 */
PVOID ExAllocatePool2(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag)
	PLX_WIN_NAME(ExAllocatePool2);
/** The same. @param ExtendedParameters make no difference; a secure pool is refused unless it is
 * optional */
PVOID ExAllocatePool3(POOL_FLAGS Flags, SIZE_T NumberOfBytes, ULONG Tag,
		      PCPOOL_EXTENDED_PARAMETER ExtendedParameters, ULONG ExtendedParametersCount)
	PLX_WIN_NAME(ExAllocatePool3);

/* ---- free ---- */

VOID ExFreePool(PVOID P) PLX_WIN_NAME(ExFreePool);
/** @param Tag that of the allocation; 0: any */
VOID ExFreePoolWithTag(PVOID P, ULONG Tag) PLX_WIN_NAME(ExFreePoolWithTag);
/** @param ExtendedParameters make no difference */
VOID ExFreePool2(PVOID P, ULONG Tag, PCPOOL_EXTENDED_PARAMETER ExtendedParameters,
		 ULONG ExtendedParametersCount) PLX_WIN_NAME(ExFreePool2);

#ifdef __cplusplus
}
#endif

#endif
