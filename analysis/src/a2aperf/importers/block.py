# SPDX-License-Identifier: BSD-3-Clause
"""What every reader of foreign text returns, and how it becomes a results file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray

from a2aperf import __version__, datasets, metrics, schema, strict, writer
from a2aperf.errors import InputError

LARGEST: Final = 2**62
"""What a whole number of a file is below."""
_BELOW: Final = {"int8": 2**7, "int32": 2**31, "int64": LARGEST}


@dataclass
class Block:
    """Results that share their settings: one segment of the file.

    A row is a dict of columns: `message_size`, what is known of `ops` and `time_*` (ns), and any
    rate as the text prints it. `ranks` is missing where the text does not say it. Settings that
    the text does not state are absent or None.
    """

    rows: list[dict[str, Any]]
    engine: str
    ppn: float | None = None
    environment: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    note: str = ""
    attachments: dict[str, str] = field(default_factory=dict)
    """Texts that are kept whole, by name."""
    remarks: list[str] = field(default_factory=list)
    """What is odd in the text, in words."""
    paths: list[Any] = field(default_factory=list)
    """Of each row, what ran in it at the same time, where a text tells it (`Kind.own`)."""


Own = tuple[datasets.Tables, Mapping[str, NDArray[Any]]]
"""How the datasets of a group are described, and what is in them."""


@dataclass(frozen=True)
class Kind:
    """What a text's points are of."""

    workload: str = ""
    """As its files name it; those of an all-to-all name none."""
    columns: tuple[schema.Column, ...] = ()
    """Of its points, beside `base`."""
    base: tuple[schema.Column, ...] = tuple(
        one for one in schema.COLUMNS if one.name not in schema.RATES
    )
    """Of the points of every workload."""
    rates: Callable[[Mapping[str, Any], float | None, Given], dict[str, Any]] = lambda *_: {}
    """What follows from the times of a row."""
    own: Callable[[Sequence[Block]], Mapping[str, Own]] = lambda blocks: {}
    """Groups of its workload, by name."""

    @property
    def described(self) -> tuple[schema.Column, ...]:
        """All columns of its files."""
        return (*self.base, *self.columns)


@dataclass(frozen=True)
class Given:
    """What the user says about text that does not say it itself; the text wins where it does."""

    ranks: int | None = None
    ppn: float | None = None
    provider: str = ""
    link_rate_gbps: float = math.nan
    rails: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


def document(
    blocks: Sequence[Block], given: Given, origin: str, percentile_rule: str, kind: Kind
) -> writer.Document:
    """A results file of summaries: one segment per block."""
    rows: list[dict[str, Any]] = []
    segments: list[schema.Segment] = []
    for index, block in enumerate(blocks):
        ppn = block.ppn if block.ppn is not None else given.ppn
        for order, row in enumerate(block.rows):
            ranks = row.get("ranks", given.ranks)
            if ranks is None:
                raise InputError(
                    f"{origin}: the text does not say how many ranks ran; give --ranks N"
                )
            base = {"segment": index, "order": order, "engine": block.engine, "ranks": ranks}
            row = {**base, **row}
            _require_room(origin, row, kind)
            rows.append({**_row(row, ppn, given), **kind.rates(row, ppn, given), **row})
        segments.append(_segment(block, given, origin))
    return writer.Document(
        attributes={
            "title": f"imported: {origin}",
            "source": f"a2a {__version__}",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "origin": origin,
            "percentile_rule": percentile_rule,
            **({"workload": kind.workload} if kind.workload else {}),
        },
        columns=writer.columns_of(rows, kind.described),
        segments=segments,
        own=kind.own(blocks),
        described=kind.described,
    )


def _require_room(origin: str, row: Mapping[str, Any], kind: Kind) -> None:
    """InputError where a whole number is larger than a file's can be."""
    for column in kind.described:
        value = row.get(column.name)
        below = strict.MOST + 1 if column.name == "ranks" else _BELOW.get(column.kind, math.inf)
        if isinstance(value, int | float) and value >= below:
            raise InputError(f"{origin}: {column.name} is {value:.4g}: more than there can be")


def _row(row: Mapping[str, Any], ppn: float | None, given: Given) -> dict[str, Any]:
    return {
        "role": "measure",
        "provider": given.provider,
        "state": schema.STATES.index("complete"),
        "nodes": _nodes(int(row["ranks"]), ppn),
        "ranks_per_node": math.nan if ppn is None else ppn,
    }


def _rates(row: Mapping[str, Any], ppn: float | None, given: Given) -> dict[str, Any]:
    ranks = int(row["ranks"])
    nodes = _nodes(ranks, ppn)
    placed = [ppn] * nodes if nodes > 0 and ppn is not None else []
    p50, mean = row.get("time_p50", math.nan), row.get("time_mean", math.nan)
    link = given.link_rate_gbps * given.rails
    return metrics.rates(ranks, row["message_size"], p50, mean, placed, link)


ALL_TO_ALL: Final = Kind(base=schema.COLUMNS, rates=_rates)


def _nodes(ranks: int, ppn: float | None) -> int:
    if ppn is None:
        return schema.UNKNOWN
    if ranks % ppn:
        raise InputError(f"--ppn {ppn:g}: {ranks} ranks do not fill nodes of {ppn:g} evenly")
    return int(ranks / ppn)


def _segment(block: Block, given: Given, origin: str) -> schema.Segment:
    return schema.Segment(
        attributes={
            "provider": given.provider,
            "link_rate_gbps": given.link_rate_gbps,
            "asked_link_rate": given.link_rate_gbps,
            "rails": schema.UNKNOWN if math.isnan(given.link_rate_gbps) else given.rails,
            "origin": origin,
            "note": block.note,
            **block.attributes,
        },
        environment={**given.environment, **block.environment},
        labels={**given.labels, **block.labels},
        attachments=dict(block.attachments),
    )


def bad(path: Path, line: int, column: int, what: str) -> InputError:
    """The error for text that is no such table, at a line and column counted from 1."""
    return InputError(f"{path}: line {line}, column {column}: {what}")


def number(path: Path, line: int, column: int, token: str, least: float | None = None) -> float:
    """A finite, positive number at that place (or one ≥ `least`), or the error that says so."""
    try:
        value = float(token)
    except ValueError:
        raise bad(path, line, column, f"expected a number, found '{token}'") from None
    enough = value > 0 if least is None else value >= least
    if not math.isfinite(value) or not enough:
        raise bad(path, line, column, f"expected a positive number, found '{token}'")
    return value
