/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A consumer of verbs in the guest's kernel: rxe registers memory by work requests only for such
 * ones. It answers the commands of README.md, one line written to /dev/guest_kernel and one read,
 * over one connection of the kernel's communication manager. Area 0 is contiguous, area 1 has pages
 * anywhere and is what is registered fast. It judges nothing. Start with run().
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

enum {
	DEPTH = 64,
	PLAIN = 0,
	FAST = 1,
	AREAS = 2,
	PAGES = 64,
	BYTES = PAGES * PAGE_SIZE,
	WORDS = 20,
	LINE_BYTES = 1024,
	PATIENCE_MS = 5000,
	READS = 16,
	FAILED = BIT(RDMA_CM_EVENT_ADDR_ERROR) | BIT(RDMA_CM_EVENT_ROUTE_ERROR) |
		 BIT(RDMA_CM_EVENT_CONNECT_ERROR) | BIT(RDMA_CM_EVENT_UNREACHABLE) |
		 BIT(RDMA_CM_EVENT_REJECTED),
};

static struct {
	struct mutex lock;
	char answer[LINE_BYTES];
	u8 *memory[AREAS];
	struct page *page[PAGES]; /* of FAST */
	struct rdma_cm_id *listener, *id;
	wait_queue_head_t wait;
	unsigned int seen; /* bits of events that nobody has waited for */
	struct ib_pd *pd;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_mr *mr;
	struct scatterlist sg[PAGES];
	u64 registered; /* where in FAST the region begins */
} guest;

struct line {
	int words;
	char *word[WORDS];
};

static const char *
text_of(const struct line *line, const char *name)
{
	size_t length = strlen(name);

	for (int i = 1; i < line->words; i++)
		if (strncmp(line->word[i], name, length) == 0 && line->word[i][length] == '=')
			return line->word[i] + length + 1;
	return NULL;
}

static u64
number_of(const struct line *line, const char *name, u64 otherwise)
{
	const char *text = text_of(line, name);
	u64 value;

	return text && kstrtou64(text, 0, &value) == 0 ? value : otherwise;
}

static void __printf(1, 2) answer(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(guest.answer, sizeof(guest.answer) - 1, format, list);
	va_end(list);
	strcat(guest.answer, "\n");
}

static void
answer_error(const char *what, long error)
{
	if (error)
		answer("error %s: %ld", what, error);
	else
		answer("ok");
}

/* ---- memory ---- */

/* As in memory.c. */
static u8
byte_at(u64 place, u32 seed)
{
	u32 word = ((u32)(place / 4) + seed * 0x9e3779b1u) * 0x85ebca6bu;

	word ^= word >> 15;
	return (u8)(word >> place % 4 * 8);
}

/* The bytes that a command names; NULL: none, and was answered so. */
static u8 *
part_of(const struct line *line, u64 *at, u64 *bytes)
{
	u64 area = number_of(line, "mr", AREAS);

	*at = number_of(line, "at", 0);
	*bytes = number_of(line, "bytes", 0);
	if (area < AREAS && *at <= BYTES && *bytes <= BYTES - *at)
		return guest.memory[area] + *at;
	answer("error mr, at and bytes name no memory");
	return NULL;
}

static void
run_fill(const struct line *line)
{
	u32 seed = (u32)number_of(line, "seed", 0);
	u64 at, bytes;
	u8 *memory = part_of(line, &at, &bytes);

	if (!memory)
		return;
	for (u64 i = 0; i < bytes; i++)
		memory[i] = byte_at(at + i, seed);
	answer("ok");
}

static void
run_check(const struct line *line)
{
	u32 seed = (u32)number_of(line, "seed", 0);
	u64 at, bytes, from, i = 0;
	u8 *memory = part_of(line, &at, &bytes);

	if (!memory)
		return;
	from = number_of(line, "from", at);
	while (i < bytes && memory[i] == byte_at(from + i, seed))
		i++;
	if (i == bytes)
		answer("ok");
	else
		answer("error the byte at %llu is 0x%02x, not 0x%02x", at + i, memory[i],
		       byte_at(from + i, seed));
}

/* ---- connections ---- */

static int
on_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (guest.id)
			return -EBUSY;
		guest.id = id;
	}
	guest.seen |= BIT(event->event);
	wake_up_all(&guest.wait);
	return 0;
}

/* Returns: 0, or the event that came instead, or that none has. */
static int
await(enum rdma_cm_event_type event)
{
	unsigned int wanted = BIT(event);

	if (!wait_event_timeout(guest.wait, guest.seen & (wanted | FAILED),
				msecs_to_jiffies(PATIENCE_MS)))
		return -ETIMEDOUT;
	if (!(guest.seen & wanted))
		return ffs(guest.seen & FAILED) - 1;
	guest.seen &= ~wanted;
	return 0;
}

static int
await_and_forget(enum rdma_cm_event_type event)
{
	int error = await(event);

	guest.seen = 0;
	return error;
}

/* What a queue pair needs, and the queue pair. What is left of a failure is dropped by `drop`. */
static int
make_qp(void)
{
	struct ib_qp_init_attr options = {
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
	};
	struct ib_device *device = guest.id->device;

	guest.pd = ib_alloc_pd(device, 0);
	guest.send_cq = ib_alloc_cq(device, NULL, DEPTH, 0, IB_POLL_DIRECT);
	guest.recv_cq = ib_alloc_cq(device, NULL, DEPTH, 0, IB_POLL_DIRECT);
	if (IS_ERR(guest.pd) || IS_ERR(guest.send_cq) || IS_ERR(guest.recv_cq))
		return -ENOMEM;
	guest.mr = ib_alloc_mr(guest.pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (IS_ERR(guest.mr))
		return PTR_ERR(guest.mr);
	options.send_cq = guest.send_cq;
	options.recv_cq = guest.recv_cq;
	return rdma_create_qp(guest.id, guest.pd, &options);
}

static const struct rdma_conn_param terms = {
	.responder_resources = READS,
	.initiator_depth = READS,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

/* gid= port=: one address, 32 digits */
static int
address_of(const struct line *line, struct sockaddr_storage *out)
{
	static const u8 mapped[12] = {[10] = 0xff, [11] = 0xff};
	__be16 port = htons((u16)number_of(line, "port", 0));
	const char *text = text_of(line, "gid");
	u8 gid[16];

	memset(out, 0, sizeof(*out));
	if (!text || hex2bin(gid, text, sizeof(gid)) != 0)
		return -EINVAL;
	if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)out;

		v4->sin_family = AF_INET;
		v4->sin_port = port;
		memcpy(&v4->sin_addr, gid + 12, 4);
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

		v6->sin6_family = AF_INET6;
		v6->sin6_port = port;
		memcpy(&v6->sin6_addr, gid, 16);
	}
	return 0;
}

static int
dial(struct sockaddr_storage *to)
{
	struct rdma_conn_param param = terms;
	int error;

	guest.id = rdma_create_id(&init_net, on_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(guest.id)) {
		error = PTR_ERR(guest.id);
		guest.id = NULL;
		return error;
	}
	error = rdma_resolve_addr(guest.id, NULL, (struct sockaddr *)to, PATIENCE_MS);
	if (!error)
		error = await(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!error)
		error = rdma_resolve_route(guest.id, PATIENCE_MS);
	if (!error)
		error = await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (!error)
		error = make_qp();
	if (!error)
		error = rdma_connect(guest.id, &param);
	return error;
}

/* dial gid= port=: ask that peer */
static void
run_dial(const struct line *line)
{
	struct sockaddr_storage to;

	if (guest.id)
		answer("error there is a connection");
	else if (address_of(line, &to) != 0)
		answer("error gid is not the 32 digits of a GID");
	else
		answer_error("it cannot ask", dial(&to));
}

/* listen port= */
static void
run_listen(const struct line *line)
{
	struct sockaddr_in6 own = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((u16)number_of(line, "port", 0)),
	};
	struct rdma_cm_id *listener;
	int error;

	if (guest.listener) {
		answer("error it listens");
		return;
	}
	listener = rdma_create_id(&init_net, on_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	error = PTR_ERR_OR_ZERO(listener);
	if (!error) {
		error = rdma_bind_addr(listener, (struct sockaddr *)&own);
		if (!error)
			error = rdma_listen(listener, 1);
		if (error)
			rdma_destroy_id(listener);
		else
			guest.listener = listener;
	}
	answer_error("it cannot listen", error);
}

/* accept: what has been asked for, or will be soon */
static void
run_accept(const struct line *line)
{
	struct rdma_conn_param param = terms;
	int error = await(RDMA_CM_EVENT_CONNECT_REQUEST);

	if (!error)
		error = make_qp();
	if (!error)
		error = rdma_accept(guest.id, &param);
	answer_error("it cannot accept", error);
}

/* established: wait until the connection is */
static void
run_established(const struct line *line)
{
	answer_error("no connection", await_and_forget(RDMA_CM_EVENT_ESTABLISHED));
}

/* hangup; hungup: wait until the peer has done so */
static void
run_hangup(const struct line *line)
{
	answer_error("it cannot hang up", guest.id ? rdma_disconnect(guest.id) : -ENOTCONN);
}

static void
run_hungup(const struct line *line)
{
	answer_error("nobody hangs up", await_and_forget(RDMA_CM_EVENT_DISCONNECTED));
}

static void
drop(void)
{
	if (guest.id && guest.id->qp)
		rdma_destroy_qp(guest.id);
	if (guest.id)
		rdma_destroy_id(guest.id);
	if (!IS_ERR_OR_NULL(guest.mr))
		ib_dereg_mr(guest.mr);
	if (!IS_ERR_OR_NULL(guest.send_cq))
		ib_free_cq(guest.send_cq);
	if (!IS_ERR_OR_NULL(guest.recv_cq))
		ib_free_cq(guest.recv_cq);
	if (!IS_ERR_OR_NULL(guest.pd))
		ib_dealloc_pd(guest.pd);
	guest.id = NULL;
	guest.mr = NULL;
	guest.send_cq = guest.recv_cq = NULL;
	guest.pd = NULL;
	guest.seen = 0;
}

static void
run_drop(const struct line *line)
{
	drop();
	answer("ok");
}

/* unlisten */
static void
run_unlisten(const struct line *line)
{
	if (guest.listener)
		rdma_destroy_id(guest.listener);
	guest.listener = NULL;
	answer("ok");
}

/* state: in which is the queue pair? */
static void
run_state(const struct line *line)
{
	struct ib_qp_init_attr options;
	struct ib_qp_attr attr;
	int error = ib_query_qp(guest.id->qp, &attr, IB_QP_STATE, &options);

	if (error)
		answer_error("it cannot be asked", error);
	else
		answer("ok state=%s", attr.qp_state == IB_QPS_ERR   ? "ERROR"
				      : attr.qp_state == IB_QPS_RTS ? "RTS"
								    : "OTHER");
}

/* ---- work ---- */

/* The pages of FAST that hold a part of it, from any byte to any byte. */
static int
map(u64 at, u64 bytes)
{
	int n = 0, mapped;

	sg_init_table(guest.sg, DIV_ROUND_UP(offset_in_page(at) + bytes, PAGE_SIZE));
	guest.registered = at;
	while (bytes) {
		u64 part = min_t(u64, bytes, PAGE_SIZE - offset_in_page(at));

		sg_set_page(&guest.sg[n++], guest.page[at / PAGE_SIZE], part, offset_in_page(at));
		at += part;
		bytes -= part;
	}
	mapped = ib_dma_map_sg(guest.mr->device, guest.sg, n, DMA_BIDIRECTIONAL);
	if (mapped == n)
		mapped = ib_map_mr_sg(guest.mr, guest.sg, n, NULL, PAGE_SIZE);
	return mapped == n ? 0 : -EINVAL;
}

/* reg at= bytes= access=: post the registration of a part of FAST, with the next key; rights are
 * PLX_ACCESS_*, which are those of ib_access_flags in another order */
static void
run_reg(const struct line *line)
{
	u64 at = number_of(line, "at", 0), bytes = number_of(line, "bytes", 0);
	u64 access = number_of(line, "access", 0);
	struct ib_reg_wr wr = {.wr.opcode = IB_WR_REG_MR};
	int error;

	if (!bytes || at > BYTES || bytes > BYTES - at) {
		answer("error at and bytes name no memory");
		return;
	}
	error = map(at, bytes);
	if (!error) {
		ib_update_fast_reg_key(guest.mr, (u8)(ib_inc_rkey(guest.mr->rkey) & 0xff));
		wr.mr = guest.mr;
		wr.key = guest.mr->rkey;
		wr.access = (access & 1 ? IB_ACCESS_LOCAL_WRITE : 0) |
			    (access & 2 ? IB_ACCESS_REMOTE_READ : 0) |
			    (access & 4 ? IB_ACCESS_REMOTE_WRITE : 0);
		error = ib_post_send(guest.id->qp, &wr.wr, NULL);
	}
	if (error)
		answer_error("no registration", error);
	else
		answer("ok va=%llu rkey=%u", guest.mr->iova, guest.mr->rkey);
}

/* The SGE of what a command names. FAST is accessed by the key that is registered. */
static bool
sge_of(const struct line *line, struct ib_sge *sge)
{
	u64 at, bytes;
	u8 *memory = part_of(line, &at, &bytes);

	if (!memory)
		return false;
	sge->length = (u32)bytes;
	if (number_of(line, "mr", AREAS) == FAST) {
		sge->addr = guest.mr->iova + at - guest.registered;
		sge->lkey = guest.mr->lkey;
	} else {
		sge->addr = ib_dma_map_single(guest.pd->device, memory, bytes, DMA_BIDIRECTIONAL);
		sge->lkey = guest.pd->local_dma_lkey;
	}
	return true;
}

/* recv mr= at= bytes= */
static void
run_recv(const struct line *line)
{
	struct ib_sge sge;
	struct ib_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	if (sge_of(line, &sge))
		answer_error("no receive", ib_post_recv(guest.id->qp, &wr, NULL));
}

static const struct {
	const char *name;
	enum ib_wr_opcode op;
	enum ib_wc_opcode done;
} requests[] = {
	{"SEND", IB_WR_SEND, IB_WC_SEND},
	{"SEND_INV", IB_WR_SEND_WITH_INV, IB_WC_SEND},
	{"WRITE", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE},
	{"READ", IB_WR_RDMA_READ, IB_WC_RDMA_READ},
	{"LOCAL_INV", IB_WR_LOCAL_INV, IB_WC_LOCAL_INV},
	{"REG", IB_WR_REG_MR, IB_WC_REG_MR},
};

/* send op= [mr= at= bytes=] [rva= rkey=] [inv=] */
static void
run_send(const struct line *line)
{
	const char *op = text_of(line, "op");
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.remote_addr = number_of(line, "rva", 0),
		.rkey = (u32)number_of(line, "rkey", 0),
	};
	int i = 0;

	while (i < ARRAY_SIZE(requests) && (!op || strcmp(op, requests[i].name) != 0))
		i++;
	if (i == ARRAY_SIZE(requests)) {
		answer("error op is none");
		return;
	}
	wr.wr.opcode = requests[i].op;
	if (wr.wr.opcode == IB_WR_SEND_WITH_INV || wr.wr.opcode == IB_WR_LOCAL_INV)
		wr.wr.ex.invalidate_rkey = (u32)number_of(line, "inv", 0);
	if (wr.wr.opcode != IB_WR_LOCAL_INV) {
		if (!sge_of(line, &sge))
			return;
		wr.wr.sg_list = &sge;
		wr.wr.num_sge = 1;
	}
	answer_error("it is not posted", ib_post_send(guest.id->qp, &wr.wr, NULL));
}

static const char *
op_name(const struct ib_wc *wc)
{
	if (wc->opcode == IB_WC_RECV)
		return wc->wc_flags & IB_WC_WITH_INVALIDATE ? "SEND_INV" : "SEND";
	for (int i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].done == wc->opcode)
			return requests[i].name;
	return "OTHER";
}

/* A completion's status by our names (PLX_WC_*). */
static const char *
status_name(enum ib_wc_status status)
{
	return status == IB_WC_SUCCESS          ? "SUCCESS"
	       : status == IB_WC_REM_ACCESS_ERR ? "REMOTE_ACCESS"
	       : status == IB_WC_WR_FLUSH_ERR   ? "FLUSHED"
	       : status == IB_WC_MW_BIND_ERR    ? "LOCAL_INVALIDATE"
						: ib_wc_status_msg(status);
}

/* reap of=send|recv ms= */
static void
run_reap(const struct line *line)
{
	const char *of = text_of(line, "of");
	struct ib_cq *cq = of && strcmp(of, "recv") == 0 ? guest.recv_cq : guest.send_cq;
	unsigned long end = jiffies + msecs_to_jiffies((u32)number_of(line, "ms", 0));
	struct ib_wc wc = {0};
	int n = ib_poll_cq(cq, 1, &wc);

	while (n == 0 && time_before(jiffies, end)) {
		usleep_range(200, 400);
		n = ib_poll_cq(cq, 1, &wc);
	}
	if (n != 1)
		answer("none");
	else if (wc.status != IB_WC_SUCCESS)
		answer("ok count=1 status=%s", status_name(wc.status));
	else
		answer("ok count=1 op=%s status=SUCCESS bytes=%u imm=%u", op_name(&wc), wc.byte_len,
		       wc.wc_flags & IB_WC_WITH_INVALIDATE ? wc.ex.invalidate_rkey : 0);
}

/* ---- the device ---- */

static const struct {
	const char *verb;
	void (*run)(const struct line *line);
	bool is_of_a_connection;
} commands[] = {
	{"fill", run_fill, false},     {"check", run_check, false},
	{"dial", run_dial, false},     {"listen", run_listen, false},
	{"accept", run_accept, false}, {"established", run_established, true},
	{"hangup", run_hangup, true},  {"hungup", run_hungup, true},
	{"drop", run_drop, false},     {"unlisten", run_unlisten, false},
	{"state", run_state, true},    {"reg", run_reg, true},
	{"recv", run_recv, true},      {"send", run_send, true},
	{"reap", run_reap, true},
};

static void
run(char *text)
{
	struct line line = {0};
	char *word;

	while ((word = strsep(&text, " \n")) && line.words < WORDS)
		if (*word)
			line.word[line.words++] = word;
	for (int i = 0; line.words && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(line.word[0], commands[i].verb) != 0)
			continue;
		if (commands[i].is_of_a_connection && (!guest.id || !guest.id->qp))
			answer("error there is no connection");
		else
			commands[i].run(&line);
		return;
	}
	answer("error no such command");
}

static ssize_t
device_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	char *text = bytes < LINE_BYTES ? memdup_user_nul(from, bytes) : ERR_PTR(-EINVAL);

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&guest.lock);
	run(text);
	mutex_unlock(&guest.lock);
	kfree(text);
	return bytes;
}

static ssize_t
device_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	size_t length = min(bytes, strlen(guest.answer));

	return copy_to_user(to, guest.answer, length) ? -EFAULT : length;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.write = device_write,
	.read = device_read,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "guest_kernel",
	.fops = &operations,
};

static void
free_memory(void)
{
	vunmap(guest.memory[FAST]);
	for (int i = 0; i < PAGES; i++)
		if (guest.page[i])
			__free_page(guest.page[i]);
	free_pages_exact(guest.memory[PLAIN], BYTES);
}

/* No page of FAST follows the one before it: they are allocated backwards, with one between two. */
static int
make_memory(void)
{
	struct page *between[PAGES] = {NULL};
	bool is_whole = true;

	guest.memory[PLAIN] = alloc_pages_exact(BYTES, GFP_KERNEL | __GFP_ZERO);
	if (!guest.memory[PLAIN])
		return -ENOMEM;
	for (int i = PAGES - 1; i >= 0; i--) {
		guest.page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		between[i] = alloc_page(GFP_KERNEL);
		is_whole = is_whole && guest.page[i] && between[i];
	}
	for (int i = 0; i < PAGES; i++)
		if (between[i])
			__free_page(between[i]);
	if (is_whole)
		guest.memory[FAST] = vmap(guest.page, PAGES, VM_MAP, PAGE_KERNEL);
	if (guest.memory[FAST])
		return 0;
	free_memory();
	return -ENOMEM;
}

static int __init
begin(void)
{
	int error = make_memory();

	mutex_init(&guest.lock);
	init_waitqueue_head(&guest.wait);
	if (error)
		return error;
	error = misc_register(&device);
	if (error)
		free_memory();
	return error;
}

static void __exit
end(void)
{
	misc_deregister(&device);
	if (guest.listener)
		rdma_destroy_id(guest.listener);
	drop();
	free_memory();
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A consumer of verbs for tests of interoperability");
MODULE_LICENSE("Dual BSD/GPL");
