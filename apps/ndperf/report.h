/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What people and programs see of the results: a table as rows come in, a progress line on a
 * terminal, and JSON. docs/ndperf.md describes the JSON. Start with report_row().
 */
#ifndef NDPERF_REPORT_H
#define NDPERF_REPORT_H

#include "json.h"
#include "ndperf.h"

#include <stdio.h>

struct report {
	const struct options *options;
	FILE *table; /* NULL: none */
	FILE *json;  /* NULL: none; written when all rows are known */
	json_t *head;
	bool has_progress, is_progress_shown;
	uint32_t row, rows; /* of all rounds */
	uint32_t round;
	enum test test;      /* whose heading was printed last */
	struct result judge; /* of the next row */
	bool has_judge;
};

/** @param rows of all rounds. Errors: the JSON file cannot be written */
bool report_open(struct report *report, const struct options *options, uint32_t rows,
		 struct plx_why *why);

/** What is measured, and on what. @param info of the active adapter; NULL: only raw rows come */
void report_head(struct report *report, const struct plx_adapter_info *info,
		 const struct calibration *calibration);

/** A row begins. */
void report_begin(struct report *report, const struct job *job);

/** The progress line, on a terminal only. @param share of the row that is done, 0 .. 1 */
void report_progress(struct report *report, const struct job *job, double share);

void report_row(struct report *report, const struct result *result);

/** @param error NULL: all went well
 * Returns: false: the JSON could not be written in full */
bool report_close(struct report *report, const char *error);

/** "write 64 KiB bandwidth". Returns: `text` */
char *job_text(const struct job *job, char *text, size_t size);

/** How it ran, with no row yet. @param info as report_head() has it */
json_t *json_head(const struct options *options, const struct plx_adapter_info *info,
		  const struct calibration *calibration);
void json_row(json_t *head, const struct result *result, uint32_t round, bool has_histogram);

#endif
