/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that do not keep to the protocol of the host's socket, or write anything to what they
 * share with it. The host goes on: after each of them an honest program works, and nothing is left.
 * Start with honest().
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"
#include "plx_channel.h"
#include "plx_objects.h"

enum {
	BYTES = HOST_SIDE_BYTES,
	OPENS = 300,       /* POLLUX_ROUNDS: others */
	SCRIBBLERS = 20,   /* processes, each until it is killed */
	SCRIBBLE_MS = 100, /* ... after that */
	MESSAGES = 20000,  /* of random bytes, likewise POLLUX_ROUNDS */
};

static struct host_process host;

static uint64_t
rounds(uint64_t usual)
{
	const char *wanted = getenv("POLLUX_ROUNDS");

	return wanted != NULL ? strtoull(wanted, NULL, 0) : usual;
}

/* ---- an honest program ---- */

/* It works, and nothing of others is left. */
static void
honest(void)
{
	struct host_side a, b;

	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_join(&a, &b);
	host_side_write(&a, &b, 0x5a);
	host_side_close(&b);
	host_side_close(&a);
	host_side_await_nothing(&host);
}

/* ---- a program that speaks the protocol itself ---- */

static int
dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strcpy(address.sun_path, host.path);
	test_until(connect(fd, (void *)&address, sizeof(address)) == 0, usleep(200));
	return fd;
}

/* Send a request as it is, and tell the status of its reply; PLX_STATUS_COUNT: the host has hung
 * up. */
static enum plx_status
ask(int fd, uint32_t op, const void *request, size_t bytes, const int *fds, uint32_t count,
    struct plx_ipc_message *reply)
{
	static uint32_t number;
	struct plx_ipc_message message = {{PLX_IPC_MAGIC, op, ++number, 0}, {0}};
	int got[PLX_IPC_FDS_MAX];
	uint32_t n;
	ssize_t length;

	memcpy(message.body, request, bytes);
	if (!plx_channel_send(fd, &message, sizeof(message.head) + bytes, fds, count))
		return PLX_STATUS_COUNT;
	length = plx_channel_receive(fd, reply, got, &n);
	for (uint32_t i = 0; i < n; i++)
		close(got[i]);
	if (length <= 0)
		return PLX_STATUS_COUNT;
	assert_int_equal(reply->head.number, number);
	return (enum plx_status)reply->head.status;
}

static enum plx_status
introduce(int fd, const char *version, const char *adapter, struct plx_ipc_message *reply)
{
	struct plx_ipc_attach request = {0};
	enum plx_status status;
	int net;

	/* a longest text has no end */
	memcpy(request.version, version, strnlen(version, sizeof(request.version)));
	memcpy(request.adapter, adapter, strnlen(adapter, sizeof(request.adapter)));
	net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_true(net >= 0);
	status = ask(fd, PLX_IPC_ATTACH, &request, sizeof(request), &net, 1, reply);
	close(net);
	return status;
}

static void
assert_says(const struct plx_ipc_message *reply, const char *words)
{
	const struct plx_why *why = (const void *)reply->body;

	if (strstr(why->text, words) == NULL)
		fail_msg("\"%s\" has no \"%s\"", why->text, words);
}

static void
another_version_and_another_adapter_are_refused(void **state)
{
	char longest[64];
	struct plx_ipc_message reply;
	int fd = dial();

	(void)state;
	assert_int_equal(introduce(fd, "0.0.0", "a", &reply), PLX_CONFIG);
	assert_says(&reply, "0.0.0");
	assert_int_equal(introduce(fd, plx_version(), "zz", &reply), PLX_CONFIG);
	assert_says(&reply, "no adapter \"zz\"");
	/* texts without an end */
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(introduce(fd, longest, "a", &reply), PLX_CONFIG);
	assert_int_equal(introduce(fd, plx_version(), longest, &reply), PLX_CONFIG);
	assert_int_equal(introduce(fd, plx_version(), "a", &reply), PLX_OK);
	close(fd);
	honest();
}

/* A descriptor that is no network namespace's is that of none. */
static void
who_does_not_show_a_namespace_has_none(void **state)
{
	struct plx_ipc_attach request = {.adapter = "a"};
	const char *const paths[] = {"/dev/null", "/proc/self/ns/mnt", "/proc/self/ns/user"};
	struct plx_ipc_message reply;

	(void)state;
	strcpy(request.version, plx_version());
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = dial(), net = open(paths[i], O_RDONLY | O_CLOEXEC);

		assert_int_equal(
			ask(fd, PLX_IPC_ATTACH, &request, sizeof(request), &net, 1, &reply),
			PLX_DENIED);
		assert_says(&reply, "namespace");
		close(net);
		close(fd);
	}
	honest();
}

static void
no_call_comes_before_the_introduction(void **state)
{
	static const uint8_t zeros[PLX_IPC_BODY_MAX];
	struct plx_ipc_message reply;
	int fd = dial();

	(void)state;
	for (uint32_t op = PLX_IPC_ATTACH + 1; op < PLX_IPC_OP_COUNT; op++)
		if (op != PLX_IPC_ARENA_IMPORT && op != PLX_IPC_PRIVATE_MEMORY)
			assert_int_equal(
				ask(fd, op, zeros, plx_ipc_request_bytes(op), NULL, 0, &reply),
				PLX_STATE);
	close(fd);
	honest();
}

static void
a_message_of_wrong_length_ends_the_channel(void **state)
{
	static const uint8_t zeros[PLX_IPC_BODY_MAX];
	struct plx_ipc_message reply;

	(void)state;
	for (uint32_t op = 0; op <= PLX_IPC_OP_COUNT; op++) {
		size_t bytes = plx_ipc_request_bytes(op);
		int fd = dial();

		assert_int_equal(ask(fd, op, zeros, bytes + 1, NULL, 0, &reply), PLX_STATUS_COUNT);
		close(fd);
		fd = dial();
		assert_int_equal(ask(fd, op, zeros, bytes == 0 ? 0 : bytes - 1, NULL, 0, &reply),
				 PLX_STATUS_COUNT);
		close(fd);
	}
	honest();
}

/* A seat that can make calls. */
static int
sit(void)
{
	const struct plx_ipc_nothing nothing = {0};
	struct plx_ipc_message reply;
	struct plx_ipc_segment segment;
	int fd = dial();

	assert_int_equal(introduce(fd, plx_version(), "a", &reply), PLX_OK);
	assert_int_equal(ask(fd, PLX_IPC_SEGMENT_ADD, &nothing, sizeof(nothing), NULL, 0, &reply),
			 PLX_OK);
	segment.segment = ((const struct plx_ipc_segment_added *)(const void *)reply.body)->segment;
	assert_int_equal(ask(fd, PLX_IPC_SEGMENT_READY, &segment, sizeof(segment), NULL, 0, &reply),
			 PLX_OK);
	assert_int_equal(ask(fd, PLX_IPC_OPEN, &nothing, sizeof(nothing), NULL, 0, &reply), PLX_OK);
	return fd;
}

/* Make an object by the protocol. */
static struct plx_object
make(int fd, enum plx_ipc_op op, const void *request)
{
	struct plx_ipc_message reply;
	struct plx_object object;

	assert_int_equal(ask(fd, op, request, plx_ipc_request_bytes(op), NULL, 0, &reply), PLX_OK);
	memcpy(&object, reply.body, sizeof(object)); /* the first of every reply with one */
	return object;
}

/* Bytes that no program of ours would put where they are. */
static void
a_bool_may_be_any_byte(void **state)
{
	const struct plx_ipc_nothing nothing = {0};
	const struct plx_ipc_cq_create cq = {.depth = 4, .strict = 0xff};
	const struct plx_ipc_channel_create channel = {.depth = 4};
	struct plx_ipc_qp_create qp = {.sq_depth = 4, .rq_depth = 4};
	struct plx_ipc_connector_create connector = {.cookie = 1};
	struct plx_ipc_connect connect = {.object = {0}};
	struct plx_ipc_message reply;
	int fd = sit();

	(void)state;
	qp.pd = make(fd, PLX_IPC_PD_CREATE, &nothing);
	qp.send_cq = qp.recv_cq = make(fd, PLX_IPC_CQ_CREATE, &cq);
	connector.channel = make(fd, PLX_IPC_CHANNEL_CREATE, &channel);
	connect.qp = make(fd, PLX_IPC_QP_CREATE, &qp);
	connect.object = make(fd, PLX_IPC_CONNECTOR_CREATE, &connector);
	plx_connect_options_init(&connect.options);
	connect.options.remote = (struct plx_ip){.version = 4, .v = {10, 79, 0, 9}};
	connect.options.remote_port = 1;
	memset(&connect.options.keep_posted, 0xff, 1);
	assert_int_equal(ask(fd, PLX_IPC_CONNECT, &connect, sizeof(connect), NULL, 0, &reply),
			 PLX_OK);
	close(fd);
	honest();
}

static enum plx_status
import(int fd, int memory, uint64_t bytes)
{
	const struct plx_ipc_arena_import request = {.bytes = bytes};
	struct plx_ipc_message reply;

	return ask(fd, PLX_IPC_ARENA_IMPORT, &request, sizeof(request), &memory, 1, &reply);
}

static int
memory_file(off_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void
only_memory_of_a_fixed_size_is_mapped(void **state)
{
	const int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
	int fd = sit(), pipes[2], wrong[6], good;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	wrong[0] = open("/dev/zero", O_RDWR);
	wrong[1] = open("/proc/self/mem", O_RDWR);
	wrong[2] = pipes[0];
	wrong[3] = memory_file(BYTES, 0);
	wrong[4] = memory_file(BYTES, F_SEAL_GROW);
	wrong[5] = memory_file(2 * BYTES, fixed);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(import(fd, wrong[i], BYTES), PLX_INVALID);
		close(wrong[i]);
	}
	close(pipes[1]);
	good = memory_file(BYTES, fixed);
	assert_int_equal(import(fd, good, BYTES), PLX_OK);
	assert_int_not_equal(ftruncate(good, 0), 0);
	assert_int_equal(fallocate(good, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BYTES), 0);
	close(good);
	close(fd);
	honest();
}

static enum plx_status
offer_memory(int fd, int memory, struct plx_ipc_message *reply)
{
	const struct plx_ipc_private_memory request = {0};

	return ask(fd, PLX_IPC_PRIVATE_MEMORY, &request, sizeof(request), &memory, 1, reply);
}

/* Nothing is read or written but the memory of a process, which who opened it may reach. */
static void
only_the_memory_of_a_process_is_read_and_written(void **state)
{
	struct plx_ipc_message reply;
	int fd = dial(), pipes[2], wrong[6], good = open("/proc/self/mem", O_RDWR);

	(void)state;
	assert_int_equal(introduce(fd, plx_version(), "a", &reply), PLX_OK);
	assert_int_equal(offer_memory(fd, good, &reply), PLX_STATE); /* before OPEN */
	close(fd);
	fd = sit();
	assert_int_equal(pipe(pipes), 0);
	wrong[0] = pipes[0];
	wrong[1] = open("/proc/self/mem", O_RDONLY);
	wrong[2] = open("/proc/version", O_RDONLY);
	wrong[3] = open("/proc/self/oom_score_adj", O_RDWR);
	wrong[4] = memory_file(BYTES, 0);
	wrong[5] = open("/proc/sys/kernel/hostname", O_RDWR);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_true(wrong[i] >= 0);
		assert_int_equal(offer_memory(fd, wrong[i], &reply), PLX_INVALID);
		assert_says(&reply, "/proc/PID/mem");
		close(wrong[i]);
	}
	close(pipes[1]);
	assert_int_equal(offer_memory(fd, good, &reply), PLX_OK);
	assert_int_equal(offer_memory(fd, good, &reply), PLX_STATE);
	close(good);
	close(fd);
	honest();
}

/* Objects of another seat, and none: every number near those that exist. */
static void
objects_of_others_are_none_of_its_own(void **state)
{
	struct plx_ipc_message reply;
	struct host_side other;
	int fd = sit();

	(void)state;
	host_side_open(&other, "a");
	for (uint64_t index = 0; index < 64; index++) {
		for (uint64_t generation = 0; generation < 4; generation++) {
			const struct plx_ipc_object object = {{generation << 32 | index}};
			static const enum plx_ipc_op ops[] = {
				PLX_IPC_DESTROY,    PLX_IPC_QP_QUERY,    PLX_IPC_QP_FLUSH,
				PLX_IPC_DISCONNECT, PLX_IPC_QP_COUNTERS, PLX_IPC_MW_CREATE,
				PLX_IPC_BARRIER,
			};

			for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
				assert_int_equal(
					ask(fd, ops[i], &object, sizeof(object), NULL, 0, &reply),
					PLX_NO_KEY);
		}
	}
	host_side_close(&other);
	close(fd);
	honest();
}

static void
random_requests_change_nothing_of_others(void **state)
{
	uint64_t n = rounds(MESSAGES), seed = 1;
	struct plx_ipc_message reply;
	uint8_t body[PLX_IPC_BODY_MAX];
	struct host_side a, b;
	int fd = sit();

	(void)state;
	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_join(&a, &b);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t op;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		op = PLX_IPC_ATTACH + 1 + (uint32_t)((seed >> 33) % (PLX_IPC_OP_COUNT - 2));
		/* neither waits for the network, nor needs a descriptor */
		if (op == PLX_IPC_ARENA_IMPORT || op == PLX_IPC_PRIVATE_MEMORY ||
		    op == PLX_IPC_RUNNING || op == PLX_IPC_MR_DEREGISTER || op == PLX_IPC_CLOSE)
			continue;
		for (size_t at = 0; at < plx_ipc_request_bytes(op); at += 8) {
			uint64_t word;

			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			/* numbers that may exist, small ones, and any */
			word = seed >> 62 == 0   ? seed
			       : seed >> 62 == 1 ? (seed >> 20) % 8
						 : UINT64_C(1) << 32 | (seed >> 20) % 16;
			memcpy(body + at, &word, 8);
		}
		if (ask(fd, op, body, plx_ipc_request_bytes(op), NULL, 0, &reply) ==
		    PLX_STATUS_COUNT)
			fail_msg("the host hung up after %s", plx_ipc_op_name(op));
		if (i % 256 == 0)
			host_side_write(&a, &b, (uint8_t)(i / 256));
	}
	host_side_write(&a, &b, 1);
	host_side_close(&b);
	host_side_close(&a);
	close(fd);
	honest();
}

/* ---- programs that write anything to what they share ---- */

static void
scribble(uint64_t seed)
{
	struct host_side a, b;
	struct plx_sge sge;
	volatile uint64_t *at[6];
	size_t words[6];

	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_join(&a, &b);
	sge = (struct plx_sge){(uintptr_t)a.memory, 100, plx_mr_key(a.mr)};
	at[0] = (void *)a.qp->sq.front;
	words[0] = (sizeof(struct sq_front) + 16 * 1024) / 8;
	at[1] = (void *)a.qp->rq.front;
	words[1] = 1024 / 8;
	at[2] = (void *)a.cq->front;
	words[2] = 2048 / 8;
	at[3] = (void *)a.adapter->engine[0].doorbells;
	words[3] = sizeof(struct seat_front) / 8;
	at[4] = (void *)a.adapter->engine[0].async_events.ring;
	words[4] = 1024 / 8;
	at[5] = (void *)b.qp->sq.front;
	words[5] = sizeof(struct sq_front) / 8;
	for (;;) {
		uint32_t i;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		i = (uint32_t)((seed >> 33) % 6);
		at[i][(seed >> 8) % words[i]] = seed >> 61 == 0 ? seed >> 40 : seed;
		if (seed >> 60 != 0)
			continue;
		/* it also works, as far as it can */
		a.qp->sq.front->producer.locked = false;
		(void)!plx_post_one(a.qp, PLX_WR(PLX_WR_WRITE, 0), 1, &sge, (uintptr_t)b.memory,
				    plx_mr_key(b.mr));
	}
}

static void
scribblers_hurt_themselves_alone(void **state)
{
	struct host_side a, b;

	(void)state;
	host_side_open(&a, "a");
	host_side_open(&b, "b");
	host_side_join(&a, &b);
	for (unsigned i = 0; i < SCRIBBLERS; i++) {
		pid_t pid = fork();
		uint64_t until;
		int status;

		if (pid == 0) {
			alarm(30);
			/* It may stumble over what it writes itself. */
			signal(SIGSEGV, SIG_DFL);
			signal(SIGABRT, SIG_DFL);
			fclose(stderr);
			scribble(i + 1);
			_exit(0);
		}
		until = test_ns() + SCRIBBLE_MS * PLX_MSEC;
		while (test_ns() < until)
			host_side_write(&a, &b, (uint8_t)i);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	host_side_close(&b);
	host_side_close(&a);
	honest();
}

/* ---- forks and many opens ---- */

static void
a_forked_child_has_no_seat(void **state)
{
	struct host_side a;
	pid_t pid;
	int status;

	(void)state;
	host_side_open(&a, "a");
	pid = fork();
	if (pid == 0) {
		struct plx_qp_info info;
		struct plx_pd *pd;

		alarm(30);
		if (plx_qp_query(a.qp, &info) != PLX_GONE ||
		    plx_pd_create(a.adapter, &pd) != PLX_GONE ||
		    plx_adapter_is_running(a.adapter, 0))
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(plx_adapter_is_running(a.adapter, 5000));
	host_side_close(&a);
	honest();
}

static void
any_number_of_programs_come_and_go(void **state)
{
	uint64_t n = rounds(OPENS);

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		int fd = i % 3 == 0 ? dial() : sit();

		close(fd);
	}
	honest();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_version_and_another_adapter_are_refused),
		cmocka_unit_test(who_does_not_show_a_namespace_has_none),
		cmocka_unit_test(no_call_comes_before_the_introduction),
		cmocka_unit_test(a_message_of_wrong_length_ends_the_channel),
		cmocka_unit_test(a_bool_may_be_any_byte),
		cmocka_unit_test(only_memory_of_a_fixed_size_is_mapped),
		cmocka_unit_test(only_the_memory_of_a_process_is_read_and_written),
		cmocka_unit_test(objects_of_others_are_none_of_its_own),
		cmocka_unit_test(random_requests_change_nothing_of_others),
		cmocka_unit_test(scribblers_hurt_themselves_alone),
		cmocka_unit_test(a_forked_child_has_no_seat),
		cmocka_unit_test(any_number_of_programs_come_and_go),
	};

	return host_side_run(&host, tests, PLX_COUNT_OF(tests));
}
