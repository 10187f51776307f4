/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is at an address. The kernel is asked by calls that look at a word of a page and change
 * nothing: no signal is raised for a page that is not there, and no other thread notices.
 * Start with memory_is_there().
 */
#include "ex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The word compares unequal or wakes and moves nobody: only the access counts. */
static bool
can_read(ULONG_PTR word)
{
	uint32_t other = 0;

	return syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, NULL, &other, 0) >= 0 ||
	       errno == EAGAIN;
}

/* The kernel adds 0 to the word, in one step. */
static bool
can_write(ULONG_PTR word)
{
	uint32_t other = 0;

	return syscall(SYS_futex, &other, FUTEX_WAKE_OP_PRIVATE, 0, NULL, word,
		       FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

/* The last address of a program, plus 1: 47 bits. */
#define PROGRAM_END ((ULONG_PTR)1 << 47)

static bool
is_of_programs(ULONG_PTR first, SIZE_T bytes)
{
	return first < PROGRAM_END && bytes <= PROGRAM_END - first;
}

bool
memory_is_there(const volatile void *address, SIZE_T bytes, bool writes)
{
	ULONG_PTR at = (ULONG_PTR)address;
	ULONG_PTR end = at + bytes;

	if (!is_of_programs(at, bytes))
		return false;
	for (; at < end; at = (at & ~(ULONG_PTR)(PAGE_SIZE - 1)) + PAGE_SIZE) {
		ULONG_PTR word = at & ~(ULONG_PTR)(sizeof(uint32_t) - 1);

		if (!(writes ? can_write(word) : can_read(word)))
			return false;
	}
	return true;
}

BOOLEAN
MmIsAddressValid(PVOID address)
{
	plx_ke_require("MmIsAddressValid", DISPATCH_LEVEL);
	return memory_is_there(address, 1, false);
}

PHYSICAL_ADDRESS
MmGetPhysicalAddress(PVOID address)
{
	return (PHYSICAL_ADDRESS){.QuadPart = (LONGLONG)(ULONG_PTR)address};
}

static void
probe(const volatile VOID *address, SIZE_T length, ULONG alignment, const char *call)
{
	plx_ke_require(call, APC_LEVEL);
	if (length == 0)
		return;
	if ((ULONG_PTR)address & (alignment - 1))
		ExRaiseDatatypeMisalignment();
	if (!is_of_programs((ULONG_PTR)address, length))
		ExRaiseAccessViolation();
}

VOID
ProbeForRead(const volatile VOID *address, SIZE_T length, ULONG alignment)
{
	probe(address, length, alignment, "ProbeForRead");
}

VOID
ProbeForWrite(volatile VOID *address, SIZE_T length, ULONG alignment)
{
	probe(address, length, alignment, "ProbeForWrite");
	if (!memory_is_there(address, length, true))
		ExRaiseAccessViolation();
}
