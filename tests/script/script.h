/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A wire script while it runs: two ends, the wire between them, what was posted and what was seen.
 * It never guesses: whatever a script does not expect makes it fail, with the file and the line.
 * Start with README.md for the language, then main.c, which reads it line by line.
 */
#ifndef PLX_TEST_SCRIPT_H
#define PLX_TEST_SCRIPT_H

#include "endpoint.h"

enum {
	SCRIPT_WORDS_MAX = 48,    /* of one statement */
	SCRIPT_NAME_MAX = 24,     /* of a region, a label or an operation */
	SCRIPT_LINE_MAX = 512,    /* [bytes] */
	SCRIPT_TRACE_LINES = 60,  /* shown when a script fails */
	SCRIPT_ROUNDS_MAX = 5000, /* of serving two QPs without the time moving on */
	SCRIPT_MEM_SLOTS = 1024,
	SCRIPT_DOMAINS = 2,
};

enum side {
	SIDE_A,
	SIDE_B,
	SIDE_COUNT,
};

/* Memory of one end under a key: a region or a window a script named, or the buffer of a post. */
struct area {
	struct plx_list link;
	char name[SCRIPT_NAME_MAX]; /* "B.r1"; empty: a post's buffer */
	enum side side;
	uint8_t *host;
	uint64_t va, length;
	struct plx_key key;
	struct plx_region region;
	struct plx_window window; /* slot 0: this is a region */
	uint32_t content;         /* what fill() wrote last */
};

/* One work request a script posted. */
struct op {
	struct plx_list link;
	char name[SCRIPT_NAME_MAX];
	enum side side;
	uint64_t wr_id;
	bool recv;
	enum plx_wr_op kind;
	uint32_t bytes;
	uint8_t *content;    /* what was sent or written; the source may have changed since */
	struct area *buffer; /* source or destination here; NULL when there is none */
	uint64_t buffer_at;
	struct area *remote; /* NULL for SEND, and when the script gave bare numbers */
	uint64_t remote_at;
	bool unsignaled, refused, completed;
};

/* A frame on its way. */
struct frame {
	struct plx_list link;
	enum side from;
	uint8_t *bytes;
	size_t len;
	uint64_t at_ns; /* sent, or due when it is in flight */
	char label[SCRIPT_NAME_MAX];
};

/* A completion or an event that no line has spoken of yet. */
struct note {
	struct plx_list link;
	uint64_t at_ns;
	bool is_event;
	struct plx_completion completion;
	struct plx_event event;
};

/* The congestion strategy of `config cc fake`: it holds when told to, and counts. */
struct fake_cc {
	uint64_t hold_until_ns;
	uint64_t sent, acked, lost, marked, notified;
};

struct script;

struct end {
	struct script *script;
	enum side side;
	struct ep_config config;
	struct ep_qp_config qp_config;
	struct plx_rc_attr attr;
	struct ep *ep;
	struct ep_qp *qp;
	struct plx_domain domain, other_domain;
	void *srq_memory;
	uint32_t srq_depth;
	uint32_t budget;
	bool starts_in_rtr;
	bool busy;   /* receives, but is not asked to transmit */
	bool forged; /* packets came in that its peer never sent: contents are not compared */
	bool fake;
	struct fake_cc cc;
	struct plx_list sent; /* frames no line has spoken of */
	struct plx_list notes;
	uint32_t taken;  /* messages received that used a receive entry */
	uint32_t frames; /* sent since `wire auto` */
	uint64_t va_next;
};

struct script {
	const char *path;
	uint32_t line;
	const char *text; /* of the line */
	bool verbose, connected;
	uint32_t expectations;
	uint64_t now_ns, delay_ns;
	uint64_t wr_id_next;
	uint32_t content_next;
	struct end ends[SIDE_COUNT];
	struct plx_list areas, ops, flight, held;
	bool automatic;          /* `wire auto`: packets go their way without a line */
	struct plx_list planned; /* what `fault` lines ordered for it */
	const char *judged;      /* verdict on the last frame received */
	char *words[SCRIPT_WORDS_MAX + 1];
	uint32_t word_count, word_at;
	char trace[SCRIPT_TRACE_LINES][160];
	uint32_t traced;
};

/* ---- main.c: failing ---- */

__attribute__((noreturn, format(printf, 2, 3))) void script_fail(struct script *s,
								 const char *format, ...);
__attribute__((format(printf, 2, 3))) void script_trace(struct script *s, const char *format, ...);

/* ---- words.c: the words of a statement ---- */

const char *next_word(struct script *s, const char *what); /* fails when there is none */
bool accept_word(struct script *s, const char *word);      /* takes it if it comes next */
/** Takes "name=value" if it comes next and returns the value, else NULL. */
char *accept_value(struct script *s, const char *name);
bool more_words(const struct script *s);
uint64_t number_of(struct script *s, const char *text, uint64_t max);
uint64_t next_number(struct script *s, const char *what, uint64_t max);
bool is_number(const char *text);
uint64_t time_of(struct script *s, const char *text); /* "67us" */
enum side next_side(struct script *s);
bool is_side(const char *text);
const char *side_name(enum side side);
/** The index of `text` in a table of upper-case names, compared without case; -1: not there. */
int name_index(const char *const *names, uint32_t count, const char *text);

/* ---- tables.c: names of the library's enums ---- */

const char *wire_name(enum plx_wire_verdict verdict);
int status_of(const char *text);    /* enum plx_status */
int wc_status_of(const char *text); /* enum plx_wc_status; "ok" is SUCCESS */
const char *wc_status_name(uint32_t status);
int wr_op_of(const char *text); /* enum plx_wr_op */
const char *wr_op_name(uint32_t op);
int event_of(const char *text);
const char *event_name(uint32_t kind);
int access_of(const char *text); /* a bit of enum plx_access_bit */
int key_verdict_of(const char *text);
const char *key_verdict_name(uint32_t verdict);
int state_of(const char *text); /* enum plx_qp_state */
const uint64_t *counter_of(const struct plx_rc_counters *counters, const char *text);
bool view_of(const struct plx_rc_view *view, const char *text, uint64_t *out);

/* ---- packet.c: packets as words ---- */

enum {
	PACKET_FIELDS_MAX = 16
};

enum packet_field {
	FIELD_PSN,
	FIELD_LEN,
	FIELD_PAD,
	FIELD_ACK,
	FIELD_SE,
	FIELD_MIG,
	FIELD_BECN,
	FIELD_FECN,
	FIELD_PKEY,
	FIELD_QPN,
	FIELD_MSN,
	FIELD_SYNDROME,
	FIELD_TIMER,
	FIELD_VA,
	FIELD_RLEN,
	FIELD_RKEY,
	FIELD_IMM,
	FIELD_INV,
	FIELD_SWAP,
	FIELD_ADD,
	FIELD_COMPARE,
	FIELD_WAS,
	FIELD_COUNT,
};

struct packet_pattern {
	const char *name;
	uint8_t opcode;
	int syndrome;   /* AETH type and NAK code this name implies; -1: none */
	uint32_t count; /* psn=10..12 stands for three packets */
	uint32_t fields;
	struct {
		enum packet_field field;
		uint64_t value;
	} field[PACKET_FIELDS_MAX];
};

void packet_parse(struct script *s, struct packet_pattern *out);
/** Advance a pattern of several packets to the next one. */
void packet_step(struct packet_pattern *pattern);
/** Fails the script when `pkt` is not what the pattern says. */
void packet_match(struct script *s, const struct packet_pattern *pattern,
		  const struct plx_pkt *pkt);
/** Fill `pkt` from the pattern. Returns: payload bytes */
uint32_t packet_build(struct script *s, const struct packet_pattern *pattern, struct plx_pkt *pkt);
void packet_text(const struct plx_pkt *pkt, char *out, size_t bytes);

/* ---- wire.c: time, delivery, and what is on the way ---- */

extern const struct ep_hooks wire_hooks;

void wire_serve(struct script *s);
void wire_advance(struct script *s, uint64_t ns);
/** Fails the script when anything was sent, completed or reported that no line spoke of. */
void wire_expect_nothing(struct script *s, const char *when);
/** Let the time go on until nothing is left to do; fails when it is not so within `ns`. */
void wire_run(struct script *s, uint64_t ns);
void wire_drop_all(struct script *s);
void wire_receive(struct script *s, enum side to, const uint8_t *bytes, size_t len);
void wire_frame_free(struct frame *frame);
void decode_or_fail(struct script *s, const uint8_t *bytes, size_t len, struct plx_pkt *pkt);

/* ---- fault.c: what a line does to a packet; forge.c: packets nobody sent ---- */

/* What becomes of a packet, as the words behind its fields say. */
struct fault {
	bool drop, dup, ce;
	const char *hold, *copy, *judged;
	uint64_t late_ns;
	uint32_t flips;
	uint32_t flip[8]; /* [byte from the first of the BTH] */
};

void wire_fault_parse(struct script *s, struct fault *fault);
/** Do a fault to a frame; `frame` stays the caller's. */
void wire_fault_apply(struct script *s, struct frame *frame, const struct fault *fault);
void wire_ipv4_renew(uint8_t *ip);
size_t wire_bth_at(struct script *s, const struct frame *frame);
void line_packet(struct script *s, enum side from);
void line_release(struct script *s);
/** Under `wire auto`: the fault planned for this frame, or none; it becomes the callee's. */
void wire_auto(struct script *s, struct frame *frame);
void line_wire(struct script *s);
void line_fault(struct script *s);
void fault_destroy_all(struct script *s);
void line_inject(struct script *s);

/* ---- memory.c ---- */

uint8_t content_byte(uint32_t content, uint64_t at);
struct area *area_create(struct script *s, enum side side, const char *name, uint64_t length,
			 struct plx_access access, struct plx_domain domain);
void area_fill(struct script *s, struct area *area);
/** "B.r1+100". @param at may be NULL when no offset is allowed */
struct area *area_of(struct script *s, const char *text, uint64_t *at);
void area_destroy_all(struct script *s);
void memory_check(struct script *s, struct end *end, const struct plx_action *action);
void line_region(struct script *s);
void line_bind(struct script *s);
void line_retire(struct script *s);
void line_memory(struct script *s);
void line_word(struct script *s);
void line_scribble(struct script *s);
void line_key(struct script *s);

/* ---- post.c ---- */

void line_post(struct script *s);
struct op *op_by_id(struct script *s, uint64_t wr_id);
struct op *op_by_name(struct script *s, const char *name);
void op_destroy_all(struct script *s);

/* ---- expect.c ---- */

void note_text(struct script *s, const struct note *note, char *out, size_t bytes);
void line_completes(struct script *s, enum side side);
void line_event(struct script *s, enum side side);

/* ---- setup.c ---- */

void setup_defaults(struct script *s);
void setup_connect(struct script *s);
void setup_destroy(struct script *s);
void line_config(struct script *s);
void line_modify(struct script *s);

#endif
