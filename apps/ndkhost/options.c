/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of ndkhost. It loads nothing; files of input are read here. Start with `rows`.
 */
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct options, field)
#define ROW(n, a, k, field) \
	.name = (n), .argument = (a), .forms = FORM_ALONE, .kind = (k), .offset = AT(field)

static bool
parse_setting(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;

	if (strchr(value, '=') == NULL)
		return why_set(why, "--set %.60s: give NAME=VALUE, or KEY\\NAME=VALUE", value);
	if (o->settings == SETTINGS_MAX)
		return why_set(why, "--set was given more than %d times; use --registry",
			       SETTINGS_MAX);
	o->setting[o->settings++] = value;
	return true;
}

static int
digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c != '\0' ? strchr(digits, c | 0x20) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

static bool
read_hex(const char *text, struct request *request, struct plx_why *why)
{
	size_t n = strlen(text);

	if (n % 2 != 0 || n / 2 > ANSWER_MAX)
		return why_set(why,
			       "--ioctl: \"%.60s\" is not bytes in hexadecimal; @FILE reads a "
			       "file",
			       text);
	request->in = malloc(n / 2 + 1);
	if (request->in == NULL)
		return why_set(why, "no memory");
	for (size_t i = 0; i < n; i += 2) {
		if (digit(text[i]) < 0 || digit(text[i + 1]) < 0)
			return why_set(
				why,
				"--ioctl: \"%.60s\" is not bytes in hexadecimal; @FILE reads "
				"a file",
				text);
		request->in[i / 2] = (uint8_t)(digit(text[i]) << 4 | digit(text[i + 1]));
	}
	request->in_bytes = (uint32_t)(n / 2);
	return true;
}

static bool
read_file(const char *path, struct request *request, struct plx_why *why)
{
	FILE *file = fopen(path, "re");
	size_t n;

	if (file == NULL)
		return why_set(why, "--ioctl: %.100s cannot be read: %s", path, strerror(errno));
	request->in = malloc(ANSWER_MAX + 1);
	n = request->in != NULL ? fread(request->in, 1, ANSWER_MAX + 1, file) : 0;
	request->in_bytes = (uint32_t)n;
	if (ferror(file) || request->in == NULL || n > ANSWER_MAX) {
		fclose(file);
		return why_set(why, "--ioctl: %.100s cannot be read, or has more than %d bytes",
			       path, ANSWER_MAX);
	}
	fclose(file);
	return true;
}

static bool
parse_ioctl(void *options, const char *value, struct plx_why *why)
{
	struct options *o = options;
	struct request *request = &o->request[o->requests];
	unsigned long long code;
	char *end;

	if (o->requests == REQUESTS_MAX)
		return why_set(why, "--ioctl was given more than %d times", REQUESTS_MAX);
	errno = 0;
	code = strtoull(value, &end, 0);
	if (*value < '0' || *value > '9' || errno != 0 || code > UINT32_MAX ||
	    (*end != '\0' && *end != '='))
		return why_set(why,
			       "--ioctl %.60s: give a code, such as 0x222000, and what it gets: "
			       "CODE, CODE=HEX or CODE=@FILE",
			       value);
	*request = (struct request){.code = (uint32_t)code};
	o->requests++;
	if (*end == '\0')
		return true;
	return end[1] == '@' ? read_file(end + 2, request, why) : read_hex(end + 1, request, why);
}

static bool
parse_driver(void *options, const char *word, struct plx_why *why)
{
	struct options *o = options;

	if (o->path != NULL)
		return why_set(why, "\"%.60s\" is a second driver; a process has one", word);
	o->path = word;
	return true;
}

static const struct option_row rows[] = {
	{ROW("service", "NAME", OPTION_TEXT, service), .most = 100,
	 .otherwise = "the file's name without .so",
	 .sentence = "name of the driver's service, whose registry key it is given"},
	{ROW("registry", "FILE", OPTION_TEXT, registry), .most = 4000,
	 .sentence = "registry, a text file as regedit exports it"},
	{ROW("set", "NAME=VALUE", OPTION_OTHER, setting), .parse = parse_setting,
	 .sentence = "set a value below the service's key, such as Parameters\\Depth=64; may be "
		     "repeated"},
	{ROW("save", "FILE", OPTION_TEXT, save), .most = 4000,
	 .sentence = "write the registry, with the driver's changes, to a file at the end"},
	{ROW("device", "NAME", OPTION_TEXT, device), .most = 200, .otherwise = "the service's name",
	 .sentence = "device that the requests go to, as \\\\.\\NAME or a whole name"},
	{ROW("ioctl", "CODE[=HEX|=@FILE]", OPTION_OTHER, request), .parse = parse_ioctl,
	 .sentence = "send a control code with this input, and print the answer; may be repeated"},
	{ROW("answer", "BYTES", OPTION_NUMBER, answer_bytes), .most = ANSWER_MAX, .value = "4096",
	 .sentence = "room for the answer of a request"},
	{ROW("timeout", "TIME", OPTION_TIME, timeout_ms), .least = 1, .value = "10s",
	 .sentence = "cancel a request that takes longer"},
	{ROW("seconds", "N", OPTION_NUMBER, seconds), .most = 31536000, .value = "0",
	 .sentence = "time that the driver runs before it is unloaded"},
	{ROW("until-signal", NULL, OPTION_FLAG, until_signal),
	 .sentence = "let the driver run until SIGINT or SIGTERM"},
	{ROW("verbose", NULL, OPTION_FLAG, is_verbose), .sentence = "print each step"},
	{ROW("json", NULL, OPTION_FLAG, json),
	 .sentence = "print one JSON object instead of lines"},
	OPTION_HELP_ROW,
	OPTION_VERSION_ROW,
};

static const struct program program = {
	.name = "ndkhost",
	.purpose = "runs a driver of Windows' kernel that was compiled as a shared object",
	.forms = {{FORM_ALONE, "ndkhost DRIVER.so [OPTIONS]", "ndkhost",
		   "load the driver, send it requests, wait, unload it"}},
	.groups = {{FORM_ALONE, "Options"}},
	.parts = {{rows, sizeof(rows) / sizeof(rows[0]), 0}},
	.notes =
		"What the driver has left behind at its end is printed: pool by tag, devices, "
		"work\n"
		"items, threads, timers, handles, NDK objects. The image is then unloaded, unless\n"
		"something of it may still run.",
	.example = "ndkhost ./pingpong.so --set Parameters\\\\Adapter=plx0 --seconds 10",
	.exit_status =
		"0 all went well, 1 something failed that is not the driver, 2 a mistake in\n"
		"the arguments, 3 DriverEntry failed, 4 a request failed, 5 the driver left\n"
		"something behind, 6 it has no DriverUnload and cannot be unloaded. Of\n"
		"several the first that happened counts, but 5 and 6 before 4.",
	.word = parse_driver,
};

enum parsed
host_options(int argc, char **argv, struct options *options, struct plx_why *why)
{
	enum parsed parsed;
	uint64_t given;

	parsed = options_read(&program, FORM_ALONE, argc, argv, options, &given, why);
	if (parsed == PARSED_RUN && options->path == NULL) {
		(void)why_set(why, "there is no driver; give the path of a shared object");
		parsed = PARSED_WRONG;
	}
	return parsed;
}
