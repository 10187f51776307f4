/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sanstat: what the broker of this host has, as lines or as JSON. Start with main().
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "plx_san_control.h"
#include "stat.h"

enum {
	PATIENCE_MS = 5000,
};

struct options {
	const char *socket;
	bool json;
};

#define AT(field) offsetof(struct options, field)
#define ROW(n, a, k, field) \
	.name = (n), .argument = (a), .forms = FORM_ALONE, .kind = (k), .offset = AT(field)

static const struct option_row rows[] = {
	{ROW("socket", "PATH", OPTION_TEXT, socket), .least = 1, .most = 107,
	 .value = "/run/pollux/sockets.sock",
	 .sentence = "where polluxd serves programs of sockets"},
	{ROW("json", NULL, OPTION_FLAG, json),
	 .sentence = "print one JSON object instead of lines"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static const struct program program = {
	.name = "sanstat",
	.purpose = "lists the sockets of this host that are over RDMA, and those that are not",
	.forms = {{FORM_ALONE, "sanstat [OPTIONS]", "sanstat", "what polluxd has of sockets"}},
	.groups = {{FORM_ALONE, "Options"}},
	.parts = {{rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes =
		"Of each session: its ends, who controls it and which processes have it, how\n"
		"often control has passed on, bytes received and acknowledged, and messages that\n"
		"may be sent. Processes of other users are shown as -, unless root asks. Then the\n"
		"newest 64 connections that a rule wanted over RDMA and the kernel has, and why.\n"
		"What a program controls is as of its last call.",
	.exit_status = "0 the broker has answered, 1 it has not, 2 a mistake in the arguments.",
};

/* ---- asking ---- */

/* -1: it does not answer */
static int
ask(int broker)
{
	struct san_control message = {.kind = SAN_CONTROL_SHOW, .number = 1};
	struct pollfd answer = {.fd = broker, .events = POLLIN};
	int memory = -1;

	if (!san_control_send(broker, &message, -1) || poll(&answer, 1, PATIENCE_MS) != 1)
		return -1;
	if (san_control_receive(broker, &message, &memory) == SAN_CONTROL_GOT &&
	    message.kind == SAN_CONTROL_ANSWER && message.error == 0)
		return memory;
	if (memory >= 0)
		close(memory);
	return -1;
}

/* All of it, with an end. NULL: it cannot be read */
static char *
read_text(int memory)
{
	struct stat about;
	char *text = fstat(memory, &about) == 0 ? calloc(1, (size_t)about.st_size + 1) : NULL;
	ssize_t got, at = 0;

	while (text != NULL && at < about.st_size) {
		got = pread(memory, text + at, (size_t)(about.st_size - at), at);
		if (got <= 0) {
			free(text);
			return NULL;
		}
		at += got;
	}
	return text;
}

static char *
ask_for_text(const char *path)
{
	int broker = san_control_connect(path), memory;
	char *text = NULL, why[256];

	if (broker < 0) {
		snprintf(why, sizeof(why),
			 "nobody serves sockets at %s: %s; polluxd does, with a section sockets",
			 path, strerror(errno));
		(void)program_fail(why, STATUS_FAILURE);
		return NULL;
	}
	memory = ask(broker);
	close(broker);
	if (memory >= 0) {
		text = read_text(memory);
		close(memory);
	}
	if (text == NULL) {
		snprintf(why, sizeof(why), "the broker at %s has not answered within %d s", path,
			 PATIENCE_MS / 1000);
		(void)program_fail(why, STATUS_FAILURE);
	}
	return text;
}

int
main(int argc, char **argv)
{
	static struct options options;
	struct plx_why why = {""};
	bool shown = true;
	uint64_t given;
	char *text;

	switch (options_read(&program, FORM_ALONE, argc, argv, &options, &given, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	text = ask_for_text(options.socket);
	if (text == NULL)
		return STATUS_FAILURE;
	if (options.json)
		puts(text);
	else
		shown = stat_print(text, stdout);
	free(text);
	if (!shown)
		return program_fail("the broker's answer is no JSON", STATUS_FAILURE);
	if (fflush(stdout) != 0 || ferror(stdout))
		return program_fail("the output cannot be written", STATUS_FAILURE);
	return 0;
}
