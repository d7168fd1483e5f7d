# SPDX-License-Identifier: BSD-3-Clause
"""The last 64 bytes of a finished file: a digest of all before them (docs/file-format.md).

HDF5 takes no notice of bytes behind its end, and whoever changes a file by it cuts them off.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final

BYTES: Final = 64
_AT_ONCE: Final = 1 << 20
_FORM = re.compile(rb"a2aperf digest v1 crc32=([0-9a-f]{8}) bytes=([0-9]{24})\n")
_TRACES = (b"a2aperf digest", b" crc32=", b" bytes=")
"""One of them is left where the trailer itself is damaged, or something stands behind it."""

Identity = tuple[int, int, int, int]
_heeded: ContextVar[bool] = ContextVar("heeded", default=True)


class Trailer(Enum):
    """What a file's own digest says of it."""

    RIGHT = "right"
    """Every byte is as it was written."""
    WRONG = "wrong"
    ABSENT = "absent"
    """Not finished, of an older program, or changed by another one."""


@contextmanager
def unheeded() -> Iterator[None]:
    """For who looks at damage: here no file is refused for a digest or checksum that is wrong."""
    before = _heeded.set(False)
    try:
        yield
    finally:
        _heeded.reset(before)


def is_heeded() -> bool:
    """Whether what is damaged is refused."""
    return _heeded.get()


def identity(path: Path) -> Identity:
    """Another one for another file of that name, and for another content."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def of(path: Path) -> Trailer:
    """Reads the file wholly where it has a trailer, and once as long as it stays the same."""
    return _of(path, identity(path))


@lru_cache(maxsize=1024)
def _of(path: Path, _: Identity) -> Trailer:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - BYTES, 0))
        last = stream.read(BYTES)
        said = told(last)
        if said is None:
            return Trailer.WRONG if any(one in last for one in _TRACES) else Trailer.ABSENT
        crc, before = said
        if before != size - BYTES:
            return Trailer.WRONG
        stream.seek(0)
        right = crc == _crc(stream, size - BYTES)
    return Trailer.RIGHT if right else Trailer.WRONG


def told(last: bytes) -> tuple[int, int] | None:
    """The checksum and the length that the last bytes of a file say; None where they are none."""
    said = _FORM.fullmatch(last)
    return (int(said[1], 16), int(said[2])) if said else None


def _crc(stream: BinaryIO, size: int) -> int:
    """Of the next `size` bytes."""
    crc = 0
    while size and (part := stream.read(min(size, _AT_ONCE))):
        crc = zlib.crc32(part, crc)
        size -= len(part)
    return crc


def text(crc: int, size: int) -> bytes:
    """The trailer behind so many bytes."""
    return f"a2aperf digest v1 crc32={crc:08x} bytes={size:024d}\n".encode()


def append(path: Path) -> None:
    """Put the trailer behind a file that has none."""
    with path.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        crc = _crc(stream, size)
        stream.seek(0, os.SEEK_END)
        stream.write(text(crc, size))
