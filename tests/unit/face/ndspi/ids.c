/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Defines identifiers, in C. ids_main.cpp defines the same ones.
 */
#include <initguid.h>

#include <ndspi.h>

#include "ids.h"

const GUID *
ids_own(void)
{
	return &IID_Own;
}

const GUID *
ids_adapter(void)
{
	return &IID_IND2Adapter;
}
