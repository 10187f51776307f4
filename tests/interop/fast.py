# SPDX-License-Identifier: BSD-3-Clause
"""Regions that are registered by work requests, and SEND with invalidate: ours as a consumer of
NDK, rxe with a consumer in the guest's kernel, since it registers so for no other. The owner
registers and tells its key; the peer writes, reads, and invalidates it; then the key is dead."""
import contextlib
import time

import judge
import rig
from cells import EDGE, REMOTE_READ, REMOTE_WRITE, Expected, judge_success
from cm import one_link
from errors import NAK_ACCESS
from judge import NAK_SEQUENCE, Talk
from rig import Failed

PORT = 7175
BYTES = 1 << 18     # of each area
PLAIN, FAST = 0, 1  # areas: contiguous; of pages anywhere, registered by requests
NEAR, BACK, INBOX = 4099, 1 << 17, 8192  # in PLAIN: where the asker sends from and reads to
FIRST, SECOND = 8195, 12289  # in FAST: where the region begins, the first and the second time
LOCAL_WRITE = 1
RIGHTS = LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE
WIRES = ['duplication 5 %', 'reordering']  # on which nothing is lost, and so no connection

TRIES = 5
IO_TIMEOUT = '0xc00000b5'  # of NDK

# name: (how the key dies, what then uses it)
WAYS = {
    'SEND_INV, WRITE': ('SEND_INV', 'WRITE'),
    'SEND_INV, READ': ('SEND_INV', 'READ'),
    'LOCAL_INV, WRITE': ('LOCAL_INV', 'WRITE'),
    'SEND_INV of a window, WRITE': ('WINDOW', 'WRITE'),
}


class Stalled(Failed):
    """The guest has stopped for longer than ours waits, half a second, which NDK cannot change."""


def ways(is_ours_asking):
    """There are no windows in Linux' kernel."""
    return [name for name, (how, _) in WAYS.items() if how != 'WINDOW' or not is_ours_asking]


class End:
    """A program, and its one address of a family."""

    def __init__(self, program, addresses):
        self.program, self.addresses = program, addresses

    def ask(self, verb, **arguments):
        done = self.program.ask(verb, **arguments)
        if done is None:
            raise Failed(f'{self.program.name}: {verb} has come to nothing')
        return done

    def done(self, op, of='send', **wanted):
        """The next completion is that success."""
        judge_success(self.reap(of), op, op=op, **wanted)

    def reap(self, of):
        done = self.program.reap(0, of)
        if done['status'] == IO_TIMEOUT:
            raise Stalled(f'{self.program.name}: the guest has not answered for half a second')
        return done


class Fast:
    """One connection. `a` asks for it and for everything, `b` owns what is registered."""

    may_lose = False

    def __init__(self, ends, is_ours_asking, op, size, mtu, family, is_clean):
        (self.a, self.b), self.is_client, self.is_clean = ends, is_ours_asking, is_clean
        self.how, self.use = WAYS[op]
        self.size, self.mtu, self.family = size, mtu, family
        self.began = self.over = 0  # [s] of the clock that captures have
        self.unrest = 0  # what the capture has that a good wire would not have shown
        self.seed, self.expected = 1, []

    def play(self):
        for left in reversed(range(TRIES)):
            self.began, self.expected = time.time(), []
            try:
                self.play_once()
                break
            except Stalled:
                if not left:
                    raise
        self.over = time.time()

    def play_once(self):
        try:
            self.connect()
            first = self.register(FIRST)
            self.access(first, FIRST, PLAIN)
            self.settle()
            self.kill(first)
            if self.how != 'WINDOW':  # an area is registered again, and the old key stays dead
                second = self.register(SECOND)
                if second['rkey'] == first['rkey']:
                    raise Failed('the second registration has the key of the first')
                self.a.ask('reg', mr=FAST, at=NEAR, bytes=BACK + self.size - NEAR,
                           access=LOCAL_WRITE)
                self.a.done('REG')
                self.access(second, SECOND, FAST)
            self.use_dead(first)
            self.a.ask('hangup')
            self.b.ask('hungup')
        finally:
            self.close()

    def close(self):
        for end in (self.a, self.b):
            with contextlib.suppress(Failed):
                end.ask('drop')
        with contextlib.suppress(Failed):
            self.b.ask('unlisten')

    def connect(self):
        own, peer = (rig.gid(end.addresses[self.family]) for end in (self.a, self.b))
        self.b.ask('listen', **{'from': peer, 'port': PORT})
        self.a.ask('dial', **{'from': own, 'gid': peer, 'port': PORT})
        self.b.ask('accept')
        self.a.ask('established')
        self.b.ask('established')

    def register(self, at):
        """Of `b`, and it is dirty. Returns: {va, rkey}."""
        self.seed += 2
        self.b.ask('fill', mr=FAST, at=at - EDGE, bytes=self.size + 2 * EDGE, seed=self.seed + 1)
        if self.how == 'WINDOW':
            self.b.ask('fill', mr=PLAIN, at=at - EDGE, bytes=self.size + 2 * EDGE,
                       seed=self.seed + 1)
            made = self.b.ask('bind', mr=PLAIN, at=at, bytes=self.size, access=RIGHTS)
            self.b.done('BIND')
        else:
            made = self.b.ask('reg', mr=FAST, at=at, bytes=self.size, access=RIGHTS)
            self.b.done('REG')
        return made

    def access(self, key, at, own):
        """WRITE all of it from the asker's area, and READ it back; nothing beside it changes."""
        area = PLAIN if self.how == 'WINDOW' else FAST
        data = judge.pattern(NEAR, self.size, self.seed)
        self.a.ask('fill', mr=own, at=NEAR, bytes=self.size, seed=self.seed)
        self.request('WRITE', key, own, NEAR)
        self.b.ask('check', mr=area, at=at, bytes=self.size, seed=self.seed, **{'from': NEAR})
        self.edges(self.b, area, at)
        self.a.ask('fill', mr=own, at=BACK - EDGE, bytes=self.size + 2 * EDGE, seed=self.seed + 1)
        self.request('READ', key, own, BACK)
        self.a.ask('check', mr=own, at=BACK, bytes=self.size, seed=self.seed, **{'from': NEAR})
        self.edges(self.a, own, BACK)
        where = {'va': key['va'], 'rkey': key['rkey'], 'length': self.size}
        self.expected += [Expected('WRITE', data=data, **where),
                          Expected('READ', answer=data, **where)]

    def edges(self, end, area, at):
        for edge in (at - EDGE, at + self.size):
            end.ask('check', mr=area, at=edge, bytes=EDGE, seed=self.seed + 1)

    def request(self, op, key, own, at):
        self.a.ask('send', op=op, mr=own, at=at, bytes=self.size, rva=key['va'],
                   rkey=key['rkey'])
        self.a.done(op)

    def settle(self):
        """A SEND has arrived, and with it whatever a slow guest made the asker repeat before it: a
        READ that comes again when its key is dead is a fault to rxe."""
        self.push('SEND')

    def push(self, op, **more):
        self.b.ask('recv', mr=PLAIN, at=BACK + INBOX, bytes=self.size)
        self.a.ask('fill', mr=PLAIN, at=NEAR, bytes=self.size, seed=self.seed)
        self.a.ask('send', op=op, mr=PLAIN, at=NEAR, bytes=self.size, **more)
        self.a.done('SEND')
        self.b.done(op, 'recv', bytes=self.size, imm=more.get('inv', 0))
        self.b.ask('check', mr=PLAIN, at=BACK + INBOX, bytes=self.size, seed=self.seed,
                   **{'from': NEAR})
        self.expected.append(Expected(op, data=judge.pattern(NEAR, self.size, self.seed), **more))

    def kill(self, key):
        if self.how == 'LOCAL_INV':
            self.b.ask('send', op='LOCAL_INV', mr=FAST, inv=key['rkey'])
            self.b.done('LOCAL_INV')
            return
        self.push('SEND_INV', inv=key['rkey'])

    def use_dead(self, key):
        """It is refused, nothing has changed, and the connection is over for both."""
        size, data = min(self.size, self.mtu), {}
        self.a.ask('fill', mr=PLAIN, at=NEAR, bytes=size, seed=self.seed)
        self.b.ask('recv', mr=PLAIN, at=BACK + INBOX, bytes=self.size)
        for area in (PLAIN, FAST):
            self.b.ask('fill', mr=area, at=FIRST - EDGE, bytes=self.size + 2 * EDGE, seed=99)
        self.a.ask('send', op=self.use, mr=PLAIN, at=NEAR, bytes=size, rva=key['va'],
                   rkey=key['rkey'])
        for end, of, status in ((self.a, 'send', 'REMOTE_ACCESS'), (self.b, 'recv', 'FLUSHED')):
            done = end.reap(of)
            if done['status'] != status:
                raise Failed(f'{end.program.name} is told {done["status"]}, not {status}')
        for area in (PLAIN, FAST):
            self.b.ask('check', mr=area, at=FIRST - EDGE, bytes=self.size + 2 * EDGE, seed=99)
        if self.use == 'WRITE':
            data['data'] = judge.pattern(NEAR, size, self.seed)
        self.expected.append(Expected(self.use, va=key['va'], rkey=key['rkey'], length=size,
                                      **data))

    def judge(self, capture):
        link = one_link(capture, self)
        if link['mtu'] != self.mtu:
            raise Failed(f'the path MTU is {link["mtu"]}')
        talk = Talk(capture, link['active'], link['passive'], self.mtu)
        self.unrest = talk.unrest()
        judge_talk(talk, self.expected, self.is_clean)


def judge_talk(talk, expected, is_clean=True):
    """These messages, the last of which is refused, and those before it are acknowledged. A wire
    that is not clean may repeat the refusal, and make holes in the sequence."""
    if len(talk.messages) != len(expected):
        raise Failed(f'{len(talk.messages)} messages on the wire, not {len(expected)}')
    for one, message in zip(expected, talk.messages):
        one.judge(message)
    dead = talk.offset(talk.messages[-1].psn)
    naks = [(at, hex(syndrome)) for at, syndrome, _ in talk.acks() if syndrome >> 5 != 0]
    if not is_clean:
        naks = sorted({nak for nak in naks if nak[1] != hex(NAK_SEQUENCE)})
    if naks != [(dead, hex(NAK_ACCESS))]:
        raise Failed(f'the NAKs are {naks}, not {[(dead, hex(NAK_ACCESS))]}')
    if talk.messages[-1].answer:
        raise Failed('the READ by a dead key is answered')
    top = max((at for at, syndrome, _ in talk.acks() if syndrome >> 5 == 0), default=-1)
    if top != dead - 1:
        raise Failed(f'{top + 1} of {dead} PSNs before the refused one are acknowledged')
