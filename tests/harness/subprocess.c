/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs this program again as a child process and reads its output. Start with scene_run().
 */
#include "subprocess.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int
scene_run(const char *name, char *out, size_t n)
{
	int ends[2], status = -1;
	size_t used = 0;
	ssize_t got;
	char rest[256];
	pid_t child;

	fflush(stdout);
	if (pipe(ends))
		return -1;
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl("/proc/self/exe", "scene", name, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (used < n - 1 && (got = read(ends[0], out + used, n - 1 - used)) > 0)
		used += (size_t)got;
	out[used] = '\0';
	while (read(ends[0], rest, sizeof(rest)) > 0)
		;
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

void
scene_passes(const char *name)
{
	char out[4096];
	int status = scene_run(name, out, sizeof(out));

	if (status != 0 || *out)
		fail_msg("%s ends with %d and prints: %s", name, status, out);
}

int
scene_main(int argc, char **argv, const struct scene *scenes, size_t n)
{
	for (size_t i = 0; i < n && argc == 2; i++)
		if (strcmp(argv[1], scenes[i].name) == 0)
			return scenes[i].play();
	return -1;
}
