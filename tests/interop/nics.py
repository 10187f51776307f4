# SPDX-License-Identifier: BSD-3-Clause
"""The guest in which Pollux itself runs, on emulated PCI NICs of its own: what NICs it has, the
program with every library it loads, and what can happen to a NIC while the program runs."""
import json
import os
import pathlib
import shutil
import socket
import subprocess

import rig
from rig import Failed, wait_for

GUEST = 2
HOME = '/share/pollux'   # in the guest
LOADER = 'ld-linux-x86-64.so.2'
PLUGINS = ('bus_pci', 'bus_vdev', 'mempool_ring', 'net_e1000', 'net_virtio')
SANITIZERS = ('ASAN_OPTIONS', 'UBSAN_OPTIONS')
SUPPRESSIONS = 'lsan'    # beside the program
HUGEPAGES = 200          # of 2 MiB: the pool of four engines, and queues

# What QEMU calls them. virtio behind the IOMMU is modern; without mq there is one pair of queues.
QUEUES = 'virtio-net-pci,disable-legacy=on,iommu_platform=on,mq=on,vectors=10'
NICS = {
    'virtio-net': f'{QUEUES},rss=on,host_mtu=4200',
    'virtio-net without RSS': f'{QUEUES},host_mtu=1500',
    'e1000': 'e1000',
    'e1000e': 'e1000e',
}


def number(nic):
    return list(NICS).index(nic) + 1


def addresses(nic):
    """Pollux's own on that NIC: neighbours keep the MAC of each."""
    return {4: f'10.77.0.{110 + number(nic)}', 6: f'fd77::{110 + number(nic)}'}


def libraries(files, folder=''):
    """What these load, by the linker's answer; the folder has the program's own."""
    linked = subprocess.run(['ldd', *map(str, files)], capture_output=True, text=True, check=True,
                            env=dict(os.environ, LD_LIBRARY_PATH=str(folder))).stdout
    return {pathlib.Path(word) for line in linked.splitlines() for word in line.split()
            if word.startswith('/') and not word.endswith(':')}


def pack(program, target):
    """The program for a system that has none of its libraries: with the loader and DPDK's drivers,
    which are links, as in Debian, lest the bus be loaded twice. Returns where DPDK looks for
    drivers."""
    folder = next(path.parent for path in libraries([program]) if path.name == 'libpollux.so.0')
    own = sorted(folder.glob('libpollux*.so.0'))
    eal = next(path for path in libraries(own, folder) if path.name.startswith('librte_eal.so'))
    driver = next(eal.resolve().parent.glob('dpdk/pmds-*'))
    plugins = [(driver / f'librte_{name}.so').resolve() for name in PLUGINS]
    (target / 'drivers').mkdir(parents=True)
    # A loader that is called by its name counts as a library that leaks what it keeps.
    (target / SUPPRESSIONS).write_text(f'leak:{LOADER}\n')
    for file in (program, *own, *libraries([program, *own, *plugins], folder)):
        shutil.copy(file, target / file.name)
    for name, plugin in zip(PLUGINS, plugins):
        soname = f'librte_{name}.so.{plugin.name.split(".so.")[1].split(".")[0]}'
        shutil.copy(plugin, target / soname)
        (target / 'drivers' / f'librte_{name}.so').symlink_to(f'../{soname}')
    return driver


def port(nic):
    """Of the bridge."""
    return f'rxenic{GUEST}.{number(nic)}'


class Machine:
    """That guest, and the program in it."""

    def __init__(self, place, program):
        self.place, self.program = place, pathlib.Path(program)
        self.port = 7100  # of the next program's connection to the driver
        place.call('-n', str(GUEST), 'start', *(f'nic={device}' for device in NICS.values()),
                   seconds=180)
        driver = pack(self.program, pathlib.Path(place.state, 'share', str(GUEST), 'pollux'))
        self.run(f'mkdir -p /var/run /dev/hugepages {driver.parent} && '
                 f'ln -s {HOME}/drivers {driver} && mount -t hugetlbfs none /dev/hugepages && '
                 f'echo {HUGEPAGES} >/proc/sys/vm/nr_hugepages')

    def run(self, command, **more):
        return self.place.run(command, GUEST, **more)

    def bind(self, nic, driver):
        """@param driver of the guest's kernel. Returns the NIC's PCI address."""
        said = self.place.call('-n', str(GUEST), 'bind', str(number(nic)), driver)[1]
        return said.split()[-1]

    def release(self, address):
        """From its driver, if it is there still."""
        self.run(f'! [ -e /sys/bus/pci/devices/{address}/driver ] || '
                 f'echo {address} >/sys/bus/pci/devices/{address}/driver/unbind')

    def command(self, address, nic, more):
        own = addresses(nic)
        options = [f'{name}={os.environ[name]}' for name in SANITIZERS if name in os.environ]
        options.append(f'LSAN_OPTIONS=suppressions={HOME}/{SUPPRESSIONS}:print_suppressions=0')
        return ' '.join([*options, f'{HOME}/{LOADER}', '--library-path', HOME,
                         f'{HOME}/{self.program.name}', address, f'{own[4]}/24',
                         f'{own[6]}/64', *more])

    def start(self, nic, driver, more=()):
        """Ours, on that NIC. Returns (the program, the NIC's PCI address)."""
        address = self.bind(nic, driver)
        self.port += 1
        process = self.place.spawn(
            f'nc -l -p {self.port} -e env {self.command(address, nic, more)}', GUEST, 3600)
        talk = self.place.dial(f'10.77.0.{GUEST}', self.port)
        return rig.Program('ours', talk, process), address

    def refuse(self, nic, driver, more=()):
        """Ours must not get that NIC. Returns what it says."""
        address = self.bind(nic, driver)
        status, said = self.run(f'env {self.command(address, nic, more)} </dev/null',
                                check=False)
        self.release(address)
        if status != 1:
            raise Failed(f'{nic} is opened, or the program crashes: {status}: {said}')
        return said

    def monitor(self, command, **arguments):
        """One command of QEMU's, which says by an event when it is over."""
        path = pathlib.Path(self.place.state, 'run', str(GUEST), 'qmp')
        with socket.socket(socket.AF_UNIX) as talk:
            talk.settimeout(rig.PATIENCE)
            talk.connect(str(path))
            with talk.makefile('rw', encoding='ascii') as lines:
                for asked in ({'execute': 'qmp_capabilities'},
                              {'execute': command, 'arguments': arguments}):
                    lines.write(json.dumps(asked) + '\n')
                    lines.flush()
                    said = next(line for line in map(json.loads, lines)
                                if 'return' in line or 'error' in line)
                    if 'error' in said:
                        raise Failed(f'QEMU refuses {asked}: {said["error"]}')

    def set_link(self, nic, is_up):
        self.monitor('set_link', name=f'nic{number(nic)}', up=is_up)

    def reset(self, address):
        """The whole device, behind the program's back, as an administrator can."""
        self.run(f'echo 1 >/sys/bus/pci/devices/{address}/reset')

    def unplug(self, nic):
        self.run('dmesg -c >/dev/null')
        self.monitor('device_del', id=f'nic{number(nic)}')

    def is_asked(self):
        """vfio-pci has told the program's process, as it does until that closes the device."""
        return 'Relaying device request to user' in self.run('dmesg')[1]

    def plug(self, nic):
        """Back into its slot."""
        i = number(nic)
        driver, *words = NICS[nic].split(',')
        values = {'on': True, 'off': False}
        properties = {name: values[text] if text in values else int(text)
                      for name, _, text in (word.partition('=') for word in words)}
        self.monitor('device_add', driver=driver, id=f'nic{i}', netdev=f'tap{i}', bus=f'slot{i}',
                     mac=f'52:54:00:78:{GUEST:02x}:{i:02x}', romfile='', **properties)
        wait_for(f'{nic} to be back', lambda: self.is_there(nic))

    def is_there(self, nic):
        """@param nic in its slot, behind bridge 0000:00:1I.0"""
        return self.run(f'ls -d /sys/bus/pci/devices/0000:00:1{number(nic)}.0/0000:*:00.0',
                        check=False)[0] == 0

    def wait_until_gone(self, nic):
        wait_for(f'{nic} to be gone', lambda: not self.is_there(nic))
