/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NDKPI, the kernel interface of NetworkDirect, versions 1.1 to 2.1: objects with dispatch tables,
 * the structures that their functions take, and the consumer's callbacks. The functions are listed
 * in ndkcalls.h. Start with NDK_ADAPTER, from which everything else
 * is created.
 */
#ifndef PLX_NDKPI_NDKPI_H
#define PLX_NDKPI_NDKPI_H

#include <wdm.h>
#include <ws2def.h>

#include "ndkcalls.h"
#include "ndkinfo.h"

/* ---- objects ---- */

typedef enum _NDK_OBJECT_TYPE {
	NdkObjectTypeUndefined = 0,
	NdkObjectTypeAdapter = 1,
	NdkObjectTypeQp = 2,
	NdkObjectTypeCq = 3,
	NdkObjectTypeMr = 4,
	NdkObjectTypeMw = 5,
	NdkObjectTypePd = 6,
	NdkObjectTypeSharedEndpoint = 7,
	NdkObjectTypeConnector = 8,
	NdkObjectTypeListener = 9,
	NdkObjectTypeSrq = 10,
	NdkObjectTypeMax = 11,
} NDK_OBJECT_TYPE;

/* The consumer's from the creation of an object on; the provider has set it to zero. */
typedef struct _NDK_OBJECT_HEADER_RESERVED_BLOCK {
	PVOID rf[4];
} NDK_OBJECT_HEADER_RESERVED_BLOCK;

typedef struct _NDK_OBJECT_HEADER {
	NDK_VERSION Version;
	NDK_OBJECT_TYPE ObjectType;
	NDK_OBJECT_HEADER_RESERVED_BLOCK NdkReserved;
} NDK_OBJECT_HEADER;

typedef struct _NDK_EXTENSION_INTERFACE {
	CONST VOID *Dispatch;
} NDK_EXTENSION_INTERFACE;

/* ---- requests and results ---- */

typedef struct _NDK_RESULT {
	NTSTATUS Status;
	ULONG BytesTransferred; /* of a receive */
	PVOID QPContext;
	PVOID RequestContext;
} NDK_RESULT;

/* One bit each, except that a receive that invalidates is a receive, too. */
typedef enum _NDK_OPERATION_TYPE {
	NdkOperationTypeReceive = 1,
	NdkOperationTypeReceiveAndInvalidate = 32769,
	NdkOperationTypeSend = 2,
	NdkOperationTypeFastRegister = 4,
	NdkOperationTypeBind = 8,
	NdkOperationTypeInvalidate = 16,
	NdkOperationTypeRead = 32,
	NdkOperationTypeWrite = 64,
} NDK_OPERATION_TYPE;

typedef struct _NDK_RESULT_EX {
	NTSTATUS Status;
	ULONG BytesTransferred;
	PVOID QPContext;
	PVOID RequestContext;
	NDK_OPERATION_TYPE Type;
	ULONG ProviderErrorCode;                /* from 2.1 on; 0 with success */
	ULONG_PTR TypeSpecificCompletionOutput; /* ReceiveAndInvalidate: the token */
} NDK_RESULT_EX;

typedef PHYSICAL_ADDRESS NDK_LOGICAL_ADDRESS;

typedef struct _NDK_LOGICAL_ADDRESS_MAPPING {
	PVOID AdapterContext; /* the provider's */
	ULONG AdapterPageCount;
	NDK_LOGICAL_ADDRESS AdapterPageArray[1]; /* as many as AdapterPageCount */
} NDK_LOGICAL_ADDRESS_MAPPING;

typedef struct _NDK_SGE {
	__extension__ union {
		PVOID VirtualAddress;
		NDK_LOGICAL_ADDRESS LogicalAddress; /* with the privileged token */
	};
	ULONG Length;
	UINT32 MemoryRegionToken;
} NDK_SGE;

/* NdkArmCq */
#define NDK_CQ_NOTIFY_ERRORS    0
#define NDK_CQ_NOTIFY_ANY       1
#define NDK_CQ_NOTIFY_SOLICITED 2

/* NdkRegisterMr */
#define NDK_MR_FLAG_ALLOW_LOCAL_READ   0x00000000
#define NDK_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001
#define NDK_MR_FLAG_ALLOW_REMOTE_READ  0x00000002
#define NDK_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005
#define NDK_MR_FLAG_RDMA_READ_SINK     0x00000008

/* Requests of a queue pair. Compare combined flags as (flags & mask) == mask. */
#define NDK_OP_FLAG_SILENT_SUCCESS             0x00000001
#define NDK_OP_FLAG_READ_FENCE                 0x00000002
#define NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT     0x00000004
#define NDK_OP_FLAG_ALLOW_REMOTE_READ          0x00000008
#define NDK_OP_FLAG_ALLOW_LOCAL_WRITE          0x00000010
#define NDK_OP_FLAG_ALLOW_REMOTE_WRITE         0x00000030
#define NDK_OP_FLAG_INLINE                     0x00000040
#define NDK_OP_FLAG_RDMA_READ_SINK             0x00000080
#define NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE 0x00000100
#define NDK_OP_FLAG_DEFER                      0x00000200

/* ---- functions, tables, objects ---- */

#define PLX_NDK_NAME(object, slots) typedef struct _##object object;
PLX_NDK_OBJECTS(PLX_NDK_NAME)
#undef PLX_NDK_NAME

#define PLX_NDK_TYPE(type, result, parameters) typedef result(*type) parameters;
PLX_NDK_FUNCTIONS(PLX_NDK_TYPE)
#undef PLX_NDK_TYPE

#define PLX_NDK_SLOT(type, member) type member;
#define PLX_NDK_OBJECT(object, slots)               \
	typedef struct _##object##_DISPATCH {       \
		slots(PLX_NDK_SLOT)                 \
	} object##_DISPATCH, *P##object##_DISPATCH; \
	struct _##object {                          \
		NDK_OBJECT_HEADER Header;           \
		CONST object##_DISPATCH *Dispatch;  \
	};
PLX_NDK_OBJECTS(PLX_NDK_OBJECT)
#undef PLX_NDK_OBJECT
#undef PLX_NDK_SLOT

#endif
