/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a consumer finds that calls an object after its close: a table whose every slot says so. The
 * close puts it into the object, so no call of an open object pays for a check. An object that has
 * ended keeps it for a while. Start with ndk_closed_tables.
 */
#include <ntstatus.h>
#include <stdlib.h>

#include "ndk.h"

enum {
	KEPT = 1024, /* objects that have ended, at most half a megabyte */
};

/* Every slot has its parameters, and looks at none. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void
told(const char *type)
{
	ndk_rule_broken("%s is called on an object that the consumer has closed; nothing is called "
			"on an object after its close",
			type);
}

/* What a call returns that nobody may make. A close is neither pending nor completed. */
#define RESULT_VOID(type)
#define RESULT_ULONG(type)  return 0;
#define RESULT_UINT32(type) return 0;
#define RESULT_NTSTATUS(type)                                      \
	return __builtin_strcmp(#type, "NDK_FN_CLOSE_OBJECT") == 0 \
		       ? STATUS_SUCCESS                            \
		       : STATUS_INVALID_DEVICE_REQUEST;

#define FUNCTION(type, result, parameters)     \
	static result closed_##type parameters \
	{                                      \
		told(#type);                   \
		RESULT_##result(type)          \
	}
PLX_NDK_OF_ALL(FUNCTION)
PLX_NDK_OF_ADAPTER(FUNCTION)
PLX_NDK_OF_CQ(FUNCTION)
PLX_NDK_OF_PD(FUNCTION)
PLX_NDK_OF_MR(FUNCTION)
PLX_NDK_OF_SRQ(FUNCTION)
PLX_NDK_OF_QP(FUNCTION)
PLX_NDK_OF_LISTENER(FUNCTION)
PLX_NDK_OF_CONNECTOR(FUNCTION)

#define SLOT(type, member)   .member = closed_##type,
#define TABLE(object, slots) static const object##_DISPATCH table_##object = {slots(SLOT)};
PLX_NDK_OBJECTS(TABLE)

const void *const ndk_closed_tables[NdkObjectTypeMax] = {
	[NdkObjectTypeAdapter] = &table_NDK_ADAPTER,
	[NdkObjectTypeQp] = &table_NDK_QP,
	[NdkObjectTypeCq] = &table_NDK_CQ,
	[NdkObjectTypeMr] = &table_NDK_MR,
	[NdkObjectTypeMw] = &table_NDK_MW,
	[NdkObjectTypePd] = &table_NDK_PD,
	[NdkObjectTypeSharedEndpoint] = &table_NDK_SHARED_ENDPOINT,
	[NdkObjectTypeConnector] = &table_NDK_CONNECTOR,
	[NdkObjectTypeListener] = &table_NDK_LISTENER,
	[NdkObjectTypeSrq] = &table_NDK_SRQ,
};

/* ---- objects that have ended ---- */

/* AddressSanitizer keeps freed memory itself, and says more. */
#ifdef __SANITIZE_ADDRESS__
void
ndk_object_keep(struct ndk_object *object)
{
	free(object);
}
#else
static struct ndk_object *_Atomic kept[KEPT];
static atomic_uint next;

/* The newest take the places of the oldest. */
void
ndk_object_keep(struct ndk_object *object)
{
	free(atomic_exchange(&kept[next++ % KEPT], object));
}
#endif
