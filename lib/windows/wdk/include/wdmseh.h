/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structured exceptions: __try, __except, __finally, __leave, and the calls that raise. Blocks nest
 * in any way, also across functions. What ExRaiseStatus() and its kin raise arrives in the nearest
 * __try of the thread, and so does a fault of the machine (an address that is not there or may not
 * be written to) as STATUS_ACCESS_VIOLATION. One that no __try handles ends the process with a
 * sentence. return, goto, break, continue and __leave may leave a __try or the block of an
 * __except.
 *
 * It is setjmp() and longjmp(), so it differs from Windows:
 *   - The filter runs after the __finally blocks of inner __try blocks, not before.
 *   - EXCEPTION_CONTINUE_EXECUTION raises STATUS_NONCONTINUABLE_EXCEPTION, as Windows does for what
 *     a call has raised, but here for a fault too.
 *   - return, goto, break and continue out of a __try do not run its __finally. __leave does.
 *   - break and continue that end a __finally block belong to the block, not to a loop around it.
 *   - clang: a local variable that is changed in the __try and read after an exception has to be
 *     volatile. gcc needs this only for what a fault, and not a call, raises.
 *   - A fault of the stack itself is none.
 *   - After an inner __try of the same function has handled another exception, GetExceptionCode()
 *     in the outer handler is that one's. Read it first.
 *   - There is no CONTEXT: ContextRecord is NULL.
 *   - C++: objects of the blocks that an exception leaves are not destroyed.
 *   - A __try is more than one statement. Give it braces where it is the body of an if or a loop.
 *   - A handler of signals that is installed after the first __try gets the faults instead.
 * Tests: tests/unit/windows/wdk/seh.c, tests/unit/windows/wdk/seh_cpp.cpp,
 * tests/unit/windows/wdk/seh_end.c
 */
#ifndef PLX_WDK_WDMSEH_H
#define PLX_WDK_WDMSEH_H

#include "wdmtypes.h"

#include <setjmp.h>

/* gcc warns of every variable around a setjmp(); what is true of it is said above. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is raised ---- */

#define EXCEPTION_EXECUTE_HANDLER    1
#define EXCEPTION_CONTINUE_SEARCH    0
#define EXCEPTION_CONTINUE_EXECUTION (-1)

#define EXCEPTION_NONCONTINUABLE     0x01
#define EXCEPTION_MAXIMUM_PARAMETERS 15

typedef struct _EXCEPTION_RECORD {
	NTSTATUS ExceptionCode;
	ULONG ExceptionFlags;
	struct _EXCEPTION_RECORD *ExceptionRecord;
	PVOID ExceptionAddress;
	ULONG NumberParameters;
	ULONG_PTR ExceptionInformation[EXCEPTION_MAXIMUM_PARAMETERS];
} EXCEPTION_RECORD, *PEXCEPTION_RECORD;

typedef struct _CONTEXT CONTEXT, *PCONTEXT;

typedef struct _EXCEPTION_POINTERS {
	PEXCEPTION_RECORD ExceptionRecord;
	PCONTEXT ContextRecord;
} EXCEPTION_POINTERS, *PEXCEPTION_POINTERS;

/** Raise an exception that cannot be continued.
 * @param Status its code */
DECLSPEC_NORETURN VOID ExRaiseStatus(NTSTATUS Status) PLX_WIN_NAME(ExRaiseStatus);
/** ExRaiseStatus(STATUS_ACCESS_VIOLATION). */
DECLSPEC_NORETURN VOID ExRaiseAccessViolation(VOID) PLX_WIN_NAME(ExRaiseAccessViolation);
/** ExRaiseStatus(STATUS_DATATYPE_MISALIGNMENT). */
DECLSPEC_NORETURN VOID ExRaiseDatatypeMisalignment(VOID) PLX_WIN_NAME(ExRaiseDatatypeMisalignment);

/* ---- blocks ---- */

/* A __finally that is running. */
struct plx_win_seh_final {
	struct plx_win_seh_final *outer;
	int has_begun, is_abnormal, is_listed;
	EXCEPTION_RECORD record;
};

/* A __try that is running, on the stack of its thread. `function` is the frame of its function. */
struct plx_win_seh_frame {
	struct plx_win_seh_frame *outer;
	struct plx_win_seh_final *finals; /* that run around it */
	void *function;
	int is_listed, is_builtin;
	union {
		jmp_buf library;
		void *words[5];
	} context;
};

/* The frame is the innermost from here on.
 * is_builtin: its context is that of the compiler's setjmp(), not of the C library's */
void plx_win_seh_enter(struct plx_win_seh_frame *frame, void *function, int is_builtin)
	PLX_WIN_NAME(seh_enter);
/* Its end by its last statement, by __leave or by an exception. */
void plx_win_seh_end(struct plx_win_seh_frame *frame) PLX_WIN_NAME(seh_end);
/* Did an exception end the __try before? True once. */
int plx_win_seh_caught(void) PLX_WIN_NAME(seh_caught);
/* Act on the value of a filter. Returns: 1: run the handler; else it raises and does not return */
int plx_win_seh_handles(void *function, int filter) PLX_WIN_NAME(seh_handles);
/* Returns: 1: run the block; 0: it has run */
int plx_win_seh_final_begin(struct plx_win_seh_final *final) PLX_WIN_NAME(seh_final_begin);
/* Raise again what the block has interrupted. */
void plx_win_seh_final_end(struct plx_win_seh_final *final) PLX_WIN_NAME(seh_final_end);
/* The block is left, in whatever way. */
void plx_win_seh_final_drop(struct plx_win_seh_final *final) PLX_WIN_NAME(seh_final_drop);
int plx_win_seh_is_abnormal(void) PLX_WIN_NAME(seh_is_abnormal);
/* What the function whose frame it is has caught last. */
PEXCEPTION_POINTERS plx_win_seh_information(void *function) PLX_WIN_NAME(seh_information);

#ifdef __cplusplus
}
#endif

#define PLX_WIN_SEH_FUNCTION        __builtin_frame_address(0)
#define PLX_WIN_SEH_GLUE(a, b)      a##b
#define PLX_WIN_SEH_UNIQUE(name, n) PLX_WIN_SEH_GLUE(name, n)
/* After gcc's own setjmp() variables are what they were when the exception was raised, since gcc
 * knows that it is reached from any call. clang's is no better than the C library's, which the
 * sanitizers know. */
#ifdef __clang__
#define PLX_WIN_SEH_SET(frame) \
	_setjmp((plx_win_seh_enter(frame, PLX_WIN_SEH_FUNCTION, 0), (frame)->context.library))
#else
/* The asm reads the context, which the compiler would not store for a block that calls nothing. */
#define PLX_WIN_SEH_SET(frame)                                              \
	__extension__({                                                     \
		int plx_win_seh_set;                                        \
		plx_win_seh_enter(frame, PLX_WIN_SEH_FUNCTION, 1);          \
		plx_win_seh_set = __builtin_setjmp((frame)->context.words); \
		__asm__ volatile("" : : "r"(&(frame)->context) : "memory"); \
		plx_win_seh_set;                                            \
	})
#endif
static inline struct plx_win_seh_final
plx_win_seh_final_none(void)
{
	struct plx_win_seh_final none;

	none.has_begun = 0;
	none.is_listed = 0;
	return none;
}

/* clang-format off */
/* __try opens braces that __except and __finally close: no loop, since break and continue have to
 * reach those of the driver. The label that __leave jumps to is the block's own, which ISO lacks.
 */
#define PLX_WIN_SEH_TRY(frame)                                                                \
	{                                                                                     \
		_Pragma("GCC diagnostic push")                                                \
		_Pragma("GCC diagnostic ignored \"-Wpedantic\"")                              \
		{                                                                             \
			__label__ plx_win_seh_leave;                                          \
			_Pragma("GCC diagnostic pop")                                         \
			struct plx_win_seh_frame frame                                        \
				__attribute__((__cleanup__(plx_win_seh_end)));                \
			if (PLX_WIN_SEH_SET(&frame) == 0)
#define PLX_WIN_SEH_END                                                                       \
		plx_win_seh_leave:                                                            \
			__attribute__((__unused__));                                          \
		}                                                                             \
	}
#define PLX_WIN_SEH_FINALLY(final)                                                            \
	PLX_WIN_SEH_END                                                                       \
	for (struct plx_win_seh_final final                                                   \
	     __attribute__((__cleanup__(plx_win_seh_final_drop))) = plx_win_seh_final_none(); \
	     plx_win_seh_final_begin(&final); plx_win_seh_final_end(&final))

/* libstdc++ has a __try of its own: its headers come before, if they are included at all. */
#undef __try
#define __try PLX_WIN_SEH_TRY(PLX_WIN_SEH_UNIQUE(plx_win_seh_frame_, __COUNTER__))
#define __except(...)                                                                         \
	PLX_WIN_SEH_END                                                                       \
	if (plx_win_seh_caught() && plx_win_seh_handles(PLX_WIN_SEH_FUNCTION, (__VA_ARGS__)))
#define __finally PLX_WIN_SEH_FINALLY(PLX_WIN_SEH_UNIQUE(plx_win_seh_final_, __COUNTER__))
#define __leave   goto plx_win_seh_leave
/* clang-format on */

/* In a filter and in the block of an __except; the information in a filter only. */
#define GetExceptionInformation() plx_win_seh_information(PLX_WIN_SEH_FUNCTION)
#define GetExceptionCode()        (GetExceptionInformation()->ExceptionRecord->ExceptionCode)
#define _exception_info()         GetExceptionInformation()
#define _exception_code()         GetExceptionCode()
#define exception_code            _exception_code
#define exception_info            _exception_info
/* In a __finally: was its __try ended by an exception? */
#define AbnormalTermination()   plx_win_seh_is_abnormal()
#define _abnormal_termination() AbnormalTermination()
#define abnormal_termination    _abnormal_termination

/* The words without underscores, which older drivers in C use. */
#ifndef __cplusplus
#define try     __try
#define except  __except
#define finally __finally
#define leave   __leave
#endif

#endif
