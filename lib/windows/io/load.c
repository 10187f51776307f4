/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loading and unloading: the image, DriverEntry, DriverUnload, and whether the image may go. Start
 * with plx_driver_unload().
 */
#include "registry.h"
#include "plx_rtl.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <limits.h>

struct plx_driver {
	char path[PATH_MAX]; /* absolute, as the dynamic linker has it */
	void *image;
	PDRIVER_OBJECT object;
	struct left before;
	bool has_failed;
	struct plx_driver *next; /* of those whose image stays */
};

static struct plx_driver *present; /* the one that is loaded */
static struct plx_driver *staying;

/* ---- loading ---- */

struct span {
	const char *begin;
	size_t bytes;
};

static int
measure(struct dl_phdr_info *info, size_t size, void *context)
{
	struct span *span = context;
	uintptr_t end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_vaddr + part->p_memsz > end)
			end = part->p_vaddr + part->p_memsz;
	}
	if ((uintptr_t)span->begin != info->dlpi_addr)
		return 0;
	span->bytes = end;
	return 1;
}

/* The service's key, and its path for DriverEntry.
 * @param path out: allocated */
static bool
make_key(const char *service, UNICODE_STRING *path)
{
	char text[512], services[128];
	struct key *key;
	NTSTATUS status;

	text_to_utf8(services, sizeof(services), &registry_services);
	if ((size_t)snprintf(text, sizeof(text), "%s\\%s", services, service) >= sizeof(text) ||
	    !text_from_utf8(path, text))
		return false;
	registry_lock();
	status = key_find(NULL, path, 1, false, &key);
	registry_unlock();
	if (!NT_SUCCESS(status))
		free(path->Buffer);
	return NT_SUCCESS(status);
}

/* Find the image, and its entry.
 * Returns: NULL, with a sentence */
static PDRIVER_INITIALIZE
open_image(struct plx_driver *driver, const char *path, struct plx_why *why)
{
	PDRIVER_INITIALIZE entry;
	struct span span;
	Dl_info info;

	if (realpath(path, driver->path) == NULL) {
		plx_why_set(why, "%s cannot be loaded: %s", path, strerror(errno));
		return NULL;
	}
	driver->image = dlopen(driver->path, RTLD_NOW | RTLD_LOCAL);
	if (driver->image == NULL) {
		plx_why_set(why, "%s cannot be loaded: %s", path, dlerror());
		return NULL;
	}
	/* a function, of which POSIX says that it may be had like this */
	*(void **)&entry = dlsym(driver->image, "DriverEntry");
	if (entry == NULL) {
		plx_why_set(why, "%s is no driver: it exports no DriverEntry", path);
		dlclose(driver->image);
		return NULL;
	}
	driver->object->DriverInit = entry;
	if (dladdr(*(void **)&entry, &info) != 0) {
		span = (struct span){info.dli_fbase, 0};
		(void)dl_iterate_phdr(measure, &span);
		driver->object->DriverStart = info.dli_fbase;
		driver->object->DriverSize = (ULONG)span.bytes;
	}
	return entry;
}

static void
make_ready(void *driver, PDEVICE_OBJECT device)
{
	if (device->DriverObject == driver)
		device->Flags &= ~(ULONG)DO_DEVICE_INITIALIZING;
}

static struct plx_driver *
discard(struct plx_driver *driver)
{
	if (driver != NULL && driver->object != NULL)
		ObDereferenceObject(driver->object);
	if (driver != NULL)
		free(driver->before.tags);
	free(driver);
	return NULL;
}

enum plx_driver_loaded
plx_driver_load(const char *path, const char *service, struct plx_driver **out, int32_t *status,
		struct plx_why *why)
{
	struct plx_driver *driver = calloc(1, sizeof(*driver));
	PDRIVER_INITIALIZE entry;
	UNICODE_STRING key;

	*out = NULL;
	*status = STATUS_UNSUCCESSFUL;
	if (present != NULL) {
		plx_why_set(why, "%s cannot be loaded: %s is", path, present->path);
		free(driver);
		return PLX_DRIVER_NO_IMAGE;
	}
	if (driver != NULL)
		driver->object = driver_create(service);
	if (driver == NULL || driver->object == NULL || !make_key(service, &key)) {
		plx_why_set(why, "%s cannot be loaded: no memory, or the service's name is none",
			    path);
		(void)discard(driver);
		return PLX_DRIVER_NO_IMAGE;
	}
	left_begin(&driver->before);
	entry = open_image(driver, path, why);
	if (entry == NULL) {
		free(key.Buffer);
		(void)discard(driver);
		return PLX_DRIVER_NO_IMAGE;
	}
	present = *out = driver;
	*status = entry(driver->object, &key);
	/* as in Windows: who needs the path later has copied it */
	free(key.Buffer);
	driver->has_failed = !NT_SUCCESS(*status);
	if (driver->has_failed) {
		plx_why_set(why, "DriverEntry returned an error");
		return PLX_DRIVER_ENTRY_FAILED;
	}
	devices_each(make_ready, driver->object);
	return PLX_DRIVER_RUNS;
}

/* ---- unloading ---- */

/* Wait until nothing of the driver runs that ends by itself. */
static void
settle(const struct left *before)
{
	LARGE_INTEGER pause = {.QuadPart = -10000};
	ULONGLONG begin = KeQueryInterruptTime();

	while (left_is_busy(before) &&
	       KeQueryInterruptTime() - begin < (ULONGLONG)PLX_IO_SETTLE_MS * 10000)
		(void)KeDelayExecutionThread(KernelMode, FALSE, &pause);
}

static bool
may_run(const struct plx_driver_report *report)
{
	for (uint32_t i = 0; i < report->findings; i++)
		if (report->finding[i].runs)
			return true;
	return false;
}

/* Whether the dynamic linker has let go of an image. */
static bool
is_gone(const char *path)
{
	void *image = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (image != NULL)
		dlclose(image);
	return image == NULL;
}

enum plx_driver_unloaded
plx_driver_unload(struct plx_driver *driver, struct plx_driver_report *report)
{
	PDRIVER_UNLOAD unload = driver->object->DriverUnload;

	*report = (struct plx_driver_report){.findings = 0};
	if (unload == NULL && !driver->has_failed)
		return PLX_DRIVER_NO_UNLOAD;
	if (!driver->has_failed)
		unload(driver->object);
	settle(&driver->before);
	left_report(&driver->before, report);
	driver_disarm(driver->object);
	devices_forget();
	names_forget_links();
	present = NULL;
	if (!may_run(report)) {
		dlclose(driver->image);
		if (!is_gone(driver->path))
			left_add(report, "image that is not unloaded", driver->path, 1, 0, true);
	}
	if (may_run(report)) {
		driver->next = staying;
		staying = driver;
		return PLX_DRIVER_STAYS;
	}
	(void)discard(driver);
	return PLX_DRIVER_GONE;
}

void
plx_driver_shut_down(struct plx_driver *driver)
{
	(void)driver;
	devices_shut_down();
}

const char *
plx_driver_status_name(int32_t status)
{
	return plx_rtl_status_name(status);
}
