# SPDX-License-Identifier: BSD-3-Clause
"""Tables: rows of columns. One table for the terminal and the report; its data for machines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.visible import json_visible, visible

UNKNOWN = "-"
_FORMULA: Final = ("=", "+", "-", "@")
_NUMBER: Final = re.compile(r"[-+][0-9.]+(?:e[-+]?[0-9]+)?")


@dataclass(frozen=True)
class Cell:
    """One cell: what is read, what it sorts by (None: the same), and a caveat in a word."""

    text: str
    key: str | None = None
    mark: str = ""


BLANK: Final = Cell(UNKNOWN, "")
"""What is not known; it sorts behind all else."""


@dataclass(frozen=True)
class Column:
    """How a column looks: its heading with the unit, and how a value is written."""

    heading: str
    write: Callable[[Any], str] = str
    left: bool = False
    of: str = ""
    """The field of a row that it writes; empty: it writes the row itself, which is known."""
    by: str = ""
    """The field that it sorts by; empty: the one that it writes."""

    def cell(self, row: Any) -> Cell:
        """The cell of a row of named values."""
        if self.of and missing(row[self.of]):
            return BLANK
        text = self.write(row[self.of] if self.of else row)
        if not (self.by or self.of):
            return Cell(text)
        key = row[self.by or self.of]
        return Cell(text, "" if missing(key) else str(key))


@dataclass(frozen=True)
class Table:
    """Cells under their columns; the report shows the caption and sorts."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    @classmethod
    def of(cls, columns: Sequence[Column], data: pd.DataFrame, caption: str = "") -> Table:
        """A row of cells for each row of the frame."""
        rows = data.to_dict("records")
        return cls(columns, [[column.cell(row) for column in columns] for row in rows], caption)

    def lines(self, least: Sequence[int] = ()) -> list[str]:
        """Aligned lines, the heading first; no column is narrower than its `least`."""
        told = [
            [f"{cell.text} ={cell.mark}" if cell.mark else cell.text for cell in row]
            for row in self.rows
        ]
        heads = [column.heading for column in self.columns]
        return aligned([heads, *told], [column.left for column in self.columns], least)


def aligned(
    rows: Sequence[Sequence[str]], left: Sequence[bool], least: Sequence[int] = ()
) -> list[str]:
    """Rows of equal length as lines; a column is flush left or right, and as wide as it must be.

    That is no less than its `least`, where these are given.
    """
    rows = [[visible(cell) for cell in row] for row in rows]
    of_cells = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths = [max(both) for both in zip(of_cells, least or of_cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]


def or_unknown(value: Any, write: Callable[[Any], str] = str) -> str:
    """The value as written, or the sign for what is not known."""
    return UNKNOWN if missing(value) else write(value)


def missing(value: Any) -> bool:
    """Whether it stands for "not known"."""
    return value is pd.NA or value is None or value == "" or value != value


# For machines ------------------------------------------------------------------------------------


def as_csv(data: pd.DataFrame) -> str:
    """Comma-separated, the names first; unknown is empty.

    A text is one line, and what a spreadsheet would take for a formula has a ' in front.
    """
    plain = data.rename(columns=lambda name: _spreadsheet(str(name)))
    texts = [
        name for name in plain if plain[name].dtype.kind == "O" or plain[name].dtype == "string"
    ]
    for name in texts:
        plain[name] = [_spreadsheet(x) if isinstance(x, str) else x for x in plain[name]]
    return plain.to_csv(index=False).rstrip()


def _spreadsheet(text: str) -> str:
    """A cell's text; a number is one, whatever its sign."""
    shown = visible(text)
    return f"'{shown}" if shown[:1] in _FORMULA and not _NUMBER.fullmatch(shown) else shown


def as_json(data: pd.DataFrame, columns: Mapping[str, schema.Column]) -> str:
    """An object with `columns` (long name, units) and `rows`; unknown is null."""
    told = described(columns, map(str, data))
    document = {"schema": schema.SCHEMA, "columns": told, "rows": records(data)}
    return json_visible(json.dumps(document, indent=1, ensure_ascii=False))


def described(
    columns: Mapping[str, schema.Column], names: Iterable[str]
) -> dict[str, dict[str, str]]:
    """`long_name`, `units` and `better` of each name, where it has any."""
    told = {}
    for name in names:
        column = columns.get(name)
        known = {key: getattr(column, key, "") for key in ("long_name", "units", "better")}
        told[name] = {key: value for key, value in known.items() if value}
    return told


def records(data: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    return [{str(name): plain(x) for name, x in row.items()} for row in data.to_dict("records")]


def plain(value: Any) -> Any:
    """A value, or a list of them, as JSON has it; what is unknown or no number there is None."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value.item() if hasattr(value, "item") else value
