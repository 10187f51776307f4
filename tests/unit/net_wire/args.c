/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The device string of the embedded link: what it means, and every way to get it wrong.
 * Start anywhere.
 */
#include <string.h>

#include "lab.h"
#include "args.h"

static struct args
parsed(const char *device)
{
	struct args args;
	struct plx_why why = {""};

	if (args_parse(device, &args, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return args;
}

static void
every_argument_finds_its_place(void **state)
{
	struct args args = parsed("net_wire15,end=1,seed=18446744073709551615,loss=0.25,"
				  "duplicate=1,corrupt=1e-3,reorder=0.5,depth=256,delay_us=1000000,"
				  "rate_mbps=1000000,mark=0.125");

	(void)state;
	assert_int_equal(args.link, 15);
	assert_int_equal(args.end, 1);
	assert_true(args.faults.seed == UINT64_MAX);
	assert_true(args.faults.loss == 0.25 && args.faults.duplicate == 1);
	assert_true(args.faults.corrupt == 0.001 && args.faults.reorder == 0.5);
	assert_true(args.faults.mark == 0.125);
	assert_int_equal(args.faults.depth, 256);
	assert_int_equal(args.faults.delay_us, 1000000);
	assert_int_equal(args.faults.rate_mbps, 1000000);
	assert_true(faults_wanted(&args.faults));
}

static void
what_is_left_out_has_its_default(void **state)
{
	struct args args = parsed("net_wire0,end=0");

	(void)state;
	assert_int_equal(args.link, 0);
	assert_int_equal(args.end, 0);
	assert_true(args.faults.seed == 1);
	assert_int_equal(args.faults.depth, 8);
	assert_false(faults_wanted(&args.faults));
	args = parsed("net_wire0,end=0,loss=0,seed=7,depth=3,delay_us=0,rate_mbps=0");
	assert_false(faults_wanted(&args.faults));
}

static void
each_fault_alone_is_a_fault(void **state)
{
	static const char *const each[] = {
		"net_wire0,end=0,loss=1e-9",  "net_wire0,end=0,duplicate=0.1",
		"net_wire0,end=0,corrupt=1",  "net_wire0,end=0,reorder=0.1",
		"net_wire0,end=0,mark=0.1",   "net_wire0,end=0,delay_us=1",
		"net_wire0,end=0,rate_mbps=1"};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(each); i++) {
		struct args args = parsed(each[i]);

		assert_true(faults_wanted(&args.faults));
	}
}

static void
each_mistake_has_its_sentence(void **state)
{
	static const struct {
		const char *device, *part, *other;
	} mistakes[] = {
		{"net_wire16,end=0", "net_wire16", "0 to 15"},
		{"net_wire", "net_wireN,end=0", "0 to 15"},
		{"net_wire1x,end=0", "net_wire1x", "0 to 15"},
		{"net_wire100,end=0", "net_wire100", "0 to 15"},
		{"net_ring0", "net_ring0", "net_wireN"},
		{"net_wire3", "net_wire3", "write end=0 or end=1"},
		{"net_wire3,loss=0.1", "net_wire3", "write end=0 or end=1"},
		{"net_wire3,end=2", "end=2", "0 to 1"},
		{"net_wire3,end=", "end=", "0 to 1"},
		{"net_wire3,end", "end=", "0 to 1"},
		{"net_wire3,end=-1", "end=-1", "0 to 1"},
		{"net_wire3,end=0,end=1", "end=", "twice"},
		{"net_wire3,end=0,lose=0.1", "\"lose\"", "loss, duplicate"},
		{"net_wire3,end=0,loss=1.01", "loss=1.01", "0 to 1"},
		{"net_wire3,end=0,loss=-0.1", "loss=-0.1", "0 to 1"},
		{"net_wire3,end=0,loss=nan", "loss=nan", "0 to 1"},
		{"net_wire3,end=0,loss=1%", "loss=1%", "0 to 1"},
		{"net_wire3,end=0,duplicate=2", "duplicate=2", "0 to 1"},
		{"net_wire3,end=0,corrupt=x", "corrupt=x", "0 to 1"},
		{"net_wire3,end=0,reorder=", "reorder=", "0 to 1"},
		{"net_wire3,end=0,mark=1e9", "mark=1e9", "0 to 1"},
		{"net_wire3,end=0,depth=0", "depth=0", "1 to 256"},
		{"net_wire3,end=0,depth=257", "depth=257", "1 to 256"},
		{"net_wire3,end=0,delay_us=1000001", "delay_us=1000001", "0 to 1000000"},
		{"net_wire3,end=0,delay_us=1.5", "delay_us=1.5", "0 to 1000000"},
		{"net_wire3,end=0,rate_mbps=1000001", "rate_mbps=1000001", "0 to 1000000"},
		{"net_wire3,end=0,seed=18446744073709551616", "seed=18446744073709551616",
		 "0 to 18446744073709551615"},
		{"net_wire3,end=0,shift=16", "shift=16", "0 to 15"},
		{"net_wire3,end=0,seed=+1", "seed=+1", "0 to 18446744073709551615"},
	};
	char name[64] = "untouched";

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(mistakes); i++) {
		struct plx_why why = {""};
		struct plx_net_wire_counters counters;

		/* No EAL runs in this test: the arguments are looked at before anything else. */
		assert_int_equal(plx_net_wire_attach(mistakes[i].device, 1, name, &why),
				 PLX_INVALID);
		lab_says(&why, mistakes[i].part);
		lab_says(&why, mistakes[i].other);
		assert_string_equal(name, "untouched");
		assert_int_equal(plx_net_wire_attach(mistakes[i].device, 1, name, NULL),
				 PLX_INVALID);
		assert_false(plx_net_wire_counters(mistakes[i].device, &counters));
		plx_net_wire_detach(mistakes[i].device);
	}
}

static void
our_strings_are_told_from_others(void **state)
{
	(void)state;
	assert_true(plx_net_wire_is("net_wire0,end=0"));
	assert_true(plx_net_wire_is("net_wire"));
	assert_false(plx_net_wire_is("net_ring0"));
	assert_false(plx_net_wire_is("net_wir"));
	assert_false(plx_net_wire_is(""));
	assert_false(plx_net_wire_is(NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_argument_finds_its_place),
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(each_fault_alone_is_a_fault),
		cmocka_unit_test(each_mistake_has_its_sentence),
		cmocka_unit_test(our_strings_are_told_from_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
