# SPDX-License-Identifier: BSD-3-Clause
"""An axis of dates: ticks at round times, as many as have room, from seconds to years."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from a2aperf import labels
from a2aperf.chart import Axis
from a2aperf.deferred import pandas as pd

_DAY_S: Final = 86_400
_WIDTH: Final = 38  # characters of labels for which a panel has room
_SECONDS: Final = (1, 2, 5, 10, 20, 30)
_MINUTES: Final = (1, 2, 5, 10, 15, 30)
_HOURS: Final = (1, 2, 3, 6, 12)
_DAYS: Final = (1, 2, 7, 14)
_MONTHS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600)
_MONDAY: Final = 4  # 1970-01-05, days since 1970

Ticks = tuple[tuple[float, str], ...]


def axis(days: pd.Series[float], what: str) -> Axis:
    """Of times in days since 1970; `what` begins at them."""
    low, high = float(days.min()), float(days.max())
    begin, end = (datetime.fromtimestamp(day * _DAY_S, UTC) for day in (low, high))
    for ticks, has_date in _choices(low, high, begin, end):
        width = sum(len(text) + 1 for _, text in ticks)
        if len(ticks) > 1 and width <= _WIDTH:
            day = "" if has_date else f" on {labels.date_text(low)}"
            return Axis(f"Start of the {what}{day} (UTC)", ticks=ticks, unit="date")
    ends = tuple((day, labels.date_text(day, hours=True)) for day in dict.fromkeys((low, high)))
    return Axis(f"Start of the {what} (UTC)", ticks=ends, unit="date")


def _choices(
    low: float, high: float, begin: datetime, end: datetime
) -> Iterator[tuple[Ticks, bool]]:
    """Ticks from the finest to the widest, and whether their labels say the date."""
    has_date = begin.date() != end.date()
    date = "%Y-%m-%d " if has_date else ""
    for unit, counts, form in ((1, _SECONDS, "%H:%M:%S"), (60, _MINUTES, "%H:%M"),
                               (3600, _HOURS, "%H:%M")):  # fmt: skip
        for count in counts:
            yield _even(low, high, unit * count / _DAY_S, 0, date + form), has_date
    for count in _DAYS:
        yield _even(low, high, count, _MONDAY if count % 7 == 0 else 0, "%Y-%m-%d"), True
    for count in _MONTHS:
        yield _of_months(low, high, begin, count), True


def _even(low: float, high: float, step: float, origin: float, form: str) -> Ticks:
    first, last = np.ceil((low - origin) / step), np.floor((high - origin) / step)
    if last - first > _WIDTH:
        return ()
    places = [origin + float(n) * step for n in np.arange(first, last + 1)]
    return tuple((place, _text(place, form)) for place in places)


def _text(day: float, form: str) -> str:
    when = datetime.fromtimestamp(day * _DAY_S, UTC) + timedelta(milliseconds=1)
    return when.strftime(form)


def _of_months(low: float, high: float, begin: datetime, count: int) -> Ticks:
    """The first days of every so many months."""
    ticks: list[tuple[float, str]] = []
    month = begin.year * 12 + begin.month - 1
    month -= month % count
    while len(ticks) <= _WIDTH:
        year, of_year = divmod(month, 12)
        if year > datetime.max.year:
            break
        when = datetime(max(year, 1), of_year + 1, 1, tzinfo=UTC)
        place = when.timestamp() / _DAY_S
        if place > high:
            break
        if place >= low:
            ticks.append((place, when.strftime("%Y-%m" if count % 12 else "%Y")))
        month += count
    return tuple(ticks)
