/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration file of a host that lends its adapters to other programs: polluxd's. Start with
 * plx_host_config_read().
 */
#ifndef PLX_HOST_CONFIG_H
#define PLX_HOST_CONFIG_H

#include "plx_adapter.h"
#include "plx_host_rights.h"
#include "plx_san_rules.h"

enum {
	PLX_HOST_SOCKET_MAX = 108, /* [bytes] of a path, with its end: struct sockaddr_un */
};

/* That programs come to. */
struct plx_host_socket {
	char path[PLX_HOST_SOCKET_MAX];
	uint32_t mode, group; /* of that file */
	bool has_group;       /* false: the group is the process's */
};

/* Programs of sockets. */
struct plx_host_sockets {
	struct plx_host_socket socket;
	bool served; /* false: there is no such section */
	uint32_t rules;
	struct plx_san_rule rule[PLX_SAN_RULES_MAX];
};

struct plx_host_config {
	struct plx_host_socket socket; /* that programs attach to */
	struct plx_host_sockets sockets;
	uint32_t adapters;
	struct {
		char name[PLX_ADAPTER_NAME_MAX + 1];
		struct plx_adapter_options options;
		struct plx_host_rights rights;
	} adapter[PLX_ADAPTERS_MAX];
};

/**
 * Read and check the whole file. Names of users and groups are looked up, and network namespaces
 * must be there.
 *
 * @param config out, if OK
 * @param tell   gets each mistake as a sentence with file and line; NULL: reading ends with the
 * first
 * @param why    the first mistake
 * Errors: CONFIG, NO_MEMORY
 */
enum plx_status plx_host_config_read(const char *path, struct plx_host_config *config,
				     void (*tell)(void *context, const char *mistake),
				     void *context, struct plx_why *why) PLX_MUST_CHECK;

/**
 * Set `host` as the environment variable POLLUX_HOST says, if it is set: the socket that every
 * adapter of this program is attached to. A program with more rights than its caller (setuid)
 * ignores it.
 *
 * Errors: CONFIG (the variable is not the path of a socket)
 */
enum plx_status plx_adapter_options_attach(struct plx_adapter_options *options,
					   struct plx_why *why) PLX_MUST_CHECK;

#endif
