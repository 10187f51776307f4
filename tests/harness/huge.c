/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reserves hugepages, and creates mount namespaces with or without them. It releases what it
 * reserves; its mounts disappear with the process. Start with huge_reserve().
 */
#include "huge.h"

#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"

static uint32_t before;
static bool reserved;

static uint32_t
read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int value = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%u", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

static void
write_number(const char *path, uint32_t value)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	fprintf(file, "%u\n", value);
	fclose(file);
}

uint32_t
huge_free(void)
{
	uint32_t all = read_number(POOL "free_hugepages");
	uint32_t promised = read_number(POOL "resv_hugepages");

	return all > promised ? all - promised : 0;
}

bool
huge_reserve(uint32_t pages)
{
	uint32_t there = huge_free();

	before = read_number(POOL "nr_hugepages");
	if (there < pages) {
		reserved = true;
		write_number(POOL "nr_hugepages", before + pages - there);
	}
	return huge_free() >= pages;
}

void
huge_restore(void)
{
	if (reserved)
		write_number(POOL "nr_hugepages", before);
	reserved = false;
}

static bool
own_namespace(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool
huge_unmount_all(void)
{
	char folder[64][256];
	struct mntent *entry;
	int n = 0;
	FILE *mounts;

	if (!own_namespace())
		return false;
	mounts = setmntent("/proc/mounts", "r");
	if (!mounts)
		return false;
	while ((entry = getmntent(mounts)) && n < 64)
		if (strcmp(entry->mnt_type, "hugetlbfs") == 0)
			snprintf(folder[n++], sizeof(folder[0]), "%s", entry->mnt_dir);
	endmntent(mounts);
	while (n > 0)
		if (umount2(folder[--n], MNT_DETACH))
			return false;
	return true;
}

bool
huge_mount_at(const char *folder)
{
	return mount("none", folder, "hugetlbfs", 0, "pagesize=2M") == 0;
}

bool
huge_hide(void)
{
	return huge_unmount_all() &&
	       mount("none", "/sys/kernel/mm/hugepages", "tmpfs", 0, NULL) == 0;
}
