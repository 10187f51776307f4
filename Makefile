# SPDX-License-Identifier: BSD-3-Clause
#
# The front door. Meson does the work; each target here makes the build directory it needs, once,
# and calls it. `make` alone lists the targets.

FUZZ_SECONDS ?= 60
SECONDS ?= 60
SEEDS ?= 1000
FIRST ?= 1
OPS ?=
ENGINE ?=
CM ?=
# More arguments for `meson test`, e.g. MESON_TEST_ARGS="--suite unit"
MESON_TEST_ARGS ?=

BUILD_DIRS = build build-release build-asan build-tsan build-cov build-fuzz build-guest

# gcc 12's sanitizers take the heap in front of a library's thread-local variables for a header of
# glibc 2.19, where the block lies 16 bytes into a page, and fault: they may not follow them.
NO_TLS = intercept_tls_get_addr=0
ASAN = detect_leaks=1:halt_on_error=1:abort_on_error=1:strict_string_checks=1:$(NO_TLS)
TSAN = halt_on_error=1:second_deadlock_stack=1:$(NO_TLS)
UBSAN = halt_on_error=1:abort_on_error=1:print_stacktrace=1

C_FILES = $(shell find lib drivers apps tests -name '*.[ch]' 2>/dev/null)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\): .*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

# ---- packages and build directories --------------------------------------------------------

.PHONY: prepare-test prepare-coverage prepare-fuzz prepare-perf prepare-format prepare-interop
prepare-test prepare-format:
	@tests/prepare $(@:prepare-%=%)
prepare-coverage prepare-fuzz prepare-perf:
	@tests/prepare test $(@:prepare-%=%)

# The kernel and initramfs of the guests, and a module for them, from Debian's packages: 40 MB, made
# once.
prepare-interop:
	@tests/prepare test interop
	tests/interop/rxe-guest build
	tests/interop/rxe-guest module guest_kernel tests/interop/guest_kernel*.[ch]

build/build.ninja: | prepare-test
	meson setup build

build-release/build.ninja: | prepare-test
	meson setup build-release --buildtype=release -Ddebug=true -Db_lto=true

build-asan/build.ninja: | prepare-test
	meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args='-fno-sanitize-recover=all -fno-omit-frame-pointer'

# The rings' C11 variant, whose atomic accesses ThreadSanitizer sees; gcc warns that it does not see
# fences, of which no ordering of ours depends alone.
build-tsan/build.ninja: | prepare-test
	meson setup build-tsan -Db_sanitize=thread -Db_lundef=false \
		-Dc_args='-DRTE_USE_C11_MEM_MODEL -Wno-tsan'

# Threads share the counters, so that they must be atomic; -Og keeps lines what they are.
build-cov/build.ninja: | prepare-coverage
	meson setup build-cov -Db_coverage=true -Doptimization=g -Dc_args=-fprofile-update=atomic

# fuzzer-no-link: the rooms themselves tell libFuzzer where its inputs went.
build-fuzz/build.ninja: | prepare-fuzz
	CC=clang meson setup build-fuzz -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=all'

# ---- tests ---------------------------------------------------------------------------------

.PHONY: test
test: prepare-test prepare-interop build/build.ninja ## install what is missing (as root), build, run every test
	meson compile -C build
	meson test -C build --no-rebuild --timeout-multiplier 3 --print-errorlogs $(MESON_TEST_ARGS)
	$(if $(MESON_TEST_ARGS),,$(MAKE) tsan)

TSAN_WITH = TSAN_OPTIONS=$(TSAN):suppressions=$(CURDIR)/tests/tsan/suppressions
TSAN_KE = race dpc object spin thread timer wait
TSAN_OBJECTS = race event port pump handle fd thread sync slist
# Those in which threads meet; two adapters on one worker, as in the storm: what changes hands between
# two is moved by a driver of DPDK's that ThreadSanitizer does not see.
TSAN_ND2 = threads notify windows listen srq regions posts disconnect provider apart
TSAN_EX = list lock lookaside mutex pages pool push_lock resource rundown work
TSAN_IO = cancel device irp load
TSAN_NDK = callbacks connect data graphs objects pages races
TSAN_WSK = adapters address_info client netio

# seconds, build directory
STORM = tests/clients/storm
storm_for = ND2_PROVIDER=$(CURDIR)/$(2)/lib/face/nd2/shared/libpollux-nd2.so \
	tests/own tests/clients/storm/storm.conf $(2)/$(STORM) 10.78.6.1 10.78.6.2 $(1)
# The driver of NDKPI, likewise, and its host.
STORAGE = apps/ndkhost/ndkhost tests/clients/storage.so
storage_for = tests/clients/storage/run $(addprefix $(2)/,$(STORAGE)) tests/clients/storage/storage.conf $(1)

.PHONY: tsan
tsan: prepare-test build-tsan/build.ninja ## rings, engine, sessions, ND2 and NDK between threads under ThreadSanitizer; minutes
	ninja -C build-tsan tests/tsan/crowd tests/tsan/engines tests/unit/engine/copy/copy_threads tests/unit/engine/cycle/engine_board tests/unit/engine/worker/engine_sleep tests/unit/engine/ring/ring_threads tests/unit/proto/mem/mem_threads $(STORM) $(STORAGE) \
		$(addprefix tests/clients/,unload.so unload_host) \
		tests/unit/session/session_session \
		$(addprefix tests/unit/windows/objects/objects_,$(TSAN_OBJECTS)) $(addprefix tests/unit/face/nd2/nd2_,$(TSAN_ND2)) \
		$(addprefix tests/unit/windows/ke/ke_,$(TSAN_KE)) \
		$(addprefix tests/unit/windows/ex/ex_,$(TSAN_EX)) tests/unit/windows/wdk/wdk_seh \
		$(addprefix tests/unit/windows/io/io_,$(TSAN_IO)) tests/unit/windows/io/iotest.so \
		$(addprefix tests/unit/face/ndk/ndk_,$(TSAN_NDK)) $(addprefix tests/unit/face/wsk/wsk_,$(TSAN_WSK)) tests/unit/proto/mem/mem_fast \
		$(addprefix tests/unit/proto/mem/mem_,map pages)
	$(TSAN_WITH) build-tsan/tests/unit/engine/copy/copy_threads
	$(TSAN_WITH) build-tsan/tests/unit/engine/ring/ring_threads
	$(TSAN_WITH) build-tsan/tests/unit/proto/mem/mem_threads
	$(TSAN_WITH) build-tsan/tests/unit/proto/mem/mem_fast
	$(TSAN_WITH) build-tsan/tests/unit/proto/mem/mem_map
	$(TSAN_WITH) build-tsan/tests/unit/proto/mem/mem_pages
	$(TSAN_WITH) build-tsan/tests/tsan/crowd 5
	$(TSAN_WITH) build-tsan/tests/tsan/crowd 5 adaptive
	$(TSAN_WITH) build-tsan/tests/tsan/engines 36
	$(TSAN_WITH) build-tsan/tests/tsan/engines 36 adaptive
	$(TSAN_WITH) build-tsan/tests/unit/engine/worker/engine_sleep
	$(TSAN_WITH) build-tsan/tests/unit/engine/cycle/engine_board
	$(TSAN_WITH) build-tsan/tests/unit/session/session_session
	$(TSAN_WITH) build-tsan/tests/unit/windows/objects/objects_race 10000
	for test in $(filter-out race,$(TSAN_OBJECTS)); do \
		$(TSAN_WITH) build-tsan/tests/unit/windows/objects/objects_$$test || exit 1; done
	$(TSAN_WITH) POLLUX_ROUNDS=2000 meson test -C build-tsan --no-rebuild --num-processes 2 \
		--timeout-multiplier 4 --print-errorlogs $(addprefix nd2_,$(TSAN_ND2)) \
		$(addprefix ke_,$(TSAN_KE)) $(addprefix ex_,$(TSAN_EX)) $(addprefix io_,$(TSAN_IO)) wdk_seh $(addprefix ndk_,$(TSAN_NDK)) \
		$(addprefix wsk_,$(TSAN_WSK))
	$(TSAN_WITH) $(call storm_for,10,build-tsan)
	$(TSAN_WITH) $(call storage_for,10,build-tsan)
	$(TSAN_WITH) build-tsan/tests/clients/unload_host build-tsan/tests/clients/unload.so

.PHONY: storm
storm: prepare-test build/build.ninja build-asan/build.ninja build-tsan/build.ninja ## connections of ND2 and NDK come and go: plain, ASan, TSan; SECONDS=60
	for dir in build build-asan build-tsan; do \
		ninja -C $$dir $(STORM) $(STORAGE) || exit 1; done
	$(call storm_for,$(SECONDS),build)
	$(call storage_for,$(SECONDS),build)
	ASAN_OPTIONS=$(ASAN) UBSAN_OPTIONS=$(UBSAN) $(call storm_for,$(SECONDS),build-asan)
	ASAN_OPTIONS=$(ASAN) UBSAN_OPTIONS=$(UBSAN) $(call storage_for,$(SECONDS),build-asan)
	$(TSAN_WITH) $(call storm_for,$(SECONDS),build-tsan)
	$(TSAN_WITH) $(call storage_for,$(SECONDS),build-tsan)

.PHONY: company
company: prepare-test build/build.ninja ## two clients of ND2: seven million messages, 1,000 connections; over memif
	ninja -C build $(addprefix tests/clients/,stream scenes crowd)
	tests/system/company memif build/lib/face/nd2/shared/libpollux-nd2.so \
		$(addprefix build/tests/clients/,stream scenes crowd) --long

.PHONY: sanitize
sanitize: prepare-test prepare-interop build-asan/build.ninja ## the same tests under ASan, UBSan and LSan
	meson compile -C build-asan
	ASAN_OPTIONS=$(ASAN) UBSAN_OPTIONS=$(UBSAN) meson test -C build-asan --no-rebuild \
		--timeout-multiplier 4 --print-errorlogs $(MESON_TEST_ARGS)

# What a row of the matrix must have in its name: INTEROP_ARGS="--only rping --only IPv6"
INTEROP_ARGS ?=

.PHONY: interop
interop: prepare-interop build/build.ninja ## against Linux rxe in a guest, the whole matrix; 40 min
	ninja -C build tests/interop/ours tests/interop/ours_ndk apps/polluxd/polluxd tests/interop/guest
	tests/interop/run $(addprefix build/,tests/interop/ours tests/interop/ours_ndk \
		apps/polluxd/polluxd tests/interop/guest) build-guest \
		--keep build/interop-captures $(INTEROP_ARGS)

.PHONY: demo
demo: prepare-test build-release/build.ninja ## half a minute of latency, rate and bandwidth
	ninja -C build-release apps/ndperf/ndperf
	apps/ndperf/demo build-release/apps/ndperf/ndperf

.PHONY: sim
sim: prepare-test build-release/build.ninja ## the simulator: SEEDS=1000 FIRST=1 OPS=2000 ENGINE=1 CM=1 NDK=1 SOCKETS=1
	ninja -C build-release tests/sim/plx-sim tests/sim/sockets/plx-sim-sockets
	build-release/tests/sim/$(if $(SOCKETS),sockets/plx-sim-sockets,plx-sim) --seeds $(SEEDS) --first $(FIRST) \
		$(if $(OPS),--ops $(OPS)) $(if $(ENGINE),--engine) $(if $(CM),--cm) $(if $(NDK),--ndk)

.PHONY: mutants
mutants: prepare-test build/build.ninja ## deliberate faults: each must be caught
	meson compile -C build
	meson test -C build --no-rebuild --print-errorlogs --suite mutants --verbose

.PHONY: coverage
coverage: prepare-coverage build-cov/build.ninja ## lines covered in the pure rooms; each at least 98 %
	meson compile -C build-cov
	find build-cov -name '*.gcda' -delete
	meson test -C build-cov --no-rebuild --timeout-multiplier 4 --print-errorlogs \
		--no-suite mutants --no-suite tidy --no-suite interop
	tests/coverage build-cov

.PHONY: fuzz
fuzz: prepare-fuzz build-fuzz/build.ninja ## every fuzz target for FUZZ_SECONDS=60
	meson compile -C build-fuzz
	tests/fuzz/run build-fuzz $(FUZZ_SECONDS)

.PHONY: perf
perf: prepare-perf build-release/build.ninja ## instructions per packet and ND2 message, by callgrind; 1 above budget
	meson compile -C build-release
	tests/perf/run --check

# 1 when a bar is missed; BENCH_ARGS="--only loss" for a part, --list for the commands
BENCH_ARGS ?=

.PHONY: bench
bench: prepare-test build-release/build.ninja ## every promised figure beside its yardstick; 8 min
	ninja -C build-release apps/ndperf/ndperf apps/polluxd/polluxd \
		tests/bench/bench-nd2-regions tests/bench/bench-ndk-wakeup tests/bench/bench-seats tests/bench/bench-engines \
		tests/bench/bench-sockets tests/bench/bench-idle tests/bench/bench-idle-policy lib/face/sanpreload/shared/libpollux-sockets.so
	tests/bench/run build-release/apps/ndperf/ndperf --json build/bench.json $(BENCH_ARGS)

# ---- housekeeping --------------------------------------------------------------------------

.PHONY: tidy
tidy: prepare-test build/build.ninja ## the lint
	meson compile -C build
	meson test -C build --no-rebuild --print-errorlogs --suite tidy

.PHONY: format
format: prepare-format ## clang-format 14 over every C file, in place
	clang-format-14 -i $(C_FILES)

.PHONY: clean
clean: ## remove the build directories
	rm -rf $(BUILD_DIRS)
