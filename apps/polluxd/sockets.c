/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs of sockets are served by a process of its own, the broker of lib/face/sanbroker, which
 * attaches to this polluxd as any program does. It is forked off before there are a device, a
 * thread and a filter of system calls, and has no capability. Between both is a keeper, which
 * starts another broker when one has crashed. Start with sockets_fork().
 */
#include "polluxd.h"
#include "sockets.h"

#include <plx_san_broker.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READY_MS = 30000, /* longest wait until programs can come: attaching takes 20 s at most */
	END_MS = 2000,    /* ... until all connections have been ended */
	ROUND_MS = 500,   /* how late a signal may be noticed */
	PAUSE_S = 1,      /* after a crash */
};

/* Of polluxd. */
static struct {
	pid_t keeper; /* 0: there is none */
	int channel;
} sockets;

static volatile sig_atomic_t ends;

static void
on_signal(int number)
{
	(void)number;
	ends = 1;
}

/* ---- the broker ---- */

/* A process whose parent ends is to end, too. Returns: false: the parent has ended already */
static bool
follow(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 && getppid() == parent;
}

static bool
open_broker(const struct plx_host_sockets *config, struct san_broker **broker, struct plx_why *why)
{
	const struct san_broker_options options = {.path = config->socket.path,
						   .mode = config->socket.mode,
						   .rule = config->rule,
						   .rules = config->rules,
						   .log = polluxd_log};
	struct plx_why detail = {"there is no memory"};

	if (!filter_install(why))
		return false;
	if (san_broker_open(&options, broker, &detail) != PLX_OK)
		return why_set(why, "sockets: %s", detail.text);
	if (rights_give(&config->socket, why))
		return true;
	san_broker_close(*broker);
	return false;
}

/* @param channel to polluxd, which waits for a sentence, an empty one if programs can come; -1: it
 * has waited for an earlier broker's */
static int
serve(const struct plx_host_sockets *config, int channel)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct san_broker *broker;
	struct plx_why why = {""};
	bool opened;

	(void)prctl(PR_SET_NAME, "polluxd-sockets", 0, 0, 0);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	opened = open_broker(config, &broker, &why);
	if (channel >= 0)
		(void)!send(channel, why.text, strlen(why.text) + 1, MSG_NOSIGNAL);
	else if (!opened)
		polluxd_log(NULL, why.text);
	if (!opened)
		return STATUS_FAILURE;
	while (!ends)
		san_broker_run(broker, ROUND_MS);
	san_broker_close(broker);
	return 0;
}

/* ---- its keeper ---- */

static void
say_how_it_ended(int status)
{
	struct plx_why line;

	if (WIFSIGNALED(status))
		plx_why_set(&line,
			    "the process for sockets was ended by signal %d (%s), and all "
			    "connections of sockets with it; it is started again",
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		plx_why_set(&line,
			    "the process for sockets has ended with status %d; it is "
			    "started again",
			    WEXITSTATUS(status));
	polluxd_log(NULL, line.text);
}

/* The end of polluxd ends it, by a signal; and its own end the broker. */
static int
keep(const struct plx_host_sockets *config, int channel)
{
	const pid_t own = getpid();
	char go;

	if (recv(channel, &go, 1, 0) != 1)
		return 0;
	for (bool first = true;; first = false) {
		pid_t broker = fork();
		int status;

		if (broker == 0)
			_exit(follow(own) ? serve(config, first ? channel : -1) : 0);
		if (broker < 0 || waitpid(broker, &status, 0) != broker)
			return program_fail(strerror(errno), STATUS_FAILURE);
		say_how_it_ended(status);
		sleep(PAUSE_S);
	}
}

static int
begin(const struct plx_host_config *config, pid_t parent, int channel)
{
	struct plx_why why;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!rights_drop_all(&why))
		return program_fail(why.text, STATUS_FAILURE);
	/* its own file describes devices: it attaches to what this polluxd makes of them */
	if (!follow(parent) || setenv("POLLUX_HOST", config->socket.path, 1) != 0)
		return STATUS_FAILURE;
	return keep(&config->sockets, channel);
}

/* ---- polluxd ---- */

bool
sockets_fork(const struct plx_host_config *config, struct plx_why *why)
{
	const pid_t own = getpid();
	int end[2];

	if (!config->sockets.served)
		return true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) != 0)
		return why_set(why, "there is no channel for sockets: %s", strerror(errno));
	sockets.keeper = fork();
	if (sockets.keeper == 0) {
		close(end[0]);
		_exit(begin(config, own, end[1]));
	}
	close(end[1]);
	sockets.channel = end[0];
	return sockets.keeper > 0 ||
	       why_set(why, "there is no process for sockets: %s", strerror(errno));
}

bool
sockets_serve(struct plx_why *why)
{
	struct pollfd channel = {.fd = sockets.channel, .events = POLLIN};
	ssize_t got;

	if (sockets.keeper <= 0)
		return true;
	if (send(sockets.channel, "", 1, MSG_NOSIGNAL) != 1 || poll(&channel, 1, READY_MS) != 1)
		return why_set(why, "the process for sockets has not begun within %d s",
			       READY_MS / 1000);
	got = recv(sockets.channel, why->text, sizeof(why->text) - 1, MSG_DONTWAIT);
	if (got == 1)
		return true;
	if (got <= 0)
		return why_set(why, "the process for sockets has ended");
	why->text[got] = '\0';
	return false;
}

bool
sockets_have_ended(void)
{
	if (sockets.keeper <= 0 || waitpid(sockets.keeper, NULL, WNOHANG) != sockets.keeper)
		return false;
	sockets.keeper = 0;
	return true;
}

/* The channel ends with the last of both processes. */
void
sockets_end(void)
{
	struct pollfd channel = {.fd = sockets.channel, .events = POLLIN};
	char text[sizeof(struct plx_why)];

	if (sockets.keeper <= 0)
		return;
	(void)kill(sockets.keeper, SIGTERM);
	(void)waitpid(sockets.keeper, NULL, 0);
	sockets.keeper = 0;
	while (poll(&channel, 1, END_MS) == 1 &&
	       recv(sockets.channel, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
	close(sockets.channel);
}
