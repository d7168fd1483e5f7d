# SPDX-License-Identifier: BSD-3-Clause
"""What of a damaged file can be told from the rest, so that nothing of it is lost.

One flipped bit of a finished file is where its trailer's CRC-32 differs in the way that no other
bit makes it differ. The first 96 bytes are the same in all files but for the length.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from pathlib import Path
from typing import Final

from a2aperf import trailer

_POLYNOMIAL: Final = 0xEDB88320
_TOP: Final = 1 << 31
_STRIDE: Final = 1 << 16
_MOST_BITS: Final = 2**32 - 2
"""Beyond them two bits make one difference."""
_LENGTH_AT: Final = 40
_UNDEFINED: Final = b"\xff" * 8
_BEGINNING: Final = (
    b"\x89HDF\r\n\x1a\n"
    + struct.pack("<8B2H I Q", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0, 0)  # superblock 0, base 0
    + _UNDEFINED
    + struct.pack("<Q", 0)  # the length
    + _UNDEFINED
    + struct.pack("<3Q 2Q", 0, 96, 0, 0, 0)  # the root group stands behind
)


def flipped_bit(path: Path) -> int | None:
    """The one bit (of the file, lowest of each byte first) that was another one when it was whole.

    None where none or several are, or where the file never had a trailer.
    """
    content, last = _parts(path)
    if len(content) + trailer.BYTES >= _MOST_BITS // 8:
        return None
    told = trailer.told(last)
    found = []
    if told is not None and told[1] == len(content) and told[0] != zlib.crc32(content):
        distance = _distance(told[0] ^ zlib.crc32(content), 8 * len(content))
        if distance is not None:
            # Bits go in lowest first: the last one that went in is the highest of the last byte.
            found.append(8 * len(content) - distance)
    right = trailer.text(zlib.crc32(content), len(content))
    differ = int.from_bytes(right, "little") ^ int.from_bytes(last, "little")
    if differ.bit_count() == 1 and len(last) == trailer.BYTES:
        found.append(8 * len(content) + differ.bit_length() - 1)
    return found[0] if len(found) == 1 else None


def _parts(path: Path) -> tuple[bytes | mmap.mmap | memoryview, bytes]:
    """All but the trailer, and what stands in its place."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        if size <= trailer.BYTES:
            return b"", stream.read()
        whole = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    return whole[: size - trailer.BYTES], bytes(whole[size - trailer.BYTES :])


def _distance(difference: int, most: int) -> int | None:
    """Of which bit from the end, the last is 1, the CRC differs so: a discrete logarithm."""
    near: dict[int, int] = {}
    register = 1
    for steps in range(1, _STRIDE + 1):
        register = register >> 1 ^ (_POLYNOMIAL if register & 1 else 0)
        near.setdefault(register, steps)
    back = [_stepped_back(1 << bit, _STRIDE) for bit in range(32)]
    steps = 0
    while difference not in near and steps < most:
        before = 0
        for bit in range(32):
            if difference >> bit & 1:
                before ^= back[bit]
        difference, steps = before, steps + _STRIDE
    if difference not in near:
        return None
    distance = near[difference] + steps
    return distance if distance <= most else None


def _stepped_back(register: int, steps: int) -> int:
    for _ in range(steps):
        top = register & _TOP
        register = ((register ^ _POLYNOMIAL) << 1 | 1) if top else register << 1
    return register


def flip(path: Path, bit: int) -> None:
    """Make it the other one."""
    with path.open("r+b") as stream:
        stream.seek(bit // 8)
        byte = stream.read(1)[0]
        stream.seek(bit // 8)
        stream.write(bytes([byte ^ 1 << bit % 8]))


def begin_anew(path: Path) -> None:
    """Write the first 96 bytes as every results file has them."""
    size = path.stat().st_size
    _, last = _parts(path)
    length = size - trailer.BYTES if trailer.told(last) else size
    with path.open("r+b") as stream:
        stream.write(_BEGINNING)
        stream.seek(_LENGTH_AT)
        stream.write(struct.pack("<Q", length))
