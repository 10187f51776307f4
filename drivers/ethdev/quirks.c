/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of PMD quirks, as measured with DPDK 22.11. It reads arguments and the kernel's MTU of
 * an interface, and never touches a DPDK port. Start with the table at the end; docs/ports.md tells
 * the same to a user.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_kvargs.h>

#include "plx_base.h"
#include "quirks.h"

enum {
	MEMIF_BSIZE = 2048,       /* [bytes] the PMD's default */
	PACKET_FRAMESZ = 2048,    /* [bytes] the PMD's default */
	PACKET_OVERHEAD = 66,     /* [bytes] of framesz: where the kernel puts a received frame */
	TAP_FRAME = 1514,         /* [bytes] the kernel's MTU of 1500 */
	ARGUMENT_TEXT = IFNAMSIZ, /* [bytes] the longest argument read */
};

/* Get the value of one argument; false: missing, or longer than any known value. */
static bool
argument_text(const char *args, const char *key, char text[static ARGUMENT_TEXT])
{
	struct rte_kvargs *list = rte_kvargs_parse(args, NULL);
	const char *value = list == NULL ? NULL : rte_kvargs_get(list, key);
	bool there = value != NULL && strlen(value) < ARGUMENT_TEXT;

	if (there)
		snprintf(text, ARGUMENT_TEXT, "%s", value);
	rte_kvargs_free(list);
	return there;
}

uint32_t
argument_number(const char *args, const char *key, uint32_t missing)
{
	char text[ARGUMENT_TEXT];
	char *end = NULL;
	unsigned long number;

	if (!argument_text(args, key, text))
		return missing;
	number = strtoul(text, &end, 10);
	return end == text || *end != '\0' || number > UINT32_MAX ? missing : (uint32_t)number;
}

/* The kernel's MTU of an interface in this network namespace [bytes]; 0: no such interface. */
static uint32_t
kernel_mtu(const char *interface)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	int failed;

	if (fd < 0)
		return 0;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	failed = ioctl(fd, SIOCGIFMTU, &request);
	close(fd);
	return failed || request.ifr_mtu < 0 ? 0 : (uint32_t)request.ifr_mtu;
}

/* A packet of more than one memif slot desynchronizes the ring: the receiver then gets stale
 * duplicates forever. So nothing longer than a slot may be sent. */
static struct frame_limit
memif_limit(const char *args)
{
	return (struct frame_limit){argument_number(args, "bsize", MEMIF_BSIZE),
				    "set a larger bsize= on both ends (4608 for path MTU 4096)"};
}

/* Two limits: the slot, of which a received frame uses more overhead than a sent one; and the
 * interface, because the kernel refuses a slot with a frame above the MTU, and the PMD then waits
 * for that slot. */
static struct frame_limit
packet_limit(const char *args)
{
	uint32_t framesz = argument_number(args, "framesz", PACKET_FRAMESZ);
	uint32_t slot = framesz > PACKET_OVERHEAD ? framesz - PACKET_OVERHEAD : 0;
	char interface[ARGUMENT_TEXT] = "";
	uint32_t mtu = argument_text(args, "iface", interface) ? kernel_mtu(interface) : 0;

	if (mtu != 0 && mtu + ETHERNET_BYTES < slot)
		return (struct frame_limit){mtu + ETHERNET_BYTES,
					    "raise the MTU of the interface and of its peer (ip "
					    "link set IFACE mtu 9000)"};
	return (struct frame_limit){
		slot, "set a larger framesz= (framesz=4352,blocksz=69632,framecnt=512 for path "
		      "MTU 4096)"};
}

static struct frame_limit
tap_limit(const char *args)
{
	(void)args;
	return (struct frame_limit){TAP_FRAME,
				    "use a path MTU of 1024, or net_af_packet on a veth pair"};
}

static struct frame_limit
no_limit(const char *args)
{
	(void)args;
	return (struct frame_limit){FRAME_MAX, "use shorter frames"};
}

/* Removing a server leaves its listening socket open and served by the EAL's interrupt thread, but
 * frees the handler's memory: the next client that connects crashes the process. */
static bool
memif_stays(const char *args, bool made)
{
	char role[ARGUMENT_TEXT] = "";

	(void)made;
	return argument_text(args, "role", role) &&
	       (strcmp(role, "server") == 0 || strcmp(role, "master") == 0);
}

/* Its rings belong to its creator. */
static bool
ring_stays(const char *args, bool made)
{
	(void)args;
	return !made;
}

static const struct quirk quirks[] = {
	/* Reports 1518 and refuses an MTU above 1500, but carries what fits a slot. */
	{"net_memif", memif_limit, .mtu_unset = true, .stop_by_alarm = true, .guard = true,
	 .tx_lost_on_exit = true, .segments = true, .stays = memif_stays},
	/* Reports 1518 likewise; the limit is the slot and the interface. */
	{"net_af_packet", packet_limit, .mtu_unset = true, .segments = true},
	/* Reports 1522; the kernel's side of the tap has MTU 1500, and no code to change it. */
	{"net_tap", tap_limit, .mtu_unset = true, .rx_fd_is_data = true, .segments = true},
	/* A chain is sent with the bytes of the first segment and the full length, without an
	 * error. It does not offer MULTI_SEGS in 22.11; later versions do. */
	{"net_af_xdp", NULL, .segments = false},
	/* Reports two pairs of queues for every model. Those before the 82571 have one: what is
	 * sent on another never leaves. */
	{"net_e1000_em", NULL, .queues = 1, .segments = true},
	/* Passes pointers. */
	{"net_ring", no_limit, .mtu_unset = true, .segments = true, .stays = ring_stays},
	{"net_null", no_limit, .mtu_unset = true, .segments = true},
	{"net_vhost", no_limit, .mtu_unset = true, .segments = true},
};

static const struct quirk plain = {"", NULL, .segments = true};

const struct quirk *
quirk_of(const char *driver)
{
	for (size_t i = 0; i < PLX_COUNT_OF(quirks); i++)
		if (strcmp(quirks[i].driver, driver) == 0)
			return &quirks[i];
	return &plain;
}

const struct quirk *
quirk_of_name(const char *name)
{
	/* net_memif matches net_memif0 and net_memif_a, but not net_memiff */
	for (size_t i = 0; i < PLX_COUNT_OF(quirks); i++) {
		size_t length = strlen(quirks[i].driver);

		if (strncmp(quirks[i].driver, name, length) == 0 &&
		    (name[length] == '_' || (name[length] >= '0' && name[length] <= '9') ||
		     name[length] == ',' || name[length] == '\0'))
			return &quirks[i];
	}
	return &plain;
}
