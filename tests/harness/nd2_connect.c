/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps that connect the two sides of a pair. Start with nd_pair_established().
 */
#include "nd2_pair.h"

int nd_family4 = AF_INET, nd_family6 = AF_INET6;

int
nd_no_object_is_left(void **state)
{
	(void)state;
	return nd_can_unload() == S_OK ? 0 : -1;
}

IUnknown *
nd_unknown(void *object)
{
	return object;
}

static void
bind_a(struct nd_pair *pair)
{
	assert_hr(
		IND2Connector_Bind(pair->a.connector, &pair->a.address.any, pair->a.address.length),
		ND_SUCCESS);
}

struct nd_pair *
nd_pair_idle(void **state, const struct nd_options *options)
{
	struct nd_options wanted = {0};

	if (options)
		wanted = *options;
	wanted.family = *(int *)*state;
	return nd_pair_new(&wanted);
}

struct nd_pair *
nd_pair_bound(void **state, const struct nd_options *options)
{
	struct nd_pair *pair = nd_pair_idle(state, options);

	bind_a(pair);
	return pair;
}

struct nd_pair *
nd_pair_established(void **state, const struct nd_options *options)
{
	struct nd_pair *pair = nd_pair_bound(state, options);

	nd_pair_establish(pair);
	return pair;
}

static ULONG
limit(ULONG wanted)
{
	return wanted ? wanted : 16;
}

HRESULT
nd_pair_ask(struct nd_pair *pair, const void *words, ULONG bytes)
{
	return IND2Connector_Connect(pair->a.connector, nd_unknown(pair->a.qp), &pair->at.any,
				     pair->at.length, limit(pair->options.inbound),
				     limit(pair->options.outbound), words, bytes, &pair->connected);
}

HRESULT
nd_pair_answer(struct nd_pair *pair, const void *words, ULONG bytes)
{
	return IND2Connector_Accept(pair->b.connector, nd_unknown(pair->b.qp),
				    limit(pair->options.inbound), limit(pair->options.outbound),
				    words, bytes, &pair->accepted);
}

static void
request(struct nd_pair *pair)
{
	assert_hr(IND2Listener_GetConnectionRequest(pair->listener, nd_unknown(pair->b.connector),
						    &pair->asked),
		  ND_PENDING);
	assert_hr(nd_pair_ask(pair, NULL, 0), ND_PENDING);
}

void
nd_pair_request(struct nd_pair *pair)
{
	request(pair);
	assert_hr(nd_wait(&pair->asked), ND_SUCCESS);
}

void
nd_pair_reply(struct nd_pair *pair)
{
	assert_hr(nd_pair_answer(pair, NULL, 0), ND_PENDING);
	assert_hr(nd_wait(&pair->connected), ND_SUCCESS);
}

void
nd_pair_complete(struct nd_pair *pair)
{
	HRESULT status = IND2Connector_CompleteConnect(pair->a.connector, &pair->completed);

	if (status == ND_PENDING)
		status = nd_wait(&pair->completed);
	assert_hr(status, ND_SUCCESS);
	assert_hr(nd_wait(&pair->accepted), ND_SUCCESS);
}

void
nd_pair_establish(struct nd_pair *pair)
{
	nd_pair_request(pair);
	nd_pair_reply(pair);
	nd_pair_complete(pair);
}

void
nd_pair_establish_all(struct nd_pair *pair[], int n)
{
	for (int i = 0; i < n; i++)
		request(pair[i]);
	for (int i = 0; i < n; i++) {
		assert_hr(nd_wait(&pair[i]->asked), ND_SUCCESS);
		assert_hr(nd_pair_answer(pair[i], NULL, 0), ND_PENDING);
	}
	for (int i = 0; i < n; i++) {
		assert_hr(nd_wait(&pair[i]->connected), ND_SUCCESS);
		assert_hr(IND2Connector_CompleteConnect(pair[i]->a.connector, &pair[i]->completed),
			  ND_PENDING);
		assert_hr(nd_wait(&pair[i]->completed), ND_SUCCESS);
	}
}

void
nd_pair_connect(struct nd_pair *pair)
{
	bind_a(pair);
	nd_pair_establish(pair);
}

void
nd_pair_join(struct nd_pair *pair, IND2Connector *active, IND2QueuePair *active_qp,
	     IND2Connector *passive, IND2QueuePair *passive_qp)
{
	struct nd_pair other = *pair;

	other.a.connector = active;
	other.a.qp = active_qp;
	other.b.connector = passive;
	other.b.qp = passive_qp;
	nd_pair_connect(&other);
}

void
nd_still_pending(const OVERLAPPED *overlapped)
{
	nd_settle();
	assert_hr(nd_status(overlapped), ND_PENDING);
}

void
nd_gone(IND2Connector *connector)
{
	nd_until(IND2Connector_GetReadLimits(connector, NULL, NULL) == ND_CONNECTION_INVALID);
}

void
nd_message(struct nd_side *from, struct nd_side *to, uint8_t seed)
{
	nd_fill(from, 0, 100, seed);
	nd_receive(to, 71, 4096, 100);
	nd_send(from, 72, 0, 100, 0);
	assert_int_equal(nd_expect(to->receive_cq, 71, ND_SUCCESS).BytesTransferred, 100);
	nd_expect(from->initiator_cq, 72, ND_SUCCESS);
	nd_assert_filled(to, 4096, 100, seed);
}
