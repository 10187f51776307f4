/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What lib/adapter touches by itself: the folder of DPDK's runtime files, hugepage files, and the
 * configuration file, which may load code.
 */
#include "planted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plx_adapter.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define DEAD_NAME       "pollux-4190001"
#define ADAPTER                                                                 \
	"adapters = ( { name = \"a\"; device = \"net_wire0,end=0\"; address = " \
	"[ \"10.0.0.1/24\" ]; } );\n"

/* ---- the folder of DPDK's runtime files ---- */

static void
start(char *out)
{
	struct plx_why why = {""};
	enum plx_status status = plx_eal_start("--no-huge -m 64", &why);

	snprintf(out, 512, "%s", why.text);
	if (status == PLX_OK && *why.text)
		snprintf(out, 512, "a sentence, and no refusal");
	if (status != PLX_OK && !*why.text)
		snprintf(out, 512, "a refusal, and no sentence");
}

/* What a process that died has left, in a place of the user's own. */
static void
leave_folder(void)
{
	planted_folder(MINE "/dpdk", 0700);
	planted_folder(MINE "/dpdk/" DEAD_NAME, 0700);
	planted_file(MINE "/dpdk/" DEAD_NAME "/config", "precious", 0600);
}

static void
folder_open_to_all(void)
{
	leave_folder();
	planted_folder("/tmp/dpdk", 0777);
}

static void
own_base(void)
{
	leave_folder();
	planted_folder("/tmp/dpdk", 0700);
	/* as by a program of the user's that was misled before */
	planted_link(MINE "/dpdk/" DEAD_NAME, "/tmp/dpdk/" DEAD_NAME);
	planted_folder("/tmp/dpdk/pollux-4190002", 0700);
	planted_link(MINE "/precious", "/tmp/dpdk/pollux-4190002/config");
}

static void
session_of_hers(void)
{
	leave_folder();
	setenv("XDG_RUNTIME_DIR", HERS, 1);
}

static void
plants_link_base(void)
{
	planted_link(MINE "/dpdk", "/tmp/dpdk");
}

static void
plants_folder_base(void)
{
	planted_folder("/tmp/dpdk", 0777);
}

static void
plants_hidden_base(void)
{
	planted_folder("/tmp/dpdk", 0700);
}

static void
plants_file_base(void)
{
	planted_file("/tmp/dpdk", "", 0666);
}

static void
plants_fifo_base(void)
{
	planted_fifo("/tmp/dpdk");
}

static void
plants_socket_base(void)
{
	planted_socket("/tmp/dpdk");
}

static void
plants_link_in_base(void)
{
	planted_link(MINE "/dpdk/" DEAD_NAME, "/tmp/dpdk/" DEAD_NAME);
}

static void
start_in_hers(char *out)
{
	setenv("XDG_RUNTIME_DIR", HERS, 1);
	start(out);
}

/* Nothing of ours comes to lie in there: the row compares. */
static void
start_in_service_folder(char *out)
{
	setenv("RUNTIME_DIRECTORY", HERS, 1);
	start(out);
}

#define NO_SAFE_PLACE "DPDK's files have no safe place: /tmp/dpdk is not a folder of user 64101"

static const struct planted_row bases[] = {
	{"nothing there", USER, NULL, NULL, start, ""},
	{"links in the user's own", USER, own_base, NULL, start, ""},
	{"a link", USER, leave_folder, plants_link_base, start, NO_SAFE_PLACE},
	{"a folder", USER, leave_folder, plants_folder_base, start, NO_SAFE_PLACE},
	{"a folder that she shows to nobody", USER, leave_folder, plants_hidden_base, start,
	 NO_SAFE_PLACE},
	{"a file", USER, leave_folder, plants_file_base, start, NO_SAFE_PLACE},
	{"a FIFO", USER, leave_folder, plants_fifo_base, start, NO_SAFE_PLACE},
	{"a socket", USER, leave_folder, plants_socket_base, start, NO_SAFE_PLACE},
	{"a link in a folder open to all", USER, folder_open_to_all, plants_link_in_base, start,
	 NO_SAFE_PLACE},
	{"a session's folder of hers", USER, session_of_hers, NULL, start_in_hers,
	 "no safe place: " HERS " is not used: it belongs to user 64102"},
	{"a service's folder of hers, for root", 0, NULL, NULL, start_in_service_folder,
	 "no safe place: " HERS " is not used: it belongs to user 64102"},
};

static void
the_runtime_folder_is_the_users_own(void **state)
{
	(void)state;
	planted_play(bases, COUNT_OF(bases));
}

/* ---- what dead processes have left ---- */

#define POOL   MINE "/pool" /* a hugetlbfs that only root may write to */
#define SHARED HERS "/pool" /* one that all may write to */

static void
mount_pools(void)
{
	planted_folder("/run/dpdk", 0700);
	planted_folder("/run/dpdk/" DEAD_NAME, 0700);
	planted_file("/run/dpdk/" DEAD_NAME "/config", "", 0600);
	planted_link(MINE "/precious", "/run/dpdk/" DEAD_NAME "/link");
	planted_folder(POOL, 0700);
	planted_folder(SHARED, 0700);
	if (mount("none", POOL, "hugetlbfs", 0, "pagesize=2M,mode=0755") != 0 ||
	    mount("none", SHARED, "hugetlbfs", 0, "pagesize=2M,mode=1777") != 0)
		_exit(1);
}

static void
plants_in_pool(void)
{
	/* in a hugetlbfs nothing can be written, but names can be taken */
	planted_file(SHARED "/" DEAD_NAME "map_0", "", 0666);
	planted_fifo(SHARED "/" DEAD_NAME "map_1");
}

static void
sweep(char *out)
{
	static const char mine[] = POOL "/" DEAD_NAME "map_0";

	planted_file(mine, "", 0600);
	start(out);
	if (*out)
		return;
	if (access(mine, F_OK) == 0)
		snprintf(out, 512, "what a dead process of ours has left is still there");
	else if (access("/run/dpdk/" DEAD_NAME, F_OK) == 0)
		snprintf(out, 512, "the folder of a dead process of ours is still there");
}

static const struct planted_row leftovers[] = {
	{"hugepage files of hers", 0, mount_pools, plants_in_pool, sweep, ""},
};

static void
only_what_is_ours_is_swept(void **state)
{
	(void)state;
	planted_play(leftovers, COUNT_OF(leftovers));
}

/* ---- the configuration file ---- */

#define CONF "/tmp/pollux.conf"

static void
load(char *out)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	if (plx_adapter_options_load("a", &options, &why) == PLX_OK)
		*why.text = '\0';
	else if (!*why.text)
		snprintf(why.text, sizeof(why.text), "a refusal without a sentence");
	snprintf(out, 512, "%s", why.text);
}

static void
load_named(char *out)
{
	setenv("POLLUX_CONFIG", CONF, 1);
	load(out);
}

static void
load_where_it_stands(char *out)
{
	if (chdir(HERS) != 0)
		_exit(1);
	load(out);
}

/* The whole way: nothing of hers may come into the process. */
static void
start_where_it_stands(char *out)
{
	struct plx_why why = {""};

	if (chdir(HERS) != 0)
		_exit(1);
	if (plx_eal_start(NULL, &why) != PLX_OK)
		snprintf(out, 512, "%s", why.text);
	if (access("/tmp/loaded", F_OK) == 0)
		snprintf(out, 512, "code of hers was run");
}

static void
good_config(void)
{
	planted_file(CONF, ADAPTER, 0644);
}

static void
config_open_to_all(void)
{
	planted_file(CONF, ADAPTER, 0666);
}

static void
config_that_loads_from_here(void)
{
	planted_file(CONF, "eal = \"--no-huge -d x.so\";\n" ADAPTER, 0644);
}

static void
config_that_loads_from_here_tightly(void)
{
	planted_file(CONF, "eal = \"-d./x.so\";\n" ADAPTER, 0644);
}

static void
config_that_loads_from_a_place(void)
{
	planted_file(CONF, "eal = \"-d /usr/lib/x.so --no-huge\";\n" ADAPTER, 0644);
}

static void
plants_config(void)
{
	planted_file(CONF, ADAPTER, 0644);
}

static void
plants_link_to_config(void)
{
	planted_link(MINE "/precious", CONF);
}

static void
plants_fifo_config(void)
{
	planted_fifo(CONF);
}

static void
plants_config_here(void)
{
	planted_file(HERS "/pollux.conf", "eal = \"-d " HERS "/x.so\";\n" ADAPTER, 0644);
}

#define STANDS_HERE "./pollux.conf is read with POLLUX_CONFIG=./pollux.conf"

static const struct planted_row configs[] = {
	{"the user's", USER, good_config, NULL, load_named, ""},
	{"one that others may write to", USER, config_open_to_all, NULL, load_named,
	 CONF " is not read: its mode 0666 lets others than its owner write to it"},
	{"hers, for root", 0, NULL, plants_config, load_named,
	 CONF " is not read: it belongs to user 64102, and the program runs as user 0"},
	{"hers, for a user", USER, NULL, plants_config, load_named, "it belongs to user 64102"},
	{"a link", 0, NULL, plants_link_to_config, load_named, "is a symbolic link of user 64102"},
	{"a FIFO", 0, NULL, plants_fifo_config, load_named, "it is not a file"},
	{"where root stands", 0, NULL, plants_config_here, load_where_it_stands, STANDS_HERE},
	{"where the user stands", USER, NULL, plants_config_here, load_where_it_stands,
	 STANDS_HERE},
	{"where root stands, at a start", 0, NULL, plants_config_here, start_where_it_stands, ""},
	{"code from where it stands", USER, config_that_loads_from_here, NULL, load_named,
	 CONF ":1: eal loads \"x.so\" from wherever the program stands"},
	{"code from where it stands, written together", USER, config_that_loads_from_here_tightly,
	 NULL, load_named, CONF ":1: eal loads \"./x.so\" from wherever the program stands"},
	{"code from an absolute path", USER, config_that_loads_from_a_place, NULL, load_named, ""},
};

static void
only_trusted_configuration_is_obeyed(void **state)
{
	(void)state;
	planted_play(configs, COUNT_OF(configs));
}

/* ---- more rights than the caller ---- */

/* What the program with its set-user-ID bit does: played by main(). */
static int
privileged(void)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	if (geteuid() == getuid())
		return 3;
	(void)!plx_adapter_options_load("a", &options, &why);
	printf("%s", why.text);
	fflush(stdout);
	_exit(0); /* a leak checker may not look at it, and would fail */
}

static void
keep_privileged_copy(void)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "cp /proc/%d/exe /tmp/privileged && chmod 4755 /tmp/privileged", (int)getpid());
	if (system(command) != 0)
		_exit(1);
	planted_file(CONF, ADAPTER, 0644);
}

/* By the user, whose environment it is; the file itself would be good. */
static void
run_privileged(char *out)
{
	FILE *said;

	if (setresuid(USER, USER, USER) != 0)
		_exit(1);
	setenv("POLLUX_CONFIG", CONF, 1);
	said = popen("/tmp/privileged", "r");
	if (!said || !fgets(out, 512, said))
		snprintf(out, 512, "it says nothing");
	if (said && pclose(said) != 0)
		snprintf(out, 512, "it was not given its rights");
}

static const struct planted_row environments[] = {
	{"POLLUX_CONFIG", 0, keep_privileged_copy, NULL, run_privileged,
	 "POLLUX_CONFIG is not set, and /etc/pollux/pollux.conf is not there"},
};

static void
with_more_rights_than_its_caller_it_asks_no_variable(void **state)
{
	(void)state;
	planted_play(environments, COUNT_OF(environments));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_runtime_folder_is_the_users_own),
		cmocka_unit_test(only_what_is_ours_is_swept),
		cmocka_unit_test(only_trusted_configuration_is_obeyed),
		cmocka_unit_test(with_more_rights_than_its_caller_it_asks_no_variable),
	};

	if (argc == 1 && strstr(argv[0], "/privileged"))
		return privileged();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
