/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Start with end_make().
 */
#include "end.h"
#include "must.h"

void
end_make(struct end *end, struct plx_adapter *adapter, const struct plx_cq_options *cq,
	 struct plx_qp_options qp, void *memory, uint64_t bytes)
{
	end->adapter = adapter;
	must(plx_pd_create(adapter, &end->pd), "domain");
	must(plx_cq_create(adapter, cq, &end->cq), "completion queue");
	must(plx_mr_register(end->pd, memory, bytes,
			     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE, &end->mr),
	     "region");
	qp.send_cq = qp.recv_cq = end->cq;
	must(plx_qp_create(end->pd, &qp, &end->qp, &why), "queue pair");
}
