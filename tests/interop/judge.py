# SPDX-License-Identifier: BSD-3-Clause
"""What was on the wire: takes captures apart, puts messages together again, and holds every packet
of ours to the rules. It shares no code with the library."""
import bisect
import collections
import functools
import pathlib
import struct
import subprocess
import sys
import zlib

from rig import Failed

ROCE_PORT = 4791
PSN = 0xffffff
ICRC_CHECK = pathlib.Path(__file__).resolve().parent.parent / 'captures' / 'icrc-check'

# What tshark may not take a payload for: it guesses, from bytes that mean nothing.
GUESSES = ('smcr_infiniband', 'smb_direct_infiniband', 'rpcrdma_infiniband', 'lnet_ib',
           'iser_infiniband', 'eth_over_ib', 'mellanox_eoib', 'fc_infiniband', 'sdp_infiniband',
           'nvme_rdma_cm_private', 'lnet_ib_cm_private', 'iser_ib_private', 'sdp_ib_private')

RETH, ATOMIC, AETH, ATOMIC_ACK = 'reth', 'atomic', 'aeth', 'atomic_ack'
IMM, IETH, DETH = 'imm', 'ieth', 'deth'
SIZES = {RETH: 16, ATOMIC: 28, AETH: 4, ATOMIC_ACK: 8, IMM: 4, IETH: 4, DETH: 8}
# RC opcode: (operation, place in the message, extended headers)
OPCODES = {
    0x00: ('SEND', 'first', ()), 0x01: ('SEND', 'middle', ()), 0x02: ('SEND', 'last', ()),
    0x03: ('SEND_IMM', 'last', (IMM,)), 0x04: ('SEND', 'only', ()),
    0x05: ('SEND_IMM', 'only', (IMM,)), 0x06: ('WRITE', 'first', (RETH,)),
    0x07: ('WRITE', 'middle', ()), 0x08: ('WRITE', 'last', ()),
    0x09: ('WRITE_IMM', 'last', (IMM,)), 0x0a: ('WRITE', 'only', (RETH,)),
    0x0b: ('WRITE_IMM', 'only', (RETH, IMM)), 0x0c: ('READ', 'only', (RETH,)),
    0x0d: ('ANSWER', 'first', (AETH,)), 0x0e: ('ANSWER', 'middle', ()),
    0x0f: ('ANSWER', 'last', (AETH,)), 0x10: ('ANSWER', 'only', (AETH,)),
    0x11: ('ACK', 'only', (AETH,)), 0x12: ('ATOMIC_ACK', 'only', (AETH, ATOMIC_ACK)),
    0x13: ('CMP_SWAP', 'only', (ATOMIC,)), 0x14: ('FETCH_ADD', 'only', (ATOMIC,)),
    0x16: ('SEND_INV', 'last', (IETH,)), 0x17: ('SEND_INV', 'only', (IETH,)),
    0x64: ('DATAGRAM', 'only', (DETH,)), 0x65: ('DATAGRAM', 'only', (DETH, IMM)),
}
CM_CLASS = 7
MADS = {0x10: 'REQ', 0x11: 'MRA', 0x12: 'REJ', 0x13: 'REP', 0x14: 'RTU', 0x15: 'DREQ',
        0x16: 'DREP', 0x17: 'SIDR_REQ', 0x18: 'SIDR_REP'}
REPLIES = ('ANSWER', 'ACK', 'ATOMIC_ACK')
NAK_SEQUENCE = 0x60
HEADER = 40  # bytes in front of each datagram received

Packet = collections.namedtuple(
    'Packet', 'number time src dst opcode op place qpn psn ext payload wrong')


class Message:
    """One request as it was on the wire, with its answer."""

    def __init__(self, op, psn):
        self.op, self.psn, self.psns = op, psn, 1
        self.data, self.answer = b'', b''
        self.va = self.rkey = self.length = self.imm = self.inv = None
        self.compare = self.swap = self.original = None

    def __str__(self):
        return f'{self.op} of {len(self.data or self.answer)} bytes'


@functools.lru_cache(maxsize=64)
def words(first, count, seed):
    """The pattern's words of four bytes (memory.c)."""
    out = bytearray()
    add = seed * 0x9e3779b1
    for place in range(first, first + count):
        word = (place + add) * 0x85ebca6b & 0xffffffff
        out += (word ^ word >> 15).to_bytes(4, 'little')
    return bytes(out)


def pattern(at, size, seed):
    """The bytes that `fill` puts there."""
    first = at // 4
    return words(first, (at + size + 3) // 4 - first, seed)[at % 4:at % 4 + size]


def frames(path):
    data = pathlib.Path(path).read_bytes()
    if data[:4] != b'\xd4\xc3\xb2\xa1':
        raise Failed(f'{path} is no pcap file')
    at = 24
    while at + 16 <= len(data):
        size = int.from_bytes(data[at + 8:at + 12], 'little')
        yield data[at:at + 16], data[at + 16:at + 16 + size]
        at += 16 + size


def checksum(header):
    total = sum(struct.unpack(f'>{len(header) // 2}H', header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ip_of(frame):
    """(source, destination, what is wrong with the header, UDP datagram) of a frame."""
    packet, wrong = frame[14:], []
    if frame[12:14] == b'\x08\x00':
        header = 4 * (packet[0] & 15)
        if checksum(packet[:header]):
            wrong.append('IPv4 checksum')
        if packet[6] & 0x40 == 0:
            wrong.append('may be fragmented')
        length = int.from_bytes(packet[2:4], 'big') - header
        mapped = b'\0' * 10 + b'\xff\xff'
        source, destination = mapped + packet[12:16], mapped + packet[16:20]
        ttl = packet[8]
    else:
        header, length = 40, int.from_bytes(packet[4:6], 'big')
        source, destination, ttl = packet[8:24], packet[24:40], packet[7]
    if ttl != 64:
        wrong.append(f'TTL {ttl}')
    if header + length != len(packet):
        wrong.append(f'{len(packet) - header - length} bytes behind the IP packet')
    return source, destination, wrong, packet[header:header + length]


def udp_checksum_is_right(source, destination, datagram):
    """Nobody need compute it (zero), but who does must do it right."""
    if datagram[6:8] == b'\0\0':
        return True
    if source[:12] == b'\0' * 10 + b'\xff\xff':
        source, destination = source[12:], destination[12:]
    pseudo = source + destination + struct.pack('>II', 17, len(datagram))
    return checksum(pseudo + datagram + b'\0' * (len(datagram) % 2)) == 0


def icrc(frame):
    """What the ICRC of a frame must be."""
    packet = bytearray(frame[14:])
    if packet[0] >> 4 == 4:
        udp, masks = 4 * (packet[0] & 15), ((1, 255), (8, 255), (10, 255), (11, 255))
    else:
        udp, masks = 40, ((0, 15), (1, 255), (2, 255), (3, 255), (7, 255))
    for at, bits in (*masks, (udp + 6, 255), (udp + 7, 255), (udp + 12, 255)):
        packet[at] |= bits
    return zlib.crc32(b'\xff' * 8 + packet[:-4])


def is_damaged(frame):
    """For what a bad wire made of the guest's packets; those of ours go to icrc-check."""
    shortest = 14 + (20 if frame[14] >> 4 == 4 else 40) + 8 + 12 + 4
    return len(frame) < shortest or icrc(frame) != int.from_bytes(frame[-4:], 'little')


def take_apart(number, head, frame):
    """A packet of RoCEv2, with all that ours must not do."""
    if is_damaged(frame):
        return Packet(number, 0, '', '', 0, 'OTHER', 'only', 0, 0, {}, b'', ['damaged'])
    source, destination, wrong, datagram = ip_of(frame)
    if not udp_checksum_is_right(source, destination, datagram):
        wrong.append('UDP checksum')
    if int.from_bytes(datagram[4:6], 'big') != len(datagram):
        wrong.append('UDP length')
    if int.from_bytes(datagram[:2], 'big') < 49152:
        wrong.append('UDP source port')
    bth, rest = datagram[8:20], datagram[20:-4]
    op, place, headers = OPCODES.get(bth[0], ('OTHER', 'only', ()))
    pad = bth[1] >> 4 & 3
    if bth[1] & 15:
        wrong.append('transport version')
    if bth[2:4] != b'\xff\xff':
        wrong.append('P_Key')
    if bth[4] & 0x3f or bth[8] & 0x7f:
        wrong.append('a reserved bit is set')
    ext = {}
    for header in headers:
        ext[header], rest = rest[:SIZES[header]], rest[SIZES[header]:]
    if DETH in ext and ext[DETH][4]:
        wrong.append('the reserved byte of the DETH')
    if any(rest[len(rest) - pad:]) or len(rest) % 4:
        wrong.append('the pad')
    seconds, microseconds = struct.unpack('<II', head[:8])
    return Packet(number, seconds + microseconds / 1e6, source.hex(), destination.hex(), bth[0],
                  op, place, int.from_bytes(bth[5:8], 'big'), int.from_bytes(bth[9:12], 'big'), ext,
                  rest[:len(rest) - pad] if pad else rest, wrong)


def take_mad(packet):
    """A message of the communication manager; None: it is none."""
    mad = packet.payload
    kind = MADS.get(int.from_bytes(mad[16:18], 'big'))
    if len(mad) != 256 or mad[1] != CM_CLASS or not kind:
        return None
    body = mad[24:]
    seen = {'kind': kind, 'src': packet.src, 'dst': packet.dst, 'time': packet.time,
            'transaction': mad[8:16].hex(),
            'local': body[0:4].hex(), 'remote': body[4:8].hex()}
    if kind == 'REQ':
        seen.update(qpn=int.from_bytes(body[32:35], 'big'), psn=int.from_bytes(body[44:47], 'big'),
                    mtu=128 << (body[50] >> 4))
    if kind == 'REP':
        seen.update(qpn=int.from_bytes(body[12:15], 'big'), psn=int.from_bytes(body[20:23], 'big'))
    if kind == 'SIDR_REQ':  # with the addresses of the IP CM service in its private data
        seen.update(pkey=body[4:6], service=body[8:16].hex(), version=body[16:18],
                    asker=body[20:36].hex(), asked=body[36:52].hex())
    if kind == 'SIDR_REP':
        seen.update(status=body[4], qpn=int.from_bytes(body[8:11], 'big'),
                    service=body[12:20].hex(), qkey=int.from_bytes(body[20:24], 'big'))
    if kind == 'REJ':
        seen['reason'] = int.from_bytes(body[10:12], 'big')
    return seen


class Datagram:
    """One datagram as it was on the wire."""

    def __init__(self, packet, frame):
        deth = packet.ext[DETH]
        self.number, self.psn, self.data = packet.number, packet.psn, packet.payload
        self.qkey = int.from_bytes(deth[:4], 'big')
        self.from_qpn = int.from_bytes(deth[5:], 'big')
        self.imm = int.from_bytes(packet.ext[IMM], 'big') if IMM in packet.ext else None
        self.ip = bytes(frame[14:34] if frame[12:14] == b'\x08\x00' else frame[14:54])

    def __str__(self):
        return f'the datagram in frame {self.number}'

    def received(self):
        """What a receive has of it; None for each byte that nobody defines (IBTA A17.4.4)."""
        return [None] * (HEADER - len(self.ip)) + list(self.ip + self.data)


class Capture:
    """The packets of a file."""

    def __init__(self, path):
        self.path = path
        self.frames = list(frames(path))
        self.packets = [take_apart(number, head, frame)
                        for number, (head, frame) in enumerate(self.frames, 1)]

    def hold_to_rules(self, mac):
        """Every packet from that MAC: well formed to us, to icrc-check and to tshark. Returns how
        many there are."""
        mac = bytes.fromhex(mac.replace(':', ''))
        own = [packet for packet, (_, frame) in zip(self.packets, self.frames)
               if frame[6:12] == mac]
        for packet in own:
            if packet.wrong:
                raise Failed(f'{self.path}: frame {packet.number}: {", ".join(packet.wrong)}')
        if not own:
            raise Failed(f'{self.path}: no packet of ours')
        part = pathlib.Path(self.path).with_suffix('.ours.pcap')
        with open(self.path, 'rb') as whole, open(part, 'wb') as out:
            out.write(whole.read(24))
            for head, frame in self.frames:
                if frame[6:12] == mac:
                    out.write(head + frame)
        self.judge_icrc(part, len(own))
        self.judge_decode(part, len(own))
        part.unlink()
        return len(own)

    @staticmethod
    def judge_icrc(part, count):
        done = subprocess.run([sys.executable, str(ICRC_CHECK), str(part)], check=False, text=True,
                              capture_output=True)
        if done.returncode or f': {count} RoCEv2 packets, 0 ' not in done.stdout:
            raise Failed(f'icrc-check of {count} packets: {done.stdout}{done.stderr}')

    @staticmethod
    def judge_decode(part, count):
        """tshark finds InfiniBand in each, and nothing malformed."""
        guesses = (word for name in GUESSES for word in ('--disable-heuristic', name))
        done = subprocess.run(
            ['tshark', '-r', str(part), '-T', 'fields', '-e', 'infiniband.bth.opcode', '-e',
             '_ws.malformed', *guesses], check=False, text=True, capture_output=True)
        lines = done.stdout.splitlines()
        bad = [at for at, line in enumerate(lines, 1) if not line.partition('\t')[0] or
               line.partition('\t')[2]]
        if done.returncode or len(lines) != count or bad:
            raise Failed(f'tshark decodes {len(lines)} of {count} packets, frames {bad[:5]} not or '
                         f'malformed: {done.stderr[-500:]}')

    def mads(self):
        """The communication manager's messages, as dictionaries."""
        return [mad for packet in self.packets if packet.op == 'DATAGRAM' and packet.qpn == 1 and
                (mad := take_mad(packet))]

    def connections(self):
        """What was asked for and replied to: both ends with GID, QPN and first PSN (which
        is what the other has asked for: IBTA vol 1, 12.7.32), and how it ended."""
        found, asked = {}, {}
        for mad in self.mads():
            if mad['kind'] == 'REQ':
                asked.setdefault((mad['src'], mad['local']), mad)
            elif mad['kind'] == 'REP' and (mad['dst'], mad['remote']) in asked:
                req = asked[mad['dst'], mad['remote']]
                found.setdefault((mad['dst'], mad['remote']), {
                    'active': {'gid': req['src'], 'qpn': req['qpn'], 'psn': mad['psn']},
                    'passive': {'gid': mad['src'], 'qpn': mad['qpn'], 'psn': req['psn']},
                    'mtu': req['mtu'], 'time': req['time'], 'ends': []})
            elif mad['kind'] in ('DREQ', 'DREP'):
                link = found.get((mad['src'], mad['local'])) or \
                    found.get((mad['dst'], mad['remote']))
                if link and mad['kind'] not in link['ends']:
                    link['ends'].append(mad['kind'])
        return list(found.values())

    def datagrams(self, src, qpn):
        """Those from there to that queue pair."""
        return [Datagram(packet, self.frames[packet.number - 1][1]) for packet in self.packets
                if packet.op == 'DATAGRAM' and (packet.src, packet.qpn) == (src, qpn)]

    def flow(self, src, qpn, replies):
        """The packets from there to that queue pair: replies or requests."""
        return [packet for packet in self.packets if packet.src == src and packet.qpn == qpn and
                packet.op not in ('OTHER', 'DATAGRAM') and (packet.op in REPLIES) == replies]


class Talk:
    """One direction of a connection: the requests of one end, the replies of the other."""

    def __init__(self, capture, requester, responder, mtu, is_whole=True):
        """Ends are dictionaries with gid, qpn and psn. What fails need not be whole."""
        self.mtu, self.start = mtu, requester['psn']
        self.requests = capture.flow(requester['gid'], responder['qpn'], False)
        self.replies = capture.flow(responder['gid'], requester['qpn'], True)
        self.repeats = 0  # requests that came again
        self.changed = 0  # answers that came again with other bytes
        self.messages = self.put_together() if is_whole else []
        self.find_answers()

    def offset(self, psn):
        return psn - self.start & PSN

    def first_of_each(self):
        """{offset: packet}; what is sent again must be the same."""
        found = {}
        for packet in self.requests:
            at = self.offset(packet.psn)
            if at in found:
                self.repeats += 1
                one = found[at]
                if packet.op != 'READ' and (one.opcode, one.ext, one.payload) != \
                        (packet.opcode, packet.ext, packet.payload):
                    raise Failed(f'frame {packet.number} repeats {one.number} with other bytes')
            else:
                found[at] = packet
        return found

    def put_together(self):
        found, messages, at = self.first_of_each(), [], 0
        last = max(found, default=-1)
        while at <= last:
            if at not in found:
                raise Failed(f'no request with PSN {self.start + at & PSN}, and later ones')
            message = self.one_message(found, at)
            messages.append(message)
            at += message.psns
        self.hold_to_reads(messages)
        return messages

    def hold_to_reads(self, messages):
        """What is asked for again of a READ is a part of it, at its place."""
        starts = [self.offset(message.psn) for message in messages]
        for packet in self.requests:
            at = self.offset(packet.psn)
            whole = messages[bisect.bisect(starts, at) - 1]
            if whole.op != 'READ':
                continue
            gone = (at - self.offset(whole.psn)) * self.mtu
            if packet.op != 'READ':
                raise Failed(f'frame {packet.number} is in the middle of a READ')
            va, rkey, length = struct.unpack('>QII', packet.ext[RETH])
            if (va, rkey) != (whole.va + gone, whole.rkey) or length > whole.length - gone:
                raise Failed(f'frame {packet.number} reads again what was not asked for')
            self.repeats += gone > 0

    def one_message(self, found, at):
        packet = found[at]
        if packet.place not in ('first', 'only'):
            raise Failed(f'frame {packet.number} is in the middle of a message')
        message = Message(packet.op, packet.psn)
        self.read_headers(message, packet)
        if packet.op == 'READ':
            message.psns = max(1, -(-message.length // self.mtu))
            return message
        while True:
            message.data += packet.payload
            if packet.place in ('only', 'last'):
                message.op = packet.op
                self.read_headers(message, packet)
                break
            if len(packet.payload) != self.mtu:
                raise Failed(f'frame {packet.number} has {len(packet.payload)} bytes, not the MTU')
            at += 1
            message.psns += 1
            packet = found.get(at)
            if not packet or packet.place in ('first', 'only'):
                raise Failed(f'a message ends early at PSN {self.start + at & PSN}')
        if message.length is not None and message.length != len(message.data) and \
                message.op.startswith('WRITE'):
            raise Failed(f'a RETH says {message.length} bytes, and {len(message.data)} came')
        return message

    @staticmethod
    def read_headers(message, packet):
        if RETH in packet.ext:
            message.va, message.rkey, message.length = struct.unpack('>QII', packet.ext[RETH])
        if ATOMIC in packet.ext:
            message.va, message.rkey, message.swap, message.compare = \
                struct.unpack('>QIQQ', packet.ext[ATOMIC])
        if IMM in packet.ext:
            message.imm = int.from_bytes(packet.ext[IMM], 'big')
        if IETH in packet.ext:
            message.inv = int.from_bytes(packet.ext[IETH], 'big')

    def find_answers(self):
        answers = {}  # the first for each PSN: what comes again may be of memory that has changed
        for packet in self.replies:
            if packet.op != 'ACK':
                first = answers.setdefault(self.offset(packet.psn), packet)
                self.changed += first.payload != packet.payload
                if first.ext.get(ATOMIC_ACK) != packet.ext.get(ATOMIC_ACK):
                    raise Failed(f'frame {packet.number} answers otherwise than {first.number}')
        for message in self.messages:
            at = self.offset(message.psn)
            if message.op == 'READ':
                message.answer = b''.join(answers[i].payload for i in range(at, at + message.psns)
                                          if i in answers)
            elif message.op in ('CMP_SWAP', 'FETCH_ADD') and at in answers:
                message.original = int.from_bytes(answers[at].ext[ATOMIC_ACK], 'big')

    def acks(self):
        """(offset, syndrome, MSN) of each reply that has an AETH."""
        return [(self.offset(packet.psn), packet.ext[AETH][0],
                 int.from_bytes(packet.ext[AETH][1:], 'big'))
                for packet in self.replies if AETH in packet.ext]

    def naks(self):
        """The syndromes of NAKs and RNR NAKs, in order."""
        return [syndrome for _, syndrome, _ in self.acks() if syndrome >> 5 != 0]

    def unrest(self):
        """How much there is that a good wire would not have shown."""
        return self.repeats + len(self.naks()) + len(self.replies) - len(
            {(packet.psn, packet.opcode, packet.ext.get(AETH)) for packet in self.replies})

    def hold_to_acks(self):
        """All is acknowledged, nothing that was not asked, and MSNs count messages."""
        ends, total = [], 0
        for message in self.messages:
            total += message.psns
            ends.append(total - 1)
        top = -1
        for at, syndrome, msn in self.acks():
            if syndrome >> 5 != 0:
                continue
            if at >= total:
                raise Failed(f'PSN {self.start + at & PSN} is acknowledged and was not sent')
            top = max(top, at)
            if not bisect.bisect(ends, at) <= msn <= len(ends):
                raise Failed(f'the ACK of PSN {self.start + at & PSN} says MSN {msn}')
        if self.messages and top != total - 1:
            raise Failed(f'PSNs behind {self.start + top & PSN} are not acknowledged')
