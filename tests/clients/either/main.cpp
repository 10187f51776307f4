/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program: what of the C++ library must work beside either system, addresses of adapters, and a
 * library that is loaded.
 *
 *   either [PLUGIN]
 */
#include "either.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#if __cplusplus >= 201703L
#include <filesystem>
#endif

#if defined(_WIN32)
#include <winsock2.h>
#include <tchar.h>
typedef HMODULE library_t;
#elif defined(__linux__)
#include <dlfcn.h>
typedef void *library_t;
#define _tmain main
#define _T(text) text
typedef char TCHAR;
#endif

struct EITHER_ALIGN(64) Counter {
	std::atomic<int> value;
};
static_assert(alignof(Counter) == 64, "a cache line of its own");

static int add_in_threads()
{
	auto counter = std::make_unique<Counter[]>(2);
	std::mutex lock;
	std::condition_variable all;
	std::map<int, std::string> done;
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++) {
		threads.emplace_back([&, i] {
			for (int n = 0; n < 1000; n++)
				counter[i % 2].value.fetch_add(1);
			std::lock_guard<std::mutex> guard(lock);
			done[i] = std::to_string(i);
			all.notify_one();
		});
	}
	std::unique_lock<std::mutex> guard(lock);
	all.wait_for(guard, std::chrono::seconds(60), [&] { return done.size() == 4; });
	guard.unlock();
	for (auto &thread : threads)
		thread.join();
	return counter[0].value + counter[1].value;
}

// Returns: how often the plugin says that it has been loaded; < 0: it has not
static int ask_plugin(const TCHAR *path)
{
	either_plugin *loads;
	library_t library;
	int told;

#ifdef _WIN32
	library = LoadLibrary(path);
	if (!library)
		return -(int)GetLastError();
	loads = reinterpret_cast<either_plugin *>(GetProcAddress(library, "either_loads"));
	told = loads ? loads() : -1;
	FreeLibrary(library);
#else
	library = dlopen(path, RTLD_NOW);
	if (!library)
		return -1;
	loads = reinterpret_cast<either_plugin *>(dlsym(library, "either_loads"));
	told = loads ? loads() : -1;
	dlclose(library);
#endif
	return told;
}

int EITHER_CALL _tmain(int argc, TCHAR *argv[])
{
	either_u64 begun = either_now_us();

	std::printf("%s: %d additions\n", either_system(), add_in_threads());
#if __cplusplus >= 201703L
	// the path of a file is bytes, whatever the system is said to be
	std::printf("%s\n", std::filesystem::path("a/b").filename().c_str());
#endif
	std::printf("addresses: %s\n", either_addresses() > 0 ? "yes" : "no");
	for (int i = 1; i < argc; i++)
		std::printf("plugin: %d\n", ask_plugin(argv[i]));
	return either_now_us() >= begun && argc <= 3 ? 0 : 1;
}
