/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The third mode of tests of lib/verbs: their adapters are those of a host in another process.
 * Start with pair_run_all().
 */
#include "host_process.h"
#include "verbs_pair.h"

static struct host_process host;

/* In the host process. */
static bool
offered(unsigned i, char name[PLX_ADAPTER_NAME_MAX + 1], struct plx_adapter_options *options)
{
	if (i >= 2)
		return false;
	pair_set_attached(true);
	pair_adapter_name(i, name);
	pair_adapter_options(options, i);
	return true;
}

static int
run_attached(const char *name, const struct CMUnitTest *tests, size_t n)
{
	int failures;

	if (!host_process_begin(&host))
		return 1;
	pair_set_attached(true);
	failures = pair_run_in(PLX_MODE_WORKER, name, tests, n);
	pair_set_attached(false);
	if (!host_process_end(&host)) {
		print_error("the host did not end well\n");
		failures++;
	}
	return failures;
}

int
pair_run_all(const char *name, const struct CMUnitTest *tests, size_t n)
{
	int failures = 0;

	host_process_fork(&host, offered);
	if (!pair_is_private())
		failures = pair_run(name, tests, n);
	return failures + run_attached(name, tests, n);
}
