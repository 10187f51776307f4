/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sums of many runs, and how they are printed.
 * It never counts anything itself.
 * Start with sim_stats_print().
 */
#include <inttypes.h>
#include <stdio.h>

#include "sim.h"

void
sim_stats_add(struct sim_stats *sum, const struct sim_stats *one)
{
#define SIM_X(name, text) sum->name += one->name;
	SIM_STATS_LIST(SIM_X)
#undef SIM_X
	for (int i = 0; i < PLX_WC_COUNT; i++)
		sum->status[i] += one->status[i];
	for (int i = 0; i < SIM_PROFILE_COUNT; i++)
		sum->profile[i] += one->profile[i];
	sum->hash += one->hash;
}

void
sim_stats_print(const struct sim_stats *stats, uint64_t real_ns)
{
	const char *before = "  seeds by profile:";

#define SIM_X(name, text) printf("  %-42s %" PRIu64 "\n", text, stats->name);
	SIM_STATS_LIST(SIM_X)
#undef SIM_X
	printf("  completions by status:\n");
	for (int i = 0; i < PLX_WC_COUNT; i++) {
		if (stats->status[i] > 0)
			printf("    %10" PRIu64 "  %s\n", stats->status[i],
			       plx_wc_text((enum plx_wc_status)i));
	}
	for (int i = 0; i < SIM_PROFILE_COUNT; i++) {
		if (stats->profile[i] > 0) {
			printf("%s %s %" PRIu64, before, sim_profile_name((enum sim_profile)i),
			       stats->profile[i]);
			before = ",";
		}
	}
	printf("\n  operations lost / duplicated / reordered / corrupt: %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 "\n",
	       stats->lost, stats->doubled, stats->disordered, stats->corrupt);
	printf("  trace hash: %016" PRIx64 "\n", stats->hash);
	if (stats->packets > 0)
		printf("  real time: %" PRIu64 " ms, %" PRIu64 " ns per packet and core\n",
		       real_ns / 1000000, real_ns / stats->packets);
}

struct want {
	const char *name;
	uint64_t count;
};

static bool
covered(const struct want *wanted, size_t count, uint64_t least)
{
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		if (wanted[i].count >= least)
			continue;
		printf("plx-sim: only %" PRIu64 " %s, %" PRIu64 " are wanted\n", wanted[i].count,
		       wanted[i].name, least);
		all = false;
	}
	return all;
}

static bool
managers_covered(const struct sim_stats *stats)
{
	const struct want wanted[] = {
		{"requests", stats->ops},
		{"datagrams", stats->packets},
		{"drops", stats->drops},
		{"duplicates", stats->duplicates},
		{"old datagrams", stats->ghosts},
		{"connections established", stats->established},
		{"requests rejected", stats->rejected},
		{"queue pairs in use", stats->stale},
		{"connections aborted", stats->aborted},
		{"timeouts", stats->timeouts},
		{"disconnects that cross", stats->crossed},
		{"disconnects delivered", stats->disconnected},
		{"early packets", stats->early},
		{"offices that vanish", stats->crashes},
		{"UD services", stats->sidrs},
		{"unreachable peers", stats->unreachable},
		{"full managers", stats->refused},
	};

	return covered(wanted, PLX_COUNT_OF(wanted), 100);
}

static bool
drivers_covered(const struct sim_stats *stats)
{
	const struct want wanted[] = {
		{"requests", stats->ops},
		{"packets", stats->packets},
		{"drops", stats->drops},
		{"connections established", stats->established},
		{"requests rejected", stats->rejected},
		{"lives", stats->lives},
		{"messages received", stats->received},
		{"callbacks of completion queues", stats->woken},
		{"tokens that died", stats->invalidated},
		{"posts refused", stats->refused},
		{"commands", stats->commands},
	};

	return covered(wanted, PLX_COUNT_OF(wanted), 100);
}

/* Counted in thousands where single queue pairs are simulated; an engine's life is shorter. */
bool
sim_stats_covered(const struct sim_stats *stats, enum sim_subject subject)
{
	bool engine = subject == SIM_OF_ENGINES;
	uint64_t least = engine ? 100 : 1000;
	const struct want wanted[] = {
		{"operations", stats->ops},
		{"packets", stats->packets},
		{"drops", stats->drops},
		{"duplicates", stats->duplicates},
		{"reorders", stats->reorders},
		{"corruptions", stats->corruptions},
		{"RNRs", stats->rnrs},
		{"timeouts", stats->timeouts},
		{"probes", stats->probes},
		{"wraps", stats->wraps},
		{"completions behind a full queue", engine ? stats->spilled : least},
		{"sleepers woken", engine ? stats->woken : least},
		{"refusals of a port", engine ? stats->tx_full : least},
		{"packets given up", engine ? stats->tx_dropped : least},
		{"times without a buffer", engine ? stats->no_buffer : least},
		{"packets in several buffers", engine ? stats->chained : least},
		{"posts refused", engine ? stats->refused : least},
		{"neighbours that moved", engine ? stats->moved : least},
		{"packets handed over", engine ? stats->handed : least},
		{"programs that died", engine ? stats->deaths : least},
		{"connections given away", engine ? stats->gifts : least},
	};

	if (subject == SIM_OF_MANAGERS)
		return managers_covered(stats);
	if (subject == SIM_OF_DRIVERS)
		return drivers_covered(stats);
	return covered(wanted, PLX_COUNT_OF(wanted), least);
}
