/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private memory (decision 48): what is to be sent from it is loaded into its shadow first, by the
 * executor, which calls the QP again when that is done. It never accesses a shadow.
 * Start with shadow_load_request().
 *
 * What was loaded is sent again from the shadow as long as the QP is at the same request. After
 * going back to an earlier one its bytes are loaded again: as a NIC does, which reads memory anew.
 */
#include "qp.h"

enum {
	AHEAD_BYTES = 64 * 1024, /* loaded at once: copies in large pieces, and a short wait */
	AHEAD_ENTRIES = 64,      /* to which these belong at most */
};

/* Append a range to the loads. Returns false if there is no room. */
static bool
load(const struct plx_grant *grant, uint32_t bytes, bool answers, struct plx_actions *out)
{
	struct plx_load *last = NULL;

	if (out->count > 0 && out->list[out->count - 1].kind == PLX_ACT_LOAD)
		last = &out->list[out->count - 1].load;
	if (last != NULL && last->shadow + last->bytes == grant->host && last->answers == answers) {
		last->bytes += bytes;
		return true;
	}
	if (actions_room(out) == 0)
		return false;
	action_add(out, PLX_ACT_LOAD)->load =
		(struct plx_load){.shadow = grant->host, .bytes = bytes, .answers = answers};
	return true;
}

/* Load [va, va + bytes) of a key, as far as it grants it and there is room.
 * Returns: the number of bytes that are loaded, or need not be */
static uint32_t
load_range(const struct plx_rc *qp, struct plx_key key, uint64_t va, uint32_t bytes,
	   struct plx_access need, bool answers, struct plx_actions *out)
{
	uint32_t done = 0;

	while (done < bytes) {
		struct plx_grant grant;
		uint32_t take;

		if (plx_key_check_page(qp->mem, key, &qp->asker, va + done, bytes - done, need,
				       &grant, &take) != PLX_KEY_GRANTED ||
		    (grant.is_private && !load(&grant, take, answers, out)))
			break;
		done += take;
	}
	return done;
}

/* Is there room for the loads of a packet? The caller's list is emptied before the next call. What
 * is asked for here counts as loaded from then on. */
static bool
has_room(struct plx_rc *qp, const struct plx_actions *out)
{
	qp->more = qp->loads = true;
	return actions_room(out) >= PLX_PIECES_MAX;
}

static uint32_t
end_of(uint32_t offset, uint32_t bytes)
{
	return bytes - offset < AHEAD_BYTES ? bytes : offset + AHEAD_BYTES;
}

/* Load [offset, end) of an entry, as far as there is room. Returns: where the rest begins */
static uint32_t
load_entry(struct plx_rc *qp, uint32_t entry, uint32_t offset, uint32_t end,
	   struct plx_actions *out)
{
	struct sge_source source = sge_of_send(qp, entry);
	uint32_t at = 0; /* in the message, where an SGE begins */

	for (uint32_t i = 0; i < source.count && offset < end; i++) {
		const struct plx_sge *sge = i < source.head_count
						    ? &source.head[i]
						    : &source.tail[i - source.head_count];
		uint32_t skip = offset - at, take = sge->length - skip, done;

		at += sge->length;
		if (at <= offset)
			continue;
		if (take > end - offset)
			take = end - offset;
		done = load_range(qp, sge->key, sge->va + skip, take, (struct plx_access){0}, false,
				  out);
		offset += done;
		if (done < take)
			break;
	}
	return offset;
}

/* Can it be loaded before its turn comes? What it waits for could still change its memory. */
static bool
may_be_ahead(const struct plx_rc *qp, uint32_t entry)
{
	const struct plx_wqe *wqe = sq_wqe(qp, entry);

	return !wr_is_rd_atomic(wqe->op) && !wr_is_local(wqe->op) &&
	       !(wqe->flags & (PLX_WR_FENCE | PLX_WR_INLINE));
}

/* Load whole entries behind the one at the cursor, which is loaded: a wait for all of them. */
static void
load_ahead(struct plx_rc *qp, uint32_t budget, struct plx_actions *out)
{
	struct requester *req = &qp->req;

	while (req->loaded_entries < AHEAD_ENTRIES && actions_room(out) >= PLX_PIECES_MAX) {
		uint32_t entry = req->cursor + req->loaded_entries, bytes;

		if (entry == req->tail || !may_be_ahead(qp, entry))
			return;
		bytes = sq_track(qp, entry)->bytes;
		if (bytes > budget || load_entry(qp, entry, 0, bytes, out) < bytes)
			return;
		budget -= bytes;
		req->loaded_entries++;
	}
}

void
shadow_load_request(struct plx_rc *qp, uint32_t offset, struct plx_actions *out)
{
	struct requester *req = &qp->req;
	uint32_t bytes = sq_track(qp, req->cursor)->bytes, end = end_of(offset, bytes);
	bool load_one = req->load_one;

	req->loaded_at = req->cursor;
	req->loaded_entries = 1;
	req->loaded = (struct loaded){.from = offset, .to = offset};
	if (!has_room(qp, out))
		return;
	req->load_one = false;
	req->loaded.to = load_entry(qp, req->cursor, offset, end, out);
	if (req->loaded.to == bytes && !load_one)
		load_ahead(qp, AHEAD_BYTES - (bytes - offset), out);
}

void
shadow_load_answer(struct plx_rc *qp, struct resource *res, uint32_t offset,
		   struct plx_actions *out)
{
	uint32_t end = end_of(offset, res->reply_bytes);

	res->loaded = (struct loaded){.from = offset, .to = offset};
	if (has_room(qp, out))
		res->loaded.to +=
			load_range(qp, res->rkey, res->va + offset, end - offset,
				   (struct plx_access){PLX_ACCESS_REMOTE_READ}, true, out);
}

/* ---- failures ---- */

struct plx_psn
plx_rc_expected(const struct plx_rc *qp)
{
	return qp->resp.expected;
}

void
plx_rc_fail_place(struct plx_rc *qp, struct plx_psn psn, struct plx_actions *out)
{
	if (qp->state != PLX_QP_RTR && qp->state != PLX_QP_RTS && qp->state != PLX_QP_SQD)
		return;
	qp->resp.owed = OWED_NOTHING;
	reply_forget(qp);
	if (qp->resp.recv_open)
		qp->resp.recv_status = PLX_WC_LOCAL_PROTECTION;
	reply_owe(qp, OWED_FATAL, PLX_AETH_NAK | PLX_NAK_REMOTE_OPERATION, psn);
	complete_to_error(qp, PLX_WC_LOCAL_PROTECTION, out);
	complete_deliver(qp, out);
}

/* Of several entries it is not known whose: they are loaded again one by one. */
static void
fail_request(struct requester *req)
{
	if (req->loaded_entries > 1) {
		req->loaded = (struct loaded){0};
		req->loaded_entries = 0;
		req->load_one = true;
	} else if (req->loaded_entries == 1) {
		req->loaded = (struct loaded){.denied = true};
	}
}

void
plx_rc_fail_load(struct plx_rc *qp, bool answers, struct plx_actions *out)
{
	const struct resource *res = &qp->res[qp->resp.res_next];

	qp->more = true;
	if (!answers)
		fail_request(&qp->req);
	else if (qp->resp.res_pending > 0)
		plx_rc_fail_place(qp, plx_psn_add(res->first, res->reply_next), out);
}
