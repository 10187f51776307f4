// SPDX-License-Identifier: BSD-3-Clause
//
// min and max of two types, as programs for Windows use the macros, beside std's own.
#include <windows.h>

#include <algorithm>
#include <limits>

using namespace std;

int
main()
{
	ULONG depth = 64;
	SIZE_T room = 4096;
	const int three = 3;
	DWORD large = 0xFFFFFFFF;

	if (min(depth, room) != 64 || max(depth, room) != 4096 || min(room, 5) != 5)
		return 1;
	if (max(three, 2) != 3 || ::min(three, 2.5) != 2.5 || std::max(depth, 65u) != 65)
		return 2;
	/* As the macro: the comparison is one of unsigned numbers. */
	if (max(large, three) != large || min(numeric_limits<short>::max(), 40000) != 32767)
		return 3;
	static_assert(min(sizeof(GUID), 4) == 4, "a constant stays one");
	return 0;
}
