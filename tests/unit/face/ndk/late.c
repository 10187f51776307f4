/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What takes minutes, on engines whose clock runs faster: a peer that never completes a
 * connection (T19). Start with t19_an_accept_ends_when_the_peer_never_completes().
 */
#include <ntstatus.h>

#include "ndk_pair.h"

/* lib/engine/thread/plx_thread.h; the linker sends all its callers here */
uint64_t __real_plx_clock_ns(void); /* NOLINT */
uint64_t __wrap_plx_clock_ns(void); /* NOLINT */

enum {
	FAST = 100, /* how many times faster than the machine's */
};

static _Atomic(uint64_t) fast_since; /* 0: not yet */

/* An engine takes a jump for a stall of its own, which does not count: the clock runs faster. */
uint64_t
__wrap_plx_clock_ns(void) /* NOLINT */
{
	uint64_t now = __real_plx_clock_ns(), since = fast_since;

	return since == 0 || now < since ? now : since + (now - since) * FAST;
}

static void
t19_an_accept_ends_when_the_peer_never_completes(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	NDK_CONNECTOR *a = pair->a.connector;

	(void)state;
	ndk_pair_request(pair);
	ndk_pair_reply(pair);
	fast_since = __real_plx_clock_ns();
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_IO_TIMEOUT);
	assert_nt(ndk_result(a->Dispatch->NdkCompleteConnect, a, NULL, NULL),
		  STATUS_CONNECTION_ABORTED);
	assert_int_equal(pair->a.disconnected + pair->b.disconnected, 0);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t19_an_accept_ends_when_the_peer_never_completes),
	};

	return ndk_run("ndk_late", tests, sizeof(tests) / sizeof(tests[0]));
}
