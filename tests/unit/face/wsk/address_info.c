/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WskGetAddressInfo with numbers, for which no name server is asked, and with what it refuses.
 * Start with main().
 */
#include "wsk_rig.h"

static struct rig rig;

#define TEXT_OF(text) (&(UNICODE_STRING)RTL_CONSTANT_STRING(text))

static const ADDRINFOEXW stream = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};

/* The request is completed with the status. */
static NTSTATUS
ask(PUNICODE_STRING node, PUNICODE_STRING service, const ADDRINFOEXW *hints, PADDRINFOEXW *result)
{
	ADDRINFOEXW copy = hints ? *hints : stream;
	struct rig_request request;
	NTSTATUS status;

	status = rig.wsk.Dispatch->WskGetAddressInfo(rig.wsk.Client, node, service, 0, NULL,
						     hints ? &copy : NULL, result, NULL, NULL,
						     rig_request(&request));
	assert_int_equal(request.completed, 1);
	assert_int_equal(request.status, status);
	assert_int_equal((NTSTATUS)request.information, status);
	IoFreeIrp(request.irp);
	return status;
}

static void
numbers_become_addresses(void **state)
{
	PADDRINFOEXW found = NULL;
	SOCKADDR_IN four;
	SOCKADDR_IN6 six;

	(void)state;
	assert_int_equal(ask(TEXT_OF(L"10.77.0.1"), TEXT_OF(L"445"), &stream, &found),
			 STATUS_SUCCESS);
	assert_int_equal(found->ai_family, AF_INET);
	assert_int_equal(found->ai_socktype, SOCK_STREAM);
	assert_int_equal(found->ai_addrlen, sizeof(four));
	memcpy(&four, found->ai_addr, sizeof(four));
	assert_int_equal(four.sin_port, htons(445));
	assert_int_equal(four.sin_addr.s_addr, htonl(0x0a4d0001));
	assert_null(found->ai_next);
	assert_null(found->ai_canonname);
	assert_null(found->ai_provider);
	rig.wsk.Dispatch->WskFreeAddressInfo(rig.wsk.Client, found);
	found = NULL;
	assert_int_equal(ask(TEXT_OF(L"fd77::1"), NULL, &stream, &found), STATUS_SUCCESS);
	assert_int_equal(found->ai_family, AF_INET6);
	memcpy(&six, found->ai_addr, sizeof(six));
	assert_int_equal(six.sin6_addr.s6_addr[15], 1);
	rig.wsk.Dispatch->WskFreeAddressInfo(rig.wsk.Client, found);
	rig.wsk.Dispatch->WskFreeAddressInfo(rig.wsk.Client, NULL);
}

/* Without hints there is an entry for each type of socket. */
static void
entries_are_a_list_with_a_wide_name(void **state)
{
	ADDRINFOEXW hints = {.ai_flags = AI_NUMERICHOST | AI_CANONNAME};
	PADDRINFOEXW found = NULL;

	(void)state;
	assert_int_equal(ask(TEXT_OF(L"10.77.0.1"), NULL, &hints, &found), STATUS_SUCCESS);
	assert_non_null(found->ai_next);
	assert_memory_equal(found->ai_canonname, L"10.77.0.1", sizeof(L"10.77.0.1"));
	rig.wsk.Dispatch->WskFreeAddressInfo(rig.wsk.Client, found);
}

static void
what_has_no_address_does_not_match(void **state)
{
	PADDRINFOEXW found = NULL;

	(void)state;
	assert_int_equal(ask(TEXT_OF(L"not-a-number"), NULL, &stream, &found), STATUS_NO_MATCH);
	assert_null(found);
}

static void
wrong_arguments_change_nothing(void **state)
{
	ADDRINFOEXW named = {.ai_canonname = L"x"}, foreign = {.ai_family = 4711};
	UNICODE_STRING long_node = {2 * 1025, 2 * 1025, NULL};
	static WCHAR letters[1025];
	PADDRINFOEXW found = NULL;
	GUID provider = {1, 2, 3, {0}};

	(void)state;
	for (size_t i = 0; i < 1025; i++)
		letters[i] = L'x';
	long_node.Buffer = letters;
	assert_int_equal(ask(NULL, NULL, &stream, &found), STATUS_INVALID_PARAMETER);
	assert_int_equal(ask(&long_node, NULL, &stream, &found), STATUS_INVALID_PARAMETER);
	assert_int_equal(ask(TEXT_OF(L"10.77.0.1"), NULL, &named, &found),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(ask(TEXT_OF(L"10.77.0.1"), NULL, &foreign, &found),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(ask(TEXT_OF(L"10.77.0.1"), NULL, &stream, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(rig.wsk.Dispatch->WskGetAddressInfo(rig.wsk.Client, TEXT_OF(L"10.77.0.1"),
							     NULL, 0, &provider, NULL, &found, NULL,
							     NULL, NULL),
			 STATUS_NOT_SUPPORTED);
	assert_int_equal(rig.wsk.Dispatch->WskGetAddressInfo(rig.wsk.Client, TEXT_OF(L"10.77.0.1"),
							     NULL, 15, NULL, NULL, &found, NULL,
							     NULL, NULL),
			 STATUS_NOT_SUPPORTED);
	assert_int_equal(rig.wsk.Dispatch->WskGetAddressInfo(rig.wsk.Client, TEXT_OF(L"10.77.0.1"),
							     NULL, 0, NULL, NULL, &found, NULL,
							     PsGetCurrentThread(), NULL),
			 STATUS_INVALID_PARAMETER);
	assert_null(found);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_become_addresses),
		cmocka_unit_test(entries_are_a_list_with_a_wide_name),
		cmocka_unit_test(what_has_no_address_does_not_match),
		cmocka_unit_test(wrong_arguments_change_nothing),
	};
	int failures;

	rig_open(&rig);
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close(&rig);
	return failures;
}
