/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The telemetry commands of a running program for dpdk-telemetry.py: /pollux/list, /pollux/adapter,
 * /pollux/qps and /pollux/qp. They run on DPDK's own thread, concurrently with the engines.
 * It changes nothing. Start with telemetry_start(); docs/telemetry.md has samples.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "adapter.h"
#include "plx_counters.h"
#include "plx_question.h"

enum {
	COUNTERS_MAX = 256, /* in one answer */
};

bool
plx_question_parse(const char *parameters, struct plx_question *question)
{
	char *comma, *end;

	if (!parameters || strlen(parameters) >= sizeof(question->name))
		return false;
	memcpy(question->name, parameters, strlen(parameters) + 1);
	comma = strchr(question->name, ',');
	if (!comma)
		return true;
	*comma = '\0';
	question->number = (uint32_t)strtoul(comma + 1, &end, 0);
	question->has_number = end != comma + 1 && !*end;
	return question->has_number;
}

void
plx_question_add_number(struct plx_question *question, uint64_t number)
{
	uint32_t at = question->passed++;

	if (at >= question->number && at - question->number < RTE_TEL_MAX_ARRAY_ENTRIES)
		rte_tel_data_add_array_u64(question->answer, number);
}

/* @param n how many there are of both, perhaps more than COUNTERS_MAX */
static void
add_counters(struct rte_tel_data *answer, const struct plx_counter *names, const uint64_t *values,
	     uint32_t n)
{
	struct rte_tel_data *inner = rte_tel_data_alloc();

	if (!inner)
		return;
	rte_tel_data_start_dict(inner);
	for (uint32_t i = 0; i < n && i < COUNTERS_MAX; i++)
		rte_tel_data_add_dict_u64(inner, names[i].name, values[i]);
	/* freed by DPDK after sending */
	rte_tel_data_add_dict_container(answer, "counters", inner, 0);
}

/* ---- adapters ---- */

static void
add_name(struct host_adapter *adapter, void *context)
{
	rte_tel_data_add_array_string(context, adapter->info.name);
}

static int
answer_list(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	(void)command;
	(void)parameters;
	rte_tel_data_start_array(answer, RTE_TEL_STRING_VAL);
	(void)registry_visit(NULL, add_name, answer);
	return 0;
}

static void
add_addresses(struct rte_tel_data *answer, const struct host_adapter *adapter)
{
	struct rte_tel_data *inner = rte_tel_data_alloc();

	if (!inner)
		return;
	rte_tel_data_start_array(inner, RTE_TEL_STRING_VAL);
	for (uint32_t i = 0; i < adapter->options.addresses; i++) {
		const struct plx_ip *ip = &adapter->options.address[i].ip;
		char host[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 8];

		inet_ntop(ip->version == 4 ? AF_INET : AF_INET6, ip->v, host, sizeof(host));
		snprintf(text, sizeof(text), "%s/%u", host,
			 adapter->options.address[i].prefix_bits);
		rte_tel_data_add_array_string(inner, text);
	}
	rte_tel_data_add_dict_container(answer, "addresses", inner, 0);
}

static void
add_objects(struct rte_tel_data *answer, struct host_adapter *adapter)
{
	const struct plx_object_counts *count = &adapter->count;

	rte_tel_data_add_dict_u64(answer, "pds", count->pds);
	rte_tel_data_add_dict_u64(answer, "mrs", count->mrs);
	rte_tel_data_add_dict_u64(answer, "mws", count->mws);
	rte_tel_data_add_dict_u64(answer, "cqs", count->cqs);
	rte_tel_data_add_dict_u64(answer, "srqs", count->srqs);
	rte_tel_data_add_dict_u64(answer, "qps", count->qps);
	rte_tel_data_add_dict_u64(answer, "ahs", count->ahs);
}

static void
describe_adapter(struct host_adapter *adapter, void *context)
{
	struct plx_question *question = context;
	struct rte_tel_data *answer = question->answer;
	struct plx_counter names[COUNTERS_MAX];
	uint64_t values[COUNTERS_MAX];
	struct plx_adapter_info info;
	uint32_t n, kinds;
	char mac[18];

	plx_host_adapter_query(adapter, &info);
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", info.mac[0], info.mac[1],
		 info.mac[2], info.mac[3], info.mac[4], info.mac[5]);
	rte_tel_data_start_dict(answer);
	rte_tel_data_add_dict_string(answer, "name", info.name);
	rte_tel_data_add_dict_string(answer, "device", info.device);
	rte_tel_data_add_dict_string(answer, "mac", mac);
	rte_tel_data_add_dict_string(answer, "link", info.link_up ? "up" : "down");
	rte_tel_data_add_dict_string(answer, "mode",
				     info.mode == PLX_MODE_INLINE ? "inline" : "worker");
	rte_tel_data_add_dict_string(answer, "memory", info.hugepages ? "hugepages" : "pages");
	rte_tel_data_add_dict_int(answer, "socket", info.socket);
	rte_tel_data_add_dict_u64(answer, "path_mtu", info.path_mtu);
	rte_tel_data_add_dict_u64(answer, "vlan", info.vlan);
	rte_tel_data_add_dict_u64(answer, "interface_index", info.interface_index);
	rte_tel_data_add_dict_int(answer, "dispatcher_core", info.dispatcher_core);
	if (*adapter->dma_refused_why)
		rte_tel_data_add_dict_string(answer, "dma_refused_why", adapter->dma_refused_why);
	add_addresses(answer, adapter);
	add_objects(answer, adapter);
	n = plx_host_counters(adapter, values, COUNTERS_MAX, &kinds);
	(void)plx_counter_names(kinds, names, COUNTERS_MAX);
	add_counters(answer, names, values, n);
}

static int
answer_adapter(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	struct plx_question question = {.answer = answer};

	(void)command;
	if (!plx_question_parse(parameters, &question) || question.has_number)
		return -1;
	return registry_visit(question.name, describe_adapter, &question) ? 0 : -1;
}

/* ---- queue pairs ---- */

static uint32_t
number_of(const struct host_qp *qp)
{
	struct qp_back_made made;

	plx_qp_back_made(qp->back, &made);
	return made.qpn;
}

static void
list_qps(struct host_adapter *adapter, void *context)
{
	struct plx_question *question = context;
	struct plx_list *node, *after;

	rte_tel_data_start_array(question->answer, RTE_TEL_U64_VAL);
	pthread_mutex_lock(&adapter->lock);
	plx_list_for_each (node, after, &adapter->qps)
		plx_question_add_number(question,
					number_of(plx_list_entry(node, struct host_qp, link)));
	pthread_mutex_unlock(&adapter->lock);
}

static int
answer_qps(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	struct plx_question question = {.answer = answer};

	(void)command;
	if (!plx_question_parse(parameters, &question))
		return -1;
	return registry_visit(question.name, list_qps, &question) ? 0 : -1;
}

static void
describe_qp(struct engine_qp *qp, struct rte_tel_data *answer)
{
	struct plx_counter names[COUNTERS_MAX];
	uint64_t values[COUNTERS_MAX];
	uint32_t n = plx_host_qp_counters(plx_qp_back_counters(qp), values, COUNTERS_MAX);
	struct qp_back_made made;

	plx_qp_back_made(qp, &made);
	rte_tel_data_start_dict(answer);
	rte_tel_data_add_dict_u64(answer, "qpn", made.qpn);
	rte_tel_data_add_dict_string(answer, "type", made.type == PLX_QP_UD ? "UD" : "RC");
	rte_tel_data_add_dict_string(answer, "state", plx_qp_state_name(plx_qp_back_state(qp)));
	rte_tel_data_add_dict_u64(answer, "sq_depth", made.caps.sq_depth);
	rte_tel_data_add_dict_u64(answer, "rq_depth", made.rq_depth);
	rte_tel_data_add_dict_u64(answer, "context", made.context);
	(void)plx_qp_counter_names(names, COUNTERS_MAX);
	add_counters(answer, names, values, n);
}

static void
find_qp(struct host_adapter *adapter, void *context)
{
	struct plx_question *question = context;
	struct plx_list *node, *after;

	pthread_mutex_lock(&adapter->lock);
	plx_list_for_each (node, after, &adapter->qps) {
		const struct host_qp *qp = plx_list_entry(node, struct host_qp, link);

		if (question->answered || number_of(qp) != question->number)
			continue;
		describe_qp(qp->back, question->answer);
		question->answered = true;
	}
	pthread_mutex_unlock(&adapter->lock);
}

static int
answer_qp(const char *command, const char *parameters, struct rte_tel_data *answer)
{
	struct plx_question question = {.answer = answer};

	(void)command;
	if (!plx_question_parse(parameters, &question) || !question.has_number)
		return -1;
	(void)registry_visit(question.name, find_qp, &question);
	return question.answered ? 0 : -1;
}

void
telemetry_start(void)
{
	(void)rte_telemetry_register_cmd("/pollux/list", answer_list,
					 "The open adapters. No parameters");
	(void)rte_telemetry_register_cmd("/pollux/adapter", answer_adapter,
					 "An adapter and its counters. Parameters: name");
	(void)rte_telemetry_register_cmd("/pollux/qps", answer_qps,
					 "Numbers of an adapter's queue pairs, 512 at a time. "
					 "Parameters: name[,how many to skip]");
	(void)rte_telemetry_register_cmd("/pollux/qp", answer_qp,
					 "A queue pair and its counters. Parameters: "
					 "adapter,number");
}
