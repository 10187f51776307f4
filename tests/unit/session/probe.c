/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which memory is found to be there, page by page and by the process's map; nothing in it changes.
 * Start with rights_and_holes_are_found().
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plx_session.h"
#include "test.h"

enum {
	FEW = 8,    /* pages that are asked for one by one */
	MANY = 300, /* pages that are looked up */
};

static void
check(size_t pages)
{
	const size_t page = (size_t)getpagesize(), bytes = pages * page;
	uint8_t *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, 0x5a, bytes);
	assert_true(plx_session_probe_memory(memory, bytes, true));
	assert_true(plx_session_probe_memory(memory + 1, bytes - 1, true));
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(memory[i], 0x5a);

	/* its last page is read-only, then without rights, then not there */
	assert_int_equal(mprotect(memory + bytes - page, page, PROT_READ), 0);
	assert_true(plx_session_probe_memory(memory, bytes, false));
	assert_false(plx_session_probe_memory(memory, bytes, true));
	assert_false(plx_session_probe_memory(memory, bytes - page + 1, true));
	assert_true(plx_session_probe_memory(memory, bytes - page, true));
	assert_int_equal(mprotect(memory + bytes - page, page, PROT_NONE), 0);
	assert_false(plx_session_probe_memory(memory, bytes, false));
	assert_int_equal(munmap(memory + bytes - page, page), 0);
	assert_false(plx_session_probe_memory(memory, bytes, false));
	assert_true(plx_session_probe_memory(memory, bytes - page, true));
	assert_int_equal(munmap(memory, bytes - page), 0);
}

static void
rights_and_holes_are_found(void **state)
{
	(void)state;
	check(FEW);
	check(MANY);
}

static void
what_is_nowhere_is_not_there(void **state)
{
	uint8_t byte = 0;

	(void)state;
	assert_false(plx_session_probe_memory(NULL, 1, false));
	assert_false(plx_session_probe_memory((const void *)~(uintptr_t)15, 32, false));
	assert_true(plx_session_probe_memory(&byte, 1, true));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_and_holes_are_found),
		cmocka_unit_test(what_is_nowhere_is_not_there),
	};

	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
