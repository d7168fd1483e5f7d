# SPDX-License-Identifier: BSD-3-Clause
"""Samples of points, read when they are asked for and kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray

from a2aperf import reading
from a2aperf.asking import ask

MOST: Final = 256 * 1024**2
"""Bytes that are kept: hundreds of points of hundreds of ranks."""

Found = NDArray[Any] | None


class SampleReader:
    """Several findings and figures look at the same point: each dataset of it is read once.

    What was used longest ago goes first; no more than `most` bytes are kept. The arrays are the
    same for all who ask, and read-only.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most, self._bytes = most, 0
        self._kept: OrderedDict[tuple[Path, int, str], Found] = OrderedDict()

    def read(
        self, path: Path, point: int, names: Sequence[str], attempts: int, ranks: int
    ) -> dict[str, Found]:
        """Samples of these names [attempts, R] or [attempts]; None for what the file has not."""
        known = {
            name: self._kept[path, point, name]
            for name in names
            if (path, point, name) in self._kept
        }
        missing = [name for name in names if name not in known]
        if missing:
            known |= ask(path, reading.read_samples, missing, point, attempts, ranks)
        for name in names:
            self._keep((path, point, name), known[name])
        return known

    def _keep(self, key: tuple[Path, int, str], found: Found) -> None:
        if key not in self._kept:
            self._bytes += _bytes(found)
            if found is not None:
                found.setflags(write=False)
        self._kept[key] = found
        self._kept.move_to_end(key)
        while self._bytes > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _bytes(oldest)


def _bytes(found: Found) -> int:
    return 0 if found is None else found.nbytes
