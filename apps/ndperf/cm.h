/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of the carrier that uses the communication manager. The conversation has a
 * queue pair of its own, and the measured queue pairs are connected and disconnected one by one.
 * Private data identifies a request: talk_magic, a session of 64 bits, a line of 32. A REQ with
 * line 256 and session 0 requests a conversation; its REP contains the session. A REQ with that
 * session and the number of a queue pair as line connects that queue pair; the addresses in the
 * cards are then not used. Anything else is rejected with a sentence in the private data. Start
 * with struct cm.
 */
#ifndef NDPERF_CM_H
#define NDPERF_CM_H

#include "message_qp.h"
#include "side.h"
#include "talk.h"

enum {
	CM_VANISHED_MS =
		5000,       /* without an answer while messages flow: the peer is considered gone */
	PIECE_BYTES = 4096, /* of the conversation, per SEND */
	PIECES_TO_READ = 32, /* receives kept posted; the longest messages need 5 each */
	PIECES_TO_WRITE = 16,
	CONTROL = QPS_MAX, /* the line of the conversation; those of the lanes precede it */
	LINES = QPS_MAX + 1,
	ORDERLY_MS = 2000, /* time for a peer to do its part of a disconnect */
	SAID_MAX = 149,
};

enum line_state {
	LINE_IDLE,
	LINE_REQ_SENT, /* we have sent a REQ */
	LINE_REQ_RCVD, /* the peer has sent a REQ */
	LINE_REP_RCVD, /* the peer has accepted; we have to establish */
	LINE_REP_SENT, /* we have accepted; the peer has to establish */
	LINE_ESTABLISHED,
	LINE_DREQ_SENT, /* we have disconnected */
	LINE_TIMEWAIT,  /* `kind` and `reason` tell why */
};

/* One connection: of a lane, or of the conversation. */
struct line {
	struct plx_connector *connector;
	enum line_state state;
	uint8_t kind;
	uint16_t reason;
};

/* Contents of the private data of a REQ and a REP. */
struct greeting {
	uint64_t session; /* the server's number for this client; 0 in the first REQ */
	uint32_t line;
};

struct piece {
	uint32_t length, taken;
};

struct cm {
	struct plx_event_channel *channel;
	struct plx_listener *listener; /* on a server */
	struct line line[LINES];
	char said[SAID_MAX];              /* sentence of the last rejection */
	struct plx_connector_info client; /* REQUESTED: the client of the conversation */
	struct greeting agreed; /* from the server's reply; `is_agreed`: it is an ndperf */
	bool is_agreed;
	uint64_t session;

	/* the queue pair of the conversation */
	struct message_qp queue;
	struct piece piece[PIECES_TO_READ]; /* received, in rotation */
	uint32_t first, ready;              /* of the unread ones */
	uint32_t written, acknowledged;     /* pieces sent and acknowledged, in total */
	bool is_lost, is_orderly;           /* nothing more arrives; the peer has disconnected */
	struct plx_why why;                 /* ... the sentence for it */
	uint64_t beat_ms;                   /* when the last keepalive was sent */
	bool is_beating;                    /* ... and it is unacknowledged */
};

/* cm_events.c ---- */

/** Handle all pending events of all lines. Unexpected requests are rejected. */
void cm_poll_events(struct talk *talk);
/** Destroy a line in any state. */
void cm_drop(struct line *line);
/** Why a line has ended, such as "no listener at that port".
 * Returns: `text` */
char *cm_ended_text(const struct cm *cm, const struct line *line, char *text, size_t size);
void cm_put_greeting(const struct greeting *greeting, uint8_t *to);
enum {
	GREETING_BYTES = TALK_MAGIC_BYTES + 12
};

/* cm_stream.c ---- */

/** Create the conversation's queue pair and post its receives, ready to connect. */
bool cm_stream_make(struct talk *talk, struct plx_why *why);
/** Handle completions: pieces received, pieces acknowledged, the end. */
void cm_stream_collect(struct talk *talk);
/** Wait until everything written has arrived, the peer is lost, or the deadline has passed. */
void cm_stream_drain(struct talk *talk, uint64_t deadline_ms);
bool cm_read(struct talk *talk, void *to, size_t size, uint64_t deadline_ms, bool *none,
	     struct plx_why *why);
bool cm_write(struct talk *talk, const void *from, size_t size, struct plx_why *why);
bool cm_has_news(struct talk *talk);

/* cm_lanes.c ---- */

bool cm_join(struct talk *talk, const struct card *cards);
void cm_part(struct talk *talk, bool is_orderly);

#endif
