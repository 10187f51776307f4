/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns how the halves of a channel meet and part: listeners, connectors, the calls of connecting
 * and their outcomes. Private data names the channel and its life, so that both ends know what they
 * have got. It never judges when a connection fails, only that each call says so once. Start with
 * join_step().
 */
#include <netinet/in.h>

#include "drivers.h"

#define HELLO UINT64_C(0x6e646b68656c6c6f)

/* Private data of both directions. */
struct hello {
	uint64_t magic;
	uint32_t channel, life, half, zero; /* no padding: it is sent */
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static ULONG
address_of(const struct driver *driver, uint16_t port, union address *out)
{
	const struct plx_ip *ip = &driver->host->ip;

	memset(out, 0, sizeof(*out));
	if (ip->version == 4) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons(port);
		memcpy(&out->v4.sin_addr, ip->v, 4);
		return sizeof(out->v4);
	}
	out->v6.sin6_family = AF_INET6;
	out->v6.sin6_port = htons(port);
	memcpy(&out->v6.sin6_addr, ip->v, 16);
	return sizeof(out->v6);
}

static struct hello
hello_of(const struct half *half)
{
	return (struct hello){HELLO, half->channel->index, half->channel->life, half->index, 0};
}

static NDK_CONNECTOR *
face(const struct thing *connector)
{
	return (NDK_CONNECTOR *)(void *)connector->object;
}

/* Returns: false: the connection is lost already */
static bool
peer_says(NDK_CONNECTOR *connector, struct hello *hello)
{
	uint8_t data[256] = {0};
	ULONG bytes = sizeof(data), in, out;

	if (connector->Dispatch->NdkGetConnectionData(connector, &in, &out, data, &bytes) !=
	    STATUS_SUCCESS)
		return false;
	memcpy(hello, data, sizeof(*hello));
	return bytes >= sizeof(*hello);
}

/* ---- listeners ---- */

static struct half *
half_of(struct drivers *drivers, const struct hello *hello)
{
	struct half *half;

	if (hello->magic != HELLO || hello->channel >= drivers->channel_count)
		return NULL;
	half = &drivers->channel[hello->channel].half[1];
	return hello->life == half->channel->life && half->connector == NULL &&
			       (half->state == HALF_READY || half->state == HALF_MAKING)
		       ? half
		       : NULL;
}

/* Nobody waits for it, or nobody any more. */
static void
turn_down(struct thing *connector)
{
	struct plx_prng *prng = &connector->driver->prng;

	if (draw_percent(prng, 50))
		(void)face(connector)->Dispatch->NdkReject(face(connector), NULL, 0);
	thing_close(connector);
}

static VOID
on_request(PVOID context, NDK_CONNECTOR *request)
{
	struct thing *listener = context;
	struct driver *driver = listener->driver;
	struct thing *connector = thing_new(driver, NULL, THING_CONNECTOR, sizeof(*connector));
	struct hello hello;
	struct half *half;

	/* what had come before the pause is told of in the next turns */
	sim_must(world_of(driver), !listener->paused || driver->turns <= listener->paused_turns,
		 "N10", "listener %u is paused, and tells of a request", listener->serial);
	connector->object = &request->Header;
	connector->close = request->Dispatch->NdkCloseConnector;
	connector->life = LIFE_OPEN;
	thing_holds(connector, listener);
	thing_callback(listener);
	half = peer_says(request, &hello) ? half_of(driver->drivers, &hello) : NULL;
	if (half == NULL) {
		turn_down(connector);
	} else {
		connector->half = half;
		half->connector = connector;
		half_add(half, connector);
	}
	thing_callback_ends(listener);
}

static void
listening(struct thing *listener, NTSTATUS status)
{
	/* connectors of an earlier one keep its port for a while */
	sim_must(world_of(listener->driver),
		 status == STATUS_SUCCESS || status == STATUS_SHARING_VIOLATION, "N8",
		 "a listener listens: 0x%08x", (unsigned int)status);
}

static void
make_listener(struct driver *driver)
{
	struct thing *thing = thing_new(driver, NULL, THING_LISTENER, sizeof(*thing));
	struct ask *ask = ask_begin(thing, NULL, NULL);
	NDK_LISTENER *out = NULL;
	union address at;
	ULONG bytes;

	driver->listener = thing;
	ask_created(ask,
		    driver->adapter->Dispatch->NdkCreateListener(driver->adapter, on_request, thing,
								 ask_on_created, ask, &out),
		    &out);
	bytes = address_of(driver, (uint16_t)(DRIVERS_PORT + driver->listens++ % 4), &at);
	ask = ask_begin(thing, NULL, listening);
	ask_returned(ask, out->Dispatch->NdkListen(out, &at.any, bytes, ask_on_done, ask));
}

/* Returns: whether the listener stays, paused or resumed */
static bool
pause_or_resume(struct driver *driver)
{
	struct thing *thing = driver->listener;
	NDK_LISTENER *listener;

	if (thing == NULL || thing->life != LIFE_OPEN ||
	    !draw_percent(&driver->prng, thing->paused ? 80 : 30))
		return false;
	listener = (NDK_LISTENER *)(void *)thing->object;
	listener->Dispatch->NdkControlConnectEvents(listener, !thing->paused);
	thing->paused = !thing->paused;
	thing->paused_turns = driver->turns + DRIVERS_WAKE_TURNS;
	return true;
}

/* A listener comes, or it goes and another comes, or it is paused for a while. */
void
join_listen(struct driver *driver)
{
	struct world *world = world_of(driver);

	if (driver->drivers->over)
		return;
	if (driver->in_step) {
		heap_push(world, world->now + DRIVERS_RETRY, SIM_EV_CLOSE, driver);
		return;
	}
	driver_enter(driver);
	driver->in_step = true;
	if (!pause_or_resume(driver)) {
		if (driver->listener != NULL && driver->listener->life == LIFE_OPEN)
			thing_close(driver->listener);
		make_listener(driver);
	}
	driver->in_step = false;
	driver_turn_soon(driver);
	heap_push(world, world->now + draw_log(&driver->prng, PLX_MSEC, 20 * PLX_SEC), SIM_EV_CLOSE,
		  driver);
}

/* ---- the end of a connection ---- */

static VOID
on_disconnect(PVOID context)
{
	struct thing *connector = context;
	struct half *half = connector->half;

	sim_must(world_of(connector->driver), !connector->told, "N1",
		 "connector %u is told twice that its peer has left", connector->serial);
	connector->told = true;
	trace_as(world_of(connector->driver), TRACE_NDK_LEFT, connector->driver->index,
		 connector->serial, 0, 0, 0);
	thing_callback(connector);
	if (half->connector == connector)
		half->broken = true;
	thing_callback_ends(connector);
}

static void
left(struct thing *connector, NTSTATUS status)
{
	sim_must(world_of(connector->driver),
		 status == STATUS_SUCCESS || status == STATUS_CONNECTION_INVALID ||
			 status == STATUS_CONNECTION_ABORTED,
		 "N8", "a disconnect completes with 0x%08x", (unsigned int)status);
}

/* The half ends: before it closes anything it may flush, or disconnect. */
void
join_leave(struct half *half)
{
	NDK_QP *qp = (NDK_QP *)(void *)half->qp->object;
	struct ask *ask;

	if (half->how != 2)
		qp->Dispatch->NdkFlush(qp);
	if (half->how == 1 || !thing_is_open(half->connector))
		return;
	ask = ask_begin(half->connector, NULL, left);
	ask_returned(ask,
		     face(half->connector)
			     ->Dispatch->NdkDisconnect(face(half->connector), ask_on_done, ask));
}

/* ---- joining ---- */

/* A connector holds its queue pair once it has used it. */
static void
is_up(struct half *half)
{
	thing_holds(half->connector, half->qp);
	if (half->state == HALF_JOINING)
		half->state = HALF_UP;
	half->driver->drivers->fleet.world.stats.established++;
}

/* It may be tried again, or is over. */
static void
failed(struct half *half, NTSTATUS status)
{
	const bool again = half->index == 0 && half->attempts < 4 &&
			   (status == STATUS_CONNECTION_REFUSED || status == STATUS_IO_TIMEOUT ||
			    status == STATUS_HOST_UNREACHABLE);

	if (half->state != HALF_JOINING)
		return;
	half->state = HALF_READY;
	half->broken = !again;
	half->driver->drivers->fleet.world.stats.rejected += status == STATUS_CONNECTION_REFUSED;
}

static void
completed(struct thing *connector, NTSTATUS status)
{
	struct half *half = connector->half;

	half->busy = false;
	if (status == STATUS_SUCCESS)
		is_up(half);
	else
		failed(half, status);
}

static void
complete(struct half *half)
{
	NDK_CONNECTOR *connector = face(half->connector);
	struct ask *ask = ask_begin(half->connector, half->qp, completed);

	half->busy = true;
	half->replied = false;
	ask_returned(ask, connector->Dispatch->NdkCompleteConnect(
				  connector, on_disconnect, half->connector, ask_on_done, ask));
}

/* The peer has accepted; the private data is its. */
static void
connected(struct thing *connector, NTSTATUS status)
{
	struct half *half = connector->half;
	struct hello hello;

	half->busy = false;
	if (status != STATUS_SUCCESS) {
		failed(half, status);
		return;
	}
	half->replied = true;
	if (connector->life != LIFE_OPEN || !peer_says(face(connector), &hello))
		return;
	sim_must(world_of(connector->driver),
		 hello.magic == HELLO && hello.channel == half->channel->index &&
			 hello.life == half->channel->life && hello.half == 1,
		 "C5", "channel %u has a reply with other private data", half->channel->index);
}

static void
make_connector(struct half *half)
{
	struct driver *driver = half->driver;
	struct thing *thing = thing_new(driver, half, THING_CONNECTOR, sizeof(*thing));
	struct ask *ask = ask_begin(thing, NULL, NULL);
	NDK_CONNECTOR *out = NULL;

	half->connector = thing;
	half_add(half, thing);
	ask_created(ask,
		    driver->adapter->Dispatch->NdkCreateConnector(driver->adapter, ask_on_created,
								  ask, &out),
		    &out);
}

static void
connect_now(struct half *half)
{
	const struct driver *to = half->peer->driver;
	struct hello hello = hello_of(half);
	NDK_CONNECTOR *connector;
	union address from, at;
	ULONG from_bytes, bytes;
	struct ask *ask;

	if (half->connector == NULL)
		make_connector(half);
	connector = face(half->connector);
	from_bytes = address_of(half->driver, 0, &from);
	bytes = address_of(to, (uint16_t)(DRIVERS_PORT + (to->listens + 3) % 4), &at);
	half->attempts++;
	half->busy = true;
	half->state = HALF_JOINING;
	ask = ask_begin(half->connector, half->qp, connected);
	ask_returned(ask,
		     connector->Dispatch->NdkConnect(connector, (NDK_QP *)(void *)half->qp->object,
						     &from.any, from_bytes, &at.any, bytes, 4, 4,
						     &hello, sizeof(hello), ask_on_done, ask));
}

static void
accept_now(struct half *half)
{
	NDK_CONNECTOR *connector = face(half->connector);
	struct hello hello = hello_of(half);
	struct ask *ask = ask_begin(half->connector, half->qp, completed);

	half->busy = true;
	half->state = HALF_JOINING;
	ask_returned(ask, connector->Dispatch->NdkAccept(
				  connector, (NDK_QP *)(void *)half->qp->object, 4, 4, &hello,
				  sizeof(hello), on_disconnect, half->connector, ask_on_done, ask));
}

/* Either end may refuse what it has been offered. */
static void
refuse(struct half *half)
{
	NDK_CONNECTOR *connector = face(half->connector);
	NTSTATUS status = connector->Dispatch->NdkReject(connector, NULL, 0);

	sim_must(world_of(half->driver),
		 status == STATUS_SUCCESS || status == STATUS_CONNECTION_ABORTED ||
			 status == STATUS_CONNECTION_INVALID,
		 "N8", "a reject returns 0x%08x", (unsigned int)status);
	half->broken = true;
}

/* What the half does next to be connected. */
void
join_step(struct half *half)
{
	struct plx_prng *prng = &half->prng;

	if (half->busy || half->state == HALF_UP)
		return;
	if (half->broken || draw_percent(prng, 1)) {
		half_end(half);
		return;
	}
	if (half->index == 0) {
		if (half->replied && draw_percent(prng, 5))
			refuse(half);
		else if (half->replied)
			complete(half);
		else if (half->peer->state == HALF_READY)
			connect_now(half);
		return;
	}
	if (!thing_is_open(half->connector) || half->state != HALF_READY)
		return;
	if (draw_percent(prng, 5))
		refuse(half);
	else
		accept_now(half);
}
