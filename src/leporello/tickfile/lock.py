"""One writer at a time: a lock on a small file beside the memory file, held by the system and gone with its process.

The file itself is replaced by every rewrite, so it cannot carry the lock. The lock file is never removed: to remove it
while another program waits for it would let two in.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from leporello.errors import LockedStore

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PAUSE = 0.005


@contextmanager
def locked(path: str, *, timeout: float) -> Iterator[None]:
    """Holds the lock file at `path`. Raises `LockedStore` if another holds it for longer than `timeout` seconds."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        until = time.monotonic() + timeout
        while not _taken(number):
            if time.monotonic() >= until:
                raise LockedStore(f"{path} was held by another program for {timeout:g} s.")
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(number)


def _taken(number: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def wait_for_writers(number: int, *, timeout: float) -> None:
    """Waits until no other program has this file open that was just replaced, so that nothing more can be written into it.

    Linux can tell (a lease is given only then). Elsewhere, and where the file has another name still, it waits a moment.
    """
    if sys.platform != "linux" or os.fstat(number).st_nlink:
        time.sleep(2 * _PAUSE)
        return
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        try:
            # the signal of a broken lease, which would end the process by default, is made one that does nothing
            fcntl.fcntl(number, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(number, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(number, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return
        except BlockingIOError:
            time.sleep(_PAUSE / 5)
        except OSError:
            time.sleep(2 * _PAUSE)
            return
