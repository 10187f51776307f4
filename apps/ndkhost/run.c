/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a driver in ndkhost: registry, DriverEntry, requests, time, DriverUnload. Start with
 * host_run().
 */
#include "host.h"
#include "signals.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	STEP_NS = 50 * 1000 * 1000, /* of a wait, between looks at the signals */
};

static void __attribute__((format(printf, 2, 3)))
tell(const struct options *options, const char *format, ...)
{
	va_list list;

	if (!options->is_verbose)
		return;
	fputs("ndkhost: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

/* The name of the service: the file's, unless another is given. */
static void
name_service(const struct options *options, char *name, size_t size)
{
	const char *slash = strrchr(options->path, '/');
	const char *file = slash != NULL ? slash + 1 : options->path;
	const char *end = strstr(file, ".so");

	if (options->service != NULL)
		snprintf(name, size, "%s", options->service);
	else
		snprintf(name, size, "%.*s", end != NULL ? (int)(end - file) : (int)strlen(file),
			 file);
}

static bool
fill_registry(const struct options *options, const char *service, struct plx_why *why)
{
	if (options->registry != NULL && !plx_driver_registry_read(options->registry, why))
		return false;
	for (uint32_t i = 0; i < options->settings; i++)
		if (!plx_driver_registry_set(service, options->setting[i], why))
			return false;
	return true;
}

/* ---- requests ---- */

static struct plx_driver_file *
open_device(const struct options *options, const char *service)
{
	const char *name = options->device != NULL ? options->device : service;
	struct plx_driver_file *file;
	char whole[512], sentence[700], room[16];
	int32_t status;

	snprintf(whole, sizeof(whole), "%s%s", *name == '\\' ? "" : "\\\\.\\", name);
	status = plx_driver_open(whole, &file);
	if (status >= 0)
		return file;
	snprintf(sentence, sizeof(sentence), "%s cannot be opened: %s", whole,
		 status_text(status, room));
	program_fail(sentence, STATUS_FAILURE);
	return NULL;
}

static int
send_request(const struct options *options, struct plx_driver_file *file, struct request *request)
{
	struct plx_driver_request sent = {
		.code = request->code,
		.in = request->in,
		.in_bytes = request->in_bytes,
		.out_bytes = options->answer_bytes,
		.timeout_ms = options->timeout_ms,
	};

	request->out = calloc(1, options->answer_bytes + 1);
	if (request->out == NULL)
		return program_fail("no memory", STATUS_FAILURE);
	sent.out = request->out;
	request->status = plx_driver_ioctl(file, &sent);
	request->information = sent.information;
	request->is_done = true;
	tell(options, "request 0x%08x is done", request->code);
	return request->status < 0 ? STATUS_REQUEST_FAILED : 0;
}

static void
wait_a_while(const struct options *options)
{
	struct timespec step = {.tv_nsec = STEP_NS}, now;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + options->seconds;
	while (!interrupted && (options->until_signal || now.tv_sec < end)) {
		nanosleep(&step, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (options->until_signal && options->seconds != 0 && now.tv_sec >= end)
			break;
	}
}

/* Send the requests, and let the driver run. */
static int
use(struct options *options, const char *service)
{
	struct plx_driver_file *file = NULL;
	int status = 0;

	if (options->requests > 0) {
		file = open_device(options, service);
		if (file == NULL)
			return STATUS_FAILURE;
	}
	for (uint32_t i = 0; i < options->requests && !interrupted; i++) {
		int sent = send_request(options, file, &options->request[i]);

		status = status != 0 ? status : sent;
	}
	if (!options->json)
		show_requests(options);
	(void)fflush(stdout);
	wait_a_while(options);
	if (file != NULL)
		plx_driver_close(file);
	return status;
}

/* ---- the whole ---- */

static int
unload(const struct options *options, struct plx_driver *driver, struct outcome *outcome)
{
	tell(options, "unloading %s", options->path);
	outcome->unloaded = plx_driver_unload(driver, &outcome->report);
	if (outcome->unloaded == PLX_DRIVER_NO_UNLOAD) {
		plx_driver_shut_down(driver);
		return program_fail("the driver cannot be unloaded: it has set no DriverUnload",
				    STATUS_NO_UNLOAD);
	}
	if (!options->json)
		show_left(outcome);
	if (outcome->unloaded == PLX_DRIVER_GONE)
		tell(options, "the image is not in the process any more");
	return outcome->report.findings > 0 ? STATUS_LEFT : 0;
}

static int
run(struct options *options, struct outcome *outcome)
{
	char sentence[sizeof(((struct plx_why *)0)->text) + 64], room[16];
	struct plx_driver *driver = NULL;
	struct plx_why why;
	int status = 0, ended;

	if (!fill_registry(options, outcome->service, &why))
		return program_fail(why.text, STATUS_FAILURE);
	tell(options, "loading %s as service %s", options->path, outcome->service);
	switch (plx_driver_load(options->path, outcome->service, &driver, &outcome->entry, &why)) {
	case PLX_DRIVER_NO_IMAGE:
		return program_fail(why.text, STATUS_FAILURE);
	case PLX_DRIVER_ENTRY_FAILED:
		snprintf(sentence, sizeof(sentence), "DriverEntry of %.100s returned %s",
			 options->path, status_text(outcome->entry, room));
		status = program_fail(sentence, STATUS_ENTRY_FAILED);
		break;
	case PLX_DRIVER_RUNS:
		tell(options, "DriverEntry returned %s", status_text(outcome->entry, room));
		status = use(options, outcome->service);
		break;
	}
	outcome->is_loaded = true;
	ended = unload(options, driver, outcome);
	if (options->save != NULL && !plx_driver_registry_write(options->save, &why))
		ended = ended != 0 ? ended : program_fail(why.text, STATUS_FAILURE);
	return ended != 0 && (status == 0 || status == STATUS_REQUEST_FAILED) ? ended : status;
}

int
host_run(struct options *options, struct outcome *outcome)
{
	name_service(options, outcome->service, sizeof(outcome->service));
	return run(options, outcome);
}
