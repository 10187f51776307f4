/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The seat of the program that owns the adapter: calls are served at once, on the caller's thread,
 * and memory is the program's own. Start with plx_host_embed().
 */
#include "host.h"

static struct host_seat *
seat_of(struct plx_seat *seat)
{
	return plx_list_entry(seat, struct host_seat, seat);
}

static enum plx_status
call(struct plx_seat *seat, enum plx_ipc_op op, const void *request, void *reply,
     struct plx_why *why)
{
	return plx_host_call(seat_of(seat), op, request, reply, why);
}

static void *
at(struct plx_seat *seat, struct plx_location place)
{
	(void)seat;
	return (void *)(uintptr_t)place.at;
}

static struct plx_location
place_of(struct plx_seat *seat, const void *memory, size_t bytes)
{
	(void)seat;
	(void)bytes;
	return (struct plx_location){.at = (uintptr_t)memory};
}

static void
find_inline(struct plx_seat *seat, struct plx_object object, struct plx_seat_inline *out)
{
	struct host_seat *own = seat_of(seat);
	const struct host_queue_pair *qp = host_find(own, object, HOST_QP);
	const struct host_srq *srq = host_find(own, object, HOST_SRQ);

	*out = (struct plx_seat_inline){0};
	if (!own->adapter->inline_mode)
		return;
	out->here = &plx_engine_here;
	if (srq != NULL)
		out->rq = plx_srq_back_inline(srq->back);
	if (qp == NULL)
		return;
	out->engine = own->adapter->engine[qp->engine];
	out->qp = qp->listed.back;
	out->sq = qp->made.sq;
	out->rq = qp->made.rq;
}

static uint32_t
run(struct plx_seat *seat, uint32_t engine)
{
	return plx_host_adapter_run(seat_of(seat)->adapter, engine);
}

static enum plx_status
close_seat(struct plx_seat *seat)
{
	struct host_seat *own = seat_of(seat);
	enum plx_status status = plx_host_adapter_close(own->adapter);

	if (status == PLX_OK)
		host_seat_free(own);
	return status;
}

static const struct plx_seat_ops ops = {
	.call = call,
	.at = at,
	.place = place_of,
	.find_inline = find_inline,
	.run = run,
	.prepare_thread = plx_lcore_assign,
	.close = close_seat,
};

struct host_adapter *
plx_host_of(struct plx_seat *seat)
{
	return seat_of(seat)->adapter;
}

enum plx_status
plx_host_embed(const char *name, const struct plx_adapter_options *options, struct plx_seat **out,
	       struct plx_why *why)
{
	struct host_adapter *adapter;
	enum plx_status status = plx_host_adapter_open(name, options, &adapter, why);
	struct host_seat *seat;

	if (status != PLX_OK)
		return status;
	seat = host_seat_alloc(adapter);
	if (seat == NULL) {
		PLX_ASSERT(plx_host_adapter_close(adapter) == PLX_OK);
		plx_why_set(why, "there is no memory for a seat");
		return PLX_NO_MEMORY;
	}
	for (uint32_t i = 0; i < adapter->engines; i++)
		seat->back[i] = plx_seat_back_own(adapter->engine[i]);
	seat->seat.ops = &ops;
	seat->seat.host_fd = -1;
	*out = &seat->seat;
	return PLX_OK;
}
