/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room share: names, devices, open files, requests, and the counts of what
 * is left. Drivers see wdmio.h alone. Start with struct io_ask.
 */
#ifndef PLX_IO_PRIVATE_H
#define PLX_IO_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <wdm.h>

#include "plx_base.h"
#include "plx_io.h"
#include "plx_ex.h"
#include "plx_ke.h"

/* ---- requests ---- */

/* Bits of AllocationFlags. */
enum {
	IRP_ALLOCATED = 0x01, /* IoFreeIrp() frees it */
	IRP_BUILT = 0x02,     /* its completion tells its sender, and frees it */
};

/* The word of Tail.Private after those that have names. */
enum {
	OUTPUT_BYTES = 10,
};

/* What is requested of a device. */
struct io_ask {
	UCHAR function; /* IRP_MJ_... */
	ULONG code;
	PVOID in, out;
	ULONG in_bytes, out_bytes;
	const LARGE_INTEGER *offset;
};

/** Allocate a request whose first location asks for this. Returns: NULL: no memory */
PIRP irp_prepare(PDEVICE_OBJECT device, const struct io_ask *ask);
/** Copy to the sender what it gets, and undo what irp_prepare() has prepared. */
void irp_release_buffers(PIRP irp);
/** Send a request without buffers, and wait for its end.
 * @param irp of IoAllocateIrp(), filled; the caller's again afterwards */
NTSTATUS irp_send_and_wait(PDEVICE_OBJECT device, PIRP irp);
uint64_t irp_count(void);

/* ---- names ---- */

/* A name of the object namespace: of a device, or of a link to another name. */
struct name {
	struct plx_list node;
	UNICODE_STRING text;
	UNICODE_STRING target; /* of a link */
	PDEVICE_OBJECT device; /* of a device */
};

/** Covers the namespace, and what of devices is decided by name: who may open them. */
void names_lock(void);
void names_unlock(void);
/** Add a name. With the lock.
 * @param device NULL: a link to target
 * Returns: STATUS_OBJECT_NAME_COLLISION, STATUS_OBJECT_NAME_INVALID, STATUS_OBJECT_PATH_SYNTAX_BAD,
 * STATUS_INSUFFICIENT_RESOURCES */
NTSTATUS name_add(PCUNICODE_STRING text, PDEVICE_OBJECT device, PCUNICODE_STRING target,
		  struct name **made);
void name_remove(struct name *name);
/** Follow a name to a device. With the lock.
 * @param rest out: what of the name follows the device's, allocated; free() its Buffer
 * Returns: STATUS_OBJECT_NAME_NOT_FOUND, STATUS_OBJECT_PATH_SYNTAX_BAD, ... */
NTSTATUS name_resolve(PCUNICODE_STRING text, PDEVICE_OBJECT *device, UNICODE_STRING *rest);
/** Call a function for each link. */
void names_each_link(void (*call)(void *context, PCUNICODE_STRING text), void *context);

/** A copy of a text. Returns: false: no memory */
bool text_copy(UNICODE_STRING *to, PCUNICODE_STRING from);

/* ---- devices ---- */

struct _IO_TIMER {
	KTIMER timer;
	KDPC dpc;
	PIO_TIMER_ROUTINE routine;
	PVOID context;
	bool is_running;
};

/* What this library keeps of a device. */
struct _DEVOBJ_EXTENSION {
	struct plx_list node; /* in the list of all devices */
	PDEVICE_OBJECT device;
	struct name *name;
	UNICODE_STRING text; /* its name, which lasts as long as the device */
	bool is_deleted;
	bool is_forgotten; /* its driver has gone without it */
	struct _IO_TIMER timer;
};

extern struct _OBJECT_TYPE io_device_type, io_file_type, io_driver_type;

/** Send IRP_MJ_SHUTDOWN to the devices that asked for it. */
void devices_shut_down(void);
void devices_each(void (*call)(void *context, PDEVICE_OBJECT device), void *context);

/* ---- open files ---- */

struct file_more {
	struct plx_list node; /* in the list of all files */
	PFILE_OBJECT file;
	PIRP last; /* for IRP_MJ_CLEANUP and IRP_MJ_CLOSE, which no lack of memory may prevent */
	bool is_open;
};

/** Open a device.
 * @param file   out: held by the caller
 * @param handle out: ZwClose() sends IRP_MJ_CLEANUP, the last release IRP_MJ_CLOSE */
NTSTATUS file_open(PCUNICODE_STRING name, ACCESS_MASK access, PFILE_OBJECT *file, PHANDLE handle);
uint64_t file_count(void);

/** Take the names of all devices away, and all links: the driver is about to go. */
void devices_forget(void);
void names_forget_links(void);

/* ---- drivers ---- */

/** Make a driver object. Returns: NULL: no memory */
PDRIVER_OBJECT driver_create(const char *service);
/** Let every request fail: the driver's routines are about to go. */
void driver_disarm(PDRIVER_OBJECT driver);
/** A text in UTF-16. Returns: false: not UTF-8, too long, or no memory; free() its Buffer */
bool text_from_utf8(UNICODE_STRING *to, const char *from);
/** A text in UTF-8, cut if it is too long. */
void text_to_utf8(char *to, size_t size, PCUNICODE_STRING from);

/* ---- what is left ---- */

/** Work items that are allocated. */
uint64_t work_item_count(void);

/* Counts from before a driver was loaded. */
struct left {
	uint64_t irps, work_items, files;
	ULONG work;
	struct plx_ex_tag *tags; /* of pool; free()d by the caller */
	size_t tag_count;
	struct plx_ke_left ke;
	uint64_t watched[PLX_IO_WATCHES_MAX];
};

void left_begin(struct left *before);
/** Whether code of the driver may run: something of it that ends by itself. */
bool left_is_busy(const struct left *before);
void left_report(const struct left *before, struct plx_driver_report *report);
/** Add a finding. */
void left_add(struct plx_driver_report *report, const char *kind, const char *name, uint64_t count,
	      uint64_t bytes, bool runs);

#endif
