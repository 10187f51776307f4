/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which descriptor is whose. Start with preload_has().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload.h"

enum {
	PATH_BYTES = 108, /* of a socket's address */
	CONNECTED = -1,
};

struct preload_real preload_real;

static __thread int within __attribute__((tls_model("initial-exec")));
static char path[PATH_BYTES];
static const char *broker; /* NULL: nothing goes over RDMA; or no more, by this library */
static bool attached;
static pid_t owner;
static bool *unforked; /* true; false in a child with a copy of it. NULL: nobody knows */
static bool lends_memory;
static atomic_bool kernels[SAN_FILES_MAX]; /* is known not to be the switch's */
/* of a connect() that did not wait: an error, or CONNECTED, that the program has not been told */
static _Atomic int16_t outcome[SAN_FILES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- beginning ---- */

/* A function pointer by way of an object pointer: POSIX says that they have one size. */
static void
look_up(const char *name, void *out)
{
	void *function = dlsym(RTLD_NEXT, name);

	memcpy(out, &function, sizeof(function));
}

/* It spares each call the question which process this is. */
static void
watch_for_forks(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	if (madvise(memory, page, MADV_WIPEONFORK) != 0) {
		munmap(memory, page);
		return;
	}
	unforked = memory;
	*unforked = true;
}

__attribute__((constructor)) void
preload_begin(void)
{
	const char *said;

	if (preload_real._exit != NULL)
		return;
#define PLX_X(result, name, arguments) look_up(#name, &preload_real.name);
	PRELOAD_REAL_LIST(PLX_X)
#undef PLX_X
	owner = getpid();
	/* A program with more rights than its caller does not do what the environment says. It may
	 * write its title over the environment, so this is a copy. */
	said = secure_getenv("POLLUX_SOCKETS");
	if (said == NULL || strlen(said) >= sizeof(path))
		return;
	memcpy(path, said, strlen(said) + 1);
	broker = path;
	watch_for_forks();
}

__attribute__((destructor)) static void
end(void)
{
	/* A signal's handler that exits may have interrupted the switch. */
	if (!attached || owner != getpid() || within > 0)
		return;
	within++;
	san_client_stop();
	within--;
}

void
preload_enter(void)
{
	within++;
}

void
preload_leave(void)
{
	within--;
}

bool
preload_is_within(void)
{
	return within > 0;
}

bool
preload_is_active(void)
{
	return within == 0 && broker != NULL;
}

bool
preload_is_borrowed(void)
{
	if (unforked != NULL && *unforked && !lends_memory)
		return false;
	return owner != getpid();
}

void
preload_lends_memory(void)
{
	lends_memory = true;
}

bool
preload_hides(int fd)
{
	return within == 0 && attached && !preload_is_borrowed() && preload_keeps(fd);
}

/* Attach, when it is first needed. */
static bool
attach(void)
{
	pthread_mutex_lock(&lock);
	if (!attached && broker != NULL) {
		attached = san_client_start(broker) == 0;
		if (!attached)
			broker = NULL; /* there is none: it is not asked again */
	}
	pthread_mutex_unlock(&lock);
	return attached;
}

bool
preload_runs(void)
{
	int error = errno;
	bool runs;

	if (within || broker == NULL || preload_is_borrowed())
		return false;
	within++;
	runs = attach();
	within--;
	errno = error;
	return runs;
}

/* One whose parent is attached attaches at once: it may change its user, or its view of files. */
void
preload_child(void)
{
	bool parent = attached;

	owner = getpid();
	if (unforked != NULL)
		*unforked = true;
	attached = false;
	pthread_mutex_init(&lock, NULL);
	preload_epoll_child();
	within++;
	san_client_forget();
	within--;
	preload_close_kept();
	for (int fd = 0; fd < SAN_FILES_MAX; fd++)
		atomic_store_explicit(&kernels[fd], false, memory_order_relaxed);
	if (parent)
		(void)preload_runs();
}

/* ---- descriptors ---- */

static bool
is_loopback(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return address->ss_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
		(IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127));
}

/* An anchor is a connection of this machine. A socket that is not connected may become one. */
static bool
may_be_one(int fd, bool *settled)
{
	struct sockaddr_storage local, peer;
	socklen_t bytes = sizeof(local), more = sizeof(peer);

	*settled = true;
	if (REAL(getpeername)(fd, (struct sockaddr *)&peer, &more) != 0) {
		*settled = errno != ENOTCONN;
		return false;
	}
	if (REAL(getsockname)(fd, (struct sockaddr *)&local, &bytes) != 0)
		return false;
	return is_loopback(&peer) ||
	       (local.ss_family == peer.ss_family && bytes == more &&
		memcmp((char *)&local + 4, (char *)&peer + 4, bytes - 4) == 0);
}

static int
option_of(int fd, int option)
{
	int value = 0;
	socklen_t bytes = sizeof(value);

	return REAL(getsockopt)(fd, SOL_SOCKET, option, &value, &bytes) == 0 ? value : 0;
}

/* What the switch leaves to the kernel's socket: urgent bytes among the others, waiting for more
 * than a byte, signals. */
static bool
is_for_kernel(int fd)
{
	return option_of(fd, SO_OOBINLINE) != 0 || option_of(fd, SO_RCVLOWAT) > 1 ||
	       (REAL(fcntl)(fd, F_GETFL) & O_ASYNC) || REAL(fcntl)(fd, F_GETOWN) != 0;
}

static void
relay_if_wanted(int fd)
{
	if (!san_client_has(fd) || !is_for_kernel(fd))
		return;
	within++;
	san_client_relay(fd);
	within--;
}

void
preload_comply(int fd)
{
	int error = errno;

	if (preload_has_connected(fd))
		relay_if_wanted(fd);
	errno = error;
}

/* What could not be asked is asked again. One that is relayed is used as the kernel's. */
static bool
find_out(int fd)
{
	enum san_verdict verdict = SAN_IS_TCP;
	int error = errno;
	bool settled, asks;

	asks = may_be_one(fd, &settled) && preload_runs();
	if (asks) {
		within++;
		verdict = san_client_adopt(fd);
		within--;
	}
	if (verdict == SAN_IS_RDMA && san_client_has(fd)) {
		preload_epoll_adopt(fd);
		relay_if_wanted(fd);
	} else if (settled && verdict != SAN_FAILED) {
		preload_is_kernels(fd);
	}
	errno = error;
	return verdict == SAN_IS_RDMA && san_client_has(fd);
}

void
preload_is_connected(int fd)
{
	atomic_store(&outcome[fd], CONNECTED);
}

/* The kernel connects now, if RDMA could not. Returns: is it the switch's? */
static bool
settle(int fd, bool waits)
{
	struct sockaddr_storage to;
	enum san_verdict verdict;
	int error = errno;
	socklen_t bytes;

	within++;
	verdict = waits ? san_client_await(fd, &to, &bytes) : san_client_settle(fd, &to, &bytes);
	within--;
	if (verdict == SAN_IS_RDMA) {
		preload_is_connected(fd);
		relay_if_wanted(fd);
	}
	if (verdict == SAN_IS_TCP) {
		preload_is_kernels(fd);
		if (REAL(connect)(fd, (struct sockaddr *)&to, bytes) != 0 && errno != EINPROGRESS)
			atomic_store(&outcome[fd], (int16_t)errno);
	}
	errno = error;
	return verdict == SAN_IS_PENDING || san_client_has(fd);
}

int
preload_outcome(int fd)
{
	return fd >= 0 && fd < SAN_FILES_MAX &&
			       atomic_load_explicit(&outcome[fd], memory_order_relaxed) != 0
		       ? atomic_exchange(&outcome[fd], 0)
		       : 0;
}

/* @param has [out] if it is known: is it the switch's? */
static bool
is_known(int fd, bool *has)
{
	bool connects = !san_client_has(fd);

	if (connects && !san_client_is_connecting(fd))
		return false;
	*has = !preload_is_borrowed() && (!connects || settle(fd, false));
	return true;
}

bool
preload_knows(int fd)
{
	bool has;

	return !within && broker != NULL && is_known(fd, &has) && has;
}

bool
preload_has(int fd)
{
	bool has;

	if (within || broker == NULL || fd < 0 || fd >= SAN_FILES_MAX)
		return false;
	if (is_known(fd, &has))
		return has;
	if (san_client_is_relayed(fd))
		return false;
	return !atomic_load_explicit(&kernels[fd], memory_order_relaxed) && find_out(fd);
}

bool
preload_await(int fd)
{
	return preload_has(fd) && (!san_client_is_connecting(fd) || settle(fd, true));
}

bool
preload_has_connected(int fd)
{
	return preload_has(fd) && !san_client_is_connecting(fd);
}

bool
preload_has_name(int fd)
{
	return preload_has_connected(fd) ||
	       (!within && broker != NULL && san_client_is_relayed(fd));
}

void
preload_relay(int fd)
{
	if (!preload_await(fd))
		return;
	within++;
	san_client_relay(fd);
	within--;
}

/* One more than the highest descriptor that there may be. */
static int
files(void)
{
	long most = sysconf(_SC_OPEN_MAX);

	return most > 0 && most < SAN_FILES_MAX ? (int)most : SAN_FILES_MAX;
}

void
preload_relay_inherited(void)
{
	int error = errno, n = preload_runs() ? files() : 0;

	for (int fd = 0; fd < n; fd++) {
		int flags = REAL(fcntl)(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			preload_relay(fd);
	}
	errno = error;
}

/* What is found out of a descriptor from now on the kernel finds out. */
void
preload_retire(void)
{
	int error = errno, n = preload_runs() ? files() : 0;

	for (int fd = 0; fd < n; fd++)
		preload_relay(fd);
	if (n > 0) {
		attached = false;
		broker = NULL;
		preload_epoll_settle();
	}
	errno = error;
}

void
preload_is_kernels(int fd)
{
	if (fd >= 0 && fd < SAN_FILES_MAX)
		atomic_store_explicit(&kernels[fd], true, memory_order_relaxed);
}

void
preload_forget(int fd)
{
	if (fd < 0 || fd >= SAN_FILES_MAX || within || broker == NULL || preload_is_borrowed())
		return;
	atomic_store_explicit(&kernels[fd], false, memory_order_relaxed);
	atomic_store_explicit(&outcome[fd], 0, memory_order_relaxed);
	preload_epoll_forget(fd);
	if (!san_client_has(fd) && !san_client_is_relayed(fd) && !san_client_is_connecting(fd))
		return;
	within++;
	san_client_close(fd);
	within--;
}
