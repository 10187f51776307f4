/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cmocka, and the headers that it wants before its own.
 */
#ifndef PLX_TEST_TEST_H
#define PLX_TEST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
