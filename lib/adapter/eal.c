/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DPDK's EAL: started once, for the first adapter, and never stopped, because DPDK cannot start it
 * again. The program or this file starts it, whichever comes first. Arguments that the caller omits
 * are filled in: memory, cores, PCI, a file prefix, the log level. The calling thread's affinity is
 * restored afterwards. Start with plx_eal_start().
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_pdump.h>

#include "eal_files.h"
#include "adapter.h"
#include "plx_settings.h"

enum {
	ARGUMENTS_MAX = 64,
	LINE_MAX_BYTES = 160,
	NO_HUGE_MIB = 1024, /* reserved, not populated: pools of a dozen adapters */
	/* two pools of default size, and their rings */
	HUGE_MIB_MIN = 192,
};

enum eal_state {
	EAL_DOWN,
	EAL_FAILED,
	EAL_OURS,
	EAL_OF_PROGRAM,
};

static struct {
	pthread_mutex_t lock;
	enum eal_state state;
	bool no_pci;
	char text[SETTINGS_EAL_MAX + 512]; /* the arguments, split at blanks */
	char *argv[ARGUMENTS_MAX + 1];
	int argc;
} eal = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The first error in DPDK's log since the journal was cleared, which is usually the cause of the
 * others. */
static struct {
	pthread_mutex_t lock;
	char line[LINE_MAX_BYTES];
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- DPDK's log ---- */

static ssize_t
journal_write(void *cookie, const char *bytes, size_t n)
{
	size_t length = 0;

	(void)cookie;
	pthread_mutex_lock(&journal.lock);
	if (!*journal.line) {
		while (length < n && bytes[length] != '\n' && length < sizeof(journal.line) - 1)
			length++;
		memcpy(journal.line, bytes, length);
		journal.line[length] = '\0';
	}
	pthread_mutex_unlock(&journal.lock);
	return (ssize_t)n;
}

void
eal_journal_open(void)
{
	pthread_mutex_lock(&journal.lock);
	*journal.line = '\0';
	pthread_mutex_unlock(&journal.lock);
}

void
eal_journal_read(char *out, size_t n)
{
	pthread_mutex_lock(&journal.lock);
	snprintf(out, n, "%s", journal.line);
	pthread_mutex_unlock(&journal.lock);
}

/* A library does not print, so DPDK's log goes to the journal. The stream is never closed. */
static void
journal_start(void)
{
	cookie_io_functions_t functions = {.write = journal_write};
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream)
		rte_openlog_stream(stream);
}

/* ---- arguments ---- */

static void
argument(const char *word)
{
	size_t used = eal.argc ? (size_t)(eal.argv[eal.argc - 1] - eal.text) +
					 strlen(eal.argv[eal.argc - 1]) + 1
			       : 0;
	size_t length = strlen(word) + 1;

	/* the text has room for the longest `eal` setting and everything that is filled in */
	if (eal.argc == ARGUMENTS_MAX || used + length > sizeof(eal.text))
		return;
	eal.argv[eal.argc++] = memcpy(eal.text + used, word, length);
	eal.argv[eal.argc] = NULL;
}

/* Do the first `n` arguments, those of the caller, contain one of these options? */
static bool
speaks_of(int n, const char *const *options)
{
	for (int i = 1; i < n; i++) {
		for (const char *const *option = options; *option; option++) {
			size_t length = strlen(*option);
			bool is_long = (*option)[1] == '-';
			char next;

			if (strncmp(eal.argv[i], *option, length) != 0)
				continue;
			next = eal.argv[i][length];
			if (!next || next == '=' || !is_long)
				return true;
		}
	}
	return false;
}

static void
fill_in_memory(int n)
{
	static const char *const options[] = {"-m",          "--no-huge",     "--in-memory",
					      "--huge-dir",  "--legacy-mem",  "--socket-mem",
					      "--proc-type", "--huge-unlink", NULL};
	struct eal_hugepages free_bytes;
	char number[16];

	if (speaks_of(n, options))
		return;
	eal_files_hugepages(&free_bytes);
	if (free_bytes.mounted >= HUGE_MIB_MIN * UINT64_C(1048576)) {
		argument("--single-file-segments"); /* memif's zero copy requires it */
	} else if (free_bytes.all >= HUGE_MIB_MIN * UINT64_C(1048576)) {
		argument("--in-memory");
		argument("--single-file-segments");
	} else {
		argument("--no-huge");
		argument("-m");
		snprintf(number, sizeof(number), "%d", NO_HUGE_MIB);
		argument(number);
	}
}

/* One lcore, the caller, on every core that it may use: then neither the caller nor DPDK's own
 * threads are pinned. */
static void
fill_in_cores(int n)
{
	static const char *const options[] = {"-l", "-c", "-s", "--lcores", NULL};
	char list[256] = "--lcores=0@(";
	cpu_set_t set;
	bool first = true;

	if (speaks_of(n, options) || sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int at = 0, end; at < RTE_MAX_LCORE; at = end + 1) {
		size_t used = strlen(list);

		for (end = at; end < RTE_MAX_LCORE && CPU_ISSET((size_t)end, &set); end++)
			;
		if (end == at)
			continue;
		if (used + 10 > sizeof(list))
			break;
		snprintf(list + used, sizeof(list) - used, "%s%d-%d", first ? "" : ",", at,
			 end - 1);
		first = false;
	}
	strcat(list, ")");
	if (!first)
		argument(list);
}

static void
compose(const char *arguments, bool pci)
{
	static const char *const pci_options[] = {"--no-pci", "-a",      "-b",
						  "--allow",  "--block", NULL};
	static const char *const prefix_options[] = {"--file-prefix", "--in-memory", NULL};
	static const char *const log_options[] = {"--log-level", NULL};
	static const char *const no_pci[] = {"--no-pci", NULL};
	char copy[SETTINGS_EAL_MAX], *word, *rest = NULL;
	char prefix[64];
	int n;

	eal.argc = 0;
	argument("pollux");
	snprintf(copy, sizeof(copy), "%s", arguments);
	for (word = strtok_r(copy, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
		argument(word);
	n = eal.argc;
	fill_in_memory(n);
	fill_in_cores(n);
	if (!pci && !speaks_of(n, pci_options))
		argument("--no-pci");
	if (!speaks_of(n, prefix_options)) {
		snprintf(prefix, sizeof(prefix), "--file-prefix=" EAL_PREFIX "%d", (int)getpid());
		argument(prefix);
	}
	if (!speaks_of(n, log_options)) {
		argument("--log-level=error");
		journal_start();
	}
	eal.no_pci = speaks_of(eal.argc, no_pci);
}

/* ---- starting ---- */

/* Has the program started it? DPDK 22.11 has no call for this. But it counts lcores first of all,
 * and chooses the IOVA mode after it has scanned the buses. */
static bool
is_up(void)
{
	if (eal.state == EAL_DOWN && rte_lcore_count() > 0 && rte_eal_iova_mode() != RTE_IOVA_DC)
		eal.state = EAL_OF_PROGRAM;
	return eal.state == EAL_OURS || eal.state == EAL_OF_PROGRAM;
}

static enum plx_status
refused(int error, struct plx_why *why)
{
	char line[LINE_MAX_BYTES], said[96] = "";

	for (int i = 1; i < eal.argc; i++) {
		size_t used = strlen(said);

		snprintf(said + used, sizeof(said) - used, "%s%s", i > 1 ? " " : "", eal.argv[i]);
	}
	eal_journal_read(line, sizeof(line));
	eal.state = EAL_FAILED;
	if (error == EALREADY)
		plx_why_set(why, "the EAL failed to start before; DPDK tries once a process");
	else
		plx_why_set(why, "DPDK's EAL does not start with \"%s\": %s", said,
			    *line ? line : rte_strerror(error));
	if (error == ENOMEM)
		return PLX_NO_MEMORY;
	return error == EINVAL ? PLX_CONFIG : PLX_NO_DEVICE;
}

static enum plx_status
start(const char *arguments, bool pci, struct plx_why *why)
{
	char *argv[ARGUMENTS_MAX + 1];
	cpu_set_t affinity;
	bool restore;
	enum plx_status status = eal_files_sweep(why);
	int result;

	if (status != PLX_OK)
		return status;
	compose(arguments, pci);
	memcpy(argv, eal.argv, sizeof(argv)); /* getopt permutes this copy */
	eal_journal_open();
	restore = pthread_getaffinity_np(pthread_self(), sizeof(affinity), &affinity) == 0;
	result = rte_eal_init(eal.argc, argv);
	if (restore)
		pthread_setaffinity_np(pthread_self(), sizeof(affinity), &affinity);
	if (result < 0)
		return refused(rte_errno, why);
	eal.state = EAL_OURS;
	eal_files_remove_at_exit();
	return PLX_OK;
}

/* Initialize what every EAL needs, no matter who started it. */
static void
finish(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	/* This fails, harmlessly, if the program has already initialized packet capture. */
	(void)rte_pdump_init();
	telemetry_start();
}

static enum plx_status
start_with_settings(const char *arguments, bool pci, struct plx_why *why)
{
	struct settings *file = calloc(1, sizeof(*file));
	enum plx_status status;

	if (!file) {
		plx_why_set(why, "there is no memory to read the configuration file");
		return PLX_NO_MEMORY;
	}
	status = settings_read(file, why);
	for (uint32_t i = 0; i < file->sections; i++)
		pci |= device_is_pci(file->section[i].options.device);
	if (status == PLX_OK)
		status = start(arguments ? arguments : file->eal, pci, why);
	free(file);
	return status;
}

enum plx_status
eal_ensure(bool pci, struct plx_why *why)
{
	enum plx_status status = PLX_OK;

	pthread_mutex_lock(&eal.lock);
	if (!is_up())
		status = start_with_settings(NULL, pci, why);
	if (status == PLX_OK && pci && eal.no_pci) {
		plx_why_set(why, "the EAL was started without PCI, since no adapter of the "
				 "configuration file names a PCI device; name this one there, or "
				 "open it first");
		status = PLX_NO_DEVICE;
	} else if (status == PLX_OK) {
		finish();
	}
	pthread_mutex_unlock(&eal.lock);
	return status;
}

enum plx_status
plx_eal_start(const char *arguments, struct plx_why *why)
{
	enum plx_status status = PLX_OK;

	if (arguments && strlen(arguments) >= SETTINGS_EAL_MAX) {
		plx_why_set(why, "the EAL's arguments have %zu characters; at most %d",
			    strlen(arguments), SETTINGS_EAL_MAX - 1);
		return PLX_CONFIG;
	}
	pthread_mutex_lock(&eal.lock);
	if (!is_up()) {
		status = start_with_settings(arguments, false, why);
	} else if (arguments) {
		plx_why_set(why,
			    "the EAL is up already, and cannot be given \"%.60s\" any more; "
			    "call plx_eal_start() before the first plx_adapter_open()",
			    arguments);
		status = PLX_STATE;
	}
	if (status == PLX_OK)
		finish();
	pthread_mutex_unlock(&eal.lock);
	return status;
}

bool
eal_has_hugepages(void)
{
	bool up;

	pthread_mutex_lock(&eal.lock);
	up = is_up();
	pthread_mutex_unlock(&eal.lock);
	return up && rte_eal_has_hugepages();
}
