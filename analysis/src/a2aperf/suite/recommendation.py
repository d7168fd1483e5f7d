# SPDX-License-Identifier: BSD-3-Clause
"""Which interconnect to take for a range of sizes, and what that rests on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from a2aperf.labels import count_text, list_text, number_text, range_text, size_text
from a2aperf.suite.costs import Costs
from a2aperf.suite.ranking import AHEAD, BEHIND, SAME, Cell, Ranking, Standing


@dataclass(frozen=True)
class Advice:
    """For neighbouring sizes of a role: those that nobody is ahead of, where others are behind."""

    role: str
    sizes: tuple[int, ...]
    leading: tuple[str, ...]
    is_alone: bool
    """One, and ahead of every other."""
    text: str


def advice(ranking: Ranking, costs: Costs, role: str) -> Iterator[Advice]:
    """In the order of sizes; nothing where nobody is behind. Sizes together have the same ones."""
    for _, group in itertools.groupby(ranking.cells(role), key=lambda cell: cell.others):
        for (leading, is_alone, here), run in itertools.groupby(
            group, key=lambda cell: _leading(ranking.standings[cell])
        ):
            cells = list(run)
            if len(leading) < len(here):
                sizes = tuple(cell.size for cell in cells)
                text = _text(ranking, costs, cells, leading, is_alone)
                yield Advice(role, sizes, leading, is_alone, text)


def _leading(here: dict[str, Standing]) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    """Those that nobody is ahead of, whether it is one that is ahead of all, and all there are."""
    leading = tuple(name for name, one in here.items() if not one.count(BEHIND))
    is_alone = len(leading) == 1 and here[leading[0]].count(AHEAD) == len(here) - 1
    return leading, is_alone, tuple(here)


def _text(
    ranking: Ranking, costs: Costs, cells: Sequence[Cell], leading: tuple[str, ...], is_alone: bool
) -> str:
    spans = sorted({cells[0].size, cells[-1].size})
    where = " to ".join(size_text(size) for size in spans)
    said = f"{', '.join(filter(None, (where, cells[0].setting)))}: {list_text(leading)}"
    if is_alone:
        said += f", ahead of every other, {_least(ranking, cells, leading[0])}"
    else:
        said += _among(ranking, cells, leading)
    launches = [one.launches for cell in cells for one in ranking.standings[cell].values()]
    rests = f"rests on {range_text(launches)} launches of each"
    return f"{said}; {rests}{_cost(costs, cells, leading)}"


def _least(ranking: Ranking, cells: Sequence[Cell], name: str) -> str:
    """By how much where it is least, which is an estimate, and the lowest end of an interval."""
    against = [one for cell in cells for one in ranking.standings[cell][name].against.values()]
    ratio, low = min(one.ratio for one in against), min(one.low for one in against)
    told = f"by {100 * (ratio - 1):.0f} % where it is least"
    return told if math.isnan(low) else f"{told} (intervals from {100 * (low - 1):.0f} %)"


def _among(ranking: Ranking, cells: Sequence[Cell], leading: tuple[str, ...]) -> str:
    """What is known of several that nobody is ahead of."""
    here = [ranking.standings[cell] for cell in cells]
    behind = [name for name in here[0] if name not in leading]
    verb = "is" if len(behind) == 1 else "are"
    if len(leading) == 1:
        return f", which none is ahead of ({list_text(behind)} {verb} behind another)"
    told = f" ({list_text(behind)} {verb} behind one of them at least)"
    verdicts = {one[a].against[b].verdict for one in here
                for a, b in itertools.combinations(leading, 2) if b in one[a].against}  # fmt: skip
    return f", no different{told}" if verdicts == {SAME} else f", undecided among them{told}"


def _cost(costs: Costs, cells: Sequence[Cell], leading: Sequence[str]) -> str:
    """CPU time of those that lead, as far as it is known."""
    told = []
    for name in leading:
        known = [costs.get(cell, {}).get(name, {}).get("cpu") for cell in cells]
        seconds = [one.middle for one in known if one is not None]
        if len(seconds) == len(cells):
            span = dict.fromkeys(number_text(end, 2) for end in (min(seconds), max(seconds)))
            told.append(f"{name} {' to '.join(span)} CPU s/GB")
    return f"; {', '.join(told)}" if told else ""


def undecided(ranking: Ranking, role: str) -> str:
    """Sizes at which nobody is behind, in words; empty for none."""
    open_ = [cell for cell in ranking.cells(role)
             if not any(one.count(BEHIND) for one in ranking.standings[cell].values())]  # fmt: skip
    if not open_:
        return ""
    sizes = list_text(
        [", ".join(filter(None, (size_text(cell.size), cell.setting))) for cell in open_], 8
    )
    return f"{sizes}: nobody is decided to be behind ({count_text(len(open_), 'cell')})"
