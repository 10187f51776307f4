/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration file: the shipped one matches its comments, and each mistake is refused with a
 * message that has file, line, setting, value and range. No EAL is started.
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

#include "plx_settings.h"
#include "text.h"

static char folder[64];
static const char *shipped;

#define HEAD "adapters = ( {\n name = \"a\";\n device = \"net_wire0,end=0\";\n"
#define TAIL " address = [ \"10.0.0.1/24\" ];\n} );\n"

static void
expect_mistake(const char *text, const char *sentence)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	write_file("wrong.conf", text);
	setenv("POLLUX_CONFIG", "wrong.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	if (strcmp(why.text, sentence) != 0)
		fail_msg("\"%s\" and not \"%s\"", why.text, sentence);
	/* a call that only lists the names gets the same message */
	assert_int_equal(plx_adapter_list(NULL, 0, &why), -1);
	assert_string_equal(why.text, sentence);
}

/* One setting in line 4 of an adapter that is right otherwise. */
static void
expect_setting(const char *setting, const char *sentence)
{
	char text[1024], expected[512];

	snprintf(text, sizeof(text), HEAD "%s\n" TAIL, setting);
	snprintf(expected, sizeof(expected), "wrong.conf:4: %s", sentence);
	expect_mistake(text, expected);
}

/* ---- valid files ---- */

/* As a private file: that of a clone may have any owner, and is then refused. */
static void
copy_shipped(void)
{
	write_file("shipped.conf", read_file(shipped));
}

static void
the_shipped_file_is_right(void **state)
{
	char names[4][PLX_ADAPTER_NAME_MAX + 1];
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	copy_shipped();
	setenv("POLLUX_CONFIG", "shipped.conf", 1);
	assert_int_equal(plx_adapter_list(names, 4, &why), 3);
	assert_string_equal(names[0], "plx0");
	assert_string_equal(names[1], "plx1");
	assert_string_equal(names[2], "plx2");
	assert_int_equal(plx_adapter_options_load("plx0", &options, &why), PLX_OK);
	assert_string_equal(options.device, "net_wire0,end=0");
	assert_int_equal(options.addresses, 2);
	assert_int_equal(options.address[0].ip.version, 4);
	assert_memory_equal(options.address[0].ip.v, "\x0a\x4d\x00\x01", 4);
	assert_int_equal(options.address[0].prefix_bits, 24);
	assert_int_equal(options.address[1].ip.version, 6);
	assert_memory_equal(options.address[1].ip.v, "\xfd\x77\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	assert_int_equal(options.address[1].prefix_bits, 64);
	assert_int_equal(options.routes, 4);
	assert_memory_equal(options.route[0].net.v, "\x0a\x58\0\0", 4);
	assert_int_equal(options.route[0].prefix_bits, 16);
	assert_memory_equal(options.route[0].via.v, "\x0a\x4d\0\xfe", 4);
	assert_int_equal(options.route[1].net.version, 6);
	assert_int_equal(options.route[1].prefix_bits, 32);
	assert_int_equal(options.route[2].net.version, 4);
	assert_int_equal(options.route[2].prefix_bits, 0);
	assert_memory_equal(options.route[2].via.v, "\x0a\x4d\0\xfd", 4);
	assert_int_equal(options.route[3].net.version, 6);
	assert_memory_equal(options.route[3].via.v, "\xfd\x77\0\0\0\0\0\0\0\0\0\0\0\0\0\xfd", 16);
	assert_int_equal(options.connections, 1024);
	assert_int_equal(options.connections_per_peer, 1008);
	assert_int_equal(options.mode, PLX_MODE_WORKER);
	assert_string_equal(options.worker, "pollux");
	assert_int_equal(options.core, -1);
	assert_int_equal(options.idle, PLX_IDLE_YIELD);
	assert_int_equal(options.path_mtu, 4096);
	assert_int_equal(options.qps, 1024);
	assert_int_equal(options.queue_depth, 32768);
	assert_int_equal(options.keys, 65536);
	assert_int_equal(options.packets, 16384);
	assert_int_equal(options.vlan, 0);
	assert_int_equal(options.dscp, 0);
	assert_false(options.ecn);
	assert_int_equal(options.start_timeout_ms, 10000);
	assert_int_equal(options.disconnect_grace_ms, 10);
	assert_int_equal(options.interface_index, PLX_INTERFACE_FIRST);
}

/* The file documents every setting: each is there, below a comment of its own. */
static void
the_shipped_file_explains_every_setting(void **state)
{
	static const char *const settings[] = {"eal",
					       "name",
					       "host",
					       "device",
					       "address",
					       "routes",
					       "gateway",
					       "mode",
					       "worker",
					       "core",
					       "engines",
					       "idle",
					       "path_mtu",
					       "queue_pairs",
					       "connections",
					       "connections_per_peer",
					       "queue_depth",
					       "keys",
					       "packets",
					       "vlan",
					       "dscp",
					       "ecn",
					       "start_timeout_ms",
					       "disconnect_grace_ms",
					       "interface_index",
					       "dispatcher_core"};
	char line[256], before[256] = "";
	bool explained[sizeof(settings) / sizeof(settings[0])] = {false};
	FILE *file = fopen(shipped, "r");

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		const char *word = line + strspn(line, " ");

		for (size_t i = 0; i < sizeof(explained); i++) {
			size_t length = strlen(settings[i]);

			if (strncmp(word, settings[i], length) == 0 && word[length] == ' ')
				explained[i] |= before[strspn(before, " ")] == '#';
		}
		strcpy(before, line);
	}
	fclose(file);
	for (size_t i = 0; i < sizeof(explained); i++)
		if (!explained[i])
			fail_msg("%s has no comment", settings[i]);
}

static void
what_is_left_out_has_its_default(void **state)
{
	struct plx_adapter_options options, plain;
	struct plx_why why = {""};

	(void)state;
	write_file("few.conf", HEAD TAIL);
	setenv("POLLUX_CONFIG", "few.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	plx_adapter_options_init(&plain);
	assert_int_equal(options.mode, PLX_MODE_WORKER);
	assert_int_equal(options.core, -1);
	assert_int_equal(options.dispatcher_core, -1);
	assert_int_equal(options.idle, PLX_IDLE_SPIN);
	assert_int_equal(options.path_mtu, plain.path_mtu);
	assert_int_equal(options.qps, plain.qps);
	assert_string_equal(options.worker, "");
}

static void
every_choice_and_limit_can_be_set(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	write_file("all.conf",
		   HEAD "mode = \"inline\"; core = 1023; idle = \"pause\"; path_mtu = 256;\n"
			"queue_pairs = 16384; connections = 16384; connections_per_peer = 16384;\n"
			"queue_depth = 32768; "
			"keys = 1048575; packets = 1048576; vlan = 4094; dscp = 63; ecn = true;\n"
			"start_timeout_ms = 600000; disconnect_grace_ms = 0;\n"
			"interface_index = 16777215; dispatcher_core = 1023;\n" TAIL);
	setenv("POLLUX_CONFIG", "all.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_int_equal(options.mode, PLX_MODE_INLINE);
	assert_int_equal(options.core, 1023);
	assert_int_equal(options.idle, PLX_IDLE_PAUSE);
	assert_int_equal(options.path_mtu, 256);
	assert_int_equal(options.qps, 16384);
	assert_int_equal(options.connections, 16384);
	assert_int_equal(options.connections_per_peer, 16384);
	assert_int_equal(options.queue_depth, 32768);
	assert_int_equal(options.keys, 1048575);
	assert_int_equal(options.packets, 1048576);
	assert_int_equal(options.vlan, 4094);
	assert_int_equal(options.dscp, 63);
	assert_true(options.ecn);
	assert_int_equal(options.start_timeout_ms, 600000);
	assert_int_equal(options.disconnect_grace_ms, 0);
	assert_int_equal(options.interface_index, PLX_INTERFACE_MAX);
	assert_int_equal(options.dispatcher_core, 1023);
}

/* ---- where it is ---- */

static void
without_a_variable_it_is_the_systems(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	unsetenv("POLLUX_CONFIG");
	if (access("/etc/pollux/pollux.conf", F_OK) != 0) {
		assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
		assert_string_equal(why.text,
				    "adapter \"a\" needs a configuration file: POLLUX_CONFIG is "
				    "not set, and /etc/pollux/pollux.conf is not there");
		assert_int_equal(plx_adapter_list(NULL, 0, &why), 0);
	}
}

static void
the_current_folder_is_looked_into_on_request(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	write_file("pollux.conf", HEAD TAIL);
	unsetenv("POLLUX_CONFIG");
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	if (access("/etc/pollux/pollux.conf", F_OK) != 0)
		assert_non_null(strstr(why.text, "is not there; ./pollux.conf is read with "
						 "POLLUX_CONFIG=./pollux.conf"));
	setenv("POLLUX_CONFIG", "./pollux.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_int_equal(plx_adapter_list(NULL, 0, &why), 1);
	assert_int_equal(plx_adapter_options_load("b", &options, &why), PLX_CONFIG);
	assert_string_equal(why.text, "./pollux.conf: there is no adapter \"b\"; there are: \"a\"");
	assert_int_equal(unlink("pollux.conf"), 0);
}

static void
a_file_that_cannot_be_read_is_named(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	setenv("POLLUX_CONFIG", "gone.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	assert_string_equal(why.text, "gone.conf cannot be read: No such file or directory");
	setenv("POLLUX_CONFIG", ".", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_CONFIG);
	assert_string_equal(why.text, ". cannot be read: it is not a file");
}

/* ---- invalid files ---- */

static void
a_number_out_of_range_is_refused(void **state)
{
	static const struct {
		const char *name;
		long long below, above, min, max;
	} numbers[] = {
		{"core", -2, 1024, -1, 1023},
		{"engines", 0, 17, 1, 16},
		{"path_mtu", 255, 4097, 256, 4096},
		{"queue_pairs", 0, 16385, 1, 16384},
		{"connections", 0, 16385, 1, 16384},
		{"connections_per_peer", 0, 16385, 1, 16384},
		{"queue_depth", 0, 32769, 1, 32768},
		{"keys", 1, 1048576, 2, 1048575},
		{"packets", 2047, 1048577, 2048, 1048576},
		{"vlan", -1, 4095, 0, 4094},
		{"dscp", -1, 64, 0, 63},
		{"start_timeout_ms", 0, 600001, 1, 600000},
		{"disconnect_grace_ms", -1, 60001, 0, 60000},
		{"interface_index", 0, 16777216, 1, 16777215},
		{"dispatcher_core", -2, 1024, -1, 1023},
	};
	char setting[96], sentence[192];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (int above = 0; above < 2; above++) {
			long long value = above ? numbers[i].above : numbers[i].below;

			snprintf(setting, sizeof(setting), "%s = %lld;", numbers[i].name, value);
			snprintf(sentence, sizeof(sentence),
				 "%s = %lld is outside its range of %lld to %lld", numbers[i].name,
				 value, numbers[i].min, numbers[i].max);
			expect_setting(setting, sentence);
		}
	}
	expect_setting("keys = 99999999999L;",
		       "keys = 99999999999 is outside its range of 2 to 1048575");
	expect_setting("path_mtu = 1500;",
		       "path_mtu = 1500 is not one of 256, 512, 1024, 2048, 4096");
}

static void
a_value_of_the_wrong_kind_is_refused(void **state)
{
	(void)state;
	expect_setting("dscp = \"4\";", "dscp is not a whole number; it needs 0 to 63");
	expect_setting("dscp = 4.5;", "dscp is not a whole number; it needs 0 to 63");
	expect_setting("ecn = 1;", "ecn is neither true nor false");
	expect_setting("ecn = \"true\";", "ecn is neither true nor false");
	expect_setting("worker = 4;", "worker is not a string in quotes");
	expect_setting("worker = \"sixteen_letters_\";",
		       "worker = \"sixteen_letters_\" has 16 characters; it needs 1 to 15");
	expect_setting("mode = \"fast\";", "mode = \"fast\" is not one of \"worker\", \"inline\"");
	expect_setting("idle = 3;",
		       "idle = \"?\" is not one of \"spin\", \"pause\", \"yield\", \"adaptive\"");
}

static void
an_unknown_setting_is_refused_with_the_nearest_name(void **state)
{
	(void)state;
	expect_setting("queue_pair = 4;",
		       "there is no setting queue_pair; did you mean queue_pairs?");
	expect_setting("path_mut = 4096;", "there is no setting path_mut; did you mean path_mtu?");
	expect_setting("colour = \"blue\";", "there is no setting colour");
	expect_mistake("adaptors = ();\n",
		       "wrong.conf:1: there is no setting adaptors; did you mean adapters?");
}

static void
a_wrong_address_is_refused(void **state)
{
	static const char *const wrong[] = {
		"10.0.0.1",     "10.0.0.1/",    "10.0.0.1/0",  "10.0.0.1/33",
		"10.0.0.256/8", "fd77::1/129",  "fd77::g/64",  "/24",
		"host/24",      "10.0.0.1/24x", "10.0.0.1/-8",
	};
	char text[512], sentence[512];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), HEAD "address = [ \"%s\" ];\n} );\n", wrong[i]);
		snprintf(sentence, sizeof(sentence),
			 "wrong.conf:4: address \"%s\" is not an IP address with the length of its "
			 "prefix (1 to 32, for IPv6 1 to 128), such as \"10.77.0.1/24\" or "
			 "\"fd77::1/64\"",
			 wrong[i]);
		expect_mistake(text, sentence);
	}
	expect_mistake(HEAD "address = \"10.0.0.1/24\";\n} );\n",
		       "wrong.conf:4: address is not a list of 1 to 8 addresses, such as [ "
		       "\"10.77.0.1/24\", \"fd77::1/64\" ]");
	expect_mistake(HEAD "address = [ \"224.0.0.1/24\" ];\n} );\n",
		       "wrong.conf:1: adapter \"a\": address number 1 is not a unicast IP address "
		       "with a prefix of 1 to 32 bits (IPv6: 1 to 128)");
	expect_mistake(HEAD "address = [ \"10.0.0.1/24\", \"10.0.0.1/16\" ];\n} );\n",
		       "wrong.conf:1: adapter \"a\": address number 2 is the same as number 1");
	expect_mistake(HEAD "} );\n",
		       "wrong.conf:1: adapter \"a\": address: there are 0; an adapter needs 1 to "
		       "8, such as [ \"10.77.0.1/24\" ]");
}

static void
a_wrong_route_is_refused_with_its_line(void **state)
{
	static const char *const wrong[] = {
		"10.88.0.0/16",
		"10.88.0.0/16 10.0.0.9",
		"10.88.0.0 via 10.0.0.9",
		"10.88.0.0/33 via 10.0.0.9",
		"10.88.0.0/16 via 10.0.0.256",
		"10.88.0.0/16 via ",
		"default via 10.0.0.9",
		"/16 via 10.0.0.9",
	};
	char setting[128], sentence[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(setting, sizeof(setting), "routes = [ \"%s\" ];", wrong[i]);
		snprintf(sentence, sizeof(sentence),
			 "route \"%s\" is not a network with the length of its prefix and a "
			 "gateway, such as \"10.88.0.0/16 via 10.77.0.254\"",
			 wrong[i]);
		expect_setting(setting, sentence);
	}
	expect_setting("routes = \"10.88.0.0/16 via 10.0.0.9\";",
		       "routes is not a list of 1 to 16 routes, such as [ \"10.88.0.0/16 via "
		       "10.77.0.254\" ]");
	expect_setting("gateway = 4;",
		       "gateway is not an address or a list of two, one of IPv4 and one of IPv6, "
		       "such as [ \"10.77.0.254\", \"fd77::fe\" ]");
	expect_setting("gateway = [ \"10.0.0.2\", \"fd77::2\", \"10.0.0.3\" ];",
		       "gateway is not an address or a list of two, one of IPv4 and one of IPv6, "
		       "such as [ \"10.77.0.254\", \"fd77::fe\" ]");
	expect_setting("gateway = \"10.0.0.9/24\";",
		       "gateway \"10.0.0.9/24\" is not an IP address, such as \"10.77.0.254\"");
}

/* The effect of its addresses on a route is known once all of the adapter has been read. */
static void
a_route_that_leads_nowhere_is_refused(void **state)
{
	static const struct {
		const char *setting, *sentence;
	} rows[] = {
		{"gateway = \"10.1.0.9\";", "route number 1: its gateway 10.1.0.9 is in no network "
					    "of the adapter's addresses; "
					    "give one that is reached directly"},
		{"gateway = \"fd77::9\";",
		 "route number 1: its gateway fd77::9 is in no network of the adapter's addresses; "
		 "give one that is reached directly"},
		{"gateway = \"10.0.0.1\";",
		 "route number 1: its gateway 10.0.0.1 is the adapter itself"},
		{"routes = [ \"10.88.0.1/16 via 10.0.0.9\" ];",
		 "route number 1 is not a network without bits behind its prefix and a gateway, "
		 "both "
		 "of IPv4 or both of IPv6, such as 10.88.0.0/16 via 10.77.0.254"},
		{"routes = [ \"fd88::/16 via 10.0.0.9\" ];",
		 "route number 1 is not a network without bits behind its prefix and a gateway, "
		 "both "
		 "of IPv4 or both of IPv6, such as 10.88.0.0/16 via 10.77.0.254"},
		{"routes = [ \"0.0.0.0/0 via 10.0.0.8\" ]; gateway = \"10.0.0.9\";",
		 "route number 2 leads to the same network as number 1"},
	};
	char text[512], sentence[512];

	(void)state;
	/* The line is that of the route, in a list of many lines too. */
	expect_mistake(HEAD
		       "gateway = \"10.0.0.9\";\n routes = [\n"
		       " \"10.88.0.0/16 via 10.0.0.9\",\n \"10.89.0.0/16 via 10.1.0.9\" ];\n" TAIL,
		       "wrong.conf:7: adapter \"a\": route number 3: its gateway 10.1.0.9 is in no "
		       "network of the adapter's addresses; give one that is reached directly");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), HEAD "%s\n" TAIL, rows[i].setting);
		snprintf(sentence, sizeof(sentence), "wrong.conf:4: adapter \"a\": %s",
			 rows[i].sentence);
		/* truncated, as every message about an adapter as a whole */
		sentence[strlen("wrong.conf:4: adapter \"a\": ") + 180] = '\0';
		expect_mistake(text, sentence);
	}
}

static void
there_are_so_many_routes_and_no_more(void **state)
{
	struct plx_adapter_options options;
	struct plx_why why = {""};
	char text[2048] = HEAD "routes = [ \"10.88.0.0/32 via 10.0.0.9\"";

	(void)state;
	for (int i = 1; i < PLX_ADAPTER_ROUTES_MAX; i++)
		sprintf(text + strlen(text), ", \"10.88.0.%d/32 via 10.0.0.9\"", i);
	strcat(text, " ];\n" TAIL);
	write_file("few.conf", text);
	setenv("POLLUX_CONFIG", "few.conf", 1);
	assert_int_equal(plx_adapter_options_load("a", &options, &why), PLX_OK);
	assert_int_equal(options.routes, PLX_ADAPTER_ROUTES_MAX);
	strcpy(strstr(text, " ];"), " ];\n gateway = \"10.0.0.9\";\n" TAIL);
	expect_mistake(text, "wrong.conf:5: there are more than 16 routes, gateways included");
	/* and a program gets the same message */
	options.routes++;
	assert_int_equal(adapter_options_check(&options, NULL, &why), PLX_INVALID);
	assert_string_equal(why.text, "there are 17 routes; an adapter has at most 16");
}

static void
connections_are_as_many_as_queue_pairs_or_more(void **state)
{
	struct plx_adapter_options options;

	(void)state;
	plx_adapter_options_init(&options);
	options.qps = 77;
	adapter_options_set_defaults(&options);
	assert_int_equal(options.connections, 1024);
	options.connections = 0;
	options.qps = 7777;
	adapter_options_set_defaults(&options);
	assert_int_equal(options.connections, 7777);
	options.connections = 5;
	adapter_options_set_defaults(&options);
	assert_int_equal(options.connections, 5);
}

/* By default some are left for others; a limit above the number available has no effect. */
static void
one_peer_does_not_get_all_connections(void **state)
{
	static const uint32_t rows[][3] = {{1024, 0, 1008}, {64, 0, 63}, {63, 0, 63},
					   {1, 0, 1},       {100, 7, 7}, {100, 200, 100}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plx_adapter_options options;

		plx_adapter_options_init(&options);
		options.connections = rows[i][0];
		options.connections_per_peer = rows[i][1];
		adapter_options_set_defaults(&options);
		assert_int_equal(options.connections_per_peer, rows[i][2]);
	}
}

static void
what_an_adapter_needs_is_asked_for(void **state)
{
	(void)state;
	expect_mistake("adapters = ( { name = \"a\";\n" TAIL,
		       "wrong.conf:1: adapter \"a\": device is empty; it names a port, such as "
		       "\"net_tap0,iface=plx0\" or \"0000:3b:00.0\"");
	expect_mistake("adapters = ( { device = \"net_null0\";\n" TAIL,
		       "wrong.conf:1: the adapter has no name; add name = \"plx0\";");
	expect_mistake("adapters = ( { name = \"a b\";\n} );\n",
		       "wrong.conf:1: name = \"a b\" is not 1 to 31 letters, digits, dots, dashes "
		       "and underscores");
	expect_mistake(HEAD "mode = \"inline\"; worker = \"w\";\n" TAIL,
		       "wrong.conf:1: adapter \"a\": worker = \"w\" has no meaning with mode = "
		       "\"inline\"; leave one of them out");
}

static void
two_adapters_of_one_name_are_refused(void **state)
{
	(void)state;
	expect_mistake(HEAD " address = [ \"10.0.0.1/24\" ];\n}, {\n name = \"a\";\n"
			    " device = \"net_wire0,end=1\";\n" TAIL,
		       "wrong.conf:5: name = \"a\" is that of an earlier adapter too");
}

#define INDEX_OF(name, setting)                                                             \
	"  { name = \"" name "\"; device = \"net_null0\"; address = [ \"10.0.0.1/24\" ];\n" \
	"    " setting " }"

static void
interface_indices_are_given_or_follow_the_place_in_the_file(void **state)
{
	static const char file[] = "adapters = (\n" INDEX_OF("a", "") ",\n" INDEX_OF(
		"b", "interface_index = 7;") ",\n" INDEX_OF("c", "") ");\n";
	static const struct {
		const char *name;
		uint32_t index;
	} rows[] = {{"a", PLX_INTERFACE_FIRST}, {"b", 7}, {"c", PLX_INTERFACE_FIRST + 2}};
	struct plx_adapter_options options;
	struct plx_why why = {""};

	(void)state;
	write_file("indices.conf", file);
	setenv("POLLUX_CONFIG", "indices.conf", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(plx_adapter_options_load(rows[i].name, &options, &why), PLX_OK);
		assert_int_equal(options.interface_index, rows[i].index);
	}
}

/* The line is that of the setting, or of the adapter that has none. */
static void
two_adapters_of_one_interface_index_are_refused(void **state)
{
	(void)state;
	expect_mistake("adapters = (\n" INDEX_OF("a", "interface_index = 7;") ",\n" INDEX_OF(
			       "b", "interface_index = 7;") ");\n",
		       "wrong.conf:5: interface_index = 7 is that of adapter \"a\" too");
	expect_mistake("adapters = (\n" INDEX_OF("a", "") ",\n" INDEX_OF(
			       "b", "interface_index = 5270528;") ");\n",
		       "wrong.conf:5: interface_index = 5270528 is that of adapter \"a\" too");
	expect_mistake("adapters = (\n" INDEX_OF("a", "interface_index = 5270529;") ",\n" INDEX_OF(
			       "b", "") ");\n",
		       "wrong.conf:4: interface_index = 5270529 is that of adapter \"a\" too");
}

static void
what_is_no_configuration_at_all_is_refused(void **state)
{
	char many[8192] = "adapters = (";

	(void)state;
	expect_mistake("adapters = ( {\n name = ;\n} );\n", "wrong.conf:2: syntax error");
	expect_mistake("adapters = 4;\n", "wrong.conf:1: adapters is not a list of at most 32 "
					  "groups: ( { ... }, { ... } )");
	expect_mistake("adapters = ( 4 );\n",
		       "wrong.conf:1: an adapter is not a group of settings in braces");
	expect_mistake("eal = 4;\n", "wrong.conf:1: eal is not a string in quotes");
	for (int i = 0; i < PLX_ADAPTERS_MAX + 1; i++)
		strcat(many, i ? ", {}" : "{}");
	strcat(many, ");\n");
	expect_mistake(many, "wrong.conf:1: adapters is not a list of at most 32 groups: ( { ... "
			     "}, { ... } )");
}

static void
a_pci_address_is_told_from_a_virtual_device(void **state)
{
	(void)state;
	assert_true(device_is_pci("0000:3b:00.0"));
	assert_true(device_is_pci("3b:00.1"));
	assert_true(device_is_pci("0000:3b:00.0,dv_flow_en=0"));
	assert_false(device_is_pci("net_wire0,end=0"));
	assert_false(device_is_pci("0000:3b:00"));
	assert_false(device_is_pci("0000:3b:00.0x"));
	assert_false(device_is_pci(""));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shipped_file_is_right),
		cmocka_unit_test(the_shipped_file_explains_every_setting),
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(every_choice_and_limit_can_be_set),
		cmocka_unit_test(without_a_variable_it_is_the_systems),
		cmocka_unit_test(the_current_folder_is_looked_into_on_request),
		cmocka_unit_test(a_file_that_cannot_be_read_is_named),
		cmocka_unit_test(a_number_out_of_range_is_refused),
		cmocka_unit_test(a_value_of_the_wrong_kind_is_refused),
		cmocka_unit_test(an_unknown_setting_is_refused_with_the_nearest_name),
		cmocka_unit_test(a_wrong_address_is_refused),
		cmocka_unit_test(a_wrong_route_is_refused_with_its_line),
		cmocka_unit_test(a_route_that_leads_nowhere_is_refused),
		cmocka_unit_test(there_are_so_many_routes_and_no_more),
		cmocka_unit_test(connections_are_as_many_as_queue_pairs_or_more),
		cmocka_unit_test(one_peer_does_not_get_all_connections),
		cmocka_unit_test(what_an_adapter_needs_is_asked_for),
		cmocka_unit_test(two_adapters_of_one_name_are_refused),
		cmocka_unit_test(interface_indices_are_given_or_follow_the_place_in_the_file),
		cmocka_unit_test(two_adapters_of_one_interface_index_are_refused),
		cmocka_unit_test(what_is_no_configuration_at_all_is_refused),
		cmocka_unit_test(a_pci_address_is_told_from_a_virtual_device),
	};

	assert_int_equal(argc, 2);
	shipped = argv[1];
	umask(022);
	strcpy(folder, "/tmp/plx-config-XXXXXX");
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	unlink("wrong.conf");
	unlink("shipped.conf");
	unlink("few.conf");
	unlink("all.conf");
	rmdir(folder);
	return failed;
}
