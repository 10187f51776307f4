/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the carrier by the communication manager share. The conversation has a queue
 * pair of its own, and the queue pairs that are measured are connected and disconnected one by one.
 * Private data says what a request is for: talk_magic, a session of 64 bits, a line of 32. A REQ
 * with line 256 and session 0 requests a conversation; its REP names the session. A REQ with that
 * session and a queue pair's number as line connects it; the addresses in the cards are then not
 * used. Anything else is rejected with a sentence in the private data. Start with struct cm.
 */
#ifndef NDPERF_CM_H
#define NDPERF_CM_H

#include "message_qp.h"
#include "side.h"
#include "talk.h"

enum {
	CM_VANISHED_MS = 5000, /* without an answer while messages flow: the peer is gone */
	PIECE_BYTES = 4096,    /* of the conversation, in one SEND */
	PIECES_TO_READ = 32, /* receives that are always posted; the longest messages are 5 each */
	PIECES_TO_WRITE = 16,
	CONTROL = QPS_MAX, /* the line of the conversation; before it those of the lanes */
	LINES = QPS_MAX + 1,
	ORDERLY_MS = 2000, /* that a peer may take for its part of a disconnect */
	SAID_MAX = 149,
};

enum line_state {
	LINE_IDLE,
	LINE_REQ_SENT, /* we have asked */
	LINE_REQ_RCVD, /* the peer has asked */
	LINE_REP_RCVD, /* the peer has accepted: to be completed */
	LINE_REP_SENT, /* we have: to be completed by the peer */
	LINE_ESTABLISHED,
	LINE_DREQ_SENT, /* we have disconnected */
	LINE_TIMEWAIT,  /* `kind` and `reason` tell how */
};

/* One connection: of a lane, or of the conversation. */
struct line {
	struct plx_connector *connector;
	enum line_state state;
	uint8_t kind;
	uint16_t reason;
};

/* What travels in the private data of a REQ and a REP. */
struct greeting {
	uint64_t session; /* the server's number for this client; in the first REQ 0 */
	uint32_t line;
};

struct piece {
	uint32_t length, taken;
};

struct cm {
	struct plx_event_channel *channel;
	struct plx_listener *listener; /* a server's */
	struct line line[LINES];
	char said[SAID_MAX];              /* by who rejected us last */
	struct plx_connector_info client; /* REQUESTED: whose conversation it is */
	struct greeting agreed; /* what the server replied; `is_agreed`: it is an ndperf */
	bool is_agreed;
	uint64_t session;

	/* the queue pair of the conversation */
	struct message_qp queue;
	struct piece piece[PIECES_TO_READ]; /* received, in turn */
	uint32_t first, ready;              /* of those not read yet */
	uint32_t written, acknowledged;     /* pieces sent, ever */
	bool is_lost, is_orderly;           /* nothing comes any more; the peer has disconnected */
	struct plx_why why;                 /* ... and how that is said */
	uint64_t beat_ms;                   /* when a sign of life was asked for */
	bool is_beating;                    /* ... and has not been answered */
};

/* cm_events.c ---- */

/** Take what has happened to any line. Requests that nobody can want are rejected. */
void cm_poll_events(struct talk *talk);
/** Give a line back, whatever its state. */
void cm_drop(struct line *line);
/** "no listener at that port" and the like, of a line that has ended. Returns: `text` */
char *cm_ended_text(const struct cm *cm, const struct line *line, char *text, size_t size);
void cm_put_greeting(const struct greeting *greeting, uint8_t *to);
enum {
	GREETING_BYTES = TALK_MAGIC_BYTES + 12
};

/* cm_stream.c ---- */

/** The queue pair of the conversation, ready to be connected, with its receives. */
bool cm_stream_make(struct talk *talk, struct plx_why *why);
/** Take completions: pieces that came, pieces that arrived, the end. */
void cm_stream_collect(struct talk *talk);
/** Wait until everything written has arrived, the peer is lost, or the time is over. */
void cm_stream_drain(struct talk *talk, uint64_t deadline_ms);
bool cm_read(struct talk *talk, void *to, size_t size, uint64_t deadline_ms, bool *none,
	     struct plx_why *why);
bool cm_write(struct talk *talk, const void *from, size_t size, struct plx_why *why);
bool cm_has_news(struct talk *talk);

/* cm_lanes.c ---- */

bool cm_join(struct talk *talk, const struct card *cards);
void cm_part(struct talk *talk, bool is_orderly);

#endif
