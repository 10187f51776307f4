/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Telemetry commands of a host, for dpdk-telemetry.py: /pollux/seats and /pollux/seat. They run on
 * DPDK's own thread, concurrently with the threads that serve programs, and ask no engine. Start
 * with seats_tell().
 */
#include <string.h>

#include <rte_telemetry.h>

#include "daemon.h"
#include "plx_question.h"

/* A host of a program: it may have several. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plx_list hosts = {&hosts, &hosts};

/* Call with each seat of an adapter, in the order in which they were taken; its host's lock is held
 * meanwhile, so that no seat begins or ends. Returns: whether a host offers the adapter */
static bool
visit(struct plx_question *question, void (*tell)(struct plx_question *, const struct session *))
{
	struct plx_list *at, *later, *node, *after;
	bool found = false;

	pthread_mutex_lock(&lock);
	plx_list_for_each (at, later, &hosts) {
		struct plx_host *host = plx_list_entry(at, struct plx_host, link);

		pthread_mutex_lock(&host->lock);
		for (uint32_t i = 0; i < host->offers; i++)
			found |= strcmp(host->offer[i].name, question->name) == 0;
		plx_list_for_each (node, after, &host->seated) {
			const struct session *session = plx_list_entry(node, struct session, link);

			if (session->seat != NULL && strcmp(session->at->name, question->name) == 0)
				tell(question, session);
		}
		pthread_mutex_unlock(&host->lock);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* ---- /pollux/seats ---- */

static void
add_number(struct plx_question *question, const struct session *session)
{
	plx_question_add_number(question, session->number);
}

static int
answer_seats(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	struct plx_question question = {.answer = answer};

	(void)command;
	if (!plx_question_parse(parameters, &question))
		return -1;
	rte_tel_data_start_array(answer, RTE_TEL_U64_VAL);
	return visit(&question, add_number) ? 0 : -1;
}

/* ---- /pollux/seat ---- */

static const struct {
	enum plx_host_kind kind;
	const char *used, *most;
} quotas[] = {
	{PLX_HOST_QUEUE_PAIRS, "queue_pairs", "queue_pairs_max"},
	{PLX_HOST_CONNECTIONS, "connections", "connections_max"},
	{PLX_HOST_KEYS, "keys", "keys_max"},
	{PLX_HOST_MEMORY, "memory_bytes", "memory_bytes_max"},
};

static uint32_t
objects_of(struct host_seat *seat)
{
	uint32_t used;

	pthread_mutex_lock(&seat->table.lock);
	used = seat->table.used;
	pthread_mutex_unlock(&seat->table.lock);
	return used;
}

static void
describe(struct plx_question *question, const struct session *session)
{
	struct rte_tel_data *answer = question->answer;
	const struct host_seat *seat = session->seat;

	if (session->number != question->number)
		return;
	question->answered = true;
	rte_tel_data_start_dict(answer);
	rte_tel_data_add_dict_u64(answer, "seat", session->number);
	rte_tel_data_add_dict_string(answer, "adapter", session->at->name);
	rte_tel_data_add_dict_int(answer, "pid", session->who.pid);
	rte_tel_data_add_dict_u64(answer, "uid", session->who.uid);
	rte_tel_data_add_dict_string(answer, "user", session->who.user);
	rte_tel_data_add_dict_u64(answer, "seconds",
				  (plx_clock_ns() - session->since_ns) / PLX_SEC);
	rte_tel_data_add_dict_u64(answer, "objects", objects_of(session->seat));
	for (uint32_t i = 0; i < PLX_COUNT_OF(quotas); i++) {
		rte_tel_data_add_dict_u64(answer, quotas[i].used,
					  atomic_load(&seat->used[quotas[i].kind]));
		rte_tel_data_add_dict_u64(answer, quotas[i].most,
					  seat->rights->quota[quotas[i].kind]);
	}
	rte_tel_data_add_dict_u64(answer, "refused", atomic_load(&seat->refused));
}

static int
answer_seat(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	struct plx_question question = {.answer = answer};

	(void)command;
	if (!plx_question_parse(parameters, &question) || !question.has_number)
		return -1;
	(void)visit(&question, describe);
	return question.answered ? 0 : -1;
}

/* ---- hosts ---- */

static void
register_commands(void)
{
	(void)rte_telemetry_register_cmd("/pollux/seats", answer_seats,
					 "Numbers of an adapter's seats, 512 at a time. "
					 "Parameters: name[,how many to skip]");
	(void)rte_telemetry_register_cmd("/pollux/seat", answer_seat,
					 "A seat: whose it is, and what it has of its quotas. "
					 "Parameters: adapter,number");
}

void
seats_tell(struct plx_host *host)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, register_commands);
	pthread_mutex_lock(&lock);
	plx_list_append(&hosts, &host->link);
	pthread_mutex_unlock(&lock);
}

void
seats_tell_no_more(struct plx_host *host)
{
	pthread_mutex_lock(&lock);
	plx_list_remove(&host->link);
	pthread_mutex_unlock(&lock);
}
