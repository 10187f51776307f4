/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See host_process.h.
 */
#include "host_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "plx_adapter_object.h"
#include "plx_host.h"

static bool
offer_all(struct plx_host *host, uint32_t user, host_adapter_fn adapter)
{
	char name[PLX_ADAPTER_NAME_MAX + 1];
	struct plx_adapter_options options;
	struct plx_host_rights rights;
	struct plx_why why = {""};
	struct stat own;

	if (stat("/proc/self/ns/net", &own) != 0)
		return false;
	plx_host_rights_init(&rights, getuid(), (struct plx_host_namespace){own.st_dev, own.st_ino},
			     "the test");
	rights.user[0] = user;
	rights.users = user != 0;
	/* tests of an adapter's own limits reach those */
	rights.quota[PLX_HOST_KEYS] = 1 << 20;
	rights.quota[PLX_HOST_QUEUE_PAIRS] = 1 << 14;
	for (unsigned i = 0; adapter(i, name, &options); i++) {
		if (plx_host_offer(host, name, &options, &rights, &why) == PLX_OK)
			continue;
		fprintf(stderr, "%s\n", why.text);
		return false;
	}
	return true;
}

static uint32_t
count_objects(const struct plx_host *host)
{
	uint32_t objects = 0;

	for (uint32_t i = 0; i < plx_host_offers(host); i++) {
		const struct plx_object_counts *count = &plx_host_offered(host, i)->count;

		objects += count->pds + count->mrs + count->mws + count->cqs + count->srqs +
			   count->qps + count->ahs + count->event_channels + count->listeners +
			   count->connectors;
	}
	return objects;
}

/* It asserts itself that its adapters have no objects in the end. */
static void
be_host(const struct host_process *process, host_adapter_fn adapter, int go, int ready)
{
	struct plx_why why = {""};
	struct plx_host *host;
	bool offered;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(0);
	/* Tests run in parallel: one that empties the pool of hugepages must not fail another. */
	if (plx_eal_start("--no-huge -m 1024", &why) != PLX_OK ||
	    plx_host_start(process->path, process->user != 0 ? 0666 : 0600, &host, &why) !=
		    PLX_OK) {
		fprintf(stderr, "%s\n", why.text);
		_exit(1);
	}
	offered = offer_all(host, process->user, adapter) && plx_host_serve(host) == PLX_OK;
	if (offered && write(ready, "r", 1) == 1) {
		while (read(go, &byte, 1) == 1) {
			uint32_t objects = count_objects(host);

			(void)!write(ready, &objects, sizeof(objects));
		}
	}
	plx_host_stop(host);
	_exit(offered ? 0 : 1);
}

void
host_process_fork(struct host_process *host, host_adapter_fn adapter)
{
	static unsigned forked;
	int go[2], ready[2];
	pid_t parent = getpid();

	snprintf(host->path, sizeof(host->path), "/tmp/pollux-test-%d-%u.sock", parent, forked++);
	if (pipe(go) != 0 || pipe(ready) != 0)
		abort();
	host->pid = fork();
	if (host->pid == 0) {
		/* it ends with a test that is killed */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		close(ready[0]);
		if (getppid() == parent)
			be_host(host, adapter, go[0], ready[1]);
		_exit(1);
	}
	close(go[0]);
	close(ready[1]);
	host->go = go[1];
	host->ready = ready[0];
}

bool
host_process_begin(struct host_process *host)
{
	char byte;

	if (write(host->go, "g", 1) != 1 || read(host->ready, &byte, 1) != 1)
		return false;
	setenv("POLLUX_HOST", host->path, 1);
	return true;
}

uint32_t
host_process_objects(struct host_process *host)
{
	uint32_t objects = UINT32_MAX;

	if (write(host->go, "c", 1) != 1 ||
	    read(host->ready, &objects, sizeof(objects)) != sizeof(objects))
		return UINT32_MAX;
	return objects;
}

bool
host_process_end(struct host_process *host)
{
	int status;

	close(host->go);
	close(host->ready);
	unsetenv("POLLUX_HOST");
	if (waitpid(host->pid, &status, 0) != host->pid)
		return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
