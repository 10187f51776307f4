/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is behind a connected socket. Start with sanqp_connection_make().
 */
#include <stdlib.h>

#include "provider.h"

_Static_assert((SANQP_RECEIVES & (SANQP_RECEIVES - 1)) == 0, "places are masked");
_Static_assert((SANQP_SENDS & (SANQP_SENDS - 1)) == 0, "places are masked");

static bool
make_ring(struct sanqp_ring *ring, uint32_t depth)
{
	ring->request = calloc(depth, sizeof(*ring->request));
	ring->depth = depth;
	return ring->request != NULL;
}

struct sanqp_connection *
sanqp_connection_make(struct sanqp_adapter *adapter, LPINT lpErrno)
{
	const struct plx_cq_options cq = {.depth = SANQP_RECEIVES + SANQP_SENDS};
	struct sanqp_connection *connection = calloc(1, sizeof(*connection));

	*lpErrno = WSAENOBUFS;
	if (connection == NULL)
		return NULL;
	connection->adapter = adapter;
	plx_list_init(&connection->regions);
	if (make_ring(&connection->receives, SANQP_RECEIVES) &&
	    make_ring(&connection->sends, SANQP_SENDS) &&
	    plx_pd_create(adapter->adapter, &connection->pd) == PLX_OK &&
	    plx_cq_create(adapter->adapter, &cq, &connection->cq) == PLX_OK)
		return connection;
	sanqp_connection_free(connection);
	return NULL;
}

void
sanqp_connection_options(const struct sanqp_connection *connection, struct plx_qp_options *out)
{
	*out = (struct plx_qp_options){
		.send_cq = connection->cq,
		.recv_cq = connection->cq,
		.sq_depth = SANQP_SENDS,
		.rq_depth = SANQP_RECEIVES,
		.sq_sges = SANQP_BUFFERS_MAX,
		.rq_sges = SANQP_BUFFERS_MAX,
	};
}

bool
sanqp_connection_end(struct sanqp_connection *connection)
{
	if (connection->connector != NULL &&
	    plx_connector_destroy(connection->connector) == PLX_TIMEOUT)
		return false;
	connection->connector = NULL;
	if (connection->qp != NULL && plx_qp_destroy(connection->qp) == PLX_TIMEOUT)
		return false;
	connection->qp = NULL;
	return true;
}

void
sanqp_connection_free(struct sanqp_connection *connection)
{
	sanqp_regions_free(connection);
	if (connection->cq != NULL)
		sanqp_ignore(plx_cq_destroy(connection->cq));
	if (connection->pd != NULL)
		sanqp_ignore(plx_pd_destroy(connection->pd));
	free(connection->receives.request);
	free(connection->sends.request);
	free(connection);
}
