/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ports with different MTUs: a client of ND2 does not know about path MTUs, and connects in
 * either direction. Start with the_asker_has_the_larger_pieces().
 */
#include "nd2_pair.h"

static const char *const device[2] = {"", ""};
static const char *const settings[2] = {ND_YIELDING, ND_YIELDING " path_mtu = 512;"};

static void
one_message(struct nd_side *from, struct nd_side *to)
{
	nd_fill(from, 0, 20000, 4);
	nd_receive(to, 1, 32768, 20000);
	nd_send(from, 2, 0, 20000, 0);
	nd_expect(from->initiator_cq, 2, ND_SUCCESS);
	nd_expect(to->receive_cq, 1, ND_SUCCESS);
	nd_assert_filled(to, 32768, 20000, 4);
}

static void
the_asker_has_the_larger_pieces(void **state)
{
	struct nd_pair *pair = nd_pair_bound(state, NULL);

	/* 4096, 2048 and 1024 are rejected, and no program is notified */
	nd_pair_establish(pair);
	one_message(&pair->a, &pair->b);
	one_message(&pair->b, &pair->a);
	nd_pair_close(pair);
}

static void
the_asker_has_the_smaller_pieces(void **state)
{
	struct nd_options options = {.family = *(int *)*state};
	struct nd_pair pair = {.options = options};
	void *listener = NULL;

	nd_side_open(&pair.a, 1, &options);
	nd_side_open(&pair.b, 0, &options);
	pair.at = nd_address(0, options.family, 9999);
	assert_hr(IND2Adapter_CreateListener(pair.b.adapter, &IID_IND2Listener, pair.b.file,
					     &listener),
		  ND_SUCCESS);
	pair.listener = listener;
	assert_hr(IND2Listener_Bind(pair.listener, &pair.at.any, pair.at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(pair.listener, 0), ND_SUCCESS);
	nd_pair_connect(&pair);
	one_message(&pair.a, &pair.b);
	one_message(&pair.b, &pair.a);
	nd_release(pair.listener, 0);
	nd_side_close(&pair.a);
	nd_side_close(&pair.b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS(the_asker_has_the_larger_pieces),
		ND_FAMILY_TESTS(the_asker_has_the_smaller_pieces),
	};

	nd_start(nd_link(device, settings));
	return nd_run("mtu", tests, sizeof(tests) / sizeof(tests[0]));
}
