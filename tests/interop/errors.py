# SPDX-License-Identifier: BSD-3-Clause
"""Requests that must fail, as the wire shows it: each over a connection of its own, the requester
told the right status, the responder having said the right thing."""
from cells import EDGE, FAR, NEAR, ROOM, WORD, Link, judge_success
from judge import NAK_SEQUENCE
from rig import Failed

NAK_INVALID, NAK_ACCESS, NAK_OPERATION = 0x61, 0x62, 0x63
FATAL = (NAK_INVALID, NAK_ACCESS, NAK_OPERATION)
RNR_TIMER = 5  # the code: 0.06 ms
RNR_NAK = 0x20 | RNR_TIMER
SIZE = 3000
REMOTE_WRITE = 4
SKEW = 5


class Error:
    """One way to fail."""

    def __init__(self, name, op, status, nak, run, askers=('ours', 'rxe'), **options):
        """@param run (link, op): posts; @param nak the responder's syndrome; options: Link's"""
        self.name, self.op, self.status, self.nak = name, op, status, nak
        self.run, self.askers, self.options = run, askers, options

    def play(self, a, b, mtu, family):
        """Returns the link, for what the capture shows of it."""
        link = Link(a, b, mtu, family, **dict({'retry': 2, 'timeout': 16}, **self.options))
        try:
            b.ask('fill', mr=0, at=FAR - EDGE, bytes=SIZE + 2 * EDGE, seed=9)
            self.run(link, self.op)
            done = link.sent()
            if done['status'] != self.status:
                raise Failed(f'the requester is told {done["status"]}, not {self.status}')
            self.judge_state(link.a, link.at[0], 'requester')
            if self.nak in FATAL:
                self.judge_state(link.b, link.at[1], 'responder')
            if self.run is not too_long:  # whose first packets were good
                b.ask('check', mr=0, at=FAR - EDGE, bytes=SIZE + 2 * EDGE, seed=9)
        finally:
            link.close()
        return link

    @staticmethod
    def judge_state(end, own, who):
        state = end.ask('state', id=own['id'])['state'].upper()
        if state != 'ERROR':
            raise Failed(f'the {who} is in state {state}')

    def judge(self, talk):
        naks = talk.naks()
        if self.nak in FATAL and naks != [self.nak]:
            raise Failed(f'the NAKs are {list(map(hex, naks))}, not one {self.nak:#x}')
        if self.nak == RNR_NAK:  # rxe refuses what is in flight behind it, too (interop-rules.md)
            naks = [nak for nak in naks if nak != NAK_SEQUENCE]
        if not naks or set(naks) != {self.nak}:
            raise Failed(f'the NAKs are {list(map(hex, naks))}, not {self.nak:#x}')


def bad_key(link, op):
    link.send(op, 8 if op == 'FETCH_ADD' else SIZE, rva=link.b.memory['va'] + WORD,
              rkey=link.b.memory['rkey'] ^ 0x5a5a5a00)


def out_of_range(link, op):
    link.send(op, SIZE, rva=link.b.memory['va'] + ROOM - SIZE + 1, rkey=link.b.memory['rkey'])


def no_right(link, op):
    """The region may be used, but not so."""
    region = link.b.read_only if op == 'WRITE' else link.b.write_only
    link.send(op, SIZE, rva=region['va'], rkey=region['rkey'])


def dead_window(link, op):
    """A window that its peer has invalidated."""
    own = link.at[1]['id']
    key = link.b.ask('bind', id=own, mw=15, mr=0, at=FAR, bytes=SIZE, access=4)['rkey']
    judge_success(link.b.program.reap(own), 'binding the window')
    link.recv(8)
    link.send('SEND_INV', 8, inv=key)
    judge_success(link.sent(), 'the SEND that invalidates')
    judge_success(link.received(), 'the receive', op='SEND_INV', imm=key)
    link.b.ask('fill', mr=0, at=FAR - EDGE, bytes=SIZE + 2 * EDGE, seed=9)
    link.send(op, SIZE, rva=link.b.memory['va'] + FAR, rkey=key)


def misaligned(link, op):
    link.send(op, 8, rva=link.b.memory['va'] + WORD + 4, rkey=link.b.memory['rkey'])


def plain(link, op):
    """A request with nothing wrong about it, where the connection is what is wrong."""
    link.send(op, SIZE, **link.remote())


def too_long(link, op):
    link.recv(SIZE - 1)
    link.send(op, SIZE)


ERRORS = [
    Error('unknown key', 'WRITE', 'REMOTE_ACCESS', NAK_ACCESS, bad_key),
    Error('unknown key', 'READ', 'REMOTE_ACCESS', NAK_ACCESS, bad_key),
    Error('unknown key', 'FETCH_ADD', 'REMOTE_ACCESS', NAK_ACCESS, bad_key),
    Error('out of range', 'WRITE', 'REMOTE_ACCESS', NAK_ACCESS, out_of_range),
    Error('out of range', 'READ', 'REMOTE_ACCESS', NAK_ACCESS, out_of_range),
    Error('no right', 'WRITE', 'REMOTE_ACCESS', NAK_ACCESS, no_right),
    Error('no right', 'READ', 'REMOTE_ACCESS', NAK_ACCESS, no_right),
    Error('invalidated window', 'WRITE', 'REMOTE_ACCESS', NAK_ACCESS, dead_window),
    # rxe posts no such request
    Error('misaligned', 'FETCH_ADD', 'REMOTE_INVALID_REQUEST', NAK_INVALID, misaligned, ('ours',)),
    Error('longer than the receive', 'SEND', 'REMOTE_INVALID_REQUEST', NAK_INVALID, too_long,
          ('rxe',)),
    # what rxe says to it; 9.7.5.2.1 has "invalid request"
    Error('longer than the receive', 'SEND', 'REMOTE_OPERATION', NAK_OPERATION, too_long,
          ('ours',)),
    Error('not allowed here', 'READ', 'REMOTE_INVALID_REQUEST', NAK_INVALID, plain,
          only={'b': {'access': REMOTE_WRITE}}),
    Error('wrong PSN', 'WRITE', 'RETRY_EXCEEDED', NAK_SEQUENCE, plain, skew=-SKEW),
    Error('no receive', 'SEND', 'RNR_RETRY_EXCEEDED', RNR_NAK, plain, rnr=2, timer=RNR_TIMER),
]
