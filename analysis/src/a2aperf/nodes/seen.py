# SPDX-License-Identifier: BSD-3-Clause
"""What each launch of a study says of its nodes: how far each is from the others, by its points."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.nodes import exchange, lateness
from a2aperf.nodes.lateness import Lateness
from a2aperf.oversubscription import oversubscription
from a2aperf.results import Results

Floats = NDArray[np.float64]
Side = Literal["late", "early"]
SIDES: Final[tuple[Side, ...]] = ("late", "early")
Cell = tuple[int, int]
"""Ranks and message size."""
Cells = dict[Cell, list[tuple[Lateness, float, float]]]
"""With each point the median op time and what the clocks err by at most, ns."""


@dataclass(frozen=True)
class Seen:
    """What one launch says of its nodes: `places` is alike where its ranks lie alike.

    `place` of each node is that in the arrays; `scores` say how far out each is, all points
    together, and `far` who is so beyond what a launch of equal nodes has 5 % of them.
    """

    launch: str
    sync: str
    places: Hashable
    place: dict[str, int]
    cells: Cells
    scores: dict[Side, Floats]
    far: dict[Side, NDArray[np.bool_]]

    @classmethod
    def of(cls, facts: Launch, cells: Cells) -> Seen:
        """The launch, by its points."""
        scores = {side: _score(cells, side) for side in SIDES}
        far = {side: exchange.far_out(scores[side]) for side in SIDES}
        place = {name: at for at, name in enumerate(facts.nodes)}
        return cls(
            facts.id, str(facts.attributes.get("sync")), _places(facts), place, cells, scores, far
        )


def _score(cells: Cells, side: Side) -> Floats:
    every = [getattr(one, side) for of in cells.values() for one, _, _ in of]
    mean = np.mean([exchange.standardised(one) for one in every], axis=0)
    return exchange.standardised(mean)


def of_launches(found: Results) -> tuple[list[Seen], Counter[str]]:
    """What launches say; and how many say nothing, by the reason."""
    told: list[Seen] = []
    left_out: Counter[str] = Counter()
    points = found.points
    for launch, rows in points[points["engine"] == "a2aperf"].groupby("launch"):
        facts = found.launches[str(launch)]
        if why := _unfit(facts, rows):
            left_out[why] += 1
            continue
        cells: dict[Cell, list[tuple[Lateness, float, float]]] = defaultdict(list)
        for _, row in _on_a_clock(rows).iterrows():
            raw = found.raw(str(row["file"]), int(row["point"]))
            typical, error = float(row["time_p50"]), float(row["clock_error"])
            if raw.valid.any() and typical > 0:
                of = lateness.of_point(raw, facts.node_of_rank, typical)
                cells[int(row["ranks"]), int(row["message_size"])].append((of, typical, error))
        if cells:
            told.append(Seen.of(facts, dict(cells)))
    return told, left_out


def _on_a_clock(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["has_raw"] & rows["last_rank"].notna()]


def _unfit(facts: Launch, rows: pd.DataFrame) -> str:
    """Why nothing can be said of its nodes; empty where it can."""
    counts = np.bincount(facts.node_of_rank, minlength=len(facts.nodes))
    if len(facts.nodes) < exchange.FEWEST:
        return f"on fewer than {exchange.FEWEST} nodes"
    if len(set(counts.tolist())) > 1 or (rows["ranks"] != counts.sum()).any():
        return "whose nodes have not equally many ranks"
    if oversubscription(facts):
        return "that are oversubscribed"
    return "" if len(_on_a_clock(rows)) else "without samples on a common clock"


def _places(facts: Launch) -> Hashable:
    """The same of launches in which a node may hold the same ranks.

    Those that shuffle none have each node where it always is, on however many nodes.
    """
    if int(facts.attributes.get("shuffle_ranks", 0)) != 1:
        return None
    return int(facts.attributes.get("seed", 0)), len(facts.node_of_rank), len(facts.nodes)
