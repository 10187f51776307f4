/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The JSON: one object that describes the run, with an array of rows. docs/ndperf.md describes it;
 * every change of the format changes JSON_FORMAT. Start with json_row().
 */
#include "report.h"

#include "clock.h"

enum {
	JSON_FORMAT = 1,
};

json_t *
json_head(const struct options *o, const struct plx_adapter_info *info, const struct calibration *c)
{
	json_t *head = json_object(), *calibration = json_object();
	json_put_count(head, "format", JSON_FORMAT);
	json_put_text(head, "version", plx_version());
	json_put_text(head, "api", api_names[o->api]);
	json_put_text(head, "role", o->role == ROLE_SOLO ? "solo" : "client");
	json_put_text(head, "layout",
		      o->role == ROLE_SOLO ? layout_names[o->layout] : "two processes");
	json_put_text(head, "mode", mode_names[o->mode]);
	json_put_text(head, "idle", idle_names[o->idle]);
	json_put(head, "cores", json_pack("[i,i]", o->core[0], o->core[1]));
	json_put_text(head, "fault", o->fault != NULL ? o->fault : "");
	if (info != NULL) {
		bool is_wire = o->role == ROLE_SOLO && o->endpoint.device == NULL;
		json_put_text(head, "device", is_wire ? "net_wire0" : info->device);
		json_put_count(head, "path_mtu", info->path_mtu);
		json_put_flag(head, "hugepages", info->hugepages);
	}
	json_put_number(calibration, "crc_ns", c->crc_ns, 2);
	json_put_number(calibration, "line_ns", c->line_ns, 1);
	json_put_number(calibration, "ring_ns", c->ring_ns, 1);
	json_put(head, "calibration", calibration);
	json_put(head, "results", json_array());
	return head;
}

static json_t *
stalls_of_row(const struct stalls *stalls)
{
	json_t *object = json_object();
	json_put_number(object, "per_second", stalls_per_second(stalls), -1);
	json_put_number(object, "longest", ticks_to_ns((double)stalls->longest), -1);
	json_put_number(object, "lost", ticks_to_ns((double)stalls->lost), -1);
	json_put_number(object, "watched", ticks_to_ns((double)stalls->watched), -1);
	return object;
}

static json_t *
open_of_row(const struct result *r)
{
	json_t *open = json_object();
	json_put_count(open, "rate", r->job.rate);
	json_put_flag(open, "random", r->job.is_random);
	json_put_count(open, "seed", r->job.seed);
	json_put_number(open, "achieved", result_achieved(r), -1);
	json_put_count(open, "missed", r->missed);
	return open;
}

static json_t *
latency_of_row(const struct result *r, const struct latency *l)
{
	json_t *latency = json_object();
	json_put_text(latency, "kind",
		      r->ping_pong  ? "round trip"
		      : r->job.open ? "due to completion"
				    : "post to completion");
	json_put_count(latency, "samples", l->samples);
	json_put_number(latency, "min", l->min, -1);
	json_put_number(latency, "p50", l->p50, -1);
	json_put_number(latency, "p90", l->p90, -1);
	json_put_number(latency, "p99", l->p99, -1);
	json_put_number(latency, "p99.9", l->p999, -1);
	json_put_number(latency, "p99.99", l->p9999, -1);
	json_put_number(latency, "max", l->max, -1);
	if (r->ping_pong)
		json_put_number(latency, "half_p50", l->p50 / 2, -1);
	return latency;
}

static json_t *
histogram_of_row(const struct histogram *h)
{
	json_t *buckets = json_array();
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		json_t *bucket = json_array();
		json_array_append_new(bucket,
				      json_number(ticks_to_ns((double)histogram_floor(i)), 1));
		json_array_append_new(bucket, json_integer((json_int_t)h->bucket[i]));
		json_array_append_new(buckets, bucket);
	}
	return buckets;
}

void
json_row(json_t *head, const struct result *r, uint32_t round, bool has_histogram)
{
	const struct job *job = &r->job;
	json_t *row = json_object();
	char text[80];
	json_put_text(row, "name", job_text(job, text, sizeof(text)));
	json_put_count(row, "round", round);
	json_put_flag(row, "raw", job->raw);
	json_put_text(row, "api", api_names[r->api]);
	json_put_text(row, "op", op_names[job->op]);
	json_put_text(row, "test", test_names[job->test]);
	json_put_text(row, "direction",
		      direction_names[job->both ? DIRECTION_BOTH : DIRECTION_ONE]);
	json_put_count(row, "size", job->size);
	json_put_count(row, "depth", job->depth);
	json_put_count(row, "batch", job->batch);
	json_put_count(row, "signal", job->signal);
	json_put_count(row, "qps", job->qps);
	json_put_count(row, "flight", job->flight);
	json_put_count(row, "inline", job->inline_bytes);
	json_put_count(row, "working_set", job->slots * stride_bytes(job->size));
	json_put_count(row, "messages", r->messages);
	json_put_count(row, "checked_bytes", r->checked_bytes);
	json_put_count(row, "windows", r->windows);
	json_put_count(row, "windows_clean", r->windows_clean);
	json_put_flag(row, "rewrite", job->rewrite);
	json_put_flag(row, "check", job->check);
	json_put_flag(row, "fill", job->fill);
	json_put_flag(row, "private", job->is_private);
	json_put_number(row, "seconds", r->seconds, -1);
	json_put_number(row, "value", r->value, -1);
	json_put_text(row, "unit", r->unit);
	json_put_number(row, "mean", r->mean, -1);
	json_put_number(row, "mean_clean", r->mean_clean, -1);
	json_put_text(row, "note", r->note);
	if (job->open)
		json_put(row, "open", open_of_row(r));
	if (job->test == TEST_LATENCY)
		json_put(row, "latency", latency_of_row(r, &r->latency));
	if (r->has_stalls) {
		json_put(row, "undisturbed", latency_of_row(r, &r->undisturbed));
		json_put(row, "stalls_loop", stalls_of_row(&r->in_loop));
		json_put(row, "stalls_machine", stalls_of_row(&r->machine));
	}
	if (job->test == TEST_LATENCY && has_histogram && r->histogram != NULL)
		json_put(row, "histogram_ns", histogram_of_row(r->histogram));
	json_array_append_new(json_object_get(head, "results"), row);
}
