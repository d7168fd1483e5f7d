# SPDX-License-Identifier: BSD-3-Clause
"""Tables of interconnects with named columns (format: docs/shares.md): published figures.

A heading names its columns and their units, cells stand between `|` or tabs. Several tables may
follow one another, each with the columns it has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from a2aperf import contradictions
from a2aperf.contradictions import Figure
from a2aperf.importers.block import LARGEST, Block, bad
from a2aperf.labels import count_text
from a2aperf.schema import SEGMENT_ATTRIBUTES

ENGINE: Final = "published"
PERCENTILE_RULE: Final = "rank"  # it has none
NAME: Final = "interconnect"
_MOST: Final = "most"
_SIZES: Final = {"": 1, "B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20}
_RATES: Final = {
    "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "MiB/s": 2.0**20, "GiB/s": 2.0**30,
    "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8,
}  # fmt: skip
_TIMES: Final = {"ns": 1.0, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
_COLUMNS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "size": ("payload", _SIZES),
    "throughput": ("byte_rate", _RATES),
    "transfers": ("msg_rate", {"1/s": 1.0}),
    "latency": ("time_mean", _TIMES),
    "offered": ("offered_rate", {"1/s": 1.0}),
    "hops": ("hops", {"": 1.0}),
    "line rate": ("line_rate", {"Gbit/s": 1.0}),
}
"""Named columns: that of the file, and the units with what each is worth there."""
_HEADING: Final = re.compile(r"\s*\|?\s*interconnect\s*[|\t].*", re.IGNORECASE)
_CELL: Final = re.compile(r"([a-z ]+?)\s*(?:\(([^)]*)\))?", re.IGNORECASE)
_RULE: Final = re.compile(r"[\s|:-]*-[\s|:-]*")
_RANKING: Final = re.compile(r"ranking\s+(\d+)\s*(B|kB|KiB|MB|MiB)\s*:\s*(\S.*)", re.IGNORECASE)
_FACT: Final = re.compile(r"([A-Za-z][\w -]{0,40}?)\s*:\s+(\S.*)")
_NUMBER: Final = re.compile(r"~?\s*\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?")


def matches(text: str) -> bool:
    """Whether the text has a heading of this format."""
    return any(_HEADING.fullmatch(line) for line in text.splitlines())


@dataclass
class _Text:
    path: Path
    heading: list[tuple[str, float]] = field(default_factory=list)
    """Of the table that is read: columns of the file, and what a unit is worth."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    rankings: dict[int, list[str]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    tables: int = 0

    def line(self, number: int, content: str) -> None:
        """One line, by what it is."""
        words = content.strip()
        if _HEADING.fullmatch(content):
            self.start(number, content)
        elif not words:
            self.heading = []
        elif self.heading and _RULE.fullmatch(content):
            return
        elif self.heading and ("|" in content or "\t" in content):
            self.row(number, content)
        elif ranking := _RANKING.fullmatch(words):
            names = [name.strip() for name in re.split(r"[,>]", ranking[3]) if name.strip()]
            self.rankings[int(ranking[1]) * _SIZES[_unit(ranking[2], _SIZES)]] = names
        elif not words.startswith("#") and (fact := _FACT.fullmatch(words)):
            self.facts[re.sub(r"\W+", "_", fact[1]).lower()] = fact[2]
        else:
            self.notes.append(words.lstrip("# "))

    def start(self, number: int, content: str) -> None:
        """A heading: each column is known, there once, and has a unit of its own kind."""
        self.heading, self.tables = [], self.tables + 1
        for place, (cell, column) in enumerate(_cells(content)):
            found = _CELL.fullmatch(cell)
            name = found[1].strip().lower() if found else cell
            if place == 0:
                self.heading.append((NAME, 1.0))
                continue
            if name not in _COLUMNS:
                known = ", ".join(_COLUMNS)
                raise bad(self.path, number, column, f"column '{cell}': expected one of {known}")
            of_file, units = _COLUMNS[name]
            unit = _unit((found[2] if found else "") or "", units)
            if unit not in units:
                expected = " or ".join(one or "none" for one in units)
                raise bad(self.path, number, column, f"column '{cell}': expected unit {expected}")
            if of_file in [one for one, _ in self.heading]:
                raise bad(self.path, number, column, f"column '{cell}' is there twice")
            self.heading.append((of_file, float(units[unit])))

    def row(self, number: int, content: str) -> None:
        """A line of figures; `-` and nothing stand for what is not told."""
        cells = _cells(content)
        if len(cells) != len(self.heading):
            wanted = count_text(len(self.heading), "cell")
            raise bad(
                self.path, number, 1, f"expected {wanted} as in the heading, found {len(cells)}"
            )
        row: dict[str, Any] = {"ranks": 1, NAME: cells[0][0]}
        if not cells[0][0]:
            raise bad(self.path, number, cells[0][1], "a row without an interconnect")
        for (cell, column), (name, worth) in zip(cells[1:], self.heading[1:], strict=True):
            if cell in ("", "-") or (name == "payload" and cell.lower() == _MOST):
                continue
            if not _NUMBER.fullmatch(cell):
                raise bad(self.path, number, column, f"expected a number, found '{cell}'")
            value = float(cell.lstrip("~ ").replace(",", "")) * worth
            if not 0 < value < LARGEST:
                raise bad(self.path, number, column, f"expected a positive number, found '{cell}'")
            row[name] = round(value) if name in ("payload", "hops") else value
        row["message_size"] = row.get("payload", 0)
        if "byte_rate" in row:
            row["gbps"] = row["byte_rate"] * 8e-9
        self.rows.append(row)


def _cells(content: str) -> list[tuple[str, int]]:
    """Each with its column, from 1; a line may begin and end with `|`."""
    separator = "|" if "|" in content else "\t"
    begin, found = 0, []
    for part in content.split(separator):
        lead = len(part) - len(part.lstrip())
        found.append((part.strip(), begin + lead + 1))
        begin += len(part) + 1
    if separator == "|" and content.strip().startswith("|"):
        found = found[1:]
    return found[:-1] if separator == "|" and content.strip().endswith("|") else found


def _unit(text: str, units: dict[str, Any]) -> str:
    """As it is written in the table of units, whatever its capitals, where that is no doubt."""
    same = [one for one in units if one.lower() == text.strip().lower()]
    return same[0] if len(same) == 1 else text.strip()


def parse(path: Path, text: str) -> list[Block]:
    """One block; InputError with line and column where a table is not understood."""
    reader = _Text(path)
    for number, content in enumerate(text.splitlines(), start=1):
        reader.line(number, content)
    if not reader.rows:
        raise bad(path, 1, 1, "no row found below a heading that begins with 'interconnect'")
    rankings = {f"ranking_{size}": ", ".join(names) for size, names in reader.rankings.items()}
    facts = {k: v for k, v in reader.facts.items() if k not in SEGMENT_ATTRIBUTES}
    block = Block(
        reader.rows,
        ENGINE,
        attributes={**facts, **rankings, "tables": str(reader.tables)},
        note="\n".join(reader.notes),
        attachments={path.name: text},
    )
    said = contradictions.of([_figure(row) for row in reader.rows], reader.rankings)
    block.remarks = [f"{one.interconnect}: {one.text}".removeprefix(": ") for one in said]
    return [block]


def _figure(row: dict[str, Any]) -> Figure:
    return Figure(
        row[NAME],
        row.get("payload"),
        row.get("byte_rate"),
        row.get("msg_rate"),
        row.get("line_rate"),
        row.get("time_mean"),
        row.get("hops"),
        row.get("offered_rate"),
    )


def told(blocks: list[Block]) -> str:
    """What was found."""
    rows = [row for block in blocks for row in block.rows]
    tables = sum(int(block.attributes["tables"]) for block in blocks)
    names = len({row[NAME] for row in rows})
    against = sum(len(block.remarks) for block in blocks)
    return (
        f"{count_text(tables, 'table')} with {count_text(len(rows), 'row')} of "
        f"{count_text(names, 'interconnect')}; {count_text(against, 'contradiction')}"
    )
