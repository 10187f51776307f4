/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Four processes of one end, four of the other, that all write and read: requests are carried out
 * in the order in which they were made, and the streams are whole (S9, S10, S16). What a host and
 * its processes tell each other is on its way for a while. Processes end at any moment, and the
 * host takes control from those that compute. Start with one_schedule().
 */
#include "ends.h"
#include "plx_san_arbiter.h"

enum {
	PROCESSES = 4,
	SCHEDULES = 1000,
	CALLS = 2000,
	REQUESTS = 4096, /* of an end; most */
	ROUNDS_MAX = 100000,
	REQUEST_BYTES = 20,
};

static const struct plx_san_config config = {
	.reads = true,
	.credits = 2,
	.payload_bytes = 64,
	.in_bytes = 256,
	.out_bytes = 256,
	.sends = 2,
	.suspend_ns = 1000,
};

/* What the host told a process that has not listened yet. */
struct told {
	enum plx_san_tell tell;
	bool is_there;
};

struct process {
	uint32_t asked[REQUESTS], first, count; /* numbers of requests with a ticket */
	struct told told;
	bool turn, wanted, ended;
};

/* One end of the stream, with its host and its processes. */
struct side {
	struct plx_san_arbiter arbiter;
	struct process process[PROCESSES];
	uint32_t made, served;          /* requests: numbered from 0 */
	bool dead[REQUESTS];            /* of a process that ended before its turn */
	uint32_t swaps, deaths, seized; /* of processes in control; from others that had it */
};

static struct ends ends;
static struct side side[2];

/* ---- requests ---- */

/* All earlier requests have been carried out, or their processes have ended. */
static void
check_order(struct side *s, uint32_t number)
{
	while (s->served < number) {
		assert_true(s->dead[s->served]);
		s->served++;
	}
	assert_int_equal(s->served, number);
	s->served++;
}

static bool
carry_out(uint32_t i)
{
	return ends_write(&ends, i, REQUEST_BYTES) > 0;
}

static void
request(uint32_t i, uint32_t p)
{
	struct side *s = &side[i];
	struct process *process = &s->process[p];

	if (process->ended || s->made == REQUESTS)
		return;
	if (plx_san_is_free(&s->arbiter, p + 1) && !process->turn) {
		if (carry_out(i))
			check_order(s, s->made++);
		return;
	}
	if (!plx_san_ask(&s->arbiter, p + 1))
		return;
	process->asked[(process->first + process->count++) % REQUESTS] = s->made++;
}

/* ---- a host and its processes ---- */

static void
tell(uint32_t i)
{
	struct side *s = &side[i];
	uint64_t whom;
	enum plx_san_tell what = plx_san_tell(&s->arbiter, &whom);

	if (what == PLX_SAN_TELL_NOTHING)
		return;
	assert_int_not_equal(what, PLX_SAN_TELL_OVER);
	assert_in_range(whom, 1, PROCESSES);
	assert_false(s->process[whom - 1].ended);
	assert_false(s->process[whom - 1].told.is_there);
	s->process[whom - 1].told = (struct told){what, true};
}

static void
listen(uint32_t i, uint32_t p)
{
	struct side *s = &side[i];
	struct process *process = &s->process[p];

	if (!process->told.is_there || process->ended)
		return;
	process->told.is_there = false;
	if (process->told.tell == PLX_SAN_TELL_TURN) {
		process->turn = true;
	} else if (process->told.tell == PLX_SAN_TELL_WANTED) {
		process->wanted = true;
		plx_san_suspend(&ends.end[i].stream);
	} else {
		ends_take(&ends, i);
		assert_true(plx_san_took(&s->arbiter, p + 1));
		s->swaps++;
	}
}

static void
go_on(uint32_t i, uint32_t p)
{
	struct side *s = &side[i];
	struct process *process = &s->process[p];

	if (process->ended)
		return;
	if (process->turn && carry_out(i)) {
		process->turn = false;
		check_order(s, process->asked[process->first]);
		process->first = (process->first + 1) % REQUESTS;
		process->count--;
		assert_true(plx_san_done(&s->arbiter, p + 1));
	}
	if (process->wanted && ends.end[i].stream.mine == PLX_SAN_MINE_GIVEN) {
		process->wanted = false;
		assert_true(plx_san_gave(&s->arbiter, p + 1));
	}
}

static bool
controls(const struct side *s, uint32_t p)
{
	return s->arbiter.process == p + 1;
}

/* The host's own process is the first one. */
static void
seize(uint32_t i)
{
	struct side *s = &side[i];

	assert_true(plx_san_seize(&s->arbiter));
	assert_true(plx_san_seized(&s->arbiter, 1));
	s->swaps++;
}

/* It was told to give control away, and has not heard it. */
static void
seize_idle(uint32_t i, uint32_t p)
{
	struct side *s = &side[i];
	struct process *process = &s->process[p];

	if (p == 0 || s->arbiter.phase != PLX_SAN_PHASE_WANTED || !controls(s, p) ||
	    !process->told.is_there || !ends_inherit(&ends, i))
		return;
	process->told.is_there = false;
	seize(i);
	s->seized++;
}

/* Its requests are forgotten; what it has control of is the host's, if it can be. */
static void
end(uint32_t i, uint32_t p)
{
	struct side *s = &side[i];
	struct process *process = &s->process[p];

	if (process->ended || p == 0)
		return;
	if (controls(s, p)) {
		if (!ends_inherit(&ends, i))
			return;
		seize(i);
		s->deaths++;
	}
	process->ended = true;
	process->told.is_there = process->turn = process->wanted = false;
	for (; process->count > 0; process->count--) {
		s->dead[process->asked[process->first]] = true;
		process->first = (process->first + 1) % REQUESTS;
	}
	plx_san_left(&s->arbiter, p + 1, false);
}

/* ---- schedules ---- */

static void
call(struct plx_prng *prng)
{
	uint32_t i = (uint32_t)plx_prng_below(prng, 2);
	uint32_t p = (uint32_t)plx_prng_below(prng, PROCESSES);

	switch (plx_prng_below(prng, 13)) {
	case 0:
		request(i, p);
		break;
	case 1:
	case 2:
		tell(i);
		break;
	case 3:
	case 4:
		listen(i, p);
		break;
	case 5:
	case 6:
		go_on(i, p);
		break;
	case 7:
		ends_read(&ends, i, (uint32_t)plx_prng_below(prng, 300));
		break;
	case 8:
		if (plx_prng_chance(prng, 20000))
			end(i, p);
		break;
	case 12:
		seize_idle(i, p);
		break;
	case 9:
		ends_receive(&ends, i, (uint32_t)plx_prng_below(prng, 300));
		break;
	case 10:
		ends_complete_send(&ends, i);
		break;
	default:
		ends_step(&ends, i);
	}
}

static bool
is_served(uint32_t i)
{
	const struct side *s = &side[i];
	uint32_t waiting = 0;

	for (uint32_t p = 0; p < PROCESSES; p++)
		waiting += s->process[p].count;
	return waiting == 0 && s->arbiter.count == 0;
}

static void
serve_all(void)
{
	uint32_t rounds = 0;

	while (!is_served(0) || !is_served(1)) {
		for (uint32_t i = 0; i < 2; i++) {
			tell(i);
			for (uint32_t p = 0; p < PROCESSES; p++) {
				listen(i, p);
				go_on(i, p);
			}
			ends_read(&ends, i, ENDS_RING_MAX);
		}
		ends_settle(&ends);
		assert_true(rounds++ < ROUNDS_MAX);
	}
	ends_drain(&ends);
}

static uint32_t
one_schedule(uint64_t seed)
{
	struct plx_prng prng;

	plx_prng_init(&prng, seed);
	memset(side, 0, sizeof(side));
	for (uint32_t i = 0; i < 2; i++)
		plx_san_arbiter_begin(&side[i].arbiter, 1);
	ends_begin(&ends, &config, &config);
	ends_settle(&ends);
	for (uint32_t n = 0; n < CALLS; n++)
		call(&prng);
	serve_all();
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ends.end[i].read_bytes, ends.end[1 - i].written);
		assert_int_equal(ends.end[i].stream.end, PLX_SAN_END_NOT);
	}
	return side[0].swaps + side[1].swaps;
}

static void
requests_are_carried_out_in_their_order(void **state)
{
	uint64_t swaps = 0, deaths = 0, seized = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SCHEDULES; seed++) {
		swaps += one_schedule(seed);
		deaths += side[0].deaths + side[1].deaths;
		seized += side[0].seized + side[1].seized;
	}
	print_message("%d schedules, %llu swaps, %llu deaths in control, taken from %llu\n",
		      SCHEDULES, (unsigned long long)swaps, (unsigned long long)deaths,
		      (unsigned long long)seized);
	assert_true(swaps > 10 * SCHEDULES);
	assert_true(deaths > SCHEDULES / 20);
	assert_true(seized > SCHEDULES / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_carried_out_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
