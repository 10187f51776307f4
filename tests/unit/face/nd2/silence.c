/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Peers that do not answer: an address without a communication manager (Linux itself, on a veth
 * pair in a private network namespace), and a process that dies in the middle (A25, and the ends
 * without an answer in docs/nd2.md, Connections). This program runs itself as the one that dies.
 * Start with A25_a_manager_that_does_not_answer().
 */
#include "namespace.h"
#include "nd2_pair.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PORT = 7878,
	SOON_MS = 25000, /* eight tries of a little more than a second, on a busy machine */
};

/* ---- the one that dies ---- */

static void
start_on(unsigned veth, unsigned end)
{
	char config[512];

	snprintf(config, sizeof(config),
		 "adapters = ({ name = \"nd%u\"; idle = \"yield\"; packets = 4096;\n"
		 "  device = "
		 "\"net_af_packet%u,iface=veth%u,framesz=4352,blocksz=69632,framecnt=512\";"
		 "\n  address = [ \"10.78.2.%u/24\", \"fd78:2::%u/64\" ]; });\n",
		 end, end, veth, end + 1, end + 1);
	nd_start(config);
}

/* Connects, and completes when `stage` says so; then it waits to be killed. */
static void
run_as_victim(const char *stage, int family)
{
	struct nd_options options = {.family = family};
	struct nd_address to = nd_address(0, family, PORT);
	OVERLAPPED connected = {0}, completed = {0};
	struct nd_side side;

	start_on(3, 2);
	nd_side_open(&side, 2, &options);
	assert_hr(IND2Connector_Bind(side.connector, &side.address.any, side.address.length),
		  ND_SUCCESS);
	assert_hr(IND2Connector_Connect(side.connector, nd_unknown(side.qp), &to.any, to.length, 1,
					1, NULL, 0, &connected),
		  ND_PENDING);
	if (strcmp(stage, "complete") == 0) {
		assert_hr(nd_wait(&connected), ND_SUCCESS);
		assert_hr(IND2Connector_CompleteConnect(side.connector, &completed), ND_PENDING);
	}
	for (;;)
		pause();
}

/* ---- the one that is left alone ---- */

struct watcher {
	struct nd_side side;
	IND2Listener *listener;
	pid_t victim;
	OVERLAPPED asked, accepted, told, left;
};

static void
kill_victim(struct watcher *w)
{
	assert_int_equal(kill(w->victim, SIGKILL), 0);
	assert_int_equal(waitpid(w->victim, NULL, 0), w->victim);
}

/* A victim has connected. */
static void
watch(struct watcher *w, const char *stage, int family)
{
	extern char **environ;
	const char *const arguments[] = {"silence", stage, family == AF_INET6 ? "6" : "4", NULL};
	struct nd_options options = {.family = family};
	struct nd_address at = nd_address(0, family, PORT);
	void *listener = NULL;

	memset(w, 0, sizeof(*w));
	nd_side_open(&w->side, 0, &options);
	assert_hr(IND2Adapter_CreateListener(w->side.adapter, &IID_IND2Listener, w->side.file,
					     &listener),
		  ND_SUCCESS);
	w->listener = listener;
	assert_hr(IND2Listener_Bind(w->listener, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(w->listener, 0), ND_SUCCESS);
	assert_hr(IND2Listener_GetConnectionRequest(w->listener, nd_unknown(w->side.connector),
						    &w->asked),
		  ND_PENDING);
	assert_int_equal(posix_spawn(&w->victim, "/proc/self/exe", NULL, NULL,
				     (char *const *)(uintptr_t)arguments, environ),
			 0);
	assert_hr(nd_wait(&w->asked), ND_SUCCESS);
}

static HRESULT
accept_victim(struct watcher *w)
{
	return IND2Connector_Accept(w->side.connector, nd_unknown(w->side.qp), 1, 1, NULL, 0,
				    &w->accepted);
}

static void
part_from(struct watcher *w)
{
	nd_release(w->listener, 0);
	nd_side_close(&w->side);
}

static void
an_asker_that_has_died_is_waited_for_in_vain(void **state)
{
	struct watcher w;
	uint64_t since;

	watch(&w, "ask", *(int *)*state);
	nd_receive(&w.side, 1, 0, 64);
	kill_victim(&w);
	since = test_ms();
	assert_hr(accept_victim(&w), ND_PENDING);
	assert_hr(nd_wait(&w.accepted), ND_IO_TIMEOUT);
	assert_true(test_ms() - since < SOON_MS);
	nd_expect(w.side.receive_cq, 1, ND_CANCELED);
	part_from(&w);
}

static void
a_peer_that_has_died_ends_disconnect_and_requests(void **state)
{
	struct watcher w;
	uint64_t since;

	watch(&w, "complete", *(int *)*state);
	assert_hr(accept_victim(&w), ND_PENDING);
	assert_hr(nd_wait(&w.accepted), ND_SUCCESS);
	nd_receive(&w.side, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(w.side.connector, &w.told), ND_PENDING);
	kill_victim(&w);
	since = test_ms();
	assert_hr(IND2Connector_Disconnect(w.side.connector, &w.left), ND_PENDING);
	nd_expect(w.side.receive_cq, 1, ND_CANCELED);
	assert_hr(nd_wait(&w.told), (HRESULT)STATUS_CONNECTION_DISCONNECTED);
	/* nobody answers: it is over nevertheless */
	assert_hr(nd_wait(&w.left), ND_SUCCESS);
	assert_true(test_ms() - since < SOON_MS);
	part_from(&w);
}

/* A side that does not disconnect learns of it from what it sends. */
static void
a_peer_that_has_died_does_not_acknowledge(void **state)
{
	struct watcher w;

	watch(&w, "complete", *(int *)*state);
	assert_hr(accept_victim(&w), ND_PENDING);
	assert_hr(nd_wait(&w.accepted), ND_SUCCESS);
	assert_hr(IND2Connector_NotifyDisconnect(w.side.connector, &w.told), ND_PENDING);
	kill_victim(&w);
	nd_send(&w.side, 1, 0, 64, 0);
	nd_send(&w.side, 2, 0, 64, 0);
	nd_expect(w.side.initiator_cq, 1, ND_IO_TIMEOUT);
	nd_expect(w.side.initiator_cq, 2, ND_CANCELED);
	assert_hr(nd_wait(&w.told), ND_SUCCESS);
	part_from(&w);
}

/* ---- no peer of ours ---- */

static void
A25_a_manager_that_does_not_answer(void **state)
{
	const struct nd_options options = {.same_end = true};
	struct nd_pair *pair = nd_pair_bound(state, &options);
	struct nd_address to = nd_address(1, *(int *)*state, PORT);
	uint64_t since = test_ms();

	nd_receive(&pair->a, 1, 0, 64);
	assert_hr(IND2Connector_Connect(pair->a.connector, nd_unknown(pair->a.qp), &to.any,
					to.length, 1, 1, NULL, 0, &pair->connected),
		  ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_IO_TIMEOUT);
	assert_true(test_ms() - since < SOON_MS);
	nd_expect_none(pair->a.receive_cq);
	/* the same two connect, and the receive is where it was */
	nd_pair_establish(pair);
	nd_send(&pair->b, 2, 0, 64, 0);
	nd_expect(pair->a.receive_cq, 1, ND_SUCCESS);
	nd_pair_close(pair);
}

/* Two pairs: veth0 is ours, and Linux has addresses on veth1; veth2 is bridged to veth0's peer, and
 * veth3 the victim's. All go with the namespace. */
static void
make_network(void)
{
	if (!namespace_network(
		    "ip link add veth0 type veth peer name veth1 &&"
		    "ip link add veth2 type veth peer name veth3 &&"
		    "ip link add name between type bridge &&"
		    "ip link set veth1 master between && ip link set veth2 master between &&"
		    "ip addr add 10.78.2.2/24 dev between &&"
		    "ip addr add fd78:2::2/64 dev between nodad &&"
		    "for i in veth0 veth1 veth2 veth3 between; do ip link set $i up; done"))
		exit(2);
}

int
main(int n, char **arguments)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS_WITH(A25_a_manager_that_does_not_answer, nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(an_asker_that_has_died_is_waited_for_in_vain,
				     nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(a_peer_that_has_died_ends_disconnect_and_requests,
				     nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(a_peer_that_has_died_does_not_acknowledge,
				     nd_no_object_is_left),
	};

	if (n == 3)
		run_as_victim(arguments[1], strcmp(arguments[2], "6") == 0 ? AF_INET6 : AF_INET);
	make_network();
	start_on(0, 0);
	return nd_run("silence", tests, sizeof(tests) / sizeof(tests[0]));
}
