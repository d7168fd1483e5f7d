# SPDX-License-Identifier: BSD-3-Clause
"""Files that the user names: regular ones are read, never one that makes its reader wait.

A pipe without a writer, a device or a socket may stand at any name.
"""

import errno
import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from a2aperf.errors import InputError

MOST = 64 << 20
"""Bytes of a text that are read: what other programs print of a launch is a thousandth of it."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def is_file(path: Path) -> bool:
    """Whether a regular file stands there; OSError where that cannot be found out."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False


def require_once(paths: Sequence[Path], what: str) -> None:
    """InputError where a file is named twice, also by a link: what it has would count twice."""
    resolved = [os.path.realpath(path) for path in paths]
    count = Counter(resolved)
    for path, where in zip(paths, resolved, strict=True):
        if count[where] > 1:
            raise InputError(f"{path}: given twice; its {what} would count twice")


def require_file(path: Path) -> None:
    """InputError where no results file can stand there, or nobody can find out."""
    try:
        is_there = is_file(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not is_there:
        kind = other_kind(path)
        what = f"is {kind}, not a results file" if kind else "no such file"
        raise InputError(f"{path}: {what}")


def other_kind(path: Path) -> str:
    """What stands there that is no regular file; empty for one, and where there is nothing."""
    try:
        return _other_kind(path.stat().st_mode)
    except (OSError, ValueError):
        return ""


def read_text(path: Path, errors: str = "strict") -> str:
    """The whole text of a regular file, without a byte order mark.

    OSError for anything else, or a larger one.
    """
    return read_bytes(path).decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path) -> bytes:
    """All of a regular file as it stands; OSError as of `read_text`."""
    _require_regular(path, path.stat().st_mode)  # before it is opened, which may act
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        _require_regular(path, os.fstat(stream.fileno()).st_mode)
        found = stream.read(MOST + 1)
    if len(found) > MOST:
        words = f"more than the {MOST >> 20} MiB that are read"
        raise OSError(errno.EFBIG, words, str(path))
    return found


def _other_kind(mode: int) -> str:
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "")


def _require_regular(path: Path, mode: int) -> None:
    if kind := _other_kind(mode):
        raise OSError(errno.EINVAL, f"{kind}, not a file", str(path))
