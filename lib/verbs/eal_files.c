/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which hugepages can be had, and the files that an EAL leaves behind: its runtime folder and, in a
 * hugetlbfs, one file per block of memory, which keeps the pages until somebody removes it.
 * It never touches what does not carry our prefix, nor what a living process holds.
 * Start with eal_files_sweep().
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>

#include "eal_files.h"

enum {
	PATH_BYTES = 512,
	MOUNT_BYTES = 256,
};

#define SYS_HUGEPAGES "/sys/kernel/mm/hugepages"

/* ---- hugepages ------------------------------------------------------------------------------- */

static uint64_t
number_in(const char *folder, const char *file)
{
	char path[PATH_BYTES];
	unsigned long long value = 0;
	FILE *stream;

	snprintf(path, sizeof(path), SYS_HUGEPAGES "/%s/%s", folder, file);
	stream = fopen(path, "re");
	if (!stream)
		return 0;
	if (fscanf(stream, "%llu", &value) != 1)
		value = 0;
	fclose(stream);
	return value;
}

/* [KiB] the size of a hugepage that nobody asks another size for */
static uint64_t
default_size(void)
{
	char line[128];
	unsigned long long kib = 0;
	FILE *stream = fopen("/proc/meminfo", "re");

	if (!stream)
		return 0;
	while (fgets(line, sizeof(line), stream))
		if (sscanf(line, "Hugepagesize: %llu kB", &kib) == 1)
			break;
	fclose(stream);
	return kib;
}

/* [KiB] of the pages of a mount */
static uint64_t
mount_size(const struct mntent *mount)
{
	const char *option = strstr(mount->mnt_opts, "pagesize=");
	unsigned long long value;
	char unit = 0;

	if (!option || sscanf(option, "pagesize=%llu%c", &value, &unit) < 1)
		return default_size();
	switch (unit) {
	case 'G':
		return value << 20;
	case 'M':
		return value << 10;
	case 'K':
		return value;
	default:
		return value >> 10;
	}
}

/* Call `visit` for each hugetlbfs that we may write to. */
static void
each_mount(void (*visit)(const char *folder, uint64_t kib, void *context), void *context)
{
	FILE *stream = setmntent("/proc/mounts", "re");
	char text[4096];
	struct mntent mount;

	if (!stream)
		return;
	while (getmntent_r(stream, &mount, text, sizeof(text)))
		if (strcmp(mount.mnt_type, "hugetlbfs") == 0 && access(mount.mnt_dir, W_OK) == 0)
			visit(mount.mnt_dir, mount_size(&mount), context);
	endmntent(stream);
}

struct looked_for {
	uint64_t kib;
	int found;
};

static void
note_size(const char *folder, uint64_t kib, void *context)
{
	struct looked_for *wanted = context;

	(void)folder;
	wanted->found |= kib == wanted->kib;
}

void
eal_files_hugepages(struct eal_hugepages *out)
{
	DIR *folder = opendir(SYS_HUGEPAGES);
	const struct dirent *entry;
	unsigned long long kib;

	memset(out, 0, sizeof(*out));
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		struct looked_for wanted = {0};
		uint64_t pages, reserved;

		if (sscanf(entry->d_name, "hugepages-%llukB", &kib) != 1)
			continue;
		pages = number_in(entry->d_name, "free_hugepages");
		reserved = number_in(entry->d_name, "resv_hugepages");
		pages = pages > reserved ? pages - reserved : 0;
		wanted.kib = kib;
		each_mount(note_size, &wanted);
		out->all += pages * kib * 1024;
		if (wanted.found)
			out->mounted += pages * kib * 1024;
	}
	closedir(folder);
}

/* ---- what is left behind --------------------------------------------------------------------- */

static void
remove_map_files(const char *folder, uint64_t kib, void *context)
{
	const char *prefix = context;
	size_t length = strlen(prefix);
	const struct dirent *entry;
	DIR *open_folder = opendir(folder);

	(void)kib;
	if (!open_folder)
		return;
	while ((entry = readdir(open_folder)))
		if (strncmp(entry->d_name, prefix, length) == 0 &&
		    strncmp(entry->d_name + length, "map_", 4) == 0)
			unlinkat(dirfd(open_folder), entry->d_name, 0);
	closedir(open_folder);
}

/* A runtime folder holds files only. `prefix` is the last part of its path. */
static void
remove_all(const char *folder, char *prefix)
{
	DIR *open_folder = opendir(folder);
	const struct dirent *entry;

	if (open_folder) {
		while ((entry = readdir(open_folder)))
			unlinkat(dirfd(open_folder), entry->d_name, 0);
		closedir(open_folder);
		rmdir(folder);
	}
	each_mount(remove_map_files, prefix);
}

/* The process is dead when its number is unused, or used in another PID namespace than ours, and
 * nobody holds the lock that a primary process has on its `config`. */
static int
is_dead(const char *folder, const char *prefix)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[PATH_BYTES + 8];
	long pid = strtol(prefix + strlen(EAL_PREFIX), NULL, 10);
	int fd;

	if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return 0;
	snprintf(path, sizeof(path), "%s/config", folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	if (fcntl(fd, F_GETLK, &lock))
		lock.l_type = F_WRLCK;
	close(fd);
	return lock.l_type == F_UNLCK;
}

/* Where DPDK puts runtime folders: its rule, since it tells only once it is up. */
static void
runtime_base(char *out, size_t n)
{
	const char *own = getenv("RUNTIME_DIRECTORY");

	if (!own)
		own = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	if (!own)
		own = "/tmp";
	snprintf(out, n, "%s/dpdk", own);
}

void
eal_files_sweep(void)
{
	char base[MOUNT_BYTES], folder[PATH_BYTES];
	struct dirent *entry;
	DIR *open_base;

	runtime_base(base, sizeof(base));
	open_base = opendir(base);
	if (!open_base)
		return;
	while ((entry = readdir(open_base))) {
		if (strncmp(entry->d_name, EAL_PREFIX, strlen(EAL_PREFIX)) != 0)
			continue;
		if (snprintf(folder, sizeof(folder), "%s/%.200s", base, entry->d_name) > 0 &&
		    is_dead(folder, entry->d_name))
			remove_all(folder, entry->d_name);
	}
	closedir(open_base);
}

static pid_t owner;

static void
remove_own(void)
{
	char folder[PATH_BYTES], *prefix;

	/* a child of fork() that ends must not take its parent's files along */
	if (getpid() != owner)
		return;
	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	prefix = strrchr(folder, '/');
	if (prefix && strncmp(prefix + 1, EAL_PREFIX, strlen(EAL_PREFIX)) == 0)
		remove_all(folder, prefix + 1);
}

void
eal_files_remove_at_exit(void)
{
	owner = getpid();
	(void)atexit(remove_own);
}
