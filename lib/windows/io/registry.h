/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of registry keys, in memory. One lock covers it. Start with key_find().
 */
#ifndef PLX_REGISTRY_H
#define PLX_REGISTRY_H

#include "io.h"

enum {
	KEY_NAME_MAX = 255,     /* [characters] as Windows documents it */
	VALUE_NAME_MAX = 16383, /* [characters] likewise */
	VALUE_MAX = 1 << 20,    /* [bytes] of one value, as Windows recommends at most */
};

struct value {
	struct plx_list node;
	UNICODE_STRING name;
	ULONG type, bytes;
	UCHAR *data;
};

struct key {
	struct plx_list node; /* among the keys of its parent, sorted by name */
	struct key *parent;   /* NULL: the root, or deleted */
	UNICODE_STRING name, class_name;
	struct plx_list keys, values;
	uint32_t holds;
	bool is_volatile, is_deleted;
	LARGE_INTEGER written;
};

void registry_lock(void);
void registry_unlock(void);

/* Everything below with the lock. */

/** Hold the key and release it. */
struct key *key_hold(struct key *key);
void key_release(struct key *key);
/**
 * Find a key.
 * @param from what the path is relative to; NULL: the path begins with \Registry
 * @param made 0: it must exist; 1: its last part is made; PLX_IO_REGISTRY_DEPTH: all of it
 * @param key  out: not held
 * Returns: STATUS_OBJECT_NAME_NOT_FOUND, STATUS_OBJECT_PATH_SYNTAX_BAD, STATUS_OBJECT_NAME_INVALID,
 * STATUS_INSUFFICIENT_RESOURCES; STATUS_OBJECT_NAME_EXISTS (a success): it was there before
 */
NTSTATUS key_find(struct key *from, PCUNICODE_STRING path, uint32_t made, bool is_volatile,
		  struct key **key);
/** A key below another by its place. Returns: NULL: there are fewer */
struct key *key_at(struct key *key, ULONG index);
/** Remove a key without keys below it from the tree. */
NTSTATUS key_delete(struct key *key);
/** Remove a key and all below it. */
void key_delete_all(struct key *key);
/** The path of a key, allocated. Returns: false: no memory, or too long */
bool key_path(const struct key *key, UNICODE_STRING *path);

/** Returns: NULL: there is none */
struct value *value_find(struct key *key, PCUNICODE_STRING name);
struct value *value_at(struct key *key, ULONG index);
NTSTATUS value_set(struct key *key, PCUNICODE_STRING name, ULONG type, const void *data,
		   ULONG bytes);
void value_delete(struct key *key, struct value *value);
/** Returns: STATUS_OBJECT_NAME_NOT_FOUND: there is none */
NTSTATUS value_delete_named(struct key *key, PCUNICODE_STRING name);

/* ---- by handles, without the lock ---- */

/** Get the key of a handle, held: the caller key_release()s it, with the lock.
 * Returns: STATUS_INVALID_HANDLE, STATUS_OBJECT_TYPE_MISMATCH, STATUS_KEY_DELETED */
NTSTATUS key_of_handle(HANDLE handle, struct key **key);
/** Open a handle to a key. */
NTSTATUS key_open_handle(struct key *key, ACCESS_MASK access, PHANDLE handle);

/* ---- text ---- */

/** Read one value as it stands behind "=" in a file.
 * @param text UTF-16, ended by 0
 * @param data out: allocated
 * Returns: a sentence's end, such as "is no number of 32 bits"; NULL: it was read */
const char *value_parse(PCWSTR text, ULONG *type, UCHAR **data, ULONG *bytes);

/** Read a text between quotes, in which a backslash precedes a backslash or a quote.
 * @param text   from its opening quote; out: behind its closing one
 * @param to     may be *text, and has room for as much
 * @param length out: characters
 * Returns: as value_parse() */
const char *text_parse(PCWSTR *text, PWSTR to, size_t *length);

/** \Registry\Machine\System\CurrentControlSet\Services */
extern const UNICODE_STRING registry_services;

#endif
