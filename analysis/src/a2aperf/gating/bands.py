# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a comparison in bands of message sizes: a test for each band, not for each size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.labels import size_text
from a2aperf.protocol_changes import PROTOCOL_CHANGES

_EDGES: Final = (8192, 65536)
"""Where nothing is known of the provider."""
_LEAST: Final = 1000  # B: what changes below divides nothing that is measured as a rule
_PLACE: Final = ("ranks", "nodes", "ppn", "message_size")


@dataclass(frozen=True)
class Band:
    """Cells of one scale and setting, of neighbouring sizes."""

    at: str
    cells: NDArray[np.intp]


def edges(provider: str) -> tuple[int, ...]:
    """The first sizes of the middle and the large band: where the provider's protocol changes."""
    for part, changes in PROTOCOL_CHANGES.items():
        known = tuple(default for _, _, default in changes if default >= _LEAST)
        if part in provider and known:
            return known[:2]
    return _EDGES


def at_one(cells: pd.DataFrame, cell: int) -> str:
    """Where a single cell is, as the bands say it."""
    return _band(cells.loc[[cell]], _settings(cells)).at


def of(cells: pd.DataFrame) -> list[Band]:
    """The bands of the cells (`sides.Pairing.cells`), small scales and sizes first."""
    settings = _settings(cells)
    if "provider" in cells:
        limits = [edges(str(provider)) for provider in cells["provider"]]
    else:
        limits = [_EDGES] * len(cells)
    number = [
        int(np.searchsorted(ends, size, side="right"))
        for ends, size in zip(limits, cells["message_size"], strict=True)
    ]
    keys = [name for name in (*_PLACE[:3], *settings) if name in cells]
    groups = cells.assign(band=number).groupby([*keys, "band"], dropna=False, sort=True)
    return [_band(rows, settings) for _, rows in groups]


def _settings(cells: pd.DataFrame) -> list[str]:
    return [
        str(name) for name in cells if name not in _PLACE and cells[name].nunique(dropna=False) > 1
    ]


def _band(rows: pd.DataFrame, settings: list[str]) -> Band:
    first: Any = rows.iloc[0]
    sizes = [size_text(size) for size in (rows["message_size"].min(), rows["message_size"].max())]
    parts = [
        grouping.scale_text(first["ranks"], first["nodes"]),
        " to ".join(dict.fromkeys(sizes)),
        *(f"{name}={first[name]}" for name in settings if pd.notna(first[name])),
    ]
    return Band(", ".join(parts), rows.index.to_numpy(dtype=np.intp))
