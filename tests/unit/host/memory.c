/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of attached programs: which seats may have it, and what the host keeps of it. Start with
 * one_memory_serves_all_adapters_of_a_program().
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"
#include "huge.h"
#include "segment.h"

enum {
	BYTES = 64 * 1024,
	HALF = BYTES / 2,
	PATTERN = 0x5a,
};

static struct host_process host;

/* From the first half of the memory to the second. */
static void
write_half(struct host_side *from, struct plx_mr *source, struct plx_mr *target, uint8_t *memory)
{
	const struct plx_sge sge = {(uintptr_t)memory, HALF, plx_mr_key(source)};
	struct plx_wc wc;

	memset(memory, PATTERN, HALF);
	memset(memory + HALF, 0, HALF);
	assert_int_equal(plx_post_one(from->qp, PLX_WR(PLX_WR_WRITE, 0), 0, &sge,
				      (uintptr_t)memory + HALF, plx_mr_key(target)),
			 PLX_OK);
	test_until(plx_cq_poll(from->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_memory_equal(memory, memory + HALF, HALF);
}

static struct plx_mr *
registered(struct host_side *side, void *memory)
{
	struct plx_mr *mr;

	assert_int_equal(plx_mr_register(side->pd, memory, BYTES,
					 PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE, &mr),
			 PLX_OK);
	return mr;
}

/* A region of one adapter, and of the next: each of them is a seat of its own. */
static void
one_memory_serves_all_adapters_of_a_program(void **state)
{
	struct host_side a, b, again;
	struct plx_mr *mr[3];
	uint8_t *memory;

	(void)state;
	host_side_open(&a, "a");
	host_side_open(&b, "b");
	memory = plx_mem_alloc(BYTES, -1, NULL);
	assert_non_null(memory);
	mr[0] = registered(&a, memory);
	mr[1] = registered(&b, memory);
	host_side_join(&a, &b);
	write_half(&a, mr[0], mr[1], memory);
	/* A third seat, of an adapter that has one: it comes and goes, and the others keep it. */
	host_side_open(&again, "a");
	mr[2] = registered(&again, memory);
	assert_int_equal(plx_mr_deregister(mr[2]), PLX_OK);
	host_side_close(&again);
	write_half(&b, mr[1], mr[0], memory);
	assert_int_equal(plx_mr_deregister(mr[0]), PLX_OK);
	assert_int_equal(plx_mr_deregister(mr[1]), PLX_OK);
	host_side_close(&a);
	host_side_close(&b);
	plx_mem_free(memory);
}

/* ---- segments ---- */

enum {
	HUGE = 2 << 20,
};

static int
arena(bool huge)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? MFD_HUGETLB : 0));

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, huge ? HUGE : BYTES), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}

static int
punch(int fd, size_t bytes)
{
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
}

static const struct plx_host_who owner = {.uid = 1000, .pid = 10}, other = {.uid = 1000, .pid = 11},
				 stranger = {.uid = 1001, .pid = 10};

static void
an_arena_is_mapped_once_for_all_seats_of_its_program(void **state)
{
	struct segment first, second, third, fourth;
	int fd = arena(false), next = arena(false);

	(void)state;
	assert_int_equal(segment_import(&first, &owner, fd, BYTES, NULL), PLX_OK);
	assert_int_equal(segment_import(&second, &owner, fd, BYTES, NULL), PLX_OK);
	assert_ptr_equal(first.base, second.base);
	assert_int_equal(segment_import(&third, &owner, next, BYTES, NULL), PLX_OK);
	assert_ptr_not_equal(first.base, third.base);
	assert_int_equal(segment_import(&fourth, &other, fd, BYTES, NULL), PLX_OK);
	assert_ptr_not_equal(first.base, fourth.base);
	/* It stays until the last of them. */
	segment_destroy(&first);
	assert_null(first.base);
	second.base[BYTES - 1] = PATTERN;
	assert_int_equal(fourth.base[BYTES - 1], PATTERN);
	segment_destroy(&second);
	segment_destroy(&third);
	segment_destroy(&fourth);
	/* After all of them, as for the next host. */
	assert_int_equal(segment_import(&first, &owner, fd, BYTES, NULL), PLX_OK);
	assert_int_equal(first.base[BYTES - 1], PATTERN);
	segment_destroy(&first);
	close(fd);
	close(next);
}

static void
a_hole_in_ordinary_memory_is_zeros(void **state)
{
	struct segment segment;
	int fd = arena(false);

	(void)state;
	assert_int_equal(segment_import(&segment, &owner, fd, BYTES, NULL), PLX_OK);
	memset(segment.base, PATTERN, BYTES);
	assert_int_equal(punch(fd, HALF), 0);
	assert_int_equal(segment.base[0], 0);
	segment.base[1] = PATTERN;
	assert_int_equal(segment.base[HALF], PATTERN);
	assert_int_not_equal(ftruncate(fd, HALF), 0);
	segment_destroy(&segment);
	close(fd);
}

static void
hugepages_have_no_holes_and_one_program(void **state)
{
	struct segment first, second, third;
	struct plx_why why = {""};
	int fd;

	(void)state;
	assert_true(huge_reserve(1));
	fd = arena(true);
	assert_int_equal(segment_import(&first, &owner, fd, HUGE, &why), PLX_OK);
	first.base[0] = PATTERN;
	assert_int_not_equal(punch(fd, HUGE), 0);
	assert_int_equal(first.base[0], PATTERN);
	assert_int_equal(segment_import(&second, &owner, fd, HUGE, &why), PLX_OK);
	assert_ptr_equal(first.base, second.base);
	assert_int_equal(segment_import(&third, &other, fd, HUGE, &why), PLX_NO_MEMORY);
	assert_non_null(strstr(why.text, "memory of its own"));
	assert_int_equal(segment_import(&third, &stranger, fd, HUGE, &why), PLX_NO_MEMORY);
	assert_null(third.base);
	segment_destroy(&first);
	segment_destroy(&second);
	close(fd);
	huge_restore();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_memory_serves_all_adapters_of_a_program),
		cmocka_unit_test(an_arena_is_mapped_once_for_all_seats_of_its_program),
		cmocka_unit_test(a_hole_in_ordinary_memory_is_zeros),
		cmocka_unit_test(hugepages_have_no_holes_and_one_program),
	};

	return host_side_run(&host, tests, PLX_COUNT_OF(tests));
}
