# SPDX-License-Identifier: BSD-3-Clause
"""Which points of streams a figure draws, and what it says of their sample."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from a2aperf import curves, grouping, labels
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.results import Results

ROLES = ("stream",)


def points(results: Results, options: Options) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Complete points with a size and a rate, and notes on what is left out.

    Of pauses of the receiver the figures know nothing: such points are drawn where `by` has
    `free_delay`. Adds `setting`.
    """
    found = results.complete(ROLES)
    left_out = []
    if "free_delay" in found.points and "free_delay" not in options.by:
        paused = (found.points["free_delay"] > 0).fillna(False).astype(bool)
        if paused.all():
            raise InputError("the receiver pauses at every point here; --by free_delay draws them")
        if paused.any():
            many = labels.count_text(int(paused.sum()), "point")
            left_out.append(f"{many} whose receiver pauses not drawn (--by free_delay draws them)")
            found = found.select(~paused)
    chosen = found.points.assign(setting=grouping.setting_labels(found, found.points, options.by))
    if (chosen["message_size"] == 0).any():
        left_out.append(curves.NO_PLACE)
        chosen = chosen[chosen["message_size"] > 0]
    unknown = chosen["gbps"].isna() | chosen["msg_rate"].isna()
    if unknown.any():
        left_out.append(f"{labels.count_text(int(unknown.sum()), 'point')} without a rate")
        chosen = chosen[~unknown]
    if chosen.empty:
        raise InputError(f"nothing to draw: {'; '.join(left_out)}")
    return chosen, tuple(left_out)


def sample(drawn: pd.DataFrame, place: Sequence[str]) -> tuple[str, ...]:
    """n, and what bars are; a stream that is there once has no interval."""
    notes = []
    if "messages" in drawn and drawn["messages"].notna().any():
        counts = drawn["messages"].dropna()
        span = labels.range_text(int(n) for n in (counts.min(), counts.max()))
        notes.append(f"n\u00a0=\u00a0{span} messages per point")
    many = drawn.groupby(list(place), dropna=False)["point"].size()
    if many.max() > 1:
        notes.append(f"median of {labels.range_text(many)} streams, bars: their range")
    else:
        notes.append("one stream each, so no interval: how much they differ is not known")
    return tuple(notes)
