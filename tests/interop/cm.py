# SPDX-License-Identifier: BSD-3-Clause
"""The tools of librdmacm against ours, over connections of the communication manager: rping's dance
of credits, READ and WRITE, ucmatose's exchange, refusals; either end asks, either end hangs up."""
import struct

import rig
from cells import judge_success
from judge import Talk
from perftest import ended
from rig import Failed

PORT, NOBODY = 7174, 7999
CREDIT = 16              # bytes of what rping sends: address, key, size
SOURCE, SINK = 8192, 1 << 18  # where ours has its data, and takes the peer's
INBOX, OUTBOX = 0, 4096
SEED = 55
ROUNDS, MESSAGES = 3, 4
INVALID_SERVICE_ID, CONSUMER = 8, 28
RNR_RETRY = 6  # that ours asks its peers for


class Call:
    """One connection of ours, as server or client of a tool."""

    def __init__(self, place, ours, is_client, size, mtu, family):
        self.place, self.ours, self.is_client = place, ours, is_client
        self.size, self.mtu, self.family = size, mtu, family
        self.numbers = []  # of connectors
        self.made = {}     # number: queue pair
        self.began = self.over = 0  # [s] of the clock that captures have
        self.may_lose = False  # the wire

    def event(self, kind, seconds=rig.PATIENCE):
        seen = self.ours.program.ask('event', seconds + rig.PATIENCE, ms=int(seconds * 1000))
        if seen is None or seen['kind'] != kind:
            raise Failed(f'{seen and (seen["kind"], seen["reason"])} came where {kind} was due')
        return seen

    def run_beside(self, word):
        """Our part, ask() or serve(), while the tool runs. Returns: how it ended, what it said"""
        child = self.place.spawn(self.command())
        try:
            if self.is_client:
                self.ask()
            else:
                self.serve()
        except Failed as failed:
            child.terminate()
            raise Failed(f'{failed}; {word} said: {ended(child)}') from None
        said = ended(child)
        return child.returncode, said

    def beside(self, word, good):
        """The same; in the end the tool has said that it is good."""
        status, said = self.run_beside(word)
        if status or good not in said:
            raise Failed(f'{word} ended with {status}: {said}')

    def make(self, number):
        self.made[number] = self.ours.ask('qp', id=number, gid=rig.gid(rig.RXE[self.family]),
                                          depth=64)

    def dial(self, number=0, port=PORT):
        """Ask the guest's tool, which may not listen yet."""
        self.numbers.append(number)

        def dialled():
            self.ours.ask('dial', conn=number, id=number, gid=rig.gid(rig.RXE[self.family]),
                          port=port, mtu=self.mtu)
            seen = self.ours.program.ask('event', ms=rig.PATIENCE * 1000)
            if seen and seen['kind'] == 'REPLIED':
                return True
            if not seen or seen['reason'] != INVALID_SERVICE_ID:
                raise Failed(f'{seen} came where REPLIED was due')
            self.ours.ask('conndrop', conn=number)
            return False
        rig.wait_for('a tool that listens', dialled)
        self.ours.ask('complete', conn=number)

    def accept(self, number=0, before=None):
        """Take what a tool asks for; `before` posts receives."""
        seen = self.event('REQUESTED')
        self.numbers.append(seen['conn'])
        self.make(number)
        if before:
            before(number)
        self.ours.ask('accept', conn=seen['conn'], id=number)
        return seen['conn']

    def close(self):
        """What is left of it goes, with the events that nobody took."""
        while (seen := self.ours.program.ask('event', ms=0)):
            self.numbers.append(seen['conn'])
        for number in set(self.numbers):
            self.ours.program.try_to('conndrop', conn=number)
        for number in self.made:
            self.ours.program.try_to('qpdrop', id=number)

    def send(self, number, op, at, size, **more):
        self.ours.ask('send', id=number, op=op, mr=0, at=at, bytes=size, **more)
        judge_success(self.ours.program.reap(number), op)

    def recv(self, number, at, size, count=1):
        self.ours.ask('recv', id=number, mr=0, at=at, bytes=size, count=count)

    def received(self, number, size, count=1):
        done = self.ours.program.reap(number, 'recv', count)
        judge_success(done, 'the receive', bytes=size, count=count)


class Rping(Call):
    """Data goes from the client to the server by READ, and back by WRITE."""

    def command(self):
        words = f'rping -p {PORT} -C {ROUNDS} -S {self.size} -V '
        return words + (f'-s -a {rig.RXE[self.family]}' if self.is_client else
                        f'-c -a {rig.OURS[self.family]}')

    def play(self):
        status, said = self.run_beside('rping')
        # a thread of rping's may still ask for events when the channel is closed already
        is_late = 'DISCONNECT EVENT' in said and 'rdma_get_cm_event: Bad file' in said
        if status and not self.is_client and not is_late:
            raise Failed(f'rping ended with {status}: {said}')
        if 'mismatch' in said or 'failed' in said:
            raise Failed(f'rping said: {said}')

    def post(self, number):
        self.recv(number, INBOX, CREDIT)

    def text(self, i):
        """What rping takes for a message: a string, whose zero is its last byte."""
        start = b'rdma-ping-%d: ' % i
        line = start + bytes(33 + (7 * j + i) % 90 for j in range(self.size))
        return line[:self.size - 1] + b'\0'

    def credit(self):
        """Receive one, and be ready for the next: address, key and size."""
        self.received(0, CREDIT)
        line = self.ours.ask('peek', mr=0, at=INBOX, bytes=CREDIT)['data']
        self.post(0)
        return struct.unpack('>QII', bytes.fromhex(line))

    def give(self, at):
        line = struct.pack('>QII', self.ours.memory['va'] + at, self.ours.memory['rkey'], self.size)
        self.ours.ask('poke', mr=0, at=OUTBOX, bytes=CREDIT, data=line.hex())
        self.send(0, 'SEND', OUTBOX, CREDIT)

    def serve(self):
        self.accept(before=self.post)
        self.event('ESTABLISHED')
        for _ in range(ROUNDS):
            va, rkey, size = self.credit()
            if size != self.size:
                raise Failed(f'rping speaks of {size} bytes')
            self.send(0, 'READ', SINK, size, rva=va, rkey=rkey)
            self.send(0, 'SEND', OUTBOX, CREDIT)
            va, rkey, size = self.credit()
            self.send(0, 'WRITE', SINK, size, rva=va, rkey=rkey)
            self.send(0, 'SEND', OUTBOX, CREDIT)
        self.farewell()

    def farewell(self):
        """rping says DREQ once and is gone: over a bad wire nobody may hear of it."""
        if self.may_lose:
            self.ours.program.ask('event', ms=5000)
        else:
            self.event('DISCONNECTED')

    def ask(self):
        self.make(0)
        self.post(0)
        self.dial()
        for i in range(ROUNDS):
            self.ours.poke(SOURCE, self.text(i))
            self.ours.ask('fill', mr=0, at=SINK, bytes=self.size + 64, seed=9)
            self.give(SOURCE)
            self.credit()  # it has read
            self.give(SINK)
            self.credit()  # it has written
            if self.ours.peek(SINK, self.size) != self.text(i):
                raise Failed(f'round {i}: what rping has written is not what it has read')
            self.ours.ask('check', mr=0, at=SINK + self.size, bytes=64, seed=9)
        self.ours.ask('hangup', conn=0)
        self.event('CLOSED')

    def judge(self, capture, _pattern):
        link = one_link(capture, self)
        client = Talk(capture, link['active'], link['passive'], link['mtu'])
        server = Talk(capture, link['passive'], link['active'], link['mtu'])
        for talk in (client, server):
            talk.hold_to_acks()
        if [message.op for message in client.messages] != ['SEND', 'SEND'] * ROUNDS or \
                [message.op for message in server.messages] != ['READ', 'SEND', 'WRITE',
                                                                'SEND'] * ROUNDS:
            raise Failed(f'{client.messages} and {server.messages} on the wire')
        for i in range(ROUNDS):
            read, _, write, _ = server.messages[4 * i:4 * i + 4]
            if read.answer != write.data or len(write.data) != self.size:
                raise Failed(f'round {i}: the WRITE is not what was READ')
            if self.is_client and read.answer != self.text(i):
                raise Failed(f'round {i}: the READ is not what ours has in its memory')


class Starved(Call):
    """rping sends, and there is no receive: it is told so, after as many tries as ours wants."""

    def play(self):
        child = self.place.spawn(f'rping -c -a {rig.OURS[self.family]} -p {PORT} -C 1')
        self.accept()
        self.event('ESTABLISHED')
        said = ended(child)
        if 'cq completion failed status 13' not in said:
            raise Failed(f'rping was not told of the missing receive: {said}')

    def judge(self, capture, _pattern):
        link = links(capture, self)[0]
        talk = Talk(capture, link['active'], link['passive'], link['mtu'])
        naks = [nak for nak in talk.naks() if nak >> 5 == 1]
        if len(naks) != 1 + RNR_RETRY:
            raise Failed(f'{len(naks)} RNR NAKs on the wire, not {1 + RNR_RETRY}')
        took = talk.replies[-1].time - talk.replies[0].time
        if took < 1 or took > 5:  # 1 to 1.5 s, and what a guest is late
            raise Failed(f'from the first RNR NAK to the last it took {took:.2f} s')


class Ucmatose(Call):
    """Several connections; the server sends, the client answers, the server hangs up."""

    CONNECTIONS = 3

    def command(self):
        words = f'ucmatose -p {PORT} -c {self.CONNECTIONS} -C {MESSAGES} -S {self.size} '
        return words + (f'-b {rig.RXE[self.family]}' if self.is_client else
                        f'-s {rig.OURS[self.family]}')

    def play(self):
        self.beside('ucmatose', 'return status 0')

    def post(self, number):
        self.recv(number, SINK, self.size, MESSAGES)

    def push(self, number):
        self.ours.ask('send', id=number, op='SEND', mr=0, at=SOURCE, bytes=self.size,
                      count=MESSAGES)
        judge_success(self.ours.program.reap(number, 'send', MESSAGES), 'the sends',
                      count=MESSAGES)

    def serve(self):
        self.ours.ask('fill', mr=0, at=SOURCE, bytes=self.size, seed=SEED)
        waiting = self.CONNECTIONS
        made = 0
        while waiting:
            seen = self.ours.program.ask('event', ms=rig.PATIENCE * 1000)
            if seen and seen['kind'] == 'REQUESTED':
                self.numbers.append(seen['conn'])
                self.make(made)
                self.post(made)
                self.ours.ask('accept', conn=seen['conn'], id=made)
                made += 1
            elif seen and seen['kind'] == 'ESTABLISHED':
                waiting -= 1
            else:
                raise Failed(f'{seen} came where connections were due')
        for number in range(self.CONNECTIONS):
            self.push(number)
        for number in range(self.CONNECTIONS):
            self.received(number, self.size, MESSAGES)
        for number in self.numbers:
            self.ours.ask('hangup', conn=number)
        for _ in self.numbers:
            self.event('CLOSED')

    def ask(self):
        self.ours.ask('fill', mr=0, at=SOURCE, bytes=self.size, seed=SEED)
        for number in range(self.CONNECTIONS):
            self.make(number)
            self.post(number)
            self.dial(number)
        for number in range(self.CONNECTIONS):
            self.received(number, self.size, MESSAGES)
            self.push(number)
        for _ in range(self.CONNECTIONS):
            self.event('DISCONNECTED')

    def judge(self, capture, pattern):
        found = links(capture, self)
        if len(found) != self.CONNECTIONS:
            raise Failed(f'{len(found)} connections on the wire, not {self.CONNECTIONS}')
        for link in found:
            for one, other in (('active', 'passive'), ('passive', 'active')):
                talk = Talk(capture, link[one], link[other], link['mtu'])
                talk.hold_to_acks()
                if [len(message.data) for message in talk.messages] != [self.size] * MESSAGES:
                    raise Failed(f'{list(map(str, talk.messages))} on the wire')
                is_own = (one == 'active') == self.is_client
                if is_own and {message.data for message in talk.messages} != \
                        {pattern(SOURCE, self.size, SEED)}:
                    raise Failed('what is on the wire is not what ours has sent')


class Crowd(Ucmatose):
    """Many connections at once."""

    CONNECTIONS = 64


class Refusal(Call):
    """A request to a port where nobody listens, or to a program that does not want it."""

    def play(self):
        if self.is_client:
            self.make(0)
            self.numbers.append(0)
            self.ours.ask('dial', conn=0, id=0, gid=rig.gid(rig.RXE[self.family]), port=NOBODY)
            seen = self.event('REJECTED')
            if seen['reason'] != INVALID_SERVICE_ID:
                raise Failed(f'the reason is {seen["reason"]}')
            return
        for port, reason in ((NOBODY, INVALID_SERVICE_ID), (PORT, CONSUMER)):
            child = self.place.spawn(f'rping -c -a {rig.OURS[self.family]} -p {port} -C 1')
            if reason == CONSUMER:
                seen = self.event('REQUESTED')
                self.numbers.append(seen['conn'])
                self.ours.ask('reject', conn=seen['conn'], data=b'no'.hex())
            said = ended(child)
            if f'RDMA_CM_EVENT_REJECTED, error {reason}' not in said:
                raise Failed(f'rping was not refused with {reason}: {said}')

    def judge(self, capture, _pattern):
        asked = {mad['local']: mad for mad in capture.mads() if mad['kind'] == 'REQ' and
                 mad['src'] == self.asker()}
        refused = [mad for mad in capture.mads() if mad['kind'] == 'REJ' and
                   mad['remote'] in asked]
        late = [mad for mad in refused
                if mad['time'] - asked[mad['remote']]['time'] > 0.010 and mad['reason'] ==
                INVALID_SERVICE_ID and mad['src'] == rig.gid(rig.OURS[self.family])]
        if not refused or late:
            raise Failed(f'{len(refused)} REJs on the wire, of which {len(late)} came after 10 ms')

    def asker(self):
        return rig.gid((rig.OURS if self.is_client else rig.RXE)[self.family])


def links(capture, call):
    """The connections that the capture shows between ours and rxe in that role."""
    active = rig.gid((rig.OURS if call.is_client else rig.RXE)[call.family])
    passive = rig.gid((rig.RXE if call.is_client else rig.OURS)[call.family])
    return [link for link in capture.connections() if
            (link['active']['gid'], link['passive']['gid']) == (active, passive) and
            call.began <= link['time'] <= call.over]


def one_link(capture, call):
    found = links(capture, call)
    if len(found) != 1:
        raise Failed(f'{len(found)} connections on the wire, not one')
    is_unheard = call.may_lose and not call.is_client and not found[0]['ends']
    if found[0]['ends'] != ['DREQ', 'DREP'] and not is_unheard:
        raise Failed(f'the connection ends by {found[0]["ends"]} and not by DREQ, DREP')
    return found[0]
