/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts polluxd with a configuration of its own, and ends it. Start with polluxd_begin().
 */
#include "polluxd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

static struct {
	pid_t process, begun_by;
	char socket[64];
	char file[32]; /* its configuration, which it reads while it begins */
	char attached[512];
} host;

bool
polluxd_is_wanted(void)
{
	return getenv("TEST_POLLUXD") != NULL;
}

pid_t
polluxd_pid(void)
{
	return host.process;
}

static void
end(void)
{
	if (getpid() != host.begun_by)
		return;
	kill(host.process, SIGTERM);
	(void)waitpid(host.process, NULL, 0);
	unlink(host.file);
}

static bool
answers(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool connected;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", host.socket);
	connected = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return connected;
}

static bool
write_configuration(const char *adapters)
{
	int fd;

	strcpy(host.file, "/tmp/polluxd-test-XXXXXX");
	fd = mkstemp(host.file);
	if (fd < 0)
		return false;
	dprintf(fd, "daemon = { socket = \"%s\"; };\n%s", host.socket, adapters);
	return close(fd) == 0;
}

const char *
polluxd_begin(const char *adapters)
{
	uint64_t until = test_ms() + TEST_PATIENCE_MS;

	host.begun_by = getpid();
	snprintf(host.socket, sizeof(host.socket), "/tmp/polluxd-test-%d.sock", (int)getpid());
	assert_true(write_configuration(adapters));
	host.process = fork();
	if (host.process == 0) {
		/* A test that is killed leaves no daemon. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(getenv("TEST_POLLUXD"), "polluxd", "--config", host.file, (char *)NULL);
		_exit(2);
	}
	atexit(end);
	while (!answers() && test_ms() < until)
		usleep(10000);
	snprintf(host.attached, sizeof(host.attached),
		 "adapters = ( { name = \"nd0\"; host = \"%s\"; },\n"
		 "             { name = \"nd1\"; host = \"%s\"; } );\n",
		 host.socket, host.socket);
	return host.attached;
}
