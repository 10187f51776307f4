/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The framing: a greeting of 12 bytes, then messages of a kind, a length and a body, with numbers
 * in network byte order. Everything from a peer is checked before use. It does not interpret bodies
 * and is independent of the carrier. Start with talk_receive_any().
 */
#include "talk.h"

#include "clock.h"
#include "options.h"

#include <arpa/inet.h>
#include <string.h>

const uint8_t talk_magic[TALK_MAGIC_BYTES] = {'n', 'd', 'p', 'e', 'r', 'f', '\r', '\n'};

void
talk_init(struct talk *talk, const struct options *options, struct side *side)
{
	talk->carrier = options->oob_host[0] != '\0' || options->role == ROLE_SOLO ? &carrier_tcp
										   : &carrier_cm;
	talk->options = options;
	talk->side = side;
	talk->timeout_ms = options->timeout_ms;
	talk->fd = talk->listening = -1;
}

bool
talk_hello(struct talk *talk, struct plx_why *why)
{
	uint8_t ours[TALK_MAGIC_BYTES + 4], theirs[TALK_MAGIC_BYTES + 4];
	uint32_t version = htonl(TALK_VERSION);
	bool none;
	memcpy(ours, talk_magic, TALK_MAGIC_BYTES);
	memcpy(ours + TALK_MAGIC_BYTES, &version, 4);
	if (!talk->carrier->write(talk, ours, sizeof(ours), why) ||
	    !talk->carrier->read(talk, theirs, sizeof(theirs), now_ms() + talk->timeout_ms, &none,
				 why))
		return false;
	if (memcmp(theirs, talk_magic, TALK_MAGIC_BYTES) != 0)
		return why_set(why, "%s is not an ndperf; check --oob", talk->peer);
	memcpy(&version, theirs + TALK_MAGIC_BYTES, 4);
	if (ntohl(version) != TALK_VERSION)
		return why_set(
			why,
			"%s speaks version %u of the side channel, this ndperf version %d; use "
			"the same release at both ends",
			talk->peer, ntohl(version), TALK_VERSION);
	return true;
}

bool
talk_send(struct talk *talk, enum message kind, struct plx_why *why)
{
	uint32_t head[2] = {htonl((uint32_t)kind), htonl(talk->length)};
	return talk->carrier->write(talk, head, sizeof(head), why) &&
	       talk->carrier->write(talk, talk->body, talk->length, why);
}

enum message
talk_receive_any(struct talk *talk, uint32_t timeout_ms, struct plx_why *why)
{
	uint32_t head[2];
	bool none;
	if (!talk->carrier->read(talk, head, sizeof(head), now_ms() + timeout_ms, &none, why)) {
		if (none)
			why->text[0] = '\0';
		return MESSAGE_NONE;
	}
	uint32_t kind = ntohl(head[0]), length = ntohl(head[1]);
	if (kind == MESSAGE_NONE || kind >= MESSAGE_COUNT || length > TALK_BODY_MAX) {
		why_set(why,
			"%s sent a message of kind %u with %u bytes, which version %d does not "
			"have",
			talk->peer, kind, length, TALK_VERSION);
		return MESSAGE_NONE;
	}
	if (!talk->carrier->read(talk, talk->body, length, now_ms() + talk->timeout_ms, &none, why))
		return MESSAGE_NONE;
	talk->length = length;
	return (enum message)kind;
}

bool
talk_receive(struct talk *talk, enum message kind, struct plx_why *why)
{
	char said[180];
	enum message got = talk_receive_any(talk, talk->timeout_ms, why);
	if (got == kind)
		return true;
	if (got == MESSAGE_REFUSED)
		why_set(why, "%.60s: %s", talk->peer,
			printable_text(talk->body, talk->length, said, sizeof(said)));
	else if (got != MESSAGE_NONE)
		why_set(why, "%s sent message %u where %u was expected", talk->peer, got, kind);
	else if (why->text[0] == '\0')
		why_set(why, "%s has vanished: it closed the side channel", talk->peer);
	return false;
}

void
talk_refuse(struct talk *talk, const char *sentence)
{
	struct plx_why why;
	size_t length = strnlen(sentence, sizeof(why.text) - 1);
	memcpy(talk->body, sentence, length);
	talk->length = (uint32_t)length;
	(void)talk_send(talk, MESSAGE_REFUSED, &why);
}
