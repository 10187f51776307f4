/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adapters, sides and pairs of NDK tests. Start with ndk_pair_open().
 */
#include "ndk_pair.h"

#include <netinet/in.h>
#include <ntstatus.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "polluxd.h"

static const char config[] =
	"eal = \"--no-huge -m 1024\";\n" /* as in host_process.c */
	"adapters = (\n"
	"  { name = \"nd0\"; device = \"net_wire0,end=0\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.2.1/24\", \"fd78:2::1/64\" ]; },\n"
	"  { name = \"nd1\"; device = \"net_wire0,end=1\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.2.2/24\", \"fd78:2::2/64\" ]; }\n"
	");\n";

int
ndk_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
	char path[] = "/tmp/ndk_pair.XXXXXX";
	const char *text = polluxd_is_wanted() ? polluxd_begin(config) : config;
	int fd = mkstemp(path);
	int failures;

	if (fd < 0 || dprintf(fd, "%s", text) < 0) {
		perror(path);
		return 1;
	}
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	setenv("POLLUX_NDK_LOG", "1", 1);
	failures = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
	unlink(path);
	return failures;
}

/* ---- completions ---- */

void
test_yield(void)
{
	sched_yield();
}

VOID
ndk_on_done(PVOID context, NTSTATUS status)
{
	struct ndk_done *done = context;

	atomic_store(&done->status, status);
	atomic_fetch_add(&done->calls, 1);
}

VOID
ndk_on_created(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	atomic_store(&((struct ndk_done *)context)->object, object);
	ndk_on_done(context, status);
}

VOID
ndk_on_closed(PVOID context)
{
	ndk_on_done(context, STATUS_SUCCESS);
}

NTSTATUS
ndk_status(NTSTATUS called, struct ndk_done *done)
{
	if (called != STATUS_PENDING) {
		assert_int_equal(done->calls, 0);
		return called;
	}
	ndk_until(done->calls > 0);
	assert_int_equal(done->calls, 1);
	return done->status;
}

void *
ndk_object(NTSTATUS called, struct ndk_done *done, void *out)
{
	if (called == STATUS_PENDING)
		assert_null(out);
	assert_nt(ndk_status(called, done), STATUS_SUCCESS);
	return called == STATUS_PENDING ? (void *)done->object : out;
}

void
ndk_closed(NTSTATUS called, struct ndk_done *done)
{
	assert_nt(ndk_status(called, done), STATUS_SUCCESS);
}

/* A request of nd0's that the dispatcher and the engine have both been busy with. */
void
ndk_settle(void)
{
	uint64_t until = test_ms() + 20;

	ndk_until(test_ms() > until);
}

/* ---- sides ---- */

NDK_ADAPTER *
ndk_adapter(unsigned int end)
{
	NDK_ADAPTER *adapter = NULL;
	char name[] = "nd0";

	name[2] = (char)('0' + end);
	assert_nt(plx_ndk_open(name, (NDK_VERSION){1, 2}, &adapter), STATUS_SUCCESS);
	return adapter;
}

struct sockaddr_in
ndk_address(unsigned int end, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(0x0a4e0201 + end),
	};
}

PSOCKADDR
ndk_any(void *address)
{
	return address;
}

static VOID
on_notify(PVOID context, NTSTATUS status)
{
	struct ndk_side *side = context;
	void (*callback)(struct ndk_side *) = side->on_notify;

	side->notified_with = status;
	if (callback)
		callback(side);
	atomic_fetch_add(&side->notified, 1);
}

static VOID
on_below(PVOID context, NTSTATUS status)
{
	struct ndk_side *side = context;

	assert_nt(status, STATUS_SUCCESS);
	atomic_fetch_add(&side->below, 1);
}

NDK_CQ *
ndk_side_cq(struct ndk_side *side, ULONG depth)
{
	return ndk_create(NDK_CQ, side->adapter->Dispatch->NdkCreateCq, side->adapter, depth,
			  on_notify, side, NULL);
}

static ULONG
or_usual(ULONG value, ULONG usual)
{
	return value ? value : usual;
}

NDK_QP *
ndk_side_qp(struct ndk_side *side, const struct ndk_options *options, PVOID context)
{
	ULONG depth = or_usual(options->depth, NDK_DEPTH), sges = or_usual(options->sges, 4);

	if (side->srq)
		return ndk_create(NDK_QP, side->pd->Dispatch->NdkCreateQpWithSrq, side->pd,
				  side->receive_cq, side->cq, side->srq, context, depth, sges,
				  options->inline_bytes);
	return ndk_create(NDK_QP, side->pd->Dispatch->NdkCreateQp, side->pd, side->receive_cq,
			  side->cq, context, depth, depth, sges, sges, options->inline_bytes);
}

NDK_CONNECTOR *
ndk_side_connector(struct ndk_side *side)
{
	return ndk_create(NDK_CONNECTOR, side->adapter->Dispatch->NdkCreateConnector,
			  side->adapter);
}

static void
register_arena(struct ndk_side *side)
{
	const ULONG flags = NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE;

	side->arena = aligned_alloc(PAGE_SIZE, NDK_ARENA);
	assert_non_null(side->arena);
	memset(side->arena, 0, NDK_ARENA);
	side->mdl = IoAllocateMdl(side->arena, NDK_ARENA, FALSE, FALSE, NULL);
	assert_non_null(side->mdl);
	MmBuildMdlForNonPagedPool(side->mdl);
	side->mr = ndk_create(NDK_MR, side->pd->Dispatch->NdkCreateMr, side->pd, FALSE);
	assert_nt(ndk_result(side->mr->Dispatch->NdkRegisterMr, side->mr, side->mdl, NDK_ARENA,
			     flags),
		  STATUS_SUCCESS);
	side->token = side->mr->Dispatch->NdkGetRemoteTokenFromMr(side->mr);
	assert_int_not_equal(side->token, 0);
}

void
ndk_side_open(struct ndk_side *side, unsigned int end, const struct ndk_options *options)
{
	*side = (struct ndk_side){.adapter = ndk_adapter(end)};
	side->cq = ndk_side_cq(side, or_usual(options->cq_depth, 4 * NDK_DEPTH));
	side->receive_cq = side->cq;
	if (options->two_cqs)
		side->receive_cq = ndk_side_cq(side, or_usual(options->cq_depth, 4 * NDK_DEPTH));
	side->pd = ndk_create(NDK_PD, side->adapter->Dispatch->NdkCreatePd, side->adapter);
	if (options->srq)
		side->srq = ndk_create(NDK_SRQ, side->pd->Dispatch->NdkCreateSrq, side->pd,
				       or_usual(options->depth, NDK_DEPTH), 4, options->threshold,
				       on_below, side, NULL);
	register_arena(side);
	side->qp = ndk_side_qp(side, options, side);
}

void
ndk_side_close(struct ndk_side *side)
{
	if (side->connector)
		ndk_end(side->connector->Dispatch->NdkCloseConnector, side->connector);
	if (side->qp)
		ndk_end(side->qp->Dispatch->NdkCloseQp, side->qp);
	if (side->mr)
		ndk_end(side->mr->Dispatch->NdkCloseMr, side->mr);
	if (side->srq)
		ndk_end(side->srq->Dispatch->NdkCloseSrq, side->srq);
	if (side->pd)
		ndk_end(side->pd->Dispatch->NdkClosePd, side->pd);
	if (side->receive_cq && side->receive_cq != side->cq)
		ndk_end(side->receive_cq->Dispatch->NdkCloseCq, side->receive_cq);
	if (side->cq)
		ndk_end(side->cq->Dispatch->NdkCloseCq, side->cq);
	plx_ndk_close(side->adapter);
	IoFreeMdl(side->mdl);
	free(side->arena);
}

/* ---- pairs ---- */

static VOID
on_request(PVOID context, NDK_CONNECTOR *connector)
{
	struct ndk_pair *pair = context;

	ndk_until(pair->requested == NULL);
	pair->requested = connector;
	atomic_fetch_add(&pair->requests, 1);
}

VOID
ndk_on_disconnect(PVOID context)
{
	atomic_fetch_add(&((struct ndk_side *)context)->disconnected, 1);
}

NDK_LISTENER *
ndk_pair_listener(struct ndk_pair *pair)
{
	return ndk_create(NDK_LISTENER, pair->b.adapter->Dispatch->NdkCreateListener,
			  pair->b.adapter, on_request, pair);
}

NTSTATUS
ndk_listen(NDK_LISTENER *listener, struct sockaddr_in at)
{
	return ndk_result(listener->Dispatch->NdkListen, listener, ndk_any(&at), sizeof(at));
}

NTSTATUS
ndk_dial(NDK_CONNECTOR *connector, NDK_QP *qp, struct sockaddr_in from, struct sockaddr_in to,
	 struct ndk_done *done)
{
	return connector->Dispatch->NdkConnect(connector, qp, ndk_any(&from), sizeof(from),
					       ndk_any(&to), sizeof(to), 16, 16, NULL, 0,
					       ndk_on_done, done);
}

struct ndk_pair *
ndk_pair_new(const struct ndk_options *options)
{
	static uint16_t port = NDK_PORT;
	struct ndk_pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	if (options)
		pair->options = *options;
	ndk_side_open(&pair->a, 0, &pair->options);
	ndk_side_open(&pair->b, 1, &pair->options);
	pair->port = port++;
	pair->listener = ndk_pair_listener(pair);
	assert_nt(ndk_listen(pair->listener, ndk_address(1, pair->port)), STATUS_SUCCESS);
	pair->a.connector = ndk_side_connector(&pair->a);
	return pair;
}

NDK_CONNECTOR *
ndk_pair_requested(struct ndk_pair *pair)
{
	ndk_until(pair->requested != NULL);
	return atomic_exchange(&pair->requested, NULL);
}

void
ndk_pair_request(struct ndk_pair *pair)
{
	NDK_CONNECTOR *connector = pair->a.connector;
	struct sockaddr_in from = ndk_address(0, 0), to = ndk_address(1, pair->port);
	ULONG inbound = or_usual(pair->options.inbound, 16);
	ULONG outbound = or_usual(pair->options.outbound, 16);

	pair->connected = (struct ndk_done){0};
	assert_nt(connector->Dispatch->NdkConnect(connector, pair->a.qp, ndk_any(&from),
						  sizeof(from), ndk_any(&to), sizeof(to), inbound,
						  outbound, NULL, 0, ndk_on_done, &pair->connected),
		  STATUS_PENDING);
	pair->b.connector = ndk_pair_requested(pair);
}

void
ndk_pair_reply(struct ndk_pair *pair)
{
	NDK_CONNECTOR *connector = pair->b.connector;

	pair->accepted = (struct ndk_done){0};
	assert_nt(connector->Dispatch->NdkAccept(connector, pair->b.qp, 16, 16, NULL, 0,
						 ndk_on_disconnect, &pair->b, ndk_on_done,
						 &pair->accepted),
		  STATUS_PENDING);
	assert_nt(ndk_status(STATUS_PENDING, &pair->connected), STATUS_SUCCESS);
}

void
ndk_pair_connect(struct ndk_pair *pair)
{
	NDK_CONNECTOR *connector = pair->a.connector;

	ndk_pair_request(pair);
	ndk_pair_reply(pair);
	assert_int_equal(pair->accepted.calls, 0);
	assert_nt(ndk_result(connector->Dispatch->NdkCompleteConnect, connector, ndk_on_disconnect,
			     &pair->a),
		  STATUS_SUCCESS);
	assert_nt(ndk_status(STATUS_PENDING, &pair->accepted), STATUS_SUCCESS);
}

struct ndk_pair *
ndk_pair_open(const struct ndk_options *options)
{
	struct ndk_pair *pair = ndk_pair_new(options);

	ndk_pair_connect(pair);
	return pair;
}

void
ndk_pair_close(struct ndk_pair *pair)
{
	if (pair->a.connector) {
		ndk_end(pair->a.connector->Dispatch->NdkCloseConnector, pair->a.connector);
		pair->a.connector = NULL;
	}
	if (pair->b.connector) {
		ndk_end(pair->b.connector->Dispatch->NdkCloseConnector, pair->b.connector);
		pair->b.connector = NULL;
	}
	if (pair->listener)
		ndk_end(pair->listener->Dispatch->NdkCloseListener, pair->listener);
	ndk_side_close(&pair->a);
	ndk_side_close(&pair->b);
	free(pair);
}

/* ---- requests ---- */

NDK_SGE
ndk_sge(const struct ndk_side *side, ULONG offset, ULONG length)
{
	return (NDK_SGE){.VirtualAddress = side->arena + offset,
			 .Length = length,
			 .MemoryRegionToken = side->token};
}

void
ndk_post_send(struct ndk_side *side, uintptr_t context, ULONG offset, ULONG length, ULONG flags)
{
	NDK_SGE sge = ndk_sge(side, offset, length);

	assert_nt(side->qp->Dispatch->NdkSend(side->qp, (PVOID)context, &sge, 1, flags),
		  STATUS_SUCCESS);
}

void
ndk_post_receive(struct ndk_side *side, uintptr_t context, ULONG offset, ULONG length)
{
	NDK_SGE sge = ndk_sge(side, offset, length);

	assert_nt(side->srq ? side->srq->Dispatch->NdkSrqReceive(side->srq, (PVOID)context, &sge, 1)
			    : side->qp->Dispatch->NdkReceive(side->qp, (PVOID)context, &sge, 1),
		  STATUS_SUCCESS);
}

NDK_RESULT_EX
ndk_result_of(NDK_CQ *cq)
{
	NDK_RESULT_EX result;

	ndk_until(cq->Dispatch->NdkGetCqResultsEx(cq, &result, 1) == 1);
	return result;
}

void
ndk_expect(NDK_CQ *cq, uintptr_t context, NTSTATUS status)
{
	NDK_RESULT_EX result = ndk_result_of(cq);

	assert_int_equal((uintptr_t)result.RequestContext, context);
	assert_nt(result.Status, status);
}

void
ndk_expect_none(NDK_CQ *cq)
{
	NDK_RESULT_EX result;

	ndk_settle();
	assert_int_equal(cq->Dispatch->NdkGetCqResultsEx(cq, &result, 1), 0);
}
