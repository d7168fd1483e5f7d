# SPDX-License-Identifier: BSD-3-Clause
"""What the start of a duration carries of the time that messages took: see `a2aperf stream`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import schema

SAYS: Final = "clock_error"
"""In what a file says of such a time where its program left out what the clocks do not carry."""


@dataclass(frozen=True)
class Timed:
    """A time between moments of different ranks, and the rates that follow from it: columns."""

    time: str
    rates: Sequence[str]


def is_carried(time: Any, clock_error: Any, most_messages: Any) -> Any:
    """Whether a time (ns) is above what the clocks may be off by, and is one for its messages.

    In a nanosecond no rank looks at a message; `most_messages` came to the busiest. NaN is none.
    """
    least = schema.IMPOSSIBLE_NS * np.maximum(most_messages, 1)
    return np.asarray(time, float) > np.maximum(np.nan_to_num(clock_error), least)


def blank(timed: Timed, columns: dict[str, NDArray[Any]], says: str) -> Iterator[str]:
    """Leave out the times of points, and their rates, that are none; `says`: what the file does.

    Gives what is wrong of the file, in words: a program that knew better had left them out, too.
    An older one knew nothing of what its clocks may be off by.
    """
    if not {timed.time, "messages", "ranks", "clock_error", "state"} <= columns.keys():
        return
    time, messages = columns[timed.time], columns["messages"]
    # what a row has of a point that is not measured is half written, and nowhere shown
    there = (time != schema.UNKNOWN) & (columns["state"] != schema.PENDING)
    each = messages // np.maximum(columns["ranks"], 1)  # no less at the busiest
    error = np.nan_to_num(columns["clock_error"])
    is_possible = is_carried(time, 0, each)
    for point in np.flatnonzero(there & ~is_carried(time, error, each)):
        took, off = int(time[point]), float(error[point])
        if SAYS in says or not is_possible[point]:
            yield (
                f"point {point}: {timed.time} is {took} ns with {messages[point]} messages, and "
                f"the clocks may be off by {off:g} ns: such a time means nothing, and no rate is "
                "derived from it"
            )
        columns[timed.time] = _without(columns[timed.time], point, schema.UNKNOWN)
        for name in timed.rates:
            if name in columns:
                columns[name] = _without(columns[name], point, np.nan)


def _without(values: NDArray[Any], point: Any, by: Any) -> NDArray[Any]:
    values = values.copy()
    values[point] = by
    return values
