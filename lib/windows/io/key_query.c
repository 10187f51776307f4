/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries of registry keys and values: the documented structures, filled as far as the caller's
 * buffer reaches. Start with struct answer.
 */
#include "registry.h"

#include <stdlib.h>

/* A structure in the caller's buffer. Its fixed part is put together elsewhere and copied, since
 * the buffer may end within the last member. */
struct answer {
	char *to;
	ULONG room, fixed, used; /* fixed: least room; used: bytes that all of it needs */
};

/* Add bytes, as far as they fit. */
static void
append(struct answer *a, const void *from, ULONG bytes)
{
	ULONG left = a->room > a->used ? a->room - a->used : 0;

	if (left > 0 && bytes > 0 && a->room >= a->fixed)
		memcpy(a->to + a->used, from, bytes < left ? bytes : left);
	a->used += bytes;
}

static NTSTATUS
end(const struct answer *a, PULONG needed)
{
	if (needed != NULL)
		*needed = a->used;
	if (a->room < a->fixed)
		return STATUS_BUFFER_TOO_SMALL;
	return a->room < a->used ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;
}

/* ---- values ---- */

static NTSTATUS
tell_full(const struct value *value, struct answer *a)
{
	static const char zeros[sizeof(LONGLONG)];
	ULONG begin = FIELD_OFFSET(KEY_VALUE_FULL_INFORMATION, Name) + value->name.Length;
	ULONG pad = -begin % sizeof(LONGLONG);
	KEY_VALUE_FULL_INFORMATION fixed = {
		.Type = value->type,
		.DataOffset = begin + pad,
		.DataLength = value->bytes,
		.NameLength = value->name.Length,
	};

	a->fixed = FIELD_OFFSET(KEY_VALUE_FULL_INFORMATION, Name);
	append(a, &fixed, a->fixed);
	append(a, value->name.Buffer, value->name.Length);
	append(a, zeros, pad);
	append(a, value->data, value->bytes);
	return STATUS_SUCCESS;
}

static NTSTATUS
tell_value(const struct value *value, KEY_VALUE_INFORMATION_CLASS what, struct answer *a)
{
	KEY_VALUE_BASIC_INFORMATION basic = {.Type = value->type, .NameLength = value->name.Length};
	KEY_VALUE_PARTIAL_INFORMATION partial = {.Type = value->type, .DataLength = value->bytes};

	switch (what) {
	case KeyValueBasicInformation:
		a->fixed = FIELD_OFFSET(KEY_VALUE_BASIC_INFORMATION, Name);
		append(a, &basic, a->fixed);
		append(a, value->name.Buffer, value->name.Length);
		return STATUS_SUCCESS;
	case KeyValueFullInformation:
		return tell_full(value, a);
	case KeyValuePartialInformation:
		a->fixed = FIELD_OFFSET(KEY_VALUE_PARTIAL_INFORMATION, Data);
		append(a, &partial, a->fixed);
		append(a, value->data, value->bytes);
		return STATUS_SUCCESS;
	default:
		return STATUS_INVALID_PARAMETER;
	}
}

/* @param name NULL: by its place */
static NTSTATUS
query_value(HANDLE handle, PCUNICODE_STRING name, ULONG index, KEY_VALUE_INFORMATION_CLASS what,
	    struct answer *a, PULONG needed)
{
	struct value *value;
	struct key *key;
	NTSTATUS status = key_of_handle(handle, &key);

	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	value = name != NULL ? value_find(key, name) : value_at(key, index);
	if (value == NULL)
		status = name != NULL ? STATUS_OBJECT_NAME_NOT_FOUND : STATUS_NO_MORE_ENTRIES;
	else
		status = tell_value(value, what, a);
	key_release(key);
	registry_unlock();
	return NT_SUCCESS(status) ? end(a, needed) : status;
}

NTSTATUS
ZwQueryValueKey(HANDLE handle, PUNICODE_STRING name, KEY_VALUE_INFORMATION_CLASS what, PVOID to,
		ULONG room, PULONG needed)
{
	static const UNICODE_STRING no_name = {0, 0, NULL};
	struct answer a = {.to = to, .room = room};

	plx_ke_require("ZwQueryValueKey", PASSIVE_LEVEL);
	return query_value(handle, name != NULL ? name : &no_name, 0, what, &a, needed);
}

NTSTATUS
ZwEnumerateValueKey(HANDLE handle, ULONG index, KEY_VALUE_INFORMATION_CLASS what, PVOID to,
		    ULONG room, PULONG needed)
{
	struct answer a = {.to = to, .room = room};

	plx_ke_require("ZwEnumerateValueKey", PASSIVE_LEVEL);
	return query_value(handle, NULL, index, what, &a, needed);
}

/* ---- keys ---- */

static NTSTATUS
tell_counts(struct key *key, struct answer *a)
{
	KEY_FULL_INFORMATION fixed = {.LastWriteTime = key->written,
				      .ClassOffset = (ULONG)-1,
				      .ClassLength = key->class_name.Length};
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &key->keys) {
		struct key *below = plx_list_entry(node, struct key, node);

		fixed.SubKeys++;
		fixed.MaxNameLen = max(fixed.MaxNameLen, below->name.Length);
		fixed.MaxClassLen = max(fixed.MaxClassLen, below->class_name.Length);
	}
	plx_list_for_each (node, next, &key->values) {
		struct value *value = plx_list_entry(node, struct value, node);

		fixed.Values++;
		fixed.MaxValueNameLen = max(fixed.MaxValueNameLen, value->name.Length);
		fixed.MaxValueDataLen = max(fixed.MaxValueDataLen, value->bytes);
	}
	a->fixed = FIELD_OFFSET(KEY_FULL_INFORMATION, Class);
	if (fixed.ClassLength > 0)
		fixed.ClassOffset = a->fixed;
	append(a, &fixed, a->fixed);
	append(a, key->class_name.Buffer, key->class_name.Length);
	return STATUS_SUCCESS;
}

static NTSTATUS
tell_node(struct key *key, struct answer *a)
{
	KEY_NODE_INFORMATION fixed = {
		.LastWriteTime = key->written,
		.ClassOffset = (ULONG)-1,
		.ClassLength = key->class_name.Length,
		.NameLength = key->name.Length,
	};

	a->fixed = FIELD_OFFSET(KEY_NODE_INFORMATION, Name);
	if (fixed.ClassLength > 0)
		fixed.ClassOffset = a->fixed + key->name.Length;
	append(a, &fixed, a->fixed);
	append(a, key->name.Buffer, key->name.Length);
	append(a, key->class_name.Buffer, key->class_name.Length);
	return STATUS_SUCCESS;
}

static NTSTATUS
tell_path(struct key *key, struct answer *a)
{
	UNICODE_STRING path;
	KEY_NAME_INFORMATION fixed;

	if (!key_path(key, &path))
		return STATUS_INSUFFICIENT_RESOURCES;
	fixed.NameLength = path.Length;
	a->fixed = FIELD_OFFSET(KEY_NAME_INFORMATION, Name);
	append(a, &fixed, a->fixed);
	append(a, path.Buffer, path.Length);
	free(path.Buffer);
	return STATUS_SUCCESS;
}

static NTSTATUS
tell_key(struct key *key, KEY_INFORMATION_CLASS what, struct answer *a)
{
	KEY_BASIC_INFORMATION basic = {.LastWriteTime = key->written,
				       .NameLength = key->name.Length};

	switch (what) {
	case KeyBasicInformation:
		a->fixed = FIELD_OFFSET(KEY_BASIC_INFORMATION, Name);
		append(a, &basic, a->fixed);
		append(a, key->name.Buffer, key->name.Length);
		return STATUS_SUCCESS;
	case KeyNodeInformation:
		return tell_node(key, a);
	case KeyFullInformation:
		return tell_counts(key, a);
	case KeyNameInformation:
		return tell_path(key, a);
	default:
		return STATUS_INVALID_PARAMETER;
	}
}

NTSTATUS
ZwQueryKey(HANDLE handle, KEY_INFORMATION_CLASS what, PVOID to, ULONG room, PULONG needed)
{
	struct answer a = {.to = to, .room = room};
	struct key *key;
	NTSTATUS status;

	plx_ke_require("ZwQueryKey", PASSIVE_LEVEL);
	status = key_of_handle(handle, &key);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	status = tell_key(key, what, &a);
	key_release(key);
	registry_unlock();
	return NT_SUCCESS(status) ? end(&a, needed) : status;
}

NTSTATUS
ZwEnumerateKey(HANDLE handle, ULONG index, KEY_INFORMATION_CLASS what, PVOID to, ULONG room,
	       PULONG needed)
{
	struct answer a = {.to = to, .room = room};
	struct key *key, *below;
	NTSTATUS status;

	plx_ke_require("ZwEnumerateKey", PASSIVE_LEVEL);
	if (what == KeyNameInformation)
		return STATUS_INVALID_PARAMETER;
	status = key_of_handle(handle, &key);
	if (!NT_SUCCESS(status))
		return status;
	registry_lock();
	below = key_at(key, index);
	status = below != NULL ? tell_key(below, what, &a) : STATUS_NO_MORE_ENTRIES;
	key_release(key);
	registry_unlock();
	return NT_SUCCESS(status) ? end(&a, needed) : status;
}
