/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name. Its functions are missing: random numbers come from getrandom() and
 * from the libraries of this system.
 */
#ifndef PLX_WIN_BCRYPT_H
#define PLX_WIN_BCRYPT_H
#include "ntstatus.h"

#define BCRYPT_SUCCESS(status) (((NTSTATUS)(status)) >= 0)

#endif
