/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plx-sim: runs seeds of the simulator and prints the results.
 * It never decides anything but what its options mean.
 * Start with main(); world.c is what a seed does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

static const char usage_text[] =
	"usage: plx-sim [--engine|--cm|--ndk] [--seeds N] [--first S] [--ops N] [--profile NAME] "
	"[--jobs "
	"N]\n"
	"               [--pages] [--trace] [--twice] [--expect-coverage]\n"
	"               [--canary wrong|stuck|crash]\n"
	"       plx-sim --shrink SEED [--ops N] [--profile NAME] [--script FILE]\n"
	"exit: 0 passed, 2 an invariant does not hold, 3 something does not end,\n"
	"      4 usage, 134 a crash\n";

__attribute__((noreturn)) static void
usage(void)
{
	fputs(usage_text, stderr);
	exit(SIM_USAGE);
}

static uint64_t
number(const char *text, uint64_t low, uint64_t high)
{
	uint64_t value;
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		usage();
	value = strtoull(text, &end, 10);
	if (*end != 0 || value < low || value > high)
		usage();
	return value;
}

static int
profile_of(const char *text)
{
	for (int i = 0; text != NULL && i < SIM_PROFILE_COUNT; i++) {
		if (strcmp(text, sim_profile_name((enum sim_profile)i)) == 0)
			return i;
	}
	usage();
}

static enum sim_canary
canary_of(const char *text)
{
	static const char *const names[SIM_CANARY_COUNT] = {
		[SIM_CANARY_NONE] = "none",
		[SIM_CANARY_WRONG] = "wrong",
		[SIM_CANARY_STUCK] = "stuck",
		[SIM_CANARY_CRASH] = "crash",
	};

	for (int i = 0; text != NULL && i < SIM_CANARY_COUNT; i++) {
		if (strcmp(text, names[i]) == 0)
			return (enum sim_canary)i;
	}
	usage();
}

/* An option with a value. Returns: whether it was one */
static bool
valued(struct sim_options *options, const char *name, const char *value)
{
	if (strcmp(name, "--seeds") == 0)
		options->seeds = number(value, 1, UINT64_MAX);
	else if (strcmp(name, "--first") == 0)
		options->first = number(value, 0, UINT64_MAX / 2);
	else if (strcmp(name, "--ops") == 0)
		options->ops = (uint32_t)number(value, 20, 100000000);
	else if (strcmp(name, "--jobs") == 0)
		options->jobs = (uint32_t)number(value, 1, SIM_JOBS_MAX);
	else if (strcmp(name, "--profile") == 0)
		options->profile = profile_of(value);
	else if (strcmp(name, "--canary") == 0)
		options->canary = canary_of(value);
	else if (strcmp(name, "--script") == 0 && value != NULL)
		options->script_path = value;
	else if (strcmp(name, "--shrink") == 0) {
		options->shrink = true;
		options->first = number(value, 0, UINT64_MAX / 2);
	} else
		return false;
	return true;
}

static void
flag(struct sim_options *options, const char *name)
{
	if (strcmp(name, "--trace") == 0)
		options->trace = true;
	else if (strcmp(name, "--engine") == 0)
		options->engine = true;
	else if (strcmp(name, "--cm") == 0)
		options->cm = true;
	else if (strcmp(name, "--pages") == 0)
		options->pages = true;
	else if (strcmp(name, "--ndk") == 0)
		options->ndk = true;
	else if (strcmp(name, "--twice") == 0)
		options->twice = true;
	else if (strcmp(name, "--expect-coverage") == 0)
		options->expect_coverage = true;
	else
		usage();
}

int
main(int argc, char **argv)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct sim_options options = {.seeds = 1,
				      .ops = 2000,
				      .profile = -1,
				      .jobs = cores > 0 && cores < SIM_JOBS_MAX ? (uint32_t)cores
										: 1,
				      .program = argv[0]};

	for (int i = 1; i < argc; i++) {
		if (valued(&options, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			i++;
		else
			flag(&options, argv[i]);
	}
	if ((options.engine || options.cm || options.ndk) &&
	    (options.shrink || options.canary != SIM_CANARY_NONE ||
	     options.engine + options.cm + options.ndk != 1))
		usage(); /* wire scripts and canaries are about single queue pairs */
	if (options.pages && (options.engine || options.cm || options.ndk || options.shrink))
		usage(); /* wire scripts know contiguous memory only */
	if (options.seeds < options.jobs)
		options.jobs = (uint32_t)options.seeds;
	return options.shrink ? shrink_run(&options) : jobs_run(&options);
}
