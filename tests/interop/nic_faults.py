# SPDX-License-Identifier: BSD-3-Clause
"""What a NIC can do to the program that uses it: lose its link, for a while or for good; be reset;
be unplugged; hand up packets whose checksum nobody has finished. Each is a run over one connection,
with what the capture must show of it."""
import socket
import struct
import time

import judge
import rig
from cells import FAR, NEAR, Expected, Link, judge_success
from judge import HEADER
from rig import Failed, wait_for

SIZE = 3000
COUNT, LONG, TRIES = 40, 30001, 20     # WRITEs at once, to fill a queue of 1,024 descriptors
PATIENT = {'retry': 6, 'timeout': 18}  # 18 is 1.07 s: for 6 s at least
HASTY = {'retry': 2, 'timeout': 16}    # 16 is 0.27 s; 7 tries of rxe's are for ever
DOWN = 2                               # [s] that the link is down
BOUND = 15                             # [s] until failure: four times what three tries may take
QKEY = 0x1234567
SOURCE_PORT = 50000


class Fault:
    """A WRITE that arrives; something happens to the NIC; a WRITE that arrives or must fail."""

    options = HASTY
    ways = [(True, 4), (False, 6)]  # does ours ask, and the family

    def __init__(self, machine, nic, address, ends, mtu, family):
        self.machine, self.nic, self.address = machine, nic, address
        self.a, self.b = ends
        self.ours = self.a if self.a.program.name == 'ours' else self.b
        self.mtu, self.family = mtu, family
        self.link, self.seed, self.expected = None, 1, []

    def play(self):
        self.link = Link(self.a, self.b, self.mtu, self.family, **self.options)
        try:
            self.write()
            self.happen()
        finally:
            self.link.close()

    def post(self):
        self.seed += 1
        self.a.ask('fill', mr=0, at=NEAR, bytes=SIZE, seed=self.seed)
        self.link.send('WRITE', SIZE, **self.link.remote())

    def arrived(self):
        judge_success(self.link.sent(), 'the WRITE')
        self.b.ask('check', mr=0, at=FAR, bytes=SIZE, seed=self.seed, **{'from': NEAR})
        self.expected.append(Expected('WRITE', data=judge.pattern(NEAR, SIZE, self.seed)))

    def write(self):
        self.post()
        self.arrived()

    def is_link(self, up):
        return self.ours.ask('port')['link'] == up

    def fail(self, **what):
        """These requests are given up, in bounded time, and their connection is in ERROR."""
        start = time.monotonic()
        self.link.send('WRITE', what.pop('bytes', SIZE), **what, **self.link.remote())
        done = self.link.sent()
        seconds = time.monotonic() - start
        if done['status'] != 'RETRY_EXCEEDED' or seconds > BOUND:
            raise Failed(f'the WRITE ends with {done["status"]}, after {seconds:.1f} s')
        state = self.a.ask('state', id=self.link.at[0]['id'])['state'].upper()
        if state != 'ERROR':
            raise Failed(f'the requester is in state {state}')

    def judge(self, capture):
        """Nothing but the first WRITE is acknowledged; rxe asks as often as it may."""
        talk = self.link.talk(capture, False)
        first = -(-SIZE // self.mtu)
        acked = [at for at, syndrome, _ in talk.acks() if syndrome >> 5 == 0]
        if not acked or max(acked) >= first:
            raise Failed(f'PSNs up to {max(acked, default=-1)} are acknowledged, of {first}')
        asked = [packet.psn for packet in talk.requests if talk.offset(packet.psn) >= first]
        if self.ours is self.b and not 1 < asked.count(talk.start + first & judge.PSN) <= 3:
            raise Failed('rxe has not asked three times')


class LinkBack(Fault):
    """The link comes back before the last try: all is as if nothing had been."""

    options = PATIENT
    repeats = True  # does rxe ask for something again?

    def happen(self):
        self.machine.set_link(self.nic, False)
        wait_for('the link to be down', lambda: self.is_link(False))
        self.post()
        number = self.link.at[0]['id']
        if self.a.ask('reap', id=number, of='send', ms=DOWN * 1000):
            raise Failed('the WRITE has ended without a link')
        self.machine.set_link(self.nic, True)
        self.arrived()
        wait_for('the link to be up', lambda: self.is_link(True))

    def judge(self, capture):
        talk = self.link.talk(capture)
        if len(talk.messages) != len(self.expected):
            raise Failed(f'{len(talk.messages)} WRITEs on the wire, not {len(self.expected)}')
        for message, expected in zip(talk.messages, self.expected):
            expected.judge(message)
        talk.hold_to_acks()
        if self.ours is self.b and self.repeats and not talk.unrest():
            raise Failed('nothing was asked for again: the link was not down')


class LinkDown(Fault):
    """The link stays down for longer than the connection lives."""

    def happen(self):
        self.machine.set_link(self.nic, False)
        try:
            wait_for('the link to be down', lambda: self.is_link(False))
            self.fail()
            self.link.close()  # what a device keeps of requests until then finds nobody
        finally:
            self.machine.set_link(self.nic, True)
            wait_for('the link to be up', lambda: self.is_link(True))


class Reset(Fault):
    """The device forgets all that it was told, and nobody tells the program."""

    def happen(self):
        self.machine.reset(self.address)
        self.fail()
        if self.ours is self.b:
            return
        for _ in range(TRIES):  # until the queue of the device is full of what it does not send
            if self.ours.ask('counters').get('engine_tx_full'):
                return
            first, self.link = self.link, Link(self.a, self.b, self.mtu, self.family, **HASTY)
            try:
                self.fail(bytes=LONG, count=COUNT)
            finally:
                self.link.close()
                self.link = first
        raise Failed('the queue of the device does not fill')


class Unplug(Fault):
    """The device goes; its driver, uio_pci_generic, lets it."""

    def happen(self):
        self.machine.unplug(self.nic)
        self.machine.wait_until_gone(self.nic)
        self.fail()
        if not self.is_link(False):
            raise Failed('a device that is gone has a link')


class UnplugLater(LinkBack):
    """vfio-pci keeps the device until the program has closed it."""

    repeats = False

    def happen(self):
        self.machine.unplug(self.nic)
        wait_for('the driver to be asked', self.machine.is_asked)
        self.write()


def datagram(source, destination, qpn, payload):
    """A SEND to a queue pair for datagrams, from the BTH on."""
    rest = struct.pack('>BBHIIII', 0x64, 0, 0xffff, qpn, 0, QKEY, 2) + payload
    size = 8 + len(rest) + 4
    head = struct.pack('>IHBB', 6 << 28, size, 17, 64) + source + destination
    udp = struct.pack('>HHHH', SOURCE_PORT, judge.ROCE_PORT, size, 0)
    frame = bytes(14) + head + udp + rest + bytes(4)
    return rest + judge.icrc(frame).to_bytes(4, 'little')


class Unfinished(Fault):
    """A datagram of the host's kernel, which leaves the UDP checksum to the device: that passes it
    on as it is, and vouches for it."""

    ways = [(False, 6)]

    def happen(self):
        source, destination = (socket.inet_pton(socket.AF_INET6, address)
                               for address in (rig.HOST6, self.ours.addresses[6]))
        made = self.ours.ask('qp', id=63, gid=source.hex(), qkey=QKEY)
        payload = judge.pattern(0, 64, 5)
        self.ours.ask('recv', id=63, mr=0, at=0, bytes=HEADER + len(payload))
        with self.machine.place.inside():
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as talk:
                talk.bind((rig.HOST6, SOURCE_PORT))
                talk.sendto(datagram(source, destination, made['qpn'], payload),
                            (self.ours.addresses[6], judge.ROCE_PORT))
        done = self.ours.program.reap(63, 'recv')
        judge_success(done, 'the receive', bytes=HEADER + len(payload))
        if self.ours.peek(HEADER, len(payload)) != payload:
            raise Failed('the datagram has other bytes')
        self.ours.ask('qpdrop', id=63)

    def judge(self, capture):
        sent = [frame for packet, (_, frame) in zip(capture.packets, capture.frames)
                if packet.op == 'DATAGRAM']
        if len(sent) != 1:
            raise Failed(f'{len(sent)} datagrams')
        source, destination, _, udp = judge.ip_of(sent[0])
        if judge.udp_checksum_is_right(source, destination, udp):
            raise Failed('the checksum was finished before the device had it')
