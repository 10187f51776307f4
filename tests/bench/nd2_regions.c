/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of registering and deregistering 4 KiB through ND2, each completing on a completion
 * port, relative to a one-way ring hop. Measured in rounds of milliseconds with hops before and
 * after each, because the machine changes its speed between rounds. The adapter's worker spins on
 * its own core; the hops use that core while they are measured. It needs a quiet machine and two
 * cores, and is not a test. Start at main().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them. Exit
 * status: 0, or 2 when it could not measure. ND2_PROVIDER names another libpollux-nd2.so than that
 * of this build.
 */
#include <ndspi.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "result.h"
#include "window.h"

enum {
	ROUNDS = 200,
	BATCHES = 15, /* in a round */
	BATCH = 100,
	BYTES = 4096,
	/* Below this, the two CPUs are currently threads of one core, as a hypervisor may
	 * schedule them. */
	SIBLINGS_NS = 60,
};

static const char config[] =
	"adapters = ({ name = \"bench\"; device = \"net_wire0,end=0\"; core = 0;\n"
	"  idle = \"spin\"; address = [ \"10.78.9.1/24\" ]; });\n";

static void
need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "nd2_regions: %s\n", what);
	exit(2);
}

/* The provider from its library, as DllGetClassObject() returns it. */
static IND2Adapter *
open_adapter(void)
{
	typedef HRESULT class_object_fn(REFCLSID class_id, REFIID iid, void **out);
	struct sockaddr_in address = {.sin_family = AF_INET};
	char path[] = "/tmp/nd2-bench-XXXXXX";
	const char *library = getenv("ND2_PROVIDER") ? getenv("ND2_PROVIDER") : BENCH_PROVIDER;
	void *provider = NULL, *adapter = NULL, *loaded;
	class_object_fn *class_object;
	int fd = mkstemp(path);
	UINT64 id;

	need(fd >= 0 && write(fd, config, sizeof(config) - 1) == (ssize_t)sizeof(config) - 1, path);
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	loaded = dlopen(library, RTLD_NOW);
	need(loaded != NULL, dlerror());
	*(void **)&class_object = dlsym(loaded, "DllGetClassObject");
	need(class_object && class_object(&IID_IND2Provider, &IID_IND2Provider, &provider) == S_OK,
	     "no provider");
	address.sin_addr.s_addr = htonl(0x0a4e0901);
	need(IND2Provider_ResolveAddress((IND2Provider *)provider, (struct sockaddr *)&address,
					 sizeof(address), &id) == ND_SUCCESS &&
		     IND2Provider_OpenAdapter((IND2Provider *)provider, &IID_IND2Adapter, id,
					      &adapter) == ND_SUCCESS,
	     "no adapter");
	IND2Provider_Release((IND2Provider *)provider);
	unlink(path);
	return adapter;
}

struct round {
	double both_ns, hop_ns;
	bool counts;
};

struct bench {
	IND2MemoryRegion *mr;
	HANDLE port;
	void *memory;
	struct calibration calibration; /* before */
	struct round rounds[ROUNDS];
};

static const int cores[CORES] = {0, 1};

static void
await_packet(HANDLE port)
{
	OVERLAPPED *which;
	ULONG_PTR key;
	DWORD bytes;

	need(GetQueuedCompletionStatus(port, &bytes, &key, &which, 10000), "no packet");
}

/* Register and Deregister [ns], the median of the batches. */
static double
both_ns(struct bench *bench)
{
	double batches[BATCHES];
	OVERLAPPED ov;

	memset(&ov, 0, sizeof(ov));
	for (int batch = 0; batch < BATCHES; batch++) {
		double start = now_ns();

		for (int i = 0; i < BATCH; i++) {
			need(IND2MemoryRegion_Register(bench->mr, bench->memory, BYTES,
						       ND_MR_FLAG_ALLOW_LOCAL_WRITE,
						       &ov) == ND_PENDING,
			     "Register does not pend");
			await_packet(bench->port);
			need(IND2MemoryRegion_Deregister(bench->mr, &ov) == ND_PENDING,
			     "Deregister does not pend");
			await_packet(bench->port);
		}
		batches[batch] = (now_ns() - start) / BATCH;
	}
	return median(batches, BATCHES);
}

/* Before the worker, which spins on one of these cores: threads inherit how they are scheduled. */
static double
hop_ns(void)
{
	const struct sched_param first = {.sched_priority = 1}, usual = {.sched_priority = 0};
	double hop;

	need(!sched_setscheduler(0, SCHED_FIFO, &first), "SCHED_FIFO is refused; be root");
	hop = calibrate_ring(cores);
	need(!sched_setscheduler(0, SCHED_OTHER, &usual), "SCHED_OTHER is refused");
	need(hop > 0, "no ring hop: no memory, or no second core");
	return hop;
}

static void
measure(struct bench *bench)
{
	double before = hop_ns();

	for (int i = 0; i < ROUNDS; i++) {
		struct round *round = &bench->rounds[i];
		double after;

		round->both_ns = both_ns(bench);
		after = hop_ns();
		round->hop_ns = (before + after) / 2;
		round->counts = before >= SIBLINGS_NS && after >= SIBLINGS_NS;
		before = after;
	}
}

static void
open_bench(struct bench *bench, IND2Adapter *adapter, HANDLE *file)
{
	void *mr;

	need(IND2Adapter_CreateOverlappedFile(adapter, file) == ND_SUCCESS, "no file");
	bench->port = CreateIoCompletionPort(*file, NULL, 0, 0);
	need(bench->port != NULL, "no port");
	need(IND2Adapter_CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, *file, &mr) ==
		     ND_SUCCESS,
	     "no region");
	bench->mr = mr;
	bench->memory = aligned_alloc(BYTES, BYTES);
	need(bench->memory != NULL, "no memory");
	memset(bench->memory, 1, BYTES);
}

static void
close_bench(struct bench *bench, IND2Adapter *adapter, HANDLE file)
{
	IND2MemoryRegion_Release(bench->mr);
	CloseHandle(bench->port);
	CloseHandle(file);
	IND2Adapter_Release(adapter);
	free(bench->memory);
}

static bool
print(const struct bench *bench)
{
	struct bench_result row = {.test = "latency", .api = "nd2", .unit = "ns", .size = BYTES};
	json_t *results = json_array();

	for (int i = 0; i < ROUNDS; i++) {
		const struct round *round = &bench->rounds[i];

		row.note = round->counts ? NULL : "two threads of one core";
		row.op = "register";
		row.value = round->both_ns;
		result_add(results, &row);
		row.op = "hop";
		row.value = round->hop_ns;
		result_add(results, &row);
	}
	return result_write(results, &bench->calibration, stdout);
}

int
main(void)
{
	static struct bench bench;
	IND2Adapter *adapter;
	HANDLE file;

	calibrate(cores, &bench.calibration);
	adapter = open_adapter();
	need(cpu_pin(1), "it needs CPUs 0 and 1");
	open_bench(&bench, adapter, &file);
	measure(&bench);
	close_bench(&bench, adapter, file);
	need(print(&bench), "the figures cannot be written");
	return 0;
}
