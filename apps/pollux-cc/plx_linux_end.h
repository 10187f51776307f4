/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of what plx_linux_begin.h begins: every name is what it was there.
 */
#pragma GCC system_header
#ifndef PLX_LINUX_SIDE
#error "plx_linux_end.h without plx_linux_begin.h"
#endif
#undef PLX_LINUX_SIDE

#pragma pop_macro("_WIN32")
#pragma pop_macro("_WIN64")
#pragma pop_macro("WIN32")
#pragma pop_macro("WIN64")
#pragma pop_macro("_MSC_VER")
#pragma pop_macro("_MSC_FULL_VER")
#pragma pop_macro("_MSC_BUILD")
#pragma pop_macro("_MSC_EXTENSIONS")
#pragma pop_macro("_MSVC_LANG")
#pragma pop_macro("_M_X64")
#pragma pop_macro("_M_AMD64")
#pragma pop_macro("_M_ARM64")
#pragma pop_macro("_M_IX86")
#pragma pop_macro("__in")
#pragma pop_macro("__out")
#pragma pop_macro("__inout")
#pragma pop_macro("__reserved")
#pragma pop_macro("__callback")
#pragma pop_macro("__valid")
#pragma pop_macro("__null")
#pragma pop_macro("__fallthrough")
#pragma pop_macro("__success")
#pragma pop_macro("min")
#pragma pop_macro("max")
#pragma pop_macro("interface")
#pragma pop_macro("small")
#pragma pop_macro("near")
#pragma pop_macro("far")
#pragma pop_macro("IN")
#pragma pop_macro("OUT")
#pragma pop_macro("__linux__")
#pragma pop_macro("__linux")
#pragma pop_macro("linux")
#pragma pop_macro("__gnu_linux__")
#pragma pop_macro("__unix__")
#pragma pop_macro("__unix")
#pragma pop_macro("unix")
