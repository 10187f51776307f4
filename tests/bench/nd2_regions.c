/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What it costs to register 4 KiB through ND2 and to take it back, each told by a completion port,
 * in one-way ring hops of the same run. An adapter whose worker spins on a core of its own.
 * It needs a quiet machine, and is no test. Start at main().
 */
#include <ndspi.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ndperf.h"

enum {
	BATCHES = 301,
	BATCH = 200,
	BYTES = 4096,
	BAR_HOPS = 8,
};

static const char config[] =
	"adapters = ({ name = \"bench\"; device = \"net_wire0,end=0\"; core = 0;\n"
	"  idle = \"spin\"; address = [ \"10.78.9.1/24\" ]; });\n";

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "nd2_regions: %s\n", what);
	exit(2);
}

/* The provider by its library, as DllGetClassObject() gives it. */
static IND2Adapter *
open_adapter(void)
{
	typedef HRESULT class_object_fn(REFCLSID class_id, REFIID iid, void **out);
	struct sockaddr_in address = {.sin_family = AF_INET};
	char path[] = "/tmp/nd2-bench-XXXXXX";
	const char *library = getenv("ND2_PROVIDER");
	void *provider = NULL, *adapter = NULL, *loaded;
	class_object_fn *class_object;
	int fd = mkstemp(path);
	UINT64 id;

	need(fd >= 0 && write(fd, config, sizeof(config) - 1) == (ssize_t)sizeof(config) - 1, path);
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	loaded = library ? dlopen(library, RTLD_NOW) : NULL;
	need(loaded != NULL, "ND2_PROVIDER is not the path of libpollux-nd2.so");
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

struct bench {
	IND2MemoryRegion *mr;
	HANDLE port;
	void *memory;
	double registered[BATCHES], both[BATCHES]; /* [ns] */
};

static void
await_packet(HANDLE port)
{
	OVERLAPPED *which;
	ULONG_PTR key;
	DWORD bytes;

	need(GetQueuedCompletionStatus(port, &bytes, &key, &which, 10000), "no packet");
}

static void
measure(struct bench *bench)
{
	OVERLAPPED ov;

	memset(&ov, 0, sizeof(ov));
	for (int batch = 0; batch < BATCHES; batch++) {
		double registering = 0, start = now_ns();

		for (int i = 0; i < BATCH; i++) {
			double before = now_ns();

			need(IND2MemoryRegion_Register(bench->mr, bench->memory, BYTES,
						       ND_MR_FLAG_ALLOW_LOCAL_WRITE,
						       &ov) == ND_PENDING,
			     "Register does not pend");
			await_packet(bench->port);
			registering += now_ns() - before;
			need(IND2MemoryRegion_Deregister(bench->mr, &ov) == ND_PENDING,
			     "Deregister does not pend");
			await_packet(bench->port);
		}
		bench->registered[batch] = registering / BATCH;
		bench->both[batch] = (now_ns() - start) / BATCH;
	}
	qsort(bench->registered, BATCHES, sizeof(double), by_value);
	qsort(bench->both, BATCHES, sizeof(double), by_value);
}

int
main(void)
{
	const int cores[CORES] = {0, 1};
	struct calibration before, after;
	static struct bench bench;
	IND2Adapter *adapter;
	cpu_set_t cpus;
	HANDLE file;
	double hop;
	void *mr;

	calibrate(cores, &before);
	adapter = open_adapter();
	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	need(IND2Adapter_CreateOverlappedFile(adapter, &file) == ND_SUCCESS, "no file");
	bench.port = CreateIoCompletionPort(file, NULL, 0, 0);
	need(bench.port != NULL, "no port");
	need(IND2Adapter_CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, file, &mr) ==
		     ND_SUCCESS,
	     "no region");
	bench.mr = mr;
	bench.memory = aligned_alloc(BYTES, BYTES);
	need(bench.memory != NULL, "no memory");
	memset(bench.memory, 1, BYTES);
	measure(&bench);
	IND2MemoryRegion_Release(bench.mr);
	CloseHandle(bench.port);
	CloseHandle(file);
	IND2Adapter_Release(adapter);
	free(bench.memory);
	calibrate(cores, &after);
	hop = (before.ring_ns + after.ring_ns) / 2;
	printf("ring hop %.0f ns (%.0f before, %.0f after)\n", hop, before.ring_ns, after.ring_ns);
	printf("Register %.0f ns, Register and Deregister of %d bytes %.0f ns "
	       "(best batch %.0f): %.1f hops; bar %d\n",
	       bench.registered[BATCHES / 2], BYTES, bench.both[BATCHES / 2], bench.both[0],
	       bench.both[BATCHES / 2] / hop, BAR_HOPS);
	return bench.both[BATCHES / 2] <= BAR_HOPS * hop ? 0 : 1;
}
