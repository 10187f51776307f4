/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Headers of the C and C++ libraries that have variables named __in and __out, which sal.h makes
 * vanish. Included before that, they are done with; a later include of the same finds its guard.
 * tests/unit/face/ndspi tries every header of the C++ library behind windows.h.
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
