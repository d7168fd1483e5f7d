# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a file that take no disk space: most of what a launch leaves that was killed."""

import errno
import os
from pathlib import Path
from typing import Final

_AT_ONCE: Final = 1 << 24


def copy(source: Path, target: Path) -> None:
    """Into an empty file, which has the same ones."""
    with source.open("rb") as there, target.open("r+b") as here:
        size, at = there.seek(0, os.SEEK_END), 0
        here.truncate(size)
        while at < size:
            try:
                begin = os.lseek(there.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                return  # nothing but a hole is left
            at = os.lseek(there.fileno(), begin, os.SEEK_HOLE)
            there.seek(begin)
            here.seek(begin)
            while begin < at and (part := there.read(min(at - begin, _AT_ONCE))):
                begin += here.write(part)
