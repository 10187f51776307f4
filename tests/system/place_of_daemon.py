# SPDX-License-Identifier: BSD-3-Clause
"""polluxd in a folder and a network namespace of its own, which go away with the test."""
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from place import PATIENCE, Failed, close_at_the_end


class Daemon:
    """polluxd in a folder and a namespace of its own."""

    def __init__(self, place, text, user=()):
        self.place = place
        self.socket = place.folder / 'run' / 's'
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(place.folder / 'run' / 'manager'))
        os.chmod(place.folder / 'run' / 'manager', 0o666)
        self.manager.settimeout(PATIENCE)
        config = place.write(text)
        environment = {**os.environ, 'NOTIFY_SOCKET': str(place.folder / 'run' / 'manager'),
                       'RUNTIME_DIRECTORY': str(place.folder / 'run'),
                       'POLLUX_HOST': '/nowhere', 'POLLUX_CONFIG': '/nowhere'}
        self.child = subprocess.Popen(
            ['ip', 'netns', 'exec', place.space, *user, place.program, '--config', str(config)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        place.daemons.append(self)

    def hears(self, text):
        told = self.manager.recv(4096).decode()
        if told != text:
            raise Failed(f'the manager was told {told!r}, not {text!r}')

    def status(self):
        """/proc/PID/status of each thread, the first the main one."""
        return [dict(line.split(':\t') for line in path.read_text().splitlines() if ':\t' in line)
                for path in sorted(pathlib.Path(f'/proc/{self.child.pid}/task').glob('*/status'))]

    def ends(self, status, *words):
        """Wait for its end; what it said."""
        try:
            out, err = self.child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed('polluxd does not end') from None
        self.manager.close()
        if self.child.returncode != status or any(word not in err for word in words):
            raise Failed(f'polluxd ended with {self.child.returncode}, not {status} and {words}: '
                         f'{out}{err}')
        return err


class Place:
    """A folder and a network namespace, for one daemon after the other."""

    def __init__(self, program):
        self.daemons = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='plx-daemon-'))
        os.chmod(self.folder, 0o755)
        self.program = self.bring(program)
        self.space = f'plx-{os.getpid()}-{secrets.token_hex(3)}'
        close_at_the_end(self.close)
        subprocess.run(['ip', 'netns', 'add', self.space], check=True)

    def bring(self, program):
        """A copy that users can run who cannot reach the build directory."""
        return shutil.copy(program, self.folder / os.path.basename(program))

    def bring_library(self, library):
        """The same for a shared library, under the name that programs ask for."""
        name = os.path.basename(library).split('.so.')[0]
        os.symlink(self.bring(library), self.folder / f'{name}.so.0')

    def write(self, text):
        path = self.folder / 'polluxd.conf'
        path.write_text(text)
        return path

    def run_folder(self, owner):
        """An empty one."""
        folder = self.folder / 'run'
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o755)
        os.chown(folder, owner, owner)

    def close(self):
        for daemon in self.daemons:
            if daemon.child.poll() is None:
                daemon.child.kill()
                daemon.child.wait()
        subprocess.run(['ip', 'netns', 'del', self.space], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
