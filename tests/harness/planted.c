/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plays a row: a child process creates the namespace, its children are the users. Start with
 * planted_play().
 */
#include "planted.h"

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	OUT_BYTES = 512,
	TREE_BYTES = 8192,
	FAILED = 9, /* exit code: the row cannot be played */
};

static void
need(int done, const char *what)
{
	if (done)
		return;
	perror(what);
	_exit(FAILED);
}

void
planted_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	need(fd >= 0, path);
	/* a hugetlbfs accepts no writes, not even empty ones */
	if (*text)
		need(write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	need(fchmod(fd, mode) == 0 && close(fd) == 0, path);
}

void
planted_folder(const char *path, mode_t mode)
{
	need(mkdir(path, 0700) == 0 && chmod(path, mode) == 0, path);
}

void
planted_link(const char *target, const char *path)
{
	need(symlink(target, path) == 0, path);
}

void
planted_fifo(const char *path)
{
	need(mkfifo(path, 0600) == 0 && chmod(path, 0666) == 0, path);
}

void
planted_socket(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	need(fd >= 0 && bind(fd, (const struct sockaddr *)&name, sizeof(name)) == 0, path);
}

/* ---- contents of the folders ---- */

static struct {
	char text[TREE_BYTES];
	size_t used;
} tree;

static int
note(const char *path, const struct stat *status, int type, struct FTW *where)
{
	size_t left = sizeof(tree.text) - tree.used;
	int n = snprintf(tree.text + tree.used, left, "%s: inode %ju, %u, mode %o, %jd bytes\n",
			 path, (uintmax_t)status->st_ino, status->st_uid, status->st_mode,
			 (intmax_t)status->st_size);

	(void)type;
	(void)where;
	need(n > 0 && (size_t)n < left, "the list of what is there");
	tree.used += (size_t)n;
	return 0;
}

/* Everything in the two folders, without following links. */
static void
list_trees(char out[TREE_BYTES])
{
	tree.used = 0;
	need(nftw(MINE, note, 8, FTW_PHYS) == 0, MINE);
	need(nftw(HERS, note, 8, FTW_PHYS) == 0, HERS);
	memcpy(out, tree.text, tree.used + 1);
}

/* ---- users ---- */

static void
become(uid_t user)
{
	need(setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
		     setresuid(user, user, user) == 0,
	     "becoming another user");
}

static int
run_as(uid_t user, void (*part)(void))
{
	int status = 0;
	pid_t child;

	if (!part)
		return 0;
	child = fork();
	if (child == 0) {
		become(user);
		part();
		_exit(0);
	}
	need(child > 0 && waitpid(child, &status, 0) == child, "a process of its own");
	return status;
}

/* Kills a program that hangs, for example at a FIFO.
 * Returns: a wait status */
static int
act_as(const struct planted_row *row, char out[OUT_BYTES])
{
	int ends[2], status = 0;
	ssize_t n;
	pid_t child;

	need(pipe(ends) == 0, "a pipe");
	child = fork();
	if (child == 0) {
		char sentence[OUT_BYTES] = "";

		become(row->actor);
		alarm(PLANTED_SECONDS);
		row->act(sentence);
		n = write(ends[1], sentence, sizeof(sentence));
		_exit(n == sizeof(sentence) ? 0 : FAILED);
	}
	close(ends[1]);
	n = child > 0 ? read(ends[0], out, OUT_BYTES) : -1;
	if (n < OUT_BYTES)
		*out = '\0';
	need(waitpid(child, &status, 0) == child, "our program");
	return status;
}

/* ---- a row ---- */

static void
make_stage(const struct planted_row *row)
{
	need(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
	     "a mount namespace");
	need(mount("none", "/tmp", "tmpfs", 0, "mode=1777") == 0 &&
		     mount("none", "/run", "tmpfs", 0, "mode=0755") == 0,
	     "a fresh /tmp and /run");
	/* the machine's own files have no influence */
	if (access("/etc/pollux", F_OK) == 0)
		need(mount("none", "/etc/pollux", "tmpfs", 0, "mode=0755") == 0, "/etc/pollux");
	umask(022);
	need(chdir("/tmp") == 0, "/tmp");
	unsetenv("POLLUX_CONFIG");
	unsetenv("RUNTIME_DIRECTORY");
	unsetenv("XDG_RUNTIME_DIR");
	planted_folder(MINE, 0700);
	planted_file(MINE "/precious", "mine", 0600);
	need(chown(MINE, row->actor, row->actor) == 0 &&
		     chown(MINE "/precious", row->actor, row->actor) == 0,
	     MINE);
	planted_folder(HERS, 0755);
	planted_file(HERS "/precious", "hers", 0600);
	need(chown(HERS, STRANGER, STRANGER) == 0 &&
		     chown(HERS "/precious", STRANGER, STRANGER) == 0,
	     HERS);
}

/* In a child. Returns: its exit code */
static int
play(const struct planted_row *row)
{
	static char before[TREE_BYTES], after[TREE_BYTES];
	char said[OUT_BYTES];
	int status;

	make_stage(row);
	if (run_as(row->actor, row->prepare) || run_as(STRANGER, row->plant))
		return FAILED;
	list_trees(before);
	status = act_as(row, said);
	list_trees(after);
	if (status != 0) {
		fprintf(stderr, "\"%s\": our program ends with status %d%s\n", row->name, status,
			WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
		return 1;
	}
	if (strcmp(before, after) != 0) {
		fprintf(stderr, "\"%s\": what was there is not what is:\n%s\n%s", row->name, before,
			after);
		return 1;
	}
	if (*row->words ? !strstr(said, row->words) : *said) {
		fprintf(stderr, "\"%s\": it says \"%s\", and not \"%s\"\n", row->name, said,
			row->words);
		return 1;
	}
	return 0;
}

void
planted_play(const struct planted_row *rows, size_t n)
{
	assert_int_equal(geteuid(), 0);
	for (size_t i = 0; i < n; i++) {
		int status = -1;
		pid_t child;

		fflush(NULL);
		child = fork();
		if (child == 0)
			_exit(play(&rows[i]));
		assert_true(child > 0 && waitpid(child, &status, 0) == child);
		if (status != 0)
			fail_msg("the row \"%s\" (status %d)", rows[i].name, status);
	}
}
