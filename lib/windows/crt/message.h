/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of errors, for FormatMessage().
 * It owns no state. Start with win_text_of_error().
 */
#ifndef PLX_WIN_MESSAGE_H
#define PLX_WIN_MESSAGE_H

#include <stdint.h>
#include <wchar.h>

/** The text of an error, or of an HRESULT made from one. Returns: NULL: it has none */
const wchar_t *win_text_of_error(uint32_t error);

#endif
