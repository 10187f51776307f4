/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of attached programs: which seats may have it, and what the host keeps of it. Start with
 * one_memory_serves_all_adapters_of_a_program().
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "huge.h"
#include "plx_objects.h"
#include "segment.h"

enum {
	BYTES = 64 * 1024,
	HALF = BYTES / 2,
	PATTERN = 0x5a,
};

static struct host_process host;

static bool
offered(unsigned i, char name[PLX_ADAPTER_NAME_MAX + 1], struct plx_adapter_options *options)
{
	if (i >= 2)
		return false;
	snprintf(name, PLX_ADAPTER_NAME_MAX + 1, "%c", 'a' + (int)i);
	plx_adapter_options_init(options);
	snprintf(options->device, sizeof(options->device), "net_wire0,end=%u", i);
	options->address[0].ip = (struct plx_ip){.version = 4, .v = {10, 79, 1, (uint8_t)(i + 1)}};
	options->address[0].prefix_bits = 24;
	options->addresses = 1;
	options->idle = PLX_IDLE_YIELD;
	options->qps = 64;
	options->keys = 128;
	options->packets = 4096;
	snprintf(options->worker, sizeof(options->worker), "both");
	return true;
}

struct end {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_mr *mr;
	struct plx_cq *cq;
	struct plx_qp *qp;
};

static void
end_open(struct end *end, const char *name)
{
	struct plx_why why = {""};

	if (plx_adapter_open(name, NULL, &end->adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_int_equal(plx_pd_create(end->adapter, &end->pd), PLX_OK);
}

static enum plx_status
end_register(struct end *end, void *memory)
{
	return plx_mr_register(end->pd, memory, BYTES,
			       PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE, &end->mr);
}

static void
end_queues(struct end *end)
{
	const struct plx_cq_options cq = {.depth = 16};
	struct plx_qp_options qp = {.sq_depth = 4, .rq_depth = 4};

	assert_int_equal(plx_cq_create(end->adapter, &cq, &end->cq), PLX_OK);
	qp.send_cq = qp.recv_cq = end->cq;
	assert_int_equal(plx_qp_create(end->pd, &qp, &end->qp, NULL), PLX_OK);
}

static void
end_close(struct end *end)
{
	if (end->qp != NULL) {
		assert_int_equal(plx_qp_destroy(end->qp), PLX_OK);
		assert_int_equal(plx_cq_destroy(end->cq), PLX_OK);
	}
	if (end->mr != NULL)
		assert_int_equal(plx_mr_deregister(end->mr), PLX_OK);
	assert_int_equal(plx_pd_destroy(end->pd), PLX_OK);
	assert_int_equal(plx_adapter_close(end->adapter), PLX_OK);
}

static void
join(struct end *a, struct end *b)
{
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(a->qp, NULL, &address[0]), PLX_OK);
	assert_int_equal(plx_qp_address(b->qp, NULL, &address[1]), PLX_OK);
	assert_int_equal(plx_qp_connect(a->qp, &address[1], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(plx_qp_connect(b->qp, &address[0], &attr, 5000, NULL), PLX_OK);
}

/* From the first half of the memory to the second. */
static void
write_half(struct end *from, struct end *to, uint8_t *memory)
{
	const struct plx_sge sge = {(uintptr_t)memory, HALF, plx_mr_key(from->mr)};
	const struct plx_send_wr wr = {.op = PLX_WR_WRITE,
				       .sge = &sge,
				       .sges = 1,
				       .remote_va = (uintptr_t)memory + HALF,
				       .rkey = plx_mr_key(to->mr)};
	enum plx_status status;
	struct plx_wc wc;

	memset(memory, PATTERN, HALF);
	memset(memory + HALF, 0, HALF);
	assert_int_equal(plx_post_send(from->qp, &wr, 1, &status), 1);
	test_until(plx_cq_poll(from->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_memory_equal(memory, memory + HALF, HALF);
}

/* A region of one adapter, and of the next: each of them is a seat of its own. */
static void
one_memory_serves_all_adapters_of_a_program(void **state)
{
	struct end ends[2] = {{0}}, again = {0};
	uint8_t *memory;

	(void)state;
	for (int i = 0; i < 2; i++)
		end_open(&ends[i], i == 0 ? "a" : "b");
	memory = plx_mem_alloc(BYTES, -1, NULL);
	assert_non_null(memory);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(end_register(&ends[i], memory), PLX_OK);
		end_queues(&ends[i]);
	}
	join(&ends[0], &ends[1]);
	write_half(&ends[0], &ends[1], memory);
	/* A third seat, of an adapter that has one: it comes and goes, and the others keep it. */
	end_open(&again, "a");
	assert_int_equal(end_register(&again, memory), PLX_OK);
	end_close(&again);
	write_half(&ends[1], &ends[0], memory);
	end_close(&ends[0]);
	end_close(&ends[1]);
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

static int
set_up(void **state)
{
	(void)state;
	return host_process_begin(&host) ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	return host_process_end(&host) ? 0 : -1;
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

	host_process_fork(&host, offered);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
