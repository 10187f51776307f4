# SPDX-License-Identifier: BSD-3-Clause
"""What `make bench` measures: groups of calls, mostly of ndperf, that take turns, and the rows they
answer.

A group's calls are made one after the other, as often as its `processes` says; each call goes
through its rows `--rounds` times. So the two figures of a ratio are always of the same few seconds.
"""
from dataclasses import dataclass, field

SHORT = ('--duration', '300ms', '--warmup', '60ms')
# Losses are rare events: with 1 in 10,000 a shorter time would see too few.
LONG = ('--duration', '1s', '--warmup', '100ms')
# Between two processes the machine changes; so many of them, each short.
MANY_TURNS = ('--duration', '400ms', '--warmup', '100ms')
# Of two that share it.
SHARED = ('--duration', '120ms', '--warmup', '10ms')

# The two ends of a memif; the socket's name is abstract and gone with its process. A slot holds a
# packet of 4096 bytes with its headers.
MEMIF_END = 'net_memif{},role={},socket=plx-bench,socket-abstract=yes,bsize=4608'

# Bars of 100, 1,000 and 10,000 queue pairs over one.
MANY_INLINE = (0.50, 0.40, 0.20)
MANY_WORKER = (0.50, 0.40, 0.20)

# Quiet machine of baseline: ISA-L's CRC of 4 KiB, and a cache line from core to core [ns].
CRC_BEST_NS = 42.0
LINE_BEST_NS = 141.0


@dataclass(frozen=True)
class Call:
    """One way to call ndperf, or another program of its build that prints results as it does."""
    key: str
    args: tuple
    program: str = ''   # from the build's folder; '': ndperf, with the options of the group
    server: tuple = ()  # of an `ndperf server --once`, started before an `ndperf client`
    is_attached: bool = False   # to a polluxd with both of ndperf's adapters on core 0


@dataclass(frozen=True)
class Figure:
    """One figure of a call's results; `what` is a field of the result, or a path such as
    `latency/p50`. None: any."""
    call: str
    op: str
    test: str
    size: int
    raw: bool = False
    what: str = 'value'
    api: str = None     # of a call by `--api both`
    qps: int = None     # ... with a list of them, and so on
    batch: int = None
    direction: str = None


@dataclass(frozen=True)
class Hops:
    """A figure and so many ring entries from core to core, as the call's calibration has them."""
    figure: Figure
    hops: int


@dataclass(frozen=True)
class Floor:
    """What a minimal pipeline gave on a quiet machine, scaled to what the machine gives now."""
    value: float
    is_rate: bool       # a time otherwise
    crosses_cores: bool


@dataclass(frozen=True)
class Fixed:
    """A bound that does not depend on the machine."""
    value: float


@dataclass(frozen=True)
class Row:
    """value / yardstick is held against the bar: at least, or at most when `at_most`."""
    name: str
    unit: str
    value: Figure
    yardstick: object
    bar: float
    at_most: bool = False


@dataclass(frozen=True)
class Group:
    """Calls that take turns, and what is read from them."""
    title: str
    calls: tuple
    rows: tuple
    processes: int = 2
    options: tuple = field(default=SHORT)


def size_text(size):
    """64, 64 KiB, 1 MiB."""
    for power, unit in ((20, 'MiB'), (10, 'KiB')):
        if size >= 1 << power:
            return f'{size >> power} {unit}'
    return f'{size} B'


def judged(name, unit, call, op, test, size, bar, at_most=False):
    """A row whose yardstick is the raw row before it, in the same process."""
    return Row(name, unit, Figure(call, op, test, size), Figure(call, op, test, size, raw=True),
               bar, at_most)


def rates(key, words, bar, *more):
    """64-byte SEND and WRITE, one queue pair."""
    call = Call(key, ('--op', 'send,write', '--test', 'rate', '--size', '64', '--with-raw',
                      '--rounds', '4', *more))
    return Group(f'message rate, {words}', (call,), tuple(
        judged(f'64 B {op.upper()} rate, {words}', 'msg/s', key, op, 'rate', 64, bar)
        for op in ('send', 'write')))


def single_posts():
    """Posts of one message, against posts of 32: as many as the queue holds in each turn of the
    loop, which shows what a post costs; and one a turn, which shows what a turn costs. Posts of 32
    are posted likewise, in the same process, because a virtual machine may move its cores apart
    from one process to the next."""
    same = ('--op', 'send,write', '--test', 'rate', '--size', '64', '--batch', '1,32', '--rounds',
            '8')
    calls = (Call('filled', (*same, '--fill')), Call('one a turn', same))
    return Group('posts of one, two cores', calls, tuple(
        Row(f'64 B {op.upper()} rate, posts of one, {words}, over posts of 32', 'msg/s',
            *(Figure(call, op, 'rate', 64, batch=batch) for batch in (1, 32)), bar)
        for call, words, bar in (('filled', '--fill', 0.40), ('one a turn', 'one a turn', 0.05))
        for op in ('send', 'write')), options=SHARED)


def both_directions():
    """Both ends send at once, over one of them alone."""
    call = Call('both', ('--op', 'write', '--test', 'bandwidth', '--size', '64K', '--direction',
                         'one,both', '--rounds', '12'))
    both, one = (Figure('both', 'write', 'bandwidth', 64 << 10, direction=direction)
                 for direction in ('both', 'one'))
    return Group('both directions, two cores', (call,), (
        Row('64 KiB WRITE both directions at once', 'bit/s', both, one, 1.3),), processes=3,
        options=SHARED)


def many():
    """Posts of 16 in rotation over many queue pairs, of which 8,192 messages are in flight, over
    one queue pair. The state of many does not fit into the cache. Goals: 0.9, 0.8, 0.7 inline; 0.8,
    0.7, 0.6 by a shared worker."""
    same = ('--op', 'write', '--test', 'rate', '--size', '64', '--depth', '64', '--batch', '16',
            '--qps', '1,100,1000,10000', '--rounds', '3')
    calls = (Call('inline', (*same, '--one-core')), Call('worker', (*same, '--shared-worker')))
    return Group('many queue pairs', calls, tuple(
        Row(f'64 B WRITE rate, {qps:,} queue pairs over one, {call}', 'msg/s',
            *(Figure(call, 'write', 'rate', 64, qps=n) for n in (qps, 1)), bar)
        for call, bars in (('inline', MANY_INLINE), ('worker', MANY_WORKER))
        for qps, bar in zip((100, 1000, 10000), bars)))


def percentiles():
    """What is late although the machine did not stall a thread; and an open loop at half of the
    rate measured before it, which has to be held."""
    calls = (Call('trip', ('--op', 'write,send', '--test', 'latency', '--size', '8',
                           '--percentiles', '--rounds', '4')),
             Call('open', ('--op', 'write', '--test', 'latency', '--size', '64', '--open', '50%',
                           '--schedule', 'poisson', '--one-core', '--rounds', '4')))
    def trip(op, what):
        return Figure('trip', op, 'latency', 8, what=what)
    def open_loop(what):
        return Figure('open', 'write', 'latency', 64, what=what)
    return Group('percentiles', calls, tuple(
        Row(f'8 B {op.upper()} round trip p99.9 without stalls, over p50', 'ns',
            trip(op, 'undisturbed/p99.9'), trip(op, 'undisturbed/p50'), 4.0, True)
        for op in ('write', 'send')) + (
        Row('64 B WRITE, open loop at half the rate: rate held', 'msg/s',
            open_loop('open/achieved'), open_loop('open/rate'), 0.90),))


def memif():
    """Over the shared memory of two adapters. Raw takes turns with the transport in one process,
    and is held to be its ceiling; two processes of the transport are held against the same raw
    rows. With packets of 4096 bytes the cache lines that the PMD passes from core to core may be
    all there is: raw and transport are alike then, 0.76 to 1.13 (docs/performance.md)."""
    ends = [MEMIF_END.format(at, role) for at, role in enumerate(('server', 'client'))]
    # test, unit, size; bars: raw over the transport, one process over raw, two processes over raw
    tests = (('rate', 'msg/s', 64, 1.0, 0.35, 0.25),
             ('bandwidth', 'bit/s', 64 << 10, 0.75, 0.50, 0.50))
    calls, rows = [], []
    for test, unit, size, ceiling, together, apart in tests:
        same = ('--op', 'send,write', '--test', test, '--size', str(size), '--mtu', '4096',
                '--rounds', '3')
        calls += [
            Call(test, (*same, '--with-raw', '--device', ends[0], '--device2', ends[1])),
            Call(f'{test} apart', ('client', '10.77.0.1', *same, '--cores', '1', '--device',
                                   ends[1], '--address', '10.77.0.2/24'),
                 server=('--cores', '0', '--device', ends[0], '--address', '10.77.0.1/24'))]
        for op in ('send', 'write'):
            raw, one = (Figure(test, op, test, size, is_raw) for is_raw in (True, False))
            two = Figure(f'{test} apart', op, test, size)
            name = f'{size_text(size)} {op.upper()}{" rate" if test == "rate" else ""}'
            rows += [Row(f'raw over memif, {name}, over the transport', unit, raw, one, ceiling),
                     Row(f'{name} over memif, one process', unit, one, raw, together),
                     Row(f'{name} over memif, two processes', unit, two, raw, apart)]
    return Group('memif', tuple(calls), tuple(rows))


def bandwidths():
    """Long messages of packets of 4096 bytes."""
    call = Call('bw', ('--op', 'write,read,send', '--test', 'bandwidth', '--size', '64K,1M',
                       '--mtu', '4096', '--with-raw', '--rounds', '3'))
    return Group('bandwidth, two cores', (call,), tuple(
        judged(f'{size_text(size)} {op.upper()}', 'bit/s', 'bw', op, 'bandwidth', size, 0.50)
        for size in (64 << 10, 1 << 20) for op in ('write', 'read', 'send')))


def round_trips():
    """8 bytes there and back."""
    call = Call('rtt', ('--op', 'write,send', '--test', 'latency', '--size', '8', '--with-raw',
                        '--rounds', '4'))
    return Group('round trips, two cores', (call,), tuple(
        judged(f'8 B {op.upper()} round trip p50', 'ns', 'rtt', op, 'latency', 8, 2.0, True)
        for op in ('write', 'send')))


def shared_worker():
    """A worker that hosts both endpoints costs a round trip two hops between cores."""
    same = ('--op', 'write,send', '--test', 'latency', '--size', '8', '--rounds', '2')
    calls = (Call('worker', (*same, '--shared-worker')), Call('inline', (*same, '--one-core')))
    return Group('one worker for both endpoints', calls, tuple(
        Row(f'8 B {op.upper()} round trip p50, shared worker', 'ns',
            Figure('worker', op, 'latency', 8), Hops(Figure('inline', op, 'latency', 8), 2), 1.6,
            True) for op in ('write', 'send')), processes=4)


def attached():
    """A worker in polluxd instead of one in the program."""
    calls, rows = [], []
    for test, unit, size, bar, words in (
            ('latency', 'ns', 8, 1.05, ' round trip p50'), ('rate', 'msg/s', 64, 0.95, ' rate'),
            ('bandwidth', 'bit/s', 64 << 10, 0.95, '')):
        same = ('--op', 'write,send', '--test', test, '--size', str(size), '--shared-worker',
                '--rounds', '2')
        calls += [Call(f'{test} here', same), Call(test, same, is_attached=True)]
        rows += [Row(f'{size_text(size)} {op.upper()}{words}, attached', unit,
                     Figure(test, op, test, size), Figure(f'{test} here', op, test, size), bar,
                     test == 'latency') for op in ('write', 'send')]
    return Group('attached, over a shared worker', tuple(calls), tuple(rows), processes=4)


def private():
    """What a program gets of memory that polluxd copies, over memory that both share."""
    calls, rows = [], []
    for test, unit, size, bar, words in (('latency', 'ns', 8, 200, ' round trip p50'),
                                         ('rate', 'msg/s', 64, 0.01, ' rate'),
                                         ('bandwidth', 'bit/s', 64 << 10, 0.02, '')):
        same = ('--op', 'write', '--test', test, '--size', str(size), '--rounds', '2',
                '--shared-worker')
        calls += [Call(f'{test} shared', same, is_attached=True),
                  Call(test, (*same, '--private'), is_attached=True)]
        rows.append(Row(f'{size_text(size)} WRITE{words}, private memory', unit,
                        Figure(test, 'write', test, size),
                        Figure(f'{test} shared', 'write', test, size), bar, test == 'latency'))
    return Group('private memory, attached', tuple(calls), tuple(rows), processes=2)


def seats():
    """Queue pairs of several seats at one polluxd. Half of what one has alone is a fair share, and
    0.8 of that the bar."""
    call = Call('seats', (), 'tests/bench/bench-seats', is_attached=True)
    alone, beside, many = (Figure('seats', f'write-{kind}', 'rate', 64)
                           for kind in ('alone', 'beside', 'many'))
    idle = Figure('seats', 'idle-queue-pair', 'memory', 64)
    return Group('seats', (call,), (
        Row('64 B WRITE rate beside 1,000 busy queue pairs of another seat', 'msg/s', beside, alone,
            0.40),
        Row('64 B WRITE rate, 10,000 queue pairs over one, attached', 'msg/s', many, alone, 0.70),
        Row('memory of an idle queue pair, without its rings', 'bytes', idle, Fixed(2048), 1.0,
            True),
        Row('memory of an idle seat', 'bytes', Figure('seats', 'idle-seat', 'memory', 64),
            Fixed(1 << 20), 1.0, True)), processes=1)


def sockets():
    """Socket programs by the switch, over loopback TCP between the same two threads."""
    program = 'tests/bench/sockets-town'
    calls = (Call('sockets', (), program), Call('sockets yield', ('yield',), program),
             Call('sockets idle', ('yield', 'bench-idle'), program))
    rdma, tcp = ({test: Figure('sockets', op, test, size) for test, size in
                  (('round-trip', 64), ('stream', 64 << 10), ('turn', 64))}
                 for op in ('rdma', 'tcp'))
    return Group('sockets', calls, (
        Row('64 B round trip of sockets over RDMA', 'ns', rdma['round-trip'], tcp['round-trip'],
            0.5, True),
        Row('64 KiB writes of sockets over RDMA', 'bit/s', rdma['stream'], tcp['stream'], 1.0),
        Row('64 B round trip of sockets over RDMA, polluxd yields', 'ns',
            *(Figure('sockets yield', op, 'round-trip', 64) for op in ('rdma', 'tcp')), 1.0, True),
        Row('64 B round trip of two processes in turns, with a swap', 'ns', rdma['turn'],
            Fixed(5e6), 1.0, True),
        Row('memory of a session of sockets, of 9,900 idle ones', 'bytes',
            Figure('sockets idle', 'rdma', 'idle-session', 0), Fixed(256 << 10), 1.0, True)))


def engines():
    """Two engines of an adapter on two cores, inline. Two adapters of one engine each are what the
    cores give; handing over every packet has no bar but to work."""
    call = Call('engines', (), 'tests/bench/bench-engines')
    one, own, handed, apart = (Figure('engines', f'write-{kind}', 'rate', 64)
                               for kind in ('one', 'own', 'handed', 'apart'))
    return Group('engines', (call,), (
        Row('64 B WRITE rate, two engines over one, inline', 'msg/s', own, one, 1.6),
        Row('64 B WRITE rate, two adapters over one, inline', 'msg/s', apart, one, 1.6),
        Row('64 B WRITE rate, two engines that hand over every packet over one', 'msg/s', handed,
            one, 0.5)), processes=2)


def idling():
    """What each way to idle costs. Spinning is the yardstick where one message follows the other;
    where a program pauses before each the bars are times: of a wake-up by a post, and of the naps
    of a worker whose port cannot wake it (net_wire)."""
    call = Call('idle', (), 'tests/bench/bench-idle-policy')
    ways = ('spin', 'pause', 'yield', 'adaptive')
    def figure(way, test):
        return Figure('idle', way, test, 8)
    def row(name, way, test, yardstick, bar, unit='ns'):
        return Row(f'{name}, {way}', unit, figure(way, test), yardstick, bar, True)
    core, ms = Fixed(1e6), Fixed(1e6)     # millionths of a core; ns
    rows = [row('share of a core of a worker without work', way, 'share', core,
                0.02 if way == 'adaptive' else 1.1, 'core') for way in ways]
    rows += [row('share of a core of a worker, a message each ' + words, 'adaptive', test, core,
                 bar, 'core') for words, test, bar in (('1 ms', 'share-1ms', 0.4),
                                                       ('100 ms', 'share-100ms', 0.03))]
    rows += [row('8 B round trip p50 over spin', way, 'posts', figure('spin', 'posts'),
                 1.05 if way == 'adaptive' else 1.25) for way in ways[1:]]
    rows.append(row('8 B round trip p50 over spin, not woken by packets', 'adaptive', 'packets',
                    figure('spin', 'packets'), 1.1))
    for words, test in (('1 ms', '1ms'), ('100 ms', '100ms')):
        rows += [row(f'8 B round trip p50 after {words}', way, f'posts-{test}', ms, 0.2)
                 for way in ways]
        rows.append(row(f'8 B round trip p50 after {words}, not woken by packets', 'adaptive',
                        f'packets-{test}', ms, 2.5))
    return Group('idling', (call,), tuple(rows), processes=1)


def overhead():
    """ND2 and NDK over the verbs that they stand on, in turns of milliseconds: hundredths decide,
    and from one second to the next the machine changes its speed by a third. They post one by one,
    and so do those they are held against. NDK has workers only."""
    found = []
    for api, layout, words in (('nd2', '--one-core', 'inline'),
                               ('nd2', '--shared-worker', 'worker'),
                               ('ndk', '--shared-worker', 'worker')):
        call = Call('both', ('--api', 'verbs+' + api, layout, '--op', 'write,send', '--test',
                             'rate,latency', '--size', '64', '--batch', '1', '--rounds', '16'))
        def row(name, unit, op, test, bar, at_most=False):
            face, verbs = (Figure('both', op, test, 64, api=one) for one in (api, 'verbs'))
            return Row(f'64 B {op.upper()} {name}', unit, face, verbs, bar, at_most)
        rows = []
        for op in ('write', 'send'):
            rows += [row(f'rate by {api.upper()}, {words}', 'msg/s', op, 'rate', 0.95),
                     row(f'round trip p50 by {api.upper()}, {words}', 'ns', op, 'latency', 1.05,
                         True)]
        found.append(Group(f'{api.upper()} over verbs, {words}', (call,), tuple(rows), processes=4,
                           options=SHARED))
    return tuple(found)


def registering():
    """A region's life through ND2, in ring entries from core to core, which take turns with it."""
    call = Call('regions', (), 'tests/bench/bench-nd2-regions')
    register, hop = (Figure('regions', op, 'latency', 4096) for op in ('register', 'hop'))
    return Group('registering by ND2', (call,), (
        Row('4 KiB Register and Deregister by ND2, in hops', 'ns', register, hop, 8.0, True),),
        processes=6)


def waking():
    """A callback of NDK, what calls it, and its arm, in polled round trips, which take turns with
    round trips by callbacks: half of what those take longer."""
    call = Call('wake-up', (), 'tests/bench/bench-ndk-wakeup')
    price, polled = (Figure('wake-up', op, 'latency', 8, api='ndk') for op in ('wake-up', 'send'))
    return Group('waking by NDK', (call,), (
        Row('price of a wake-up by NDK, in polled round trips', 'ns', price, polled, 20.0, True),),
        processes=3)


def losses():
    """What is left of the goodput when packets vanish, in both directions."""
    same = ('--op', 'write', '--test', 'bandwidth', '--size', '64K')
    bars = {'0.0001': 0.95, '0.001': 0.90, '0.01': 0.75, '0.05': 0.55}
    calls = (Call('no loss', same), *(Call(loss, (*same, '--fault', f'loss={loss}'))
                                      for loss in bars))
    def goodput(key):
        return Figure(key, 'write', 'bandwidth', 64 << 10, what='mean_clean')
    return Group('goodput with loss', calls, tuple(
        Row(f'64 KiB WRITE goodput, loss {float(loss):.0e}', 'bit/s', goodput(loss),
            goodput('no loss'), bar) for loss, bar in bars.items()), processes=4, options=LONG)


def floods():
    """What is left of the goodput while hostile datagrams come for the communication manager."""
    same = ('--op', 'write', '--test', 'bandwidth', '--size', '64K')
    calls = tuple(Call(f'flood {rate}', (*same, '--fault', f'flood={rate}')) for rate in (1, 50000))
    return Group('goodput under a flood', calls, (
        Row('64 KiB WRITE goodput, 50,000 hostile datagrams/s', 'bit/s',
            Figure('flood 50000', 'write', 'bandwidth', 64 << 10),
            Figure('flood 1', 'write', 'bandwidth', 64 << 10), 0.95),), processes=9,
        options=MANY_TURNS)


def embedded_link():
    """net_wire without faults is nothing but the ring PMD."""
    same = ('--raw', '--op', 'write', '--test', 'all')
    calls = (Call('wire', (*same, '--device', 'net_wire0')),
             Call('ring', (*same, '--device', 'net_ring')))
    def row(name, unit, test, size, bar, at_most=False):
        return Row(f'raw over net_wire, {name}', unit, Figure('wire', 'write', test, size, True),
                   Figure('ring', 'write', test, size, True), bar, at_most)
    return Group('raw over net_wire and over net_ring', calls, (
        row('64 B rate', 'msg/s', 'rate', 64, 0.95),
        row('64 KiB', 'bit/s', 'bandwidth', 64 << 10, 0.95),
        row('8 B round trip p50', 'ns', 'latency', 8, 1 / 0.95, True)), processes=8)


def floors():
    """Raw itself against the floor, which had one message of source that was never rewritten."""
    same = ('--raw', '--op', 'write', '--rewrite', 'no', '--depth', '1')
    whole = ('--test', 'all', '--mtu', '4096')
    small = ('--test', 'bandwidth', '--mtu', '1024')
    one = ('--one-core',)
    calls = (Call('2 4096', (*same, *whole)), Call('1 4096', (*same, *whole, *one)),
             Call('2 1024', (*same, *small)), Call('1 1024', (*same, *small, *one)))
    # Two cores, one core: M/s; Gbit/s by MTU and size; half a round trip in ns.
    gbits = {(4096, 64 << 10): (94, 140), (4096, 1 << 20): (79, 103),
             (1024, 64 << 10): (54, 107), (1024, 1 << 20): (46, 88)}
    rows = []
    for at, cores, words in ((0, 2, 'two cores'), (1, 1, 'one core')):
        def row(name, unit, call, test, size, floor, is_rate):
            rows.append(Row(f'raw, {name}, {words}', unit,
                            Figure(call, 'write', test, size, True),
                            Floor(floor, is_rate, cores == 2), 0.8 if is_rate else 1.25,
                            not is_rate))
        row('64 B rate', 'msg/s', f'{cores} 4096', 'rate', 64, (10.7e6, 25.5e6)[at], True)
        row('8 B round trip p50', 'ns', f'{cores} 4096', 'latency', 8, 2 * (697, 99)[at], False)
        for (mtu, size), floor in gbits.items():
            row(f'{size_text(size)}, MTU {mtu}', 'bit/s', f'{cores} {mtu}', 'bandwidth', size,
                floor[at] * 1e9, True)
    return Group('raw against the floor', calls, tuple(rows), processes=3)


def groups():
    """Everything, in the order of the table."""
    return (
        embedded_link(), rates('rate', 'two cores', 0.35),
        rates('rate1', 'one core', 0.30, '--one-core'), single_posts(), both_directions(), many(),
        bandwidths(), round_trips(), percentiles(), memif(), shared_worker(), attached(),
        private(), seats(), sockets(), engines(), idling(), *overhead(), registering(), waking(),
        losses(), floods(), floors())
