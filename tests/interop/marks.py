# SPDX-License-Identifier: BSD-3-Clause
"""Congestion: the guest sends packets that are marked already, by their traffic class, and ours
answers by CNPs; ours are ECN-capable when the adapter asks for it, and else none is."""
import rig
from cells import Link, judge_success
from rig import Failed

NOT_ECT, ECT0, CE = 0, 2, 3
CNP = 0x81
CNP_TOS = 48 << 2  # as RNICs send them, and not ECN-capable
INTERVAL = 50e-6   # [s] between two CNPs of one queue pair, at least
ROUNDS, COUNT, SIZE, MTU = 5, 20, 4097, 1024


def tos_of(frame):
    return frame[15] if frame[14] >> 4 == 4 else (frame[14] & 15) << 4 | frame[15] >> 4


def judge_ecn(capture, mac, is_capable):
    """Of our packets those of connections are ECT(0) if the adapter asks for it, others never."""
    mac = bytes.fromhex(mac.replace(':', ''))
    for packet, (_, frame) in zip(capture.packets, capture.frames):
        if frame[6:12] != mac:
            continue
        wanted = ECT0 if is_capable and packet.opcode < 0x20 else NOT_ECT
        if packet.opcode == CNP and tos_of(frame) != CNP_TOS:
            raise Failed(f'frame {packet.number}: a CNP with TOS {tos_of(frame):#x}')
        if tos_of(frame) & 3 != wanted:
            raise Failed(f'frame {packet.number}: ECN {tos_of(frame) & 3}, not {wanted}')


class Marks:
    """WRITEs over one connection; the guest's packets are all marked, or none."""

    def __init__(self, ends, family):
        self.a, self.b = ends
        self.family = family
        self.guest = 'b' if self.a.program.name == 'ours' else 'a'
        self.is_marked = self.guest == 'a'
        self.link = None

    def play(self):
        self.link = Link(self.a, self.b, MTU, self.family,
                         only={self.guest: {'tclass': CE if self.is_marked else NOT_ECT}})
        try:
            for _ in range(ROUNDS):
                self.link.send('WRITE', SIZE, count=COUNT, **self.link.remote())
                for _ in range(COUNT):
                    judge_success(self.link.sent(), 'the WRITE')
        finally:
            self.link.close()

    def judge(self, capture):
        ours, theirs = (rig.gid(end.addresses[self.family]) for end in
                        ((self.b, self.a) if self.is_marked else (self.a, self.b)))
        qpn = self.link.at['ab'.index(self.guest)]['qpn']
        packets = list(zip(capture.packets, capture.frames))
        heard = [(packet, tos_of(frame) & 3) for packet, (_, frame) in packets
                 if packet.src == theirs and packet.opcode < 0x20]
        told = [packet for packet, _ in packets if packet.src == ours and packet.opcode == CNP]
        marked = [packet for packet, ecn in heard if ecn == CE]
        if len(marked) != (len(heard) if self.is_marked else 0) or not heard:
            raise Failed(f'{len(marked)} of {len(heard)} packets of rxe are marked')
        if not self.is_marked:
            if told:
                raise Failed(f'{len(told)} CNPs, and nothing was marked')
            return
        most = (heard[-1][0].time - heard[0][0].time) / INTERVAL + 2
        if not 1 < len(told) <= most:
            raise Failed(f'{len(told)} CNPs for {len(marked)} marks, at most {most:.0f}')
        for packet in told:
            bth = capture.frames[packet.number - 1][1][-4 - 16 - 12:]
            if packet.qpn != qpn or packet.payload != bytes(16):
                raise Failed(f'frame {packet.number} is no CNP to queue pair {qpn:#x}')
            if not bth[4] & 0x40:
                raise Failed(f'frame {packet.number}: a CNP without BECN')
