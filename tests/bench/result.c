/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See result.h.
 */
#include "result.h"

void
result_add(json_t *results, const struct bench_result *result)
{
	json_t *row = json_object();

	json_put_text(row, "op", result->op);
	json_put_text(row, "test", result->test);
	json_put_count(row, "size", result->size);
	json_put_flag(row, "raw", false);
	json_put_text(row, "api", result->api);
	json_put_text(row, "unit", result->unit);
	json_put_number(row, "value", result->value, 1);
	json_put_number(row, "mean", result->value, 1);
	json_put_text(row, "note", result->note != NULL ? result->note : "");
	json_array_append_new(results, row);
}

bool
result_write(json_t *results, const struct calibration *machine, FILE *to)
{
	json_t *all = json_object(), *calibration = json_object();

	json_put(all, "results", results);
	json_put_number(calibration, "crc_ns", machine->crc_ns, 1);
	json_put_number(calibration, "line_ns", machine->line_ns, 1);
	json_put_number(calibration, "ring_ns", machine->ring_ns, 1);
	json_put(all, "calibration", calibration);
	return json_write(all, to);
}
