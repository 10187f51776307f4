/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sums of many runs, and how they are said.
 * It never counts anything itself.
 * Start with sim_stats_print().
 */
#include <inttypes.h>
#include <stdio.h>

#include "parts.h"

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

/* Counted in thousands where single queue pairs are simulated; an engine's life is shorter. */
bool
sim_stats_covered(const struct sim_stats *stats, bool engine)
{
	uint64_t least = engine ? 100 : 1000;
	const struct {
		const char *name;
		uint64_t count;
	} wanted[] = {
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
	};
	bool covered = true;

	for (size_t i = 0; i < PLX_COUNT_OF(wanted); i++) {
		if (wanted[i].count >= least)
			continue;
		printf("plx-sim: only %" PRIu64 " %s, %" PRIu64 " are wanted\n", wanted[i].count,
		       wanted[i].name, least);
		covered = false;
	}
	return covered;
}
