/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the list of interfaces. Adapters of the configuration file are reported as the file
 * describes them, without opening them: up, without a MAC. The kernel's interfaces come from
 * getifaddrs(). Start with plx_interfaces_read().
 */
#include "plx_interfaces.h"

#include "plx_verbs.h"

#include <ipifcons.h>

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct plx_interface *
append(struct plx_interfaces *all)
{
	struct plx_interface *more = realloc(all->one, (all->count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	all->one = more;
	memset(&more[all->count], 0, sizeof(*more));
	return &more[all->count++];
}

/* ---- from the configuration file ---- */

static void
describe(const struct plx_adapter_options *options, const char *name, struct plx_interface *out)
{
	snprintf(out->name, sizeof(out->name), "%.31s", name);
	snprintf(out->description, sizeof(out->description), "Pollux on %s", options->device);
	out->index = options->interface_index;
	out->is_adapter = true;
	out->type = IF_TYPE_ETHERNET_CSMACD;
	out->mtu = options->path_mtu;
	out->is_up = true;
	for (; out->addresses < options->addresses; out->addresses++) {
		out->address[out->addresses].ip = options->address[out->addresses].ip;
		out->address[out->addresses].prefix_bits =
			options->address[out->addresses].prefix_bits;
	}
	for (; out->gateways < options->routes; out->gateways++)
		out->gateway[out->gateways] = options->route[out->gateways].via;
}

static bool
read_ours(struct plx_interfaces *all)
{
	char names[PLX_ADAPTERS_MAX][PLX_ADAPTER_NAME_MAX + 1];
	int n = plx_adapter_list(names, PLX_ADAPTERS_MAX, NULL);
	struct plx_adapter_options options;

	for (int i = 0; i < n && i < PLX_ADAPTERS_MAX; i++) {
		struct plx_interface *fresh;

		if (plx_adapter_options_load(names[i], &options, NULL) != PLX_OK)
			continue;
		fresh = append(all);
		if (!fresh)
			return false;
		describe(&options, names[i], fresh);
	}
	return true;
}

/* ---- from the kernel ---- */

static uint32_t
mtu_of(const char *name)
{
	struct ifreq request = {.ifr_mtu = 0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", name);
	if (ioctl(fd, SIOCGIFMTU, &request) != 0)
		request.ifr_mtu = 0;
	close(fd);
	return (uint32_t)request.ifr_mtu;
}

static struct plx_interface *
find_or_append(struct plx_interfaces *all, uint32_t from, const struct ifaddrs *ifa)
{
	struct plx_interface *fresh;

	for (uint32_t i = from; i < all->count; i++)
		if (strncmp(all->one[i].name, ifa->ifa_name, PLX_INTERFACE_NAME_ROOM - 1) == 0)
			return &all->one[i];
	fresh = append(all);
	if (!fresh)
		return NULL;
	snprintf(fresh->name, sizeof(fresh->name), "%.31s", ifa->ifa_name);
	snprintf(fresh->description, sizeof(fresh->description), "%s", ifa->ifa_name);
	fresh->index = if_nametoindex(ifa->ifa_name);
	fresh->mtu = mtu_of(ifa->ifa_name);
	fresh->type =
		ifa->ifa_flags & IFF_LOOPBACK ? IF_TYPE_SOFTWARE_LOOPBACK : IF_TYPE_ETHERNET_CSMACD;
	fresh->is_up = (ifa->ifa_flags & IFF_UP) && (ifa->ifa_flags & IFF_RUNNING);
	return fresh;
}

static uint8_t
bits_of(const uint8_t *mask, uint32_t bytes)
{
	uint32_t bits = 0;

	while (bits < 8 * bytes && mask[bits / 8] & (0x80u >> (bits % 8)))
		bits++;
	return (uint8_t)bits;
}

static void
add_address(struct plx_interface *to, const struct ifaddrs *ifa)
{
	struct plx_ip *ip = &to->address[to->addresses].ip;
	struct sockaddr_in6 v6, mask6;
	struct sockaddr_in v4, mask4;

	if (to->addresses == PLX_INTERFACE_ADDRESSES_MAX || !ifa->ifa_netmask)
		return;
	if (ifa->ifa_addr->sa_family == AF_INET) {
		memcpy(&v4, ifa->ifa_addr, sizeof(v4));
		memcpy(&mask4, ifa->ifa_netmask, sizeof(mask4));
		ip->version = 4;
		memcpy(ip->v, &v4.sin_addr, 4);
		to->address[to->addresses].prefix_bits =
			bits_of((const uint8_t *)&mask4.sin_addr, 4);
	} else {
		memcpy(&v6, ifa->ifa_addr, sizeof(v6));
		memcpy(&mask6, ifa->ifa_netmask, sizeof(mask6));
		ip->version = 6;
		memcpy(ip->v, &v6.sin6_addr, 16);
		to->address[to->addresses].prefix_bits =
			bits_of((const uint8_t *)&mask6.sin6_addr, 16);
	}
	to->addresses++;
}

static void
add_mac(struct plx_interface *to, const struct ifaddrs *ifa)
{
	struct sockaddr_ll link;

	memcpy(&link, ifa->ifa_addr, sizeof(link));
	to->has_mac = link.sll_halen == sizeof(to->mac) && !(ifa->ifa_flags & IFF_LOOPBACK);
	if (to->has_mac)
		memcpy(to->mac, link.sll_addr, sizeof(to->mac));
}

static bool
read_kernel(struct plx_interfaces *all)
{
	uint32_t from = all->count;
	struct ifaddrs *list = NULL;
	bool good = true;

	if (getifaddrs(&list) != 0)
		return true; /* the adapters alone are reported then */
	for (const struct ifaddrs *at = list; at && good; at = at->ifa_next) {
		struct plx_interface *to;

		if (!at->ifa_addr)
			continue;
		to = find_or_append(all, from, at);
		good = to != NULL;
		if (good && at->ifa_addr->sa_family == AF_PACKET)
			add_mac(to, at);
		else if (good && (at->ifa_addr->sa_family == AF_INET ||
				  at->ifa_addr->sa_family == AF_INET6))
			add_address(to, at);
	}
	freeifaddrs(list);
	return good;
}

bool
plx_interfaces_read(struct plx_interfaces *out)
{
	*out = (struct plx_interfaces){NULL, 0};
	if (read_ours(out) && read_kernel(out))
		return true;
	free(out->one);
	*out = (struct plx_interfaces){NULL, 0};
	return false;
}
