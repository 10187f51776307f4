/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The registry by paths. RtlQueryRegistryValues() is a walk over a table of entries; each value
 * that an entry finds is handed to its routine or stored for it. Start with query_entry().
 */
#include "registry.h"

#include <stdlib.h>

static const PCWSTR bases[] = {
	[RTL_REGISTRY_ABSOLUTE] = L"",
	[RTL_REGISTRY_SERVICES] = L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\",
	[RTL_REGISTRY_CONTROL] = L"\\Registry\\Machine\\System\\CurrentControlSet\\Control\\",
	[RTL_REGISTRY_WINDOWS_NT] =
		L"\\Registry\\Machine\\Software\\Microsoft\\Windows NT\\CurrentVersion\\",
	[RTL_REGISTRY_DEVICEMAP] = L"\\Registry\\Machine\\Hardware\\DeviceMap\\",
	[RTL_REGISTRY_USER] = L"\\Registry\\User\\.Default\\",
};

static size_t
length_of(PCWSTR text)
{
	size_t n = 0;

	while (text[n] != 0)
		n++;
	return n;
}

/* ---- keys ---- */

/* Find a key, and hold it.
 * @param made as key_find()'s */
static NTSTATUS
reach(ULONG relative, PCWSTR path, uint32_t made, struct key **key)
{
	ULONG base = relative & ~(ULONG)RTL_REGISTRY_OPTIONAL;
	UNICODE_STRING text = {0, 0, NULL}, tail;
	NTSTATUS status;

	if (base == RTL_REGISTRY_HANDLE)
		return key_of_handle((HANDLE)(uintptr_t)path, key);
	if (base >= sizeof(bases) / sizeof(bases[0]))
		return STATUS_INVALID_PARAMETER;
	RtlInitUnicodeString(&tail, path);
	text.MaximumLength = (USHORT)((length_of(bases[base]) + 1) * sizeof(WCHAR) + tail.Length);
	if (text.MaximumLength < tail.Length)
		return STATUS_OBJECT_PATH_SYNTAX_BAD;
	text.Buffer = malloc(text.MaximumLength);
	if (text.Buffer == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	(void)RtlAppendUnicodeToString(&text, bases[base]);
	(void)RtlAppendUnicodeStringToString(&text, &tail);
	registry_lock();
	status = key_find(NULL, &text, made, false, key);
	if (NT_SUCCESS(status))
		(void)key_hold(*key);
	registry_unlock();
	free(text.Buffer);
	return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

static void
release(struct key *key)
{
	registry_lock();
	key_release(key);
	registry_unlock();
}

NTSTATUS
RtlWriteRegistryValue(ULONG relative, PCWSTR path, PCWSTR name, ULONG type, PVOID data, ULONG bytes)
{
	UNICODE_STRING text;
	struct key *key;
	NTSTATUS status;

	plx_ke_require("RtlWriteRegistryValue", PASSIVE_LEVEL);
	status = reach(relative, path, 1, &key);
	if (!NT_SUCCESS(status))
		return status;
	RtlInitUnicodeString(&text, name);
	registry_lock();
	status = value_set(key, &text, type, data, bytes);
	key_release(key);
	registry_unlock();
	return status;
}

NTSTATUS
RtlDeleteRegistryValue(ULONG relative, PCWSTR path, PCWSTR name)
{
	UNICODE_STRING text;
	struct key *key;
	NTSTATUS status;

	plx_ke_require("RtlDeleteRegistryValue", PASSIVE_LEVEL);
	status = reach(relative, path, 0, &key);
	if (!NT_SUCCESS(status))
		return status;
	RtlInitUnicodeString(&text, name);
	registry_lock();
	status = value_delete_named(key, &text);
	key_release(key);
	registry_unlock();
	return status;
}

static NTSTATUS
check(const char *call, ULONG relative, PCWSTR path, uint32_t made)
{
	struct key *key;
	NTSTATUS status;

	plx_ke_require(call, PASSIVE_LEVEL);
	status = reach(relative, path, made, &key);
	if (NT_SUCCESS(status))
		release(key);
	return status;
}

NTSTATUS
RtlCheckRegistryKey(ULONG relative, PWSTR path)
{
	return check("RtlCheckRegistryKey", relative, path, 0);
}

NTSTATUS
RtlCreateRegistryKey(ULONG relative, PWSTR path)
{
	return check("RtlCreateRegistryKey", relative, path, 1);
}

/* ---- one value ---- */

/* A copy of a value, so that routines are called without the lock. Its data end with a 0 that is
 * not counted. */
struct found {
	UNICODE_STRING name;
	ULONG type, bytes;
	UCHAR *data;
};

static bool
copy(struct found *to, const struct value *from)
{
	*to = (struct found){.type = from->type, .bytes = from->bytes};
	to->data = calloc(1, from->bytes + 2 * sizeof(WCHAR));
	if (to->data == NULL || !text_copy(&to->name, &from->name)) {
		free(to->data);
		return false;
	}
	if (from->bytes > 0)
		memcpy(to->data, from->data, from->bytes);
	return true;
}

static void
discard(struct found *found)
{
	free(found->name.Buffer);
	free(found->data);
}

static bool
is_text(ULONG type)
{
	return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

/* Store a text where the entry says. One without a buffer gets one of RtlFreeUnicodeString(). */
static NTSTATUS
store_text(const void *data, ULONG bytes, PUNICODE_STRING to)
{
	UNICODE_STRING text = {0, 0, (PWSTR)(uintptr_t)data};

	if (bytes > UINT16_MAX)
		return STATUS_BUFFER_TOO_SMALL;
	/* the last 0 is there, and is not counted */
	text.Length = (USHORT)(bytes >= sizeof(WCHAR) ? bytes - sizeof(WCHAR) : 0);
	text.MaximumLength = (USHORT)bytes;
	if (to->Buffer == NULL)
		return RtlDuplicateUnicodeString(
			RTL_DUPLICATE_UNICODE_STRING_NULL_TERMINATE |
				RTL_DUPLICATE_UNICODE_STRING_ALLOCATE_NULL_STRING,
			&text, to);
	if (bytes > to->MaximumLength)
		return STATUS_BUFFER_TOO_SMALL;
	memcpy(to->Buffer, data, bytes);
	to->Length = text.Length;
	return STATUS_SUCCESS;
}

static NTSTATUS
store(ULONG type, const void *data, ULONG bytes, PVOID to)
{
	LONG room;

	if (is_text(type))
		return store_text(data, bytes, to);
	if (bytes <= sizeof(ULONG)) {
		memcpy(to, data, bytes);
		return STATUS_SUCCESS;
	}
	/* the buffer begins with its size: negative: for the data alone */
	memcpy(&room, to, sizeof(room));
	if (room < 0 && (ULONG)-room >= bytes) {
		memcpy(to, data, bytes);
		return STATUS_SUCCESS;
	}
	if (room < 0 || (size_t)room < (size_t)bytes + 2 * sizeof(ULONG))
		return STATUS_BUFFER_TOO_SMALL;
	memcpy(to, &bytes, sizeof(bytes));
	memcpy((char *)to + sizeof(ULONG), &type, sizeof(type));
	memcpy((char *)to + 2 * sizeof(ULONG), data, bytes);
	return STATUS_SUCCESS;
}

/* What the walk over a table needs at every step. */
struct query {
	struct key *top, *key;
	PVOID context;
	PCWSTR environment;
};

static NTSTATUS
hand(const struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry, PWSTR name, ULONG type,
     PVOID data, ULONG bytes)
{
	if (entry->Flags & RTL_QUERY_REGISTRY_DIRECT)
		return store(type, data, bytes, entry->EntryContext);
	return entry->QueryRoutine(name, type, data, bytes, query->context, entry->EntryContext);
}

/* Each text of several by itself, as REG_SZ. */
static NTSTATUS
hand_each(const struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry, struct found *found)
{
	PWSTR at = (PWSTR)(void *)found->data, end = at + found->bytes / sizeof(WCHAR);
	NTSTATUS status = STATUS_SUCCESS;

	while (at < end && *at != 0 && NT_SUCCESS(status)) {
		size_t n = length_of(at) + 1;

		status = hand(query, entry, found->name.Buffer, REG_SZ, at,
			      (ULONG)(n * sizeof(WCHAR)));
		at += n;
	}
	return status;
}

/* The value of a variable. Returns: NULL: there is none of that name */
static PCWSTR
variable(PCWSTR environment, PCWSTR name, size_t length)
{
	UNICODE_STRING wanted = {(USHORT)(length * sizeof(WCHAR)), 0, (PWSTR)(uintptr_t)name};

	for (PCWSTR at = environment; at != NULL && *at != 0; at += length_of(at) + 1) {
		size_t n = 0;

		while (at[n] != 0 && at[n] != L'=')
			n++;
		if (n == length && at[n] == L'=' &&
		    RtlEqualUnicodeString(
			    &wanted,
			    &(UNICODE_STRING){(USHORT)(n * sizeof(WCHAR)), 0, (PWSTR)(uintptr_t)at},
			    TRUE))
			return at + n + 1;
	}
	return NULL;
}

/* Expand %NAME% once; one that has no value stays.
 * @param to NULL: only count
 * Returns: characters, without the 0 */
static size_t
expand(PCWSTR environment, PCWSTR text, PWSTR to)
{
	size_t out = 0;

	while (*text != 0) {
		PCWSTR value = NULL;
		size_t n = 1;

		if (*text == L'%') {
			while (text[n] != 0 && text[n] != L'%')
				n++;
			if (text[n] == L'%')
				value = variable(environment, text + 1, n - 1);
		}
		if (value != NULL) {
			size_t length = length_of(value);

			if (to != NULL)
				memcpy(to + out, value, length * sizeof(WCHAR));
			out += length;
			text += n + 1;
			continue;
		}
		if (to != NULL)
			to[out] = *text;
		out++;
		text++;
	}
	return out;
}

static NTSTATUS
hand_expanded(const struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry, struct found *found)
{
	PCWSTR text = (PCWSTR)(void *)found->data;
	size_t n = expand(query->environment, text, NULL);
	PWSTR expanded = malloc((n + 1) * sizeof(WCHAR));
	NTSTATUS status;

	if (expanded == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	(void)expand(query->environment, text, expanded);
	expanded[n] = 0;
	status = hand(query, entry, found->name.Buffer, REG_SZ, expanded,
		      (ULONG)((n + 1) * sizeof(WCHAR)));
	free(expanded);
	return status;
}

static NTSTATUS
hand_found(const struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry, struct found *found)
{
	bool is_direct = (entry->Flags & RTL_QUERY_REGISTRY_DIRECT) != 0;
	ULONG wanted = entry->DefaultType >> RTL_QUERY_REGISTRY_TYPECHECK_SHIFT;

	if (is_direct && (entry->Flags & RTL_QUERY_REGISTRY_TYPECHECK) && found->type != wanted)
		return STATUS_OBJECT_TYPE_MISMATCH;
	/* a text that its writer did not end */
	if (is_text(found->type) &&
	    (found->bytes < sizeof(WCHAR) ||
	     found->data[found->bytes / sizeof(WCHAR) * sizeof(WCHAR) - 2] != 0 ||
	     found->data[found->bytes / sizeof(WCHAR) * sizeof(WCHAR) - 1] != 0))
		found->bytes =
			(ULONG)(found->bytes / sizeof(WCHAR) * sizeof(WCHAR) + sizeof(WCHAR));
	if (!(entry->Flags & RTL_QUERY_REGISTRY_NOEXPAND)) {
		if (found->type == REG_MULTI_SZ)
			return is_direct ? STATUS_INVALID_PARAMETER
					 : hand_each(query, entry, found);
		if (found->type == REG_EXPAND_SZ)
			return hand_expanded(query, entry, found);
	}
	return hand(query, entry, found->name.Buffer, found->type, found->data, found->bytes);
}

/* ---- one entry ---- */

static NTSTATUS
hand_default(const struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry)
{
	ULONG type = entry->DefaultType & ~RTL_QUERY_REGISTRY_TYPECHECK_MASK;
	ULONG bytes = entry->DefaultLength;
	PCWSTR text = entry->DefaultData;

	if (entry->Flags & RTL_QUERY_REGISTRY_REQUIRED)
		return STATUS_OBJECT_NAME_NOT_FOUND;
	if (type == REG_NONE)
		return STATUS_SUCCESS;
	if (bytes == 0 && text != NULL && type == REG_MULTI_SZ) {
		size_t n = 0;

		while (text[n] != 0)
			n += length_of(text + n) + 1;
		bytes = (ULONG)((n + 1) * sizeof(WCHAR));
	} else if (bytes == 0 && text != NULL && is_text(type)) {
		bytes = (ULONG)((length_of(text) + 1) * sizeof(WCHAR));
	}
	return hand(query, entry, entry->Name, type, entry->DefaultData, bytes);
}

/* @param name NULL: the value at a place
 * Returns: STATUS_NO_MORE_ENTRIES: there is none */
static NTSTATUS
fetch(const struct query *query, PCWSTR name, ULONG index, bool is_removed, struct found *found)
{
	NTSTATUS status = STATUS_NO_MORE_ENTRIES;
	struct value *value = NULL;
	UNICODE_STRING text;

	RtlInitUnicodeString(&text, name);
	registry_lock();
	if (query->key != NULL)
		value = name != NULL ? value_find(query->key, &text) : value_at(query->key, index);
	if (value != NULL)
		status = copy(found, value) ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
	if (NT_SUCCESS(status) && status != STATUS_NO_MORE_ENTRIES && is_removed)
		value_delete(query->key, value);
	registry_unlock();
	return status;
}

static NTSTATUS
hand_all(const struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry)
{
	bool is_removed = (entry->Flags & RTL_QUERY_REGISTRY_DELETE) != 0;
	struct found found;
	ULONG index = 0;
	NTSTATUS status;

	for (;; index++) {
		status = fetch(query, NULL, is_removed ? 0 : index, is_removed, &found);
		if (status == STATUS_NO_MORE_ENTRIES)
			break;
		if (NT_SUCCESS(status)) {
			status = hand_found(query, entry, &found);
			discard(&found);
		}
		if (!NT_SUCCESS(status))
			return status;
	}
	if (index == 0 && (entry->Flags & RTL_QUERY_REGISTRY_REQUIRED))
		return STATUS_OBJECT_NAME_NOT_FOUND;
	return STATUS_SUCCESS;
}

/* Go on with a key below the top one. */
static NTSTATUS
enter(struct query *query, PCWSTR name)
{
	NTSTATUS status = STATUS_OBJECT_NAME_NOT_FOUND;
	UNICODE_STRING text;
	struct key *below;

	RtlInitUnicodeString(&text, name);
	registry_lock();
	if (query->top != NULL)
		status = key_find(query->top, &text, 0, false, &below);
	if (NT_SUCCESS(status)) {
		if (query->key != NULL)
			key_release(query->key);
		query->key = key_hold(below);
		status = STATUS_SUCCESS;
	}
	registry_unlock();
	return status;
}

static void
return_to_top(struct query *query)
{
	registry_lock();
	if (query->key != NULL)
		key_release(query->key);
	query->key = query->top != NULL ? key_hold(query->top) : NULL;
	registry_unlock();
}

static NTSTATUS
query_entry(struct query *query, const RTL_QUERY_REGISTRY_TABLE *entry)
{
	bool is_direct = (entry->Flags & RTL_QUERY_REGISTRY_DIRECT) != 0;
	bool is_removed = (entry->Flags & RTL_QUERY_REGISTRY_DELETE) != 0;
	struct found found;
	NTSTATUS status;

	if (is_direct &&
	    (entry->Name == NULL || entry->QueryRoutine != NULL || entry->EntryContext == NULL ||
	     (entry->Flags & RTL_QUERY_REGISTRY_SUBKEY)))
		return STATUS_INVALID_PARAMETER;
	if (entry->Flags & (RTL_QUERY_REGISTRY_SUBKEY | RTL_QUERY_REGISTRY_TOPKEY))
		return_to_top(query);
	if (entry->Flags & RTL_QUERY_REGISTRY_SUBKEY) {
		status = entry->Name != NULL ? enter(query, entry->Name) : STATUS_INVALID_PARAMETER;
		if (!NT_SUCCESS(status) || entry->QueryRoutine == NULL)
			return status;
		return hand_all(query, entry);
	}
	if (entry->Name == NULL)
		return entry->Flags & RTL_QUERY_REGISTRY_NOVALUE
			       ? hand(query, entry, NULL, REG_NONE, NULL, 0)
			       : hand_all(query, entry);
	status = fetch(query, entry->Name, 0, is_removed, &found);
	if (status == STATUS_NO_MORE_ENTRIES)
		return hand_default(query, entry);
	if (!NT_SUCCESS(status))
		return status;
	status = hand_found(query, entry, &found);
	discard(&found);
	return status;
}

NTSTATUS
RtlQueryRegistryValues(ULONG relative, PCWSTR path, PRTL_QUERY_REGISTRY_TABLE table, PVOID context,
		       PVOID environment)
{
	const ULONG without_routine = RTL_QUERY_REGISTRY_SUBKEY | RTL_QUERY_REGISTRY_DIRECT;
	struct query query = {.context = context, .environment = environment};
	NTSTATUS status;

	plx_ke_require("RtlQueryRegistryValues", PASSIVE_LEVEL);
	status = reach(relative, path, 0, &query.top);
	if (status == STATUS_OBJECT_NAME_NOT_FOUND && (relative & RTL_REGISTRY_OPTIONAL))
		status = STATUS_SUCCESS;
	if (!NT_SUCCESS(status))
		return status;
	return_to_top(&query);
	for (; NT_SUCCESS(status) &&
	       (table->QueryRoutine != NULL || (table->Flags & without_routine) != 0);
	     table++)
		status = query_entry(&query, table);
	if (query.key != NULL)
		release(query.key);
	if (query.top != NULL)
		release(query.top);
	return status;
}
