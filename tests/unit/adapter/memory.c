/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Message memory, with and without hugepages and NUMA nodes, and the message that names the
 * substitute that was allocated; also memory that a device refuses to map.
 */
#include "subprocess.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_memory.h>

#include "huge.h"
#include "plx_adapter_object.h"
#include "plx_counters.h"

enum {
	HUGE = 2 << 20,
	NO_SUCH_NODE = 999,
};

static bool
is_zero(const unsigned char *bytes, size_t n)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* [KiB] of hugepages behind the mapping that begins here */
static unsigned long
huge_kib_at(const void *memory)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long kib = 0, start, end;
	bool inside = false;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start == (uintptr_t)memory;
		else if (inside && sscanf(line, "Private_Hugetlb: %lu", &kib) == 1)
			break;
	}
	if (maps)
		fclose(maps);
	return kib;
}

/* ---- scenes ---- */

static int
huge_pages(void)
{
	struct plx_why why = {"old"};
	unsigned char *memory = plx_mem_alloc(3 * HUGE - 5, -1, &why);

	EXPECT(memory && !*why.text);
	EXPECT((uintptr_t)memory % PLX_CACHE_LINE == 0);
	EXPECT(is_zero(memory, 3 * HUGE - 5));
	/* taken already, so that no transfer pays for it */
	EXPECT(huge_kib_at(memory) == 3 * HUGE / 1024);
	memset(memory, 0xa5, 3 * HUGE - 5);
	plx_mem_free(memory);
	EXPECT(huge_kib_at(memory) == 0);
	return 0;
}

static int
on_a_node(void)
{
	struct plx_why why = {"old"};
	void *memory = plx_mem_alloc(64, 0, &why);

	EXPECT(memory && !*why.text);
	plx_mem_free(memory);
	memory = plx_mem_alloc(64, NO_SUCH_NODE, &why);
	EXPECT(memory);
	EXPECT_WORDS(why.text, "NUMA node 999");
	EXPECT_WORDS(why.text, "hugepages of node 0");
	plx_mem_free(memory);
	return 0;
}

/* More than all the hugepages there are. */
static int
without_hugepages(void)
{
	struct plx_why why = {""};
	size_t size = ((size_t)huge_free() + 8) * HUGE;
	unsigned char *memory = plx_mem_alloc(size, -1, &why);

	EXPECT(memory);
	EXPECT_WORDS(why.text, "no ");
	EXPECT_WORDS(why.text, "/sys/kernel/mm/hugepages");
	EXPECT(is_zero(memory, size));
	plx_mem_free(memory);
	memory = plx_mem_alloc(size, NO_SUCH_NODE, &why);
	EXPECT(memory);
	EXPECT_WORDS(why.text, "no memory of NUMA node 999");
	plx_mem_free(memory);
	return 0;
}

static struct host_adapter *
open_adapter(void)
{
	struct host_adapter *adapter = NULL;
	struct plx_adapter_options options;
	struct plx_why why = {""};

	plx_adapter_options_init(&options);
	strcpy(options.device, "net_wire0,end=0");
	options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, 1}};
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	options.mode = PLX_MODE_INLINE;
	options.packets = 2048;
	if (plx_host_adapter_open("m", &options, &adapter, &why) != PLX_OK)
		printf("%s", why.text);
	return adapter;
}

/* net_wire needs no memory to be mapped; a test makes it require that, and it accepts every
 * mapping, as the bus of virtual devices does. */
static int
shown_to_a_device(void)
{
	struct host_adapter *adapter = open_adapter();
	char *huge = plx_mem_alloc(2 * HUGE, -1, NULL);
	char plain[64];

	EXPECT(huge && adapter);
	EXPECT(!adapter->needs_dma_map && !plx_host_map_memory(adapter, huge, HUGE));
	adapter->needs_dma_map = true;
	EXPECT(!plx_host_map_memory(adapter, plain, sizeof(plain)));
	EXPECT(!plx_host_map_memory(adapter, huge, 2 * HUGE + 1));
	EXPECT(adapter->dma_refused == 0);
	/* two regions in one block: it is mapped once, until both are freed */
	EXPECT(plx_host_map_memory(adapter, huge + 64, 64));
	EXPECT(plx_host_map_memory(adapter, huge, 2 * HUGE));
	EXPECT(rte_mem_virt2memseg_list(huge) && rte_mem_virt2memseg_list(huge)->external);
	plx_host_unmap_memory(adapter, huge + 64, 64);
	plx_mem_free(huge); /* too early, and so it does nothing */
	huge[0] = 1;
	plx_host_unmap_memory(adapter, huge, 2 * HUGE);
	plx_mem_free(huge);
	EXPECT(rte_mem_virt2memseg_list(huge) == NULL);
	EXPECT(adapter->dma_refused == 0);
	EXPECT(plx_host_adapter_close(adapter) == PLX_OK);
	return 0;
}

/* The program has registered this memory with the EAL itself, so that ours is refused. */
static int
refused_by_a_device(void)
{
	struct host_adapter *adapter = open_adapter();
	char *huge = plx_mem_alloc(HUGE, -1, NULL);
	struct plx_counter counter[256];
	uint64_t value[256];
	uint32_t n, kinds, found = 0;

	EXPECT(huge && adapter);
	EXPECT(rte_extmem_register(huge, HUGE, NULL, 0, HUGE) == 0);
	adapter->needs_dma_map = true;
	EXPECT(!plx_host_map_memory(adapter, huge, HUGE));
	EXPECT(!plx_host_map_memory(adapter, huge, HUGE));
	EXPECT_WORDS(adapter->dma_refused_why, "rte_extmem_register: File exists");
	n = plx_host_counters(adapter, value, 256, &kinds);
	EXPECT(n <= 256 && plx_counter_names(kinds, counter, 256) == n);
	for (uint32_t i = 0; i < n; i++)
		found += strcmp(counter[i].name, "port_dma_refused") == 0 && value[i] == 2;
	EXPECT(found == 1);
	EXPECT(rte_extmem_unregister(huge, HUGE) == 0);
	plx_mem_free(huge);
	EXPECT(plx_host_adapter_close(adapter) == PLX_OK);
	return 0;
}

static const struct scene scenes[] = {
	{"huge_pages", huge_pages},
	{"on_a_node", on_a_node},
	{"without_hugepages", without_hugepages},
	{"shown_to_a_device", shown_to_a_device},
	{"refused_by_a_device", refused_by_a_device},
};

/* ---- tests ---- */

static void
hugepages_are_given_when_there_are_any(void **state)
{
	(void)state;
	scene_passes("huge_pages");
	scene_passes("on_a_node");
}

static void
without_hugepages_others_are_given_and_it_is_said(void **state)
{
	(void)state;
	scene_passes("without_hugepages");
}

static void
a_device_sees_a_block_as_long_as_a_region_is_in_it(void **state)
{
	(void)state;
	scene_passes("shown_to_a_device");
}

static void
a_device_that_refuses_memory_is_counted(void **state)
{
	(void)state;
	scene_passes("refused_by_a_device");
}

static void
nothing_and_too_much_are_refused(void **state)
{
	struct plx_why why = {""};

	(void)state;
	assert_null(plx_mem_alloc(0, -1, &why));
	assert_string_equal(why.text, "0 bytes were asked for; at least 1");
	assert_null(plx_mem_alloc(SIZE_MAX, -1, &why));
	assert_string_equal(why.text, "there are no 18446744073709551615 bytes of memory");
	assert_null(plx_mem_alloc((size_t)1 << 60, 0, &why));
	plx_mem_free(NULL);
}

/* It stays when its maker closes it, and can be given on. */
static void
memory_of_a_file_has_its_file(void **state)
{
	const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct plx_why why;
	char *memory, *again;

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, 8192) == 0);
	assert_null(plx_mem_map(fd, &why));
	assert_non_null(strstr(why.text, "no memfd whose size is sealed"));
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	memory = plx_mem_map(fd, &why);
	assert_non_null(memory);
	close(fd);
	assert_true(plx_mem_file(memory) >= 0);
	assert_int_equal(plx_mem_file(memory + 8191), plx_mem_file(memory));
	again = plx_mem_map(plx_mem_file(memory), &why);
	assert_non_null(again);
	assert_int_not_equal(plx_mem_file(again), plx_mem_file(memory));
	memory[8191] = 'x';
	assert_int_equal(again[8191], 'x');
	plx_mem_free(memory);
	again[0] = 'y';
	assert_int_equal(again[8191], 'x');
	plx_mem_free(again);
	assert_int_equal(plx_mem_file(state), -1);
}

static void
many_blocks_come_and_go_in_any_order(void **state)
{
	unsigned char *block[16];

	(void)state;
	for (int i = 0; i < 16; i++) {
		block[i] = plx_mem_alloc(1 + (size_t)i * 5000, -1, NULL);
		assert_non_null(block[i]);
		memset(block[i], i, 1 + (size_t)i * 5000);
	}
	for (int i = 0; i < 16; i += 2)
		plx_mem_free(block[i]);
	for (int i = 1; i < 16; i += 2) {
		assert_int_equal(block[i][0], i);
		assert_int_equal(block[i][i * 5000], i);
		plx_mem_free(block[i]);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hugepages_are_given_when_there_are_any),
		cmocka_unit_test(without_hugepages_others_are_given_and_it_is_said),
		cmocka_unit_test(a_device_sees_a_block_as_long_as_a_region_is_in_it),
		cmocka_unit_test(a_device_that_refuses_memory_is_counted),
		cmocka_unit_test(nothing_and_too_much_are_refused),
		cmocka_unit_test(memory_of_a_file_has_its_file),
		cmocka_unit_test(many_blocks_come_and_go_in_any_order),
	};
	int played = scene_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));

	if (played >= 0)
		return played;
	unsetenv("POLLUX_CONFIG");
	if (!huge_reserve(128))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	huge_restore();
	return failed;
}
