/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of a program to the host of its adapter: one request and one reply for each operation, as
 * plain data without pointers. In one process they are arguments; between processes they are
 * messages (plx_ipc_message.h). Whoever receives one copies it first, and believes nothing in it.
 * Start with PLX_IPC_OP_LIST; lib/host serves each of them, lib/verbs makes them.
 */
#ifndef PLX_IPC_H
#define PLX_IPC_H

#include "plx_base.h"
#include "plx_verbs.h"

enum {
	PLX_IPC_ENGINES_MAX = 16,
	PLX_IPC_COUNTERS_MAX = 320,   /* of an adapter, or of a queue pair */
	PLX_IPC_SEGMENTS_MAX = 16384, /* of a seat; 0 is none */
};

/* An object of a seat. 0: none. */
struct plx_object {
	uint64_t v;
};

/* Memory that a program and the host can both reach. */
struct plx_location {
	uint32_t segment; /* 0: `at` is an address of the program's */
	uint32_t resv;
	uint64_t at; /* [bytes] from the segment's beginning */
};

/*
 * Every operation. X(NAME, request, reply): the structs are plx_ipc_<request> and plx_ipc_<reply>.
 */
#define PLX_IPC_OP_LIST(X)                                 \
	X(ATTACH, attach, nothing)                         \
	X(CLOSE, nothing, nothing)                         \
	X(SEGMENT_ADD, nothing, segment_added)             \
	X(SEGMENT_READY, segment, nothing)                 \
	X(ARENA_IMPORT, arena_import, segment)             \
	X(ARENA_DROP, segment, nothing)                    \
	X(PRIVATE_MEMORY, private_memory, nothing)         \
	X(OPEN, nothing, opened)                           \
	X(INFO, nothing, info)                             \
	X(RUNNING, running, nothing)                       \
	X(COUNTERS, nothing, counters)                     \
	X(RESOLVE, resolve, resolved)                      \
	X(PING, ping, pinged)                              \
	X(PONG, pong, ponged)                              \
	X(DESCRIPTOR, object, descriptor)                  \
	X(BELL, object, bell)                              \
	X(BARRIER, object, nothing)                        \
	X(DESTROY, object, nothing)                        \
	X(PD_CREATE, nothing, object)                      \
	X(MR_REGISTER, mr_register, mr_registered)         \
	X(MR_PAGES, mr_register, mr_registered)            \
	X(MR_FAST, mr_fast, object)                        \
	X(MR_DEREGISTER, mr_deregister, nothing)           \
	X(REG_PROMISE, reg_promise, reg_promised)          \
	X(REG_VOID, reg_void, nothing)                     \
	X(MW_CREATE, object, object)                       \
	X(MW_BIND, mw_bind, mw_bound)                      \
	X(MW_UNBIND, mw_unbind, nothing)                   \
	X(CQ_CREATE, cq_create, cq_created)                \
	X(CQ_RESIZE, cq_resize, nothing)                   \
	X(SRQ_CREATE, srq_create, srq_created)             \
	X(SRQ_ARM, srq_arm, nothing)                       \
	X(QP_CREATE, qp_create, qp_created)                \
	X(QP_MODIFY, qp_modify, nothing)                   \
	X(QP_QUERY, object, qp_info)                       \
	X(QP_FLUSH, object, nothing)                       \
	X(QP_COUNTERS, object, counters)                   \
	X(QP_ADDRESS, qp_address, qp_addressed)            \
	X(QP_LINGER, qp_linger, nothing)                   \
	X(QP_EXPORT, qp_export, qp_exported)               \
	X(QP_LEND, qp_export, qp_exported)                 \
	X(QP_IMPORT, qp_import, qp_imported)               \
	X(AH_CREATE, ah_create, ah_created)                \
	X(CHANNEL_CREATE, channel_create, channel_created) \
	X(CHANNEL_REFUSE, request_of, nothing)             \
	X(LISTEN, listen, object)                          \
	X(CONNECTOR_CREATE, connector_create, object)      \
	X(CONNECTOR_ADOPT, request_of, nothing)            \
	X(CONNECT, connect, connecting)                    \
	X(SIDR_REQUEST, connect, connecting)               \
	X(ESTABLISH, establish, nothing)                   \
	X(ACCEPT, connect, nothing)                        \
	X(REJECT, reject, nothing)                         \
	X(DISCONNECT, object, nothing)

enum plx_ipc_op {
	PLX_IPC_NONE,
#define PLX_X(name, request, reply) PLX_IPC_##name,
	PLX_IPC_OP_LIST(PLX_X)
#undef PLX_X
	PLX_IPC_OP_COUNT,
};

/** [bytes] of the request and of the reply of an operation; 0 if there is no such operation. */
size_t plx_ipc_request_bytes(uint32_t op);
size_t plx_ipc_reply_bytes(uint32_t op);
/** The name of an operation; any other value has a text that says so. Never NULL. */
const char *plx_ipc_op_name(uint32_t op);

/* ---- the seat and its adapter ---- */

struct plx_ipc_nothing {
	uint32_t resv;
};

struct plx_ipc_object {
	struct plx_object object;
};

/* The first call of a program in another process. */
struct plx_ipc_attach {
	char version[32]; /* plx_version(); the host's is the same */
	char adapter[PLX_ADAPTER_NAME_MAX + 1];
	int32_t net; /* a descriptor, as plx_ipc_descriptor: its network namespace */
	uint32_t resv;
};

/* Memory for fronts, as much as the last refusal for want of it needs. */
struct plx_ipc_segment_added {
	uint32_t segment;
	int32_t fd; /* as plx_ipc_descriptor */
	uint64_t bytes;
};

/* SEGMENT_READY: the program has mapped it. The host places no front in it before. */
struct plx_ipc_segment {
	uint32_t segment;
};

/* Memory of the program's, in which regions may be: a memfd of a fixed size. */
struct plx_ipc_arena_import {
	uint64_t bytes; /* all of it */
	int32_t fd;     /* as plx_ipc_descriptor */
	uint32_t resv;
};

/* Memory of the program's that no arena has: its /proc/self/mem, open for reading and writing. */
struct plx_ipc_private_memory {
	int32_t fd; /* as plx_ipc_descriptor */
	uint32_t resv;
};

/* The fronts of a seat at one engine. */
struct plx_ipc_engine {
	struct plx_location doorbells, async_events;
};

struct plx_ipc_opened {
	struct plx_adapter_info info;
	uint32_t engines;
	uint32_t resv;
	struct plx_ipc_engine engine[PLX_IPC_ENGINES_MAX];
};

struct plx_ipc_info {
	struct plx_adapter_info info;
};

struct plx_ipc_running {
	uint32_t timeout_ms;
};

/* In the order of the tables that both sides have: plx_adapter_counters(), plx_qp_counters(). */
struct plx_ipc_counters {
	uint32_t count;
	uint32_t kinds; /* which an adapter has */
	uint64_t value[PLX_IPC_COUNTERS_MAX];
};

/* AGAIN: ask again. The sentence is then for a program that will not. */
struct plx_ipc_resolve {
	struct plx_ip ip;
	uint32_t timeout_ms; /* for that sentence */
};

struct plx_ipc_resolved {
	uint8_t mac[6];
	uint8_t resv[2];
};

struct plx_ipc_ping {
	struct plx_ip ip;
	uint32_t bytes, timeout_ms;
};

struct plx_ipc_pinged {
	uint32_t number;
};

/* AGAIN: ask again. */
struct plx_ipc_pong {
	struct plx_ip ip; /* for sentences, like the next two */
	uint32_t bytes, timeout_ms;
	uint32_t number;
};

struct plx_ipc_ponged {
	uint64_t rtt_ns;
};

/* The descriptor of an object's events; of none: of the asynchronous events of engine 0 and on. */
struct plx_ipc_descriptor {
	/* between processes they go beside the message, and are numbers of the receiver's */
	int32_t fd;
	int32_t wake_fd; /* what is written to make it readable; may be the same */
};

/* Of engine 0 and on: what a post writes to when the engine's thread sleeps (decision 69). STATE:
 * it never does, or the program has it already. */
struct plx_ipc_bell {
	int32_t fd; /* as plx_ipc_descriptor */
	uint32_t resv;
};

/* ---- memory ---- */

/* MR_PAGES: `place` is a list of pages, as many as the range spans. */
struct plx_ipc_mr_register {
	struct plx_object pd;
	struct plx_location place;
	uint64_t va, length;
	uint32_t access, resv;
};

struct plx_ipc_mr_registered {
	struct plx_object object;
	struct plx_key key;
	uint32_t resv;
};

struct plx_ipc_mr_fast {
	struct plx_object pd;
	uint32_t pages, resv;
};

struct plx_ipc_mr_deregister {
	struct plx_object object;
	uint64_t timeout_ns;
};

struct plx_ipc_reg_promise {
	struct plx_object mr, qp;
	struct plx_location place; /* the memory, or with `pages` a list of them */
	uint64_t va, length;
	uint32_t access, pages;
};

struct plx_ipc_reg_promised {
	uint64_t host; /* as plx_wqe_region.host */
	uint32_t slot, life;
	struct plx_key key;
	uint8_t list, resv[3];
};

struct plx_ipc_reg_void {
	struct plx_object mr;
	uint32_t slot, life;
	struct plx_key key;
	uint8_t list, resv[3];
};

struct plx_ipc_mw_bind {
	struct plx_object mw, mr, qp;
	uint64_t va, length;
	uint32_t access, resv;
};

struct plx_ipc_mw_bound {
	struct plx_key key;
};

struct plx_ipc_mw_unbind {
	struct plx_object qp;
	struct plx_key key;
	uint32_t resv;
};

/* ---- queues ---- */

struct plx_ipc_cq_create {
	uint32_t depth;
	uint32_t strict; /* 0 or 1 */
	uint32_t engine, resv;
	uint64_t context;
};

struct plx_ipc_cq_created {
	struct plx_object object;
	struct plx_location front;
};

struct plx_ipc_cq_resize {
	struct plx_object object;
	uint32_t depth, resv;
};

struct plx_ipc_srq_create {
	uint32_t depth, sges, threshold, depth_max;
	uint32_t engine, resv;
	uint64_t context;
};

struct plx_ipc_srq_created {
	struct plx_object object;
	struct plx_location front;
	uint32_t depth, sges; /* as it was made */
};

struct plx_ipc_srq_arm {
	struct plx_object object;
	uint32_t threshold, resv;
};

/* ---- queue pairs ---- */

struct plx_ipc_qp_create {
	struct plx_object pd, send_cq, recv_cq, srq;
	uint32_t sq_depth, rq_depth, sq_sges, rq_sges;
	uint32_t inline_bytes, responder_resources, type, qkey;
	uint32_t congestion, resv;
	uint64_t context;
};

/* What it was made with: a program's half is opened with these. */
struct plx_ipc_qp_created {
	struct plx_object object;
	struct plx_location sq_front, rq_front; /* rq_front: of its own queue */
	uint32_t qpn, first_psn;
	uint32_t slot, engine; /* of its doorbell */
	uint32_t domain, resv;
	uint32_t sq_depth, sq_sges, inline_bytes, responder_resources;
	uint32_t rq_depth, rq_sges;
};

struct plx_ipc_qp_modify {
	struct plx_object object;
	uint32_t to;
	uint32_t has_terms; /* 1: the next two are given */
	struct plx_qp_address peer;
	struct plx_qp_attr attr;
};

struct plx_ipc_qp_info {
	struct plx_qp_info info;
};

struct plx_ipc_qp_address {
	struct plx_object object;
	struct plx_ip remote; /* version 0: none */
};

struct plx_ipc_qp_addressed {
	struct plx_qp_address address;
};

struct plx_ipc_qp_linger {
	struct plx_object object;
	uint32_t ms, resv;
};

struct plx_ipc_qp_export {
	struct plx_object qp, connector; /* connector 0: none */
	uint32_t seat, resv;
};

struct plx_ipc_qp_exported {
	struct plx_qp_token token;
	uint32_t resv;
};

struct plx_ipc_qp_import {
	struct plx_qp_token token;
	uint32_t heir; /* a seat; 0: none */
	struct plx_ipc_qp_create qp;
	struct plx_object channel; /* 0: none */
	uint64_t cookie;           /* of the connector's events */
};

struct plx_ipc_qp_imported {
	struct plx_ipc_qp_created qp;
	struct plx_object connector; /* 0: none */
	struct plx_connector_info info;
	struct plx_qp_past past;
};

struct plx_ipc_ah_create {
	struct plx_object pd;
	struct plx_ah_options options;
};

struct plx_ipc_ah_created {
	struct plx_object object;
	uint32_t number[PLX_IPC_ENGINES_MAX]; /* at each engine */
	uint32_t domain, resv;
};

/* ---- connections ---- */

struct plx_ipc_channel_create {
	uint32_t depth;
};

struct plx_ipc_channel_created {
	struct plx_object object;
	struct plx_location front;
};

/* The request of a REQUESTED event: of a channel, or to be a connector's. */
struct plx_ipc_request_of {
	struct plx_object object;
	uint32_t id, resv;
};

struct plx_ipc_listen {
	struct plx_object channel;
	struct plx_object ud; /* a UD service's queue pair; 0: none */
	struct plx_ip local;
	uint16_t port;
	uint32_t backlog;
	uint64_t cookie; /* of its events */
};

struct plx_ipc_connector_create {
	struct plx_object channel;
	uint64_t cookie; /* of its events */
};

/* CONNECT, SIDR_REQUEST, ACCEPT. */
struct plx_ipc_connect {
	struct plx_object object, qp;       /* qp: not of a SIDR_REQUEST */
	struct plx_ip peer;                 /* ACCEPT: for sentences */
	struct plx_connect_options options; /* its private_data is NULL: */
	uint8_t private_data[PLX_PRIVATE_ACCEPT_MAX];
};

struct plx_ipc_connecting {
	struct plx_ip local;
	uint16_t local_port;
};

struct plx_ipc_establish {
	struct plx_object object;
	struct plx_ip peer; /* for sentences */
};

struct plx_ipc_reject {
	struct plx_object object;
	uint32_t private_bytes;
	uint8_t private_data[PLX_PRIVATE_REJECT_MAX];
};

#endif
