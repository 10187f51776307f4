/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that the host cannot map, as of malloc(): it goes both ways, it is the program's alone,
 * and what the program does to it harms nobody else. Start with any_memory_goes_both_ways().
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"

enum {
	BYTES = 300000, /* more than is loaded at once, and of odd size */
	SMALL = 5000,
	RIGHTS = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_READ,
	VICTIM_BYTES = 64 * 1024,
	VICTIM_MS = 400, /* for how long the other program looks at its memory */
	NOBODY = 65534,
};

/* Where a program has memory that is written to, and the next program in its process, too. */
#define VICTIM_AT UINT64_C(0x7e0000000000)

static struct host_process host;

static struct plx_mr *
registered(struct host_side *side, void *memory, size_t bytes)
{
	struct plx_mr *mr;

	assert_int_equal(plx_mr_register(side->pd, memory, bytes, RIGHTS, &mr), PLX_OK);
	return mr;
}

static enum plx_wc_status
transfer(struct host_side *side, enum plx_wr_op op, void *memory, const struct plx_mr *mr,
	 uint32_t bytes, uint64_t remote, struct plx_key key)
{
	const struct plx_sge sge = {(uintptr_t)memory, bytes, plx_mr_key(mr)};
	struct plx_wc wc;

	assert_int_equal(plx_post_one(side->qp, PLX_WR(op, 0), 1, &sge, remote, key), PLX_OK);
	test_until(plx_cq_poll(side->cq, &wc, 1) == 1, (void)0);
	return (enum plx_wc_status)wc.status;
}

static uint8_t *
filled(size_t bytes, uint8_t seed)
{
	uint8_t *memory = malloc(bytes);

	assert_non_null(memory);
	for (size_t i = 0; i < bytes; i++)
		memory[i] = (uint8_t)(seed + i * 7 + i / 4096);
	return memory;
}

static void
open_two(struct host_side *a, struct host_side *b)
{
	host_side_open(a, "a");
	host_side_open(b, "b");
	host_side_join(a, b);
}

static void
close_two(struct host_side *a, struct host_side *b)
{
	host_side_close(b);
	host_side_close(a);
	host_side_await_nothing(&host);
}

static void
any_memory_goes_both_ways(void **state)
{
	uint8_t *ours = filled(BYTES + 1, 1), *theirs = filled(BYTES + 1, 99);
	struct host_side a, b;
	struct plx_mr *mr[2];

	(void)state;
	open_two(&a, &b);
	mr[0] = registered(&a, ours + 1, BYTES);
	mr[1] = registered(&b, theirs + 1, BYTES);
	assert_int_equal(transfer(&a, PLX_WR_WRITE, ours + 1, mr[0], BYTES, (uintptr_t)theirs + 1,
				  plx_mr_key(mr[1])),
			 PLX_WC_SUCCESS);
	assert_memory_equal(ours + 1, theirs + 1, BYTES);
	assert_int_equal(theirs[0], 99);
	/* what the program writes now is what is read now */
	memset(theirs + 1, 0x3c, BYTES);
	assert_int_equal(transfer(&a, PLX_WR_READ, ours + 1, mr[0], BYTES, (uintptr_t)theirs + 1,
				  plx_mr_key(mr[1])),
			 PLX_WC_SUCCESS);
	assert_memory_equal(ours + 1, theirs + 1, BYTES);
	assert_int_equal(plx_mr_deregister(mr[0]), PLX_OK);
	assert_int_equal(plx_mr_deregister(mr[1]), PLX_OK);
	close_two(&a, &b);
	free(ours);
	free(theirs);
}

static void
atomics_are_refused_with_a_sentence(void **state)
{
	uint8_t *memory = filled(SMALL, 0);
	struct plx_mr *mr = NULL;
	struct host_side a;

	(void)state;
	host_side_open(&a, "a");
	assert_int_equal(
		plx_mr_register(a.pd, memory, SMALL, RIGHTS | PLX_ACCESS_REMOTE_ATOMIC, &mr),
		PLX_INVALID);
	assert_null(mr);
	host_side_close(&a);
	free(memory);
}

/* It was there when it was registered. */
static void *
mapped(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static void
what_is_unmapped_cannot_be_sent(void **state)
{
	uint8_t *memory = mapped(SMALL);
	struct host_side a, b;
	struct plx_mr *mr;

	(void)state;
	open_two(&a, &b);
	mr = registered(&a, memory, SMALL);
	munmap(memory, SMALL);
	assert_int_equal(transfer(&a, PLX_WR_WRITE, memory, mr, SMALL, (uintptr_t)b.memory,
				  plx_mr_key(b.mr)),
			 PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	close_two(&a, &b);
}

static void
what_is_unmapped_cannot_be_written_or_read(void **state)
{
	static const enum plx_wr_op ops[] = {PLX_WR_WRITE, PLX_WR_READ};

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint8_t *memory = mapped(SMALL);
		struct host_side a, b;
		struct plx_mr *mr;

		open_two(&a, &b);
		mr = registered(&b, memory, SMALL);
		munmap(memory, SMALL);
		assert_int_equal(transfer(&a, ops[i], a.memory, a.mr, 100, (uintptr_t)memory,
					  plx_mr_key(mr)),
				 PLX_WC_REMOTE_OPERATION);
		assert_int_equal(plx_mr_deregister(mr), PLX_OK);
		close_two(&a, &b);
	}
}

static void
memory_is_free_when_its_region_is_gone(void **state)
{
	struct host_side a, b;

	(void)state;
	for (int round = 0; round < 8; round++) {
		uint8_t *memory = mapped(VICTIM_BYTES);
		struct plx_mr *mr;

		open_two(&a, &b);
		mr = registered(&b, memory, VICTIM_BYTES);
		for (int i = 0; i < 10; i++) {
			const struct plx_sge all = {(uintptr_t)a.memory, VICTIM_BYTES,
						    plx_mr_key(a.mr)};

			memset(a.memory, 0x77, VICTIM_BYTES);
			assert_int_equal(plx_post_one(a.qp, PLX_WR(PLX_WR_WRITE, 0), 1, &all,
						      (uintptr_t)memory, plx_mr_key(mr)),
					 PLX_OK);
		}
		assert_int_equal(plx_mr_deregister(mr), PLX_OK);
		memset(memory, 0, VICTIM_BYTES);
		usleep(2000);
		for (size_t i = 0; i < VICTIM_BYTES; i++)
			assert_int_equal(memory[i], 0);
		munmap(memory, VICTIM_BYTES);
		close_two(&a, &b);
	}
}

/* ---- all memory ---- */

/* All that a process can have; the first page is none. */
#define ALL_FIRST ((uintptr_t)4096)
#define ALL_BYTES (((size_t)1 << 47) - 2 * 4096)

static struct plx_mr *
all_memory(struct plx_pd *pd)
{
	struct plx_mr *mr;

	assert_int_equal(
		plx_mr_register(pd, (void *)ALL_FIRST, ALL_BYTES, PLX_ACCESS_LOCAL_WRITE, &mr),
		PLX_OK);
	return mr;
}

/* Of malloc(), of an arena, and what was mapped after it was registered. */
static void
all_memory_is_registered_at_once(void **state)
{
	struct host_side a, b;
	struct plx_mr *all[2], *theirs;
	uint8_t *ours, *later, *target = filled(BYTES, 9);
	struct plx_pd *other;

	(void)state;
	open_two(&a, &b);
	all[0] = all_memory(a.pd);
	assert_int_equal(plx_pd_create(a.adapter, &other), PLX_OK);
	all[1] = all_memory(other);
	theirs = registered(&b, target, BYTES);
	ours = filled(BYTES, 3);
	later = mapped(BYTES);
	assert_int_equal(transfer(&a, PLX_WR_WRITE, ours, all[0], BYTES, (uintptr_t)target,
				  plx_mr_key(theirs)),
			 PLX_WC_SUCCESS);
	assert_memory_equal(target, ours, BYTES);
	assert_int_equal(transfer(&a, PLX_WR_READ, later, all[0], BYTES, (uintptr_t)target,
				  plx_mr_key(theirs)),
			 PLX_WC_SUCCESS);
	assert_memory_equal(later, ours, BYTES);
	assert_int_equal(transfer(&a, PLX_WR_READ, a.memory, all[0], SMALL, (uintptr_t)target + 1,
				  plx_mr_key(theirs)),
			 PLX_WC_SUCCESS);
	assert_memory_equal(a.memory, ours + 1, SMALL);
	assert_int_equal(plx_mr_deregister(all[1]), PLX_OK);
	assert_int_equal(plx_pd_destroy(other), PLX_OK);
	/* the first is as it was */
	assert_int_equal(transfer(&a, PLX_WR_WRITE, ours + 7, all[0], SMALL, (uintptr_t)target,
				  plx_mr_key(theirs)),
			 PLX_WC_SUCCESS);
	assert_memory_equal(target, ours + 7, SMALL);
	munmap(later, BYTES);
	assert_int_equal(transfer(&a, PLX_WR_WRITE, later, all[0], SMALL, (uintptr_t)target,
				  plx_mr_key(theirs)),
			 PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(plx_mr_deregister(all[0]), PLX_OK);
	assert_int_equal(plx_mr_deregister(theirs), PLX_OK);
	close_two(&a, &b);
	free(ours);
	free(target);
}

static void
all_memory_is_for_local_use(void **state)
{
	static const uint32_t rights[] = {PLX_ACCESS_REMOTE_READ, PLX_ACCESS_REMOTE_WRITE,
					  PLX_ACCESS_REMOTE_ATOMIC, PLX_ACCESS_BIND};
	struct plx_mr *mr = NULL;
	struct host_side a;

	(void)state;
	host_side_open(&a, "a");
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		assert_int_equal(plx_mr_register(a.pd, (void *)ALL_FIRST, ALL_BYTES,
						 PLX_ACCESS_LOCAL_WRITE | rights[i], &mr),
				 PLX_INVALID);
	assert_null(mr);
	host_side_close(&a);
	host_side_await_nothing(&host);
}

/* ---- another program in the same process ---- */

/* What is executed: its memory is where that of the program before was, and stays as it is. */
static int
be_victim(void)
{
	uint64_t end = test_ms() + VICTIM_MS;
	uint8_t *memory = mmap((void *)(uintptr_t)VICTIM_AT, VICTIM_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (memory == MAP_FAILED || geteuid() != 0 || getuid() != NOBODY)
		return 2;
	while (test_ms() < end)
		for (size_t i = 0; i < VICTIM_BYTES; i++)
			if (__atomic_load_n(&memory[i], __ATOMIC_RELAXED) != 0)
				return 3;
	return 0;
}

struct target {
	uint64_t va;
	struct plx_key key;
	struct plx_qp_address address;
};

/* A program that lets its memory be written, and then executes one with root's rights. */
static void
be_target(int to, int from, const char *victim)
{
	struct plx_qp_address peer;
	struct target target;
	struct host_side side;
	struct plx_qp_attr attr;
	struct plx_mr *mr;
	uint8_t *memory = mmap((void *)(uintptr_t)VICTIM_AT, VICTIM_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_true(memory != MAP_FAILED);
	host_side_open(&side, "b");
	mr = registered(&side, memory, VICTIM_BYTES);
	target = (struct target){.va = (uintptr_t)memory, .key = plx_mr_key(mr)};
	assert_int_equal(plx_qp_address(side.qp, NULL, &target.address), PLX_OK);
	plx_qp_attr_init(&attr);
	assert_int_equal(write(to, &target, sizeof(target)), sizeof(target));
	assert_int_equal(read(from, &peer, sizeof(peer)), sizeof(peer));
	assert_int_equal(plx_qp_connect(side.qp, &peer, &attr, 5000, NULL), PLX_OK);
	while (__atomic_load_n(memory, __ATOMIC_RELAXED) == 0)
		;
	if (setresuid(NOBODY, NOBODY, NOBODY) == 0)
		execl(victim, victim, "victim", (char *)NULL);
	_exit(4);
}

/* A copy of this program that has root's rights, whoever executes it. */
static void
make_victim(char path[64])
{
	char command[160];

	strcpy(path, "/tmp/host-private-XXXXXX");
	assert_non_null(mkdtemp(path));
	assert_int_equal(chmod(path, 0755), 0);
	strcat(path, "/victim");
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && chmod 4755 %s", (int)getpid(),
		 path, path);
	assert_int_equal(system(command), 0);
}

static void
remove_victim(char path[64])
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* WRITEs until the connection fails, or the other program has seen enough.
 * @returns its status */
static int
storm(struct host_side *side, const struct target *target, pid_t pid)
{
	const struct plx_sge sge = {(uintptr_t)side->memory, 4096, plx_mr_key(side->mr)};
	uint32_t at = 0;
	struct plx_wc wc;
	int status;

	memset(side->memory, 0xff, 4096);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		(void)!plx_post_one(side->qp, PLX_WR(PLX_WR_WRITE, 0), 1, &sge, target->va + at,
				    target->key);
		at = (at + 4096) % VICTIM_BYTES;
		while (plx_cq_poll(side->cq, &wc, 1) == 1)
			;
	}
	return status;
}

static void
a_program_executed_under_a_storm_of_writes_sees_nothing(void **state)
{
	char victim[64];

	(void)state;
	make_victim(victim);
	for (int round = 0; round < 5; round++) {
		int there[2], back[2], status;
		struct plx_qp_address address;
		struct host_side side;
		struct target target;
		struct plx_qp_attr attr;
		pid_t pid;

		assert_true(pipe(there) == 0 && pipe(back) == 0);
		pid = fork();
		if (pid == 0)
			be_target(back[1], there[0], victim);
		host_side_open(&side, "a");
		assert_int_equal(read(back[0], &target, sizeof(target)), sizeof(target));
		assert_int_equal(plx_qp_address(side.qp, NULL, &address), PLX_OK);
		plx_qp_attr_init(&attr);
		assert_int_equal(plx_qp_connect(side.qp, &target.address, &attr, 5000, NULL),
				 PLX_OK);
		assert_int_equal(write(there[1], &address, sizeof(address)), sizeof(address));
		status = storm(&side, &target, pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		host_side_close(&side);
		for (int i = 0; i < 2; i++) {
			close(there[i]);
			close(back[i]);
		}
		host_side_await_nothing(&host);
	}
	remove_victim(victim);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_memory_goes_both_ways),
		cmocka_unit_test(atomics_are_refused_with_a_sentence),
		cmocka_unit_test(what_is_unmapped_cannot_be_sent),
		cmocka_unit_test(what_is_unmapped_cannot_be_written_or_read),
		cmocka_unit_test(memory_is_free_when_its_region_is_gone),
		cmocka_unit_test(all_memory_is_registered_at_once),
		cmocka_unit_test(all_memory_is_for_local_use),
		cmocka_unit_test(a_program_executed_under_a_storm_of_writes_sees_nothing),
	};

	if (argc > 1 && strcmp(argv[1], "victim") == 0)
		return be_victim();
	return host_side_run(&host, tests, sizeof(tests) / sizeof(tests[0]));
}
