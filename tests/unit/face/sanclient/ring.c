/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A server by io_uring, which knows nothing of Pollux: it sends back what it receives. Its first
 * connection is accepted by the ring, others by accept(). The kernel reads and writes for it.
 *
 *   ring PORT
 *
 * Start with serve().
 */
#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ENTRIES = 4,
	BYTES = 65536,
};

static struct {
	int fd;
	unsigned *sq_tail, *sq_array, *cq_head, *cq_tail, *sq_mask, *cq_mask;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
} ring;

static int
make_ring(void)
{
	struct io_uring_params p = {.sq_entries = 0};
	uint8_t *sq, *cq;

	ring.fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (ring.fd < 0)
		return -1;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
		  MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		  PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
	ring.sqe = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
			MAP_SHARED, ring.fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || (void *)ring.sqe == MAP_FAILED)
		return -1;
	ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	ring.sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (unsigned *)(sq + p.sq_off.array);
	ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
	ring.cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	ring.cqe = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return 0;
}

/* One operation, and its result. */
static int
does(uint8_t operation, int fd, void *bytes, unsigned n)
{
	unsigned tail = *ring.sq_tail, head = *ring.cq_head, at = tail & *ring.sq_mask;
	unsigned submits = 1;

	ring.sqe[at] = (struct io_uring_sqe){
		.opcode = operation, .fd = fd, .addr = (uint64_t)(uintptr_t)bytes, .len = n};
	ring.sq_array[at] = at;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) == head) {
		if (syscall(SYS_io_uring_enter, ring.fd, submits, 1, IORING_ENTER_GETEVENTS, NULL,
			    0) < 0)
			return -1;
		submits = 0;
	}
	head++;
	__atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
	return ring.cqe[(head - 1) & *ring.cq_mask].res;
}

static int
serve(int listener)
{
	static uint8_t bytes[BYTES];

	for (int i = 0;; i++) {
		int fd = i == 0 ? does(IORING_OP_ACCEPT, listener, NULL, 0)
				: accept(listener, NULL, NULL);
		int got, done;

		if (fd < 0)
			return 1;
		while ((got = does(IORING_OP_RECV, fd, bytes, sizeof(bytes))) > 0)
			for (int sent = 0; sent < got; sent += done) {
				done = does(IORING_OP_SEND, fd, bytes + sent,
					    (unsigned)(got - sent));
				if (done <= 0)
					break;
			}
		close(fd);
	}
}

int
main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (argc != 2)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	at.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(listener, 5) != 0 ||
	    make_ring() != 0) {
		perror("ring");
		return 1;
	}
	return serve(listener);
}
