/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structured exceptions: the frames of each thread, what was caught, and the jump to a frame. A
 * fault of the machine becomes an exception while its thread has a frame; else the handler of
 * before gets it (seh_fault.c). It allocates nothing and takes no lock.
 * Start with raise_record().
 */
#include "seh.h"

#include <wdmseh.h>

#include "plx_wdk.h"

enum {
	CAUGHT_MAX = 16, /* functions in a handler at once, each called by the one before */
};

/* What a function has caught last, for GetExceptionCode(). */
struct caught {
	void *function;
	EXCEPTION_RECORD record;
	EXCEPTION_POINTERS pointers;
};

static _Thread_local struct plx_win_seh_frame *frames;
static _Thread_local bool is_watched;
static _Thread_local struct {
	struct plx_win_seh_final *finals;
	int has_arrived; /* an exception that no __except or __finally has looked at yet */
	unsigned count;
	struct caught caught[CAUGHT_MAX];
} thread;

static const char *
name_of(NTSTATUS status)
{
	switch ((ULONG)status) {
	case 0x80000002:
		return "STATUS_DATATYPE_MISALIGNMENT";
	case 0xc0000005:
		return "STATUS_ACCESS_VIOLATION";
	case 0xc000000d:
		return "STATUS_INVALID_PARAMETER";
	case 0xc0000017:
		return "STATUS_NO_MEMORY";
	case 0xc0000025:
		return "STATUS_NONCONTINUABLE_EXCEPTION";
	case 0xc0000044:
		return "STATUS_QUOTA_EXCEEDED";
	case 0xc000009a:
		return "STATUS_INSUFFICIENT_RESOURCES";
	default:
		return "a status that calls do not raise";
	}
}

/* A stack grows down: frames below that of the function are of functions that have returned. */
static struct caught *
caught_make(void *function)
{
	while (thread.count && thread.caught[thread.count - 1].function <= function)
		thread.count--;
	/* Most are of functions that are past their handler. */
	if (thread.count == CAUGHT_MAX)
		memmove(thread.caught, thread.caught + 1, --thread.count * sizeof(struct caught));
	return &thread.caught[thread.count++];
}

static struct caught *
caught_find(void *function)
{
	for (unsigned i = thread.count; i--;)
		if (thread.caught[i].function == function)
			return &thread.caught[i];
	plx_wdk_stop("GetExceptionCode() was called outside of a filter and of a handler");
}

void
seh_raise(const EXCEPTION_RECORD *record)
{
	struct plx_win_seh_frame *frame = frames;
	struct caught *caught;

	if (frame == NULL)
		plx_wdk_stop("an exception was raised and no __try handles it: 0x%08x (%s)",
			     (unsigned)record->ExceptionCode, name_of(record->ExceptionCode));
	caught = caught_make(frame->function);
	caught->function = frame->function;
	caught->record = *record;
	thread.has_arrived = 1;
	thread.finals = frame->finals;
	plx_win_seh_end(frame);
	if (frame->is_builtin)
		__builtin_longjmp(frame->context.words, 1);
	_longjmp(frame->context.library, 1);
}

/* `at` is where the call of the driver returns to. */
static DECLSPEC_NORETURN void
raise_status(NTSTATUS status, void *at)
{
	seh_raise(&(EXCEPTION_RECORD){
		.ExceptionCode = status,
		.ExceptionFlags = EXCEPTION_NONCONTINUABLE,
		.ExceptionAddress = at,
	});
}

VOID
ExRaiseStatus(NTSTATUS status)
{
	raise_status(status, __builtin_return_address(0));
}

VOID
ExRaiseAccessViolation(VOID)
{
	raise_status(STATUS_ACCESS_VIOLATION, __builtin_return_address(0));
}

VOID
ExRaiseDatatypeMisalignment(VOID)
{
	raise_status(STATUS_DATATYPE_MISALIGNMENT, __builtin_return_address(0));
}

void
plx_win_seh_enter(struct plx_win_seh_frame *frame, void *function, int is_builtin)
{
	if (!is_watched)
		is_watched = seh_watch_faults(&frames);
	thread.has_arrived = 0; /* also: from here on these variables exist for a fault */
	frame->function = function;
	frame->outer = frames;
	frame->finals = thread.finals;
	frame->is_listed = 1;
	frame->is_builtin = is_builtin;
	/* A fault of the next instruction needs all of it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	frames = frame;
}

void
plx_win_seh_end(struct plx_win_seh_frame *frame)
{
	if (frame->is_listed)
		frames = frame->outer;
	frame->is_listed = 0;
}

int
plx_win_seh_caught(void)
{
	int has_arrived = thread.has_arrived;

	thread.has_arrived = 0;
	return has_arrived;
}

int
plx_win_seh_handles(void *function, int filter)
{
	EXCEPTION_RECORD record = caught_find(function)->record;

	if (filter > 0)
		return 1;
	if (filter == 0)
		seh_raise(&record);
	raise_status(STATUS_NONCONTINUABLE_EXCEPTION, record.ExceptionAddress);
}

PEXCEPTION_POINTERS
plx_win_seh_information(void *function)
{
	struct caught *caught = caught_find(function);

	/* The table may have moved. */
	caught->pointers = (EXCEPTION_POINTERS){.ExceptionRecord = &caught->record};
	return &caught->pointers;
}

int
plx_win_seh_final_begin(struct plx_win_seh_final *final)
{
	if (final->has_begun)
		return 0;
	final->has_begun = 1;
	final->is_abnormal = plx_win_seh_caught();
	if (final->is_abnormal)
		final->record = thread.caught[thread.count - 1].record;
	final->outer = thread.finals;
	final->is_listed = 1;
	thread.finals = final;
	return 1;
}

void
plx_win_seh_final_drop(struct plx_win_seh_final *final)
{
	if (final->is_listed)
		thread.finals = final->outer;
	final->is_listed = 0;
}

void
plx_win_seh_final_end(struct plx_win_seh_final *final)
{
	plx_win_seh_final_drop(final);
	if (final->is_abnormal)
		seh_raise(&final->record);
}

int
plx_win_seh_is_abnormal(void)
{
	return thread.finals != NULL && thread.finals->is_abnormal;
}
