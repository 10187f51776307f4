/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing adapters: the information they return, every refusal with its message and
 * nothing left behind, shared workers, names, limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_mempool.h>

#include "adapter.h"
#include "hosted.h"
#include "plx_verbs.h"
#include "thread.h"

static struct plx_why why;

static struct plx_adapter_options
options_for(const char *device, uint8_t last)
{
	struct plx_adapter_options adapter_options;

	plx_adapter_options_init(&adapter_options);
	snprintf(adapter_options.device, sizeof(adapter_options.device), "%s", device);
	adapter_options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 0, 0, last}};
	adapter_options.address[0].prefix_bits = 24;
	adapter_options.addresses = 1;
	adapter_options.mode = PLX_MODE_INLINE;
	adapter_options.idle = PLX_IDLE_YIELD;
	adapter_options.packets = 2048;
	return adapter_options;
}

static struct plx_adapter *
must_open(const char *name, const struct plx_adapter_options *adapter_options)
{
	struct plx_adapter *adapter = NULL;

	*why.text = '\0';
	if (plx_adapter_open(name, adapter_options, &adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_string_equal(why.text, "");
	return adapter;
}

/* It is refused with these words, and a thousandfold refusal would leave nothing behind: the device
 * can be opened at once by right adapter_options. */
static void
must_refuse(const struct plx_adapter_options *adapter_options, enum plx_status status,
	    const char *words)
{
	struct plx_adapter *adapter = NULL;

	*why.text = '\0';
	assert_int_equal(plx_adapter_open("r", adapter_options, &adapter, &why), status);
	assert_null(adapter);
	if (!strstr(why.text, words))
		fail_msg("\"%s\" has no \"%s\"", why.text, words);
}

static void
must_close(struct plx_adapter *adapter)
{
	assert_int_equal(plx_adapter_close(adapter), PLX_OK);
}

/* ---- one adapter ---- */

static void
an_adapter_says_what_it_is(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter *adapter;
	struct plx_adapter_info info;

	(void)state;
	adapter_options.qps = 17;
	adapter_options.keys = 33;
	adapter_options.queue_depth = 100;
	adapter = must_open("first", &adapter_options);
	plx_adapter_query(adapter, &info);
	assert_string_equal(info.name, "first");
	assert_true(*info.device);
	assert_int_equal(info.mac[0] & 1, 0);
	assert_int_equal(info.path_mtu, 4096);
	assert_int_equal(info.mode, PLX_MODE_INLINE);
	assert_int_equal(info.hugepages, eal_has_hugepages());
	assert_int_equal(info.addresses, 1);
	assert_memory_equal(info.address[0].v, "\x0a\0\0\x01", 4);
	assert_int_equal(info.qps, 17);
	assert_int_equal(info.keys, 33);
	assert_int_equal(info.cq_depth, PLX_CQ_DEPTH_MAX);
	assert_int_equal(info.queue_depth, 100);
	assert_int_equal(info.srq_depth, 100);
	assert_int_equal(info.sges, PLX_SGE_MAX);
	assert_int_equal(info.inline_bytes, PLX_INLINE_MAX);
	assert_int_equal(info.rd_atomic_max, PLX_RD_ATOMIC_MAX);
	assert_int_equal(info.message_max, PLX_MESSAGE_MAX);
	assert_int_equal(info.udp_port, 4791);
	must_close(adapter);
	assert_string_equal(plx_version(), "0.1.0");
}

/* The limits that Query returns can be reached, but not exceeded by one. */
static void
queues_are_as_deep_as_the_setting_allows(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_cq_options cq_options = {.depth = 64};
	struct plx_srq_options srq_options = {.depth = 101, .sges = 1};
	struct plx_qp_options options = {.sq_depth = 101, .rq_depth = 100};
	struct plx_adapter *adapter;
	struct plx_srq *srq;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_qp *qp;

	(void)state;
	adapter_options.queue_depth = 100;
	adapter = must_open("shallow", &adapter_options);
	assert_int_equal(plx_pd_create(adapter, &pd), PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &cq_options, &cq), PLX_OK);
	options.send_cq = options.recv_cq = cq;
	assert_int_equal(plx_qp_create(pd, &options, &qp, &why), PLX_INVALID);
	assert_string_equal(why.text, "sq_depth is 101; give 1 to 100");
	options.sq_depth = 100;
	options.rq_depth = 101;
	assert_int_equal(plx_qp_create(pd, &options, &qp, &why), PLX_INVALID);
	assert_string_equal(why.text, "rq_depth is 101; give 1 to 100");
	options.rq_depth = 100;
	assert_int_equal(plx_qp_create(pd, &options, &qp, &why), PLX_OK);
	assert_int_equal(plx_srq_create(adapter, &srq_options, &srq), PLX_INVALID);
	srq_options.depth = 100;
	srq_options.depth_max = 101;
	assert_int_equal(plx_srq_create(adapter, &srq_options, &srq), PLX_INVALID);
	srq_options.depth_max = 100;
	assert_int_equal(plx_srq_create(adapter, &srq_options, &srq), PLX_OK);
	assert_int_equal(plx_srq_destroy(srq), PLX_OK);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(cq), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	must_close(adapter);
}

static void
defaults_stand_for_zeros(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter_info info;
	struct plx_adapter *adapter;

	(void)state;
	adapter_options.packets = 0;
	adapter = must_open("zeros", &adapter_options);
	plx_adapter_query(adapter, &info);
	assert_int_equal(info.qps, 1024);
	assert_int_equal(info.keys, 65536);
	assert_int_equal(info.queue_depth, PLX_QUEUE_DEPTH_MAX);
	assert_int_equal(info.srq_depth, PLX_SRQ_DEPTH_MAX);
	assert_int_equal(hosted(adapter)->pool->size, 16384);
	must_close(adapter);
}

static void
a_path_mtu_given_is_what_it_gets(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter_info info;

	(void)state;
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
		struct plx_adapter *adapter;

		adapter_options.path_mtu = mtu;
		adapter = must_open("mtu", &adapter_options);
		plx_adapter_query(adapter, &info);
		assert_int_equal(info.path_mtu, mtu);
		must_close(adapter);
	}
}

static void
a_port_that_carries_less_gets_the_largest_path_mtu_that_fits(void **state)
{
	static const struct {
		uint32_t bytes, path_mtu;
	} ports[] = {
		/* headers and ICRC need 110 bytes */
		{2048, 1024}, {4608, 4096}, {1134, 1024}, {1133, 512}, {366, 256},
	};
	struct plx_adapter_info info;
	char device[128];

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(ports); i++) {
		struct plx_adapter_options adapter_options;
		struct plx_adapter *adapter;

		snprintf(device, sizeof(device),
			 "net_memif%zu,role=server,id=%zu,socket=@plx-test-%d,bsize=%u", i, i + 1,
			 (int)getpid(), ports[i].bytes);
		adapter_options = options_for(device, 1);
		adapter = must_open("narrow", &adapter_options);
		plx_adapter_query(adapter, &info);
		assert_int_equal(info.path_mtu, ports[i].path_mtu);
		must_close(adapter);
	}
}

static void
worker_mode_polls_by_itself(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter *adapter;
	uint64_t before;

	(void)state;
	adapter_options.mode = PLX_MODE_WORKER;
	adapter = must_open("worker", &adapter_options);
	assert_int_equal(plx_adapter_poll(adapter), 0);
	before = plx_engine_counters(hosted(adapter)->engine[0])->cycles;
	for (int i = 0;
	     i < 10000 && plx_engine_counters(hosted(adapter)->engine[0])->cycles == before; i++)
		usleep(1000);
	assert_true(plx_engine_counters(hosted(adapter)->engine[0])->cycles > before);
	must_close(adapter);
}

static void
inline_mode_moves_only_when_polled(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter *adapter = must_open("inline", &adapter_options);
	uint64_t before = plx_engine_counters(hosted(adapter)->engine[0])->cycles;

	(void)state;
	usleep(10000);
	assert_int_equal(plx_engine_counters(hosted(adapter)->engine[0])->cycles, before);
	plx_adapter_poll(adapter);
	assert_int_equal(plx_engine_counters(hosted(adapter)->engine[0])->cycles, before + 1);
	must_close(adapter);
}

static void
events_are_none_at_rest(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter *adapter = must_open("events", &adapter_options);
	struct pollfd fd = {.fd = plx_adapter_async_fd(adapter), .events = POLLIN};
	struct plx_async_event event;

	(void)state;
	assert_true(fd.fd >= 0);
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_false(plx_adapter_next_async_event(adapter, &event));
	must_close(adapter);
}

/* ---- refusals ---- */

static void
a_wrong_name_is_refused(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	static const char *const wrong[] = {"", "a b", "a,b", "a/b",
					    "a_name_of_thirty_two_characters_"};
	struct plx_adapter *adapter;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(wrong); i++) {
		assert_int_equal(plx_adapter_open(wrong[i], &adapter_options, &adapter, &why),
				 PLX_INVALID);
		assert_non_null(strstr(why.text, "1 to 31 letters"));
	}
	adapter = must_open("a_name_of_thirty_one_characters", &adapter_options);
	must_close(adapter);
}

static void
a_name_in_use_is_refused(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter_options other = options_for("net_wire0,end=1", 2);
	struct plx_adapter *adapter = must_open("same", &adapter_options), *second = NULL;

	(void)state;
	assert_int_equal(plx_adapter_open("same", &other, &second, &why), PLX_BUSY);
	assert_string_equal(why.text,
			    "adapter \"same\" is open already; close it, or choose a name");
	assert_null(second);
	must_close(adapter);
	must_close(must_open("same", &other));
}

static void
an_adapter_in_use_does_not_close(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	struct plx_adapter *adapter = must_open("busy", &adapter_options);
	struct plx_pd *pd;

	(void)state;
	assert_int_equal(plx_pd_create(adapter, &pd), PLX_OK);
	assert_int_equal(plx_adapter_close(adapter), PLX_BUSY);
	plx_adapter_poll(adapter);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	must_close(adapter);
}

static void
wrong_options_are_refused_before_anything_is_made(void **state)
{
	struct plx_adapter_options right = options_for("net_wire0,end=0", 1), adapter_options;

	(void)state;
#define REFUSED(change, words)                                     \
	do {                                                       \
		adapter_options = right;                           \
		change;                                            \
		must_refuse(&adapter_options, PLX_INVALID, words); \
	} while (0)
	REFUSED(adapter_options.device[0] = '\0', "device is empty");
	REFUSED(memset(adapter_options.device, 'x', sizeof(adapter_options.device)),
		"device has no end within 256");
	REFUSED(adapter_options.addresses = 0, "address: there are 0");
	REFUSED(adapter_options.addresses = 9, "address: there are 9");
	REFUSED(adapter_options.address[0].ip.version = 5, "address number 1 is not a unicast");
	REFUSED(adapter_options.address[0].prefix_bits = 33, "address number 1 is not a unicast");
	REFUSED(adapter_options.mode = (enum plx_mode)2, "mode = 2 is outside its range of 0 to 1");
	REFUSED(adapter_options.idle = (enum plx_idle)4, "idle = 4 is outside its range of 0 to 3");
	REFUSED(adapter_options.core = -2, "core = -2 is outside its range of -1 to 1023");
	REFUSED(adapter_options.path_mtu = 4095,
		"path_mtu = 4095 is not one of 256, 512, 1024, 2048, 4096");
	REFUSED(adapter_options.path_mtu = 8192,
		"path_mtu = 8192 is outside its range of 256 to 4096");
	REFUSED(adapter_options.qps = 16385,
		"queue_pairs = 16385 is outside its range of 1 to 16384");
	REFUSED(adapter_options.keys = 1, "keys = 1 is outside its range of 2 to 1048575");
	REFUSED(adapter_options.queue_depth = 32769,
		"queue_depth = 32769 is outside its range of 1 to 32768");
	REFUSED(adapter_options.packets = 2047,
		"packets = 2047 is outside its range of 2048 to 1048576");
	REFUSED(adapter_options.vlan = 4095, "vlan = 4095 is outside its range of 0 to 4094");
	REFUSED(adapter_options.dscp = 64, "dscp = 64 is outside its range of 0 to 63");
	REFUSED(adapter_options.start_timeout_ms = 600001,
		"start_timeout_ms = 600001 is outside its range");
	REFUSED(strcpy(adapter_options.worker, "w"),
		"worker = \"w\" has no meaning with mode = \"inline\"");
#undef REFUSED
	must_close(must_open("right", &right));
}

static void
a_device_that_is_not_there_is_named(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_nonsense7,x=1", 1);

	(void)state;
	must_refuse(&adapter_options, PLX_NO_DEVICE, "\"net_nonsense7,x=1\"");
	adapter_options = options_for("0000:ff:1f.7", 1);
	must_refuse(&adapter_options, PLX_NO_DEVICE, "without PCI");
	adapter_options = options_for("net_wire0,end=2", 1);
	must_refuse(&adapter_options, PLX_INVALID, "end");
	adapter_options = options_for("net_wire0,end=0", 1);
	must_close(must_open("there", &adapter_options));
}

static void
a_path_mtu_that_the_port_cannot_carry_is_refused(void **state)
{
	struct plx_adapter_options adapter_options;
	char device[128];

	(void)state;
	snprintf(device, sizeof(device), "net_memif8,role=server,id=9,socket=@plx-test-%d",
		 (int)getpid());
	adapter_options = options_for(device, 1);
	adapter_options.path_mtu = 4096;
	must_refuse(&adapter_options, PLX_TOO_LONG, "2048");
	assert_non_null(strstr(why.text, "bsize="));
	snprintf(device, sizeof(device),
		 "net_memif9,role=server,id=10,socket=@plx-test-%d,bsize=256", (int)getpid());
	adapter_options = options_for(device, 1);
	must_refuse(&adapter_options, PLX_TOO_LONG, "path_mtu = 256 needs frames of 366 bytes");
}

static void
a_device_that_does_not_start_is_given_up(void **state)
{
	struct plx_adapter_options adapter_options;
	char device[128];

	(void)state;
	snprintf(device, sizeof(device), "net_memif10,role=client,id=11,socket=@plx-none-%d",
		 (int)getpid());
	adapter_options = options_for(device, 1);
	adapter_options.start_timeout_ms = 100;
	must_refuse(&adapter_options, PLX_TIMEOUT, "100 ms");
}

static void
memory_that_is_not_there_is_refused(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);

	(void)state;
	adapter_options.packets = 1 << 20; /* nearly 5 GiB */
	must_refuse(&adapter_options, PLX_NO_MEMORY, "1048576 packet buffers of 4608 bytes");
	adapter_options.packets = 2048;
	must_close(must_open("there", &adapter_options));
}

static void
without_a_sentence_it_is_refused_too(void **state)
{
	struct plx_adapter_options adapter_options = options_for("net_nonsense7", 1);
	struct plx_adapter *adapter;

	(void)state;
	assert_int_equal(plx_adapter_open("a", &adapter_options, &adapter, NULL), PLX_NO_DEVICE);
	adapter_options.addresses = 0;
	assert_int_equal(plx_adapter_open("a", &adapter_options, &adapter, NULL), PLX_INVALID);
	setenv("POLLUX_CONFIG", "gone.conf", 1);
	assert_int_equal(plx_adapter_open("a", NULL, &adapter, NULL), PLX_CONFIG);
	assert_int_equal(plx_adapter_open("a", NULL, &adapter, &why), PLX_CONFIG);
	assert_non_null(strstr(why.text, "gone.conf"));
	unsetenv("POLLUX_CONFIG");
}

/* ---- several ---- */

static void
adapters_that_name_a_worker_share_its_thread(void **state)
{
	struct plx_adapter_options adapter_options[3] = {options_for("net_wire0,end=0", 1),
							 options_for("net_wire0,end=1", 2),
							 options_for("net_wire1,end=0", 3)};
	struct plx_adapter *adapter[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		adapter_options[i].mode = PLX_MODE_WORKER;
	strcpy(adapter_options[0].worker, "together");
	strcpy(adapter_options[1].worker, "together");
	adapter[0] = must_open("s0", &adapter_options[0]);
	assert_int_equal(thread_count("together"), 1);
	adapter[1] = must_open("s1", &adapter_options[1]);
	adapter[2] = must_open("s2", &adapter_options[2]);
	assert_int_equal(thread_count("together"), 1);
	assert_int_equal(thread_count("plx-s2"), 1);
	must_close(adapter[0]);
	assert_int_equal(thread_count("together"), 1);
	must_close(adapter[1]);
	assert_int_equal(thread_count("together"), 0);
	must_close(adapter[2]);
	assert_int_equal(thread_count("plx-"), 0);
	adapter_options[0].core = 1023;
	must_refuse(&adapter_options[0], PLX_INVALID, "1023");
	assert_int_equal(thread_count("together"), 0);
}

static void
there_are_as_many_as_the_limit_says(void **state)
{
	struct plx_adapter *adapter[PLX_ADAPTERS_MAX];
	struct plx_adapter_options adapter_options;
	char device[32], name[8];

	(void)state;
	for (int i = 0; i < PLX_ADAPTERS_MAX; i++) {
		snprintf(device, sizeof(device), "net_wire%d,end=%d", i / 2, i % 2);
		snprintf(name, sizeof(name), "n%d", i);
		adapter_options = options_for(device, 1);
		adapter[i] = must_open(name, &adapter_options);
	}
	must_refuse(&adapter_options, PLX_FULL, "32 adapters are open");
	for (int i = 0; i < PLX_ADAPTERS_MAX; i++)
		must_close(adapter[i]);
}

static void *
open_here(void *unused)
{
	struct plx_adapter_options adapter_options = options_for("net_wire0,end=0", 1);
	static uint32_t id;

	(void)unused;
	assert_int_equal(rte_lcore_id(), LCORE_ID_ANY);
	must_close(must_open("thread", &adapter_options));
	id = rte_lcore_id();
	return &id;
}

/* Its mempools then have a cache for it; the next thread reuses what the last one returned. */
static void
a_thread_that_polls_has_an_lcore_id_for_its_life(void **state)
{
	uint32_t id[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		void *result;

		assert_int_equal(pthread_create(&thread, NULL, open_here, NULL), 0);
		assert_int_equal(pthread_join(thread, &result), 0);
		id[i] = *(uint32_t *)result;
	}
	assert_true(id[0] < RTE_MAX_LCORE);
	assert_int_equal(id[0], id[1]);
}

static void
count_pool(struct rte_mempool *pool, void *count)
{
	(void)pool;
	++*(int *)count;
}

static int
count_pools(void)
{
	int count = 0;

	rte_mempool_walk(count_pool, &count);
	return count;
}

/* Packets of the closing adapter are in the other's hands: its pool is freed once they are back. */
static void
the_end_of_a_link_may_close_before_the_other(void **state)
{
	struct plx_adapter_options adapter_options[2] = {options_for("net_wire0,end=0", 1),
							 options_for("net_wire0,end=1", 2)};

	int before = count_pools();

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct plx_adapter *one = must_open("one", &adapter_options[0]);
		struct plx_adapter *two = must_open("two", &adapter_options[1]);
		struct plx_qp_address peer = {.qpn = 17, .path_mtu = 1024};
		struct plx_qp_options options = {.sq_depth = 4, .rq_depth = 4};
		struct plx_cq_options depth = {.depth = 8};
		struct plx_qp_attr attr;
		struct plx_qp *qp;
		struct plx_pd *pd;
		struct plx_cq *cq;

		assert_int_equal(plx_pd_create(one, &pd), PLX_OK);
		assert_int_equal(plx_cq_create(one, &depth, &cq), PLX_OK);
		options.send_cq = options.recv_cq = cq;
		assert_int_equal(plx_qp_create(pd, &options, &qp, &why), PLX_OK);
		plx_qp_attr_init(&attr);
		peer.ip = adapter_options[1].address[0].ip;
		/* solicits the neighbour, which does not answer, since nobody polls it */
		assert_int_not_equal(plx_qp_connect(qp, &peer, &attr, 1, &why), PLX_OK);
		for (int i = 0; i < 100; i++)
			plx_adapter_poll(one);
		assert_int_equal(plx_qp_destroy(qp), PLX_OK);
		assert_int_equal(plx_cq_destroy(cq), PLX_OK);
		assert_int_equal(plx_pd_destroy(pd), PLX_OK);
		assert_true(plx_engine_counters(hosted(one)->engine[0])->tx_packets > 0);
		must_close(one);
		assert_int_equal(count_pools(), before + 2);
		for (int i = 0; i < 100; i++)
			plx_adapter_poll(two);
		assert_true(plx_engine_counters(hosted(two)->engine[0])->rx_packets > 0);
		must_close(two);
		assert_int_equal(count_pools(), before);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* first, since DPDK keeps the ports of memif servers for ever, and has 32 */
		cmocka_unit_test(there_are_as_many_as_the_limit_says),
		cmocka_unit_test(an_adapter_says_what_it_is),
		cmocka_unit_test(queues_are_as_deep_as_the_setting_allows),
		cmocka_unit_test(defaults_stand_for_zeros),
		cmocka_unit_test(a_path_mtu_given_is_what_it_gets),
		cmocka_unit_test(a_port_that_carries_less_gets_the_largest_path_mtu_that_fits),
		cmocka_unit_test(worker_mode_polls_by_itself),
		cmocka_unit_test(inline_mode_moves_only_when_polled),
		cmocka_unit_test(events_are_none_at_rest),
		cmocka_unit_test(a_wrong_name_is_refused),
		cmocka_unit_test(a_name_in_use_is_refused),
		cmocka_unit_test(an_adapter_in_use_does_not_close),
		cmocka_unit_test(wrong_options_are_refused_before_anything_is_made),
		cmocka_unit_test(a_device_that_is_not_there_is_named),
		cmocka_unit_test(a_path_mtu_that_the_port_cannot_carry_is_refused),
		cmocka_unit_test(a_device_that_does_not_start_is_given_up),
		cmocka_unit_test(memory_that_is_not_there_is_refused),
		cmocka_unit_test(without_a_sentence_it_is_refused_too),
		cmocka_unit_test(adapters_that_name_a_worker_share_its_thread),
		cmocka_unit_test(a_thread_that_polls_has_an_lcore_id_for_its_life),
		cmocka_unit_test(the_end_of_a_link_may_close_before_the_other),
	};

	unsetenv("POLLUX_CONFIG");
	/* the same in every environment, and enough for 32 adapters */
	if (plx_eal_start("--no-huge -m 1024", &why) != PLX_OK) {
		print_error("%s\n", why.text);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
