# SPDX-License-Identifier: BSD-3-Clause
"""The copy that a results file has of all in it but its measurements (docs/file-format.md).

It is found and laid over a damaged file without HDF5, which may not find its way in it.
"""

from __future__ import annotations

import mmap
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from a2aperf import labels, regular

_SECTOR: Final = 4096
_FAR: Final = 1 << 28
"""Bytes from the end of a file in which it is looked for: it is the last part but for a trailer."""
_MOST: Final = 1 << 30
"""Bytes that it may unpack to, and twice those before it: another one could fill the memory."""
_FORM: Final = re.compile(rb"a2aperf skeleton v1 crc32=([0-9a-f]{8}) bytes=([0-9]{22})\n")
_HEADER: Final = 64
_MARK: Final = b"a2aperf skeleton v1"
_PART: Final = struct.Struct("<QQ")
"""Before the bytes of each part, where it begins in the file, and its length."""
_OPEN: Final = (20, 21, 22, 23)
"""HDF5's mark of a file that is open for writing."""

Parts = list[tuple[int, bytes]]
"""Where in the file each begins, and what stands there."""


class DamagedError(Exception):
    """The copy is there, and is not as it was written."""


def of(path: Path) -> Parts | None:
    """The copy; None where there is none. Raises DamagedError."""
    if regular.other_kind(path) or path.stat().st_size == 0:
        return None
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        begun = False
        for place in _places(content):
            begun = True
            parts = _read(content, place)
            if parts is not None:
                return parts
    if begun:
        raise DamagedError
    return None


def is_there(path: Path) -> bool:
    """Whether the file has one, or what is left of one."""
    try:
        return of(path) is not None
    except DamagedError:
        return True
    except OSError:
        return False


def _places(content: mmap.mmap) -> Iterator[int]:
    """Where one begins, or may have begun, the last one first."""
    last = (len(content) - 1) // _SECTOR * _SECTOR
    for place in range(last, max(last - _FAR, -1), -_SECTOR):
        if content[place : place + len(_MARK)] == _MARK:
            yield place


def _read(content: mmap.mmap, place: int) -> Parts | None:
    said = _FORM.fullmatch(content[place : place + _HEADER])
    if said is None:
        return None
    begin = place + _HEADER
    packed = content[begin : begin + int(said[2])]
    if zlib.crc32(packed) != int(said[1], 16):
        return None
    try:
        unpacked = zlib.decompressobj().decompress(packed, min(2 * place, _MOST) + 1)
        parts = list(_parts(unpacked))
    except (zlib.error, struct.error):
        return None
    return parts if all(offset + len(part) <= place for offset, part in parts) else None


def _parts(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        offset, length = _PART.unpack_from(content, at)
        at += _PART.size
        yield offset, content[at : at + length]
        at += length


def changed_bytes(path: Path, parts: Parts) -> int:
    """How many bytes of the file are not what they are in its copy."""
    changed = 0
    with path.open("rb") as stream:
        for offset, content in parts:
            stream.seek(offset)
            there = stream.read(len(content)).ljust(len(content), b"\0")
            if there != content:
                differ = np.frombuffer(there, np.uint8) != np.frombuffer(content, np.uint8)
                changed += int((~np.isin(np.flatnonzero(differ) + offset, _OPEN)).sum())
    return changed


def words(changed: int, verb: str) -> str:
    """What is said of so many of them."""
    count = labels.count_text(changed, "byte")
    return f"its structure, what was asked or who measured {verb} not as it was written ({count})"


def lay(path: Path, parts: Parts) -> None:
    """Over the file: it is as the copy has it again."""
    with path.open("r+b") as stream:
        for offset, content in parts:
            stream.seek(offset)
            stream.write(content)
