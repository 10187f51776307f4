/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drop-in files that programs make: written beside their place, then put there in one step, so that
 * who reads the folder meanwhile sees all of it or nothing. It judges nothing and replaces nothing.
 * Start with catalog_file_write().
 */
#include "catalog.h"

#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A string as libconfig reads it back. */
static void
put_string(FILE *to, const char *name, const char *text)
{
	fprintf(to, "%s = \"", name);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(to, "\\%c", *at);
		else if (*at < ' ' || *at == 0x7f)
			fprintf(to, "\\x%02x", *at);
		else
			fputc(*at, to);
	}
	fputs("\";\n", to);
}

static void
put_entry(FILE *to, const WSAPROTOCOL_INFOW *entry)
{
	char name[(WSAPROTOCOL_LEN + 1) * 4];

	utf8_of_wide(entry->szProtocol, name, sizeof(name));
	fputs("  {\n    ", to);
	put_string(to, "name", name);
	fprintf(to, "    family = %d;\n    version = 0x%x;\n", entry->iAddressFamily,
		(unsigned)entry->iVersion);
	fprintf(to, "    service_flags = 0x%" PRIx32 "L;\n", entry->dwServiceFlags1);
	fprintf(to, "    service_flags2 = 0x%" PRIx32 "L;\n", entry->dwServiceFlags2);
	fprintf(to, "    service_flags3 = 0x%" PRIx32 "L;\n", entry->dwServiceFlags3);
	fprintf(to, "    service_flags4 = 0x%" PRIx32 "L;\n", entry->dwServiceFlags4);
	fprintf(to, "    provider_flags = 0x%" PRIx32 "L;\n", entry->dwProviderFlags);
	fprintf(to, "    max_sockaddr = %d;\n    min_sockaddr = %d;\n", entry->iMaxSockAddr,
		entry->iMinSockAddr);
	fprintf(to, "    socket_type = %d;\n    protocol = %d;\n", entry->iSocketType,
		entry->iProtocol);
	fprintf(to, "    protocol_max_offset = %d;\n    byte_order = %d;\n",
		entry->iProtocolMaxOffset, entry->iNetworkByteOrder);
	fprintf(to, "    security_scheme = %d;\n", entry->iSecurityScheme);
	fprintf(to, "    message_size = %" PRIu32 "L;\n", entry->dwMessageSize);
	fprintf(to, "    reserved = 0x%" PRIx32 "L;\n  }", entry->dwProviderReserved);
}

static bool
put_provider(FILE *to, const struct catalog_provider *provider)
{
	char id[CATALOG_GUID_TEXT];

	catalog_guid_print(&provider->id, id);
	fputs("# Written by WSCInstallProvider().\n", to);
	put_string(to, "id", id);
	put_string(to, "library", provider->library);
	fputs("entries = (\n", to);
	for (uint32_t i = 0; i < provider->entries; i++) {
		put_entry(to, &provider->entry[i]);
		fputs(i + 1 < provider->entries ? ",\n" : "\n", to);
	}
	fputs(");\n", to);
	return fflush(to) == 0 && !ferror(to) && fsync(fileno(to)) == 0;
}

/* The folder, and what it lies in. */
static int
make_folder(const char *folder)
{
	char path[CATALOG_PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s", folder);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			return errno;
		*slash = '/';
	}
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return errno;
	if (stat(path, &status) != 0)
		return errno;
	return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

int
catalog_file_write(const char *folder, const struct catalog_provider *provider)
{
	char path[CATALOG_PATH_MAX + 64], fresh[CATALOG_PATH_MAX + 64], id[CATALOG_GUID_TEXT];
	int cause = make_folder(folder);
	FILE *to;
	int fd;

	if (cause)
		return cause;
	catalog_guid_print(&provider->id, id);
	snprintf(path, sizeof(path), "%s/%.36s.conf", folder, id + 1);
	snprintf(fresh, sizeof(fresh), "%s/.%.36s.XXXXXX", folder, id + 1);
	fd = mkostemp(fresh, O_CLOEXEC);
	if (fd < 0)
		return errno;
	to = fdopen(fd, "w");
	if (!to) {
		cause = errno;
		close(fd);
	} else {
		if (fchmod(fd, 0644) != 0 || !put_provider(to, provider))
			cause = errno ? errno : EIO;
		if (fclose(to) != 0 && !cause)
			cause = errno;
	}
	/* link, unlike rename, refuses a name that is taken */
	if (!cause && link(fresh, path) != 0)
		cause = errno;
	unlink(fresh);
	return cause;
}
