/* SPDX-License-Identifier: BSD-3-Clause
 *
 * min and max as in windows.h, unless NOMINMAX is defined. Their arguments may have two types. In
 * C++ they are templates: macros of these names would break later headers of its library.
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
