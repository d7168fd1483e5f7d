# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes, one with the lower half of the ranks: every pair of halves crosses their link."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf.deferred import pandas as pd
from a2aperf.labels import list_text, number_text, size_text
from a2aperf.launch import Launch
from a2aperf.results import Results

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
