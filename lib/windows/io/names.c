/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The namespace of devices: one list of names, compared without regard to case. \DosDevices, \??
 * and \GLOBAL?? are one folder. Start with name_resolve().
 */
#include "io.h"

#include <pthread.h>
#include <stdlib.h>

enum {
	LINKS_MAX = 8, /* on the way to a device: more are a circle */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list names = {&names, &names};

static const UNICODE_STRING dos = RTL_CONSTANT_STRING(L"\\??\\");
static const UNICODE_STRING other_dos[] = {
	RTL_CONSTANT_STRING(L"\\DosDevices\\Global\\"),
	RTL_CONSTANT_STRING(L"\\DosDevices\\"),
	RTL_CONSTANT_STRING(L"\\GLOBAL??\\"),
};

void
names_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
names_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- texts ---- */

/* Join two texts in new memory. */
static bool
join(UNICODE_STRING *to, PCUNICODE_STRING first, PCUNICODE_STRING second)
{
	size_t bytes = (size_t)first->Length + second->Length;

	if (bytes > UINT16_MAX - sizeof(WCHAR))
		return false;
	to->Buffer = malloc(bytes + sizeof(WCHAR));
	if (to->Buffer == NULL)
		return false;
	if (first->Length > 0)
		memcpy(to->Buffer, first->Buffer, first->Length);
	if (second->Length > 0)
		memcpy((char *)to->Buffer + first->Length, second->Buffer, second->Length);
	to->Buffer[bytes / sizeof(WCHAR)] = 0;
	to->Length = (USHORT)bytes;
	to->MaximumLength = (USHORT)(bytes + sizeof(WCHAR));
	return true;
}

bool
text_copy(UNICODE_STRING *to, PCUNICODE_STRING from)
{
	return join(to, from, &(UNICODE_STRING){0, 0, NULL});
}

static UNICODE_STRING
after(PCUNICODE_STRING text, USHORT bytes)
{
	return (UNICODE_STRING){
		.Length = (USHORT)(text->Length - bytes),
		.MaximumLength = (USHORT)(text->Length - bytes),
		.Buffer = text->Buffer + bytes / sizeof(WCHAR),
	};
}

/* Copy a name, in the one spelling that the list has. */
static NTSTATUS
spell(PCUNICODE_STRING text, UNICODE_STRING *out)
{
	UNICODE_STRING rest;
	bool is_copied;

	if (text->Length < sizeof(WCHAR) || text->Buffer[0] != L'\\')
		return STATUS_OBJECT_PATH_SYNTAX_BAD;
	for (size_t i = 0; i < sizeof(other_dos) / sizeof(other_dos[0]); i++)
		if (RtlPrefixUnicodeString(&other_dos[i], text, TRUE)) {
			rest = after(text, other_dos[i].Length);
			is_copied = join(out, &dos, &rest);
			return is_copied ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
		}
	return text_copy(out, text) ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

/* ---- the list ---- */

/* The name that begins a text, up to its end or to a backslash. */
static struct name *
find(PCUNICODE_STRING text)
{
	struct plx_list *node, *next;

	plx_list_for_each (node, next, &names) {
		struct name *name = plx_list_entry(node, struct name, node);
		USHORT length = name->text.Length;

		if (RtlPrefixUnicodeString(&name->text, text, TRUE) &&
		    (length == text->Length || text->Buffer[length / sizeof(WCHAR)] == L'\\'))
			return name;
	}
	return NULL;
}

NTSTATUS
name_add(PCUNICODE_STRING text, PDEVICE_OBJECT device, PCUNICODE_STRING target, struct name **made)
{
	struct name *name = calloc(1, sizeof(*name)), *other;
	NTSTATUS status;

	if (name == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	status = spell(text, &name->text);
	if (NT_SUCCESS(status)) {
		/* a name that ends where its folder does is none */
		if (name->text.Buffer[name->text.Length / sizeof(WCHAR) - 1] == L'\\')
			status = STATUS_OBJECT_NAME_INVALID;
		other = find(&name->text);
		if (other != NULL && other->text.Length == name->text.Length)
			status = STATUS_OBJECT_NAME_COLLISION;
	}
	if (NT_SUCCESS(status) && target != NULL)
		status = spell(target, &name->target);
	if (!NT_SUCCESS(status)) {
		free(name->text.Buffer);
		free(name);
		return status;
	}
	name->device = device;
	plx_list_append(&names, &name->node);
	if (made != NULL)
		*made = name;
	return STATUS_SUCCESS;
}

void
name_remove(struct name *name)
{
	plx_list_remove(&name->node);
	free(name->text.Buffer);
	free(name->target.Buffer);
	free(name);
}

NTSTATUS
name_resolve(PCUNICODE_STRING text, PDEVICE_OBJECT *device, UNICODE_STRING *rest)
{
	UNICODE_STRING at;
	NTSTATUS status = spell(text, &at);

	for (int i = 0; NT_SUCCESS(status); i++) {
		struct name *name = i < LINKS_MAX ? find(&at) : NULL;
		UNICODE_STRING tail, next = {0, 0, NULL};
		bool is_copied;

		if (name == NULL) {
			free(at.Buffer);
			return STATUS_OBJECT_NAME_NOT_FOUND;
		}
		tail = after(&at, name->text.Length);
		is_copied = name->device != NULL ? text_copy(&next, &tail)
						 : join(&next, &name->target, &tail);
		free(at.Buffer);
		if (!is_copied)
			return STATUS_INSUFFICIENT_RESOURCES;
		if (name->device != NULL) {
			*device = name->device;
			*rest = next;
			return STATUS_SUCCESS;
		}
		at = next;
	}
	return status;
}

void
names_each_link(void (*call)(void *context, PCUNICODE_STRING text), void *context)
{
	struct plx_list *node, *next;

	names_lock();
	plx_list_for_each (node, next, &names) {
		struct name *name = plx_list_entry(node, struct name, node);

		if (name->device == NULL)
			call(context, &name->text);
	}
	names_unlock();
}

void
names_forget_links(void)
{
	struct plx_list *node, *next;

	names_lock();
	plx_list_for_each (node, next, &names) {
		struct name *name = plx_list_entry(node, struct name, node);

		if (name->device == NULL)
			name_remove(name);
	}
	names_unlock();
}

/* ---- symbolic links ---- */

NTSTATUS
IoCreateSymbolicLink(PUNICODE_STRING link, PUNICODE_STRING device)
{
	NTSTATUS status;

	plx_ke_require("IoCreateSymbolicLink", PASSIVE_LEVEL);
	names_lock();
	status = name_add(link, NULL, device, NULL);
	names_unlock();
	return status;
}

NTSTATUS
IoCreateUnprotectedSymbolicLink(PUNICODE_STRING link, PUNICODE_STRING device)
{
	return IoCreateSymbolicLink(link, device);
}

NTSTATUS
IoDeleteSymbolicLink(PUNICODE_STRING link)
{
	UNICODE_STRING text;
	struct name *name;
	NTSTATUS status;

	plx_ke_require("IoDeleteSymbolicLink", PASSIVE_LEVEL);
	status = spell(link, &text);
	if (!NT_SUCCESS(status))
		return status;
	names_lock();
	name = find(&text);
	if (name == NULL || name->text.Length != text.Length)
		status = STATUS_OBJECT_NAME_NOT_FOUND;
	else if (name->device != NULL)
		status = STATUS_OBJECT_TYPE_MISMATCH;
	else
		name_remove(name);
	names_unlock();
	free(text.Buffer);
	return status;
}
