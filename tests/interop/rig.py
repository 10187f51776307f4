# SPDX-License-Identifier: BSD-3-Clause
"""The place of an interoperability test: guests with rxe, a bridge, captures, and the two programs
that speak lines. Everything is named after the process and goes away with it."""
import contextlib
import ctypes
import ipaddress
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from place import PATIENCE, Failed, close_at_the_end, wait_for

HERE = pathlib.Path(__file__).resolve().parent
GUEST = HERE / 'rxe-guest'
CLONE_NEWNET = 0x40000000

OURS = {4: '10.77.0.100', 6: 'fd77::100'}
RXE = {4: '10.77.0.1', 6: 'fd77::1'}
HOST6 = 'fd77::fe'
HOST = '10.77.0.254'  # the kernel's, in the namespace: for what tools exchange over TCP
PORT = 7000           # of the guest's program
KERNEL_PORT = 7001    # of what speaks to the consumer in its kernel
SECOND_PORT = 7002    # of the guest's program for another seat
KERNEL = 'guest_kernel'
TAP_NAME = 'dtap0'
TAP = f'net_tap0,iface={TAP_NAME},mac=fixed'
TAP_OURS = {4: '10.77.0.101', 6: 'fd77::101'}
PACKET = 'net_af_packet0,iface=dpdk0,framesz=4352,blocksz=69632,framecnt=512'


def gid(address):
    """An IP address as the 32 digits of a GID."""
    address = ipaddress.ip_address(address)
    if address.version == 4:
        address = ipaddress.ip_address('::ffff:' + str(address))
    return address.packed.hex()


class Program:
    """An end that speaks lines over a socket."""

    def __init__(self, name, talk, process=None):
        self.name, self.talk, self.process = name, talk, process
        self.held = b''
        self.greeting = self.answer(PATIENCE)

    def answer(self, seconds):
        end = time.monotonic() + seconds
        while b'\n' not in self.held:
            self.talk.settimeout(max(0.01, end - time.monotonic()))
            try:
                got = self.talk.recv(65536)
            except TimeoutError:
                raise Failed(f'{self.name}: no answer within {seconds} s') from None
            except OSError as error:
                raise Failed(f'{self.name}: {error}') from None
            if not got:
                raise Failed(f'{self.name}: it has ended{self.last_words()}')
            self.held += got
        line, self.held = self.held.split(b'\n', 1)
        return line.decode()

    def last_words(self):
        said = self.process and (self.process.stderr or self.process.stdout)  # a guest's: stdout
        if not said:
            return ''
        self.process.wait(PATIENCE)
        return ': ' + said.read()[-2000:]

    def try_to(self, verb, seconds=PATIENCE, **arguments):
        """Returns (first word of the answer, the rest)."""
        words = [verb, *(f'{name}={value}' for name, value in arguments.items())]
        self.talk.sendall((' '.join(words) + '\n').encode())
        word, _, rest = self.answer(seconds).partition(' ')
        return word, rest

    def ask(self, verb, seconds=PATIENCE, **arguments):
        """Returns what "ok" came with, as a dictionary; None for "none"."""
        word, rest = self.try_to(verb, seconds, **arguments)
        if word == 'none':
            return None
        if word != 'ok':
            raise Failed(f'{self.name}: {verb} {arguments}: {rest}')
        pairs = (pair.split('=', 1) for pair in rest.split())
        return {name: int(text) if text.isdecimal() and name != 'data' else text
                for name, text in pairs}

    def reap(self, number, of='send', count=1, seconds=PATIENCE):
        """So many completions; the last of them."""
        done = self.ask('reap', seconds + PATIENCE, id=number, of=of, count=count,
                        ms=int(seconds * 1000))
        if done is None or (done['count'] < count and done['status'] == 'SUCCESS'):
            raise Failed(f'{self.name}: {0 if done is None else done["count"]} of {count} '
                         f'{of} completions within {seconds} s')
        return done

    def close(self):
        with contextlib.suppress(OSError):
            self.talk.sendall(b'quit\n')
        self.talk.close()


class Rig:
    """One bridge in a namespace, a guest or two on it, and ours."""

    def __init__(self, image):
        self.state = tempfile.mkdtemp(prefix='plx-rxe-')
        self.space = f'plx-rxe-{os.getpid()}'
        self.environment = dict(os.environ, RXE_IMAGE=str(image), RXE_STATE=self.state,
                                RXE_NETNS=self.space)
        self.children = []
        # It tidies up when this process is gone, whatever ended it: its input ends then.
        self.guard = subprocess.Popen(['sh', '-c', 'cat >/dev/null; "$0" down; rm -rf "$RXE_STATE"',
                                       str(GUEST)], env=self.environment, stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      start_new_session=True)
        close_at_the_end(self.close)  # of a killed test, too

    def call(self, *words, seconds=PATIENCE, check=True):
        """Run the rig's script. Returns (status, what it said)."""
        environment = dict(self.environment, RXE_TIMEOUT=str(int(seconds)))
        try:
            done = subprocess.run([str(GUEST), *words], env=environment, text=True, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=seconds + PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f'rxe-guest {" ".join(words)}: not within {seconds} s') from None
        if check and done.returncode:
            raise Failed(f'rxe-guest {" ".join(words)}: {done.returncode}: {done.stdout}')
        return done.returncode, done.stdout

    def boot(self, guest=1):
        if not shutil.which('qemu-system-x86_64'):
            raise Failed('there is no qemu-system-x86_64: tests/prepare interop installs it')
        self.call('build', seconds=600)
        self.call('-n', str(guest), 'start', seconds=180)
        self.call('peer', 'dpdk0')

    def run(self, command, guest=1, seconds=PATIENCE, check=True):
        return self.call('-n', str(guest), 'exec', command, seconds=seconds, check=check)

    def spawn(self, command, guest=1, seconds=PATIENCE):
        """Start a command in a guest."""
        environment = dict(self.environment, RXE_TIMEOUT=str(int(seconds)))
        child = subprocess.Popen([str(GUEST), '-n', str(guest), 'exec', command], env=environment,
                                 text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.children.append(child)
        return child

    @contextlib.contextmanager
    def inside(self):
        """This thread is in the namespace; sockets made there stay there."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open('/proc/self/ns/net', encoding='ascii') as home, \
                open(f'/run/netns/{self.space}', encoding='ascii') as space:
            if libc.setns(space.fileno(), CLONE_NEWNET):
                raise Failed(f'no way into {self.space}: {os.strerror(ctypes.get_errno())}')
            try:
                yield
            finally:
                libc.setns(home.fileno(), CLONE_NEWNET)

    def dial(self, address, port, seconds=PATIENCE):
        """A TCP connection to a guest, once somebody listens there."""
        def connected():
            try:
                with self.inside():
                    return socket.create_connection((address, port), timeout=seconds)
            except OSError:
                return None
        return wait_for(f'somebody at {address} port {port}', connected, seconds)

    def listen(self, port):
        with self.inside():
            listener = socket.create_server((HOST, port), backlog=4)
        listener.settimeout(PATIENCE)
        return listener

    def ours(self, program, device=PACKET, addresses=None, more=()):
        addresses = addresses or OURS
        near, process = self.start(program, [device, f'{addresses[4]}/24', f'{addresses[6]}/64',
                                             *more])
        if 'tap' in device:  # which comes with the process
            wait_for('the tap', lambda: self.call('plug', TAP_NAME, check=False)[0] == 0)
        return Program('ours', near, process)

    def start(self, program, words, environment=None):
        """A program that speaks lines, in the namespace. Returns (its socket, the process)."""
        near, far = socket.socketpair()
        with self.inside():
            process = subprocess.Popen([str(program), *words], stdin=far, stdout=far,
                                       stderr=subprocess.PIPE, text=True, env=environment)
        far.close()
        self.children.append(process)
        return near, process

    def consumer(self, program, mtu):
        """Ours, as a consumer of NDK; its adapter has a worker, and comes from a file."""
        config = pathlib.Path(self.state, 'pollux.conf')
        config.write_text(
            f'adapters = ( {{ name = "ours"; device = "{PACKET}"; idle = "yield"; '
            f'path_mtu = {mtu}; address = [ "{OURS[4]}/24", "{OURS[6]}/64" ]; }} );\n',
            encoding='ascii')
        return Program('ours', *self.start(program, ['ours'],
                                           dict(os.environ, POLLUX_CONFIG=str(config))))

    def host(self, polluxd, users):
        """A daemon that shares the port among users. Returns its socket, once it listens."""
        path, config = (pathlib.Path(self.state, name) for name in ('polluxd.sock', 'host.conf'))
        named = ', '.join(f'"{user}"' for user in users)
        config.write_text(
            f'daemon = {{ socket = "{path}"; }};\n'
            f'adapters = ( {{ name = "ours"; device = "{PACKET}"; idle = "yield"; '
            f'address = [ "{OURS[4]}/24", "{OURS[6]}/64" ]; users = [ {named} ]; }} );\n',
            encoding='ascii')
        os.chmod(self.state, 0o755)
        with self.inside():
            process = subprocess.Popen(
                [str(polluxd), '--config', str(config)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, RUNTIME_DIRECTORY=self.state))
        self.children.append(process)
        def listens():
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as caller:
                return caller.connect_ex(str(path)) == 0

        wait_for('polluxd', lambda: listens() or process.poll() is not None)
        if process.poll() is not None:
            raise Failed(f'polluxd has ended: {process.stderr.read()}')
        return path, process

    def seat(self, program, host, user):
        """Ours, attached, as a user who may not read the build directory: from copies."""
        folder = pathlib.Path(self.state, 'bin')
        if not folder.exists():
            folder.mkdir()
            linked = subprocess.run(['ldd', str(program)], capture_output=True, text=True,
                                    check=True).stdout
            needed = [line.split()[2] for line in linked.splitlines() if 'libpollux' in line]
            for file in (program, *needed):
                shutil.copy(file, folder)
        return Program(f'ours of user {user}', *self.start(
            'setpriv', [f'--reuid={user}', f'--regid={user}', '--clear-groups',
                        str(folder / pathlib.Path(program).name), str(host)],
            dict(os.environ, LD_LIBRARY_PATH=str(folder))))

    def theirs(self, program, guest=1, seconds=3600, port=PORT):
        share = pathlib.Path(self.state, 'share', str(guest), 'guest')
        if not share.exists():
            shutil.copy(program, share)
        self.spawn(f'/share/guest {port} >/tmp/guest-{port}.log 2>&1', guest, seconds)
        return Program(f'guest {guest}', self.dial(f'10.77.0.{guest}', port))

    def kernel(self, program, guest=1, seconds=3600):
        """The consumer of verbs in a guest's kernel, behind the guest's program."""
        parts = sorted(map(str, HERE.glob(f'{KERNEL}*.[ch]')))
        self.call('module', KERNEL, *parts, seconds=300)
        image = pathlib.Path(self.environment['RXE_IMAGE'], f'{KERNEL}.ko')
        share = pathlib.Path(self.state, 'share', str(guest))
        shutil.copy(image, share)
        shutil.copy(program, share / 'relay')
        self.run(f'insmod /share/{image.name}', guest)
        self.spawn(f'/share/relay {KERNEL_PORT} /dev/{KERNEL} >/tmp/relay.log 2>&1', guest,
                   seconds)
        return Program(f"guest {guest}'s kernel", self.dial(f'10.77.0.{guest}', KERNEL_PORT))

    @contextlib.contextmanager
    def capture(self, path, port='rxetap1'):
        """Everything that passes a port of the bridge, guest 1's, as a pcap file."""
        with self.inside():
            child = subprocess.Popen(
                ['dumpcap', '-P', '-B', '64', '-i', port, '-f', 'udp port 4791', '-w',
                 str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        for line in child.stderr:
            if line.startswith('File:'):
                break
        else:
            raise Failed('dumpcap does not capture')
        try:
            yield
        finally:
            time.sleep(0.5)  # what passed last is in the kernel's buffer still
            child.send_signal(signal.SIGINT)
            told = child.communicate(timeout=PATIENCE)[1]
        dropped = [line for line in told.splitlines() if 'dropped' in line]
        if not dropped or '/0 ' not in dropped[-1] + ' ':
            raise Failed(f'the capture is not complete: {told}')

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
        self.guard.stdin.close()
        self.guard.wait(PATIENCE)
        self.children = []
