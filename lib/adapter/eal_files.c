/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which hugepages can be had, and the files that an EAL leaves behind: its runtime folder and, in a
 * hugetlbfs, one file per block of memory, which keeps the pages until somebody removes it.
 * It never touches what does not carry our prefix, what is another user's, nor what a living
 * process holds.
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

/* May somebody else put files there, which DPDK would then take for its own? */
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
		/* which of several mounts it uses is DPDK's choice: all must be good */
		if (wanted.found && !wanted.shared)
			out->mounted += pages * kib * 1024;
	}
	closedir(folder);
}

/* ---- what is left behind --------------------------------------------------------------------- */

/* In a folder that nobody else may write to, so that a name stays what it was when looked at. */
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

/* A runtime folder holds files only; a folder in it is not ours, and stays. */
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

/* Nobody holds the lock that a primary process has on its `config`? */
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

/* The process is dead when its number is unused, or used in another PID namespace than ours, and
 * its lock is gone. A folder that is not ours says nothing about anybody. */
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

/* A program with more rights than its caller does not take folders from him; DPDK, which asks
 * getenv(), must not either. */
static const char *
variable(const char *name)
{
	const char *value = secure_getenv(name);

	if (!value)
		unsetenv(name);
	return value;
}

/* In what DPDK puts the folder `dpdk`: its rule, since it tells only once it is up. */
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

/* The folder `dpdk`, made when there is none; -1: DPDK will say why it cannot be had, or, with
 * EPERM, `why` says that it is not to be used. */
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
	if (base < 0 && error == EACCES) /* its owner shows it to nobody */
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

	/* a child of fork() that ends must not take its parent's files along */
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
