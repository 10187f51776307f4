/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who has the turn, time, and deaths. Start with next().
 */
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "system.h"

enum {
	TURN_NS = 300,
	REAL_SECONDS = 60,
	LOOK_MS = 100,
	TURNS_MAX = 4000000,
	STUCK_MS = 90000, /* of virtual time, without a call that returns */
};

struct sys *sys;
int self = -1;

/* Between functions of the switch: not within a call of this kernel. */
static bool outside;

/* ---- chance ---- */

uint32_t
sys_draw(uint32_t below)
{
	return (uint32_t)((plx_splitmix64(&sys->random) >> 32) * below >> 32);
}

bool
sys_one_in(uint32_t n)
{
	return sys_draw(n) == 0;
}

/* ---- the turn ---- */

static void
wait_on(int32_t *word, int32_t while_it_is)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == while_it_is)
		syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, NULL, NULL, 0);
}

static void
set(int32_t *word, int32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void
await_turn(void)
{
	struct process *me = &sys->process[self];

	wait_on(&me->turn, 0);
	me->turn = 0;
}

void
sys_log(const char *format, ...)
{
	va_list arguments;

	if (!sys->trace)
		return;
	fprintf(stderr, "%12.6f %2d ", (double)sys->now / 1e9, self);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

void
sys_fail(const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(sys->failure, sizeof(sys->failure), format, arguments);
	va_end(arguments);
	if (n < (int)sizeof(sys->failure))
		snprintf(sys->failure + n, sizeof(sys->failure) - (size_t)n,
			 " (%.6f s, process %d)", (double)sys->now / 1e9, self);
	set(&sys->over, 2);
	for (;;)
		pause(); /* the simulator ends it */
}

/* ---- who can go on ---- */

static bool
is_awake(const struct process *process)
{
	if (process->state == PROCESS_READY)
		return true;
	if (process->state != PROCESS_WAITING)
		return false;
	if (sys->now >= process->until || process->has_events)
		return true;
	for (uint32_t i = 0; i < process->waits_count; i++)
		if (kernel_ready(process->waits[i].file) &
		    (process->waits[i].events | POLLHUP | POLLERR))
			return true;
	return false;
}

static uint64_t
soonest(void)
{
	uint64_t at = network_due();

	for (int i = 0; i < PROCESSES; i++)
		if (sys->process[i].state == PROCESS_WAITING && sys->process[i].until < at)
			at = sys->process[i].until;
	return at;
}

static bool
is_all_over(void)
{
	bool programs = false, brokers = false;

	for (int i = 0; i < PROCESSES; i++) {
		const struct process *process = &sys->process[i];

		if (process->state == PROCESS_NONE || process->state == PROCESS_ENDED)
			continue;
		programs |= !process->broker;
		brokers |= process->broker;
	}
	if (!programs && sys->sessions[0] == 0 && sys->sessions[1] == 0)
		sys->stop = true;
	return !programs && !brokers;
}

/* Returns: the place of a process whose turn it is */
static int
next(void)
{
	for (;;) {
		int awake[PROCESSES + 1], n = 0, one;

		sys->now += TURN_NS + sys_draw(TURN_NS);
		if (++sys->turns > TURNS_MAX)
			sys_fail("no end after %d turns", TURNS_MAX);
		if (sys->now > sys->progress_at + STUCK_MS * PLX_MSEC)
			sys_fail("no call has returned for %d ms", STUCK_MS);
		for (int i = 0; i < PROCESSES; i++)
			if (is_awake(&sys->process[i]))
				awake[n++] = i;
		if (network_due() <= sys->now)
			awake[n++] = -1;
		if (n == 0) {
			uint64_t at = soonest();

			if (at == UINT64_MAX)
				sys_fail("all processes sleep for ever");
			sys->now = at;
			continue;
		}
		one = awake[sys_draw((uint32_t)n)];
		if (one >= 0)
			return one;
		network_step();
	}
}

/* ---- deaths ---- */

static bool
is_last_of_its_side(int place)
{
	for (int i = 0; i < PROCESSES; i++) {
		const struct process *process = &sys->process[i];

		if (i != place && process->mortal && process->state != PROCESS_ENDED &&
		    process->host == sys->process[place].host)
			return false;
	}
	return true;
}

static void
kill_it(int place)
{
	struct process *process = &sys->process[place];

	sys->deaths++;
	process->killed = true;
	process->mortal = false;
	sys_log("process %d is killed", place);
	programs_killed(place);
	kernel_end(place);
	provider_end(place);
}

static void
kill_one(int place)
{
	if (sys->knobs.kills == 0 || !sys->process[place].mortal ||
	    !sys_one_in((uint32_t)sys->knobs.kill_every) || is_last_of_its_side(place))
		return;
	sys->knobs.kills--;
	kill_it(place);
}

/* This process has the turn, or would have. */
static void
break_it(int place)
{
	const struct process *process = &sys->process[place];

	if (sys->knobs.breaks == BREAK_NOTHING || sys->broken || sys->sides < HOSTS ||
	    !sys_one_in((uint32_t)sys->knobs.break_every))
		return;
	if (sys->knobs.breaks == BREAK_PATH) {
		sys->broken = provider_break();
	} else if (process->broker && process->host == sys->knobs.break_host) {
		sys->broken = true;
		sys->sessions[process->host] = 0;
		kill_it(place);
	}
}

/* Returns: true: this process has drawn its own death, and keeps the turn */
static bool
leave_turn(void)
{
	while (!is_all_over()) {
		int place = next();
		struct process *process = &sys->process[place];

		kill_one(place);
		break_it(place);
		if (process->killed && place == self)
			return true;
		if (process->killed) { /* it ends without the turn */
			process->state = PROCESS_ENDED;
			set(&process->turn, 1);
			continue;
		}
		process->state = PROCESS_READY;
		set(&process->turn, 1);
		return false;
	}
	set(&sys->over, 1);
	return false;
}

static void
draw_budget(void)
{
	sys->process[self].budget = 1 + sys_draw(2 * sys->knobs.preempt);
}

/* Others have the turn. */
static void
swap(void)
{
	struct process *me = &sys->process[self];
	bool was = outside;

	outside = false;
	if (leave_turn()) {
		me->state = PROCESS_ENDED;
		(void)leave_turn();
		_exit(0);
	}
	await_turn();
	if (me->killed)
		_exit(0);
	draw_budget();
	outside = was;
}

void
sys_yield(void)
{
	sys->process[self].state = PROCESS_READY;
	swap();
}

bool
sys_wait(const struct waited *waits, uint32_t n, uint64_t until)
{
	struct process *me = &sys->process[self];

	for (uint32_t i = 0; i < n; i++)
		me->waits[i] = waits[i];
	me->waits_count = n;
	me->until = until;
	me->state = PROCESS_WAITING;
	swap();
	return sys->now < until;
}

void
sys_exit(void)
{
	struct process *me = &sys->process[self];

	outside = false;
	me->mortal = false;
	kernel_end(self);
	provider_end(self);
	me->state = PROCESS_ENDED;
	(void)leave_turn();
	_exit(0);
}

/* ---- between functions ---- */

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static void
boundary(void)
{
	if (!outside)
		return;
	if (sys->process[self].budget > 0)
		sys->process[self].budget--;
	else
		sys_yield();
}

void
__cyg_profile_func_enter(void *function, void *caller)
{
	(void)function;
	(void)caller;
	boundary();
}

void
__cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
	boundary();
}

/* ---- beginning ---- */

int
sys_place(uint8_t host, bool broker)
{
	for (int i = 0; i < PROCESSES; i++) {
		struct process *process = &sys->process[i];

		if (process->state != PROCESS_NONE)
			continue;
		*process = (struct process){.state = PROCESS_READY, .host = host, .broker = broker};
		process->number = ++sys->seats;
		return i;
	}
	return -1;
}

void
sys_begin(int place)
{
	self = place;
	await_turn();
	if (sys->process[place].killed)
		_exit(0);
	draw_budget();
	outside = true;
}

int
sys_fork(void)
{
	int place = sys_place(sys->process[self].host, false);
	int pid;

	if (place < 0)
		return -1;
	outside = false;
	kernel_inherit(self, place);
	pid = fork();
	if (pid == 0) {
		sys_begin(place);
		return 0;
	}
	if (pid < 0)
		sys_fail("the machine has no process for a fork()");
	sys->forks++;
	sys->process[place].pid = pid;
	outside = true;
	return place;
}

/* Returns: one has ended, but not as a process of the simulation does */
static bool
has_crashed(void)
{
	int status;

	while (waitpid(-1, &status, WNOHANG) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			return true;
	return false;
}

static void
give_up(const char *why)
{
	snprintf(sys->failure, sizeof(sys->failure), "%s", why);
	sys->over = 2;
}

void
sys_run(void)
{
	const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
	uint32_t looks = 0;

	(void)leave_turn();
	while (__atomic_load_n(&sys->over, __ATOMIC_ACQUIRE) == 0) {
		(void)syscall(SYS_futex, &sys->over, FUTEX_WAIT, 0, &look, NULL, 0);
		if (__atomic_load_n(&sys->over, __ATOMIC_ACQUIRE) != 0)
			break;
		if (has_crashed())
			give_up("a process has crashed");
		else if (++looks > REAL_SECONDS * 1000 / LOOK_MS)
			give_up("a process keeps the turn");
	}
}
