/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; it has the few parts that do not call the kernel.
 */
#ifndef PLX_WIN_WINTERNL_H
#define PLX_WIN_WINTERNL_H
#include "ntstatus.h"

typedef struct _IO_STATUS_BLOCK {
	__extension__ union {
		NTSTATUS Status;
		PVOID Pointer;
	};
	ULONG_PTR Information;
} IO_STATUS_BLOCK, *PIO_STATUS_BLOCK;

#endif
