# SPDX-License-Identifier: BSD-3-Clause
"""The layout of the 2019 all-to-all table, notes included; `a2a table --layout compat` writes it.

Its "nodes" are ranks. Notes between the blocks are read for two things: `VARIABLE=VALUE` holds for
the blocks that follow, until a line of dashes or equal signs; `80*2 nodes` or `2 ranks per node`
tells the ranks per node of the next heading's rows, if the product is their number of ranks.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from a2aperf.importers.block import Block, bad, number

ENGINE = "table-2019"
PERCENTILE_RULE = "index"  # "p99" of 100 ops is the maximum there
_HEADING = re.compile(r"^#\s+nodes\s+msg \(B\)\s+ops\s+min\s+avg\s+p50\s+p90\s+p99\s+Throughput")
_NAMES = ("nodes", "msg (B)", "ops", "min", "avg", "p50", "p90", "p99", "Throughput (Gbps)")
_TIMES = ("time_min", "time_mean", "time_p50", "time_p90", "time_p99")
_RULER = re.compile(r"^([-=])\1{9,}\s*$")
_VARIABLE = re.compile(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=(?:'([^']*)'|([^\s\"',;]+))")
_PRODUCT = re.compile(r"(?<![\d.])(\d+)\s*[*x×]\s*(\d+)(?![\d.])")
_PER_NODE = re.compile(r"(\d+(?:\.\d+)?) ranks per (?:node|machine)")


def matches(text: str) -> bool:
    """Whether the text has a heading of this layout."""
    return any(_HEADING.match(line) for line in text.splitlines())


@dataclass
class _Reader:
    path: Path
    blocks: list[Block] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    open: Block | None = None
    heading_line: int = 0

    def heading(self, line: int) -> None:
        self.close(line)
        note = " ".join(self.notes)
        self.open = Block([], ENGINE, environment=dict(self.environment), note=note)
        self.notes = []
        self.heading_line = line

    def note(self, text: str) -> None:
        if _RULER.match(text):  # a new section: what held above is not said to hold below
            self.environment = {}
            self.notes = []
            return
        for name, quoted, plain in _VARIABLE.findall(text):
            self.environment[name] = quoted or plain
        self.notes.append(text.strip())

    def row(self, line: int, text: str) -> None:
        if self.open is None:
            raise bad(self.path, line, 1, "a row of numbers without a heading above it")
        if self.notes:
            raise bad(self.path, line, 1, "a row of numbers after a note; a heading comes first")
        self.open.rows.append(_row(self.path, line, text))

    def close(self, line: int) -> None:
        if self.open is None:
            return
        if not self.open.rows:
            raise bad(self.path, self.heading_line, 1, "a heading with no row under it")
        self.open.ppn = _ppn(self.open.note, {row["ranks"] for row in self.open.rows})
        self.blocks.append(self.open)


def parse(path: Path, text: str) -> list[Block]:
    """One block per heading; InputError with line and column where it is no such table."""
    reader = _Reader(path)
    lines = text.splitlines()
    for line, content in enumerate(lines, start=1):
        if _HEADING.match(content):
            reader.heading(line)
        elif not content.strip() or re.match(r"^#-+\s*$", content):
            continue
        elif _looks_like_row(content):
            reader.row(line, content)
        else:
            reader.note(content)
    reader.close(len(lines))
    if not reader.blocks:
        raise bad(path, 1, 1, f"no table found: expected the heading '# {'  '.join(_NAMES)}'")
    return reader.blocks


def _looks_like_row(content: str) -> bool:
    """Two leading numbers, or mostly numbers: prose of the notes has neither."""
    tokens = content.split()
    numeric = [re.fullmatch(r"[-+]?\d+(\.\d*)?", token) is not None for token in tokens]
    return all(numeric[:2]) or (len(tokens) >= 5 and sum(numeric) * 2 > len(tokens))


def _row(path: Path, line: int, content: str) -> dict[str, Any]:
    tokens = [(found.group(), found.start() + 1) for found in re.finditer(r"\S+", content)]
    if len(tokens) != len(_NAMES):
        column = tokens[len(_NAMES)][1] if len(tokens) > len(_NAMES) else len(content.rstrip()) + 1
        what = f"expected {len(_NAMES)} columns ({', '.join(_NAMES)}), found {len(tokens)}"
        raise bad(path, line, column, what)
    values = [number(path, line, column, token) for token, column in tokens[:-1]]
    token, column = tokens[-1]
    throughput = number(path, line, column, token, least=0)
    for value, (token, column), name in zip(values[:3], tokens, _NAMES, strict=False):
        if value != int(value):
            raise bad(path, line, column, f"{name} is a whole number, found '{token}'")
    ranks, size, ops = (int(value) for value in values[:3])
    if ranks < 2:
        raise bad(path, line, tokens[0][1], "an all-to-all has at least 2 ranks")
    times = dict(zip(_TIMES, (round(value * 1e3, 3) for value in values[3:8]), strict=True))
    ordered = [times[name] for name in ("time_min", "time_p50", "time_p90", "time_p99")]
    if ordered != sorted(ordered):
        raise bad(path, line, tokens[3][1], "min, p50, p90, p99 do not ascend")
    # as printed: the times are rounded, so it need not be R·B·8/p50 to the last digit; a rate that
    # was rounded to nothing says less than the times
    printed = {"gbps_compat": throughput} if throughput > 0 else {}
    return {
        "ranks": ranks,
        "message_size": size,
        "ops": ops,
        **times,
        **printed,
    }


def disagreements(blocks: list[Block]) -> list[str]:
    """Rows whose throughput is not R·B·8/p50 within the rounding of both."""
    found = []
    for block in blocks:
        for row in block.rows:
            bits = row["ranks"] * row["message_size"] * 8
            low, high = bits / (row["time_p50"] + 5), bits / (row["time_p50"] - 5)
            printed = row.get("gbps_compat", 0.0)
            if not low - 0.005001 <= printed <= high + 0.005001:
                found.append(
                    f"{row['ranks']} ranks, {row['message_size']} B: {printed:g} Gbit/s "
                    f"is not R·B·8/p50 = {bits / row['time_p50']:.2f}"
                )
    return found


def _ppn(note: str, ranks: set[int]) -> float | None:
    for machines, each in _PRODUCT.findall(note):
        if ranks == {int(machines) * int(each)}:
            return float(each)
    per_node = _PER_NODE.search(note)
    return float(per_node[1]) if per_node else None
