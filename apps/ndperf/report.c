/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table and the progress line. A heading with the units is printed when the kind of test
 * changes. It computes nothing except ratios. Start with report_row().
 */
#include "report.h"

#include "clock.h"
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
	BAR_COLUMNS = 50, /* length of the longest bar of a histogram */
	OCTAVES = 64,
};

char *
job_text(const struct job *job, char *text, size_t size)
{
	char bytes[32];
	snprintf(text, size, "%s%s %s %s%s", job->raw ? "raw " : "", op_names[job->op],
		 bytes_text(job->size, bytes, sizeof(bytes)), test_names[job->test],
		 job->both   ? ", both directions"
		 : job->open ? ", open loop"
			     : "");
	return text;
}

bool
report_open(struct report *report, const struct options *o, uint32_t rows, struct plx_why *why)
{
	bool is_json_on_stdout = o->json != NULL && strcmp(o->json, "-") == 0;
	*report = (struct report){
		.options = o,
		.table = is_json_on_stdout ? NULL : stdout,
		.has_progress = !o->quiet && isatty(STDERR_FILENO),
		.rows = rows,
	};
	if (is_json_on_stdout)
		report->json = stdout;
	else if (o->json != NULL)
		report->json = fopen(o->json, "w");
	if (o->json != NULL && report->json == NULL)
		return why_set(why, "--json %.150s cannot be written: %s", o->json,
			       strerror(errno));
	return true;
}

static void
clear_progress(struct report *report)
{
	if (report->is_progress_shown)
		fputs("\r\033[K", stderr);
	report->is_progress_shown = false;
}

/* Describe where it runs. */
static void
print_setting(FILE *to, const struct options *o)
{
	const char *who = o->mode == PLX_MODE_INLINE ? "the application polls its adapter"
						     : "a worker polls the adapter";
	if (o->role == ROLE_CLIENT)
		fprintf(to, "two processes; %s", who);
	else if (o->layout == LAYOUT_ONE_CORE)
		fprintf(to, "both endpoints on one thread, core %d", o->core[0]);
	else if (o->layout == LAYOUT_SHARED_WORKER)
		fprintf(to, "one worker for both endpoints on core %d, one application on core %d",
			o->core[0], o->core[1]);
	else
		fprintf(to, "an endpoint on core %d, one on core %d; %s", o->core[0], o->core[1],
			who);
}

void
report_head(struct report *report, const struct plx_adapter_info *info, const struct calibration *c)
{
	static const char *const heads[API_COUNT] = {
		[API_VERBS] = "",
		[API_ND2] = ", ND2",
		[API_NDK] = ", NDK",
		[API_VERBS_ND2] = ", verbs and ND2 in turns",
		[API_VERBS_NDK] = ", verbs and NDK in turns",
	};
	const struct options *o = report->options;
	if (report->json != NULL)
		report->head = json_head(o, info, c);
	if (report->table == NULL)
		return;
	fprintf(report->table, "ndperf %s%s: ", plx_version(), heads[o->api]);
	print_setting(report->table, o);
	if (info != NULL)
		fprintf(report->table, "\ndevice %s, path MTU %u, %s", info->device, info->path_mtu,
			info->hugepages ? "hugepages" : "no hugepages");
	if (o->fault != NULL)
		fprintf(report->table, ", faults %s", o->fault);
	fprintf(report->table, "\nthe machine just now: CRC of 4 KiB in %.1f ns", c->crc_ns);
	/* Both endpoints on one core, or a server on an unknown core. */
	if (c->line_ns > 0)
		fprintf(report->table, "; a cache line from core to core in %.0f ns", c->line_ns);
	fputc('\n', report->table);
	fflush(report->table);
}

void
report_begin(struct report *report, const struct job *job)
{
	report->row++;
	report_progress(report, job, 0);
}

void
report_progress(struct report *report, const struct job *job, double share)
{
	char text[80];
	if (!report->has_progress)
		return;
	fprintf(stderr, "\r\033[K[%u/%u] %s %3.0f %%", report->row, report->rows,
		job_text(job, text, sizeof(text)), share * 100);
	fflush(stderr);
	report->is_progress_shown = true;
}

static void
print_heading(FILE *to, enum test test)
{
	if (test == TEST_LATENCY)
		fprintf(to,
			"\nlatency [us] of a round trip and half of it; of read and atomics: from "
			"post to completion; open: from when it was due\n  %-14s %9s %9s %9s %9s "
			"%9s %9s %9s %9s %9s %11s\n",
			"operation", "size", "half p50", "p50", "p90", "p99", "p99.9", "p99.99",
			"min", "max", "samples");
	else
		fprintf(to, "\n%s\n  %-14s %9s %11s %11s %9s %6s %6s %5s %9s\n",
			test == TEST_RATE ? "message rate" : "bandwidth", "operation", "size",
			test == TEST_RATE ? "million/s" : "Gbit/s",
			test == TEST_RATE ? "Gbit/s" : "million/s", "in flight", "batch", "a turn",
			"QPs", "clean");
}

static void
print_latency(FILE *to, const struct result *r, const struct latency *l)
{
	const double columns[] = {l->p50, l->p90, l->p99, l->p999, l->p9999, l->min, l->max};
	if (r->ping_pong)
		fprintf(to, " %9.2f", l->p50 / 2 / 1e3);
	else
		fprintf(to, " %9s", "-");
	for (uint32_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(to, " %9.2f", columns[i] / 1e3);
	fprintf(to, " %11" PRIu64, l->samples);
	if (r->job.open)
		fprintf(to, "  %.3f million/s, %s", r->job.rate / 1e6,
			r->job.is_random ? "poisson" : "fixed");
}

static void
print_stall(FILE *to, const char *who, const struct stalls *stalls)
{
	fprintf(to, "%s %.0f a second, the longest %.1f us, %.2f %% of the time", who,
		stalls_per_second(stalls), ticks_to_ns((double)stalls->longest) / 1e3,
		stalls->watched != 0 ? 100.0 * (double)stalls->lost / (double)stalls->watched : 0);
}

/* The row without the samples in which a thread had a stall; and the stalls. */
static void
print_stalls(FILE *to, const struct result *r)
{
	fprintf(to, "  %-14s %9s", "  undisturbed", "");
	print_latency(to, r, &r->undisturbed);
	fprintf(to, "\n    stalls of %d us or more in a thread:", STALL_NS / 1000);
	print_stall(to, "", &r->in_loop);
	print_stall(to, ";\n    the machine's alone:", &r->machine);
	fputc('\n', to);
}

static void
print_rate(FILE *to, const struct result *r)
{
	bool is_bandwidth = r->job.test == TEST_BANDWIDTH;
	double bits = 8.0 * r->job.size;
	double each_second = is_bandwidth ? r->value / bits : r->value;
	/* What one turn of the loop posts. */
	const char *turn = r->job.raw ? "-" : r->job.fill ? "fill" : "batch";
	double columns[] = {each_second / 1e6, each_second * bits / 1e9};
	fprintf(to, " %11.3f %11.3f %9u %6u %6s %5u", columns[is_bandwidth], columns[!is_bandwidth],
		r->job.depth, r->job.batch, turn, r->job.qps);
	if (r->windows != 0)
		fprintf(to, " %7.0f %%", 100.0 * r->windows_clean / r->windows);
	else
		fprintf(to, " %9s", "-");
}

/* Print a bar for each eighth of an octave that contains a sample. */
static void
print_histogram(FILE *to, const struct histogram *h)
{
	enum {
		STEP = HISTOGRAM_SUB / 8
	};
	uint64_t most = 1;
	for (uint32_t at = 0; at < HISTOGRAM_BUCKETS; at += STEP) {
		uint64_t sum = 0;
		for (uint32_t i = at; i < at + STEP; i++)
			sum += h->bucket[i];
		most = sum > most ? sum : most;
	}
	for (uint32_t at = 0; at < HISTOGRAM_BUCKETS; at += STEP) {
		uint64_t sum = 0;
		for (uint32_t i = at; i < at + STEP; i++)
			sum += h->bucket[i];
		if (sum == 0)
			continue;
		fprintf(to, "    %10.3f us %11" PRIu64 " ",
			ticks_to_ns((double)histogram_floor(at)) / 1e3, sum);
		for (uint64_t i = 0; i < sum * BAR_COLUMNS / most; i++)
			fputc('#', to);
		fputc('\n', to);
	}
}

/* The ratio of a row to the preceding one, of raw packets or of verbs; for latencies, above 1 is
 * worse. */
static void
print_ratio(FILE *to, const struct result *judge, const struct result *r)
{
	const char *name = judge->job.raw ? "raw" : api_names[judge->api];
	if (judge->job.op != r->job.op || judge->job.test != r->job.test || judge->value <= 0)
		return;
	if (r->job.test == TEST_LATENCY)
		fprintf(to, "  %.2f times %s", r->value / judge->value, name);
	else
		fprintf(to, "  %.0f %% of %s", 100 * r->value / judge->value, name);
}

static const char *
row_name(const struct report *report, const struct result *r, char *name, size_t size)
{
	const char *before = "";
	if (r->job.raw)
		before = "raw ";
	else if (api_takes_turns(report->options->api) && r->api != API_VERBS)
		before = r->api == API_ND2 ? "ND2 " : "NDK ";
	snprintf(name, size, "%s%s%s", before, op_names[r->job.op],
		 r->job.both   ? " both"
		 : r->job.open ? " open"
			       : "");
	return name;
}

void
report_row(struct report *report, const struct result *r)
{
	char name[32], size[32];
	FILE *to = report->table;
	clear_progress(report);
	if (report->json != NULL)
		json_row(report->head, r, report->round, report->options->histogram);
	if (to != NULL) {
		if (report->test != r->job.test)
			print_heading(to, r->job.test);
		report->test = r->job.test;
		fprintf(to, "  %-14s %9s", row_name(report, r, name, sizeof(name)),
			bytes_text(r->job.size, size, sizeof(size)));
		if (r->job.test == TEST_LATENCY)
			print_latency(to, r, &r->latency);
		else
			print_rate(to, r);
		if (report->has_judge && !r->job.raw)
			print_ratio(to, &report->judge, r);
		if (r->note[0] != '\0')
			fprintf(to, "  (%s)", r->note);
		if (r->job.check)
			fprintf(to, "  %" PRIu64 " bytes checked", r->checked_bytes);
		fputc('\n', to);
		if (r->has_stalls)
			print_stalls(to, r);
		if (r->job.test == TEST_LATENCY && report->options->histogram &&
		    r->histogram != NULL)
			print_histogram(to, r->histogram);
		fflush(to);
	}
	report->has_judge =
		r->job.raw || (api_takes_turns(report->options->api) && r->api == API_VERBS);
	if (report->has_judge)
		report->judge = *r;
}

bool
report_close(struct report *report, const char *error)
{
	bool is_good = true;
	clear_progress(report);
	if (report->json != NULL) {
		json_t *head = report->head != NULL ? report->head : json_object();
		if (error != NULL)
			json_object_set_new(head, "error", json_text(error));
		is_good = json_write(head, report->json);
		if (report->json != stdout)
			is_good &= fclose(report->json) == 0;
	}
	report->json = NULL;
	return is_good;
}
