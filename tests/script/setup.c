/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings of both ends before the first line is played, and their later state changes.
 * Settings never change once the ends are connected. Start with setup_defaults(): the values a
 * script does not name.
 */
#include <stdlib.h>

#include "block.h"
#include "script.h"

/* ---- the strategy of `config cc fake` ---- */

static uint64_t
fake_ask(const void *state, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	const struct fake_cc *cc = state;

	(void)bytes;
	(void)grant;
	return cc->hold_until_ns > now ? cc->hold_until_ns : now;
}

static void
fake_on_sent(void *state, uint64_t now, uint32_t bytes)
{
	struct fake_cc *cc = state;

	(void)now;
	(void)bytes;
	cc->sent++;
}

static void
fake_on_rtt(void *state, uint64_t now, uint64_t rtt_ns)
{
	(void)state;
	(void)now;
	(void)rtt_ns;
}

static void
fake_on_ack(void *state, uint64_t now, uint32_t packets)
{
	struct fake_cc *cc = state;

	(void)now;
	cc->acked += packets;
}

static void
fake_on_loss(void *state, uint64_t now, enum plx_loss cause)
{
	struct fake_cc *cc = state;

	(void)now;
	(void)cause;
	cc->lost++;
}

static bool
fake_on_ce(void *state, uint64_t now)
{
	struct fake_cc *cc = state;

	(void)now;
	cc->marked++;
	return true;
}

static void
fake_on_cnp(void *state, uint64_t now)
{
	struct fake_cc *cc = state;

	(void)now;
	cc->notified++;
}

static const struct plx_cc_ops fake_cc_ops = {
	.name = "fake",
	.ask = fake_ask,
	.on_sent = fake_on_sent,
	.on_rtt = fake_on_rtt,
	.on_ack = fake_on_ack,
	.on_loss = fake_on_loss,
	.on_ce = fake_on_ce,
	.on_cnp = fake_on_cnp,
};

/* ---- defaults ---- */

static void
end_defaults(struct script *s, enum side side)
{
	struct end *end = &s->ends[side];

	end->script = s;
	end->side = side;
	end->budget = 64;
	end->va_next = side == SIDE_A ? UINT64_C(0xa000000000) : UINT64_C(0xb000000000);
	plx_list_init(&end->sent);
	plx_list_init(&end->notes);
	end->config = (struct ep_config){
		.secret = {{UINT64_C(0x0123456789abcdef) + side, UINT64_C(0xfedcba9876543210)}},
		.mem = {.slots = SCRIPT_MEM_SLOTS, .domains = SCRIPT_DOMAINS},
		.eth = {0x02, 0, 0, 0, 0, (uint8_t)(0x0a + side)},
		.ip_version = 4,
		.ip4 = UINT32_C(0x0a000001) + side,
		.ip6 = {0xfd, [15] = (uint8_t)(1 + side)},
		.icrc = plx_icrc_isal,
		.hooks = &wire_hooks,
		.user = end,
	};
	end->qp_config = (struct ep_qp_config){
		.qpn = side == SIDE_A ? 0x00000a : 0x00000b,
		.caps = {.sq_depth = 64,
			 .sq_sges = 16,
			 .inline_bytes = 256,
			 .responder_resources = 4},
		.rq_depth = 64,
		.rq_sges = 16,
	};
	end->attr = (struct plx_rc_attr){
		.mtu = 1024,
		.pkey = PLX_PKEY_DEFAULT,
		.sq_psn = {side == SIDE_A ? 10 : 100},
		.enabled = {PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
			    PLX_ACCESS_REMOTE_ATOMIC},
		.rnr_timer = 1,
		.retry_max = 3,
		.rnr_retry_max = 3,
		.initiator_depth = 4,
		.ack_timeout_ns = 100 * PLX_USEC,
		.window_packets = 64,
		.ack_interval = 64,
		.read_chunk_packets = 1024,
	};
}

void
setup_defaults(struct script *s)
{
	s->now_ns = PLX_SEC; /* not 0: a deadline of 0 would look like "at once" */
	s->wr_id_next = 100;
	s->judged = "nothing";
	plx_list_init(&s->areas);
	plx_list_init(&s->ops);
	plx_list_init(&s->flight);
	plx_list_init(&s->held);
	plx_list_init(&s->planned);
	end_defaults(s, SIDE_A);
	end_defaults(s, SIDE_B);
}

/* ---- config lines ---- */

static uint32_t *
number_setting(struct end *end, const char *key)
{
	const struct {
		const char *name;
		uint32_t *value;
	} settings[] = {
		{"mtu", &end->attr.mtu},
		{"window", &end->attr.window_packets},
		{"ack_interval", &end->attr.ack_interval},
		{"read_chunk", &end->attr.read_chunk_packets},
		{"sq", &end->qp_config.caps.sq_depth},
		{"sq_sges", &end->qp_config.caps.sq_sges},
		{"inline", &end->qp_config.caps.inline_bytes},
		{"responder_resources", &end->qp_config.caps.responder_resources},
		{"rq", &end->qp_config.rq_depth},
		{"rq_sges", &end->qp_config.rq_sges},
		{"srq", &end->srq_depth},
		{"budget", &end->budget},
		{"psn", &end->attr.sq_psn.v},
	};

	for (size_t i = 0; i < PLX_COUNT_OF(settings); i++)
		if (strcmp(settings[i].name, key) == 0)
			return settings[i].value;
	return NULL;
}

static uint8_t *
byte_setting(struct end *end, const char *key)
{
	const struct {
		const char *name;
		uint8_t *value;
	} settings[] = {
		{"rnr_timer", &end->attr.rnr_timer},
		{"retry", &end->attr.retry_max},
		{"rnr_retry", &end->attr.rnr_retry_max},
		{"initiator_depth", &end->attr.initiator_depth},
		{"ip", &end->config.ip_version},
	};

	for (size_t i = 0; i < PLX_COUNT_OF(settings); i++)
		if (strcmp(settings[i].name, key) == 0)
			return settings[i].value;
	return NULL;
}

/* "remote_read,remote_write" or "none" */
static void
set_enabled(struct script *s, struct end *end, const char *value)
{
	char copy[SCRIPT_LINE_MAX], *rest = copy, *word;

	end->attr.enabled.bits = 0;
	if (strcmp(value, "none") == 0)
		return;
	strcpy(copy, value);
	while ((word = strsep(&rest, ",")) != NULL) {
		if (access_of(word) < 0)
			script_fail(s, "\"%s\" is not a right", word);
		end->attr.enabled.bits |= (uint8_t)access_of(word);
	}
}

static void
set_one(struct script *s, struct end *end, const char *key, const char *value)
{
	uint32_t *number = number_setting(end, key);
	uint8_t *byte = byte_setting(end, key);

	if (number != NULL)
		*number = (uint32_t)number_of(s, value, UINT32_MAX);
	else if (byte != NULL)
		*byte = (uint8_t)number_of(s, value, UINT8_MAX);
	else if (strcmp(key, "timeout") == 0)
		end->attr.ack_timeout_ns = time_of(s, value);
	else if (strcmp(key, "delay") == 0)
		s->delay_ns = time_of(s, value);
	else if (strcmp(key, "enable") == 0)
		set_enabled(s, end, value);
	else if (strcmp(key, "cc") == 0 && strcmp(value, "fake") == 0)
		end->fake = true;
	else if (strcmp(key, "state") == 0 && state_of(value) == PLX_QP_RTR)
		end->starts_in_rtr = true;
	else
		script_fail(s, "there is no setting \"%s %s\"", key, value);
}

/* "config mtu 256 window 8", "config A psn 0xfffffe" */
void
line_config(struct script *s)
{
	bool both = !more_words(s) || !is_side(s->words[s->word_at]);
	enum side side = both ? SIDE_A : next_side(s);

	if (s->connected)
		script_fail(s, "config comes before everything else");
	while (more_words(s)) {
		const char *key = next_word(s, "a setting");
		const char *value = next_word(s, "its value");

		set_one(s, &s->ends[side], key, value);
		if (both)
			set_one(s, &s->ends[SIDE_B], key, value);
	}
}

/* ---- connecting ---- */

static void
end_create(struct end *end)
{
	end->ep = ep_create(&end->config);
	PLX_ASSERT(plx_domain_create(ep_mem(end->ep), &end->domain) == PLX_OK);
	PLX_ASSERT(plx_domain_create(ep_mem(end->ep), &end->other_domain) == PLX_OK);
	end->qp_config.domain = end->domain;
	if (end->srq_depth > 0) {
		size_t bytes = plx_rq_bytes(end->srq_depth, end->qp_config.rq_sges);

		end->srq_memory = test_block(bytes);
		end->qp_config.srq =
			plx_rq_init(end->srq_memory, end->srq_depth, end->qp_config.rq_sges, true);
	}
	if (end->fake) {
		end->qp_config.cc = &fake_cc_ops;
		end->qp_config.cc_state = &end->cc;
	}
	end->qp = ep_qp_create(end->ep, &end->qp_config);
}

static void
end_connect(struct script *s, struct end *end)
{
	const struct end *peer = &s->ends[!end->side];
	struct plx_rc *core = ep_qp_core(end->qp);

	end->attr.rq_psn = peer->attr.sq_psn;
	end->attr.dest_qpn = peer->qp_config.qpn;
	ep_qp_connect(end->qp, &peer->config, peer->qp_config.qpn, &end->attr);
	if (!end->starts_in_rtr)
		return;
	/* The harness brings a QP to RTS; bring it up again, and stop earlier. */
	PLX_ASSERT(plx_rc_modify(core, PLX_QP_RESET, NULL) == PLX_OK);
	PLX_ASSERT(plx_rc_modify(core, PLX_QP_INIT, NULL) == PLX_OK);
	PLX_ASSERT(plx_rc_modify(core, PLX_QP_RTR, &end->attr) == PLX_OK);
}

void
setup_connect(struct script *s)
{
	if (s->connected)
		return;
	s->connected = true;
	for (enum side side = SIDE_A; side < SIDE_COUNT; side++)
		end_create(&s->ends[side]);
	for (enum side side = SIDE_A; side < SIDE_COUNT; side++)
		end_connect(s, &s->ends[side]);
}

void
setup_destroy(struct script *s)
{
	wire_drop_all(s);
	fault_destroy_all(s);
	for (enum side side = SIDE_A; s->connected && side < SIDE_COUNT; side++) {
		ep_destroy(s->ends[side].ep);
		free(s->ends[side].srq_memory);
	}
	op_destroy_all(s);
	area_destroy_all(s);
}

/* ---- states ---- */

/* Requests posted before a RESET are dropped, and never complete. */
static void
forget_posts(struct script *s, enum side side)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &s->ops) {
		struct op *op = plx_list_entry(node, struct op, link);

		if (op->side == side && !op->completed && !(op->recv && s->ends[side].srq_depth)) {
			op->refused = true;
			op->kind = PLX_WR_NONE;
		}
	}
}

/* "modify A sqd"; "modify A rts refused state" */
void
line_modify(struct script *s)
{
	enum side side = next_side(s);
	const struct end *end = &s->ends[side];
	const char *word = next_word(s, "a state");
	int state = state_of(word), want = PLX_OK;
	enum plx_status status;

	if (state <= PLX_QP_NONE)
		script_fail(s, "\"%s\" is not a state", word);
	if (accept_word(s, "refused")) {
		want = status_of(next_word(s, "a status"));
		s->expectations++;
	}
	status = plx_rc_modify(ep_qp_core(end->qp), (enum plx_qp_state)state, &end->attr);
	if ((int)status != want)
		script_fail(s, "modify says: %s", plx_status_text(status));
	if (status == PLX_OK && state == PLX_QP_RESET)
		forget_posts(s, side);
	wire_serve(s);
}
