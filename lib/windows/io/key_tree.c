/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys and values: finding, making, deleting them. It knows no handles. Start with key_find().
 */
#include "registry.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct key root = {
	.node = {&root.node, &root.node},
	.keys = {&root.keys, &root.keys},
	.values = {&root.values, &root.values},
	.holds = 1,
};

const UNICODE_STRING registry_services =
	RTL_CONSTANT_STRING(L"\\Registry\\Machine\\System\\CurrentControlSet\\Services");

/* What every machine has. */
static const UNICODE_STRING always[] = {
	RTL_CONSTANT_STRING(L"\\Registry\\Machine\\System\\CurrentControlSet\\Services"),
	RTL_CONSTANT_STRING(L"\\Registry\\Machine\\System\\CurrentControlSet\\Control"),
	RTL_CONSTANT_STRING(
		L"\\Registry\\Machine\\Software\\Microsoft\\Windows NT\\CurrentVersion"),
	RTL_CONSTANT_STRING(L"\\Registry\\Machine\\Hardware\\DeviceMap"),
	RTL_CONSTANT_STRING(L"\\Registry\\User\\.Default"),
};

void
registry_lock(void)
{
	struct key *key;

	pthread_mutex_lock(&lock);
	if (plx_list_empty(&root.keys))
		for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
			(void)key_find(NULL, &always[i], PLX_IO_REGISTRY_DEPTH, false, &key);
}

void
registry_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- keys ---- */

struct key *
key_hold(struct key *key)
{
	key->holds++;
	return key;
}

void
key_release(struct key *key)
{
	if (--key->holds > 0)
		return;
	while (!plx_list_empty(&key->values))
		value_delete(key, plx_list_entry(key->values.next, struct value, node));
	free(key->name.Buffer);
	free(key->class_name.Buffer);
	free(key);
}

/* The key of this name, or the one before which it belongs.
 * @param is_found out */
static struct plx_list *
place(struct key *key, PCUNICODE_STRING name, bool *is_found)
{
	struct plx_list *node, *next;
	LONG order = 1;

	plx_list_for_each (node, next, &key->keys) {
		order = RtlCompareUnicodeString(&plx_list_entry(node, struct key, node)->name, name,
						TRUE);
		if (order >= 0)
			break;
	}
	*is_found = node != &key->keys && order == 0;
	return node;
}

static NTSTATUS
make(struct key *parent, PCUNICODE_STRING name, bool is_volatile, struct plx_list *before,
     struct key **out)
{
	struct key *key;

	if (name->Length > KEY_NAME_MAX * sizeof(WCHAR))
		return STATUS_OBJECT_NAME_INVALID;
	if (parent->is_volatile && !is_volatile)
		return STATUS_CHILD_MUST_BE_VOLATILE;
	key = calloc(1, sizeof(*key));
	if (key == NULL || !text_copy(&key->name, name)) {
		free(key);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	plx_list_init(&key->keys);
	plx_list_init(&key->values);
	key->parent = parent;
	key->holds = 1;
	key->is_volatile = is_volatile;
	KeQuerySystemTime(&key->written);
	KeQuerySystemTime(&parent->written);
	/* to append to the list that begins at a node is to insert before it */
	plx_list_append(before, &key->node);
	*out = key;
	return STATUS_SUCCESS;
}

/* Cut the first part off a path. Returns: false: it is empty, or the path has none */
static bool
cut(UNICODE_STRING *path, UNICODE_STRING *part)
{
	USHORT n = 0;

	while (n < path->Length / sizeof(WCHAR) && path->Buffer[n] != L'\\')
		n++;
	*part = (UNICODE_STRING){(USHORT)(n * sizeof(WCHAR)), (USHORT)(n * sizeof(WCHAR)),
				 path->Buffer};
	if (n < path->Length / sizeof(WCHAR))
		n++; /* the backslash */
	path->Buffer += n;
	path->Length = (USHORT)(path->Length - n * sizeof(WCHAR));
	return part->Length > 0;
}

static uint32_t
parts_of(UNICODE_STRING path)
{
	UNICODE_STRING part;
	uint32_t n = 0;

	while (path.Length > 0 && cut(&path, &part))
		n++;
	return path.Length > 0 ? UINT32_MAX : n;
}

NTSTATUS
key_find(struct key *from, PCUNICODE_STRING path, uint32_t made, bool is_volatile, struct key **out)
{
	static const UNICODE_STRING top = RTL_CONSTANT_STRING(L"Registry");
	UNICODE_STRING rest = *path, part;
	struct key *key = from != NULL ? from : &root;
	NTSTATUS status = STATUS_OBJECT_NAME_EXISTS;
	uint32_t left;

	if (from == NULL) {
		if (rest.Length < sizeof(WCHAR) || rest.Buffer[0] != L'\\')
			return STATUS_OBJECT_PATH_SYNTAX_BAD;
		rest.Buffer++;
		rest.Length = (USHORT)(rest.Length - sizeof(WCHAR));
		if (!cut(&rest, &part) || !RtlEqualUnicodeString(&part, &top, TRUE))
			return STATUS_OBJECT_NAME_NOT_FOUND;
	}
	left = parts_of(rest);
	if (left > PLX_IO_REGISTRY_DEPTH)
		return STATUS_OBJECT_PATH_SYNTAX_BAD;
	for (; left > 0; left--) {
		bool is_found;
		struct plx_list *node;

		(void)cut(&rest, &part);
		node = place(key, &part, &is_found);
		status = STATUS_OBJECT_NAME_EXISTS;
		if (is_found)
			key = plx_list_entry(node, struct key, node);
		else if (left > made)
			status = STATUS_OBJECT_NAME_NOT_FOUND;
		else
			status = make(key, &part, is_volatile, node, &key);
		if (!NT_SUCCESS(status))
			return status;
	}
	*out = key;
	return status;
}

struct key *
key_at(struct key *key, ULONG index)
{
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &key->keys) {
		if (index-- == 0)
			return plx_list_entry(node, struct key, node);
	}
	return NULL;
}

NTSTATUS
key_delete(struct key *key)
{
	if (!plx_list_empty(&key->keys) || key->parent == NULL)
		return STATUS_CANNOT_DELETE;
	KeQuerySystemTime(&key->parent->written);
	plx_list_remove(&key->node);
	key->parent = NULL;
	key->is_deleted = true;
	key_release(key);
	return STATUS_SUCCESS;
}

void
key_delete_all(struct key *key)
{
	struct key *at = key;

	/* from the leaves */
	while (at != NULL) {
		struct key *up = at == key ? NULL : at->parent;

		if (!plx_list_empty(&at->keys)) {
			at = plx_list_entry(at->keys.next, struct key, node);
			continue;
		}
		(void)key_delete(at);
		at = up;
	}
}

bool
key_path(const struct key *key, UNICODE_STRING *path)
{
	static const WCHAR top[] = L"\\REGISTRY";
	size_t bytes = sizeof(top) - sizeof(WCHAR);
	char *end;

	for (const struct key *at = key; at->parent != NULL; at = at->parent)
		bytes += sizeof(WCHAR) + at->name.Length;
	if (bytes > UINT16_MAX - sizeof(WCHAR))
		return false;
	path->Buffer = malloc(bytes);
	if (path->Buffer == NULL)
		return false;
	path->Length = path->MaximumLength = (USHORT)bytes;
	end = (char *)path->Buffer + bytes;
	for (const struct key *at = key; at->parent != NULL; at = at->parent) {
		end -= at->name.Length;
		memcpy(end, at->name.Buffer, at->name.Length);
		end -= sizeof(WCHAR);
		memcpy(end, top, sizeof(WCHAR));
	}
	memcpy(path->Buffer, top, sizeof(top) - sizeof(WCHAR));
	return true;
}

/* ---- values ---- */

struct value *
value_find(struct key *key, PCUNICODE_STRING name)
{
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &key->values) {
		struct value *value = plx_list_entry(node, struct value, node);

		if (RtlEqualUnicodeString(&value->name, name, TRUE))
			return value;
	}
	return NULL;
}

struct value *
value_at(struct key *key, ULONG index)
{
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &key->values) {
		if (index-- == 0)
			return plx_list_entry(node, struct value, node);
	}
	return NULL;
}

NTSTATUS
value_set(struct key *key, PCUNICODE_STRING name, ULONG type, const void *data, ULONG bytes)
{
	struct value *value = value_find(key, name), *made = NULL;
	UCHAR *copy;

	if (bytes > VALUE_MAX || name->Length > VALUE_NAME_MAX * sizeof(WCHAR))
		return STATUS_INVALID_PARAMETER;
	copy = malloc(bytes > 0 ? bytes : 1);
	if (value == NULL)
		made = value = calloc(1, sizeof(*value));
	if (copy == NULL || value == NULL || (made != NULL && !text_copy(&value->name, name))) {
		free(copy);
		free(made);
		return STATUS_INSUFFICIENT_RESOURCES;
	}
	if (bytes > 0)
		memcpy(copy, data, bytes);
	free(value->data);
	value->data = copy;
	value->bytes = bytes;
	value->type = type;
	if (made != NULL)
		plx_list_append(&key->values, &made->node);
	KeQuerySystemTime(&key->written);
	return STATUS_SUCCESS;
}

void
value_delete(struct key *key, struct value *value)
{
	plx_list_remove(&value->node);
	free(value->name.Buffer);
	free(value->data);
	free(value);
	KeQuerySystemTime(&key->written);
}

NTSTATUS
value_delete_named(struct key *key, PCUNICODE_STRING name)
{
	struct value *value = value_find(key, name);

	if (value == NULL)
		return STATUS_OBJECT_NAME_NOT_FOUND;
	value_delete(key, value);
	return STATUS_SUCCESS;
}
