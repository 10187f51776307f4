// SPDX-License-Identifier: BSD-3-Clause
//
// wsk.c as a source of C++.
#include "wsk.c"
