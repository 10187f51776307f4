/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting the EAL: with and without hugepages, by the library and by the program, beside other
 * processes, after a crash; and what it must not change. Each scene is a process of its own.
 */
#include "subprocess.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_lcore.h>

#include "child.h"
#include "huge.h"
#include "adapter.h"

enum {
	PAGES = 160, /* of 2 MiB: two adapters of default size, and then some */
};

static char folder[] = "/tmp/plx-eal-XXXXXX";

static bool
is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* How many files of a folder begin with `start`. */
static int
count_files(const char *path, const char *start)
{
	DIR *open_folder = opendir(path);
	const struct dirent *entry;
	int n = 0;

	if (!open_folder)
		return -1;
	while ((entry = readdir(open_folder)))
		n += strncmp(entry->d_name, start, strlen(start)) == 0 && entry->d_name[0] != '.';
	closedir(open_folder);
	return n;
}

static bool
write_config(const char *text)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/plx-eal-%d.conf", (int)getpid());
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		return false;
	setenv("POLLUX_CONFIG", path, 1);
	return true;
}

static void
remove_config(void)
{
	unlink(getenv("POLLUX_CONFIG"));
}

/* ---- scenes: no side effects ---- */

static bool
all_threads_run_where(const cpu_set_t *set)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	bool all = tasks != NULL;
	cpu_set_t other;

	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			all = all &&
			      sched_getaffinity(atoi(entry->d_name), sizeof(other), &other) == 0 &&
			      CPU_EQUAL(&other, set);
	if (tasks)
		closedir(tasks);
	return all;
}

static int
plain(void)
{
	struct plx_why why = {""};
	cpu_set_t before;
	char expected[64];

	EXPECT(sched_getaffinity(0, sizeof(before), &before) == 0);
	EXPECT(plx_eal_start(NULL, &why) == PLX_OK);
	EXPECT(all_threads_run_where(&before));
	EXPECT(rte_lcore_count() == 1);
	snprintf(expected, sizeof(expected), "pollux-%d", (int)getpid());
	EXPECT_WORDS(rte_eal_get_runtime_dir(), expected);
	EXPECT(plx_eal_start(NULL, &why) == PLX_OK);
	EXPECT(!*why.text);
	EXPECT(plx_eal_start("-m 64", &why) == PLX_STATE);
	EXPECT_WORDS(why.text, "\"-m 64\"");
	EXPECT_WORDS(why.text, "before the first plx_adapter_open()");
	return 0;
}

/* Pinned to one core, it stays there, and so do DPDK's threads. */
static int
pinned(void)
{
	cpu_set_t set, one;

	EXPECT(sched_getaffinity(0, sizeof(set), &set) == 0);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && CPU_COUNT(&one) == 0)
			CPU_SET(i, &one);
	EXPECT(sched_setaffinity(0, sizeof(one), &one) == 0);
	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	EXPECT(all_threads_run_where(&one));
	return 0;
}

static int
forked(void)
{
	int status;
	pid_t child;

	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	child = fork();
	if (child == 0)
		child_exit(0);
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
	EXPECT(is_there(rte_eal_get_runtime_dir()));
	return 0;
}

static int
beside_another(void)
{
	char out[1024];

	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	EXPECT(scene_run("plain", out, sizeof(out)) == 0);
	EXPECT(is_there(rte_eal_get_runtime_dir()));
	return 0;
}

/* Exits as a crash would, and prints the name of its folder. */
static int
killed(void)
{
	if (plx_eal_start(NULL, NULL) != PLX_OK)
		return 1;
	printf("%s", rte_eal_get_runtime_dir());
	fflush(stdout);
	raise(SIGKILL);
	return 1;
}

/* ---- scenes: arguments ---- */

static int
of_program(void)
{
	char words[] = "x --no-huge -m 64 --no-pci --log-level=error --no-telemetry";
	char prefix[48], *arguments[16], *rest = NULL;
	int n = 0;
	struct plx_why why = {""};

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		arguments[n++] = word;
	snprintf(prefix, sizeof(prefix), "--file-prefix=plxtest-%d", (int)getpid());
	arguments[n++] = prefix;
	EXPECT(rte_eal_init(n, arguments) >= 0);
	EXPECT(plx_eal_start(NULL, &why) == PLX_OK);
	EXPECT(plx_eal_start("-m 64", &why) == PLX_STATE);
	EXPECT(!eal_has_hugepages());
	return 0;
}

static int
of_file(void)
{
	struct plx_why why = {""};

	EXPECT(write_config("eal = \"--no-huge -m 128 --file-prefix=plxtest-of-file\";\n"));
	EXPECT(plx_eal_start(NULL, &why) == PLX_OK);
	remove_config();
	EXPECT_WORDS(rte_eal_get_runtime_dir(), "plxtest-of-file");
	return 0;
}

static int
wrong_file(void)
{
	struct plx_why why = {""};

	EXPECT(write_config("eel = \"\";\n"));
	EXPECT(plx_eal_start(NULL, &why) == PLX_CONFIG);
	EXPECT_WORDS(why.text, ".conf:1: there is no setting eel; did you mean eal?");
	EXPECT(rte_lcore_count() == 0);
	remove_config();
	return 0;
}

static int
too_long(void)
{
	static char arguments[2000];
	struct plx_why why = {""};

	memset(arguments, 'x', sizeof(arguments) - 1);
	EXPECT(plx_eal_start(arguments, &why) == PLX_CONFIG);
	EXPECT_WORDS(why.text, "1999 characters; at most 1023");
	EXPECT(rte_lcore_count() == 0);
	return 0;
}

/* DPDK itself prints the reason on stderr, whatever we do: this scene's output is not empty. */
static int
wrong_arguments(void)
{
	struct plx_why why = {""};

	EXPECT(plx_eal_start("--no-huge -m 64 --nonsense", &why) == PLX_CONFIG);
	EXPECT_WORDS(why.text, "DPDK's EAL does not start with \"--no-huge -m 64 --nonsense");
	return 0;
}

static int
no_runtime_folder(void)
{
	struct plx_why why = {""};

	EXPECT(huge_unmount_all()); /* for the namespace */
	mkdir("/var/run/dpdk", 0755);
	EXPECT(mount("none", "/var/run/dpdk", "tmpfs", MS_RDONLY, "mode=0755") == 0);
	EXPECT(plx_eal_start("--no-huge -m 64", &why) == PLX_CONFIG);
	EXPECT_WORDS(why.text, "/var/run/dpdk/pollux-");
	EXPECT_WORDS(why.text, "Read-only file system");
	return 0;
}

/* ---- scenes: hugepages ---- */

static int
hidden(void)
{
	EXPECT(huge_hide());
	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	EXPECT(!eal_has_hugepages());
	return 0;
}

/* Hugepages and nowhere to have files in them: they are used all the same. */
static int
not_mounted(void)
{
	char path[256];

	EXPECT(huge_unmount_all());
	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	EXPECT(eal_has_hugepages());
	snprintf(path, sizeof(path), "%s/config", rte_eal_get_runtime_dir());
	EXPECT(!is_there(path)); /* which is what --in-memory means */
	return 0;
}

/* Where others could claim the names of its files, there are no files. */
static int
shared(void)
{
	char path[256];

	EXPECT(huge_unmount_all());
	EXPECT(mkdtemp(folder) && huge_mount_at(folder) && chmod(folder, 01777) == 0);
	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	EXPECT(eal_has_hugepages());
	snprintf(path, sizeof(path), "%s/config", rte_eal_get_runtime_dir());
	EXPECT(!is_there(path));
	EXPECT(count_files(folder, "") == 0);
	EXPECT(umount2(folder, MNT_DETACH) == 0 && rmdir(folder) == 0);
	return 0;
}

static int
in_files(void)
{
	char path[256], map[64];

	EXPECT(plx_eal_start(NULL, NULL) == PLX_OK);
	EXPECT(eal_has_hugepages());
	snprintf(path, sizeof(path), "%s/config", rte_eal_get_runtime_dir());
	EXPECT(is_there(path)); /* so a secondary process can attach */
	snprintf(map, sizeof(map), "pollux-%dmap_", (int)getpid());
	EXPECT(count_files(getenv("PLX_TEST_HUGE"), map) >= 1);
	return 0;
}

/* In a private hugetlbfs: what a process leaves when it exits, what a crash leaves, and who
 * removes it. */
static int
mounted(void)
{
	char out[1024];
	int status;

	EXPECT(huge_unmount_all());
	EXPECT(mkdtemp(folder) && huge_mount_at(folder));
	setenv("PLX_TEST_HUGE", folder, 1);
	status = scene_run("in_files", out, sizeof(out));
	printf("%s", out);
	EXPECT(status == 0);
	EXPECT(count_files(folder, "") == 0);
	EXPECT(WIFSIGNALED(scene_run("killed", out, sizeof(out))));
	EXPECT(count_files(folder, "pollux-") >= 1);
	EXPECT(is_there(out));
	EXPECT(scene_run("in_files", out + 512, 512) == 0);
	EXPECT(count_files(folder, "") == 0);
	EXPECT(!is_there(out));
	EXPECT(umount2(folder, MNT_DETACH) == 0 && rmdir(folder) == 0);
	return 0;
}

static const struct scene scenes[] = {
	{"plain", plain},
	{"pinned", pinned},
	{"forked", forked},
	{"beside_another", beside_another},
	{"killed", killed},
	{"of_program", of_program},
	{"of_file", of_file},
	{"wrong_file", wrong_file},
	{"too_long", too_long},
	{"wrong_arguments", wrong_arguments},
	{"no_runtime_folder", no_runtime_folder},
	{"hidden", hidden},
	{"not_mounted", not_mounted},
	{"shared", shared},
	{"in_files", in_files},
	{"mounted", mounted},
};

/* ---- tests ---- */

static void
it_starts_with_what_is_there_and_pins_nobody(void **state)
{
	(void)state;
	scene_passes("plain");
	scene_passes("pinned");
}

static void
two_processes_do_not_meet(void **state)
{
	(void)state;
	scene_passes("beside_another");
}

static void
its_folder_goes_with_the_process_and_not_with_a_child(void **state)
{
	(void)state;
	scene_passes("forked");
}

static void
the_folder_of_a_dead_process_is_removed_by_the_next(void **state)
{
	char out[1024];

	(void)state;
	assert_true(WIFSIGNALED(scene_run("killed", out, sizeof(out))));
	assert_non_null(strstr(out, "pollux-"));
	assert_true(is_there(out));
	scene_passes("plain");
	assert_false(is_there(out));
}

static void
the_folder_of_a_living_process_stays(void **state)
{
	char path[64];

	(void)state;
	/* ours: this process lives, and has no EAL and so no lock either */
	snprintf(path, sizeof(path), "/var/run/dpdk/pollux-%d", (int)getpid());
	mkdir("/var/run/dpdk", 0755);
	assert_int_equal(mkdir(path, 0700), 0);
	scene_passes("plain");
	assert_true(is_there(path));
	assert_int_equal(rmdir(path), 0);
}

static void
a_program_may_start_it_itself(void **state)
{
	(void)state;
	scene_passes("of_program");
}

static void
arguments_come_from_the_file(void **state)
{
	(void)state;
	scene_passes("of_file");
	scene_passes("wrong_file");
}

static void
wrong_arguments_are_refused_with_a_sentence(void **state)
{
	char out[4096];

	(void)state;
	scene_passes("too_long");
	assert_int_equal(scene_run("wrong_arguments", out, sizeof(out)), 0);
	assert_null(strstr(out, "not so"));
	assert_int_equal(scene_run("no_runtime_folder", out, sizeof(out)), 0);
}

static void
without_hugepages_it_goes_on_without(void **state)
{
	(void)state;
	scene_passes("hidden");
}

static void
hugepages_are_used_when_there_are_any(void **state)
{
	(void)state;
	assert_true(huge_reserve(PAGES));
	scene_passes("not_mounted");
	scene_passes("shared");
	scene_passes("mounted");
	huge_restore();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_starts_with_what_is_there_and_pins_nobody),
		cmocka_unit_test(two_processes_do_not_meet),
		cmocka_unit_test(its_folder_goes_with_the_process_and_not_with_a_child),
		cmocka_unit_test(the_folder_of_a_dead_process_is_removed_by_the_next),
		cmocka_unit_test(the_folder_of_a_living_process_stays),
		cmocka_unit_test(a_program_may_start_it_itself),
		cmocka_unit_test(arguments_come_from_the_file),
		cmocka_unit_test(wrong_arguments_are_refused_with_a_sentence),
		cmocka_unit_test(without_hugepages_it_goes_on_without),
		cmocka_unit_test(hugepages_are_used_when_there_are_any),
	};
	int played = scene_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));

	if (played >= 0)
		return played;
	unsetenv("POLLUX_CONFIG");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	huge_restore();
	return failed;
}
