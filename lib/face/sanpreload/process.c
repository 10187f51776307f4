/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptors and processes come and go. Start with fork().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload.h"
#include "san_dup.h"

enum {
	ARGUMENTS_MAX = 1024, /* of execl() */
	FILES_LEAST = 32,     /* that the switch works with */
	INFO_VERSION = 1,     /* of struct san_info */
};

/* ---- descriptors ---- */

PRELOAD_CALL int
close(int fd)
{
	if (preload_hides(fd)) {
		errno = EBADF;
		return -1;
	}
	if (preload_is_within())
		preload_keep_no_more(fd);
	preload_forget(fd);
	return REAL(close)(fd);
}

PRELOAD_CALL int
close_range(unsigned first, unsigned last, int flags)
{
	unsigned end = last < SAN_FILES_MAX - 1 ? last : SAN_FILES_MAX - 1;
	int result = 0;

	if (flags & (int)CLOSE_RANGE_CLOEXEC)
		return REAL(close_range)(first, last, flags);
	for (unsigned fd = first; fd <= end; fd++) {
		preload_forget((int)fd);
		if (!preload_hides((int)fd))
			continue;
		if (fd > first)
			result = REAL(close_range)(first, fd - 1, flags);
		first = fd + 1;
	}
	return first <= last ? REAL(close_range)(first, last, flags) : result;
}

PRELOAD_CALL void
closefrom(int first)
{
	(void)close_range((unsigned)first, ~0u, 0);
}

static int
duplicated(int fd, int copy)
{
	int error = errno;

	if (copy < 0 || copy == fd)
		return copy;
	preload_forget(copy);
	if (preload_await(fd)) {
		preload_enter();
		san_client_dup(fd, copy);
		preload_leave();
	}
	errno = error;
	return copy;
}

PRELOAD_CALL int
dup(int fd)
{
	return duplicated(fd, REAL(dup)(fd));
}

/* What the new descriptor was is closed by the kernel: the switch lets it go before. Returns:
 * false: it is the switch's own; EBUSY says of dup2() that a number is in use for a moment */
static bool
may_replace(int fd, int copy)
{
	if (preload_hides(copy)) {
		errno = EBUSY;
		return false;
	}
	if (fd != copy && REAL(fcntl)(fd, F_GETFD) >= 0)
		preload_forget(copy);
	return true;
}

PRELOAD_CALL int
dup2(int fd, int copy)
{
	return may_replace(fd, copy) ? duplicated(fd, REAL(dup2)(fd, copy)) : -1;
}

PRELOAD_CALL int
dup3(int fd, int copy, int flags)
{
	return may_replace(fd, copy) ? duplicated(fd, REAL(dup3)(fd, copy, flags)) : -1;
}

PRELOAD_CALL int
fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;
	int result;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	result = REAL(fcntl)(fd, command, argument);
	if (result == 0 && (command == F_SETOWN || command == F_SETOWN_EX ||
			    (command == F_SETFL && ((intptr_t)argument & O_ASYNC))))
		preload_comply(fd);
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC
		       ? duplicated(fd, preload_keep(result))
		       : result;
}

/* Here fcntl() is fcntl64(), as in programs with large files; others have this one. */
PRELOAD_CALL int preload_fcntl_of_others(int fd, int command, ...) __asm__("fcntl");

int
preload_fcntl_of_others(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	return fcntl(fd, command, argument);
}

/* ---- sockets by a few bytes ---- */

PRELOAD_CALL int
san_duplicate(int fd, pid_t pid, struct san_info *info)
{
	int result;

	if (REAL(fcntl)(fd, F_GETFD) < 0)
		return -1; /* EBADF */
	if (!preload_runs()) {
		errno = ENETDOWN;
		return -1;
	}
	preload_enter();
	san_client_share();
	*info = (struct san_info){.version = INFO_VERSION};
	result = san_client_hand(fd, (uint32_t)pid, &info->token);
	preload_leave();
	return result;
}

PRELOAD_CALL int
san_from_info(const struct san_info *info)
{
	int hidden, fd;

	if (info->version != INFO_VERSION) {
		errno = EINVAL;
		return -1;
	}
	if (!preload_runs()) {
		errno = ENETDOWN;
		return -1;
	}
	preload_enter();
	hidden = san_client_fetch(info->token);
	preload_leave();
	if (hidden < 0)
		return -1;
	fd = REAL(dup)(hidden);
	preload_forget(fd);
	preload_enter();
	close(hidden);
	preload_leave();
	return fd;
}

/* ---- processes ---- */

/* Another process is to have the sockets, or this one is to be another program. */
static void
share(void)
{
	int error = errno;

	if (preload_runs()) {
		preload_enter();
		san_client_share();
		preload_leave();
	}
	errno = error;
}

/* ... another program. One without this library uses the kernel's sockets. */
static void
share_with(const char *file, char *const *environment)
{
	share();
	if (preload_runs() && !preload_will_have(file, environment))
		preload_relay_inherited();
}

PRELOAD_CALL pid_t
fork(void)
{
	pid_t pid;

	share();
	pid = REAL(fork)();
	if (pid == 0)
		preload_child();
	return pid;
}

/* The child has memory of its own here, which vfork() allows: it may close descriptors of the
 * switch before it is another program. */
PRELOAD_CALL pid_t
vfork(void)
{
	return fork();
}

PRELOAD_CALL int
clone(int (*start)(void *), void *stack, int flags, void *argument, ...)
{
	void *more[3]; /* parent_tid, tls, child_tid */
	va_list arguments;

	va_start(arguments, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(arguments, void *);
	va_end(arguments);
	if ((flags & CLONE_VM) && !(flags & CLONE_THREAD))
		preload_lends_memory();
	return REAL(clone)(start, stack, flags, argument, more[0], more[1], more[2]);
}

PRELOAD_CALL int
posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	    const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	share_with(path, environment);
	return REAL(posix_spawn)(pid, path, actions, attributes, arguments, environment);
}

PRELOAD_CALL int
posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	     const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
	share_with(file, environment);
	return REAL(posix_spawnp)(pid, file, actions, attributes, arguments, environment);
}

PRELOAD_CALL int
execve(const char *path, char *const *arguments, char *const *environment)
{
	share_with(path, environment);
	return REAL(execve)(path, arguments, environment);
}

PRELOAD_CALL int
execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

PRELOAD_CALL int
execvpe(const char *file, char *const *arguments, char *const *environment)
{
	share_with(file, environment);
	return REAL(execvpe)(file, arguments, environment);
}

PRELOAD_CALL int
execvp(const char *file, char *const *arguments)
{
	return execvpe(file, arguments, environ);
}

/* The arguments of execl() up to the NULL. Returns: false: there are too many */
static bool
collect(char **out, const char *first, va_list *more)
{
	int n = 0;

	out[n++] = (char *)(uintptr_t)first;
	while (out[n - 1] != NULL && n < ARGUMENTS_MAX)
		out[n++] = va_arg(*more, char *);
	if (out[n - 1] == NULL)
		return true;
	errno = E2BIG;
	return false;
}

PRELOAD_CALL int
execl(const char *path, const char *first, ...)
{
	char *arguments[ARGUMENTS_MAX];
	va_list more;
	bool all;

	va_start(more, first);
	all = collect(arguments, first, &more);
	va_end(more);
	return all ? execv(path, arguments) : -1;
}

PRELOAD_CALL int
execlp(const char *file, const char *first, ...)
{
	char *arguments[ARGUMENTS_MAX];
	va_list more;
	bool all;

	va_start(more, first);
	all = collect(arguments, first, &more);
	va_end(more);
	return all ? execvp(file, arguments) : -1;
}

PRELOAD_CALL int
execle(const char *path, const char *first, ...)
{
	char *arguments[ARGUMENTS_MAX], **environment;
	va_list more;
	bool all;

	va_start(more, first);
	all = collect(arguments, first, &more);
	environment = all ? va_arg(more, char **) : NULL;
	va_end(more);
	return all ? execve(path, arguments, environment) : -1;
}

/* ---- what takes from this process what the switch needs ---- */

/* A filter of system calls permits what it permits: from now on that is no more than reading and
 * writing to the kernel's sockets. */
PRELOAD_CALL int
prctl(int option, ...)
{
	unsigned long argument[4];
	va_list arguments;

	va_start(arguments, option);
	for (int i = 0; i < 4; i++)
		argument[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (option == PR_SET_SECCOMP)
		preload_retire();
	return REAL(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
}

/* A process that may have few descriptors cannot be sent any. */
PRELOAD_CALL int
setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	if (resource == RLIMIT_NOFILE && limit->rlim_cur < FILES_LEAST)
		preload_retire();
	return REAL(setrlimit)((int)resource, limit);
}

/* Here setrlimit() is setrlimit64(); on machines of 64 bits both are one. */
PRELOAD_CALL int preload_setrlimit_of_others(__rlimit_resource_t resource,
					     const struct rlimit *limit) __asm__("setrlimit");

int
preload_setrlimit_of_others(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return setrlimit(resource, limit);
}

/* stdio reads and writes within the C library. */
PRELOAD_CALL FILE *
fdopen(int fd, const char *mode)
{
	preload_relay(fd);
	return REAL(fdopen)(fd, mode);
}

/* Destructors do not run then. */
PRELOAD_CALL void
_exit(int status)
{
	if (preload_runs()) {
		preload_enter();
		san_client_stop();
	}
	REAL(_exit)(status);
	__builtin_unreachable();
}

PRELOAD_CALL void
_Exit(int status)
{
	_exit(status);
}
