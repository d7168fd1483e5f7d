# SPDX-License-Identifier: BSD-3-Clause
"""Which points of streams a figure draws, and what it says of their sample."""

from __future__ import annotations

from collections.abc import Sequence

from a2aperf import curves, labels, setting_order
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.stream import streams

ROLES = ("stream",)


def points(
    results: Results, options: Options, axes: Sequence[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Complete points with a size and a rate, and notes on what is left out.

    Of pauses of the receiver the figures know nothing: such points are drawn where `by` has
    `free_delay`. Adds `setting`, which columns that are `axes` tell nothing of.
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
    chosen = setting_order.with_settings(found, found.points, options.by, axes, scaled=True)
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


def panels(
    points: pd.DataFrame, options: Options, quantities: Sequence[str]
) -> tuple[list[tuple[str, str, pd.DataFrame]], tuple[str, ...]]:
    """Setting, quantity and points of each panel, and a note on settings without one.

    Of each setting there is a panel of every quantity, or of the one that is asked for (`what`).
    """
    asked = [str(options.own["what"])] if options.own.get("what") else quantities
    settings = setting_order.in_order(points)
    most = most_settings(options, quantities)
    found = [
        (str(name), quantity, points[points["setting"] == name])
        for name in settings[:most]
        for quantity in asked
    ]
    return found, curves.fitting(len(settings), most, "settings")


def most_settings(options: Options, quantities: Sequence[str]) -> int:
    """For how many settings there are panels."""
    return curves.MOST_PANELS // (1 if options.own.get("what") else len(quantities))


def sample(
    drawn: pd.DataFrame, place: Sequence[str], spread: str = "bars: their range"
) -> tuple[str, ...]:
    """What a mark stands for, and what its bar (`spread`); one launch has no interval."""
    notes = []
    if "messages" in drawn and drawn["messages"].notna().any():
        counts = drawn["messages"].dropna()
        span = labels.range_text(int(n) for n in (counts.min(), counts.max()))
        notes.append(f"{span} messages per point")
    at_once = streams.at_once(drawn)
    if at_once:
        notes.append(f"rates are of all {at_once} of a point together")
    groups = drawn.groupby(list(place), dropna=False)
    many = groups["point"].size()
    if many.max() > 1:
        what = "launches" if (groups["launch"].nunique() == many).all() else "points"
        n = f"n\u00a0=\u00a0{labels.range_text(many)} {what}"
        notes.append(f"{n}: their median, {spread}")
    else:
        alone = "how much launches differ is not known"
        notes.append(f"n\u00a0=\u00a01 launch, so no interval: {alone}")
    return tuple(notes)
