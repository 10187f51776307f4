/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the trace of a run: a hash of everything visible, the last rows, and the report of a
 * failure. It never decides whether something is wrong. Start with trace_add() and sim_fail().
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

static struct world *current;

static inline void
mix(struct world *world, uint64_t value)
{
	uint64_t hash = (world->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);

	world->hash = hash ^ hash >> 29;
}

void
trace_current(struct world *world)
{
	current = world;
}

void
trace_bytes(struct world *world, const uint8_t *bytes, size_t len)
{
	uint64_t word = 0;
	size_t at = 0;

	for (; at + sizeof(word) <= len; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		mix(world, word);
	}
	word = len;
	memcpy(&word, bytes + at, len - at);
	mix(world, word ^ (uint64_t)len << 56);
}

static void
print_packet(FILE *to, uint64_t opcode, uint64_t psn, uint64_t len, uint64_t extra)
{
	fprintf(to, "%-22s psn=%" PRIu64 " len=%" PRIu64, plx_opcodes[opcode & 0xff].name, psn,
		len);
	if (opcode >> 8 & 1)
		fprintf(to, " again");
	if (opcode >> 8 & 2)
		fprintf(to, " ackreq");
	if (extra >> 32)
		fprintf(to, " syndrome=%02" PRIx64 " msn=%" PRIu64, extra >> 32 & 0xff,
			extra & 0xffffffff);
}

static const char *
op_name(uint64_t op)
{
	static const char *const names[PLX_WR_OP_COUNT] = {
		[PLX_WR_NONE] = "none",           [PLX_WR_SEND] = "send",
		[PLX_WR_SEND_IMM] = "send_imm",   [PLX_WR_SEND_INV] = "send_inv",
		[PLX_WR_WRITE] = "write",         [PLX_WR_WRITE_IMM] = "write_imm",
		[PLX_WR_READ] = "read",           [PLX_WR_CMP_SWAP] = "cmp_swap",
		[PLX_WR_FETCH_ADD] = "fetch_add", [PLX_WR_LOCAL_INV] = "local_inv",
		[PLX_WR_BIND] = "bind",
	};

	return op < PLX_WR_OP_COUNT ? names[op] : "?";
}

static void
print_rest(FILE *to, const struct trace_row *row)
{
	static const char *const names[TRACE_KINDS] = {
		[TRACE_NONE] = "nothing",        [TRACE_FAULT] = "fault",
		[TRACE_PLACE] = "places",        [TRACE_ATOMIC] = "atomic",
		[TRACE_RECV] = "posts receives", [TRACE_TICK] = "tick",
		[TRACE_LIFE] = "is connected",   [TRACE_CLOSE] = "is closed",
		[TRACE_KILL] = "is killed",      [TRACE_REVOKE] = "revokes a key",
		[TRACE_DISTURB] = "disturbance", [TRACE_CM_SENDS] = "sends",
		[TRACE_CM_RECV] = "receives",    [TRACE_CM_JUDGED] = "verdict",
		[TRACE_CM_TOLD] = "event",       [TRACE_CM_ACTS] = "command",
		[TRACE_NDK_CALLS] = "calls",     [TRACE_NDK_DONE] = "is done",
		[TRACE_NDK_CLOSES] = "closes",   [TRACE_NDK_CLOSED] = "is closed",
		[TRACE_NDK_ARMS] = "arms",       [TRACE_NDK_NOTIFIES] = "notifies",
		[TRACE_NDK_LEFT] = "peer left",  [TRACE_NDK_POSTS] = "posts",
		[TRACE_NDK_RESULT] = "result",
	};

	fprintf(to,
		row->kind >= TRACE_CM_SENDS ? "%-8s %02" PRIx64 " %08" PRIx64 " %08" PRIx64
					      " %" PRIx64
					    : "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		names[row->kind] ? names[row->kind] : "?", row->a, row->b, row->c, row->d);
}

static void
print_row(FILE *to, const struct trace_row *row)
{
	fprintf(to, "  %10" PRIu64 ".%03" PRIu64 " us  ", row->at / 1000, row->at % 1000);
	if (row->side == UINT32_MAX)
		fprintf(to, "      ");
	else
		fprintf(to, "%2" PRIu32 "%c   ", row->side / 2, row->side % 2 ? 'B' : 'A');
	switch ((enum trace_kind)row->kind) {
	case TRACE_SEND:
		fputs("sends    ", to);
		print_packet(to, row->a, row->b, row->c, row->d);
		break;
	case TRACE_ARRIVE:
		fputs("receives ", to);
		print_packet(to, row->a, row->b, row->c, row->d);
		break;
	case TRACE_JUDGED:
		fprintf(to, "verdict  %s%s%s", plx_verdict_name((enum plx_verdict)row->a),
			row->b ? ", ICRC bad" : "", row->c ? ", refused by decoder" : "");
		break;
	case TRACE_POST:
		fprintf(to, "posts    #%" PRIu64 " %s %" PRIu64 " bytes psn=%" PRIu64, row->a,
			op_name(row->b & 0xff), row->c, row->d & PLX_PSN_MASK);
		if (row->b >> 8 & 0xff)
			fprintf(to, " (misuse %" PRIu64 ")", row->b >> 8 & 0xff);
		if (row->b >> 16)
			fprintf(to, " flags=%" PRIx64, row->b >> 16);
		break;
	case TRACE_COMPLETE:
		fprintf(to, "completes #%" PRIu64 " %s%s: %s, %" PRIu64 " bytes", row->a,
			row->b >> 8 ? "receive of " : "", op_name(row->b & 0xff),
			plx_wc_text((enum plx_wc_status)row->c), row->d);
		break;
	case TRACE_EVENT:
		fprintf(to, "event    %s", plx_event_text((enum plx_event_kind)row->a));
		break;
	case TRACE_NONE:
	case TRACE_FAULT:
	case TRACE_PLACE:
	case TRACE_ATOMIC:
	case TRACE_RECV:
	case TRACE_TICK:
	case TRACE_LIFE:
	case TRACE_CLOSE:
	case TRACE_KILL:
	case TRACE_REVOKE:
	case TRACE_DISTURB:
	case TRACE_CM_SENDS:
	case TRACE_CM_RECV:
	case TRACE_CM_JUDGED:
	case TRACE_CM_TOLD:
	case TRACE_CM_ACTS:
	case TRACE_NDK_CALLS:
	case TRACE_NDK_DONE:
	case TRACE_NDK_CLOSES:
	case TRACE_NDK_CLOSED:
	case TRACE_NDK_ARMS:
	case TRACE_NDK_NOTIFIES:
	case TRACE_NDK_LEFT:
	case TRACE_NDK_POSTS:
	case TRACE_NDK_RESULT:
	case TRACE_KINDS:
		print_rest(to, row);
		break;
	}
	fputc('\n', to);
}

void
trace_as(struct world *world, enum trace_kind kind, uint32_t who, uint64_t a, uint64_t b,
	 uint64_t c, uint64_t d)
{
	struct trace_row *row = &world->trace[world->trace_count++ % SIM_TRACE_ROWS];

	*row = (struct trace_row){.at = world->now,
				  .kind = (uint8_t)kind,
				  .side = who,
				  .a = a,
				  .b = b,
				  .c = c,
				  .d = d};
	mix(world, world->now);
	mix(world, (uint64_t)kind << 32 ^ row->side ^ a << 8);
	mix(world, b ^ c << 32 ^ d << 16);
	if (plx_unlikely(world->options->trace))
		print_row(stdout, row);
}

void
trace_add(struct world *world, enum trace_kind kind, const struct side *side, uint64_t a,
	  uint64_t b, uint64_t c, uint64_t d)
{
	trace_as(world, kind, side ? side->id : UINT32_MAX, a, b, c, d);
}

/* The command that repeats the failure, and the last rows before it. */
static void
report(const struct world *world, const char *name, const char *what)
{
	uint64_t first =
		world->trace_count > SIM_TRACE_ROWS ? world->trace_count - SIM_TRACE_ROWS : 0;

	fflush(stdout);
	for (uint64_t i = first; i < world->trace_count && !world->options->trace; i++)
		print_row(stderr, &world->trace[i % SIM_TRACE_ROWS]);
	fprintf(stderr,
		"plx-sim: seed %" PRIu64 " (%s) at %" PRIu64 ".%03" PRIu64 " us: %s: %s\n"
		"plx-sim: again: %s%s --first %" PRIu64 " --seeds 1 --ops %" PRIu32,
		world->seed, sim_profile_name(world->config.profile), world->now / 1000,
		world->now % 1000, name, what, world->options->program,
		sim_subject_option(world->options), world->seed, world->options->ops);
	if (world->options->profile >= 0)
		fprintf(stderr, " --profile %s",
			sim_profile_name((enum sim_profile)world->options->profile));
	fputc('\n', stderr);
	fflush(stderr);
}

void
sim_fail(struct world *world, enum sim_exit how, const char *name, enum wrong wrong,
	 const char *format, ...)
{
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	report(world, name, what);
	switch (wrong) {
	case WRONG_LOST:
		world->stats.lost++;
		break;
	case WRONG_DOUBLED:
		world->stats.doubled++;
		break;
	case WRONG_DISORDERED:
		world->stats.disordered++;
		break;
	case WRONG_CORRUPT:
		world->stats.corrupt++;
		break;
	case WRONG_OTHER:
		break;
	}
	jobs_failed(world, how, name);
}

/* An assertion of the code under test, or of ours: the run is named before the process dies. */
void
plx_assert_failed(const char *expr, const char *file, int line)
{
	char what[512];

	snprintf(what, sizeof(what), "%s:%d: %s", file, line, expr);
	if (current != NULL)
		report(current, "assertion", what);
	else
		fprintf(stderr, "plx-sim: %s\n", what);
	abort();
}
