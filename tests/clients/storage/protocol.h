/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The storage protocol, on the wire and at the control device. A session has slots; each has an
 * extent of the target's disk and at most one command at a time. A command carries the token of the
 * initiator's buffer; the target reads or writes it, and answers by a SEND that invalidates it.
 *
 * Every message spends a credit of its sender, and returns those for receives that its sender has
 * posted again, so that no message finds its receiver without one.
 */
#pragma once

#define STORAGE_SLOTS          8
#define STORAGE_BLOCK          512
#define STORAGE_BLOCKS         32 /* of an extent */
#define STORAGE_EXTENT         (STORAGE_BLOCKS * STORAGE_BLOCK)
#define STORAGE_SESSIONS_MAX   256
#define STORAGE_TARGET_CREDITS STORAGE_SLOTS /* for commands */
#define STORAGE_ANSWER_CREDITS (2 * STORAGE_SLOTS)
#define STORAGE_PORT           5044

typedef enum _STORAGE_MESSAGE_TYPE {
	StorageMessageCommand = 1,
	StorageMessageAnswer,
	StorageMessageCredit, /* credits alone */
} STORAGE_MESSAGE_TYPE;

#define STORAGE_FLAG_WRITE 0x01 /* a command: from the initiator to the disk */
#define STORAGE_FLAG_DROP  0x02 /* a command: the target shall disconnect instead */
#define STORAGE_FLAG_KEPT  0x04 /* an answer: the token is still valid */

typedef struct _STORAGE_MESSAGE {
	ULONG Type;
	ULONG Flags;
	ULONG Credits;
	ULONG Slot;
	ULONG64 Command;  /* number, of an answer, too */
	ULONG64 Sequence; /* that the blocks of a write have */
	ULONG64 Address;
	UINT32 Token;
	ULONG FirstBlock;
	ULONG Blocks;
	ULONG Status; /* of an answer */
} STORAGE_MESSAGE, *PSTORAGE_MESSAGE;

/* The private data of a connect. */
typedef struct _STORAGE_LOGIN {
	ULONG Session;
	ULONG Credits; /* for answers */
} STORAGE_LOGIN;

/* ---- the control device ---- */

/* Input: ULONG, the milliseconds that commands are begun for. Output: STORAGE_STATISTICS. Ends when
 * every command has completed; STATUS_IO_TIMEOUT if one does not, STATUS_DATA_ERROR if anything was
 * lost, duplicated or mixed. */
#define IOCTL_STORAGE_RUN CTL_CODE(FILE_DEVICE_UNKNOWN, 0x800, METHOD_BUFFERED, FILE_ANY_ACCESS)
/* Output: STORAGE_STATISTICS, now. */
#define IOCTL_STORAGE_STATISTICS \
	CTL_CODE(FILE_DEVICE_UNKNOWN, 0x801, METHOD_BUFFERED, FILE_ANY_ACCESS)

/* Of the initiator, unless said otherwise. The names are those of `run`, in this order. */
typedef struct _STORAGE_STATISTICS {
	volatile LONG64 Started;       /* commands */
	volatile LONG64 Completed;     /* the same ones, once each */
	volatile LONG64 Bytes;         /* of completed commands */
	volatile LONG64 Replayed;      /* commands, on another connection */
	volatile LONG64 Connects;      /* connections that became ready */
	volatile LONG64 Faults;        /* that were provoked */
	volatile LONG64 Stale;         /* of those: commands with an invalidated token */
	volatile LONG64 Invalidations; /* by an answer, and seen */
	volatile LONG64 Kept;          /* tokens invalidated by the initiator */
	volatile LONG64 Served;        /* commands that the target has answered */
	volatile LONG64 Accepts;       /* connections that the target has accepted */
	volatile LONG64 Wrong;         /* bytes, at either end */
	volatile LONG64 Dead;          /* bytes that changed without a valid token */
	volatile LONG64 Stray;         /* answers to no command, other tokens invalidated */
	volatile LONG64 Overruns;      /* messages without a credit, at either end */
	volatile LONG64 Lost;          /* requests without a result, or with two */
} STORAGE_STATISTICS;
