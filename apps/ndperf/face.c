/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the interfaces above verbs share: the configuration file that describes the adapters to
 * them, socket addresses. It opens nothing. Start with face_config().
 */
#include "face.h"

#include "options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct face *
face_of(enum api api)
{
	static const struct face *const faces[API_COUNT] = {
		[API_ND2] = &nd2_face,
		[API_NDK] = &ndk_face,
		[API_VERBS_ND2] = &nd2_face,
		[API_VERBS_NDK] = &ndk_face,
	};
	return faces[api];
}

uint32_t
face_sockaddr(const struct plx_ip *ip, uint16_t port, struct sockaddr_storage *out)
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

/* Write an adapter's section from the options. */
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
	if (w.qps != 0)
		fprintf(to, "    queue_pairs = %u; connections = %u; connections_per_peer = %u;\n",
			w.qps, w.connections, w.connections_per_peer);
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
	return is_good;
}

bool
face_config(const struct options *o, struct plx_why *why)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_written;
	pthread_mutex_lock(&lock);
	is_written = is_written || o->endpoint.adapter != NULL || write_config(o, why);
	bool is_there = is_written;
	pthread_mutex_unlock(&lock);
	return is_there;
}
