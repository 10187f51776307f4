/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of the arguments of a program, and of the fields of a peer's REQ.
 * It changes nothing. docs/cm.md has the table of limits.
 * Start with cm_request_check().
 */
#include "connection.h"

enum {
	QPN_LEAST = 2, /* 0 and 1 are the management queue pairs */
	QPN_MULTICAST = 0xffffff,
	PKEY_BITS = 0x7fff, /* of the default partition; the highest bit means full membership */
	TRANSPORT_RC = 0,
};

static const uint16_t path_mtus[] = {0, 256, 512, 1024, 2048, 4096};

uint32_t
cm_path_mtu(uint8_t code)
{
	return code < PLX_COUNT_OF(path_mtus) ? path_mtus[code] : 0;
}

uint8_t
cm_path_mtu_code(uint32_t bytes)
{
	for (uint8_t code = 1; code < PLX_COUNT_OF(path_mtus); code++) {
		if (path_mtus[code] == bytes)
			return code;
	}
	return 0;
}

bool
cm_qpn_is_good(uint32_t qpn)
{
	return qpn >= QPN_LEAST && qpn < QPN_MULTICAST;
}

/* ---- arguments of a program ---- */

static bool
ip_is_good(const struct plx_ip *ip)
{
	return ip->version == 4 || ip->version == 6;
}

bool
cm_own_is_good(const struct plx_cm_own *own)
{
	return cm_qpn_is_good(own->qpn) && own->psn.v <= PLX_PSN_MASK &&
	       cm_path_mtu_code(own->path_mtu) != 0 && own->rnr_retry <= PLX_RETRY_MAX &&
	       own->retry <= PLX_RETRY_MAX && own->ack_timeout <= 31;
}

bool
cm_connect_is_good(const struct plx_cm_connect *connect)
{
	return ip_is_good(&connect->local) && connect->local.version == connect->remote.version &&
	       connect->remote_port != 0 && (connect->private_data || !connect->private_bytes);
}

/* ---- fields of a REQ ---- */

uint8_t
cm_ack_timeout(uint8_t asked)
{
	if (asked == 0 || asked > PLX_CM_ACK_TIMEOUT_MAX)
		return PLX_CM_ACK_TIMEOUT_MAX;
	return asked < PLX_CM_ACK_TIMEOUT_MIN ? PLX_CM_ACK_TIMEOUT_MIN : asked;
}

/*
 * The packet, the path and the addresses in the private data must name the same two ends. Otherwise
 * a host that can send as A could be connected as B.
 */
static bool
addresses_agree(const struct plx_cm_req *req, const struct plx_cm_route *route,
		const struct plx_cma *cma)
{
	uint8_t local[16], remote[16];

	plx_gid_from_ip(&route->local, local);
	plx_gid_from_ip(&route->remote, remote);
	return memcmp(req->primary.remote_gid, local, sizeof local) == 0 &&
	       memcmp(req->primary.local_gid, remote, sizeof remote) == 0 &&
	       plx_ip_equal(&cma->dst, &route->local) && plx_ip_equal(&cma->src, &route->remote);
}

enum plx_cm_reason
cm_request_check(const struct plx_cm_req *req, const struct plx_cm_route *route,
		 uint32_t path_mtu_max, struct plx_cma *cma)
{
	uint32_t path_mtu = cm_path_mtu(req->path_mtu);

	if (req->transport_service != TRANSPORT_RC || req->extended_transport != 0)
		return PLX_CM_REASON_INVALID_TRANSPORT;
	if (!cm_qpn_is_good(req->local_qpn) || (req->pkey & PKEY_BITS) != PKEY_BITS)
		return PLX_CM_REASON_UNSUPPORTED;
	if (path_mtu == 0 || path_mtu > path_mtu_max)
		return PLX_CM_REASON_PATH_MTU;
	if (!plx_cma_decode(req->private_data, cma))
		return PLX_CM_REASON_UNSUPPORTED;
	if (!addresses_agree(req, route, cma))
		return PLX_CM_REASON_PRIMARY_GID;
	return PLX_CM_REASON_NONE;
}
