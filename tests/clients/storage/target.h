/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The target's sessions, connections and commands.
 */
#pragma once
#include "storage.h"

typedef struct _TARGET_CONNECTION TARGET_CONNECTION, *PTARGET_CONNECTION;

typedef struct _TARGET_SESSION {
	KSPIN_LOCK Lock;            /* after a connection's */
	PTARGET_CONNECTION Current; /* the only one that may use the disk */
	ULONG Number;
	UCHAR Disk[STORAGE_SLOTS * STORAGE_EXTENT];
} TARGET_SESSION, *PTARGET_SESSION;

/* A command that is served. */
typedef struct _TARGET_COMMAND {
	STORAGE_WORK Read, Answer, Credit;
	STORAGE_MESSAGE Message;                       /* the command's */
	PSTORAGE_MESSAGE AnswerMessage, CreditMessage; /* of the region */
	PUCHAR Data;                                   /* of the region */
	ULONG Pending;                                 /* requests whose memory is in use */
} TARGET_COMMAND, *PTARGET_COMMAND;

#define TARGET_REGION (STORAGE_SLOTS * (STORAGE_EXTENT + 2 * sizeof(STORAGE_MESSAGE)))

struct _TARGET_CONNECTION {
	STORAGE_CONNECTION Common;
	LIST_ENTRY CloseLink;
	PTARGET_SESSION Session;
	PIO_WORKITEM Item;
	BOOLEAN Busy;           /* the work item has it, and queues it for closing if it breaks */
	BOOLEAN Drop;           /* it is to disconnect */
	BOOLEAN Replaced, Told; /* with the target's lock */
	TARGET_COMMAND Commands[STORAGE_SLOTS];
	STORAGE_MESSAGE Waiting[STORAGE_SLOTS]; /* for a command to be free: a ring */
	ULONG WaitingFirst, WaitingCount;
};

EXTERN_C_START
/* ---- serve.c ---- */
VOID ServeBegin(_Inout_ PTARGET_CONNECTION Connection);
STORAGE_ON_RESULT ServeOnResult;
EXTERN_C_END
