# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams against the tools that send them: ibv_ud_pingpong and perftest, which exchange their
queue pairs over TCP, and udaddy of librdmacm, which asks a service for it (SIDR); and what must
find no way."""
import ipaddress

import rig
from cells import judge_success
from cm import MESSAGES, PORT, SOURCE, Call
from judge import HEADER, PSN, pattern
from perftest import BOTH_WAYS, INBOX, ROOM, SEED, Run, ended
from rig import Failed

PINGPONG_QKEY, CM_QKEY, MAD_QKEY = 0x11111111, 0x01234567, 0x80010000
OWN = 0x80000000         # "my own Q_Key", whatever else is in it
OTHER_QKEY = 0x22222222
SIDR_OK, SIDR_UNSUPPORTED = 0, 1
SERVICES = 0x01110000    # RDMA_PS_UDP, and the port
EDGE = 64                # bytes behind the last receive
NEVER = 1                # [s] after which a datagram does not come any more


def take(ours, number, size, op):
    """The next datagram that ours has received: its completion."""
    done = ours.program.reap(number, 'recv')
    judge_success(done, 'the receive', bytes=size + HEADER, op=op)
    return done


def judge_sent(sent, number, qkey, imm, messages):
    """What ours says of itself in its datagrams, and their bytes."""
    if [one.data for one in sent] != messages:
        raise Failed(f'{len(sent)} datagrams are on the wire, and not the {len(messages)} of ours')
    first = sent[0].psn if sent else 0
    for one, due in zip(sent, range(first, first + len(sent))):
        if (one.qkey, one.from_qpn, one.imm, one.psn) != (qkey, number, imm, due & PSN):
            raise Failed(f'{one} has Q_Key {one.qkey:#x}, comes from queue pair {one.from_qpn}, '
                         f'has immediate {one.imm}, PSN {one.psn}')


def judge_received(got, memory, untouched):
    """Each datagram lies in a receive of its own behind its header, and nothing is beside it."""
    wanted = [byte for one in got for byte in one.received()]
    wanted += list(untouched[len(wanted):])
    for at, (byte, due) in enumerate(zip(memory, wanted)):
        if due not in (None, byte):
            raise Failed(f'byte {at} of the receives of ours is not what came')


class UdPingpong(Run):
    """Each message is answered by one, which brings back its bytes: the tool has one buffer."""

    qkey = PINGPONG_QKEY  # of ours

    def own_bytes(self, i):
        return pattern(i * self.size, self.size, SEED)

    def make(self):
        super().make()
        self.ours.ask('ah', ah=0, gid=rig.gid(rig.RXE[self.family]))

    def qp_options(self):
        return {'qkey': self.qkey}

    def fill(self):
        self.ours.ask('fill', mr=0, at=0, bytes=ROOM, seed=SEED)

    def close(self):
        if self.own:
            self.ours.program.try_to('ahdrop', ah=0)
        super().close()

    def connect(self):
        """There is nothing to it."""

    def receive(self):
        step = self.size + HEADER
        self.ours.ask('recv', id=0, mr=0, at=INBOX, bytes=step, count=self.count, step=step)

    def say(self, i, qkey=PINGPONG_QKEY):
        self.ours.ask('send', id=0, op='SEND', mr=0, at=i * self.size, bytes=self.size, ah=0,
                      qpn=self.peer['qpn'], qkey=qkey)
        judge_success(self.ours.program.reap(0), f'datagram {i}')

    def hear(self):
        done = take(self.ours, 0, self.size, 'SEND')
        if done['qpn'] != self.peer['qpn']:
            raise Failed(f'the receive says that it came from queue pair {done["qpn"]}')

    def ping(self, is_first):
        for i in range(self.count):
            if not is_first:
                self.hear()
            self.say(i, OWN | i if i else PINGPONG_QKEY)
            if is_first:
                self.hear()

    def keep(self):
        step = self.size + HEADER
        self.memory = self.ours.peek(INBOX, self.count * step + EDGE)

    def flows(self, capture):
        """(from ours, to ours)"""
        return (capture.datagrams(self.own['gid'], self.peer['qpn']),
                capture.datagrams(self.peer['gid'], self.own['qpn']))

    def judge(self, capture, _pattern):
        sent, got = self.flows(capture)
        messages = [self.own_bytes(i) for i in range(self.count)]
        judge_sent(sent, self.own['qpn'], PINGPONG_QKEY, None, messages)
        if len(got) != self.count:
            raise Failed(f'{len(got)} datagrams of the tool, and not {self.count}')
        judge_received(got, self.memory, pattern(INBOX, len(self.memory), SEED))
        echoes = got if self.role == 'client' else got[1:]
        if [one.data for one in echoes] != messages[:len(echoes)]:
            raise Failed('what the tool has received is not what ours has sent')


class WrongKey(UdPingpong):
    """A datagram with another Q_Key than its queue pair's: nobody receives it."""

    @property
    def qkey(self):
        return PINGPONG_QKEY if self.role == 'client' else OTHER_QKEY

    def ping(self, is_first):
        if is_first:
            self.say(0, OTHER_QKEY)
            self.expect_none()
            super().ping(True)
        else:
            self.expect_none()
            self.keep()
            raise Silence

    def expect_none(self):
        if self.ours.ask('reap', id=0, of='recv', count=1, ms=NEVER * 1000):
            raise Failed('a datagram has come')

    def play(self):
        try:
            super().play()
        except Silence:
            self.child.terminate()
            ended(self.child)

    def judge(self, capture, pattern_of):
        sent, got = self.flows(capture)
        if self.role == 'client':
            if sent[0].qkey != OTHER_QKEY or len(got) != self.count:
                raise Failed(f'{sent[0]} has Q_Key {sent[0].qkey:#x}, {len(got)} came back')
        elif sent or [one.qkey for one in got] != [PINGPONG_QKEY]:
            raise Failed(f'{len(got)} datagrams have come, {len(sent)} were answered')
        elif self.memory != pattern_of(INBOX, len(self.memory), SEED):
            raise Failed('a datagram with another Q_Key is in the memory of ours')


class UdPerftest(UdPingpong):
    """perftest's SENDs as datagrams: nothing comes back but what ib_send_lat answers."""

    TOOLS = ['ib_send_bw', 'ib_send_lat']

    def command(self):
        return super().command() + ' -c UD'

    def ask_all(self, op):
        for i in range(self.count):
            self.say(i)

    def judge(self, capture, _pattern):
        sent, got = self.flows(capture)
        ways = ('client', 'server') if self.tool in BOTH_WAYS else (self.role,)
        judge_sent(sent, self.own['qpn'], PINGPONG_QKEY, None,
                   [self.own_bytes(i) for i in range(self.count)] if 'client' in ways else [])
        if len(got) != (self.count if 'server' in ways else 0):
            raise Failed(f'{len(got)} datagrams of the tool have come')
        judge_received(got, self.memory, pattern(INBOX, len(self.memory), SEED))


class Silence(Exception):
    """The tool waits for an answer that nobody gives, and is ended."""


class Udaddy(Call):
    """The client asks for as many queue pairs as it has itself, and sends; the server answers."""

    CONNECTIONS = 2

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.own = []     # queue pairs of ours
        self.peers = []   # the queue pairs of the tool, in the order of ours or of their call
        self.memory = {}  # the receives of ours
        self.text = b''   # what ours sends

    def command(self):
        words = f'udaddy -c {self.CONNECTIONS} -C {MESSAGES} -S {self.size} '
        return words + (f'-b {rig.RXE[self.family]}' if self.is_client else
                        f'-s {rig.OURS[self.family]}')

    def play(self):
        self.text = pattern(SOURCE, self.size, SEED)
        self.ours.ask('fill', mr=0, at=0, bytes=ROOM, seed=SEED)
        self.beside('udaddy', 'data transfers complete')

    def close(self):
        super().close()
        self.ours.program.try_to('unlisten', number=1)
        self.ours.program.try_to('ahdrop', ah=0)

    def make_ud(self, number, receives):
        self.made[number] = self.ours.ask('qp', id=number, gid=rig.gid(rig.RXE[self.family]),
                                          depth=64, qkey=CM_QKEY)
        self.own.append(self.made[number]['qpn'])
        step = self.size + HEADER
        self.ours.ask('recv', id=number, mr=0, at=self.inbox(number), bytes=step, count=receives,
                      step=step)

    def inbox(self, number):
        return INBOX + number * (self.CONNECTIONS * MESSAGES * (self.size + HEADER) + EDGE)

    def say(self, number, qpn, qkey):
        self.ours.ask('send', id=number, op='SEND_IMM', mr=0, at=SOURCE, bytes=self.size, ah=0,
                      qpn=qpn, qkey=qkey, imm=self.own[number], count=MESSAGES)
        judge_success(self.ours.program.reap(number, 'send', MESSAGES), 'the datagrams',
                      count=MESSAGES)

    def keep(self, number, count):
        self.memory[number] = self.ours.peek(self.inbox(number),
                                             count * (self.size + HEADER) + EDGE)

    def find(self, number):
        """Ask the guest's tool, which may not listen yet, for a queue pair."""
        self.numbers.append(number)

        def found():
            self.ours.ask('sidr', conn=number, gid=rig.gid(rig.RXE[self.family]), port=PORT)
            seen = self.event('SIDR_REPLY')
            if seen['reason'] == SIDR_OK:
                return seen
            self.ours.ask('conndrop', conn=number)
            if seen['reason'] != SIDR_UNSUPPORTED:
                raise Failed(f'the answer is {seen["reason"]}')
            return None
        return rig.wait_for('a tool that listens', found)

    def ask(self):
        self.ours.ask('ah', ah=0, gid=rig.gid(rig.RXE[self.family]))
        for number in range(self.CONNECTIONS):
            self.make_ud(number, MESSAGES)
            self.peers.append(self.find(number))
        for number, peer in enumerate(self.peers):
            self.say(number, peer['qpn'], peer['qkey'])
        for number, peer in enumerate(self.peers):
            for _ in range(MESSAGES):
                done = take(self.ours, number, self.size, 'SEND_IMM')
                if (done['qpn'], done['imm']) != (peer['qpn'], peer['qpn']):
                    raise Failed(f'the receive has queue pair {done["qpn"]}, immediate '
                                 f'{done["imm"]}, and {peer["qpn"]} has sent')
            self.keep(number, MESSAGES)

    def serve(self):
        """One queue pair for all who ask; the immediate says who wants an answer."""
        count = self.CONNECTIONS * MESSAGES
        self.make_ud(0, count)
        self.ours.ask('ah', ah=0, gid=rig.gid(rig.RXE[self.family]))
        self.ours.ask('listen', number=1, port=PORT, id=0)
        seen = [take(self.ours, 0, self.size, 'SEND_IMM') for _ in range(count)]
        self.peers = [{'qpn': qpn} for qpn in dict.fromkeys(done['qpn'] for done in seen)]
        if len(self.peers) != self.CONNECTIONS or \
                any(done['qpn'] != done['imm'] for done in seen):
            raise Failed(f'the receives speak of {self.peers}')
        self.keep(0, count)
        for peer in self.peers:
            self.say(0, peer['qpn'], OWN)

    # ---- what the capture shows ------------------------------------------------------------

    def judge(self, capture, _pattern):
        asked = asked_of(capture, self)
        if len(asked) != self.CONNECTIONS:
            raise Failed(f'{len(asked)} questions were answered on the wire')
        for rep in asked:
            if rep['qkey'] != CM_QKEY or rep['qpn'] not in self.offered():
                raise Failed(f'the answer is queue pair {rep["qpn"]}, Q_Key {rep["qkey"]:#x}')
        ours, theirs = (rig.gid(ends[self.family]) for ends in (rig.OURS, rig.RXE))
        for number, qpn in enumerate(self.own):
            peers = self.peers[number:number + 1] if self.is_client else self.peers
            sent = [one for peer in peers for one in capture.datagrams(ours, peer['qpn'])]
            judge_sent(sent, qpn, CM_QKEY, qpn, [self.text] * MESSAGES * len(peers))
            got = capture.datagrams(theirs, qpn)
            if len(got) != MESSAGES * len(peers):
                raise Failed(f'{len(got)} datagrams of the tool to queue pair {qpn}')
            judge_received(got, self.memory[number],
                           pattern(self.inbox(number), len(self.memory[number]), SEED))
            if self.is_client:  # it sends back its receive, header and all
                judge_echo(got, self.text)

    def offered(self):
        return [peer['qpn'] for peer in self.peers] if self.is_client else self.own


def judge_echo(got, text):
    for one in got:
        if one.data[HEADER:] != text[:max(0, len(text) - HEADER)]:
            raise Failed(f'{one} does not bring back what ours has sent')


def asked_of(capture, call, status=SIDR_OK):
    """The answers of that status to questions of the call, each held to its question."""
    asker, asked = (rig.OURS, rig.RXE) if call.is_client else (rig.RXE, rig.OURS)
    asker, asked = asker[call.family], asked[call.family]
    mads = [mad for mad in capture.mads() if call.began <= mad['time'] <= call.over]
    reqs = {mad['local']: mad for mad in mads if
            (mad['kind'], mad['src'], mad['dst']) == ('SIDR_REQ', rig.gid(asker), rig.gid(asked))}
    reps = [mad for mad in mads if
            (mad['kind'], mad['src'], mad.get('status')) == ('SIDR_REP', rig.gid(asked), status)]
    for one in capture.datagrams(rig.gid(rig.OURS[call.family]), 1):
        if (one.qkey, one.from_qpn) != (MAD_QKEY, 1):
            raise Failed(f'{one} is no MAD')
    version = bytes([0, ipaddress.ip_address(asker).version << 4])
    for rep in reps:
        req = reqs.get(rep['local'])
        if not req or [req[name] for name in ('transaction', 'service')] != \
                [rep[name] for name in ('transaction', 'service')]:
            raise Failed('an answer without its question')
        if (req['service'], req['pkey'], req['version'], req['asker'], req['asked']) != \
                (f'{SERVICES + PORT:016x}', b'\xff\xff', version, raw(asker), raw(asked)):
            raise Failed(f'the question is {req}')
        rep['took'] = rep['time'] - req['time']
    return reps


def raw(address):
    """An IP address as the IP CM service writes it: at the end of 16 bytes."""
    return ipaddress.ip_address(address).packed.rjust(16, b'\0').hex()


class NoService(Call):
    """A question for a service that is not there."""

    def play(self):
        if self.is_client:
            self.numbers.append(0)
            self.ours.ask('sidr', conn=0, gid=rig.gid(rig.RXE[self.family]), port=PORT)
            seen = self.event('SIDR_REPLY')
            if seen['reason'] != SIDR_UNSUPPORTED:
                raise Failed(f'the answer is {seen["reason"]}')
            return
        child = self.place.spawn(f'udaddy -s {rig.OURS[self.family]}')
        said = ended(child)
        if 'RDMA_CM_EVENT_UNREACHABLE, error: 1' not in said:
            raise Failed(f'udaddy was not told that nobody listens: {said}')

    def judge(self, capture, _pattern):
        reps = asked_of(capture, self, SIDR_UNSUPPORTED)
        late = [rep for rep in reps if rep['took'] > 0.010 and not self.is_client]
        if not reps or late:
            raise Failed(f'{len(reps)} answers on the wire, of which {len(late)} came after 10 ms')
