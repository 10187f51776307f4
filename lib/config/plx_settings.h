/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between the configuration file (config.c) and the options of adapters (options.c):
 * the table of settings, and the contents of a file.
 * Start with struct settings.
 */
#ifndef PLX_SETTINGS_H
#define PLX_SETTINGS_H

#include "plx_host_config.h"

enum {
	SETTINGS_CORE_MAX = 1023,
	/* for each engine: two rings of 512 descriptors, and as many packets to send */
	SETTINGS_PACKETS_MIN = 2048,
	SETTINGS_PACKETS_MAX = 1 << 20,
	SETTINGS_RATE_MAX = 800000, /* [Mbit/s] */
	SETTINGS_START_TIMEOUT_MAX = 600000,
	SETTINGS_DISCONNECT_GRACE_MAX = 60000,
	SETTINGS_PATH_MAX = 200,
	SETTINGS_EAL_MAX = 1024,
	SETTINGS_RIGHTS_MAX = 16, /* settings of the rights of programs */
};

#define SETTINGS_SYSTEM_FILE "/etc/pollux/pollux.conf"

enum settings_kind {
	SETTINGS_NAME,
	SETTINGS_STRING,
	SETTINGS_NUMBER,
	SETTINGS_MTU,    /* a power of two; omit the setting instead of 0 */
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

/* One setting of an adapter, and the offset of its value in struct plx_adapter_options. */
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
	struct plx_host_rights rights;
};

struct settings {
	char path[SETTINGS_PATH_MAX]; /* "" if there is no file */
	char eal[SETTINGS_EAL_MAX];
	uint32_t sections;
	bool is_hosts; /* of a host, for which more is wrong */
	/* path "", mode 0: the default */
	struct plx_host_socket daemon;
	struct plx_host_sockets sockets;
	struct settings_section section[PLX_ADAPTERS_MAX];
};

struct settings_mistakes;

/** Read and check the whole file. A missing file is not an error: path is then "".
 * Errors: CONFIG */
enum plx_status settings_read(struct settings *file, struct plx_why *why) PLX_MUST_CHECK;

/** Read and check the file of a host.
 * Errors: CONFIG */
enum plx_status settings_read_hosts(struct settings *file, const char *path,
				    struct settings_mistakes *mistakes) PLX_MUST_CHECK;

/** Check options: values in range, at least one address, ...
 * @param route [out] if refused: the index of the invalid route; UINT32_MAX: the error is
 * elsewhere. May be NULL
 * Errors: INVALID */
enum plx_status adapter_options_check(const struct plx_adapter_options *options, uint32_t *route,
				      struct plx_why *why) PLX_MUST_CHECK;

/** Replace every 0 that stands for a default by its value. */
void adapter_options_set_defaults(struct plx_adapter_options *options);

/** Is this a valid adapter name: 1 to PLX_ADAPTER_NAME_MAX letters, digits and ._-? */
bool adapter_name_is_right(const char *name);

/** Is this device string a PCI address? */
bool device_is_pci(const char *device);

#endif
