# SPDX-License-Identifier: BSD-3-Clause
"""Whether a launch is still at work on a results file: while it is, it holds a lock there."""

from __future__ import annotations

import contextlib
import enum
import fcntl
import os
import re
import struct
from pathlib import Path
from typing import Final

MARK: Final = 1 << 62
"""The byte, far behind all data, that a launch has locked (docs/file-format.md)."""
_LAYOUT: Final = "hhqqi0q"  # struct flock: type, whence, start, length, process
_MOUNTS: Final = Path("/proc/self/mountinfo")
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")  # blanks and backslashes there
# Whose locks are the kernel's own. Another one may not show those of other nodes, or have none.
_LOCAL: Final = frozenset(
    "bcachefs btrfs ext2 ext3 ext4 f2fs jfs overlay ramfs reiserfs tmpfs xfs zfs".split()
)


class Writer(enum.Enum):
    """Whether somebody writes a file."""

    THERE = enum.auto()
    GONE = enum.auto()
    UNKNOWN = enum.auto()  # no lock is seen, which proves nothing on this file system


NOT_THERE: Final = (Writer.GONE, Writer.UNKNOWN)


def writer_of(path: Path) -> Writer:
    """Asks for the lock, and takes none."""
    held = _is_held(path)
    if held:
        return Writer.THERE
    return Writer.GONE if held is False and _file_system(path) in _LOCAL else Writer.UNKNOWN


def _is_held(path: Path) -> bool | None:
    """None where nothing tells."""
    ask = struct.pack(_LAYOUT, fcntl.F_WRLCK, os.SEEK_SET, MARK, 1, 0)
    with contextlib.suppress(OSError), path.open("rb") as file:
        found = fcntl.fcntl(file, fcntl.F_OFD_GETLK, ask)
        kind, _, start, length, _ = struct.unpack(_LAYOUT, found)
        # Where flock() locks all bytes, a reader's lock is none of a launch.
        return bool(kind != fcntl.F_UNLCK and (start, length) == (MARK, 1))
    return None


def _file_system(path: Path) -> str:
    """Its type; empty = unknown."""
    real = path.resolve()
    best, kind = -1, ""
    with contextlib.suppress(OSError, ValueError):
        for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            fields, _, rest = line.partition(" - ")
            point = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), fields.split()[4]))
            if real.is_relative_to(point) and len(point.parts) >= best:  # the last one is on top
                best, kind = len(point.parts), rest.split()[0]
    return kind
