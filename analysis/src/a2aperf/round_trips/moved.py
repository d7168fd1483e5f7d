# SPDX-License-Identifier: BSD-3-Clause
"""What round trips have moved while their counters counted."""

from __future__ import annotations

from typing import Any, Final

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.moved import Moved
from a2aperf.results import Results

_OPEN_AT_MOST: Final = 0.01


def moved(found: Results, row: pd.Series[Any]) -> Moved:
    """A request and an answer for each round trip.

    At the end of a time some requests have no answer yet: there must be few of them.
    """
    trips = row.get("round_trips")
    if pd.isna(trips):
        return Moved()
    trips = int(trips)
    if row["stop_rule"] != "ops":
        places = _places(found, row)
        if places is None or places > _OPEN_AT_MOST * trips:
            return Moved()
    answer = int(row["message_size"])
    request = row.get("request_size")  # where it is none of the columns, as long as its answer
    each = answer + (answer if pd.isna(request) else int(request))
    return Moved.in_both(2 * trips, trips * each)


def _places(found: Results, row: pd.Series[Any]) -> int | None:
    """Requests that may be under way, of all clients."""
    column = found.own_columns(str(row["file"])).get("trip_places")
    if column is None:
        return None
    places = found.own(str(row["file"]), int(row["point"]), column)
    return None if (places == schema.NO_MOMENT).any() else int(places.sum())
