/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of both ends: regions, windows, their contents and expected contents. An action can
 * never access a byte outside a region of its end, or in a retired one. Start with area_create()
 * and memory_check().
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "script.h"

#define VA_STEP UINT64_C(0x100000000)

uint8_t
content_byte(uint32_t content, uint64_t at)
{
	return (uint8_t)(content * 157 + at * 59 + (at >> 8) * 17 + (at >> 16) * 3 + 5);
}

void
area_fill(struct script *s, struct area *area)
{
	area->content = s->content_next++;
	for (uint64_t i = 0; i < area->length; i++)
		area->host[i] = content_byte(area->content, i);
}

struct area *
area_create(struct script *s, enum side side, const char *name, uint64_t length,
	    struct plx_access access, struct plx_domain domain)
{
	struct end *end = &s->ends[side];
	struct area *area = calloc(1, sizeof(*area));
	struct plx_region_attr attr;

	PLX_ASSERT(area != NULL);
	strcpy(area->name, name);
	area->side = side;
	area->length = length;
	/* Another address than the host's, so that a mix-up of the two is seen at once; odd pages,
	 * aligned to 8 for atomics. */
	area->va = end->va_next;
	end->va_next += VA_STEP;
	PLX_ASSERT(posix_memalign((void **)&area->host, 64, (size_t)length) == 0);
	attr = (struct plx_region_attr){
		.va = area->va, .host = area->host, .length = length, .access = access};
	if (plx_region_register(ep_mem(end->ep), domain, &attr, &area->region, &area->key) !=
	    PLX_OK)
		script_fail(s, "the region cannot be registered");
	plx_list_append(&s->areas, &area->link);
	area_fill(s, area);
	return area;
}

static struct area *
area_by_name(struct script *s, const char *name)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &s->areas) {
		struct area *area = plx_list_entry(node, struct area, link);

		if (strcmp(area->name, name) == 0)
			return area;
	}
	return NULL;
}

struct area *
area_of(struct script *s, const char *text, uint64_t *at)
{
	const char *plus = strchr(text, '+');
	size_t length = plus ? (size_t)(plus - text) : strlen(text);
	char name[SCRIPT_NAME_MAX];
	struct area *area;

	if (length >= sizeof(name))
		script_fail(s, "the name %s is too long", text);
	memcpy(name, text, length);
	name[length] = '\0';
	area = area_by_name(s, name);
	if (area == NULL)
		script_fail(s, "there is no region or window %s", name);
	if (plus != NULL && at == NULL)
		script_fail(s, "no offset is allowed in %s", text);
	if (at != NULL)
		*at = plus ? number_of(s, plus + 1, UINT64_MAX) : 0;
	return area;
}

void
area_destroy_all(struct script *s)
{
	while (!plx_list_empty(&s->areas)) {
		struct area *area = plx_list_entry(s->areas.next, struct area, link);

		plx_list_remove(&area->link);
		if (area->window.slot == 0)
			free(area->host);
		free(area);
	}
}

/* ---- what actions may access ---- */

static bool
holds(const struct area *area, const uint8_t *first, uint64_t bytes)
{
	uintptr_t at = (uintptr_t)first, base = (uintptr_t)area->host;

	return area->window.slot == 0 && at >= base && bytes <= area->length &&
	       at - base <= area->length - bytes;
}

void
memory_check(struct script *s, struct end *end, const struct plx_action *action)
{
	bool place = action->kind == PLX_ACT_PLACE;
	const uint8_t *first = place ? action->place.dst : action->atomic.target;
	uint64_t bytes = place ? action->place.bytes : sizeof(uint64_t);
	struct plx_list *node, *after;

	if (!place && (uintptr_t)first % sizeof(uint64_t) != 0)
		script_fail(s, "%s executes a misaligned atomic", side_name(end->side));
	plx_list_for_each (node, after, &s->areas) {
		struct area *area = plx_list_entry(node, struct area, link);

		if (area->side != end->side || !holds(area, first, bytes))
			continue;
		if (area->key.v == 0)
			script_fail(s, "%s touches %s, which is retired", side_name(end->side),
				    area->name);
		script_trace(s, "%s %s %s+%td, %" PRIu64 " bytes", side_name(end->side),
			     place ? "places    " : "atomic in ",
			     area->name[0] ? area->name : "a buffer", first - area->host, bytes);
		return;
	}
	script_fail(s, "%s touches memory that is nobody's", side_name(end->side));
}

/* ---- lines ---- */

static const char *
new_name(struct script *s, enum side *side)
{
	const char *name = next_word(s, "a name as B.r1");

	if ((name[0] != 'A' && name[0] != 'B') || name[1] != '.' ||
	    strlen(name) >= SCRIPT_NAME_MAX || strchr(name, '+') != NULL)
		script_fail(s, "\"%s\" is not a name as B.r1", name);
	if (area_by_name(s, name) != NULL)
		script_fail(s, "%s is there already", name);
	*side = name[0] == 'A' ? SIDE_A : SIDE_B;
	return name;
}

static struct plx_access
access_words(struct script *s, bool *other)
{
	struct plx_access access = {0};

	*other = false;
	while (more_words(s)) {
		const char *word = next_word(s, "a right");
		int bit = access_of(word);

		if (strcmp(word, "other") == 0)
			*other = true;
		else if (bit < 0)
			script_fail(s, "\"%s\" is not a right", word);
		else
			access.bits |= (uint8_t)bit;
	}
	return access;
}

/* "region B.r1 4096 local_write remote_write": no rights named means all a peer can have */
void
line_region(struct script *s)
{
	enum side side;
	const char *name = new_name(s, &side);
	uint64_t length = next_number(s, "a length", 1 << 26);
	bool other;
	struct plx_access access = access_words(s, &other);
	const struct end *end = &s->ends[side];

	if (access.bits == 0)
		access.bits = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ |
			      PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	area_create(s, side, name, length, access, other ? end->other_domain : end->domain);
}

/* "bind B.w1 to B.r1+100 200 bytes remote_write": `other` binds it to another QP */
void
line_bind(struct script *s)
{
	enum side side;
	const char *name = new_name(s, &side);
	struct end *end = &s->ends[side];
	struct area *window = calloc(1, sizeof(*window)), *region;
	struct plx_window_attr attr = {.qpn = end->qp_config.qpn};
	uint64_t at;
	bool other;

	PLX_ASSERT(window != NULL);
	plx_list_append(&s->areas, &window->link);
	if (!accept_word(s, "to"))
		script_fail(s, "expected: bind %s to REGION+OFFSET LENGTH bytes", name);
	region = area_of(s, next_word(s, "a region"), &at);
	attr.region = region->region;
	attr.va = region->va + at;
	attr.length = next_number(s, "a length", region->length);
	(void)accept_word(s, "bytes");
	attr.access = access_words(s, &other);
	if (other)
		attr.qpn++;
	strcpy(window->name, name);
	window->side = side;
	window->host = region->host + at;
	window->va = attr.va;
	window->length = attr.length;
	window->content = region->content;
	if (plx_window_create(ep_mem(end->ep), end->domain, &window->window) != PLX_OK ||
	    plx_window_bind(ep_mem(end->ep), window->window, &attr, &window->key) != PLX_OK)
		script_fail(s, "the window cannot be bound");
}

/* "retire B.r1": deregistered, or the window destroyed */
void
line_retire(struct script *s)
{
	struct area *area = area_of(s, next_word(s, "a region or window"), NULL);
	struct plx_mem *mem = ep_mem(s->ends[area->side].ep);
	enum plx_status status;

	if (area->window.slot != 0)
		status = plx_window_retire(mem, area->window);
	else
		status = plx_region_retire(mem, area->region);
	if (status != PLX_OK)
		script_fail(s, "refused: %s", plx_status_text(status));
	if (area->window.slot == 0)
		area->key.v = 0;
}

static void
expect_content(struct script *s, const struct area *area, uint64_t at, uint64_t bytes,
	       uint32_t content, uint64_t content_at)
{
	for (uint64_t i = 0; i < bytes; i++) {
		uint8_t want = content_byte(content, content_at + i);

		if (area->host[at + i] != want)
			script_fail(s, "byte %" PRIu64 " of %s is 0x%02x, expected 0x%02x", at + i,
				    area->name, area->host[at + i], want);
	}
}

static void
expect_op_content(struct script *s, const struct area *area, uint64_t at)
{
	const struct op *op = op_by_name(s, next_word(s, "the name of an operation"));
	uint64_t bytes = more_words(s) ? next_number(s, "a length", op->bytes) : op->bytes;

	if (op->content == NULL || bytes > area->length - at)
		script_fail(s, "%s has no content that %s could hold", op->name, area->name);
	if (memcmp(area->host + at, op->content, bytes) != 0)
		script_fail(s, "%s does not hold what %s sent", area->name, op->name);
}

/* "memory B.r1+100 unchanged 50", "... holds W 1024", "... word 12", "... forged 100" */
void
line_memory(struct script *s)
{
	uint64_t at, word;
	struct area *area = area_of(s, next_word(s, "a region"), &at);
	uint64_t rest;

	if (at > area->length)
		script_fail(s, "%s is not as long", area->name);
	rest = area->length - at;
	s->expectations++;
	if (accept_word(s, "unchanged")) {
		uint64_t bytes = more_words(s) ? next_number(s, "a length", rest) : rest;

		expect_content(s, area, at, bytes, area->content, at);
	} else if (accept_word(s, "forged")) {
		expect_content(s, area, at, next_number(s, "a length", rest), UINT32_MAX, 0);
	} else if (accept_word(s, "holds")) {
		expect_op_content(s, area, at);
	} else if (accept_word(s, "word") && rest >= sizeof(word)) {
		uint64_t want = next_number(s, "a value", UINT64_MAX);

		memcpy(&word, area->host + at, sizeof(word));
		if (word != want)
			script_fail(s, "the word is %" PRIu64 ", expected %" PRIu64, word, want);
	} else {
		script_fail(s, "expected unchanged, holds, forged or word");
	}
}

/* "word B.r1+8 12": the application stores eight bytes */
void
line_word(struct script *s)
{
	uint64_t at, word;
	struct area *area = area_of(s, next_word(s, "a region"), &at);

	word = next_number(s, "a value", UINT64_MAX);
	if (area->length < sizeof(word) || at > area->length - sizeof(word))
		script_fail(s, "%s is not as long", area->name);
	memcpy(area->host + at, &word, sizeof(word));
}

/* "scribble B.r1": the application changes every byte; "unchanged" means since then */
void
line_scribble(struct script *s)
{
	area_fill(s, area_of(s, next_word(s, "a region"), NULL));
}

/* "key B.w1 is unknown": the verdict for its QP's peer */
void
line_key(struct script *s)
{
	const struct area *area = area_of(s, next_word(s, "a region or window"), NULL);
	const struct end *end = &s->ends[area->side];
	const struct plx_asker asker = {.domain = end->domain, .qpn = end->qp_config.qpn};
	struct plx_grant grant;
	enum plx_key_verdict verdict = plx_key_check(ep_mem(end->ep), area->key, &asker, area->va,
						     0, (struct plx_access){0}, &grant);
	const char *word;

	if (!accept_word(s, "is"))
		script_fail(s, "expected: key %s is granted, or unknown, ...", area->name);
	word = next_word(s, "a key verdict");
	if (key_verdict_of(word) < 0)
		script_fail(s, "\"%s\" is not a key verdict", word);
	s->expectations++;
	if ((int)verdict != key_verdict_of(word))
		script_fail(s, "the key is %s", key_verdict_name(verdict));
}
