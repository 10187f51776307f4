# SPDX-License-Identifier: BSD-3-Clause
"""What places of tests with several processes share: how they wait, fail, and are tidied up."""
import atexit
import signal
import sys
import time

PATIENCE = 60  # [s] for anything that ought to happen soon; guests and loaded machines are slow


class Failed(Exception):
    """What the test was for did not come true."""


def wait_for(what, condition, seconds=PATIENCE):
    """Look again and again until it is true; returns what it was."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise Failed(f'not within {seconds} s: {what}')
        time.sleep(0.02)
    return found


def close_at_the_end(close):
    """However this process ends, short of SIGKILL, `close` is called."""
    atexit.register(close)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
