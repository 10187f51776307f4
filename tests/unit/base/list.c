/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Intrusive lists: order, removal from anywhere, and removal while walking.
 * The links are checked in both directions after each step.
 * Start with check().
 */
#include "test.h"
#include "plx_base.h"

#define ITEMS 8

struct item {
	int number;
	struct plx_list link;
};

/* The list holds exactly these numbers, forwards and backwards. */
static void
check(struct plx_list *head, const int *numbers, int count)
{
	struct plx_list *node = head;

	for (int i = 0; i < count; i++) {
		assert_ptr_equal(node->next->prev, node);
		node = node->next;
		assert_int_equal(plx_list_entry(node, struct item, link)->number, numbers[i]);
	}
	assert_ptr_equal(node->next, head);
	assert_ptr_equal(head->prev, node);
	assert_int_equal(plx_list_empty(head), count == 0);
}

static void
fill(struct plx_list *head, struct item *items)
{
	plx_list_init(head);
	for (int i = 0; i < ITEMS; i++) {
		items[i].number = i;
		plx_list_append(head, &items[i].link);
	}
}

static void
an_empty_list_is_empty_and_has_nothing_to_walk(void **state)
{
	struct plx_list head, *node, *after;

	(void)state;
	plx_list_init(&head);
	check(&head, NULL, 0);
	plx_list_for_each (node, after, &head)
		fail();
}

static void
append_keeps_the_order(void **state)
{
	static const int all[ITEMS] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct item items[ITEMS];
	struct plx_list head;

	(void)state;
	fill(&head, items);
	check(&head, all, ITEMS);
}

static void
every_subset_can_be_removed_and_removing_twice_does_no_harm(void **state)
{
	(void)state;
	for (unsigned gone = 0; gone < 1u << ITEMS; gone++) {
		struct item items[ITEMS];
		struct plx_list head;
		int left[ITEMS], count = 0;

		fill(&head, items);
		for (int i = 0; i < ITEMS; i++) {
			if (!(gone >> i & 1)) {
				left[count++] = i;
				continue;
			}
			plx_list_remove(&items[i].link);
			plx_list_remove(&items[i].link);
			assert_true(plx_list_empty(&items[i].link));
		}
		check(&head, left, count);
	}
}

static void
every_subset_can_be_removed_while_walking(void **state)
{
	(void)state;
	for (unsigned gone = 0; gone < 1u << ITEMS; gone++) {
		struct plx_list head, *node, *after;
		struct item items[ITEMS];
		int left[ITEMS], count = 0, seen = 0;

		fill(&head, items);
		plx_list_for_each (node, after, &head) {
			struct item *item = plx_list_entry(node, struct item, link);

			assert_int_equal(item->number, seen++);
			if (gone >> item->number & 1) {
				plx_list_remove(node);
				memset(item, 0xa5, sizeof(*item));
			} else {
				left[count++] = item->number;
			}
		}
		assert_int_equal(seen, ITEMS);
		check(&head, left, count);
	}
}

static void
a_removed_node_can_be_appended_to_another_list(void **state)
{
	static const int moved[] = {3, 0};
	struct plx_list head, other;
	struct item items[ITEMS];

	(void)state;
	fill(&head, items);
	plx_list_init(&other);
	for (int i = 0; i < 2; i++) {
		plx_list_remove(&items[moved[i]].link);
		plx_list_append(&other, &items[moved[i]].link);
	}
	check(&other, moved, 2);
	check(&head, (const int[]){1, 2, 4, 5, 6, 7}, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_list_is_empty_and_has_nothing_to_walk),
		cmocka_unit_test(append_keeps_the_order),
		cmocka_unit_test(every_subset_can_be_removed_and_removing_twice_does_no_harm),
		cmocka_unit_test(every_subset_can_be_removed_while_walking),
		cmocka_unit_test(a_removed_node_can_be_appended_to_another_list),
	};

	return cmocka_run_group_tests_name("base/list", tests, NULL, NULL);
}
