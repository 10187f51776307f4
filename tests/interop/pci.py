# SPDX-License-Identifier: BSD-3-Clause
"""Rows in which Pollux runs in a guest, on emulated PCI NICs that a driver for user space has: the
operations, several engines, path MTUs, checksums, and NICs that lose their link, are reset or are
unplugged. Emulated, so they show that it is right, and nothing of speed."""
import collections
import contextlib

import cells
import nic_faults
import nics
from cells import Link, judge_success
from rig import Failed

VFIO, UIO = 'vfio-pci', 'uio_pci_generic'
ENGINES = 4

Way = collections.namedtuple('Way', 'nic driver engines mtus')
WAYS = {
    'peer on virtio-net': Way('virtio-net', VFIO, 1, (1024, 4096)),
    'peer on virtio-net, 4 engines': Way('virtio-net', VFIO, ENGINES, (1024, 4096)),
    'peer on virtio-net, no RSS': Way('virtio-net without RSS', VFIO, ENGINES, (1024,)),
    'peer on virtio-net, uio': Way('virtio-net', UIO, 1, (4096,)),
    'peer on e1000': Way('e1000', VFIO, 1, (1024, 4096)),
    'peer on e1000, uio': Way('e1000', UIO, 1, (4096,)),
    'peer on e1000e': Way('e1000e', VFIO, 1, (1024, 4096)),
}
Fault = collections.namedtuple('Fault', 'name nic driver kind')
FAULTS = [
    Fault('link back on virtio-net', 'virtio-net', VFIO, nic_faults.LinkBack),
    Fault('link back on e1000', 'e1000', VFIO, nic_faults.LinkBack),
    Fault('link down on virtio-net', 'virtio-net', VFIO, nic_faults.LinkDown),
    Fault('link down on e1000', 'e1000', VFIO, nic_faults.LinkDown),
    Fault('reset of virtio-net', 'virtio-net', VFIO, nic_faults.Reset),
    Fault('reset of e1000', 'e1000', VFIO, nic_faults.Reset),
    Fault('unplugging of virtio-net', 'virtio-net', VFIO, nic_faults.UnplugLater),
    Fault('unplugging of virtio-net, uio', 'virtio-net', UIO, nic_faults.Unplug),
    Fault('unplugging of e1000, uio', 'e1000', UIO, nic_faults.Unplug),
    Fault('unfinished checksum on virtio-net', 'virtio-net', VFIO, nic_faults.Unfinished),
]
UNPLUGGED = (nic_faults.Unplug, nic_faults.UnplugLater)
HARMLESS = (nic_faults.LinkBack, nic_faults.LinkDown, nic_faults.Unfinished)
FAULT_MTU = 1024

# What must be refused, and the sentence.
Refusal = collections.namedtuple('Refusal', 'op nic option says')
REFUSALS = [
    Refusal('path MTU', 'virtio-net without RSS', 'path_mtu=4096',
            'a frame of 4206 bytes does not fit, 1514 do; choose a smaller path MTU'),
    Refusal('engines', 'e1000', 'engines=2',
            'has 1 pairs of RX and TX queues, and 2 engines need one each; set engines lower'),
]
SMOKE = ('peer on virtio-net, 4 engines', 'peer on e1000', 'reset of virtio-net')


class End(cells.End):
    """Ours on a NIC; queue pairs go to its engines in turn."""

    def __init__(self, program, addresses):
        super().__init__(program, addresses)
        self.engines = program.ask('port')['engines']

    def qp(self, peer, family, **options):
        return super().qp(peer, family, engine=1 + self.next % self.engines, **options)


class Rows:
    """All rows of PCI NICs of a plan."""

    def __init__(self, plan):
        self.plan = plan
        self.is_smoke = plan.arguments.smoke
        self.machine = None

    def run(self):
        for name, way in WAYS.items():
            if not self.is_smoke or name in SMOKE:
                self.operations(name, way)
        for fault in FAULTS:
            for is_ours, family in fault.kind.ways:
                self.fault(fault, is_ours, family)
        if not self.is_smoke:
            for refusal in REFUSALS:
                self.refuse(refusal)

    # ---- every operation -------------------------------------------------------------------

    def operations(self, name, way):
        groups = {(mtu, family): self.operation_rows(name, mtu, family)
                  for family in (4, 6) for mtu in way.mtus}
        if not any(any(rows.values()) for rows in groups.values()):
            return
        more = [f'engines={way.engines}'] if way.engines > 1 else []
        with self.ours(way.nic, way.driver, more) as (end, _):
            for (mtu, family), rows in groups.items():
                if any(rows.values()):
                    self.plan.operate_all(f'{name}-{mtu}-v{family}', rows)
            if way.engines > 1:
                judge_engines(end)

    def operation_rows(self, name, mtu, family):
        """{is ours asking: rows}"""
        if self.is_smoke and (mtu, family) not in self.plan.ways():
            return {}
        sizes = [mtu + 1] if self.is_smoke else [1, mtu + 1, 65536]
        names = [(op, size) for op in cells.SIZED for size in sizes]
        names += [(op, 8) for op in cells.ATOMICS]
        return {is_ours: [row for op, size in names
                          if (row := self.plan.add(name, is_ours, op, size, mtu, family))]
                for is_ours in (True, False)}

    # ---- what must fail, and what must not -------------------------------------------------

    def fault(self, fault, is_ours, family):
        if self.is_smoke and (fault.name not in SMOKE or is_ours):
            return
        row = self.plan.add(fault.name, is_ours, 'WRITE', nic_faults.SIZE, FAULT_MTU, family)
        if not row:
            return
        for step in (self.break_it, self.plug_again, self.work_again):
            try:
                step(fault, row)
            except Failed as failed:
                row.fail(failed)
                return

    def break_it(self, fault, row):
        with self.ours(fault.nic, fault.driver) as (_, address):
            run = fault.kind(self.machine, fault.nic, address, self.plan.ends(row), row.mtu,
                             row.family)
            with self.plan.captured(f'{fault.name}-v{row.family}', [row]) as judges:
                judges.append(self.plan.attempt(row, run.play, run.judge))

    def plug_again(self, fault, row):
        """It has gone when the program has ended, at the latest."""
        if fault.kind not in UNPLUGGED:
            return
        self.machine.wait_until_gone(fault.nic)
        self.machine.plug(fault.nic)

    def work_again(self, fault, row):
        """Whatever has happened to it, the next program finds a good device."""
        if fault.kind in HARMLESS:
            return
        with self.ours(fault.nic, fault.driver):
            link = Link(*self.plan.ends(row), row.mtu, row.family)
            link.send('WRITE', nic_faults.SIZE, **link.remote())
            judge_success(link.sent(), 'the WRITE of the next program')
            link.close()

    def refuse(self, refusal):
        """A device that cannot do what is asked for says so."""
        row = self.plan.add(f'refusal on {refusal.nic.split()[0]}', True, refusal.op, 0, 4096, 4)
        if not row:
            return

        def play():
            said = self.machine_now().refuse(refusal.nic, VFIO, [refusal.option])
            if refusal.says not in said:
                raise Failed(f'it says: {said}')
        self.plan.attempt(row, play, None)

    # ---- the ends --------------------------------------------------------------------------

    def machine_now(self):
        if not self.machine:
            self.machine = nics.Machine(self.plan.place, self.plan.arguments.ours)
        return self.machine

    @contextlib.contextmanager
    def ours(self, nic, driver, more=()):
        """Ours on a NIC, as the plan's own end, and the NIC's address. It ends with status 0.
        Captures are of the NIC's port, where what it left undone can be seen."""
        plan = self.plan
        program, address = self.machine_now().start(nic, driver, more)
        plan.mac, plan.port = program.greeting.split('mac=')[1], nics.port(nic)
        plan.ours = End(program, nics.addresses(nic))
        yield plan.ours, address
        plan.end(program)
        self.machine.release(address)


def judge_engines(end):
    """Each has worked, and packets came to others than their own: else this tests nothing."""
    counters = end.ask('counters')
    seen = {name: counters.get(name, 0) for name in ('engine_rx_packets', 'engine_handed_over')}
    if not 0 < seen['engine_handed_over'] < seen['engine_rx_packets']:
        raise Failed(f'the engines had nothing to hand over: {seen}')
