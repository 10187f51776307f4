/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attacks by a local user, one per table row: another user of the machine plants something, then
 * one of our programs runs, and the row names the message it must print. Each row runs in its own
 * processes, in a mount namespace with a fresh /tmp and /run, and needs root to change users. After
 * every row, MINE and HERS contain what they contained before. Start with planted_play().
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <sys/types.h>

#include "test.h"

enum {
	USER = 64101,     /* runs our program, if it is not root */
	STRANGER = 64102, /* plants files */
	DEAD = 4190001,   /* the number of no process: Linux's largest is 4194304 */
	PLANTED_SECONDS = 30,
};

#define MINE "/tmp/mine" /* folder of our program's user, 0700, containing `precious` */
#define HERS "/tmp/hers" /* a folder of the stranger, 0755, with `precious` in it */

struct planted_row {
	const char *name;
	uid_t actor;           /* user who runs our program: 0 or USER */
	void (*prepare)(void); /* as the actor, before; NULL: nothing */
	void (*plant)(void);   /* as the stranger */
	/* as the actor: our code. @param out [512] the sentence, or "" */
	void (*act)(char *out);
	const char *words; /* what the message contains; "": there is no message */
};

/** Play the rows; the first failure fails the test, with the row's name. */
void planted_play(const struct planted_row *rows, size_t n);

/** Parts of rows; each ends the process, and so the row, when it cannot be done. */
void planted_file(const char *path, const char *text, mode_t mode);
void planted_folder(const char *path, mode_t mode);
void planted_link(const char *target, const char *path);
void planted_fifo(const char *path);
void planted_socket(const char *path);

#endif
