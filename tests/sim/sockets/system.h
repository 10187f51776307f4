/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two hosts with a broker and programs each, whose code is the production code of the socket switch
 * (lib/face/sanbroker, sanclient, sansw). A process of the simulation is one of the machine, so
 * that fork() is fork(), and runs while it has the turn: one at a time. What they have in common,
 * the kernel, the hosts' queue pairs and the network, lies in memory that all of them share.
 * Start with struct sys.
 */
#ifndef PLX_SIM_SOCKETS_SYSTEM_H
#define PLX_SIM_SOCKETS_SYSTEM_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <plx_san_control.h>

#include "plx_base.h"

enum {
	HOSTS = 2,
	PROCESSES = 16,
	FILES = 512,
	FDS = 64, /* of a process */
	WATCHES = 64,
	MESSAGES = 128, /* in a channel */
	BACKLOG = 16,
	QPS = 32,
	REQUESTS = 64, /* of a queue pair and kind */
	PARTS = 3,
	EVENTS = 128,
	MEMORY = 96 << 20, /* of sessions */
	DIRECTIONS = 2,
	SENT_MAX = 256 * 1024, /* [bytes] of a direction */
	KILLS = 16,
	MAILS = 4, /* descriptors on their way to a process */
	PORT = 20000,
};

/* ---- the kernel ---- */

enum file_kind {
	FILE_NONE,
	FILE_EVENT,
	FILE_CHANNEL,
	FILE_CHANNELS, /* listens */
	FILE_TCP,
	FILE_TCP_LISTENER,
	FILE_EPOLL,
	FILE_MEMORY,
};

#define HOST_ADDRESS(host) htonl(0x0a4f0001u + (host)) /* 10.79.0.1, 10.79.0.2 */

struct name {
	uint32_t ip; /* network order */
	uint16_t port;
};

struct message {
	struct san_control bytes;
	uint16_t file; /* that comes along, counted; 0: none */
};

struct watched {
	uint16_t file;
	uint32_t events;
	void *context;
};

/* 0 is none. */
struct file {
	uint8_t kind, host;
	uint32_t refs;
	uint16_t peer; /* CHANNEL, TCP: the other end; 0: it has gone */
	uint64_t count;
	bool semaphore, reset, nonblocking, linger_zero;
	bool was_connected;
	struct name local, remote;
	uint16_t backlog[BACKLOG];
	uint32_t backlog_count;
	uint32_t first, messages;
	struct message *message; /* [MESSAGES], of a CHANNEL */
	struct watched watched[WATCHES];
	uint32_t watches;
	uint8_t *memory;
	size_t bytes;
};

/* ---- processes ---- */

enum process_state {
	PROCESS_NONE,
	PROCESS_READY,
	PROCESS_WAITING,
	PROCESS_ENDED,
};

struct waited {
	uint16_t file;
	short events;
};

struct process {
	uint8_t state, host;
	bool broker, killed;
	bool mortal;     /* it may be killed */
	bool has_events; /* of its provider */
	int32_t turn;    /* a futex: 1: it has it */
	int pid;         /* the machine's */
	uint32_t budget; /* function boundaries until it gives the turn away */
	struct waited waits[FDS];
	uint32_t waits_count;
	uint64_t until;
	uint16_t fd[FDS];     /* files */
	uint16_t mail[MAILS]; /* descriptors that others have sent */
	uint32_t mails;
	uint32_t number; /* seat */
};

/* ---- queue pairs of hosts ---- */

enum qp_state {
	QP_NONE,
	QP_FRESH,
	QP_LISTENS,
	QP_CONNECTING,
	QP_CONNECTED,
	QP_OVER,
};

struct part {
	uint8_t *at;
	uint32_t bytes;
};

struct send {
	struct part part[PARTS];
	uint64_t due;
};

struct receive {
	struct part part;
	uint32_t bytes;
};

/* Numbers of requests count from the beginning of its process's control; `past` all. */
struct qp {
	uint8_t state, host;
	uint32_t process;               /* in control, by its place + 1; 0: the host has it */
	uint32_t generation, life;      /* of control; of the queue pair at this place */
	uint32_t token, from, to, heir; /* seats: who gave it, and who may take it; 0: none */
	uint64_t left_at;               /* when its program ended */
	bool left;
	uint16_t peer; /* place + 1 */
	struct name local, remote;
	bool armed;
	int connect_error;
	long happened, selected;
	uint16_t event; /* file */
	uint16_t backlog[BACKLOG];
	uint32_t backlog_count;
	struct send send[REQUESTS];
	uint32_t sends_posted, sends_arrived, sends_done;
	struct receive receive[REQUESTS];
	uint32_t receives_posted, receives_done;
	uint32_t past_requests, past_receives;
	uint64_t busy_until; /* of the wire */
};

enum event_kind {
	EVENT_NONE,
	EVENT_ASKED,    /* a connection arrives at a listener */
	EVENT_ANSWERED, /* ... and its answer at who asked */
	EVENT_OVER,     /* the peer has gone */
};

struct event {
	uint8_t kind;
	uint16_t qp; /* place + 1 */
	uint32_t life;
	uint64_t due;
	int error;
};

/* ---- what programs do ---- */

/* Bytes of one pattern: they end where a program was killed within a call. */
struct stretch {
	uint32_t least, most; /* taken by the switch: if it is not known how many */
};

struct direction {
	struct stretch stretch[KILLS];
	uint32_t stretches;
	uint32_t sending;   /* bytes of the call under way */
	int writer, reader; /* processes, -1: none */
	uint64_t quota;
	bool shutting; /* a call that has not returned, or does not any more */
	bool shut, end;
	uint32_t got;
	uint32_t receiving;
	struct {
		uint32_t at, most; /* bytes that a killed program may have read */
	} gap[KILLS];
	uint32_t gaps;
	uint8_t bytes[SENT_MAX];
};

/* What ends the connection, once both sides have it. */
enum breaking {
	BREAK_NOTHING,
	BREAK_BROKER, /* one is killed */
	BREAK_PATH,   /* nothing arrives any more, which each end learns some time */
};

struct knobs {
	uint32_t preempt; /* mean boundaries of a turn */
	uint32_t kills;
	uint64_t kill_every; /* mean turns between two */
	enum breaking breaks;
	uint64_t break_every; /* mean turns before */
	uint8_t break_host;
	uint32_t programs; /* of a side */
	uint64_t delay, jitter;
	uint32_t credits, payload;
	uint32_t quota;
	uint32_t most; /* [bytes] of a call */
};

struct sys {
	uint64_t random, now, turns;
	struct knobs knobs;
	struct process process[PROCESSES];
	struct file file[FILES];
	struct qp qp[QPS];
	struct event event[EVENTS];
	struct direction direction[DIRECTIONS]; /* 0: from host 0 to host 1 */
	uint32_t tokens, seats, programs[HOSTS];
	uint16_t ports;
	uint32_t memory_used;
	uint64_t progress_at, longest; /* no call has returned meanwhile */
	uint32_t sessions[HOSTS];
	uint32_t sides; /* that have the connection */
	bool broken;
	uint64_t swaps, calls, deaths, forks, bytes_moved;
	uint64_t hash;
	bool stop, trace;
	int32_t over; /* a futex: 1: the run has ended; 2: it has failed */
	char failure[512];
	struct message messages[FILES][MESSAGES];
	_Alignas(4096) uint8_t memory[MEMORY];
};

extern struct sys *sys;
extern int self; /* place of this process; -1: the simulator's own */

/* ---- schedule.c ---- */

uint32_t sys_draw(uint32_t below);
bool sys_one_in(uint32_t n);
/* Somebody else may have the turn. */
void sys_yield(void);
/* Wait until one of waits is ready, or `until`. Returns: false: it is `until` */
bool sys_wait(const struct waited *waits, uint32_t n, uint64_t until);
/* The run fails. */
void sys_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sys_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A process has ended, or is to: give its things back, and the turn away. */
void sys_exit(void) __attribute__((noreturn));
/* A child of this process. Returns: 0 in the child; its place; -1: there are PROCESSES */
int sys_fork(void);
/* First of all in a process: wait for the turn. */
void sys_begin(int place);
int sys_place(uint8_t host, bool broker);
/* Give the turn to the first, and wait for the end. */
void sys_run(void);
#define SYS_MUST(x)                                                    \
	do {                                                           \
		if (!(x))                                              \
			sys_fail("%s:%d: %s", __FILE__, __LINE__, #x); \
	} while (0)

/* ---- kernel.c ---- */

uint16_t kernel_file(enum file_kind kind);
int kernel_fd(uint16_t file);
uint16_t kernel_of(int process, int fd);
void kernel_hold(uint16_t file);
void kernel_drop(uint16_t file);
short kernel_ready(uint16_t file);
void kernel_set_event(uint16_t file, uint64_t count);
void kernel_end(int process);
void kernel_inherit(int from, int to);
/* Returns: files that nobody has closed */
uint32_t kernel_left(void);

/* ---- provider.c ---- */

/* When it may take a step. UINT64_MAX: never */
uint64_t network_due(void);
void network_step(void);
void provider_end(int process);
/* The connection fails. Returns: false: there is none */
bool provider_break(void);
/* The broker's provider has something to say: its upcall. */
void provider_upcalls(void);
uint32_t provider_left(void);

/* ---- programs.c ---- */

void broker_main(uint8_t host);
void program_main(uint8_t host);
/* A program was killed: what it was at. */
void programs_killed(int process);

/* ---- judge.c ---- */

uint8_t judge_byte(uint32_t direction, uint32_t stretch, uint32_t i);
/* NULL: all bytes are right, and all are there, unless the reader learnt that the connection is
 * broken
 */
const char *judge(uint32_t direction);

#endif
