/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests that need a process of their own, since a process has one EAL: the test runs itself again
 * with the name of a scene. A scene prints what is wrong. A scene that prints nothing and exits
 * with 0 has passed; this also proves that our library prints nothing. Start with scene_main().
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdio.h>

#include "test.h"

struct scene {
	const char *name;
	int (*play)(void);
};

/** Within a scene: go on only if it holds. By stderr, which a sanitizer that ends the scene does
 * not swallow. */
#define EXPECT(condition)                                                                       \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                               \
		}                                                                               \
	} while (0)

/** Within a scene: the sentence holds these words. */
#define EXPECT_WORDS(text, words)                                                                  \
	do {                                                                                       \
		if (!strstr(text, words)) {                                                        \
			fprintf(stderr, "%s:%d: \"%s\" has no \"%s\"\n", __FILE__, __LINE__, text, \
				words);                                                            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

/** Run this program again to play a scene, and wait for it to exit.
 * @param out [n] its output.
 * Returns: its wait status */
int scene_run(const char *name, char *out, size_t n);

/** As a test: it ends with 0 and prints nothing. */
void scene_passes(const char *name);

/** Play the scene that the arguments name, if they do. Returns: its result, or -1 */
int scene_main(int argc, char **argv, const struct scene *scenes, size_t n);

#endif
