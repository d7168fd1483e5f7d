# SPDX-License-Identifier: BSD-3-Clause
"""What interconnects side by side come to, in words and for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2aperf import tables, workloads
from a2aperf.labels import count_text, list_text, number_text, range_text, size_text
from a2aperf.results import Results
from a2aperf.suite import ranking as ranks
from a2aperf.suite.costs import KINDS, Cost, Costs, costs
from a2aperf.suite.duels import Duel, duels
from a2aperf.suite.ranking import Cell, Ranking, Standing, worded
from a2aperf.suite.recommendation import Advice, advice, undecided
from a2aperf.suite.rounds import pairs_of
from a2aperf.tables import BLANK, Table
from a2aperf.terminal import Bold
from a2aperf.visible import json_visible

SCHEMA: Final = "a2aperf interconnects 1"
_VERDICTS: Final = {ranks.AHEAD: "ahead", ranks.BEHIND: "behind", ranks.SAME: "no different",
                    ranks.OPEN: "undecided"}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """What is said of one workload."""

    role: str
    title: str
    table: Table
    duels: Sequence[Duel]
    advice: Sequence[Advice]
    undecided: str


@dataclass(frozen=True)
class Outcome:
    """A ranking, what it costs, and what follows."""

    ranking: Ranking
    costs: Costs
    parts: Sequence[Part]
    contradictions: Sequence[str]

    @property
    def heading(self) -> str:
        """Who, from how much, at which error."""
        names = self.ranking.names
        launches = [one.launches for here in self.ranking.standings.values()
                    for one in here.values()]  # fmt: skip
        return (
            f"{list_text(names, 12)} side by side: {range_text(launches)} launches of each "
            f"workload over each; 5 % error for all claims together "
            f"({count_text(pairs_of(len(names)), 'pair')}), no different: within "
            f"±{100 * ranks.MARGIN:g} %"
        )

    @property
    def notes(self) -> list[str]:
        """What is to be known beside it."""
        told = [
            "places, and what is ahead, are by the times (µs); a rate over the whole time also "
            "counts what was slow",
            *self.ranking.notes,
        ]
        if self.costs:
            told.append(
                "costs are of the timed part, for a gigabyte of payload (1e9 B): CPU time of all "
                "ranks, which polling for messages is part of; context switches of all ranks; "
                "softirqs NET_RX and NET_TX of the nodes, whoever caused them; memory (MB = 1e6 B) "
                "is that of the rank that has most after the point, shared pages included"
            )
        if (self.ranking.used.points["nodes"] == 1).all():
            told.append("all ranks were on one node: nothing here is told of a link between nodes")
        return told


def judge(found: Results) -> Outcome:
    """What follows from all launches that say over which interconnect they went."""
    made = ranks.rank(found)
    known = costs(made)
    parts = [_part(made, known, role) for role in made.places if made.cells(role)]
    wrong = [
        said
        for one in workloads.present(made.used)
        if one.suite
        for said in one.suite.contradictions(
            made.used.select(made.used.points["role"].isin(one.roles))
        )
    ]
    return Outcome(made, known, parts, wrong)


def _part(made: Ranking, known: Costs, role: str) -> Part:
    title = workloads.of_role(role).title
    return Part(
        role,
        title.partition(" with {}")[0],
        table(made, known, role),
        list(duels(made, role)),
        list(advice(made, known, role)),
        undecided(made, role),
    )


# In words -----------------------------------------------------------------------------------------


def lines(made: Outcome) -> list[str]:
    """For people."""
    told = [made.heading]
    for part in made.parts:
        told += ["", Bold(part.title), *part.table.lines(), *_sentences(part)]
    if made.contradictions:
        told += ["", Bold("contradictions"), *made.contradictions]
    return [*told, *_blank([f"note: {note}" for note in made.notes])]


def _blank(told: list[str]) -> list[str]:
    return ["", *told] if told else []


def _sentences(part: Part) -> list[str]:
    told = []
    if part.duels:
        told += ["", *map(str, part.duels)]
    if part.advice or part.undecided:
        told.append("")
    told += [f"take at {one.text}" if one.is_alone else f"at {one.text}" for one in part.advice]
    return told + ([f"at {part.undecided}"] if part.undecided else [])


def sentences(part: Part) -> list[str]:
    """The same for a page."""
    return [one for one in _sentences(part) if one]


def table(made: Ranking, known: Costs, role: str) -> Table:
    """A row for each cell and interconnect: its place, its speed, its cost."""
    judged = made.judged[role]
    kinds = [kind for kind in KINDS
             if any(kind in of.get(name, {}) for cell, of in known.items() if cell.role == role
                    for name in of)]  # fmt: skip
    heads = [
        tables.Column("size"),
        *(tables.Column(name, left=True) for name in made.places[role]),
        tables.Column("interconnect", left=True),
        tables.Column("place"),
        tables.Column(judged.unit),
        tables.Column("95 % interval"),
        tables.Column(f"µs of {judged.repeated or 'the median op'}"),
        tables.Column("launches"),
        *(tables.Column(_HEADS[kind]) for kind in kinds),
    ]
    rows = []
    for cell in made.cells(role):
        for name, one in made.standings[cell].items():
            own = known.get(cell, {}).get(name, {})
            rows.append([*_cells(made, cell, name, one), *(_cost(own.get(k)) for k in kinds)])
    caption = (
        "Place: by what is decided; 1 to 3 is undecided between these. Rates and times are "
        "geometric means over launches, costs medians."
    )
    return Table(heads, rows, caption)


_HEADS: Final = {
    "cpu": "CPU s/GB",
    "switches": "switches/GB",
    "softirqs": "softirqs/GB",
    "resident": "resident MB",
    "locked": "locked MB",
}


def _cells(made: Ranking, cell: Cell, name: str, one: Standing) -> list[tables.Cell]:
    place = range_text(made.place(cell, name))
    interval = BLANK
    if not math.isnan(one.rate_low):
        interval = tables.Cell(f"{number_text(one.rate_low)} to {number_text(one.rate_high)}",
                               str(one.rate_low))  # fmt: skip
    return [
        tables.Cell(size_text(cell.size), str(cell.size)),
        *(tables.Cell(worded(name, value)) for name, value in cell.others),
        tables.Cell(name),
        tables.Cell(place, str(made.place(cell, name)[0])),
        _number(one.rate),
        interval,
        _number(one.time / 1000),
        tables.Cell(str(one.launches)),
    ]


def _number(value: float) -> tables.Cell:
    return BLANK if math.isnan(value) else tables.Cell(number_text(value), str(value))


def _cost(cost: Cost | None) -> tables.Cell:
    return BLANK if cost is None else tables.Cell(number_text(cost.middle, 2), str(cost.middle))


# For machines -------------------------------------------------------------------------------------


def as_json(made: Outcome) -> str:
    """Everything."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "interconnects": list(made.ranking.names),
        "workloads": [_plain(made, part) for part in made.parts],
        "contradictions": list(made.contradictions),
        "notes": made.notes,
    }
    return json_visible(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))


def _plain(made: Outcome, part: Part) -> dict[str, Any]:
    rank = made.ranking
    return {
        "role": part.role,
        "rate_unit": rank.judged[part.role].unit,
        "cells": [
            {
                "message_size": cell.size,
                **{name: _known(value) for name, value in cell.others},
                "interconnects": {
                    name: _standing(rank, cell, name, made.costs.get(cell, {}).get(name, {}))
                    for name in rank.standings[cell]
                },
            }
            for cell in rank.cells(part.role)
        ],
        "crossovers": [
            {"between": [one.stretches[0].ahead, one.stretches[0].behind], "sizes": list(sizes),
             "setting": one.setting}
            for one in part.duels
            for sizes in one.crossings
        ],
        "recommendations": [
            {"sizes": list(one.sizes), "leading": list(one.leading), "ahead_of_all": one.is_alone,
             "text": one.text}
            for one in part.advice
        ],
    }  # fmt: skip


def _standing(rank: Ranking, cell: Cell, name: str, costs: dict[str, Cost]) -> dict[str, Any]:
    one = rank.standings[cell][name]
    best, worst = rank.place(cell, name)
    return {
        "launches": one.launches,
        "best_place": best,
        "worst_place": worst,
        "time_ns": _known(one.time),
        "rate": _known(one.rate),
        "rate_low": _known(one.rate_low),
        "rate_high": _known(one.rate_high),
        "against": {
            other: {"verdict": _VERDICTS[x.verdict], "ratio": _known(x.ratio), "low": _known(x.low),
                    "high": _known(x.high)}
            for other, x in one.against.items()
        },
        "per_gb": {
            kind: {"median": x.middle, "least": x.least, "most": x.most, "launches": x.launches}
            for kind, x in costs.items()
        },
    }  # fmt: skip


def _known(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
