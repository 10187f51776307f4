/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a queue pair for messages, from creation to destruction.
 * Start with message_qp_create().
 */
#include "message_qp.h"

#include "endpoint.h"

#include <errno.h>
#include <stdio.h>

void
check_destroyed(enum plx_status status, const char *what)
{
	if (status != PLX_OK)
		fprintf(stderr, "%s: %s cannot be destroyed: %s\n", program_invocation_short_name,
			what, plx_status_text(status));
}

static enum plx_status
create(struct message_qp *m, const struct message_qp_options *o, struct plx_why *why)
{
	struct plx_cq_options cq = {.depth = o->sq_depth + o->rq_depth};
	struct plx_adapter_info info;
	enum plx_status status;
	plx_adapter_query(o->adapter, &info);
	m->memory = plx_mem_alloc(o->bytes, info.socket, NULL);
	if (m->memory == NULL)
		return PLX_NO_MEMORY;
	status = plx_mr_register(o->pd, m->memory, o->bytes, PLX_ACCESS_LOCAL_WRITE, &m->mr);
	if (status == PLX_OK && !m->has_shared_cq)
		status = plx_cq_create(o->adapter, &cq, &m->cq);
	if (status != PLX_OK)
		return status;
	struct plx_qp_options qp = {
		.send_cq = m->cq,
		.recv_cq = m->cq,
		.sq_depth = o->sq_depth,
		.rq_depth = o->rq_depth,
		.context = o->context,
	};
	status = plx_qp_create(o->pd, &qp, &m->qp, why);
	if (status == PLX_OK)
		status = plx_qp_modify(m->qp, PLX_QP_INIT, NULL, NULL, why);
	return status;
}

bool
message_qp_create(struct message_qp *m, const struct message_qp_options *o, struct plx_why *why)
{
	*m = (struct message_qp){.cq = o->cq, .has_shared_cq = o->cq != NULL};
	why->text[0] = '\0';
	enum plx_status status = create(m, o, why);
	if (status != PLX_OK && why->text[0] == '\0')
		why_set(why, "no queue pair for messages: %s", plx_status_text(status));
	return status == PLX_OK;
}

void
message_qp_destroy(struct message_qp *m)
{
	if (m->qp != NULL)
		check_destroyed(plx_qp_destroy(m->qp), "a queue pair");
	if (m->cq != NULL && !m->has_shared_cq)
		check_destroyed(plx_cq_destroy(m->cq), "a completion queue");
	if (m->mr != NULL)
		check_destroyed(plx_mr_deregister(m->mr), "a region");
	if (m->memory != NULL)
		plx_mem_free(m->memory);
	*m = (struct message_qp){0};
}

static struct plx_sge
part(const struct message_qp *m, size_t offset, uint32_t bytes)
{
	return (struct plx_sge){.va = (uint64_t)(uintptr_t)m->memory + offset,
				.length = bytes,
				.key = plx_mr_key(m->mr)};
}

enum plx_status
message_qp_post_recv(struct message_qp *m, uint64_t wr_id, size_t offset, uint32_t bytes)
{
	enum plx_status status = PLX_OK;
	struct plx_sge sge = part(m, offset, bytes);
	struct plx_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .sges = 1};
	return plx_post_recv(m->qp, &wr, 1, &status) == 1 ? PLX_OK : status;
}

enum plx_status
message_qp_post_send(struct message_qp *m, uint64_t wr_id, size_t offset, uint32_t bytes)
{
	enum plx_status status = PLX_OK;
	struct plx_sge sge = part(m, offset, bytes);
	struct plx_send_wr wr = {.wr_id = wr_id, .op = PLX_WR_SEND, .sges = 1, .sge = &sge};
	return plx_post_send(m->qp, &wr, 1, &status) == 1 ? PLX_OK : status;
}
