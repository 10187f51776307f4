/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What drivers say to a debugger, which is stderr here, and where they stop. A message is one
 * write, so that those of several threads do not mix. It owns the filter, which it reads from the
 * environment once. Start with vDbgPrintExWithPrefix().
 */
#include "format.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	MESSAGE_BYTES_MAX = 512, /* as documented for DbgPrint() */
	FILTER_DEFAULT = 1 << DPFLTR_ERROR_LEVEL,
};

/* The filter with FILTER_READ; 0: not read yet. */
#define FILTER_READ (1ull << 32)
static _Atomic unsigned long long filter_read;

static ULONG
filter(void)
{
	unsigned long long seen = atomic_load(&filter_read);
	const char *text;

	if (seen == 0) {
		text = secure_getenv("POLLUX_DBGPRINT");
		seen = text ? (ULONG)strtoul(text, NULL, 0) : FILTER_DEFAULT;
		seen |= FILTER_READ;
		atomic_store(&filter_read, seen);
	}
	return (ULONG)seen;
}

static void
say(const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(STDERR_FILENO, text, length);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		}
	}
}

ULONG
vDbgPrintExWithPrefix(PCCH prefix, ULONG component, ULONG level, PCCH format, va_list args)
{
	ULONG mask = level < 32 ? 1u << level : level;
	char text[MESSAGE_BYTES_MAX];
	size_t length = strnlen(prefix, sizeof(text));

	(void)component;
	if ((filter() & mask) == 0)
		return STATUS_SUCCESS;
	memcpy(text, prefix, length);
	length += rtl_format_narrow(text + length, sizeof(text) - length, format, args);
	say(text, length < sizeof(text) ? length : sizeof(text));
	return STATUS_SUCCESS;
}

ULONG
vDbgPrintEx(ULONG component, ULONG level, PCCH format, va_list args)
{
	return vDbgPrintExWithPrefix("", component, level, format, args);
}

ULONG
DbgPrintEx(ULONG component, ULONG level, PCSTR format, ...)
{
	va_list args;
	ULONG status;

	va_start(args, format);
	status = vDbgPrintEx(component, level, format, args);
	va_end(args);
	return status;
}

ULONG
DbgPrint(PCSTR format, ...)
{
	va_list args;
	ULONG status;

	va_start(args, format);
	status = vDbgPrintEx((ULONG)DPFLTR_DEFAULT_ID, DPFLTR_INFO_LEVEL, format, args);
	va_end(args);
	return status;
}

VOID
DbgBreakPoint(VOID)
{
	raise(SIGTRAP);
}

VOID
DbgBreakPointWithStatus(ULONG status)
{
	(void)status;
	DbgBreakPoint();
}

/* Say it whatever the filter. */
static void
complain(const char *format, ...)
{
	char text[MESSAGE_BYTES_MAX];
	va_list args;
	size_t length;

	va_start(args, format);
	length = rtl_format_narrow(text, sizeof(text), format, args);
	va_end(args);
	say(text, length < sizeof(text) ? length : sizeof(text));
}

VOID
RtlAssert(PVOID assertion, PVOID file, ULONG line, PSTR message)
{
	complain("pollux: a driver's assertion failed: %s%s%s (%s:%u)\n", message ? message : "",
		 message ? ": " : "", assertion, file, line);
	DbgBreakPoint();
}

VOID
plx_rtl_list_corrupt(const VOID *entry)
{
	complain("pollux: the list of entry %p is corrupt: its neighbours do not point back\n",
		 entry);
	__fastfail(FAST_FAIL_CORRUPT_LIST_ENTRY);
}
