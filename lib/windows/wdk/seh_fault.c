/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Faults of the machine as exceptions. The handlers are installed by the first __try of the process
 * and stay. A fault of a thread without a __try goes to the handler of before, and so does a signal
 * that somebody sent. The exception is not raised in the handler, whence no jump is sound: the
 * handler returns to raise_fault(), as if the instruction had called it.
 * Start with on_fault().
 */
#include "seh.h"

#include <wdmmm.h>

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

enum {
	RED_ZONE = 128,    /* bytes below the stack pointer that belong to a function */
	FRAME_MAX = 65536, /* an access this near below the stack pointer is of the stack itself */
};

static struct sigaction before_segv, before_bus;

/* The frames of each thread. A handler must not use a variable of the thread that may have to be
 * allocated first, as in a library that is loaded late; a key it may. */
static pthread_key_t frames_of_thread;
static bool has_key;

/* Not allocated on its first use in the handler: the thread has used its like in seh.c. */
static _Thread_local EXCEPTION_RECORD fault;

static void
raise_fault(void)
{
	EXCEPTION_RECORD record = fault;

	seh_raise(&record);
}

/* Go on in raise_fault() after the handler. Returns: false: not on this machine, or the stack is
 * what has overflowed */
static bool
divert(ucontext_t *machine, ULONG_PTR address)
{
#if defined(__x86_64__)
	greg_t *registers = machine->uc_mcontext.gregs;
	ULONG_PTR stack = (ULONG_PTR)registers[REG_RSP];

	if (address - (stack - FRAME_MAX) < FRAME_MAX + PAGE_SIZE)
		return false;
	fault.ExceptionAddress = (PVOID)registers[REG_RIP];
	fault.ExceptionInformation[0] = registers[REG_ERR] >> 1 & 1; /* 1: a write */
	/* As a call leaves it: 8 bytes beside a multiple of 16, and the direction flag clear. */
	registers[REG_RSP] = (greg_t)(((stack - RED_ZONE) & ~(ULONG_PTR)15) - 8);
	registers[REG_RIP] = (greg_t)(ULONG_PTR)raise_fault;
	registers[REG_EFL] &= ~(greg_t)0x400;
	return true;
#elif defined(__aarch64__)
	ULONG_PTR stack = machine->uc_mcontext.sp;

	if (address - (stack - FRAME_MAX) < FRAME_MAX + PAGE_SIZE)
		return false;
	fault.ExceptionAddress = (PVOID)machine->uc_mcontext.pc;
	machine->uc_mcontext.sp = (stack - RED_ZONE) & ~(ULONG_PTR)15;
	machine->uc_mcontext.pc = (ULONG_PTR)raise_fault;
	return true;
#else
	(void)machine, (void)address;
	return false;
#endif
}

static void
pass_on(int signal, siginfo_t *info, void *machine)
{
	const struct sigaction *before = signal == SIGBUS ? &before_bus : &before_segv;

	if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(signal, info, machine);
	} else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
		before->sa_handler(signal);
	} else if (info->si_code > 0) {
		/* The instruction faults again, and ends the process as ever. */
		sigaction(signal, before, NULL);
	} else if (before->sa_handler == SIG_DFL) {
		sigaction(signal, before, NULL);
		raise(signal);
	}
}

static bool
has_frame(void)
{
	struct plx_win_seh_frame *const *frames = pthread_getspecific(frames_of_thread);

	return frames != NULL && *frames != NULL;
}

static void
on_fault(int signal, siginfo_t *info, void *machine)
{
	/* A code above 0 comes from the kernel, for the instruction that was running. */
	if (info->si_code > 0 && has_frame()) {
		fault = (EXCEPTION_RECORD){
			.ExceptionCode = STATUS_ACCESS_VIOLATION,
			.NumberParameters = 2,
			.ExceptionInformation = {0, (ULONG_PTR)info->si_addr},
		};
		if (divert(machine, (ULONG_PTR)info->si_addr))
			return;
	}
	pass_on(signal, info, machine);
}

static void
install(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

	has_key = pthread_key_create(&frames_of_thread, NULL) == 0;
	if (!has_key)
		return;
	action.sa_sigaction = on_fault;
	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, &before_segv);
	sigaction(SIGBUS, &action, &before_bus);
}

bool
seh_watch_faults(struct plx_win_seh_frame *const *frames)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	return has_key && pthread_setspecific(frames_of_thread, (const void *)frames) == 0;
}
