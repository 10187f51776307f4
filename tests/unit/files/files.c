/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is opened and what is not, each with its sentence; and that the sentence is the one a user
 * can act on.
 */
#include "planted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plx_files.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define CONF            "/tmp/x.conf"

/* ---- a file ---- */

static void
read_it(char *out)
{
	struct plx_files_why why = {""};
	char *text = plx_files_config(CONF, &why);

	snprintf(out, 512, "%s", why.text);
	if (text && strcmp(text, "good") != 0)
		snprintf(out, 512, "it reads \"%s\"", text);
	if (!text && !*why.text)
		snprintf(out, 512, "refused without a sentence");
	free(text);
}

static void
good_file(void)
{
	planted_file(CONF, "good", 0644);
}

static void
good_file_elsewhere(void)
{
	planted_file(MINE "/x.conf", "good", 0600);
}

static void
good_link(void)
{
	good_file_elsewhere();
	planted_link("mine/./../mine/x.conf", CONF);
}

static void
group_writes(void)
{
	planted_file(CONF, "good", 0664);
}

static void
all_write(void)
{
	planted_file(CONF, "good", 0646);
}

static void
includes(void)
{
	planted_file(CONF, "# one\n \t@include \"/tmp/hers/x.conf\"\n", 0600);
}

static void
is_folder(void)
{
	planted_folder(CONF, 0700);
}

static void
links_in_a_circle(void)
{
	planted_link("y.conf", CONF);
	planted_link("x.conf", "/tmp/y.conf");
}

static void
too_much(void)
{
	planted_file(CONF, "", 0600);
	if (truncate(CONF, PLX_FILES_TEXT_MAX + 1) != 0)
		_exit(1);
}

static void
plants_file(void)
{
	planted_file(CONF, "evil", 0644);
}

static void
plants_readable_by_all(void)
{
	planted_file(CONF, "evil", 0444);
}

static void
plants_link(void)
{
	planted_link(MINE "/x.conf", CONF);
}

static void
plants_fifo(void)
{
	planted_fifo(CONF);
}

static void
plants_socket(void)
{
	planted_socket(CONF);
}

static void
plants_folder(void)
{
	planted_folder(CONF, 0777);
}

static const struct planted_row files[] = {
	{"its own", USER, good_file, NULL, read_it, ""},
	{"root's own", 0, good_file, NULL, read_it, ""},
	{"by a link of its own", USER, good_link, NULL, read_it, ""},
	{"none", USER, NULL, NULL, read_it, CONF " cannot be read: No such file or directory"},
	{"the group may write", USER, group_writes, NULL, read_it, "its mode 0664 lets others"},
	{"the group may write, as root", 0, group_writes, NULL, read_it, "chmod go-w"},
	{"everybody may write", USER, all_write, NULL, read_it, "its mode 0646 lets others"},
	{"it includes another", USER, includes, NULL, read_it, CONF ":2: @include is not taken"},
	{"a folder", USER, is_folder, NULL, read_it, CONF " cannot be read: it is not a file"},
	{"links in a circle", USER, links_in_a_circle, NULL, read_it,
	 "Too many levels of symbolic"},
	{"too much", USER, too_much, NULL, read_it, "File too large"},
	{"a file, for a user", USER, NULL, plants_file, read_it,
	 CONF " is not read: it belongs to user 64102, and the program runs as user 64101"},
	{"a file, for root", 0, NULL, plants_file, read_it, "it belongs to user 64102"},
	{"a file nobody may write to", 0, NULL, plants_readable_by_all, read_it,
	 "it belongs to user 64102"},
	{"a link, for a user", USER, good_file_elsewhere, plants_link, read_it,
	 CONF " is not used: its part \"x.conf\" is a symbolic link of user 64102"},
	{"a link, for root", 0, good_file_elsewhere, plants_link, read_it,
	 "is a symbolic link of user 64102"},
	{"a FIFO, for a user", USER, NULL, plants_fifo, read_it, "it is not a file"},
	{"a FIFO, for root", 0, NULL, plants_fifo, read_it, "it is not a file"},
	{"a socket", 0, NULL, plants_socket, read_it, "it is not a file"},
	{"a folder of hers", 0, NULL, plants_folder, read_it, "it is not a file"},
};

static void
files_of_others_are_not_read(void **state)
{
	(void)state;
	planted_play(files, COUNT_OF(files));
}

/* ---- on the way ---- */

#define BEYOND "/tmp/way/x.conf"

static void
read_beyond(char *out)
{
	struct plx_files_why why = {""};

	free(plx_files_config(BEYOND, &why));
	snprintf(out, 512, "%s", why.text);
}

static void
own_way(void)
{
	good_file_elsewhere();
	planted_link(MINE, "/tmp/way");
}

static void
plants_way(void)
{
	planted_link(MINE, "/tmp/way");
}

static const struct planted_row ways[] = {
	{"a link of its own on the way", USER, own_way, NULL, read_beyond, ""},
	{"a link on the way", USER, good_file_elsewhere, plants_way, read_beyond,
	 BEYOND " is not used: its part \"way\" is a symbolic link of user 64102"},
	{"a link on root's way", 0, good_file_elsewhere, plants_way, read_beyond,
	 "is a symbolic link of user 64102"},
};

static void
links_of_others_are_not_followed(void **state)
{
	(void)state;
	planted_play(ways, COUNT_OF(ways));
}

/* ---- folders ---- */

static void
open_folder(char *out, enum plx_files_folder kind, bool create)
{
	struct plx_files_why why = {""};
	int fd = plx_files_folder("/tmp/a/b", kind, create, &why);

	snprintf(out, 512, "%s", why.text);
	if (fd >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		snprintf(out, 512, "it is inherited by other programs");
	if (fd >= 0)
		close(fd);
}

static void
make_folder(char *out)
{
	open_folder(out, PLX_FILES_PRIVATE, true);
}

static void
need_private(char *out)
{
	open_folder(out, PLX_FILES_PRIVATE, false);
}

static void
need_sticky(char *out)
{
	open_folder(out, PLX_FILES_STICKY, false);
}

static void
folders_of_mode(mode_t mode)
{
	planted_folder("/tmp/a", 0700);
	planted_folder("/tmp/a/b", mode);
}

static void
sticky_folder(void)
{
	folders_of_mode(01777);
}

static void
open_folder_of_all(void)
{
	folders_of_mode(0777);
}

static void
plants_parents(void)
{
	planted_folder("/tmp/a", 0755);
	planted_folder("/tmp/a/b", 0755);
}

static void
plants_link_to_a_folder(void)
{
	planted_link(MINE, "/tmp/a");
}

static const struct planted_row folders[] = {
	{"made", USER, NULL, NULL, make_folder, ""},
	{"not made", USER, NULL, NULL, need_private, "/tmp/a/b cannot be read: No such file"},
	{"sticky, wanted private", USER, sticky_folder, NULL, need_private, "its mode 1777 lets"},
	{"sticky", USER, sticky_folder, NULL, need_sticky, ""},
	{"open to all", USER, open_folder_of_all, NULL, need_sticky, "its mode 0777 lets others"},
	{"hers", USER, NULL, plants_parents, make_folder, "it belongs to user 64102"},
	{"hers, for root", 0, NULL, plants_parents, make_folder, "it belongs to user 64102"},
	{"made beyond a link of hers", 0, NULL, plants_link_to_a_folder, make_folder,
	 "is a symbolic link of user 64102"},
};

static void
folders_of_others_are_not_used(void **state)
{
	(void)state;
	planted_play(folders, COUNT_OF(folders));
}

/* ---- names ---- */

static void
paths_that_are_no_paths_are_refused(void **state)
{
	static char long_path[8192], long_part[400] = "/tmp/";
	struct plx_files_why why = {""};

	(void)state;
	memset(long_path, 'x', sizeof(long_path) - 1);
	memset(long_part + 5, 'x', sizeof(long_part) - 6);
	assert_int_equal(plx_files_open("", &why), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(plx_files_open(long_path, &why), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(plx_files_open(long_part, &why), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(plx_files_open("/proc/self/exe/x", &why), -1);
	assert_int_equal(plx_files_open("/nowhere/x", NULL), -1);
	assert_int_equal(errno, ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_others_are_not_read),
		cmocka_unit_test(links_of_others_are_not_followed),
		cmocka_unit_test(folders_of_others_are_not_used),
		cmocka_unit_test(paths_that_are_no_paths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
