/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of our end of an interoperability test share: one adapter, its memory and its
 * queue pairs, each known to the driver by a small number. Declarations only. Start with struct
 * ours.
 */
#ifndef INTEROP_OURS_H
#define INTEROP_OURS_H

#include "lines.h"
#include "memory.h"
#include "plx_verbs.h"

enum {
	OURS_QPS = 64,
	OURS_MWS = 16,
	OURS_AHS = 16,
	OURS_LISTENERS = 4,
	OURS_CONNECTORS = 256,
};

struct ours {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct ours_qp {
		struct plx_qp *qp;
		struct plx_cq *send_cq, *recv_cq;
	} qp[OURS_QPS];
	struct plx_mr *mr[AREAS];
	struct plx_mw *mw[OURS_MWS];
	struct plx_ah *ah[OURS_AHS];
	bool has_engines; /* more than one */
	bool is_attached; /* the adapter is polluxd's, and so is the memory of areas */
};

extern struct ours ours;

/** The queue pair that the command names; NULL: it names none, and was answered so. */
struct ours_qp *ours_qp_of(const struct line *line);

/** Answer "ok", or with an error: the status and the sentence. @param why may be NULL */
void ours_answer(enum plx_status status, const struct plx_why *why);

/** Addresses travel as the 32 digits of a GID. Returns: false: that is none, and was answered so.
 */
bool ours_ip_of(const struct line *line, const char *name, struct plx_ip *ip);
void ours_ip_text(const struct plx_ip *ip, char text[33]);

void ours_qp_attr_of(const struct line *line, struct plx_qp_attr *attr);

/* work */
void ours_send(const struct line *line);
void ours_recv(const struct line *line);
void ours_bind(const struct line *line);
void ours_reap(const struct line *line);
void ours_ah(const struct line *line);
void ours_ahdrop(const struct line *line);

/* connections */
void ours_listen(const struct line *line);
void ours_unlisten(const struct line *line);
void ours_dial(const struct line *line);
void ours_sidr(const struct line *line);
void ours_event(const struct line *line);
void ours_accept(const struct line *line);
void ours_complete(const struct line *line);
void ours_reject(const struct line *line);
void ours_hangup(const struct line *line);
void ours_conndrop(const struct line *line);
void ours_cm_close(void);

#endif
