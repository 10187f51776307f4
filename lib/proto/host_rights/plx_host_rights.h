/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who may use an adapter of a host, and how much of it. A pure judgement: the caller gathers the
 * facts about a program, and counts what it has. Every refusal is a sentence that names the
 * program, the limit and the setting that would allow it. Start with plx_host_may_sit().
 */
#ifndef PLX_HOST_RIGHTS_H
#define PLX_HOST_RIGHTS_H

#include "plx_base.h"

enum {
	PLX_HOST_USERS_MAX = 64, /* in a list of a configuration file; groups hold more */
	PLX_HOST_GROUPS_MAX = 64,
	PLX_HOST_NAMESPACES_MAX = 16,
	PLX_HOST_WHO_GROUPS_MAX = 65536, /* supplementary groups of a process: Linux has no more */
	PLX_HOST_USER_NAME_MAX = 32,     /* longer names are cut in sentences */
	PLX_HOST_FILE_MAX = 200,         /* [bytes] likewise, the path of the configuration file */
};

/* What quotas limit. */
enum plx_host_kind {
	PLX_HOST_SEATS,       /* of an adapter */
	PLX_HOST_USER_SEATS,  /* of one user at an adapter */
	PLX_HOST_QUEUE_PAIRS, /* of a seat, as all that follow */
	PLX_HOST_CONNECTIONS, /* connectors and listeners */
	PLX_HOST_KEYS,        /* regions, windows, domains and address handles */
	PLX_HOST_MEMORY,      /* [bytes] that the host maps for the seat */
	PLX_HOST_KINDS,
};

/* A quota: its setting, and the values that the setting allows. */
struct plx_host_quota_row {
	const char *setting;
	const char *noun;                 /* "queue pairs" */
	uint64_t least, most, by_default; /* of the setting */
	uint64_t unit;                    /* of the setting, in what the kind counts */
};

extern const struct plx_host_quota_row plx_host_quota_rows[PLX_HOST_KINDS];

/* A network namespace: st_dev and st_ino of its file in /proc. {0, 0}: not known. */
struct plx_host_namespace {
	uint64_t dev, ino;
};

/* The rights of programs at an adapter. */
struct plx_host_rights {
	uint32_t own_user;                       /* who runs the host, and may always */
	struct plx_host_namespace own_namespace; /* whose programs always may */
	uint32_t user[PLX_HOST_USERS_MAX];       /* who else may: these, */
	uint32_t group[PLX_HOST_GROUPS_MAX];     /* and members of these */
	struct plx_host_namespace namespace[PLX_HOST_NAMESPACES_MAX];
	uint32_t users, groups, namespaces;
	uint64_t quota[PLX_HOST_KINDS];
	uint16_t port_first, port_last; /* that programs may listen on */
	char file[PLX_HOST_FILE_MAX];   /* where all this is written; for sentences */
};

/* The facts about a program. */
struct plx_host_who {
	uint32_t uid, gid;
	const uint32_t *group; /* supplementary groups */
	uint32_t groups;
	struct plx_host_namespace net;
	int32_t pid;
	char user[PLX_HOST_USER_NAME_MAX + 1]; /* the user's name; empty: it has none */
};

/** "process 4711 of user 1001 (bob)", or without a name if it has none. @param room for the text */
const char *plx_host_program_text(const struct plx_host_who *who, struct plx_why *room);

/**
 * Set defaults: the host's own user and namespace alone, and quotas that are finite.
 *
 * @param rights out
 * @param file   of the configuration; cut after PLX_HOST_FILE_MAX - 1 bytes
 */
void plx_host_rights_init(struct plx_host_rights *rights, uint32_t own_user,
			  struct plx_host_namespace own_namespace, const char *file);

/**
 * May this program have a seat at the adapter? Root has no privilege, unless it runs the host.
 *
 * Errors: DENIED (its user and groups, its network namespace); INVALID (facts that cannot be: more
 * groups than a process has)
 * Changes: nothing
 * Tests: tests/unit/proto/host_rights/host_rights.c
 */
enum plx_status plx_host_may_sit(const struct plx_host_rights *rights,
				 const struct plx_host_who *who, const char *adapter,
				 struct plx_why *why) PLX_MUST_CHECK;

/**
 * May there be more of a kind?
 *
 * @param used how many there are; of PLX_HOST_MEMORY how many bytes
 * @param more how many are asked for
 * Errors: FULL (the quota); INVALID (no such kind)
 * Changes: nothing
 */
enum plx_status plx_host_quota(const struct plx_host_rights *rights, const struct plx_host_who *who,
			       const char *adapter, enum plx_host_kind kind, uint64_t used,
			       uint64_t more, struct plx_why *why) PLX_MUST_CHECK;

/**
 * May this program listen on the port?
 *
 * @param port as it will be: of a call that leaves the choice to the host, what the host chose
 * Errors: DENIED (outside the range); INVALID (0)
 * Changes: nothing
 */
enum plx_status plx_host_may_listen(const struct plx_host_rights *rights,
				    const struct plx_host_who *who, const char *adapter,
				    uint16_t port, struct plx_why *why) PLX_MUST_CHECK;

#endif
