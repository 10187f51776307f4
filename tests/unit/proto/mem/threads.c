/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table under real threads: three readers check keys and read what they grant, two engines
 * invalidate, and one registrar registers and deregisters regions and poisons their memory after a
 * grace period of rte_rcu_qsbr. Also run under ThreadSanitizer. It never sleeps: threads yield, and
 * the run ends after a given time. Start with live_region(): the two steps of deregistering as a
 * caller performs them.
 *
 * A signature distinguishes each life of an object from every other: address, host, length and
 * rights all follow from its number. A reader gets key and number from a mailbox; a grant that does
 * not match mixes two lives, and a poisoned byte belongs to a region that is already deregistered.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <rte_rcu_qsbr.h>

#include "box.h"
#include "clock.h"

/* Each thread acts as its own QP; each life of a slot has one QP, so that the record of results
 * stays valid. */
static _Thread_local struct plx_key_memo memo;

#define READERS    3
#define ENGINES    2
#define REGIONS    2
#define BUFFER     4096
#define POISON     0xee
#define RUN_NS     (1500 * PLX_MSEC)
#define GIVE_UP    (60 * PLX_SEC)
#define FAST_LIVES 4096 /* no grace period between them, so they are numbered as keys wrap */

enum subject {
	REGION,
	WINDOW = REGION + REGIONS,
	FAST = WINDOW + REGIONS,
	SUBJECTS
};

/* Counted per thread; summed up after it has ended. */
struct tally {
	uint64_t granted[SUBJECTS], unknown, invalidated, invalidated_fast, bound_first, denied;
};

struct stage {
	struct box *box;
	struct rte_rcu_qsbr *rcu;
	uint64_t mail[SUBJECTS]; /* atomic: key << 32 | life */
	bool stop;               /* atomic */
	const char *failure;     /* atomic; the first, or NULL */
	uint8_t arena[REGIONS][2][BUFFER];
	uint8_t fast_arena[2 * BUFFER];
};

struct actor {
	struct stage *stage;
	unsigned number;
	struct tally tally;
};

struct signature {
	uint64_t va, length;
	uint8_t *host;
	uint8_t access;
	uint32_t qpn;
};

static void
expect(struct stage *stage, bool holds, const char *what)
{
	const char *none = NULL;

	if (!holds)
		(void)__atomic_compare_exchange_n(&stage->failure, &none, what, false,
						  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static uint8_t
content(uint32_t life)
{
	return (uint8_t)(life % 211); /* never POISON */
}

static struct signature
signature_of(struct stage *stage, enum subject subject, uint32_t life)
{
	struct signature s = {
		.va = (uint64_t)(life % FAST_LIVES) << 16,
		.length = 512 + 256 * (life % 8),
		.access = PLX_ACCESS_REMOTE_READ | PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND,
		.qpn = BOX_QPN,
	};

	s.access |= life & 1 ? PLX_ACCESS_REMOTE_WRITE : PLX_ACCESS_REMOTE_ATOMIC;
	if (subject == FAST) {
		s.host = stage->fast_arena + 16 * (life % FAST_LIVES % 256);
		s.access |= PLX_ACCESS_INVALIDATE;
		return s;
	}
	s.host = stage->arena[subject % REGIONS][life / REGIONS & 1];
	if (subject >= WINDOW) {
		s.va += 64;
		s.host += 64;
		s.length = 128 + life % 64;
		s.access = PLX_ACCESS_REMOTE_READ;
		s.qpn = BOX_QPN + life % 3;
	}
	return s;
}

static void
post(struct stage *stage, enum subject subject, struct plx_key key, uint32_t life)
{
	__atomic_store_n(&stage->mail[subject], (uint64_t)key.v << 32 | life, __ATOMIC_RELEASE);
}

static struct plx_key
fetch(struct stage *stage, unsigned subject, uint32_t *life)
{
	uint64_t mail = __atomic_load_n(&stage->mail[subject], __ATOMIC_ACQUIRE);

	*life = (uint32_t)mail;
	return (struct plx_key){(uint32_t)(mail >> 32)};
}

static bool
running(struct stage *stage)
{
	return !__atomic_load_n(&stage->stop, __ATOMIC_RELAXED);
}

/* ---- readers ---- */

static void
read_subject(struct actor *reader, enum subject subject)
{
	struct stage *stage = reader->stage;
	struct plx_grant grant = {0};
	uint32_t life;
	struct plx_key key = fetch(stage, subject, &life);
	struct signature s = signature_of(stage, subject, life);
	const struct plx_asker asker = {.domain = stage->box->domain, .qpn = s.qpn, .memo = &memo};
	const struct plx_access need = {s.access};
	enum plx_key_verdict verdict =
		plx_key_check(stage->box->mem, key, &asker, s.va, s.length, need, &grant);
	bool clean = true;

	if (verdict != PLX_KEY_GRANTED) {
		expect(stage, verdict == PLX_KEY_UNKNOWN, "a valid key was refused what it grants");
		reader->tally.unknown++;
		return;
	}
	reader->tally.granted[subject]++;
	expect(stage, grant.host == s.host && grant.access.bits == s.access, "a mixture of lives");
	if (subject != FAST) {
		for (uint64_t i = 0; i < s.length; i += 1 + i % 7)
			clean &= grant.host[i] == content(life);
		expect(stage, clean, "memory of a region that is gone");
	}
	verdict = plx_key_check(stage->box->mem, key, &asker, s.va, s.length + 1, need, &grant);
	expect(stage, verdict == PLX_KEY_RANGE || verdict == PLX_KEY_UNKNOWN, "a longer range");
}

static void *
reader_main(void *arg)
{
	struct actor *reader = arg;
	struct stage *stage = reader->stage;

	rte_rcu_qsbr_thread_online(stage->rcu, reader->number);
	while (running(stage)) {
		for (unsigned i = 0; i < 16; i++) {
			for (unsigned subject = 0; subject < SUBJECTS; subject++)
				read_subject(reader, (enum subject)subject);
			rte_rcu_qsbr_quiescent(stage->rcu, reader->number);
		}
		(void)sched_yield();
	}
	rte_rcu_qsbr_thread_offline(stage->rcu, reader->number);
	return NULL;
}

/* ---- engines that invalidate ---- */

static void *
engine_main(void *arg)
{
	struct actor *engine = arg;
	struct stage *stage = engine->stage;

	rte_rcu_qsbr_thread_online(stage->rcu, engine->number);
	while (running(stage)) {
		for (unsigned subject = WINDOW; subject < SUBJECTS; subject++) {
			uint32_t life;
			struct plx_key key = fetch(stage, subject, &life);
			struct signature s = signature_of(stage, (enum subject)subject, life);
			const struct plx_asker asker = {
				.domain = stage->box->domain, .qpn = s.qpn, .memo = &memo};
			enum plx_key_verdict verdict =
				plx_key_invalidate(stage->box->mem, key, &asker);

			if (verdict == PLX_KEY_GRANTED && subject == FAST)
				engine->tally.invalidated_fast++;
			else if (verdict == PLX_KEY_GRANTED)
				engine->tally.invalidated++;
			else if (verdict == PLX_KEY_KIND) /* under a window at this moment */
				expect(stage, subject == FAST, "a window has no other kind");
			else
				expect(stage, verdict == PLX_KEY_UNKNOWN, "a strange verdict");
		}
		rte_rcu_qsbr_quiescent(stage->rcu, engine->number);
		(void)sched_yield();
	}
	rte_rcu_qsbr_thread_offline(stage->rcu, engine->number);
	return NULL;
}

/* ---- the registrar ---- */

struct registrar {
	struct stage *stage;
	struct tally tally;
	struct plx_region fast;
	struct plx_window fast_window;
	uint32_t fast_life;
	struct plx_key fast_key;
};

static struct plx_region_attr
attr_of(const struct signature *s)
{
	return (struct plx_region_attr){
		.va = s->va, .host = s->host, .length = s->length, .access = {s->access}};
}

/* A bind and an invalidation of its region at the same time: one of them fails. */
static void
bind_to_fast(struct registrar *r)
{
	struct stage *stage = r->stage;
	struct signature s = signature_of(stage, FAST, r->fast_life);
	const struct plx_asker asker = {.domain = stage->box->domain, .qpn = s.qpn, .memo = &memo};
	const struct plx_window_attr attr = {
		.region = r->fast, .va = s.va, .length = 1, .qpn = s.qpn};
	struct plx_key key;
	enum plx_status status = plx_window_bind(stage->box->mem, r->fast_window, &attr, &key);

	if (status != PLX_OK) {
		expect(stage, status == PLX_DENIED, "a bind fails when invalidation was first");
		r->tally.denied++;
		return;
	}
	expect(stage,
	       plx_key_invalidate_check(stage->box->mem, r->fast_key, &asker) == PLX_KEY_KIND,
	       "a region under a window was invalidated");
	expect(stage, plx_key_invalidate(stage->box->mem, key, &asker) == PLX_KEY_GRANTED,
	       "nobody else knows this window");
	r->tally.bound_first++;
}

/* Yield; meanwhile re-register the fast-register region when that is allowed. */
static void
pass_time(struct registrar *r)
{
	struct signature s = signature_of(r->stage, FAST, r->fast_life + 1);
	struct plx_region_attr attr = attr_of(&s);
	enum plx_status status;

	bind_to_fast(r);
	status = plx_region_refresh(r->stage->box->mem, r->fast, &attr, &r->fast_key);
	expect(r->stage, status == PLX_OK || status == PLX_STATE, "a refresh waits for no window");
	if (status == PLX_OK) {
		post(r->stage, FAST, r->fast_key, ++r->fast_life);
		if (r->fast_life & 1)
			bind_to_fast(r);
	}
	(void)sched_yield();
}

static void
wait_for_grace(struct registrar *r)
{
	uint64_t token = rte_rcu_qsbr_start(r->stage->rcu);

	while (!rte_rcu_qsbr_check(r->stage->rcu, token, false))
		pass_time(r);
}

static struct plx_window
live_window(struct registrar *r, struct plx_region region, uint32_t life)
{
	struct stage *stage = r->stage;
	enum subject subject = (enum subject)(WINDOW + life % REGIONS);
	struct signature s = signature_of(stage, subject, life);
	struct plx_window_attr attr = {.region = region,
				       .va = s.va,
				       .length = s.length,
				       .access = {s.access},
				       .qpn = s.qpn};
	struct plx_window window = {0};
	struct plx_key key = {0};

	expect(stage, !plx_window_create(stage->box->mem, stage->box->domain, &window), "create");
	expect(stage, !plx_window_bind(stage->box->mem, window, &attr, &key), "bind");
	post(stage, subject, key, life);
	return window;
}

/* One life of a plain region with a window on it: half of them leave unbinding to the engines. */
static void
live_region(struct registrar *r, uint32_t life)
{
	struct stage *stage = r->stage;
	enum subject subject = (enum subject)(REGION + life % REGIONS);
	struct signature s = signature_of(stage, subject, life);
	struct plx_region_attr attr = attr_of(&s);
	struct plx_mem *mem = stage->box->mem;
	struct plx_region region = {0};
	struct plx_window window;
	struct plx_key key = {0};

	memset(s.host, content(life), BUFFER);
	expect(stage, !plx_region_register(mem, stage->box->domain, &attr, &region, &key), "reg");
	post(stage, subject, key, life);
	window = live_window(r, region, life);
	for (uint32_t i = 0; i < life % 5; i++)
		pass_time(r);
	if (life / REGIONS & 1)
		expect(stage, plx_window_retire(mem, window) == PLX_OK, "retire of a window");
	while (plx_region_retire(mem, region) == PLX_BUSY)
		pass_time(r);
	if (!(life / REGIONS & 1))
		expect(stage, plx_window_retire(mem, window) == PLX_OK, "retire when unbound");
	wait_for_grace(r);
	memset(s.host, POISON, BUFFER);
	expect(stage, plx_window_release(mem, window) == PLX_OK, "release of a window");
	expect(stage, plx_region_release(mem, region) == PLX_OK, "release of a region");
}

/* Every kind of race has occurred, as far as this thread can tell. */
static bool
seen_enough(const struct registrar *r, uint32_t lives)
{
	return lives >= 100 && r->fast_life >= 100 && r->tally.bound_first && r->tally.denied;
}

static uint32_t
direct(struct registrar *r)
{
	struct stage *stage = r->stage;
	struct signature s = signature_of(stage, FAST, 1);
	struct plx_region_attr attr = attr_of(&s);
	uint64_t start = test_ns();
	uint32_t life = 0;

	r->fast_life = 1;
	expect(stage,
	       !plx_region_register(stage->box->mem, stage->box->domain, &attr, &r->fast,
				    &r->fast_key),
	       "the fast-register region");
	expect(stage, !plx_window_create(stage->box->mem, stage->box->domain, &r->fast_window),
	       "its window");
	post(stage, FAST, r->fast_key, r->fast_life);
	do {
		live_region(r, life++);
	} while ((test_ns() - start < RUN_NS || !seen_enough(r, life)) &&
		 test_ns() - start < GIVE_UP &&
		 !__atomic_load_n(&stage->failure, __ATOMIC_RELAXED));
	return life;
}

static struct stage *
stage_open(void)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	void *memory = NULL;

	assert_non_null(stage);
	stage->box = box_open(16, 1);
	assert_int_equal(posix_memalign(&memory, PLX_CACHE_LINE,
					rte_rcu_qsbr_get_memsize(READERS + ENGINES)),
			 0);
	stage->rcu = memory;
	assert_int_equal(rte_rcu_qsbr_init(stage->rcu, READERS + ENGINES), 0);
	memset(stage->arena, POISON, sizeof(stage->arena));
	return stage;
}

static void
readers_never_see_a_mixture_of_lives_nor_memory_of_a_region_that_is_gone(void **state)
{
	struct stage *stage = stage_open();
	struct registrar registrar = {.stage = stage};
	struct actor actors[READERS + ENGINES] = {0};
	pthread_t threads[READERS + ENGINES];
	struct tally sum = {0};
	uint32_t lives;

	(void)state;
	for (unsigned i = 0; i < READERS + ENGINES; i++) {
		actors[i] = (struct actor){.stage = stage, .number = i};
		assert_int_equal(rte_rcu_qsbr_thread_register(stage->rcu, i), 0);
		assert_int_equal(pthread_create(&threads[i], NULL,
						i < READERS ? reader_main : engine_main,
						&actors[i]),
				 0);
	}
	lives = direct(&registrar);
	__atomic_store_n(&stage->stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < READERS + ENGINES; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		for (int subject = 0; subject < SUBJECTS; subject++)
			sum.granted[subject] += actors[i].tally.granted[subject];
		sum.unknown += actors[i].tally.unknown;
		sum.invalidated += actors[i].tally.invalidated;
		sum.invalidated_fast += actors[i].tally.invalidated_fast;
	}
	if (stage->failure)
		fail_msg("%s", stage->failure);
	print_message("%u lives, %u of the fast-register region; %llu + %llu invalidations; "
		      "%llu binds came first, %llu too late\n",
		      lives, registrar.fast_life, (unsigned long long)sum.invalidated,
		      (unsigned long long)sum.invalidated_fast,
		      (unsigned long long)registrar.tally.bound_first,
		      (unsigned long long)registrar.tally.denied);
	for (int subject = 0; subject < SUBJECTS; subject++)
		assert_true(sum.granted[subject] > 0);
	assert_true(seen_enough(&registrar, lives));
	assert_true(sum.unknown > 0 && sum.invalidated > 0);
	/* Of all threads that raced to invalidate one life, exactly one succeeded. */
	assert_true(sum.invalidated_fast == registrar.fast_life ||
		    sum.invalidated_fast == registrar.fast_life - 1);
	box_drop_window(stage->box, registrar.fast_window);
	box_drop_region(stage->box, registrar.fast);
	assert_int_equal(plx_mem_in_use(stage->box->mem), 0);
	box_close(stage->box);
	free(stage->rcu);
	free(stage);
}

/* ---- a region is retired beside the table's changes ---- */

/* Both threads wait for each other's round, then one binds and the other retires. */
struct meeting {
	struct box *box;
	struct plx_region region;
	uint32_t binder, retirer; /* atomic: rounds started */
	enum plx_status retired;
	bool stop; /* atomic */
};

static void
meet(uint32_t *mine, const uint32_t *other, uint32_t round)
{
	__atomic_store_n(mine, round, __ATOMIC_RELEASE);
	while (__atomic_load_n(other, __ATOMIC_ACQUIRE) < round)
		(void)sched_yield();
}

static void *
retirer_main(void *arg)
{
	struct meeting *meeting = arg;

	for (uint32_t round = 1;; round += 2) {
		meet(&meeting->retirer, &meeting->binder, round);
		if (__atomic_load_n(&meeting->stop, __ATOMIC_RELAXED))
			return NULL;
		meeting->retired = plx_region_retire(meeting->box->mem, meeting->region);
		meet(&meeting->retirer, &meeting->binder, round + 1);
	}
}

/* Returns: the bind came first */
static bool
bind_beside_a_retire(struct meeting *meeting, uint32_t round)
{
	struct box *box = meeting->box;
	struct plx_window_attr attr = box_window_attr(meeting->region, PLX_ACCESS_REMOTE_READ);
	struct plx_window window;
	enum plx_status bound;
	struct plx_key key;

	meet(&meeting->binder, &meeting->retirer, round);
	/* Another change of the table, and the bind. */
	assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
	bound = plx_window_bind(box->mem, window, &attr, &key);
	meet(&meeting->binder, &meeting->retirer, round + 1);
	if (bound == PLX_OK) {
		assert_int_equal(meeting->retired, PLX_BUSY);
		assert_int_equal(box_invalidate(box, key), PLX_KEY_GRANTED);
		assert_int_equal(plx_region_retire(box->mem, meeting->region), PLX_OK);
	} else {
		assert_true(bound == PLX_DENIED || bound == PLX_NO_KEY);
		assert_int_equal(meeting->retired, PLX_OK);
	}
	assert_int_equal(plx_region_release(box->mem, meeting->region), PLX_OK);
	box_drop_window(box, window);
	return bound == PLX_OK;
}

static void
of_a_bind_and_a_retire_beside_it_one_is_first(void **state)
{
	struct meeting meeting = {.box = box_open(16, 1)};
	uint64_t start = test_ns(), first[2] = {0, 0};
	uint32_t round = 1;
	struct plx_key key;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, retirer_main, &meeting), 0);
	do {
		meeting.region = box_region(meeting.box, BOX_RIGHTS, &key);
		first[bind_beside_a_retire(&meeting, round)]++;
		round += 2;
	} while ((test_ns() - start < RUN_NS / 3 || !first[0] || !first[1]) &&
		 test_ns() - start < GIVE_UP);
	__atomic_store_n(&meeting.stop, true, __ATOMIC_RELAXED);
	meet(&meeting.binder, &meeting.retirer, round);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%llu times the bind came first, %llu times the retire\n",
		      (unsigned long long)first[1], (unsigned long long)first[0]);
	assert_true(first[0] && first[1]);
	assert_int_equal(plx_mem_in_use(meeting.box->mem), 0);
	box_close(meeting.box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_bind_and_a_retire_beside_it_one_is_first),
		cmocka_unit_test(
			readers_never_see_a_mixture_of_lives_nor_memory_of_a_region_that_is_gone),
	};

	return cmocka_run_group_tests_name("mem/threads", tests, NULL, NULL);
}
