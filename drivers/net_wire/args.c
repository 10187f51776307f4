/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading "net_wire3,end=0,loss=0.001": a table of arguments, each with its range and its place.
 * Every refusal names the argument, its value and what is allowed. It touches no device.
 * Start with args_parse().
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_kvargs.h>

#include "args.h"

#define NAME "net_wire"

enum argument_kind {
	ARGUMENT_PROBABILITY = 1,
	ARGUMENT_NUMBER,
	ARGUMENT_SEED,
};

struct argument {
	const char *key;
	enum argument_kind kind;
	size_t place; /* in struct args */
	uint64_t min, max;
};

#define PROBABILITY(key)                                                            \
	{                                                                           \
#key, ARGUMENT_PROBABILITY, offsetof(struct args, faults.key), 0, 1 \
	}
#define NUMBER(key, place, min, max)                                              \
	{                                                                         \
#key, ARGUMENT_NUMBER, offsetof(struct args, place), (min), (max) \
	}

static const struct argument arguments[] = {
	NUMBER(end, end, 0, 1),
	NUMBER(shift, shift, 0, PLX_NET_WIRE_QUEUES_MAX - 1),
	{"seed", ARGUMENT_SEED, offsetof(struct args, faults.seed), 0, UINT64_MAX},
	PROBABILITY(loss),
	PROBABILITY(duplicate),
	PROBABILITY(corrupt),
	PROBABILITY(reorder),
	NUMBER(depth, faults.depth, 1, PLX_NET_WIRE_DEPTH_MAX),
	NUMBER(delay_us, faults.delay_us, 0, FAULT_DELAY_US),
	NUMBER(rate_mbps, faults.rate_mbps, 0, FAULT_RATE_MBPS),
	PROBABILITY(mark),
	NUMBER(mark_us, faults.mark_us, 0, FAULT_DELAY_US),
	NUMBER(flood, faults.flood, 0, FAULT_FLOOD),
};

/* Parse a decimal fraction with a point, whatever the program's locale; NAN: not a number. */
static double
fraction(const char *text)
{
	locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	char *end = NULL;
	double value;

	if (plain == (locale_t)0)
		return __builtin_nan("");
	value = strtod_l(text, &end, plain);
	freelocale(plain);
	return end == text || *end != '\0' ? __builtin_nan("") : value;
}

/* Parse digits only; false: anything else, or out of range. */
static bool
whole(const char *text, uint64_t *value)
{
	char *end = NULL;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

static enum plx_status
set_argument(const struct argument *argument, const char *text, struct args *out,
	     struct plx_why *why)
{
	char *place = (char *)out + argument->place;
	double probability;
	uint64_t number;

	if (argument->kind == ARGUMENT_PROBABILITY) {
		probability = fraction(text);
		if (probability >= 0 && probability <= 1) {
			memcpy(place, &probability, sizeof(probability));
			return PLX_OK;
		}
		plx_why_set(why, NAME "%u: %s=%.40s is no probability of 0 to 1, such as 0.001",
			    out->link, argument->key, text);
		return PLX_INVALID;
	}
	if (!whole(text, &number) || number < argument->min || number > argument->max) {
		plx_why_set(why, NAME "%u: %s=%.40s is no number of %llu to %llu", out->link,
			    argument->key, text, (unsigned long long)argument->min,
			    (unsigned long long)argument->max);
		return PLX_INVALID;
	}
	if (argument->kind == ARGUMENT_SEED)
		memcpy(place, &number, sizeof(number));
	else
		memcpy(place, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
	return PLX_OK;
}

static enum plx_status
set_pair(const struct rte_kvargs_pair *pair, uint32_t *seen, struct args *out, struct plx_why *why)
{
	for (uint32_t i = 0; i < PLX_COUNT_OF(arguments); i++) {
		if (strcmp(pair->key, arguments[i].key) != 0)
			continue;
		if (*seen & 1u << i) {
			plx_why_set(why, NAME "%u: %s= is there twice; give it once", out->link,
				    pair->key);
			return PLX_INVALID;
		}
		*seen |= 1u << i;
		return set_argument(&arguments[i], pair->value ? pair->value : "", out, why);
	}
	plx_why_set(why,
		    NAME "%u: there is no argument \"%.40s\"; there are end, shift, seed, "
			 "loss, duplicate, corrupt, reorder, depth, delay_us, rate_mbps, mark, "
			 "mark_us, flood",
		    out->link, pair->key);
	return PLX_INVALID;
}

static enum plx_status
set_all(const char *text, struct args *out, struct plx_why *why)
{
	struct rte_kvargs *list = rte_kvargs_parse(text, NULL);
	enum plx_status status = PLX_OK;
	uint32_t seen = 0;

	if (list == NULL) {
		plx_why_set(why,
			    NAME "%u: \"%.80s\" is no list of arguments; write key=value, "
				 "separated by commas, at most %d",
			    out->link, text, RTE_KVARGS_MAX);
		return PLX_INVALID;
	}
	for (unsigned int i = 0; i < list->count && status == PLX_OK; i++)
		status = set_pair(&list->pairs[i], &seen, out, why);
	rte_kvargs_free(list);
	if (status == PLX_OK && !(seen & 1)) {
		plx_why_set(why, NAME "%u: which end? write end=0 or end=1", out->link);
		return PLX_INVALID;
	}
	return status;
}

bool
plx_net_wire_is(const char *device)
{
	return device != NULL && strncmp(device, NAME, sizeof(NAME) - 1) == 0;
}

enum plx_status
args_parse(const char *device, struct args *out, struct plx_why *why)
{
	const char *number = device + sizeof(NAME) - 1;
	size_t digits;

	*out = (struct args){.faults = {.seed = 1, .depth = FAULT_DEPTH}};
	digits = plx_net_wire_is(device) ? strspn(number, "0123456789") : 0;
	if (digits > 0 && digits <= 2)
		out->link = (uint32_t)strtoul(number, NULL, 10);
	if (digits == 0 || digits > 2 || out->link >= PLX_NET_WIRE_LINKS_MAX ||
	    (number[digits] != ',' && number[digits] != '\0')) {
		plx_why_set(why,
			    "\"%.40s\" is no embedded link; write " NAME "N,end=0 and " NAME
			    "N,end=1 with N of 0 to %d",
			    device == NULL ? "" : device, PLX_NET_WIRE_LINKS_MAX - 1);
		return PLX_INVALID;
	}
	return set_all(number[digits] == ',' ? number + digits + 1 : "", out, why);
}
