/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of an adapter's engines serves a queue (decision 44). All queues of a queue pair are of one
 * engine. A program may pin them; else the first queue pair that uses them decides. It never moves
 * a queue that an engine knows. Start with host_place_qp().
 */
#include "host.h"

/* The engine with the fewest queue pairs. The lock is held. */
static uint32_t
idlest(const struct host_adapter *adapter)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < adapter->engines; i++)
		if (adapter->load[i] < adapter->load[best])
			best = i;
	return best;
}

enum plx_status
host_placement_begin(const struct host_adapter *adapter, uint32_t pin, struct host_placement *out)
{
	if (pin > adapter->engines)
		return PLX_INVALID;
	/* With one engine there is nothing to choose. */
	*out = (struct host_placement){
		.engine = pin != 0 ? pin - 1 : 0,
		.placed = pin != 0 || adapter->engines == 1,
	};
	return PLX_OK;
}

/* Returns: whether the queue has to move. The lock is held. */
static bool
place(struct host_placement *placement, uint32_t engine)
{
	bool moves = !placement->placed && placement->engine != engine;

	if (!placement->placed)
		*placement = (struct host_placement){.engine = engine, .placed = true};
	return moves;
}

static void
put_cq(struct host_seat *seat, struct host_cq *cq, uint32_t engine)
{
	if (place(&cq->placement, engine))
		plx_cq_back_place(cq->back, seat->back[engine]);
}

static void
put_srq(struct host_seat *seat, struct host_srq *srq, uint32_t engine)
{
	if (place(&srq->placement, engine))
		plx_srq_back_place(srq->back, seat->back[engine]);
}

void
host_place_cq(struct host_seat *seat, struct host_cq *cq)
{
	struct host_adapter *adapter = seat->adapter;

	pthread_mutex_lock(&adapter->lock);
	put_cq(seat, cq, idlest(adapter));
	pthread_mutex_unlock(&adapter->lock);
}

void
host_place_srq(struct host_seat *seat, struct host_srq *srq)
{
	struct host_adapter *adapter = seat->adapter;

	pthread_mutex_lock(&adapter->lock);
	put_srq(seat, srq, idlest(adapter));
	pthread_mutex_unlock(&adapter->lock);
}

bool
host_cq_is_placed(struct host_seat *seat, const struct host_cq *cq, uint32_t *engine)
{
	struct host_adapter *adapter = seat->adapter;
	bool placed;

	pthread_mutex_lock(&adapter->lock);
	placed = cq->placement.placed;
	*engine = cq->placement.engine;
	pthread_mutex_unlock(&adapter->lock);
	return placed;
}

/* The engine that the placed ones among them have in common. The lock is held.
 * @param engine [in] where they go if none has a place */
static enum plx_status
agree(const struct host_queues *queues, uint32_t *engine, struct plx_why *why)
{
	const struct {
		const struct host_placement *placement;
		const char *name;
	} queue[] = {
		{&queues->send_cq->placement, "completion queue of its sends"},
		{&queues->recv_cq->placement, "completion queue of its receives"},
		{queues->srq != NULL ? &queues->srq->placement : NULL, "shared receive queue"},
	};
	const char *first = NULL;

	for (uint32_t i = 0; i < PLX_COUNT_OF(queue); i++) {
		if (queue[i].placement == NULL || !queue[i].placement->placed)
			continue;
		if (first != NULL && queue[i].placement->engine != *engine) {
			plx_why_set(why,
				    "the %s is of engine %u, and the %s of engine %u; one engine "
				    "serves a queue pair: give it queues of one, or pin them when "
				    "they are created (`engine`)",
				    first, *engine + 1, queue[i].name,
				    queue[i].placement->engine + 1);
			return PLX_INVALID;
		}
		first = queue[i].name;
		*engine = queue[i].placement->engine;
	}
	return PLX_OK;
}

enum plx_status
host_place_qp(struct host_seat *seat, const struct host_queues *queues, uint32_t *out,
	      struct plx_why *why)
{
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status;
	uint32_t engine;

	pthread_mutex_lock(&adapter->lock);
	engine = *out != ANY_ENGINE ? *out : idlest(adapter);
	status = agree(queues, &engine, why);
	if (status == PLX_OK && *out != ANY_ENGINE && engine != *out) {
		plx_why_set(why,
			    "the queue pair is of engine %u, and its queues are of engine %u; give "
			    "it queues of that engine, or new ones",
			    *out + 1, engine + 1);
		status = PLX_INVALID;
	}
	if (status == PLX_OK) {
		put_cq(seat, queues->send_cq, engine);
		put_cq(seat, queues->recv_cq, engine);
		if (queues->srq != NULL)
			put_srq(seat, queues->srq, engine);
		adapter->load[engine]++;
		*out = engine;
	}
	pthread_mutex_unlock(&adapter->lock);
	return status;
}

void
host_displace_qp(struct host_seat *seat, uint32_t engine)
{
	struct host_adapter *adapter = seat->adapter;

	pthread_mutex_lock(&adapter->lock);
	adapter->load[engine]--;
	pthread_mutex_unlock(&adapter->lock);
}
