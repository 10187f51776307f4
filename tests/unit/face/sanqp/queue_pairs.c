/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The world of tests of SAN service providers (../sanspi/world.h) with Pollux's: a host in another
 * process has two adapters that are joined, "a" and "b"; a process of the test is a provider of its
 * own, which is attached to one of them. Start with world_begin().
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "host_side.h"
#include "provider.h"
#include "world.h"

enum {
	PROCESSES = 8,
	TURN_US = 50,
};

static struct host_process host;

static struct {
	DWORD id;
	struct sanqp *provider;
	WSPPROC_TABLE call;
} process[PROCESSES];
static uint32_t processes;

void
world_begin(const struct world_options *options)
{
	assert_true(options->reads);
	processes = 0;
	(void)sanqp_use(NULL);
}

void
world_end(void)
{
	for (uint32_t i = 0; i < processes; i++) {
		struct sanqp *provider = process[i].provider;
		int error;

		for (uint64_t s = 1; sanqp_place(provider, s) != NULL; s++)
			assert_int_equal(sanqp_place(provider, s)->state, SANQP_FREE);
		(void)sanqp_use(provider);
		assert_int_equal(process[i].call.lpWSPCleanup(&error), 0);
	}
	host_side_await_nothing(&host);
}

/* The file of a program that has one adapter. */
static void
write_config(ULONG address, char *path)
{
	const char *name = address == WORLD_HOST_A ? "a" : "b";
	FILE *file;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	fprintf(file, "adapters = ( { name = \"%s\"; host = \"%s\"; } );\n", name,
		getenv("POLLUX_HOST"));
	fclose(file);
	setenv("POLLUX_CONFIG", path, 1);
}

void
world_process(DWORD id, ULONG address, const WSPUPCALLTABLEEX *upcalls, WSPPROC_TABLE *out)
{
	WSAPROTOCOL_INFOW tcp = {
		.iAddressFamily = AF_INET, .iSocketType = SOCK_STREAM, .iProtocol = IPPROTO_TCP};
	WSPUPCALLTABLEEX table = *upcalls;
	char path[] = "/tmp/sanqp-XXXXXX";
	WSPDATA data;

	assert_true(processes < PROCESSES);
	write_config(address, path);
	(void)sanqp_use(NULL);
	assert_int_equal(WSPStartupEx(MAKEWORD(2, 2), &data, &tcp, &table, out), 0);
	process[processes].id = id;
	process[processes].call = *out;
	process[processes++].provider = sanqp_current();
	assert_non_null(sanqp_adapter_at(sanqp_current(), 0)); /* while it has its file */
	unlink(path);
}

static struct sanqp *
provider_of(DWORD id)
{
	for (uint32_t i = 0; i < processes; i++)
		if (process[i].id == id)
			return process[i].provider;
	fail_msg("process %lu was not loaded", (unsigned long)id);
	return NULL;
}

void
world_as(DWORD id)
{
	(void)sanqp_use(provider_of(id));
}

DWORD
world_id(DWORD id)
{
	return provider_of(id)->adapter[0].info.seat;
}

bool
world_run(void)
{
	usleep(TURN_US);
	return false; /* as far as is known */
}

void
world_settle(void)
{
}

int
world_run_tests(const struct CMUnitTest *tests, size_t n)
{
	return host_side_run(&host, tests, n);
}
