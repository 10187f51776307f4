/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Commands as lines: `verb name=value ...` in, one line of answer out. Both ends of an
 * interoperability test speak them, ours and the guest's, so that one driver directs either;
 * README.md lists them. It knows nothing of RDMA. Start with lines_serve().
 */
#ifndef INTEROP_LINES_H
#define INTEROP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINE_BYTES = 65536, /* a page of memory in hexadecimal fits */
	LINE_WORDS = 40,
};

struct line {
	char text[LINE_BYTES];
	uint32_t words;
	char *word[LINE_WORDS];
};

struct line_command {
	const char *verb;
	void (*run)(const struct line *line);
};

/**
 * Serve the commands of standard input until it ends or says `quit`. Each command answers once.
 * @param idle called between commands, and says how much it has done; NULL: nothing to do
 */
void lines_serve(const struct line_command *commands, uint32_t n, uint32_t (*idle)(void));

/** The value of an argument; a command without it, or with what is no number, gets `otherwise`. */
uint64_t line_number(const struct line *line, const char *name, uint64_t otherwise);
/** NULL: there is none. */
const char *line_text(const struct line *line, const char *name);
/** Bytes from hexadecimal. Returns: how many; at most `max`. */
uint32_t line_bytes(const struct line *line, const char *name, uint8_t *out, uint32_t max);
/** Write bytes as hexadecimal. @param out [2 * n + 1] */
void line_hex(const uint8_t *bytes, uint32_t n, char *out);

/** The answer: "ok", "none" (nothing came in time), or "error" with a sentence. */
void line_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** [ns] that only grows */
uint64_t lines_now(void);

#endif
