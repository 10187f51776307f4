/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of the results: a table as rows finish, a progress line on a terminal, and JSON.
 * docs/ndperf.md describes the JSON. Start with report_row().
 */
#ifndef NDPERF_REPORT_H
#define NDPERF_REPORT_H

#include "json.h"
#include "ndperf.h"

#include <stdio.h>

struct report {
	const struct options *options;
	FILE *table; /* NULL: none */
	FILE *json;  /* NULL: none; written when all rows have finished */
	json_t *head;
	bool has_progress, is_progress_shown;
	uint32_t row, rows; /* counted over all rounds */
	uint32_t round;
	enum test test;      /* whose heading was printed last */
	struct result judge; /* that the next row is compared with */
	bool has_judge;
};

/** @param rows counted over all rounds.
 * Errors: the JSON file cannot be written */
bool report_open(struct report *report, const struct options *options, uint32_t rows,
		 struct plx_why *why);

/** Print what is measured, and on what.
 * @param info of the active adapter; NULL: raw rows only */
void report_head(struct report *report, const struct plx_adapter_info *info,
		 const struct calibration *calibration);

/** Note that a row begins. */
void report_begin(struct report *report, const struct job *job);

/** Update the progress line, on a terminal only.
 * @param share completed part of the row, 0 .. 1 */
void report_progress(struct report *report, const struct job *job, double share);

void report_row(struct report *report, const struct result *result);

/** @param error NULL: success
 * Returns: false: the JSON could not be written completely */
bool report_close(struct report *report, const char *error);

/** "write 64 KiB bandwidth".
 * Returns: `text` */
char *job_text(const struct job *job, char *text, size_t size);

/** Describe the run, without rows yet.
 * @param info as in report_head() */
json_t *json_head(const struct options *options, const struct plx_adapter_info *info,
		  const struct calibration *calibration);
void json_row(json_t *head, const struct result *result, uint32_t round, bool has_histogram);

#endif
