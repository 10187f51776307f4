/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The header of the IP CM service, service ids, and addresses as GIDs, compared with literal bytes.
 * It never checks how a connection uses them.
 */
#include "test.h"
#include "plx_mad.h"

static const uint8_t v4_bytes[PLX_CMA_BYTES] = {
	0x00, 0x40, 0x9c, 0x42,                         /* versions, port 40002 */
	0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, /* from */
	10,   77,   0,    2,                            /* ... */
	0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, /* to */
	10,   77,   0,    1,                            /* ... */
};

static const uint8_t v6_bytes[PLX_CMA_BYTES] = {
	0x00, 0x60, 0x9c, 0x42,                                         /* versions, port 40002 */
	0xfd, 0x77, 1,    2,    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 2, /* from */
	0xfd, 0x77, 1,    2,    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1, /* to */
};

static const struct plx_cma v4 = {
	.src = {4, {10, 77, 0, 2}},
	.dst = {4, {10, 77, 0, 1}},
	.src_port = 40002,
};

static const struct plx_cma v6 = {
	.src = {6, {0xfd, 0x77, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 2}},
	.dst = {6, {0xfd, 0x77, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1}},
	.src_port = 40002,
};

static void
check_both_ways(const struct plx_cma *cma, const uint8_t *bytes)
{
	struct plx_cma decoded;
	uint8_t encoded[PLX_CMA_BYTES];

	memset(&decoded, 0xa5, sizeof decoded);
	assert_true(plx_cma_decode(bytes, &decoded));
	assert_memory_equal(&decoded.src, &cma->src, sizeof cma->src);
	assert_memory_equal(&decoded.dst, &cma->dst, sizeof cma->dst);
	assert_int_equal(decoded.src_port, cma->src_port);
	assert_int_equal(decoded.major, 0);
	assert_int_equal(decoded.minor, 0);
	memset(encoded, 0xa5, sizeof encoded);
	plx_cma_encode(cma, encoded);
	assert_memory_equal(encoded, bytes, sizeof encoded);
}

static void
both_families_are_written_and_read(void **state)
{
	(void)state;
	check_both_ways(&v4, v4_bytes);
	check_both_ways(&v6, v6_bytes);
}

static void
what_stands_in_front_of_an_ipv4_address_does_not_matter(void **state)
{
	uint8_t bytes[PLX_CMA_BYTES];
	struct plx_cma decoded;

	(void)state;
	memcpy(bytes, v4_bytes, sizeof bytes);
	memset(bytes + 4, 0xee, 12);
	memset(bytes + 20, 0xee, 12);
	bytes[1] |= 0x0f; /* reserved */
	assert_true(plx_cma_decode(bytes, &decoded));
	assert_memory_equal(&decoded.src, &v4.src, sizeof v4.src);
	assert_memory_equal(&decoded.dst, &v4.dst, sizeof v4.dst);
}

static void
other_versions_are_refused(void **state)
{
	(void)state;
	for (unsigned version = 0; version < 256; version++) {
		uint8_t bytes[PLX_CMA_BYTES];
		struct plx_cma decoded;

		memcpy(bytes, v6_bytes, sizeof bytes);
		bytes[0] = (uint8_t)version;
		assert_int_equal(plx_cma_decode(bytes, &decoded), version == 0);
		bytes[0] = 0;
		bytes[1] = (uint8_t)version;
		assert_int_equal(plx_cma_decode(bytes, &decoded),
				 version >> 4 == 4 || version >> 4 == 6);
	}
}

static void
versions_are_written_side_by_side(void **state)
{
	struct plx_cma cma = v4;
	uint8_t bytes[PLX_CMA_BYTES];

	(void)state;
	cma.major = 3;
	cma.minor = 0x1a; /* cut to four bits */
	plx_cma_encode(&cma, bytes);
	assert_int_equal(bytes[0], 0x3a);
}

static void
a_port_has_a_service_id_in_its_space(void **state)
{
	(void)state;
	assert_true(plx_cma_service_id(PLX_PORT_SPACE_TCP, 7174) == UINT64_C(0x0000000001061c06));
	assert_true(plx_cma_service_id(PLX_PORT_SPACE_UDP, 0xffff) == UINT64_C(0x000000000111ffff));
	assert_true(plx_cma_service_id(PLX_PORT_SPACE_TCP, 0) == UINT64_C(0x01060000));
}

static void
an_address_and_its_gid_are_the_same(void **state)
{
	static const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 2};
	uint8_t gid[16];
	struct plx_ip back;

	(void)state;
	plx_gid_from_ip(&v4.src, gid);
	assert_memory_equal(gid, mapped, sizeof gid);
	back = plx_gid_to_ip(gid);
	assert_memory_equal(&back, &v4.src, sizeof back);

	plx_gid_from_ip(&v6.src, gid);
	assert_memory_equal(gid, v6.src.v, sizeof gid);
	back = plx_gid_to_ip(gid);
	assert_memory_equal(&back, &v6.src, sizeof back);
}

/* One bit off the prefix and it is an IPv6 address. */
static void
only_the_whole_prefix_means_ipv4(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 12 * 8; bit++) {
		uint8_t gid[16];
		struct plx_ip ip;

		plx_gid_from_ip(&v4.src, gid);
		gid[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		ip = plx_gid_to_ip(gid);
		assert_int_equal(ip.version, 6);
		assert_memory_equal(ip.v, gid, sizeof gid);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_families_are_written_and_read),
		cmocka_unit_test(what_stands_in_front_of_an_ipv4_address_does_not_matter),
		cmocka_unit_test(other_versions_are_refused),
		cmocka_unit_test(versions_are_written_side_by_side),
		cmocka_unit_test(a_port_has_a_service_id_in_its_space),
		cmocka_unit_test(an_address_and_its_gid_are_the_same),
		cmocka_unit_test(only_the_whole_prefix_means_ipv4),
	};

	return cmocka_run_group_tests_name("mad/cma", tests, NULL, NULL);
}
