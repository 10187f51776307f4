/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a registry file. It goes over the text twice: once to check it, and once to apply it, so
 * that a file with a fault changes nothing. Start with plx_driver_registry_read().
 */
#include "registry.h"

#include <errno.h>
#include <stdlib.h>

#include "plx_files.h"

static const char header[] = "Windows Registry Editor Version 5.00";

/* A text in UTF-16, read line by line. */
struct reading {
	const char *path;
	struct plx_why *why;
	PWSTR at;           /* the rest of the text, ended by 0 */
	uint32_t line;      /* number of the line just read */
	uint32_t last_line; /* of its continuation */
	bool is_applied;    /* false: only checked */
	struct key *key;    /* of the values that follow; NULL while checking */
	bool has_key;       /* a key precedes */
	bool is_removed;    /* it was one that is removed */
};

static bool
fail(const struct reading *r, const char *what, PCWSTR text)
{
	char shown[80];
	UNICODE_STRING cut;

	RtlInitUnicodeString(&cut, text);
	text_to_utf8(shown, sizeof(shown), &cut);
	plx_why_set(r->why, "%s:%u: %s%s%s", r->path, r->line, shown, *shown ? " " : "", what);
	return false;
}

/* ---- the text ---- */

/* Returns: allocated; NULL, with a sentence */
static PWSTR
decode(const char *path, const char *bytes, size_t size, struct plx_why *why)
{
	static const char utf8_mark[] = "\xef\xbb\xbf";
	ULONG used = 0;
	PWSTR text;

	if (size >= 2 && memcmp(bytes, "\xfe\xff", 2) == 0) {
		plx_why_set(why, "%s is UTF-16 with the high byte first, which is not read", path);
		return NULL;
	}
	text = calloc(size + 1, sizeof(WCHAR));
	if (text == NULL) {
		plx_why_set(why, "%s cannot be read: no memory", path);
		return NULL;
	}
	if (size >= 2 && memcmp(bytes, "\xff\xfe", 2) == 0) {
		memcpy(text, bytes + 2, (size - 2) / sizeof(WCHAR) * sizeof(WCHAR));
		return text;
	}
	if (size >= strlen(utf8_mark) && memcmp(bytes, utf8_mark, strlen(utf8_mark)) == 0) {
		bytes += strlen(utf8_mark);
		size -= strlen(utf8_mark);
	}
	if (RtlUTF8ToUnicodeN(text, (ULONG)(size * sizeof(WCHAR)), &used, bytes, (ULONG)size) !=
	    STATUS_SUCCESS) {
		plx_why_set(why, "%s is neither UTF-8 nor UTF-16 with a byte order mark", path);
		free(text);
		return NULL;
	}
	return text;
}

static PWSTR
trim(PWSTR line)
{
	size_t n = 0;

	while (*line == L' ' || *line == L'\t')
		line++;
	while (line[n] != 0)
		n++;
	while (n > 0 && (line[n - 1] == L' ' || line[n - 1] == L'\t' || line[n - 1] == L'\r'))
		line[--n] = 0;
	return line;
}

/* Get the next line that says something, with its continuations, which follow a backslash at its
 * end. The text is changed: each pass reads a copy.
 * Returns: NULL: the text is at its end */
static PWSTR
next_line(struct reading *r)
{
	PWSTR line, end = NULL;

	r->line = r->last_line;
	for (;;) {
		PWSTR part = r->at;
		size_t n = 0;

		if (*r->at == 0)
			return end != NULL ? line : NULL;
		while (*r->at != 0 && *r->at != L'\n')
			r->at++;
		if (*r->at != 0)
			*r->at++ = 0;
		r->last_line++;
		part = trim(part);
		while (part[n] != 0)
			n++;
		if (end == NULL) {
			r->line = r->last_line;
			if (n == 0 || *part == L';')
				continue;
			end = line = part;
		} else {
			memmove(end, part, (n + 1) * sizeof(WCHAR));
		}
		end += n;
		if (n == 0 || end[-1] != L'\\')
			return line;
		*--end = 0;
	}
}

/* ---- its lines ---- */

static const struct {
	const char *written;
	const char *path;
} tops[] = {
	{"HKEY_LOCAL_MACHINE", "\\Registry\\Machine"},
	{"HKEY_USERS", "\\Registry\\User"},
};

/* The path of a key in brackets. Returns: false, with a sentence */
static bool
key_path_of(const struct reading *r, PCWSTR text, UNICODE_STRING *path)
{
	UNICODE_STRING whole, top;
	char *name, shown[PLX_IO_NAME_MAX];

	RtlInitUnicodeString(&whole, text);
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		size_t length = strlen(tops[i].written), room;
		bool is_top, is_read;

		if (!text_from_utf8(&top, tops[i].written))
			return fail(r, "cannot be read: no memory", L"");
		is_top = RtlPrefixUnicodeString(&top, &whole, TRUE) &&
			 (text[length] == 0 || text[length] == L'\\');
		free(top.Buffer);
		if (!is_top)
			continue;
		whole.Buffer += length;
		whole.Length = (USHORT)(whole.Length - length * sizeof(WCHAR));
		room = strlen(tops[i].path) + whole.Length * 2 + 1;
		name = malloc(room);
		if (name == NULL)
			return fail(r, "cannot be read: no memory", L"");
		memcpy(name, tops[i].path, strlen(tops[i].path));
		text_to_utf8(name + strlen(tops[i].path), room - strlen(tops[i].path), &whole);
		is_read = text_from_utf8(path, name);
		free(name);
		return is_read || fail(r, "cannot be read: no memory, or it is too long", L"");
	}
	text_to_utf8(shown, sizeof(shown), &whole);
	return fail(r, "is below neither HKEY_LOCAL_MACHINE nor HKEY_USERS", text);
}

static bool
read_key(struct reading *r, PWSTR line)
{
	UNICODE_STRING path;
	NTSTATUS status;
	size_t n = 0;

	while (line[n] != 0)
		n++;
	if (n < 3 || line[n - 1] != L']')
		return fail(r, "has no closing bracket", line);
	line[n - 1] = 0;
	r->is_removed = line[1] == L'-';
	r->has_key = true;
	line += r->is_removed ? 2 : 1;
	if (!key_path_of(r, line, &path))
		return false;
	if (r->is_applied) {
		r->key = NULL;
		status = key_find(NULL, &path, r->is_removed ? 0 : PLX_IO_REGISTRY_DEPTH, false,
				  &r->key);
		if (r->is_removed) {
			if (NT_SUCCESS(status))
				key_delete_all(r->key);
			r->key = NULL;
		} else if (!NT_SUCCESS(status)) {
			free(path.Buffer);
			return fail(r,
				    "cannot be made: a part of it is too long, or there is no "
				    "memory",
				    line);
		}
	}
	free(path.Buffer);
	return true;
}

/* Apply one value.
 * @param value behind "=" */
static bool
apply_value(const struct reading *r, PCUNICODE_STRING name, PCWSTR value)
{
	ULONG type, bytes;
	const char *fault;
	UCHAR *data;
	NTSTATUS status = STATUS_SUCCESS;

	if (value[0] == L'-' && value[1] == 0) {
		/* it need not be there */
		if (r->is_applied)
			(void)value_delete_named(r->key, name);
		return true;
	}
	fault = value_parse(value, &type, &data, &bytes);
	if (fault != NULL)
		return fail(r, fault, value);
	if (r->is_applied)
		status = value_set(r->key, name, type, data, bytes);
	free(data);
	return NT_SUCCESS(status) || fail(r, "is too long, or there is no memory", value);
}

static bool
read_value(const struct reading *r, PWSTR line)
{
	UNICODE_STRING name = {0, 0, line};
	PCWSTR at = line + 1; /* "@": the value without a name */
	const char *fault = NULL;
	size_t length = 0;

	if (!r->has_key || r->is_removed)
		return fail(r, "stands below no key", line);
	/* the name is unquoted in its place, to which the quote gives the room */
	if (*line == L'"') {
		at = line;
		fault = text_parse(&at, line, &length);
	} else if (*line != L'@') {
		fault = "is neither a key in brackets nor \"name\"=value";
	}
	if (fault != NULL)
		return fail(r, fault, line);
	name.Length = name.MaximumLength = (USHORT)(length * sizeof(WCHAR));
	while (*at == L' ' || *at == L'\t')
		at++;
	if (length > VALUE_NAME_MAX || *at != L'=')
		return fail(r, "is a name without \"=\", or too long", line);
	at++;
	while (*at == L' ' || *at == L'\t')
		at++;
	return apply_value(r, &name, at);
}

/* Go over the text once. */
static bool
pass(const char *path, PWSTR text, bool is_applied, struct plx_why *why)
{
	struct reading r = {.path = path, .why = why, .at = text, .is_applied = is_applied};
	PWSTR line = next_line(&r);
	UNICODE_STRING first;
	char shown[sizeof(header) + 1];

	RtlInitUnicodeString(&first, line != NULL ? line : L"");
	text_to_utf8(shown, sizeof(shown), &first);
	if (strcmp(shown, header) != 0) {
		plx_why_set(why, "%s is no registry file: its first line is not \"%s\"", path,
			    header);
		return false;
	}
	while ((line = next_line(&r)) != NULL)
		if (!(*line == L'[' ? read_key(&r, line) : read_value(&r, line)))
			return false;
	return true;
}

bool
plx_driver_registry_read(const char *path, struct plx_why *why)
{
	struct plx_files_why refused;
	PWSTR text, again = NULL;
	size_t size = 0;
	char *bytes = plx_files_read(path, &size, &refused);
	bool is_read = false;

	if (bytes == NULL) {
		plx_why_set(why, "%s", refused.text);
		return false;
	}
	text = decode(path, bytes, size, why);
	if (text != NULL)
		again = decode(path, bytes, size, why);
	free(bytes);
	if (again != NULL && pass(path, text, false, why)) {
		registry_lock();
		is_read = pass(path, again, true, why);
		registry_unlock();
	}
	free(text);
	free(again);
	return is_read;
}

/* ---- one setting ---- */

/* A number as C writes it. Returns: false: it is none */
static bool
read_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static const char *
parse_setting(const char *text, ULONG *type, UCHAR **data, ULONG *bytes)
{
	UNICODE_STRING wide;
	const char *fault = NULL;
	uint64_t number;

	*data = NULL;
	if (read_number(text, &number)) {
		*type = number <= UINT32_MAX ? REG_DWORD : REG_QWORD;
		*bytes = number <= UINT32_MAX ? sizeof(ULONG) : sizeof(number);
		*data = malloc(sizeof(number));
		if (*data != NULL)
			memcpy(*data, &number, sizeof(number));
		return *data != NULL ? NULL : "cannot be set: no memory";
	}
	if (!text_from_utf8(&wide, text))
		return "is not UTF-8, or too long";
	if (*text == '"' || strncmp(text, "dword:", 6) == 0 || strncmp(text, "hex:", 4) == 0 ||
	    strncmp(text, "hex(", 4) == 0) {
		fault = value_parse(wide.Buffer, type, data, bytes);
		free(wide.Buffer);
		return fault;
	}
	*type = REG_SZ;
	*data = (UCHAR *)wide.Buffer;
	*bytes = wide.MaximumLength;
	return NULL;
}

/* The key and the name of a setting, below a service's key.
 * @param length of both
 * Returns: a sentence's end, or NULL */
static const char *
read_name(const char *service, const char *setting, size_t length, UNICODE_STRING *path,
	  UNICODE_STRING *name)
{
	char whole[1024], services[128];
	size_t used;
	char *last;

	text_to_utf8(services, sizeof(services), &registry_services);
	used = (size_t)snprintf(whole, sizeof(whole), "%s\\%s\\%.*s", services, service,
				(int)length, setting);
	if (used >= sizeof(whole))
		return "is too long";
	last = strrchr(whole, '\\');
	*last = '\0';
	if (last[1] == '\0')
		return "has no name";
	if (!text_from_utf8(path, whole) || !text_from_utf8(name, last + 1))
		return "is not UTF-8, or there is no memory";
	return NULL;
}

bool
plx_driver_registry_set(const char *service, const char *setting, struct plx_why *why)
{
	UNICODE_STRING path = {0, 0, NULL}, name = {0, 0, NULL};
	const char *equals = strchr(setting, '='), *fault;
	ULONG type = REG_NONE, bytes = 0;
	UCHAR *data = NULL;
	struct key *at;

	if (equals == NULL)
		fault = "is not NAME=VALUE";
	else
		fault = read_name(service, setting, (size_t)(equals - setting), &path, &name);
	if (fault == NULL)
		fault = parse_setting(equals + 1, &type, &data, &bytes);
	if (fault == NULL) {
		registry_lock();
		if (!NT_SUCCESS(key_find(NULL, &path, PLX_IO_REGISTRY_DEPTH, false, &at)) ||
		    !NT_SUCCESS(value_set(at, &name, type, data, bytes)))
			fault = "cannot be set: too long, or no memory";
		registry_unlock();
		free(data);
	}
	free(path.Buffer);
	free(name.Buffer);
	if (fault != NULL)
		plx_why_set(why, "\"%.100s\" %s", setting, fault);
	return fault == NULL;
}
