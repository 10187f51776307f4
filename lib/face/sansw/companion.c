/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of a stream as calls of a provider. Start with san_companion_run().
 */
#include "plx_san_companion.h"

/* The provider says nothing; it is asked. */
#define POLLED ((HANDLE)1)

/* The stream ends when what arrived before has been taken. */
static void
fail(struct san_companion *companion, int error)
{
	if (companion->error == 0)
		companion->error = error;
}

/* ---- for who goes on ---- */

/* A process that is killed at any instruction leaves one of both whole. */
void
san_companion_record(struct san_companion *companion)
{
	struct san_records *records = companion->records;
	uint32_t next;

	if (records == NULL)
		return;
	next = 1 - (atomic_load_explicit(&records->newest, memory_order_relaxed) & 1);
	records->record[next] = (struct san_record){
		.stream = companion->stream,
		.requests = companion->requested,
		.receives = companion->received,
		.next_receive = companion->next_receive,
	};
	atomic_store_explicit(&records->newest, next, memory_order_release);
}

void
san_companion_record_in(struct san_companion *companion, struct san_records *records)
{
	companion->records = records;
	san_companion_record(companion);
}

/* Who gave it has written the last of its records before. */
void
san_companion_go_on_in(struct san_companion *companion, struct san_records *records)
{
	const struct san_record *record = &records->record[records->newest & 1];

	companion->requested = record->requests;
	companion->received = record->receives;
	san_companion_record_in(companion, records);
}

/* What is posted next is known before it is. */
static void
record_request(struct san_companion *companion)
{
	companion->requested++;
	san_companion_record(companion);
}

/* ---- memory for messages ---- */

static size_t
message_bytes(const struct plx_san_config *config)
{
	return PLX_SAN_HEAD_MAX + (size_t)config->payload_bytes;
}

size_t
san_companion_bytes(const struct plx_san_config *config)
{
	return plx_san_receives(config) * message_bytes(config) +
	       (size_t)config->sends * PLX_SAN_HEAD_MAX;
}

static bool
post_receive(struct san_companion *companion, uint32_t i)
{
	WSABUF buffer = {.len = companion->message_bytes,
			 .buf = (char *)companion->receives + (size_t)i * companion->message_bytes};
	DWORD flags = 0, bytes;
	int error = 0;

	buffer.buf[0] = PLX_SAN_NOTHING; /* no message has come yet */
	companion->receive[i] = (WSAOVERLAPPED){.hEvent = POLLED};
	companion->call->lpWSPRecv(companion->s, &buffer, 1, &bytes, &flags, &companion->receive[i],
				   NULL, NULL, &error);
	if (error != WSA_IO_PENDING)
		fail(companion, error);
	return error == WSA_IO_PENDING;
}

/* Register the memory of messages, and post all receives. */
static int
post_all(struct san_companion *companion)
{
	const struct san_extensions *extension = &companion->extension;
	const struct plx_san_config *config = &companion->stream.config;
	DWORD receives = companion->receive_count * companion->message_bytes;
	int error = 0;

	companion->receives_handle = extension->register_memory(companion->s, companion->receives,
								receives, MEM_WRITE, &error);
	if (companion->receives_handle == NULL)
		return error;
	companion->heads_handle = extension->register_memory(
		companion->s, companion->heads, config->sends * PLX_SAN_HEAD_MAX, MEM_READ, &error);
	if (companion->heads_handle == NULL)
		return error;
	companion->payloads_handle = extension->register_memory(
		companion->s, companion->rings.out, config->out_bytes, MEM_READ, &error);
	if (companion->payloads_handle == NULL)
		return error;
	for (uint32_t i = 0; i < companion->receive_count; i++)
		if (!post_receive(companion, i))
			return companion->error;
	return 0;
}

/* ---- beginning ---- */

static int
look_up(struct san_companion *companion, GUID id, SAN_NEVER_CALLED *out)
{
	DWORD bytes;
	int error = 0;

	return companion->call->lpWSPIoctl(companion->s, SIO_GET_EXTENSION_FUNCTION_POINTER, &id,
					   sizeof(id), out, sizeof(*out), &bytes, NULL, NULL, NULL,
					   &error) == 0
		       ? 0
		       : error;
}

static int
look_up_all(struct san_companion *companion)
{
	struct san_extensions *to = &companion->extension;
	const struct {
		GUID id;
		void *out;
	} extensions[] = {
		{WSAID_REGISTERMEMORY, &to->register_memory},
		{WSAID_DEREGISTERMEMORY, &to->deregister_memory},
		{WSAID_REGISTERRDMAMEMORY, &to->register_rdma},
		{WSAID_DEREGISTERRDMAMEMORY, &to->deregister_rdma},
		{WSAID_RDMAWRITE, &to->write},
		{WSAID_RDMAREAD, &to->read},
	};

	for (uint32_t i = 0; i < PLX_COUNT_OF(extensions); i++) {
		SAN_NEVER_CALLED function = NULL;
		int error = look_up(companion, extensions[i].id, &function);
		bool is_optional = extensions[i].out == &to->read && error == WSAEOPNOTSUPP;

		if (error != 0 && !is_optional)
			return error;
		memcpy(extensions[i].out, &function, sizeof(function));
	}
	return 0;
}

static void
init(struct san_companion *companion, const WSPPROC_TABLE *call, SOCKET s,
     const struct plx_san_config *config, const struct plx_san_rings *rings, void *memory)
{
	*companion = (struct san_companion){.call = call, .s = s, .rings = *rings};
	companion->message_bytes = (uint32_t)message_bytes(config);
	companion->receive_count = plx_san_receives(config);
	companion->receives = memory;
	companion->heads =
		companion->receives + (size_t)companion->receive_count * companion->message_bytes;
}

int
san_companion_open(struct san_companion *companion, const WSPPROC_TABLE *call, SOCKET s,
		   const struct plx_san_config *config, const struct plx_san_rings *rings,
		   void *memory)
{
	struct plx_san_config as_is = *config;
	int error;

	if (plx_san_receives(config) > SAN_RECEIVES_MAX)
		return WSAEINVAL;
	init(companion, call, s, config, rings, memory);
	error = look_up_all(companion);
	if (error != 0)
		return error;
	as_is.reads = companion->extension.read != NULL;
	if (plx_san_begin(&companion->stream, &as_is) != PLX_OK)
		return WSAEINVAL;
	return post_all(companion);
}

/* ---- what the peer can reach ---- */

static int
expose(struct san_companion *companion, struct san_rdma *rdma, void *memory, uint64_t bytes,
       DWORD flags)
{
	DWORD length = PLX_SAN_DESCRIPTOR_MAX;
	int error = 0;

	if (companion->extension.register_rdma(companion->s, memory, (DWORD)bytes, flags,
					       rdma->descriptor.bytes, &length, &error) != 0)
		return error;
	memset(rdma->descriptor.bytes + length, 0, PLX_SAN_DESCRIPTOR_MAX - length);
	rdma->descriptor.length = (uint8_t)length;
	rdma->registered = true;
	return 0;
}

static void
conceal(struct san_companion *companion, struct san_rdma *rdma)
{
	int error = 0;

	if (!rdma->registered)
		return;
	rdma->registered = false;
	if (companion->extension.deregister_rdma(companion->s, rdma->descriptor.bytes,
						 rdma->descriptor.length, &error) != 0)
		fail(companion, error);
}

static void
deregister(struct san_companion *companion, HANDLE *handle)
{
	int error = 0;

	if (*handle == NULL)
		return;
	if (companion->extension.deregister_memory(companion->s, *handle, &error) != 0)
		fail(companion, error);
	*handle = NULL;
}

int
san_companion_offer(struct san_companion *companion, void *memory, uint64_t bytes)
{
	bool reads = plx_san_offers_reads(&companion->stream);
	int error = 0;

	if (companion->large != NULL)
		return WSAEWOULDBLOCK;
	if (bytes > UINT32_MAX) /* what the provider's calls can name */
		return WSAEMSGSIZE;
	if (reads)
		error = expose(companion, &companion->offered, memory, bytes, MEM_READ);
	if (error != 0)
		return error;
	if (!plx_san_offer(&companion->stream, bytes,
			   reads ? &companion->offered.descriptor : NULL)) {
		conceal(companion, &companion->offered);
		return WSAEWOULDBLOCK;
	}
	companion->large = memory;
	companion->large_bytes = bytes;
	return 0;
}

static void
offer_again(struct san_companion *companion, const struct plx_san_next *next)
{
	int error = expose(companion, &companion->offered, companion->large + next->offset,
			   companion->large_bytes - next->offset, MEM_READ);

	if (error != 0)
		fail(companion, error);
	else
		plx_san_on_offered_again(&companion->stream, &companion->offered.descriptor);
}

static void
end_large(struct san_companion *companion)
{
	conceal(companion, &companion->offered);
	deregister(companion, &companion->large_handle);
	companion->large = NULL;
}

/* ---- completions ---- */

/* Returns: true: it is complete, and well; false also when it ended the stream */
static bool
is_complete(struct san_companion *companion, WSAOVERLAPPED *overlapped, DWORD *bytes)
{
	DWORD flags;
	int error = 0;

	if (companion->call->lpWSPGetOverlappedResult(companion->s, overlapped, bytes, FALSE,
						      &flags, &error)) {
		companion->completed++;
		return true;
	}
	if (error != WSA_IO_INCOMPLETE)
		fail(companion, error);
	return false;
}

/* ---- steps ---- */

/* Heads are used in turn, so the next one is free: the stream has no more under way. Payloads are
 * sent from the ring, where they stay until then. */
static void
send_message(struct san_companion *companion, const struct plx_san_next *next)
{
	uint32_t sends = companion->stream.config.sends;
	uint32_t i = (companion->next_send + companion->stream.out.sends - 1) % sends;
	uint8_t *head = companion->heads + (size_t)i * PLX_SAN_HEAD_MAX;
	const struct plx_san_range *ring = &next->ring;
	WSABUF buffer[3] = {
		{next->head_bytes, (char *)head},
		{ring->first, (char *)companion->rings.out + ring->at},
		{ring->bytes - ring->first, (char *)companion->rings.out},
	};
	DWORD bytes, n = 1 + (buffer[1].len > 0) + (buffer[2].len > 0);
	int error = 0;

	memcpy(head, next->head, next->head_bytes);
	companion->send[i] = (WSAOVERLAPPED){.hEvent = POLLED};
	record_request(companion);
	companion->call->lpWSPSend(companion->s, buffer, n, &bytes, 0, &companion->send[i], NULL,
				   NULL, &error);
	if (error != WSA_IO_PENDING)
		fail(companion, error);
}

static HANDLE
local(struct san_companion *companion, HANDLE *handle, void *memory, uint64_t bytes, DWORD flags)
{
	int error = 0;

	if (*handle == NULL)
		*handle = companion->extension.register_memory(companion->s, memory, (DWORD)bytes,
							       flags, &error);
	if (*handle == NULL)
		fail(companion, error);
	return *handle;
}

static void
read_offered(struct san_companion *companion, struct plx_san_next *next)
{
	const struct plx_san_range *ring = &next->ring;
	HANDLE handle = local(companion, &companion->ring_handle, companion->rings.in,
			      companion->stream.config.in_bytes, MEM_WRITE);
	WSABUFEX buffer[2] = {
		{ring->first, (char *)companion->rings.in + ring->at, handle},
		{ring->bytes - ring->first, (char *)companion->rings.in, handle},
	};
	DWORD bytes, n = buffer[1].len > 0 ? 2 : 1;
	int error = 0;

	if (handle == NULL)
		return;
	companion->read = (WSAOVERLAPPED){.hEvent = POLLED};
	record_request(companion);
	companion->extension.read(companion->s, buffer, n, next->descriptor.bytes,
				  next->descriptor.length, (DWORD)next->offset, &bytes, 0,
				  &companion->read, NULL, NULL, &error);
	if (error != WSA_IO_PENDING)
		fail(companion, error);
}

static void
write_large(struct san_companion *companion, struct plx_san_next *next)
{
	HANDLE handle = local(companion, &companion->large_handle, companion->large,
			      companion->large_bytes, MEM_READ);
	WSABUFEX buffer = {next->bytes, (char *)companion->large + next->offset, handle};
	DWORD bytes;
	int error = 0;

	if (handle == NULL)
		return;
	companion->write = (WSAOVERLAPPED){.hEvent = POLLED};
	record_request(companion);
	companion->extension.write(companion->s, &buffer, 1, next->descriptor.bytes,
				   next->descriptor.length, 0, &bytes, 0, &companion->write, NULL,
				   NULL, &error);
	if (error != WSA_IO_PENDING)
		fail(companion, error);
}

static void
expose_ring(struct san_companion *companion, const struct plx_san_next *next)
{
	int error = expose(companion, &companion->exposed, companion->rings.in + next->ring.at,
			   next->ring.bytes, MEM_WRITE);

	if (error != 0)
		fail(companion, error);
	else
		plx_san_on_exposed(&companion->stream, &companion->exposed.descriptor);
}

/* The next message, if it has arrived: an empty one is a receive that ended with the socket. */
static bool
take_message(struct san_companion *companion)
{
	uint32_t i = companion->next_receive;
	DWORD bytes;

	if (!is_complete(companion, &companion->receive[i], &bytes) || bytes == 0)
		return false;
	plx_san_on_message(&companion->stream, &companion->rings,
			   companion->receives + (size_t)i * companion->message_bytes, bytes);
	companion->next_receive = (i + 1) % companion->receive_count;
	companion->received++;
	san_companion_record(companion);
	return true;
}

/* Messages may have arrived since they were last looked at, unless the other end is suspended. */
static void
give(struct san_companion *companion)
{
	uint32_t left = companion->receive_count;
	int error = 0;

	if (companion->call->lpWSPDuplicateSocket(companion->s, companion->next_process,
						  &companion->info, &error) != 0) {
		fail(companion, error);
		return;
	}
	companion->given = true;
	while (left-- > 0 && take_message(companion))
		;
	/* Who takes it begins at the first place; messages may come before it writes that down. */
	companion->next_receive = 0;
	san_companion_record(companion);
}

static void
take_step(struct san_companion *companion, struct plx_san_next *next)
{
	switch (next->what) {
	case PLX_SAN_DO_SEND:
		send_message(companion, next);
		break;
	case PLX_SAN_DO_READ:
		read_offered(companion, next);
		break;
	case PLX_SAN_DO_WRITE:
		write_large(companion, next);
		break;
	case PLX_SAN_DO_EXPOSE:
		expose_ring(companion, next);
		break;
	case PLX_SAN_DO_CONCEAL:
		conceal(companion, &companion->exposed);
		break;
	case PLX_SAN_DO_OFFER_AGAIN:
		offer_again(companion, next);
		break;
	case PLX_SAN_DO_END_LARGE:
		end_large(companion);
		break;
	case PLX_SAN_DO_RELEASE_SENDS:
		deregister(companion, &companion->heads_handle);
		deregister(companion, &companion->payloads_handle);
		break;
	case PLX_SAN_DO_RELEASE_RDMA:
		conceal(companion, &companion->offered);
		conceal(companion, &companion->exposed);
		break;
	case PLX_SAN_DO_GIVE:
		give(companion);
		break;
	case PLX_SAN_DO_NOTHING:
	case PLX_SAN_DO_COUNT:
		break;
	}
}

/* ---- what is done by and by ---- */

static bool
run_receives(struct san_companion *companion)
{
	uint32_t i = companion->next_receive;

	return take_message(companion) && post_receive(companion, i);
}

static bool
run_sends(struct san_companion *companion)
{
	DWORD bytes;

	if (companion->stream.out.sends == 0 ||
	    !is_complete(companion, &companion->send[companion->next_send], &bytes))
		return false;
	companion->next_send = (companion->next_send + 1) % companion->stream.config.sends;
	plx_san_on_sent(&companion->stream, 1);
	return true;
}

static bool
run_rdma(struct san_companion *companion)
{
	DWORD bytes;

	if (companion->stream.in.fetch == PLX_SAN_FETCH_READING &&
	    is_complete(companion, &companion->read, &bytes)) {
		plx_san_on_read(&companion->stream);
		return true;
	}
	if (companion->stream.out.large == PLX_SAN_LARGE_WRITING &&
	    is_complete(companion, &companion->write, &bytes)) {
		plx_san_on_written(&companion->stream);
		return true;
	}
	return false;
}

/* A peer that closes may have sent messages right before. */
static void
take_last_messages(struct san_companion *companion)
{
	for (uint32_t i = 0; i < companion->receive_count && take_message(companion); i++)
		;
	plx_san_finish(&companion->stream, PLX_SAN_END_LOST);
}

static bool
run_steps(struct san_companion *companion, uint64_t now)
{
	struct plx_san_next next;

	plx_san_next(&companion->stream, now, &next);
	take_step(companion, &next);
	return next.what != PLX_SAN_DO_NOTHING;
}

static bool
can_run(const struct san_companion *companion)
{
	return companion->error == 0 && !companion->given &&
	       companion->stream.end == PLX_SAN_END_NOT;
}

void
san_companion_step(struct san_companion *companion, uint64_t now)
{
	while (can_run(companion) && run_steps(companion, now))
		;
}

void
san_companion_run(struct san_companion *companion, uint64_t now)
{
	bool moved = true;

	plx_san_on_time(&companion->stream, now);
	while (moved && can_run(companion)) {
		moved = run_receives(companion);
		moved |= run_sends(companion);
		moved |= run_rdma(companion);
		moved |= run_steps(companion, now);
	}
	if (companion->error != 0 && companion->stream.end == PLX_SAN_END_NOT)
		take_last_messages(companion);
}

void
san_companion_close(struct san_companion *companion)
{
	int error;

	if (companion->s != INVALID_SOCKET)
		companion->call->lpWSPCloseSocket(companion->s, &error);
	companion->s = INVALID_SOCKET;
}

static bool
is_shut(const struct plx_san_stream *stream)
{
	return stream->in.fin && stream->out.fin;
}

bool
san_companion_has_ended_well(const struct san_companion *companion)
{
	return companion->stream.end != PLX_SAN_END_NOT && is_shut(&companion->stream);
}

bool
san_companion_take_rest(struct san_companion *companion, const WSPPROC_TABLE *call,
			const struct plx_san_stream *stream, const struct plx_san_rings *rings)
{
	if (!plx_san_is_valid(stream) || !is_shut(stream))
		return false;
	*companion = (struct san_companion){
		.call = call, .s = INVALID_SOCKET, .rings = *rings, .stream = *stream};
	plx_san_finish(&companion->stream, PLX_SAN_END_CLOSED);
	return true;
}

/* ---- from process to process ---- */

void
san_companion_give(struct san_companion *companion, DWORD process)
{
	companion->next_process = process;
	plx_san_suspend(&companion->stream);
}

void
san_companion_pass(struct san_companion *companion, DWORD process)
{
	companion->next_process = process;
	plx_san_pass(&companion->stream);
}

int
san_companion_take(struct san_companion *companion, const WSPPROC_TABLE *call,
		   WSAPROTOCOL_INFOW *info, const struct plx_san_stream *stream,
		   const struct plx_san_rings *rings, void *memory)
{
	int error = 0;
	SOCKET s;

	if (!plx_san_can_take(stream) || plx_san_receives(&stream->config) > SAN_RECEIVES_MAX)
		return WSAEINVAL;
	s = call->lpWSPSocket(info->iAddressFamily, info->iSocketType, info->iProtocol, info, 0,
			      WSA_FLAG_OVERLAPPED, &error);
	if (s == INVALID_SOCKET)
		return error;
	init(companion, call, s, &stream->config, rings, memory);
	companion->stream = *stream;
	error = look_up_all(companion);
	if (error == 0 && stream->config.reads && companion->extension.read == NULL)
		error = WSAEINVAL;
	if (error == 0)
		error = post_all(companion);
	if (error == 0)
		plx_san_resume(&companion->stream);
	else
		san_companion_close(companion);
	return error;
}

/* ---- from a process that does not give ---- */

/* What was posted is one of both: at most one request was written down and not posted. */
static const struct san_record *
find_record(const struct san_records *records, uint32_t requests)
{
	uint32_t newest = records->newest & 1;

	for (uint32_t i = 0; i < 2; i++) {
		const struct san_record *record = &records->record[newest ^ i];

		if (record->requests == requests)
			return record;
	}
	return NULL;
}

static bool
has_config(const struct san_record *record, const struct plx_san_config *config)
{
	return memcmp(&record->stream.config, config, sizeof(*config)) == 0;
}

/* A message that lies in memory. Returns: false: there is none */
static bool
take_left(struct san_companion *companion, uint32_t i)
{
	const uint8_t *message = companion->receives +
				 (size_t)(i % companion->receive_count) * companion->message_bytes;
	uint32_t bytes = plx_san_message_bytes(message, companion->message_bytes);

	if (bytes == 0)
		return false;
	plx_san_on_message(&companion->stream, &companion->rings, message, bytes);
	return true;
}

int
san_companion_inherit(struct san_companion *companion, const WSPPROC_TABLE *call, SOCKET s,
		      const struct plx_san_config *config, const struct san_records *records,
		      uint32_t requests, uint32_t receives, const struct plx_san_rings *rings,
		      void *memory)
{
	const struct san_record *record = find_record(records, requests);
	struct plx_san_stream stream;
	int error;

	if (record == NULL || !has_config(record, config))
		return WSAECONNRESET;
	stream = record->stream;
	if (!plx_san_inherit(&stream) || plx_san_receives(&stream.config) > SAN_RECEIVES_MAX ||
	    receives - record->receives > plx_san_receives(&stream.config))
		return WSAECONNRESET;
	init(companion, call, s, &stream.config, rings, memory);
	companion->stream = stream;
	companion->requested = requests;
	companion->received = receives;
	for (uint32_t i = 0; i < receives - record->receives; i++)
		if (!take_left(companion, record->next_receive + i))
			return WSAECONNRESET;
	error = look_up_all(companion);
	if (error == 0 && stream.config.reads && companion->extension.read == NULL)
		error = WSAEINVAL;
	return error == 0 ? post_all(companion) : error;
}

bool
san_companion_inherit_rest(struct san_companion *companion, const WSPPROC_TABLE *call,
			   const struct plx_san_config *config, const struct san_records *records,
			   const struct plx_san_rings *rings, void *memory)
{
	const struct san_record *record = &records->record[records->newest & 1];
	struct plx_san_stream stream;
	uint32_t receives;

	if (!has_config(record, config) || !plx_san_is_valid(&record->stream))
		return false;
	receives = plx_san_receives(&record->stream.config);
	if (receives > SAN_RECEIVES_MAX)
		return false;
	init(companion, call, INVALID_SOCKET, &record->stream.config, rings, memory);
	companion->stream = record->stream;
	/* A FIN is the last one, and what came before it is whole. */
	for (uint32_t i = 0; i < receives && !companion->stream.in.fin; i++)
		if (!take_left(companion, record->next_receive + i))
			break;
	stream = companion->stream;
	return is_shut(&stream) && san_companion_take_rest(companion, call, &stream, rings);
}
