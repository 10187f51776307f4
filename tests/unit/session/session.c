/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions, with no interface above them but this test: who shares one, who is refused, what is
 * delivered to whom, and how one ends. Two adapters with a worker and one in inline mode, on the
 * embedded link.
 * Start with two_users_share_a_session().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "plx_session.h"
#include "test.h"

static const char config[] =
	"adapters = (\n"
	"  { name = \"s0\"; device = \"net_wire0,end=0\"; worker = \"s\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.79.1.1/24\", \"fd79:1::1/64\" ]; },\n"
	"  { name = \"s1\"; device = \"net_wire0,end=1\"; worker = \"s\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.79.1.2/24\" ]; },\n"
	"  { name = \"in\"; device = \"net_wire1,end=0\"; mode = \"inline\";\n"
	"    packets = 4096; address = [ \"10.79.2.1/24\" ]; },\n"
	"  { name = \"pinned\"; device = \"net_wire2,end=0\"; dispatcher_core = %d; idle = "
	"\"yield\";\n"
	"    packets = 4096; address = [ \"10.79.3.1/24\" ]; },\n"
	"  { name = \"far\"; device = \"net_wire2,end=1\"; dispatcher_core = 1023; idle = "
	"\"yield\";\n"
	"    packets = 4096; address = [ \"10.79.3.2/24\" ]; });\n";
static int own_core; /* one that this process may use: `pinned` has it */

static const struct plx_ip address_s1 = {.version = 4, .v = {10, 79, 1, 2}};

enum {
	PORT = 4800,
};

/* ---- an interface ---- */

static struct {
	enum plx_status refusal; /* of start() */
	int starts, stops, claims, disconnects, waits;
	char logged[256];
} seen;

static void
log_it(const char *format, va_list arguments)
{
	vsnprintf(seen.logged, sizeof(seen.logged), format, arguments);
}

static enum plx_status
start(struct plx_session *session)
{
	if (seen.refusal != PLX_OK)
		return seen.refusal;
	seen.starts++;
	session->own = &seen;
	return PLX_OK;
}

static void
stop(struct plx_session *session)
{
	assert_ptr_equal(session->own, &seen);
	seen.stops++;
}

static void
claim(struct plx_session *session)
{
	(void)session;
	seen.claims++;
}

static void
disconnect(struct plx_session *session)
{
	(void)session;
	assert_int_equal(seen.stops, 0);
	seen.disconnects++;
}

/* Two looks in vain. */
static bool
is_disconnected(struct plx_session *session)
{
	(void)session;
	return seen.waits++ >= 2;
}

static const struct plx_session_hooks hooks = {
	.name = "tst",
	.log = log_it,
	.start = start,
	.stop = stop,
	.claim = claim,
	.disconnect = disconnect,
	.is_disconnected = is_disconnected,
};
static const struct plx_session_hooks none = {.name = "non"};

static struct plx_session *
must_get(const char *name)
{
	struct plx_session *session;

	memset(&seen, 0, sizeof(seen));
	assert_int_equal(plx_session_get(name, &hooks, &session), PLX_OK);
	return session;
}

/* ---- who has one ---- */

static void
two_users_share_a_session(void **state)
{
	struct plx_session *session = must_get("s0"), *same, *other;

	(void)state;
	assert_int_equal(plx_session_get("s0", &hooks, &same), PLX_OK);
	assert_ptr_equal(same, session);
	assert_int_equal(plx_session_get("s1", &hooks, &other), PLX_OK);
	assert_ptr_not_equal(other, session);
	assert_int_equal(seen.starts, 2);
	plx_session_put(other);
	seen.stops = seen.waits = 0;
	plx_session_put(session);
	assert_int_equal(seen.stops, 0);
	plx_session_put(same);
	assert_int_equal(seen.stops, 1);
	plx_session_put(must_get("s0"));
	assert_int_equal(seen.starts, 1);
}

static void
an_end_waits_for_disconnects(void **state)
{
	struct plx_session *session = must_get("s0");

	(void)state;
	plx_session_put(session);
	assert_int_equal(seen.claims, 1);
	assert_int_equal(seen.disconnects, 1);
	assert_int_equal(seen.waits, 3);
	assert_int_equal(seen.stops, 1);
}

static void
another_interface_is_refused(void **state)
{
	struct plx_session *session = must_get("s0"), *other;

	(void)state;
	assert_int_equal(plx_session_get("s0", &none, &other), PLX_BUSY);
	plx_session_put(session);
	/* hooks are no duty */
	assert_int_equal(plx_session_get("s0", &none, &other), PLX_OK);
	plx_session_put(other);
}

static void
what_cannot_be_opened_leaves_nothing(void **state)
{
	struct plx_session *session;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(plx_session_get("nobody", &hooks, &session), PLX_NO_DEVICE);
	assert_non_null(strstr(seen.logged, "adapter nobody cannot be opened: "));
	assert_int_equal(plx_session_get("nobody", &none, &session), PLX_NO_DEVICE);
	seen.refusal = PLX_FULL;
	assert_int_equal(plx_session_get("s0", &hooks, &session), PLX_FULL);
	assert_int_equal(seen.stops, 0);
	assert_int_equal(seen.disconnects, 0);
	plx_session_put(must_get("s0"));
}

static void
adapters_are_found_by_address(void **state)
{
	const struct plx_ip stranger = {.version = 4, .v = {10, 79, 1, 3}};
	struct plx_session_directory directory;
	struct plx_session_names names;
	struct plx_why why = {""};

	(void)state;
	assert_int_equal(plx_session_names_read(&names, &why), PLX_OK);
	assert_int_equal(names.n, 5);
	assert_string_equal(names.name[2], "in");
	free(names.name);
	assert_int_equal(plx_session_directory_read(&directory, &why), PLX_OK);
	assert_int_equal(directory.n, 6);
	assert_string_equal(plx_session_directory_find(&directory, &address_s1), "s1");
	assert_null(plx_session_directory_find(&directory, &stranger));
	plx_session_directory_free(&directory);
}

/* ---- what is delivered ---- */

struct watched {
	struct plx_session_watch watch;
	cpu_set_t cores; /* of the thread that called */
	char name[16];   /* ... and its name */
	atomic_int readies;
};

static void
ready(struct plx_session_watch *watch)
{
	struct watched *watched = plx_list_entry(watch, struct watched, watch);
	uint64_t count;

	(void)!read(watch->fd, &count, sizeof(count));
	pthread_getaffinity_np(pthread_self(), sizeof(watched->cores), &watched->cores);
	pthread_getname_np(pthread_self(), watched->name, sizeof(watched->name));
	atomic_fetch_add(&watched->readies, 1);
}

static void
ring(int fd)
{
	const uint64_t one = 1;

	assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
}

static void
a_watch_is_called_until_it_is_removed(void **state)
{
	struct watched watched = {.watch = {.fd = eventfd(0, EFD_NONBLOCK), .ready = ready}};
	struct watched other = {.watch = {.fd = eventfd(0, EFD_NONBLOCK), .ready = ready}};
	struct plx_session *session = must_get("s0");

	(void)state;
	assert_int_equal(plx_session_watch_add(session, &watched.watch), PLX_OK);
	assert_int_equal(plx_session_watch_add(session, &other.watch), PLX_OK);
	ring(watched.watch.fd);
	test_until(atomic_load(&watched.readies) == 1, usleep(100));
	plx_session_watch_remove(session, &watched.watch);
	ring(watched.watch.fd);
	ring(other.watch.fd);
	test_until(atomic_load(&other.readies) == 1, usleep(100));
	assert_int_equal(atomic_load(&watched.readies), 1);
	plx_session_watch_remove(session, &other.watch);
	plx_session_put(session);
	close(watched.watch.fd);
	close(other.watch.fd);
}

static void
see_dispatcher(const char *adapter, struct watched *watched)
{
	struct plx_session *session = must_get(adapter);

	*watched = (struct watched){.watch = {.fd = eventfd(0, EFD_NONBLOCK), .ready = ready}};
	assert_int_equal(plx_session_watch_add(session, &watched->watch), PLX_OK);
	ring(watched->watch.fd);
	test_until(atomic_load(&watched->readies) == 1, usleep(100));
	plx_session_watch_remove(session, &watched->watch);
	plx_session_put(session);
	close(watched->watch.fd);
}

static void
a_dispatcher_runs_where_it_is_told_to(void **state)
{
	struct plx_session *session;
	struct watched watched;
	cpu_set_t own;

	(void)state;
	see_dispatcher("pinned", &watched);
	assert_int_equal(CPU_COUNT(&watched.cores), 1);
	assert_true(CPU_ISSET((size_t)own_core, &watched.cores));
	assert_string_equal(watched.name, "tst-pinned");
	see_dispatcher("s0", &watched);
	pthread_getaffinity_np(pthread_self(), sizeof(own), &own);
	assert_true(CPU_EQUAL(&watched.cores, &own));
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(plx_session_get("far", &hooks, &session), PLX_NO_DEVICE);
	assert_string_equal(seen.logged,
			    "adapter far: its dispatcher cannot run on dispatcher_core = 1023");
}

static void
a_pump_calls_every_watch_in_inline_mode(void **state)
{
	struct watched watched = {.watch = {.fd = -1, .ready = ready}};
	struct plx_session *session = must_get("in");

	(void)state;
	assert_true(session->inline_mode);
	assert_int_equal(plx_session_watch_add(session, &watched.watch), PLX_OK);
	plx_session_pump(session);
	plx_session_pump(session);
	assert_int_equal(atomic_load(&watched.readies), 2);
	plx_session_watch_remove(session, &watched.watch);
	plx_session_pump(session);
	assert_int_equal(atomic_load(&watched.readies), 2);
	plx_session_put(session);
}

struct low {
	struct plx_session_queue queue;
	atomic_int events;
};

static void
on_low(struct plx_session_queue *queue)
{
	atomic_fetch_add(&plx_list_entry(queue, struct low, queue)->events, 1);
}

static void
a_queue_hears_its_own_events(void **state)
{
	struct plx_session *session = must_get("s0");
	struct low low[2] = {{.queue.on_event = on_low}, {.queue.on_event = on_low}};
	struct plx_srq *srq[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		low[i].queue.id = plx_session_queue_id(session);
		assert_int_equal(
			plx_srq_create(session->adapter,
				       &(struct plx_srq_options){
					       .depth = 16, .sges = 1, .context = low[i].queue.id},
				       &srq[i]),
			PLX_OK);
		plx_session_queue_add(session, &session->srqs, &low[i].queue);
	}
	assert_true(low[0].queue.id != low[1].queue.id);
	/* an empty queue is below any threshold */
	assert_int_equal(plx_srq_arm(srq[1], 4), PLX_OK);
	test_until(atomic_load(&low[1].events) == 1, usleep(100));
	assert_int_equal(atomic_load(&low[0].events), 0);
	for (int i = 0; i < 2; i++) {
		plx_session_queue_remove(session, &low[i].queue);
		assert_int_equal(plx_srq_destroy(srq[i]), PLX_OK);
	}
	plx_session_put(session);
}

/* ---- connections ---- */

struct heard {
	struct plx_session_subscriber subscriber;
	atomic_int kind, events; /* of the last one */
};

static void
on_event(struct plx_session *session, struct plx_session_subscriber *subscriber,
	 const struct plx_connector_event *event)
{
	struct heard *heard = plx_list_entry(subscriber, struct heard, subscriber);

	atomic_store(&heard->kind, (int)event->kind);
	atomic_fetch_add(&heard->events, 1);
	/* a request that nobody wants is refused by its end */
	if (event->kind == PLX_CM_EVENT_REQUESTED)
		plx_session_destroy_connector(session, event->connector);
}

static struct plx_qp *
must_create_qp(struct plx_pd *pd, struct plx_cq *cq)
{
	struct plx_qp_options options = {
		.send_cq = cq, .recv_cq = cq, .sq_depth = 4, .rq_depth = 4};
	struct plx_why why = {""};
	struct plx_qp *qp;

	if (plx_qp_create(pd, &options, &qp, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return qp;
}

static void
a_subscriber_hears_of_its_connector(void **state)
{
	struct plx_session *active = must_get("s0"), *passive;
	struct heard listens = {.subscriber = {on_event}}, connects = {.subscriber = {on_event}};
	struct plx_listen_options where = {
		.local = address_s1, .port = PORT, .context = (uintptr_t)&listens.subscriber};
	struct plx_cq_options depth = {.depth = 16};
	struct plx_connect_options options;
	struct plx_connector *connector;
	struct plx_listener *listener;
	struct plx_why why = {""};
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_qp *qp;

	(void)state;
	assert_int_equal(plx_session_get("s1", &hooks, &passive), PLX_OK);
	assert_int_equal(plx_pd_create(active->adapter, &pd), PLX_OK);
	assert_int_equal(plx_cq_create(active->adapter, &depth, &cq), PLX_OK);
	qp = must_create_qp(pd, cq);
	pthread_mutex_lock(&passive->events);
	assert_int_equal(plx_listen(passive->channel, &where, &listener, &why), PLX_OK);
	pthread_mutex_unlock(&passive->events);
	plx_connect_options_init(&options);
	options.remote = address_s1;
	options.remote_port = PORT;
	pthread_mutex_lock(&active->events);
	assert_int_equal(
		plx_connector_create(active->channel, (uintptr_t)&connects.subscriber, &connector),
		PLX_OK);
	assert_int_equal(plx_connect(connector, qp, &options, &why), PLX_OK);
	pthread_mutex_unlock(&active->events);
	test_until(atomic_load(&connects.events) == 1, usleep(100));
	assert_int_equal(atomic_load(&connects.kind), PLX_CM_EVENT_REJECTED);
	assert_int_equal(atomic_load(&listens.events), 1);
	assert_int_equal(atomic_load(&listens.kind), PLX_CM_EVENT_REQUESTED);
	pthread_mutex_lock(&active->events);
	plx_session_destroy_connector(active, connector);
	pthread_mutex_unlock(&active->events);
	assert_int_equal(plx_listener_destroy(listener), PLX_OK);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(cq), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	plx_session_put(passive);
	seen.stops = 0;
	plx_session_put(active);
}

/* ---- holds ---- */

struct held {
	struct plx_session_object object;
	struct held *parent;
	int stalls; /* times that teardown() will find the engine still */
	atomic_int teardowns, destroyed;
};

static enum plx_status
teardown(struct plx_session_object *object)
{
	struct held *held = plx_list_entry(object, struct held, object);

	atomic_fetch_add(&held->teardowns, 1);
	return held->stalls-- > 0 ? PLX_TIMEOUT : PLX_OK;
}

static void
destroy(struct plx_session_object *object)
{
	struct held *held = plx_list_entry(object, struct held, object);

	if (held->parent)
		plx_session_object_release(&held->parent->object);
	atomic_fetch_add(&held->destroyed, 1);
}

static const struct plx_session_kind light = {.destroy = destroy};
static const struct plx_session_kind heavy = {.teardown = teardown, .destroy = destroy};

static void
a_child_holds_its_parent(void **state)
{
	struct held parent = {0}, child = {.parent = &parent};
	const uint32_t before = plx_session_objects_alive();

	(void)state;
	plx_session_object_init(&parent.object, &light, NULL);
	plx_session_object_hold(&parent.object);
	plx_session_object_init(&child.object, &light, NULL);
	assert_int_equal(plx_session_objects_alive(), before + 2);
	plx_session_object_release(&parent.object);
	assert_int_equal(parent.destroyed, 0);
	plx_session_object_hold(&child.object);
	plx_session_object_release(&child.object);
	assert_int_equal(child.destroyed, 0);
	plx_session_object_release(&child.object);
	assert_int_equal(child.destroyed, 1);
	assert_int_equal(parent.destroyed, 1);
	assert_int_equal(plx_session_objects_alive(), before);
}

static void
an_object_ends_when_the_engine_has_let_go(void **state)
{
	struct plx_session *session = must_get("s0");
	struct held parent = {0}, child = {.parent = &parent, .stalls = 3}, at_once = {0};
	const uint32_t before = plx_session_objects_alive();

	(void)state;
	plx_session_object_init(&at_once.object, &heavy, session);
	plx_session_object_release(&at_once.object);
	assert_int_equal(at_once.teardowns, 1);
	assert_int_equal(at_once.destroyed, 1);
	plx_session_object_init(&parent.object, &heavy, session);
	plx_session_object_init(&child.object, &heavy, session);
	plx_session_object_release(&child.object);
	assert_non_null(strstr(seen.logged, "its worker has stalled"));
	test_until(atomic_load(&parent.destroyed) == 1, usleep(1000));
	assert_int_equal(child.teardowns, 4);
	assert_int_equal(child.destroyed, 1);
	test_until(plx_session_objects_alive() == before, usleep(1000));
	assert_false(plx_session_is_stalled(session));
	plx_session_put(session);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_users_share_a_session),
		cmocka_unit_test(an_end_waits_for_disconnects),
		cmocka_unit_test(another_interface_is_refused),
		cmocka_unit_test(what_cannot_be_opened_leaves_nothing),
		cmocka_unit_test(adapters_are_found_by_address),
		cmocka_unit_test(a_watch_is_called_until_it_is_removed),
		cmocka_unit_test(a_dispatcher_runs_where_it_is_told_to),
		cmocka_unit_test(a_pump_calls_every_watch_in_inline_mode),
		cmocka_unit_test(a_queue_hears_its_own_events),
		cmocka_unit_test(a_subscriber_hears_of_its_connector),
		cmocka_unit_test(a_child_holds_its_parent),
		cmocka_unit_test(an_object_ends_when_the_engine_has_let_go),
	};
	static char path[] = "/tmp/session-test-XXXXXX";
	int fd = mkstemp(path), failures;

	own_core = sched_getcpu();
	if (fd < 0 || own_core < 0 || dprintf(fd, config, own_core) < 0)
		return 2;
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	failures = cmocka_run_group_tests_name("session", tests, NULL, NULL);
	unlink(path);
	return failures;
}
