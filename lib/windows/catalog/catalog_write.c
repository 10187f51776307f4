/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes drop-in files for programs: first to a temporary name, then moved into place in one step,
 * so that readers of the folder see either the whole file or none. It checks nothing and replaces
 * nothing. Start with catalog_file_write().
 */
#include "catalog.h"

#include "plx_files.h"
#include "plx_crt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FRESH_BYTES = 64, /* ".", 36 letters of a GUID, ".", 16 digits and a 0 */
};

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

/* Create a temporary file with a unique name. Returns: a descriptor, or -1 */
static int
make_fresh(int folder, const char *id, char name[FRESH_BYTES])
{
	uint64_t bits;
	int fd;

	do {
		if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
			return -1;
		snprintf(name, FRESH_BYTES, ".%.36s.%016" PRIx64, id, bits);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

static int
write_fresh(int fd, const struct catalog_provider *provider)
{
	FILE *to = fdopen(fd, "w");
	int cause = 0;

	if (!to) {
		cause = errno;
		close(fd);
		return cause;
	}
	if (fchmod(fd, 0644) != 0 || !put_provider(to, provider))
		cause = errno ? errno : EIO;
	if (fclose(to) != 0 && !cause)
		cause = errno;
	return cause;
}

int
catalog_file_write(const char *path, const struct catalog_provider *provider)
{
	char name[64], fresh[FRESH_BYTES], id[CATALOG_GUID_TEXT];
	int folder = plx_files_folder(path, PLX_FILES_STICKY, true, NULL), fd, cause;

	if (folder < 0)
		return errno;
	catalog_guid_print(&provider->id, id);
	snprintf(name, sizeof(name), "%.36s.conf", id + 1);
	fd = make_fresh(folder, id + 1, fresh);
	cause = fd < 0 ? errno : write_fresh(fd, provider);
	/* link, unlike rename, does not replace an existing file */
	if (!cause && linkat(folder, fresh, folder, name, 0) != 0)
		cause = errno;
	if (fd >= 0)
		unlinkat(folder, fresh, 0);
	close(folder);
	return cause;
}

int
catalog_file_remove(const char *path)
{
	char folder_path[CATALOG_PATH_MAX];
	const char *slash = strrchr(path, '/');
	int folder, cause = 0;

	if (!slash)
		return EINVAL;
	snprintf(folder_path, sizeof(folder_path), "%.*s", (int)(slash - path), path);
	folder = plx_files_folder(*folder_path ? folder_path : "/", PLX_FILES_STICKY, false, NULL);
	if (folder < 0)
		return errno;
	if (unlinkat(folder, slash + 1, 0) != 0)
		cause = errno;
	close(folder);
	return cause;
}
