/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When polluxd dies: what a program does then, where polluxd has got to, and how the program's call
 * or wait must end. Each call is a request that polluxd reads, does, and answers; some are several.
 * docs/testing.md lists them. Start with moments[].
 */
#ifndef PLX_TEST_MOMENTS_H
#define PLX_TEST_MOMENTS_H

#include "daemon_child.h"
#include "neighbour.h"
#include "program_steps.h"

enum {
	MOMENTS = 51,
};

struct moment {
	const char *name;
	const char *after; /* the program's last step; NULL: it has taken none */
	void (*before)(struct program *p);
	enum plx_status (*act)(struct program *p); /* within this */
	enum plx_status ends;                      /* how that ends */
	struct daemon_moment when;                 /* SLEEPS: once the program's thread does */
};

extern const struct moment moments[MOMENTS];

/* What the neighbour lends. */
extern const struct board *moments_board;
/* A second seat of the program's, at the adapter "b", which calls the first one. */
extern struct program moments_caller;

#endif
