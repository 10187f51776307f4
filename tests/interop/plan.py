# SPDX-License-Identifier: BSD-3-Clause
"""Which rows there are, how they are run, and the matrix of what came of them."""
import contextlib
import pathlib
import shutil

import cells
import judge
import perftest
import rig
from rig import Failed

WHO = {True: 'ours asks', False: 'rxe asks'}


class Row:
    """One line of the matrix."""

    def __init__(self, tool, is_ours_asking, op, size, mtu, family, wire='clean'):
        self.tool, self.is_ours_asking, self.op, self.size = tool, is_ours_asking, op, size
        self.mtu, self.family, self.wire = mtu, family, wire
        self.is_done, self.failure = False, None

    def __str__(self):
        wire = '' if self.wire == 'clean' else f', {self.wire}'
        return (f'{self.tool}, {WHO[self.is_ours_asking]}, {self.op}, {self.size} bytes, '
                f'MTU {self.mtu}, IPv{self.family}{wire}')

    def fail(self, why):
        self.failure = self.failure or str(why)


class Plan:
    """All rows, in groups that share a capture."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.rows, self.packets, self.broken = [], 0, False
        self.place = rig.Rig(arguments.image.resolve())
        self.mac = None

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
            for mtu, family in self.ways():
                self.tools(mtu, family)
            self.rxe.program.close()
            ours.close()
            if ours.process.wait(rig.PATIENCE):
                raise Failed(f'ours ended with {ours.process.returncode}{ours.last_words()}')

    def ways(self):
        if self.arguments.smoke:
            return [(4096, 4), (1024, 6)]
        return [(mtu, family) for family in (4, 6) for mtu in (1024, 4096)]

    @contextlib.contextmanager
    def captured(self, name, rows):
        """A capture around what is done; then what it shows is judged."""
        path = pathlib.Path(self.place.state, f'{name}.pcap')
        judges = []
        with self.place.capture(path):
            yield judges
        try:
            capture = judge.Capture(path)
            self.packets += capture.hold_to_rules(self.mac)
        except Failed as failed:
            for row in rows:
                row.fail(failed)
            judges = []
        for job in judges:
            job(capture)
        if self.arguments.keep and any(row.failure for row in rows):
            self.arguments.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.arguments.keep)
        path.unlink()

    # ---- every operation, between the two programs that speak lines ------------------------

    def operations(self, mtu, family):
        all_rows = {True: [], False: []}
        for is_ours, rows in all_rows.items():
            for op in cells.SIZED:
                for size in self.some_sizes(mtu):
                    rows.append(self.add('peer', is_ours, op, size, mtu, family))
            rows += [self.add('peer', is_ours, op, 8, mtu, family) for op in cells.ATOMICS]
            rows[:] = [row for row in rows if row]
        if not any(all_rows.values()):
            return
        with self.captured(f'operations-{mtu}-v{family}', sum(all_rows.values(), [])) as judges:
            for is_ours, rows in all_rows.items():
                ends = (self.ours, self.rxe) if is_ours else (self.rxe, self.ours)
                while rows:
                    rows = self.operate(ends, mtu, family, rows, judges)

    def some_sizes(self, mtu):
        return [mtu + 1] if self.arguments.smoke else cells.sizes(mtu)

    @staticmethod
    def operate(ends, mtu, family, rows, judges):
        """Run rows over one connection until one fails. Returns those that are left."""
        link = work = None
        done = []
        try:
            link = cells.Link(*ends, mtu, family)
            work = cells.Cells(link, judge.pattern)
            for row in rows:
                before = len(work.expected)
                work.run(row.op, row.size)
                done.append((row, work.expected[before:]))
                row.is_done = True
        except Failed as failed:
            rows[len(done)].fail(failed)
        finally:
            if link:
                link.close()
        if link:
            is_whole = len(done) == len(rows)
            judges.append(lambda capture: judge_link(capture, link, done, is_whole))
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

    def play(self, row):
        """Run one tool. Returns what judges it."""
        role = 'client' if row.is_ours_asking else 'server'
        run = perftest.Run(self.place, self.ours, row.tool, role, row.size, row.mtu, row.family, 5)
        try:
            run.play()
            row.is_done = True
        except Failed as failed:
            row.fail(failed)
        finally:
            run.close()

        def judge_run(capture):
            try:
                if row.is_done:
                    run.judge(capture, judge.pattern)
            except Failed as failed:
                row.fail(failed)
        return judge_run

    # ---- what came of it -------------------------------------------------------------------

    def matrix(self):
        """A line for each tool, operation and size, a column for each way and direction."""
        columns = sorted({(row.family, row.mtu, not row.is_ours_asking) for row in self.rows})
        heads = [f'v{family} {mtu} {"rxe" if theirs else "ours"}' for family, mtu, theirs in columns]
        lines = {}
        for row in self.rows:
            line = lines.setdefault((row.tool, row.op, row.wire), {})
            at = (row.family, row.mtu, not row.is_ours_asking)
            good, count = line.get(at, (0, 0))
            line[at] = (good + (row.is_done and not row.failure), count + 1)
        out = [f'{"who asks":42}' + ''.join(f'{head:>14}' for head in heads)]
        for (tool, op, wire), line in lines.items():
            name = f'{tool.split()[0]} {op}' + ('' if wire == 'clean' else f', {wire}')
            cell = [f'{line[at][0]}/{line[at][1]}' if at in line else '' for at in columns]
            out.append(f'{name:42}' + ''.join(f'{text:>14}' for text in cell))
        return '\n'.join(out)


def judge_link(capture, link, done, is_whole):
    """Compare what a connection's rows expect with what the capture has."""
    requester, responder = ({'gid': rig.gid(end.addresses[link.family]), **own}
                            for end, own in zip((link.a, link.b), link.at))
    row = done[0][0] if done else None
    try:
        talk = judge.Talk(capture, requester, responder, link.mtu)
        messages = iter(talk.messages)
        for row, expected in done:
            for one in expected:
                message = next(messages, None)
                if not message:
                    raise Failed('it is not on the wire')
                one.judge(message)
        if is_whole:
            talk.hold_to_acks()
            if next(messages, None) or talk.naks():
                raise Failed(f'messages that nobody posted, or NAKs: {talk.naks()}')
    except Failed as failed:
        for other, _ in done:
            if other is row:
                other.fail(f'in the capture: {failed}')
