/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndping: can a peer be reached, and if not, which layer fails? Types shared by its files. It uses
 * plx_verbs.h and apps/common. Start with struct ping; layers.c runs the layers.
 */
#ifndef NDPING_PING_H
#define NDPING_PING_H

#include "clock.h"
#include "endpoint.h"
#include "histogram.h"
#include "message_qp.h"
#include "signals.h"

enum {
	COUNT_MAX = 10 * 1000 * 1000,
	SIZE_MAX_BYTES = 1 << 20,
	SENTENCE_MAX = 640,
	EVENT_TEXT_MAX = 100,
	GREETING_MAGIC_BYTES = 8,
	GREETING_BYTES = GREETING_MAGIC_BYTES + 8, /* ... followed by a version and a size */
	GREETING_VERSION = 1,
};

/* The command line. */
struct options {
	struct endpoint endpoint;
	bool is_server, json, no_icmp;
	struct plx_ip peer;
	uint32_t port, count, size, timeout_ms;
};

enum layer {
	LAYER_NEIGHBOUR,  /* the Ethernet address of the peer or its gateway */
	LAYER_ICMP,       /* an ICMP echo */
	LAYER_MANAGER,    /* a communication manager answers */
	LAYER_CONNECT,    /* a connection to an ndping server */
	LAYER_MESSAGES,   /* SENDs in both directions */
	LAYER_DISCONNECT, /* a disconnect that both sides notice */
	LAYER_COUNT,
};

extern const char *const layer_names[LAYER_COUNT];

/* The result of one layer. */
struct finding {
	bool is_tried, is_good;
	double ms;      /* duration */
	char text[160]; /* what was found */
};

/* An open adapter and the objects on it. */
struct station {
	struct plx_adapter *adapter;
	struct plx_adapter_info info;
	struct plx_pd *pd;
	struct plx_event_channel *channel;
};

struct ping {
	const struct options *options;
	struct station at;
	struct plx_connector *connector;
	struct plx_connector_info connection;
	struct message_qp queue; /* its memory: a message to send and one to receive */
	struct histogram trips;  /* [ticks] round trips of messages */
	struct finding finding[LAYER_COUNT];
	char sentence[SENTENCE_MAX]; /* of the failed layer */
};

/* options.c ---- */

/** @param why out, if PARSED_WRONG: the argument, its value, and the allowed values */
enum parsed ndping_options(int argc, char **argv, struct options *options, struct plx_why *why);

/* station.c ---- */

/** Open the adapter and create a domain and a channel, as the command line says.
 * @param why the sentence */
bool station_open(const struct endpoint *endpoint, struct station *at, struct plx_why *why);
void station_close(struct station *at);
/** Write the private data of REQ and REP: the eight bytes "ndping\r\n", the version and the size of
 * a message, of 32 bits each, in network byte order.
 * @param bytes [GREETING_BYTES] out */
void greeting_put(uint32_t size, uint8_t *bytes);
/** Returns: false: not from ndping, or of another version */
bool greeting_get(const struct plx_connector_event *event, uint32_t *size);
/** Describe an event, without details that are meant for programs.
 * @param text [EVENT_TEXT_MAX].
 * Returns: `text` */
char *event_text(const struct plx_connector_event *event, char *text);

/* layers.c ---- */

/** Run the layers until one fails.
 * Returns: true: none failed */
bool layers_try(struct ping *ping, void (*show)(const struct ping *ping, enum layer layer));
/** Write ping->sentence.
 * Returns: false */
__attribute__((format(printf, 3, 4))) bool layer_fail(struct ping *ping, enum layer layer,
						      const char *format, ...);

/* dialogue.c ---- */

bool dialogue_connect(struct ping *ping);
bool dialogue_exchange(struct ping *ping);
bool dialogue_disconnect(struct ping *ping);
/** Free everything, in any state. */
void dialogue_clear(struct ping *ping);

/* serve.c ---- */

/** Echo messages of any number of clients until interrupted. */
bool serve(const struct options *options, struct plx_why *why);

/* show.c ---- */

void show_head(const struct ping *ping);
void show_layer(const struct ping *ping, enum layer layer);
/** Returns: false: writing failed */
bool show_json(const struct ping *ping, bool is_good);

#endif
