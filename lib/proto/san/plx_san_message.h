/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The session protocol of sockets: the messages that the two ends of a stream send each other, one
 * SEND each. Bytes to structs and back; it knows no state.
 * Start with struct plx_san_message.
 *
 * A message is a header of 16 bytes, the body of its kind, then payload. Integers are big-endian,
 * what is reserved is zero:
 *
 *   0  kind               enum plx_san_kind
 *   1  reserved
 *   2  credits_seen (2)   CREDIT messages that have arrived, modulo 2^16
 *   4  epoch (4)          RESUMEs so far, of both ends
 *   8  posted (4)         data messages that the other end may send, since the beginning, mod 2^32
 *  12  payload (4)        [bytes]
 */
#ifndef PLX_SAN_MESSAGE_H
#define PLX_SAN_MESSAGE_H

#include "plx_base.h"

enum {
	PLX_SAN_HEADER_BYTES = 16,
	PLX_SAN_VERSION = 1,
	PLX_SAN_DESCRIPTOR_MAX = 32,
	/* In a message: length (1), reserved (3), bytes. */
	PLX_SAN_DESCRIPTOR_BYTES = 4 + PLX_SAN_DESCRIPTOR_MAX,
	/* The longest header with its body, OFFER's. A HELLO is far below the 256 bytes that a
	 * provider has to keep for one that arrives early. */
	PLX_SAN_HEAD_MAX = PLX_SAN_HEADER_BYTES + 8 + PLX_SAN_DESCRIPTOR_BYTES,
	PLX_SAN_PAYLOAD_MIN = 64, /* [bytes] of the largest payload that an end may announce */
	PLX_SAN_PAYLOAD_MAX = 1 << 20,
	PLX_SAN_CREDITS_MAX = 1024,
};

/* X(name, is a data message, bytes of the body, least and most bytes of payload, text)
 * A data message takes one of the credits that its receiver has granted. The others have receives
 * of their own: plx_san_stream.h says how many can be under way. */
#define PLX_SAN_KIND_LIST(X)                                                                \
	X(HELLO, false, 16, 0, 0, "HELLO: version, credits")                                \
	X(DATA, true, 0, 1, ANY, "DATA")                                                    \
	X(URGENT, true, 0, 1, 1, "URGENT: one byte, out of band")                           \
	X(OFFER, true, 8 + PLX_SAN_DESCRIPTOR_BYTES, 0, ANY, "OFFER: to READ, or to WRITE") \
	X(FIN, true, 0, 0, 0, "FIN: no more data")                                          \
	X(CREDIT, false, 0, 0, 0, "CREDIT")                                                 \
	X(READY, false, 4 + PLX_SAN_DESCRIPTOR_BYTES, 0, 0, "READY: memory for a WRITE")    \
	X(WRITTEN, false, 0, 0, 0, "WRITTEN: the WRITE is complete")                        \
	X(DONE, false, 0, 0, 0, "DONE: all that was offered has been READ")                 \
	X(SUSPEND, false, 8, 0, 0, "SUSPEND: another process will have this end")           \
	X(SUSPENDED, false, 0, 0, 0, "SUSPENDED: only receives are pending")                \
	X(RESUME, false, 0, 0, 0, "RESUME: that process has it")

enum plx_san_kind {
	PLX_SAN_NOTHING, /* invalid */
#define PLX_X(name, data, body, least, most, text) PLX_SAN_##name,
	PLX_SAN_KIND_LIST(PLX_X)
#undef PLX_X
	PLX_SAN_KIND_COUNT,
};

/* What a provider wants the other end to know of registered memory: opaque. */
struct plx_san_descriptor {
	uint8_t length; /* 1 .. PLX_SAN_DESCRIPTOR_MAX; 0: none */
	uint8_t bytes[PLX_SAN_DESCRIPTOR_MAX];
};

struct plx_san_message {
	enum plx_san_kind kind;
	uint16_t credits_seen;
	uint32_t epoch;
	uint32_t posted;
	uint32_t payload; /* [bytes] */
	union {
		struct {
			uint16_t version;
			bool reads;             /* its provider can READ what is offered */
			uint32_t credits;       /* 1 .. PLX_SAN_CREDITS_MAX */
			uint32_t payload_bytes; /* PLX_SAN_PAYLOAD_MIN .. _MAX: the largest payload
						   that it takes */
		} hello;
		struct {
			uint64_t bytes; /* beside the payload; 1 .. */
			/* to READ; none: WRITE it where READY says */
			struct plx_san_descriptor from;
		} offer;
		struct {
			uint32_t bytes; /* 1 .. */
			struct plx_san_descriptor to;
		} ready;
		struct {
			uint64_t read; /* [bytes] of an offer that has not been READ to its end */
		} suspend;
	};
};

/* What plx_san_decode() found. */
enum plx_san_decoded {
	PLX_SAN_DECODED,
	PLX_SAN_BAD_MESSAGE,
	PLX_SAN_BAD_VERSION, /* a HELLO of another version, or of another protocol */
};

/** Does this kind take a credit? */
bool plx_san_is_data(enum plx_san_kind kind);

/** "DATA" and the like, for logs. */
const char *plx_san_kind_text(enum plx_san_kind kind);

/**
 * Write a header and its body.
 * @param message its ranges are the caller's to keep
 * @param out     [PLX_SAN_HEAD_MAX]
 * Returns: bytes written; the payload follows them
 */
uint32_t plx_san_encode(const struct plx_san_message *message, uint8_t *out);

/**
 * Read a message of a peer that may send anything, in memory that others may write meanwhile.
 * @param message [bytes]
 * @param bytes as received, payload included
 * @param at    [out] where the payload begins
 */
enum plx_san_decoded plx_san_decode(const uint8_t *message, uint32_t bytes,
				    struct plx_san_message *out, uint32_t *at) PLX_MUST_CHECK;

/** How long a message is that lies in memory, by its own word. @param most of the memory, at least
 * PLX_SAN_HEAD_MAX. Returns: 0: there is none, or it would be longer */
uint32_t plx_san_message_bytes(const uint8_t *message, uint32_t most);

#endif
