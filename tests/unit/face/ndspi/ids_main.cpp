// SPDX-License-Identifier: BSD-3-Clause
//
// Defines identifiers that ids.c defines too; the program is linked with no library of ours. The
// first include has declared some already: initguid.h makes the ones behind it definitions.
#include <windows.h>
#include <initguid.h>

#include <ndspi.h>

#include "ids.h"

int
main()
{
	const GUID own = {0x01020304, 0x0506, 0x0708, {9, 10, 11, 12, 13, 14, 15, 16}};

	if (IID_Own != own || *ids_own() != own || *ids_adapter() != IID_IND2Adapter)
		return 1;
	/* One object for both files, so that programs may compare addresses. */
	return &IID_Own == ids_own() && &IID_IND2Adapter == ids_adapter() ? 0 : 2;
}
