/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding, creating and removing ports. It removes only ports that it created. It never configures
 * or starts a port. Start with device_acquire().
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_devargs.h>

#include "device.h"

enum {
	SPEC_MAX = 512, /* [bytes] of a device string */
};

const char *
device_arguments(const struct rte_device *device)
{
	const struct rte_devargs *devargs = device == NULL ? NULL : rte_dev_devargs(device);

	return devargs == NULL || devargs->args == NULL ? "" : devargs->args;
}

static struct rte_device *
device_of_port(uint16_t port_id)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port_id, &info) == 0 ? info.device : NULL;
}

/* A device whose port we have closed although we did not create it. The EAL still knows the device,
 * refuses to probe it again, and has no stable function to find a device without a port. */
struct closed {
	struct closed *next;
	struct rte_device *device;
	char name[RTE_ETH_NAME_MAX_LEN];
	char spec[SPEC_MAX]; /* as given when it was created */
};

static pthread_mutex_t closed_lock = PTHREAD_MUTEX_INITIALIZER;
static struct closed *closed_first;

/* Call this before the close. If out of memory, the device merely cannot be opened again. */
static void
remember(const struct device *device, struct rte_device *behind)
{
	struct closed *closed = calloc(1, sizeof(*closed));
	const char *args = device_arguments(behind);

	if (closed == NULL)
		return;
	closed->device = behind;
	snprintf(closed->name, sizeof(closed->name), "%s", device->name);
	snprintf(closed->spec, sizeof(closed->spec), "%s%s%s", device->name,
		 args[0] == '\0' ? "" : ",", args);
	pthread_mutex_lock(&closed_lock);
	closed->next = closed_first;
	closed_first = closed;
	pthread_mutex_unlock(&closed_lock);
}

/* Remove it from the list; NULL: we have not closed a device of that name. */
static struct closed *
recall(const char *name)
{
	struct closed **at = &closed_first;
	struct closed *found;

	pthread_mutex_lock(&closed_lock);
	while (*at != NULL && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	found = *at;
	if (found != NULL)
		*at = found->next;
	pthread_mutex_unlock(&closed_lock);
	return found;
}

/* Probe `spec`. A device that we have closed is removed first, and is probed with its old arguments
 * unless `spec` has some. */
static int
probe(const char *name, const char *spec, bool *made)
{
	struct closed *closed = recall(name);
	int failed;

	*made = closed == NULL;
	if (closed == NULL)
		return rte_dev_probe(spec);
	failed = rte_dev_remove(closed->device);
	if (failed == 0)
		failed = rte_dev_probe(strcmp(name, spec) == 0 ? closed->spec : spec);
	free(closed);
	return failed;
}

static enum plx_status
make(const char *spec, struct device *out, struct plx_why *why)
{
	int failed = probe(out->name, spec, &out->made);

	if (failed) {
		plx_why_set(why,
			    "device \"%.100s\": there is none, and it cannot be made (%s); check "
			    "its name, arguments and rights, the EAL's log says more",
			    spec, strerror(-failed));
		return PLX_NO_DEVICE;
	}
	if (rte_eth_dev_get_port_by_name(out->name, &out->port_id) == 0)
		return PLX_OK;
	plx_why_set(why,
		    "device \"%.100s\" has no port of that name; write a PCI address in full, as "
		    "0000:3b:00.0",
		    spec);
	return PLX_NO_DEVICE;
}

/* A device that exists keeps its arguments; different ones in `spec` would be lost silently. */
static enum plx_status
keep(const char *spec, struct device *out, struct plx_why *why)
{
	const char *wanted = strchr(spec, ',');
	const char *has = device_arguments(device_of_port(out->port_id));

	out->made = false;
	if (wanted == NULL || strcmp(wanted + 1, has) == 0)
		return PLX_OK;
	plx_why_set(why,
		    "device \"%.60s\" exists already, with the arguments \"%.80s\"; leave yours "
		    "out or choose another name",
		    out->name, has);
	return PLX_NO_DEVICE;
}

/* The ports that are open here. ethdev's ownership is not used, because a port with an owner
 * disappears from every list of ports, from telemetry and from dpdk-dumpcap. */
static bool open_here[RTE_MAX_ETHPORTS];

static enum plx_status
own(const struct device *device, struct plx_why *why)
{
	struct rte_eth_dev_owner other = {.id = RTE_ETH_DEV_NO_OWNER};

	if (rte_eth_dev_owner_get(device->port_id, &other) == 0 &&
	    other.id != RTE_ETH_DEV_NO_OWNER) {
		plx_why_set(why, "device \"%.60s\" is in use by %.60s; name another one",
			    device->name, other.name);
		return PLX_NO_DEVICE;
	}
	if (__atomic_exchange_n(&open_here[device->port_id], true, __ATOMIC_ACQ_REL)) {
		plx_why_set(why,
			    "device \"%.60s\" is in use by another adapter of this program; close "
			    "that or name another device",
			    device->name);
		return PLX_NO_DEVICE;
	}
	return PLX_OK;
}

enum plx_status
device_acquire(const char *spec, struct device *out, struct plx_why *why)
{
	size_t length = strcspn(spec, ",");
	enum plx_status status;

	if (length == 0 || length >= sizeof(out->name) || strlen(spec) >= SPEC_MAX) {
		plx_why_set(why,
			    "device \"%.60s\": a name has 1 to %zu bytes, the whole string at "
			    "most %d",
			    spec, sizeof(out->name) - 1, SPEC_MAX - 1);
		return PLX_NO_DEVICE;
	}
	memcpy(out->name, spec, length);
	out->name[length] = '\0';
	if (rte_eth_dev_get_port_by_name(out->name, &out->port_id) == 0)
		status = keep(spec, out, why);
	else
		status = make(spec, out, why);
	if (status != PLX_OK)
		return status;
	return own(out, why);
}

void
device_release(struct device *device, enum device_fate fate)
{
	struct rte_device *device_behind = device_of_port(device->port_id);

	if (fate == DEVICE_CLOSE && device_behind != NULL)
		remember(device, device_behind);
	if (fate != DEVICE_LEAVE)
		rte_eth_dev_close(device->port_id);
	if (fate == DEVICE_REMOVE && device_behind != NULL)
		rte_dev_remove(device_behind);
	__atomic_store_n(&open_here[device->port_id], false, __ATOMIC_RELEASE);
}
