/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A name that programs include. Its functions are not here: secrets come from getrandom() and from
 * the libraries of this system.
 */
#ifndef PLX_WIN_BCRYPT_H
#define PLX_WIN_BCRYPT_H
#include "ntstatus.h"

#define BCRYPT_SUCCESS(status) (((NTSTATUS)(status)) >= 0)

#endif
