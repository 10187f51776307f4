/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of the line between programs and hosts: the input is a hostile program with a seat at
 * a host, whose engine polls on another thread. It sends messages, of which the words are numbers
 * of objects that it was given, small ones, and any; it posts requests, valid and not, on an arena
 * and on private memory, which another process has; and it writes into the segments that it shares.
 * No input has to be valid. Afterwards the engine runs, and nothing of the seat is left.
 * Start with LLVMFuzzerTestOneInput(); step() has the language.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "host.h"
#include "input.h"
#include "plx_ipc_message.h"
#include "plx_qp_front.h"
#include "plx_seat_front.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	STEPS_MAX = 64,
	KNOWN = 16,  /* objects that it was given */
	PLACES = 8,  /* and fronts */
	NEAR = 4096, /* [bytes] of a front that it writes to */
	ARENA_BYTES = 64 * 1024,
	FILES = 4,
	USUAL_DEPTH = 8,
	FAST_PAGES = 4,
	RUN_MS = 20000,
};

/* Where the other process has its memory; behind the first half there is none. */
#define VICTIM_AT    UINT64_C(0x7e0000000000)
#define VICTIM_BYTES (2 * ARENA_BYTES)

/* What outlives an input. */
static struct {
	struct host_adapter *adapter;
	struct waker *waker;
	struct parking *parking;
	int stop; /* the host stops: it waits for no importer */
	struct plx_host_rights rights;
	struct plx_host_who who;
	int file[FILES]; /* the first is an arena, the last private memory */
	/* executed so far */
	uint64_t programs, messages, writes, posts;
} world;

struct program {
	struct input in;
	struct host_seat *seat;
	struct plx_object known[KNOWN];
	struct plx_location place[PLACES];
	uint32_t objects, places;
	struct plx_qp_token token; /* the newest of its own */
	struct plx_qp pair[2];     /* its halves of its queue pairs */
	struct plx_location doorbells;
	struct plx_object fast; /* a region of fast registrations */
	struct plx_key key[2];  /* of the arena, and of private memory */
	struct plx_ipc_message request, reply;
};

/* ---- the host ---- */

static int
arena(int seals)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && ftruncate(fd, ARENA_BYTES) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0);
	return fd;
}

/* Of a long run. */
static void
tell(void)
{
	fprintf(stderr,
		"%" PRIu64 " programs, %" PRIu64 " messages, %" PRIu64 " writes, %" PRIu64
		" posts\n",
		world.programs, world.messages, world.writes, world.posts);
}

/* A process whose memory is private: what is written there hurts nobody.
 * Returns: its /proc/PID/mem */
static int
victim(void)
{
	pid_t parent = getpid(), pid = fork();
	char path[32];
	void *memory;
	int fd;

	CHECK(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memory = mmap((void *)VICTIM_AT, ARENA_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		while (memory != MAP_FAILED && getppid() == parent)
			sleep(1);
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void
open_world(void)
{
	struct plx_adapter_options options;
	struct stat own;

	if (world.adapter != NULL)
		return;
	plx_adapter_options_init(&options);
	strcpy(options.device, "net_wire0,end=0");
	options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 79, 9, 1}};
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	options.qps = 64;
	options.keys = 128;
	options.packets = 4096;
	options.idle = PLX_IDLE_YIELD;
	CHECK(plx_host_adapter_open("fuzz", &options, &world.adapter, NULL) == PLX_OK);
	CHECK(plx_engines_run(world.adapter, RUN_MS * PLX_MSEC) == PLX_OK);
	CHECK(waker_start(&world.waker) == PLX_OK);
	CHECK(atexit(tell) == 0);
	world.parking = parking_create(world.adapter);
	world.stop = eventfd(1, EFD_CLOEXEC);
	CHECK(world.parking != NULL && world.stop >= 0);
	CHECK(stat("/proc/self/ns/net", &own) == 0);
	world.who = (struct plx_host_who){
		.uid = getuid(), .pid = getpid(), .net = {own.st_dev, own.st_ino}};
	plx_host_rights_init(&world.rights, world.who.uid, world.who.net, "fuzz.conf");
	world.rights.quota[PLX_HOST_MEMORY] = 64 << 20;
	world.file[0] = arena(F_SEAL_SHRINK | F_SEAL_GROW);
	world.file[1] = arena(0);
	world.file[2] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	world.file[3] = victim();
}

static uint32_t
objects_left(void)
{
	const struct plx_object_counts *count = &world.adapter->count;

	return count->pds + count->mrs + count->mws + count->cqs + count->srqs + count->qps +
	       count->ahs + count->event_channels + count->listeners + count->connectors;
}

/* ---- messages ---- */

/* Every reply that makes an object begins with it, and those with a front name that next. */
static void
learn(struct program *program, enum plx_ipc_op op)
{
	const struct plx_ipc_qp_created *qp = (const void *)program->reply.body;
	const struct plx_ipc_cq_created *cq = (const void *)program->reply.body;
	struct plx_location *place = &program->place[program->places % PLACES];

	if (op == PLX_IPC_QP_EXPORT || op == PLX_IPC_QP_LEND) {
		memcpy(&program->token, program->reply.body, sizeof(program->token));
		return;
	}
	memcpy(&program->known[program->objects++ % KNOWN], program->reply.body,
	       sizeof(struct plx_object));
	if (op == PLX_IPC_CQ_CREATE || op == PLX_IPC_SRQ_CREATE || op == PLX_IPC_CHANNEL_CREATE)
		*place = cq->front;
	else if (op == PLX_IPC_QP_CREATE || op == PLX_IPC_QP_IMPORT)
		*place = qp->sq_front;
	else
		return;
	program->places++;
}

/* A message that keeps to the protocol is served, as a session's thread does. */
static enum plx_status
deliver(struct program *program, uint32_t op, size_t bytes, uint32_t fds)
{
	struct plx_ipc_message *request = &program->request;
	struct plx_why why = {""};
	int32_t *member[PLX_IPC_FDS_MAX];
	enum plx_status status;
	uint32_t count;

	request->head.op = op;
	if (!plx_ipc_check_request(request, sizeof(request->head) + bytes, fds))
		return PLX_STATUS_COUNT;
	CHECK(op > PLX_IPC_NONE && op < PLX_IPC_OP_COUNT && bytes == plx_ipc_request_bytes(op));
	world.messages++;
	/* A program that is told to wait does so itself, and its thread is its own. */
	if (op == PLX_IPC_ATTACH)
		return PLX_STATE;
	memset(program->reply.body, 0, plx_ipc_reply_bytes(op));
	status = plx_host_call(program->seat, (enum plx_ipc_op)op, request->body,
			       program->reply.body, &why);
	CHECK(status < PLX_STATUS_COUNT && memchr(why.text, '\0', sizeof(why.text)) != NULL);
	if (status != PLX_OK)
		return status;
	count = plx_ipc_reply_fds(op, program->reply.body, member);
	for (uint32_t i = 0; i < count; i++)
		close(*member[i]);
	if (plx_ipc_reply_bytes(op) >= sizeof(struct plx_object) && op >= PLX_IPC_PD_CREATE)
		learn(program, (enum plx_ipc_op)op);
	return PLX_OK;
}

static enum plx_status
call(struct program *program, enum plx_ipc_op op, const void *request)
{
	program->request.head = (struct plx_ipc_head){.magic = PLX_IPC_MAGIC};
	memcpy(program->request.body, request, plx_ipc_request_bytes(op));
	return deliver(program, op, plx_ipc_request_bytes(op), 0);
}

/* What a hostile program puts where a number belongs. */
static uint64_t
word(struct program *program)
{
	uint8_t kind = input_byte(&program->in);

	switch (kind % 7) {
	case 0:
		return 0;
	case 1:
		return program->known[kind / 7 % KNOWN].v;
	case 2:
		return kind / 7;
	case 3:
		return (uint64_t)(kind / 7) << 32 | input_byte(&program->in);
	case 4:
		return kind / 7 % 2 == 0 ? ARENA_BYTES : 1; /* a length; a segment */
	case 5:
		return VICTIM_AT + input_byte(&program->in) * (VICTIM_BYTES / 256);
	default:
		return (uint64_t)input_word(&program->in) << 32 | input_word(&program->in);
	}
}

static void
any_message(struct program *program)
{
	uint32_t op = input_byte(&program->in) % (PLX_IPC_OP_COUNT + 2), fds, count;
	uint8_t damage = input_byte(&program->in);
	size_t bytes = plx_ipc_request_bytes(op);
	int32_t *member[PLX_IPC_FDS_MAX];

	program->request.head = (struct plx_ipc_head){.magic = PLX_IPC_MAGIC};
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t value = word(program);

		memcpy(program->request.body + at, &value, sizeof(value));
	}
	/* Nobody guesses one. */
	if (op == PLX_IPC_QP_IMPORT)
		memcpy(program->request.body, &program->token, sizeof(program->token));
	count = fds = plx_ipc_request_fds(op, program->request.body, member);
	for (uint32_t i = 0; i < count; i++)
		*member[i] = world.file[damage % FILES];
	if (damage >> 5 == 1)
		bytes += input_byte(&program->in) - 128u;
	if (damage >> 5 == 2)
		fds = input_byte(&program->in);
	if (damage >> 5 == 3)
		program->request.head.magic ^= 1u << damage % 32;
	(void)deliver(program, op, bytes, fds);
}

/* ---- the segments ---- */

static void
scribble(struct program *program)
{
	const struct plx_location *place = &program->place[input_byte(&program->in) % PLACES];
	uint32_t i = place->segment != 0 ? place->segment : 1;
	struct segment *segment = &program->seat->segment[i % program->seat->segments];
	uint64_t at = input_word(&program->in), value = word(program);

	if (place->segment != 0 && at % 4 != 0)
		at = place->at + at % NEAR;
	if (segment->base == NULL)
		return;
	at = at % (segment->bytes / sizeof(value)) * sizeof(value);
	*(volatile uint64_t *)(void *)(segment->base + at) = value;
	world.writes++;
}

/* ---- a program as there are many ---- */

static struct plx_object
made(struct program *program, enum plx_ipc_op op, const void *request)
{
	CHECK(call(program, op, request) == PLX_OK);
	return program->known[(program->objects - 1) % KNOWN];
}

static void
to_rts(struct program *program, struct plx_object qp, uint32_t qpn)
{
	struct plx_ipc_qp_modify request = {.object = qp, .has_terms = 1};

	request.attr =
		(struct plx_qp_attr){.access = PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
					       PLX_ACCESS_REMOTE_ATOMIC,
				     .retry = 3,
				     .rnr_retry = 3,
				     .rnr_timer = 1,
				     .ack_timeout = 10};
	request.peer = (struct plx_qp_address){.ip = {.version = 4, .v = {10, 79, 9, 1}},
					       .qpn = qpn,
					       .path_mtu = 1024,
					       .responder_resources = 4};
	for (uint32_t to = PLX_QP_INIT; to <= PLX_QP_RTS; to++) {
		request.to = to;
		CHECK(call(program, PLX_IPC_QP_MODIFY, &request) == PLX_OK);
	}
}

static void *
at(const struct program *program, struct plx_location place)
{
	return program->seat->segment[place.segment].base + place.at;
}

/* The program's half of a queue pair. */
static void
open_half(struct program *program, struct plx_qp *qp, const struct plx_ipc_qp_created *of)
{
	const struct sq_config sq = {
		.front = at(program, of->sq_front),
		.caps = {.sq_depth = of->sq_depth, .sq_sges = of->sq_sges},
		.doorbell = seat_doorbell(at(program, program->doorbells), of->slot, -1),
		.domain = {of->domain},
		.owner = &world,
	};

	qp->object = of->object.v;
	sq_open(&qp->sq, &sq);
	rq_open(&qp->rq, at(program, of->rq_front), of->rq_depth, of->rq_sges, NULL, NULL);
}

/* Its private memory, and a region of all of it, of which a part is not there. */
static void
have_private_memory(struct program *program, struct plx_object pd)
{
	const struct plx_ipc_private_memory memory = {.fd = world.file[FILES - 1]};
	const struct plx_ipc_mr_fast fast = {.pd = pd, .pages = FAST_PAGES};
	const struct plx_ipc_mr_register mr = {.pd = pd,
					       .place = {.at = VICTIM_AT},
					       .va = VICTIM_AT,
					       .length = VICTIM_BYTES,
					       .access = 0x7};

	memcpy(program->request.body, &memory, sizeof(memory));
	CHECK(deliver(program, PLX_IPC_PRIVATE_MEMORY, sizeof(memory), 1) == PLX_OK);
	(void)made(program, PLX_IPC_MR_REGISTER, &mr);
	program->key[1] =
		((const struct plx_ipc_mr_registered *)(const void *)program->reply.body)->key;
	program->fast = made(program, PLX_IPC_MR_FAST, &fast);
}

/* A domain, regions of an arena and of private memory, queues, and two queue pairs that are
 * connected to each other. */
static void
begin_usually(struct program *program)
{
	const struct plx_ipc_arena_import import = {.bytes = ARENA_BYTES, .fd = world.file[0]};
	const struct plx_ipc_nothing nothing = {0};
	const struct plx_ipc_cq_create cq = {.depth = 4 * USUAL_DEPTH};
	struct plx_ipc_qp_create qp = {.sq_depth = USUAL_DEPTH,
				       .rq_depth = USUAL_DEPTH,
				       .sq_sges = 2,
				       .rq_sges = 2,
				       .responder_resources = 4};
	struct plx_ipc_mr_register mr = {.length = ARENA_BYTES, .access = 0xf};
	struct plx_object pair[2];
	uint32_t qpn[2];

	program->request.head = (struct plx_ipc_head){.magic = PLX_IPC_MAGIC};
	memcpy(program->request.body, &import, sizeof(import));
	CHECK(deliver(program, PLX_IPC_ARENA_IMPORT, sizeof(import), 1) == PLX_OK);
	mr.place.segment =
		((const struct plx_ipc_segment *)(const void *)program->reply.body)->segment;
	qp.pd = mr.pd = made(program, PLX_IPC_PD_CREATE, &nothing);
	(void)made(program, PLX_IPC_MR_REGISTER, &mr);
	program->key[0] =
		((const struct plx_ipc_mr_registered *)(const void *)program->reply.body)->key;
	have_private_memory(program, mr.pd);
	qp.send_cq = qp.recv_cq = made(program, PLX_IPC_CQ_CREATE, &cq);
	for (int i = 0; i < 2; i++) {
		const struct plx_ipc_qp_created *of = (const void *)program->reply.body;

		pair[i] = made(program, PLX_IPC_QP_CREATE, &qp);
		qpn[i] = of->qpn;
		open_half(program, &program->pair[i], of);
	}
	for (int i = 0; i < 2; i++)
		to_rts(program, pair[i], qpn[1 - i]);
}

/* ---- what it posts ----
 *
 * Before it writes into its segments: then its own half may be lost, too. */

/* Mostly memory that it has. @param private 1: private memory */
static struct plx_sge
any_sge(struct program *program, unsigned int private)
{
	uint64_t offset = input_byte(&program->in) * (VICTIM_BYTES / 256);
	struct plx_sge sge = {.va = private ? VICTIM_AT + offset : offset % ARENA_BYTES,
			      .length = input_byte(&program->in) * 64u,
			      .key = program->key[private]};
	uint8_t damage = input_byte(&program->in);

	if (damage % 16 == 1)
		sge.va = word(program);
	if (damage % 16 == 2)
		sge.length = (uint32_t)word(program);
	if (damage % 16 == 3)
		sge.key.v = (uint32_t)word(program);
	return sge;
}

static void
post_any(struct program *program, struct plx_qp *qp, uint8_t kind)
{
	const struct plx_sge sge[2] = {any_sge(program, kind & 1), any_sge(program, kind >> 1 & 1)};
	const struct plx_sge beyond = any_sge(program, kind >> 2 & 1);
	const struct plx_send_wr wr = {
		.op = (uint8_t)(kind >> 3) % PLX_WR_LOCAL_INV,
		.flags = input_byte(&program->in) & PLX_WR_FLAGS_COMMON & (uint8_t)~PLX_WR_INLINE,
		.sge = sge,
		.sges = 1 + input_byte(&program->in) % 2,
		.remote_va = beyond.va,
		.rkey = beyond.key,
		.inv_key = beyond.key,
	};
	const struct plx_recv_wr receive = {.sge = sge, .sges = wr.sges};
	enum plx_status why;

	if (wr.op == PLX_WR_NONE)
		world.posts += plx_post_recv(qp, &receive, 1, &why);
	else
		world.posts += plx_engine_qp_post_send(qp, &wr, 1, &why);
}

/* A fast registration of private memory, promised to it or made up. */
static void
post_registration(struct program *program, struct plx_qp *qp)
{
	const struct plx_sge range = any_sge(program, 1);
	struct plx_ipc_reg_promise promise = {.mr = program->fast,
					      .qp = {qp->object},
					      .place = {.at = range.va},
					      .va = range.va,
					      .length = range.length,
					      .access = input_byte(&program->in)};
	const struct plx_ipc_reg_promised *of = (const void *)program->reply.body;
	uint8_t damage = input_byte(&program->in);
	struct plx_wqe_region region;

	memset(program->reply.body, 0, sizeof(*of));
	(void)call(program, PLX_IPC_REG_PROMISE, &promise);
	region = (struct plx_wqe_region){
		.va = range.va,
		.length = range.length,
		.host = of->host,
		.slot = of->slot,
		.life = of->life,
		.key = of->key,
		.access = {(uint8_t)(promise.access | PLX_ACCESS_INVALIDATE)},
		.list = of->list};
	if (damage % 8 == 1)
		region.host = word(program);
	if (damage % 8 == 2)
		region.slot = (uint32_t)word(program);
	if (damage % 8 == 3)
		region.list = input_byte(&program->in);
	if (damage % 8 == 4)
		region.length = word(program);
	if (damage % 8 == 5)
		region.va = word(program);
	world.posts += plx_engine_qp_post_reg(qp, 0, 0, &region) == PLX_OK;
	if (damage >> 7 == 0)
		program->key[1] = region.key;
}

static void
post_some(struct program *program)
{
	for (uint8_t n = input_byte(&program->in) % 16; n > 0; n--) {
		uint8_t kind = input_byte(&program->in);
		struct plx_qp *qp = &program->pair[kind >> 7];

		if (kind % 8 == 7)
			post_registration(program, qp);
		else
			post_any(program, qp, kind);
	}
}

/* ---- one program ---- */

static void
sit(struct program *program)
{
	const struct plx_ipc_nothing nothing = {0};
	struct plx_ipc_segment first;

	const struct seat_terms terms = {.adapter = world.adapter,
					 .waker = world.waker,
					 .parking = world.parking,
					 .rights = &world.rights,
					 .who = &world.who,
					 .number = 1,
					 .stop_fd = world.stop};

	CHECK(host_seat_attach(&terms, &program->seat) == PLX_OK);
	CHECK(call(program, PLX_IPC_SEGMENT_ADD, &nothing) == PLX_OK);
	first.segment =
		((const struct plx_ipc_segment_added *)(const void *)program->reply.body)->segment;
	CHECK(call(program, PLX_IPC_SEGMENT_READY, &first) == PLX_OK);
	CHECK(call(program, PLX_IPC_OPEN, &nothing) == PLX_OK);
	program->doorbells = ((const struct plx_ipc_opened *)(const void *)program->reply.body)
				     ->engine[0]
				     .doorbells;
}

static void
step(struct program *program)
{
	if (input_byte(&program->in) % 2 == 0)
		any_message(program);
	else
		for (uint8_t n = input_byte(&program->in) % 16; n > 0; n--)
			scribble(program);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct program program = {.in = {data, size}};

	open_world();
	world.programs++;
	sit(&program);
	if (input_byte(&program.in) % 4 != 0) {
		begin_usually(&program);
		post_some(&program);
	}
	for (uint32_t i = 0; i < STEPS_MAX && program.in.left > 0; i++)
		step(&program);
	CHECK(plx_engines_run(world.adapter, RUN_MS * PLX_MSEC) == PLX_OK);
	host_seat_end(program.seat);
	CHECK(objects_left() == 0);
	return 0;
}
