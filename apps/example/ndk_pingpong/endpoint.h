/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One end of a connection: its adapter, objects and memory. Opening and connecting wait, at
 * PASSIVE_LEVEL. What to send is not its business. Start with OpenEndpoint().
 */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <ntddk.h>
#include <ndkpi.h>
#include <netioapi.h>

#define DEPTH       4 /* requests of one kind that can be posted at once */
#define MEMORY_SIZE (2 * PAGE_SIZE)

extern NDK_CQ *Cq;
extern NDK_QP *Qp;
extern NDK_MR *Mr; /* for fast registration of one page */
extern PVOID Memory;

/* The adapter is that of the route to Target, which on the target is its own. If it fails, nothing
 * is open. */
NTSTATUS OpenEndpoint(_In_ SOCKADDR_INET *Target, _In_ NDK_FN_CQ_NOTIFICATION_CALLBACK OnResults);
VOID CloseEndpoint(VOID);

/* The initiator: connect to a target that listens. */
NTSTATUS Connect(_In_ SOCKADDR_INET *Target);
/* The target: accept one initiator. */
NTSTATUS Accept(_In_ SOCKADDR_INET *Target);

/* A part of Memory within one page, for requests of our own. */
NDK_SGE LocalMemory(_In_ ULONG Offset, _In_ ULONG Length);

#endif
