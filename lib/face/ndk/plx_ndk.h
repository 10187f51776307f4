/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The NDK provider: adapters by name, from which a consumer creates everything else through their
 * tables (ndkpi.h). Start with plx_ndk_open().
 */
#ifndef PLX_NDK_H
#define PLX_NDK_H

#include <ndkpi.h>
#include <ndkstatus.h>

#include "plx_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Open an adapter of pollux.conf; several may be open on one name. The adapter must have a worker.
 * @param version that the consumer wants; 1.0 to 1.2 gets 1.2, 2.0 and 2.1 get 2.1
 * Errors:  NDIS_STATUS_BAD_VERSION, NDIS_STATUS_ADAPTER_NOT_READY (it cannot be opened, or is
 *          inline; POLLUX_NDK_LOG says why), NDIS_STATUS_RESOURCES
 * Threads: any that may wait
 */
PLX_API NTSTATUS plx_ndk_open(const char *name, NDK_VERSION version, NDK_ADAPTER **adapter);
/**
 * Close an adapter, and wait until everything made from it is closed and every callback has
 * returned: after this the consumer may be unloaded. Not from a callback: a debug build ends the
 * process with a sentence, any other returns at once and closes it when it can.
 */
PLX_API void plx_ndk_close(NDK_ADAPTER *adapter);

struct plx_adapter;

/** The adapter behind an NDK adapter, for using plx_verbs.h beside NDK. Do not close it; it lives
 * as long as `adapter`. NDK consumes its events (plx_adapter_next_async_event()). */
PLX_API struct plx_adapter *plx_ndk_adapter_verbs(NDK_ADAPTER *adapter);

#ifdef __cplusplus
}
#endif

#endif
