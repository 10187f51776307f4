/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One adapter of the configuration file, for a test that drives it by lines on stdin: it answers
 * who asks on the network, and asks by itself when it is told to. It ends with its input.
 * It never opens a queue pair. Start with obey().
 *
 *   ping ADDRESS BYTES     "echo ADDRESS BYTES NANOSECONDS" or "status: sentence"
 *   resolve ADDRESS        "at ADDRESS MAC" or "status: sentence"
 *   counter NAME           "counter NAME VALUE"
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plx_verbs.h"

enum {
	PATIENCE_MS = 20000,
	COUNTERS_MAX = 256,
};

static struct plx_adapter *adapter;

static bool
read_address(const char *text, struct plx_ip *ip)
{
	memset(ip, 0, sizeof(*ip));
	if (inet_pton(AF_INET, text, ip->v) == 1)
		ip->version = 4;
	else if (inet_pton(AF_INET6, text, ip->v) == 1)
		ip->version = 6;
	return ip->version != 0;
}

static void
ping(const char *address, uint32_t bytes)
{
	struct plx_why why = {""};
	enum plx_status status;
	struct plx_ip ip;
	uint64_t rtt_ns;

	(void)read_address(address, &ip);
	status = plx_adapter_ping(adapter, &ip, bytes, PATIENCE_MS, &rtt_ns, &why);
	if (status == PLX_OK)
		printf("echo %s %u %" PRIu64 "\n", address, bytes, rtt_ns);
	else
		printf("%s: %s\n", plx_status_text(status), why.text);
}

static void
resolve(const char *address)
{
	struct plx_why why = {""};
	enum plx_status status;
	struct plx_ip ip;
	uint8_t mac[6];

	(void)read_address(address, &ip);
	status = plx_adapter_resolve(adapter, &ip, PATIENCE_MS, mac, &why);
	if (status == PLX_OK)
		printf("at %s %02x:%02x:%02x:%02x:%02x:%02x\n", address, mac[0], mac[1], mac[2],
		       mac[3], mac[4], mac[5]);
	else
		printf("%s: %s\n", plx_status_text(status), why.text);
}

static void
tell_counter(const char *name)
{
	struct plx_counter counter[COUNTERS_MAX];
	uint32_t n = plx_adapter_counters(adapter, counter, COUNTERS_MAX);

	for (uint32_t i = 0; i < n && i < COUNTERS_MAX; i++)
		if (strcmp(counter[i].name, name) == 0)
			printf("counter %s %" PRIu64 "\n", name, counter[i].value);
}

static void
obey(const char *line)
{
	char word[64];
	uint32_t bytes;

	if (sscanf(line, "ping %63s %" SCNu32, word, &bytes) == 2)
		ping(word, bytes);
	else if (sscanf(line, "resolve %63s", word) == 1)
		resolve(word);
	else if (sscanf(line, "counter %63s", word) == 1)
		tell_counter(word);
	else
		printf("not understood: %s", line);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct plx_why why = {""};
	char line[128];

	if (argc != 2) {
		fprintf(stderr, "usage: station NAME, which is an adapter of the file\n");
		return 2;
	}
	if (plx_adapter_open(argv[1], NULL, &adapter, &why) != PLX_OK) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return plx_adapter_close(adapter) == PLX_OK ? 0 : 1;
}
