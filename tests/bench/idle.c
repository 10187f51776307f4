/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of 9,900 idle sessions of socket programs: 4,950 connections, of five programs that
 * have both ends of theirs and have used both. The broker has two descriptors of each session, and
 * may have 20,000 on many a machine. tests/bench/sockets-town starts it; the processes of
 * polluxd are its arguments. Start at count().
 *
 * It prints its figure in the format of ndperf's results; tests/bench/run judges it. Exit status:
 * 0, or 2 when it could not measure.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cpu.h"
#include "join.h"
#include "must.h"
#include "result.h"

enum {
	PROGRAMS = 5,
	CONNECTIONS = 990, /* of each */
	CORE = 1,
	PATIENCE_S = 240,
	KIB = 1024,
};

static char pids[PROGRAMS][16];

/* [bytes] Of a process, with what it shares. */
static double
resident(const char *pid)
{
	char path[64], line[128];
	double kib = 0;
	FILE *file;
	long n;

	snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", pid);
	file = fopen(path, "re");
	if (file == NULL)
		stop("%s cannot be read", path);
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Pss: %ld", &n) == 1 ||
		    sscanf(line, "Shared_Hugetlb: %ld", &n) == 1 ||
		    sscanf(line, "Private_Hugetlb: %ld", &n) == 1)
			kib += (double)n;
	fclose(file);
	return kib * KIB;
}

static double
resident_of_all(char **others)
{
	double bytes = resident("self");

	for (int i = 0; i < PROGRAMS; i++)
		bytes += pids[i][0] != '\0' ? resident(pids[i]) : 0;
	for (; *others != NULL; others++)
		bytes += resident(*others);
	return bytes;
}

/* It ends with who has started it. */
static void
hold(int listener, int ready)
{
	int fd[2];
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < CONNECTIONS; i++) {
		join(listener, RDMA_PORT, fd);
		for (int end = 0; end < 2; end++)
			must_be(send(fd[end], &byte, 1, 0) == 1 &&
					recv(fd[1 - end], &byte, 1, 0) == 1,
				"a byte");
	}
	must_be(write(ready, "r", 1) == 1, "write");
	for (;;)
		pause();
}

/* One program after the other, since each accepts what it has connected.
 * Returns: [bytes] of a session, in all processes */
static double
count(char **others)
{
	double before = resident_of_all(others);
	int listener = listen_at(RDMA_PORT);

	for (int i = 0; i < PROGRAMS; i++) {
		int ready[2];
		pid_t pid;
		char byte;

		must_be(pipe(ready) == 0, "pipe");
		pid = fork();
		must_be(pid >= 0, "fork");
		if (pid == 0)
			hold(listener, ready[1]);
		snprintf(pids[i], sizeof(pids[i]), "%d", (int)pid);
		close(ready[1]);
		must_be(read(ready[0], &byte, 1) == 1, "a program with connections");
		close(ready[0]);
	}
	return (resident_of_all(others) - before) / (2 * PROGRAMS * CONNECTIONS);
}

int
main(int argc, char **argv)
{
	static const int cores[] = {0, CORE};
	struct calibration machine;
	json_t *results = json_array();

	(void)argc;
	alarm(PATIENCE_S);
	calibrate(cores, &machine);
	if (!cpu_pin(CORE))
		stop("core %d cannot be had", CORE);
	result_add(results, &(struct bench_result){.op = "rdma",
						   .test = "idle-session",
						   .api = "sockets",
						   .unit = "bytes",
						   .value = count(argv + 1)});
	return result_write(results, &machine, stdout) ? 0 : 2;
}
