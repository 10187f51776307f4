/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of pollux-broker, and a sentence for each mistake. Start with
 * mistakes_have_sentences().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "rules.h"

static struct rules rules;

static bool
read_text(const char *text, struct plx_why *why)
{
	char path[] = "/tmp/rules-XXXXXX";
	int fd = mkstemp(path);
	bool read;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	read = rules_read(path, &rules, why);
	unlink(path);
	return read;
}

static void
rules_are_read_in_their_order(void **state)
{
	struct plx_why why = {""};

	(void)state;
	assert_true(
		read_text("rules = (\n"
			  " { address = \"10.77.0.0/16\"; ports = \"80-443\"; use = \"rdma\"; },\n"
			  " { address = \"fd77::1\"; ports = \"6379\"; use = \"tcp\"; },\n"
			  " { use = \"rdma\"; } );\n",
			  &why));
	assert_int_equal(rules.n, 3);
	assert_int_equal(rules.rule[0].ip.version, 4);
	assert_int_equal(rules.rule[0].bits, 16);
	assert_int_equal(rules.rule[0].first, 80);
	assert_int_equal(rules.rule[0].last, 443);
	assert_true(rules.rule[0].rdma);
	assert_int_equal(rules.rule[1].ip.version, 6);
	assert_int_equal(rules.rule[1].bits, 128);
	assert_int_equal(rules.rule[1].last, 6379);
	assert_false(rules.rule[1].rdma);
	assert_int_equal(rules.rule[2].ip.version, 0);
	assert_int_equal(rules.rule[2].last, 65535);
	assert_true(read_text("rules = ();", &why));
	assert_int_equal(rules.n, 0);
}

static void
mistakes_have_sentences(void **state)
{
	static const struct {
		const char *text, *words;
	} mistakes[] = {
		{"", "rules = ( ... )"},
		{"rules = 3;", "rules = ( ... )"},
		{"rules = (\n 7 );", ":2: a rule is"},
		{"rules = (\n { address = \"any\"; } );", ":2: a rule is"},
		{"rules = (\n { use = \"udp\"; } );", ":2: use = \"udp\" is neither \"rdma\" nor"},
		{"rules = (\n { use = 5; } );", ":2: use = \"\" is no text"},
		{"rules = ( {\n ports = \"0\"; use = \"tcp\"; } );",
		 ":2: ports = \"0\" is neither"},
		{"rules = ( { ports = \"9-8\"; use = \"tcp\"; } );", "\"9-8\" is neither a port"},
		{"rules = ( { ports = \"70000\"; use = \"tcp\"; } );", "\"70000\" is neither"},
		{"rules = ( { ports = \"1-2x\"; use = \"tcp\"; } );", "\"1-2x\" is neither"},
		{"rules = ( { address = \"10.0.0.0/33\"; use = \"tcp\"; } );", "/33\" is neither"},
		{"rules = ( { address = \"host\"; use = \"tcp\"; } );", "\"host\" is neither ADDR"},
		{"rules = ( { port = \"1\"; use = \"tcp\"; } );", "no setting port; a rule has"},
		{"rules = ( {", "syntax error"},
	};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(mistakes); i++) {
		struct plx_why why = {""};

		assert_false(read_text(mistakes[i].text, &why));
		if (strstr(why.text, mistakes[i].words) == NULL)
			fail_msg("\"%s\" lacks \"%s\"", why.text, mistakes[i].words);
	}
}

static void
a_file_that_is_not_there_is_named(void **state)
{
	struct plx_why why = {""};

	(void)state;
	assert_false(rules_read("/nonexistent/sockets.conf", &rules, &why));
	assert_non_null(strstr(why.text, "/nonexistent/sockets.conf cannot be read: No such"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read_in_their_order),
		cmocka_unit_test(mistakes_have_sentences),
		cmocka_unit_test(a_file_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
