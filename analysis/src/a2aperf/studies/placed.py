# SPDX-License-Identifier: BSD-3-Clause
"""Files of a plan in the folder of its study, which go again where nothing comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from a2aperf import output
from a2aperf.errors import InputError


@dataclass(frozen=True)
class Placed:
    """What was not there before: files, and the folder last."""

    fresh: tuple[Path, ...]

    def undo(self) -> None:
        """Takes away what was written, where nothing came of it."""
        for path in self.fresh:
            if not path.is_dir():
                path.unlink(missing_ok=True)
            elif not any(path.iterdir()):
                path.rmdir()


def place(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Writes these files, by name; what of them, and of the folder, was not there.

    InputError where the folder cannot be made.
    """
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    fresh = [folder / name for name in texts if not (folder / name).exists()]
    for name, text in texts.items():
        output.replace(folder / name, text.encode())
    return (*fresh, folder) if is_new else tuple(fresh)
