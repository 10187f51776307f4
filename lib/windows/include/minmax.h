/* SPDX-License-Identifier: BSD-3-Clause
 *
 * min and max as windows.h has them, unless NOMINMAX says that the program does not want them.
 * Their two arguments may be of two types. C++ gets templates: a macro of these names would destroy
 * every later header of its library.
 */
#ifndef PLX_WIN_MINMAX_H
#define PLX_WIN_MINMAX_H

#ifndef NOMINMAX
#ifdef __cplusplus
#include <type_traits>

template <class A, class B>
constexpr typename std::common_type<A, B>::type
min(A a, B b)
{
	using both = typename std::common_type<A, B>::type;
	return static_cast<both>(a) < static_cast<both>(b) ? static_cast<both>(a)
							   : static_cast<both>(b);
}

template <class A, class B>
constexpr typename std::common_type<A, B>::type
max(A a, B b)
{
	using both = typename std::common_type<A, B>::type;
	return static_cast<both>(a) < static_cast<both>(b) ? static_cast<both>(b)
							   : static_cast<both>(a);
}
#else
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#endif
#endif

#endif
