// SPDX-License-Identifier: BSD-3-Clause
//
// tables.c as a source of C++, whose generic tables are AVL trees.
#define RTL_USE_AVL_TABLES 0
#include "tables.c"
