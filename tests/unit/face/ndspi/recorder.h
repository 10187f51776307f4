/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An object of C, whose table notes which of its slots was called, and on which object.
 */
#ifndef NDSPI_RECORDER_H
#define NDSPI_RECORDER_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
	RECORDER_SLOTS = 16, /* as many as the longest table of ND2 has */
	RECORDER_NONE = -1,
};

/** The object: a pointer to its table, as every object of COM begins. */
void *recorder_object(void);

/** The slot that was called since the last look: RECORDER_NONE when none or another object's. */
int recorder_taken(void);

#ifdef __cplusplus
}
#endif

#endif
