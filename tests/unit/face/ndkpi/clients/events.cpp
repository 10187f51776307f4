// SPDX-License-Identifier: BSD-3-Clause
//
// events.c as a source of C++.
#include "events.c"
