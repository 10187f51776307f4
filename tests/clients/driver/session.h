/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of the driver that is C++.
 */
#pragma once
#include <NTDDK.h>
#include <ndkpi.h>

EXTERN_C_START

_IRQL_requires_max_(DISPATCH_LEVEL) _Must_inspect_result_ NTSTATUS
	SessionDescribe(_In_reads_bytes_(Length) PVOID Buffer, _In_ ULONG Length,
			_Out_ PULONG Pages);

EXTERN_C_END
