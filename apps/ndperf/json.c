/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the JSON: one object with a head, an array of rows, and a tail. What it means is in
 * docs/ndperf.md, and a change of it changes JSON_FORMAT. Start with json_head().
 */
#include "report.h"

#include "clock.h"
#include "options.h"

#include <inttypes.h>
#include <math.h>

enum {
	JSON_FORMAT = 1,
};

static void
put_text(FILE *to, const char *text)
{
	fputc('"', to);
	for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(to, "\\%c", *at);
		else if (*at < ' ' || *at >= 0x7f)
			fprintf(to, "\\u%04x", *at);
		else
			fputc(*at, to);
	}
	fputc('"', to);
}

static void
put_field(FILE *to, const char *name, const char *text)
{
	fprintf(to, ", \"%s\": ", name);
	put_text(to, text);
}

static void
put_number(FILE *to, const char *name, double value)
{
	fprintf(to, ", \"%s\": ", name);
	fprintf(to, isfinite(value) ? "%.9g" : "null", value);
}

void
json_head(FILE *to, const struct options *o, const struct plx_adapter_info *info,
	  const struct calibration *calibration)
{
	fprintf(to, "{\"format\": %d", JSON_FORMAT);
	put_field(to, "version", plx_version());
	put_field(to, "api", api_names[o->api]);
	put_field(to, "role", o->role == ROLE_SOLO ? "solo" : "client");
	put_field(to, "layout", o->role == ROLE_SOLO ? layout_names[o->layout] : "two processes");
	put_field(to, "mode", mode_names[o->mode]);
	put_field(to, "idle", idle_names[o->idle]);
	fprintf(to, ", \"cores\": [%d, %d]", o->core[0], o->core[1]);
	put_field(to, "fault", o->fault != NULL ? o->fault : "");
	if (info != NULL) {
		bool is_wire = o->role == ROLE_SOLO && o->endpoint.device == NULL;
		put_field(to, "device", is_wire ? "net_wire0" : info->device);
		put_number(to, "path_mtu", info->path_mtu);
		fprintf(to, ", \"hugepages\": %s", info->hugepages ? "true" : "false");
	}
	fprintf(to, ",\n \"calibration\": {\"crc_ns\": %.2f, \"line_ns\": %.1f, \"ring_ns\": %.1f}",
		calibration->crc_ns, calibration->line_ns, calibration->ring_ns);
	fprintf(to, ",\n \"results\": [");
}

static void
put_latency(FILE *to, const struct latency *l, bool is_ping_pong)
{
	fprintf(to, ",\n   \"latency\": {\"kind\": \"%s\", \"samples\": %" PRIu64,
		is_ping_pong ? "round trip" : "post to completion", l->samples);
	put_number(to, "min", l->min);
	put_number(to, "p50", l->p50);
	put_number(to, "p90", l->p90);
	put_number(to, "p99", l->p99);
	put_number(to, "p99.9", l->p999);
	put_number(to, "p99.99", l->p9999);
	put_number(to, "max", l->max);
	if (is_ping_pong)
		put_number(to, "half_p50", l->p50 / 2);
	fputc('}', to);
}

static void
put_histogram(FILE *to, const struct histogram *h)
{
	const char *comma = "";
	fprintf(to, ",\n   \"histogram_ns\": [");
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		fprintf(to, "%s[%.1f, %" PRIu64 "]", comma, ticks_to_ns((double)histogram_floor(i)),
			h->bucket[i]);
		comma = ", ";
	}
	fputc(']', to);
}

void
json_row(FILE *to, const struct result *r, uint32_t round, bool is_first, bool has_histogram)
{
	const struct job *job = &r->job;
	char text[80];
	fprintf(to, "%s\n  {\"name\": ", is_first ? "" : ",");
	put_text(to, job_text(job, text, sizeof(text)));
	fprintf(to, ", \"round\": %u, \"raw\": %s", round, job->raw ? "true" : "false");
	put_field(to, "api", api_names[r->api]);
	put_field(to, "op", op_names[job->op]);
	put_field(to, "test", test_names[job->test]);
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"size", job->size},
		{"depth", job->depth},
		{"batch", job->batch},
		{"signal", job->signal},
		{"qps", job->qps},
		{"inline", job->inline_bytes},
		{"working_set", job->slots * stride_bytes(job->size)},
		{"messages", r->messages},
		{"checked_bytes", r->checked_bytes},
		{"windows", r->windows},
		{"windows_clean", r->windows_clean},
	};
	for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fprintf(to, ", \"%s\": %" PRIu64, numbers[i].name, numbers[i].value);
	fprintf(to, ", \"rewrite\": %s, \"check\": %s, \"fill\": %s",
		job->rewrite ? "true" : "false", job->check ? "true" : "false",
		job->fill ? "true" : "false");
	put_number(to, "seconds", r->seconds);
	put_number(to, "value", r->value);
	put_field(to, "unit", r->unit);
	put_number(to, "mean", r->mean);
	put_number(to, "mean_clean", r->mean_clean);
	put_field(to, "note", r->note);
	if (job->test == TEST_LATENCY)
		put_latency(to, &r->latency, r->ping_pong);
	if (job->test == TEST_LATENCY && has_histogram && r->histogram != NULL)
		put_histogram(to, r->histogram);
	fputc('}', to);
}

void
json_tail(FILE *to, const char *error)
{
	fprintf(to, "]");
	if (error != NULL)
		put_field(to, "error", error);
	fprintf(to, "}\n");
}
