/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same words in C++.
 */
#include "keywords.c"
