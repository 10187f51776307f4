/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Includes the headers of the C and C++ libraries that have variables named __in and __out, before
 * sal.h defines these as empty; a later include then finds its guard. tests/unit/face/ndspi tries
 * every header of the C++ library after windows.h.
 */
#ifndef PLX_WIN_STDFIRST_H
#define PLX_WIN_STDFIRST_H

#include "linuxin.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <wchar.h>

#ifdef __cplusplus
#include <algorithm>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <new>
#include <ostream>
#include <regex>
#include <string>
#include <thread>
#if __cplusplus >= 202002L
#include <ranges>
#endif
#endif

#endif
