/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects of one adapter: versions, limits, creation, closes in any order (T12 to T14, T22, T23).
 * Every graph of four objects is in lifetime.c. Start with t14_closes_come_in_any_order().
 */
#include <netinet/in.h>
#include <ntstatus.h>
#include <pthread.h>
#include <stdlib.h>

#include "ndk.h"
#include "ndk_pair.h"

/* ---- T22 ---- */

static void
t22_a_version_is_answered_with_the_highest_of_its_kind(void **state)
{
	static const NDK_VERSION good[] = {{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}};
	static const NDK_VERSION bad[] = {{0, 0}, {0, 9}, {1, 3}, {2, 2}, {3, 0}};
	NDK_ADAPTER *adapter = NULL;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		USHORT minor = good[i].Major == 1 ? 2 : 1;
		NDK_ADAPTER_INFO info;
		ULONG bytes = sizeof(info);
		NDK_PD *pd;

		assert_nt(plx_ndk_open("nd0", good[i], &adapter), STATUS_SUCCESS);
		assert_nt(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &bytes),
			  STATUS_SUCCESS);
		assert_int_equal(info.Version.Major, good[i].Major);
		assert_int_equal(info.Version.Minor, minor);
		assert_int_equal(adapter->Header.Version.Minor, minor);
		pd = ndk_create(NDK_PD, adapter->Dispatch->NdkCreatePd, adapter);
		assert_int_equal(pd->Header.Version.Major, good[i].Major);
		assert_int_equal(pd->Header.Version.Minor, minor);
		ndk_end(pd->Dispatch->NdkClosePd, pd);
		plx_ndk_close(adapter);
	}
	for (size_t i = 0; i < 5; i++)
		assert_nt(plx_ndk_open("nd0", bad[i], &adapter), NDIS_STATUS_BAD_VERSION);
	assert_nt(plx_ndk_open("none", good[0], &adapter), NDIS_STATUS_ADAPTER_NOT_READY);
}

static void
an_adapter_says_what_it_can(void **state)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	GUID id = {0};
	NDK_EXTENSION_INTERFACE extension;
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info) - 1;

	(void)state;
	assert_nt(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &bytes),
		  STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(bytes, sizeof(info));
	assert_nt(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &bytes), STATUS_SUCCESS);
	assert_int_equal(info.RdmaTechnology, NdkRoCEv2);
	assert_true(info.FRMRPageCount >= 16);
	assert_int_equal(info.MaxCallerData, 56);
	assert_int_equal(info.MaxCalleeData, 148);
	assert_nt(adapter->Dispatch->NdkQueryExtension(&adapter->Header, &id, (NDK_VERSION){1, 0},
						       &extension),
		  STATUS_NOT_SUPPORTED);
	plx_ndk_close(adapter);
}

static void
a_connector_is_created_by_its_adapter(void **state)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	NDK_CONNECTOR *connector =
		ndk_create(NDK_CONNECTOR, adapter->Dispatch->NdkCreateConnector, adapter);

	(void)state;
	assert_int_equal(connector->Header.ObjectType, NdkObjectTypeConnector);
	ndk_end(connector->Dispatch->NdkCloseConnector, connector);
	plx_ndk_close(adapter);
}

/* ---- limits ---- */

static VOID
on_notify(PVOID context, NTSTATUS status)
{
	(void)context, (void)status;
}

static void
what_is_above_a_limit_is_not_created(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct ndk_side *a = &pair->a;
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info);
	NDK_CQ *cq = NULL;
	NDK_QP *qp = NULL;
	NDK_SRQ *srq = NULL;

	(void)state;
	assert_nt(a->adapter->Dispatch->NdkQueryAdapterInfo(a->adapter, &info, &bytes),
		  STATUS_SUCCESS);
	assert_nt(a->adapter->Dispatch->NdkCreateCq(a->adapter, info.MaxCqDepth + 1, on_notify,
						    NULL, NULL, ndk_on_created, NULL, &cq),
		  STATUS_INVALID_PARAMETER);
	assert_nt(a->adapter->Dispatch->NdkCreateCq(a->adapter, 1, NULL, NULL, NULL, ndk_on_created,
						    NULL, &cq),
		  STATUS_INVALID_PARAMETER);
	assert_nt(a->cq->Dispatch->NdkResizeCq(a->cq, info.MaxCqDepth + 1, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	assert_nt(ndk_result(a->cq->Dispatch->NdkResizeCq, a->cq, 2 * NDK_DEPTH), STATUS_SUCCESS);
	for (int i = 0; i < 5; i++) {
		ULONG value[5] = {1, 1, 1, 1, 0};
		const ULONG most[5] = {info.MaxReceiveQueueDepth, info.MaxInitiatorQueueDepth,
				       info.MaxReceiveRequestSge, info.MaxInitiatorRequestSge,
				       info.MaxInlineDataSize};

		value[i] = most[i] + 1;
		assert_nt(a->pd->Dispatch->NdkCreateQp(a->pd, a->cq, a->cq, NULL, value[0],
						       value[1], value[2], value[3], value[4],
						       ndk_on_created, NULL, &qp),
			  STATUS_INVALID_PARAMETER);
	}
	assert_nt(a->pd->Dispatch->NdkCreateSrq(a->pd, info.MaxSrqDepth + 1, 1, 0, NULL, NULL, NULL,
						ndk_on_created, NULL, &srq),
		  STATUS_INVALID_PARAMETER);
	assert_nt(a->pd->Dispatch->NdkCreateSrq(a->pd, 1, info.MaxReceiveRequestSge + 1, 0, NULL,
						NULL, NULL, ndk_on_created, NULL, &srq),
		  STATUS_INVALID_PARAMETER);
	assert_null(cq);
	assert_null(qp);
	assert_null(srq);
	ndk_pair_close(pair);
}

/* The object of a pending create comes by its completion alone. */
static void
x4_a_pending_create_leaves_the_out_parameter_alone(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(&(struct ndk_options){.srq = true});
	NDK_ADAPTER *adapter = pair->a.adapter;
	NDK_PD *pd = pair->a.pd;
	NDK_CQ *cq = pair->a.cq;
	struct sockaddr_in at = ndk_address(0, 0);
	char mark;
	void *out[5] = {&mark, &mark, &mark, &mark, &mark};
	struct ndk_done done[5] = {{0}};
	NDK_FN_CLOSE_OBJECT close[5];

	(void)state;
	assert_nt(adapter->Dispatch->NdkCreateCq(adapter, 1, on_notify, NULL, NULL, ndk_on_created,
						 &done[0], (NDK_CQ **)(void *)&out[0]),
		  STATUS_PENDING);
	assert_nt(adapter->Dispatch->NdkCreateSharedEndpoint(
			  adapter, ndk_any(&at), sizeof(at), ndk_on_created, &done[1],
			  (NDK_SHARED_ENDPOINT **)(void *)&out[1]),
		  STATUS_PENDING);
	assert_nt(pd->Dispatch->NdkCreateSrq(pd, 1, 1, 0, NULL, NULL, NULL, ndk_on_created,
					     &done[2], (NDK_SRQ **)(void *)&out[2]),
		  STATUS_PENDING);
	assert_nt(pd->Dispatch->NdkCreateQp(pd, cq, cq, NULL, 1, 1, 1, 1, 0, ndk_on_created,
					    &done[3], (NDK_QP **)(void *)&out[3]),
		  STATUS_PENDING);
	assert_nt(pd->Dispatch->NdkCreateQpWithSrq(pd, cq, cq, pair->a.srq, NULL, 1, 1, 0,
						   ndk_on_created, &done[4],
						   (NDK_QP **)(void *)&out[4]),
		  STATUS_PENDING);
	for (int i = 0; i < 5; i++) {
		assert_nt(ndk_status(STATUS_PENDING, &done[i]), STATUS_SUCCESS);
		assert_ptr_equal(out[i], &mark);
		out[i] = done[i].object;
		done[i] = (struct ndk_done){0};
	}
	close[0] = ((NDK_CQ *)out[0])->Dispatch->NdkCloseCq;
	close[1] = ((NDK_SHARED_ENDPOINT *)out[1])->Dispatch->NdkCloseSharedEndpoint;
	close[2] = ((NDK_SRQ *)out[2])->Dispatch->NdkCloseSrq;
	close[3] = close[4] = ((NDK_QP *)out[3])->Dispatch->NdkCloseQp;
	for (int i = 0; i < 5; i++)
		ndk_closed(close[i](out[i], ndk_on_closed, &done[i]), &done[i]);
	ndk_pair_close(pair);
}

/* ---- memory ---- */

static void
memory_has_to_be_one_range(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct ndk_side *a = &pair->a;
	NDK_MR *mr = ndk_create(NDK_MR, a->pd->Dispatch->NdkCreateMr, a->pd, FALSE);
	NDK_MR *fast = ndk_create(NDK_MR, a->pd->Dispatch->NdkCreateMr, a->pd, TRUE);
	MDL *one = IoAllocateMdl(a->arena, 5000, FALSE, FALSE, NULL);
	MDL *two = IoAllocateMdl(a->arena + 5000, 100, FALSE, FALSE, NULL);

	(void)state;
	one->Next = two;
	/* not described yet */
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 5000, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	MmBuildMdlForNonPagedPool(one);
	MmBuildMdlForNonPagedPool(two);
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 5101, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 0, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 5000, 0x100, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	assert_nt(ndk_result(mr->Dispatch->NdkRegisterMr, mr, one, 5100, 0), STATUS_SUCCESS);
	assert_nt(ndk_result(mr->Dispatch->NdkRegisterMr, mr, one, 5100, 0),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_SUCCESS);
	assert_int_equal(mr->Dispatch->NdkGetLocalTokenFromMr(mr), 0);
	assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_INVALID_DEVICE_REQUEST);
	one->Next = one;
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 5100, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	one->Next = NULL;
	/* each kind is for life */
	assert_nt(fast->Dispatch->NdkRegisterMr(fast, one, 100, 0, ndk_on_done, NULL),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(fast->Dispatch->NdkDeregisterMr(fast, ndk_on_done, NULL),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(mr->Dispatch->NdkInitializeFastRegisterMr(mr, 1, FALSE, ndk_on_done, NULL),
		  STATUS_INVALID_DEVICE_REQUEST);
	assert_nt(
		fast->Dispatch->NdkInitializeFastRegisterMr(fast, 100000, FALSE, ndk_on_done, NULL),
		STATUS_IMPLEMENTATION_LIMIT);
	IoFreeMdl(one);
	IoFreeMdl(two);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	ndk_end(fast->Dispatch->NdkCloseMr, fast);
	ndk_pair_close(pair);
}

static void
a_mapping_names_each_page(void **state)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	uint8_t *memory = aligned_alloc(PAGE_SIZE, 4 * PAGE_SIZE);
	MDL *mdl = IoAllocateMdl(memory + 100, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
	NDK_LOGICAL_ADDRESS_MAPPING *lam;
	ULONG bytes = 0, fbo;

	(void)state;
	/* not described yet */
	assert_nt(adapter->Dispatch->NdkBuildLAM(adapter, mdl, 2 * PAGE_SIZE, NULL, NULL, NULL,
						 &bytes, &fbo),
		  STATUS_INVALID_PARAMETER);
	MmBuildMdlForNonPagedPool(mdl);
	assert_nt(adapter->Dispatch->NdkBuildLAM(adapter, mdl, 2 * PAGE_SIZE, NULL, NULL, NULL,
						 &bytes, &fbo),
		  STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(bytes, 16 + 3 * 8);
	lam = malloc(bytes);
	assert_nt(adapter->Dispatch->NdkBuildLAM(adapter, mdl, 2 * PAGE_SIZE, NULL, NULL, lam,
						 &bytes, &fbo),
		  STATUS_SUCCESS);
	assert_int_equal(fbo, 100);
	assert_int_equal(lam->AdapterPageCount, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(lam->AdapterPageArray[i].QuadPart,
				 (uintptr_t)memory + (uintptr_t)i * PAGE_SIZE);
	assert_nt(adapter->Dispatch->NdkBuildLAM(adapter, mdl, 2 * PAGE_SIZE + 1, NULL, NULL, lam,
						 &bytes, &fbo),
		  STATUS_INVALID_PARAMETER);
	adapter->Dispatch->NdkReleaseLAM(adapter, lam);
	free(lam);
	IoFreeMdl(mdl);
	free(memory);
	plx_ndk_close(adapter);
}

/* ---- T12, T13: closes wait ---- */

static atomic_bool sleeps;

static VOID
sleep_in_close(PVOID context)
{
	ndk_until(!sleeps);
	ndk_on_closed(context);
}

static void
t12_nothing_completes_before_a_completion_has_returned(void **state)
{
	struct ndk_pair *pair = ndk_pair_new(NULL);
	struct ndk_side *a = &pair->a;
	struct ndk_done qp = {0}, cq = {0}, pd = {0}, mr = {0};

	(void)state;
	sleeps = true;
	assert_nt(a->cq->Dispatch->NdkCloseCq(&a->cq->Header, ndk_on_closed, &cq), STATUS_PENDING);
	assert_nt(a->pd->Dispatch->NdkClosePd(&a->pd->Header, ndk_on_closed, &pd), STATUS_PENDING);
	assert_nt(a->mr->Dispatch->NdkCloseMr(&a->mr->Header, ndk_on_closed, &mr), STATUS_PENDING);
	ndk_closed(STATUS_PENDING, &mr);
	assert_nt(a->qp->Dispatch->NdkCloseQp(&a->qp->Header, sleep_in_close, &qp), STATUS_PENDING);
	ndk_settle();
	assert_int_equal(cq.calls + pd.calls + qp.calls, 0);
	sleeps = false;
	ndk_closed(STATUS_PENDING, &qp);
	ndk_closed(STATUS_PENDING, &cq);
	ndk_closed(STATUS_PENDING, &pd);
	a->qp = NULL;
	a->cq = a->receive_cq = NULL;
	a->pd = NULL;
	a->mr = NULL;
	ndk_pair_close(pair);
}

static void *
open_the_door(void *context)
{
	(void)context;
	ndk_settle();
	sleeps = false;
	return NULL;
}

static void
t13_an_adapter_is_closed_when_the_last_callback_has_returned(void **state)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	NDK_PD *pd = ndk_create(NDK_PD, adapter->Dispatch->NdkCreatePd, adapter);
	struct ndk_done done = {0};
	pthread_t thread;

	(void)state;
	sleeps = true;
	assert_nt(pd->Dispatch->NdkClosePd(&pd->Header, sleep_in_close, &done), STATUS_PENDING);
	assert_int_equal(pthread_create(&thread, NULL, open_the_door, NULL), 0);
	plx_ndk_close(adapter);
	assert_int_equal(done.calls, 1);
	pthread_join(thread, NULL);
}

/* ---- T23 ---- */

static void
t23_headers_are_the_consumers(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_OBJECT_HEADER *const headers[] = {&pair->a.cq->Header, &pair->a.pd->Header,
					      &pair->a.qp->Header, &pair->a.mr->Header,
					      &pair->a.connector->Header};
	const NDK_QP_DISPATCH *qp = pair->a.qp->Dispatch;
	const NDK_CQ_DISPATCH *cq = pair->a.cq->Dispatch;
	const NDK_CONNECTOR_DISPATCH *connector = pair->a.connector->Dispatch;
	NDK_SGE sge = ndk_sge(&pair->a, 0, 8);
	struct ndk_done done = {0};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		for (int j = 0; j < 4; j++) {
			assert_null(headers[i]->NdkReserved.rf[j]);
			headers[i]->NdkReserved.rf[j] = (PVOID)(uintptr_t)0x5a5a5a5a;
		}
	}
	pair->a.qp->Dispatch = NULL;
	pair->a.cq->Dispatch = NULL;
	pair->a.connector->Dispatch = NULL;
	ndk_post_receive(&pair->b, 1, 0, 8);
	assert_nt(qp->NdkSend(pair->a.qp, NULL, &sge, 1, 0), STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	for (size_t i = 0; i < 5; i++)
		for (int j = 0; j < 4; j++)
			assert_ptr_equal(headers[i]->NdkReserved.rf[j],
					 (PVOID)(uintptr_t)0x5a5a5a5a);
	ndk_closed(connector->NdkCloseConnector(headers[4], ndk_on_closed, &done), &done);
	pair->a.connector = NULL;
	pair->a.qp->Dispatch = qp;
	pair->a.cq->Dispatch = cq;
	ndk_pair_close(pair);
}

/* ---- T14 ---- */

enum {
	KINDS = 7,
};

struct graph {
	NDK_OBJECT_HEADER *object[KINDS];
	NDK_FN_CLOSE_OBJECT close[KINDS];
	struct ndk_done done[KINDS];
};

static void
plant(struct graph *graph, struct ndk_side *side)
{
	NDK_ADAPTER *adapter = side->adapter;
	NDK_CQ *cq = ndk_side_cq(side, 8);
	NDK_PD *pd = ndk_create(NDK_PD, adapter->Dispatch->NdkCreatePd, adapter);
	NDK_SRQ *srq =
		ndk_create(NDK_SRQ, pd->Dispatch->NdkCreateSrq, pd, 4, 1, 0, NULL, NULL, NULL);
	NDK_QP *qp = ndk_create(NDK_QP, pd->Dispatch->NdkCreateQpWithSrq, pd, cq, cq, srq, NULL, 4,
				1, 0);
	NDK_MR *mr = ndk_create(NDK_MR, pd->Dispatch->NdkCreateMr, pd, FALSE);
	NDK_MW *mw = ndk_create(NDK_MW, pd->Dispatch->NdkCreateMw, pd);
	NDK_CONNECTOR *connector = ndk_side_connector(side);

	*graph = (struct graph){
		.object = {&cq->Header, &pd->Header, &srq->Header, &qp->Header, &mr->Header,
			   &mw->Header, &connector->Header},
		.close = {cq->Dispatch->NdkCloseCq, pd->Dispatch->NdkClosePd,
			  srq->Dispatch->NdkCloseSrq, qp->Dispatch->NdkCloseQp,
			  mr->Dispatch->NdkCloseMr, mw->Dispatch->NdkCloseMw,
			  connector->Dispatch->NdkCloseConnector},
	};
}

static void
close_in_order(struct graph *graph, const int order[KINDS])
{
	NTSTATUS called[KINDS];

	for (int i = 0; i < KINDS; i++) {
		int k = order[i];

		called[k] = graph->close[k](graph->object[k], ndk_on_closed, &graph->done[k]);
		assert_true(called[k] == STATUS_SUCCESS || called[k] == STATUS_PENDING);
	}
	for (int k = 0; k < KINDS; k++)
		ndk_closed(called[k], &graph->done[k]);
}

static void
t14_closes_come_in_any_order(void **state)
{
	const char *asked = getenv("POLLUX_ROUNDS");
	unsigned long rounds = asked ? strtoul(asked, NULL, 10) : 300;
	struct ndk_side side = {.adapter = ndk_adapter(0)};
	uint64_t random = 1;

	(void)state;
	for (unsigned long round = 0; round < rounds; round++) {
		int order[KINDS] = {0, 1, 2, 3, 4, 5, 6};
		struct graph graph;

		for (int i = KINDS - 1; i > 0; i--) {
			int j, was = order[i];

			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			j = (int)((random >> 33) % (unsigned int)(i + 1));
			order[i] = order[j];
			order[j] = was;
		}
		plant(&graph, &side);
		close_in_order(&graph, order);
	}
	plx_ndk_close(side.adapter);
}

static void
a_close_that_waits_says_what_for(void **state)
{
	struct ndk_side side = {.adapter = ndk_adapter(0)};
	struct ndk_adapter *adapter = ndk_adapter_of(side.adapter);
	char text[64], cut[8];
	NDK_CQ *one = ndk_side_cq(&side, 8), *other = ndk_side_cq(&side, 8);
	NDK_PD *pd = ndk_create(NDK_PD, side.adapter->Dispatch->NdkCreatePd, side.adapter);

	(void)state;
	ndk_left_list(adapter, text, sizeof(text));
	assert_string_equal(text, "completion queues: 2, protection domains: 1");
	ndk_left_list(adapter, cut, sizeof(cut));
	assert_string_equal(cut, "complet");
	ndk_end(one->Dispatch->NdkCloseCq, one);
	ndk_end(other->Dispatch->NdkCloseCq, other);
	ndk_end(pd->Dispatch->NdkClosePd, pd);
	ndk_left_list(adapter, text, sizeof(text));
	assert_string_equal(text, "nothing but a callback");
	plx_ndk_close(side.adapter);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t22_a_version_is_answered_with_the_highest_of_its_kind),
		cmocka_unit_test(an_adapter_says_what_it_can),
		cmocka_unit_test(a_connector_is_created_by_its_adapter),
		cmocka_unit_test(what_is_above_a_limit_is_not_created),
		cmocka_unit_test(x4_a_pending_create_leaves_the_out_parameter_alone),
		cmocka_unit_test(memory_has_to_be_one_range),
		cmocka_unit_test(a_mapping_names_each_page),
		cmocka_unit_test(t12_nothing_completes_before_a_completion_has_returned),
		cmocka_unit_test(t13_an_adapter_is_closed_when_the_last_callback_has_returned),
		cmocka_unit_test(a_close_that_waits_says_what_for),
		cmocka_unit_test(t14_closes_come_in_any_order),
		cmocka_unit_test(t23_headers_are_the_consumers),
	};

	return ndk_run("ndk_objects", tests, sizeof(tests) / sizeof(tests[0]));
}
