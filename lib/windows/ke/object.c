/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counted objects, and the table of handles. A handle is the index of its slot and how often the
 * slot was used before, so that a closed handle stays invalid. Start with struct slot.
 */
#include "ke.h"

#include <stdlib.h>

/* A handle: generation, index + 1, and two bits that are the caller's, as on Windows. */
enum {
	TAG_BITS = 2,
	INDEX_BITS = 17,
	FIRST_SLOTS = 64,
};

struct slot {
	PVOID object; /* NULL: free */
	ACCESS_MASK access;
	uint32_t generation;
	uint32_t next; /* of the free ones: index + 1; 0: the last */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots;
static uint32_t size, open, first_free; /* first_free: index + 1 */

static struct ke_object *
head_of(PVOID object)
{
	return (struct ke_object *)object - 1;
}

/* ---- counting ---- */

PVOID
plx_ke_object_create(POBJECT_TYPE type, SIZE_T bytes)
{
	SIZE_T whole = (sizeof(struct ke_object) + bytes + 15) & ~(SIZE_T)15;
	struct ke_object *head = aligned_alloc(16, whole);

	if (head == NULL)
		return NULL;
	memset(head, 0, whole);
	head->type = type;
	atomic_init(&head->holds, 1);
	return head + 1;
}

POBJECT_TYPE
plx_ke_object_type(PVOID object)
{
	return head_of(object)->type;
}

LONG_PTR
ObfReferenceObject(PVOID object)
{
	return (LONG_PTR)atomic_fetch_add_explicit(&head_of(object)->holds, 1,
						   memory_order_relaxed) +
	       1;
}

bool
plx_ke_object_try_hold(PVOID object)
{
	struct ke_object *head = head_of(object);
	long long holds = atomic_load_explicit(&head->holds, memory_order_relaxed);

	while (holds > 0)
		if (atomic_compare_exchange_weak_explicit(&head->holds, &holds, holds + 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
	return false;
}

LONG_PTR
ObfDereferenceObject(PVOID object)
{
	struct ke_object *head = head_of(object);
	LONG_PTR holds;

	plx_ke_require("ObDereferenceObject", DISPATCH_LEVEL);
	holds = (LONG_PTR)atomic_fetch_sub_explicit(&head->holds, 1, memory_order_acq_rel) - 1;
	if (holds < 0 && plx_ke_checks())
		plx_wdk_stop("ObDereferenceObject: nobody holds the object at %p", object);
	if (holds == 0) {
		if (head->type->destroy != NULL)
			head->type->destroy(object);
		free(head);
	}
	return holds;
}

VOID
ObDereferenceObjectDeferDelete(PVOID object)
{
	ObfDereferenceObject(object);
}

static bool
has_type(PVOID object, POBJECT_TYPE type)
{
	return type == NULL || head_of(object)->type == type;
}

NTSTATUS
ObReferenceObjectByPointer(PVOID object, ACCESS_MASK access, POBJECT_TYPE type,
			   KPROCESSOR_MODE mode)
{
	(void)access, (void)mode;
	if (!has_type(object, type))
		return STATUS_OBJECT_TYPE_MISMATCH;
	ObfReferenceObject(object);
	return STATUS_SUCCESS;
}

/* ---- handles ---- */

/* Double the table. The lock is held. */
static bool
grow(void)
{
	uint32_t more = size == 0 ? FIRST_SLOTS : 2 * size;
	struct slot *bigger = NULL;

	if (size < PLX_KE_HANDLES_MAX)
		bigger = realloc(slots, more * sizeof(*slots));
	if (bigger == NULL)
		return false;
	for (uint32_t i = size; i < more; i++)
		bigger[i] = (struct slot){.next = i + 1 < more ? i + 2 : 0};
	first_free = size + 1;
	slots = bigger;
	size = more;
	return true;
}

/* The slot of a handle that is open. The lock is held. Returns: NULL: it is none */
static struct slot *
slot_of(HANDLE handle)
{
	ULONG_PTR bits = (ULONG_PTR)handle >> TAG_BITS;
	ULONG_PTR index = (bits & (((ULONG_PTR)1 << INDEX_BITS) - 1)) - 1;

	if (index >= size || slots[index].object == NULL ||
	    slots[index].generation != bits >> INDEX_BITS)
		return NULL;
	return &slots[index];
}

NTSTATUS
plx_ke_handle_open(PVOID object, ACCESS_MASK access, PHANDLE handle)
{
	NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;

	pthread_mutex_lock(&lock);
	if (first_free != 0 || grow()) {
		uint32_t at = first_free;
		struct slot *slot = &slots[at - 1];

		first_free = slot->next;
		slot->object = object;
		slot->access = access;
		open++;
		*handle = (HANDLE)((((ULONG_PTR)slot->generation << INDEX_BITS) | at) << TAG_BITS);
		status = STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	if (status == STATUS_SUCCESS) {
		ObfReferenceObject(object);
		atomic_fetch_add_explicit(&head_of(object)->handles, 1, memory_order_relaxed);
	}
	return status;
}

NTSTATUS
ZwClose(HANDLE handle)
{
	PVOID object = NULL;
	struct ke_object *head;
	struct slot *slot;

	plx_ke_require("ZwClose", PASSIVE_LEVEL);
	pthread_mutex_lock(&lock);
	slot = slot_of(handle);
	if (slot != NULL) {
		object = slot->object;
		slot->object = NULL;
		slot->generation++;
		slot->next = first_free;
		first_free = (uint32_t)(slot - slots) + 1;
		open--;
	}
	pthread_mutex_unlock(&lock);
	if (object == NULL)
		return STATUS_INVALID_HANDLE;
	head = head_of(object);
	if (atomic_fetch_sub_explicit(&head->handles, 1, memory_order_acq_rel) == 1 &&
	    head->type->closed != NULL)
		head->type->closed(object);
	ObfDereferenceObject(object);
	return STATUS_SUCCESS;
}

NTSTATUS
ObCloseHandle(HANDLE handle, KPROCESSOR_MODE mode)
{
	(void)mode;
	return ZwClose(handle);
}

/* What a handle stands for that nobody opened. Returns: NULL: it is none of these */
static PVOID
standing_for(HANDLE handle)
{
	if (handle == ZwCurrentThread())
		return ke_thread();
	return handle == ZwCurrentProcess() ? PsInitialSystemProcess : NULL;
}

NTSTATUS
ObReferenceObjectByHandle(HANDLE handle, ACCESS_MASK access, POBJECT_TYPE type,
			  KPROCESSOR_MODE mode, PVOID *object,
			  POBJECT_HANDLE_INFORMATION information)
{
	NTSTATUS status = STATUS_INVALID_HANDLE;
	ACCESS_MASK granted = THREAD_ALL_ACCESS;
	PVOID found = standing_for(handle);
	struct slot *slot;

	plx_ke_require("ObReferenceObjectByHandle", PASSIVE_LEVEL);
	*object = NULL;
	pthread_mutex_lock(&lock);
	slot = slot_of(handle);
	if (slot != NULL) {
		found = slot->object;
		granted = slot->access;
	}
	if (found != NULL)
		status = ObReferenceObjectByPointer(found, access, type, mode);
	pthread_mutex_unlock(&lock);
	if (status != STATUS_SUCCESS)
		return status;
	*object = found;
	if (information != NULL)
		*information = (OBJECT_HANDLE_INFORMATION){.GrantedAccess = granted};
	return STATUS_SUCCESS;
}

NTSTATUS
ObOpenObjectByPointer(PVOID object, ULONG attributes, PACCESS_STATE state, ACCESS_MASK access,
		      POBJECT_TYPE type, KPROCESSOR_MODE mode, PHANDLE handle)
{
	(void)attributes, (void)state, (void)mode;
	plx_ke_require("ObOpenObjectByPointer", PASSIVE_LEVEL);
	if (!has_type(object, type))
		return STATUS_OBJECT_TYPE_MISMATCH;
	return plx_ke_handle_open(object, access, handle);
}

unsigned int
ke_handles_open(void)
{
	unsigned int now;

	pthread_mutex_lock(&lock);
	now = open;
	pthread_mutex_unlock(&lock);
	return now;
}
