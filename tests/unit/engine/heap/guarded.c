/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages for secrets, seen at the moment when they go back to the kernel: munmap() and mincore() are
 * this file's. Start with what_was_written_is_wiped().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plx_heap.h"

enum {
	PAGES = 1000,
	REST = 100, /* [bytes] of the last page */
};

static struct {
	uint8_t *memory; /* NULL: not watched */
	size_t bytes;
	bool blind;       /* the kernel does not say what is resident */
	size_t freed;     /* how often it was freed */
	size_t resident;  /* pages, when it was freed */
	size_t not_wiped; /* bytes, when it was freed */
} watched;

static size_t
page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int
mincore(void *memory, size_t bytes, unsigned char *resident)
{
	return watched.blind ? -1 : (int)syscall(SYS_mincore, memory, bytes, resident);
}

static size_t
resident_pages(void *memory, size_t bytes)
{
	unsigned char resident[PAGES + 1] = {0};
	size_t pages = 0;

	(void)syscall(SYS_mincore, memory, bytes, resident);
	for (size_t i = 0; i <= PAGES; i++)
		pages += resident[i] & 1;
	return pages;
}

int
munmap(void *memory, size_t bytes)
{
	if (watched.memory != NULL && memory == watched.memory && bytes == watched.bytes) {
		watched.freed++;
		watched.resident = resident_pages(memory, bytes);
		for (size_t i = 0; i < bytes; i++)
			watched.not_wiped += watched.memory[i] != 0;
	}
	return (int)syscall(SYS_munmap, memory, bytes);
}

/* A block of which every `step`th page is written, and the last byte.
 * Returns: number of its pages that were resident before it was freed */
static size_t
free_after_writing(size_t step, bool blind)
{
	size_t bytes = PAGES * page_bytes() + REST, pages;
	uint8_t *memory = plx_guarded_alloc(bytes);

	assert_non_null(memory);
	for (size_t i = 0; i < PAGES; i += step)
		memset(memory + i * page_bytes(), 0x5a, page_bytes());
	memory[bytes - 1] = 0x5a;
	pages = resident_pages(memory, bytes);
	memset(&watched, 0, sizeof(watched));
	watched.memory = memory;
	watched.bytes = bytes;
	watched.blind = blind;
	plx_guarded_free(memory, bytes);
	watched.memory = NULL;
	assert_int_equal(watched.freed, 1);
	return pages;
}

static void
what_was_written_is_wiped(void **state)
{
	static const size_t step[] = {1, 2, 3, 255, 256, 257, PAGES};

	(void)state;
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		(void)free_after_writing(step[i], false);
		assert_int_equal(watched.not_wiped, 0);
	}
}

static void
what_was_never_touched_is_not_taken(void **state)
{
	static const size_t step[] = {2, 100, PAGES};

	(void)state;
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		size_t pages = free_after_writing(step[i], false);

		assert_true(pages > PAGES / step[i]);
		assert_int_equal(watched.resident, pages);
	}
}

static void
all_is_wiped_if_the_kernel_does_not_say_what_is_resident(void **state)
{
	(void)state;
	(void)free_after_writing(3, true);
	assert_int_equal(watched.not_wiped, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_wiped),
		cmocka_unit_test(what_was_never_touched_is_not_taken),
		cmocka_unit_test(all_is_wiped_if_the_kernel_does_not_say_what_is_resident),
	};

	return cmocka_run_group_tests_name("guarded", tests, NULL, NULL);
}
