/* SPDX-License-Identifier: BSD-3-Clause
 *
 * System calls by their numbers: those of sockets are carried out by the functions here. Start with
 * syscall().
 */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

#define FD(i) ((int)a[i])
#define AT(i) ((void *)a[i])
#define N(i)  ((size_t)a[i])

/* A mask of signals as the kernel has it is short. */
static const sigset_t *
widen(const long *a, int i, sigset_t *out)
{
	if (a[i] == 0)
		return NULL;
	sigemptyset(out);
	memcpy(out, AT(i), N(i + 1) < sizeof(*out) ? N(i + 1) : sizeof(*out));
	return out;
}

/* Returns: false: it is none of these */
static bool
transfers(long number, const long *a, long *out)
{
	switch (number) {
	case SYS_read:
		*out = read(FD(0), AT(1), N(2));
		return true;
	case SYS_write:
		*out = write(FD(0), AT(1), N(2));
		return true;
	case SYS_readv:
		*out = readv(FD(0), AT(1), (int)a[2]);
		return true;
	case SYS_writev:
		*out = writev(FD(0), AT(1), (int)a[2]);
		return true;
	case SYS_recvfrom:
		*out = recvfrom(FD(0), AT(1), N(2), (int)a[3], AT(4), AT(5));
		return true;
	case SYS_sendto:
		*out = sendto(FD(0), AT(1), N(2), (int)a[3], AT(4), (socklen_t)a[5]);
		return true;
	case SYS_recvmsg:
		*out = recvmsg(FD(0), AT(1), (int)a[2]);
		return true;
	case SYS_sendmsg:
		*out = sendmsg(FD(0), AT(1), (int)a[2]);
		return true;
	case SYS_recvmmsg:
		*out = recvmmsg(FD(0), AT(1), (unsigned)a[2], (int)a[3], AT(4));
		return true;
	case SYS_sendmmsg:
		*out = sendmmsg(FD(0), AT(1), (unsigned)a[2], (int)a[3]);
		return true;
	case SYS_sendfile:
		*out = sendfile(FD(0), FD(1), AT(2), N(3));
		return true;
	case SYS_splice:
		*out = splice(FD(0), AT(1), FD(2), AT(3), N(4), (unsigned)a[5]);
		return true;
	default:
		return false;
	}
}

static bool
connects(long number, const long *a, long *out)
{
	switch (number) {
	case SYS_connect:
		*out = connect(FD(0), AT(1), (socklen_t)a[2]);
		return true;
	case SYS_listen:
		*out = listen(FD(0), (int)a[1]);
		return true;
	case SYS_accept:
		*out = accept4(FD(0), AT(1), AT(2), 0);
		return true;
	case SYS_accept4:
		*out = accept4(FD(0), AT(1), AT(2), (int)a[3]);
		return true;
	case SYS_getsockname:
		*out = getsockname(FD(0), AT(1), AT(2));
		return true;
	case SYS_getpeername:
		*out = getpeername(FD(0), AT(1), AT(2));
		return true;
	case SYS_getsockopt:
		*out = getsockopt(FD(0), (int)a[1], (int)a[2], AT(3), AT(4));
		return true;
	case SYS_setsockopt:
		*out = setsockopt(FD(0), (int)a[1], (int)a[2], AT(3), (socklen_t)a[4]);
		return true;
	case SYS_shutdown:
		*out = shutdown(FD(0), (int)a[1]);
		return true;
	case SYS_close:
		*out = close(FD(0));
		return true;
	case SYS_close_range:
		*out = close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
		return true;
	case SYS_dup:
		*out = dup(FD(0));
		return true;
	case SYS_dup3:
		*out = dup3(FD(0), FD(1), (int)a[2]);
		return true;
	case SYS_fcntl:
		*out = fcntl(FD(0), (int)a[1], a[2]);
		return true;
	case SYS_ioctl:
		*out = ioctl(FD(0), (unsigned long)a[1], AT(2));
		return true;
	default:
		return false;
	}
}

static bool
waits(long number, const long *a, long *out)
{
	sigset_t mask;

	switch (number) {
	case SYS_ppoll:
		*out = ppoll(AT(0), (nfds_t)a[1], AT(2), widen(a, 3, &mask));
		return true;
	case SYS_epoll_create1:
		*out = epoll_create1((int)a[0]);
		return true;
	case SYS_epoll_ctl:
		*out = epoll_ctl(FD(0), (int)a[1], FD(2), AT(3));
		return true;
	case SYS_epoll_pwait:
		*out = epoll_pwait(FD(0), AT(1), (int)a[2], (int)a[3], widen(a, 4, &mask));
		return true;
#ifdef SYS_poll
	case SYS_poll:
		*out = poll(AT(0), (nfds_t)a[1], (int)a[2]);
		return true;
	case SYS_select:
		*out = select(FD(0), AT(1), AT(2), AT(3), AT(4));
		return true;
	case SYS_epoll_wait:
		*out = epoll_wait(FD(0), AT(1), (int)a[2], (int)a[3]);
		return true;
	case SYS_dup2:
		*out = dup2(FD(0), FD(1));
		return true;
#endif
	default:
		return false;
	}
}

PRELOAD_CALL long
syscall(long number, ...)
{
	long a[6], result;
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (preload_is_active() && (transfers(number, a, &result) || connects(number, a, &result) ||
				    waits(number, a, &result)))
		return result;
	if (number == SYS_seccomp)
		preload_retire();
	if (number == SYS_clone || number == SYS_clone3)
		preload_lends_memory();
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
