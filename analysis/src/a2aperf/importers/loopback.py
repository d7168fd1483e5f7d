# SPDX-License-Identifier: BSD-3-Clause
"""The layout of a loopback test over verbs: streams between two ports of one adapter.

A table has eight headings; a row has a value for each, or six: no delay, and the wait not recorded.
What stands before a table is read by what it is, in any order: attributes of the device and its
ports, limits of queues, CPU frequencies, counters of each phase. Tables of equal headings are told
apart by their section; all other words are kept as notes. How many threads there were is not told,
nor, where the receiver is passive, how many buffers. What `a2aperf stream` prints in this layout
says in its lines `Testing` how the streams were asked for: a label, so that they stay apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from a2aperf.importers import prose
from a2aperf.importers.block import LARGEST, Block, bad, number
from a2aperf.labels import count_text
from a2aperf.schema import SEGMENT_ATTRIBUTES

ENGINE: Final = "loopback-test"
PERCENTILE_RULE: Final = "rank"  # it has none
_NAMES: Final = {
    "Test duration (secs)": "stream_time",
    "Data length (bytes)": "message_size",
    "Total messages received": "messages",
    "Total data bytes received": "bytes",
    "Messages per sec": "msg_rate",
    "Data bytes per sec": "byte_rate",
    "Rx thread free delay (us)": "free_delay",
    "Tx thread max get send buffer (us)": "longest_wait",
}
_OPTIONAL: Final = ("free_delay", "longest_wait")
_NANOSECONDS: Final = {"stream_time": 10**9, "free_delay": 1000, "longest_wait": 1000}
_HEADING: Final = re.compile("|".join(re.escape(name) for name in _NAMES))
_LEAST_HEADINGS: Final = 3
_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_SETTING: Final = re.compile(r"([A-Za-z]\w*)=(\S*)")
_ATTRIBUTES: Final = re.compile(r"\s*Attributes of (.+?):\s*")
_CAPABILITIES: Final = re.compile(r"\s*(\w+) capabilities:\s*(.*?)\s*")
_FREQUENCIES: Final = re.compile(r"\s*Current CPU frequenc(?:y|ies) \((\w+)\)\s*:\s*([\d.\s]+)")
_PHASE: Final = re.compile(r"\s*Changes to statistics for (.+?):\s*")
_COUNTER: Final = re.compile(r"\s*(?:Num )?(\S.*?) = (-?\d+) \((-?\d+) (?:->|→) (-?\d+)\)\s*")
_COMMAND: Final = re.compile(r"\s*[$#%]\s+\S")
_REMARK: Final = re.compile(r"# (?:\d+ B (?:skipped|without a time):|\d+ ranks? on \d+ node).*")
_OWN: Final = re.compile(r"Testing using [\w-]+, (.+?) and \d+ buffers")
_MODES: Final = (
    ("write-imm", re.compile(r"write[ _-](?:with[ _-])?imm", re.IGNORECASE)),
    ("read", re.compile(r"\brdma[ _-]read\b|^testing using read,", re.IGNORECASE)),
    ("write", re.compile(r"\brdma[ _-]write\b|^testing using write,", re.IGNORECASE)),
    ("tagged", re.compile(r"\btagged\b", re.IGNORECASE)),
    ("msg", re.compile(r"\bsend\b", re.IGNORECASE)),
)
_MEGAHERTZ_AT_MOST: Final = 100_000
"""What is called MHz and is more is in kHz."""


def matches(text: str) -> bool:
    """Whether the text has a heading of this layout."""
    return any(_is_heading(line) for line in text.splitlines())


def _is_heading(line: str) -> bool:
    return len(_HEADING.findall(line)) >= _LEAST_HEADINGS


@dataclass
class _Test:
    """What is said of the tables between two lines that begin with `Testing`."""

    words: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)


@dataclass
class _Section:
    """What is said of the tables of one start of the program, or under one heading."""

    index: int
    heading: str = ""
    notes: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)


@dataclass
class _Reader:
    path: Path
    section: _Section = field(default_factory=lambda: _Section(1))
    test: _Test = field(default_factory=_Test)
    blocks: list[Block] = field(default_factory=list)
    preamble: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Since the last table."""
    remarks: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Columns of the last heading."""
    is_open: bool = False
    is_below: bool = False  # a row, with no empty line between
    heading_line: int = 0
    of_attributes: str = ""
    phase: str = ""

    def line(self, line: int, content: str) -> None:
        """One line, by what it is."""
        if not content.strip():
            self.of_attributes, self.is_below = "", False
        elif _is_heading(content):
            self.heading(line, content)
        elif _looks_like_row(content, self.is_open and self.is_below):
            self.row(line, content)
        elif prose.is_ruler(content):
            self.ruler()
        elif heading := prose.marked_heading(content):
            self.start_section(heading)
        elif not self.fact(content):
            self.note(content.strip())

    def note(self, words: str) -> None:
        self.of_attributes = self.phase = ""
        if _REMARK.fullmatch(words):
            self.words.append(words)
            return
        self.is_open = False
        if _HEADING.search(words):  # not all that a heading has: of which columns rows are is open
            self.names = []
        if words.startswith("Testing "):
            self.end_test()
            self.test, self.names = _Test(words), []
            self.section.notes += self.words
            self.words = []
            return
        if _COMMAND.match(words):
            self.section.commands.append(words[1:].strip())
        self.words.append(words)

    def ruler(self) -> None:
        """A heading, if words stand above it."""
        if self.words:
            self.start_section(self.words.pop())

    def start_section(self, heading: str) -> None:
        """Below a heading nothing is known of what was said above it."""
        self.end_test()
        self.is_open, self.names = False, []
        if self.blocks:
            self.blocks[-1].note = "\n".join([self.blocks[-1].note, *self.words]).strip()
        elif not self.section.heading:
            self.preamble, self.section.commands = [*self.section.notes, *self.words], []
        else:
            self.preamble += [self.section.heading, *self.section.notes, *self.words]
        self.words = []
        index = self.section.index + bool(self.blocks)
        self.section, self.test = _Section(index, heading), _Test()

    def fact(self, content: str) -> bool:
        """Keep what the program says of the device, the queues and the system."""
        assigned = content.split()
        if self.of_attributes and all(_SETTING.fullmatch(token) for token in assigned):
            self.assign(self.section.facts, self.of_attributes, assigned)
        elif found := _ATTRIBUTES.fullmatch(content):
            self.attributes(found[1])
        elif found := _CAPABILITIES.fullmatch(content):
            self.assign(self.test.facts, found[1], found[2].split())
        elif found := _FREQUENCIES.fullmatch(content):
            self.frequencies(found[1], found[2].split())
        elif found := _PHASE.fullmatch(content):
            self.phase = found[1]
        elif self.phase and (found := _COUNTER.fullmatch(content)):
            self.counter(*found.groups())
        else:
            return False
        self.is_open = False
        return True

    def assign(self, facts: dict[str, str], of: str, tokens: list[str]) -> None:
        for token in tokens:
            found = _SETTING.fullmatch(token)
            if found:
                facts[f"{_word(of)}_{found[1]}"] = found[2]
            else:
                self.words.append(f"{of}: {token}")

    def attributes(self, of: str) -> None:
        """Of a device: where they were told already, the program was started again."""
        kind, _, which = of.partition(" ")
        if kind == "device":
            if "device" in self.section.facts:
                self.end_test()
                heading, words = self.section.heading, self.words
                self.words = []
                self.start_section(heading)
                self.words = words
            self.section.facts["device"] = which
            self.of_attributes = "device"
            return
        *kinds, last = of.split()
        name = " ".join(kinds) if last.isdigit() and kinds else of
        if name != of:
            self.section.facts[_word(name)] = last
        self.of_attributes = name

    def frequencies(self, unit: str, values: list[str]) -> None:
        """What is called MHz and is far too many is in kHz."""
        known = [float(value) for value in values if _NUMBER.fullmatch(value)]
        if not known:
            return
        to_khz = 1000 if unit.lower() == "mhz" and max(known) < _MEGAHERTZ_AT_MOST else 1
        self.test.facts["cpu_frequency_seen_khz"] = " ".join(f"{x * to_khz:.0f}" for x in known)

    def counter(self, what: str, change: str, before: str, after: str) -> None:
        name = f"{_word(self.phase)}_{_word(what)}"
        self.test.facts[name] = f"{before} → {after} ({change})"
        if int(after) - int(before) != int(change):
            self.remarks.append(f"{self.phase}: {what}: {before} to {after} is not {change}")

    def heading(self, line: int, content: str) -> None:
        self.close()
        self.names = _columns(self.path, line, content)
        self.heading_line = line
        self.open_block()

    def open_block(self) -> None:
        block = Block([], ENGINE, note="\n".join([*self.section.notes, *self.words]), ppn=1)
        self.words = []
        self.test.blocks.append(block)
        self.is_open = True

    def row(self, line: int, content: str) -> None:
        if not self.names:
            raise bad(self.path, line, 1, "a row of numbers without a heading above it")
        if not self.is_open:  # words stand above it: not the same table, perhaps
            self.open_block()
        row, self.is_below = _row(self.path, line, content, self.names), True
        self.remarks += _disagreements(line, row)
        del row["half_digit"]
        self.test.blocks[-1].rows.append({"section": self.section.index, **row})

    def close(self) -> None:
        if self.test.blocks and not self.test.blocks[-1].rows:
            raise bad(self.path, self.heading_line, 1, "a heading with no row under it")

    def end_test(self) -> None:
        """What was said of the test holds for all its tables."""
        self.close()
        told = prose.settings(self.section.heading)
        mode = _mode(self.test.words)
        counts = {**told.labels, **prose.settings(self.test.words).labels}
        window = _window(mode, self.test.facts, counts)
        own = {"stream": words[1]} if (words := _OWN.fullmatch(self.test.words)) else {}
        spoken = " ".join([*self.section.notes, *self.section.commands])
        asked = told.frequency_asked or prose.frequency(spoken)
        for block in self.test.blocks:
            block.environment, block.labels = dict(told.environment), told.labels | own
            block.attributes = {
                "preamble": "\n".join(self.preamble),
                "command_line": "; ".join(self.section.commands),
                "domain": self.section.facts.get("device", ""),
                "started": told.started,
                "test": self.test.words,
                "cpu_frequency_asked_khz": asked,
                **_not_of_launches({**self.section.facts, **self.test.facts}),
            }
            for row in block.rows:
                row["mode"] = mode
                if window is not None:
                    row["window"] = window
        if self.test.blocks and not mode:
            which = f"'{self.test.words}'" if self.test.words else "what the text says"
            self.remarks.append(f"section {self.section.index}: {which} is of no known mode")
        self.blocks += self.test.blocks
        self.test.blocks = []


def parse(path: Path, text: str) -> list[Block]:
    """One block per table; InputError with line and column where a row is not understood."""
    reader = _Reader(path)
    for line, content in enumerate(text.splitlines(), start=1):
        reader.line(line, content)
    reader.end_test()
    last = (text.splitlines() or [""])[-1]
    if _looks_like_row(last) and not text.endswith(("\n", "\r")):
        reader.remarks.append("the text ends within a row: its last number may be cut")
    if not reader.blocks:
        raise bad(path, 1, 1, f"no table found: expected the heading '{'  '.join(_NAMES)}'")
    if reader.words:
        reader.blocks[-1].note = "\n".join([reader.blocks[-1].note, *reader.words]).strip()
    reader.blocks[0].attachments = {path.name: text}
    reader.blocks[0].remarks = reader.remarks
    return reader.blocks


def told(blocks: list[Block]) -> str:
    """What was found."""
    rows = sum(len(block.rows) for block in blocks)
    sections = {row["section"] for block in blocks for row in block.rows}
    return (
        f"{count_text(len(blocks), 'table')} with {count_text(rows, 'row')} in "
        f"{count_text(len(sections), 'section')}"
    )


def _not_of_launches(facts: dict[str, str]) -> dict[str, str]:
    """Without what has the name of something that every launch has."""
    return {name: value for name, value in facts.items() if name not in SEGMENT_ATTRIBUTES}


def _word(text: str) -> str:
    """A name for an attribute."""
    return re.sub(r"\W+", "_", text.strip()).strip("_").lower()


def _mode(words: str) -> str:
    return next((mode for mode, pattern in _MODES if pattern.search(words)), "")


def _window(mode: str, facts: dict[str, str], labels: dict[str, str]) -> int | None:
    """Buffers: as words tell, or as many receives as the receiver's queue has been made for.

    A passive receiver posts none.
    """
    if (told := labels.get("buffers", "")).isdigit():
        return int(told)
    posted = facts.get("receiver_qp_max_recv_wr", "")
    return int(posted) if mode in ("write-imm", "msg", "tagged") and posted.isdigit() else None


def _columns(path: Path, line: int, content: str) -> list[str]:
    """The columns in the order of their headings; each is one of those known, and there once."""
    names = []
    end = 0
    for found in _HEADING.finditer(content):
        if strange := content[end : found.start()].strip():
            raise bad(path, line, content.index(strange, end) + 1, f"unknown heading '{strange}'")
        names.append(_NAMES[found.group()])
        end = found.end()
    if strange := content[end:].strip():
        raise bad(path, line, content.index(strange, end) + 1, f"unknown heading '{strange}'")
    missing = [heading for heading, name in _NAMES.items() if names.count(name) != 1]
    if missing:
        what = f"expected each of 8 headings once: '{missing[0]}' is not"
        raise bad(path, line, len(content.rstrip()) + 1, what)
    return names


def _looks_like_row(content: str, is_below: bool = False) -> bool:
    """Mostly numbers, and two of them first or five values: prose is not. Below a row two do."""
    tokens = content.split()
    numeric = [_NUMBER.fullmatch(token) is not None for token in tokens]
    is_mostly = sum(numeric) * 2 > len(tokens)
    return (all(numeric[:2]) and (is_below or is_mostly)) or (len(tokens) >= 5 and is_mostly)


def _row(path: Path, line: int, content: str, names: list[str]) -> dict[str, Any]:
    tokens = [(found.group(), found.start() + 1) for found in re.finditer(r"\S+", content)]
    if len(tokens) < len(names):
        names = [name for name in names if name not in _OPTIONAL]
    if len(tokens) != len(names):
        column = (tokens[len(_NAMES) :] or [("", len(content.rstrip()) + 1)])[0][1]
        raise bad(path, line, column, f"expected 8 values or 6, found {len(tokens)}")
    row: dict[str, Any] = {"ranks": 1, "free_delay": 0}
    for name, (token, column) in zip(names, tokens, strict=True):
        if name in _OPTIONAL and token == "-":
            continue
        value = number(path, line, column, token, least=0)
        if name == "stream_time":
            if value == 0:
                raise bad(path, line, column, f"expected a positive number, found '{token}'")
            digits = len(token.partition(".")[2])
            row["half_digit"] = Decimal(5) / Decimal(10) ** (digits + 1) * 10**9
        elif not token.isdigit() and name != "free_delay":
            raise bad(path, line, column, f"expected a whole number, found '{token}'")
        row[name] = int(Decimal(token) * _NANOSECONDS.get(name, 1))
        if row[name] >= LARGEST:
            raise bad(path, line, column, f"'{token}' is too large")
    row["gbps"] = row["bytes"] * 8 / row["stream_time"]
    return row


def _disagreements(line: int, row: dict[str, Any]) -> list[str]:
    """Figures of a row that do not follow from each other within their rounding."""
    found = []
    if row["bytes"] != row["message_size"] * row["messages"]:
        computed = row["message_size"] * row["messages"]
        found.append(f"line {line}: {row['bytes']} bytes are not length × messages = {computed}")
    time, half = Decimal(row["stream_time"]), row["half_digit"]
    for total, rate in (("messages", "msg_rate"), ("bytes", "byte_rate")):
        amount = Decimal(row[total]) * 10**9
        low = amount / (time + half) - Decimal("0.5")
        high = amount / (time - half) + Decimal("0.5") if time > half else Decimal("Infinity")
        if not low <= row[rate] <= high:
            exact = amount / time
            found.append(f"line {line}: {row[rate]} {total}/s are not total / time = {exact:.0f}")
    return found
