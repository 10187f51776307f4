/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains: shared by a program's regions, windows and queue pairs.
 * It counts nothing itself: the host's key table knows which objects still use a domain.
 * Start with plx_pd_create().
 */
#include <stdlib.h>

#include "plx_objects.h"

enum plx_status
plx_pd_create(struct plx_adapter *adapter, struct plx_pd **pd)
{
	const struct plx_ipc_nothing request = {0};
	struct plx_pd *made = calloc(1, sizeof(*made));
	struct plx_ipc_object reply;
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	status = adapter_call(adapter, PLX_IPC_PD_CREATE, &request, &reply, NULL);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	made->adapter = adapter;
	made->object = reply.object;
	*pd = made;
	return PLX_OK;
}

enum plx_status
plx_pd_destroy(struct plx_pd *pd)
{
	enum plx_status status = adapter_call_on(pd->adapter, PLX_IPC_DESTROY, pd->object.v);

	if (status == PLX_OK)
		free(pd);
	return status;
}
