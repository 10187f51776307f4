/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Available hugepages, and the files that an EAL leaves behind: its runtime folder and, in a
 * hugetlbfs, one file per block of memory, which occupies the pages until it is removed.
 * It never touches files without our prefix, files of another user, or files that a live process
 * uses.
 * Start with eal_files_sweep().
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>

#include "eal_files.h"
#include "plx_files.h"

enum {
	PATH_BYTES = 512,
};

#define SYS_HUGEPAGES "/sys/kernel/mm/hugepages"

/* ---- hugepages ---- */

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

/* [KiB] the default size of hugepages */
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

/* [KiB] size of the pages of a mount */
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

/* Could another user put files there, which DPDK would then use as its own? */
static bool
is_shared(const char *folder)
{
	struct plx_files_why unsaid;
	int fd = plx_files_folder(folder, PLX_FILES_PRIVATE, false, &unsaid);

	if (fd < 0)
		return true;
	close(fd);
	return false;
}

/* Call `visit` for each hugetlbfs that we may write to. */
static void
each_mount(void (*visit)(const char *folder, uint64_t kib, bool shared, void *context),
	   void *context)
{
	FILE *stream = setmntent("/proc/mounts", "re");
	char text[4096];
	struct mntent mount;

	if (!stream)
		return;
	while (getmntent_r(stream, &mount, text, sizeof(text)))
		if (strcmp(mount.mnt_type, "hugetlbfs") == 0 && access(mount.mnt_dir, W_OK) == 0)
			visit(mount.mnt_dir, mount_size(&mount), is_shared(mount.mnt_dir), context);
	endmntent(stream);
}

struct looked_for {
	uint64_t kib;
	bool found, shared;
};

static void
note_size(const char *folder, uint64_t kib, bool shared, void *context)
{
	struct looked_for *wanted = context;

	(void)folder;
	wanted->found |= kib == wanted->kib;
	wanted->shared |= kib == wanted->kib && shared;
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
		/* DPDK chooses one of several mounts, so all must be safe */
		if (wanted.found && !wanted.shared)
			out->mounted += pages * kib * 1024;
	}
	closedir(folder);
}

/* ---- files left behind ---- */

/* The folder must not be writable by other users, so that a name still refers to the file that was
 * checked. */
static void
remove_map_files(const char *folder, uint64_t kib, bool shared, void *context)
{
	const char *prefix = context;
	size_t length = strlen(prefix);
	const struct dirent *entry;
	DIR *open_folder;

	(void)kib;
	open_folder = shared ? NULL : opendir(folder);
	if (!open_folder)
		return;
	while ((entry = readdir(open_folder)))
		if (strncmp(entry->d_name, prefix, length) == 0 &&
		    strncmp(entry->d_name + length, "map_", 4) == 0 &&
		    plx_files_is_own(dirfd(open_folder), entry->d_name))
			unlinkat(dirfd(open_folder), entry->d_name, 0);
	closedir(open_folder);
}

/* A runtime folder contains only files. A folder inside it is not ours, and stays. */
static void
remove_all(int base, const char *name, char *prefix)
{
	int fd = plx_files_own_folder(base, name);
	DIR *open_folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (open_folder) {
		while ((entry = readdir(open_folder)))
			if (plx_files_is_own(fd, entry->d_name))
				unlinkat(fd, entry->d_name, 0);
		closedir(open_folder);
		unlinkat(base, name, AT_REMOVEDIR);
	} else if (fd >= 0) {
		close(fd);
	}
	each_mount(remove_map_files, prefix);
}

/* Is the lock that a primary process holds on its `config` free? */
static bool
is_unlocked(int folder)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = openat(folder, "config", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT;
	if (fcntl(fd, F_GETLK, &lock))
		lock.l_type = F_WRLCK;
	close(fd);
	return lock.l_type == F_UNLCK;
}

/* The process is dead if its lock is free and its number is unused in this PID namespace; a process
 * of another one may have that number, so the lock decides. A folder that is not ours is no
 * evidence. */
static bool
is_dead(int base, const char *name)
{
	long pid = strtol(name + strlen(EAL_PREFIX), NULL, 10);
	bool dead;
	int fd;

	if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return false;
	fd = plx_files_own_folder(base, name);
	if (fd < 0)
		return false;
	dead = is_unlocked(fd);
	close(fd);
	return dead;
}

/* A program with more rights than its caller must not use folders from the caller's environment.
 * Neither must DPDK, which calls getenv(). */
static const char *
variable(const char *name)
{
	const char *value = secure_getenv(name);

	if (!value)
		unsetenv(name);
	return value;
}

/* The folder in which DPDK creates the folder `dpdk`. DPDK reports it only after it has started, so
 * this repeats its rule. */
static const char *
runtime_parent(void)
{
	const char *own = variable("RUNTIME_DIRECTORY");
	const char *session = variable("XDG_RUNTIME_DIR");

	if (own)
		return own;
	if (getuid() == 0)
		return "/var/run";
	return session ? session : "/tmp";
}

/* Open the folder `dpdk`; create it if missing. -1: DPDK will report why that fails, or, with
 * EPERM, `why` says that it must not be used. */
static int
runtime_base(struct plx_why *why)
{
	const char *path = runtime_parent();
	struct plx_files_why detail;
	int parent = plx_files_folder(path, PLX_FILES_STICKY, false, &detail), base, error;

	if (parent < 0) {
		if (errno == EPERM)
			plx_why_set(why, "DPDK's files have no safe place: %s", detail.text);
		return -1;
	}
	(void)mkdirat(parent, "dpdk", 0700);
	base = plx_files_own_folder(parent, "dpdk");
	error = errno;
	close(parent);
	if (base < 0 && error == EACCES) /* its owner lets nobody read it */
		error = EPERM;
	if (base < 0 && error == EPERM)
		plx_why_set(why,
			    "DPDK's files have no safe place: %s/dpdk is not a folder of user %u "
			    "that nobody else may write to; remove it or chmod go-w it, or set "
			    "XDG_RUNTIME_DIR to a folder of your own",
			    path, geteuid());
	errno = error;
	return base;
}

enum plx_status
eal_files_sweep(struct plx_why *why)
{
	int fd = runtime_base(why);
	const struct dirent *entry;
	DIR *base;

	if (fd < 0)
		return errno == EPERM ? PLX_CONFIG : PLX_OK;
	base = fdopendir(fd);
	if (!base) {
		close(fd);
		return PLX_OK;
	}
	while ((entry = readdir(base))) {
		char prefix[NAME_MAX + 1];

		if (strncmp(entry->d_name, EAL_PREFIX, strlen(EAL_PREFIX)) != 0 ||
		    !is_dead(fd, entry->d_name))
			continue;
		snprintf(prefix, sizeof(prefix), "%s", entry->d_name);
		remove_all(fd, entry->d_name, prefix);
	}
	closedir(base);
	return PLX_OK;
}

static pid_t owner;

static void
remove_own(void)
{
	char folder[PATH_BYTES], *prefix;
	int base;

	/* a forked child that exits must not remove its parent's files */
	if (getpid() != owner)
		return;
	snprintf(folder, sizeof(folder), "%s", rte_eal_get_runtime_dir());
	prefix = strrchr(folder, '/');
	if (!prefix || strncmp(prefix + 1, EAL_PREFIX, strlen(EAL_PREFIX)) != 0)
		return;
	*prefix++ = '\0';
	base = plx_files_folder(folder, PLX_FILES_PRIVATE, false, NULL);
	if (base < 0)
		return;
	remove_all(base, prefix, prefix);
	close(base);
}

void
eal_files_remove_at_exit(void)
{
	owner = getpid();
	(void)atexit(remove_own);
}
