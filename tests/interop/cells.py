# SPDX-License-Identifier: BSD-3-Clause
"""What two ends that speak lines do with each other: every operation in every size, and every error
that the wire can show. Either end may be the requester; the code is the same."""
import contextlib
import time

import judge
import rig
from rig import Failed

ROOM = 1 << 21         # [bytes] of each end's memory
NEAR, FAR = 4099, 8195  # where messages lie, at the requester and at the responder: nothing aligned
EDGE = 64              # bytes around a target that must not change
WORD = 16384           # where an atomic's eight bytes are
ACCESS = 0x1f          # every right, windows too
REMOTE_READ, REMOTE_WRITE = 2, 4

LINE = 16384           # bytes that go into one line, in hexadecimal

SIZED = ['SEND', 'SEND_IMM', 'SEND_INV', 'WRITE', 'WRITE_IMM', 'READ']
ATOMICS = ['CMP_SWAP', 'FETCH_ADD']


def sizes(mtu):
    return [0, 1, mtu - 1, mtu, mtu + 1, 65536, 1 << 20]


class End:
    """A program with its memory, and the number of its next queue pair."""

    def __init__(self, program, addresses):
        self.program, self.addresses = program, addresses
        self.memory = program.ask('mr', mr=0, bytes=ROOM, access=ACCESS)
        self.read_only = program.ask('mr', mr=1, bytes=WORD, access=1 | REMOTE_READ)
        self.write_only = program.ask('mr', mr=2, bytes=WORD, access=1 | REMOTE_WRITE)
        self.next = 0

    def ask(self, verb, **arguments):
        return self.program.ask(verb, **arguments)

    def poke(self, at, data):
        for i in range(0, len(data), LINE):
            part = data[i:i + LINE]
            self.ask('poke', mr=0, at=at + i, bytes=len(part), data=part.hex())

    def peek(self, at, size):
        return b''.join(bytes.fromhex(self.ask('peek', mr=0, at=at + i,
                                               bytes=min(LINE, size - i))['data'])
                        for i in range(0, size, LINE))

    def qp(self, peer, family, **options):
        number = self.next % 64
        self.next += 1
        made = self.ask('qp', id=number, gid=rig.gid(peer.addresses[family]), **options)
        return dict(made, id=number)


class Link:
    """A connection between two ends: `a` asks, `b` answers."""

    def __init__(self, a, b, mtu, family, skew=0, only=None, **options):
        """@param skew added to the PSN that `b` expects; options of one end: only={'b': {...}}"""
        self.a, self.b, self.mtu, self.family = a, b, mtu, family
        self.end = None  # [s] when what is waited for must have come
        self.unrest = 0  # what the capture has that a good wire would not have shown
        self.at = [a.qp(b, family, depth=64), b.qp(a, family, depth=64)]
        only = only or {}
        for end, own, other, name, add in ((a, *self.at, 'a', 0), (b, *self.at[::-1], 'b', skew)):
            end.ask('connect', id=own['id'], qpn=other['qpn'], psn=other['psn'] + add & 0xffffff,
                    gid=other['gid'], mtu=mtu, **dict(options, **only.get(name, {})))

    def within(self, seconds):
        """What comes next may take so long, all of it."""
        self.end = time.monotonic() + seconds

    def reap(self, number, of='send'):
        """The next completion of an end: 0 is `a`."""
        left = self.end and max(1, round(self.end - time.monotonic()))
        program = (self.a, self.b)[number].program
        return program.reap(self.at[number]['id'], of, seconds=left or rig.PATIENCE)

    def close(self):
        for end, own in zip((self.a, self.b), self.at):
            with contextlib.suppress(Failed):
                end.ask('qpdrop', id=own['id'])

    def talk(self, capture, is_whole=True):
        """The requests of `a` and the replies of `b`."""
        requester, responder = ({'gid': rig.gid(end.addresses[self.family]), **own}
                                for end, own in zip((self.a, self.b), self.at))
        return judge.Talk(capture, requester, responder, self.mtu, is_whole)

    def send(self, op, size, **more):
        self.a.ask('send', id=self.at[0]['id'], op=op, mr=0, at=NEAR, bytes=size, **more)

    def recv(self, size):
        self.b.ask('recv', id=self.at[1]['id'], mr=0, at=FAR, bytes=size)

    def sent(self):
        return self.reap(0)

    def received(self):
        return self.reap(1, 'recv')

    def remote(self, at=FAR):
        return {'rva': self.b.memory['va'] + at, 'rkey': self.b.memory['rkey']}


class Expected:
    """What the capture must show of one message."""

    def __init__(self, op, **what):
        self.op, self.what = op, what

    def judge(self, message):
        if message.op != self.op:
            raise Failed(f'{message} on the wire, where {self.op} was posted')
        for name, value in self.what.items():
            seen = getattr(message, name)
            if seen != value:
                shown = f'{seen!s:.60} and not {value!s:.60}'
                if isinstance(value, bytes):
                    first = next((i for i, (x, y) in enumerate(zip(seen, value)) if x != y),
                                 min(len(seen), len(value)))
                    shown = f'{len(seen)} of {len(value)} bytes, the first wrong at {first}'
                raise Failed(f'{self.op}: {name} on the wire is {shown}')


def judge_success(done, what, **wanted):
    """A completion is as it should be."""
    wanted = dict(wanted, status='SUCCESS')
    for name, value in wanted.items():
        if done[name] != value:
            raise Failed(f'{what}: {name} is {done[name]}, not {value}')


class Cells:
    """The operations over one connection, one after the other; what the capture must show of each
    is kept for when it is read."""

    def __init__(self, link, pattern):
        self.link, self.pattern = link, pattern
        self.seed, self.expected = 1, []
        self.windows = 0

    def prepare(self, source, target, at_source, at_target, size):
        """Returns the seed of the message."""
        self.seed += 2
        source.ask('fill', mr=0, at=at_source, bytes=size, seed=self.seed)
        target.ask('fill', mr=0, at=at_target - EDGE, bytes=size + 2 * EDGE, seed=self.seed + 1)
        return self.seed

    def arrived(self, target, at_target, at_source, size, seed):
        """It is there, and nothing beside it has changed."""
        target.ask('check', mr=0, at=at_target, bytes=size, seed=seed, **{'from': at_source})
        for at in (at_target - EDGE, at_target + size):
            target.ask('check', mr=0, at=at, bytes=EDGE, seed=seed + 1)

    def run(self, op, size):
        if op in ATOMICS:
            self.atomic(op)
        elif op == 'READ':
            self.read(size)
        else:
            self.push(op, size)

    def push(self, op, size):
        """SEND and WRITE, of every kind."""
        link, more, shows = self.link, {}, {}
        seed = self.prepare(link.a, link.b, NEAR, FAR, size)
        if op == 'SEND_INV':
            more['inv'] = shows['inv'] = self.window(size)
        if op.endswith('IMM'):
            more['imm'] = shows['imm'] = 0x80000000 | seed
        if op.startswith('WRITE'):
            more.update(link.remote())
            shows.update(va=more['rva'], rkey=more['rkey'], length=size)
        is_told = op != 'WRITE'
        if is_told:
            link.recv(size if op.startswith('SEND') else 0)
        link.send(op, size, **more)
        judge_success(link.sent(), 'the request')
        if is_told:
            done = link.received()
            judge_success(done, 'the receive', op=op, bytes=size)
            if 'imm' in more or 'inv' in more:
                judge_success(done, 'the receive', imm=more.get('imm', more.get('inv')))
        self.arrived(link.b, FAR, NEAR, size, seed)
        self.expected.append(Expected(op, data=self.pattern(NEAR, size, seed), **shows))

    def window(self, size):
        """A window of `b`, through which `a` first writes. Returns its key."""
        link = self.link
        number = self.windows % 16
        self.windows += 1
        key = link.b.ask('bind', id=link.at[1]['id'], mw=number, mr=0, at=FAR, bytes=max(size, 4),
                         access=4)['rkey']
        judge_success(link.reap(1), 'binding the window')
        link.send('WRITE', min(size, 4), rva=link.b.memory['va'] + FAR, rkey=key)
        judge_success(link.sent(), 'a WRITE through a window')
        self.expected.append(Expected('WRITE', rkey=key,
                                      data=self.pattern(NEAR, min(size, 4), self.seed)))
        return key

    def read(self, size):
        link = self.link
        seed = self.prepare(link.b, link.a, FAR, NEAR, size)
        link.send('READ', size, **link.remote())
        judge_success(link.sent(), 'the READ')
        self.arrived(link.a, NEAR, FAR, size, seed)
        self.expected.append(Expected('READ', length=size, va=link.b.memory['va'] + FAR,
                                      answer=self.pattern(FAR, size, seed)))

    def atomic(self, op):
        """Once so that it changes the memory, once so that it does not, or wraps."""
        for before, compare, swap in ((5, 5, 2 ** 64 - 3), (2 ** 64 - 2, 7, 9)):
            self.one_atomic(op, before, compare, swap)

    def one_atomic(self, op, before, compare, swap):
        link = self.link
        after = (before + swap) % 2 ** 64
        if op == 'CMP_SWAP':
            after = swap if before == compare else before
        link.b.ask('poke', mr=0, at=WORD, bytes=8, data=before.to_bytes(8, 'little').hex())
        link.a.ask('send', id=link.at[0]['id'], op=op, mr=0, at=NEAR, bytes=8, compare=compare,
                   swap=swap, **link.remote(WORD))
        judge_success(link.sent(), 'the atomic')
        for end, at, value, what in ((link.a, NEAR, before, 'returned'),
                                     (link.b, WORD, after, 'left')):
            seen = end.ask('peek', mr=0, at=at, bytes=8)['data']
            if seen != value.to_bytes(8, 'little').hex():
                raise Failed(f'{op} {what} {seen}, not {value:#x}')
        shows = {'swap': swap, 'original': before, 'va': link.b.memory['va'] + WORD}
        if op == 'CMP_SWAP':
            shows['compare'] = compare
        self.expected.append(Expected(op, **shows))
