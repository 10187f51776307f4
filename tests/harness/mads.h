/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The datagrams for QP 1 in a capture of tests/captures, in order. It never looks inside one.
 */
#ifndef PLX_TEST_MADS_H
#define PLX_TEST_MADS_H

#include "pcap.h"
#include "plx_types.h"

struct mad {
	struct plx_ip src, dst;
	uint32_t qkey, src_qpn;
	const uint8_t *bytes; /* in the capture's own block */
	size_t len;
};

struct mads {
	struct pcap pcap;
	struct mad *list;
	size_t count;
};

/** Load them from `folder`/`name`.pcap. Returns: 0, or -1 when a packet of it cannot be decoded */
int mads_load(const char *folder, const char *name, struct mads *out);

void mads_free(struct mads *mads);

#endif
