# SPDX-License-Identifier: BSD-3-Clause
"""Which rows there are, how they are run, and the matrix of what came of them."""
import contextlib
import pathlib
import shutil
import subprocess
import threading
import time

import cells
import cm
import datagrams
import errors
import fast
import judge
import marks
import pci
import perftest
import perftest_cm
import rig
import storms
from rig import Failed

ETH_MTU = {1024: 1500, 4096: 4200}
ENOUGH = 1  # ways for the smoke, of what hardly depends on the way
SEATS = {'peer, seat 1': 1, 'peer, seat 2': 2}  # and whose they are: daemon's and bin's
REFUSED = 3                                     # sys's, who is not listed
WHO = {True: 'ours asks', False: 'rxe asks'}


def wire_word(wire):
    return ''.join(wire.split()[:2])


class Row:
    """One line of the matrix."""

    def __init__(self, tool, is_ours_asking, op, size, mtu, family, wire='clean'):
        self.tool, self.is_ours_asking, self.op, self.size = tool, is_ours_asking, op, size
        self.mtu, self.family, self.wire = mtu, family, wire
        self.is_done, self.failure, self.seconds = False, None, 0

    def __str__(self):
        wire = '' if self.wire == 'clean' else f', {self.wire}'
        return (f'{self.tool}, {WHO[self.is_ours_asking]}, {self.op}, {self.size} bytes, '
                f'MTU {self.mtu}, IPv{self.family}{wire}')

    def is_good(self):
        return self.is_done and self.failure is None

    def fail(self, why):
        self.failure = str(why) if self.failure is None else self.failure


class Plan:
    """All rows, in groups that share a capture."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.rows, self.packets, self.broken = [], 0, []
        self.place = rig.Rig(arguments.image.resolve())
        self.mac, self.is_capable = None, False  # our Ethernet address; are we ECN-capable?
        self.port = 'rxetap1'  # of the bridge, where captures are taken
        self.seats = {}  # the ends of rows that are not of the two ends of all others

    def wants(self, row):
        return all(word in str(row) for word in self.arguments.only)

    def add(self, *what):
        """A row, if it is wanted; else None."""
        row = Row(*what)
        if not self.wants(row):
            return None
        self.rows.append(row)
        return row

    def run(self):
        with contextlib.closing(self.place):
            self.place.boot()
            ours = self.place.ours(self.arguments.ours)
            self.mac = ours.greeting.split('mac=')[1]
            self.ours = cells.End(ours, rig.OURS)
            self.rxe = cells.End(self.place.theirs(self.arguments.guest), rig.RXE)
            for mtu, family in self.ways():
                self.operations(mtu, family)
            for mtu, family in self.ways()[:ENOUGH if self.arguments.smoke else None]:
                self.tools(mtu, family)
            for mtu, family in self.ways():
                self.connections(mtu, family)
            for mtu, family in self.ways()[-ENOUGH if self.arguments.smoke else None:]:
                self.datagrams(mtu, family)
            for mtu, family in self.ways():
                self.pings(mtu, family)
            for mtu, family in self.ways()[-ENOUGH if self.arguments.smoke else None:]:
                self.errors(mtu, family)
                for wire in self.wires():
                    self.burst(wire, mtu, family)
            if not self.arguments.smoke:
                self.storms()
            self.end(ours)
            self.marks()
            self.fast()
            self.attached()
            if not self.arguments.smoke:
                self.taps()
            pci.Rows(self).run()
            self.rxe.program.close()

    @staticmethod
    def end(ours):
        """It gives everything back, and says so by its status."""
        ours.close()
        try:
            ours.process.wait(rig.PATIENCE)
        except subprocess.TimeoutExpired:
            ours.process.kill()
        if ours.process.wait():
            raise Failed(f'ours ended with {ours.process.returncode}{ours.last_words()}')

    def marks(self):
        """An adapter that is ECN-capable, and marks that rxe sends."""
        families = (6,) if self.arguments.smoke else (4, 6)
        rows = [row for family in families for is_ours in (True, False)
                if (row := self.add('marks', is_ours, 'WRITE', marks.SIZE, marks.MTU, family))]
        if not rows:
            return
        ours = self.place.ours(self.arguments.ours, more=['ecn'])
        self.mac, self.is_capable = ours.greeting.split('mac=')[1], True
        self.ours = cells.End(ours, rig.OURS)
        for row in rows:
            run = marks.Marks(self.ends(row), row.family)
            with self.captured(f'marks-v{row.family}-{row.is_ours_asking}', [row]) as judges:
                judges.append(self.attempt(row, run.play, run.judge))
        self.end(ours)
        self.is_capable = False

    # ---- regions registered by requests ----------------------------------------------------

    def fast(self):
        """NDK, and a consumer in the guest's kernel."""
        kernel = None
        for mtu, family in self.ways():
            groups = {wire: self.fast_rows(mtu, family, wire)
                      for wire in self.fast_wires(mtu, family)}
            if not any(groups.values()):
                continue
            if not kernel:
                kernel = fast.End(self.place.kernel(self.arguments.guest), rig.RXE)
            self.place.run(f'ip link set eth0 mtu {ETH_MTU[mtu]}')
            consumer = self.place.consumer(self.arguments.consumer, mtu)
            self.mac = consumer.greeting.split('mac=')[1]
            ours = fast.End(consumer, rig.OURS)
            ours.ask('mr', mr=fast.PLAIN, bytes=fast.BYTES)
            ours.ask('mr', mr=fast.FAST, bytes=fast.BYTES, fast=1)
            for wire, rows in groups.items():
                if rows:
                    self.register_all(f'ndk-{wire_word(wire)}-{mtu}-v{family}', rows, ours, kernel)
            self.end(consumer)
            self.place.run(f'ip link set eth0 mtu {ETH_MTU[4096]}')
        if kernel:
            kernel.program.close()

    def fast_wires(self, mtu, family):
        is_bad = (mtu, family) == storms.TOOL_WAY and not self.arguments.smoke
        return ['clean', *(fast.WIRES if is_bad else [])]

    def fast_rows(self, mtu, family, wire):
        sizes = [1, mtu + 1, 65536] if wire == 'clean' else [4 * mtu + 1]
        if self.arguments.smoke:
            sizes = [mtu + 1]
        rows = [self.add('ndk', is_ours, op, size, mtu, family, wire)
                for is_ours in (True, False) for op in fast.ways(is_ours) for size in sizes]
        return [row for row in rows if row]

    def register_all(self, name, rows, ours, kernel):
        wire = rows[0].wire
        is_clean = wire == 'clean'
        runs = [fast.Fast((ours, kernel) if row.is_ours_asking else (kernel, ours),
                          row.is_ours_asking, row.op, row.size, row.mtu, row.family, is_clean)
                for row in rows]
        with self.captured(name, rows) as judges, \
                contextlib.nullcontext() if is_clean else storms.raging(self.place, wire):
            for row, run in zip(rows, runs):
                judges.append(self.attempt(row, run.play, run.judge))
            if not is_clean:
                judges.append(lambda capture: storms.judge_wire(capture, runs))

    # ---- seats -----------------------------------------------------------------------------

    def attached(self):
        """The operations by two users' programs at one polluxd, at the same time."""
        ways = {way: self.seat_rows(*way) for way in self.ways()}
        if not any(rows for way in ways.values() for rows in way.values()):
            return
        place, guest = self.place, self.arguments.guest
        path, daemon = place.host(self.arguments.polluxd, SEATS.values())
        peers = [self.rxe, cells.End(place.theirs(guest, port=rig.SECOND_PORT), rig.RXE)]
        ours = [place.seat(self.arguments.ours, path, user) for user in SEATS.values()]
        self.mac = ours[0].greeting.split('mac=')[1]
        self.seats = {name: (cells.End(one, rig.OURS), peer)
                      for name, one, peer in zip(SEATS, ours, peers)}
        self.refuse(path)
        for (mtu, family), rows in ways.items():
            if any(rows.values()):
                self.operate_seats(f'seats-{mtu}-v{family}', rows)
        for program in ours:
            self.end(program)
        peers[1].program.close()
        daemon.terminate()
        if daemon.wait(rig.PATIENCE):
            raise Failed(f'polluxd ended with {daemon.returncode}: {daemon.stderr.read()}')

    def seat_rows(self, mtu, family):
        """{seat: its rows}"""
        sizes = [mtu + 1] if self.arguments.smoke else [1, mtu + 1, 65536]
        return {name: [row for is_ours in (True, False) for op in cells.SIZED for size in sizes
                       if (row := self.add(name, is_ours, op, size, mtu, family))]
                for name in SEATS}

    def refuse(self, path):
        """A user who is not listed gets a sentence, and no seat."""
        try:
            self.place.seat(self.arguments.ours, path, REFUSED).close()
        except Failed as failed:
            if 'user 3 (sys) may not use adapter ours' in str(failed):
                return
            raise
        raise Failed('a user who may not use the adapter has a seat')

    def operate_seats(self, name, rows_of):
        """Each seat's rows on a thread of its own, of which both run for a while."""
        links, times = [], {}

        def operate(seat, judges):
            begin = time.monotonic()
            for is_ours in (True, False):
                rows = [row for row in rows_of[seat] if row.is_ours_asking == is_ours]
                while rows:
                    rows = self.operate(rows, links, judges)
            times[seat] = begin, time.monotonic()

        with self.captured(name, sum(rows_of.values(), [])) as judges:
            threads = [threading.Thread(target=operate, args=(seat, judges)) for seat in rows_of]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if len(times) < len(threads):
                raise Failed('a seat has ended early')
            judges.append(lambda capture: judge_company(times))

    def taps(self):
        """The operations once more over net_tap, which carries path MTU 1024."""
        ours = None
        for family in (4, 6):
            names = [('peer over net_tap', is_ours, op, size, 1024, family)
                     for op in cells.SIZED for size in [1025] for is_ours in (True, False)]
            rows = {is_ours: [row for name in names if name[1] == is_ours and
                              (row := self.add(*name))] for is_ours in (True, False)}
            if not any(rows.values()):
                continue
            if not ours:
                ours = self.place.ours(self.arguments.ours, rig.TAP, rig.TAP_OURS)
                self.mac = ours.greeting.split('mac=')[1]
                self.ours = cells.End(ours, rig.TAP_OURS)
            self.operate_all(f'tap-v{family}', rows)
        if ours:
            self.end(ours)

    def ways(self):
        if self.arguments.smoke:
            return [(4096, 4), (1024, 6)]
        return [(mtu, family) for family in (4, 6) for mtu in (1024, 4096)]

    def wires(self):
        return list(storms.WIRES)[:1] if self.arguments.smoke else list(storms.WIRES)

    @contextlib.contextmanager
    def captured(self, name, rows):
        """A capture around what is done; then what it shows is judged."""
        path = pathlib.Path(self.place.state, f'{name}.pcap')
        judges = []
        with self.place.capture(path, self.port):
            yield judges
        try:
            capture = judge.Capture(path)
            self.packets += capture.hold_to_rules(self.mac)
            marks.judge_ecn(capture, self.mac, self.is_capable)
            for job in judges:
                job(capture)
        except Failed as failed:  # it is of all these rows
            self.broken.append(f'{name}: {failed}')
            for row in rows:
                row.fail('')
        if self.arguments.keep and not all(row.is_good() for row in rows):
            self.arguments.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.arguments.keep)
        path.unlink()

    # ---- every operation, between the two programs that speak lines ------------------------

    def operations(self, mtu, family):
        all_rows = {is_ours: self.all_rows(is_ours, mtu, family) for is_ours in (True, False)}
        if any(all_rows.values()):
            self.operate_all(f'operations-{mtu}-v{family}', all_rows)

    def operate_all(self, name, all_rows, wire='clean'):
        """@param all_rows {is ours asking: rows}"""
        links = []
        with self.captured(name, sum(all_rows.values(), [])) as judges:
            for rows in all_rows.values():
                while rows:
                    rows = self.operate(rows, links, judges)
            if wire != 'clean':
                judges.append(lambda capture: storms.judge_wire(capture, links))

    def all_rows(self, is_ours, mtu, family, wire='clean'):
        """Those that are wanted of every operation in every size."""
        names = [(op, size) for op in cells.SIZED for size in self.some_sizes(mtu)]
        names += [(op, 8) for op in cells.ATOMICS]
        rows = [self.add('peer', is_ours, op, size, mtu, family, wire) for op, size in names]
        return [row for row in rows if row]

    def some_sizes(self, mtu):
        return [mtu + 1] if self.arguments.smoke else cells.sizes(mtu)

    def operate(self, rows, links, judges):
        """Run rows over one connection until one fails. Returns those that are left."""
        link = work = None
        done, first = [], rows[0]
        is_clean = first.wire == 'clean'
        options = {} if is_clean else storms.HASTY
        try:
            link = cells.Link(*self.ends(first), first.mtu, first.family, **options)
            links.append(link)
            work = cells.Cells(link, judge.pattern)
            for row in rows:
                before, start = len(work.expected), time.monotonic()
                link.within(rig.PATIENCE if is_clean else storms.SECONDS)
                work.run(row.op, row.size)
                row.seconds = time.monotonic() - start
                done.append((row, work.expected[before:]))
                row.is_done = True
        except Failed as failed:
            rows[len(done)].fail(failed)
        finally:
            if link:
                link.close()
        if link:
            is_whole = len(done) == len(rows)
            judges.append(lambda capture: judge_link(capture, link, done, is_whole, is_clean))
        return rows[len(done) + 1:]

    # ---- perftest and ibv_rc_pingpong ------------------------------------------------------

    def tools(self, mtu, family):
        rows = []
        for tool in [*perftest.TOOLS, 'ibv_rc_pingpong']:
            op = perftest.TOOLS.get(tool, ('SEND',))[0]
            for role in ('client', 'server'):
                for size in self.tool_sizes(mtu, op):
                    rows.append(self.add(tool, role == 'client', op, size, mtu, family))
        rows = [row for row in rows if row]
        if not rows:
            return
        with self.captured(f'tools-{mtu}-v{family}', rows) as judges:
            for row in rows:
                judges.append(self.play(row))

    def tool_sizes(self, mtu, op):
        if op in cells.ATOMICS:
            return [8]
        return [mtu + 1] if self.arguments.smoke else [1, mtu + 1, 65536]

    def play(self, row, count=5, kind=perftest.Run):
        """Run one tool. Returns what judges it."""
        role = 'client' if row.is_ours_asking else 'server'
        run = kind(self.place, self.ours, row.tool, role, row.size, row.mtu, row.family, count)

        def play():
            with contextlib.closing(run):
                run.play()
        return self.attempt(row, play, lambda capture: run.judge(capture, judge.pattern))

    # ---- the communication manager ---------------------------------------------------------

    def connections(self, mtu, family):
        kinds = {'rping': cm.Rping, 'ucmatose': cm.Ucmatose, 'refusal': cm.Refusal,
                 'no receive': cm.Starved}
        if not self.arguments.smoke:
            kinds['ucmatose, 64 at once'] = cm.Crowd
        rows = []
        for name, kind in kinds.items():
            for is_ours in (True, False) if kind != cm.Starved else (False,):
                for size in self.call_sizes(name, mtu):
                    rows.append((self.add(name, is_ours, 'CM', size, mtu, family), kind))
        for tool, role, size in self.cm_tools(mtu, family):
            op = f'{perftest.TOOLS[tool][0]} rdma_cm'
            rows.append((self.add(tool, role == 'client', op, size, mtu, family), None))
        rows = [(row, kind) for row, kind in rows if row]
        if not rows:
            return
        self.place.run(f'ip link set eth0 mtu {ETH_MTU[mtu]}')  # from which rxe has its path MTU
        self.ours.ask('listen', port=cm.PORT)
        with self.captured(f'cm-{mtu}-v{family}', [row for row, _ in rows]) as judges:
            for row, kind in rows:
                judges.append(self.call(row, kind) if kind else
                              self.play(row, kind=perftest_cm.RunOverCm))
        self.ours.ask('unlisten')
        self.place.run(f'ip link set eth0 mtu {ETH_MTU[4096]}')

    def cm_tools(self, mtu, family):
        """Perftest's with -R: over connections of the communication manager alone."""
        if family not in perftest_cm.FAMILIES or self.arguments.smoke:
            return []
        return [(tool, role, size) for tool in perftest_cm.TOOLS for role in ('client', 'server')
                for size in (1, mtu + 1, 65536)]

    def call_sizes(self, name, mtu):
        if name in ('refusal', 'no receive'):
            return [0]
        if self.arguments.smoke or name != 'rping':
            return [mtu + 1]
        return [64, mtu - 1, mtu, mtu + 1, 65535]

    def call(self, row, kind):
        """Run a tool over the communication manager. Returns what judges it."""
        call = kind(self.place, self.ours, row.is_ours_asking, row.size, row.mtu, row.family)
        call.may_lose = row.wire in storms.LOSSY

        def play():
            call.began = time.time()
            with contextlib.closing(call):
                call.play()
            call.over = time.time()
        return self.attempt(row, play, lambda capture: call.judge(capture, judge.pattern))

    # ---- datagrams -------------------------------------------------------------------------

    def datagrams(self, mtu, family):
        sizes = [mtu] if self.arguments.smoke else [1, mtu - 1, mtu]
        names = [('ibv_ud_pingpong', 'SEND', sizes, datagrams.UdPingpong),
                 ('ibv_ud_pingpong', 'other Q_Key', [63], datagrams.WrongKey),
                 ('udaddy', 'SEND_IMM', sizes, datagrams.Udaddy),
                 ('udaddy', 'nobody listens', [0], datagrams.NoService)]
        names += [(tool, 'SEND UD', [1, mtu], datagrams.UdPerftest)
                  for tool in datagrams.UdPerftest.TOOLS]
        names = names[:3:2] if self.arguments.smoke else names
        rows = [(self.add(tool, is_ours, op, size, mtu, family), kind)
                for tool, op, some, kind in names for is_ours in (True, False) for size in some]
        rows = [(row, kind) for row, kind in rows if row]
        if not rows:
            return
        self.place.run(f'ip link set eth0 mtu {ETH_MTU[mtu]}')  # which is how long they may be
        with self.captured(f'datagrams-{mtu}-v{family}', [row for row, _ in rows]) as judges:
            for row, kind in rows:
                judges.append(self.call(row, kind) if row.tool == 'udaddy' else
                              self.play(row, kind=kind))
        self.place.run(f'ip link set eth0 mtu {ETH_MTU[4096]}')

    # ---- what must fail --------------------------------------------------------------------

    def errors(self, mtu, family):
        rows = []
        for error in errors.ERRORS:
            for asker in error.askers:
                rows.append((self.add('error', asker == 'ours', f'{error.op} {error.name}',
                                      errors.SIZE, mtu, family), error))
        rows = [(row, error) for row, error in rows if row]
        if not rows:
            return
        with self.captured(f'errors-{mtu}-v{family}', [row for row, _ in rows]) as judges:
            for row, error in rows:
                judges.append(self.err(row, error))

    def err(self, row, error):
        """Run one. Returns what judges it."""
        links = []

        def play():
            links.append(error.play(*self.ends(row), row.mtu, row.family))
        return self.attempt(row, play, lambda capture: error.judge(links[0].talk(capture, False)))

    def pings(self, mtu, family):
        """An echo of the kernel's, of one packet and of what the MTU lets through."""
        rows = [self.add('ping', False, 'echo', size, mtu, family) for size in (56, mtu - 96)]
        for row in filter(None, rows):
            def play():
                said = self.place.run(f'ping -{family} -c 3 -s {row.size} {rig.OURS[family]}')[1]
                if '3 packets received' not in said:
                    raise Failed(said)
            self.attempt(row, play, None)

    # ---- a bad wire ------------------------------------------------------------------------

    def burst(self, wire, mtu, family):
        rows = [self.add('burst', is_ours, op, storms.SIZE, mtu, family, wire)
                for op in storms.OPS for is_ours in (True, False)]
        rows = [row for row in rows if row]
        if not rows:
            return
        with self.captured(f'burst-{wire_word(wire)}-{mtu}-v{family}', rows) as judges, \
                storms.raging(self.place, wire):
            bursts = [storms.Burst(*self.ends(row), row.op, mtu, family, judge.pattern)
                      for row in rows]
            for row, burst in zip(rows, bursts):
                judges.append(self.attempt(row, burst.play, burst.judge))
            judges.append(lambda capture: storms.judge_wire(
                capture, [burst.link for burst in bursts]))

    def storms(self):
        """Every operation in every size, and some tools, over each bad wire."""
        for wire in storms.WIRES:
            for mtu, family in self.ways():
                self.storm(wire, mtu, family)
            self.storm_tools(wire, *storms.TOOL_WAY)

    def storm(self, wire, mtu, family):
        all_rows = {is_ours: rows for is_ours in (True, False)
                    if (rows := self.all_rows(is_ours, mtu, family, wire))}
        if not all_rows:
            return
        with storms.raging(self.place, wire):
            for is_ours, rows in all_rows.items():
                name = f'storm-{wire_word(wire)}-{mtu}-v{family}-{WHO[is_ours].split()[0]}'
                self.operate_all(name, {is_ours: rows}, wire)

    def storm_tools(self, wire, mtu, family):
        rows = [self.add(tool, is_ours, perftest.TOOLS.get(tool, ('CM',))[0], storms.TOOL_SIZE,
                         mtu, family, wire)
                for tool in [*storms.TOOLS, 'rping'] for is_ours in (True, False)]
        rows = [row for row in rows if row]
        if not rows:
            return
        self.ours.ask('listen', port=cm.PORT)
        with self.captured(f'storm-tools-{wire_word(wire)}', rows) as judges, \
                storms.raging(self.place, wire):
            for row in rows:
                judges.append(self.call(row, cm.Rping) if row.tool == 'rping' else
                              self.play(row, storms.TOOL_COUNT))
        self.ours.ask('unlisten')

    def ends(self, row):
        ours, rxe = self.seats.get(row.tool, (self.ours, self.rxe))
        return (ours, rxe) if row.is_ours_asking else (rxe, ours)

    @staticmethod
    def attempt(row, play, judge_it):
        """Play a row. Returns what judges it when there is a capture."""
        start = time.monotonic()
        try:
            play()
            row.is_done = True
        except Failed as failed:
            row.fail(failed)
        row.seconds = time.monotonic() - start

        def judge_row(capture):
            try:
                if row.is_done:
                    judge_it(capture)
            except Failed as failed:
                row.fail(f'in the capture: {failed}')
        return judge_row

    # ---- what came of it -------------------------------------------------------------------

    def matrix(self):
        """A line for each tool, operation and size, a column for each way and direction."""
        columns = sorted({(row.family, row.mtu, not row.is_ours_asking) for row in self.rows})
        heads = [f'v{family} {mtu} {"rxe" if theirs else "ours"}'
                 for family, mtu, theirs in columns]
        lines = {}
        for row in self.rows:
            line = lines.setdefault((row.tool, row.op, row.wire), {})
            at = (row.family, row.mtu, not row.is_ours_asking)
            good, count = line.get(at, (0, 0))
            line[at] = (good + row.is_good(), count + 1)
        out = [f'{"":42}' + ''.join(f'{head:>14}' for head in heads)]
        for (tool, op, wire), line in lines.items():
            name = f'{tool.partition(" ")[0] if tool.startswith("ib_") else tool} {op}'
            name += '' if wire == 'clean' else f', {wire}'
            cell = [f'{line[at][0]}/{line[at][1]}' if at in line else '' for at in columns]
            out.append(f'{name:42}' + ''.join(f'{text:>14}' for text in cell))
        return '\n'.join(out)


def judge_company(times):
    """Did all run for a while at the same time? @param times {seat: (begin, end)}"""
    if max(begin for begin, _ in times.values()) >= min(end for _, end in times.values()):
        raise Failed(f'the seats did not run at the same time: {times}')


def judge_link(capture, link, done, is_whole, is_clean):
    """Compare what a connection's rows expect with what the capture has."""
    row = done[0][0] if done else None
    try:
        talk = link.talk(capture)
        link.unrest = talk.unrest()
        messages = iter(talk.messages)
        for row, expected in done:
            for one in expected:
                message = next(messages, None)
                if not message:
                    raise Failed('it is not on the wire')
                one.judge(message)
        if is_whole:
            talk.hold_to_acks()
            if next(messages, None) or (is_clean and talk.naks()):
                raise Failed(f'messages that nobody posted, or NAKs: {talk.naks()}')
            storms.judge_naks(talk, link)
    except Failed as failed:
        for other, _ in done:
            if other is row:
                other.fail(f'in the capture: {failed}')
