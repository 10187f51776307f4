/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of ports use: EAL, namespace, pools, frames. It owns the external buffers that it
 * hands out. Start with lab_start().
 */
#include "lab.h"
#include "namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>

static char file_prefix[64];
static uint32_t external_out;

void
lab_start(const char *vdev, ...)
{
	static char *argv[32] = {(char *)(uintptr_t) "lab",
				 (char *)(uintptr_t) "-l0",
				 (char *)(uintptr_t) "--no-huge",
				 (char *)(uintptr_t) "-m256",
				 (char *)(uintptr_t) "--no-pci",
				 (char *)(uintptr_t) "--no-telemetry",
				 (char *)(uintptr_t) "--no-shconf",
				 (char *)(uintptr_t) "--log-level=3",
				 file_prefix};
	int argc = 9;
	cpu_set_t everywhere;
	va_list list;

	assert_int_equal(sched_getaffinity(0, sizeof(everywhere), &everywhere), 0);
	snprintf(file_prefix, sizeof(file_prefix), "--file-prefix=plxlab%d", (int)getpid());
	va_start(list, vdev);
	for (; vdev != NULL && argc < 31; vdev = va_arg(list, const char *))
		argv[argc++] = (char *)(uintptr_t)vdev;
	va_end(list);
	assert_true(rte_eal_init(argc, argv) >= 0);
	/* The EAL has bound this thread to one core, where other tests are, too. */
	assert_int_equal(sched_setaffinity(0, sizeof(everywhere), &everywhere), 0);
}

/* The EAL stays, as it does in Pollux: once started it is never stopped. */
int
lab_stop(int failed)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "/var/run/dpdk/%s", strchr(file_prefix, '=') + 1);
	rmdir(folder);
	return failed;
}

void
lab_run(const char *format, ...)
{
	char command[512];
	va_list list;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	if (system(command) != 0)
		fail_msg("\"%s\" failed", command);
}

void
lab_namespace(void)
{
	int fd;

	if (!namespace_network("true"))
		fail_msg("no network namespace of our own; these tests run as root");
	/* The kernel's own packets would only interfere. */
	fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		assert_int_equal(write(fd, "1", 1), 1);
		close(fd);
	}
}

struct rte_mempool *
lab_pool(uint16_t room)
{
	static int count;
	char name[32];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "lab%d", count++);
	pool = rte_pktmbuf_pool_create(name, LAB_BUFFERS, 0, 0,
				       (uint16_t)(room + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
	assert_non_null(pool);
	return pool;
}

void
lab_pool_is_whole(struct rte_mempool *pool)
{
	for (int i = 0; i < 1000 && !rte_mempool_full(pool); i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(rte_mempool_avail_count(pool), LAB_BUFFERS);
}

static uint8_t
byte_of(uint32_t number, uint32_t at)
{
	return (uint8_t)((number * UINT32_C(2654435761) + at * UINT32_C(40503)) >> 11);
}

static void
fill(uint8_t *bytes, uint32_t from, uint32_t to, uint32_t number)
{
	uint8_t head[18] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};

	head[12] = LAB_ETHERTYPE >> 8;
	head[13] = LAB_ETHERTYPE & 0xff;
	memcpy(head + 14, &number, sizeof(number));
	for (uint32_t at = from; at < to; at++)
		bytes[at - from] = at < sizeof(head) ? head[at] : byte_of(number, at);
}

static void
external_back(void *address, void *unused)
{
	(void)unused;
	external_out--;
	rte_free(address);
}

/* A segment with the bytes from .. to of the frame. */
static struct rte_mbuf *
segment(struct rte_mempool *pool, bool external, uint32_t number, uint32_t from, uint32_t to)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool);
	uint16_t room = UINT16_MAX;
	struct rte_mbuf_ext_shared_info *shared;
	char *memory;

	assert_non_null(packet);
	if (external) {
		memory = rte_malloc(NULL, room, 0);
		assert_non_null(memory);
		shared = rte_pktmbuf_ext_shinfo_init_helper(memory, &room, external_back, NULL);
		assert_non_null(shared);
		rte_pktmbuf_attach_extbuf(packet, memory, rte_malloc_virt2iova(memory), room,
					  shared);
		external_out++;
	}
	fill((uint8_t *)rte_pktmbuf_append(packet, (uint16_t)(to - from)), from, to, number);
	return packet;
}

struct rte_mbuf *
lab_frame(struct rte_mempool *pool, enum lab_shape shape, uint32_t number, uint32_t bytes)
{
	struct rte_mbuf *packet;

	if (shape == LAB_FLAT)
		return segment(pool, false, number, 0, bytes);
	packet = segment(pool, false, number, 0, 58);
	if (shape == LAB_CHAIN) {
		assert_int_equal(
			rte_pktmbuf_chain(packet, segment(pool, false, number, 58, bytes - 4)), 0);
		assert_int_equal(
			rte_pktmbuf_chain(packet, segment(pool, false, number, bytes - 4, bytes)),
			0);
	} else {
		assert_int_equal(rte_pktmbuf_chain(packet, segment(pool, true, number, 58, bytes)),
				 0);
	}
	return packet;
}

static bool
is_ours(const struct rte_mbuf *frame)
{
	uint8_t type[2] = {0};
	const uint8_t *at = rte_pktmbuf_read(frame, 12, 2, type);

	return at != NULL && (at[0] << 8 | at[1]) == LAB_ETHERTYPE;
}

uint32_t
lab_number(const struct rte_mbuf *frame, bool *damaged)
{
	uint32_t bytes = rte_pktmbuf_pkt_len(frame);
	static uint8_t got[UINT16_MAX], want[UINT16_MAX];
	const uint8_t *at = rte_pktmbuf_read(frame, 0, bytes, got);
	uint32_t number;

	assert_non_null(at);
	memcpy(&number, at + 14, sizeof(number));
	fill(want, 0, bytes, number);
	if (damaged == NULL)
		assert_memory_equal(at, want, bytes);
	else if (memcmp(at, want, bytes) != 0)
		*damaged = true;
	return number;
}

uint32_t
lab_external_out(void)
{
	return external_out;
}

void
lab_send(struct plx_port *port, struct rte_mbuf *frame)
{
	uint64_t end = rte_get_timer_cycles() + 5 * rte_get_timer_hz();

	while (port->tx(port, &frame, 1) == 0)
		if (rte_get_timer_cycles() > end)
			fail_msg("the port %s takes nothing", port->caps.name);
}

struct rte_mbuf *
lab_receive(struct plx_port *port, uint32_t wait_ms)
{
	uint64_t end = rte_get_timer_cycles() + wait_ms * rte_get_timer_hz() / 1000;
	struct rte_mbuf *frame;

	do {
		if (port->rx(port, &frame, 1) == 0)
			continue;
		if (is_ours(frame))
			return frame;
		rte_pktmbuf_free(frame);
	} while (rte_get_timer_cycles() <= end);
	return NULL;
}

void
lab_pass(struct plx_port *from, struct plx_port *to, struct rte_mempool *pool, enum lab_shape shape,
	 uint32_t bytes)
{
	static uint32_t number;
	struct rte_mbuf *frame;

	/* Nothing is in flight; a memif client offers its buffers only when it polls. */
	assert_null(lab_receive(to, 0));
	lab_send(from, lab_frame(pool, shape, ++number, bytes));
	frame = lab_receive(to, 5000);
	if (frame == NULL)
		fail_msg("%s to %s: a frame of %u bytes in shape %d did not arrive",
			 from->caps.name, to->caps.name, bytes, shape);
	assert_int_equal(rte_pktmbuf_pkt_len(frame), bytes);
	assert_int_equal(lab_number(frame, NULL), number);
	rte_pktmbuf_free(frame);
	/* Twice is as wrong as never. */
	assert_null(lab_receive(to, 0));
}

static bool
claims(const struct plx_port *port, enum lab_shape shape)
{
	return shape == LAB_FLAT ||
	       (shape == LAB_CHAIN ? port->caps.segments : port->caps.external);
}

static bool
is_near(uint32_t bytes, uint32_t mark)
{
	return bytes + 4 >= mark && bytes <= mark + 4;
}

void
lab_pass_all(struct plx_port *a, struct plx_port *b, struct rte_mempool *pool, uint32_t first,
	     uint32_t last)
{
	for (enum lab_shape shape = LAB_FLAT; shape < LAB_SHAPES; shape++) {
		for (uint32_t bytes = first; bytes <= last; bytes++) {
			if (bytes % 61 != first % 61 && bytes < last && !is_near(bytes, 2048) &&
			    !is_near(bytes, 4096))
				continue;
			if (claims(a, shape))
				lab_pass(a, b, pool, shape, bytes);
			if (claims(b, shape))
				lab_pass(b, a, pool, shape, bytes);
		}
	}
	assert_int_equal(lab_external_out(), 0);
}

void
lab_says(const struct plx_why *why, const char *part)
{
	if (strstr(why->text, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", why->text, part);
}
