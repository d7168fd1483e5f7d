# SPDX-License-Identifier: BSD-3-Clause
"""In which order a figure has its settings: that of their values, and not that of the files.

So colours, panels and what is left out of many do not depend on the order of a command's arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from a2aperf import filters, grouping, labels
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results

PLACE: Final = "setting_place"
"""Column of `with_settings`."""

_Key = tuple[int, float, list[tuple[int, int, str]]]


def with_settings(
    results: Results,
    points: pd.DataFrame,
    by: Sequence[str] = (),
    axes: Sequence[str] = (),
    scaled: bool = False,
) -> pd.DataFrame:
    """The points with their `setting` in words (`grouping.setting_labels`) and its place.

    `scaled`: ranks and nodes, where they differ, are of the setting (`grouping.with_scale`).
    """
    named = grouping.setting_labels(results, points, by, axes)
    ranks = [
        _ranks(results, points, name) for name in grouping.setting_names(results, points, by, axes)
    ]
    if scaled:
        named = grouping.with_scale(points, named)
        ranks += [points[scale].fillna(0).astype(int).tolist() for scale in ("nodes", "ranks")]
    keys = list(zip(*ranks, strict=True)) if ranks else [()] * len(points)
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    found = points.assign(setting=named)
    found[PLACE] = [places[key] for key in keys]
    return found


def in_order(points: pd.DataFrame) -> list[Hashable]:
    """The distinct settings of the points; those of one place as they first come."""
    each = points.drop_duplicates("setting")
    return list(each.sort_values(PLACE, kind="stable")["setting"])


def _ranks(results: Results, points: pd.DataFrame, name: str) -> list[int]:
    """By value; unknown and not set first. Words of a column as they first come: as asked for."""
    values = grouping.asked_values(results, name).loc[points.index]
    distinct = list(dict.fromkeys(None if _is_absent(value) else value for value in values))
    of_column = name in grouping.CHOICES or name in results.choices
    if not (of_column and any(isinstance(value, str) for value in distinct)):
        distinct.sort(key=_window_key if name == "window" else _key)
    ranks = {value: rank for rank, value in enumerate(distinct, 1)} | {None: 0}
    return [ranks[None if _is_absent(value) else value] for value in values]


def _is_absent(value: Any) -> bool:
    return bool(pd.isna(value)) or value == ""


def _key(value: Any) -> _Key:
    if value is None:
        return 0, 0.0, []
    size = filters.size(str(value))
    if size is not None:
        return 1, size, []
    if isinstance(value, str):
        return 2, 0.0, labels.natural(value)
    return 1, float(value), []


def _window_key(value: Any) -> _Key:
    """Of `grouping.asked_windows`: messages, bytes, all."""
    if value is None:
        return 0, 0.0, []
    return (3, 0.0, []) if value == 0 else (1 if value > 0 else 2, abs(float(value)), [])
