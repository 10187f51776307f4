/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between the configuration file (config.c) and what an adapter is opened with
 * (options.c): the table of settings, and what a file says as a whole.
 * Start with struct settings.
 */
#ifndef PLX_SETTINGS_H
#define PLX_SETTINGS_H

#include "plx_adapter.h"

enum {
	SETTINGS_CORE_MAX = 1023,
	SETTINGS_PACKETS_MIN = 2048, /* two rings of 512 descriptors, and as many to send with */
	SETTINGS_PACKETS_MAX = 1 << 20,
	SETTINGS_START_TIMEOUT_MAX = 600000,
	SETTINGS_DISCONNECT_GRACE_MAX = 60000,
	SETTINGS_PATH_MAX = 200,
	SETTINGS_EAL_MAX = 1024,
};

#define SETTINGS_SYSTEM_FILE "/etc/pollux/pollux.conf"

enum settings_kind {
	SETTINGS_NAME,
	SETTINGS_STRING,
	SETTINGS_NUMBER,
	SETTINGS_MTU,    /* a number that is a power of two; 0 has to be left out */
	SETTINGS_SWITCH, /* true or false */
	SETTINGS_CHOICE,
	SETTINGS_ADDRESSES,
	SETTINGS_ROUTES,
	SETTINGS_GATEWAY,
};

struct settings_choice {
	const char *name;
	int value;
};

/* One setting of an adapter and where its value lies in struct plx_adapter_options. */
struct settings_field {
	const char *name;
	enum settings_kind kind;
	size_t offset, size;
	long long min, max;
	const struct settings_choice *choices; /* ended by a NULL name */
};

extern const struct settings_field settings_fields[];
extern const uint32_t settings_field_count;

/** Store or read a number or choice of 1 or 4 bytes. */
void settings_field_set(const struct settings_field *field, void *options, long long value);
long long settings_field_get(const struct settings_field *field, const void *options);

struct settings_section {
	char name[PLX_ADAPTER_NAME_MAX + 1];
	struct plx_adapter_options options;
};

struct settings {
	char path[SETTINGS_PATH_MAX]; /* "" when there is no file */
	char eal[SETTINGS_EAL_MAX];
	uint32_t sections;
	struct settings_section section[PLX_ADAPTERS_MAX];
};

/** Read the file and judge all of it. No file at all is no mistake: then path is "". Errors: CONFIG
 */
enum plx_status settings_read(struct settings *file, struct plx_why *why) PLX_MUST_CHECK;

/** Refuse options with a value out of range, without an address, ...
 * @param route [out] when refused: the index of the route that is wrong; UINT32_MAX: it is none of
 *              them. May be NULL
 * Errors: INVALID */
enum plx_status adapter_options_check(const struct plx_adapter_options *options, uint32_t *route,
				      struct plx_why *why) PLX_MUST_CHECK;

/** Give every 0 that stands for a default its value. */
void adapter_options_set_defaults(struct plx_adapter_options *options);

/** Can an adapter have this name: 1 to PLX_ADAPTER_NAME_MAX letters, digits and ._- */
bool adapter_name_is_right(const char *name);

/** Is this device string a PCI address? */
bool device_is_pci(const char *device);

#endif
