# SPDX-License-Identifier: BSD-3-Clause
"""A comparison in words and figures, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import pandas as pd

from a2a import power
from a2a.columns import aligned
from a2a.compare import Comparison, Verdict
from a2a.differences import shortened

_HEADINGS = {"message_size": "msg B", "window": "window"}
_ALWAYS = ("ranks", "nodes", "ppn", "message_size")
_UNKNOWN = "-"


def lines(comparison: Comparison) -> list[str]:
    """Heading, one line per cell, the sum in words, and what else to know."""
    return [
        *heading(comparison),
        "",
        *table(comparison.cells),
        "",
        *summary(comparison),
        *_notes(comparison),
    ]


def heading(comparison: Comparison) -> list[str]:
    """Who is compared with whom, on how many launches, at which error level."""
    cells = comparison.cells
    launches = [_range(cells[f"launches_{side}"]) for side in ("candidate", "baseline")]
    together = f" for all {len(cells)} cells together" if len(cells) > 1 else ""
    tested = (
        f"launches: {launches[0]} against {launches[1]}, "
        f"permutation test, {comparison.arrangements} permutations within "
        f"{comparison.blocks} block{'s' * (comparison.blocks > 1)}; "
        f"5 % error{together}; margin ±{_percent(comparison.margin)}"
    )
    return [f"{comparison.candidate}  against  {comparison.baseline} (baseline)", tested]


def _range(values: pd.Series[int]) -> str:
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def table(cells: pd.DataFrame) -> list[str]:
    """One line per cell; columns that tell no cells apart are left out."""
    names = [
        name
        for name in cells.columns[: cells.columns.get_loc("launches_baseline")]
        if name in _ALWAYS or cells[name].nunique(dropna=False) > 1
    ]
    figures = [
        "n",
        "µs",
        "baseline µs",
        "Gbit/s",
        "effect",
        "ratio",
        "95 % interval",
        "p",
        "verdict",
    ]
    rows = [[_HEADINGS.get(name, name) for name in names] + figures]
    for _, cell in cells.iterrows():
        rows.append([_plain(cell[name]) for name in names] + _figures(cell))
    left = [not pd.api.types.is_numeric_dtype(cells[name]) for name in names]
    return aligned(rows, [*left, *[False] * 7, False, True])


def _figures(cell: Any) -> list[str]:
    interval = _UNKNOWN
    if pd.notna(cell["ratio_low"]):
        interval = f"{cell['ratio_low']:.3f} to {cell['ratio_high']:.3f}"
    return [
        f"{cell['launches_candidate']}:{cell['launches_baseline']}",
        f"{cell['time_candidate'] / 1e3:.2f}",
        f"{cell['time_baseline'] / 1e3:.2f}",
        f"{cell['rate_candidate']:.2f}",
        f"{cell['rate_candidate'] - cell['rate_baseline']:+.2f}",
        f"{cell['ratio']:.3f}",
        interval,
        _probability(cell["p"]),
        words(cell),
    ]


def _probability(p: float) -> str:
    if pd.isna(p):
        return _UNKNOWN
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def _plain(value: Any) -> str:
    if pd.isna(value) or value == "":
        return _UNKNOWN
    return f"{value:g}" if isinstance(value, float) else str(value)


def words(cell: Any) -> str:
    """The verdict on one cell: `faster by 4.2 %`, `undecided: 14 launches a side needed`."""
    verdict = cell["verdict"]
    if verdict == Verdict.FASTER:
        return f"faster by {_percent(cell['ratio'] - 1)}"
    if verdict == Verdict.SLOWER:
        return f"slower by {_percent(1 - cell['ratio'])}"
    if verdict == Verdict.SAME:
        return "no difference"
    few = min(cell["launches_baseline"], cell["launches_candidate"]) < power.FEWEST
    why = "too few launches" if few else "undecided"
    needed = cell["launches_needed"]
    if pd.isna(needed):
        return f"{why}: more than {power.MOST} a side needed"
    about = "at least" if few and pd.isna(cell["p"]) else "about"
    return f"{why}: {about} {needed} a side needed"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _span(shares: pd.Series[float]) -> str:
    """`4.1 % to 8.0 %`, or the one figure."""
    return " to ".join(dict.fromkeys(_percent(share) for share in (shares.min(), shares.max())))


def summary(comparison: Comparison) -> list[str]:
    """One line per verdict that occurs, with its range."""
    cells, told = comparison.cells, []
    for verdict in (Verdict.SLOWER, Verdict.FASTER, Verdict.SAME, Verdict.UNDECIDED):
        mine = cells[cells["verdict"] == verdict]
        if mine.empty:
            continue
        text = f"{verdict}: {len(mine)} of {len(cells)} cells"
        change = (mine["ratio"] - 1).abs()
        if verdict in (Verdict.SLOWER, Verdict.FASTER):
            effect = (mine["rate_candidate"] - mine["rate_baseline"]).abs()
            text += f", by {_span(change)}"
            text += f", up to {effect.max():.2f} Gbit/s {_per(comparison.rate)}"
        elif verdict == Verdict.SAME:
            text += f" within ±{_percent(comparison.margin)}"
        told.append(text)
    found = cells["detectable"].dropna()
    if len(found):
        told.append(f"minimum detectable effect (90% power): {_span(found)}")
    return told


def _per(rate: str) -> str:
    where = {"gbps_node_net": "per node (network)", "gbps_node_total": "per node (in all)"}
    return where.get(rate, "per rank")


def _notes(comparison: Comparison) -> list[str]:
    told = [f"note: {note}" for note in comparison.notes]
    between = comparison.differences.between
    if between:
        told += ["", "What else was recorded and differs:"]
        rows = [["", "candidate", "baseline"]]
        rows += [[x.name, shortened(x.candidate), shortened(x.baseline)] for x in between]
        told += ["  " + line for line in aligned(rows, [True] * 3)]
    elif not told:
        told.append("nothing else that was recorded differs between the sides")
    if comparison.differences.every_launch:
        names = _without_launchers(comparison.differences.every_launch)
        told += wrap(f"changes with every launch: {', '.join(names)}", 100, subsequent_indent="  ")
    return told


def _without_launchers(names: Sequence[str]) -> list[str]:
    """The names, with the many that MPI's launcher sets for itself as one."""
    own = [name for name in names if name.startswith(("variable OMPI_", "variable PMIX_"))]
    told = [name for name in names if name not in own]
    return told + ([f"{len(own)} variables of MPI's launcher"] if own else [])


def effects(named: Mapping[str, Sequence[Comparison]]) -> list[str]:
    """The factorial table: each setting's effect while the others are held."""
    rows = [["setting", "against", "cells", *Verdict, "least ratio", "median", "largest"]]
    for comparisons in named.values():
        for one in comparisons:
            counts = one.cells["verdict"].value_counts()
            ratios = one.cells["ratio"]
            rows.append(
                [
                    one.candidate,
                    one.baseline,
                    str(len(one.cells)),
                    *(str(counts.get(verdict, 0)) for verdict in Verdict),
                    *(f"{x:.3f}" for x in (ratios.min(), ratios.median(), ratios.max())),
                ]
            )
    return aligned(rows, [True, True, *[False] * (len(rows[0]) - 2)])
