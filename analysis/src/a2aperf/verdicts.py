# SPDX-License-Identifier: BSD-3-Clause
"""A comparison in words and figures, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any

from a2aperf import jobs, labels, layouts, power
from a2aperf.compare import Comparison, Verdict
from a2aperf.deferred import pandas as pd
from a2aperf.differences import apart
from a2aperf.tables import UNKNOWN, Column, Table, aligned

_ALWAYS = ("ranks", "nodes", "ppn", "message_size")
_FAR = 0.1
"""Of the speed: a change to less, or to more than its inverse, is told by what is left of it."""


def lines(comparison: Comparison) -> list[str]:
    """Heading, one line per cell, the sum in words, and what else to know."""
    return [
        *heading(comparison),
        "",
        *table(comparison).lines(),
        "",
        *summary(comparison),
        *_notes(comparison),
        "",
        *closing(comparison),
    ]


def heading(comparison: Comparison) -> list[str]:
    """Who is A and who B, on how many launches, at which error level; oversubscribed ones first."""
    return [
        *comparison.oversubscribed,
        f"A (baseline): {comparison.baseline}",
        f"B:            {comparison.candidate}",
        rests_on(comparison),
        "ratio: speed of B / speed of A, above 1 is faster; "
        f"{comparison.judged.unit}, {comparison.judged.origin}"
        + (f"; µs of {comparison.judged.repeated}" if comparison.judged.repeated else ""),
    ]


def rests_on(comparison: Comparison) -> str:
    """The launches, the test and its error level."""
    cells = comparison.cells
    sides = [
        f"{_counted(comparison, side)} of {name}{_in_all(comparison, side, total)}"
        for side, name, total in zip(
            ("baseline", "candidate"), ("A", "B"), comparison.launches, strict=True
        )
    ]
    together = f" for all {len(cells)} cells together" if len(cells) > 1 else ""
    if comparison.arrangements:
        blocks = f"{comparison.blocks} block{'s' * (comparison.blocks > 1)}"
        how = f"permutation test, {comparison.arrangements} permutations within {blocks}"
    else:
        of = labels.plural_of(comparison.unit)
        how = f"prediction from the spread between the {of} of A (at least {jobs.FEWEST}), "
        how += "which may be like the one before"
    margin = f"margin ±{_percent(comparison.margin)}"
    tested = (
        f"{how}; {100 * comparison.level:g} % error{together}"
        if cells["p"].notna().any()
        else "no test"
    )
    return f"{', '.join(sides)}; {tested}; {margin}"


def _in_all(comparison: Comparison, side: str, total: int) -> str:
    """Where no cell has all launches of a side."""
    most = int(comparison.cells[f"launches_{side}"].max())
    in_all = labels.count_text(total, "launch", "launches")
    return f" in a cell ({in_all} in all)" if total > most else ""


def _counted(comparison: Comparison, side: str) -> str:
    """`8 launches`, or `2 to 3 jobs (16 launches)`, in a cell."""
    launches = _range(comparison.cells[f"launches_{side}"])
    text = f"{launches} launch{'es' * (launches != '1')}"
    if comparison.unit == "launch":
        return text
    count = _range(comparison.cells[f"{labels.plural_of(comparison.unit)}_{side}"])
    return f"{count} {comparison.unit}{'s' * (count != '1')} ({text})"


def _range(values: pd.Series[int]) -> str:
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def table(comparison: Comparison, caption: str = "") -> Table:
    """One row per cell; columns that tell no cells apart are left out."""
    cells = comparison.cells
    names = [
        name
        for name in cells.columns[: cells.columns.get_loc("launches_baseline")]
        if name in _ALWAYS or cells[name].nunique(dropna=False) > 1
    ]
    left = [not pd.api.types.is_numeric_dtype(cells[name]) for name in names]
    own = [replace(layouts.shown(n), left=x) for n, x in zip(names, left, strict=True)]
    return Table.of([*own, *_figures(comparison.level)], cells, caption)


def _interval(cell: Any) -> str:
    low, high = cell["ratio_low"], cell["ratio_high"]
    if pd.isna(low):
        return UNKNOWN
    least = _ratio(low) if low >= 1e-6 else "less than 0.000001"
    return f"{least} to {_ratio(high) if high < 1000 else 'more than 1000'}"


def _ratio(ratio: float) -> str:
    """Three decimals, and three figures of what is far below 1."""
    return f"{ratio:.3f}" if ratio >= _FAR else labels.number_text(ratio)


def interval(level: float) -> str:
    """`95 % interval`, of an error of 5 %."""
    return f"{100 * (1 - level):g} % interval"


def _rate(gbps: float) -> str:
    return f"{gbps:.2f}" if gbps >= 1 else labels.number_text(gbps)


def _amount(gbps: float) -> str:
    """Of a difference of rates, which may be far below 1."""
    return f"{gbps:.2f}" if abs(gbps) >= 1 else labels.number_text(gbps, 2)


def _step(gbps: float) -> str:
    return UNKNOWN if pd.isna(gbps) else ("+" if gbps > 0 else "") + _amount(gbps)


def _probability(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def words(cell: Any) -> str:
    """The verdict on one cell: `faster by 4.2 %`, `slower: 0.0123 times the speed`, `undecided`."""
    verdict, ratio = cell["verdict"], cell["ratio"]
    if verdict in (Verdict.FASTER, Verdict.SLOWER) and not _FAR <= ratio <= 1 / _FAR:
        return f"{verdict}: {_ratio(ratio)} times the speed"
    if verdict == Verdict.FASTER:
        return f"faster by {_percent(cell['ratio'] - 1)}"
    if verdict == Verdict.SLOWER:
        return f"slower by {_percent(1 - cell['ratio'])}"
    return str(verdict)


def _figures(level: float) -> tuple[Column, ...]:
    """Their columns; the interval is named by its error."""
    return (
        Column("n A:B", lambda x: f"{x['launches_baseline']}:{x['launches_candidate']}"),
        Column("A Gbit/s", _rate, of="rate_baseline"),
        Column("B Gbit/s", _rate, of="rate_candidate"),
        Column("B - A", lambda x: _step(x["rate_candidate"] - x["rate_baseline"])),
        Column("A µs", layouts.microseconds, of="time_baseline"),
        Column("B µs", layouts.microseconds, of="time_candidate"),
        replace(layouts.SHOWN["ratio"], write=_ratio, of="ratio"),
        Column(interval(level), _interval, by="ratio_low"),
        Column("p", _probability, of="p"),
        Column("verdict", words, left=True),
    )


def _percent(share: float) -> str:
    if 0.9995 <= share < 1:  # all of it, where it is a loss
        return "more than 99.9 %"
    return f"{100 * share:.1f} %" if share < 10 else "more than 1000 %"


def _span(shares: pd.Series[float]) -> str:
    """`4.1 % to 8.0 %`, or the one figure."""
    return " to ".join(dict.fromkeys(_percent(share) for share in (shares.min(), shares.max())))


def summary(comparison: Comparison) -> list[str]:
    """What is known, one line per verdict that occurs, with its range."""
    cells, told = comparison.cells, []
    for verdict in (Verdict.SLOWER, Verdict.FASTER, Verdict.SAME, Verdict.UNDECIDED):
        mine = cells[cells["verdict"] == verdict]
        if mine.empty:
            continue
        text = f"{verdict}: {len(mine)} of {labels.count_text(len(cells), 'cell')}"
        change = (mine["ratio"] - 1).abs()
        if verdict in (Verdict.SLOWER, Verdict.FASTER):
            effect = (mine["rate_candidate"] - mine["rate_baseline"]).abs()
            text += f", by {_span(change)}, up to {_amount(effect.max())} {comparison.judged.unit}"
        elif verdict == Verdict.SAME:
            text += f" within ±{_percent(comparison.margin)}"
        told.append(text)
    return told


def closing(comparison: Comparison) -> list[str]:
    """Why it isn't decided, what change could have been seen, and what it would take."""
    cells, told = comparison.cells, []
    unit = labels.plural_of(comparison.unit)
    if comparison.reason:
        told.append(f"not decided: {comparison.reason}")
    elif (cells["verdict"] == Verdict.UNDECIDED).any() and cells["spread"].notna().any():
        why = f"{unit} of one side differ by {_span(cells['spread'].dropna())}"
        told.append(f"not decided: {'; '.join([why, *comparison.doubts])}")
    rest = [doubt for doubt in comparison.doubts if doubt not in comparison.oversubscribed]
    if rest and not told:
        told.append("; ".join(rest))
    found = cells["detectable"].dropna()
    if len(found):
        told.append(f"minimum detectable effect (90% power): {_span(found)}")
    one, every = comparison.margins
    if one == one:
        text = f"smallest margin that can show no difference (80% power): {_percent(one)}"
        more = f", {_percent(every)} for each of {len(cells)} cells" if len(cells) > 1 else ""
        told.append(f"{text} for one cell{more}" if more else text)
    if len(found):  # from fewer units nobody knows how far they differ: a note tells the least
        told.append(f"{unit} a side needed (90% power): {_needed(comparison.needed)}")
    return told


def _needed(needed: Mapping[float, int | None]) -> str:
    """`37 for a change of 2 %, 8 for 5 %, 5 for 10 %`."""
    counts = [f"more than {power.MOST}" if k is None else str(k) for k in needed.values()]
    words = [f"{k} for {100 * change:g} %" for k, change in zip(counts, needed, strict=True)]
    return ", ".join([words[0].replace("for ", "for a change of "), *words[1:]])


def _notes(comparison: Comparison) -> list[str]:
    told = [f"note: {note}" for note in comparison.notes]
    between = comparison.differences.between
    if between:
        told += ["", "What else was recorded and differs:"]
        rows = [["", "candidate", "baseline"]]
        rows += [[x.name, *reversed(apart(x))] for x in between]
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
