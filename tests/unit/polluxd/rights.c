/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What polluxd gives up, and that it is gone: each test is a child process, which looks at itself.
 * As root there is more to give up, and less as anybody else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "polluxd.h"

#define BIT(capability) (UINT64_C(1) << (capability))

static struct plx_host_config config;

/* ---- a child that looks at itself ---- */

static void
child_asserts(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "in the child: %s\n", what);
	_exit(1);
}

#define CHILD(condition) child_asserts((condition), #condition)

static int
in_child(void (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static uint64_t
field(const char *name)
{
	size_t length = strlen(name);
	char line[256];
	uint64_t value = 0;
	FILE *file = fopen("/proc/thread-self/status", "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, name, length) == 0 && line[length] == ':';
		if (found)
			value = strtoull(line + length + 1, NULL, 16);
	}
	CHILD(found);
	fclose(file);
	return value;
}

static void
offer_device(const char *device)
{
	memset(&config, 0, sizeof(config));
	config.adapters = 1;
	snprintf(config.adapter[0].options.device, sizeof(config.adapter[0].options.device), "%s",
		 device);
}

/* ---- rights ---- */

static void
a_device_needs_what_its_kind_needs(void **state)
{
	uint64_t raw = BIT(CAP_NET_RAW), admin = BIT(CAP_NET_ADMIN), lock = BIT(CAP_IPC_LOCK);

	(void)state;
	assert_int_equal(rights_of_device("net_wire0,end=0"), 0);
	assert_int_equal(rights_of_device("net_memif0,role=client"), 0);
	assert_int_equal(rights_of_device("net_tap0,iface=plx0"), admin);
	assert_int_equal(rights_of_device("net_af_packet0,iface=veth0"), raw | admin);
	assert_int_equal(rights_of_device("net_af_xdp0,iface=veth0"), raw | admin | lock | BIT(39));
	assert_int_equal(rights_of_device("0000:3b:00.0"), raw | admin | lock);
	assert_int_equal(rights_of_device(""), raw | admin | lock);
}

static void
drop_for_tap(void)
{
	uint64_t before = field("CapPrm");
	struct plx_why why = {""};
	struct rlimit core;

	CHILD(rights_drop(&config, &why));
	CHILD(field("CapPrm") == (before & BIT(CAP_NET_ADMIN)));
	CHILD(field("CapEff") == field("CapPrm"));
	CHILD(field("CapInh") == 0);
	CHILD(field("CapAmb") == 0);
	CHILD((before & BIT(CAP_SETPCAP)) == 0 || (field("CapBnd") & ~BIT(CAP_NET_ADMIN)) == 0);
	CHILD(field("NoNewPrivs") == 1);
	CHILD(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0);
	CHILD(umask(0) == 077);
}

static void
all_is_dropped_but_what_the_devices_need(void **state)
{
	(void)state;
	offer_device("net_tap0");
	assert_int_equal(in_child(drop_for_tap), 0);
}

static void
join_and_give(void)
{
	char path[] = "/tmp/plx-rights-XXXXXX";
	struct plx_why why = {""};
	int file = mkstemp(path);

	CHILD(file >= 0);
	if (geteuid() == 0) {
		CHILD(rights_drop(&config, &why));
		CHILD(lchown(path, (uid_t)-1, config.socket.group) == 0);
		CHILD(lchown(path, 1, (gid_t)-1) != 0); /* only a capability could */
	} else {
		CHILD(!rights_drop(&config, &why));
		CHILD(strstr(why.text, "group is 12345, which user"));
	}
	unlink(path);
}

static void
the_sockets_group_is_joined_before(void **state)
{
	(void)state;
	offer_device("net_wire0");
	config.socket.has_group = true;
	config.socket.group = 12345;
	assert_int_equal(in_child(join_and_give), 0);
}

static void
join_as_nobody(void)
{
	struct plx_why why = {""};

	if (geteuid() == 0)
		CHILD(setgid(65534) == 0 && setuid(65534) == 0);
	CHILD(!rights_drop(&config, &why));
	CHILD(strstr(why.text, "the socket's group is 12345, which user"));
	CHILD(strstr(why.text, "make it one, or leave `group` out"));
}

static void
a_group_that_is_not_ones_own_is_refused(void **state)
{
	(void)state;
	offer_device("net_wire0");
	config.socket.has_group = true;
	config.socket.group = 12345;
	assert_int_equal(in_child(join_as_nobody), 0);
}

/* ---- system calls ---- */

static void *
run_a_program(void *unused)
{
	(void)unused;
	execl("/bin/true", "true", (char *)NULL);
	return NULL;
}

static void
filter_then_exec(void)
{
	struct plx_why why = {""};

	CHILD(filter_install(&why));
	run_a_program(NULL);
}

static void
filter_then_unshare(void)
{
	struct plx_why why = {""};

	CHILD(filter_install(&why));
	syscall(SYS_unshare, 0);
}

static pthread_barrier_t both;

static void *
wait_then_exec(void *unused)
{
	pthread_barrier_wait(&both);
	return run_a_program(unused);
}

/* The filter reaches threads that are there already. */
static void
exec_of_an_older_thread(void)
{
	struct plx_why why = {""};
	pthread_t thread;

	CHILD(pthread_barrier_init(&both, NULL, 2) == 0);
	CHILD(pthread_create(&thread, NULL, wait_then_exec, NULL) == 0);
	CHILD(filter_install(&why));
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
}

static void *
nothing(void *unused)
{
	return unused;
}

/* What a daemon does all the time goes on. */
static void
filter_then_work(void)
{
	struct plx_why why = {""};
	pthread_t thread;
	int pair[2];

	CHILD(filter_install(&why));
	CHILD(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
	CHILD(write(pair[0], "x", 1) == 1);
	CHILD(pthread_create(&thread, NULL, nothing, NULL) == 0);
	CHILD(pthread_join(thread, NULL) == 0);
	free(malloc(1 << 22));
	CHILD(field("Seccomp") == 2);
	CHILD(field("NoNewPrivs") == 1);
}

static void
what_a_daemon_never_does_ends_it(void **state)
{
	static void (*const bodies[])(void) = {filter_then_exec, filter_then_unshare,
					       exec_of_an_older_thread};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(bodies); i++) {
		int status = in_child(bodies[i]);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("child %zu ended with 0x%x", i, status);
	}
	assert_int_equal(in_child(filter_then_work), 0);
}

/* ---- the service manager ---- */

static void
hear(const char *name, socklen_t length, const char *variable)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[64] = "";

	memcpy(address.sun_path, name, length);
	assert_int_equal(bind(manager, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
			 0);
	setenv("NOTIFY_SOCKET", variable, 1);
	notify_open();
	assert_null(getenv("NOTIFY_SOCKET")); /* it is nobody else's */
	notify("READY=1\n");
	assert_int_equal(recv(manager, text, sizeof(text), MSG_DONTWAIT), 8);
	assert_string_equal(text, "READY=1\n");
	close(manager);
	notify("STOPPING=1\n"); /* nobody is there any more */
}

static void
the_manager_is_told_by_path_or_name(void **state)
{
	char path[64], abstract[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/plx-notify-%d", (int)getpid());
	hear(path, (socklen_t)strlen(path), path);
	unlink(path);
	snprintf(abstract, sizeof(abstract), "@plx-notify-%d", (int)getpid());
	memset(path, 0, sizeof(path));
	memcpy(path + 1, abstract + 1, strlen(abstract) - 1);
	hear(path, (socklen_t)strlen(abstract), abstract);
}

/* ---- the log ---- */

/* A program chooses its name, and a terminal obeys what it prints. */
static void
a_line_is_one_line_of_text(void **state)
{
	int pipe_fds[2], saved = dup(STDERR_FILENO);
	char text[2048] = "", longest[4096];
	ssize_t n;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(dup2(pipe_fds[1], STDERR_FILENO), STDERR_FILENO);
	polluxd_log(NULL, "user 7 (b\x1b[2J\nob\x7f) \xc3\xa4");
	polluxd_log(NULL, longest);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(pipe_fds[0], text, sizeof(text) - 1);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_ptr_equal(strstr(text, "polluxd: user 7 (b?[2J?ob?) \xc3\xa4\npolluxd: xxx"), text);
	assert_true(n > 1000 && n < 1100);
	assert_int_equal(text[n - 1], '\n');
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_needs_what_its_kind_needs),
		cmocka_unit_test(all_is_dropped_but_what_the_devices_need),
		cmocka_unit_test(the_sockets_group_is_joined_before),
		cmocka_unit_test(a_group_that_is_not_ones_own_is_refused),
		cmocka_unit_test(what_a_daemon_never_does_ends_it),
		cmocka_unit_test(the_manager_is_told_by_path_or_name),
		cmocka_unit_test(a_line_is_one_line_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
