/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of a connection. It owns a pair, and the OVERLAPPEDs of both sides.
 * Start with meet_whole().
 */
#include "nd2_meet.h"

#include <stdlib.h>

int meet_family4 = AF_INET, meet_family6 = AF_INET6;

IUnknown *
meet_unknown(void *object)
{
	return object;
}

struct meeting *
meet_unbound(void **state, const struct nd_options *options)
{
	struct meeting *m = calloc(1, sizeof(*m));
	struct nd_options wanted = {0};

	assert_non_null(m);
	if (options)
		wanted = *options;
	wanted.family = *(int *)*state;
	m->pair = nd_pair_new(&wanted);
	m->a = &m->pair->a;
	m->b = &m->pair->b;
	m->ca = m->a->connector;
	m->cb = m->b->connector;
	return m;
}

struct meeting *
meet(void **state, const struct nd_options *options)
{
	struct meeting *m = meet_unbound(state, options);

	assert_hr(IND2Connector_Bind(m->ca, &m->a->address.any, m->a->address.length), ND_SUCCESS);
	return m;
}

void
part(struct meeting *m)
{
	nd_pair_close(m->pair);
	free(m);
}

HRESULT
meet_connect(struct meeting *m, const void *words, ULONG bytes)
{
	const struct nd_address *at = &m->pair->at;

	return IND2Connector_Connect(m->ca, meet_unknown(m->a->qp), &at->any, at->length, 16, 16,
				     words, bytes, &m->connected);
}

HRESULT
meet_accept(struct meeting *m, const void *words, ULONG bytes)
{
	return IND2Connector_Accept(m->cb, meet_unknown(m->b->qp), 16, 16, words, bytes,
				    &m->accepted);
}

void
meet_request(struct meeting *m)
{
	assert_hr(IND2Listener_GetConnectionRequest(m->pair->listener, meet_unknown(m->cb),
						    &m->asked),
		  ND_PENDING);
	assert_hr(meet_connect(m, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&m->asked), ND_SUCCESS);
}

void
meet_reply(struct meeting *m)
{
	assert_hr(meet_accept(m, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&m->connected), ND_SUCCESS);
}

void
meet_complete(struct meeting *m)
{
	HRESULT status = IND2Connector_CompleteConnect(m->ca, &m->completed);

	if (status == ND_PENDING)
		status = nd_wait(&m->completed);
	assert_hr(status, ND_SUCCESS);
	assert_hr(nd_wait(&m->accepted), ND_SUCCESS);
}

void
meet_join(struct meeting *m)
{
	meet_request(m);
	meet_reply(m);
	meet_complete(m);
}

void
meet_join_all(struct meeting *m[], int n)
{
	for (int i = 0; i < n; i++) {
		assert_hr(IND2Listener_GetConnectionRequest(m[i]->pair->listener,
							    meet_unknown(m[i]->cb), &m[i]->asked),
			  ND_PENDING);
		assert_hr(meet_connect(m[i], NULL, 0), ND_PENDING);
	}
	for (int i = 0; i < n; i++) {
		assert_hr(nd_wait(&m[i]->asked), ND_SUCCESS);
		assert_hr(meet_accept(m[i], NULL, 0), ND_PENDING);
	}
	for (int i = 0; i < n; i++) {
		assert_hr(nd_wait(&m[i]->connected), ND_SUCCESS);
		assert_hr(IND2Connector_CompleteConnect(m[i]->ca, &m[i]->completed), ND_PENDING);
		assert_hr(nd_wait(&m[i]->completed), ND_SUCCESS);
	}
}

struct meeting *
meet_whole(void **state, const struct nd_options *options)
{
	struct meeting *m = meet(state, options);

	meet_join(m);
	return m;
}

void
meet_still_pending(const OVERLAPPED *overlapped)
{
	nd_settle();
	assert_hr(nd_status(overlapped), ND_PENDING);
}

void
meet_gone(IND2Connector *connector)
{
	nd_until(IND2Connector_GetReadLimits(connector, NULL, NULL) == ND_CONNECTION_INVALID);
}

void
meet_message(struct nd_side *from, struct nd_side *to, uint8_t seed)
{
	nd_fill(from, 0, 100, seed);
	nd_receive(to, 71, 4096, 100);
	nd_send(from, 72, 0, 100, 0);
	assert_int_equal(nd_expect(to->receive_cq, 71, ND_SUCCESS).BytesTransferred, 100);
	nd_expect(from->initiator_cq, 72, ND_SUCCESS);
	nd_assert_filled(to, 4096, 100, seed);
}
