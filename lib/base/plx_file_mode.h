/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mode of a socket's file, as users write it. Start with plx_file_mode_read().
 */
#ifndef PLX_FILE_MODE_H
#define PLX_FILE_MODE_H

#include "plx_base.h"

enum {
	PLX_FILE_MODE_LEAST = 0600,
	PLX_FILE_MODE_MOST = 0777,
};

/** Of octal digits. Returns: 0: it is none, or not LEAST to MOST */
static inline uint32_t
plx_file_mode_read(const char *text)
{
	uint32_t mode = 0;

	for (; *text >= '0' && *text <= '7' && mode <= PLX_FILE_MODE_MOST; text++)
		mode = mode * 8 + (uint32_t)(*text - '0');
	return *text == '\0' && mode >= PLX_FILE_MODE_LEAST && mode <= PLX_FILE_MODE_MOST ? mode
											  : 0;
}

#endif
