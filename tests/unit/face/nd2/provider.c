/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entry points: the two functions that the library exports, the class factory, and
 * IND2Provider.
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

static const IID nobody = {0x12345678, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

/* ---- the library ---- */

static void
class_object_gives_the_provider_without_a_factory(void **state)
{
	IND2Provider *provider = nd_provider();

	(void)state;
	assert_hr(nd_can_unload(), S_FALSE);
	nd_release(provider, 0);
	assert_hr(nd_can_unload(), S_OK);
}

static void
class_object_refuses_what_it_is_not(void **state)
{
	void *out = &out;

	(void)state;
	assert_hr(nd_class_object(&IID_IND2Provider, NULL), E_POINTER);
	assert_hr(nd_class_object(&nobody, &out), E_NOINTERFACE);
	assert_null(out);
	out = &out;
	assert_hr(nd_class_object(NULL, &out), E_NOINTERFACE);
	assert_null(out);
	assert_hr(nd_can_unload(), S_OK);
}

static void
factory_makes_providers(void **state)
{
	IClassFactory *factory;
	IUnknown *outer;
	void *made = NULL, *provider = &made;

	(void)state;
	assert_hr(nd_class_object(&IID_IClassFactory, &made), S_OK);
	factory = made;
	outer = made;
	assert_hr(IClassFactory_CreateInstance(factory, NULL, &IID_IND2Provider, NULL), E_POINTER);
	assert_hr(IClassFactory_CreateInstance(factory, NULL, &IID_IND2Adapter, &provider),
		  E_NOINTERFACE);
	assert_null(provider);
	assert_hr(IClassFactory_CreateInstance(factory, outer, &IID_IUnknown, &provider),
		  CLASS_E_NOAGGREGATION);
	assert_null(provider);
	assert_hr(IClassFactory_CreateInstance(factory, NULL, &IID_IND2Provider, &provider), S_OK);
	nd_release(factory, 0);
	assert_hr(nd_can_unload(), S_FALSE);
	nd_release((IND2Provider *)provider, 0);
	assert_hr(nd_can_unload(), S_OK);
}

static void
lock_server_keeps_the_library(void **state)
{
	void *made = NULL;
	IClassFactory *factory;

	(void)state;
	assert_hr(nd_class_object(&IID_IClassFactory, &made), S_OK);
	factory = made;
	assert_hr(IClassFactory_LockServer(factory, TRUE), S_OK);
	nd_release(factory, 0);
	assert_hr(nd_can_unload(), S_FALSE);
	assert_hr(nd_class_object(&IID_IClassFactory, &made), S_OK);
	factory = made;
	assert_hr(IClassFactory_LockServer(factory, FALSE), S_OK);
	assert_hr(IClassFactory_LockServer(factory, FALSE), E_FAIL);
	nd_release(factory, 0);
	assert_hr(nd_can_unload(), S_OK);
}

/* ---- QueryAddressList ---- */

typedef HRESULT query_fn(void *object, SOCKET_ADDRESS_LIST *list, ULONG *length);

static HRESULT
of_provider(void *object, SOCKET_ADDRESS_LIST *list, ULONG *length)
{
	return IND2Provider_QueryAddressList(object, list, length);
}

static HRESULT
of_adapter(void *object, SOCKET_ADDRESS_LIST *list, ULONG *length)
{
	return IND2Adapter_QueryAddressList(object, list, length);
}

/* The two calls of a client, and every size that is too small. Returns: the list, to be freed */
static SOCKET_ADDRESS_LIST *
query(query_fn *call, void *object)
{
	ULONG needed = 0, length;
	uint8_t *buffer;

	assert_hr(call(object, NULL, NULL), ND_INVALID_PARAMETER);
	assert_hr(call(object, NULL, &needed), ND_BUFFER_OVERFLOW);
	assert_true(needed >= sizeof(SOCKET_ADDRESS_LIST));
	length = needed;
	assert_hr(call(object, NULL, &length), ND_BUFFER_OVERFLOW);
	assert_int_equal(length, needed);
	buffer = malloc(needed + 8);
	for (ULONG n = 0; n < needed; n++) {
		memset(buffer, 0xee, needed);
		length = n;
		assert_hr(call(object, (SOCKET_ADDRESS_LIST *)(void *)buffer, &length),
			  ND_BUFFER_OVERFLOW);
		assert_int_equal(length, needed);
		for (ULONG i = 0; i < needed; i++)
			assert_int_equal(buffer[i], 0xee);
	}
	memset(buffer, 0xee, needed + 8);
	length = needed + 8;
	assert_hr(call(object, (SOCKET_ADDRESS_LIST *)(void *)buffer, &length), ND_SUCCESS);
	assert_int_equal(length, needed);
	for (ULONG i = needed; i < needed + 8; i++)
		assert_int_equal(buffer[i], 0xee);
	length = needed;
	assert_hr(call(object, (SOCKET_ADDRESS_LIST *)(void *)buffer, &length), ND_SUCCESS);
	return (SOCKET_ADDRESS_LIST *)(void *)buffer;
}

static bool
lists(const SOCKET_ADDRESS_LIST *list, const struct nd_address *address)
{
	for (INT i = 0; i < list->iAddressCount; i++) {
		const SOCKET_ADDRESS *is = &list->Address[i];

		if (is->lpSockaddr->sa_family != address->any.sa_family)
			continue;
		assert_int_equal(is->iSockaddrLength, address->length);
		if (memcmp(is->lpSockaddr, &address->any, address->length) == 0)
			return true;
	}
	return false;
}

static void
query_address_list_of_the_provider(void **state)
{
	IND2Provider *provider = nd_provider();
	SOCKET_ADDRESS_LIST *list = query(of_provider, provider);

	(void)state;
	/* four adapters, an address of each family each */
	assert_int_equal(list->iAddressCount, 8);
	for (unsigned end = 0; end < 2; end++) {
		struct nd_address v4 = nd_address(end, AF_INET, 0);
		struct nd_address v6 = nd_address(end, AF_INET6, 0);

		assert_true(lists(list, &v4));
		assert_true(lists(list, &v6));
	}
	free(list);
	nd_release(provider, 0);
}

static void
query_address_list_of_an_adapter_has_its_own_only(void **state)
{
	(void)state;
	for (unsigned end = 0; end < 2; end++) {
		IND2Adapter *adapter = nd_adapter(end);
		SOCKET_ADDRESS_LIST *list = query(of_adapter, adapter);
		struct nd_address v4 = nd_address(end, AF_INET, 0);
		struct nd_address v6 = nd_address(end, AF_INET6, 0);

		assert_int_equal(list->iAddressCount, 2);
		assert_true(lists(list, &v4));
		assert_true(lists(list, &v6));
		free(list);
		nd_release(adapter, 0);
	}
}

/* Another configuration file for a while. @param text NULL: one that is not there
 * Returns: what to put back */
static char *
other_config(const char *text)
{
	char *before = strdup(getenv("POLLUX_CONFIG")), path[] = "/tmp/nd2-other-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	if (text)
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	else
		unlink(path);
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	return before;
}

static void
usual_config(char *before)
{
	unlink(getenv("POLLUX_CONFIG"));
	setenv("POLLUX_CONFIG", before, 1);
	free(before);
}

/* If a probe succeeded, its caller would read a buffer that it has not passed. */
static void
query_address_list_of_nobody(void **state)
{
	char *before = other_config("adapters = ();\n");
	IND2Provider *provider = nd_provider();
	SOCKET_ADDRESS_LIST list;
	ULONG length = 0;

	(void)state;
	assert_hr(IND2Provider_QueryAddressList(provider, NULL, &length), ND_BUFFER_OVERFLOW);
	assert_int_equal(length, sizeof(list));
	list.iAddressCount = 77;
	assert_hr(IND2Provider_QueryAddressList(provider, &list, &length), ND_SUCCESS);
	assert_int_equal(length, sizeof(list));
	assert_int_equal(list.iAddressCount, 0);
	usual_config(before);
	nd_release(provider, 0);
}

/* Errors are logged where POLLUX_ND2_LOG says; the caller gets a status. */
static void
configuration_that_is_wrong(void **state)
{
	const char *wrong[] = {NULL, "adapters = ( {", "adapters = ( { name = \"x\"; } );\n"};
	struct nd_address v4 = nd_address(0, AF_INET, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *before = other_config(wrong[i]);
		IND2Provider *provider = nd_provider();
		void *adapter = &adapter;
		ULONG length = 77;
		UINT64 id = 77;

		assert_hr(IND2Provider_QueryAddressList(provider, NULL, &length),
			  ND_DEVICE_NOT_READY);
		assert_int_equal(length, 77);
		assert_hr(IND2Provider_ResolveAddress(provider, &v4.any, v4.length, &id),
			  ND_DEVICE_NOT_READY);
		assert_true(id == 77);
		assert_hr(IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, 1, &adapter),
			  ND_DEVICE_NOT_READY);
		assert_null(adapter);
		usual_config(before);
		nd_release(provider, 0);
	}
}

/* The device behind a name may be missing: nothing of it remains, and the next try starts
 * afresh. */
static void
adapter_whose_device_is_not_there(void **state)
{
	char *before = other_config("adapters = ( { name = \"gone\"; device = \"net_nothing7\";"
				    " address = [ \"10.78.9.1/24\" ]; } );\n");
	struct nd_address v4 = nd_address(0, AF_INET, 0);
	IND2Provider *provider = nd_provider();
	void *adapter = NULL;
	UINT64 id;

	(void)state;
	v4.in.sin_addr.s_addr = htonl(0x0a4e0901);
	assert_hr(IND2Provider_ResolveAddress(provider, &v4.any, v4.length, &id), ND_SUCCESS);
	for (int i = 0; i < 2; i++) {
		assert_hr(IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, id, &adapter),
			  ND_DEVICE_NOT_READY);
		assert_null(adapter);
	}
	usual_config(before);
	nd_release(provider, 0);
	assert_hr(nd_can_unload(), S_OK);
}

/* ---- ResolveAddress, OpenAdapter ---- */

static HRESULT
resolve(IND2Provider *provider, const struct nd_address *address, ULONG length, UINT64 *id)
{
	return IND2Provider_ResolveAddress(provider, &address->any, length, id);
}

static void
resolve_address_finds_the_adapter_by_any_of_its_addresses(void **state)
{
	IND2Provider *provider = nd_provider();
	UINT64 id[2] = {0, 0}, again;

	(void)state;
	for (unsigned end = 0; end < 2; end++) {
		/* the port does not matter to it */
		struct nd_address v4 = nd_address(end, AF_INET, 4711);
		struct nd_address v6 = nd_address(end, AF_INET6, 4711);

		assert_hr(resolve(provider, &v4, v4.length, &id[end]), ND_SUCCESS);
		assert_hr(resolve(provider, &v6, v6.length, &again), ND_SUCCESS);
		assert_true(id[end] == again);
		/* longer than the family needs, as from a union */
		assert_hr(resolve(provider, &v4, sizeof(v4.in6), &again), ND_SUCCESS);
		assert_true(id[end] == again);
	}
	assert_true(id[0] != id[1]);
	nd_release(provider, 0);
}

static void
resolve_address_refuses_what_is_not_ours(void **state)
{
	IND2Provider *provider = nd_provider();
	struct nd_address v4 = nd_address(0, AF_INET, 0), v6 = nd_address(0, AF_INET6, 0);
	struct nd_address strange = v4, odd = v4, any = v4, loop = v4;
	UINT64 id = 77;

	(void)state;
	strange.in.sin_addr.s_addr = htonl(0xc0000201);
	odd.any.sa_family = AF_UNIX;
	any.in.sin_addr.s_addr = 0;
	loop.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_hr(resolve(provider, &strange, strange.length, &id), ND_INVALID_ADDRESS);
	assert_hr(resolve(provider, &odd, odd.length, &id), ND_INVALID_ADDRESS);
	assert_hr(resolve(provider, &any, any.length, &id), ND_INVALID_ADDRESS);
	assert_hr(resolve(provider, &loop, loop.length, &id), ND_INVALID_ADDRESS);
	for (ULONG length = 0; length < v4.length; length++)
		assert_hr(resolve(provider, &v4, length, &id), ND_INVALID_ADDRESS);
	for (ULONG length = 0; length < v6.length; length++)
		assert_hr(resolve(provider, &v6, length, &id), ND_INVALID_ADDRESS);
	assert_hr(IND2Provider_ResolveAddress(provider, NULL, 16, &id), ND_INVALID_ADDRESS);
	assert_hr(resolve(provider, &v4, v4.length, NULL), ND_INVALID_PARAMETER);
	assert_true(id == 77);
	nd_release(provider, 0);
}

static void
open_adapter_refuses_unknown_ids_and_interfaces(void **state)
{
	IND2Provider *provider = nd_provider();
	struct nd_address v4 = nd_address(0, AF_INET, 0);
	void *out = &out;
	UINT64 id;

	(void)state;
	assert_hr(resolve(provider, &v4, v4.length, &id), ND_SUCCESS);
	assert_hr(IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, id + 1, &out),
		  ND_INVALID_PARAMETER);
	assert_null(out);
	out = &out;
	assert_hr(IND2Provider_OpenAdapter(provider, &nobody, id, &out), E_NOINTERFACE);
	assert_null(out);
	assert_hr(IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, id, NULL), E_POINTER);
	nd_release(provider, 0);
	assert_hr(nd_can_unload(), S_OK);
}

/* Each has its own count and its own objects; the device behind both is one. */
static void
several_adapters_of_one_name(void **state)
{
	IND2Adapter *one = nd_adapter(0), *two = nd_adapter(0), *other = nd_adapter(1);
	ND2_ADAPTER_INFO a = {.InfoVersion = ND_VERSION_2}, b = a, c = a;
	ULONG length = sizeof(a);

	(void)state;
	assert_ptr_not_equal(one, two);
	assert_hr(IND2Adapter_Query(one, &a, &length), ND_SUCCESS);
	assert_hr(IND2Adapter_Query(two, &b, &length), ND_SUCCESS);
	assert_hr(IND2Adapter_Query(other, &c, &length), ND_SUCCESS);
	assert_true(a.AdapterId == b.AdapterId);
	assert_true(a.AdapterId != c.AdapterId);
	nd_release(one, 0);
	assert_hr(IND2Adapter_Query(two, &b, &length), ND_SUCCESS);
	nd_release(two, 0);
	nd_release(other, 0);
}

static void
adapter_id_is_what_the_provider_resolves_to(void **state)
{
	IND2Provider *provider = nd_provider();
	IND2Adapter *adapter = nd_adapter(1);
	struct nd_address v6 = nd_address(1, AF_INET6, 0);
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);
	UINT64 id;

	(void)state;
	assert_hr(resolve(provider, &v6, v6.length, &id), ND_SUCCESS);
	assert_hr(IND2Adapter_Query(adapter, &info, &length), ND_SUCCESS);
	assert_true(info.AdapterId == id);
	nd_release(adapter, 0);
	nd_release(provider, 0);
}

/* ---- several threads ---- */

enum {
	THREADS = 4,
	ROUNDS = 20,
};

static DWORD WINAPI
open_and_close(void *argument)
{
	unsigned *failures = argument;

	for (int i = 0; i < ROUNDS; i++) {
		struct nd_address v4 = nd_address((unsigned)i % 2, AF_INET, 0);
		void *provider = NULL, *adapter = NULL;
		UINT64 id = 0;

		*failures += nd_class_object(&IID_IND2Provider, &provider) != S_OK;
		*failures += resolve(provider, &v4, v4.length, &id) != ND_SUCCESS;
		*failures += IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, id, &adapter) !=
			     ND_SUCCESS;
		*failures += IND2Provider_Release((IND2Provider *)provider) != 0;
		*failures += adapter && IND2Adapter_Release((IND2Adapter *)adapter) != 0;
	}
	return 0;
}

/* The last one out closes the device, the next one in opens it: never both at once. */
static void
adapters_open_and_close_in_several_threads(void **state)
{
	HANDLE thread[THREADS];
	unsigned failures[THREADS] = {0};

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		thread[i] = CreateThread(NULL, 0, open_and_close, &failures[i], 0, NULL);
		assert_non_null(thread[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(WaitForSingleObject(thread[i], INFINITE), WAIT_OBJECT_0);
		CloseHandle(thread[i]);
		assert_int_equal(failures[i], 0);
	}
	assert_hr(nd_can_unload(), S_OK);
}

/* ---- processes ---- */

/* A child has the memory of an open adapter and none of its threads: its end waits for nobody. */
static void
child_process_ends_at_once(void **state)
{
	IND2Adapter *adapter = nd_adapter(0);
	uint64_t begin = test_ms();
	int status = 0;
	void *mw = NULL;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		child_exit(7);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_true(test_ms() - begin < 5000);
	assert_hr(IND2Adapter_CreateMemoryWindow(adapter, &IID_IND2MemoryWindow, &mw), ND_SUCCESS);
	nd_release((IND2MemoryWindow *)mw, 0);
	nd_release(adapter, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(class_object_gives_the_provider_without_a_factory),
		ND_TEST(class_object_refuses_what_it_is_not),
		ND_TEST(factory_makes_providers),
		ND_TEST(lock_server_keeps_the_library),
		ND_TEST(query_address_list_of_the_provider),
		ND_TEST(query_address_list_of_an_adapter_has_its_own_only),
		ND_TEST(query_address_list_of_nobody),
		ND_TEST(configuration_that_is_wrong),
		ND_TEST(adapter_whose_device_is_not_there),
		ND_TEST(resolve_address_finds_the_adapter_by_any_of_its_addresses),
		ND_TEST(resolve_address_refuses_what_is_not_ours),
		ND_TEST(open_adapter_refuses_unknown_ids_and_interfaces),
		ND_TEST(several_adapters_of_one_name),
		ND_TEST(adapter_id_is_what_the_provider_resolves_to),
		ND_TEST(adapters_open_and_close_in_several_threads),
		ND_TEST(child_process_ends_at_once),
	};

	return nd_run("provider", tests, sizeof(tests) / sizeof(tests[0]));
}
