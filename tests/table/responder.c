/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The responder's decision table, enumerated: every scene with every probe that is possible there,
 * each compared with the model; and line 4 of the table, which packets reach a responder at all. It
 * asserts the number of combinations, and that every verdict occurred. Start with main().
 */
#include "test.h"
#include "responder.h"

#include <stdio.h>

enum {
	COMBINATIONS = 12627252,
	ADMISSIONS = 24576,
	DIFFERENCES_SHOWN = 20
};

struct run {
	struct bench *bench;
	struct bench_saved saved;
	struct scene scene;
	uint64_t probes, differences;
	uint64_t verdicts[PLX_VERDICT_COUNT];
};

static void
try(struct run *run, struct probe *probe)
{
	struct forecast forecast;

	if (!probe_build(run->bench, &run->scene, probe))
		return;
	model(&run->scene, probe, &forecast);
	bench_restore(run->bench, &run->saved);
	run->probes++;
	run->verdicts[forecast.verdict]++;
	if (!probe_check(run->bench, &run->scene, probe, &forecast))
		run->differences++;
	if (run->differences >= DIFFERENCES_SHOWN)
		fail();
}

/* The axes that an opcode does not have stay at their first value. */
static void
try_opcode(struct run *run, uint8_t opcode)
{
	const struct plx_opcode *op = &plx_opcodes[opcode];
	bool carries = plx_opcode_has(op, PLX_OPF_PAYLOAD), reth = plx_opcode_has(op, PLX_OPF_RETH);
	bool atomic = plx_opcode_has(op, PLX_OPF_ATOMIC_ETH);
	bool keyed = reth || atomic || plx_opcode_has(op, PLX_OPF_IETH);
	uint32_t payloads = carries ? PAYLOAD_COUNT : PAYLOAD_ONE + 1;
	uint32_t reths = reth ? RETH_COUNT : 1, keys = keyed ? BENCH_KEY_COUNT : 1;
	uint32_t twists = atomic ? TWIST_COUNT : 1;

	for (uint32_t relation = 0; relation < RELATION_COUNT; relation++)
		for (uint32_t i = 0; i < payloads * reths * keys * twists * 2; i++) {
			uint32_t rest = i;
			struct probe probe = {.opcode = opcode,
					      .relation = (enum relation)relation};

			probe.ack_request = rest % 2, rest /= 2;
			probe.twist = (enum twist)(rest % twists), rest /= twists;
			probe.key = (enum bench_key)(rest % keys), rest /= keys;
			probe.reth = (enum reth_class)(rest % reths), rest /= reths;
			probe.payload = (enum payload_class)rest;
			try(run, &probe);
		}
}

static void
try_scene(struct run *run)
{
	static const struct plx_rc_caps caps = {
		.sq_depth = 1, .sq_sges = 1, .responder_resources = REMEMBERED};
	struct bench bench;

	if (!scene_possible(&run->scene))
		return;
	bench_init(&bench, &caps, 4);
	run->bench = &bench;
	scene_reach(&bench, &run->scene);
	bench_save(&bench, &run->saved);
	for (uint32_t opcode = 0; opcode < 256; opcode++)
		if (plx_opcodes[opcode].service == PLX_SERVICE_RC &&
		    plx_opcode_has(&plx_opcodes[opcode], PLX_OPF_REQUEST))
			try_opcode(run, (uint8_t)opcode);
	bench_saved_free(&run->saved);
	bench_fini(&bench);
}

/* The axes of the decision table are combined in full. The end of the past, the answers
 * outstanding and whether a key was revoked are combined with them in RTS only, and where a
 * receive does not matter. */
static bool
wanted(const struct scene *s)
{
	bool plain = (s->past_kind == PAST_ENDS_WITH_SEND || s->past_kind == PAST_ONLY_SENDS) &&
		     s->gap == GAP_NONE && !s->revoked;
	bool extra = s->past_kind != PAST_ONLY_SENDS && s->state == PLX_QP_RTS &&
		     (s->recv == RECV_PLENTY || (s->recv == RECV_NONE && s->gap != GAP_NONE));

	if (s->past_kind == PAST_ENDS_WITH_EMPTY && s->open != OPEN_NONE)
		return false;
	return scene_possible(s) && (plain || extra);
}

static void
every_scene(struct run *run)
{
	/* one start for each state: far from any wrap, the wrap in the past, the half in the past
	 */
	static const uint32_t bases[] = {1000, 0xfffffa, 0x7ffffc};
	static const enum plx_qp_state states[] = {PLX_QP_RTR, PLX_QP_RTS, PLX_QP_SQD};

	for (uint32_t i = 0; i < 2 * 2 * 3 * PAST_COUNT * OPEN_COUNT * RECV_COUNT * GAP_COUNT;
	     i++) {
		uint32_t rest = i;
		struct scene *s = &run->scene;

		*s = (struct scene){0};
		s->enabled = rest % 2, rest /= 2;
		s->revoked = rest % 2, rest /= 2;
		s->base = plx_psn(bases[rest % 3]);
		s->state = states[rest % 3], rest /= 3;
		s->past_kind = (enum past_kind)(rest % PAST_COUNT), rest /= PAST_COUNT;
		s->open = (enum open_kind)(rest % OPEN_COUNT), rest /= OPEN_COUNT;
		s->recv = (enum recv_kind)(rest % RECV_COUNT), rest /= RECV_COUNT;
		s->gap = (enum gap_kind)rest;
		if (wanted(s))
			try_scene(run);
	}
}

static void
every_request_meets_the_verdict_reply_and_state_of_the_decision_table(void **state)
{
	static const enum plx_verdict must[] = {
		PLX_VERDICT_ACCEPT,
		PLX_VERDICT_AHEAD,
		PLX_VERDICT_AHEAD_AGAIN,
		PLX_VERDICT_DUPLICATE,
		PLX_VERDICT_REPLAY,
		PLX_VERDICT_DUPLICATE_FORGOTTEN,
		PLX_VERDICT_DUPLICATE_DENIED,
		PLX_VERDICT_SEQUENCE,
		PLX_VERDICT_DISABLED,
		PLX_VERDICT_TOO_MANY_READS,
		PLX_VERDICT_RNR,
		PLX_VERDICT_LENGTH,
		PLX_VERDICT_MISALIGNED,
		PLX_VERDICT_ACCESS,
		PLX_VERDICT_RECV_LENGTH,
		PLX_VERDICT_RECV_ACCESS,
		PLX_VERDICT_INVALIDATE,
	};
	static struct run run; /* large */

	(void)state;
	every_scene(&run);
	for (uint32_t i = 0; i < PLX_VERDICT_COUNT; i++)
		if (run.verdicts[i])
			printf("  %-20s %9llu\n", plx_verdict_name((enum plx_verdict)i),
			       (unsigned long long)run.verdicts[i]);
	printf("responder: %llu combinations, %llu differ\n", (unsigned long long)run.probes,
	       (unsigned long long)run.differences);
	assert_int_equal(run.differences, 0);
	assert_int_equal(run.probes, COMBINATIONS);
	for (size_t i = 0; i < PLX_COUNT_OF(must); i++)
		assert_true(run.verdicts[must[i]] > 0);
}

/* ---- lines 4 and 5: which packets reach a queue pair ---- */

/* X(name): the source and destination of the packet */
enum from {
	FROM_PEER,
	FROM_OTHER,
	TO_OTHER,
	OTHER_VERSION,
	FROM_COUNT
};

/* A path is seen from our end: the peer's packets have its addresses exchanged. */
static struct plx_frame
frame_from(const struct plx_path *path, enum from from)
{
	struct plx_frame frame = {.ip_version = path->ip_version};

	if (from == OTHER_VERSION)
		frame.ip_version = path->ip_version == 4 ? 6 : 4;
	if (frame.ip_version == 4) {
		frame.v4.src = path->dst4 + (from == FROM_OTHER);
		frame.v4.dst = path->src4 + (from == TO_OTHER);
		return frame;
	}
	memcpy(frame.v6.src, path->dst6, 16);
	memcpy(frame.v6.dst, path->src6, 16);
	frame.v6.src[15] ^= from == FROM_OTHER;
	frame.v6.dst[0] ^= from == TO_OTHER;
	return frame;
}

static enum plx_verdict
admission(uint32_t opcode, enum plx_qp_state state, bool pkey, enum from from)
{
	uint8_t service = plx_opcodes[opcode].service;

	if (service != PLX_SERVICE_RC && service != PLX_SERVICE_CNP)
		return PLX_VERDICT_SERVICE;
	if (state != PLX_QP_RTR && state != PLX_QP_RTS && state != PLX_QP_SQD)
		return PLX_VERDICT_STATE;
	if (state == PLX_QP_RTR && !plx_opcode_has(&plx_opcodes[opcode], PLX_OPF_REQUEST))
		return PLX_VERDICT_STATE; /* nothing was sent that it could answer */
	if (!pkey)
		return PLX_VERDICT_PKEY;
	return from == FROM_PEER ? PLX_VERDICT_ACCEPT : PLX_VERDICT_ADDRESS;
}

static uint32_t
admit_all(struct bench *bench, const struct plx_path *path, enum plx_qp_state state)
{
	const struct plx_rc_counters before = *plx_rc_counters(bench->qp);
	uint64_t wake = plx_rc_wake_ns(bench->qp);
	struct plx_rc_view was, is;
	uint32_t count = 0;

	memset(&was, 0, sizeof(was));
	memset(&is, 0, sizeof(is));
	plx_rc_query(bench->qp, &was);
	for (uint32_t i = 0; i < 256 * FROM_COUNT * 2; i++, count++) {
		uint32_t opcode = i % 256;
		enum from from = (enum from)(i / 256 % FROM_COUNT);
		bool pkey = i / 256 / FROM_COUNT;
		struct plx_frame frame = frame_from(path, from);
		struct plx_pkt pkt = {.opcode = (uint8_t)opcode,
				      .dest_qpn = BENCH_QPN,
				      .pkey = pkey ? PLX_PKEY_DEFAULT : 0x9234};

		assert_int_equal(plx_rc_admit(bench->qp, &frame, &pkt),
				 admission(opcode, state, pkey, from));
	}
	plx_rc_query(bench->qp, &is);
	assert_memory_equal(&was, &is, sizeof(is));
	assert_memory_equal(&before, plx_rc_counters(bench->qp), sizeof(before));
	assert_true(plx_rc_wake_ns(bench->qp) == wake);
	return count;
}

static void
only_a_reliable_packet_of_the_peer_reaches_a_queue_pair_that_can_receive(void **state)
{
	static const struct plx_rc_caps caps = {.sq_depth = 1};
	struct plx_rc_attr attr = bench_attr();
	uint32_t count = 0;

	(void)state;
	attr.path = (struct plx_path){.src4 = 0x0a4d0001,
				      .dst4 = 0x0a4d0002,
				      .src6 = {0xfd, [15] = 1},
				      .dst6 = {0xfd, [15] = 2}};
	for (int version = 4; version <= 6; version += 2)
		for (int s = PLX_QP_RESET; s < PLX_QP_STATE_COUNT; s++) {
			enum plx_qp_state to = (enum plx_qp_state)s;
			struct bench bench;

			bench_init(&bench, &caps, 1);
			attr.path.ip_version = (uint8_t)version;
			bench_bring(&bench, to == PLX_QP_ERROR ? PLX_QP_RTS : to, &attr);
			if (to == PLX_QP_ERROR)
				assert_int_equal(plx_rc_modify(bench.qp, to, NULL), PLX_OK);
			count += admit_all(&bench, &attr.path, to);
			bench_fini(&bench);
		}
	printf("admission: %u combinations\n", count);
	assert_int_equal(count, ADMISSIONS);
}

/* IBTA vol 1, 10.9.3: the low 15 bits are the partition; two limited members must not
 * communicate. */
static void
a_partition_key_matches_its_partition_unless_both_are_limited_members(void **state)
{
	static const struct {
		uint16_t ours, theirs;
		bool match;
	} cases[] = {{0xffff, 0xffff, true},  {0xffff, 0x7fff, true},  {0x7fff, 0xffff, true},
		     {0x7fff, 0x7fff, false}, {0x8001, 0x8001, true},  {0x8001, 0x0001, true},
		     {0x8001, 0x8002, false}, {0xffff, 0xfffe, false}, {0x8001, 0xffff, false}};
	static const struct plx_rc_caps caps = {.sq_depth = 1};
	const struct plx_frame frame = {.ip_version = 4};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		struct plx_rc_attr attr = bench_attr();
		const struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY,
					    .dest_qpn = BENCH_QPN,
					    .pkey = cases[i].theirs};
		struct bench bench;

		attr.pkey = cases[i].ours;
		bench_init(&bench, &caps, 1);
		bench_bring(&bench, PLX_QP_RTR, &attr);
		assert_int_equal(plx_rc_admit(bench.qp, &frame, &pkt),
				 cases[i].match ? PLX_VERDICT_ACCEPT : PLX_VERDICT_PKEY);
		bench_fini(&bench);
	}
}

static void
a_congestion_notification_is_counted_and_answered_by_nothing(void **state)
{
	static const struct plx_rc_caps caps = {.sq_depth = 1};
	const struct plx_rc_attr attr = bench_attr();
	struct plx_pkt pkt = {.opcode = PLX_CNP, .dest_qpn = BENCH_QPN, .pkey = PLX_PKEY_DEFAULT};

	(void)state;
	for (int s = PLX_QP_RTS; s <= PLX_QP_SQD; s++) {
		struct bench bench;

		bench_init(&bench, &caps, 1);
		bench_bring(&bench, (enum plx_qp_state)s, &attr);
		bench_drain(&bench, 0);
		assert_int_equal(bench_feed(&bench, &pkt, 0), PLX_VERDICT_CNP);
		for (uint32_t i = 0; i < bench.out.count;
		     i++) /* the first packet in RTR, no more */
			assert_int_equal(bench.out.list[i].event.kind, PLX_EVENT_COMM_ESTABLISHED);
		assert_int_equal(plx_rc_transmit(bench.qp, 0, 1, &bench.out), 0);
		assert_int_equal(plx_rc_counters(bench.qp)->verdict[PLX_VERDICT_CNP], 1);
		bench_fini(&bench);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_request_meets_the_verdict_reply_and_state_of_the_decision_table),
		cmocka_unit_test(
			only_a_reliable_packet_of_the_peer_reaches_a_queue_pair_that_can_receive),
		cmocka_unit_test(
			a_partition_key_matches_its_partition_unless_both_are_limited_members),
		cmocka_unit_test(a_congestion_notification_is_counted_and_answered_by_nothing),
	};

	return cmocka_run_group_tests_name("responder", tests, NULL, NULL);
}
