/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What polluxd may do in the system. By capset(2) itself: a library for one call, whose struct is
 * the kernel's interface, would be one more in a process with rights. Start with rights_drop().
 */
#include "polluxd.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_BPF
#define CAP_BPF 39
#endif

enum {
	GROUPS_MAX = 65536,
};

#define BIT(capability) (UINT64_C(1) << (capability))

/* tap: TUNSETIFF, addresses and filters. af_packet: packet sockets; flags of the interface. af_xdp:
 * its program, maps and pinned memory, too. PCI, and what is not named here: memory pinned for DMA,
 * and the packet sockets and flags of NICs that keep their kernel driver. */
static const struct {
	const char *name; /* how the device begins */
	uint64_t needs;
} devices[] = {
	{"net_wire", 0},
	{"net_memif", 0},
	{"net_null", 0},
	{"net_ring", 0},
	{"net_tap", BIT(CAP_NET_ADMIN)},
	{"net_af_packet", BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN)},
	{"net_af_xdp", BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN) | BIT(CAP_BPF) | BIT(CAP_IPC_LOCK)},
	{"", BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN) | BIT(CAP_IPC_LOCK)},
};

uint64_t
rights_of_device(const char *device)
{
	size_t i = 0;

	while (strncmp(device, devices[i].name, strlen(devices[i].name)) != 0)
		i++;
	return devices[i].needs;
}

/* The owner of a file may give it to a group that it is a member of, without a capability. */
static bool
join_group(uint32_t group, struct plx_why *why)
{
	static gid_t groups[GROUPS_MAX];
	int n = getgroups(GROUPS_MAX - 1, groups);

	if (n < 0)
		return why_set(why, "the groups of polluxd are not known: %s", strerror(errno));
	if (getegid() == group)
		return true;
	for (int i = 0; i < n; i++)
		if (groups[i] == group)
			return true;
	groups[n++] = group;
	if (setgroups((size_t)n, groups) == 0)
		return true;
	return why_set(why,
		       "the socket's group is %u, which user %u is not a member of: %s; make it "
		       "one, or leave `group` out",
		       group, (unsigned)geteuid(), strerror(errno));
}

static bool
join_group_of(const struct plx_host_socket *socket, struct plx_why *why)
{
	return !socket->has_group || join_group(socket->group, why);
}

static void
raise_limit(int resource)
{
	struct rlimit limit, endless = {RLIM_INFINITY, RLIM_INFINITY};

	if (resource == RLIMIT_MEMLOCK && setrlimit(resource, &endless) == 0)
		return;
	if (getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)!setrlimit(resource, &limit);
}

static bool
drop_capabilities(uint64_t keep, struct plx_why *why)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	/* what cannot be had again is a matter of who may: without CAP_SETPCAP the set stays, and
	 * no new privileges makes it meaningless */
	for (unsigned long capability = 0; capability < 64; capability++)
		if ((keep & BIT(capability)) == 0)
			(void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) != 0)
		return why_set(why, "the capabilities of polluxd are not known: %s",
			       strerror(errno));
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data) != 0)
		return why_set(why, "capabilities cannot be dropped: %s", strerror(errno));
	return true;
}

bool
rights_drop(const struct plx_host_config *config, struct plx_why *why)
{
	struct rlimit no_core = {0, 0};
	uint64_t keep = 0;

	umask(077);
	raise_limit(RLIMIT_NOFILE);  /* a few descriptors for each seat */
	raise_limit(RLIMIT_MEMLOCK); /* for DMA */
	for (uint32_t i = 0; i < config->adapters; i++)
		keep |= rights_of_device(config->adapter[i].options.device);
	if (!join_group_of(&config->socket, why) || !join_group_of(&config->sockets.socket, why))
		return false;
	if (setrlimit(RLIMIT_CORE, &no_core) != 0)
		return why_set(why, "core files cannot be forbidden: %s", strerror(errno));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return why_set(why, "new privileges cannot be forbidden: %s", strerror(errno));
	return drop_capabilities(keep, why);
}

bool
rights_give(const struct plx_host_socket *socket, struct plx_why *why)
{
	if (!socket->has_group || lchown(socket->path, (uid_t)-1, socket->group) == 0)
		return true;
	return why_set(why, "%s cannot be given to group %u: %s", socket->path, socket->group,
		       strerror(errno));
}

bool
rights_drop_all(struct plx_why *why)
{
	return drop_capabilities(0, why);
}
