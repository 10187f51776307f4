/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A private folder for drop-in files and a configuration file, which the environment points to. It
 * is empty before each test and removed with the process. Also short helpers for writing files
 * there. Start with scene_run().
 */
#ifndef SCENE_H
#define SCENE_H

#include "test.h"
#include "hr.h"

#include <ndsupport.h>
#include <ws2spi.h>

#include <stdbool.h>

/** Run the tests, each in an empty folder. Returns: failures */
int scene_run(const char *name, const struct CMUnitTest *tests, size_t n);

#define SCENE_TEST(test)                      \
	{                                     \
#test, test, NULL, NULL, NULL \
	}

/** A private network namespace for this process, in which the kernel has 198.51.100.0/25 and
 * 2001:db8::/64 on an interface plx-test, and 198.51.100.128/25 is unreachable.
 * Returns: false: not root, with a message on stderr */
bool scene_network(void);

/** The folder of drop-in files. */
const char *scene_folder(void);

/** Write a file there. @param format ... its text */
void scene_write(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
void scene_remove(const char *name);
/** Write the configuration file of Pollux's adapters. */
void scene_configure(const char *text);

/** The path of one of the libraries of second.c: "second", "empty", ... */
const char *scene_library(const char *name);
/** Its ProviderId, by the last byte. */
GUID scene_id(uint8_t last);
/** A drop-in file for it, "<name>.conf". */
void scene_provider(const char *name, uint8_t last);
/** Is the library in this process? */
bool scene_is_loaded(const char *name);

/** An IPv4 or IPv6 address of 16 or 28 bytes, good until the fourth call from now. */
struct sockaddr *scene_address(const char *text);
SIZE_T scene_bytes(const struct sockaddr *address);

#endif
