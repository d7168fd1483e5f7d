# SPDX-License-Identifier: BSD-3-Clause
"""Files that can be made again at any time: figures and pages."""

from __future__ import annotations

from pathlib import Path

from a2aperf import temporary, writer
from a2aperf.errors import InputError


def require_suffix(path: Path, suffixes: tuple[str, ...], what: str, option: str = "-o") -> None:
    """Refuse a name that says another format, and a folder that cannot be written to.

    The suffix also protects results: `-o run.h5` by mistake never overwrites measurements.
    """
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"{path}: {what} is written as {', '.join(suffixes)}; give such a name to {option}"
        )
    writer.require_writable(path, force=True)


def require_no_link(path: Path) -> None:
    """Refuse a link where a file is written in place: anybody may have made it."""
    if path.is_symlink():
        raise InputError(f"{path}: a symbolic link; give the name of the file itself")


def replace(path: Path, data: bytes) -> None:
    """Write under a temporary name in the same folder, then rename: whole or not at all."""
    try:
        with temporary.of(path) as made:
            made.write(data)
            made.rename(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
