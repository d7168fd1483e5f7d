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
from a2aperf.suite.costs import COUNTED, KINDS, Cost, Costs, costs
from a2aperf.suite.duels import Duel, duels
from a2aperf.suite.modes import Modes, modes
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
    per_second: Table | None
    duels: Sequence[Duel]
    modes: Sequence[tuple[str, Duel]]
    """By interconnect."""
    advice: Sequence[Advice]
    undecided: str


@dataclass(frozen=True)
class Outcome:
    """A ranking, what it costs, and what follows."""

    ranking: Ranking
    costs: Costs
    per_second: Costs
    parts: Sequence[Part]
    modes: Modes
    contradictions: Sequence[str]
    doubts: Sequence[str]

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
            *self.modes.notes,
            *self.doubts,
        ]
        if self.costs or self.per_second:
            second = " and for a second of it (1 CPU s/s: one CPU that was busy all the time)"
            told.append(
                "costs are of the timed part, for a gigabyte of payload (1e9 B)"
                f"{second if self.per_second else ''}: CPU time of all ranks, which polling for "
                "messages is part of; context switches of all ranks; interrupts of the fabric's "
                "driver on the nodes, where it has one; softirqs NET_RX and NET_TX of the nodes, "
                "whoever caused them; memory (MB = 1e6 B) is that of the rank that "
                "has most after the point, shared pages included"
            )
        if any("node_cpu" in kinds for of in (self.costs, self.per_second)
               for here in of.values() for kinds in here.values()):  # fmt: skip
            told.append(
                "node CPU is what all CPUs of the nodes were busy with, whoever used them: "
                "processes, these ranks among them, the kernel, interrupts and softirqs; the "
                "kernel counts it in ticks, so that of a short point it is rough"
            )
        if (self.ranking.used.points["nodes"] == 1).all():
            told.append("all ranks were on one node: nothing here is told of a link between nodes")
        return told


def judge(found: Results) -> Outcome:
    """What follows from all launches that say over which interconnect they went."""
    made = ranks.rank(found)
    known = costs(made)
    of_modes = modes(made)
    parts = [
        _part(made, known.per_gb, known.per_second, of_modes, role)
        for role in made.places
        if made.cells(role)
    ]
    of_workloads = [
        (one.key, one.suite, made.used.select(made.used.points["role"].isin(one.roles)))
        for one in workloads.present(made.used)
        if one.suite
    ]
    wrong = [said for _, of, points in of_workloads for said in of.contradictions(points)]
    doubts = [
        f"{key} over {name}: {said}"
        for key, of, points in of_workloads
        for name in made.names
        for said in of.doubts(points.select(ranks.interconnect(points) == name))
    ]
    return Outcome(made, known.per_gb, known.per_second, parts, of_modes, wrong, doubts)


def _part(made: Ranking, known: Costs, per_second: Costs, of_modes: Modes, role: str) -> Part:
    title = workloads.of_role(role).title
    return Part(
        role,
        title.partition(" with {}")[0],
        table(made, known, role),
        per_second_table(made, per_second, role),
        list(duels(made, role)),
        of_modes.of(role),
        list(advice(made, known, role)),
        undecided(made, role),
    )


# In words -----------------------------------------------------------------------------------------


def lines(made: Outcome) -> list[str]:
    """For people."""
    told = [made.heading]
    for part in made.parts:
        told += ["", Bold(part.title), *part.table.lines()]
        if part.per_second:
            told += ["", *part.per_second.lines()]
        told += _sentences(part)
    if made.contradictions:
        told += ["", Bold("contradictions"), *made.contradictions]
    return [*told, *_blank([f"note: {note}" for note in made.notes])]


def _blank(told: list[str]) -> list[str]:
    return ["", *told] if told else []


def _sentences(part: Part) -> list[str]:
    told = []
    if part.duels:
        told += ["", *map(str, part.duels)]
    if part.modes:
        told += ["", *(str(duel) for _, duel in part.modes)]
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
    kinds = _kinds(KINDS, known, role)
    heads = [
        *_places(made, role),
        tables.Column("place"),
        tables.Column(judged.unit),
        tables.Column("95 % interval"),
        tables.Column(f"µs of {judged.repeated or 'the median op'}"),
        tables.Column("launches"),
        *(tables.Column(_head(kind)) for kind in kinds),
    ]
    rows = []
    for cell in made.cells(role):
        for name, one in made.standings[cell].items():
            own = known.get(cell, {}).get(name, {})
            rows.append([*_cells(made, cell, name, one), *(_cost(own.get(k)) for k in kinds)])
    caption = (
        "Place: by what is decided; 1 to 3: undecided, or no different, between these. Rates and "
        "times are geometric means over launches, costs medians."
    )
    return Table(heads, rows, caption)


def per_second_table(made: Ranking, known: Costs, role: str) -> Table | None:
    """What a second of each cell and interconnect costs; None where nothing is known of it."""
    kinds = _kinds(tuple(COUNTED), known, role)
    if not kinds:
        return None
    heads = [*_places(made, role), *(tables.Column(_head(kind, "s")) for kind in kinds)]
    rows = []
    for cell in made.cells(role):
        for name in made.standings[cell]:
            own = known.get(cell, {}).get(name, {})
            rows.append([*_place_cells(cell, name), *(_cost(own.get(kind)) for kind in kinds)])
    caption = (
        "For each second of the timed part, medians over launches: 1 CPU s/s is one CPU that was "
        "busy all the time."
    )
    return Table(heads, rows, caption)


_HEADS: Final = {
    "cpu": "CPU s/{}",
    "node_cpu": "node CPU s/{}",
    "switches": "switches/{}",
    "interrupts": "interrupts/{}",
    "softirqs": "softirqs/{}",
    "resident": "resident MB",
    "locked": "locked MB",
}


def _head(kind: str, by: str = "GB") -> str:
    return _HEADS[kind].format(by)


def _kinds(kinds: Sequence[str], known: Costs, role: str) -> list[str]:
    """Those that are known of any cell."""
    there = {kind for cell, of in known.items() if cell.role == role
             for here in of.values() for kind in here}  # fmt: skip
    return [kind for kind in kinds if kind in there]


def _places(made: Ranking, role: str) -> list[tables.Column]:
    return [
        tables.Column("size"),
        *(tables.Column(name, left=True) for name in made.places[role]),
        tables.Column("interconnect", left=True),
    ]


def _place_cells(cell: Cell, name: str) -> list[tables.Cell]:
    return [
        tables.Cell(size_text(cell.size), str(cell.size)),
        *(tables.Cell(worded(setting, value)) for setting, value in cell.others),
        tables.Cell(name),
    ]


def _cells(made: Ranking, cell: Cell, name: str, one: Standing) -> list[tables.Cell]:
    place = range_text(made.place(cell, name))
    interval = BLANK
    if one.is_interval_told:
        interval = tables.Cell(f"{number_text(one.rate_low)} to {number_text(one.rate_high)}",
                               str(one.rate_low))  # fmt: skip
    return [
        *_place_cells(cell, name),
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
                    name: {
                        **_standing(rank, cell, name),
                        "per_gb": _spent(made.costs, cell, name),
                        "per_second": _spent(made.per_second, cell, name),
                    }
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
        "modes": [
            {"interconnect": name, "setting": duel.setting, "ahead": one.ahead,
             "behind": one.behind, "verdict": _VERDICTS[one.verdict], "sizes": list(one.sizes)}
            for name, duel in part.modes
            for one in duel.stretches
        ],
        "recommendations": [
            {"sizes": list(one.sizes), "leading": list(one.leading), "ahead_of_all": one.is_alone,
             "text": one.text}
            for one in part.advice
        ],
    }  # fmt: skip


def _standing(rank: Ranking, cell: Cell, name: str) -> dict[str, Any]:
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
    }  # fmt: skip


def _spent(known: Costs, cell: Cell, name: str) -> dict[str, Any]:
    return {
        kind: {"median": x.middle, "least": x.least, "most": x.most, "launches": x.launches}
        for kind, x in known.get(cell, {}).get(name, {}).items()
    }


def _known(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
