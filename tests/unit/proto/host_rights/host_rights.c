/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who may sit, and how much of an adapter is whose: a table of programs, each with the status and
 * the sentence that it gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_host_rights.h"

enum {
	OWN = 900,
	BOB = 1001,
	EVE = 1002,
	RDMA = 50, /* a group */
	STAFF = 51,
};

#define FILE_NAME "/etc/pollux/polluxd.conf"
#define HERE      ((struct plx_host_namespace){4, 4026531840u})
#define BLUE      ((struct plx_host_namespace){4, 4026532281u})

static const uint32_t of_rdma[] = {7, 8, RDMA};
static const uint32_t of_others[] = {7, 8, BOB, EVE};

static struct plx_host_rights
plain_rights(void)
{
	struct plx_host_rights rights;

	plx_host_rights_init(&rights, OWN, HERE, FILE_NAME);
	return rights;
}

static struct plx_host_rights
wide_rights(void)
{
	struct plx_host_rights rights = plain_rights();

	rights.user[rights.users++] = 77;
	rights.user[rights.users++] = BOB;
	rights.group[rights.groups++] = 78;
	rights.group[rights.groups++] = RDMA;
	rights.namespace[rights.namespaces++] = (struct plx_host_namespace){4, 1};
	rights.namespace[rights.namespaces++] = BLUE;
	return rights;
}

static struct plx_host_who
bob(void)
{
	return (struct plx_host_who){
		.uid = BOB, .gid = STAFF, .net = HERE, .pid = 4711, .user = "bob"};
}

struct sitting {
	const char *who;
	bool wide; /* of two sets of rights */
	struct plx_host_who facts;
	enum plx_status status;
	const char *sentence;
};

#define NO_USER(who)                                                        \
	who " may not use adapter plx0; add it to `users` of that adapter " \
	    "in " FILE_NAME ", or one of its groups to `groups`"

static const struct sitting sittings[] = {
	{"own user", false, {.uid = OWN, .net = {4, 4026531840u}}, PLX_OK, ""},
	{"own user, wide", true, {.uid = OWN, .net = {4, 4026531840u}}, PLX_OK, ""},
	{"root", false, {.uid = 0, .net = {4, 4026531840u}}, PLX_DENIED, NO_USER("user 0")},
	{"root, wide", true, {.uid = 0, .net = {4, 4026531840u}}, PLX_DENIED, NO_USER("user 0")},
	{"not listed",
	 false,
	 {.uid = BOB, .net = {4, 4026531840u}, .user = "bob"},
	 PLX_DENIED,
	 NO_USER("user 1001 (bob)")},
	{"listed", true, {.uid = BOB, .net = {4, 4026531840u}}, PLX_OK, ""},
	{"user whose number is a listed group's",
	 true,
	 {.uid = RDMA, .net = {4, 4026531840u}},
	 PLX_DENIED,
	 NO_USER("user 50")},
	{"primary group", true, {.uid = EVE, .gid = RDMA, .net = {4, 4026531840u}}, PLX_OK, ""},
	{"primary group, not listed",
	 false,
	 {.uid = EVE, .gid = RDMA, .net = {4, 4026531840u}},
	 PLX_DENIED,
	 NO_USER("user 1002")},
	{"supplementary group",
	 true,
	 {.uid = EVE, .gid = STAFF, .group = of_rdma, .groups = 3, .net = {4, 4026531840u}},
	 PLX_OK,
	 ""},
	{"group behind the last",
	 true,
	 {.uid = EVE, .gid = STAFF, .group = of_rdma, .groups = 2, .net = {4, 4026531840u}},
	 PLX_DENIED,
	 NO_USER("user 1002")},
	{"groups whose numbers are listed users'",
	 true,
	 {.uid = EVE, .gid = BOB, .group = of_others, .groups = 4, .net = {4, 4026531840u}},
	 PLX_DENIED,
	 NO_USER("user 1002")},
	{"more groups than there can be",
	 true,
	 {.uid = BOB, .groups = PLX_HOST_WHO_GROUPS_MAX + 1, .pid = 9, .net = {4, 4026531840u}},
	 PLX_INVALID,
	 "process 9 has 65537 groups; a process has at most 65536"},
	{"listed namespace", true, {.uid = BOB, .net = {4, 4026532281u}}, PLX_OK, ""},
	{"namespace not listed",
	 false,
	 {.uid = OWN, .pid = 4711, .net = {4, 4026532281u}},
	 PLX_DENIED,
	 "process 4711 of user 900 may not use adapter plx0 from network namespace 4026532281; "
	 "add that to `namespaces` of the adapter in " FILE_NAME},
	{"namespace of the same number on another device",
	 true,
	 {.uid = BOB, .pid = 4711, .net = {5, 4026532281u}, .user = "bob"},
	 PLX_DENIED,
	 "process 4711 of user 1001 (bob) may not use adapter plx0 from network namespace "
	 "4026532281; add that to `namespaces` of the adapter in " FILE_NAME},
	{"namespace that is not known",
	 true,
	 {.uid = BOB, .pid = 4711, .user = "bob"},
	 PLX_DENIED,
	 "the network namespace of process 4711 of user 1001 (bob) is not known, so it may not "
	 "use adapter plx0"},
	{"both wrong",
	 false,
	 {.uid = EVE, .net = {4, 4026532281u}},
	 PLX_DENIED,
	 NO_USER("user 1002")},
};

static void
each_program_sits_or_is_told_why_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(sittings); i++) {
		const struct sitting *one = &sittings[i];
		struct plx_host_rights rights = one->wide ? wide_rights() : plain_rights();
		struct plx_why why = {""};
		enum plx_status status = plx_host_may_sit(&rights, &one->facts, "plx0", &why);

		if (status != one->status || strcmp(why.text, one->sentence) != 0)
			fail_msg("%s: %d, \"%s\"", one->who, status, why.text);
		assert_int_equal(plx_host_may_sit(&rights, &one->facts, "plx0", NULL), status);
	}
}

/* A process that runs as root has a host whose own user is root. */
static void
root_sits_at_its_own_host(void **state)
{
	struct plx_host_who root = {.uid = 0, .net = HERE};
	struct plx_host_rights rights;
	struct plx_why why = {""};

	(void)state;
	plx_host_rights_init(&rights, 0, HERE, FILE_NAME);
	assert_int_equal(plx_host_may_sit(&rights, &root, "plx0", &why), PLX_OK);
}

/* An own namespace that the host could not find is not everybody's. */
static void
unknown_namespaces_are_not_the_same(void **state)
{
	struct plx_host_who own = {.uid = OWN};
	struct plx_host_rights rights;
	struct plx_why why = {""};

	(void)state;
	plx_host_rights_init(&rights, OWN, (struct plx_host_namespace){0, 0}, FILE_NAME);
	assert_int_equal(plx_host_may_sit(&rights, &own, "plx0", &why), PLX_DENIED);
}

struct asking {
	enum plx_host_kind kind;
	uint64_t used, more;
	const char *sentence; /* NULL: granted */
};

#define RAISE(setting) "raise `" setting "` of that adapter in " FILE_NAME
#define OF_BOB         "process 4711 of user 1001 (bob) has "

static const struct asking askings[] = {
	{PLX_HOST_SEATS, 255, 1, NULL},
	{PLX_HOST_SEATS, 256, 1,
	 "the programs of all users have 256 seats at adapter plx0, and 1 more would exceed 256, "
	 "the limit; " RAISE("seats")},
	{PLX_HOST_USER_SEATS, 63, 1, NULL},
	{PLX_HOST_USER_SEATS, 64, 1,
	 "user 1001 (bob) has 64 seats at adapter plx0, and 1 more would exceed 64, the "
	 "limit; " RAISE("seats_per_user")},
	{PLX_HOST_QUEUE_PAIRS, 255, 1, NULL},
	{PLX_HOST_QUEUE_PAIRS, 256, 1,
	 OF_BOB "256 queue pairs at adapter plx0, and 1 more would exceed 256, the limit; " RAISE(
		 "seat_queue_pairs")},
	{PLX_HOST_CONNECTIONS, 0, 256, NULL},
	{PLX_HOST_CONNECTIONS, 256, 1,
	 OF_BOB "256 connections and listeners at adapter plx0, and 1 more would exceed 256, the "
		"limit; " RAISE("seat_connections")},
	{PLX_HOST_KEYS, 16383, 1, NULL},
	{PLX_HOST_KEYS, 16380, 5,
	 OF_BOB "16380 regions, windows, domains and address handles at adapter plx0, and 5 more "
		"would exceed 16384, the limit; " RAISE("seat_keys")},
	{PLX_HOST_MEMORY, 4294967295, 1, NULL},
	{PLX_HOST_MEMORY, 4294967295, 2,
	 OF_BOB "4294967295 bytes of memory at adapter plx0, and 2 more would exceed 4294967296, "
		"the limit; " RAISE("seat_memory_mib")},
	/* sums that would wrap */
	{PLX_HOST_MEMORY, 4096, UINT64_MAX,
	 OF_BOB "4096 bytes of memory at adapter plx0, and 18446744073709551615 more would exceed "
		"4294967296, the limit; " RAISE("seat_memory_mib")},
	{PLX_HOST_MEMORY, UINT64_MAX, 1,
	 OF_BOB "18446744073709551615 bytes of memory at adapter plx0, and 1 more would exceed "
		"4294967296, the limit; " RAISE("seat_memory_mib")},
	/* a quota that has become smaller than what there is */
	{PLX_HOST_QUEUE_PAIRS, 300, 0,
	 OF_BOB "300 queue pairs at adapter plx0, and 0 more would exceed 256, the limit; " RAISE(
		 "seat_queue_pairs")},
};

static void
each_quota_grants_its_limit_and_no_more(void **state)
{
	struct plx_host_rights rights = plain_rights();
	struct plx_host_who who = bob();

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(askings); i++) {
		const struct asking *one = &askings[i];
		struct plx_why why = {""};
		enum plx_status status = plx_host_quota(&rights, &who, "plx0", one->kind, one->used,
							one->more, &why);

		if (status != (one->sentence ? PLX_FULL : PLX_OK) ||
		    strcmp(why.text, one->sentence ? one->sentence : "") != 0)
			fail_msg("asking %zu: %d, \"%s\"", i, status, why.text);
	}
}

static void
a_quota_of_no_kind_is_refused(void **state)
{
	struct plx_host_rights rights = plain_rights();
	struct plx_host_who who = bob();
	struct plx_why why = {""};

	(void)state;
	assert_int_equal(plx_host_quota(&rights, &who, "plx0", PLX_HOST_KINDS, 0, 1, &why),
			 PLX_INVALID);
	assert_string_equal(why.text, "there is no quota number 6");
}

static void
every_quota_has_a_default_that_its_setting_allows(void **state)
{
	struct plx_host_rights rights = plain_rights();

	(void)state;
	for (int kind = 0; kind < PLX_HOST_KINDS; kind++) {
		const struct plx_host_quota_row *row = &plx_host_quota_rows[kind];

		assert_non_null(row->setting);
		assert_true(row->least >= 1 && row->least <= row->by_default);
		assert_true(row->by_default <= row->most);
		assert_true(row->most <= UINT64_MAX / row->unit);
		assert_int_equal(rights.quota[kind], row->by_default * row->unit);
	}
}

static void
ports_are_those_of_the_range(void **state)
{
	static const struct {
		uint16_t port;
		enum plx_status status;
		const char *sentence;
	} cases[] = {
		{1024, PLX_OK, ""},
		{65535, PLX_OK, ""},
		{1023, PLX_DENIED,
		 "user 1001 (bob) may not listen on port 1023 of adapter plx0, but on 1024 to "
		 "65535; widen `listen_ports` of that adapter in " FILE_NAME},
		{0, PLX_INVALID, "nobody listens on port 0 of adapter plx0; give 1 to 65535"},
	};
	struct plx_host_rights rights = plain_rights();
	struct plx_host_who who = bob();
	struct plx_why why;

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		why.text[0] = '\0';
		assert_int_equal(plx_host_may_listen(&rights, &who, "plx0", cases[i].port, &why),
				 cases[i].status);
		assert_string_equal(why.text, cases[i].sentence);
	}
	rights.port_first = rights.port_last = 7471;
	assert_int_equal(plx_host_may_listen(&rights, &who, "plx0", 7471, &why), PLX_OK);
	assert_int_equal(plx_host_may_listen(&rights, &who, "plx0", 7470, &why), PLX_DENIED);
	assert_int_equal(plx_host_may_listen(&rights, &who, "plx0", 7472, &why), PLX_DENIED);
}

/* Names come from outside; the longest ones leave room for what matters. */
static void
long_names_are_cut(void **state)
{
	struct plx_host_rights rights;
	struct plx_host_who who = bob();
	struct plx_why why = {""};
	char path[2 * PLX_HOST_FILE_MAX];

	(void)state;
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	memset(who.user, 'u', sizeof(who.user)); /* without an end */
	plx_host_rights_init(&rights, OWN, HERE, path);
	assert_int_equal(strlen(rights.file), PLX_HOST_FILE_MAX - 1);
	assert_int_equal(plx_host_may_sit(&rights, &who, "plx0", &why), PLX_DENIED);
	assert_non_null(strstr(why.text, "user 1001 (uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu) may not"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_program_sits_or_is_told_why_not),
		cmocka_unit_test(root_sits_at_its_own_host),
		cmocka_unit_test(unknown_namespaces_are_not_the_same),
		cmocka_unit_test(each_quota_grants_its_limit_and_no_more),
		cmocka_unit_test(a_quota_of_no_kind_is_refused),
		cmocka_unit_test(every_quota_has_a_default_that_its_setting_allows),
		cmocka_unit_test(ports_are_those_of_the_range),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
