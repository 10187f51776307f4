/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's side of drivers, for ndkhost and for tests: the registry that they read, loading an
 * image, requests to its devices, unloading, and what was left behind. Texts are UTF-8, so that a
 * program needs none of the driver kit's headers.
 *
 * A process has one driver at a time, so that whatever is left is that driver's.
 * Start with plx_driver_load(). Threads: any, at PASSIVE_LEVEL; loading and unloading by one.
 */
#ifndef PLX_IO_H
#define PLX_IO_H

#include "plx_base.h"

enum {
	PLX_IO_SETTLE_MS = 2000,    /* what a driver left running gets to end by itself */
	PLX_IO_FINDINGS_MAX = 64,   /* kinds and names in one report; the last counts the rest */
	PLX_IO_NAME_MAX = 120,      /* [bytes] of a name in a report */
	PLX_IO_REGISTRY_DEPTH = 32, /* parts of a key's path */
	PLX_IO_WATCHES_MAX = 16,    /* kinds of objects of later rooms */
};

/* ---- the registry ---- */

/**
 * Add what a file has to the registry. Its text is that of regedit: "Windows Registry Editor
 * Version 5.00", keys in brackets, values below them. The file is UTF-8, or UTF-16 with a byte
 * order mark, and may be written to by nobody but its owner and root (lib/files).
 *
 * Returns: false, with a sentence that has the line; nothing has changed
 * Tests: tests/unit/windows/io/reg_file.c
 */
PLX_API bool plx_driver_registry_read(const char *path, struct plx_why *why) PLX_MUST_CHECK;
/** Write the registry, without volatile keys, to a file that plx_driver_registry_read() reads. */
PLX_API bool plx_driver_registry_write(const char *path, struct plx_why *why) PLX_MUST_CHECK;
/**
 * Set one value below a service's key.
 * @param setting NAME=VALUE or KEY\NAME=VALUE; a value is a number (REG_DWORD, or REG_QWORD if it
 *                needs to be), what may follow "=" in a file (dword:, hex:, hex(n):, "text"), or
 *                else a text
 * Returns: false, with a sentence
 */
PLX_API bool plx_driver_registry_set(const char *service, const char *setting,
				     struct plx_why *why) PLX_MUST_CHECK;

/* ---- a driver ---- */

struct plx_driver;

enum plx_driver_loaded {
	PLX_DRIVER_RUNS = 1,
	PLX_DRIVER_NO_IMAGE,     /* there is no such image, or it has no DriverEntry */
	PLX_DRIVER_ENTRY_FAILED, /* DriverEntry returned an error; the driver is to be unloaded */
};

/**
 * Load an image and call its DriverEntry with
 * \Registry\Machine\System\CurrentControlSet\Services\SERVICE, which is created if it is missing.
 *
 * @param path   of a shared object
 * @param driver out: NULL with PLX_DRIVER_NO_IMAGE
 * @param status out: what DriverEntry returned
 * @param why    out, unless it runs
 */
PLX_API enum plx_driver_loaded plx_driver_load(const char *path, const char *service,
					       struct plx_driver **driver, int32_t *status,
					       struct plx_why *why) PLX_MUST_CHECK;

enum plx_driver_unloaded {
	PLX_DRIVER_GONE = 1,  /* its image is not in the process any more */
	PLX_DRIVER_NO_UNLOAD, /* it has no DriverUnload, and runs on */
	PLX_DRIVER_STAYS, /* its image stays: something of it may still run; the report says what */
};

/* One thing that a driver left. */
struct plx_driver_finding {
	const char *kind;           /* "device", "thread", "pool", ... */
	char name[PLX_IO_NAME_MAX]; /* of a device, a link, a pool tag; otherwise empty */
	uint64_t count, bytes;      /* bytes: of pool */
	bool runs;                  /* code of the driver would be called */
};

struct plx_driver_report {
	uint32_t findings;
	struct plx_driver_finding finding[PLX_IO_FINDINGS_MAX];
};

/**
 * Call DriverUnload, unless DriverEntry failed; wait for what is about to end; report what is left;
 * and unload the image, unless something of it may still run. What was left stays behind in memory.
 *
 * @param driver gone afterwards with PLX_DRIVER_GONE
 * @param report out
 */
PLX_API enum plx_driver_unloaded plx_driver_unload(struct plx_driver *driver,
						   struct plx_driver_report *report) PLX_MUST_CHECK;
/** Send IRP_MJ_SHUTDOWN to the devices that registered for it: the process is about to end with the
 * driver in it. */
PLX_API void plx_driver_shut_down(struct plx_driver *driver);
/** "STATUS_..."; something else for a number without a name. */
PLX_API const char *plx_driver_status_name(int32_t status);

/* ---- its devices ---- */

struct plx_driver_file;

/**
 * Open a device for reading and writing.
 * @param name \\.\NAME, \DosDevices\NAME, \??\NAME, or \Device\NAME
 * Returns: an NTSTATUS, of the driver's IRP_MJ_CREATE if it comes that far
 */
PLX_API int32_t plx_driver_open(const char *name, struct plx_driver_file **file) PLX_MUST_CHECK;

/* A request to a device. */
struct plx_driver_request {
	uint32_t code;  /* of plx_driver_ioctl() */
	int64_t offset; /* of plx_driver_read() and plx_driver_write() */
	const void *in;
	void *out;
	uint32_t in_bytes, out_bytes;
	uint32_t timeout_ms;  /* 0: no limit. Then it is cancelled, and its end awaited */
	uint64_t information; /* out: IoStatus.Information */
};

/** Send a request, and wait for its end.
 * Returns: its status */
PLX_API int32_t plx_driver_ioctl(struct plx_driver_file *file,
				 struct plx_driver_request *request) PLX_MUST_CHECK;
PLX_API int32_t plx_driver_read(struct plx_driver_file *file,
				struct plx_driver_request *request) PLX_MUST_CHECK;
PLX_API int32_t plx_driver_write(struct plx_driver_file *file,
				 struct plx_driver_request *request) PLX_MUST_CHECK;
/** Cancel the requests that other threads wait for. */
PLX_API void plx_driver_cancel(struct plx_driver_file *file);
/** Close a file, as the end of its process would: its last handle (IRP_MJ_CLEANUP), then its
 * requests, which are cancelled, then the file (IRP_MJ_CLOSE). */
PLX_API void plx_driver_close(struct plx_driver_file *file);

/* ---- for later rooms ---- */

/* Objects of a later room that a driver makes and has to end. */
struct plx_io_watch {
	const char *kind;        /* one of them: "NDK adapter" */
	uint64_t (*count)(void); /* now */
	bool runs;               /* they may call the driver */
};

/** Report these too. Again with the same watch, it does nothing.
 * @param watch lasts */
void plx_io_watch(const struct plx_io_watch *watch);

#endif
