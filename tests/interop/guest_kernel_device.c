/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A consumer of verbs in the guest's kernel: rxe registers memory by work requests only for such
 * ones. It answers the commands of README.md, one line written to /dev/guest_kernel and one read,
 * over one connection of the kernel's communication manager. Area 0 is contiguous, area 1 has pages
 * anywhere and is what is registered fast. It judges nothing. This file has its device. Start with
 * run().
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "guest_kernel.h"

struct guest guest;

static char said[LINE_BYTES];
static DEFINE_MUTEX(lock);

const char *
guest_text_of(const struct line *line, const char *name)
{
	size_t length = strlen(name);

	for (int i = 1; i < line->words; i++)
		if (strncmp(line->word[i], name, length) == 0 && line->word[i][length] == '=')
			return line->word[i] + length + 1;
	return NULL;
}

u64
guest_number_of(const struct line *line, const char *name, u64 otherwise)
{
	const char *text = guest_text_of(line, name);
	u64 value;

	return text && kstrtou64(text, 0, &value) == 0 ? value : otherwise;
}

void __printf(1, 2) guest_answer(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(said, sizeof(said) - 1, format, list);
	va_end(list);
	strcat(said, "\n");
}

void
guest_answer_error(const char *what, long error)
{
	if (error)
		guest_answer("error %s: %ld", what, error);
	else
		guest_answer("ok");
}

static const struct {
	const char *verb;
	void (*run)(const struct line *line);
	bool is_of_a_connection;
} commands[] = {
	{"fill", guest_run_fill, false},     {"check", guest_run_check, false},
	{"dial", guest_run_dial, false},     {"listen", guest_run_listen, false},
	{"accept", guest_run_accept, false}, {"established", guest_run_established, true},
	{"hangup", guest_run_hangup, true},  {"hungup", guest_run_hungup, true},
	{"drop", guest_run_drop, false},     {"unlisten", guest_run_unlisten, false},
	{"state", guest_run_state, true},    {"reg", guest_run_reg, true},
	{"recv", guest_run_recv, true},      {"send", guest_run_send, true},
	{"reap", guest_run_reap, true},
};

static void
run(char *text)
{
	struct line line = {0};
	char *word;

	while ((word = strsep(&text, " \n")) && line.words < LINE_WORDS)
		if (*word)
			line.word[line.words++] = word;
	for (int i = 0; line.words && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(line.word[0], commands[i].verb) != 0)
			continue;
		if (commands[i].is_of_a_connection && (!guest.id || !guest.id->qp))
			guest_answer("error there is no connection");
		else
			commands[i].run(&line);
		return;
	}
	guest_answer("error no such command");
}

static ssize_t
device_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	char *text = bytes < LINE_BYTES ? memdup_user_nul(from, bytes) : ERR_PTR(-EINVAL);

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&lock);
	run(text);
	mutex_unlock(&lock);
	kfree(text);
	return bytes;
}

static ssize_t
device_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	size_t length = min(bytes, strlen(said));

	return copy_to_user(to, said, length) ? -EFAULT : length;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.write = device_write,
	.read = device_read,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "guest_kernel",
	.fops = &operations,
};

static int __init
begin(void)
{
	int error = guest_make_memory();

	init_waitqueue_head(&guest.wait);
	if (error)
		return error;
	error = misc_register(&device);
	if (error)
		guest_free_memory();
	return error;
}

static void __exit
end(void)
{
	misc_deregister(&device);
	if (guest.listener)
		rdma_destroy_id(guest.listener);
	guest_drop();
	guest_free_memory();
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A consumer of verbs for tests of interoperability");
MODULE_LICENSE("Dual BSD/GPL");
