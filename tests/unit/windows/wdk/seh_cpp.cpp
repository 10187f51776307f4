/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structured exceptions in C++: ways out of a block, a fault, __leave. It exits with 1 and a line
 * for what is not so. Start with leave_by().
 */
#include <wdm.h>

#include <cstdio>

enum way {
	BREAK,
	CONTINUE,
	RETURN,
	RAISE,
};

/* In the second of three rounds. Each round that is not left counts 1,010, a handler 100. */
static int
leave_by(way by)
{
	volatile int sum = 0;

	for (int i = 0; i < 3; i++) {
		__try {
			sum = sum + 1;
			if (by == BREAK && i == 1)
				break;
			if (by == CONTINUE && i == 1)
				continue;
			if (by == RETURN && i == 1)
				return 77;
			if (by == RAISE)
				ExRaiseStatus(STATUS_NO_MEMORY);
			sum = sum + 10;
		} __except (GetExceptionCode() == STATUS_NO_MEMORY ? EXCEPTION_EXECUTE_HANDLER
								   : EXCEPTION_CONTINUE_SEARCH) {
			sum = sum + 100;
			if (i == 1)
				break;
		}
		sum = sum + 1000;
	}
	return sum;
}

/* Returns: a bit for each block that ran */
static int
fault(volatile char *nowhere)
{
	volatile int ran = 0;

	__try {
		__try {
			ran = 1;
			*nowhere = 1;
		} __finally {
			ran = ran | (AbnormalTermination() ? 2 : 4);
		}
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		ran = ran | 8;
	}
	return ran;
}

static int
leave_an_inner_loop()
{
	int ran = 0;

	__try {
		for (;;) {
			switch (ran++) {
			case 4:
				__leave;
			default:
				break;
			}
		}
	} __finally {
		ran += AbnormalTermination() ? 100 : 0;
	}
	return ran;
}

static int
is(const char *what, int value, int expected)
{
	if (value != expected)
		std::printf("%s: %d, not %d\n", what, value, expected);
	return value != expected;
}

int
main()
{
	int wrong = 0;

	wrong |= is("break", leave_by(BREAK), 1012);
	wrong |= is("continue", leave_by(CONTINUE), 2023);
	wrong |= is("return", leave_by(RETURN), 77);
	wrong |= is("a handler that breaks", leave_by(RAISE), 1202);
	wrong |= is("a fault", fault(reinterpret_cast<volatile char *>(8)), 11);
	wrong |= is("__leave", leave_an_inner_loop(), 5);
	return wrong;
}
