# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts for a test: network namespaces of its own, a side channel between them, and one of the
devices that need no NIC. Everything is named after the process and goes away with it."""
import json
import os
import pathlib
import secrets
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from place import PATIENCE, Failed, close_at_the_end, wait_for

OOB = '10.1.0.1:7471'
ADDRESS = ['10.9.0.1/24', '10.9.0.2/24']
HOST = [address.split('/', maxsplit=1)[0] for address in ADDRESS]
PACKET = 'framesz=4352,blocksz=69632,framecnt=512'


def ip(*words):
    told = subprocess.run(['ip', *words], check=False, capture_output=True, text=True)
    if told.returncode:
        raise Failed(f'`ip {" ".join(words)}` ended with {told.returncode}: {told.stderr.strip()}')


class Process:
    """A program whose output is kept as it comes."""

    def __init__(self, words, space, stdin=subprocess.DEVNULL):
        self.words = words
        self.child = subprocess.Popen(['ip', 'netns', 'exec', space, *words],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      stdin=stdin, text=True)
        self.out, self.err = [], []
        self.threads = [threading.Thread(target=self.read, args=args, daemon=True)
                        for args in ((self.child.stdout, self.out),
                                     (self.child.stderr, self.err))]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def read(stream, lines):
        for line in stream:
            lines.append(line)

    def says(self, text, where='out'):
        """Wait until it has said so."""
        lines = getattr(self, where)
        wait_for(f'"{text}" from {self}', lambda: text in ''.join(lines) or self.has_ended())
        if text not in ''.join(lines):
            raise Failed(f'{self} ended without saying "{text}"')

    def has_ended(self):
        return self.child.poll() is not None

    def ends(self, status, seconds=PATIENCE):
        """Wait for its end, with this exit status."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f'{self} has not ended within {seconds} s') from None
        for thread in self.threads:
            thread.join(PATIENCE)
        if self.child.returncode != status:
            raise Failed(f'{self} ended with {self.child.returncode}, not {status}')

    def signal(self, number):
        self.child.send_signal(number)

    def kill(self):
        """Whether or not it has ended already."""
        if not self.has_ended():
            self.child.kill()
            self.child.wait()

    def __str__(self):
        return (f'`{" ".join(self.words)}` [stdout: {"".join(self.out)[-2000:]}] '
                f'[stderr: {"".join(self.err)[-2000:]}]')


class Rig:
    """Two hosts, `a` the server's and `b` the client's; for memif they are one."""

    def __init__(self, kind, ndperf, eal=None, cm=False):
        """cm: the two find each other by the communication manager, without a side channel."""
        self.kind, self.ndperf, self.eal, self.cm = kind, ndperf, eal, cm
        self.processes, self.spaces = [], []
        close_at_the_end(self.close)  # a killed test leaves nothing behind either
        self.space = [self.add_space('a')]
        if kind == 'memif':  # its abstract sockets do not leave a namespace
            self.space.append(self.space[0])
            ip('-n', self.space[0], 'addr', 'add', '10.1.0.1/32', 'dev', 'lo')
        else:
            self.space.append(self.add_space('b'))
            self.join('oob', 1500)
            for i, space in enumerate(self.space):
                ip('-n', space, 'addr', 'add', f'10.1.0.{i + 1}/24', 'dev', 'oob')
        if kind == 'af_packet':
            self.join('data', 9000)
        if kind == 'tap':
            self.join('cable', 1500)
            for space in self.space:
                ip('-n', space, 'link', 'add', 'bridge0', 'address', '02:00:00:00:00:01', 'type',
                   'bridge')
                ip('-n', space, 'link', 'set', 'cable', 'master', 'bridge0')
                ip('-n', space, 'link', 'set', 'bridge0', 'up')

    def add_space(self, letter):
        # pids come round again within a long run, and a killed test leaves its namespaces behind
        name = f'plx-{os.getpid()}-{secrets.token_hex(3)}-{letter}'
        ip('netns', 'add', name)
        self.spaces.append(name)
        ip('-n', name, 'link', 'set', 'lo', 'up')
        # silence: no neighbour discovery of the kernel's own among our packets
        for which in ('all', 'default'):
            subprocess.run(['ip', 'netns', 'exec', name, 'sysctl', '-qw',
                            f'net.ipv6.conf.{which}.disable_ipv6=1'], check=False,
                           capture_output=True)
        return name

    def join(self, name, mtu):
        """A veth pair with one end on each host."""
        a, b = self.space
        ip('link', 'add', name, 'netns', a, 'mtu', str(mtu), 'type', 'veth',
           'peer', 'name', name, 'netns', b, 'mtu', str(mtu))
        for space in self.space:
            ip('-n', space, 'link', 'set', name, 'up')

    def device(self, i, number=0):
        if self.kind == 'memif':
            role = 'client' if i else 'server'
            return f'net_memif0,role={role},bsize=4608,socket=plx{number},socket-abstract=yes'
        if self.kind == 'af_packet':
            return f'net_af_packet0,iface=data,{PACKET}'
        return 'net_tap0,iface=plx0'

    def start(self, role, *words, number=0, oob=OOB):
        i = 0 if role == 'server' else 1
        how = [] if self.cm else ['--oob', oob]
        who = [role, HOST[0]] if self.cm and i else [role]
        return self.run(i, [self.ndperf, *who, *how, '--idle', 'yield', '--quiet', *words], number)

    def run(self, i, words, number=0, address=None):
        """A program on the device of host `i`."""
        words = [*words, '--device', self.device(i, number), '--address', address or ADDRESS[i]]
        if self.eal:
            words += ['--eal', self.eal]
        process = Process(words, self.space[i])
        self.processes.append(process)
        if self.kind == 'tap':
            self.plug(i, process)
        return process

    def plug(self, i, process):
        """A tap comes with its process; it joins the bridge of its host."""
        def is_there():
            return process.has_ended() or subprocess.run(
                ['ip', '-n', self.space[i], 'link', 'set', 'plx0', 'master', 'bridge0'],
                check=False, capture_output=True).returncode == 0
        wait_for(f'the tap of {process}', is_there)
        if process.has_ended():
            raise Failed(f'{process} made no tap')
        self.unbind(i)
        ip('-n', self.space[i], 'link', 'set', 'plx0', 'up')

    def unbind(self, i):
        """A bridge keeps what goes to the tap's own address, which is Pollux's too: it shall learn
        where that is instead. The address may change while the tap is being set up, so this takes
        two looks without a finding."""
        space, looks = self.space[i], []

        def is_unbound():
            told = subprocess.run(['bridge', '-n', space, '-j', 'fdb', 'show', 'dev', 'plx0'],
                                  check=True, capture_output=True, text=True).stdout
            own = [entry['mac'] for entry in json.loads(told or '[]')
                   if entry.get('state') == 'permanent' and 'master' in entry]
            for mac in own:
                subprocess.run(['bridge', '-n', space, 'fdb', 'del', mac, 'dev', 'plx0', 'master'],
                               check=False, capture_output=True)
            looks.append(not own)
            return looks[-3:] == [True] * 3
        wait_for(f'a bridge of {space} that learns', is_unbound)

    def received(self, i):
        """How many bytes have reached the data port of host `i` over af_packet."""
        told = subprocess.run(['ip', '-n', self.space[i], '-s', '-j', 'link', 'show', 'data'],
                              check=True, capture_output=True, text=True).stdout
        return json.loads(told)[0]['stats64']['rx']['bytes']

    def server(self, *words, **more):
        process = self.start('server', *words, **more)
        process.says('serving')
        return process

    def close(self):
        for process in self.processes:
            process.kill()
        for name in self.spaces:
            subprocess.run(['ip', 'netns', 'del', name], check=False, capture_output=True)
        self.processes, self.spaces = [], []


class Clients:
    """Two hosts for clients of ND2, each with a configuration file of its own in `folder`, as
    docs/nd2.md tells. Kind seat: both are attached to one polluxd, at one adapter; kind seats: each
    to one of its own, which are joined by memif."""

    def __init__(self, kind, provider, folder, polluxd=None):
        attached = kind in ('seat', 'seats')
        self.hosts = Rig('memif' if attached else kind, None)
        self.provider = provider
        self.config = [folder / f'{i}.conf' for i in range(2)]
        devices = [self.hosts.device(i) for i in range(2)]
        sockets = [folder / f'{i if kind == "seats" else 0}.sock' for i in range(2)]
        if kind == 'seat':
            self.attach(polluxd, folder, 0, sockets[0], 'net_null0,no-rx=1', ADDRESS)
        for i, path in enumerate(self.config):
            if kind == 'seats':
                self.attach(polluxd, folder, i, sockets[i], devices[i], [ADDRESS[i]])
            path.write_text(f'adapters = ( {{ name = "nd"; host = "{sockets[i]}";\n'
                            f'  address = [ "{ADDRESS[i]}" ]; }} );\n'
                            if attached else
                            f'adapters = ( {self.adapter(devices[i], [ADDRESS[i]])} );\n')

    @staticmethod
    def adapter(device, addresses):
        listed = ', '.join(f'"{address}"' for address in addresses)
        return (f'{{ name = "nd"; device = "{device}";\n  idle = "yield"; packets = 4096;\n'
                f'  address = [ {listed} ]; }}')

    def attach(self, polluxd, folder, i, at, device, addresses):
        """Start a polluxd, to which programs can attach as soon as its socket is there."""
        config, run = folder / f'polluxd{i}.conf', folder / f'run{i}'
        run.mkdir()
        config.write_text(f'daemon = {{ socket = "{at}"; }};\n'
                          f'adapters = ( {self.adapter(device, addresses)} );\n')
        process = Process(['env', f'RUNTIME_DIRECTORY={run}', polluxd, '--config',
                           str(config)], self.hosts.space[i])
        self.hosts.processes.append(process)
        process.says('programs can attach', 'err')

    def start(self, i, *words, leaks=True):
        """A program on host `i`, told by the environment alone what it runs on."""
        settings = [f'POLLUX_CONFIG={self.config[i]}', f'ND2_PROVIDER={self.provider}']
        if not leaks:
            settings.append(f'ASAN_OPTIONS={os.environ.get("ASAN_OPTIONS", "")}:detect_leaks=0')
        process = Process(['env', *settings, *words], self.hosts.space[i])
        self.hosts.processes.append(process)
        return process


def results(process):
    """The rows of a client that wrote JSON."""
    return json.loads(''.join(process.out))['results']


def run(test):
    """Run a test; say in a sentence why it failed."""
    try:
        test()
    except Failed as failed:
        print(f'FAILED: {failed}')
        sys.exit(1)
