/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all objects have in common (identity, counts, refusals of Create*), what an adapter reports
 * about itself, and its limits: A07, A08, A09, A10.
 */
#include "nd2_pair.h"

#include <string.h>

static const IID nobody = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

/* ---- one of each kind ---- */

enum kind {
	CQ,
	SRQ,
	MR,
	MW,
	QP,
	QP_WITH_SRQ,
	CONNECTOR,
	LISTENER,
	KINDS,
};

static const struct {
	const char *name;
	const IID *iid;
	bool overlapped;
} kinds[KINDS] = {
	[CQ] = {"CompletionQueue", &IID_IND2CompletionQueue, true},
	[SRQ] = {"SharedReceiveQueue", &IID_IND2SharedReceiveQueue, true},
	[MR] = {"MemoryRegion", &IID_IND2MemoryRegion, true},
	[MW] = {"MemoryWindow", &IID_IND2MemoryWindow, false},
	[QP] = {"QueuePair", &IID_IND2QueuePair, false},
	[QP_WITH_SRQ] = {"QueuePair with SRQ", &IID_IND2QueuePair, false},
	[CONNECTOR] = {"Connector", &IID_IND2Connector, true},
	[LISTENER] = {"Listener", &IID_IND2Listener, true},
};

struct scene {
	IND2Adapter *adapter;
	HANDLE file;
	void *cq, *srq; /* what queue pairs need */
};

static HRESULT
create(struct scene *scene, enum kind kind, const IID *iid, HANDLE file, void **out)
{
	IND2Adapter *adapter = scene->adapter;

	switch (kind) {
	case CQ:
		return IND2Adapter_CreateCompletionQueue(adapter, iid, file, 8, 0, 0, out);
	case SRQ:
		return IND2Adapter_CreateSharedReceiveQueue(adapter, iid, file, 8, 2, 0, 0, 0, out);
	case MR:
		return IND2Adapter_CreateMemoryRegion(adapter, iid, file, out);
	case MW:
		return IND2Adapter_CreateMemoryWindow(adapter, iid, out);
	case QP:
		return IND2Adapter_CreateQueuePair(adapter, iid, scene->cq, scene->cq, NULL, 8, 8,
						   2, 2, 0, out);
	case QP_WITH_SRQ:
		return IND2Adapter_CreateQueuePairWithSrq(adapter, iid, scene->cq, scene->cq,
							  scene->srq, NULL, 8, 2, 0, out);
	case CONNECTOR:
		return IND2Adapter_CreateConnector(adapter, iid, file, out);
	case LISTENER:
		return IND2Adapter_CreateListener(adapter, iid, file, out);
	case KINDS:
		break;
	}
	return E_FAIL;
}

static void
scene_open(struct scene *scene)
{
	scene->adapter = nd_adapter(0);
	assert_hr(IND2Adapter_CreateOverlappedFile(scene->adapter, &scene->file), ND_SUCCESS);
	assert_hr(create(scene, CQ, &IID_IND2CompletionQueue, scene->file, &scene->cq), ND_SUCCESS);
	assert_hr(create(scene, SRQ, &IID_IND2SharedReceiveQueue, scene->file, &scene->srq),
		  ND_SUCCESS);
}

static void
scene_close(struct scene *scene)
{
	nd_release((IUnknown *)scene->srq, 0);
	nd_release((IUnknown *)scene->cq, 0);
	assert_true(CloseHandle(scene->file));
	nd_release(scene->adapter, 0);
}

/* ---- identity and counts ---- */

static void
ask_for_interfaces(IUnknown *object, const IID *iid, bool overlapped)
{
	void *out = &out, *identity;

	assert_hr(IUnknown_QueryInterface(object, &IID_IUnknown, NULL), E_POINTER);
	assert_hr(IUnknown_QueryInterface(object, &nobody, &out), E_NOINTERFACE);
	assert_null(out);
	assert_hr(IUnknown_QueryInterface(object, &IID_IUnknown, &identity), S_OK);
	for (int i = 0; i < 2; i++) {
		assert_hr(IUnknown_QueryInterface(object, &IID_IUnknown, &out), S_OK);
		assert_ptr_equal(out, identity);
		assert_int_equal(IUnknown_Release((IUnknown *)out), 2);
	}
	assert_hr(IUnknown_QueryInterface(object, iid, &out), S_OK);
	assert_ptr_equal(out, object);
	assert_int_equal(IUnknown_Release((IUnknown *)out), 2);
	assert_hr(IUnknown_QueryInterface(object, &IID_IND2Overlapped, &out),
		  overlapped ? S_OK : E_NOINTERFACE);
	if (overlapped)
		assert_int_equal(IUnknown_Release((IUnknown *)out), 2);
	else
		assert_null(out);
	assert_int_equal(IUnknown_Release((IUnknown *)identity), 1);
}

static void
count_references(IUnknown *object)
{
	for (ULONG i = 2; i < 100; i++)
		assert_int_equal(IUnknown_AddRef(object), i);
	for (ULONG i = 98; i > 0; i--)
		assert_int_equal(IUnknown_Release(object), i);
}

static void
objects_know_who_they_are(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	ask_for_interfaces((IUnknown *)(void *)scene.adapter, &IID_IND2Adapter, false);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		void *object = NULL;

		assert_hr(create(&scene, kind, kinds[kind].iid, scene.file, &object), ND_SUCCESS);
		ask_for_interfaces(object, kinds[kind].iid, kinds[kind].overlapped);
		count_references(object);
		assert_int_equal(IUnknown_Release((IUnknown *)object), 0);
	}
	scene_close(&scene);
}

static void
provider_and_factory_know_who_they_are(void **state)
{
	const IID *iid[] = {&IID_IND2Provider, &IID_IClassFactory};

	(void)state;
	for (int i = 0; i < 2; i++) {
		void *object = NULL;

		assert_hr(nd_class_object(iid[i], &object), S_OK);
		ask_for_interfaces(object, iid[i], false);
		count_references(object);
		assert_int_equal(IUnknown_Release((IUnknown *)object), 0);
	}
}

/* Children hold their parents, and no client sees it in a count. */
static void
children_are_not_counted(void **state)
{
	struct scene scene;
	void *object[KINDS];

	(void)state;
	scene_open(&scene);
	for (enum kind kind = 0; kind < KINDS; kind++)
		assert_hr(create(&scene, kind, kinds[kind].iid, scene.file, &object[kind]),
			  ND_SUCCESS);
	count_references((IUnknown *)(void *)scene.adapter);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		count_references(object[kind]);
		assert_int_equal(IUnknown_Release((IUnknown *)object[kind]), 0);
	}
	count_references(scene.cq);
	scene_close(&scene);
}

/* A08 (the connector with a queue pair is in tests/unit/face/nd2/connect.c): the provider may be
 * released at once, and the library stays until the adapter's last child was released. */
static void
A08_library_stays_while_a_child_lives(void **state)
{
	(void)state;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct scene scene;
		void *object = NULL;

		scene_open(&scene);
		assert_hr(create(&scene, kind, kinds[kind].iid, scene.file, &object), ND_SUCCESS);
		scene_close(&scene);
		if (nd_can_unload() != S_FALSE)
			fail_msg("the library may go while a %s lives", kinds[kind].name);
		assert_int_equal(IUnknown_Release((IUnknown *)object), 0);
		if (nd_can_unload() != S_OK)
			fail_msg("the library must stay after the last %s", kinds[kind].name);
	}
}

/* An object keeps the file it was created on: register, notify, cancel and deregister complete
 * as usual after the client has closed the file and the port that was bound to it, in either
 * order. */
static void
A07_file_and_port_may_be_closed_first(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		static uint8_t memory[4096];
		struct scene scene;
		OVERLAPPED ov = {0};
		void *made = NULL;
		IND2MemoryRegion *mr;
		HANDLE port;

		scene_open(&scene);
		port = CreateIoCompletionPort(scene.file, NULL, 7, 0);
		assert_non_null(port);
		assert_hr(create(&scene, MR, &IID_IND2MemoryRegion, scene.file, &made), ND_SUCCESS);
		mr = made;
		assert_hr(IND2CompletionQueue_Notify((IND2CompletionQueue *)scene.cq,
						     ND_CQ_NOTIFY_ANY, &ov),
			  ND_PENDING);
		assert_true(CloseHandle(first ? port : scene.file));
		assert_true(CloseHandle(first ? scene.file : port));
		assert_hr(IND2CompletionQueue_CancelOverlappedRequests(
				  (IND2CompletionQueue *)scene.cq),
			  ND_SUCCESS);
		assert_hr((HRESULT)ov.Internal, ND_CANCELED);
		nd_pends(IND2MemoryRegion_Register(mr, memory, sizeof(memory), 0, &ov), ND_SUCCESS);
		assert_hr(IND2MemoryRegion_GetOverlappedResult(mr, &ov, TRUE), ND_SUCCESS);
		nd_pends(IND2MemoryRegion_Deregister(mr, &ov), ND_SUCCESS);
		nd_release(mr, 0);
		assert_hr(IND2Adapter_CreateOverlappedFile(scene.adapter, &scene.file), ND_SUCCESS);
		scene_close(&scene);
	}
}

/* ---- refusals of Create* ---- */

static void
create_refuses_wrong_interfaces_outputs_and_files(void **state)
{
	struct scene scene;
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

	(void)state;
	scene_open(&scene);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		const bool takes_file = kinds[kind].overlapped;
		void *out = &out;

		assert_hr(create(&scene, kind, &nobody, scene.file, &out), E_NOINTERFACE);
		assert_null(out);
		out = &out;
		assert_hr(create(&scene, kind, &IID_IUnknown, scene.file, &out), E_NOINTERFACE);
		assert_null(out);
		assert_hr(create(&scene, kind, kinds[kind].iid, scene.file, NULL), E_POINTER);
		if (!takes_file)
			continue;
		out = &out;
		assert_hr(create(&scene, kind, kinds[kind].iid, NULL, &out), ND_INVALID_HANDLE);
		assert_null(out);
		assert_hr(create(&scene, kind, kinds[kind].iid, INVALID_HANDLE_VALUE, &out),
			  ND_INVALID_HANDLE);
		assert_hr(create(&scene, kind, kinds[kind].iid, event, &out), ND_INVALID_HANDLE);
	}
	CloseHandle(event);
	scene_close(&scene);
}

static void
a_result_of_no_request_is_refused_by_every_object(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	for (int kind = 0; kind < KINDS; kind++) {
		void *object;

		if (!kinds[kind].overlapped)
			continue;
		assert_hr(create(&scene, (enum kind)kind, kinds[kind].iid, scene.file, &object),
			  ND_SUCCESS);
		for (BOOL wait = FALSE; wait <= TRUE; wait++)
			assert_hr(IND2Overlapped_GetOverlappedResult((IND2Overlapped *)object, NULL,
								     wait),
				  ND_INVALID_PARAMETER);
		nd_release((IND2Overlapped *)object, 0);
	}
	scene_close(&scene);
}

/* ---- Query ---- */

static void
A09_query_checks_the_size_and_the_version(void **state)
{
	IND2Adapter *adapter = nd_adapter(0);
	struct {
		ND2_ADAPTER_INFO info;
		uint8_t behind[8];
	} out;
	uint8_t *bytes = (uint8_t *)&out;
	ULONG length;

	(void)state;
	assert_int_equal(sizeof(out.info), 96);
	for (ULONG n = 0; n < 96; n++) {
		memset(&out, 0xee, sizeof(out));
		length = n;
		assert_hr(IND2Adapter_Query(adapter, &out.info, &length), ND_BUFFER_OVERFLOW);
		assert_int_equal(length, 96);
		for (size_t i = 0; i < sizeof(out); i++)
			assert_int_equal(bytes[i], 0xee);
	}
	length = 96;
	assert_hr(IND2Adapter_Query(adapter, NULL, &length), ND_BUFFER_OVERFLOW);
	assert_hr(IND2Adapter_Query(adapter, &out.info, NULL), ND_INVALID_PARAMETER);
	for (int i = 0; i < 4; i++) {
		const ULONG versions[] = {0, 2, 0x10000, 0x20001};

		out.info.InfoVersion = versions[i];
		assert_hr(IND2Adapter_Query(adapter, &out.info, &length), ND_NOT_SUPPORTED);
	}
	for (int i = 0; i < 4; i++) {
		out.info.InfoVersion = i % 2 ? ND_VERSION_1 : ND_VERSION_2;
		length = i < 2 ? 96 : sizeof(out);
		assert_hr(IND2Adapter_Query(adapter, &out.info, &length), ND_SUCCESS);
		assert_int_equal(length, 96);
		assert_int_equal(out.info.InfoVersion, ND_VERSION_2);
		for (size_t j = 0; j < sizeof(out.behind); j++)
			assert_int_equal(out.behind[j], 0xee);
	}
	nd_release(adapter, 0);
}

static ND2_ADAPTER_INFO
limits_of(IND2Adapter *adapter)
{
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);

	assert_hr(IND2Adapter_Query(adapter, &info, &length), ND_SUCCESS);
	return info;
}

static void
limits_suit_what_clients_do_with_them(void **state)
{
	IND2Adapter *adapter = nd_adapter(0);
	ND2_ADAPTER_INFO info = limits_of(adapter);

	(void)state;
	assert_int_equal(info.MaxReceiveQueueDepth, info.MaxInitiatorQueueDepth);
	/* A client that uses the maximum of both, and grants itself one message less than half
	 * of it for each half that has arrived, stops after depth^2 / 4; 7 million shall be
	 * enough. */
	assert_in_range(info.MaxReceiveQueueDepth, 8192, 0xfffffffe);
	assert_true(info.MaxCompletionQueueDepth >= info.MaxReceiveQueueDepth);
	assert_int_equal(info.MaxTransferLength, 0x80000000);
	assert_true(info.MaxRegistrationSize >= 64u << 20);
	assert_true(info.MaxWindowSize >= 64u << 20);
	assert_true(info.MaxInitiatorSge >= 2 && info.MaxReceiveSge >= 2);
	assert_true(info.MaxReadSge >= 1 && info.MaxReadSge <= info.MaxInitiatorSge);
	assert_true(info.InlineRequestThreshold <= info.MaxInlineDataSize);
	assert_in_range(info.MaxInboundReadLimit, 1, 255);
	assert_in_range(info.MaxOutboundReadLimit, 1, 255);
	assert_int_equal(info.MaxCallerData, 56);
	assert_int_equal(info.MaxCalleeData, 148);
	assert_true(info.MaxSharedReceiveQueueDepth > 0);
	assert_int_equal(info.AdapterFlags, ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED |
						    ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED |
						    ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED);
	nd_release(adapter, 0);
}

/* ---- A10 ---- */

static void
A10_completion_queue_depths(void **state)
{
	struct scene scene;
	ND2_ADAPTER_INFO info;
	const HRESULT bad = ND_INVALID_PARAMETER_3;

	(void)state;
	scene_open(&scene);
	info = limits_of(scene.adapter);
	for (int i = 0; i < 5; i++) {
		const ULONG max = info.MaxCompletionQueueDepth;
		const ULONG depth[] = {1, max, 0, max + 1, 0xffffffff};
		void *cq = NULL;

		assert_hr(IND2Adapter_CreateCompletionQueue(scene.adapter, &IID_IND2CompletionQueue,
							    scene.file, depth[i], 0, 0, &cq),
			  i < 2 ? ND_SUCCESS : bad);
		if (i < 2)
			nd_release((IND2CompletionQueue *)cq, 0);
		assert_true(i < 2 || cq == NULL);
	}
	scene_close(&scene);
}

/* Each number one over its limit has its own status; the number is the argument's position. */
static void
A10_queue_pair_limits_by_number(void **state)
{
	static const HRESULT expected[] = {ND_INVALID_PARAMETER_5, ND_INVALID_PARAMETER_6,
					   ND_INVALID_PARAMETER_7, ND_INVALID_PARAMETER_8,
					   ND_INVALID_PARAMETER_9};
	struct scene scene;
	ND2_ADAPTER_INFO info;

	(void)state;
	scene_open(&scene);
	info = limits_of(scene.adapter);
	for (int over = 0; over < 6; over++) {
		ULONG n[5] = {info.MaxReceiveQueueDepth, info.MaxInitiatorQueueDepth,
			      info.MaxReceiveSge, info.MaxInitiatorSge, info.MaxInlineDataSize};
		void *qp = NULL;

		if (over < 5)
			n[over]++;
		assert_hr(IND2Adapter_CreateQueuePair(scene.adapter, &IID_IND2QueuePair, scene.cq,
						      scene.cq, NULL, n[0], n[1], n[2], n[3], n[4],
						      &qp),
			  over < 5 ? expected[over] : ND_SUCCESS);
		if (over == 5)
			nd_release((IND2QueuePair *)qp, 0);
		assert_true(over == 5 || qp == NULL);
	}
	scene_close(&scene);
}

static void
A10_queue_pair_limits_with_srq(void **state)
{
	static const HRESULT expected[] = {ND_INVALID_PARAMETER_6, ND_INVALID_PARAMETER_7,
					   ND_INVALID_PARAMETER_8};
	struct scene scene;
	ND2_ADAPTER_INFO info;

	(void)state;
	scene_open(&scene);
	info = limits_of(scene.adapter);
	for (int over = 0; over < 4; over++) {
		ULONG n[3] = {info.MaxInitiatorQueueDepth, info.MaxInitiatorSge,
			      info.MaxInlineDataSize};
		void *qp = NULL;

		if (over < 3)
			n[over]++;
		assert_hr(IND2Adapter_CreateQueuePairWithSrq(scene.adapter, &IID_IND2QueuePair,
							     scene.cq, scene.cq, scene.srq, NULL,
							     n[0], n[1], n[2], &qp),
			  over < 3 ? expected[over] : ND_SUCCESS);
		if (over == 3)
			nd_release((IND2QueuePair *)qp, 0);
	}
	scene_close(&scene);
}

/* Invalid objects, of another kind, or of another adapter. */
static void
A10_queue_pair_takes_only_queues_of_its_adapter(void **state)
{
	struct scene ours, others;
	void *qp = &qp;

	(void)state;
	scene_open(&ours);
	scene_open(&others);
	for (int i = 0; i < 3; i++) {
		void *bad[] = {NULL, ours.srq, others.cq}, *bad_srq[] = {NULL, ours.cq, others.srq};

		assert_hr(IND2Adapter_CreateQueuePair(ours.adapter, &IID_IND2QueuePair, bad[i],
						      ours.cq, NULL, 8, 8, 1, 1, 0, &qp),
			  ND_INVALID_PARAMETER_2);
		assert_null(qp);
		assert_hr(IND2Adapter_CreateQueuePair(ours.adapter, &IID_IND2QueuePair, ours.cq,
						      bad[i], NULL, 8, 8, 1, 1, 0, &qp),
			  ND_INVALID_PARAMETER_3);
		assert_hr(IND2Adapter_CreateQueuePairWithSrq(ours.adapter, &IID_IND2QueuePair,
							     bad[i], ours.cq, ours.srq, NULL, 8, 1,
							     0, &qp),
			  ND_INVALID_PARAMETER_2);
		assert_hr(IND2Adapter_CreateQueuePairWithSrq(ours.adapter, &IID_IND2QueuePair,
							     ours.cq, bad[i], ours.srq, NULL, 8, 1,
							     0, &qp),
			  ND_INVALID_PARAMETER_3);
		assert_hr(IND2Adapter_CreateQueuePairWithSrq(ours.adapter, &IID_IND2QueuePair,
							     ours.cq, ours.cq, bad_srq[i], NULL, 8,
							     1, 0, &qp),
			  ND_INVALID_PARAMETER_4);
	}
	scene_close(&others);
	scene_close(&ours);
}

static void
A10_shared_receive_queue_limits(void **state)
{
	struct scene scene;
	ND2_ADAPTER_INFO info;

	(void)state;
	scene_open(&scene);
	info = limits_of(scene.adapter);
	for (int i = 0; i < 5; i++) {
		const ULONG depth = info.MaxSharedReceiveQueueDepth, sges = info.MaxReceiveSge;
		const ULONG depths[] = {depth, 0, depth + 1, 1, 0xffffffff};
		const ULONG sge[] = {sges, 1, 1, sges + 1, 1};
		const HRESULT expected[] = {ND_SUCCESS, ND_INVALID_PARAMETER_3,
					    ND_INVALID_PARAMETER_3, ND_INVALID_PARAMETER_4,
					    ND_INVALID_PARAMETER_3};
		void *srq = NULL;

		assert_hr(IND2Adapter_CreateSharedReceiveQueue(
				  scene.adapter, &IID_IND2SharedReceiveQueue, scene.file, depths[i],
				  sge[i], 0, 0, 0, &srq),
			  expected[i]);
		if (srq)
			nd_release((IND2SharedReceiveQueue *)srq, 0);
	}
	scene_close(&scene);
}

/* What the largest of Microsoft's tests create at once: two completion queues and some queue
 * pairs, all of the adapter's maximum size. */
static void
A10_all_maxima_at_once(void **state)
{
	struct scene scene;
	ND2_ADAPTER_INFO info;
	void *cq[2], *qp[4];

	(void)state;
	scene_open(&scene);
	info = limits_of(scene.adapter);
	for (int i = 0; i < 2; i++)
		assert_hr(IND2Adapter_CreateCompletionQueue(
				  scene.adapter, &IID_IND2CompletionQueue, scene.file,
				  info.MaxCompletionQueueDepth, 0, 0, &cq[i]),
			  ND_SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_hr(IND2Adapter_CreateQueuePair(scene.adapter, &IID_IND2QueuePair, cq[0],
						      cq[1], NULL, info.MaxReceiveQueueDepth,
						      info.MaxInitiatorQueueDepth,
						      info.MaxReceiveSge, info.MaxInitiatorSge,
						      info.MaxInlineDataSize, &qp[i]),
			  ND_SUCCESS);
	for (int i = 0; i < 4; i++)
		nd_release((IND2QueuePair *)qp[i], 0);
	for (int i = 0; i < 2; i++)
		nd_release((IND2CompletionQueue *)cq[i], 0);
	scene_close(&scene);
}

/* A client that relies on Query: a thousand queue pairs on an adapter, each with queues of
 * maximum size, and completion queues of the same kind. */
static void
A10_a_thousand_queue_pairs_of_all_maxima(void **state)
{
	enum {
		CROWD = 1000
	};
	static void *cq[CROWD], *qp[CROWD];
	struct scene scene;
	ND2_ADAPTER_INFO info;

	(void)state;
	scene_open(&scene);
	info = limits_of(scene.adapter);
	for (int i = 0; i < CROWD; i++) {
		assert_hr(IND2Adapter_CreateCompletionQueue(
				  scene.adapter, &IID_IND2CompletionQueue, scene.file,
				  info.MaxReceiveQueueDepth + info.MaxInitiatorQueueDepth, 0, 0,
				  &cq[i]),
			  ND_SUCCESS);
		assert_hr(IND2Adapter_CreateQueuePair(scene.adapter, &IID_IND2QueuePair, cq[i],
						      cq[i], NULL, info.MaxReceiveQueueDepth,
						      info.MaxInitiatorQueueDepth,
						      info.MaxReceiveSge, info.MaxInitiatorSge,
						      info.MaxInlineDataSize, &qp[i]),
			  ND_SUCCESS);
	}
	for (int i = 0; i < CROWD; i++) {
		nd_release((IND2QueuePair *)qp[i], 0);
		nd_release((IND2CompletionQueue *)cq[i], 0);
	}
	scene_close(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(objects_know_who_they_are),
		ND_TEST(provider_and_factory_know_who_they_are),
		ND_TEST(children_are_not_counted),
		ND_TEST(A08_library_stays_while_a_child_lives),
		ND_TEST(A07_file_and_port_may_be_closed_first),
		ND_TEST(create_refuses_wrong_interfaces_outputs_and_files),
		ND_TEST(a_result_of_no_request_is_refused_by_every_object),
		ND_TEST(A09_query_checks_the_size_and_the_version),
		ND_TEST(limits_suit_what_clients_do_with_them),
		ND_TEST(A10_completion_queue_depths),
		ND_TEST(A10_queue_pair_limits_by_number),
		ND_TEST(A10_queue_pair_limits_with_srq),
		ND_TEST(A10_queue_pair_takes_only_queues_of_its_adapter),
		ND_TEST(A10_shared_receive_queue_limits),
		ND_TEST(A10_all_maxima_at_once),
		ND_TEST(A10_a_thousand_queue_pairs_of_all_maxima),
	};

	return nd_run_both("objects", tests, sizeof(tests) / sizeof(tests[0]));
}
