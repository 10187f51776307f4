/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An endpoint's adapter through ND2: the configuration file that the provider reads, the provider,
 * the adapter, the file of its requests, the listener. The rooms of ND2 are linked into ndperf,
 * like those of verbs, so that DllGetClassObject() is called directly and both interfaces are
 * measured alike. It creates nothing that belongs to a job. Start with nd2_open().
 */
#include "nd2_parts.h"

#include "options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plx_nd2.h"

bool
nd2_failed(struct side *side, const char *what, HRESULT status)
{
	return side_fail(side, "ND2: %s: status 0x%08x", what, (unsigned int)status);
}

ULONG
nd2_sockaddr(const struct plx_ip *ip, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
	memset(out, 0, sizeof(*out));
	if (ip->version == 4) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, ip->v, sizeof(v4->sin_addr));
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	memcpy(&v6->sin6_addr, ip->v, sizeof(v6->sin6_addr));
	return sizeof(*v6);
}

/* ---- the configuration file ---- */

/* Write an adapter's section from the options: ND2 has no other way to describe a device. */
static bool
write_adapter(FILE *to, const struct options *o, bool is_active, struct plx_why *why)
{
	struct plx_adapter_options w;
	char ip[64];
	if (!side_adapter_options(o, is_active, &w, why))
		return false;
	fprintf(to, "  { name = \"%s\"; mode = \"%s\"; idle = \"%s\"; core = %d;\n",
		side_name(o, is_active), mode_names[w.mode], idle_names[w.idle], w.core);
	fprintf(to, "    address = [ \"%s/%u\" ];\n", ip_text(&w.address[0].ip, ip, sizeof(ip)),
		w.address[0].prefix_bits);
	if (w.worker[0] != '\0')
		fprintf(to, "    worker = \"%s\";\n", w.worker);
	if (w.path_mtu != 0)
		fprintf(to, "    path_mtu = %u;\n", w.path_mtu);
	if (w.start_timeout_ms != 0)
		fprintf(to, "    start_timeout_ms = %u;\n", w.start_timeout_ms);
	fprintf(to, "    device = \"");
	for (const char *c = w.device; *c != '\0'; c++)
		fprintf(to, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
	fprintf(to, "\"; }");
	return true;
}

static char config_path[] = "/tmp/ndperf-XXXXXX";

static void
remove_config(void)
{
	unlink(config_path);
}

/* With --adapter, the user's own file is read. */
static bool
write_config(const struct options *o, struct plx_why *why)
{
	bool is_solo = o->role == ROLE_SOLO, is_good;
	int fd = mkstemp(config_path);
	FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (to == NULL)
		return why_set(why, "%s cannot be written: %s", config_path, strerror(errno));
	atexit(remove_config);
	fprintf(to, "adapters = (\n");
	is_good = write_adapter(to, o, is_solo || o->role == ROLE_CLIENT, why);
	if (is_solo && is_good) {
		fprintf(to, ",\n");
		is_good = write_adapter(to, o, false, why);
	}
	fprintf(to, "\n);\n");
	if (fclose(to) != 0 && is_good)
		return why_set(why, "%s cannot be written: %s", config_path, strerror(errno));
	setenv("POLLUX_CONFIG", config_path, 1);
	/* for details that an HRESULT cannot express */
	setenv("POLLUX_ND2_LOG", "1", 0);
	return is_good;
}

/* Done once for both endpoints. */
static bool
need_config(const struct options *o, struct plx_why *why)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_written;
	pthread_mutex_lock(&lock);
	is_written = is_written || o->endpoint.adapter != NULL || write_config(o, why);
	bool is_there = is_written;
	pthread_mutex_unlock(&lock);
	return is_there;
}

/* ---- the adapter ---- */

static HRESULT
open_adapter(struct nd2 *nd2, const struct plx_ip *ip)
{
	struct sockaddr_storage address;
	ULONG length = nd2_sockaddr(ip, 0, &address);
	void *provider = NULL, *adapter = NULL;
	UINT64 id = 0;
	HRESULT status = DllGetClassObject(&IID_IND2Provider, &IID_IND2Provider, &provider);
	if (status != S_OK)
		return status;
	status = IND2Provider_ResolveAddress((IND2Provider *)provider,
					     (const struct sockaddr *)&address, length, &id);
	if (status == ND_SUCCESS)
		status = IND2Provider_OpenAdapter((IND2Provider *)provider, &IID_IND2Adapter, id,
						  &adapter);
	IND2Provider_Release((IND2Provider *)provider);
	nd2->adapter = adapter;
	return status;
}

static HRESULT
make_listener(struct nd2 *nd2, const struct plx_ip *ip)
{
	struct sockaddr_storage address;
	ULONG length = nd2_sockaddr(ip, 0, &address);
	void *listener = NULL;
	HRESULT status =
		IND2Adapter_CreateListener(nd2->adapter, &IID_IND2Listener, nd2->file, &listener);
	nd2->listener = listener;
	if (status == ND_SUCCESS)
		status =
			IND2Listener_Bind(nd2->listener, (const struct sockaddr *)&address, length);
	if (status == ND_SUCCESS)
		status = IND2Listener_Listen(nd2->listener, 0);
	length = sizeof(address);
	if (status == ND_SUCCESS)
		status = IND2Listener_GetLocalAddress(nd2->listener, (struct sockaddr *)&address,
						      &length);
	/* the port has the same offset in both families */
	if (status == ND_SUCCESS)
		nd2->port = ntohs(((const struct sockaddr_in *)&address)->sin_port);
	return status;
}

/* Get the limits from ND2, and the description of the device from the adapter below it. */
static HRESULT
query_limits(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	ULONG bytes = sizeof(nd2->limits);
	nd2->limits.InfoVersion = ND_VERSION_2;
	HRESULT status = IND2Adapter_Query(nd2->adapter, &nd2->limits, &bytes);
	plx_nd2_adapter_info(nd2->adapter, &side->info);
	side->is_inline = side->info.mode == PLX_MODE_INLINE;
	side->info.queue_depth = nd2->limits.MaxInitiatorQueueDepth;
	side->info.cq_depth = nd2->limits.MaxCompletionQueueDepth;
	side->info.inline_bytes = nd2->limits.MaxInlineDataSize;
	side->info.rd_atomic_max = nd2->limits.MaxOutboundReadLimit;
	return status;
}

static bool
open_parts(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	HRESULT status = query_limits(side);
	if (status == ND_SUCCESS)
		status = IND2Adapter_CreateOverlappedFile(nd2->adapter, &nd2->file);
	if (status != ND_SUCCESS)
		return nd2_failed(side, "no file for its requests", status);
	if (!side->is_active)
		status = make_listener(nd2, &side->info.address[0]);
	return status == ND_SUCCESS || nd2_failed(side, "no listener", status);
}

bool
nd2_open(struct side *side, const struct options *o, struct plx_why *why)
{
	struct plx_adapter_options adapter_options;
	if (!need_config(o, why) ||
	    !side_adapter_options(o, side->is_active, &adapter_options, why))
		return false;
	side->nd2 = calloc(1, sizeof(*side->nd2));
	if (side->nd2 == NULL)
		return why_set(why, "no memory");
	HRESULT status = open_adapter(side->nd2, &adapter_options.address[0].ip);
	bool is_open = status == ND_SUCCESS
			       ? open_parts(side)
			       : nd2_failed(side, "the adapter cannot be opened", status);
	if (is_open)
		return true;
	*why = side->why;
	nd2_close(side);
	return false;
}

struct plx_adapter *
nd2_adapter(const struct side *side)
{
	return plx_nd2_adapter_verbs(side->nd2->adapter);
}

void
nd2_close(struct side *side)
{
	struct nd2 *nd2 = side->nd2;
	if (nd2->listener != NULL)
		IND2Listener_Release(nd2->listener);
	if (nd2->file != NULL)
		CloseHandle(nd2->file);
	if (nd2->adapter != NULL)
		IND2Adapter_Release(nd2->adapter);
	free(nd2);
	side->nd2 = NULL;
}
