/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words of driver sources that mean something to Microsoft's tools alone: annotations of every
 * generation, pragmas, marks of declarations, what a build defines. In several spellings of header
 * names. What it shows, it shows while it is compiled (`compile`), without a warning.
 */
#define WIN9X_COMPAT_SPINLOCK
#define POOL_NX_OPTIN 1
#include <initguid.h>
#include <ntdef.h>
#include <ntstatus.h>
#include <sdkddkver.h>
#include "Ntddk.h"
#include <NTDDK.H>
#include <WDM.h>
#include <Ntifs.h>
#include <stdarg.h>
#include <basetsd.h>
#include <guiddef.h>
#include <sal.h>
#include <specstrings.h>
#include <driverspecs.h>
#include <kernelspecs.h>
#include <suppress.h>
#include <ws2def.h>
#include <ws2ipdef.h>
#include <mstcpip.h>
#include <inaddr.h>
#include <in6addr.h>
#include <evntrace.h>
#include "Ndkpi.h"
#include <ntddndk.h>

#pragma warning(push)
#pragma warning(disable : 4201 4214)
#pragma prefast(disable : 28197, "not of this analyser")
#pragma comment(lib, "wdmsec.lib")
#pragma NDIS_INIT_FUNCTION(words_start)

#if !_KERNEL_MODE || !DBG || !WINNT || !_WIN64
#error "this is no build of a driver"
#endif
#if NTDDI_VERSION < NTDDI_WIN8 || _WIN32_WINNT < _WIN32_WINNT_WIN8
#error "this is an old Windows"
#endif
#if defined(__x86_64__) && (!_AMD64_ || !AMD64)
#error "this is another machine"
#endif

C_ASSERT(sizeof(WCHAR) == 2);
C_ASSERT(sizeof(L"ab") == 6);
C_ASSERT(sizeof(LONG) == 4);
C_ASSERT('sdrW' == 0x73647257);
C_ASSERT(FIELD_OFFSET(MDL, ByteCount) == 40);

DEFINE_GUID(WORDS_ID, 0x9b6e3d2cu, 0x1f4a, 0x4c55, 0x90, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde);

__kernel_driver;

#include <pshpack1.h>
typedef struct _WORDS_WIRE {
	UCHAR Kind;
	ULONG Length;
} WORDS_WIRE, *PWORDS_WIRE;
#include <poppack.h>
C_ASSERT(sizeof(WORDS_WIRE) == 5);

typedef struct _WORDS {
	union {
		ULONG Number;
		_Field_size_bytes_(4) UCHAR Bytes[4];
	} u;
	_Guarded_by_(Lock) LIST_ENTRY List;
	_Interlocked_ volatile LONG Lock;
	_Field_range_(0, 7) ULONG Small;
	_Write_guarded_by_(Lock) _Null_terminated_ PCWSTR Name;
	DECLSPEC_CACHEALIGN LONG Hot;
} WORDS, *PWORDS;

typedef _Function_class_(WORDS_CALLBACK)
	_IRQL_requires_max_(PASSIVE_LEVEL) _IRQL_requires_same_ _Must_inspect_result_ NTSTATUS
	WORDS_CALLBACK(_In_ PWORDS Words, _In_opt_ PVOID Context);
typedef WORDS_CALLBACK *PWORDS_CALLBACK;

EXTERN_C_START
WORDS_CALLBACK words_start;
_IRQL_requires_max_(DISPATCH_LEVEL) __drv_maxIRQL(DISPATCH_LEVEL) NTSTATUS
	words_old(IN PWORDS Words, IN OUT PULONG Count OPTIONAL, OUT PVOID *Result);
__checkReturn NTSTATUS words_older(__in PWORDS Words, __out_bcount(Length) PVOID Buffer,
				   __in ULONG Length, __inout_opt PULONG Used,
				   __deref_out_opt PVOID *Next,
				   __in_ecount(Length) CONST ULONG *Numbers);
NTKERNELAPI NTSTATUS NTAPI words_new(_In_reads_bytes_(Length) CONST VOID *Buffer,
				     _In_ SIZE_T Length, _Outptr_result_maybenull_ PVOID *Next,
				     _Out_writes_bytes_to_opt_(Length, *Used) PVOID Out,
				     _When_(Length > 0, _Out_) PSIZE_T Used,
				     _Pre_ _Notnull_ _Post_ _Notref_ PVOID Both);
EXTERN_C_END

#ifdef ALLOC_PRAGMA
#pragma alloc_text(INIT, words_start)
#pragma alloc_text(PAGE, words_old)
#endif

_Use_decl_annotations_ NTSTATUS
words_start(PWORDS Words, PVOID Context)
{
	UNREFERENCED_PARAMETER(Context);
	_Analysis_assume_(Words != NULL);
	__analysis_assume(Words != NULL);
	switch (Words->Small) {
	case 0:
		Words->Small++;
		__fallthrough;
	default:
		break;
	}
#pragma warning(suppress : 6011)
#pragma prefast(suppress : 28118, "once more")
	return Words->u.Number ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
}

#pragma code_seg("PAGE")
_Use_decl_annotations_ NTSTATUS
words_old(IN PWORDS Words, IN OUT PULONG Count OPTIONAL, OUT PVOID *Result)
{
	if (ARGUMENT_PRESENT(Count))
		*Count += Words->Small;
	*Result = Words;
	return STATUS_SUCCESS;
}
#pragma code_seg()

_Use_decl_annotations_ NTSTATUS
words_older(PWORDS Words, PVOID Buffer, ULONG Length, PULONG Used, PVOID *Next,
	    CONST ULONG *Numbers)
{
	RtlZeroMemory(Buffer, Length);
	if (Used)
		*Used = Length + Numbers[0];
	*Next = Words;
	return STATUS_SUCCESS;
}

_Use_decl_annotations_ NTSTATUS
words_new(CONST VOID *Buffer, SIZE_T Length, PVOID *Next, PVOID Out, PSIZE_T Used, PVOID Both)
{
	_At_(Next, _Pre_notnull_) *Next = Both;
	if (Out)
		RtlCopyMemory(Out, Buffer, Length);
	*Used = Length;
	return IsEqualGUID(
#ifdef __cplusplus
		       WORDS_ID, WORDS_ID
#else
		       &WORDS_ID, &WORDS_ID
#endif
		       )
		       ? STATUS_SUCCESS
		       : STATUS_NOT_FOUND;
}

#pragma warning(pop)
