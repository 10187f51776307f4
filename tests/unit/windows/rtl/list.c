/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists, and what a corrupt one does to the process. Start with a_list_is_a_ring().
 */
#include "subprocess.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <wdm.h>

struct item {
	int value;
	LIST_ENTRY entry;
};

static void
expect_values(PLIST_ENTRY head, const char *values)
{
	PLIST_ENTRY at = head->Flink;

	for (; *values; values++, at = at->Flink) {
		assert_ptr_not_equal(at, head);
		assert_int_equal(CONTAINING_RECORD(at, struct item, entry)->value, *values);
	}
	assert_ptr_equal(at, head);
}

static void
a_list_is_a_ring(void **state)
{
	struct item a = {'a', {0}}, b = {'b', {0}}, c = {'c', {0}};
	LIST_ENTRY head;

	(void)state;
	InitializeListHead(&head);
	assert_true(IsListEmpty(&head));
	assert_ptr_equal(RemoveHeadList(&head), &head);
	InsertTailList(&head, &b.entry);
	InsertHeadList(&head, &a.entry);
	InsertTailList(&head, &c.entry);
	expect_values(&head, "abc");
	assert_false(RemoveEntryList(&b.entry));
	expect_values(&head, "ac");
	assert_ptr_equal(RemoveTailList(&head), &c.entry);
	assert_true(RemoveEntryList(&a.entry));
	assert_true(IsListEmpty(&head));
}

static void
a_chain_without_a_head_is_appended_whole(void **state)
{
	struct item a = {'a', {0}}, b = {'b', {0}}, c = {'c', {0}};
	LIST_ENTRY head;

	(void)state;
	InitializeListHead(&head);
	InsertTailList(&head, &a.entry);
	InitializeListHead(&b.entry);
	InsertTailList(&b.entry, &c.entry);
	AppendTailList(&head, &b.entry);
	expect_values(&head, "abc");
}

static void
a_single_list_is_a_stack(void **state)
{
	SINGLE_LIST_ENTRY head = {NULL}, a, b;

	(void)state;
	assert_null(PopEntryList(&head));
	PushEntryList(&head, &a);
	PushEntryList(&head, &b);
	assert_ptr_equal(PopEntryList(&head), &b);
	assert_ptr_equal(PopEntryList(&head), &a);
	assert_null(PopEntryList(&head));
}

/* Each scene corrupts one link, and does not come back from the call. */
static int
remove_corrupt(void)
{
	LIST_ENTRY head, a, b;

	InitializeListHead(&head);
	InsertTailList(&head, &a);
	InsertTailList(&head, &b);
	b.Blink = &head;
	RemoveEntryList(&a);
	return 0;
}

static int
insert_corrupt(void)
{
	LIST_ENTRY head, a, b;

	InitializeListHead(&head);
	InsertTailList(&head, &a);
	a.Flink = &b;
	InsertTailList(&head, &b);
	return 0;
}

static int
insert_at_head_corrupt(void)
{
	LIST_ENTRY head, a, b;

	InitializeListHead(&head);
	InsertTailList(&head, &a);
	a.Blink = &b;
	InsertHeadList(&head, &b);
	return 0;
}

static const struct scene scenes[] = {
	{"remove", remove_corrupt},
	{"insert", insert_corrupt},
	{"insert_at_head", insert_at_head_corrupt},
};

static void
a_corrupt_link_ends_the_process_with_a_sentence(void **state)
{
	char said[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		int status = scene_run(scenes[i].name, said, sizeof(said));

		assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		assert_non_null(strstr(said, "is corrupt"));
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_a_ring),
		cmocka_unit_test(a_chain_without_a_head_is_appended_whole),
		cmocka_unit_test(a_single_list_is_a_stack),
		cmocka_unit_test(a_corrupt_link_ends_the_process_with_a_sentence),
	};
	int played = scene_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));

	return played >= 0 ? played : cmocka_run_group_tests(tests, NULL, NULL);
}
