/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of ndkhost share: what was asked for, and what came of it. Start with
 * host_run().
 */
#ifndef HOST_H
#define HOST_H

#include "options.h"

#include <plx_io.h>

enum {
	REQUESTS_MAX = 64,
	SETTINGS_MAX = 64,
	ANSWER_MAX = 1 << 20, /* [bytes] */
};

/* Exit statuses beside those of every program. */
enum {
	STATUS_ENTRY_FAILED = 3,
	STATUS_REQUEST_FAILED = 4,
	STATUS_LEFT = 5,
	STATUS_NO_UNLOAD = 6,
};

/* One IOCTL. */
struct request {
	uint32_t code;
	uint8_t *in, *out;
	uint32_t in_bytes;
	int32_t status;
	uint64_t information; /* bytes of `out`, if the method copies */
	bool is_done;
};

struct options {
	const char *path;     /* of the driver */
	const char *service;  /* "": after the file */
	const char *registry; /* "": none */
	const char *save;     /* "": nowhere */
	const char *device;   /* "": the service's name */
	const char *setting[SETTINGS_MAX];
	struct request request[REQUESTS_MAX];
	uint32_t settings, requests;
	uint32_t seconds, answer_bytes, timeout_ms;
	bool until_signal, is_verbose, json;
};

/* What came of it. */
struct outcome {
	char service[128];
	bool is_loaded;
	int32_t entry;                     /* what DriverEntry returned */
	enum plx_driver_unloaded unloaded; /* 0: it did not come to that */
	struct plx_driver_report report;
};

/** Parse the command line.
 * Returns: as options_read() */
enum parsed host_options(int argc, char **argv, struct options *options, struct plx_why *why);
/** Returns: an exit status; mistakes have been told on stderr */
int host_run(struct options *options, struct outcome *outcome);

/** "STATUS_SUCCESS", or "0xC0001234" in `room` for a number without a name. */
const char *status_text(int32_t status, char room[16]);
/** The results of requests, and what was left, for people. */
void show_requests(const struct options *options);
void show_left(const struct outcome *outcome);
/** One JSON object, described in docs/ndkhost.md.
 * Returns: false: it could not be written */
bool show_json(const struct options *options, const struct outcome *outcome, int status);

#endif
