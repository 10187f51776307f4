/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An engine that stalls between two commands of one request: the linker sends the calls that make
 * and destroy queues here. Start with a_queue_pair_is_made_once_though_its_engine_stalls().
 */
#include <ntstatus.h>

#include "ndk_pair.h"
#include "plx_session.h"
#include "plx_verbs.h"

enum plx_status __real_plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options,
				     struct plx_qp **qp, struct plx_why *why); /* NOLINT */
enum plx_status __wrap_plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options,
				     struct plx_qp **qp, struct plx_why *why); /* NOLINT */
enum plx_status __real_plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to,
				     const struct plx_qp_address *peer,
				     const struct plx_qp_attr *attr,
				     struct plx_why *why); /* NOLINT */
enum plx_status __wrap_plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to,
				     const struct plx_qp_address *peer,
				     const struct plx_qp_attr *attr,
				     struct plx_why *why); /* NOLINT */

enum plx_status __real_plx_cq_destroy(struct plx_cq *cq); /* NOLINT */
enum plx_status __wrap_plx_cq_destroy(struct plx_cq *cq); /* NOLINT */
enum plx_status __real_plx_session_watch_add(struct plx_session *session,
					     struct plx_session_watch *watch); /* NOLINT */
enum plx_status __wrap_plx_session_watch_add(struct plx_session *session,
					     struct plx_session_watch *watch); /* NOLINT */

static atomic_int made, stalls;
static atomic_int refused, destroyed; /* watches that are, completion queues */

enum plx_status
__wrap_plx_cq_destroy(struct plx_cq *cq) /* NOLINT */
{
	enum plx_status status = PLX_TIMEOUT;

	if (stalls > 0)
		stalls--;
	else
		status = __real_plx_cq_destroy(cq);
	destroyed += status == PLX_OK;
	return status;
}

enum plx_status
__wrap_plx_session_watch_add(struct plx_session *session,
			     struct plx_session_watch *watch) /* NOLINT */
{
	if (refused > 0) {
		refused--;
		return PLX_FULL;
	}
	return __real_plx_session_watch_add(session, watch);
}

enum plx_status
__wrap_plx_qp_create(struct plx_pd *pd, const struct plx_qp_options *options, struct plx_qp **qp,
		     struct plx_why *why) /* NOLINT */
{
	enum plx_status status = __real_plx_qp_create(pd, options, qp, why);

	made += status == PLX_OK;
	return status;
}

enum plx_status
__wrap_plx_qp_modify(struct plx_qp *qp, enum plx_qp_state to, const struct plx_qp_address *peer,
		     const struct plx_qp_attr *attr, struct plx_why *why) /* NOLINT */
{
	if (stalls > 0) {
		stalls--;
		return PLX_TIMEOUT;
	}
	return __real_plx_qp_modify(qp, to, peer, attr, why);
}

static VOID
unused(PVOID context, NTSTATUS status)
{
	(void)context, (void)status;
}

static void
a_queue_pair_is_made_once_though_its_engine_stalls(void **state)
{
	struct ndk_pair *pair;

	(void)state;
	made = 0;
	stalls = 3;
	pair = ndk_pair_new(NULL);
	assert_int_equal(stalls, 0);
	assert_int_equal(made, 2); /* one at each side */
	ndk_pair_connect(pair);
	ndk_pair_close(pair);
}

/* No descriptor is left for it, and the engine stalls when it is to be taken back. */
static void
a_completion_queue_that_cannot_be_watched_is_taken_back(void **state)
{
	NDK_ADAPTER *adapter = ndk_adapter(0);
	struct ndk_done done = {0};
	NDK_CQ *out = NULL;

	(void)state;
	stalls = 1;
	refused = 2;
	destroyed = 0;
	assert_nt(ndk_status(adapter->Dispatch->NdkCreateCq(adapter, 4, unused, NULL, NULL,
							    ndk_on_created, &done, &out),
			     &done),
		  STATUS_INSUFFICIENT_RESOURCES);
	assert_null(done.object);
	assert_int_equal(stalls, 0);
	assert_int_equal(destroyed, 1);
	plx_ndk_close(adapter);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_pair_is_made_once_though_its_engine_stalls),
		cmocka_unit_test(a_completion_queue_that_cannot_be_watched_is_taken_back),
	};

	return ndk_run("ndk_stalled", tests, sizeof(tests) / sizeof(tests[0]));
}
