# SPDX-License-Identifier: BSD-3-Clause
"""Where the credits bind a stream: a window then takes a round trip, however large it is.

The rate is window / round trip there. So windows that take the same time tell the round trip of
the sender's loop (message out, credit back; in mode read two trips), and how many messages under
way the highest rate that was seen needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, listed, percent, us
from a2aperf.labels import count_text, number_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import alike, streams

_SAME: Final = 0.1
"""Windows whose times differ by no more take the same time."""
_APART: Final = 2.0
"""Times the smallest window that the largest of those has at least: less is within chance."""


@dataclass(frozen=True)
class Bound:
    """At one size: the windows that credits bind, and what the highest rate needs."""

    size: int
    least: int
    most: int
    trip: float  # ns
    rate: float  # messages/s of one stream, the highest of any window

    @property
    def needed(self) -> float:
        """Messages under way that cover the round trip at the highest rate."""
        return self.rate * self.trip / 1e9


def find(found: Results) -> list[Finding]:
    """Of each setting that has several windows: where they all take the same time."""
    settings, _ = alike.by_buffers(found)
    several = [(of, one) for of in settings if len(of) > 1 and (one := _streams(of))]
    told = [finding for of, together in several for finding in _told(of, together)]
    if several and not told:
        text = (
            "credits are not seen to bind: the smallest window and one at least "
            f"{_APART:g} times as large nowhere take the same time, within {percent(_SAME)}"
        )
        return [Finding("credits", text, "all", len(several), "settings", abstains=True)]
    return told


def bound(rate: pd.Series[float], size: int) -> Bound | None:
    """By the messages/s of one stream at each window; None where credits bind no two windows."""
    known = rate[rate > 0].sort_index()
    if len(known) < 2:
        return None
    times = [int(str(window)) * 1e9 / value for window, value in known.items()]
    count = next(
        (i for i, time in enumerate(times) if abs(time / times[0] - 1) > _SAME), len(times)
    )
    least, most = int(known.index[0]), int(known.index[count - 1])
    if most < _APART * least:
        return None
    trip = float(pd.Series(times[:count]).median())
    highest = float(known.max())
    return Bound(size, least, most, trip, highest)


def _streams(of: alike.Alike) -> int | None:
    return streams.together(pd.concat([table.rows for ones in of.values() for table in ones]))


def _told(of: alike.Alike, together: int) -> list[Finding]:
    windows = sorted(of)
    rates = pd.DataFrame({window: alike.rates(of[window]) for window in windows})
    seen = [
        one
        for size, row in rates.iterrows()
        if (one := bound(row.dropna() / together, int(str(size))))
    ]
    if not seen:
        return []
    first = of[windows[0]][0]
    where = (
        f"mode {first.mode}{f', {first.others}' if first.others else ''}, windows {listed(windows)}"
    )
    launches = max(alike.launches(ones) for ones in of.values())
    n, unit = (launches, "launches") if launches > 1 else (len(rates), "sizes")
    trips = "two round trips" if first.mode == "read" else "a round trip"
    parts = [
        f"{size_text(one.size)} {us(one.trip)} (windows {one.least} to {one.most}), and "
        f"{number_text(one.rate / 1e6)} million messages/s need {number_text(one.needed, 2)}"
        for one in seen
    ]
    of_each = f" of each of {count_text(together, 'stream')}" if together > 1 else ""
    text = (
        f"credits bind{of_each} where a window takes {trips}, whatever it is: "
        f"{'; '.join(parts)} messages under way"
    )
    numbers = {
        name: value
        for one in seen
        for name, value in (
            (f"round trip at {one.size} B", one.trip),
            (f"window needed at {one.size} B", one.needed),
            (f"largest bound window at {one.size} B", one.most),
        )
    }
    return [Finding("credits", text, where, n, unit, float(len(seen)), numbers)]
