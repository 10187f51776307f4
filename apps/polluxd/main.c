/* SPDX-License-Identifier: BSD-3-Clause
 *
 * polluxd from its command line to its exit status: configuration, rights, adapters, signals. What
 * it does for programs is lib/host's. Start with main().
 */
#include "polluxd.h"
#include "sockets.h"

#include <plx_host.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static void
say(const char *what, const char *more)
{
	struct plx_why line;

	plx_why_set(&line, "%s%s", what, more);
	polluxd_log(NULL, line.text);
}

/* ---- configuration ---- */

/* The EAL's arguments are read from the file that POLLUX_CONFIG names, and our adapters are nobody
 * else's. */
static bool
set_environment(const char *path)
{
	unsetenv("POLLUX_HOST");
	return setenv("POLLUX_CONFIG", path, 1) == 0;
}

static int
read_config(const struct options *options, struct plx_host_config *config)
{
	struct plx_why why;
	enum plx_status status =
		plx_host_config_read(options->config, config, polluxd_log, NULL, &why);

	if (status == PLX_CONFIG)
		return STATUS_CONFIG; /* all mistakes have been told */
	return status == PLX_OK ? 0 : program_fail(why.text, STATUS_FAILURE);
}

/* ---- signals ---- */

/* The signals that main() waits for; no other thread is interrupted by them. */
static void
hold_signals(sigset_t *held)
{
	sigemptyset(held);
	sigaddset(held, SIGTERM);
	sigaddset(held, SIGINT);
	sigaddset(held, SIGHUP);
	sigaddset(held, SIGCHLD);
	sigprocmask(SIG_BLOCK, held, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Has somebody asked for the end already? */
static bool
is_to_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT);
}

/* Returns: exit status */
static int
wait_for_the_end(const sigset_t *held)
{
	bool failed = false;
	int number;

	do {
		number = sigwaitinfo(held, NULL);
		if (number == SIGHUP)
			say(strsignal(number), ": nothing is reloaded; restart polluxd");
		failed = number == SIGCHLD && sockets_have_ended();
	} while (!failed && number != SIGTERM && number != SIGINT);
	say(failed ? "the process for sockets has ended" : strsignal(number), ": ending");
	/* whoever cannot wait is not held up */
	sigprocmask(SIG_UNBLOCK, held, NULL);
	return failed ? STATUS_FAILURE : 0;
}

/* ---- the host ---- */

/* Offer the adapters in the order of the file, until somebody asks for the end. */
static bool
offer(struct plx_host *host, const struct plx_host_config *config, struct plx_why *why)
{
	for (uint32_t i = 0; i < config->adapters && !is_to_end(); i++)
		if (plx_host_offer(host, config->adapter[i].name, &config->adapter[i].options,
				   &config->adapter[i].rights, why) != PLX_OK)
			return false;
	return true;
}

static bool
start(struct plx_host *host, const struct plx_host_config *config, struct plx_why *why)
{
	if (!rights_give(&config->socket, why) || !offer(host, config, why) || !filter_install(why))
		return false;
	if (plx_host_serve(host) != PLX_OK)
		return why_set(why, "there is no memory for a thread");
	return sockets_serve(why);
}

static int
run(const struct plx_host_config *config)
{
	struct plx_host *host;
	struct plx_why why;
	sigset_t held;
	int status = 0;

	hold_signals(&held);
	plx_log_to(polluxd_log, NULL);
	if (!rights_drop(config, &why) || !sockets_fork(config, &why))
		return program_fail(why.text, STATUS_FAILURE);
	if (plx_host_start(config->socket.path, config->socket.mode, &host, &why) != PLX_OK)
		return program_fail(why.text, STATUS_FAILURE);
	if (start(host, config, &why)) {
		if (!is_to_end()) {
			say("programs can attach to ", config->socket.path);
			if (config->sockets.served)
				say("programs of sockets can come to ",
				    config->sockets.socket.path);
			notify("READY=1\n");
		}
		status = wait_for_the_end(&held);
	} else {
		status = program_fail(why.text, STATUS_FAILURE);
	}
	notify("STOPPING=1\n");
	sockets_end();
	plx_host_stop(host);
	return status;
}

int
main(int argc, char **argv)
{
	static struct plx_host_config config;
	static struct options options;
	struct plx_why why;
	int status;

	switch (polluxd_options(argc, argv, &options, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	if (getauxval(AT_SECURE) != 0)
		return program_fail("it has more rights than whoever starts it, who could make it "
				    "read any file; take set-user-ID and file capabilities away, "
				    "and let a service manager start it",
				    STATUS_FAILURE);
	notify_open();
	if (!set_environment(options.config))
		return program_fail("no memory", STATUS_FAILURE);
	status = read_config(&options, &config);
	if (options.check && status == 0)
		printf("%s has no mistake; adapters: %u\n", options.config, config.adapters);
	return options.check || status != 0 ? status : run(&config);
}
