# SPDX-License-Identifier: BSD-3-Clause
"""What a point of interference has of its victims' times."""

from __future__ import annotations

from typing import Any, Final

from a2aperf.deferred import pandas as pd
from a2aperf.results import Results
from a2aperf.sample_columns import SampleColumn
from a2aperf.workloads.interference import impact
from a2aperf.workloads.interference.impact import Alternation

TIME: Final = "victim_time"
_NAMES: Final = (TIME, "sample_phase", "sample_kind")


def columns(found: Results, file: str) -> dict[str, SampleColumn]:
    """The columns of samples that the file has, by their names of today."""
    named = dict(found.own_columns(file))
    if TIME not in named and "round_trip" in named:  # as it was called while all were these
        named[TIME] = named["round_trip"]
    return named


def alternations(found: Results, row: pd.Series[Any]) -> list[Alternation] | None:
    """The times of each phase; None where the file lacks them."""
    file, point = str(row["file"]), int(row["point"])
    named = columns(found, file)
    if any(name not in named for name in _NAMES):
        return None
    trips, phases, kinds = (found.own(file, point, named[name]) for name in _NAMES)
    return impact.alternations(trips, phases, kinds, int(row["alternations"]))
