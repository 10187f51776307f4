/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a classic pcap file of whole Ethernet frames into memory.
 * It never writes one, and never reads pcapng.
 */
#ifndef PLX_TEST_PCAP_H
#define PLX_TEST_PCAP_H

#include <stddef.h>
#include <stdint.h>

/* One frame, in a malloc block of exactly `len` bytes: a sanitizer sees an overread. */
struct pcap_frame {
	uint8_t *bytes;
	size_t len;
};

struct pcap {
	size_t count;
	struct pcap_frame *frames;
};

/** Load all frames of the file at `path`.
 * @param out  on failure empty, so that pcap_free() is always valid
 * Returns: 0; -1 when the file cannot be read, is not an Ethernet pcap, ends in the middle of a
 * record, or has a frame that the capture truncated */
int pcap_load(const char *path, struct pcap *out);

void pcap_free(struct pcap *pcap);

#endif
