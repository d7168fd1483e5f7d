# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes, one with the lower half of the ranks: every pair of halves crosses their link."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf.deferred import pandas as pd
from a2aperf.labels import list_text, number_text, size_text
from a2aperf.launch import Launch
from a2aperf.results import Results

_ROUNDING = 1.001

ASKED = "halves"
"""As `--pairs` has it: rank r of the lower half with r + R/2."""


def are_apart(launch: Launch) -> bool:
    """Whether the lower half of the ranks is on one node, and the upper half on another."""
    of = list(launch.node_of_rank)
    half = len(of) // 2
    if half < 1 or len(of) % 2:
        return False
    lower, upper = set(of[:half]), set(of[half:])
    return len(lower) == len(upper) == 1 and lower != upper


def above_link(found: Results, points: pd.DataFrame) -> Iterator[str]:
    """Points whose `gbps` is more than the link between two such nodes carries, by launch."""
    apart = {key for key, one in found.launches.items() if are_apart(one)}
    limit = points["link_rate_gbps"] * points["rails"].astype("Float64").fillna(1)
    is_above = (points["gbps"] > limit).fillna(False).astype(bool)
    above = points[points["launch"].isin(list(apart)) & is_above]
    for launch, rows in above.groupby("launch", sort=False):
        worst = rows.sort_values("gbps").iloc[-1]
        sizes = list_text([size_text(size) for size in rows["message_size"]], 4)
        yield (
            f"{launch}: {number_text(float(worst['gbps']))} Gbit/s from one node to the other at "
            f"{size_text(worst['message_size'])}, above the recorded link rate of "
            f"{number_text(float(limit.loc[rows.index].max()))} Gbit/s ({sizes})"
        )


def before_link(found: Results, points: pd.DataFrame, payload: pd.Series[float]) -> Iterator[str]:
    """Points whose shortest round trip is less than that link needs for `payload`, by launch.

    An answer begins when all of its request is there, so that every byte of both passes after the
    one before it. Where the rate was stated nothing is said: a link that is shaped to it lets a
    message through that has not used it for a while.
    """
    known = {
        key for key, one in found.launches.items() if are_apart(one) and not one.has_stated_link
    }
    limit = points["link_rate_gbps"] * points["rails"].astype("Float64").fillna(1)
    timed = points.assign(limit=limit, needed=payload.astype("Float64") * 8 / limit)
    is_below = (timed["time_min"] * _ROUNDING < timed["needed"]).fillna(False).astype(bool)
    below = timed[timed["launch"].isin(list(known)) & is_below]
    for launch, rows in below.groupby("launch", sort=False):
        worst = rows.assign(off=rows["needed"] / rows["time_min"]).sort_values("off").iloc[-1]
        sizes = list_text([size_text(size) for size in rows["message_size"]], 4)
        yield (
            f"{launch}: a round trip of {number_text(float(worst['time_min']) / 1e3)} µs at "
            f"{size_text(worst['message_size'])}, and the recorded link rate of "
            f"{number_text(float(worst['limit']))} Gbit/s needs "
            f"{number_text(float(worst['needed']) / 1e3)} µs to pass request and answer ({sizes})"
        )
