/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ex: work items, which threads of this library run at PASSIVE_LEVEL. An item is queued or not; its
 * routine may queue it again, or free it. An item that waits for another is safe while not more
 * than 64 of its queue wait. A routine that returns at another level, or in a region without APCs,
 * ends the process with a sentence, if the checks are on; so does an item that is queued twice.
 * Threads: every call from any thread, at DISPATCH_LEVEL and below. Tests:
 * tests/unit/windows/ex/work.c
 */
#ifndef PLX_WDK_WDMWORK_H
#define PLX_WDK_WDMWORK_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each has threads of its own. Their priority is the same. */
typedef enum _WORK_QUEUE_TYPE {
	CriticalWorkQueue,
	DelayedWorkQueue,
	HyperCriticalWorkQueue,
	NormalWorkQueue,
	BackgroundWorkQueue,
	RealTimeWorkQueue,
	SuperCriticalWorkQueue,
	MaximumWorkQueue,
	CustomPriorityWorkQueue = 32,
} WORK_QUEUE_TYPE;

typedef VOID WORKER_THREAD_ROUTINE(PVOID Parameter);
typedef WORKER_THREAD_ROUTINE *PWORKER_THREAD_ROUTINE;

/* List.Flink is NULL while it is not queued. */
typedef struct _WORK_QUEUE_ITEM {
	LIST_ENTRY List;
	PWORKER_THREAD_ROUTINE WorkerRoutine;
	PVOID Parameter;
} WORK_QUEUE_ITEM, *PWORK_QUEUE_ITEM;

#define ExInitializeWorkItem(Item, Routine, Context)                       \
	((Item)->WorkerRoutine = (Routine), (Item)->Parameter = (Context), \
	 (Item)->List.Flink = NULL)

/** @param QueueType below MaximumWorkQueue, or CustomPriorityWorkQueue plus a priority below 32,
 *  which is the normal queue here */
VOID ExQueueWorkItem(PWORK_QUEUE_ITEM WorkItem, WORK_QUEUE_TYPE QueueType)
	PLX_WIN_NAME(ExQueueWorkItem);

#ifdef __cplusplus
}
#endif

#endif
