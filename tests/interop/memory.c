/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Areas, and the pattern in them: each byte is a function of a seed and of its position, so that
 * misplaced bytes show. The driver computes the same for the data in captures (judge.py). Nothing
 * outside an area is accessed. Start with byte_at().
 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define PAGE 4096

static struct area areas[AREAS];

uint64_t
area_id(const struct line *line)
{
	return line_number(line, "mr", AREAS);
}

/* The area that the command names, which is new; NULL: there is none, and was answered so. */
static struct area *
new_area(const struct line *line)
{
	uint64_t id = area_id(line), bytes = line_number(line, "bytes", 0);

	if (id >= AREAS || areas[id].memory || !bytes) {
		line_answer("error mr is out of range or in use, or bytes is zero");
		return NULL;
	}
	areas[id].bytes = bytes;
	return &areas[id];
}

struct area *
area_make(const struct line *line)
{
	struct area *area = new_area(line);

	if (!area)
		return NULL;
	area->memory = aligned_alloc(PAGE, (area->bytes + PAGE - 1) / PAGE * PAGE);
	if (!area->memory) {
		line_answer("error no memory");
		return NULL;
	}
	memset(area->memory, 0, area->bytes);
	return area;
}

struct area *
area_lend(const struct line *line, uint8_t *memory)
{
	struct area *area = new_area(line);

	if (!area)
		return NULL;
	area->memory = memory;
	area->is_lent = true;
	return area;
}

struct area *
area_of(const struct line *line)
{
	uint64_t id = area_id(line);

	if (id < AREAS && areas[id].memory)
		return &areas[id];
	line_answer("error mr names no memory");
	return NULL;
}

void
area_drop(struct area *area)
{
	if (!area->is_lent)
		free(area->memory);
	memset(area, 0, sizeof(*area));
}

/* Of each word of four bytes: its place times an odd number, mixed with the seed. */
static uint8_t
byte_at(uint64_t place, uint32_t seed)
{
	uint32_t word = ((uint32_t)(place / 4) + seed * 0x9e3779b1u) * 0x85ebca6bu;

	word ^= word >> 15;
	return (uint8_t)(word >> place % 4 * 8);
}

/* The part of an area that `at` and `bytes` name; NULL: none, and answered so. */
static uint8_t *
part_of(const struct line *line, uint64_t *at, uint64_t *bytes)
{
	struct area *area = area_of(line);

	if (!area)
		return NULL;
	*at = line_number(line, "at", 0);
	*bytes = line_number(line, "bytes", 0);
	if (*at > area->bytes || *bytes > area->bytes - *at) {
		line_answer("error the area has %llu bytes", (unsigned long long)area->bytes);
		return NULL;
	}
	return area->memory + *at;
}

void
run_fill(const struct line *line)
{
	uint32_t seed = (uint32_t)line_number(line, "seed", 0);
	uint64_t at, bytes;
	uint8_t *memory = part_of(line, &at, &bytes);

	if (!memory)
		return;
	for (uint64_t i = 0; i < bytes; i++)
		memory[i] = byte_at(at + i, seed);
	line_answer("ok");
}

void
run_check(const struct line *line)
{
	uint32_t seed = (uint32_t)line_number(line, "seed", 0);
	uint64_t at, bytes, from, i = 0;
	uint8_t *memory = part_of(line, &at, &bytes);

	if (!memory)
		return;
	from = line_number(line, "from", at);
	while (i < bytes && memory[i] == byte_at(from + i, seed))
		i++;
	if (i == bytes)
		line_answer("ok");
	else
		line_answer("error the byte at %llu is 0x%02x, not 0x%02x",
			    (unsigned long long)(at + i), memory[i], byte_at(from + i, seed));
}

void
run_peek(const struct line *line)
{
	static char text[LINE_BYTES];
	uint64_t at, bytes;
	uint8_t *memory = part_of(line, &at, &bytes);

	if (!memory)
		return;
	if (2 * bytes >= sizeof(text)) {
		line_answer("error too much for a line");
		return;
	}
	line_hex(memory, (uint32_t)bytes, text);
	line_answer("ok data=%s", text);
}

void
run_poke(const struct line *line)
{
	uint64_t at, bytes;
	uint8_t *memory = part_of(line, &at, &bytes);

	if (!memory)
		return;
	if (line_bytes(line, "data", memory, (uint32_t)bytes) == bytes)
		line_answer("ok");
	else
		line_answer("error data has fewer bytes");
}
