/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Extracts the datagrams for QP 1 from a capture. It never judges them. Start with mads_load().
 */
#include "mads.h"
#include "plx_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	GSI_QPN = 1,
};

static struct plx_ip
address_of(const struct plx_frame *frame, bool source)
{
	struct plx_ip ip = {.version = frame->ip_version};
	uint32_t v4 = source ? frame->v4.src : frame->v4.dst;

	if (ip.version == 6)
		memcpy(ip.v, source ? frame->v6.src : frame->v6.dst, sizeof(ip.v));
	for (int i = 0; ip.version == 4 && i < 4; i++)
		ip.v[i] = (uint8_t)(v4 >> (24 - 8 * i));
	return ip;
}

/* Returns: 1 when the frame is one, 0 when it is not, -1 when it cannot be decoded */
static int
take(const struct pcap_frame *from, struct mad *out)
{
	struct plx_frame frame;
	struct plx_pkt pkt;
	size_t bth_at;

	if (plx_frame_decode(from->bytes, from->len, 0, &frame) != PLX_WIRE_OK)
		return -1;
	bth_at = frame.udp_at + (size_t)PLX_UDP_BYTES;
	if (plx_pkt_decode(from->bytes + bth_at, frame.udp_bytes - (size_t)PLX_UDP_BYTES, &pkt) !=
	    PLX_WIRE_OK)
		return -1;
	if (pkt.dest_qpn != GSI_QPN)
		return 0;
	*out = (struct mad){.src = address_of(&frame, true),
			    .dst = address_of(&frame, false),
			    .qkey = pkt.deth.qkey,
			    .src_qpn = pkt.deth.src_qpn,
			    .bytes = pkt.payload,
			    .len = pkt.payload_bytes};
	return 1;
}

int
mads_load(const char *folder, const char *name, struct mads *out)
{
	char path[4096];

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "%s/%s.pcap", folder, name);
	if (pcap_load(path, &out->pcap))
		return -1;
	out->list = calloc(out->pcap.count + 1, sizeof(*out->list));
	for (size_t i = 0; out->list && i < out->pcap.count; i++) {
		int found = take(&out->pcap.frames[i], &out->list[out->count]);

		if (found < 0)
			break;
		out->count += (size_t)found;
		if (i + 1 == out->pcap.count)
			return 0;
	}
	mads_free(out);
	return -1;
}

void
mads_free(struct mads *mads)
{
	free(mads->list);
	pcap_free(&mads->pcap);
	memset(mads, 0, sizeof(*mads));
}
