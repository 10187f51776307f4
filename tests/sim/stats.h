/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run of the simulator was, and what it did: the profiles of its weather, and sums that add
 * up. It counts nothing itself.
 */
#ifndef SIM_STATS_H
#define SIM_STATS_H

#include "plx_types.h"

/* X(name): the profiles of fault weather */
#define SIM_PROFILE_LIST(X) \
	X(clean)            \
	X(dc)               \
	X(lossy)            \
	X(awful)            \
	X(dup)              \
	X(shuffle)          \
	X(dirty)            \
	X(evil)             \
	X(hole)             \
	X(flap)             \
	X(far)              \
	X(clog)             \
	X(tiny)             \
	X(wrap)             \
	X(skew)             \
	X(swarm)            \
	X(crowd) /* whole engines only, and drawn by them */

enum sim_profile {
#define SIM_X(name) SIM_PROFILE_##name,
	SIM_PROFILE_LIST(SIM_X)
#undef SIM_X
	SIM_PROFILE_COUNT,
};

const char *sim_profile_name(enum sim_profile profile);

/* What a run did. X(name, text); all are sums, so that runs add up. */
#define SIM_STATS_LIST(X)                                      \
	X(seeds, "seeds")                                      \
	X(ops, "operations")                                   \
	X(packets, "packets")                                  \
	X(drops, "drops")                                      \
	X(duplicates, "duplicates")                            \
	X(reorders, "reorders")                                \
	X(corruptions, "corruptions")                          \
	X(rnrs, "RNRs")                                        \
	X(timeouts, "timeouts")                                \
	X(probes, "probes")                                    \
	X(again, "losses of what was sent again")              \
	X(wraps, "wraps")                                      \
	X(lives, "lives")                                      \
	X(naks, "NAKs")                                        \
	X(resends, "packets sent again")                       \
	X(marks, "congestion marks")                           \
	X(cnps, "congestion notifications")                    \
	X(strays, "stray packets")                             \
	X(strangers, "frames of strangers and friends")        \
	X(kills, "QPs killed on purpose")                      \
	X(crashes, "crashes of a station")                     \
	X(refused, "posts refused because the queue was full") \
	X(revoked, "keys revoked in mid-message")              \
	X(invalidated, "keys invalidated")                     \
	X(received, "messages received")                       \
	X(bytes, "bytes placed")                               \
	X(events, "events")                                    \
	X(spilled, "completions behind a full queue")          \
	X(woken, "sleepers woken")                             \
	X(tx_full, "times a port took less than it was given") \
	X(tx_dropped, "packets given up before a port")        \
	X(no_buffer, "times there was no buffer")              \
	X(chained, "packets in several buffers")               \
	X(commands, "commands executed")                       \
	X(moved, "neighbours that moved")                      \
	X(handed, "packets handed to another engine")          \
	X(deaths, "programs that died")                        \
	X(gifts, "connections given to another program")       \
	X(unreachable, "neighbours that did not answer")       \
	X(established, "connections established")              \
	X(rejected, "requests rejected")                       \
	X(turned_down, "... by programs")                      \
	X(stale, "... because the queue pair was in use")      \
	X(aborted, "connections aborted")                      \
	X(left, "disconnects asked for")                       \
	X(crossed, "... by both ends at once")                 \
	X(disconnected, "disconnects delivered")               \
	X(early, "first packets before the RTU")               \
	X(sidrs, "UD services asked for")                      \
	X(ghosts, "old datagrams that came again")             \
	X(lost, "operations lost")                             \
	X(doubled, "operations duplicated")                    \
	X(disordered, "operations reordered")                  \
	X(corrupt, "operations corrupt")                       \
	X(virtual_us, "virtual time, microseconds")

struct sim_stats {
#define SIM_X(name, text) uint64_t name;
	SIM_STATS_LIST(SIM_X)
#undef SIM_X
	uint64_t status[PLX_WC_COUNT];
	uint64_t profile[SIM_PROFILE_COUNT];
	uint64_t hash; /* of the trace; the sum of the runs' */
};

void sim_stats_add(struct sim_stats *sum, const struct sim_stats *one);
void sim_stats_print(const struct sim_stats *stats, uint64_t real_ns);

/* What a simulator is of. */
enum sim_subject {
	SIM_OF_PAIRS,
	SIM_OF_ENGINES,
	SIM_OF_MANAGERS,
	SIM_OF_DRIVERS,
};

/** Prints what is short of 1,000, or of 100 where lives are longer. Returns: whether nothing is. */
bool sim_stats_covered(const struct sim_stats *stats, enum sim_subject subject);

#endif
