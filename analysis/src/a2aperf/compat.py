# SPDX-License-Identifier: BSD-3-Clause
"""Results in the layout of the 2019 all-to-all table, which `a2a import` reads back."""

import re
from typing import Any

from a2aperf import grouping
from a2aperf.layouts import general, microseconds
from a2aperf.results import Results
from a2aperf.tables import missing, or_unknown

Row = dict[Any, Any]
Settings = dict[str, str]

HEADING = (
    "#       nodes     msg (B)     ops         min         avg         p50         p90         p99"
    "   Throughput (Gbps)",
    "#" + 92 * "-",
)
RULER = 113 * "-"
_TIMES = ("time_min", "time_mean", "time_p50", "time_p90", "time_p99")


def lines_of(results: Results) -> list[str]:
    """Lines of the 2019 layout: two heading lines, a blank line between rank counts.

    "nodes" are ranks there. Rows that differ in more than ranks and size come under a heading of
    their own, after a line that says what they are in words that `a2a import` reads.
    """
    rows = results.points.to_dict("records")
    names = grouping.setting_names(results, results.points, ())
    columns = [results.values(name) for name in names]
    settings = [
        {
            name: general(value)
            for name, value in zip(names, values, strict=True)
            if not missing(value)
        }
        for values in zip(*columns, strict=True)
    ] or [{}] * len(rows)
    lines: list[str] = []
    for each, members in _groups(rows, settings):
        lines += [""] if lines else []
        lines += [*_note(each), *HEADING]
        previous = members[0]["ranks"]
        for row in members:
            lines += [""] if row["ranks"] != previous else []
            lines.append(_line(row))
            previous = row["ranks"]
    return lines


def _groups(rows: list[Row], settings: list[Settings]) -> list[tuple[Settings, list[Row]]]:
    """Rows of one launch that share their settings, then neighbours that share them, together."""
    of_launch: dict[Any, tuple[Settings, list[Row]]] = {}
    for row, each in zip(rows, settings, strict=True):
        key = (row["launch"], *each.items())
        of_launch.setdefault(key, (each, []))[1].append(row)
    groups: list[tuple[Settings, list[Row]]] = []
    for each, members in of_launch.values():
        if groups and groups[-1][0] == each:
            groups[-1][1].extend(members)
        else:
            groups.append((each, members))
    return groups


def _note(settings: Settings) -> list[str]:
    words = [
        f"{value} ranks per node" if name == "ppn" else f"{name}={_quoted(value)}"
        for name, value in settings.items()
    ]
    # the ruler ends what earlier notes said
    return [RULER, ", ".join(words), ""] if words else []


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[^\s\"',;]+", value) else f"'{value}'"


def _rate(value: Any) -> str:
    """Two decimals whatever it is: as in 2019, and as `a2aperf --format compat` prints it."""
    return f"{float(value):.2f}"


def _line(row: Row) -> str:
    cells = [f"{row['ranks']:13d}", f"{row['message_size']:12d}", f"{or_unknown(row['ops']):>8}"]
    cells += [f"{or_unknown(row[name], microseconds):>12}" for name in _TIMES]
    return "".join(cells) + f"{or_unknown(row['gbps_compat'], _rate):>20}"
