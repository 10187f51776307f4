/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names that scripts use for statuses, verdicts, events, rights, states and counters, generated
 * from the lists in the library's headers, so that a new entry has its name here at once. It does
 * not know about scripts; an unknown name is -1 or NULL.
 */
#include <strings.h>

#include "script.h"

#define PLX_X(name, text) #name,
static const char *const wire_names[] = {PLX_WIRE_VERDICT_LIST(PLX_X)};
static const char *const status_names[] = {PLX_STATUS_LIST(PLX_X)};
static const char *const wc_names[] = {PLX_WC_LIST(PLX_X)};
static const char *const event_names[] = {PLX_EVENT_LIST(PLX_X)};
static const char *const key_names[] = {PLX_KEY_VERDICT_LIST(PLX_X)};
static const char *const verdict_names[] = {PLX_VERDICT_LIST(PLX_X)};
#undef PLX_X

static const char *const wr_op_names[PLX_WR_OP_COUNT] = {
	[PLX_WR_NONE] = "none",           [PLX_WR_SEND] = "send",
	[PLX_WR_SEND_IMM] = "send_imm",   [PLX_WR_SEND_INV] = "send_inv",
	[PLX_WR_WRITE] = "write",         [PLX_WR_WRITE_IMM] = "write_imm",
	[PLX_WR_READ] = "read",           [PLX_WR_CMP_SWAP] = "cmp_swap",
	[PLX_WR_FETCH_ADD] = "fetch_add", [PLX_WR_LOCAL_INV] = "local_inv",
	[PLX_WR_BIND] = "bind",
};

static const char *const access_names[] = {
	"local_write", "remote_read", "remote_write", "remote_atomic",
	"bind",        "invalidate",  "stable",
};

static const char *const state_names[PLX_QP_STATE_COUNT] = {
	[PLX_QP_NONE] = "none",   [PLX_QP_RESET] = "reset", [PLX_QP_INIT] = "init",
	[PLX_QP_RTR] = "rtr",     [PLX_QP_RTS] = "rts",     [PLX_QP_SQD] = "sqd",
	[PLX_QP_ERROR] = "error",
};

static const char *
at(const char *const *names, uint32_t count, uint32_t index)
{
	return index < count ? names[index] : "nonsense";
}

const char *
wire_name(enum plx_wire_verdict verdict)
{
	return at(wire_names, PLX_WIRE_VERDICT_COUNT, verdict);
}

int
status_of(const char *text)
{
	return name_index(status_names, PLX_STATUS_COUNT, text);
}

int
wc_status_of(const char *text)
{
	if (strcmp(text, "ok") == 0)
		return PLX_WC_SUCCESS;
	return name_index(wc_names, PLX_WC_COUNT, text);
}

const char *
wc_status_name(uint32_t status)
{
	return at(wc_names, PLX_WC_COUNT, status);
}

int
wr_op_of(const char *text)
{
	return name_index(wr_op_names, PLX_WR_OP_COUNT, text);
}

const char *
wr_op_name(uint32_t op)
{
	return at(wr_op_names, PLX_WR_OP_COUNT, op);
}

int
event_of(const char *text)
{
	return name_index(event_names, PLX_EVENT_COUNT, text);
}

const char *
event_name(uint32_t kind)
{
	return at(event_names, PLX_EVENT_COUNT, kind);
}

int
access_of(const char *text)
{
	int index = name_index(access_names, PLX_COUNT_OF(access_names), text);

	return index < 0 ? -1 : 1 << index;
}

int
key_verdict_of(const char *text)
{
	return name_index(key_names, PLX_KEY_VERDICT_COUNT, text);
}

const char *
key_verdict_name(uint32_t verdict)
{
	return at(key_names, PLX_KEY_VERDICT_COUNT, verdict);
}

int
state_of(const char *text)
{
	return name_index(state_names, PLX_QP_STATE_COUNT, text);
}

const uint64_t *
counter_of(const struct plx_rc_counters *counters, const char *text)
{
	static const char prefix[] = "verdict.";

	if (strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
		int verdict =
			name_index(verdict_names, PLX_VERDICT_COUNT, text + sizeof(prefix) - 1);

		return verdict < 0 ? NULL : &counters->verdict[verdict];
	}
#define PLX_X(name, sentence)         \
	if (strcmp(text, #name) == 0) \
		return &counters->name;
	PLX_QP_COUNTER_LIST(PLX_X)
#undef PLX_X
	return NULL;
}

#define VIEW_LIST(X)                                          \
	X(sq_posted, view->sq_posted)                         \
	X(sq_consumed, view->sq_consumed)                     \
	X(rq_open, view->rq_open)                             \
	X(psn_unacked, view->psn_unacked.v)                   \
	X(psn_next, view->psn_next.v)                         \
	X(psn_high, view->psn_high.v)                         \
	X(psn_expected, view->psn_expected.v)                 \
	X(msn, view->msn.v)                                   \
	X(rd_atomic_open, view->rd_atomic_open)               \
	X(retries_left, view->retries_left)                   \
	X(rnr_retries_left, view->rnr_retries_left)           \
	X(responder_res_pending, view->responder_res_pending) \
	X(rnr_waiting, view->rnr_waiting)                     \
	X(flushed, view->flushed)

bool
view_of(const struct plx_rc_view *view, const char *text, uint64_t *out)
{
#define PLX_X(name, value)              \
	if (strcmp(text, #name) == 0) { \
		*out = value;           \
		return true;            \
	}
	VIEW_LIST(PLX_X)
#undef PLX_X
	return false;
}
