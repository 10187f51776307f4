/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains: shared by a program's regions, windows and queue pairs.
 * It counts nothing itself: the key table knows which objects still use a domain.
 * Start with plx_pd_create().
 */
#include <stdlib.h>

#include "objects.h"

enum plx_status
plx_pd_create(struct plx_adapter *adapter, struct plx_pd **pd)
{
	struct plx_pd *made = calloc(1, sizeof(*made));
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	made->adapter = adapter;
	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_create(adapter->mem, &made->domain);
	if (status == PLX_OK)
		adapter->count.pds++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	*pd = made;
	return PLX_OK;
}

enum plx_status
plx_pd_destroy(struct plx_pd *pd)
{
	struct plx_adapter *adapter = pd->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_destroy(adapter->mem, pd->domain);
	if (status == PLX_OK)
		adapter->count.pds--;
	pthread_mutex_unlock(&adapter->lock);
	if (status == PLX_OK)
		free(pd);
	return status;
}
