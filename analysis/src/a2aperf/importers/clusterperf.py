# SPDX-License-Identifier: BSD-3-Clause
"""RAMCloud's clusterperf: figures of round trips, `name value unit description` each.

Many stand on one line, and one may be broken across lines, so the text is read word by word. A
figure's name says what it is: operation, size (1K = 1024), statistic. All other words are notes.
A figure that is there again begins another run; runs are never merged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from a2aperf.importers import prose
from a2aperf.importers.block import LARGEST, Block, bad, number
from a2aperf.labels import count_text

ENGINE: Final = "clusterperf"
PERCENTILE_RULE: Final = "index"  # the 90 % of 100 round trips is sorted[90] there
_NAME: Final = re.compile(
    r"(echo|basic\.[a-z]+?)(Bw)?(\d+)([KMG]?)(?:\.(min|max|mean|avg|9{1,5}))?"
)
_NAME_LIKE: Final = re.compile(r"(?=\w*[.\dA-Z])[a-z]\w*(?:\.\w+)*")
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_FACTOR: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_TIMES: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
_RATES: Final = {"B/s": 1.0, "KB/s": 2.0**10, "kB/s": 2.0**10, "MB/s": 2.0**20, "GB/s": 2.0**30}
_UNITS: Final = {**_TIMES, **_RATES}
_COLUMN: Final = {
    None: "time_p50",
    "min": "time_min",
    "9": "time_p90",
    "99": "time_p99",
    "999": "time_p999",
    "9999": "time_p9999",
    "99999": "time_p99999",
    "max": "time_max",
    "mean": "time_mean",
    "avg": "time_mean",
}
_PRINTED: Final = (*dict.fromkeys(_COLUMN.values()), "byte_rate")
"""The figures of a point in the order in which they are printed."""
_ENDS: Final = re.compile(r"median|minimum|maximum|mean|average|\d+(?:\.\d+)?%")
_OBJECTS: Final = re.compile(r"(?:messages?|objects?)")
_FIRST: Final = ("send", "read", "write", "bandwidth")
_LONGEST: Final = 16
_REQUEST: Final = re.compile(r"\bsend (\d+)([KMG]?)B message")
_MODE: Final = re.compile(r"^clusterperf \d+ ranks? on .*, mode ([\w-]+)(?:,|$)")  # of a2aperf echo
_KEY: Final = re.compile(r"\((\d+)([KMG]?)B key\)")
_SIZES: Final = re.compile(r"(?:receive|receiving|random|single|reading|writing) (\d+)([KMG]?)B\b")


def matches(text: str) -> bool:
    """Whether a figure of this layout is there: its name, a number and a unit."""
    words = text.split()
    return any(
        _NAME.fullmatch(_bare(name)) and _NUMBER.fullmatch(value) and unit in _UNITS
        for name, value, unit in zip(words, words[1:], words[2:], strict=False)
    )


def _bare(word: str) -> str:
    return word.lstrip(prose.BULLETS)


@dataclass(frozen=True)
class _Word:
    text: str
    line: int
    column: int


@dataclass(frozen=True)
class _Figure:
    name: str
    point: tuple[str, int]
    """Operation and size."""
    column: str
    value: float
    description: str
    at: _Word


@dataclass
class _Run:
    """Figures that stand together and are each there once."""

    section: int
    heading: str
    notes: list[str]
    points: dict[tuple[str, int], dict[str, _Figure]] = field(default_factory=dict)
    last: tuple[str, int] | None = None
    number: int = 1

    def takes(self, figure: _Figure, is_apart: bool) -> bool:
        """Whether the figure can be of this run; `is_apart` if words stand between."""
        if figure.point == self.last:
            known = self.points[figure.point]
            latest = _PRINTED.index(next(reversed(known)))
            # The first figures of a run may be missing: one that is printed first begins another.
            return figure.column not in known and _PRINTED.index(figure.column) > latest
        return not is_apart and figure.point not in self.points

    def add(self, figure: _Figure) -> None:
        self.points.setdefault(figure.point, {})[figure.column] = figure
        self.last = figure.point


@dataclass
class _Reader:
    path: Path
    words: list[_Word]
    bare_lines: frozenset[int]
    """Lines without a figure."""
    runs: list[_Run] = field(default_factory=list)
    between: list[_Word] = field(default_factory=list)
    """Words since the last figure."""
    remarks: list[str] = field(default_factory=list)
    section: int = 1
    heading: str = ""

    def read(self) -> None:
        at = 0
        while at < len(self.words):
            figure, after = self.figure(at)
            if figure is None:
                self.between.append(self.words[at])
            else:
                self.take(figure)
            at = after
        if self.runs:
            self.runs[-1].notes += [text for _, text in _lines(self.between)]

    def take(self, figure: _Figure) -> None:
        """Add a figure to its run, which it may begin."""
        notes = self.notes()
        mine = [one for one in self.runs if one.section == self.section]
        known = [one.number for one in mine if figure.point in one.points]
        takes = bool(mine) and mine[-1].takes(figure, bool(notes))
        if not takes or (figure.point not in mine[-1].points and mine[-1].number in known):
            number = max([1, *(one.number for one in mine[-1:]), *(1 + one for one in known)])
            self.runs.append(_Run(self.section, self.heading, [], number=number))
        self.runs[-1].notes += notes
        self.runs[-1].add(figure)

    def notes(self) -> list[str]:
        """The words since the last figure, line by line; a heading among them begins a section."""
        notes: list[str] = []
        for line, text in _lines(self.between):
            if prose.is_ruler(text):
                if notes:
                    self.start(notes.pop())
            elif heading := self.heading_of(line, text):
                self.start(heading)
            else:
                notes.append(text)
        self.between = []
        return notes

    def heading_of(self, line: int, text: str) -> str:
        if line not in self.bare_lines or text[:1] in "$%>":
            return ""
        is_title = text.startswith("clusterperf ") or text.endswith(":")
        return prose.marked_heading(text) or (text.rstrip(":") if is_title else "")

    def start(self, heading: str) -> None:
        self.section += bool(self.runs and self.runs[-1].section == self.section)
        self.heading = heading

    def figure(self, at: int) -> tuple[_Figure | None, int]:
        """The figure that begins with this word, or none, and what follows it."""
        name = self.words[at]
        found = _NAME.fullmatch(name.text)
        value, unit, first = (self.text(at + i) for i in (1, 2, 3))
        if not found:
            if _NAME_LIKE.fullmatch(name.text) and _NUMBER.fullmatch(value) and unit in _UNITS:
                self.doubt(name, f"'{name.text} {value} {unit}' is kept as a note: no figure of a "
                           "known operation")  # fmt: skip
            return None, at + 1
        if not _NUMBER.fullmatch(value) and unit not in _UNITS:
            if value == "":
                self.refuse_end(name)
            return None, at + 1
        if unit == "":
            self.refuse_end(name)
        if unit not in _UNITS and first not in _FIRST:
            self.doubt(name, f"'{name.text} {value} {unit}' is kept as a note: no unit")
            return None, at + 1
        return self.whole(at, found)

    def whole(self, at: int, found: re.Match[str]) -> tuple[_Figure, int]:
        """A figure with its description; InputError where a part of it is not understood."""
        name, amount, unit = self.words[at : at + 3]
        operation, is_rate, digits, factor, statistic = found.groups()
        value = number(self.path, amount.line, amount.column, amount.text, least=0)
        units = _RATES if is_rate else _TIMES
        if unit.text not in units:
            what = f"expected one of {', '.join(units)}, found '{unit.text}'"
            raise bad(self.path, unit.line, unit.column, what)
        if is_rate and statistic:
            raise bad(self.path, name.line, name.column, f"'{name.text}' is of no known meaning")
        description, after = self.description(at + 3, name, bool(is_rate))
        column = "byte_rate" if is_rate else _COLUMN[statistic]
        size = int(digits) * _FACTOR[factor]
        if size >= LARGEST:
            raise bad(self.path, name.line, name.column, f"'{name.text}': the size is too large")
        told = {int(n) * _FACTOR[f] for n, f in _SIZES.findall(description)}
        if told and told != {size}:
            self.doubt(name, f"'{name.text}' says {size} B, its description {min(told)} B")
        factor_of_unit = units[unit.text]
        figure = _Figure(
            name.text, (operation, size), column, value * factor_of_unit, description, name
        )
        return figure, after

    def description(self, at: int, name: _Word, is_rate: bool) -> tuple[str, int]:
        """Up to the word that ends one, or the next figure; it may be broken across lines."""
        end = at
        limit = min(len(self.words), at + _LONGEST)
        while end < limit and not self.begins(end):
            word = self.words[end].text
            end += 1
            if is_rate and _OBJECTS.fullmatch(word):
                return self.text_of(at, self.past_key(end)), self.past_key(end)
            if not is_rate and _ENDS.fullmatch(word):
                return self.text_of(at, end), end
        if end == len(self.words):
            self.refuse_end(name)
        if end == limit:  # none of the kind: what is on the line is it
            line = self.words[at - 1].line
            end = at
            while end < limit and self.words[end].line == line:
                end += 1
        return self.text_of(at, end), end

    def past_key(self, at: int) -> int:
        """Behind `(30B key)`."""
        if self.text(at).startswith("(") and self.text(at + 1).endswith(")"):
            return at + 2
        if self.text(at).startswith("(") and self.text(at + 1) in ("", "key"):
            self.refuse_end(self.words[at])
        return at

    def begins(self, at: int) -> bool:
        known = _NAME.fullmatch(self.text(at))
        return known is not None and _NUMBER.fullmatch(self.text(at + 1)) is not None

    def text(self, at: int) -> str:
        return self.words[at].text if at < len(self.words) else ""

    def text_of(self, first: int, end: int) -> str:
        return " ".join(word.text for word in self.words[first:end])

    def doubt(self, at: _Word, what: str) -> None:
        self.remarks.append(f"line {at.line}, column {at.column}: {what}")

    def refuse_end(self, at: _Word) -> None:
        raise bad(self.path, at.line, at.column, f"the text ends within '{at.text} …'")


def _words(text: str) -> list[_Word]:
    """All words with their places; signs of lists are none."""
    found = []
    for line, content in enumerate(text.splitlines(), start=1):
        for match in re.finditer(r"\S+", content):
            bare = _bare(match.group())
            named = _NAME.fullmatch(bare) is not None
            word = bare if named else match.group()
            if bare or len(match.group()) > 1:
                found.append(_Word(word, line, match.end() - len(word) + 1))
    return found


def _lines(words: list[_Word]) -> list[tuple[int, str]]:
    """Words as they stood on their lines; what only numbers an item of a list is left out."""
    by_line: dict[int, list[str]] = {}
    for word in words:
        by_line.setdefault(word.line, []).append(word.text)
    joined = [(line, " ".join(texts)) for line, texts in by_line.items()]
    return [(line, text) for line, text in joined if not re.fullmatch(r"-|\(?\d+[.)]", text)]


def _without_figures(text: str) -> frozenset[int]:
    return frozenset(
        line
        for line, content in enumerate(text.splitlines(), start=1)
        if not any(_NAME.fullmatch(_bare(word)) for word in content.split())
    )


def parse(path: Path, text: str) -> list[Block]:
    """One block per run; InputError with line and column where a figure is not understood."""
    reader = _Reader(path, _words(text), _without_figures(text))
    reader.read()
    if not reader.runs:
        raise bad(path, 1, 1, "no figure found: expected 'echo100 3.9 us send 30B message, …'")
    blocks = [_block(run) for run in reader.runs]
    blocks[0].attachments = {path.name: text}
    blocks[0].remarks = reader.remarks
    return blocks


def _block(run: _Run) -> Block:
    told = prose.settings(run.heading)
    return Block(
        [_row(run, *item) for item in run.points.items()],
        ENGINE,
        environment=told.environment,
        labels=told.labels,
        attributes={"started": told.started},
        note="\n".join(run.notes),
    )


def _row(run: _Run, point: tuple[str, int], figures: dict[str, _Figure]) -> dict[str, Any]:
    operation, size = point
    row: dict[str, Any] = {
        "ranks": 2,  # the two ends of a round trip
        "section": run.section,
        "run": run.number,
        "operation": operation,
        "message_size": size,
        **{column: round(figure.value, 6) for column, figure in figures.items()},
    }
    if mode := _MODE.match(run.heading):
        row["mode"] = mode[1]
    for figure in figures.values():
        for name, pattern in (("request_size", _REQUEST), ("key_size", _KEY)):
            found = pattern.search(figure.description)
            if found and (told_size := int(found[1]) * _FACTOR[found[2]]) < LARGEST:
                row[name] = told_size
    if "byte_rate" in row:
        row["gbps"] = row["byte_rate"] * 8e-9
    return row


def told(blocks: list[Block]) -> str:
    """What was found."""
    rows = [row for block in blocks for row in block.rows]
    figures = sum(name in row for row in rows for name in _PRINTED)
    runs = {(row["section"], row["run"]) for row in rows}
    sections = {section for section, _ in runs}
    counts = (
        count_text(len(blocks), "table"),
        count_text(len(runs), "run"),
        count_text(len(sections), "section"),
    )
    return f"{figures} figures of {count_text(len(rows), 'point')} in {', '.join(counts)}"
