# SPDX-License-Identifier: BSD-3-Clause
"""perftest with -R: everything by the communication manager. One connection carries the messages
that go over TCP otherwise (perftest.py), each a SEND; a second one is what is measured. In
perftest 4.5 that is of IPv4 alone."""
import struct
import time

import rig
from cells import judge_success
from cm import Call, links
from judge import Talk
from perftest import PORT, Run, ended
from rig import Failed

FAMILIES = [4]
TOOLS = ['ib_send_bw', 'ib_write_bw', 'ib_read_bw']
DATA, TALK = 0, 1       # queue pairs, by their numbers
KEYS = '>5I4xQ16sII'    # LID, READs, QPN, PSN, key, address, GID, SRQ, index of the GID
SLOT, SLOTS, OUTBOX = 64, 40, 8192  # of the memory that the messages are in
LISTENER = 2


def key_line(made, out_reads, rkey, va):
    return struct.pack(KEYS, 0, out_reads, made['qpn'], made['psn'], rkey, va,
                       bytes.fromhex(made['gid']), 0, 0)


def parse_keys(line):
    _, reads, qpn, psn, rkey, va, gid, _, _ = struct.unpack(KEYS, line)
    return {'reads': reads, 'qpn': qpn, 'psn': psn, 'rkey': rkey, 'va': va, 'gid': gid.hex()}


class Exchange:
    """What a tool is told, and tells, by SENDs; the client of the two speaks first."""

    def __init__(self, ours, is_client):
        self.ours, self.is_client = ours, is_client
        self.said, self.heard = [], []

    def listen(self):
        self.ours.ask('recv', id=TALK, mr=1, at=0, bytes=SLOT, count=SLOTS, step=SLOT)

    def say(self, line):
        self.ours.ask('poke', mr=1, at=OUTBOX, bytes=len(line), data=line.hex())
        self.ours.ask('send', id=TALK, op='SEND', mr=1, at=OUTBOX, bytes=len(line))
        judge_success(self.ours.program.reap(TALK), 'a message to the tool')
        self.said.append(line)

    def hear(self, size):
        judge_success(self.ours.program.reap(TALK, 'recv'), 'a message of the tool', bytes=size)
        line = self.ours.ask('peek', mr=1, at=SLOT * len(self.heard), bytes=size)['data']
        self.heard.append(bytes.fromhex(line))
        return self.heard[-1]

    def swap(self, own):
        """Both say as much."""
        if self.is_client:
            self.say(own)
        got = self.hear(len(own))
        if not self.is_client:
            self.say(own)
        return got

    def close(self):
        """It is with the connection."""


class RunOverCm(Run):
    """One tool against ours."""

    key_line, parse_keys = staticmethod(key_line), staticmethod(parse_keys)

    def __init__(self, place, ours, tool, role, size, mtu, family, count):
        super().__init__(place, ours, tool, role, size, mtu, family, count)
        self.calls = Call(place, ours, role == 'client', size, mtu, family)
        self.exchange = Exchange(ours, role == 'client')

    def command(self):
        words = f'{self.tool} -R -x 1 -F -m {self.mtu} -n {self.count} -s {self.size}'
        return words + (f' {rig.OURS[self.family]}' if self.role == 'server' else '')

    def meet(self):
        self.calls.began = time.time()
        if self.role == 'server':
            self.ours.ask('listen', number=LISTENER, port=PORT)
        child = self.place.spawn(self.command())
        try:
            self.connect_one(TALK, self.exchange.listen)
        except Failed as failed:
            child.terminate()
            raise Failed(f'{failed}; {self.tool} said: {ended(child)}') from None
        return child, self.exchange

    def connect_one(self, number, before=None):
        if self.role == 'server':
            self.calls.accept(number, before and (lambda _: before()))
            self.calls.event('ESTABLISHED')
            return
        self.calls.make(number)
        if before:
            before()
        self.calls.dial(number, PORT)

    def begin(self, exchange):
        """Both say that they are ready, and that they are connected."""
        nothing = bytes(struct.calcsize(KEYS))
        exchange.swap(nothing)
        self.connect_one(DATA)
        exchange.swap(nothing)

    def make(self):
        self.own = self.calls.made[DATA]

    def connect(self):
        """They are connected."""

    def end(self, exchange):
        """The server of the two hangs up what was measured, the tool the rest; the client of
        ib_send_bw may be first."""
        if self.role == 'server':
            self.ours.program.try_to('hangup', conn=self.calls.numbers[-1])
        kinds = []
        while len(kinds) < 2:
            seen = self.ours.program.ask('event', ms=rig.PATIENCE * 1000)
            if not seen or seen['kind'] not in ('DISCONNECTED', 'CLOSED'):
                raise Failed(f'{seen} came where the end of connections was due')
            kinds.append(seen['kind'])

    def close(self):
        self.calls.over = time.time()
        self.calls.close()
        self.ours.program.try_to('unlisten', number=LISTENER)

    def judge(self, capture, pattern):
        found = links(capture, self.calls)
        if len(found) != 2 or any(link['ends'] != ['DREQ', 'DREP'] or link['mtu'] != self.mtu
                                  for link in found):
            raise Failed(f'the connections on the wire are {found}')
        own, peer = ('active', 'passive') if self.role == 'client' else ('passive', 'active')
        for requester, responder, lines in ((own, peer, self.exchange.said),
                                            (peer, own, self.exchange.heard)):
            talk = Talk(capture, found[0][requester], found[0][responder], self.mtu)
            talk.hold_to_acks()
            if [message.data for message in talk.messages] != lines:
                raise Failed(f'{[message.data for message in talk.messages]} on the wire, '
                             f'not {lines}')
        if found[1][own]['qpn'] != self.own['qpn']:
            raise Failed(f'the second connection is of queue pair {found[1][own]["qpn"]}')
        self.own, self.peer = found[1][own], found[1][peer]
        super().judge(capture, pattern)
