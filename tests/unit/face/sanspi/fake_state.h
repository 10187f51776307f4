/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the fake share. An endpoint is a socket of the whole system, a descriptor what
 * a process has of it. Start with struct fake.
 */
#ifndef PLX_TEST_SAN_FAKE_STATE_H
#define PLX_TEST_SAN_FAKE_STATE_H

#include "fake.h"

enum {
	ENDPOINTS = 64,
	DESCRIPTORS = 128,
	PROCESSES = 24,
	HOSTS = 8,
	REQUESTS = 64, /* of an endpoint and kind */
	MEMORIES = 256,
	EARLY = 16, /* messages that found no receive */
	BACKLOG_MAX = 16,
	BUFFERS_MAX = 4,
	TOKENS = 64,
	CATALOG_ENTRY = 1001,
	RDMA_THRESHOLD = 4096,
	RDMA_MAX = 1 << 30,
};

enum state {
	FREE,
	FRESH,
	BOUND,
	LISTENING,
	CONNECTING,
	CONNECTED,
	BROKEN,
};

struct request {
	enum fake_call_kind kind;
	LPWSAOVERLAPPED overlapped;
	WSABUF buffer[BUFFERS_MAX];
	DWORD buffers;
	ULONG bytes;
	uint8_t descriptor[FAKE_DESCRIPTOR_BYTES];
	DWORD offset;
};

struct queue {
	struct request request[REQUESTS];
	uint32_t first, count;
};

struct early {
	uint8_t bytes[FAKE_MESSAGE_MAX];
	ULONG n;
};

struct endpoint {
	enum state state;
	struct sockaddr_in address;
	struct endpoint *peer;
	struct queue work, recvs; /* SENDs and RDMA; receives */
	struct early early[EARLY];
	uint32_t early_first, early_count;
	struct endpoint *backlog[BACKLOG_MAX];
	int backlog_count, backlog_max;
	long selected, happened;
	int connect_error;
	WSAEVENT event;
	uint32_t descriptors; /* of all processes */
	DWORD controller;     /* 0: given away, and not taken yet */
};

struct descriptor {
	struct endpoint *of; /* NULL: free */
	DWORD process;
	SOCKET handle; /* the switch's */
	bool given;    /* with WSPDuplicateSocket() */
};

/* Registered: for this process's own transfers, or for the peer's RDMA. */
struct memory {
	struct endpoint *of; /* NULL: free */
	uint8_t *base;
	DWORD bytes, flags;
	bool rdma;
	uint32_t number; /* of that registration */
};

struct fake {
	struct world_options options;
	struct endpoint endpoint[ENDPOINTS];
	struct descriptor descriptor[DESCRIPTORS];
	struct memory memory[MEMORIES];
	struct {
		DWORD id;
		WSPUPCALLTABLEEX upcalls;
		bool runs;
	} process[PROCESSES];
	struct {
		DWORD token, process;
		struct endpoint *of;
	} token[TOKENS];
	ULONG host[HOSTS];
	uint32_t hosts, processes, numbers;
	DWORD victim; /* ends after so many calls more; 0: none */
	uint32_t victim_calls;
	DWORD tokens, current;
	struct fake_call call[FAKE_CALLS_MAX];
	uint32_t calls;
};
extern struct fake fake;

/* ---- fake.c ---- */

WSPUPCALLTABLEEX *fake_upcalls(DWORD process);
bool fake_runs(DWORD process);
struct descriptor *fake_descriptor(SOCKET s);
/* What a call is about: NULL with WSAENOTSOCK. */
struct endpoint *fake_endpoint(SOCKET s, LPINT lpErrno);
void fake_record(enum fake_call_kind kind, SOCKET s);
int fake_refuse(int error, LPINT lpErrno);
struct request *fake_oldest(struct queue *queue);
/* Every request of a queue ends. */
void fake_complete_all(struct endpoint *endpoint, struct queue *queue, DWORD error);
/* All requests of a connection that is over end. */
void fake_break_off(struct endpoint *endpoint, DWORD error);
void fake_happen(struct endpoint *endpoint, long what);
struct memory *fake_rdma_memory(const struct endpoint *of, const uint8_t *descriptor);

/* ---- fake_sockets.c ---- */

/* The connection ends; what is left of it goes with the last descriptor. */
void fake_end_connection(struct endpoint *endpoint);
void fake_drop_descriptor(struct descriptor *d);
void fake_fill_sockets(WSPPROC_TABLE *out);

/* ---- fake_data.c ---- */

void fake_drop_memory(const struct endpoint *endpoint);
void fake_fill_data(WSPPROC_TABLE *out);

#endif
