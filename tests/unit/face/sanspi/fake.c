/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SAN service provider in memory: its processes, and the network. Start with world_run().
 */
#include "fake_state.h"

struct fake fake;

/* ---- looking up ---- */

WSPUPCALLTABLEEX *
fake_upcalls(DWORD process)
{
	for (uint32_t i = 0; i < fake.processes; i++)
		if (fake.process[i].id == process)
			return &fake.process[i].upcalls;
	fail_msg("process %lu was not loaded", (unsigned long)process);
	return NULL;
}

bool
fake_runs(DWORD process)
{
	for (uint32_t i = 0; i < fake.processes; i++)
		if (fake.process[i].id == process)
			return fake.process[i].runs;
	return false;
}

struct descriptor *
fake_descriptor(SOCKET s)
{
	struct descriptor *d = &fake.descriptor[s - 1];

	return s >= 1 && s <= DESCRIPTORS && d->of != NULL && d->process == fake.current ? d : NULL;
}

/* What a call is about; after WSPDuplicateSocket() the switch calls WSPCloseSocket() at most. */
struct endpoint *
fake_endpoint(SOCKET s, LPINT lpErrno)
{
	struct descriptor *d = fake_descriptor(s);

	if (d == NULL) {
		*lpErrno = fake_runs(fake.current) ? WSAENOTSOCK : WSAENETDOWN;
		return NULL;
	}
	if (d->given)
		fail_msg("a call for socket %lu, which was given away", (unsigned long)s);
	return d->of;
}

void
fake_record(enum fake_call_kind kind, SOCKET s)
{
	assert_true(fake.calls < FAKE_CALLS_MAX);
	fake.call[fake.calls++] = (struct fake_call){kind, fake.current, s};
	if (fake.victim == fake.current && --fake.victim_calls == 0) {
		fake.victim = 0;
		fake_kill(fake.current);
	}
}

int
fake_refuse(int error, LPINT lpErrno)
{
	*lpErrno = error;
	return SOCKET_ERROR;
}

static struct descriptor *
descriptor_of(const struct endpoint *endpoint, DWORD process)
{
	for (uint32_t i = 0; i < DESCRIPTORS; i++)
		if (fake.descriptor[i].of == endpoint && fake.descriptor[i].process == process &&
		    !fake.descriptor[i].given)
			return &fake.descriptor[i];
	return NULL;
}

/* ---- requests and their ends ---- */

struct request *
fake_oldest(struct queue *queue)
{
	return queue->count > 0 ? &queue->request[queue->first] : NULL;
}

static void
pop(struct queue *queue)
{
	queue->first = (queue->first + 1) % REQUESTS;
	queue->count--;
}

static bool
is_polled(LPWSAOVERLAPPED overlapped)
{
	return (uintptr_t)overlapped->hEvent & 1;
}

/* The oldest request of a queue ends: polled, or by an upcall to the process in control. */
static void
complete(struct endpoint *endpoint, struct queue *queue, DWORD error, ULONG bytes)
{
	LPWSAOVERLAPPED overlapped = fake_oldest(queue)->overlapped;
	struct descriptor *d = descriptor_of(endpoint, endpoint->controller);
	int ignored;

	pop(queue);
	overlapped->InternalHigh = bytes;
	overlapped->Internal = error;
	if (is_polled(overlapped) || d == NULL || !fake_runs(endpoint->controller))
		return;
	assert_int_equal(fake_upcalls(endpoint->controller)
				 ->lpWPUCompleteOverlappedRequest(d->handle, overlapped, error,
								  bytes, &ignored),
			 0);
}

void
fake_complete_all(struct endpoint *endpoint, struct queue *queue, DWORD error)
{
	while (queue->count > 0)
		complete(endpoint, queue, error, 0);
}

/* Copy between the buffers of a request and `bytes`. */
static void
copy(const struct request *request, uint8_t *bytes, ULONG n, bool to_buffers)
{
	for (DWORD i = 0; i < request->buffers && n > 0; i++) {
		ULONG part = n < request->buffer[i].len ? n : request->buffer[i].len;

		if (to_buffers)
			memcpy(request->buffer[i].buf, bytes, part);
		else
			memcpy(bytes, request->buffer[i].buf, part);
		bytes += part;
		n -= part;
	}
}

/* ---- the network ---- */

void
fake_happen(struct endpoint *endpoint, long what)
{
	int ignored;

	endpoint->happened |= what;
	if ((endpoint->selected & what) && endpoint->event != NULL)
		fake_upcalls(endpoint->controller)->lpWPUSetEvent(endpoint->event, &ignored);
}

void
fake_break_off(struct endpoint *endpoint, DWORD error)
{
	if (endpoint->state == CONNECTED)
		endpoint->state = BROKEN;
	fake_complete_all(endpoint, &endpoint->work, error);
	fake_complete_all(endpoint, &endpoint->recvs, error);
}

static void
run_send(struct endpoint *from)
{
	const struct request *request = fake_oldest(&from->work);
	struct endpoint *to = from->peer;
	struct early *early;

	assert_true(to->early_count < EARLY);
	early = &to->early[(to->early_first + to->early_count++) % EARLY];
	early->n = request->bytes;
	copy(request, early->bytes, request->bytes, false);
	complete(from, &from->work, 0, request->bytes);
}

struct memory *
fake_rdma_memory(const struct endpoint *of, const uint8_t *descriptor)
{
	for (uint32_t i = 0; i < MEMORIES; i++) {
		struct memory *m = &fake.memory[i];

		if (m->of != NULL && m->rdma && m->of == of &&
		    memcmp(descriptor, &m->number, sizeof(m->number)) == 0)
			return m;
	}
	return NULL;
}

static void
run_rdma(struct endpoint *from)
{
	const struct request *request = fake_oldest(&from->work);
	struct memory *m = fake_rdma_memory(from->peer, request->descriptor);
	bool reads = request->kind == FAKE_RDMA_READ;

	if (m == NULL || !(m->flags & (reads ? MEM_READ : MEM_WRITE)) ||
	    request->offset > m->bytes || request->bytes > m->bytes - request->offset) {
		complete(from, &from->work, WSAEFAULT, 0);
		return;
	}
	copy(request, m->base + request->offset, request->bytes, reads);
	complete(from, &from->work, 0, request->bytes);
}

static bool
run_receive(struct endpoint *endpoint)
{
	const struct request *request = fake_oldest(&endpoint->recvs);
	struct early *early = &endpoint->early[endpoint->early_first];
	bool fits;

	if (endpoint->early_count == 0 || request == NULL)
		return false;
	fits = early->n <= request->bytes;
	if (fits)
		copy(request, early->bytes, early->n, true);
	endpoint->early_first = (endpoint->early_first + 1) % EARLY;
	endpoint->early_count--;
	complete(endpoint, &endpoint->recvs, fits ? 0 : WSAEMSGSIZE, fits ? early->n : 0);
	return true;
}

bool
world_run(void)
{
	for (uint32_t i = 0; i < ENDPOINTS; i++) {
		struct endpoint *endpoint = &fake.endpoint[i];
		struct request *request = fake_oldest(&endpoint->work);

		if (endpoint->state != CONNECTED)
			continue;
		if (run_receive(endpoint))
			return true;
		if (request == NULL)
			continue;
		if (request->kind == FAKE_SEND)
			run_send(endpoint);
		else
			run_rdma(endpoint);
		return true;
	}
	return false;
}

void
world_settle(void)
{
	while (world_run())
		;
}

/* ---- processes ---- */

void
world_begin(const struct world_options *options)
{
	memset(&fake, 0, sizeof(fake));
	fake.options = *options;
}

void
world_end(void)
{
	for (uint32_t i = 0; i < ENDPOINTS; i++)
		assert_int_equal(fake.endpoint[i].state, FREE);
	for (uint32_t i = 0; i < DESCRIPTORS; i++)
		assert_null(fake.descriptor[i].of);
	for (uint32_t i = 0; i < MEMORIES; i++)
		assert_null(fake.memory[i].of);
	for (uint32_t i = 0; i < TOKENS; i++)
		assert_null(fake.token[i].of);
}

void
world_process(DWORD process, ULONG host, const WSPUPCALLTABLEEX *upcalls, WSPPROC_TABLE *out)
{
	assert_true(fake.hosts < HOSTS);
	fake.host[fake.hosts++] = host;

	assert_true(fake.processes < PROCESSES && process != 0 && !fake_runs(process));
	fake.process[fake.processes].id = process;
	fake.process[fake.processes].upcalls = *upcalls;
	fake.process[fake.processes++].runs = true;
	*out = (WSPPROC_TABLE){0};
	fake_fill_sockets(out);
	fake_fill_data(out);
}

DWORD
world_id(DWORD process)
{
	return process;
}

void
world_as(DWORD process)
{
	fake.current = process;
}

void
fake_kill(DWORD process)
{
	for (uint32_t i = 0; i < fake.processes; i++)
		if (fake.process[i].id == process)
			fake.process[i].runs = false;
	for (uint32_t i = 0; i < DESCRIPTORS; i++) {
		struct descriptor *d = &fake.descriptor[i];

		if (d->of == NULL || d->process != process)
			continue;
		if (!d->given)
			fake_end_connection(d->of);
		fake_drop_descriptor(d);
	}
	for (uint32_t i = 0; i < TOKENS; i++)
		if (fake.token[i].of != NULL && fake.token[i].process == process)
			fake_end_connection(fake.token[i].of);
}

void
fake_kill_after(DWORD process, uint32_t n)
{
	fake.victim = process;
	fake.victim_calls = n;
}

bool
fake_is_killed(DWORD process)
{
	return !fake_runs(process);
}

/* ---- the record ---- */

const struct fake_call *
fake_calls(uint32_t *n)
{
	*n = fake.calls;
	return fake.call;
}

void
fake_forget_calls(void)
{
	fake.calls = 0;
}

int
world_run_tests(const struct CMUnitTest *tests, size_t n)
{
	return _cmocka_run_group_tests("a provider in memory", tests, n, NULL, NULL);
}
