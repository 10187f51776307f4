/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that exit without waiting for the end of their connection (A06), each a process of its
 * own: the peer learns of it promptly, and what the program sent last was acknowledged. This
 * program runs itself as the one that exits, on the other end of a memif, or of a veth pair in a
 * private network namespace. If no exit handler runs, the link matters: a memif loses the contents
 * of its ring when a process dies, so that Disconnect waits for the peer's reply there. Start with
 * leave(), for what the exiting program does, and a_peer_that_leaves().
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
	PORT = 7777,
	PROMPTLY_MS = 8000, /* a retry timeout takes longer */
	AT_ONCE_MS = 3000,  /* those that get no answer wait longer */
};

/* ---- the one that leaves ---- */

static int leaves;

/* LeakSanitizer calls this. A program that exits with everything open leaks on purpose. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return leaves;
}

static void
leave(const char *how, struct nd_side *side)
{
	OVERLAPPED *left = calloc(1, sizeof(*left)); /* nobody waits for it, nor frees it */

	if (strcmp(how, "when told") == 0) {
		assert_hr(IND2Connector_NotifyDisconnect(side->connector, left), ND_PENDING);
		assert_hr(nd_wait(left), ND_SUCCESS);
		exit(0);
	}
	if (strcmp(how, "without a word") == 0)
		exit(0);
	if (strcmp(how, "after release") == 0) {
		nd_side_close(side);
		exit(0);
	}
	assert_hr(IND2Connector_Disconnect(side->connector, left), ND_PENDING);
	/* none of our code runs at such an exit */
	if (strcmp(how, "at once") == 0)
		_exit(0);
	exit(0);
}

/* The configuration of an end. @param link the name of a memif, or "veth" */
static void
start_with(const char *link, unsigned end)
{
	char device[160], config[512];

	if (strcmp(link, "veth") == 0)
		snprintf(device, sizeof(device),
			 "net_af_packet0,iface=veth%u,framesz=4352,blocksz=69632,framecnt=512",
			 end);
	else
		snprintf(device, sizeof(device),
			 "net_memif0,role=%s,bsize=4608,socket=%s,socket-abstract=yes",
			 end ? "server" : "client", link);
	snprintf(config, sizeof(config),
		 "adapters = ({ name = \"nd%u\"; idle = \"yield\"; packets = 4096;\n"
		 "  device = \"%s\"; address = [ \"10.78.2.%u/24\", \"fd78:2::%u/64\" ]; });\n",
		 end, device, end + 1, end + 1);
	nd_start(config);
}

static int
run_as_leaver(const char *how, const char *link, int family)
{
	struct nd_options options = {.family = family};
	struct nd_address to = nd_address(1, family, PORT);
	OVERLAPPED connected = {0}, completed = {0};
	struct nd_side side;

	leaves = 1;
	start_with(link, 0);
	nd_side_open(&side, 0, &options);
	nd_receive(&side, 1, 0, 64);
	assert_hr(IND2Connector_Bind(side.connector, &side.address.any, side.address.length),
		  ND_SUCCESS);
	assert_hr(IND2Connector_Connect(side.connector, nd_unknown(side.qp), &to.any, to.length, 1,
					1, NULL, 0, &connected),
		  ND_PENDING);
	assert_hr(nd_wait(&connected), ND_SUCCESS);
	assert_hr(IND2Connector_CompleteConnect(side.connector, &completed), ND_PENDING);
	assert_hr(nd_wait(&completed), ND_SUCCESS);
	nd_expect(side.receive_cq, 1, ND_SUCCESS);
	leave(how, &side);
	return 1;
}

/* ---- the one that stays ---- */

static char used_link[64];

static pid_t
start(const char *how, int family)
{
	extern char **environ;
	char of[4];
	const char *const arguments[] = {"exits", how, used_link, of, NULL};
	pid_t child;

	snprintf(of, sizeof(of), "%d", family == AF_INET6 ? 6 : 4);
	assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL,
				     (char *const *)(uintptr_t)arguments, environ),
			 0);
	return child;
}

/* This side, connected with one that will leave. Returns: that one */
static pid_t
connect_with(const char *how, int family, struct nd_side *side)
{
	struct nd_options options = {.family = family};
	struct nd_address at = nd_address(1, family, PORT);
	OVERLAPPED asked = {0}, accepted = {0};
	IND2Listener *listener;
	void *made = NULL;
	pid_t child;

	nd_side_open(side, 1, &options);
	assert_hr(IND2Adapter_CreateListener(side->adapter, &IID_IND2Listener, side->file, &made),
		  ND_SUCCESS);
	listener = made;
	assert_hr(IND2Listener_Bind(listener, &at.any, at.length), ND_SUCCESS);
	assert_hr(IND2Listener_Listen(listener, 0), ND_SUCCESS);
	assert_hr(IND2Listener_GetConnectionRequest(listener, nd_unknown(side->connector), &asked),
		  ND_PENDING);
	child = start(how, family);
	assert_hr(nd_wait(&asked), ND_SUCCESS);
	assert_hr(IND2Connector_Accept(side->connector, nd_unknown(side->qp), 1, 1, NULL, 0,
				       &accepted),
		  ND_PENDING);
	assert_hr(nd_wait(&accepted), ND_SUCCESS);
	nd_release(listener, 0);
	return child;
}

static void
assert_ended_well(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
a_peer_that_leaves(const char *how, int family)
{
	OVERLAPPED told = {0};
	struct nd_side side;
	pid_t child = connect_with(how, family, &side);
	uint64_t sent;

	nd_receive(&side, 1, 0, 64);
	assert_hr(IND2Connector_NotifyDisconnect(side.connector, &told), ND_PENDING);
	sent = test_ms();
	nd_send(&side, 2, 0, 64, 0);
	/* with one queue for both: the message first, then the requests flushed at the end */
	nd_expect(side.initiator_cq, 2, ND_SUCCESS);
	nd_expect(side.receive_cq, 1, ND_CANCELED);
	assert_hr((HRESULT)told.Internal, ND_SUCCESS);
	assert_true(test_ms() - sent < PROMPTLY_MS);
	assert_ended_well(child);
	nd_side_close(&side);
}

/* Over a memif Disconnect waits for an answer, and not for long. */
static void
a_peer_that_stands_still_does_not_hold_a_disconnect_up(void **state)
{
	OVERLAPPED left = {0};
	struct nd_side side;
	pid_t child = connect_with("when told", *(int *)*state, &side);
	uint64_t begun;

	nd_send(&side, 2, 0, 64, 0);
	nd_expect(side.initiator_cq, 2, ND_SUCCESS);
	assert_int_equal(kill(child, SIGSTOP), 0);
	begun = test_ms();
	assert_hr(IND2Connector_Disconnect(side.connector, &left), ND_PENDING);
	assert_true(test_ms() - begun < AT_ONCE_MS);
	assert_int_equal(kill(child, SIGCONT), 0);
	assert_hr(nd_wait(&left), ND_SUCCESS);
	assert_ended_well(child);
	nd_side_close(&side);
}

static void
A06_exit_after_disconnect_has_pended(void **state)
{
	a_peer_that_leaves("after disconnect", *(int *)*state);
}

static void
A06_no_exit_handler_runs(void **state)
{
	a_peer_that_leaves("at once", *(int *)*state);
}

static void
A06_exit_while_connected(void **state)
{
	a_peer_that_leaves("without a word", *(int *)*state);
}

static void
A06_exit_after_the_last_release(void **state)
{
	a_peer_that_leaves("after release", *(int *)*state);
}

/* It disappears with the namespace, and the namespace with this process and its children. */
static void
make_veth(void)
{
	if (!namespace_network("ip link add veth0 type veth peer name veth1 && "
			       "ip link set veth0 up && ip link set veth1 up"))
		exit(2);
}

int
main(int n, char **arguments)
{
	const struct CMUnitTest tests[] = {
		ND_FAMILY_TESTS_WITH(A06_exit_after_disconnect_has_pended, nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(A06_exit_while_connected, nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(A06_exit_after_the_last_release, nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(A06_no_exit_handler_runs, nd_no_object_is_left),
		ND_FAMILY_TESTS_WITH(a_peer_that_stands_still_does_not_hold_a_disconnect_up,
				     nd_no_object_is_left),
	};

	if (n == 4)
		return run_as_leaver(arguments[1], arguments[2],
				     strcmp(arguments[3], "6") == 0 ? AF_INET6 : AF_INET);
	if (n == 2 && strcmp(arguments[1], "veth") == 0) {
		make_veth();
		snprintf(used_link, sizeof(used_link), "veth");
	} else {
		snprintf(used_link, sizeof(used_link), "plx-nd2-exits-%d", (int)getpid());
	}
	start_with(used_link, 1);
	return nd_run("exits", tests, sizeof(tests) / sizeof(tests[0]));
}
