/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See neighbour.h. Any of its calls may find that polluxd has gone. Start with be_neighbour().
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "clock.h"
#include "neighbour.h"
#include "orphan.h"

enum {
	NEWS_MAX = 8,
	LIFE_S = 240, /* longer than the test */
};

static struct {
	struct program self; /* at the adapter "b" */
	struct {
		struct plx_connector *connector;
		struct plx_qp *qp;
	} news[NEWS_MAX];
} neighbour;

static void
drop(unsigned i)
{
	PROGRAM_MUST(plx_connector_destroy(neighbour.news[i].connector) == PLX_OK);
	PROGRAM_MUST(neighbour.news[i].qp == NULL ||
		     plx_qp_destroy(neighbour.news[i].qp) == PLX_OK);
	memset(&neighbour.news[i], 0, sizeof(neighbour.news[i]));
}

/* Any of it may find that polluxd has gone, or the peer. */
static void
accept_request(const struct plx_connector_event *event)
{
	struct program *self = &neighbour.self;
	const struct plx_qp_options options = {.send_cq = self->cq,
					       .recv_cq = self->cq,
					       .sq_depth = PROGRAM_DEPTH,
					       .rq_depth = PROGRAM_DEPTH};
	const struct plx_sge sge = {(uintptr_t)self->memory, PROGRAM_BYTES, plx_mr_key(self->mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};
	struct plx_connect_options connect;
	unsigned i = 0;

	while (i < NEWS_MAX && neighbour.news[i].connector != NULL)
		i++;
	PROGRAM_MUST(i < NEWS_MAX);
	neighbour.news[i].connector = event->connector;
	if (plx_qp_create(self->pd, &options, &neighbour.news[i].qp, NULL) != PLX_OK)
		return;
	plx_connect_options_init(&connect);
	if (plx_accept(event->connector, neighbour.news[i].qp, &connect, NULL) != PLX_OK)
		return;
	for (int n = 0; n < 4; n++)
		PROGRAM_MUST(plx_post_recv(neighbour.news[i].qp, &wr, 1, NULL) == 1);
}

static void
handle(const struct plx_connector_event *event)
{
	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		accept_request(event);
		return;
	}
	for (unsigned i = 0; i < NEWS_MAX; i++)
		if (neighbour.news[i].connector == event->connector &&
		    event->kind != PLX_CM_EVENT_ESTABLISHED)
			drop(i);
}

static void
begin_neighbour(struct board *board, struct program *self)
{
	const struct plx_listen_options listen = {.port = PROGRAM_PORT};
	const struct plx_cq_options cq = {.depth = 1024};

	while (plx_adapter_open("b", NULL, &self->adapter, NULL) != PLX_OK)
		usleep(500);
	self->memory = plx_mem_alloc(PROGRAM_BYTES, -1, NULL);
	PROGRAM_MUST(self->memory != NULL);
	PROGRAM_MUST(plx_pd_create(self->adapter, &self->pd) == PLX_OK);
	PROGRAM_MUST(plx_mr_register(self->pd, self->memory, PROGRAM_BYTES,
				     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ,
				     &self->mr) == PLX_OK);
	PROGRAM_MUST(plx_cq_create(self->adapter, &cq, &self->cq) == PLX_OK);
	PROGRAM_MUST(plx_event_channel_create(self->adapter, 16, &self->channel) == PLX_OK);
	PROGRAM_MUST(plx_listen(self->channel, &listen, &self->listener, NULL) == PLX_OK);
	atomic_store(&board->memory, (uintptr_t)self->memory);
	atomic_store(&board->key, plx_mr_key(self->mr).v);
	atomic_store(&board->listens, true);
}

static void
be_neighbour(struct board *board)
{
	const struct orphan_holds before = orphan_count();
	struct program *self = &neighbour.self;
	struct plx_connector_event event;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE_S);
	for (;;) {
		begin_neighbour(board, self);
		while (plx_event_channel_wait(self->channel, LIFE_S * 1000, &event))
			handle(&event);
		atomic_store(&board->told, test_ns());
		atomic_store(&board->listens, false);
		orphan_calls_end(self);
		for (unsigned i = 0; i < NEWS_MAX; i++)
			if (neighbour.news[i].connector != NULL)
				drop(i);
		orphan_close(self);
		PROGRAM_MUST(orphan_holds_no_more(&before));
		atomic_fetch_add(&board->deaths, 1);
	}
}

pid_t
neighbour_start(struct board *board)
{
	pid_t pid = fork();

	if (pid == 0)
		be_neighbour(board);
	return pid;
}
