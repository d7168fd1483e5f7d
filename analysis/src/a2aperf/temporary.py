# SPDX-License-Identifier: BSD-3-Clause
"""Files that are being made beside those whose names they get."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from a2aperf.errors import InputError


@dataclass(frozen=True)
class Temporary:
    """A file that is being made, which whoever may write to its folder can replace by another."""

    name: Path
    handle: int

    @property
    def itself(self) -> Path:
        """The open file, whatever has its name now; HDF5 opens names."""
        own = Path(f"/proc/self/fd/{self.handle}")
        return own if own.exists() else self.name

    def write(self, data: bytes) -> None:
        """All of it, at once."""
        with os.fdopen(self.handle, "wb", closefd=False) as stream:
            stream.write(data)

    def rename(self, path: Path) -> None:
        """Give it its name; OSError where another file has the one that it had."""
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(self.handle, 0o666 & ~mask)  # mkstemp made it private
        if not os.path.samestat(self.name.lstat(), os.fstat(self.handle)):
            raise OSError(errno.ESTALE, f"{self.name.name} is another file by now")
        self.name.replace(path)


@contextmanager
def of(path: Path) -> Iterator[Temporary]:
    """Nobody had it before, nor is it where a link leads; gone in the end, if it has no other name.

    Of what another one has put in its place nothing is removed.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    # Beside the other name as that was given: the whole name may be one of another mount.
    made = Temporary(path.with_name(Path(name).name), handle)
    try:
        yield made
    finally:
        with suppress(FileNotFoundError):
            if os.path.samestat(made.name.lstat(), os.fstat(handle)):
                made.name.unlink()
        os.close(handle)
