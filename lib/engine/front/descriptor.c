/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The descriptors of a program's halves, which their owner is asked for once. Start with
 * front_descriptor().
 */
#include <pthread.h>

#include "plx_front.h"
#include "plx_wake.h"

int
front_descriptor(struct front_owner *owner, uint64_t object, atomic_int *fd, atomic_int *wake_fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int own, wake = -1;

	pthread_mutex_lock(&lock);
	own = atomic_load(fd);
	if (own < 0) {
		own = owner->descriptor(owner, object, &wake);
		atomic_store(wake_fd, wake);
		atomic_store(fd, own);
	}
	pthread_mutex_unlock(&lock);
	return own;
}

void
front_descriptor_close(const struct front_owner *owner, atomic_int *fd, atomic_int *wake_fd)
{
	if (!owner->remote)
		return;
	engine_fd_close(NULL, fd);
	engine_fd_close(NULL, wake_fd);
}
