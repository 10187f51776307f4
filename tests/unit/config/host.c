/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration of a host, and what makes an adapter an attached one. The shipped file has the
 * defaults that its comments say; each mistake is refused with file, line, value and range, and all
 * of them are told to whoever asks. No EAL is started.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plx_host_config.h"
#include "plx_settings.h"
#include "text.h"

static const char *shipped;
static struct plx_host_config config;

#define HEAD "adapters = ( {\n name = \"a\"; device = \"net_wire0,end=0\";\n"
#define TAIL " address = [ \"10.0.0.1/24\" ];\n} );\n"

static void
expect_mistake(const char *text, const char *sentence)
{
	struct plx_why why = {""};

	write_file("wrong.conf", text);
	assert_int_equal(plx_host_config_read("wrong.conf", &config, NULL, NULL, &why), PLX_CONFIG);
	if (strcmp(why.text, sentence) != 0)
		fail_msg("\"%s\" and not \"%s\"", why.text, sentence);
}

static void
expect_right(const char *text)
{
	struct plx_why why = {""};

	write_file("right.conf", text);
	if (plx_host_config_read("right.conf", &config, NULL, NULL, &why) != PLX_OK)
		fail_msg("%s", why.text);
}

/* One setting in line 3 of an adapter that is right otherwise. */
static void
expect_setting(const char *setting, const char *sentence)
{
	char text[4096], expected[512];

	snprintf(text, sizeof(text), HEAD "%s\n" TAIL, setting);
	snprintf(expected, sizeof(expected), "wrong.conf:3: %s", sentence);
	expect_mistake(text, expected);
}

/* ---- valid files ---- */

static void
the_shipped_file_has_the_defaults_that_it_says(void **state)
{
	const struct plx_host_rights *said, *left_out;

	(void)state;
	expect_right(read_file(shipped));
	assert_string_equal(config.socket.path, "/run/pollux/polluxd.sock");
	assert_int_equal(config.socket.mode, 0660);
	assert_true(config.socket.has_group);
	assert_int_equal(config.socket.group, 0);
	assert_true(config.sockets.served);
	assert_string_equal(config.sockets.socket.path, "/run/pollux/sockets.sock");
	assert_int_equal(config.sockets.socket.mode, 0660);
	assert_int_equal(config.sockets.rules, 2);
	assert_int_equal(config.adapters, 2);
	said = &config.adapter[0].rights;
	left_out = &config.adapter[1].rights;
	assert_string_equal(config.adapter[0].name, "plx0");
	assert_string_equal(config.adapter[1].options.device, "net_wire0,end=1");
	assert_int_equal(said->users, 1);
	assert_int_equal(said->user[0], 0);
	assert_int_equal(said->groups, 1);
	assert_int_equal(said->namespaces, 1);
	assert_memory_equal(&said->namespace[0], &said -> own_namespace,
			    sizeof(said->own_namespace));
	assert_memory_equal(said->quota, left_out->quota, sizeof(said->quota));
	assert_int_equal(said->port_first, left_out->port_first);
	assert_int_equal(said->port_last, left_out->port_last);
	assert_int_equal(left_out->own_user, geteuid());
	assert_int_equal(left_out->users + left_out->groups + left_out->namespaces, 0);
	assert_true(left_out->own_namespace.ino != 0);
	assert_string_equal(left_out->file, "right.conf");
}

static void
without_a_section_the_socket_is_the_default(void **state)
{
	(void)state;
	expect_right(HEAD TAIL);
	assert_string_equal(config.socket.path, "/run/pollux/polluxd.sock");
	assert_int_equal(config.socket.mode, 0666);
	assert_false(config.socket.has_group);
	assert_false(config.sockets.served);
	expect_right("sockets = {};\n" HEAD TAIL);
	assert_true(config.sockets.served);
	assert_string_equal(config.sockets.socket.path, "/run/pollux/sockets.sock");
	assert_int_equal(config.sockets.socket.mode, 0600);
	assert_int_equal(config.sockets.rules, 0);
}

static void
every_limit_can_be_set(void **state)
{
	const struct plx_host_rights *rights = &config.adapter[0].rights;

	(void)state;
	expect_right("daemon = { socket = \"/tmp/s\"; mode = \"0600\"; group = \"12\"; };\n" HEAD
		     "users = [ \"root\", \"4294967294\" ]; groups = ( \"root\", 5 );\n"
		     "seats = 1024; seats_per_user = 1; seat_queue_pairs = 16384;\n"
		     "seat_connections = 1; seat_keys = 1048575; seat_memory_mib = 16777216;\n"
		     "listen_ports = [ 1, 65535 ];\n" TAIL);
	assert_string_equal(config.socket.path, "/tmp/s");
	assert_int_equal(config.socket.mode, 0600);
	assert_int_equal(config.socket.group, 12);
	assert_int_equal(rights->users, 2);
	assert_int_equal(rights->user[0], 0);
	assert_int_equal(rights->user[1], 4294967294u);
	assert_int_equal(rights->groups, 2);
	assert_int_equal(rights->group[1], 5);
	assert_int_equal(rights->quota[PLX_HOST_SEATS], 1024);
	assert_int_equal(rights->quota[PLX_HOST_USER_SEATS], 1);
	assert_int_equal(rights->quota[PLX_HOST_QUEUE_PAIRS], 16384);
	assert_int_equal(rights->quota[PLX_HOST_CONNECTIONS], 1);
	assert_int_equal(rights->quota[PLX_HOST_KEYS], 1048575);
	assert_int_equal(rights->quota[PLX_HOST_MEMORY], 1ull << 44);
	assert_int_equal(rights->port_first, 1);
	assert_int_equal(rights->port_last, 65535);
}

static void
rules_are_read_in_their_order(void **state)
{
	const struct plx_san_rule *rule = config.sockets.rule;

	(void)state;
	expect_right("sockets = { socket = \"/tmp/s\"; mode = \"0666\"; group = 12; rules = (\n"
		     " { address = \"10.77.0.0/16\"; ports = \"80-443\"; use = \"rdma\"; },\n"
		     " { address = \"fd77::1\"; ports = \"6379\"; use = \"tcp\"; },\n"
		     " { use = \"rdma\"; } ); };\n" HEAD TAIL);
	assert_string_equal(config.sockets.socket.path, "/tmp/s");
	assert_int_equal(config.sockets.socket.mode, 0666);
	assert_int_equal(config.sockets.socket.group, 12);
	assert_int_equal(config.sockets.rules, 3);
	assert_int_equal(rule[0].ip.version, 4);
	assert_int_equal(rule[0].bits, 16);
	assert_int_equal(rule[0].first, 80);
	assert_int_equal(rule[0].last, 443);
	assert_true(rule[0].rdma);
	assert_int_equal(rule[1].ip.version, 6);
	assert_int_equal(rule[1].bits, 128);
	assert_int_equal(rule[1].last, 6379);
	assert_false(rule[1].rdma);
	assert_int_equal(rule[2].ip.version, 0);
	assert_int_equal(rule[2].first, 1);
	assert_int_equal(rule[2].last, 65535);
}

/* ---- mistakes ---- */

static void
each_wrong_right_is_refused(void **state)
{
	static const struct {
		const char *setting, *sentence;
	} cases[] = {
		{"users = [ \"no-such-user\" ];", "users: there is no user \"no-such-user\""},
		{"users = [ \"root\", \"no-such-user\" ];",
		 "users: there is no user \"no-such-user\""},
		{"users = \"root\";",
		 "users is not a list of at most 64, such as [ \"bob\", \"1002\" ]"},
		{"users = [ 4294967295L ];",
		 "users: a number of a user is 0 to 4294967294, and whole"},
		{"users = [ -1 ];", "users: a number of a user is 0 to 4294967294, and whole"},
		{"users = [ 1.5 ];", "users: a number of a user is 0 to 4294967294, and whole"},
		{"users = [ true ];", "users: a user is a name in quotes or a number"},
		{"users = [ \"4294967295\" ];", "users: there is no user \"4294967295\""},
		{"users = [ \"\" ];", "users: there is no user \"\""},
		{"groups = [ \"no-such-group\" ];", "groups: there is no group \"no-such-group\""},
		{"groups = 4;", "groups is not a list of at most 64, such as [ \"rdma\" ]"},
		{"namespaces = [ \"no-such-space\" ];",
		 "namespaces: there is no /run/netns/no-such-space: No such file or directory"},
		{"namespaces = [ \"/etc/passwd\" ];",
		 "namespaces: /etc/passwd is not a network namespace"},
		{"namespaces = [ 4 ];", "namespaces: a network namespace is a name of ip-netns or "
					"an absolute path, in quotes"},
		{"namespaces = 4;", "namespaces is not a list of at most 16, such as [ \"blue\" ]"},
		{"seats = 0;", "seats = 0 is outside its range of 1 to 1024"},
		{"seats = 1025;", "seats = 1025 is outside its range of 1 to 1024"},
		{"seats_per_user = 0;", "seats_per_user = 0 is outside its range of 1 to 1024"},
		{"seat_queue_pairs = 16385;",
		 "seat_queue_pairs = 16385 is outside its range of 1 to 16384"},
		{"seat_connections = 0;",
		 "seat_connections = 0 is outside its range of 1 to 16384"},
		{"seat_keys = 1048576;",
		 "seat_keys = 1048576 is outside its range of 1 to 1048575"},
		{"seat_memory_mib = 16777217;",
		 "seat_memory_mib = 16777217 is outside its range of 1 to 16777216"},
		{"seat_memory_mib = \"4G\";",
		 "seat_memory_mib is not a whole number; it needs 1 to 16777216"},
		{"listen_ports = [ 0, 5 ];", "listen_ports is not the first and the last of a "
					     "range within 1 to 65535, such as [ 1024, 65535 ]"},
		{"listen_ports = [ 5, 4 ];", "listen_ports is not the first and the last of a "
					     "range within 1 to 65535, such as [ 1024, 65535 ]"},
		{"listen_ports = [ 5, 65536 ];",
		 "listen_ports is not the first and the last of a range within 1 to 65535, such "
		 "as [ 1024, 65535 ]"},
		{"listen_ports = 7471;", "listen_ports is not the first and the last of a range "
					 "within 1 to 65535, such as [ 1024, 65535 ]"},
		{"user = [ \"root\" ];", "there is no setting user; did you mean users?"},
		{"seat_quue_pairs = 4;",
		 "there is no setting seat_quue_pairs; did you mean seat_queue_pairs?"},
		{"host = \"/run/x\";", "adapter \"a\": host is for programs that attach; polluxd "
				       "owns the device: leave host out, and name the device"},
		{"mode = \"inline\";", "adapter \"a\": mode = \"inline\" is for programs that poll "
				       "themselves; polluxd needs \"worker\""},
	};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++)
		expect_setting(cases[i].setting, cases[i].sentence);
}

static void
lists_have_a_limit(void **state)
{
	char many[2048] = "users = [ 0";

	(void)state;
	for (int i = 1; i < PLX_HOST_USERS_MAX; i++)
		strcat(many, ", 0");
	strcat(many, ", 0 ];");
	expect_setting(many, "users is not a list of at most 64, such as [ \"bob\", \"1002\" ]");
}

static void
a_wrong_daemon_section_is_refused(void **state)
{
	static const struct {
		const char *section, *sentence;
	} cases[] = {
		{"{ mode = \"0888\"; }", "mode = \"0888\" is not the mode of a file in octal "
					 "digits, 0600 to 0777, such as \"0660\""},
		{"{ mode = \"0577\"; }", "mode = \"0577\" is not the mode of a file in octal "
					 "digits, 0600 to 0777, such as \"0660\""},
		{"{ mode = \"1777\"; }", "mode = \"1777\" is not the mode of a file in octal "
					 "digits, 0600 to 0777, such as \"0660\""},
		{"{ mode = 660; }", "mode = \"?\" is not the mode of a file in octal digits, 0600 "
				    "to 0777, such as \"0660\""},
		{"{ socket = \"polluxd.sock\"; }",
		 "socket = \"polluxd.sock\" is not an absolute path, such as "
		 "\"/run/pollux/polluxd.sock\""},
		{"{ socket = 4; }", "socket is not a string in quotes"},
		{"{ group = \"no-such-group\"; }", "group: there is no group \"no-such-group\""},
		{"{ sockets = \"/x\"; }", "there is no setting sockets; did you mean socket?"},
		{"4", "daemon is not a group of settings in braces"},
	};
	char text[1024], expected[512];

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		snprintf(text, sizeof(text), "daemon = %s;\n" HEAD TAIL, cases[i].section);
		snprintf(expected, sizeof(expected), "wrong.conf:1: %s", cases[i].sentence);
		expect_mistake(text, expected);
	}
	snprintf(text, sizeof(text), "daemon = { socket = \"/%0108d\"; };\n" HEAD TAIL, 0);
	expect_mistake(text, "wrong.conf:1: socket = \"/000000000000000000000000000000000000000\" "
			     "has 109 characters; it needs 1 to 107");
}

#define A_RULE                                                                                  \
	"a rule is { use = \"rdma\"; } or { use = \"tcp\"; }, with address and ports if it is " \
	"not for all"
#define A_PORT "is neither a port, 1 to 65535, nor a range, such as \"8000-8999\", in quotes"
#define AN_IP \
	"is not an IP address, with or without the length of a prefix, such as \"10.77.0.0/16\""

static void
a_wrong_rule_is_refused(void **state)
{
	static const struct {
		const char *rules, *sentence;
	} cases[] = {
		{"3", "rules is not a list of at most 256 groups: ( { ... }, { ... } )"},
		{"( 7 )", A_RULE},
		{"( { address = \"10.0.0.1\"; } )", A_RULE},
		{"( { use = \"udp\"; } )", "use = \"udp\" is neither \"rdma\" nor \"tcp\""},
		{"( { use = 5; } )", "use = \"?\" is neither \"rdma\" nor \"tcp\""},
		{"( { ports = \"0\"; use = \"tcp\"; } )", "ports = \"0\" " A_PORT},
		{"( { ports = 80; use = \"tcp\"; } )", "ports = \"?\" " A_PORT},
		{"( { ports = \"9-8\"; use = \"tcp\"; } )", "ports = \"9-8\" " A_PORT},
		{"( { ports = \"70000\"; use = \"tcp\"; } )", "ports = \"70000\" " A_PORT},
		{"( { ports = \"-1\"; use = \"tcp\"; } )", "ports = \"-1\" " A_PORT},
		{"( { ports = \"1-2x\"; use = \"tcp\"; } )", "ports = \"1-2x\" " A_PORT},
		{"( { address = \"10.0.0.0/33\"; use = \"tcp\"; } )",
		 "address = \"10.0.0.0/33\" " AN_IP},
		{"( { address = \"host\"; use = \"tcp\"; } )", "address = \"host\" " AN_IP},
		{"( { port = \"1\"; use = \"tcp\"; } )",
		 "there is no setting port; did you mean ports?"},
	};
	char text[1024], expected[512];

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		snprintf(text, sizeof(text), "sockets = {\n rules = %s; };\n" HEAD TAIL,
			 cases[i].rules);
		snprintf(expected, sizeof(expected), "wrong.conf:2: %s", cases[i].sentence);
		expect_mistake(text, expected);
	}
}

static void
a_host_needs_a_file_and_an_adapter(void **state)
{
	struct plx_why why = {""};

	(void)state;
	expect_mistake("adapters = ();\n",
		       "wrong.conf: there is no adapter; a host needs one in adapters");
	expect_mistake("", "wrong.conf: there is no adapter; a host needs one in adapters");
	assert_int_equal(plx_host_config_read("none.conf", &config, NULL, NULL, &why), PLX_CONFIG);
	assert_non_null(strstr(why.text, "none.conf"));
}

static char told[4096];

static void
collect(void *context, const char *mistake)
{
	assert_ptr_equal(context, told);
	strcat(strcat(told, mistake), "\n");
}

static void
all_mistakes_are_told_in_the_order_of_the_file(void **state)
{
	struct plx_why why = {""};

	(void)state;
	write_file("wrong.conf", "eal = 4;\n"
				 "daemon = { mode = \"9\";\n socket = 4;\n colour = 1; };\n"
				 "adapters = ( { name = \"a\"; device = \"net_wire0,end=0\";\n"
				 " users = [ \"no-such-user\",\n \"root\",\n \"nor-such\" ];\n"
				 " seats = 0; },\n"
				 " { name = \"b\"; device = \"net_wire0,end=1\"; },\n"
				 " { name = \"c\"; device = \"d\"; mode = \"inline\";\n"
				 " address = [ \"10.0.0.1/24\" ]; host = \"/x\"; } );\n");
	told[0] = '\0';
	assert_int_equal(plx_host_config_read("wrong.conf", &config, collect, told, &why),
			 PLX_CONFIG);
	assert_string_equal(why.text, "wrong.conf:1: eal is not a string in quotes");
	assert_string_equal(
		told,
		"wrong.conf:1: eal is not a string in quotes\n"
		"wrong.conf:2: mode = \"9\" is not the mode of a file in octal digits, 0600 to "
		"0777, such as \"0660\"\n"
		"wrong.conf:3: socket is not a string in quotes\n"
		"wrong.conf:4: there is no setting colour\n"
		"wrong.conf:6: users: there is no user \"no-such-user\"\n"
		"wrong.conf:8: users: there is no user \"nor-such\"\n"
		"wrong.conf:9: seats = 0 is outside its range of 1 to 1024\n"
		"wrong.conf:10: adapter \"b\": address: there are 0; an adapter needs 1 to 8, such "
		"as [ \"10.77.0.1/24\" ]\n"
		"wrong.conf:11: adapter \"c\": host = \"/x\" has no meaning with mode = "
		"\"inline\", "
		"since its worker polls; leave one of them out\n");
}

/* ---- programs that attach ---- */

static void
an_attached_adapter_needs_neither_device_nor_address(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	write_file("right.conf", "adapters = ( { name = \"a\"; host = \"/run/x\"; } );\n");
	setenv("POLLUX_CONFIG", "right.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_string_equal(options.host, "/run/x");
	write_file("wrong.conf", "adapters = ( { name = \"a\"; host = \"run/x\"; } );\n");
	setenv("POLLUX_CONFIG", "wrong.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	assert_string_equal(why.text,
			    "wrong.conf:1: adapter \"a\": host = \"run/x\" is not the absolute "
			    "path of a socket, such as \"/run/pollux/polluxd.sock\"");
}

static void
the_environment_attaches_every_adapter(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};
	char text[256];

	(void)state;
	write_file("right.conf", HEAD TAIL);
	setenv("POLLUX_CONFIG", "right.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_string_equal(options.host, "");
	setenv("POLLUX_HOST", "", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_string_equal(options.host, "");
	setenv("POLLUX_HOST", "/run/y", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_string_equal(options.host, "/run/y");
	/* one that the file does not have is the host's to know */
	assert_int_equal(plx_adapter_options_load("b", &options, &why), PLX_OK);
	assert_string_equal(options.host, "/run/y");
	assert_int_equal(options.mode, PLX_MODE_WORKER);
	/* a host's own adapters are not attached to anything */
	expect_right(HEAD TAIL);
	assert_string_equal(config.adapter[0].options.host, "");
	setenv("POLLUX_HOST", "run/y", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	assert_string_equal(why.text, "POLLUX_HOST = \"run/y\" is not the absolute path of a "
				      "socket, of at most 107 characters");
	snprintf(text, sizeof(text), "/%0107d", 0);
	setenv("POLLUX_HOST", text, 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	text[107] = '\0';
	setenv("POLLUX_HOST", text, 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_string_equal(options.host, text);
	unsetenv("POLLUX_HOST");
	assert_int_equal(plx_adapter_options_load("b", &options, &why), PLX_CONFIG);
}

static void
rights_in_a_programs_file_are_checked_too(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	write_file("wrong.conf", HEAD "seats = 0;\n" TAIL);
	setenv("POLLUX_CONFIG", "wrong.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	assert_string_equal(why.text, "wrong.conf:3: seats = 0 is outside its range of 1 to 1024");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shipped_file_has_the_defaults_that_it_says),
		cmocka_unit_test(without_a_section_the_socket_is_the_default),
		cmocka_unit_test(every_limit_can_be_set),
		cmocka_unit_test(rules_are_read_in_their_order),
		cmocka_unit_test(each_wrong_right_is_refused),
		cmocka_unit_test(lists_have_a_limit),
		cmocka_unit_test(a_wrong_daemon_section_is_refused),
		cmocka_unit_test(a_wrong_rule_is_refused),
		cmocka_unit_test(a_host_needs_a_file_and_an_adapter),
		cmocka_unit_test(all_mistakes_are_told_in_the_order_of_the_file),
		cmocka_unit_test(an_attached_adapter_needs_neither_device_nor_address),
		cmocka_unit_test(the_environment_attaches_every_adapter),
		cmocka_unit_test(rights_in_a_programs_file_are_checked_too),
	};
	char folder[] = "/tmp/plx-host-config-XXXXXX";

	assert_int_equal(argc, 2);
	shipped = argv[1];
	umask(022);
	unsetenv("POLLUX_HOST");
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	unlink("wrong.conf");
	unlink("right.conf");
	rmdir(folder);
	return failed;
}
