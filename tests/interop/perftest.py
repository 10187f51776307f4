# SPDX-License-Identifier: BSD-3-Clause
"""What perftest 4.5 and ibv_rc_pingpong of a guest say over TCP before and after they use RDMA, and
our part in it: `ours` posts what the tool at the other end expects. Learnt from the wire."""
import subprocess

import rig
from judge import Talk
from rig import Failed

VERSION = b'6.06'.ljust(16, b'\0')
CYCLE, LINE = 4096, 64       # of perftest's buffer; both ends exchange them and take the larger
MTU_CODES = {1024: b'3\0', 4096: b'5\0'}
PORT, PINGPONG_PORT = 18515, 18515
ROOM = 1 << 21
INBOX = 1 << 19              # where ours receives
MEMORY_MAX = 1 << 20         # how much of its memory is looked at
SEED = 77
BOTH_WAYS = ('ib_send_lat', 'ibv_rc_pingpong')
# tool: (operation, exchanges of keys before the run, are there reports and one more exchange after)
TOOLS = {
    'ib_send_bw': ('SEND', 4, False),
    'ib_send_lat': ('SEND', 4, False),
    'ib_write_bw': ('WRITE', 3, True),
    'ib_read_bw': ('READ', 3, True),
    'ib_atomic_bw CMP_AND_SWAP': ('CMP_SWAP', 3, True),
    'ib_atomic_bw FETCH_AND_ADD': ('FETCH_ADD', 3, True),
}


class Exchange:
    """A TCP connection to a tool; the client of the two speaks first."""

    def __init__(self, talk, is_client):
        self.talk, self.is_client = talk, is_client
        talk.settimeout(rig.PATIENCE)

    def read(self, size):
        got = b''
        while len(got) < size:
            try:
                more = self.talk.recv(size - len(got))
            except OSError as error:
                raise Failed(f'the tool says nothing: {error}') from None
            if not more:
                raise Failed(f'the tool has hung up after {len(got)} of {size} bytes')
            got += more
        return got

    def swap(self, own):
        """Both say as much."""
        if self.is_client:
            self.talk.sendall(own)
        got = self.read(len(own))
        if not self.is_client:
            self.talk.sendall(own)
        return got

    def close(self):
        self.talk.close()


def key_line(made, out_reads, rkey, va):
    address = ':'.join(made['gid'][i:i + 2] for i in range(0, 32, 2))
    return (f'0000:{out_reads:04x}:{made["qpn"]:06x}:{made["psn"]:06x}:{rkey:08x}:{va:016x}:'
            f'{address}:00000000:').encode().ljust(108, b'\0')


def parse_keys(line):
    fields = line.rstrip(b'\0').decode().split(':')
    reads, qpn, psn, rkey, va = (int(field, 16) for field in fields[1:6])
    return {'reads': reads, 'qpn': qpn, 'psn': psn, 'rkey': rkey, 'va': va,
            'gid': ''.join(fields[6:22])}


class Run:
    """One tool against ours."""

    def __init__(self, place, ours, tool, role, size, mtu, family, count):
        """@param role ours: 'server' or 'client'; ours is a cells.End"""
        self.place, self.ours, self.tool, self.role = place, ours, tool, role
        self.size, self.mtu, self.family, self.count = size, mtu, family, count
        self.own = self.peer = self.child = None
        self.memory = b''  # ours, when it was over

    def command(self):
        name, _, atomic = self.tool.partition(' ')
        index = {4: 1, 6: 2}[self.family]
        if name == 'ibv_ud_pingpong':
            words = f'{name} -g {index} -s {self.size} -n {self.count}'
        elif name == 'ibv_rc_pingpong':
            words = f'{name} -g {index} -m {self.mtu} -s {self.size} -n {self.count} -c'
        else:
            words = f'{name} -x {index} -F -m {self.mtu} -n {self.count}'
            words += f' -A {atomic}' if atomic else f' -s {self.size}'
        return words + (f' {rig.HOST}' if self.role == 'server' else '')

    def meet(self):
        """Start the tool; returns its process and the exchange with it."""
        if self.role == 'server':
            with self.place.listen(PORT) as listener:
                child = self.place.spawn(self.command())
                try:
                    talk, _ = listener.accept()
                except TimeoutError:
                    raise Failed(f'{self.command()} does not call: {ended(child)}') from None
            return child, Exchange(talk, False)
        child = self.place.spawn(self.command())
        return child, Exchange(self.place.dial(rig.RXE[4], PORT), True)

    def play(self):
        self.child, exchange = self.meet()
        try:
            if self.tool.endswith('pingpong'):
                self.play_pingpong(exchange)
            else:
                self.play_perftest(exchange)
        except Failed as failed:
            self.child.terminate()  # and the script ends the tool
            raise Failed(f'{failed}; {self.tool} said: {ended(self.child)}') from None
        finally:
            exchange.close()
        said = ended(self.child)
        if self.child.returncode:
            raise Failed(f'{self.tool} ended with {self.child.returncode}: {said[-1000:]}')

    def make(self):
        self.own = self.ours.ask('qp', id=0, gid=rig.gid(rig.RXE[self.family]),
                                 depth=max(64, 2 * self.count), **self.qp_options())

    def qp_options(self):
        return {}

    def connect(self):
        self.ours.ask('connect', id=0, qpn=self.peer['qpn'], psn=self.peer['psn'],
                      gid=self.peer['gid'], mtu=self.mtu, rd=min(self.peer.get('reads', 16), 16))

    def close(self):
        if self.own:
            self.ours.ask('qpdrop', id=0)

    # ---- perftest --------------------------------------------------------------------------

    def play_perftest(self, exchange):
        op, rounds, has_reports = TOOLS[self.tool]
        if exchange.swap(VERSION) != VERSION:
            raise Failed('this is another version of perftest')
        exchange.swap(CYCLE.to_bytes(4, 'big'))
        exchange.swap(LINE.to_bytes(4, 'big'))
        exchange.swap(MTU_CODES[self.mtu])
        self.begin(exchange)
        self.make()
        memory = self.ours.memory
        keys = self.key_line(self.own, 16, memory['rkey'], memory['va'])
        self.ours.ask('fill', mr=0, at=0, bytes=ROOM, seed=SEED)
        self.peer = self.parse_keys(exchange.swap(keys))
        if op == 'SEND':
            self.receive()
        self.connect()
        for _ in range(rounds - 1):
            exchange.swap(keys)
        if self.tool == 'ib_send_lat':
            self.ping(self.role == 'client')
        elif self.role == 'client':
            self.ask_all(op)
        elif op == 'SEND':
            self.ours.program.reap(0, 'recv', self.count)
        exchange.swap(keys)  # which the tool says when it is done
        self.keep()
        if has_reports:
            for _ in range(5):
                exchange.swap(b'\0' * 8)
            exchange.swap(keys)
        self.end(exchange)

    key_line, parse_keys = staticmethod(key_line), staticmethod(parse_keys)

    def begin(self, exchange):
        """What comes before the first exchange of keys."""

    def end(self, exchange):
        exchange.swap(b'done\0')

    def ask_all(self, op):
        size = 8 if op in ('CMP_SWAP', 'FETCH_ADD') else self.size
        self.ours.ask('send', id=0, op=op, mr=0, at=0, bytes=size, count=self.count,
                      rva=self.peer['va'], rkey=self.peer['rkey'], compare=0, swap=1)
        done = self.ours.program.reap(0, 'send', self.count)
        if done['status'] != 'SUCCESS':
            raise Failed(f'{op} ended with {done["status"]}')

    def ping(self, is_first):
        """Each message is answered by one."""
        for i in range(self.count):
            if i or not is_first:
                self.ours.program.reap(0, 'recv')
            self.ours.ask('send', id=0, op='SEND', mr=0, at=0, bytes=self.size)
            done = self.ours.program.reap(0, 'send')
            if done['status'] != 'SUCCESS':
                raise Failed(f'SEND {i} ended with {done["status"]}')
        if is_first:
            self.ours.program.reap(0, 'recv')

    # ---- ibv_rc_pingpong -------------------------------------------------------------------

    def play_pingpong(self, exchange):
        self.make()
        own = f'0000:{self.own["qpn"]:06x}:{self.own["psn"]:06x}:{self.own["gid"]}\0'.encode()
        self.fill()
        self.receive()
        if exchange.is_client:
            exchange.talk.sendall(own)
        fields = exchange.read(len(own)).rstrip(b'\0').decode().split(':')
        self.peer = {'qpn': int(fields[1], 16), 'psn': int(fields[2], 16), 'gid': fields[3]}
        self.connect()
        if exchange.is_client:
            exchange.talk.sendall(b'done\0')
        else:
            exchange.talk.sendall(own)
            exchange.read(5)
        self.ping(exchange.is_client)
        self.keep()

    def fill(self):
        self.ours.ask('fill', mr=0, at=0, bytes=ROOM, seed=SEED)
        for at in range(0, self.size, 4096):  # what -c looks at
            self.ours.ask('poke', mr=0, at=at, bytes=1, data='00')

    def keep(self):
        self.memory = self.ours.peek(0, MEMORY_MAX)

    # ---- what the capture shows ------------------------------------------------------------

    def receive(self):
        """Each message into a place of its own, behind what is sent."""
        self.ours.ask('recv', id=0, mr=0, at=INBOX, bytes=self.size, count=self.count,
                      step=self.size)

    def judge(self, capture, pattern):
        op = 'SEND' if self.tool == 'ibv_rc_pingpong' else TOOLS[self.tool][0]
        if self.role == 'client' or self.tool in BOTH_WAYS:
            talk = Talk(capture, self.own, self.peer, self.mtu)
            self.judge_talk(talk, op)
            self.judge_asked(talk, op, pattern)
        if self.role == 'server' or self.tool in BOTH_WAYS:
            talk = Talk(capture, self.peer, self.own, self.mtu)
            self.judge_talk(talk, op)
            self.judge_answered(talk, op, pattern)

    def judge_talk(self, talk, op):
        talk.hold_to_acks()
        seen = [message.op for message in talk.messages]
        if seen != [op] * self.count:
            raise Failed(f'{seen} on the wire, and not {self.count} times {op}')

    def judge_asked(self, talk, op, pattern):
        """What ours sent is what it had; what it read is what came."""
        for message in talk.messages:
            if op in ('SEND', 'WRITE'):
                wanted = bytearray(pattern(0, self.size, SEED))
                if self.tool == 'ibv_rc_pingpong':
                    wanted[::4096] = bytes(len(wanted[::4096]))
                if message.data != wanted:
                    raise Failed(f'{message} is not what ours has sent')
            elif op == 'READ' and self.memory[:self.size] != message.answer:
                raise Failed(f'{message} is not what is in the memory of ours')
            elif message.original is None and op != 'READ':
                raise Failed(f'{message} was not answered')

    def judge_answered(self, talk, op, pattern):
        """What is in the memory of ours is what came; what was read is what it had."""
        base = self.ours.memory['va']
        wanted = bytearray(pattern(0, MEMORY_MAX, SEED))
        for i, message in enumerate(talk.messages):
            at = (message.va or base) - base
            if op == 'SEND':
                wanted[INBOX + i * self.size:INBOX + (i + 1) * self.size] = message.data
            elif op == 'WRITE':
                wanted[at:at + self.size] = message.data
            elif op == 'READ' and message.answer != pattern(at, self.size, SEED):
                raise Failed(f'{message} is not what ours has in its memory')
            elif op in ('CMP_SWAP', 'FETCH_ADD'):
                before = int.from_bytes(wanted[at:at + 8], 'little')
                if message.original != before:
                    raise Failed(f'{op} was answered {message.original}, and {before} was there')
                after = (before + message.swap) % 2 ** 64
                if op == 'CMP_SWAP':
                    after = message.swap if before == message.compare else before
                wanted[at:at + 8] = after.to_bytes(8, 'little')
        if self.tool == 'ibv_rc_pingpong':
            wanted[:self.size:4096] = bytes(len(wanted[:self.size:4096]))
        if self.memory != wanted[:MEMORY_MAX]:
            first = next(i for i, (x, y) in enumerate(zip(self.memory, wanted)) if x != y)
            raise Failed(f'the memory of ours is not what came, from byte {first} on')


def ended(child):
    """What a process said, once it has ended."""
    try:
        return child.communicate(timeout=rig.PATIENCE)[0]
    except subprocess.TimeoutExpired:
        child.terminate()
        return child.communicate(timeout=rig.PATIENCE)[0]
