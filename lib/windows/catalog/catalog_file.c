/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads one drop-in file of the catalog with libconfig and checks each setting. Errors name the
 * file, line, setting, value and range. The file is not modified. Start with catalog_file_read().
 */
#include "catalog.h"

#include "plx_files.h"
#include "plx_crt.h"

#include <ctype.h>
#include <libconfig.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum {
	UNTOLD = -1, /* a length that the file does not specify */
};

/* ---- messages ---- */

/* The place of an error, and where its message goes. */
struct place {
	const char *path;
	const config_setting_t *setting;
	struct catalog_complaints *complaints;
};

static bool __attribute__((format(printf, 2, 3)))
wrong(const struct place *at, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	/* the file as a whole has no line */
	if (config_setting_is_root(at->setting))
		catalog_complain(at->complaints, "%s: %s", at->path, text);
	else
		catalog_complain(at->complaints, "%s:%u: %s", at->path,
				 config_setting_source_line(at->setting), text);
	return false;
}

/* ---- the fields of an entry ---- */

struct field {
	const char *name;
	size_t offset;
	long long min, max;
};

#define OFFSET(member) offsetof(WSAPROTOCOL_INFOW, member)
#define BITS(name, member)                           \
	{                                            \
		name, OFFSET(member), 0, UINT32_MAX, \
	}
#define NUMBER(name, member, min)                      \
	{                                              \
		name, OFFSET(member), (min), INT32_MAX \
	}

/* All fields but the id, which belongs to the file, and the numbers assigned by the catalog. */
static const struct field fields[] = {
	BITS("service_flags", dwServiceFlags1),
	BITS("service_flags2", dwServiceFlags2),
	BITS("service_flags3", dwServiceFlags3),
	BITS("service_flags4", dwServiceFlags4),
	BITS("provider_flags", dwProviderFlags),
	NUMBER("version", iVersion, 0),
	NUMBER("max_sockaddr", iMaxSockAddr, 0),
	NUMBER("min_sockaddr", iMinSockAddr, 0),
	NUMBER("socket_type", iSocketType, -1),
	NUMBER("protocol", iProtocol, INT32_MIN),
	NUMBER("protocol_max_offset", iProtocolMaxOffset, 0),
	NUMBER("byte_order", iNetworkByteOrder, 0),
	NUMBER("security_scheme", iSecurityScheme, 0),
	BITS("message_size", dwMessageSize),
	BITS("reserved", dwProviderReserved),
};

void
catalog_entry_default(WSAPROTOCOL_INFOW *entry, const GUID *id, int family)
{
	int length = family == AF_INET ? (int)sizeof(struct sockaddr_in)
				       : (int)sizeof(struct sockaddr_in6);

	memset(entry, 0, sizeof(*entry));
	entry->dwServiceFlags1 = XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER |
				 XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;
	entry->dwProviderFlags = PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER;
	entry->ProviderId = *id;
	entry->ProtocolChain.ChainLen = BASE_PROTOCOL;
	entry->iVersion = 0x20000; /* Microsoft's framework compares with this value; its
				      documentation says 2 */
	entry->iAddressFamily = family;
	entry->iMaxSockAddr = length;
	entry->iMinSockAddr = length;
	entry->iSocketType = -1;
	entry->dwMessageSize = UINT32_MAX; /* messages, whose length the catalog does not limit */
	wide_of_utf8("NetworkDirect provider", entry->szProtocol, WSAPROTOCOL_LEN + 1);
}

static bool
read_number(const struct place *at, const char *name, long long min, long long max, long long *out)
{
	int type = config_setting_type(at->setting);

	if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
		return wrong(at, "%s is not a whole number; it needs %lld to %lld", name, min, max);
	*out = config_setting_get_int64(at->setting);
	if (*out < min || *out > max)
		return wrong(at,
			     "%s = %lld is outside its range of %lld to %lld (beyond 2147483647 a "
			     "number ends in L)",
			     name, *out, min, max);
	return true;
}

static bool
read_field(const struct place *at, const struct field *field, WSAPROTOCOL_INFOW *entry)
{
	long long value = 0;
	uint32_t word;

	if (!read_number(at, field->name, field->min, field->max, &value))
		return false;
	word = (uint32_t)value;
	memcpy((char *)entry + field->offset, &word, sizeof(word));
	return true;
}

static bool
read_name(const struct place *at, WSAPROTOCOL_INFOW *entry)
{
	const char *value = config_setting_get_string(at->setting);
	size_t n = value ? wide_of_utf8(value, NULL, 0) : 0;

	if (!value)
		return wrong(at, "name is not a string in quotes");
	if (n < 1 || n > WSAPROTOCOL_LEN)
		return wrong(at, "name = \"%.40s\" has %zu characters; it needs 1 to %d", value, n,
			     WSAPROTOCOL_LEN);
	wide_of_utf8(value, entry->szProtocol, WSAPROTOCOL_LEN + 1);
	return true;
}

/* "IPv4", "IPv6", or the number of another family */
static bool
read_family(const struct place *at, int *family)
{
	const char *word = config_setting_get_string(at->setting);
	long long value = 0;

	if (!word) {
		if (!read_number(at, "family", 0, UINT16_MAX, &value))
			return false;
		*family = (int)value;
		return true;
	}
	if (strcmp(word, "IPv4") != 0 && strcmp(word, "IPv6") != 0)
		return wrong(at, "family \"%.40s\" is not one of \"IPv4\", \"IPv6\"", word);
	*family = word[3] == '4' ? AF_INET : AF_INET6;
	return true;
}

/* Read a setting allowed both in a group of `entries` and at the top of the file. `known` false:
 * the name is unknown. */
static bool
read_entry_setting(const struct place *at, WSAPROTOCOL_INFOW *entry, bool *known)
{
	const char *name = config_setting_name(at->setting);

	*known = true;
	if (strcmp(name, "name") == 0)
		return read_name(at, entry);
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (strcmp(name, fields[i].name) == 0)
			return read_field(at, &fields[i], entry);
	*known = false;
	return true;
}

/* ---- id and library ---- */

bool
catalog_guid_parse(const char *text, GUID *out)
{
	static const uint8_t dash_before[16] = {[4] = 1, [6] = 1, [8] = 1, [10] = 1};
	uint8_t b[16];
	bool braces = *text == '{';

	text += braces;
	for (size_t i = 0; i < sizeof(b); i++) {
		char pair[3] = "";

		if (dash_before[i] && *text++ != '-')
			return false;
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return false;
		memcpy(pair, text, 2);
		b[i] = (uint8_t)strtoul(pair, NULL, 16);
		text += 2;
	}
	if (braces && *text++ != '}')
		return false;
	if (*text)
		return false;
	out->Data1 = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	out->Data2 = (uint16_t)(b[4] << 8 | b[5]);
	out->Data3 = (uint16_t)(b[6] << 8 | b[7]);
	memcpy(out->Data4, b + 8, sizeof(out->Data4));
	return true;
}

void
catalog_guid_print(const GUID *id, char out[CATALOG_GUID_TEXT])
{
	const uint8_t *d = id->Data4;

	snprintf(out, CATALOG_GUID_TEXT, "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}",
		 id->Data1, id->Data2, id->Data3, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
}

bool
catalog_library_is_right(const char *library)
{
	return *library == '/' || (*library == '%' && strchr(library + 1, '%')) ||
	       (*library && !strchr(library, '/'));
}

static bool
read_library(const struct place *at, struct catalog_provider *out)
{
	const char *value = config_setting_get_string(at->setting);

	if (!value)
		return wrong(at, "library is not a string in quotes");
	if (!*value || strlen(value) >= sizeof(out->library))
		return wrong(at, "library has %zu bytes; it needs 1 to %zu", strlen(value),
			     sizeof(out->library) - 1);
	if (!catalog_library_is_right(value))
		return wrong(at,
			     "library = \"%.200s\" is neither absolute nor a bare name nor begins "
			     "with an environment variable such as %%HOME%%",
			     value);
	memcpy(out->library, value, strlen(value) + 1);
	return true;
}

static bool
read_id(const struct place *at, GUID *id)
{
	static const GUID none;
	const char *value = config_setting_get_string(at->setting);

	if (!value || !catalog_guid_parse(value, id) || memcmp(id, &none, sizeof(none)) == 0)
		return wrong(at,
			     "id = \"%.60s\" is not a GUID, such as "
			     "\"{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}\"",
			     value ? value : "?");
	return true;
}

/* ---- the file ---- */

static struct place
element(const struct place *at, int i)
{
	return (struct place){at->path, config_setting_get_elem(at->setting, (unsigned)i),
			      at->complaints};
}

/* Unspecified lengths are those of the family. */
static void
settle(WSAPROTOCOL_INFOW *entry)
{
	WSAPROTOCOL_INFOW fresh;

	catalog_entry_default(&fresh, &entry->ProviderId, entry->iAddressFamily);
	if (entry->iMaxSockAddr == UNTOLD)
		entry->iMaxSockAddr = fresh.iMaxSockAddr;
	if (entry->iMinSockAddr == UNTOLD)
		entry->iMinSockAddr = fresh.iMinSockAddr;
}

static void
add_family(const WSAPROTOCOL_INFOW *usual, int family, struct catalog_provider *out)
{
	WSAPROTOCOL_INFOW *entry = &out->entry[out->entries++];

	*entry = *usual;
	entry->iAddressFamily = family;
	settle(entry);
}

/* Read one { ... } of entries: the settings of the file are the defaults of its own. */
static bool
read_entry(const struct place *at, const WSAPROTOCOL_INFOW *usual, struct catalog_provider *out)
{
	WSAPROTOCOL_INFOW *entry = &out->entry[out->entries];
	bool known;

	if (!config_setting_is_group(at->setting))
		return wrong(at, "an entry is not a group of settings in braces");
	*entry = *usual;
	for (int i = 0; i < config_setting_length(at->setting); i++) {
		struct place inner = element(at, i);
		const char *name = config_setting_name(inner.setting);

		if (strcmp(name, "family") == 0) {
			if (!read_family(&inner, &entry->iAddressFamily))
				return false;
			continue;
		}
		if (!read_entry_setting(&inner, entry, &known))
			return false;
		if (!known)
			return wrong(&inner, "an entry has no setting %s", name);
	}
	settle(entry);
	out->entries++;
	return true;
}

static bool
read_entries(const struct place *at, const WSAPROTOCOL_INFOW *usual, struct catalog_provider *out)
{
	int n = config_setting_length(at->setting);

	if (!config_setting_is_list(at->setting) || n < 1 || n > CATALOG_ENTRIES_MAX)
		return wrong(at, "entries is not a list of 1 to %d groups: ( { ... }, { ... } )",
			     CATALOG_ENTRIES_MAX);
	for (int i = 0; i < n; i++) {
		struct place inner = element(at, i);

		if (!read_entry(&inner, usual, out))
			return false;
	}
	return true;
}

static bool
read_families(const struct place *at, const WSAPROTOCOL_INFOW *usual, struct catalog_provider *out)
{
	int n = config_setting_length(at->setting);

	if (!config_setting_is_aggregate(at->setting) || n < 1 || n > CATALOG_ENTRIES_MAX)
		return wrong(at, "families is not a list such as [ \"IPv4\", \"IPv6\" ]");
	for (int i = 0; i < n; i++) {
		struct place inner = element(at, i);
		int family;

		if (!read_family(&inner, &family))
			return false;
		add_family(usual, family, out);
	}
	return true;
}

/* The settings at the top of a file. */
struct top {
	config_setting_t *id, *library, *families, *entries;
	WSAPROTOCOL_INFOW usual;
};

static bool
read_top(const struct place *at, struct top *top)
{
	static const GUID none;
	bool known;

	memset(top, 0, sizeof(*top));
	catalog_entry_default(&top->usual, &none, AF_INET);
	top->usual.iMaxSockAddr = UNTOLD;
	top->usual.iMinSockAddr = UNTOLD;
	for (int i = 0; i < config_setting_length(at->setting); i++) {
		struct place inner = element(at, i);
		const char *name = config_setting_name(inner.setting);
		config_setting_t **slot = strcmp(name, "id") == 0         ? &top->id
					  : strcmp(name, "library") == 0  ? &top->library
					  : strcmp(name, "families") == 0 ? &top->families
					  : strcmp(name, "entries") == 0  ? &top->entries
									  : NULL;

		if (slot) {
			*slot = config_setting_get_elem(at->setting, (unsigned)i);
			continue;
		}
		if (!read_entry_setting(&inner, &top->usual, &known))
			return false;
		if (!known)
			return wrong(&inner, "there is no setting %s", name);
	}
	if (!top->id || !top->library)
		return wrong(at, "the provider has no %s", top->id ? "library" : "id");
	if (top->families && top->entries)
		return wrong(at, "families and entries exclude each other");
	return true;
}

static bool
read_root(const struct place *at, struct catalog_provider *out)
{
	struct place id = *at, library = *at, list = *at;
	struct top top;

	if (!read_top(at, &top))
		return false;
	id.setting = top.id;
	library.setting = top.library;
	list.setting = top.families ? top.families : top.entries;
	if (!read_id(&id, &out->id) || !read_library(&library, out))
		return false;
	top.usual.ProviderId = out->id;
	if (top.families)
		return read_families(&list, &top.usual, out);
	if (top.entries)
		return read_entries(&list, &top.usual, out);
	add_family(&top.usual, AF_INET, out);
	add_family(&top.usual, AF_INET6, out);
	return true;
}

bool
catalog_file_read(const char *path, struct catalog_provider *out,
		  struct catalog_complaints *complaints)
{
	struct plx_files_why why;
	char *text = plx_files_config(path, &why);
	config_t config;
	bool good = false;

	if (!text) {
		catalog_complain(complaints, "%s", why.text);
		return false;
	}
	memset(out, 0, sizeof(*out));
	snprintf(out->file, sizeof(out->file), "%s", path);
	config_init(&config);
	if (!config_read_string(&config, text)) {
		catalog_complain(complaints, "%s:%d: %s", path, config_error_line(&config),
				 config_error_text(&config));
	} else {
		struct place root = {path, config_root_setting(&config), complaints};

		good = read_root(&root, out);
	}
	config_destroy(&config);
	free(text);
	return good;
}
