/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The header of the IP CM service <-> struct plx_cma, and IP addresses <-> GIDs.
 * It never searches interfaces for an address, and never compares the two ends.
 * Spec: IBTA vol 1, Annex A11 (the header); RFC 4291 (2.5.5.2, IPv4 as IPv6).
 */
#include "plx_mad.h"

enum {
	AT_VERSION = 0,    /* major and minor */
	AT_IP_VERSION = 1, /* in the high four bits */
	AT_PORT = 2,
	AT_SRC = 4,
	AT_DST = 20,
	ADDRESS_BYTES = 16,
	V4_AT = 12, /* an IPv4 address is at the end of its field */
	V4_BYTES = 4,
};

static const uint8_t v4_mapped[V4_AT] = {[10] = 0xff, [11] = 0xff};

static struct plx_ip
address_decode(const uint8_t *in, uint8_t version)
{
	struct plx_ip ip = {.version = version};

	if (version == 4)
		memcpy(ip.v, in + V4_AT, V4_BYTES);
	else
		memcpy(ip.v, in, ADDRESS_BYTES);
	return ip;
}

static void
address_encode(const struct plx_ip *ip, uint8_t *out)
{
	memset(out, 0, ADDRESS_BYTES);
	if (ip->version == 4)
		memcpy(out + V4_AT, ip->v, V4_BYTES);
	else
		memcpy(out, ip->v, ADDRESS_BYTES);
}

bool
plx_cma_decode(const uint8_t *in, struct plx_cma *out)
{
	uint8_t ip_version = in[AT_IP_VERSION] >> 4;

	if (in[AT_VERSION] != 0 || (ip_version != 4 && ip_version != 6))
		return false;
	out->major = out->minor = 0;
	out->src_port = (uint16_t)(in[AT_PORT] << 8 | in[AT_PORT + 1]);
	out->src = address_decode(in + AT_SRC, ip_version);
	out->dst = address_decode(in + AT_DST, ip_version);
	return true;
}

void
plx_cma_encode(const struct plx_cma *cma, uint8_t *out)
{
	out[AT_VERSION] = (uint8_t)(cma->major << 4 | (cma->minor & 0xf));
	out[AT_IP_VERSION] = (uint8_t)(cma->src.version << 4);
	out[AT_PORT] = (uint8_t)(cma->src_port >> 8);
	out[AT_PORT + 1] = (uint8_t)cma->src_port;
	address_encode(&cma->src, out + AT_SRC);
	address_encode(&cma->dst, out + AT_DST);
}

void
plx_gid_from_ip(const struct plx_ip *ip, uint8_t *gid)
{
	address_encode(ip, gid);
	if (ip->version == 4)
		memcpy(gid, v4_mapped, sizeof v4_mapped);
}

struct plx_ip
plx_gid_to_ip(const uint8_t *gid)
{
	return address_decode(gid, memcmp(gid, v4_mapped, sizeof v4_mapped) == 0 ? 4 : 6);
}
