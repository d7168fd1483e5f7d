# SPDX-License-Identifier: BSD-3-Clause
"""Has what may be damaged read by a process of its own: HDF5 itself can crash on it.

One process serves for all files, and another one takes its place when it has died. Threads that
call at a time have one each.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from a2aperf.errors import InputError

PATIENCE_S = 600
"""Silence after which it is ended, and a second more for each MB of the file that it reads."""
PATIENCE_CPU_S = 60
"""The same of CPU time, which tells an HDF5 that goes around in a damaged file from a slow disk."""
_END_S = 10
"""For a process to go that was killed; one that waits for a disk may stay."""
LEAST_MEMORY = 4 << 30
"""Bytes of address space that it may use, and so many more for each of the file's, which may be
compressed: a damaged length would have it fill the machine's."""
_MEMORY_PER_BYTE = 64
_SINGLE = {"OPENBLAS_NUM_THREADS": "1"}
"""It reads, and threads for algebra take a while to start."""

_FROM_OUTSIDE: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""No file makes a process send these to itself."""

_SIZE = struct.Struct("<Q")
"""Before each message, its length."""
Progress = Callable[[int, int], None]
_Message = tuple[str, Any]
"""`done` (how much, of how much), `returned` (what), `refused`, `raised` (the words); and from us
`died`, `killed`, `silent`."""


class _Reader:
    """The other process, from our side: one call at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-c", "from a2aperf.isolated import serve; serve()"]
        # It finds what this one finds, however that came about.
        where = filter(None, [os.environ.get("PYTHONPATH"), *sys.path])
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_SINGLE, "PYTHONPATH": os.pathsep.join(where)},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._is_stopped = False

    def call(self, request: bytes, progress: Progress | None, patience_s: float) -> _Message:
        """Its last message on this request, or how it died."""
        try:
            self._to.write(request)
            self._to.flush()
            while True:
                message = self._receive(patience_s)
                if message[0] != "done":
                    return message
                if progress:
                    progress(*message[1])
        except TimeoutError:
            return "silent", f"says nothing for {patience_s:.0f} s and is ended"
        except (OSError, EOFError, pickle.UnpicklingError):
            return self._death()

    def _death(self) -> _Message:
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            return "died", "computes without coming to an end and is ended"
        if -status in _FROM_OUTSIDE:
            memory = ", as where memory runs out" if status == -signal.SIGKILL else ""
            return "killed", f"was ended by {signal.Signals(-status).name}{memory}"
        if status < 0:
            return "died", f"dies of {signal.Signals(-status).name}"
        return "died", f"ends, status {status}"

    def _receive(self, patience_s: float) -> _Message:
        (size,) = _SIZE.unpack(self._bytes(_SIZE.size, patience_s))
        message: _Message = pickle.loads(self._bytes(size, patience_s))
        return message

    def _bytes(self, count: int, patience_s: float) -> bytes:
        """The next of them; TimeoutError where none comes for so long."""
        got = bytearray()
        pipe = self._from.fileno()
        ready = select.poll()
        ready.register(pipe, select.POLLIN)
        while len(got) < count:
            if not ready.poll(patience_s * 1000):
                raise TimeoutError
            part = os.read(pipe, min(count - len(got), 1 << 20))
            if not part:
                raise EOFError
            got += part
        return bytes(got)

    def end(self) -> None:
        """Let it go; it reads nothing now."""
        try:
            for pipe in (self._from, self._to):
                pipe.close()
        finally:  # a broken pipe, of what it had not read
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)

    def stop(self) -> None:
        """End it in the middle of a call, which another thread waits for."""
        self._is_stopped = True  # its end may come later
        self._process.kill()

    def is_there(self) -> bool:
        """Whether it can be called: who did not call it may have ended it, too."""
        return not self._is_stopped and self._process.poll() is None

    def kill(self) -> None:
        """End it in the middle of a call, or bury it."""
        self.stop()
        with suppress(BrokenPipeError):
            self.end()


_lock = threading.Lock()
_idle: dict[int, list[_Reader]] = {}
"""Of this process; one that was forked has a number of its own, and none yet."""
_called: dict[int, dict[_Reader, int]] = {}
"""The others, with the thread that waits for one."""
_is_here = False


def is_here() -> bool:
    """Whether this process reads what may be damaged by itself."""
    return _is_here


def stay_here() -> None:
    """From now on it does: the other process, or one that may die."""
    global _is_here
    _is_here = True


def call(
    path: Path, function: Callable[..., Any], *arguments: Any, progress: Progress | None = None
) -> Any:
    """What a function of a module returns there, who reads that file.

    It gets `progress` as an argument of that name where one is given. InputError where it raised
    one, and where that process died of the file.
    """
    size = _bytes_of(path)
    memory = LEAST_MEMORY + _MEMORY_PER_BYTE * size
    limits = memory, int(PATIENCE_CPU_S + size / 1e6)
    request = pickle.dumps((_folder(), limits, function, arguments, progress is not None))
    reader = _taken(path)
    what, said = "", None
    try:
        what, said = reader.call(request, progress, PATIENCE_S + size / 1e6)
    finally:
        _give_back(
            reader, what not in ("", "died", "killed", "silent")
        )  # nothing: we were interrupted
    if what == "refused":
        raise InputError(said)
    if what == "killed":
        raise InputError(f"{path}: not read: the process that reads it {said}")
    if what == "silent":
        raise InputError(f"{path}: damaged, or its disk does not answer: whoever reads it {said}")
    if what != "returned":
        raise InputError(f"{path}: damaged: whoever reads it {said}")
    return said


def _folder() -> str:
    """Where names are looked up that begin nowhere; the other process goes there, too."""
    with suppress(OSError):  # it was removed
        return str(Path.cwd())
    return ""


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # which reading it will tell
        return 0


def _taken(path: Path) -> _Reader:
    """One that nobody else calls, the last that was used; InputError where none can be started."""
    reader = _last_idle()
    try:
        reader = reader or _Reader()
    except OSError as error:
        said = f"cannot be read: no process can be started for it ({error.strerror})"
        raise InputError(f"{path}: {said}") from None
    with _lock:
        _called.setdefault(os.getpid(), {})[reader] = threading.get_ident()
    return reader


def _last_idle() -> _Reader | None:
    with _lock:
        idle = _idle.get(os.getpid(), [])
        while idle:
            reader = idle.pop()
            if reader.is_there():
                return reader
            reader.kill()
    return None


def _give_back(reader: _Reader, is_well: bool) -> None:
    with _lock:
        del _called[os.getpid()][reader]
        is_well = is_well and reader.is_there()
        if is_well:
            _idle.setdefault(os.getpid(), []).append(reader)
    if not is_well:
        reader.kill()


def stop(threads: Collection[int]) -> None:
    """Nobody waits for what these threads have called any more (`get_ident`): the calls end now."""
    with _lock:
        for reader, thread in _called.get(os.getpid(), {}).items():
            if thread in threads:
                reader.stop()


@atexit.register
def end() -> None:
    """Let the other processes go that nobody calls; the next call starts one."""
    with _lock:
        for reader in _idle.pop(os.getpid(), []):
            reader.end()


def serve() -> None:
    """The other side, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks decides
    stay_here()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            folder, (memory, cpu_s), function, arguments, wants_progress = pickle.load(asked)
        except EOFError:
            return
        limit(resource.RLIMIT_AS, memory)
        _limit_cpu(cpu_s)

        def tell_progress(*done: int, cpu_s: int = cpu_s) -> None:
            _limit_cpu(cpu_s)
            _tell(answers, "done", done)

        with suppress(OSError):  # whoever reads a name there says so
            os.chdir(folder)
        others = {"progress": tell_progress} if wants_progress else {}
        try:
            _tell(answers, "returned", function(*arguments, **others))
        except InputError as error:
            _tell(answers, "refused", str(error))
        except Exception as error:
            _tell(answers, "raised", f"ends with '{type(error).__name__}: {error}'")


def _limit_cpu(seconds: int) -> None:
    """From now on; SIGXCPU ends this process where it takes more."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + seconds)


def limit(kind: int, most: int) -> None:
    """Of this process; who started it may have allowed less."""
    hard = resource.getrlimit(kind)[1]
    with suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))


def _tell(answers: IO[bytes], what: str, said: Any) -> None:
    message = pickle.dumps((what, said), pickle.HIGHEST_PROTOCOL)
    answers.write(_SIZE.pack(len(message)) + message)
    answers.flush()
