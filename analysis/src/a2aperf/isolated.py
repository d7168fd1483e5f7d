# SPDX-License-Identifier: BSD-3-Clause
"""Has what may be damaged read by a process of its own: HDF5 itself can crash on it.

One process serves for all files, and another one takes its place when it has died.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from a2aperf.errors import InputError

_SINGLE = {"OPENBLAS_NUM_THREADS": "1"}
"""It reads, and threads for algebra take a while to start."""

Progress = Callable[[int, int], None]
_Message = tuple[str, Any]
"""`done` (how much, of how much), `returned` (what), `refused` or `raised` (the words)."""


class _Reader:
    """The other process, from our side: one call at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-c", "from a2aperf.isolated import serve; serve()"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_SINGLE},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout

    def call(self, request: bytes, progress: Progress | None) -> _Message:
        """Its last message on this request, or how it died."""
        try:
            self._to.write(request)
            self._to.flush()
            while True:
                message: _Message = pickle.load(self._from)
                if message[0] != "done":
                    return message
                if progress:
                    progress(*message[1])
        except (OSError, EOFError, pickle.UnpicklingError):
            return "died", _death(self._process.wait())

    def end(self) -> None:
        """Let it go; it reads nothing now."""
        for pipe in (self._to, self._from):
            pipe.close()
        self._process.wait()

    def kill(self) -> None:
        """End it in the middle of a call, or bury it."""
        self._process.kill()
        try:
            self.end()
        except BrokenPipeError:  # of what it had not read
            self._process.wait()


def _death(status: int) -> str:
    return f"dies of {signal.Signals(-status).name}" if status < 0 else f"ends, status {status}"


_lock = threading.Lock()
_readers: dict[int, _Reader] = {}
"""Of this process; one that was forked has a number of its own, and none yet."""
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
    request = pickle.dumps((function, arguments, progress is not None))
    with _lock:
        if os.getpid() not in _readers:
            _readers[os.getpid()] = _started(path)
        reader = _readers[os.getpid()]
        what, said = "", None
        try:
            what, said = reader.call(request, progress)
        finally:
            if what in ("", "died"):  # nothing: we were interrupted
                del _readers[os.getpid()]
                reader.kill()
    if what == "refused":
        raise InputError(said)
    if what != "returned":
        raise InputError(f"{path}: damaged: whoever reads it {said}")
    return said


def _started(path: Path) -> _Reader:
    try:
        return _Reader()
    except OSError as error:
        said = f"cannot be read: no process can be started for it ({error.strerror})"
        raise InputError(f"{path}: {said}") from None


@atexit.register
def end() -> None:
    """Let the other process go; the next call starts one."""
    with _lock:
        reader = _readers.pop(os.getpid(), None)
        if reader:
            reader.end()


def serve() -> None:
    """The other side, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks decides
    stay_here()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            function, arguments, wants_progress = pickle.load(asked)
        except EOFError:
            return
        others = {"progress": lambda *done: _tell(answers, "done", done)} if wants_progress else {}
        try:
            _tell(answers, "returned", function(*arguments, **others))
        except InputError as error:
            _tell(answers, "refused", str(error))
        except Exception as error:
            _tell(answers, "raised", f"ends with '{type(error).__name__}: {error}'")


def _tell(answers: IO[bytes], what: str, said: Any) -> None:
    answers.write(pickle.dumps((what, said), pickle.HIGHEST_PROTOCOL))
    answers.flush()
