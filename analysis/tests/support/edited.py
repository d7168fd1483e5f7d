# SPDX-License-Identifier: BSD-3-Clause
"""Changes a file as if it had been written so: what is wrong of it then is no damage."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import h5py

from a2aperf import sealing, strict, trailer


@contextmanager
def edited(path: Path) -> Iterator[h5py.File]:
    with h5py.File(path, "r+") as file:
        yield file
        # of a file that lacks what it must have there is nothing to seal
        with suppress(
            KeyError, ValueError, TypeError, AttributeError, OSError, IndexError, MemoryError
        ):
            sealing.seal(file)
        finished = strict.text(file.attrs.get("layout", "")) == "compact"
    if finished:
        trailer.append(path)
