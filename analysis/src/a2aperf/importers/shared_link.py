# SPDX-License-Identifier: BSD-3-Clause
"""Notes on service levels: paths that share a link of InfiniBand, with what each got in intervals.

A text has tables of the port (`smpquery SL2VL`, `VLArb`, `PI`), lines of opensm.conf, the command
lines of the senders and of the receivers, and what the receivers print; all else is a note. What a
table says holds until another one says otherwise, or a heading comes. A pair of command lines
begins an experiment, and is its name: letters and words above it repeat. A path that has connected
and printed nothing got nothing; what was printed before the last one had connected is start-up.
Times are counted from the lengths of the intervals.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import shares, workloads
from a2aperf.arbitration import Reader
from a2aperf.importers import prose
from a2aperf.importers.block import LARGEST, Block, Own, bad
from a2aperf.importers.ticks import Experiment, PathText
from a2aperf.labels import count_text
from a2aperf.schema import SEGMENT_ATTRIBUTES, UNKNOWN

ENGINE: Final = "message-bandwidth-test"
PERCENTILE_RULE: Final = "rank"  # it has none
_RECEIVED: Final = re.compile(
    r"\s*Rx_(\d{1,4}) received (\d+) data bytes in (\d+) messages "
    r"over last (\d+(?:\.\d+)?) seconds?\s*"
)
_LOOKS_RECEIVED: Final = re.compile(r"\s*Rx_\d+\s+received\b")
_CONNECTED: Final = re.compile(r"\s*Rx_(\d{1,4})\b[^.]*\bconnected\b.*", re.IGNORECASE)
_THREADS: Final = re.compile(r"--thread[= ](\S+)")
_PROMPT: Final = re.compile(r"\s*(?:\[[^\]]*\]\s*)?(?:\S*[$#%>]\s*)?(?=\S)")
_RANKS: Final = 2


def matches(text: str) -> bool:
    """Whether the text has a line of what came on a path."""
    return any(_LOOKS_RECEIVED.match(line) for line in text.splitlines())


@dataclass
class _Part:
    """What is said under one heading while one set of tables holds."""

    heading: str = ""
    tables: Reader = field(default_factory=Reader)
    notes: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Command lines of other programs."""
    experiments: list[Experiment] = field(default_factory=list)
    above: Reader | None = None
    """Tables under the heading above, where that had no experiment."""

    @property
    def in_force(self) -> Reader:
        """Its own tables, or those above."""
        return self.tables if self.tables.has_any or self.above is None else self.above


@dataclass
class _Text:
    path: Path
    part: _Part = field(default_factory=_Part)
    parts: list[_Part] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def line(self, number: int, content: str) -> None:
        """One line, by what it is."""
        if _LOOKS_RECEIVED.match(content):
            self.received(number, content)
        elif connected := _CONNECTED.fullmatch(content):
            self.connected(number, int(connected[1]))
        elif threads := _THREADS.search(content):
            self.command(number, content, threads[1])
        elif self.is_table(content):
            return  # before headings, which may begin with # as well
        elif prose.is_ruler(content):
            self.ruler()
        elif heading := prose.marked_heading(content):
            self.start(_Part(heading))
        elif content.strip():
            self.words(content.strip())

    def is_table(self, content: str) -> bool:
        """Whether it is of a table; one that comes after experiments holds for those below it."""
        if not self.part.experiments:
            return self.part.tables.line(content)
        later = copy.deepcopy(self.part.tables)
        if not later.line(content):
            return False
        self.start(_Part(self.part.heading, later))
        return True

    def words(self, content: str) -> None:
        if re.match(r"[$#%]\s+\S", content):
            self.part.others.append(content)
        else:
            self.part.notes.append(content)

    def ruler(self) -> None:
        """A heading, if words stand above it; below it nothing is known of what was above."""
        heading = self.part.notes.pop() if self.part.notes else ""
        self.start(_Part(heading))

    def start(self, part: _Part) -> None:
        """Words and tables that have no experiment are of those below."""
        if self.part.experiments:
            self.parts.append(self.part)
        else:
            part.above = self.part.in_force
            part.notes = [*filter(None, [self.part.heading]), *self.part.notes, *part.notes]
        self.part = part

    def command(self, number: int, content: str, threads: str) -> None:
        """A command line with threads: the second of a pair, or the first of the next one."""
        ends = [re.fullmatch(r"(tx|rx):(\d{1,4})", one) for one in threads.split(",")]
        roles = {end[1] for end in ends if end}
        if not all(ends):
            raise bad(
                self.path,
                number,
                content.index(threads) + 1,
                f"expected tx:N or rx:N, found '{threads}'",
            )
        numbers = sorted({int(end[2]) for end in ends if end})
        if numbers != list(range(len(numbers))):
            raise bad(
                self.path,
                number,
                content.index(threads) + 1,
                f"'{threads}': paths are not numbered from 0",
            )
        last = self.part.experiments[-1] if self.part.experiments else None
        if last is None or roles & set(last.commands) or any(x.intervals for x in last.paths):
            last = Experiment(number)
            self.part.experiments.append(last)
        found = _paths(content, len(numbers))
        line = _PROMPT.sub("", content, count=1).strip()
        last.commands |= dict.fromkeys(roles, line)
        if last.paths and [_asked(x) for x in last.paths] != [_asked(x) for x in found]:
            self.remarks.append(
                f"line {number}: senders and receivers were started with other paths: those of the "
                "receivers count"
            )
        if not last.paths or "rx" in roles:
            last.paths = found

    def _path(self, number: int, index: int) -> tuple[PathText, Experiment]:
        if not self.part.experiments:
            raise bad(
                self.path, number, 1, f"Rx_{index} stands above any command line with --thread="
            )
        experiment = self.part.experiments[-1]
        paths = experiment.paths
        if index >= len(paths):
            many = count_text(len(paths), "path")
            raise bad(self.path, number, 1, f"Rx_{index}: its command line has {many}")
        return paths[index], experiment

    def received(self, number: int, content: str) -> None:
        """What a receiver got in an interval."""
        found = _RECEIVED.fullmatch(content)
        if not found:
            form = "Rx_N received N data bytes in N messages over last N seconds"
            raise bad(self.path, number, 1, f"expected '{form}', found '{content.strip()}'")
        path, experiment = self._path(number, int(found[1]))
        length = round(float(found[4]) * 1e9)
        came, messages = int(found[2]), int(found[3])
        if not 0 < length < LARGEST or max(came, messages) >= LARGEST:
            raise bad(
                self.path, number, 1, f"a number is too large, or no time: '{content.strip()}'"
            )
        if path.message_size and came != messages * path.message_size:
            self.remarks.append(
                f"line {number}: {came} bytes are not messages × size = "
                f"{messages * path.message_size}"
            )
        experiment.tick += experiment.tick in path.intervals
        path.intervals[experiment.tick] = (length, came, messages)

    def connected(self, number: int, index: int) -> None:
        """A path can send from now on: from the end of a tick at which others have reported."""
        path, experiment = self._path(number, index)
        if path.intervals:
            self.remarks.append(f"line {number}: Rx_{index} connected after it had received")
            return
        path.connected = experiment.tick + experiment.is_reported


def _asked(path: PathText) -> tuple[str, int]:
    return path.level, path.message_size


def _paths(command: str, count: int) -> list[PathText]:
    """By the options of a command line; what it does not say of a path is not known."""
    told: dict[str, list[str]] = {}
    for name, value in re.findall(r"--([\w-]+)[= ](\S+)", command):
        values = value.split(",")
        told[name] = values * count if len(values) == 1 else values
    levels, ports = told.get("ib-sl", []), told.get("ib-port", [])
    devices, sizes = told.get("ib-dev", []), told.get("max-msg-size", [])

    def at(values: Sequence[str], path: int) -> str:
        return values[path] if path < len(values) else ""

    return [
        PathText(
            f"sl{level}" if (level := at(levels, path)).isdecimal() else "",
            "/".join(filter(None, (at(devices, path), at(ports, path)))),
            int(size) if (size := at(sizes, path)).isdecimal() and int(size) < LARGEST else 0,
        )
        for path in range(count)
    ]


def parse(path: Path, text: str) -> list[Block]:
    """One block per set of tables; InputError with line and column where one is not understood."""
    reader = _Text(path)
    for number, content in enumerate(text.splitlines(), start=1):
        reader.line(number, content)
    trailing = reader.part
    if trailing.experiments or not reader.parts:
        reader.parts.append(trailing)
    else:
        reader.parts[-1].notes += [*filter(None, [trailing.heading]), *trailing.notes]
    if not any(part.experiments for part in reader.parts):
        raise bad(path, 1, 1, "no experiment found: expected command lines with --thread=")
    blocks = [_block(part, reader.remarks) for part in reader.parts]
    seen = [tuple(sorted(x.commands.items())) for part in reader.parts for x in part.experiments]
    for index, block in enumerate(blocks):
        block.labels |= {"arbitration": str(index + 1)} if len(blocks) > 1 else {}
    if again := len(seen) - len(set(seen)):
        reader.remarks.append(
            f"{count_text(again, 'experiment')} with the command lines of an earlier one"
        )
    blocks[0].attachments = {path.name: text}
    blocks[0].remarks = reader.remarks
    blocks[0].attributes["lines"] = str(len(text.splitlines()))
    return blocks


def _block(part: _Part, remarks: list[str]) -> Block:
    tables = part.in_force
    remarks += tables.oddities + tables.disagreements()
    rows, groups = [], []
    for one in part.experiments:
        for role in {"tx", "rx"} - set(one.commands):
            remarks.append(f"line {one.line}: an experiment without a command line of {role}")
        rows.append(_row(one))
        groups.append(one)
    facts = {f"port_{name}": value for name, value in tables.facts.items()}
    facts |= tables.found.settings()
    commands = "\n".join(
        f"{one.commands.get('tx', '')}\n{one.commands.get('rx', '')}" for one in part.experiments
    )
    devices = sorted({x.device.partition("/")[0] for one in part.experiments for x in one.paths})
    return Block(
        rows,
        ENGINE,
        attributes={
            **{name: value for name, value in facts.items() if name not in SEGMENT_ATTRIBUTES},
            "command_line": commands,
            "domain": ", ".join(filter(None, devices)),
            "queries": "\n".join(part.others),
        },
        labels={"heading": part.heading} if part.heading else {},
        note="\n".join(part.notes),
        paths=groups,
    )


def _row(one: Experiment) -> dict[str, Any]:
    told = [_described(path) for path in one.paths]
    lengths = {length for path in one.paths for length, *_ in path.intervals.values()}
    sizes = [path.message_size for path in one.paths]
    return {
        "ranks": _RANKS,
        "message_size": max(sizes),
        "path_list": "; ".join(told),
        "path_count": len(one.paths),
        "interval": lengths.pop() if len(lengths) == 1 else UNKNOWN,
        **shares.figures(_shared(one)),
    }


def _described(path: PathText) -> str:
    told = ["0:1"]
    told += [f"class={path.level}"] if path.level else []
    told += [f"size={path.message_size}"] if path.message_size else []
    return " ".join(told)


def _intervals(one: Experiment, most: int) -> dict[str, NDArray[np.int64]]:
    """[paths, most] by their names in the file."""
    names = ("interval_begin", "interval_length", "interval_bytes", "interval_messages")
    made = {name: np.full((len(one.paths), most), UNKNOWN, np.int64) for name in names}
    for row, path in enumerate(one.paths):
        for at, told in enumerate(one.intervals(path)):
            for name, value in zip(names, told, strict=True):
                made[name][row, at] = value
    return {**made, "interval_idle": np.full((len(one.paths), most), UNKNOWN, np.int64)}


def _most(every: Sequence[Experiment]) -> int:
    return max((len(one.intervals(path)) for one in every for path in one.paths), default=0)


def _shared(one: Experiment) -> shares.Shared | None:
    most = _most([one])
    if not most:
        return None
    connected = np.array(one.connected(), np.int64)
    return shares.shared(connected, *_intervals(one, most).values())


def group(blocks: Sequence[Block]) -> Mapping[str, Own]:
    """The paths of all experiments, one after the other."""
    every: list[Experiment] = [one for block in blocks for one in block.paths]
    most = _most(every) or 1
    parts: list[dict[str, NDArray[Any]]] = []
    for point, one in enumerate(every):
        count = len(one.paths)
        unknown = np.full(count, UNKNOWN)
        none = np.full(count, "", object)
        parts.append(
            {
                "of_point": np.full(count, point, np.int32),
                "number": np.arange(count, dtype=np.int32),
                "source": np.zeros(count, np.int32),
                "destination": np.ones(count, np.int32),
                "class_requested": np.array([path.level for path in one.paths], object),
                "class_granted": none,
                "class_verified": none,
                "class_trouble": none,
                "message_size": np.array([path.message_size for path in one.paths], np.int64),
                "window": unknown.astype(np.int32),
                "mode": none,
                "core": unknown.astype(np.int32),
                "port": np.array([path.device for path in one.paths], object),
                "start": np.zeros(count, np.int64),
                "connected": np.array(one.connected(), np.int64),
                **_intervals(one, most),
            }
        )
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    (name,) = (name for name in workloads.GROUPS if set(workloads.GROUPS[name]) == set(joined))
    return {name: (workloads.GROUPS[name], joined)}


def told(blocks: list[Block]) -> str:
    """What was found."""
    every: list[Experiment] = [one for block in blocks for one in block.paths]
    intervals = sum(len(path.intervals) for one in every for path in one.paths)
    notes = sum(len(block.note.splitlines()) for block in blocks)
    lines = sum(int(block.attributes.get("lines", 0)) for block in blocks)
    settings = count_text(len(blocks), "set of tables", "sets of tables")
    return (
        f"{count_text(lines, 'line')}: {count_text(len(every), 'experiment')} under {settings}, "
        f"{count_text(intervals, 'interval')} of paths, {count_text(notes, 'line')} of notes"
    )
