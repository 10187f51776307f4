/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our end's connections by the communication manager: one channel, listeners by their port,
 * connectors by small numbers. It never responds to an event unless the driver says so. Start with
 * ours_event().
 */
#include <stdio.h>
#include <string.h>

#include "ours.h"

static struct plx_event_channel *channel;
static struct plx_listener *listeners[OURS_LISTENERS];
static struct plx_connector *connectors[OURS_CONNECTORS];

/* The place of the connector that the command names; NULL: it names none, and was answered so. */
static struct plx_connector **
connector_of(const struct line *line)
{
	uint64_t number = line_number(line, "conn", OURS_CONNECTORS);

	if (number < OURS_CONNECTORS && connectors[number])
		return &connectors[number];
	line_answer("error conn names no connector");
	return NULL;
}

/* listen port= [number=] [id=]: for connections, or to return that queue pair for datagrams */
void
ours_listen(const struct line *line)
{
	struct plx_listen_options options = {.port = (uint16_t)line_number(line, "port", 0)};
	struct ours_qp *ud = line_text(line, "id") ? ours_qp_of(line) : NULL;
	uint64_t number = line_number(line, "number", 0);
	enum plx_status status = PLX_OK;
	struct plx_why why = {""};

	if (line_text(line, "id") && !ud)
		return;
	options.ud = ud ? ud->qp : NULL;
	if (number >= OURS_LISTENERS || listeners[number]) {
		line_answer("error number is out of range or in use");
		return;
	}
	if (!channel)
		status = plx_event_channel_create(ours.adapter, 256, &channel);
	if (status == PLX_OK)
		status = plx_listen(channel, &options, &listeners[number], &why);
	ours_answer(status, &why);
}

/* unlisten [number=] */
void
ours_unlisten(const struct line *line)
{
	uint64_t number = line_number(line, "number", 0);
	enum plx_status status;

	if (number >= OURS_LISTENERS || !listeners[number]) {
		line_answer("error number names no listener");
		return;
	}
	status = plx_listener_destroy(listeners[number]);
	if (status == PLX_OK)
		listeners[number] = NULL;
	ours_answer(status, NULL);
}

/* The options of dial and accept; `data` holds their private data. */
static void
options_of(const struct line *line, struct plx_connect_options *options, uint8_t *data)
{
	plx_connect_options_init(options);
	options->access =
		PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	options->path_mtu = (uint32_t)line_number(line, "mtu", 0);
	options->private_data = data;
	options->private_bytes = line_bytes(line, "data", data, PLX_PRIVATE_MAX);
}

/* A new connector for dial and sidr; NULL: there are no more, which was answered. */
static struct plx_connector **
make_connector(const struct line *line)
{
	uint64_t number = line_number(line, "conn", OURS_CONNECTORS);
	enum plx_status status = PLX_OK;

	if (number >= OURS_CONNECTORS || connectors[number]) {
		line_answer("error conn is out of range or in use");
		return NULL;
	}
	if (!channel)
		status = plx_event_channel_create(ours.adapter, 256, &channel);
	if (status == PLX_OK)
		status = plx_connector_create(channel, number, &connectors[number]);
	if (status == PLX_OK)
		return &connectors[number];
	ours_answer(status, NULL);
	return NULL;
}

/* dial conn= id= gid= port= [mtu= data=]: a new connector requests a connection. */
void
ours_dial(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	struct plx_connect_options options;
	struct plx_connector **connector;
	uint8_t data[PLX_PRIVATE_MAX];
	struct plx_why why = {""};

	if (!one)
		return;
	options_of(line, &options, data);
	options.remote_port = (uint16_t)line_number(line, "port", 0);
	if (!ours_ip_of(line, "gid", &options.remote))
		return;
	connector = make_connector(line);
	if (connector)
		ours_answer(plx_connect(*connector, one->qp, &options, &why), &why);
}

/* sidr conn= gid= port= [data=]: a new connector requests a service's queue pair for datagrams. */
void
ours_sidr(const struct line *line)
{
	struct plx_connect_options options;
	struct plx_connector **connector;
	uint8_t data[PLX_PRIVATE_MAX];
	struct plx_why why = {""};

	options_of(line, &options, data);
	options.remote_port = (uint16_t)line_number(line, "port", 0);
	if (!ours_ip_of(line, "gid", &options.remote))
		return;
	connector = make_connector(line);
	if (connector)
		ours_answer(plx_sidr_request(*connector, &options, &why), &why);
}

static uint64_t
number_of(const struct plx_connector *connector)
{
	uint64_t number = 0;

	while (number < OURS_CONNECTORS && connectors[number] != connector)
		number++;
	return number;
}

static const char *
kind_name(uint8_t kind)
{
	static const char *const names[PLX_CM_EVENT_COUNT] = {
#define PLX_X(name, text) [PLX_CM_EVENT_##name] = #name,
		PLX_CM_EVENT_LIST(PLX_X)
#undef PLX_X
	};

	return kind < PLX_CM_EVENT_COUNT ? names[kind] : "UNKNOWN";
}

/* event ms=: the next one, and its data; a connector that arrives with it gets a free number. */
void
ours_event(const struct line *line)
{
	static char data[2 * PLX_PRIVATE_MAX + 1];
	struct plx_connector_event event;
	uint64_t number;
	char remote[33];

	if (!channel ||
	    !plx_event_channel_wait(channel, (uint32_t)line_number(line, "ms", 0), &event)) {
		line_answer("none");
		return;
	}
	number = number_of(event.connector);
	if (event.kind == PLX_CM_EVENT_REQUESTED) {
		number = number_of(NULL);
		if (number == OURS_CONNECTORS) {
			line_answer("error more connectors than there are numbers");
			return;
		}
		connectors[number] = event.connector;
	}
	line_hex(event.private_data, event.private_bytes, data);
	ours_ip_text(&event.info.remote, remote);
	line_answer(
		"ok kind=%s conn=%llu reason=%u gid=%s port=%u qpn=%u qkey=%u mtu=%u rd=%u res=%u "
		"rnr=%u data=%s",
		kind_name(event.kind), (unsigned long long)number, event.reason, remote,
		event.info.remote_port,
		event.kind == PLX_CM_EVENT_SIDR_REPLY ? event.qpn : event.info.remote_qpn,
		event.qkey, event.info.path_mtu, event.info.initiator_depth,
		event.info.responder_resources, event.info.rnr_retry, data);
}

/* accept conn= id= [data=] */
void
ours_accept(const struct line *line)
{
	struct plx_connector **connector = connector_of(line);
	struct ours_qp *one = connector ? ours_qp_of(line) : NULL;
	struct plx_connect_options options;
	uint8_t data[PLX_PRIVATE_MAX];
	struct plx_why why = {""};

	if (!one)
		return;
	options_of(line, &options, data);
	ours_answer(plx_accept(*connector, one->qp, &options, &why), &why);
}

/* complete conn= */
void
ours_complete(const struct line *line)
{
	struct plx_connector **connector = connector_of(line);
	struct plx_why why = {""};

	if (connector)
		ours_answer(plx_establish(*connector, &why), &why);
}

/* reject conn= [data=] */
void
ours_reject(const struct line *line)
{
	struct plx_connector **connector = connector_of(line);
	uint8_t data[PLX_PRIVATE_MAX];

	if (connector)
		ours_answer(
			plx_reject(*connector, data, line_bytes(line, "data", data, sizeof(data))),
			NULL);
}

/* hangup conn= */
void
ours_hangup(const struct line *line)
{
	struct plx_connector **connector = connector_of(line);

	if (connector)
		ours_answer(plx_disconnect(*connector), NULL);
}

/* conndrop conn= */
void
ours_conndrop(const struct line *line)
{
	struct plx_connector **connector = connector_of(line);
	enum plx_status status;

	if (!connector)
		return;
	status = plx_connector_destroy(*connector);
	if (status == PLX_OK)
		*connector = NULL;
	ours_answer(status, NULL);
}

void
ours_cm_close(void)
{
	bool is_closed = true;

	for (int i = 0; i < OURS_CONNECTORS; i++)
		is_closed &= !connectors[i] || plx_connector_destroy(connectors[i]) == PLX_OK;
	for (int i = 0; i < OURS_LISTENERS; i++)
		is_closed &= !listeners[i] || plx_listener_destroy(listeners[i]) == PLX_OK;
	if (!is_closed || (channel && plx_event_channel_destroy(channel) != PLX_OK))
		fprintf(stderr, "a connector, listener or channel cannot be destroyed\n");
}
