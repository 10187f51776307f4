/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dpdk-dumpcap beside a running adapter with a worker: it attaches, and captures the adapter's
 * packets. Needs hugepages in a file system, which the scene provides.
 */
#include "subprocess.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "huge.h"
#include "plx_verbs.h"

enum {
	PAGES = 160,
	PACKETS = 20,
	PCAPNG_MAGIC = 0x0a0d0d0a,
	PATIENCE_S = 20,
};

static char folder[] = "/tmp/plx-capture-XXXXXX";

/* The pieces of one end of a connection. */
struct side {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_qp *qp;
	struct plx_mr *mr;
	char *memory;
};

static bool
open_side(struct side *side, int number)
{
	struct plx_qp_options options = {.sq_depth = 4, .rq_depth = 4};
	struct plx_cq_options depth = {.depth = 16};
	struct plx_adapter_options adapter_options;
	struct plx_why why = {""};

	plx_adapter_options_init(&adapter_options);
	snprintf(adapter_options.device, sizeof(adapter_options.device), "net_wire0,end=%d",
		 number);
	adapter_options.address[0].ip =
		(struct plx_ip){.version = 4, .v = {10, 77, 0, (uint8_t)(1 + number)}};
	adapter_options.address[0].prefix_bits = 24;
	adapter_options.addresses = 1;
	adapter_options.packets = 4096;
	strcpy(adapter_options.worker, "captured");
	adapter_options.idle = PLX_IDLE_YIELD;
	side->memory = plx_mem_alloc(4096, -1, NULL);
	if (plx_adapter_open(number ? "b" : "a", &adapter_options, &side->adapter, &why) !=
	    PLX_OK) {
		printf("%s\n", why.text);
		return false;
	}
	if (plx_pd_create(side->adapter, &side->pd) != PLX_OK ||
	    plx_cq_create(side->adapter, &depth, &side->cq) != PLX_OK ||
	    plx_mr_register(side->pd, side->memory, 4096,
			    PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE, &side->mr) != PLX_OK)
		return false;
	options.send_cq = options.recv_cq = side->cq;
	return plx_qp_create(side->pd, &options, &side->qp, &why) == PLX_OK;
}

static bool
close_side(struct side *side)
{
	bool right = plx_qp_destroy(side->qp) == PLX_OK && plx_cq_destroy(side->cq) == PLX_OK &&
		     plx_mr_deregister(side->mr) == PLX_OK && plx_pd_destroy(side->pd) == PLX_OK;

	plx_mem_free(side->memory);
	return right && plx_adapter_close(side->adapter) == PLX_OK;
}

static bool
join(struct side *a, struct side *b)
{
	struct plx_qp_address of_a, of_b;
	struct plx_qp_attr attr;
	struct plx_why why;

	plx_qp_attr_init(&attr);
	return plx_qp_address(a->qp, NULL, &of_a) == PLX_OK &&
	       plx_qp_address(b->qp, NULL, &of_b) == PLX_OK &&
	       plx_qp_connect(a->qp, &of_b, &attr, 5000, &why) == PLX_OK &&
	       plx_qp_connect(b->qp, &of_a, &attr, 5000, &why) == PLX_OK;
}

/* One WRITE of bytes that are easy to find in a capture. */
static bool
write_once(struct side *from, struct side *to)
{
	struct plx_sge sge = {(uintptr_t)from->memory, 64, plx_mr_key(from->mr)};
	struct plx_send_wr wr = {.op = PLX_WR_WRITE,
				 .sge = &sge,
				 .sges = 1,
				 .remote_va = (uintptr_t)to->memory,
				 .rkey = plx_mr_key(to->mr)};
	time_t end = time(NULL) + PATIENCE_S;
	struct plx_wc wc;

	memcpy(from->memory, "captured by dpdk-dumpcap", 24);
	if (plx_post_send(from->qp, &wr, 1, NULL) != 1)
		return false;
	while (plx_cq_poll(from->cq, &wc, 1) == 0)
		if (time(NULL) > end)
			return false;
	return wc.status == PLX_WC_SUCCESS;
}

static pid_t
start_dumpcap(const char *file)
{
	char prefix[64], count[16];
	pid_t child;

	snprintf(prefix, sizeof(prefix), "--file-prefix=pollux-%d", (int)getpid());
	snprintf(count, sizeof(count), "%d", PACKETS);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(126);
		/* It maps memory at our addresses; under a sanitizer the kernel may put
		 * libraries there, at another address in each process unless told not to. */
		personality(ADDR_NO_RANDOMIZE);
		execlp("dpdk-dumpcap", "dpdk-dumpcap", prefix, "-i", "0", "-c", count, "-w", file,
		       (char *)NULL);
		_exit(127);
	}
	return child;
}

static bool
holds(const char *file, const char *words)
{
	static char bytes[1 << 20];
	FILE *stream = fopen(file, "r");
	uint32_t magic = 0;
	size_t n;

	if (!stream)
		return false;
	n = fread(bytes, 1, sizeof(bytes), stream);
	fclose(stream);
	if (n > sizeof(magic))
		memcpy(&magic, bytes, sizeof(magic));
	return magic == PCAPNG_MAGIC && memmem(bytes, n, words, strlen(words)) != NULL;
}

static int
captured(void)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct side a = {0}, b = {0};
	int status = -1;
	char file[64];
	pid_t dumpcap;

	EXPECT(huge_unmount_all() && mkdtemp(folder) && huge_mount_at(folder));
	EXPECT(open_side(&a, 0) && open_side(&b, 1) && join(&a, &b));
	snprintf(file, sizeof(file), "/tmp/plx-capture-%d.pcapng", (int)getpid());
	dumpcap = start_dumpcap(file);
	while (waitpid(dumpcap, &status, WNOHANG) == 0) {
		EXPECT(time(NULL) < end);
		EXPECT(write_once(&a, &b));
		usleep(1000);
	}
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	EXPECT(holds(file, "captured by dpdk-dumpcap"));
	EXPECT(unlink(file) == 0);
	EXPECT(write_once(&b, &a));
	EXPECT(close_side(&a) && close_side(&b));
	EXPECT(umount2(folder, MNT_DETACH) == 0 && rmdir(folder) == 0);
	return 0;
}

static const struct scene scenes[] = {
	{"captured", captured},
};

static void
dumpcap_captures_a_running_adapter(void **state)
{
	(void)state;
	assert_true(huge_reserve(PAGES));
	scene_passes("captured");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dumpcap_captures_a_running_adapter),
	};
	int played = scene_main(argc, argv, scenes, 1);

	if (played >= 0)
		return played;
	unsetenv("POLLUX_CONFIG");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	huge_restore();
	return failed;
}
