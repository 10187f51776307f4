// SPDX-License-Identifier: BSD-3-Clause
//
// The same library in C++: its DllMain() has another name for the linker.
#include "told_library.c"
