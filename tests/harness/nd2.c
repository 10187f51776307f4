/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider and its adapters: writes a configuration file, loads the library named by
 * ND2_PROVIDER, and checks after each test that nothing is left. It creates no objects except
 * adapters. Start with nd_run().
 */
#include "nd2_pair.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "polluxd.h"

enum {
	PAGE = 4096,
};

typedef HRESULT class_object_fn(REFCLSID class_id, REFIID iid, void **out);
typedef HRESULT can_unload_fn(void);

static class_object_fn *class_object;
static can_unload_fn *can_unload;
static bool inline_mode;
static HANDLE never;     /* an event that nobody sets */
static const char *file; /* the configuration */
static pid_t started_by;

/* Without hugepages: see host_process.c. */
#define ND_EAL "eal = \"--no-huge -m 1024\";\n"

static const char config[] = ND_EAL
	"adapters = (\n"
	"  { name = \"nd0\"; device = \"net_wire0,end=0\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.2.1/24\", \"fd78:2::1/64\" ]; },\n"
	"  { name = \"nd1\"; device = \"net_wire0,end=1\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.2.2/24\", \"fd78:2::2/64\" ]; },\n"
	"  { name = \"in0\"; device = \"net_wire1,end=0\"; mode = \"inline\";\n"
	"    packets = 4096; address = [ \"10.78.1.1/24\", \"fd78:1::1/64\" ]; },\n"
	"  { name = \"in1\"; device = \"net_wire1,end=1\"; mode = \"inline\";\n"
	"    packets = 4096; address = [ \"10.78.1.2/24\", \"fd78:1::2/64\" ]; }\n"
	");\n";

/* Of these, what a host in another process can have. */
static const char hosted[] = ND_EAL
	"adapters = (\n"
	"  { name = \"nd0\"; device = \"net_wire0,end=0\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.2.1/24\", \"fd78:2::1/64\" ]; },\n"
	"  { name = \"nd1\"; device = \"net_wire0,end=1\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.2.2/24\", \"fd78:2::2/64\" ]; }\n"
	");\n";

const char *
nd_link(const char *const device[2], const char *const settings[2])
{
	static char text[1024];
	int used = snprintf(text, sizeof(text), ND_EAL "adapters = (\n");

	for (int i = 0; i < 2; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "  { name = \"nd%d\"; device = \"net_wire0,end=%d%s\"; %s\n"
				 "    address = [ \"10.78.2.%d/24\", \"fd78:2::%d/64\" ]; }%s\n",
				 i, i, device[i], settings[i], i + 1, i + 1, i == 0 ? "," : "");
	used += snprintf(text + used, sizeof(text) - (size_t)used, ");\n");
	assert_true(used < (int)sizeof(text));
	return text;
}

/* ---- time ---- */

bool
nd_is_inline(void)
{
	return inline_mode;
}

void
nd_cycle(void)
{
	/* A wait is what moves adapters in inline mode. */
	if (inline_mode)
		WaitForSingleObject(never, 0);
	else
		sched_yield();
}

void
nd_settle(void)
{
	uint64_t end = test_ms() + 30;

	for (int i = 0; i < 2000; i++)
		nd_cycle();
	while (!inline_mode && test_ms() < end)
		sched_yield();
}

void
nd_assert_pending(const OVERLAPPED *overlapped)
{
	nd_settle();
	assert_int_equal(overlapped->Internal, STATUS_PENDING);
}

static const char *
said_rounds(void)
{
	return getenv("POLLUX_ROUNDS");
}

unsigned long
nd_rounds(unsigned long usual)
{
	const char *said = said_rounds();
#ifdef __SANITIZE_ADDRESS__
	usual /= 10; /* each takes this much longer */
#endif
	return said ? strtoul(said, NULL, 10) : usual;
}

bool
nd_race_is_over(uint32_t round)
{
	static uint64_t late;

	if (round == 0)
		late = test_ms() + ND_RACE_MS;
	return round + 1 >= nd_rounds(ND_RACE_ROUNDS) ||
	       (!said_rounds() && round % 64 == 0 && test_ms() > late);
}

HRESULT
nd_status(const OVERLAPPED *overlapped)
{
	return (HRESULT)__atomic_load_n(&overlapped->Internal, __ATOMIC_ACQUIRE);
}

HRESULT
nd_wait(const OVERLAPPED *overlapped)
{
	nd_until(nd_status(overlapped) != ND_PENDING);
	return nd_status(overlapped);
}

/* ---- provider and adapters ---- */

HRESULT
nd_class_object(REFIID iid, void **out)
{
	return class_object(&IID_IND2Provider, iid, out);
}

HRESULT
nd_can_unload(void)
{
	return can_unload();
}

IND2Provider *
nd_provider(void)
{
	void *provider = NULL;

	assert_hr(nd_class_object(&IID_IND2Provider, &provider), S_OK);
	return provider;
}

struct nd_address
nd_address(unsigned end, int family, uint16_t port)
{
	struct nd_address address = {.length = 0};
	char text[INET6_ADDRSTRLEN];
	int mode = inline_mode ? 1 : 2;

	if (family == AF_INET6) {
		snprintf(text, sizeof(text), "fd78:%d::%u", mode, end + 1);
		address.length = sizeof(address.in6);
		address.in6.sin6_family = AF_INET6;
		address.in6.sin6_port = htons(port);
		assert_int_equal(inet_pton(AF_INET6, text, &address.in6.sin6_addr), 1);
	} else {
		snprintf(text, sizeof(text), "10.78.%d.%u", mode, end + 1);
		address.length = sizeof(address.in);
		address.in.sin_family = AF_INET;
		address.in.sin_port = htons(port);
		assert_int_equal(inet_pton(AF_INET, text, &address.in.sin_addr), 1);
	}
	return address;
}

uint16_t
nd_port_of(const struct nd_address *address)
{
	return ntohs(address->any.sa_family == AF_INET6 ? address->in6.sin6_port
							: address->in.sin_port);
}

IND2Adapter *
nd_adapter(unsigned end)
{
	struct nd_address address = nd_address(end, AF_INET, 0);
	IND2Provider *provider = nd_provider();
	void *adapter = NULL;
	UINT64 id = 0;

	assert_hr(IND2Provider_ResolveAddress(provider, &address.any, address.length, &id),
		  ND_SUCCESS);
	assert_hr(IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, id, &adapter), ND_SUCCESS);
	nd_release(provider, 0);
	return adapter;
}

/* ---- running ---- */

/* Report what a test left behind right after that test: no object is alive, and the adapters can
 * be opened again, which a refused close would prevent. */
static int
nothing_is_left(void **state)
{
	IND2Adapter *adapter[2];

	(void)state;
	if (nd_can_unload() != S_OK) {
		print_error("an object of the provider is left\n");
		return -1;
	}
	for (unsigned i = 0; i < 2; i++)
		adapter[i] = nd_adapter(i);
	for (unsigned i = 0; i < 2; i++)
		nd_release(adapter[i], 0);
	return 0;
}

/* A child that a test has forked does not run our cleanup. */
static void
clean_up(void)
{
	if (getpid() != started_by)
		return;
	unlink(file);
	CloseHandle(never);
}

static void
load(void)
{
	const char *path = getenv("ND2_PROVIDER");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library) {
		fprintf(stderr, "ND2_PROVIDER: %s\n", path ? dlerror() : "not set");
		exit(2);
	}
	*(void **)&class_object = dlsym(library, "DllGetClassObject");
	*(void **)&can_unload = dlsym(library, "DllCanUnloadNow");
	if (!class_object || !can_unload) {
		fprintf(stderr, "%s: it does not export both functions\n", path);
		exit(2);
	}
}

static void
write_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		perror(path);
		exit(2);
	}
	close(fd);
}

/* ---- attached ---- */

bool
nd_is_attached(void)
{
	return polluxd_is_wanted();
}

/* A host shares what VirtualAlloc() has given. Otherwise, and with ND2_PRIVATE, it is the C
 * library's, whose overruns a sanitizer detects. */
static bool
has_arenas(void)
{
	return nd_is_attached() && getenv("ND2_PRIVATE") == NULL;
}

void *
nd_memory(size_t bytes)
{
	return has_arenas() ? VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)
			    : aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
}

void
nd_memory_free(void *memory)
{
	if (!has_arenas())
		free(memory);
	else if (memory)
		assert_true(VirtualFree(memory, 0, MEM_RELEASE));
}

void
nd_start(const char *configuration)
{
	static char path[] = "/tmp/nd2-test-XXXXXX";

	if (never)
		return;
	started_by = getpid();
	if (nd_is_attached())
		configuration = polluxd_begin(configuration == config ? hosted : configuration);
	write_file(path, configuration);
	setenv("POLLUX_CONFIG", path, 1);
	setenv("POLLUX_ND2_LOG", "1", 1);
	load();
	never = CreateEventW(NULL, TRUE, FALSE, NULL);
	file = path;
	atexit(clean_up);
}

static int
run_in(bool wanted, const char *name, const struct CMUnitTest *tests, size_t n)
{
	struct CMUnitTest *looked_at = calloc(n, sizeof(*looked_at));
	char title[64];
	int failures;

	inline_mode = wanted;
	memcpy(looked_at, tests, n * sizeof(*tests));
	for (size_t i = 0; i < n; i++)
		if (!looked_at[i].teardown_func)
			looked_at[i].teardown_func = nothing_is_left;
	snprintf(title, sizeof(title), "%s, %s", name,
		 wanted             ? "inline"
		 : nd_is_attached() ? "attached"
				    : "worker");
	failures = _cmocka_run_group_tests(title, looked_at, n, NULL, NULL);
	free(looked_at);
	return failures;
}

static int
run(const char *name, const struct CMUnitTest *tests, size_t n, bool worker, bool inlined)
{
	int failures = 0;

	nd_start(config);
	if (worker)
		failures += run_in(false, name, tests, n);
	if (inlined && !nd_is_attached())
		failures += run_in(true, name, tests, n);
	return failures;
}

int
nd_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
	return run(name, tests, n, true, false);
}

int
nd_run_inline(const char *name, const struct CMUnitTest *tests, size_t n)
{
	return run(name, tests, n, false, true);
}

int
nd_run_both(const char *name, const struct CMUnitTest *tests, size_t n)
{
	return run(name, tests, n, true, true);
}
