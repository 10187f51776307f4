/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adapters with several engines: their threads and cores, options and refusals, quiescence, and
 * the warning about NUMA nodes. The device is net_null, which has any number of queues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_mempool.h>

#include "adapter.h"
#include "hosted.h"
#include "plx_verbs.h"
#include "plx_settings.h"

#define DEVICE "net_null0,no-rx=1"

static struct plx_why why;
static int node_of_cores; /* what numa_node_of_cpu() returns; -1: unknown */

int __wrap_numa_node_of_cpu(int cpu);

int
__wrap_numa_node_of_cpu(int cpu)
{
	(void)cpu;
	return node_of_cores;
}

static struct plx_adapter_options
options_for(const char *device, uint32_t engines)
{
	struct plx_adapter_options options;

	plx_adapter_options_init(&options);
	snprintf(options.device, sizeof(options.device), "%s", device);
	options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, 1}};
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	options.idle = PLX_IDLE_YIELD;
	options.packets = 2048 * engines;
	options.engines = engines;
	return options;
}

static struct plx_adapter *
must_open(const char *name, const struct plx_adapter_options *options)
{
	struct plx_adapter *adapter = NULL;

	if (plx_adapter_open(name, options, &adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return adapter;
}

/* Threads of this process whose names begin so. */
static uint32_t
threads(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	uint32_t found = 0;

	assert_non_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		char path[300], comm[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		found += fgets(comm, sizeof(comm), file) != NULL &&
			 strncmp(comm, name, strlen(name)) == 0;
		fclose(file);
	}
	closedir(tasks);
	return found;
}

/* Does it get to its first cycle? */
static bool
cycles(const struct plx_engine *engine)
{
	const uint64_t *count = &plx_engine_counters(engine)->cycles;

	for (int i = 0; i < 100000 && __atomic_load_n(count, __ATOMIC_RELAXED) == 0; i++)
		usleep(100);
	return __atomic_load_n(count, __ATOMIC_RELAXED) > 0;
}

static void
each_engine_has_a_thread_and_its_queue(void **state)
{
	struct plx_adapter_options options = options_for(DEVICE, 3);
	struct plx_adapter *adapter = must_open("three", &options);

	(void)state;
	assert_int_equal(hosted(adapter)->engines, 3);
	assert_int_equal(threads("plx-three"), 3);
	assert_int_equal(threads("plx-three.1"), 1);
	assert_int_equal(threads("plx-three.2"), 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(cycles(hosted(adapter)->engine[i]));
	assert_true(plx_adapter_is_running(adapter, 10000));
	assert_int_equal(plx_adapter_close(adapter), PLX_OK);
	assert_int_equal(threads("plx-three"), 0);
}

static void
inline_mode_polls_all_engines(void **state)
{
	struct plx_adapter_options options = options_for(DEVICE, 3);
	struct plx_adapter *adapter;

	(void)state;
	options.mode = PLX_MODE_INLINE;
	adapter = must_open("inline", &options);
	plx_adapter_poll(adapter);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(plx_engine_counters(hosted(adapter)->engine[i])->cycles, 1);
	plx_engine_poll(hosted(adapter)->engine[2], plx_clock_ns());
	assert_int_equal(plx_engine_counters(hosted(adapter)->engine[2])->cycles, 2);
	assert_int_equal(plx_engine_counters(hosted(adapter)->engine[0])->cycles, 1);
	assert_int_equal(plx_adapter_close(adapter), PLX_OK);
}

static void
adapters_share_a_worker_engine_by_engine(void **state)
{
	struct plx_adapter_options options = options_for(DEVICE, 2);
	struct plx_adapter *one, *two;

	(void)state;
	strcpy(options.worker, "together");
	one = must_open("one", &options);
	strcpy(options.device, "net_null1,no-rx=1");
	options.engines = 3;
	options.packets = 3 * 2048;
	two = must_open("two", &options);
	assert_int_equal(threads("together"), 3);
	assert_int_equal(plx_adapter_close(one), PLX_OK);
	assert_int_equal(threads("together"), 3);
	assert_int_equal(plx_adapter_close(two), PLX_OK);
	assert_int_equal(threads("together"), 0);
}

static void
what_cannot_be_is_refused_with_a_sentence(void **state)
{
	static const struct {
		const char *device;
		uint32_t engines, packets;
		int core;
		enum plx_status status;
		const char *words;
	} rows[] = {
		{DEVICE, 17, 0, -1, PLX_INVALID, "engines = 17 is outside its range of 1 to 16"},
		{DEVICE, 4, 8191, -1, PLX_INVALID, "packets = 8191 are too few for engines = 4"},
		{DEVICE, 16, 0, 1020, PLX_INVALID, "there is no core"},
		{"net_af_packet0,iface=lo", 2, 4096, -1, PLX_INVALID, "set engines lower"},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		struct plx_adapter_options options = options_for(rows[i].device, rows[i].engines);
		struct plx_adapter *adapter = NULL;

		options.packets = rows[i].packets;
		options.core = rows[i].core;
		assert_int_equal(plx_adapter_open("r", &options, &adapter, &why), rows[i].status);
		if (strstr(why.text, rows[i].words) == NULL)
			fail_msg("\"%s\" has no \"%s\"", why.text, rows[i].words);
	}
	assert_int_equal(threads("plx-r"), 0);
}

static void
more_engines_have_more_packets_by_default(void **state)
{
	static const uint32_t packets[] = {16384, 16384, 16384, 24576};

	(void)state;
	for (uint32_t engines = 0; engines < PLX_COUNT_OF(packets); engines++) {
		struct plx_adapter_options options = options_for(DEVICE, engines);

		options.packets = 0;
		adapter_options_set_defaults(&options);
		assert_int_equal(options.packets, packets[engines]);
		assert_int_equal(options.engines, engines > 0 ? engines : 1);
	}
}

static char logged[300];
static uint32_t lines;

static void
note(void *context, const char *line)
{
	(void)context;
	snprintf(logged, sizeof(logged), "%s", line);
	lines++;
}

static void
a_worker_on_another_node_is_one_line_of_the_log(void **state)
{
	struct plx_adapter_options options = options_for(DEVICE, 2);
	struct plx_adapter *adapter;
	int port, packets;
	char expected[200];

	(void)state;
	options.core = 0;
	plx_log_to(note, NULL);
	node_of_cores = -1;
	adapter = must_open("numa", &options);
	assert_int_equal(lines, 0);
	port = plx_ethdev_queue(hosted(adapter)->dev, 0)->caps.socket;
	assert_true(port >= 0);
	node_of_cores = port;
	adapter_check_numa(hosted(adapter));
	assert_int_equal(lines, 0);
	node_of_cores = port + 1;
	adapter_check_numa(hosted(adapter));
	assert_int_equal(lines, 1);
	snprintf(expected, sizeof(expected),
		 "numa: the port is on NUMA node %d, core 0 of a worker is on node %d", port,
		 port + 1);
	assert_string_equal(logged, expected);
	packets = hosted(adapter)->pool->socket_id;
	hosted(adapter)->pool->socket_id = port + 2;
	node_of_cores = port;
	adapter_check_numa(hosted(adapter));
	hosted(adapter)->pool->socket_id = packets;
	snprintf(expected, sizeof(expected),
		 "numa: the port is on NUMA node %d, its packet buffers are on node %d", port,
		 port + 2);
	assert_string_equal(logged, expected);
	plx_log_to(NULL, NULL);
	node_of_cores = -1;
	assert_int_equal(plx_adapter_close(adapter), PLX_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_engines_have_more_packets_by_default),
		cmocka_unit_test(each_engine_has_a_thread_and_its_queue),
		cmocka_unit_test(inline_mode_polls_all_engines),
		cmocka_unit_test(adapters_share_a_worker_engine_by_engine),
		cmocka_unit_test(what_cannot_be_is_refused_with_a_sentence),
		cmocka_unit_test(a_worker_on_another_node_is_one_line_of_the_log),
	};

	/* Without hugepages, which other tests may have reserved, and too few for 16 engines. */
	if (plx_eal_start("--no-huge -m 1024", &why) != PLX_OK) {
		print_error("%s\n", why.text);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
