/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of ndkhost: lines for people, or one JSON object. It makes no decisions. Start with
 * show_json().
 */
#include "host.h"
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	JSON_FORMAT_VERSION = 1,
};

const char *
status_text(int32_t status, char room[16])
{
	const char *name = plx_driver_status_name(status);

	snprintf(room, 16, "0x%08X", (uint32_t)status);
	return strncmp(name, "STATUS_", 7) == 0 ? name : room;
}

/* The bytes that a driver answered with. It may name more than there is room for. */
static uint32_t
answered(const struct options *options, const struct request *request)
{
	if (((uint32_t)request->status) >> 30 == 3)
		return 0;
	return request->information < options->answer_bytes ? (uint32_t)request->information
							    : options->answer_bytes;
}

static void
hex_of(char *to, const uint8_t *from, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		sprintf(to + (size_t)i * 2, "%02x", from[i]);
	to[(size_t)bytes * 2] = '\0';
}

void
show_requests(const struct options *options)
{
	for (uint32_t i = 0; i < options->requests; i++) {
		const struct request *request = &options->request[i];
		uint32_t bytes = request->is_done ? answered(options, request) : 0;
		char room[16];

		if (!request->is_done)
			continue;
		printf("0x%08x %s, %" PRIu64 " bytes%s", request->code,
		       status_text(request->status, room), request->information,
		       bytes > 0 ? ": " : "");
		for (uint32_t b = 0; b < bytes; b++)
			printf("%02x", request->out[b]);
		putchar('\n');
	}
}

void
show_left(const struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->report.findings; i++) {
		const struct plx_driver_finding *f = &outcome->report.finding[i];

		printf("left behind: %s%s%s: %" PRIu64, f->kind, *f->name ? " " : "", f->name,
		       f->count);
		if (f->bytes > 0)
			printf(", %" PRIu64 " bytes", f->bytes);
		putchar('\n');
	}
	if (outcome->unloaded == PLX_DRIVER_STAYS)
		printf("the image stays in the process, since code of the driver may still run\n");
}

static json_t *
requests_of(const struct options *options)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < options->requests; i++) {
		const struct request *request = &options->request[i];
		uint32_t bytes = request->is_done ? answered(options, request) : 0;
		json_t *one = json_object();
		char *hex = malloc((size_t)bytes * 2 + 1);
		char room[16];

		json_put_count(one, "code", request->code);
		if (request->is_done) {
			json_put_text(one, "status", status_text(request->status, room));
			json_put_count(one, "information", request->information);
		}
		if (request->is_done && hex != NULL) {
			hex_of(hex, request->out, bytes);
			json_put_text(one, "answer", hex);
		}
		free(hex);
		json_array_append_new(all, one);
	}
	return all;
}

static json_t *
left_of(const struct plx_driver_report *report)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < report->findings; i++) {
		const struct plx_driver_finding *f = &report->finding[i];
		json_t *one = json_object();

		json_put_text(one, "kind", f->kind);
		if (*f->name)
			json_put_text(one, "name", f->name);
		json_put_count(one, "count", f->count);
		if (f->bytes > 0)
			json_put_count(one, "bytes", f->bytes);
		json_put_flag(one, "runs", f->runs);
		json_array_append_new(all, one);
	}
	return all;
}

bool
show_json(const struct options *options, const struct outcome *outcome, int status)
{
	static const char *const ends[] = {
		[PLX_DRIVER_GONE] = "gone",
		[PLX_DRIVER_NO_UNLOAD] = "no DriverUnload",
		[PLX_DRIVER_STAYS] = "stays",
	};
	json_t *out = json_object();
	char room[16];

	json_put_count(out, "format", (uint64_t)JSON_FORMAT_VERSION);
	json_put_text(out, "version", program_version());
	json_put_text(out, "driver", options->path);
	json_put_text(out, "service", outcome->service);
	if (outcome->is_loaded)
		json_put_text(out, "entry", status_text(outcome->entry, room));
	json_put(out, "requests", requests_of(options));
	if (outcome->unloaded != 0)
		json_put_text(out, "unload", ends[outcome->unloaded]);
	json_put(out, "left", left_of(&outcome->report));
	json_put_count(out, "status", (uint64_t)status);
	return json_write(out, stdout);
}
