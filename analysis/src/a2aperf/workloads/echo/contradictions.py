# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be true of round trips."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf import halves
from a2aperf.labels import count_text, number_text, size_text
from a2aperf.results import Results

_ROUNDING = 1.001


def contradictions(found: Results) -> Iterator[str]:
    """No round trip is shorter than its bytes take on the link, where every pair crosses it.

    A round trip takes its place for no less than the shortest time: rate × that is no more. That
    holds whatever the times are. Where the pairs are halves, their number is known.
    """
    points = found.points
    if "echo_pairs" not in points:
        return
    of_halves = points[points["echo_pairs"] == halves.ASKED]
    yield from halves.above_link(found, of_halves)
    both = of_halves["message_size"] + of_halves["request_size"].fillna(0)
    yield from halves.before_link(found, of_halves, both)
    for _, row in of_halves.iterrows():
        places = int(row["outstanding"]) * (int(row["ranks"]) // 2)
        least = float(row["trip_rate"]) * float(row["time_min"]) / 1e9
        if least > places * _ROUNDING:
            yield (
                f"{row['launch']}: at {size_text(row['message_size'])} rate × shortest round trip "
                f"is {number_text(least)}, and {count_text(places, 'request')} may be under way"
            )
