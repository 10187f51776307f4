/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs of Debian that know nothing of Pollux, with its library of sockets loaded into them. The
 * kernel has no way to the addresses that they use: what they transfer goes over RDMA. With one
 * argument it runs the tests of that name, with two these commands, a server's on B and a program's
 * on A, for people.
 * Start with runs().
 */
#include <sys/stat.h>

#include "town.h"

#define B "10.79.0.2"

static const char *commands[2];

/* The program ends well; then its server is ended. Both have a folder, $d. */
static void
runs(const char *server, const char *program)
{
	char folder[] = "/tmp/pollux-town-XXXXXX", remove[64];
	pid_t pids[2];

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	setenv("d", folder, 1);
	pids[0] = town_command(TOWN_B, server);
	pids[1] = town_command(TOWN_A, program);
	town_await(pids[1]);
	town_end_command(pids[0]);
	snprintf(remove, sizeof(remove), "rm -r %s", folder);
	assert_int_equal(system(remove), 0);
}

static void
what_is_asked_for(void **state)
{
	(void)state;
	runs(commands[0], commands[1]);
}

/* Where nobody listens yet the kernel is asked, which has no way there. The check itself runs once.
 */
#define ONCE(probe, command) \
	"for i in $(seq 400); do " probe " >/dev/null 2>&1 && break; sleep 0.05; done; " command

/* A server that sends back what it receives. */
#define SENDS_BACK(address, port)                                 \
	"exec python3 -c '"                                       \
	"import socket\n"                                         \
	"s = socket.create_server((\"" address "\", " port "))\n" \
	"while True:\n"                                           \
	"  c = s.accept()[0]\n"                                   \
	"  while d := c.recv(65536): c.sendall(d)\n"              \
	"  c.close()'"

/* A child for each connection; what was sent comes back. */
static void
python_with_a_child_for_each(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import socketserver\n"
	     "class Echo(socketserver.BaseRequestHandler):\n"
	     "  def handle(self):\n"
	     "    while d := self.request.recv(65536): self.request.sendall(d)\n"
	     "class Server(socketserver.ForkingTCPServer): allow_reuse_address = True\n"
	     "Server((\"\", 20301), Echo).serve_forever()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20301))'",
		  "exec python3 -c '"
		  "import socket\n"
		  "ss = [socket.create_connection((\"" B "\", 20301)) for i in range(4)]\n"
		  "for k in range(50):\n"
		  "  for i, s in enumerate(ss): s.sendall(bytes([i, k]) * 5000)\n"
		  "  for i, s in enumerate(ss):\n"
		  "    n = b\"\"\n"
		  "    while len(n) < 10000: n += s.recv(10000 - len(n))\n"
		  "    assert n == bytes([i, k]) * 5000\n"
		  "assert ss[0].getpeername() == (\"" B "\", 20301)\n"
		  "'"));
}

/* Where the kernel would send from the first address, which its peers know it by. */
static void
a_listener_at_a_second_address(void **state)
{
	(void)state;
	assert_int_equal(system("ip address add 10.79.0.9/24 dev lo && "
				"ip address add " B "/24 dev lo"),
			 0);
	runs(SENDS_BACK(B, "20317"),
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20317))'",
		  "exec timeout 20 python3 -c '"
		  "import socket\n"
		  "s = socket.create_connection((\"" B "\", 20317))\n"
		  "s.sendall(b\"there and back\")\n"
		  "assert s.recv(14, socket.MSG_WAITALL) == b\"there and back\"\n"
		  "'"));
	/* both */
	assert_int_equal(system("ip address del 10.79.0.9/24 dev lo"), 0);
}

/* ... until bytes have come, which the kernel never sees. */
static void
a_listener_that_defers(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import socket\n"
	     "s = socket.socket()\n"
	     "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 100)\n"
	     "s.bind((\"\", 20332))\n"
	     "s.listen()\n"
	     "while True:\n"
	     "  c = s.accept()[0]\n"
	     "  while d := c.recv(65536): c.sendall(d)\n"
	     "  c.close()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20332))'",
		  "exec timeout 20 python3 -c '"
		  "import socket\n"
		  "s = socket.create_connection((\"" B "\", 20332))\n"
		  "s.sendall(b\"there and back\")\n"
		  "assert s.recv(14, socket.MSG_WAITALL) == b\"there and back\"\n"
		  "'"));
}

/* Bytes go with the first packet of a connection that the kernel makes, as it has no peer. */
static void
a_fast_open_by_tcp(void **state)
{
	(void)state;
	runs("sleep 60",
	     "exec timeout 20 python3 -c '"
	     "import socket\n"
	     "s = socket.create_server((\"127.0.0.1\", 20333))\n"
	     "for send in (lambda c: c.sendto(b\"fast\", socket.MSG_FASTOPEN, s.getsockname()),\n"
	     "             lambda c: c.sendmsg([b\"fa\", b\"st\"], [], socket.MSG_FASTOPEN, "
	     "s.getsockname())):\n"
	     "  c = socket.socket()\n"
	     "  assert send(c) == 4\n"
	     "  assert s.accept()[0].recv(4, socket.MSG_WAITALL) == b\"fast\"\n"
	     "'");
}

/* What a connect() that does not wait returns, and what is ready meanwhile and afterwards; by
 * poll(), by epoll and by asyncio. Where nobody answers the kernel says what it has to say. */
static void
connects_that_do_not_wait(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import asyncio\n"
	     "async def serve(r, w):\n"
	     "  while d := await r.read(65536): w.write(d)\n"
	     "  w.close()\n"
	     "async def main():\n"
	     "  s = await asyncio.start_server(serve, \"\", 20319)\n"
	     "  await s.serve_forever()\n"
	     "asyncio.run(main())'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20319))'",
		  "exec timeout 30 python3 -c '"
		  "import asyncio, errno, select, socket\n"
		  "def begin(port, peer = \"" B "\"):\n"
		  "  s = socket.socket()\n"
		  "  s.setblocking(False)\n"
		  "  assert s.connect_ex((peer, port)) == errno.EINPROGRESS\n"
		  "  return s\n"
		  "def ends(s, bits):\n"
		  "  assert bits & select.POLLOUT\n"
		  "  return s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)\n"
		  "def back(s):\n"
		  "  s.setblocking(True)\n"
		  "  s.sendall(b\"there and back\")\n"
		  "  assert s.recv(14, socket.MSG_WAITALL) == b\"there and back\"\n"
		  "  assert s.getpeername() == (\"" B "\", 20319)\n"
		  "nobody = begin(20319, \"10.79.0.9\")\n"
		  "assert nobody.connect_ex((\"10.79.0.9\", 20319)) == errno.EALREADY\n"
		  "for call in (lambda: nobody.send(b\"x\"), lambda: nobody.recv(1)):\n"
		  "  try: call()\n"
		  "  except BlockingIOError: pass\n"
		  "  else: assert False\n"
		  "p = select.poll()\n"
		  "p.register(nobody, select.POLLIN | select.POLLOUT)\n"
		  "assert p.poll(0) == []\n"
		  "s = begin(20319)\n"
		  "p.register(s, select.POLLIN | select.POLLOUT)\n"
		  "[(fd, bits)] = p.poll(9000)\n"
		  "assert fd == s.fileno() and ends(s, bits) == 0\n"
		  "p.unregister(s)\n"
		  "assert s.connect_ex((\"" B "\", 20319)) == 0\n"
		  "assert s.connect_ex((\"" B "\", 20319)) == errno.EISCONN\n"
		  "back(s)\n"
		  "e = select.epoll()\n"
		  "many = {s.fileno(): s for s in [begin(20319) for i in range(8)]}\n"
		  "for fd in many: e.register(fd, select.EPOLLOUT | select.EPOLLET)\n"
		  "left = dict(many)\n"
		  "while left:\n"
		  "  for fd, bits in e.poll(9): assert ends(left.pop(fd), bits) == 0\n"
		  "for s in many.values(): back(s)\n"
		  "s = begin(20319)\n"
		  "back(s)\n"
		  "begin(20319).close()\n"
		  "begin(20319, \"10.79.0.9\").close()\n"
		  "p = select.poll()\n"
		  "p.register(nobody, select.POLLOUT)\n"
		  "assert ends(nobody, p.poll(20000)[0][1]) == errno.ENETUNREACH\n"
		  "async def main():\n"
		  "  r, w = await asyncio.open_connection(\"" B "\", 20319)\n"
		  "  w.write(b\"there and back\")\n"
		  "  assert await r.readexactly(14) == b\"there and back\"\n"
		  "asyncio.run(main())\n"
		  "'"));
}

/* Children that the library did not make close the socket: one with a copy of its parent's memory,
 * one with that memory itself. */
static void
children_of_other_ways_harm_nothing(void **state)
{
	(void)state;
	runs(SENDS_BACK("", "20318"),
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20318))'",
		  "exec timeout 20 python3 -c '"
		  "import ctypes, os, socket\n"
		  "s = socket.create_connection((\"" B "\", 20318))\n"
		  "c, fd = ctypes.CDLL(None), s.fileno()\n"
		  "stack = ctypes.create_string_buffer(65536)\n"
		  "top = ctypes.c_void_p((ctypes.addressof(stack) + 65000) & ~15)\n"
		  "def back():\n"
		  "  s.sendall(b\"there and back\")\n"
		  "  assert s.recv(14, socket.MSG_WAITALL) == b\"there and back\"\n"
		  "def ends(pid): assert os.waitpid(pid, 0) == (pid, 0)\n"
		  "back()\n"
		  "pid = c._Fork()\n"
		  "if pid == 0: c._exit(c.close(fd))\n"
		  "ends(pid)\n"
		  "back()\n"
		  "close = ctypes.cast(c.close, ctypes.c_void_p)\n"
		  "CLONE_VM, CLONE_VFORK, SIGCHLD = 0x100, 0x4000, 17\n"
		  "ends(c.clone(close, top, CLONE_VM | CLONE_VFORK | SIGCHLD, fd))\n"
		  "back()\n"
		  "'"));
}

/* The numbers that a program gets are those of a program without the switch, and it may close and
 * replace whatever it likes: what the switch has opened stays. */
static void
the_switch_keeps_its_own_descriptors(void **state)
{
	(void)state;
	runs(SENDS_BACK("", "20322"),
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20322))'",
		  "exec timeout 30 python3 -c '"
		  "import errno, os, socket\n"
		  "null = os.open(\"/dev/null\", os.O_RDWR)\n"
		  "next = os.dup(null)\n"
		  "os.close(next)\n"
		  "def back(s):\n"
		  "  s.sendall(b\"there and back\")\n"
		  "  assert s.recv(14, socket.MSG_WAITALL) == b\"there and back\"\n"
		  "def error(call, *of):\n"
		  "  try: call(*of)\n"
		  "  except OSError as e: return e.errno\n"
		  "s = socket.create_connection((\"" B "\", 20322))\n"
		  "back(s)\n"
		  "assert (s.fileno(), os.dup(null)) == (next, next + 1)\n"
		  "for copy in range(s.fileno() + 1, 500): os.dup2(null, copy)\n"
		  "back(s)\n"
		  "os.closerange(s.fileno() + 1, 500)\n"
		  "own = [fd for fd in map(int, os.listdir(\"/proc/self/fd\")) if fd > 500]\n"
		  "assert len(own) > 2\n"
		  "for fd in own:\n"
		  "  if os.path.exists(\"/proc/self/fd/%d\" % fd):\n"
		  "    assert error(os.dup2, null, fd) == errno.EBUSY\n"
		  "    assert error(os.close, fd) == errno.EBADF\n"
		  "back(s)\n"
		  "pid = os.fork()\n"
		  "os.closerange(s.fileno() + 1, 1 << 20)\n"
		  "back(s) if pid == 0 else os.wait()\n"
		  "back(s)\n"
		  "'"));
}

/* By a few bytes on a pipe, and taken by its number: each is used by the process that has it now,
 * and is of no use to another one, or twice. A listener is a socket like any other. */
static void
a_socket_is_handed_over(void **state)
{
	(void)state;
	runs(SENDS_BACK("", "20323"),
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20323))'",
		  "exec timeout 30 python3 -c '"
		  "import ctypes, errno, os, socket, subprocess, sys\n"
		  "c = ctypes.CDLL(None, use_errno=True)\n"
		  "PIDFD_GETFD = 438\n"
		  "def back(s):\n"
		  "  s.sendall(b\"there and back\")\n"
		  "  assert s.recv(14, socket.MSG_WAITALL) == b\"there and back\"\n"
		  "def error(result): return ctypes.get_errno() if result < 0 else 0\n"
		  "def duplicate(fd, pid):\n"
		  "  info = (ctypes.c_uint32 * 2)()\n"
		  "  return error(c.san_duplicate(fd, pid, info)) or bytes(info)\n"
		  "if len(sys.argv) > 1:\n"
		  "  parent, fd = map(int, sys.argv[1:])\n"
		  "  info = sys.stdin.buffer.read(8)\n"
		  "  got = c.san_from_info(info)\n"
		  "  assert got >= 0 and os.get_inheritable(got)\n"
		  "  back(socket.socket(fileno=got))\n"
		  "  assert error(c.san_from_info(info)) == errno.EINVAL\n"
		  "  got = c.syscall(PIDFD_GETFD, os.pidfd_open(parent), fd, 0)\n"
		  "  back(socket.socket(fileno=got))\n"
		  "  sys.exit(0)\n"
		  "s = socket.create_connection((\"" B "\", 20323))\n"
		  "back(s)\n"
		  "child = subprocess.Popen([\"python3\", \"-c\", sys.orig_argv[2], "
		  "str(os.getpid()), str(s.fileno())], stdin=subprocess.PIPE)\n"
		  "info = duplicate(s.fileno(), child.pid)\n"
		  "assert error(c.san_from_info(info)) == errno.EINVAL\n"
		  "back(s)\n"
		  "child.stdin.write(info)\n"
		  "child.stdin.close()\n"
		  "assert child.wait() == 0\n"
		  "back(s)\n"
		  "assert duplicate(999, child.pid) == errno.EBADF\n"
		  "assert duplicate(s.fileno(), child.pid) == errno.ESRCH\n"
		  "assert duplicate(os.open(\"/\", 0), os.getpid()) == errno.ENOTSOCK\n"
		  "many = [duplicate(s.fileno(), os.getpid()) for i in range(65)]\n"
		  "assert many[64] == errno.EMFILE\n"
		  "for one in many[:64]: os.close(c.san_from_info(one))\n"
		  "l = socket.create_server((\"\", 20324))\n"
		  "info = duplicate(l.fileno(), os.getpid())\n"
		  "l.close()\n"
		  "l = socket.socket(fileno=c.san_from_info(info))\n"
		  "assert l.getsockname()[1] == 20324 and l.listen() is None\n"
		  "back(s)\n"
		  "'"));
}

/* Sets of epoll within sets, in poll() and in select(), level and edge triggered; with
 * epoll_pwait2(); and a set that a child inherits, with a socket that it has not used yet. */
static void
epoll_sets_are_nested_and_inherited(void **state)
{
	(void)state;
	runs(SENDS_BACK("", "20325"),
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20325))'",
		  "exec timeout 30 python3 -c '"
		  "import ctypes, os, select, socket, threading\n"
		  "c = ctypes.CDLL(None, use_errno=True)\n"
		  "IN, EDGE = select.EPOLLIN, select.EPOLLET\n"
		  "s = socket.create_connection((\"" B "\", 20325))\n"
		  "p, w = os.pipe()\n"
		  "def set_of(*entries):\n"
		  "  e = select.epoll()\n"
		  "  for fd, events in entries: e.register(fd, events)\n"
		  "  return e\n"
		  "def arrive(n=1):\n"
		  "  s.send(b\"x\")\n"
		  "  while len(s.recv(9, socket.MSG_PEEK)) < n: pass\n"
		  "def take(): assert s.recv(1) == b\"x\"\n"
		  "e = set_of((s, IN), (p, IN))\n"
		  "middle = set_of((e, IN))\n"
		  "outer = set_of((middle, IN))\n"
		  "edge = set_of((e, IN | EDGE))\n"
		  "poll = select.poll()\n"
		  "poll.register(outer, select.POLLIN)\n"
		  "def pwait2():\n"
		  "  event = (ctypes.c_uint32 * 3)()\n"
		  "  span = (ctypes.c_long * 2)(0, 1000)\n"
		  "  n = c.epoll_pwait2(e.fileno(), event, 1, span, None)\n"
		  "  return [event[1]] * n\n"
		  "def quiet():\n"
		  "  assert outer.poll(0) == e.poll(0) == edge.poll(0) == poll.poll(0) == pwait2() "
		  "== []\n"
		  "  assert select.select([middle], [], [], 0)[0] == []\n"
		  "quiet()\n"
		  "arrive()\n"
		  "for i in range(2):\n"
		  "  assert outer.poll(0) == [(middle.fileno(), IN)]\n"
		  "  assert poll.poll(0) == [(outer.fileno(), select.POLLIN)]\n"
		  "  assert select.select([middle], [], [], 0)[0] == [middle]\n"
		  "  assert e.poll(0) == [(s.fileno(), IN)] and pwait2() == [s.fileno()]\n"
		  "assert edge.poll(0) == [(e.fileno(), IN)] and edge.poll(0) == []\n"
		  "arrive(2)\n"
		  "assert edge.poll(0) == [(e.fileno(), IN)] and edge.poll(0) == []\n"
		  "take(), take(), quiet()\n"
		  "os.write(w, b\"x\")\n"
		  "assert outer.poll(0) == [(middle.fileno(), IN)] and e.poll(0) == [(p, IN)]\n"
		  "os.read(p, 1), edge.poll(0), quiet()\n"
		  "for wait in (outer.poll, lambda s: poll.poll(s * 1000), middle.poll, lambda s: "
		  "select.select([outer], [], [], s)[0]):\n"
		  "  threading.Timer(0.1, s.send, [b\"x\"]).start()\n"
		  "  assert len(wait(9)) == 1\n"
		  "  take()\n"
		  "e.unregister(s), arrive(), quiet(), take(), e.register(s, IN)\n"
		  "pid = os.fork()\n"
		  "if pid == 0:\n"
		  "  assert outer.poll(9) == [(middle.fileno(), IN)] and e.poll(0) == "
		  "[(s.fileno(), IN)]\n"
		  "  take()\n"
		  "  os._exit(0)\n"
		  "s.send(b\"x\")\n"
		  "assert os.waitpid(pid, 0) == (pid, 0)\n"
		  "quiet()\n"
		  "'"));
}

/* inetd: what a program executes has the socket for its standard input and output. */
static void
an_executed_program_has_the_socket(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import socket, subprocess\n"
	     "s = socket.create_server((\"\", 20306))\n"
	     "while True:\n"
	     "  c = s.accept()[0]\n"
	     "  c.recv(1)\n"
	     "  subprocess.run([\"cat\"], stdin=c, stdout=c)\n"
	     "  c.close()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B
		  "\", 20306)).send(b\"x\")'",
		  "exec python3 -c '"
		  "import socket\n"
		  "s = socket.create_connection((\"" B "\", 20306))\n"
		  "s.sendall(b\"x\" + b\"0123456789\" * 5000)\n"
		  "s.shutdown(socket.SHUT_WR)\n"
		  "n = b\"\"\n"
		  "while d := s.recv(65536): n += d\n"
		  "assert n == b\"0123456789\" * 5000\n"
		  "'"));
}

/* One thread writes while another one reads, and a program that is executed on the socket sends all
 * back: more than the rings of both ends take. */
#define ECHO_BY(port, program)                                                            \
	runs("exec python3 -c '"                                                          \
	     "import os, socket, subprocess\n"                                            \
	     "s = socket.create_server((\"\", " port "))\n"                               \
	     "while True:\n"                                                              \
	     "  c = s.accept()[0]\n"                                                      \
	     "  c.recv(1)\n"                                                              \
	     "  subprocess.run(" program ", stdin=c, stdout=c)\n"                         \
	     "  c.close()'",                                                              \
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", " port \
		  ")).send(b\"x\")'",                                                     \
		  "exec timeout 60 python3 -c '"                                          \
		  "import socket, threading\n"                                            \
		  "s = socket.create_connection((\"" B "\", " port "))\n"                 \
		  "n = b\"\"\n"                                                           \
		  "def take():\n"                                                         \
		  "  global n\n"                                                          \
		  "  while d := s.recv(65536): n += d\n"                                  \
		  "taker = threading.Thread(target=take)\n"                               \
		  "taker.start()\n"                                                       \
		  "s.sendall(b\"x\" + b\"0123456789\" * 300000)\n"                        \
		  "s.shutdown(socket.SHUT_WR)\n"                                          \
		  "taker.join()\n"                                                        \
		  "assert n == b\"0123456789\" * 300000\n"                                \
		  "'"))

static void
one_thread_writes_another_reads(void **state)
{
	(void)state;
	ECHO_BY("20307", "[\"cat\"]");
}

static void
a_program_without_the_library_has_the_socket(void **state)
{
	(void)state;
	ECHO_BY("20308", "[\"cat\"], env={\"PATH\": \"/usr/bin:/bin\"}");
}

static void
a_static_program_has_the_socket(void **state)
{
	(void)state;
	ECHO_BY("20309", "[os.environ[\"ECHO\"]]");
}

/* Two connections one after the other: what was sent comes back. */
#define ECHOES(port)                                                                        \
	ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", " port "))'", \
	     "exec timeout 30 python3 -c '"                                                 \
	     "import socket, threading\n"                                                   \
	     "for n in 5000000, 20:\n"                                                      \
	     "  s = socket.create_connection((\"" B "\", " port "))\n"                      \
	     "  sent, back = bytes(i * n & 255 for i in range(n)), bytearray()\n"           \
	     "  threading.Thread(target=s.sendall, args=(sent,)).start()\n"                 \
	     "  while len(back) < n: back += s.recv(65536)\n"                               \
	     "  assert back == sent\n"                                                      \
	     "  s.close()\n"                                                                \
	     "'")

/* It gets descriptors over a socket, and does no more than to read what comes. */
static void
a_program_that_is_sent_a_socket_waits(void **state)
{
	(void)state;
	runs("echo '"
	     "import socket\n"
	     "s = socket.socket(fileno=0)\n"
	     "while fds := socket.recv_fds(s, 1, 1)[1]:\n"
	     "  c = socket.socket(fileno=fds[0])\n"
	     "  while d := c.recv(65536): c.sendall(d)\n"
	     "  c.close()' > $d/other; "
	     "exec python3 -c '"
	     "import os, socket, subprocess\n"
	     "s, (a, b) = socket.create_server((\"\", 20327)), socket.socketpair()\n"
	     "without = dict(os.environ, LD_PRELOAD=\"\")\n"
	     "subprocess.Popen([\"python3\", without[\"d\"] + \"/other\"], stdin=b, env=without)\n"
	     "while True:\n"
	     "  c = s.accept()[0]\n"
	     "  socket.send_fds(a, [b\"x\"], [c.fileno()])\n"
	     "  c.close()'",
	     ECHOES("20327"));
}

/* Its standard input is the socket, and it reads first: of itself the library hears nothing. */
static void
stdio_of_an_inherited_socket_reads_first(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import socket, subprocess\n"
	     "s = socket.create_server((\"\", 20328))\n"
	     "while True:\n"
	     "  c = s.accept()[0]\n"
	     "  p = subprocess.Popen([\"sed\", \"-u\", \"s/o/0/g\"], stdin=c, stdout=c)\n"
	     "  c.close()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20328))'",
		  "exec timeout 30 python3 -c '"
		  "import socket\n"
		  "s = socket.create_connection((\"" B "\", 20328))\n"
		  "for i in range(100):\n"
		  "  s.sendall(b\"one two\\n\")\n"
		  "  assert s.recv(8, socket.MSG_WAITALL) == b\"0ne tw0\\n\"\n"
		  "'"));
}

/* A server with the library sends back what it receives, urgent bytes as such; the client is
 * relayed. */
static void
urgent_bytes_pass_the_relay(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import select, socket\n"
	     "s = socket.create_server((\"\", 20331))\n"
	     "while True:\n"
	     "  c = s.accept()[0]\n"
	     "  while d := c.recv(3, socket.MSG_WAITALL):\n"
	     "    c.sendall(d)\n"
	     "    select.select([], [], [c])\n"
	     "    c.send(c.recv(1, socket.MSG_OOB), socket.MSG_OOB)\n"
	     "    c.sendall(c.recv(2, socket.MSG_WAITALL))\n"
	     "  c.close()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20331))'",
		  "exec timeout 30 python3 -c '"
		  "import ctypes, select, socket\n"
		  "c = ctypes.CDLL(None)\n"
		  "c.fdopen.restype = ctypes.c_void_p\n"
		  "s = socket.create_connection((\"" B "\", 20331))\n"
		  "c.fdopen(s.fileno(), b\"r+\")\n"
		  "for i in range(20):\n"
		  "  s.sendall(b\"abc\")\n"
		  "  s.send(b\"!\", socket.MSG_OOB)\n"
		  "  assert s.recv(3, socket.MSG_WAITALL) == b\"abc\"\n"
		  "  assert select.select([], [], [s], 9)[2]\n"
		  "  assert s.recv(1, socket.MSG_OOB) == b\"!\"\n"
		  "  s.sendall(b\"de\")\n"
		  "  assert s.recv(2, socket.MSG_WAITALL) == b\"de\"\n"
		  "'"));
}

static void
io_uring_has_the_socket(void **state)
{
	(void)state;
	runs("exec $RING 20329", ECHOES("20329"));
}

/* ... by their numbers, as some run-time libraries make them. */
static void
system_calls_have_the_socket(void **state)
{
	(void)state;
	runs(SENDS_BACK("", "20330"),
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20330))'",
		  "exec timeout 30 python3 -c '"
		  "import ctypes, select, socket\n"
		  "c = ctypes.CDLL(None, use_errno=True).syscall\n"
		  "n = ctypes.c_long\n"
		  "s = socket.create_connection((\"" B "\", 20330))\n"
		  "fd, sent = s.fileno(), b\"there and back\"\n"
		  "back, ready = ctypes.create_string_buffer(14), ctypes.create_string_buffer(8)\n"
		  "for write, read in (1, 0), (44, 45):\n"
		  "  more = [n(0)] * 3\n"
		  "  assert c(n(write), n(fd), sent, n(14), *more) == 14\n"
		  "  select.select([s], [], [])\n"
		  "  assert c(n(read), n(fd), back, n(14), *more) == 14 and back.raw == sent\n"
		  "  assert c(n(45), n(fd), back, n(14), n(socket.MSG_DONTWAIT), *more) == -1\n"
		  "  assert ctypes.get_errno() == 11\n"
		  "'"));
}

/* The C library reads and writes for a FILE by itself. What was registered with epoll before stays
 * so. */
static void
stdio_has_the_socket(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import socketserver\n"
	     "class Lines(socketserver.StreamRequestHandler):\n"
	     "  def handle(self):\n"
	     "    for l in self.rfile: self.wfile.write(l)\n"
	     "class Server(socketserver.ForkingTCPServer): allow_reuse_address = True\n"
	     "Server((\"\", 20310), Lines).serve_forever()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20310))'",
		  "exec timeout 60 python3 -c '"
		  "import ctypes, select, socket\n"
		  "c = ctypes.CDLL(None)\n"
		  "c.fdopen.restype = ctypes.c_void_p\n"
		  "s = socket.create_connection((\"" B "\", 20310))\n"
		  "e = select.epoll()\n"
		  "e.register(s, select.EPOLLIN)\n"
		  "assert e.poll(0) == []\n"
		  "f = ctypes.c_void_p(c.fdopen(s.fileno(), b\"r+\"))\n"
		  "line = ctypes.create_string_buffer(100)\n"
		  "for i in range(500):\n"
		  "  assert c.fputs(b\"line %d\\n\" % i, f) >= 0 and c.fflush(f) == 0\n"
		  "  assert c.fgets(line, 100, f) and line.value == b\"line %d\\n\" % i\n"
		  "assert e.poll(0) == []\n"
		  "s.sendall(b\"x\\n\")\n"
		  "assert e.poll(20) == [(s.fileno(), select.EPOLLIN)]\n"
		  "assert s.recv(10) == b\"x\\n\" and s.getpeername()[0] == \"" B "\"\n"
		  "'"));
}

static void
curl_fetches_a_file(void **state)
{
	(void)state;
	runs("cd $d; seq 3000000 > numbers; truncate -s 1G numbers; "
	     "exec python3 -m http.server 20302 > /dev/null 2>&1",
	     ONCE("curl -s http://" B ":20302/",
		  "curl -s --fail http://" B ":20302/numbers | cmp - $d/numbers"));
}

static void
iperf3_measures(void **state)
{
	(void)state;
	runs("exec iperf3 -s -p 20303 > /dev/null 2>&1",
	     /* Its server closes who comes before it has done with the last one, as over TCP. */
	     ONCE("iperf3 -c " B " -p 20303 -n 1K",
		  "m() { for i in 1 2 3 4 5; do iperf3 -c " B " -p 20303 -t 1 $* > $d/said 2>&1 "
		  "&& return; sleep 0.2; done; cat $d/said; exit 1; }; m && m -R -P 4"));
}

static void
redis_answers(void **state)
{
	(void)state;
	runs("exec redis-server --port 20304 --bind 0.0.0.0 --protected-mode no --save '' > "
	     "/dev/null",
	     ONCE("redis-cli -h " B " -p 20304 ping | grep PONG",
		  "[ \"$(redis-cli -h " B " -p 20304 set a hello)\" = OK ] && "
		  "[ \"$(redis-cli -h " B " -p 20304 get a)\" = hello ] && "
		  "redis-benchmark -h " B
		  " -p 20304 -n 2000 -c 20 -q -t set,get,lpush > /dev/null"));
}

/* A replica has all of 20,000 keys, by a child of the server that writes to its socket, and what is
 * set later. */
static void
redis_replicates(void **state)
{
	(void)state;
	runs("exec redis-server --port 20311 --bind 0.0.0.0 --protected-mode no --save '' "
	     "--repl-diskless-sync-delay 0 > /dev/null",
	     ONCE("redis-cli -h " B " -p 20311 ping | grep PONG",
		  "redis-benchmark -h " B
		  " -p 20311 -q -n 20000 -r 1000000 -P 16 -t set > /dev/null; "
		  "n=$(redis-cli -h " B " -p 20311 dbsize); "
		  "redis-server --port 10311 --save '' --dir $d --replicaof " B
		  " 20311 > /dev/null & "
		  "r() { env -u LD_PRELOAD redis-cli -p 10311 $*; }; "
		  "for i in $(seq 400); do r info replication 2>&1 | grep -q link_status:up && "
		  "break; "
		  "sleep 0.05; done; redis-cli -h " B " -p 20311 set last one > /dev/null; "
		  "for i in $(seq 400); do [ \"$(r get last)\" = one ] && break; sleep 0.05; done; "
		  "[ \"$(r dbsize)\" = $((n + 1)) ]; good=$?; kill $!; wait $!; exit $good"));
}

static void
sockperf_checks_its_data(void **state)
{
	(void)state;
	runs("exec sockperf server --tcp -i 0.0.0.0 -p 20312 > /dev/null 2>&1",
	     ONCE("sockperf ping-pong --tcp -i " B " -p 20312 -t 1 -m 14",
		  "timeout 60 sockperf ping-pong --tcp -i " B
		  " -p 20312 -t 1 -m 1000 --data-integrity > $d/said 2>&1 && "
		  "grep -q 'dropped messages = 0; # duplicated messages = 0' $d/said || "
		  "{ cat $d/said; exit 1; }"));
}

/* Its server separates privileges: who talks to strangers may read and write, and little else. */
static void
ssh_runs_a_command_and_copies(void **state)
{
	(void)state;
	runs("mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f $d/host; "
	     "ssh-keygen -q -t ed25519 -N '' -f $d/user; "
	     "printf 'Port 20313\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\n"
	     "StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"
	     "Subsystem sftp internal-sftp\n' $d $d > $d/conf; "
	     "exec /usr/sbin/sshd -D -e -f $d/conf 2> $d/log",
	     "o=\"-F none -i $d/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
	     "-o LogLevel=ERROR -o ConnectTimeout=20\"; " ONCE(
		     "ssh -p 20313 $o root@" B " true",
		     "[ \"$(timeout 60 ssh -p 20313 $o root@" B " echo hello)\" = hello ] && "
		     "head -c 1G /dev/urandom > $d/one && head -c 20M $d/one > $d/few && "
		     "timeout 100 scp -q -P 20313 $o $d/one root@" B ":$d/two && "
		     "cmp $d/one $d/two && "
		     "timeout 60 scp -q -P 20313 $o root@" B ":$d/few $d/back && "
		     "cmp $d/few $d/back || { cat $d/log; exit 1; }"));
}

static void
nginx_serves_with_workers(void **state)
{
	(void)state;
	runs("seq 3000000 > $d/numbers; seq 100 > $d/few; "
	     "printf 'worker_processes 2; daemon off; pid %s/pid; error_log stderr crit;"
	     "events { worker_connections 256; } http { access_log off; sendfile on;"
	     "client_body_temp_path %s; server { listen 20305; root %s; } }' $d $d $d > $d/conf; "
	     "exec nginx -c $d/conf",
	     ONCE("curl -s --fail http://" B ":20305/few",
		  "[ \"$(curl -sS --fail http://" B ":20305/numbers | sha256sum)\" = "
		  "\"$(seq 3000000 | sha256sum)\" ] || exit 1; "
		  "ab -q -k -n 2000 -c 10 http://" B ":20305/few > $d/ab 2>&1; "
		  "grep -q 'Failed requests: *0$' $d/ab || { cat $d/ab; exit 1; }; "
		  /* It takes no descriptor whose number is above what it asked for itself. */
		  "timeout 60 wrk -t 2 -c 8 -d 1 http://" B ":20305/few > $d/wrk 2>&1; "
		  "grep -q '[1-9][0-9]* requests in' $d/wrk && ! grep -q errors $d/wrk || "
		  "{ cat $d/wrk; exit 1; }"));
}

/* A process for each connection, which the server forks off, of another user than the broker's. */
static void
postgresql_keeps_its_accounts(void **state)
{
	(void)state;
	runs("p=$(echo /usr/lib/postgresql/*/bin); mkdir $d/db; chown postgres $d/db; "
	     "u='setpriv --reuid postgres --regid postgres --clear-groups'; "
	     "$u env -u LD_PRELOAD $p/initdb -D $d/db -A trust -N > $d/initdb 2>&1; "
	     "echo 'host all all 10.79.0.0/24 trust' >> $d/db/pg_hba.conf; "
	     "exec $u $p/postgres -D $d/db -p 20320 -k '' -c listen_addresses=0.0.0.0 "
	     "-c fsync=off -c shared_buffers=16MB > $d/log 2>&1",
	     "to='-h " B " -p 20320 -U postgres'; " ONCE(
		     "psql $to -c 'select 1' postgres",
		     "pgbench -i -q $to postgres > $d/said 2>&1 && "
		     "timeout 60 pgbench $to -c 4 -j 2 -t 100 postgres >> $d/said 2>&1 && "
		     "[ \"$(psql $to -A -t -c 'select count(*) = 400 and sum(delta) = "
		     "(select sum(abalance) from pgbench_accounts) from pgbench_history' "
		     "postgres)\" = t ] || { cat $d/initdb $d/log $d/said; exit 1; }"));
}

/* A reload passes the listener to a new worker, and a transfer of the old one goes on. */
static void
haproxy_reloads(void **state)
{
	(void)state;
	runs("cd $d; seq 300000 > numbers; "
	     "env -u LD_PRELOAD python3 -m http.server 10315 --bind 127.0.0.1 > /dev/null 2>&1 & "
	     "printf 'global\n master-worker\n pidfile %s/pid\n"
	     " stats socket %s/socket level admin expose-fd listeners\n"
	     "defaults\n mode http\n timeout connect 9s\n timeout client 60s\n"
	     " timeout server 60s\n option splice-response\n"
	     "listen numbers\n bind 0.0.0.0:20315\n server one 127.0.0.1:10315\n' $d $d > "
	     "$d/conf; exec haproxy -W -f $d/conf > $d/log 2>&1",
	     "n() { timeout 60 curl -sS --fail $* http://" B ":20315/numbers | sha256sum; }; "
	     "good=$(seq 300000 | sha256sum); " ONCE(
		     "curl -s --fail http://" B ":20315/numbers",
		     "n --limit-rate 500K > $d/slow & slow=$!; sleep 0.5; "
		     "kill -USR2 $(cat $d/pid); "
		     "for i in $(seq 400); do grep -q 'Loading success' $d/log && "
		     "[ $(grep -c 'Loading success' $d/log) -gt 1 ] && break; sleep 0.05; done; "
		     "[ \"$(n)\" = \"$good\" ] && wait $slow && [ \"$(cat $d/slow)\" = \"$good\" ] "
		     "|| "
		     "{ cat $d/log; exit 1; }"));
}

/* A server sends back what it receives without having it in its memory, and never waits: what the
 * socket does not take stays in the pipe. */
static void
bytes_go_through_a_pipe(void **state)
{
	(void)state;
	runs("exec python3 -c '"
	     "import os, select, socket\n"
	     "s = socket.create_server((\"\", 20326))\n"
	     "while True:\n"
	     "  c, (r, w), held, end = s.accept()[0], os.pipe(), 0, False\n"
	     "  c.setblocking(False)\n"
	     "  while held or not end:\n"
	     "    ready = select.select([] if held or end else [c], [c] if held else [], [])\n"
	     "    if ready[0]:\n"
	     "      held = os.splice(c.fileno(), w, 1 << 20, flags=os.SPLICE_F_NONBLOCK)\n"
	     "      end = held == 0\n"
	     "    if ready[1]: held -= os.splice(r, c.fileno(), 1 << 20, "
	     "flags=os.SPLICE_F_NONBLOCK)\n"
	     "  for fd in r, w: os.close(fd)\n"
	     "  c.close()'",
	     ONCE("python3 -c 'import socket; socket.create_connection((\"" B "\", 20326))'",
		  "exec timeout 60 python3 -c '"
		  "import random, socket, threading\n"
		  "s = socket.create_connection((\"" B "\", 20326))\n"
		  "sent, back = random.Random(1).randbytes(8 << 20), bytearray()\n"
		  "def send():\n"
		  "  s.sendall(sent)\n"
		  "  s.shutdown(socket.SHUT_WR)\n"
		  "threading.Thread(target=send).start()\n"
		  "while d := s.recv(1 << 16): back += d\n"
		  "assert back == sent\n"
		  "'"));
}

/* The same calls over TCP, in the kernel, and over RDMA: results, errno, readiness. */
static void
all_calls_return_what_tcp_returns(void **state)
{
	(void)state;
	runs("exec $TRANSCRIPT follow $d/channel",
	     "$TRANSCRIPT lead $d/channel " B " > $d/rdma || exit 1; unset LD_PRELOAD; "
	     "$TRANSCRIPT follow $d/channel & "
	     "$TRANSCRIPT lead $d/channel 127.0.0.1 > $d/tcp || exit 1; wait; "
	     "[ $(wc -l < $d/tcp) -gt 200 ] && diff -u $d/tcp $d/rdma");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest asked[] = {
		cmocka_unit_test(what_is_asked_for),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_calls_return_what_tcp_returns),
		cmocka_unit_test(python_with_a_child_for_each),
		cmocka_unit_test(a_listener_at_a_second_address),
		cmocka_unit_test(a_listener_that_defers),
		cmocka_unit_test(a_fast_open_by_tcp),
		cmocka_unit_test(connects_that_do_not_wait),
		cmocka_unit_test(children_of_other_ways_harm_nothing),
		cmocka_unit_test(the_switch_keeps_its_own_descriptors),
		cmocka_unit_test(a_socket_is_handed_over),
		cmocka_unit_test(bytes_go_through_a_pipe),
		cmocka_unit_test(epoll_sets_are_nested_and_inherited),
		cmocka_unit_test(an_executed_program_has_the_socket),
		cmocka_unit_test(one_thread_writes_another_reads),
		cmocka_unit_test(a_program_without_the_library_has_the_socket),
		cmocka_unit_test(a_static_program_has_the_socket),
		cmocka_unit_test(a_program_that_is_sent_a_socket_waits),
		cmocka_unit_test(stdio_of_an_inherited_socket_reads_first),
		cmocka_unit_test(urgent_bytes_pass_the_relay),
		cmocka_unit_test(io_uring_has_the_socket),
		cmocka_unit_test(system_calls_have_the_socket),
		cmocka_unit_test(stdio_has_the_socket),
		cmocka_unit_test(curl_fetches_a_file),
		cmocka_unit_test(iperf3_measures),
		cmocka_unit_test(redis_answers),
		cmocka_unit_test(redis_replicates),
		cmocka_unit_test(sockperf_checks_its_data),
		cmocka_unit_test(ssh_runs_a_command_and_copies),
		cmocka_unit_test(nginx_serves_with_workers),
		cmocka_unit_test(postgresql_keeps_its_accounts),
		cmocka_unit_test(haproxy_reloads),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	if (argc != 3)
		return TOWN_RUN(tests);
	commands[0] = argv[1];
	commands[1] = argv[2];
	return TOWN_RUN(asked);
}
