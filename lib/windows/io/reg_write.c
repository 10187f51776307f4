/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the registry as a file, in UTF-8: what reg_read.c reads. Start with
 * plx_driver_registry_write().
 */
#include "registry.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
	LINE_BYTES = 24, /* bytes of hex in a line, as regedit has them */
};

/* Write a text, with a backslash before what would end it. */
static void
write_text(FILE *to, PCUNICODE_STRING text)
{
	USHORT n = text->Length / sizeof(WCHAR);

	for (USHORT i = 0; i < n; i++) {
		/* the first half of a pair brings the second with it */
		bool is_pair = text->Buffer[i] >= 0xd800 && text->Buffer[i] < 0xdc00 && i + 1 < n;
		UNICODE_STRING one = {(USHORT)((1 + is_pair) * sizeof(WCHAR)), 0, text->Buffer + i};
		char room[8];

		text_to_utf8(room, sizeof(room), &one);
		fprintf(to, "%s%s", *room == '\\' || *room == '"' ? "\\" : "", room);
		i = (USHORT)(i + is_pair);
	}
}

/* Whether a text can stand between quotes: it has one 0, at its end, and no line ends. */
static bool
is_plain(const struct value *value, UNICODE_STRING *text)
{
	const WCHAR *at = (const WCHAR *)(const void *)value->data;
	ULONG n = value->bytes / sizeof(WCHAR);

	if (value->type != REG_SZ || value->bytes % sizeof(WCHAR) != 0 || n == 0 ||
	    value->bytes > UINT16_MAX || at[n - 1] != 0)
		return false;
	for (ULONG i = 0; i + 1 < n; i++)
		/* half a character has no spelling in UTF-8 */
		if (at[i] < L' ' || (at[i] >= 0xd800 && at[i] <= 0xdfff))
			return false;
	*text = (UNICODE_STRING){(USHORT)(value->bytes - sizeof(WCHAR)), (USHORT)value->bytes,
				 (PWSTR)(uintptr_t)at};
	return true;
}

static void
write_value(FILE *to, const struct value *value)
{
	UNICODE_STRING text;
	uint32_t number;

	if (value->name.Length == 0) {
		fputs("@=", to);
	} else {
		fputc('"', to);
		write_text(to, &value->name);
		fputs("\"=", to);
	}
	if (is_plain(value, &text)) {
		fputc('"', to);
		write_text(to, &text);
		fputs("\"\n", to);
		return;
	}
	if (value->type == REG_DWORD && value->bytes == sizeof(number)) {
		memcpy(&number, value->data, sizeof(number));
		fprintf(to, "dword:%08x\n", number);
		return;
	}
	if (value->type == REG_BINARY)
		fputs("hex:", to);
	else
		fprintf(to, "hex(%x):", value->type);
	for (ULONG i = 0; i < value->bytes; i++)
		fprintf(to, "%s%02x",
			i == 0                ? ""
			: i % LINE_BYTES == 0 ? ",\\\n  "
					      : ",",
			value->data[i]);
	fputc('\n', to);
}

/* The name of a key in a file. The first part is the hive's. */
static void
write_path(FILE *to, const struct key *key)
{
	char name[KEY_NAME_MAX * 3 + 1];

	text_to_utf8(name, sizeof(name), &key->name);
	if (key->parent->parent == NULL) {
		fputs(strcmp(name, "Machine") == 0 ? "HKEY_LOCAL_MACHINE" : "HKEY_USERS", to);
		return;
	}
	write_path(to, key->parent);
	fprintf(to, "\\%s", name);
}

static void
write_key(FILE *to, struct key *key)
{
	struct plx_list *node, *next;

	if (key->is_volatile)
		return;
	fputs("\n[", to);
	write_path(to, key);
	fputs("]\n", to);
	plx_list_for_each (node, next, &key->values)
		write_value(to, plx_list_entry(node, struct value, node));
}

/* The key after this one, parents first. Returns: NULL: it was the last */
static struct key *
after(struct key *key)
{
	if (!plx_list_empty(&key->keys))
		return plx_list_entry(key->keys.next, struct key, node);
	for (; key->parent != NULL; key = key->parent)
		if (key->node.next != &key->parent->keys)
			return plx_list_entry(key->node.next, struct key, node);
	return NULL;
}

bool
plx_driver_registry_write(const char *path, struct plx_why *why)
{
	static const UNICODE_STRING top = RTL_CONSTANT_STRING(L"\\Registry");
	struct key *root, *key;
	char fresh[PATH_MAX];
	bool is_written = false;
	FILE *to = NULL;

	if ((size_t)snprintf(fresh, sizeof(fresh), "%s.new", path) < sizeof(fresh))
		to = fopen(fresh, "we");
	else
		errno = ENAMETOOLONG;
	if (to != NULL) {
		fputs("Windows Registry Editor Version 5.00\n", to);
		registry_lock();
		(void)key_find(NULL, &top, 0, false, &root);
		for (key = after(root); key != NULL; key = after(key))
			write_key(to, key);
		registry_unlock();
		is_written = fflush(to) == 0 && !ferror(to);
		is_written = fclose(to) == 0 && is_written && rename(fresh, path) == 0;
	}
	if (!is_written) {
		plx_why_set(why, "%s cannot be written: %s", path, strerror(errno));
		if (to != NULL)
			unlink(fresh);
	}
	return is_written;
}
