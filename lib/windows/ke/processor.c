/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors: those that are online when they are counted first, with an index each, then those
 * that may come online. Group and number are parts of the index. Start with count().
 */
#include "ke.h"

#include <stdio.h>
#include <unistd.h>

static struct {
	ULONG active, all; /* [processors] */
	ULONG highest_node;
	short cpu_of[KE_PROCESSORS_MAX];   /* by index */
	short index_of[KE_PROCESSORS_MAX]; /* by the system's number */
	USHORT node_of[KE_PROCESSORS_MAX]; /* by index; 0 without sysfs */
} processors;
static pthread_once_t counted = PTHREAD_ONCE_INIT;

/* The highest number of a list such as "0-3,6", or what `each` makes of the numbers. */
static ULONG
read_list(const char *path, void (*each)(unsigned int number))
{
	FILE *file = fopen(path, "re");
	unsigned int first, last = 0;

	if (file == NULL)
		return 0;
	while (fscanf(file, "%u", &first) == 1) {
		last = first;
		if (fscanf(file, "-%u", &last) != 1)
			last = first;
		for (unsigned int i = first; each != NULL && i <= last; i++)
			each(i);
		if (fgetc(file) != ',')
			break;
	}
	fclose(file);
	return last;
}

static void
add(unsigned int cpu)
{
	if (cpu >= KE_PROCESSORS_MAX || processors.index_of[cpu] >= 0)
		return;
	processors.index_of[cpu] = (short)processors.all;
	processors.cpu_of[processors.all++] = (short)cpu;
}

/* The processors of a node, of which those that are counted matter. */
static USHORT node_read;

static void
add_to_node(unsigned int cpu)
{
	if (cpu < KE_PROCESSORS_MAX && processors.index_of[cpu] >= 0)
		processors.node_of[processors.index_of[cpu]] = node_read;
}

static void
read_nodes(void)
{
	char path[64];

	processors.highest_node = read_list("/sys/devices/system/node/online", NULL);
	for (ULONG i = 0; i <= processors.highest_node && i <= UINT16_MAX; i++) {
		node_read = (USHORT)i;
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", i);
		read_list(path, add_to_node);
	}
}

static void
count(void)
{
	for (unsigned int i = 0; i < KE_PROCESSORS_MAX; i++)
		processors.index_of[i] = -1;
	read_list("/sys/devices/system/cpu/online", add);
	if (processors.all == 0) /* without sysfs */
		for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
			add((unsigned int)i);
	processors.active = processors.all;
	read_list("/sys/devices/system/cpu/present", add);
	read_nodes();
}

static ULONG
active(void)
{
	pthread_once(&counted, count);
	return processors.active;
}

static ULONG
all(void)
{
	pthread_once(&counted, count);
	return processors.all;
}

int
ke_cpu_of(ULONG index)
{
	return index < active() ? processors.cpu_of[index] : -1;
}

cpu_set_t
ke_cpus_of(const GROUP_AFFINITY *affinity)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (ULONG i = 0; i < KE_GROUP; i++) {
		int cpu = ke_cpu_of((ULONG)affinity->Group * KE_GROUP + i);

		if (affinity->Mask >> i & 1 && cpu >= 0)
			CPU_SET((size_t)cpu, &set);
	}
	return set;
}

/* How many of `n` processors a group has. */
static ULONG
share(ULONG n, USHORT group)
{
	ULONG before = (ULONG)group * KE_GROUP;

	if (group == ALL_PROCESSOR_GROUPS)
		return n;
	if (n <= before)
		return 0;
	return n - before < KE_GROUP ? n - before : KE_GROUP;
}

ULONG
KeQueryActiveProcessorCountEx(USHORT group)
{
	return share(active(), group);
}

ULONG
KeQueryMaximumProcessorCountEx(USHORT group)
{
	return share(all(), group);
}

ULONG
KeQueryMaximumProcessorCount(VOID)
{
	return KeQueryMaximumProcessorCountEx(0);
}

KAFFINITY
KeQueryGroupAffinity(USHORT group)
{
	ULONG n = group == ALL_PROCESSOR_GROUPS ? 0 : share(active(), group);

	if (n == 0)
		return 0;
	return ~(KAFFINITY)0 >> (KE_GROUP - n);
}

KAFFINITY
KeQueryActiveProcessors(VOID)
{
	return KeQueryGroupAffinity(0);
}

ULONG
KeQueryActiveProcessorCount(PKAFFINITY mask)
{
	if (mask != NULL)
		*mask = KeQueryGroupAffinity(0);
	return KeQueryActiveProcessorCountEx(0);
}

USHORT
KeQueryActiveGroupCount(VOID)
{
	return (USHORT)((active() + KE_GROUP - 1) / KE_GROUP);
}

USHORT
KeQueryMaximumGroupCount(VOID)
{
	return (USHORT)((all() + KE_GROUP - 1) / KE_GROUP);
}

USHORT
KeQueryHighestNodeNumber(VOID)
{
	pthread_once(&counted, count);
	return (USHORT)processors.highest_node;
}

static void
number_of(ULONG index, PPROCESSOR_NUMBER number)
{
	*number = (PROCESSOR_NUMBER){
		.Group = (WORD)(index / KE_GROUP),
		.Number = (BYTE)(index % KE_GROUP),
	};
}

ULONG
KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER number)
{
	int cpu = sched_getcpu();
	ULONG index = 0;

	pthread_once(&counted, count);
	/* One that was not there when they were counted has no index; the first stands for it. */
	if (cpu >= 0 && cpu < KE_PROCESSORS_MAX && processors.index_of[cpu] >= 0)
		index = (ULONG)processors.index_of[cpu];
	if (number != NULL)
		number_of(index, number);
	return index;
}

ULONG
KeGetCurrentProcessorNumber(VOID)
{
	return KeGetCurrentProcessorNumberEx(NULL) % KE_GROUP;
}

USHORT
KeGetCurrentNodeNumber(VOID)
{
	return processors.node_of[KeGetCurrentProcessorNumberEx(NULL)];
}

/* Those of a node in one group. */
static GROUP_AFFINITY
node_in_group(USHORT node, USHORT group)
{
	GROUP_AFFINITY found = {.Group = group};

	for (ULONG i = 0; i < share(active(), group); i++)
		if (processors.node_of[(ULONG)group * KE_GROUP + i] == node)
			found.Mask |= (KAFFINITY)1 << i;
	return found;
}

VOID
KeQueryNodeActiveAffinity(USHORT node, PGROUP_AFFINITY affinity, PUSHORT count_of)
{
	GROUP_AFFINITY most = node_in_group(node, 0);

	for (USHORT group = 1; group < KeQueryActiveGroupCount(); group++) {
		GROUP_AFFINITY other = node_in_group(node, group);

		if (__builtin_popcountll(other.Mask) > __builtin_popcountll(most.Mask))
			most = other;
	}
	if (affinity != NULL)
		*affinity = most;
	if (count_of != NULL)
		*count_of = (USHORT)__builtin_popcountll(most.Mask);
}

NTSTATUS
KeGetProcessorNumberFromIndex(ULONG index, PPROCESSOR_NUMBER number)
{
	if (index >= active())
		return STATUS_INVALID_PARAMETER;
	number_of(index, number);
	return STATUS_SUCCESS;
}

ULONG
KeGetProcessorIndexFromNumber(PPROCESSOR_NUMBER number)
{
	ULONG index = (ULONG)number->Group * KE_GROUP + number->Number;

	if (number->Number >= KE_GROUP || index >= active())
		return INVALID_PROCESSOR_INDEX;
	return index;
}
