/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of the driver that is C++: without exceptions and types at run time, with a variable
 * that C++ has once in a process, which must not keep the image loaded.
 */
#include "session.h"
#include "trace.h"
#include "session.tmh"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "drivers have neither"
#endif

template <class T> struct Counted {
	static T &
	Count()
	{
		static T count;
		return count;
	}
};

#pragma code_seg("PAGE")

_Use_decl_annotations_ NTSTATUS
SessionDescribe(PVOID Buffer, ULONG Length, PULONG Pages)
{
	FuncEntry(PING_IO);
	PMDL Mdl = IoAllocateMdl(Buffer, Length, FALSE, FALSE, NULL);

	if (Mdl == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	MmBuildMdlForNonPagedPool(Mdl);
	*Pages =
		ADDRESS_AND_SIZE_TO_SPAN_PAGES(MmGetMdlVirtualAddress(Mdl), MmGetMdlByteCount(Mdl));
	Trace("%u bytes have %I64u pages, %d before", Length, (ULONG64)*Pages,
	      Counted<LONG>::Count()++);
	Trace("%!HEXDUMP! %d %!step! %s", TraceBytes(2, "\1\2"), 7, SessionStepOpen, "of C++");
	IoFreeMdl(Mdl);
	return STATUS_SUCCESS;
}
