# SPDX-License-Identifier: BSD-3-Clause
"""The texts of other programs that can be read: one module and one row of `ALL` each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2aperf.errors import InputError
from a2aperf.importers import (
    clusterperf,
    columns,
    compat,
    loopback,
    named_columns,
    osu,
    perftest,
    shared_link,
)
from a2aperf.importers.block import ALL_TO_ALL, Block, Kind
from a2aperf.labels import count_text


@dataclass(frozen=True)
class Format:
    """One kind of text."""

    what: str
    """As it is asked for."""
    matches: Callable[[str], bool]
    """By its content."""
    parse: Callable[[Path, str], list[Block]]
    percentile_rule: str
    remarks: Callable[[list[Block]], list[str]] = lambda blocks: []
    """What its own figures leave in doubt."""
    kind: Kind = ALL_TO_ALL
    told: Callable[[list[Block]], str] = lambda blocks: (
        f"{count_text(sum(len(one.rows) for one in blocks), 'point')} of "
        f"{count_text(len(blocks), 'launch or table', 'launches or tables')}"
    )
    """What was found, in words."""


def _found_in_doubt(blocks: list[Block]) -> list[str]:
    return [words for block in blocks for words in block.remarks]


ALL: Final[Mapping[str, Format]] = {
    "compat": Format(
        "the 2019 layout (heading '# nodes msg (B) ops …')",
        compat.matches,
        compat.parse,
        compat.PERCENTILE_RULE,
        compat.disagreements,
    ),
    "perftest": Format(
        "perftest's JSON", perftest.matches, perftest.parse, perftest.PERCENTILE_RULE
    ),
    "osu": Format("osu_alltoall's text", osu.matches, osu.parse, osu.PERCENTILE_RULE),
    "loopback": Format(
        "a loopback test's tables (heading 'Test duration (secs) Data length (bytes) …')",
        loopback.matches,
        loopback.parse,
        loopback.PERCENTILE_RULE,
        _found_in_doubt,
        Kind("stream", columns.STREAM),
        loopback.told,
    ),
    "clusterperf": Format(
        "clusterperf's lines ('echo100 3.9 us send 30B message, …')",
        clusterperf.matches,
        clusterperf.parse,
        clusterperf.PERCENTILE_RULE,
        _found_in_doubt,
        Kind("echo", columns.ECHO),
        clusterperf.told,
    ),
    "qos": Format(
        "notes on service levels (lines 'Rx_0 received … data bytes in … messages over last …')",
        shared_link.matches,
        shared_link.parse,
        shared_link.PERCENTILE_RULE,
        _found_in_doubt,
        Kind("qos", columns.QOS, own=shared_link.group),
        shared_link.told,
    ),
    "columns": Format(
        "tables of interconnects with named columns (heading 'interconnect | size (B) | …')",
        named_columns.matches,
        named_columns.parse,
        named_columns.PERCENTILE_RULE,
        _found_in_doubt,
        Kind("interconnects", columns.INTERCONNECTS),
        named_columns.told,
    ),
}


def of_text(path: Path, text: str) -> Format:
    """The one that it is."""
    for one in ALL.values():
        if one.matches(text):
            return one
    what = "is empty" if not text.strip() else "line 1, column 1: no known table"
    *others, last = (one.what for one in ALL.values())
    raise InputError(f"{path}: {what}; expected {', '.join(others)} or {last}")
