/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who may use an adapter of a host, and how much of it. It keeps nothing and asks nobody: names,
 * groups and namespaces were looked up by the caller. Start with plx_host_may_sit().
 */
#include "plx_host_rights.h"

enum {
	MIB = 1 << 20,
	PORT_FIRST_DEFAULT = 1024, /* as Linux keeps those below for its administrator */
	PORT_LAST_DEFAULT = 65535,
};

/* The defaults let a program do what most do, and leave something for three others like it. */
const struct plx_host_quota_row plx_host_quota_rows[PLX_HOST_KINDS] = {
	[PLX_HOST_SEATS] = {"seats", "seats", 1, 1024, 256, 1},
	[PLX_HOST_USER_SEATS] = {"seats_per_user", "seats", 1, 1024, 64, 1},
	[PLX_HOST_QUEUE_PAIRS] = {"seat_queue_pairs", "queue pairs", 1, 16384, 256, 1},
	[PLX_HOST_CONNECTIONS] = {"seat_connections", "connections and listeners", 1, 16384, 256,
				  1},
	[PLX_HOST_KEYS] = {"seat_keys", "regions, windows, domains and address handles", 1, 1048575,
			   16384, 1},
	[PLX_HOST_MEMORY] = {"seat_memory_mib", "bytes of memory", 1, 1 << 24, 4096, MIB},
};

void
plx_host_rights_init(struct plx_host_rights *rights, uint32_t own_user,
		     struct plx_host_namespace own_namespace, const char *file)
{
	memset(rights, 0, sizeof(*rights));
	rights->own_user = own_user;
	rights->own_namespace = own_namespace;
	for (int kind = 0; kind < PLX_HOST_KINDS; kind++)
		rights->quota[kind] =
			plx_host_quota_rows[kind].by_default * plx_host_quota_rows[kind].unit;
	rights->port_first = PORT_FIRST_DEFAULT;
	rights->port_last = PORT_LAST_DEFAULT;
	for (size_t i = 0; file[i] != '\0' && i < sizeof(rights->file) - 1; i++)
		rights->file[i] = file[i];
}

/* ---- sentences ---- */

/* "user 1001 (bob)", or "user 1001" if it has no name. */
static const char *
user_of(const struct plx_host_who *who, struct plx_why *room)
{
	if (*who->user)
		plx_why_set(room, "user %u (%.*s)", who->uid, PLX_HOST_USER_NAME_MAX, who->user);
	else
		plx_why_set(room, "user %u", who->uid);
	return room->text;
}

const char *
plx_host_program_text(const struct plx_host_who *who, struct plx_why *room)
{
	struct plx_why user;

	plx_why_set(room, "process %d of %s", who->pid, user_of(who, &user));
	return room->text;
}

/* ---- who ---- */

static bool
contains(const uint32_t *list, uint32_t n, uint32_t id)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

static bool
user_may(const struct plx_host_rights *rights, const struct plx_host_who *who)
{
	if (who->uid == rights->own_user || contains(rights->user, rights->users, who->uid) ||
	    contains(rights->group, rights->groups, who->gid))
		return true;
	for (uint32_t i = 0; i < who->groups; i++)
		if (contains(rights->group, rights->groups, who->group[i]))
			return true;
	return false;
}

static bool
same_namespace(const struct plx_host_namespace *a, const struct plx_host_namespace *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

static bool
namespace_may(const struct plx_host_rights *rights, const struct plx_host_namespace *net)
{
	if (net->ino == 0)
		return false; /* not known: it could be any */
	if (same_namespace(net, &rights->own_namespace))
		return true;
	for (uint32_t i = 0; i < rights->namespaces; i++)
		if (same_namespace(net, &rights->namespace[i]))
			return true;
	return false;
}

enum plx_status
plx_host_may_sit(const struct plx_host_rights *rights, const struct plx_host_who *who,
		 const char *adapter, struct plx_why *why)
{
	struct plx_why text;

	if (who->groups > PLX_HOST_WHO_GROUPS_MAX) {
		plx_why_set(why, "process %d has %u groups; a process has at most %d", who->pid,
			    who->groups, PLX_HOST_WHO_GROUPS_MAX);
		return PLX_INVALID;
	}
	if (!user_may(rights, who)) {
		plx_why_set(why,
			    "%s may not use adapter %s; add it to `users` of that adapter in %s, "
			    "or one of its groups to `groups`",
			    user_of(who, &text), adapter, rights->file);
		return PLX_DENIED;
	}
	if (namespace_may(rights, &who->net))
		return PLX_OK;
	if (who->net.ino == 0)
		plx_why_set(why,
			    "the network namespace of %s is not known, so it may not use adapter "
			    "%s",
			    plx_host_program_text(who, &text), adapter);
	else
		plx_why_set(why,
			    "%s may not use adapter %s from network namespace %llu; add that to "
			    "`namespaces` of the adapter in %s",
			    plx_host_program_text(who, &text), adapter,
			    (unsigned long long)who->net.ino, rights->file);
	return PLX_DENIED;
}

/* ---- how much ---- */

enum plx_status
plx_host_quota(const struct plx_host_rights *rights, const struct plx_host_who *who,
	       const char *adapter, enum plx_host_kind kind, uint64_t used, uint64_t more,
	       struct plx_why *why)
{
	const struct plx_host_quota_row *row = &plx_host_quota_rows[0];
	struct plx_why user, whose;
	uint64_t most;

	if ((unsigned)kind >= PLX_HOST_KINDS) {
		plx_why_set(why, "there is no quota number %d", (int)kind);
		return PLX_INVALID;
	}
	row += kind;
	most = rights->quota[kind];
	if (used <= most && more <= most - used)
		return PLX_OK;
	if (kind == PLX_HOST_SEATS)
		plx_why_set(&whose, "the programs of all users have");
	else if (kind == PLX_HOST_USER_SEATS)
		plx_why_set(&whose, "%s has", user_of(who, &user));
	else
		plx_why_set(&whose, "%s has", plx_host_program_text(who, &user));
	plx_why_set(why,
		    "%s %llu %s at adapter %s, and %llu more would exceed %llu, the limit; raise "
		    "`%s` of that adapter in %s",
		    whose.text, (unsigned long long)used, row->noun, adapter,
		    (unsigned long long)more, (unsigned long long)most, row->setting, rights->file);
	return PLX_FULL;
}

enum plx_status
plx_host_may_listen(const struct plx_host_rights *rights, const struct plx_host_who *who,
		    const char *adapter, uint16_t port, struct plx_why *why)
{
	struct plx_why user;

	if (port == 0) {
		plx_why_set(why, "nobody listens on port 0 of adapter %s; give 1 to 65535",
			    adapter);
		return PLX_INVALID;
	}
	if (port >= rights->port_first && port <= rights->port_last)
		return PLX_OK;
	plx_why_set(why,
		    "%s may not listen on port %u of adapter %s, but on %u to %u; widen "
		    "`listen_ports` of that adapter in %s",
		    user_of(who, &user), port, adapter, rights->port_first, rights->port_last,
		    rights->file);
	return PLX_DENIED;
}
