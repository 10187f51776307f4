/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rights of programs at an adapter, from the configuration file: names of users, groups and
 * network namespaces become numbers here. Start with settings_read_right().
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"

enum {
	RECORD_MAX = 1 << 20, /* [bytes] of a user or group with all its members */
};

#define NETNS_FOLDER "/run/netns/"

static const char *const id_nouns[] = {[SETTINGS_USER_ID] = "user", [SETTINGS_GROUP_ID] = "group"};

/* ---- users and groups ---- */

/* Look up a name. Returns: 0; ENOENT; or why it could not be looked up */
static int
look_up(enum settings_id kind, const char *name, uint32_t *id)
{
	struct passwd user, *found_user = NULL;
	struct group group, *found_group = NULL;
	int error = ERANGE;

	for (size_t bytes = 1024; error == ERANGE && bytes <= RECORD_MAX; bytes *= 4) {
		char *room = malloc(bytes);

		if (!room)
			return ENOMEM;
		if (kind == SETTINGS_USER_ID)
			error = getpwnam_r(name, &user, room, bytes, &found_user);
		else
			error = getgrnam_r(name, &group, room, bytes, &found_group);
		free(room);
	}
	if (found_user)
		*id = user.pw_uid;
	else if (found_group)
		*id = group.gr_gid;
	else
		return error ? error : ENOENT;
	return 0;
}

/* A number need not be anybody's: containers have users that the host does not know. */
static bool
is_number(const char *text, uint32_t *id)
{
	char *end;
	unsigned long long value;

	if (!isdigit((unsigned char)*text))
		return false;
	value = strtoull(text, &end, 10);
	*id = (uint32_t)value;
	return !*end && value < UINT32_MAX; /* the last one means none */
}

enum plx_status
settings_find_id(const struct settings_place *at, enum settings_id kind,
		 const config_setting_t *element, uint32_t *id)
{
	struct settings_place inner = {at->path, element, at->mistakes};
	const char *name = config_setting_get_string(element);
	long long number;
	int error;

	if (config_setting_is_number(element)) {
		number = config_setting_get_int64(element);
		if (config_setting_type(element) == CONFIG_TYPE_FLOAT || number < 0 ||
		    number >= UINT32_MAX)
			return settings_wrong(&inner,
					      "%s: a number of a %s is 0 to 4294967294, and whole",
					      config_setting_name(at->setting), id_nouns[kind]);
		*id = (uint32_t)number;
		return PLX_OK;
	}
	if (!name)
		return settings_wrong(&inner, "%s: a %s is a name in quotes or a number",
				      config_setting_name(at->setting), id_nouns[kind]);
	error = look_up(kind, name, id);
	if (error == 0 || is_number(name, id))
		return PLX_OK;
	if (error == ENOENT || error == ESRCH)
		return settings_wrong(&inner, "%s: there is no %s \"%.40s\"",
				      config_setting_name(at->setting), id_nouns[kind], name);
	return settings_wrong(&inner, "%s: %s \"%.40s\" cannot be looked up: %s",
			      config_setting_name(at->setting), id_nouns[kind], name,
			      strerror(error));
}

/* @param example of a list */
static enum plx_status
check_list(const struct settings_place *at, int most, const char *example)
{
	int n = config_setting_length(at->setting);

	if (config_setting_is_array(at->setting) || config_setting_is_list(at->setting))
		if (n <= most)
			return PLX_OK;
	return settings_wrong(at, "%s is not a list of at most %d, such as %s",
			      config_setting_name(at->setting), most, example);
}

static enum plx_status
read_ids(const struct settings_place *at, enum settings_id kind, uint32_t *ids, uint32_t *n)
{
	for (int i = 0; i < config_setting_length(at->setting); i++) {
		const config_setting_t *one = config_setting_get_elem(at->setting, (unsigned)i);
		enum plx_status status = settings_find_id(at, kind, one, &ids[*n]);

		if (settings_ends(at, status))
			return status;
		*n += status == PLX_OK;
	}
	return PLX_OK;
}

static enum plx_status
read_users(const struct settings_place *at, struct plx_host_rights *rights)
{
	enum plx_status status = check_list(at, PLX_HOST_USERS_MAX, "[ \"bob\", \"1002\" ]");

	return status == PLX_OK ? read_ids(at, SETTINGS_USER_ID, rights->user, &rights->users)
				: status;
}

static enum plx_status
read_groups(const struct settings_place *at, struct plx_host_rights *rights)
{
	enum plx_status status = check_list(at, PLX_HOST_GROUPS_MAX, "[ \"rdma\" ]");

	return status == PLX_OK ? read_ids(at, SETTINGS_GROUP_ID, rights->group, &rights->groups)
				: status;
}

/* ---- network namespaces ---- */

/* A name of ip-netns(8), or a path such as /proc/4711/ns/net. */
static enum plx_status
read_namespace(const struct settings_place *at, struct plx_host_namespace *out)
{
	const char *name = config_setting_get_string(at->setting);
	struct stat found, own;
	char path[256];
	int length;

	if (!name || !*name)
		return settings_wrong(at, "namespaces: a network namespace is a name of ip-netns "
					  "or an absolute path, in quotes");
	length = snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : NETNS_FOLDER, name);
	if (length >= (int)sizeof(path) || stat(path, &found) != 0)
		return settings_wrong(at, "namespaces: there is no %s%.60s: %s",
				      *name == '/' ? "" : NETNS_FOLDER, name,
				      length >= (int)sizeof(path) ? strerror(ENAMETOOLONG)
								  : strerror(errno));
	/* all namespaces lie on one file system of the kernel's */
	if (stat("/proc/self/ns/net", &own) != 0 || found.st_dev != own.st_dev)
		return settings_wrong(at, "namespaces: %.80s is not a network namespace", path);
	*out = (struct plx_host_namespace){found.st_dev, found.st_ino};
	return PLX_OK;
}

static enum plx_status
read_namespaces(const struct settings_place *at, struct plx_host_rights *rights)
{
	enum plx_status status = check_list(at, PLX_HOST_NAMESPACES_MAX, "[ \"blue\" ]");

	for (int i = 0; status == PLX_OK && i < config_setting_length(at->setting); i++) {
		struct settings_place inner = {
			at->path, config_setting_get_elem(at->setting, (unsigned)i), at->mistakes};
		enum plx_status one =
			read_namespace(&inner, &rights->namespace[rights->namespaces]);

		if (settings_ends(at, one))
			return one;
		rights->namespaces += one == PLX_OK;
	}
	return status;
}

/* ---- numbers ---- */

static enum plx_status
read_ports(const struct settings_place *at, struct plx_host_rights *rights)
{
	long long first = 0, last = 0;

	if (config_setting_is_array(at->setting) && config_setting_length(at->setting) == 2) {
		first = config_setting_get_int64_elem(at->setting, 0);
		last = config_setting_get_int64_elem(at->setting, 1);
	}
	if (first < 1 || last > UINT16_MAX || first > last)
		return settings_wrong(at, "listen_ports is not the first and the last of a range "
					  "within 1 to 65535, such as [ 1024, 65535 ]");
	rights->port_first = (uint16_t)first;
	rights->port_last = (uint16_t)last;
	return PLX_OK;
}

static enum plx_status
read_quota(const struct settings_place *at, enum plx_host_kind kind, struct plx_host_rights *rights)
{
	const struct plx_host_quota_row *row = &plx_host_quota_rows[kind];
	uint32_t value = 0;
	struct settings_field field = {row->setting,  SETTINGS_NUMBER,       0,
				       sizeof(value), (long long)row->least, (long long)row->most,
				       NULL};
	enum plx_status status = settings_read_number(at, &field, &value);

	if (status == PLX_OK)
		rights->quota[kind] = value * row->unit;
	return status;
}

/* ---- all of them ---- */

static const struct {
	const char *name;
	enum plx_status (*read)(const struct settings_place *at, struct plx_host_rights *rights);
} rows[] = {
	{"users", read_users},
	{"groups", read_groups},
	{"namespaces", read_namespaces},
	{"listen_ports", read_ports},
};

_Static_assert(PLX_COUNT_OF(rows) + PLX_HOST_KINDS <= SETTINGS_RIGHTS_MAX, "room for all names");

bool
settings_read_right(const struct settings_place *at, struct plx_host_rights *rights,
		    enum plx_status *status)
{
	const char *name = config_setting_name(at->setting);

	for (uint32_t i = 0; i < PLX_COUNT_OF(rows); i++) {
		if (strcmp(name, rows[i].name) == 0) {
			*status = rows[i].read(at, rights);
			return true;
		}
	}
	for (int kind = 0; kind < PLX_HOST_KINDS; kind++) {
		if (strcmp(name, plx_host_quota_rows[kind].setting) == 0) {
			*status = read_quota(at, (enum plx_host_kind)kind, rights);
			return true;
		}
	}
	return false;
}

uint32_t
settings_right_names(const char **names, uint32_t n)
{
	for (uint32_t i = 0; i < PLX_COUNT_OF(rows); i++)
		names[n++] = rows[i].name;
	for (int kind = 0; kind < PLX_HOST_KINDS; kind++)
		names[n++] = plx_host_quota_rows[kind].setting;
	return n;
}
