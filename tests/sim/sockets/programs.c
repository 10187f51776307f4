/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What brokers and programs do: a connection, whose ends several programs of each host have, by
 * fork() and from each other. Start with use().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <plx_san_broker.h>
#include <plx_san_client.h>

#include "system.h"

enum {
	ROUND_MS = 1000,
	RETRY_MS = 5,
	COMPUTE_NS = 3000000,
};

static const char *const path[HOSTS] = {"/a", "/b"};
static uint8_t bytes[SENT_MAX];
static bool is_over; /* of this program: a call has failed */

/* ---- brokers ---- */

static void
log_line(void *context, const char *line)
{
	(void)context;
	sys_log("  broker: %s", line);
}

void
broker_main(uint8_t host)
{
	const struct plx_san_rule all = {.first = 0, .last = 65535, .rdma = true};
	const struct san_broker_options options = {
		.path = path[host],
		.rule = &all,
		.rules = 1,
		.credits = sys->knobs.credits,
		.payload_bytes = sys->knobs.payload,
		.log = log_line,
	};
	struct san_broker_counts count;
	struct san_broker *broker;
	struct plx_why why;

	if (san_broker_open(&options, &broker, &why) != PLX_OK)
		sys_fail("the broker does not begin: %s", why.text);
	while (!sys->stop) {
		san_broker_run(broker, ROUND_MS);
		san_broker_count(broker, &count);
		sys->sessions[host] = count.sessions;
	}
	sys->swaps += count.swaps;
	san_broker_close(broker);
	sys_exit();
}

/* ---- the descriptor of a program ---- */

static struct sockaddr_in
address_of(uint8_t host)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(PORT),
				    .sin_addr.s_addr = HOST_ADDRESS(host)};
}

static void
pause_for(uint64_t ns)
{
	(void)sys_wait(NULL, 0, sys->now + ns);
}

/* One whose broker has been killed does not begin. */
static void
start(uint8_t host)
{
	while (san_client_start(path[host]) != 0) {
		if (sys->broken)
			sys_exit();
		pause_for(RETRY_MS * PLX_MSEC);
	}
}

static int
connect_to(uint8_t host)
{
	struct sockaddr_in to = address_of(host);

	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (san_client_connect(fd, (struct sockaddr *)&to, sizeof(to)) == SAN_IS_RDMA)
			return fd;
		close(fd);
		pause_for(RETRY_MS * PLX_MSEC);
	}
}

static int
accept_one(uint8_t host)
{
	struct sockaddr_in at = address_of(host);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;

	SYS_MUST(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0);
	SYS_MUST(listen(listener, BACKLOG) == 0);
	if (san_client_listen(listener, BACKLOG) != SAN_IS_RDMA)
		sys_fail("the broker does not listen");
	fd = accept4(listener, NULL, NULL, 0);
	SYS_MUST(fd >= 0);
	close(listener);
	return fd;
}

/* ---- what it does with it ---- */

static void
returned(void)
{
	uint64_t gap = sys->now - sys->progress_at;

	if (gap > sys->longest)
		sys->longest = gap;
	sys->progress_at = sys->now;
	sys->calls++;
}

/* As connections fail, and only if this one is broken. */
static void
failed(const char *what)
{
	bool may_be = errno == ENETDOWN || errno == ECONNRESET || errno == ETIMEDOUT ||
		      errno == EPIPE || errno == ENOTCONN;

	if (!sys->broken || !may_be)
		sys_fail("S20: %s fails: %s", what, strerror(errno));
	is_over = true;
}

/* The bytes that a call takes are the next ones of its direction. */
static void
send_some(uint32_t direction, int fd)
{
	struct direction *d = &sys->direction[direction];
	uint32_t stretch = d->stretches - 1, sent = d->stretch[stretch].least;
	uint32_t n = 1 + sys_draw(sys->knobs.most);
	ssize_t put;

	if (n > d->quota)
		n = (uint32_t)d->quota;
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = judge_byte(direction, stretch, sent + i);
	d->sending = n;
	put = san_client_send(fd, bytes, n, sys_one_in(4) ? MSG_DONTWAIT : 0);
	if (put < 0 && errno != EAGAIN)
		failed("send()");
	if (put > 0) {
		d->stretch[stretch].least += (uint32_t)put;
		d->stretch[stretch].most = d->stretch[stretch].least;
		d->quota -= (uint64_t)put;
		sys->bytes_moved += (uint64_t)put;
	}
	d->sending = 0;
	sys_log("writes %zd of %u bytes of direction %u", put, n, direction);
}

static void
write_it(uint32_t direction, int fd)
{
	struct direction *d = &sys->direction[direction];

	if (d->writer >= 0)
		return;
	d->writer = self;
	if (d->quota > 0) {
		send_some(direction, fd);
	} else if (!d->shut) {
		/* whoever was killed in it may have done it, and the connection has ended */
		bool again = d->shutting;

		d->shutting = true;
		d->shut = san_client_shutdown(fd, SHUT_WR) == 0 || (again && errno == ENOTCONN);
		if (!d->shut)
			failed("shutdown()");
		sys_log("shuts direction %u", direction);
	}
	d->writer = -1;
	returned();
}

static void
read_it(uint32_t direction, int fd, bool waits)
{
	struct direction *d = &sys->direction[direction];
	uint32_t n = 1 + sys_draw(sys->knobs.most);
	ssize_t got;

	if (d->reader >= 0 || d->end)
		return;
	if (n > SENT_MAX - d->got)
		n = SENT_MAX - d->got;
	SYS_MUST(n > 0);
	d->reader = self;
	d->receiving = n;
	got = san_client_recv(fd, bytes, n,
			      waits ? (sys_one_in(8) ? MSG_WAITALL : 0) : MSG_DONTWAIT);
	if (got < 0 && errno != EAGAIN)
		failed("recv()");
	if (got > 0) {
		memcpy(d->bytes + d->got, bytes, (size_t)got);
		d->got += (uint32_t)got;
	}
	d->end = got == 0;
	sys_log("reads %zd of %u bytes of direction %u", got, n, direction);
	d->receiving = 0;
	d->reader = -1;
	returned();
}

/* As select() does. */
static void
wait_for_it(int fd)
{
	struct san_client_ready ready;
	struct pollfd fds[SAN_SLEEP_FDS];
	int of[SAN_SLEEP_FDS], n = san_client_sleep(fd, of);

	if (san_client_ready(fd, &ready) && !ready.in) {
		for (int i = 0; i < n; i++)
			fds[i] = (struct pollfd){of[i], POLLIN, 0};
		(void)poll(fds, (nfds_t)n, 1 + (int)sys_draw(50));
	}
	san_client_slept(fd);
	returned();
}

static bool
use(uint8_t host, int fd)
{
	uint32_t out = host, in = 1 - host;

	if (is_over || (sys->direction[in].end && sys->direction[out].shut))
		return false;
	switch (sys_draw(8)) {
	case 0:
	case 1:
	case 2:
		write_it(out, fd);
		break;
	case 3:
	case 4:
		read_it(in, fd, true);
		break;
	case 5:
		read_it(in, fd, false);
		break;
	case 6:
		wait_for_it(fd);
		break;
	default:
		pause_for(sys_draw(COMPUTE_NS));
		break;
	}
	return true;
}

/* ---- more of them ---- */

static bool
may_be_more(uint8_t host)
{
	return sys->programs[host] < sys->knobs.programs;
}

/* Programs of a host that use the connection. Returns: how many */
static int
others_of(uint8_t host, int place, int out[PROCESSES])
{
	int n = 0;

	for (int i = 0; i < PROCESSES; i++)
		if (i != place && sys->process[i].mortal && sys->process[i].host == host &&
		    sys->process[i].state != PROCESS_ENDED && sys->process[i].state != PROCESS_NONE)
			out[n++] = i;
	return n;
}

/* By SCM_RIGHTS. */
static void
send_to_another(uint8_t host, int fd)
{
	int others[PROCESSES], n;
	struct process *to;

	san_client_share();
	n = others_of(host, self, others);
	if (n == 0)
		return;
	to = &sys->process[others[sys_draw((uint32_t)n)]];
	if (to->mails == MAILS)
		return;
	kernel_hold(kernel_of(self, fd));
	to->mail[to->mails++] = kernel_of(self, fd);
}

/* Returns: false: its connection has ended meanwhile, and it is the kernel's */
static bool
adopt(int fd)
{
	if (san_client_adopt(fd) == SAN_IS_RDMA)
		return true;
	if (!sys->broken && (!sys->direction[0].shutting || !sys->direction[1].shutting))
		sys_fail("S1: a descriptor that came from another program is none of the switch's");
	return false;
}

/* Another descriptor of the same connection may have come: it is closed. */
static void
open_mail(void)
{
	struct process *me = &sys->process[self];
	int fd;

	if (me->mails == 0)
		return;
	fd = kernel_fd(me->mail[--me->mails]);
	if (adopt(fd))
		san_client_close(fd);
	close(fd);
}

static void run(uint8_t host, int fd);

static void
become_more(uint8_t host, int fd)
{
	int child;

	sys->programs[host]++;
	san_client_share();
	child = sys_fork();
	if (child > 0)
		sys->process[child].mortal = true;
	if (child != 0)
		return;
	start(host);
	if (!adopt(fd))
		sys_exit();
	run(host, fd);
}

static void
run(uint8_t host, int fd)
{
	while (use(host, fd)) {
		if (may_be_more(host) && sys_one_in(8))
			become_more(host, fd);
		if (sys_one_in(32))
			send_to_another(host, fd);
		open_mail();
	}
	if (sys_one_in(2)) {
		san_client_close(fd);
		close(fd);
	}
	if (sys_one_in(2))
		san_client_stop();
	returned();
	sys_exit();
}

void
program_main(uint8_t host)
{
	int fd;

	start(host);
	fd = host == 0 ? connect_to(1) : accept_one(1);
	if (host == 1 && !adopt(fd))
		sys_fail("S1: what was accepted is none of the switch's");
	sys->programs[host] = 1;
	sys->sides++;
	sys->process[self].mortal = true;
	run(host, fd);
}

/* ---- deaths ---- */

static void
end_writer(struct direction *d)
{
	struct stretch *last = &d->stretch[d->stretches - 1];

	d->writer = -1;
	if (d->sending == 0)
		return;
	last->most = last->least + d->sending;
	d->sending = 0;
	d->stretch[d->stretches++] = (struct stretch){0, 0};
}

static void
end_reader(struct direction *d)
{
	d->reader = -1;
	if (d->receiving == 0)
		return;
	d->gap[d->gaps].at = d->got;
	d->gap[d->gaps++].most = d->receiving;
	d->receiving = 0;
}

void
programs_killed(int process)
{
	for (uint32_t i = 0; i < DIRECTIONS; i++) {
		struct direction *d = &sys->direction[i];

		if (d->writer == process)
			end_writer(d);
		if (d->reader == process)
			end_reader(d);
	}
}
