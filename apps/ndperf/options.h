/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of ndperf: words to struct options, and every mistake to one sentence.
 * It opens nothing and prints only --help and --version. Start with options_parse().
 */
#ifndef NDPERF_OPTIONS_H
#define NDPERF_OPTIONS_H

#include "ndperf.h"

enum parsed {
	PARSED_RUN,  /* measure */
	PARSED_DONE, /* --help or --version was answered */
	PARSED_WRONG,
};

/** @param why [out] PARSED_WRONG: which argument, its value, what it may be */
enum parsed options_parse(int argc, char **argv, struct options *options, struct plx_why *why);

/** A row of the table for everything the options ask for, with what they left open filled in.
 * @param n what `jobs` has room for
 * Returns: how many there are; 0: none, with the sentence in `why` */
uint32_t options_jobs(const struct options *options, struct job *jobs, uint32_t n,
		      struct plx_why *why);

/** A job that came from elsewhere: false and the sentence when something is out of range. */
bool job_is_valid(const struct job *job, struct plx_why *why);

/** Write a sentence. Returns: false, so that a caller can return it */
__attribute__((format(printf, 2, 3))) bool say(struct plx_why *why, const char *format, ...);

/** "64", "4K", "1M", "1G". false: it is none, or above 2^62 */
bool parse_bytes(const char *text, uint64_t *out);

/** "10.0.0.1/24", "fd77::1/64". */
bool parse_address(const char *text, struct plx_ip *ip, uint8_t *prefix_bits);

/** "2s", "500ms", "1.5" (seconds). false: it is none, or above an hour */
bool parse_duration_ms(const char *text, uint32_t *out);

/** 65536 is "64 KiB". Returns: `text` */
char *bytes_text(uint64_t bytes, char *text, size_t size);

/** Returns: "10.0.0.1", in `text`, of 46 bytes at least */
const char *ip_text(const struct plx_ip *ip, char *text, size_t size);

#endif
