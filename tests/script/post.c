/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting: converts a line to a work request with its own buffer and contents. It posts only what a
 * script requests; an unexpected refusal fails the script. Start with line_post().
 */
#include <stdio.h>
#include <stdlib.h>

#include "script.h"

enum {
	SGES_TRY_MAX = 32
};

struct post {
	struct end *end;
	bool recv;
	uint8_t op, flags;
	uint32_t bytes, sges, imm;
	struct area *in, *remote;
	uint64_t in_at, remote_at;
	bool has_rkey, has_lkey;
	struct plx_key rkey, lkey, inv_key;
	uint64_t va, compare, swap_add;
	const char *name;
	int refused; /* -1: not expected */
};

struct op *
op_by_id(struct script *s, uint64_t wr_id)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &s->ops) {
		struct op *op = plx_list_entry(node, struct op, link);

		if (op->wr_id == wr_id)
			return op;
	}
	script_fail(s, "a completion carries a wr_id nobody posted");
}

struct op *
op_by_name(struct script *s, const char *name)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &s->ops) {
		struct op *op = plx_list_entry(node, struct op, link);

		if (strcmp(op->name, name) == 0)
			return op;
	}
	script_fail(s, "no operation was posted as %s", name);
}

void
op_destroy_all(struct script *s)
{
	while (!plx_list_empty(&s->ops)) {
		struct op *op = plx_list_entry(s->ops.next, struct op, link);

		plx_list_remove(&op->link);
		free(op->content);
		free(op);
	}
}

/* ---- words ---- */

static void
parse_remote(struct script *s, struct post *post)
{
	const char *word = next_word(s, "an address as B.r1+100");

	if (is_number(word)) {
		post->va = number_of(s, word, UINT64_MAX);
		return;
	}
	post->remote = area_of(s, word, &post->remote_at);
	post->va = post->remote->va + post->remote_at;
	if (!post->has_rkey)
		post->rkey = post->remote->key;
}

static bool
parse_flag(struct script *s, struct post *post)
{
	static const struct {
		const char *name;
		uint8_t flag;
	} flags[] = {{"solicited", PLX_WR_SOLICITED},
		     {"unsignaled", PLX_WR_UNSIGNALED},
		     {"fence", PLX_WR_FENCE},
		     {"inline", PLX_WR_INLINE}};

	for (size_t i = 0; i < PLX_COUNT_OF(flags); i++) {
		if (accept_word(s, flags[i].name)) {
			post->flags |= flags[i].flag;
			return true;
		}
	}
	return false;
}

static void
parse_inv(struct script *s, struct post *post, const char *text)
{
	if (is_number(text))
		post->inv_key.v = (uint32_t)number_of(s, text, UINT32_MAX);
	else
		post->inv_key = area_of(s, text, NULL)->key;
}

static bool
parse_value(struct script *s, struct post *post)
{
	const char *text;

	if ((text = accept_value(s, "imm")) != NULL) {
		post->imm = (uint32_t)number_of(s, text, UINT32_MAX);
		post->op = post->op == PLX_WR_WRITE ? PLX_WR_WRITE_IMM : PLX_WR_SEND_IMM;
	} else if ((text = accept_value(s, "inv")) != NULL) {
		parse_inv(s, post, text);
		post->op = PLX_WR_SEND_INV;
	} else if ((text = accept_value(s, "sges")) != NULL) {
		post->sges = (uint32_t)number_of(s, text, SGES_TRY_MAX);
	} else if ((text = accept_value(s, "in")) != NULL) {
		post->in = area_of(s, text, &post->in_at);
	} else if ((text = accept_value(s, "rkey")) != NULL) {
		post->rkey.v = (uint32_t)number_of(s, text, UINT32_MAX);
		post->has_rkey = true;
	} else if ((text = accept_value(s, "lkey")) != NULL) {
		post->lkey.v = (uint32_t)number_of(s, text, UINT32_MAX);
		post->has_lkey = true;
	} else if ((text = accept_value(s, "compare")) != NULL) {
		post->compare = number_of(s, text, UINT64_MAX);
	} else if ((text = accept_value(s, "swap")) != NULL ||
		   (text = accept_value(s, "add")) != NULL) {
		post->swap_add = number_of(s, text, UINT64_MAX);
	} else {
		return false;
	}
	return true;
}

static void
parse_refused(struct script *s, struct post *post)
{
	const char *word = next_word(s, "a status");

	post->refused = status_of(word);
	if (post->refused < 0)
		script_fail(s, "\"%s\" is not a status", word);
}

static void
parse_post(struct script *s, struct post *post)
{
	const char *kind;

	memset(post, 0, sizeof(*post));
	post->refused = -1;
	post->end = &s->ends[next_side(s)];
	kind = next_word(s, "what to post");
	post->recv = strcmp(kind, "recv") == 0;
	if (!post->recv && wr_op_of(kind) <= PLX_WR_NONE)
		script_fail(s, "\"%s\" cannot be posted", kind);
	post->op = post->recv ? PLX_WR_NONE : (uint8_t)wr_op_of(kind);
	if (post->op == PLX_WR_CMP_SWAP || post->op == PLX_WR_FETCH_ADD) {
		parse_remote(s, post);
		post->bytes = sizeof(uint64_t);
	} else if (post->op == PLX_WR_LOCAL_INV) {
		parse_inv(s, post, next_word(s, "a key"));
	} else if (post->op != PLX_WR_BIND) {
		post->bytes = (uint32_t)next_number(s, "a length", 1 << 26);
		(void)accept_word(s, "bytes");
	}
	while (more_words(s)) {
		if (accept_word(s, "to") || accept_word(s, "from"))
			parse_remote(s, post);
		else if (accept_word(s, "as"))
			post->name = next_word(s, "a name");
		else if (accept_word(s, "refused"))
			parse_refused(s, post);
		else if (!parse_flag(s, post) && !parse_value(s, post))
			return;
	}
}

/* ---- buffers ---- */

static bool
sends_content(const struct post *post)
{
	return !post->recv && post->op >= PLX_WR_SEND && post->op <= PLX_WR_WRITE_IMM;
}

static void
make_content(struct script *s, struct op *op)
{
	uint32_t content = s->content_next++;

	op->content = malloc(op->bytes + 1);
	PLX_ASSERT(op->content != NULL);
	for (uint32_t i = 0; i < op->bytes; i++)
		op->content[i] = content_byte(content, i);
	/* A region with an invalid key keeps its contents: they can no longer be sent. */
	if (op->buffer != NULL && op->buffer->key.v != 0)
		memcpy(op->buffer->host + op->buffer_at, op->content, op->bytes);
}

static void
make_buffer(struct script *s, const struct post *post, struct op *op)
{
	struct end *end = post->end;

	op->buffer = post->in;
	op->buffer_at = post->in_at;
	if (op->bytes == 0 || (post->flags & PLX_WR_INLINE))
		return;
	if (op->buffer == NULL) {
		op->buffer = area_create(s, end->side, "", op->bytes,
					 (struct plx_access){PLX_ACCESS_LOCAL_WRITE}, end->domain);
		if (!sends_content(post)) /* a destination: seen when a byte is not written */
			memset(op->buffer->host, 0xee, op->bytes);
	} else if (op->buffer_at > op->buffer->length ||
		   op->bytes > op->buffer->length - op->buffer_at) {
		script_fail(s, "%s is not as long", op->buffer->name);
	}
}

/* As many SGEs as requested, one when there is anything to point at.
 * Returns: how many */
static uint32_t
make_sges(const struct post *post, const struct op *op, struct plx_sge *sge)
{
	uint32_t count = post->sges;

	if (op->buffer == NULL)
		return 0;
	if (count == 0)
		count = 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = (uint32_t)((uint64_t)op->bytes * i / count);
		uint32_t to = (uint32_t)((uint64_t)op->bytes * (i + 1) / count);

		sge[i].va = op->buffer->va + op->buffer_at + from;
		sge[i].length = to - from;
		sge[i].key = post->has_lkey ? post->lkey : op->buffer->key;
	}
	return count;
}

/* ---- posting ---- */

static enum plx_status
post_send(const struct post *post, const struct op *op)
{
	struct plx_sge sge[SGES_TRY_MAX];
	struct plx_wqe wqe = {.wr_id = op->wr_id,
			      .op = post->op,
			      .flags = post->flags,
			      .rkey = post->rkey,
			      .remote_va = post->va,
			      .swap_add = post->swap_add,
			      .compare = post->compare};
	const void *spill = NULL;
	uint32_t sges = make_sges(post, op, sge);
	enum plx_status status;
	uint8_t *data = NULL;

	if (post->op == PLX_WR_SEND_INV || post->op == PLX_WR_LOCAL_INV)
		wqe.inv_key = post->inv_key;
	else
		wqe.imm = post->imm;
	if (post->flags & PLX_WR_INLINE) {
		wqe.inline_bytes = op->bytes;
		data = malloc(op->bytes + 1);
		PLX_ASSERT(data != NULL);
		memcpy(data, op->content, op->bytes);
		if (op->bytes > PLX_WQE_INLINE_BYTES)
			spill = data;
		else
			memcpy(wqe.data, data, op->bytes);
	} else {
		wqe.sges = (uint8_t)sges;
		memcpy(wqe.sge, sge,
		       (sges < PLX_WQE_SGES ? sges : PLX_WQE_SGES) * sizeof(struct plx_sge));
		if (sges > PLX_WQE_SGES)
			spill = sge + PLX_WQE_SGES;
	}
	status = plx_rc_post_send(ep_qp_core(post->end->qp), &wqe, spill);
	/* The library has copied what was posted, and must not read it again. */
	memset(&wqe, 0xa5, sizeof(wqe));
	memset(sge, 0xa5, sizeof(sge));
	free(data);
	return status;
}

static enum plx_status
post_recv(const struct post *post, const struct op *op)
{
	struct plx_sge sge[SGES_TRY_MAX];
	uint32_t sges = make_sges(post, op, sge);
	enum plx_status status;

	if (post->end->qp_config.srq != NULL)
		status = plx_rq_post(post->end->qp_config.srq, op->wr_id, sge, sges);
	else
		status = plx_rc_post_recv(ep_qp_core(post->end->qp), op->wr_id, sge, sges);
	memset(sge, 0xa5, sizeof(sge));
	return status;
}

static void
expect_status(struct script *s, const struct post *post, enum plx_status status,
	      const struct plx_rc_view *before, const struct plx_rc_view *after)
{
	if (post->refused < 0 && status != PLX_OK)
		script_fail(s, "the post was refused: %s", plx_status_text(status));
	if (post->refused < 0)
		return;
	s->expectations++;
	if ((int)status != post->refused)
		script_fail(s, "the post was not refused as expected, but: %s",
			    plx_status_text(status));
	if (memcmp(before, after, sizeof(*before)) != 0)
		script_fail(s, "the refused post changed the QP");
}

void
line_post(struct script *s)
{
	struct plx_rc_view before, after;
	enum plx_status status;
	struct post post;
	struct op *op = calloc(1, sizeof(*op));

	PLX_ASSERT(op != NULL);
	plx_list_append(&s->ops, &op->link);
	parse_post(s, &post);
	if (post.name != NULL && strlen(post.name) < sizeof(op->name))
		strcpy(op->name, post.name);
	op->side = post.end->side;
	op->wr_id = s->wr_id_next++;
	op->recv = post.recv;
	op->kind = post.op;
	op->bytes = post.bytes;
	op->remote = post.remote;
	op->remote_at = post.remote_at;
	make_buffer(s, &post, op);
	if (sends_content(&post))
		make_content(s, op);
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	plx_rc_query(ep_qp_core(post.end->qp), &before);
	status = post.recv ? post_recv(&post, op) : post_send(&post, op);
	plx_rc_query(ep_qp_core(post.end->qp), &after);
	expect_status(s, &post, status, &before, &after);
	op->unsignaled = post.flags & PLX_WR_UNSIGNALED;
	op->refused = status != PLX_OK;
	if (op->refused)
		op->kind = PLX_WR_NONE; /* it never happens: not a message of the peer's */
	wire_serve(s);
}
