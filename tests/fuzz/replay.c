/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a fuzz target on saved inputs, without libFuzzer and with any compiler. It never generates
 * an input. Usage: PROGRAM DIRECTORY...; it fails if there is no file at all.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns 0, or -1 when the file cannot be read. */
static int
replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size ? size : 1);
	int result = -1;

	if (file && data && fread(data, 1, size, file) == size) {
		LLVMFuzzerTestOneInput(data, size);
		result = 0;
	}
	if (result)
		fprintf(stderr, "cannot read %s\n", path);
	free(data);
	if (file)
		fclose(file);
	return result;
}

/* Returns how many files were replayed, or -1. */
static long
replay_directory(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	long count = 0;

	if (!dir) {
		fprintf(stderr, "cannot open %s\n", directory);
		return -1;
	}
	while (count >= 0 && (entry = readdir(dir))) {
		char path[4096];
		struct stat st;
		int len = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);

		if (len < 0 || (size_t)len >= sizeof path || stat(path, &st)) {
			fprintf(stderr, "cannot look at %s/%s\n", directory, entry->d_name);
			count = -1;
		} else if (S_ISREG(st.st_mode)) {
			count = replay_file(path, (size_t)st.st_size) ? -1 : count + 1;
		}
	}
	closedir(dir);
	return count;
}

int
main(int argc, char **argv)
{
	long total = 0;

	for (int i = 1; i < argc; i++) {
		long count = replay_directory(argv[i]);

		if (count < 0)
			return 1;
		total += count;
	}
	printf("%ld inputs replayed\n", total);
	if (total == 0)
		fprintf(stderr, "no input: nothing was tested\n");
	return total == 0;
}
