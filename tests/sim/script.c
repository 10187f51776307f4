/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records the shrinker's last run and writes it as a wire script (tests/script): the pair that
 * failed, what was posted when, what became of which packet, and how a correct build ends every
 * request. It never says which packets are right: the build that failed does not know. Start with
 * script_packet() and script_write().
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

enum row_kind {
	ROW_OP,
	ROW_RECEIVE,
	ROW_REVOKE,
	ROW_PACKET,
};

struct row {
	enum row_kind kind;
	uint64_t at;
	uint32_t side, life;
	struct op op;
	uint32_t bytes;   /* of a receive */
	uint32_t ordinal; /* of a packet on its connection, from 1 */
	struct fault fault;
	uint8_t damage;
	uint64_t serial; /* of a packet; of the one that was the last before a revocation */
};

struct scripted {
	struct row *rows;
	size_t count, room;
	uint32_t packets[SIM_SIDES_MAX]; /* sent on this connection */
};

/* ---- recording, in the shrinker's last run only ---- */

static struct row *
add_row(struct side *side, enum row_kind kind)
{
	struct world *world = side->pair->world;
	struct scripted *scripted = world->scripted;
	struct row *row;

	if (!world->mask.write_script)
		return NULL;
	if (scripted == NULL) {
		scripted = calloc(1, sizeof(*scripted));
		PLX_ASSERT(scripted != NULL);
		world->scripted = scripted;
	}
	if (scripted->count == scripted->room) {
		scripted->room = scripted->room ? scripted->room * 2 : 256;
		scripted->rows = realloc(scripted->rows, scripted->room * sizeof(struct row));
		PLX_ASSERT(scripted->rows != NULL);
	}
	row = &scripted->rows[scripted->count++];
	memset(row, 0, sizeof(*row));
	row->kind = kind;
	row->at = world->now;
	row->side = side->id;
	row->life = side->pair->life;
	return row;
}

void
script_birth(struct side *side)
{
	if (side->pair->world->scripted != NULL)
		side->pair->world->scripted->packets[side->id] = 0;
}

void
script_op(struct side *side, const struct op *op)
{
	struct row *row = add_row(side, ROW_OP);

	if (row != NULL)
		row->op = *op;
}

void
script_receive(struct side *side, uint32_t bytes)
{
	struct row *row = add_row(side, ROW_RECEIVE);

	if (row != NULL)
		row->bytes = bytes;
}

void
script_revoke(struct side *side, const struct op *op)
{
	const struct packet *packet = side->pair->world->judging.packet;
	struct row *row = add_row(side, ROW_REVOKE);

	if (row == NULL)
		return;
	row->op = *op;
	row->serial = packet != NULL ? packet->serial : 0;
}

void
script_packet(struct side *side, const struct packet *packet, const struct fault *fault)
{
	struct row *row = add_row(side, ROW_PACKET);

	if (row == NULL)
		return;
	row->ordinal = ++side->pair->world->scripted->packets[side->id];
	row->fault = *fault;
	row->damage = packet->damage;
	row->serial = packet->serial;
}

/* ---- writing ---- */

struct writing {
	FILE *to;
	const struct world *world;
	const struct pair *pair;
	uint64_t at; /* the script's clock, since its beginning */
	uint32_t public_bytes;
	uint32_t victims;
	uint32_t receives[2]; /* posted */
	uint32_t taken[2];    /* by messages */
	uint8_t doom[2];      /* enum misuse of the request that ends this side */
};

static char
letter(uint32_t side)
{
	return side % 2 ? 'B' : 'A';
}

/* The send queues are deep, for the lines are posted whether or not a completion came in time. */
static void
write_config(const struct writing *w)
{
	const struct side *side = w->pair->side;

	fprintf(w->to, "config mtu %u ip %u budget 64\n", side->attr.mtu,
		w->world->config.ip_version);
	for (int s = 0; s < 2; s++, side++) {
		const struct plx_rc_attr *attr = &side->attr;

		fprintf(w->to,
			"config %c psn %u retry %u rnr_retry %u timeout %" PRIu64
			"ns rnr_timer %u initiator_depth %u responder_resources %u\n",
			letter(side->id), attr->sq_psn.v, attr->retry_max, attr->rnr_retry_max,
			attr->ack_timeout_ns, attr->rnr_timer, attr->initiator_depth,
			side->caps.responder_resources);
		fprintf(w->to,
			"config %c window %u ack_interval %u read_chunk %u sq 1024 inline %u\n",
			letter(side->id), attr->window_packets, attr->ack_interval,
			attr->read_chunk_packets, side->caps.inline_bytes);
	}
	for (int s = 0; s < 2; s++)
		fprintf(w->to, "region %c.r1 %u\n", letter((uint32_t)s),
			w->public_bytes + w->pair->side[s].offers_slab->size);
}

static bool
is_rows(const struct writing *w, const struct row *row)
{
	return row->side / 2 == w->pair->index && row->life == w->pair->life;
}

/* Behind a key that is revoked within a burst packets are a little late, so that a line fits in
 * between. */
static bool
is_behind_revocation(const struct writing *w, const struct row *packet)
{
	const struct scripted *scripted = w->world->scripted;

	for (size_t i = 0; i < scripted->count; i++) {
		const struct row *row = &scripted->rows[i];

		if (row->kind == ROW_REVOKE && is_rows(w, row) && row->side != packet->side &&
		    row->op.kind != PLX_WR_READ && packet->serial > row->serial &&
		    packet->at < row->at)
			return true;
	}
	return false;
}

static void
write_faults(const struct writing *w)
{
	const struct scripted *scripted = w->world->scripted;

	fprintf(w->to, "wire auto %" PRIu64 "ns\n", w->world->config.weather.latency_ns);
	for (size_t i = 0; i < scripted->count; i++) {
		const struct row *row = &scripted->rows[i];
		const struct fault *fault = &row->fault;
		bool behind =
			row->kind == ROW_PACKET && is_rows(w, row) && is_behind_revocation(w, row);

		if (row->kind != ROW_PACKET || !is_rows(w, row) ||
		    (!fault->drop && !fault->dup && !fault->ce && !fault->late_ns && !behind &&
		     row->damage == DAMAGE_NONE))
			continue;
		fprintf(w->to, "fault %c > %c %u", letter(row->side), letter(row->side + 1),
			row->ordinal);
		if (fault->drop)
			fputs(" drop", w->to);
		if (fault->dup)
			fputs(" dup", w->to);
		if (fault->ce)
			fputs(" ce", w->to);
		if (fault->late_ns || behind)
			fprintf(w->to, " late %" PRIu64 "ns", fault->late_ns + behind);
		if (row->damage == DAMAGE_BAD)
			fputs(" flip 9", w->to);
		fputc('\n', w->to);
	}
}

static void
write_time(struct writing *w, uint64_t at)
{
	if (at > w->at)
		fprintf(w->to, "+%" PRIu64 "ns ", at - w->at);
	w->at = at;
}

static const char *
name_of(uint8_t kind)
{
	static const char *const names[PLX_WR_OP_COUNT] = {
		[PLX_WR_SEND] = "send",         [PLX_WR_SEND_IMM] = "send",
		[PLX_WR_SEND_INV] = "send",     [PLX_WR_WRITE] = "write",
		[PLX_WR_WRITE_IMM] = "write",   [PLX_WR_READ] = "read",
		[PLX_WR_CMP_SWAP] = "cmp_swap", [PLX_WR_FETCH_ADD] = "fetch_add",
		[PLX_WR_BIND] = "bind",         [PLX_WR_LOCAL_INV] = "local_inv",
	};

	return kind < PLX_WR_OP_COUNT && names[kind] ? names[kind] : NULL;
}

/* Can a script express this request? A valid local invalidation needs a key of its own. */
static bool
is_expressible(const struct row *row)
{
	return !row->op.dead && name_of(row->op.kind) != NULL &&
	       (row->op.kind != PLX_WR_LOCAL_INV || row->op.misuse == MISUSE_BAD_LOCAL_INV);
}

/* The target of a request: the public memory, or what this side offers its peer. */
static void
write_target(const struct writing *w, const struct row *row)
{
	const struct op *op = &row->op;
	const struct side *owner = w->pair->side[row->side % 2].peer;
	const struct slab *open = owner->station->public_slab;
	uint64_t at = op->remote_va - open->va;

	if (op->misuse != MISUSE_NONE && op->misuse != MISUSE_REVOKED &&
	    op->misuse != MISUSE_MISALIGNED && op->misuse != MISUSE_LOCAL_KEY) {
		fprintf(w->to, "0x%" PRIx64 " rkey=0x%x", op->remote_va, op->rkey);
		return;
	}
	if (op->misuse == MISUSE_REVOKED) {
		fprintf(w->to, "%c.v%u", letter(row->side + 1), w->victims);
		return;
	}
	if (op->length == 0)
		at = 0; /* no key is asked for nothing, and any place will do */
	else if (op->target->slab == owner->offers_slab)
		at = w->public_bytes + (op->remote_va - owner->offers_slab->va);
	fprintf(w->to, "%c.r1+%" PRIu64, letter(row->side + 1), at);
}

static void
write_op(struct writing *w, const struct row *row)
{
	const struct op *op = &row->op;
	const char *name = name_of(op->kind);

	if (!is_expressible(row))
		return;
	if (op->misuse == MISUSE_REVOKED)
		fprintf(w->to, "region %c.v%u %u\n", letter(row->side + 1), ++w->victims,
			op->length);
	write_time(w, row->at);
	fprintf(w->to, "post %c %s", letter(row->side), name);
	if (op->kind == PLX_WR_CMP_SWAP || op->kind == PLX_WR_FETCH_ADD) {
		fputc(' ', w->to);
		write_target(w, row);
		if (op->kind == PLX_WR_CMP_SWAP)
			fprintf(w->to, " compare=%" PRIu64 " swap=%" PRIu64, op->compare,
				op->swap_add);
		else
			fprintf(w->to, " add=%" PRIu64, op->swap_add);
	} else if (op->kind == PLX_WR_LOCAL_INV) {
		fprintf(w->to, " %c.r1", letter(row->side)); /* a plain region may not be */
	} else if (op->kind != PLX_WR_BIND) {
		fprintf(w->to, " %u bytes", op->length);
		if (right_of(op->kind) != 0) {
			fputs(op->kind == PLX_WR_READ ? " from " : " to ", w->to);
			write_target(w, row);
		}
	}
	if (op->kind == PLX_WR_SEND_IMM || op->kind == PLX_WR_WRITE_IMM)
		fprintf(w->to, " imm=%u", op->imm);
	if (op->misuse == MISUSE_BAD_INV)
		fprintf(w->to, " inv=0x%x", op->inv_key);
	if (op->flags & PLX_WR_UNSIGNALED)
		fputs(" unsignaled", w->to);
	if (op->flags & PLX_WR_FENCE)
		fputs(" fence", w->to);
	if (op->flags & PLX_WR_INLINE)
		fputs(" inline", w->to);
	if (op->flags & PLX_WR_SOLICITED)
		fputs(" solicited", w->to);
	if (op->misuse == MISUSE_LOCAL_KEY)
		fputs(" lkey=1", w->to);
	fputc('\n', w->to);
}

static bool
takes_receive(const struct op *op)
{
	return right_of(op->kind) == 0 ? op->kind != PLX_WR_BIND && op->kind != PLX_WR_LOCAL_INV
				       : op->kind == PLX_WR_WRITE_IMM;
}

/* How many receives the requests of the other end take. */
static uint32_t
receives_needed(const struct writing *w, uint32_t end)
{
	const struct scripted *scripted = w->world->scripted;
	uint32_t needed = 0;

	for (size_t i = 0; i < scripted->count; i++) {
		const struct row *row = &scripted->rows[i];

		needed += is_rows(w, row) && row->kind == ROW_OP && row->side % 2 != end &&
			  !row->op.dead && takes_receive(&row->op);
	}
	return needed;
}

/* Up to `count` of the receives that are still needed. */
static void
write_receives(struct writing *w, uint32_t end, uint32_t count, uint32_t bytes)
{
	while (count-- > 0 && w->receives[end] < receives_needed(w, end)) {
		fprintf(w->to, "post %c recv %u\n", letter(end), bytes);
		w->receives[end]++;
	}
}

static void
write_actions(struct writing *w)
{
	const struct scripted *scripted = w->world->scripted;
	bool first = true;

	for (size_t i = 0; i < scripted->count; i++) {
		const struct row *row = &scripted->rows[i];

		if (!is_rows(w, row))
			continue;
		if (first)
			w->at = row->at; /* the script begins here */
		first = false;
		if (row->kind == ROW_OP) {
			write_op(w, row);
		} else if (row->kind == ROW_RECEIVE) {
			if (w->receives[row->side % 2] < receives_needed(w, row->side % 2))
				write_time(w, row->at);
			write_receives(w, row->side % 2, 1, row->bytes);
		} else if (row->kind == ROW_REVOKE) {
			write_time(w, row->at);
			fprintf(w->to, "retire %c.v%u\n", letter(row->side), w->victims);
		}
	}
	/* the failure was the end of the run: what it would have posted later is posted now */
	for (uint32_t s = 0; s < 2; s++)
		write_receives(w, s, 64, w->pair->side[s].receive_bytes);
	fprintf(w->to, "run 100000s\n");
}

/* How a right build ends a request that is wrong on purpose. */
static const char *
status_of(const struct op *op)
{
	switch ((enum misuse)op->misuse) {
	case MISUSE_NONE:
		return "ok";
	case MISUSE_BAD_RKEY:
	case MISUSE_STALE_RKEY:
	case MISUSE_RANGE:
	case MISUSE_RIGHT:
	case MISUSE_REVOKED:
		return "remote_access";
	case MISUSE_MISALIGNED:
	case MISUSE_RECV_SMALL:
	case MISUSE_DISABLED:
		return "remote_invalid_request";
	case MISUSE_LOCAL_KEY:
		return "local_protection";
	case MISUSE_BAD_INV:
		return "retry_exceeded";
	case MISUSE_BAD_LOCAL_INV:
		return "local_invalidate";
	case MISUSE_COUNT:
		break;
	}
	return "ok";
}

static void
write_message(struct writing *w, const struct row *row)
{
	const struct op *op = &row->op;

	if (!takes_receive(op))
		return;
	w->taken[!(row->side % 2)]++;
	fprintf(w->to, "%c completes recv ok %u bytes", letter(row->side + 1), op->length);
	if (op->kind == PLX_WR_SEND_IMM || op->kind == PLX_WR_WRITE_IMM)
		fprintf(w->to, " imm=%u", op->imm);
	fprintf(w->to, "%s once\n", op->flags & PLX_WR_SOLICITED ? " solicited" : "");
}

/* Sends and receives of the two ends, each queue in its order. */
static void
write_completions(struct writing *w)
{
	const struct scripted *scripted = w->world->scripted;

	for (size_t i = 0; i < scripted->count; i++) {
		const struct row *row = &scripted->rows[i];
		uint32_t end = row->side % 2;
		const struct op *op = &row->op;
		const char *name;

		if (!is_rows(w, row) || row->kind != ROW_OP || !is_expressible(row))
			continue;
		name = op->kind == PLX_WR_SEND_IMM    ? "send_imm"
		       : op->misuse == MISUSE_BAD_INV ? "send_inv"
		       : op->kind == PLX_WR_WRITE_IMM ? "write_imm"
						      : name_of(op->kind);
		if (w->doom[end] != MISUSE_NONE || !(op->flags & PLX_WR_UNSIGNALED) ||
		    op->misuse != MISUSE_NONE)
			fprintf(w->to, "%c completes %s %s once\n", letter(row->side), name,
				w->doom[end] != MISUSE_NONE ? "flushed" : status_of(op));
		if (w->doom[end] == MISUSE_NONE && op->misuse == MISUSE_NONE)
			write_message(w, row);
		if (w->doom[end] == MISUSE_NONE)
			w->doom[end] = op->misuse;
	}
}

/* How the ends are left: the receives that a death flushes, and whether there was one. */
static void
write_ends(struct writing *w)
{
	for (uint32_t end = 0; end < 2; end++) {
		uint8_t own = w->doom[end], others = w->doom[!end];
		bool dies = own != MISUSE_NONE ||
			    (others != MISUSE_NONE && others != MISUSE_LOCAL_KEY &&
			     others != MISUSE_BAD_LOCAL_INV);

		if (others == MISUSE_RECV_SMALL || others == MISUSE_BAD_INV) {
			w->taken[end]++;
			fprintf(w->to, "%c completes recv %s once\n", letter(end),
				others == MISUSE_RECV_SMALL ? "local_length"
							    : "remote_invalid_request");
		}
		for (; dies && w->taken[end] < w->receives[end]; w->taken[end]++)
			fprintf(w->to, "%c completes recv flushed once\n", letter(end));
		fprintf(w->to, "state %c %s\n", letter(end), dies ? "error" : "rts");
	}
}

/* Can a script express this run? Not when a QP was killed, and not when one end fails by its own
 * request while the other has requests, too: how that ends depends on timing. */
static bool
run_is_expressible(const struct writing *w)
{
	const struct scripted *scripted = w->world->scripted;
	bool asks[2] = {false, false}, doomed = false;

	for (size_t i = 0; i < scripted->count; i++) {
		const struct row *row = &scripted->rows[i];

		if (!is_rows(w, row) || row->kind != ROW_OP || !is_expressible(row))
			continue;
		asks[row->side % 2] = true;
		doomed |= row->op.misuse != MISUSE_NONE;
	}
	return !w->pair->side[0].killed && !w->pair->side[1].killed &&
	       !(doomed && asks[0] && asks[1]);
}

/* A word that only FETCH_ADD has touched holds the sum. */
static void
write_words(const struct writing *w)
{
	const struct scripted *scripted = w->world->scripted;

	for (uint32_t s = 0; s < 2; s++) {
		const struct slab *slab = w->pair->side[s].station->public_slab;

		for (uint32_t word = 0; word < SIM_ATOMIC_WORDS && w->doom[!s] == MISUSE_NONE;
		     word++) {
			uint64_t sum = 0, count = 0;

			for (size_t i = 0; i < scripted->count; i++) {
				const struct row *row = &scripted->rows[i];

				if (!is_rows(w, row) || row->kind != ROW_OP || row->op.dead ||
				    row->side % 2 == s ||
				    right_of(row->op.kind) != PLX_ACCESS_REMOTE_ATOMIC ||
				    row->op.remote_va != slab->va + 8 * word)
					continue;
				count++;
				sum += row->op.swap_add;
				if (row->op.kind == PLX_WR_CMP_SWAP)
					count = SIM_ATOMIC_WORDS * UINT64_C(1000000);
			}
			if (count > 0 && count < 1000000)
				fprintf(w->to, "memory %c.r1+%u word %" PRIu64 "\n", letter(s),
					8 * word, sum);
		}
	}
}

static void
write_begin(const struct writing *w)
{
	for (uint32_t s = 0; s < 2; s++) {
		for (uint32_t word = 0; word < SIM_ATOMIC_WORDS; word++) {
			const struct scripted *scripted = w->world->scripted;
			const struct slab *slab = w->pair->side[s].station->public_slab;
			bool used = false;

			for (size_t i = 0; i < scripted->count; i++) {
				const struct row *row = &scripted->rows[i];

				used |= is_rows(w, row) && row->kind == ROW_OP &&
					row->side % 2 != s &&
					right_of(row->op.kind) == PLX_ACCESS_REMOTE_ATOMIC &&
					row->op.remote_va == slab->va + 8 * word;
			}
			if (used)
				fprintf(w->to, "word %c.r1+%u 0\n", letter(s), 8 * word);
		}
	}
}

/* The pair of the newest row of the trace is the one that failed. */
static const struct pair *
failing_pair(const struct world *world)
{
	for (uint64_t i = world->trace_count; i-- > 0 && world->trace_count - i < SIM_TRACE_ROWS;) {
		uint32_t side = world->trace[i % SIM_TRACE_ROWS].side;

		if (side != UINT32_MAX)
			return &world->pair[side / 2];
	}
	return NULL;
}

void
script_write(const struct world *world, const char *invariant)
{
	struct writing w = {.world = world, .pair = failing_pair(world), .to = stdout};

	if (!world->mask.write_script || world->scripted == NULL || w.pair == NULL ||
	    !w.pair->alive)
		return;
	if (!run_is_expressible(&w)) {
		fprintf(stderr, "plx-sim: this run cannot be expressed as a wire script\n");
		return;
	}
	if (world->options->script_path != NULL)
		w.to = fopen(world->options->script_path, "w");
	if (w.to == NULL)
		return;
	w.public_bytes = world->station[0].public_slab->size;
	fprintf(w.to,
		"# Made by plx-sim --shrink %" PRIu64 " --ops %u: %s did not hold in some build.\n",
		world->seed, world->options->ops, invariant);
	write_config(&w);
	write_begin(&w);
	write_faults(&w);
	/* a queue that was shared becomes one of the side's own, full from the beginning */
	for (uint32_t s = 0; s < 2; s++) {
		if (w.pair->side[s].own_receiver == NULL)
			write_receives(&w, s, 64, w.pair->side[s].receive_bytes);
	}
	write_actions(&w);
	write_completions(&w);
	write_ends(&w);
	write_words(&w);
	fflush(w.to);
}
