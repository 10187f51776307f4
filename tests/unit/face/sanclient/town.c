/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See town.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_side.h"
#include "namespace.h"
#include "plx_san_broker.h"
#include "town.h"

enum {
	CHUNK = 10000,
	PORTS_FROM = 20000, /* over RDMA */
};

static struct host_process host;

static struct broker {
	char path[64], config[64];
	pid_t pid;
	int end; /* closed: it ends */
} broker[2];

static enum town_host here; /* of a program */

/* ---- brokers ---- */

static void
say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "broker: %s\n", line);
}

static int
be_broker(const struct broker *one, int ready, int end)
{
	static const struct plx_san_rule rule = {.first = PORTS_FROM, .last = 65535, .rdma = true};
	const char *ms = getenv("TOWN_SUSPEND_MS");
	const struct san_broker_options options = {
		.path = one->path,
		.mode = 0666,
		.rule = &rule,
		.rules = 1,
		.suspend_ms = ms != NULL ? (uint32_t)strtoul(ms, NULL, 10) : 0,
		.log = say,
	};
	struct san_broker_counts counts;
	struct san_broker *self;
	struct plx_why why;
	char byte;

	setenv("POLLUX_CONFIG", one->config, 1);
	if (san_broker_open(&options, &self, &why) != PLX_OK) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	TOWN_MUST(write(ready, "r", 1) == 1);
	while (read(end, &byte, 1) != 0)
		san_broker_run(self, 10);
	/* Nothing of programs that have ended is left. */
	for (int i = 0; i < 100; i++)
		san_broker_run(self, 10);
	san_broker_count(self, &counts);
	san_broker_close(self);
	return counts.sessions == 0 && counts.programs == 0 ? 0 : 2;
}

static int
start_broker(unsigned i)
{
	int ready[2], end[2];
	char byte;
	FILE *file;

	snprintf(broker[i].path, sizeof(broker[i].path), "/tmp/pollux-town-%d-%u.sock", getpid(),
		 i);
	snprintf(broker[i].config, sizeof(broker[i].config), "/tmp/pollux-town-%d-%u.conf",
		 getpid(), i);
	file = fopen(broker[i].config, "w");
	if (file == NULL || pipe2(ready, O_CLOEXEC) != 0 || pipe2(end, O_CLOEXEC) != 0)
		return -1;
	fprintf(file, "adapters = ( { name = \"%c\"; host = \"%s\"; } );\n", 'a' + (int)i,
		host.path);
	fclose(file);
	broker[i].pid = fork();
	if (broker[i].pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGSEGV, SIG_DFL); /* cmocka's handler is for the test's own process */
		close(end[1]);
		if (fcntl(end[0], F_SETFL, O_NONBLOCK) != 0)
			_exit(1);
		_exit(be_broker(&broker[i], ready[1], end[0]));
	}
	close(ready[1]);
	close(end[0]);
	broker[i].end = end[1];
	return read(ready[0], &byte, 1) == 1 ? 0 : -1;
}

static int
end_broker(unsigned i)
{
	int status;

	close(broker[i].end);
	unlink(broker[i].config);
	if (broker[i].pid == 0) {
		unlink(broker[i].path);
		return 0;
	}
	return waitpid(broker[i].pid, &status, 0) == broker[i].pid && status == 0 ? 0 : -1;
}

static int
set_up(void **state)
{
	(void)state;
	return host_process_begin(&host) && start_broker(0) == 0 && start_broker(1) == 0 ? 0 : -1;
}

static int
tear_down(void **state)
{
	/* The second has a copy of the first one's pipe. */
	int second = end_broker(1), first = end_broker(0);

	(void)state;
	if (host.pid == 0)
		return 0; /* it was killed: what the brokers have left is of no interest */
	return second == 0 && first == 0 && host_process_end(&host) ? 0 : -1;
}

/* A connection may be two queue pairs while it passes from a broker to a program. */
static bool
offer(unsigned i, char name[PLX_ADAPTER_NAME_MAX + 1], struct plx_adapter_options *options)
{
	const char *faults = getenv("TOWN_WIRE"); /* of net_wire, such as "loss=0.01" */
	size_t used;

	if (!host_side_offer(i, name, options))
		return false;
	used = strlen(options->device);
	if (faults != NULL)
		snprintf(options->device + used, sizeof(options->device) - used, ",%s", faults);
	options->qps = 256;
	options->keys = 1024;
	return true;
}

int
town_run_tests(const struct CMUnitTest *tests, size_t n)
{
	const struct passwd *postgres = getpwnam("postgres"); /* its server does not run as root */

	/* What is left to the kernel goes nowhere else. */
	if (!namespace_network("ip link set lo up"))
		return 1;
	if (postgres != NULL)
		host.user = postgres->pw_uid;
	host_process_fork(&host, offer);
	return _cmocka_run_group_tests("sockets over RDMA", tests, n, set_up, tear_down);
}

/* ---- deaths ---- */

static void
kill_one(pid_t *pid)
{
	assert_int_equal(kill(*pid, SIGKILL), 0);
	assert_int_equal(waitpid(*pid, NULL, 0), *pid);
	*pid = 0;
}

void
town_kill_broker(enum town_host of)
{
	kill_one(&broker[of].pid);
}

void
town_kill_host(void)
{
	kill_one(&host.pid);
	unlink(host.path);
}

void
town_limit_broker(enum town_host of, bool is_limited)
{
	struct rlimit limit;
	char path[64];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (rlim_t free = 0; is_limited; free++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)broker[of].pid, (int)free);
		if (access(path, F_OK) != 0) {
			limit.rlim_cur = free;
			break;
		}
	}
	assert_int_equal(prlimit(broker[of].pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

/* ---- programs ---- */

void
town_attach(void)
{
	/* What it needs to know the broker says. */
	unsetenv("POLLUX_CONFIG");
	unsetenv("POLLUX_HOST");
	TOWN_MUST(san_client_start(broker[here].path) == 0);
}

pid_t
town_start(enum town_host of, void (*program)(void *arg), void *arg)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(TEST_PATIENCE_MS / 1000);
	here = of;
	town_attach();
	program(arg);
	san_client_stop();
	_exit(0);
}

pid_t
town_command(enum town_host of, const char *command)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unsetenv("POLLUX_CONFIG");
	unsetenv("POLLUX_HOST");
	setenv("POLLUX_SOCKETS", broker[of].path, 1);
	setenv("LD_PRELOAD", getenv("TOWN_SOCKETS"), 1);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(1);
}

void
town_end_command(pid_t pid)
{
	(void)kill(-pid, SIGTERM);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void
town_await(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

const char *
town_broker(void)
{
	return broker[here].path;
}

const char *
town_address(enum town_host of)
{
	return of == TOWN_A ? "10.79.0.1" : "10.79.0.2";
}

static struct sockaddr_in
address_of(const char *text, uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

	TOWN_MUST(text == NULL || inet_pton(AF_INET, text, &address.sin_addr) == 1);
	return address;
}

int
town_connect(enum town_host to, uint16_t port)
{
	struct sockaddr_in address = address_of(town_address(to), port);
	uint64_t late = test_ns() + TEST_PATIENCE_NS;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	TOWN_MUST(fd >= 0);
	/* Where nobody listens yet, the kernel is to try. */
	while (san_client_connect(fd, (struct sockaddr *)&address, sizeof(address)) !=
	       SAN_IS_RDMA) {
		TOWN_MUST(test_ns() < late);
		usleep(1000);
	}
	return fd;
}

int
town_listen(uint16_t port, int backlog)
{
	struct sockaddr_in address = address_of(NULL, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	TOWN_MUST(fd >= 0);
	TOWN_MUST(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0);
	TOWN_MUST(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	TOWN_MUST(listen(fd, backlog) == 0);
	TOWN_MUST(san_client_listen(fd, backlog) == SAN_IS_RDMA);
	return fd;
}

int
town_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);

	TOWN_MUST(fd >= 0);
	TOWN_MUST(san_client_adopt(fd) == SAN_IS_RDMA);
	return fd;
}

void
town_adopt(int fd)
{
	town_attach();
	TOWN_MUST(san_client_adopt(fd) == SAN_IS_RDMA);
}

void
town_close(int fd)
{
	san_client_close(fd);
	close(fd);
}

void
town_leave(int fd)
{
	town_close(fd);
	san_client_stop();
	_exit(0);
}

/* ---- bytes ---- */

void
town_fill(uint8_t *bytes, size_t n, uint64_t from, uint8_t seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)((from + i) * 7 + ((from + i) >> 9) + seed);
}

void
town_send(int fd, size_t n, uint64_t from, uint8_t seed)
{
	uint8_t bytes[CHUNK];

	while (n > 0) {
		size_t some = n < CHUNK ? n : CHUNK;

		town_fill(bytes, some, from, seed);
		TOWN_MUST(san_client_send(fd, bytes, some, 0) == (ssize_t)some);
		from += some;
		n -= some;
	}
}

void
town_receive(int fd, size_t n, uint64_t from, uint8_t seed)
{
	uint8_t bytes[CHUNK], expected[CHUNK];

	while (n > 0) {
		ssize_t got = san_client_recv(fd, bytes, n < CHUNK ? n : CHUNK, 0);

		TOWN_MUST(got > 0);
		town_fill(expected, (size_t)got, from, seed);
		TOWN_MUST(memcmp(bytes, expected, (size_t)got) == 0);
		from += (uint64_t)got;
		n -= (size_t)got;
	}
}

void
town_expect_end(int fd)
{
	char byte;

	TOWN_MUST(san_client_recv(fd, &byte, 1, 0) == 0);
}
