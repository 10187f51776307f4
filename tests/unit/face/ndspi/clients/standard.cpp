// SPDX-License-Identifier: BSD-3-Clause
//
// Every header of the C++ library behind ndspi.h, and annotations behind those: __in is nothing to
// the program and a variable to the library.
#include <ndspi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfenv>
#include <cfloat>
#include <chrono>
#include <cinttypes>
#include <climits>
#include <clocale>
#include <cmath>
#include <codecvt>
#include <complex>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuchar>
#include <cwchar>
#include <cwctype>
#include <deque>
#include <exception>
#include <forward_list>
#include <fstream>
#include <functional>
#include <future>
#include <initializer_list>
#include <iomanip>
#include <ios>
#include <iosfwd>
#include <iostream>
#include <istream>
#include <iterator>
#include <limits>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <ostream>
#include <queue>
#include <random>
#include <ratio>
#include <regex>
#include <scoped_allocator>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <valarray>
#include <vector>
#if __cplusplus >= 201703L
#include <any>
#include <charconv>
#include <execution>
#include <filesystem>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <variant>
#endif

#include <arpa/inet.h>
#include <link.h>
#include <netdb.h>
#include <regex.h>
#include <sys/epoll.h>
#include <unistd.h>

static HRESULT
Next(__in const std::vector<int> &from, __out int *to)
{
	if (from.empty())
		return E_FAIL;
	*to = (std::min)(from.front(), std::numeric_limits<int>::max());
	return S_OK;
}

int
main()
{
	std::regex pattern("a+");
	std::ostringstream text;
	int got = 0;

	text << Next({3}, &got) << got << std::regex_match("aa", pattern);
	return text.str() == "031" ? 0 : 1;
}
