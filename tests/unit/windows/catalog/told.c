/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What DllMain() is told of threads: whom, when, in which thread, in which order. The record is a
 * text of two letters an entry: what, and the name of the library; "A" and "D" of the process, "+"
 * and "-" of a thread. "r" is the thread's own routine. The library l is linked to the program.
 */
#include "bench.h"

#include <dlfcn.h>
#include <process.h>
#include <pthread.h>

#include "told.h"

enum {
	ENTRIES_MAX = 4096,
	ROUNDS = 200,
	THREADS = 4,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char text[2 * ENTRIES_MAX + 1];
	DWORD thread[ENTRIES_MAX];
	unsigned n, inside, overlaps, strangers, loaded[256];
	unsigned late; /* told of a thread before DLL_PROCESS_ATTACH or behind DLL_PROCESS_DETACH */
	bool linked_with_reserved;
} record;

static void
note(char what, char name)
{
	if (record.n < ENTRIES_MAX) {
		record.text[2 * record.n] = what;
		record.text[2 * record.n + 1] = name;
		record.thread[record.n++] = GetCurrentThreadId();
	}
}

void
told_enter(char name, DWORD reason, const void *reserved, BOOL itself)
{
	pthread_mutex_lock(&lock);
	record.overlaps += record.inside++ != 0;
	record.strangers += !itself;
	if (reason == DLL_PROCESS_ATTACH)
		record.loaded[(unsigned char)name]++;
	record.late += record.loaded[(unsigned char)name] != 1;
	if (reason == DLL_PROCESS_DETACH)
		record.loaded[(unsigned char)name]--;
	if (reason == DLL_PROCESS_ATTACH && name == 'l')
		record.linked_with_reserved = reserved != NULL;
	else if (reserved && reason != DLL_PROCESS_ATTACH && reason != DLL_PROCESS_DETACH)
		record.strangers++;
	note("DA+-"[reason], name); /* by their numbers: 0 to 3 */
	pthread_mutex_unlock(&lock);
}

void
told_leave(void)
{
	pthread_mutex_lock(&lock);
	record.inside--;
	pthread_mutex_unlock(&lock);
}

DWORD WINAPI
told_routine(void *argument)
{
	pthread_mutex_lock(&lock);
	note('r', 'r');
	pthread_mutex_unlock(&lock);
	if (argument)
		ExitThread((DWORD)(uintptr_t)argument);
	return 0;
}

static int
forget(void **state)
{
	(void)state;
	record.n = record.overlaps = record.strangers = record.late = 0;
	memset(record.text, 0, sizeof(record.text));
	return 0;
}

/* What was recorded since, of all threads; and each library was itself, one at a time. */
static void
check(const char *wanted)
{
	char text[sizeof(record.text)];
	bool good;

	pthread_mutex_lock(&lock);
	memcpy(text, record.text, sizeof(text));
	good = record.overlaps == 0 && record.strangers == 0 && record.late == 0;
	forget(NULL);
	pthread_mutex_unlock(&lock);
	assert_string_equal(text, wanted);
	assert_true(good);
}

static HMODULE
load(char name)
{
	char path[sizeof(TOLD_FOLDER) + 32];
	HMODULE library;

	snprintf(path, sizeof(path), TOLD_FOLDER "/libtold_%c.so", name);
	library = LoadLibraryA(path);
	if (!library)
		print_error("%s: %s\n", path, dlerror());
	assert_non_null(library);
	return library;
}

/* Waits for its end, which comes behind all that libraries are told. */
static void
join(HANDLE thread, DWORD code)
{
	DWORD ended;

	assert_non_null(thread);
	assert_int_equal(WaitForSingleObject(thread, PATIENT), WAIT_OBJECT_0);
	assert_true(GetExitCodeThread(thread, &ended) && ended == code);
	assert_true(CloseHandle(thread));
}

static void
all_are_told_in_the_thread_in_order_and_backwards(void **state)
{
	HMODULE a = load('a'), b = load('b');
	DWORD id;

	(void)state;
	assert_true(told_name() == 'l' && record.linked_with_reserved);
	check("AaAb");
	join(CreateThread(NULL, 0, told_routine, NULL, 0, &id), 0);
	for (unsigned i = 0; i < record.n; i++)
		assert_int_equal(record.thread[i], id);
	check("+l+a+brr-b-a-l");
	join((HANDLE)_beginthreadex(NULL, 0, told_routine, NULL, 0, NULL), 0);
	check("+l+a+brr-b-a-l");
	/* a thread that ends by itself */
	join(CreateThread(NULL, 0, told_routine, (void *)7, 0, NULL), 7);
	check("+l+a+brr-b-a-l");
	assert_true(FreeLibrary(a));
	check("Da");
	join(CreateThread(NULL, 0, told_routine, NULL, 0, NULL), 0);
	check("+l+brr-b-l");
	assert_true(FreeLibrary(b));
	check("Db");
	join(CreateThread(NULL, 0, told_routine, NULL, 0, NULL), 0);
	check("+lrr-l");
}

/* Loads a library, and waits until it is asked to end. */
static DWORD WINAPI
loads(void *argument)
{
	HANDLE *events = argument;

	load('b');
	SetEvent(events[0]);
	return WaitForSingleObject(events[1], PATIENT);
}

static void
who_runs_already_tells_of_its_end_only(void **state)
{
	HANDLE events[2] = {CreateEventA(NULL, FALSE, FALSE, NULL),
			    CreateEventA(NULL, FALSE, FALSE, NULL)};
	HANDLE thread = CreateThread(NULL, 0, loads, events, 0, NULL);
	HMODULE a, b;

	(void)state;
	assert_int_equal(WaitForSingleObject(events[0], PATIENT), WAIT_OBJECT_0);
	a = load('a');
	check("+lAbAa");
	assert_true(SetEvent(events[1]));
	join(thread, WAIT_OBJECT_0);
	check("-a-b-l");
	b = GetModuleHandleA(TOLD_FOLDER "/libtold_b.so");
	assert_true(FreeLibrary(b) && FreeLibrary(a));
	check("DbDa");
	assert_true(CloseHandle(events[0]) && CloseHandle(events[1]));
}

static void *
plain(void *argument)
{
	if (argument)
		ExitThread(0);
	return NULL;
}

/* pthread_create() is the C library's: of its threads only those tell that end by ExitThread(). */
static void
threads_of_the_c_library_tell_when_they_call_ExitThread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, plain, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	check("");
	assert_int_equal(pthread_create(&thread, NULL, plain, record.text), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	check("-l");
}

static void
who_does_not_want_to_know_is_not_told(void **state)
{
	HMODULE q = load('q'), a = load('a');

	(void)state;
	join(CreateThread(NULL, 0, told_routine, NULL, 0, NULL), 0);
	check("AqAa+l+arr-a-l");
	assert_true(DisableThreadLibraryCalls(a) && DisableThreadLibraryCalls(a));
	join(CreateThread(NULL, 0, told_routine, NULL, 0, NULL), 0);
	check("+lrr-l");
	assert_true(FreeLibrary(q) && FreeLibrary(a));
	check("DqDa");
	/* what is no library; one without DllMain() */
	SetLastError(0);
	assert_false(DisableThreadLibraryCalls(NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_false(DisableThreadLibraryCalls((HMODULE)(void *)&lock));
	assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
	assert_true(DisableThreadLibraryCalls(GetModuleHandleA(NULL)));
	/* it is a new one when it is loaded again */
	a = load('a');
	join(CreateThread(NULL, 0, told_routine, NULL, 0, NULL), 0);
	check("Aa+l+arr-a-l");
	assert_true(FreeLibrary(a));
}

/* By whoever loads it: LoadLibrary(), or the program itself. */
static void
a_thread_that_DllMain_creates_begins_when_it_has_returned(void **state)
{
	const char *const wanted = "At+l+trr-t-l";
	void *handle;
	HMODULE t = load('t');
	ULONGLONG begun = GetTickCount64();

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (bool over = false; !over; SwitchToThread()) {
			pthread_mutex_lock(&lock);
			over = record.n >= strlen(wanted) / 2;
			pthread_mutex_unlock(&lock);
			assert_true(GetTickCount64() - begun < PATIENT);
		}
		check(wanted);
		if (i == 0) {
			assert_true(FreeLibrary(t));
			check("Dt");
			handle = dlopen(TOLD_FOLDER "/libtold_t.so", RTLD_NOW | RTLD_LOCAL);
			assert_non_null(handle);
		}
	}
	assert_int_equal(dlclose(handle), 0);
	check("Dt");
}

static DWORD WINAPI
begins_others(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		HANDLE thread = CreateThread(NULL, 0, told_routine, NULL, 0, NULL);

		if (WaitForSingleObject(thread, PATIENT) || !CloseHandle(thread))
			return 1;
	}
	return 0;
}

/* Each loads and unloads: by LoadLibrary(), and past it. */
static DWORD WINAPI
loads_again_and_again(void *past)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *handle;

		if (!past && !FreeLibrary(load('a')))
			return 1;
		handle = past ? dlopen(TOLD_FOLDER "/libtold_b.so", RTLD_NOW | RTLD_LOCAL) : past;
		if (past && (!handle || dlclose(handle)))
			return 1;
	}
	return 0;
}

static void
nothing_is_told_to_a_library_that_comes_or_goes(void **state)
{
	HANDLE threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		threads[i] = CreateThread(NULL, 0, i < 2 ? begins_others : loads_again_and_again,
					  i == 3 ? threads : NULL, 0, NULL);
	for (int i = 0; i < THREADS; i++)
		join(threads[i], 0);
	/* nobody is left who would write it */
	assert_true(record.n > 2 * ROUNDS && record.strangers == 0 && record.late == 0);
	assert_true(record.inside == 0 && record.loaded['a'] == 0 && record.loaded['b'] == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_are_told_in_the_thread_in_order_and_backwards, forget),
		cmocka_unit_test_setup(who_runs_already_tells_of_its_end_only, forget),
		cmocka_unit_test_setup(threads_of_the_c_library_tell_when_they_call_ExitThread,
				       forget),
		cmocka_unit_test_setup(who_does_not_want_to_know_is_not_told, forget),
		cmocka_unit_test_setup(a_thread_that_DllMain_creates_begins_when_it_has_returned,
				       forget),
		cmocka_unit_test_setup(nothing_is_told_to_a_library_that_comes_or_goes, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
