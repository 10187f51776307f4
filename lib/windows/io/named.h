/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of objects that are no devices: events and callback objects. A name lasts as long as its
 * object. Start with named_enter().
 */
#ifndef PLX_IO_NAMED_H
#define PLX_IO_NAMED_H

#include "io.h"

/* A member of such an object; of zeros: the object has no name. */
struct named {
	struct plx_list node;
	UNICODE_STRING text;
	PVOID object;
	bool is_permanent; /* it is held until ZwMakeTemporaryObject() */
};

/** Does it have a name? Returns: STATUS_INVALID_PARAMETER: not initialized */
NTSTATUS named_check(const OBJECT_ATTRIBUTES *attributes, bool *has_name);
/**
 * Name a new object, unless the name is taken.
 * @param named    of the object
 * @param existing out: with STATUS_OBJECT_NAME_EXISTS, held by the caller
 * Returns: STATUS_SUCCESS; STATUS_OBJECT_NAME_EXISTS: an object of the same type has it;
 * STATUS_OBJECT_TYPE_MISMATCH: one of another; or why it is no name, or no memory
 */
NTSTATUS named_enter(const OBJECT_ATTRIBUTES *attributes, PVOID object, struct named *named,
		     PVOID *existing);
/** Find an object. @param object out: held by the caller
 * Returns: STATUS_SUCCESS; STATUS_OBJECT_NAME_NOT_FOUND; and as above */
NTSTATUS named_find(const OBJECT_ATTRIBUTES *attributes, POBJECT_TYPE type, PVOID *object);
/** Its object ends. */
void named_leave(struct named *named);

#endif
