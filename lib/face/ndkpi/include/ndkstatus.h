/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statuses of NDKPI: NT's, and those of NDIS that opening an adapter returns.
 */
#ifndef PLX_NDKPI_NDKSTATUS_H
#define PLX_NDKPI_NDKSTATUS_H

#include <ntstatus.h>

#define NDIS_STATUS_BAD_VERSION       ((NTSTATUS)0xC0010004)
#define NDIS_STATUS_ADAPTER_NOT_READY ((NTSTATUS)0xC0010011)
#define NDIS_STATUS_RESOURCES         STATUS_INSUFFICIENT_RESOURCES

#endif
