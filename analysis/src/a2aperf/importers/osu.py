# SPDX-License-Identifier: BSD-3-Clause
"""The text of OSU's `osu_alltoall`, plain, with `-f` (full) and with `-z` (percentiles).

Its figures are means over the ranks: the average and each percentile are taken of an op's time
averaged over ranks, where ours is the last rank's. Its minimum and maximum are those of the ranks'
averages, not of the ops, so they have no place here. The text does not say how many ranks ran.
"""

import re
from pathlib import Path
from typing import Any

from a2aperf.importers.block import Block, bad, number

ENGINE = "osu"
PERCENTILE_RULE = "rank"
_TITLE = re.compile(
    r"^# (OSU MPI\S* All-to-All Personalized Exchange Latency Test(?: v(\S+))?)\s*$"
)
_COLUMNS = {
    "Avg Latency(us)": "time_mean",
    "P50 Tail Lat(us)": "time_p50",
    "P90 Tail Lat(us)": "time_p90",
    "P99 Tail Lat(us)": "time_p99",
    "Iterations": "ops",
}


def matches(text: str) -> bool:
    """Whether the text starts like an OSU micro-benchmark."""
    return any(line.startswith("# OSU MPI") for line in text.splitlines())


def parse(path: Path, text: str) -> list[Block]:
    """One block per test; InputError with line and column where it is no such table."""
    blocks: list[Block] = []
    names: list[str] = []
    for line, content in enumerate(text.splitlines(), start=1):
        if content.startswith("# OSU"):
            blocks.append(_block(path, line, content))
            names = []
        elif content.startswith("# Size"):
            names = re.split(r"\s{2,}", content[1:].strip())
            for needed in ("Size", "Avg Latency(us)"):
                if needed not in names:
                    raise bad(path, line, 1, f"no column '{needed}'; is this osu_alltoall?")
        elif content.strip() and not content.startswith("#"):
            if not blocks or not names:
                raise bad(path, line, 1, "expected the heading '# Size  Avg Latency(us) …' first")
            blocks[-1].rows.append(_row(path, line, content, names))
    if not blocks or not all(block.rows for block in blocks):
        raise bad(path, len(text.splitlines()) or 1, 1, "no row of results")
    return blocks


def _block(path: Path, line: int, content: str) -> Block:
    title = _TITLE.match(content)
    if not title:
        raise bad(path, line, 1, f"'{content}' is not osu_alltoall, the only OSU test read here")
    attributes = {
        "program_version": title[2] or "",
        "time_meaning": "mean over the ranks of each rank's own time",
        "sync": "barrier",
    }
    return Block([], ENGINE, attributes=attributes, note=title[1])


def _row(path: Path, line: int, content: str, names: list[str]) -> dict[str, Any]:
    tokens = [(found.group(), found.start() + 1) for found in re.finditer(r"\S+", content)]
    if len(tokens) != len(names):
        column = tokens[min(len(tokens), len(names)) - 1][1]
        raise bad(path, line, column, f"expected {len(names)} columns, found {len(tokens)}")
    row: dict[str, Any] = {
        "mode": "collective",
        "schedule": "library",
        "provider": "mpi",
        "post": "inside",
    }
    for (token, column), name in zip(tokens, names, strict=True):
        if name == "Validation":
            if token != "Pass":
                raise bad(path, line, column, f"validation says '{token}'; not a result")
        elif name == "Size":
            row["message_size"] = int(number(path, line, column, token))
        elif name in _COLUMNS:
            value = number(path, line, column, token)
            key = _COLUMNS[name]
            row[key] = int(value) if key == "ops" else value * 1e3
    return row
