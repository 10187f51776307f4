/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that name an adapter, and the checks that involve several of them. It opens no
 * adapter.
 * Start with endpoint_is_named().
 */
#include "endpoint.h"

#include <stdio.h>
#include <string.h>

enum {
	DEVICE_MAX = 199, /* leaves room for arguments that a program appends for the adapter */
};

#define AT(field) offsetof(struct endpoint, field)

const struct option_row endpoint_rows[ENDPOINT_ROWS] = {
	{
		.name = "device",
		.argument = "SPEC",
		.forms = FORM_ALL,
		.kind = OPTION_TEXT,
		.offset = AT(device),
		.most = DEVICE_MAX,
		.sentence = "DPDK device, such as net_tap0,iface=plx0 or 0000:3b:00.0",
	},
	{
		.name = "address",
		.argument = "IP/PREFIX",
		.forms = FORM_PAIR,
		.kind = OPTION_ADDRESS,
		.offset = AT(address),
		.sentence = "address of the device, unknown to the kernel",
	},
	{
		.name = "adapter",
		.argument = "NAME",
		.forms = FORM_PAIR,
		.kind = OPTION_TEXT,
		.offset = AT(adapter),
		.sentence = "adapter of the configuration file, instead of --device and --address",
	},
	{
		.name = "eal",
		.argument = "ARGS",
		.forms = FORM_ALL,
		.kind = OPTION_TEXT,
		.offset = AT(eal),
		.sentence = "arguments for DPDK's EAL, such as \"--no-huge -m 512\"",
	},
};

const char *const mode_names[] = {
	[PLX_MODE_WORKER] = "worker",
	[PLX_MODE_INLINE] = "inline",
};

const char *const idle_names[PLX_IDLE_COUNT] = {
	[PLX_IDLE_SPIN] = "spin",
	[PLX_IDLE_PAUSE] = "pause",
	[PLX_IDLE_YIELD] = "yield",
	[PLX_IDLE_ADAPTIVE] = "adaptive",
};

bool
endpoint_is_named(const struct endpoint *e, const char *who, struct plx_why *why)
{
	if ((e->adapter != NULL) == (e->device != NULL))
		return why_set(why,
			       "%s needs either --adapter NAME or --device SPEC with --address "
			       "IP/PREFIX",
			       who);
	if (e->device != NULL && e->address.ip.version == 0)
		return why_set(why,
			       "--device %.60s needs --address IP/PREFIX, such as 10.77.0.1/24",
			       e->device);
	if (e->adapter != NULL && e->address.ip.version != 0)
		return why_set(
			why,
			"--adapter %.31s has its address from the configuration file; leave out "
			"--address",
			e->adapter);
	return true;
}

bool
endpoint_adapter_options(const struct endpoint *e, struct plx_adapter_options *adapter_options,
			 struct plx_why *why)
{
	plx_adapter_options_init(adapter_options);
	if (e->adapter != NULL)
		return plx_adapter_options_load(e->adapter, adapter_options, why) == PLX_OK;
	snprintf(adapter_options->device, sizeof(adapter_options->device), "%s", e->device);
	adapter_options->address[0].ip = e->address.ip;
	adapter_options->address[0].prefix_bits = e->address.prefix_bits;
	adapter_options->addresses = 1;
	return true;
}

const char *
reason_text(const struct plx_why *why, enum plx_status status)
{
	return why->text[0] != '\0' ? why->text : plx_status_text(status);
}

/* The host of an adapter that is attached to has DPDK. */
static bool
is_attached(const struct endpoint *e)
{
	struct plx_adapter_options adapter_options;
	return e->adapter != NULL &&
	       plx_adapter_options_load(e->adapter, &adapter_options, NULL) == PLX_OK &&
	       adapter_options.host[0] != '\0';
}

bool
endpoint_start(const struct endpoint *e, struct plx_why *why)
{
	why->text[0] = '\0';
	if (is_attached(e))
		return true;
	enum plx_status status = plx_eal_start(e->eal, why);
	if (status != PLX_OK && why->text[0] == '\0')
		why_set(why, "DPDK cannot be started: %s", plx_status_text(status));
	return status == PLX_OK;
}
