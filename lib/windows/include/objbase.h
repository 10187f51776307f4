/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A name that programs include; what is expected of it is in unknwn.h.
 */
#ifndef PLX_WIN_OBJBASE_H
#define PLX_WIN_OBJBASE_H
#include "unknwn.h"
#endif
