/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the consumer in the guest's kernel share: its memory, its connection, its one
 * region. Declarations only. Start with struct guest.
 */
#ifndef INTEROP_GUEST_KERNEL_H
#define INTEROP_GUEST_KERNEL_H

#include <linux/scatterlist.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

enum {
	PLAIN = 0, /* areas */
	FAST = 1,
	AREAS = 2,
	PAGES = 64,
	BYTES = PAGES * PAGE_SIZE,
	LINE_BYTES = 1024,
	LINE_WORDS = 20,
};

struct guest {
	u8 *memory[AREAS];
	struct page *page[PAGES]; /* of FAST */
	struct rdma_cm_id *listener, *id;
	wait_queue_head_t wait;
	unsigned long seen; /* bits of events that nobody has waited for */
	struct ib_pd *pd;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_mr *mr;
	struct scatterlist sg[PAGES];
	u64 registered; /* where in FAST the region begins */
};

extern struct guest guest;

struct line {
	int words;
	char *word[LINE_WORDS];
};

/* As line_text(), line_number() and line_answer() of lines.h. */
const char *guest_text_of(const struct line *line, const char *name);
u64 guest_number_of(const struct line *line, const char *name, u64 otherwise);
void __printf(1, 2) guest_answer(const char *format, ...);
/** Answer "ok", or what is wrong: with the number of the error. */
void guest_answer_error(const char *what, long error);

/* memory */
int guest_make_memory(void);
void guest_free_memory(void);
/** The bytes that a command names; NULL: none, and was answered so. */
u8 *guest_part_of(const struct line *line, u64 *at, u64 *bytes);
void guest_run_fill(const struct line *line);
void guest_run_check(const struct line *line);

/* connections */
void guest_drop(void);
void guest_run_dial(const struct line *line);
void guest_run_listen(const struct line *line);
void guest_run_accept(const struct line *line);
void guest_run_established(const struct line *line);
void guest_run_hangup(const struct line *line);
void guest_run_hungup(const struct line *line);
void guest_run_drop(const struct line *line);
void guest_run_unlisten(const struct line *line);
void guest_run_state(const struct line *line);

/* work */
void guest_run_reg(const struct line *line);
void guest_run_send(const struct line *line);
void guest_run_recv(const struct line *line);
void guest_run_reap(const struct line *line);

#endif
