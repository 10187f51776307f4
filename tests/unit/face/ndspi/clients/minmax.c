/* SPDX-License-Identifier: BSD-3-Clause
 *
 * min and max in C.
 */
#include <windows.h>

int
main(void)
{
	DWORD depth = 64;
	SIZE_T room = 4096;

	return min(depth, room) == 64 && max(depth, room) == 4096 && max(3, 2) == 3 ? 0 : 1;
}
