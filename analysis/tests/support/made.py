# SPDX-License-Identifier: BSD-3-Clause
"""Made-up files: the same one is written once in a run of the tests, and copied from then on."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec

P = ParamSpec("P")
Write = Callable[Concatenate[Path, P], Path]

kept: Path | None = None
"""The folder of those that are written; None: nothing is kept. Processes may share it."""


def once(write: Write[P]) -> Write[P]:
    """Of a function whose file follows from its arguments, and these from what they print as."""

    @wraps(write)
    def copied(path: Path, /, *args: P.args, **kwargs: P.kwargs) -> Path:
        if kept is None:
            return write(path, *args, **kwargs)
        what = f"{write.__module__}.{write.__qualname__}{args}{kwargs}"
        original = kept / f"{hashlib.sha256(what.encode()).hexdigest()}.h5"
        if not original.exists():
            write(original, *args, **kwargs)
        temporary = path.with_name(f".{path.name}.copy")
        shutil.copyfile(original, temporary)
        return temporary.replace(path)  # whoever has the former one open keeps it

    return copied
