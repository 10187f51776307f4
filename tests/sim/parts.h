/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the simulator's files offer each other, one section a file.
 * The nouns are in sim.h, but for those of two or three files.
 * Start with world.c, which calls everything else.
 */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include <inttypes.h>

#include "sim.h"

/* What the weather does to one packet. */
struct fault {
	bool drop, dup, ce;
	uint8_t flips;
	bool evil;
	uint64_t late_ns; /* beside the link's own latency */
	uint64_t dup_ns;
	uint64_t bits; /* for the flips */
};

/* ---- trace.c: what is remembered, and how a failure is said --------------------------------- */

/* What kind of wrong a failure is, for the summary's four zeros. */
enum wrong {
	WRONG_OTHER,
	WRONG_LOST,
	WRONG_DOUBLED,
	WRONG_DISORDERED,
	WRONG_CORRUPT,
};

void trace_add(struct world *world, enum trace_kind kind, const struct side *side, uint64_t a,
	       uint64_t b, uint64_t c, uint64_t d);
void trace_as(struct world *world, enum trace_kind kind, uint32_t who, uint64_t a, uint64_t b,
	      uint64_t c, uint64_t d);
void trace_bytes(struct world *world, const uint8_t *bytes, size_t len);
void trace_current(struct world *world); /* whose trace an assertion of ours prints */

/** An invariant does not hold: say so, with everything needed to see it again, and end. */
__attribute__((noreturn, cold, format(printf, 5, 6))) void
sim_fail(struct world *world, enum sim_exit how, const char *name, enum wrong wrong,
	 const char *format, ...);

#define sim_must(world, cond, name, ...)                                                \
	do {                                                                            \
		if (plx_unlikely(!(cond)))                                              \
			sim_fail((world), SIM_WRONG, (name), WRONG_OTHER, __VA_ARGS__); \
	} while (0)

/* How a command line says what is simulated. */
static inline const char *
sim_subject_option(const struct sim_options *options)
{
	return options->cm ? " --cm" : options->engine ? " --engine" : "";
}

/* ---- jobs.c: runs in processes of their own ------------------------------------------------- */

/* How one run ended. */
struct job_result {
	int how; /* enum sim_exit */
	char invariant[16];
	uint64_t seed;
	uint64_t keys; /* recorded; they follow */
	struct sim_stats stats;
};

/* world_run(), or with whole engines */
typedef void (*run_fn)(const struct sim_options *options, uint64_t seed,
		       const struct sim_mask *mask, struct sim_stats *out);

int jobs_run(const struct sim_options *options);
void exchange_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
		  struct sim_stats *out);
void fleet_run(const struct sim_options *options, uint64_t seed, const struct sim_mask *mask,
	       struct sim_stats *out);
void jobs_run_one(const struct sim_options *options, const struct sim_mask *mask, bool quiet,
		  struct job_result *out);
__attribute__((noreturn)) void jobs_failed(struct world *world, enum sim_exit how,
					   const char *invariant);

/* ---- keys.c, shrink.c, scripted.c: making a failure small ----------------------------------- */

void keys_add(struct sim_keys *keys, uint64_t key);
bool mask_keeps(struct world *world, enum sim_key_kind kind, uint64_t who, uint64_t ordinal);
void mask_last_ops(struct world *world);
int shrink_run(const struct sim_options *options);
void scripted_birth(struct side *side);
void scripted_op(struct side *side, const struct op *op);
void scripted_receive(struct side *side, uint32_t bytes);
void scripted_revoke(struct side *side, const struct op *op);
void scripted_packet(struct side *side, const struct packet *packet, const struct fault *fault);
void scripted_write(const struct world *world, const char *invariant);

/* ---- world.c: what every run begins and ends with ------------------------------------------- */

void world_begin(struct world *world, const struct sim_options *options, uint64_t seed);
void world_end(struct world *world, struct sim_stats *out);
void world_link_stations(struct world *world);

/* ---- draw.c: what a seed means -------------------------------------------------------------- */

void draw_config(struct world *world);
struct plx_prng draw_stream(uint64_t seed, uint64_t what, uint64_t who, uint64_t ordinal);
uint64_t draw_between(struct plx_prng *prng, uint64_t low, uint64_t high); /* inclusive */
uint64_t draw_log(struct plx_prng *prng, uint64_t low, uint64_t high);     /* log-uniform */
uint64_t draw_exponential(struct plx_prng *prng, uint64_t mean);
bool draw_percent(struct plx_prng *prng, uint32_t percent);

/* ---- heap.c, clock.c: time ------------------------------------------------------------------ */

void heap_push(struct world *world, uint64_t at, enum sim_event_kind kind, void *what);
bool heap_pop(struct world *world, struct sim_event *out);
void heap_free(struct world *world);
void clock_start(struct station *station);
void clock_step(struct station *station, uint64_t ns);
uint64_t clock_local(const struct station *station);
uint64_t clock_global(const struct station *station, uint64_t local);

/* ---- slab.c, grant.c: memory and keys ------------------------------------------------------- */

uint8_t *source_bytes(void); /* SIM_SOURCE_BYTES, read-only */
struct slab *slab_create(struct station *station, struct plx_prng *prng, uint32_t size);
void slab_destroy(struct station *station, struct slab *slab);
void slab_check(struct world *world, const struct slab *slab);
uint8_t *slab_host(const struct slab *slab, uint64_t va);
uint8_t *slab_shadow(const struct slab *slab, uint64_t va);
/** Where byte `offset` of an SGE list lies, and how many follow there in one piece. */
uint64_t sges_at(const struct plx_sge *sge, uint32_t sges, uint32_t offset, uint32_t *contiguous);

enum opinion {
	OPINION_NO,
	OPINION_MAYBE,
	OPINION_YES,
};

void grant_register(struct station *station, struct grant *grant);
void grant_refresh(struct station *station, struct grant *grant);
void grant_create_window(struct station *station, struct grant *grant, struct grant *parent);
void grant_bind(struct station *station, struct grant *grant, uint32_t qpn);
void grant_retire(struct station *station, struct grant *grant);
void grant_invalidated(struct world *world, struct grant *grant);
bool grant_covers(const struct grant *grant, uint64_t va, uint64_t length);
enum opinion grant_opinion(const struct grant *grant, uint32_t rkey, const struct side *side,
			   uint64_t va, uint64_t length, uint8_t need);
void revoke_when_due(struct side *side, struct op *op, uint32_t packets);
void revoke_now(struct world *world);

/* ---- station.c, receive.c ------------------------------------------------------------------- */

void station_create(struct world *world, uint32_t index, const struct ep_hooks *hooks);
void station_destroy(struct station *station);

struct receiver_shape receiver_draw(const struct world *world, struct plx_prng *prng);
struct receiver *receiver_create_shared(struct station *station, struct plx_prng *prng);
struct receiver *receiver_create_own(struct side *side, const struct receiver_shape *shape);
void receiver_destroy(struct receiver *rx);
void receiver_forget(struct receiver *rx);
void receiver_fill(struct receiver *rx, uint32_t count);
void receiver_wants(struct receiver *rx);
void receiver_on_event(struct receiver *rx);
struct receive *receiver_first(const struct receiver *rx);
struct receive *receiver_take(struct receiver *rx);
void receiver_return(struct receiver *rx, struct receive *slot);

/* ---- pair.c, close.c, side.c, cc.c: lives --------------------------------------------------- */

void pair_assign(struct world *world, uint32_t index);
void pair_birth(struct pair *pair);
void pair_wants_close(struct pair *pair);
void pair_close(struct pair *pair, bool last);
void drop_offers(struct side *side);
void side_vanish(struct side *side);
void side_schedule(struct side *side);
void side_settle(struct side *side);
void side_transmit(struct side *side);
void side_on_tx(struct side *side);
void side_on_wake(struct side *side);
void side_after_packet(struct side *side, bool received);
void side_collect(struct side *side);
struct sim_cc *sim_cc_create(struct plx_prng *prng, struct ep_qp_config *config);

/** A wire PSN as the absolute one nearest to `near`. */
static inline uint64_t
psn_absolute(uint64_t near, struct plx_psn psn)
{
	int32_t ahead = (int32_t)((psn.v - (uint32_t)near) << 8) >> 8;

	return near + (uint64_t)(int64_t)ahead;
}

/* ---- workload.c, post.c, misuse.c: applications --------------------------------------------- */

void workload_wake(struct side *side, uint64_t at);
void workload_on_event(struct side *side);
bool workload_left(const struct side *side);
bool workload_post(struct side *side);
uint8_t right_of(uint32_t kind);
bool waits_for_answer(uint32_t kind);
void aim(struct op *op, struct grant *grant, uint64_t va);
void post_op(struct side *side, struct op *op);
bool post_has_room(const struct side *side);
void post_when_full(struct side *side);
void post_after_death(struct side *side);
void misuse_draw(struct side *side, struct op *op, struct plx_prng *prng);
void side_kill(struct side *side);
void kill_something(struct side *side, struct plx_prng *prng);
void drain_resume(struct side *side);

/* ---- link.c, weather.c: the wire ------------------------------------------------------------ */

void link_send(struct side *side, uint8_t *bytes, size_t len);
void link_stray(struct world *world, struct station *to, uint8_t *bytes, size_t len);
void link_arrive(struct world *world, struct packet *packet);
void link_landed(struct world *world, struct packet *packet);
void link_release(struct world *world, struct packet *packet);
void link_free(struct world *world);
struct fault weather_fault(struct side *side, struct plx_prng *prng, bool lost);
void weather_flip(struct world *world, struct packet *packet, const struct fault *fault);
void weather_mark(struct packet *packet);
void weather_seal(uint8_t *bytes, size_t len);
void weather_stray(struct side *side);
void weather_begin(struct world *world);
void weather_on_down(struct world *world);
void weather_on_clog(struct world *world);
void weather_on_step(struct world *world);
void weather_clears(struct world *world);

/* ---- judge.c, requests.c, answers.c, emission.c, recovery.c, completion.c, limits.c,
 * evil.c: the oracle -- */

extern const struct ep_hooks judge_hooks;
bool judge_done(struct world *world);
void request_judge(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict);
void answer_judge(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict);
struct op *request_at(const struct side *side, uint64_t psn);
void headers_check(struct world *world, const struct op *op, const struct plx_pkt *pkt,
		   uint32_t offset, uint32_t mtu);
void content_check(struct world *world, const struct side *source, const struct op *op,
		   uint32_t offset, const uint8_t *src, uint32_t bytes);
void frame_check(struct side *side, const struct plx_emit *emit, const uint8_t *bytes, size_t len);
void emission_check(struct side *side, const struct plx_emit *emit);
/* A marked packet of the peer was judged. */
void emission_mark(struct side *side);
void reply_check(struct side *side, const struct plx_emit *emit, const uint8_t *bytes, size_t len);
enum plx_wc_status status_of_fatal(enum plx_verdict verdict);
void complete_send(struct side *side, const struct plx_completion *completion);
void complete_receive(struct side *side, const struct plx_completion *completion);
void complete_silent(struct side *side);
void side_flushed(struct side *side);
void limits_check(struct side *side, const struct plx_rc_view *view);
void limits_observe(struct side *side, const struct plx_rc_view *view);
void recovery_begin(struct side *side);
void recovery_sent(struct side *side, const struct plx_pkt *pkt, uint64_t psn, uint32_t psns);
void recovery_acknowledged(struct side *side, uint64_t packets);
void recovery_answered(struct side *side, const struct plx_pkt *pkt, enum plx_verdict verdict);
void recovery_check(struct side *side, const struct plx_rc_view *view);
bool recovery_may_give_up(const struct side *side);
bool recovery_may_give_up_rnr(const struct side *side);
void fence_check(struct side *side, const struct op *fenced);
void evil_judge(struct world *world, struct side *side, const struct plx_pkt *pkt,
		enum plx_verdict verdict);
void evil_memory(struct world *world, struct side *side, const struct plx_action *action);
void evil_receive(struct side *side, const struct plx_completion *completion);

#endif
