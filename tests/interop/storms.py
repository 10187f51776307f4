# SPDX-License-Identifier: BSD-3-Clause
"""A bad wire, made by netem in the guest for what it sends and for what it receives: operations one
by one, bursts of messages and tools over it. Every byte must arrive, within a stated time."""
import contextlib

from cells import FAR, NEAR, WORD, Expected, Link, judge_success
from judge import NAK_SEQUENCE
from rig import Failed

SECONDS = 120  # that a row may take: a retransmission timer of 0.5 s runs out a few dozen times
HASTY = {'retry': 7, 'timeout': 15}    # a connection's; 15 is 0.13 s, and 7 of rxe's is for ever
COUNT, SIZE = 12, 30001
ATOMICS = 64
OPS = ['SEND', 'WRITE', 'READ', 'FETCH_ADD']
TOOLS = ['ib_send_bw', 'ib_write_bw', 'ib_read_bw']
TOOL_SIZE, TOOL_COUNT, TOOL_WAY = 65535, 20, (4096, 4)
WIRES = {
    'loss 1 %': 'loss 1%',
    'duplication 5 %': 'duplicate 5%',
    'reordering': 'delay 3ms reorder 25% 50%',
    'corruption 1 %': 'corrupt 1%',
}
LOSSY = ['loss 1 %', 'corruption 1 %']


@contextlib.contextmanager
def raging(place, wire):
    """That wire, while it lasts; for UDP only: the driver talks to the guest's program over TCP."""
    netem = f'netem limit 10000 {WIRES[wire]}'
    udp = ['protocol ip u32 match ip protocol 17 0xff',
           'protocol ipv6 u32 match ip6 protocol 17 0xff']
    words = ['modprobe ifb numifbs=1', 'ip link set ifb0 mtu 9000 up',
             'modprobe -a act_mirred cls_u32 sch_ingress sch_netem sch_prio',
             'tc qdisc add dev eth0 handle ffff: ingress', f'tc qdisc add dev ifb0 root {netem}',
             'tc qdisc add dev eth0 root handle 1: prio priomap' + ' 0' * 16,
             f'tc qdisc add dev eth0 parent 1:3 {netem}']
    for match in udp:
        words.append(f'tc filter add dev eth0 parent ffff: {match} '
                     'action mirred egress redirect dev ifb0')
        words.append(f'tc filter add dev eth0 parent 1: {match} flowid 1:3')
    place.run(' && '.join(words))
    try:
        yield
    finally:
        place.run('tc qdisc del dev eth0 root; tc qdisc del dev eth0 ingress; '
                  'tc qdisc del dev ifb0 root')


def judge_wire(capture, links):
    """It was as bad as it should have been."""
    damaged = sum('damaged' in packet.wrong for packet in capture.packets)
    if damaged + sum(link.unrest for link in links if link) == 0:
        raise Failed('the wire was good')


def judge_naks(talk, link):
    """Nothing but a hole in the sequence is complained of; rxe says RNR to a READ, too, when it has
    no memory for an answer."""
    others = set(talk.naks()) - {NAK_SEQUENCE}
    if link.b.program.name != 'ours':
        others -= {nak for nak in others if nak >> 5 == 1}
    if others:
        raise Failed(f'NAKs of syndromes {sorted(map(hex, others))}')


class Burst:
    """Many messages at once over one connection."""

    def __init__(self, a, b, op, mtu, family, pattern):
        self.a, self.b, self.op, self.mtu, self.family = a, b, op, mtu, family
        self.pattern = pattern
        self.link, self.expected = None, []

    def play(self):
        self.link = Link(self.a, self.b, self.mtu, self.family, **HASTY)
        try:
            if self.op == 'FETCH_ADD':
                self.count_up()
            else:
                self.move()
        finally:
            self.link.close()

    def ask(self, **what):
        """Post all, and wait for them."""
        own, peer = self.link.at
        self.a.ask('send', id=own['id'], op=self.op, mr=0, at=NEAR, **what)
        done = self.a.program.reap(own['id'], 'send', what['count'], SECONDS)
        judge_success(done, 'the last request', count=what['count'])
        if self.op == 'SEND':
            done = self.b.program.reap(peer['id'], 'recv', what['count'], SECONDS)
            judge_success(done, 'the last receive', count=what['count'], bytes=SIZE)

    def count_up(self):
        self.b.ask('poke', mr=0, at=WORD, bytes=8, data='00' * 8)
        self.ask(bytes=8, count=ATOMICS, swap=1, **self.link.remote(WORD))
        seen = self.b.ask('peek', mr=0, at=WORD, bytes=8)['data']
        if seen != ATOMICS.to_bytes(8, 'little').hex():
            raise Failed(f'{ATOMICS} times one makes {seen}')
        self.expected = [Expected('FETCH_ADD', swap=1, original=i) for i in range(ATOMICS)]

    def move(self):
        """Messages, each from and to a place of its own."""
        total = COUNT * SIZE
        source, target = (self.b, self.a) if self.op == 'READ' else (self.a, self.b)
        at_source, at_target = (FAR, NEAR) if self.op == 'READ' else (NEAR, FAR)
        source.ask('fill', mr=0, at=at_source, bytes=total, seed=31)
        target.ask('fill', mr=0, at=at_target, bytes=total + SIZE, seed=32)
        if self.op == 'SEND':
            self.b.ask('recv', id=self.link.at[1]['id'], mr=0, at=FAR, bytes=SIZE, count=COUNT,
                       step=SIZE)
        where = {} if self.op == 'SEND' else dict(self.link.remote(), rstep=SIZE)
        self.ask(bytes=SIZE, count=COUNT, step=SIZE, **where)
        target.ask('check', mr=0, at=at_target, bytes=total, seed=31, **{'from': at_source})
        target.ask('check', mr=0, at=at_target + total, bytes=SIZE, seed=32)
        name = 'answer' if self.op == 'READ' else 'data'
        self.expected = [Expected(self.op, **{name: self.pattern(at_source + i * SIZE, SIZE, 31)})
                         for i in range(COUNT)]

    def judge(self, capture):
        talk = self.link.talk(capture)
        if len(talk.messages) != len(self.expected):
            raise Failed(f'{len(talk.messages)} messages on the wire, not {len(self.expected)}')
        for message, expected in zip(talk.messages, self.expected):
            expected.judge(message)
        talk.hold_to_acks()
        judge_naks(talk, self.link)
        if talk.changed:  # the memory has not
            raise Failed(f'{talk.changed} answers came again with other bytes')
        self.link.unrest = talk.unrest()
