# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a study: what its jobs meant to launch and what became of it (docs/study.md)."""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from a2aperf import reading, regular
from a2aperf.asking import ask
from a2aperf.errors import InputError

PLAN_COLUMNS: Final = ("launch", "nodes", "ppn", "subset", "settings", "file")
LOG_COLUMNS: Final = ("launch", "started", "ended", "status", "reason")
_ALIKE: Final = ("cpu", "kernel", "firmware", "port", "pcie", "link")
"""Checks of the preflight whose text is the same on all nodes of a cluster of one kind."""
_NOT_ITS_OWN: Final = ("answer", "use", "jobs", "state")
"""Checks that others say of a node."""
RUN: Final = "run"
"""The id of what `a2a run` makes."""
_DIGITS: Final = 9
_ESCAPED: Final = {r"\t": "\t", r"\n": "\n", r"\\": "\\", r"\;": ";"}


class Fate(StrEnum):
    """What became of a planned launch."""

    GOOD = "good"
    FAILED = "failed"
    NOT_BEGUN = "not begun"  # and will not be by this job, which says why
    STARTED = "started"  # it has a file, and no end in the log: it runs, or its job was ended
    WAITING = "not reached"


_CUT: Final = "its file is shorter than its own header says"
_END: Final = struct.Struct("<8xB31xQ")
"""Of an HDF5 file: the superblock's version, and the end of the file."""
NOT_MADE: Final = (Fate.FAILED, Fate.NOT_BEGUN)
"""What a job has tried, or given up, and does not come back to."""


@dataclass(frozen=True)
class Logged:
    """One line of the log: an attempt at a launch. `status` is None where it was not begun."""

    started: datetime | None
    ended: datetime | None
    status: int | None
    reason: str

    @property
    def was_stopped(self) -> bool:
        """Whether the job ended it, for want of time or at a signal: it did not fail by itself."""
        return ": stopped at an op" in self.reason or ": stopped before its" in self.reason


@dataclass(frozen=True)
class Launch:
    """One line of the plan, with the last line of the log on it, if there is one."""

    number: str
    nodes: int
    ppn: int
    subset: str
    settings: tuple[str, ...]
    file: Path
    last: Logged | None = None

    @property
    def fate(self) -> Fate:
        """What became of it, by the log and the file."""
        if self.last is not None:
            if self.last.status is None:
                return Fate.NOT_BEGUN
            good = self.last.status == 0 and self.file.exists() and not _is_cut(self.file)
            return Fate.GOOD if good else Fate.FAILED
        return Fate.STARTED if self.file.exists() else Fate.WAITING

    @property
    def why(self) -> str:
        """Why there is no complete file, in words; empty for a good launch."""
        if self.fate is Fate.GOOD:
            return ""
        if self.last is None:
            return "cut short" if self.fate is Fate.STARTED else str(Fate.WAITING)
        if self.last.status == 0:
            return _CUT if self.file.exists() else "its file is not there any more"
        if self.last.status is None:
            return self.last.reason
        return f"{self.last.reason} (exit status {self.last.status})"

    @property
    def seconds(self) -> float | None:
        """How long the last attempt took; None where it is not known."""
        if self.last is None or self.last.started is None or self.last.ended is None:
            return None
        return (self.last.ended - self.last.started).total_seconds()


def _is_cut(file: Path) -> bool:
    """Whether it ends before the end that its superblock has, of version 0 as the program writes.

    What else may be damaged `a2a check` tells.
    """
    try:
        with file.open("rb") as opened:
            head = opened.read(_END.size)
            size = file.stat().st_size
    except OSError:  # which whoever reads it will tell
        return False
    if len(head) < _END.size:
        return True
    version, end = _END.unpack(head)
    return bool(version == 0 and size < end)


@dataclass(frozen=True)
class Check:
    """One line of the preflight; `verdict` is ok, warn or bad."""

    node: str
    check: str
    verdict: str
    text: str


@dataclass(frozen=True)
class Job:
    """One job of the study: its plan with the fates of the launches, and its preflight."""

    id: str
    folder: Path
    facts: dict[str, str]
    launches: list[Launch]
    checks: list[Check] = field(default_factory=list)

    @property
    def is_run(self) -> bool:
        """Whether `a2a run` makes it, and not a job of Slurm."""
        return self.id == RUN

    @property
    def at_work(self) -> bool:
        """Whether a run of `a2a run` holds its folder."""
        try:
            descriptor = os.open(self.folder / "run.lock", os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    @property
    def kind(self) -> str:
        """`alltoall`, `compare`, `screen` or `check`."""
        return self.facts.get("kind", "job")

    def of(self, *fates: Fate) -> list[Launch]:
        """The launches with one of these fates."""
        return [launch for launch in self.launches if launch.fate in fates]


def read(folder: Path) -> list[Job]:
    """All jobs of a study's folder, in the order of their ids; InputError where a file is no such.

    An empty list where the folder holds no plan.
    """
    plans = sorted(folder.glob("plan-*.tsv"), key=lambda path: _natural(path.stem))
    return [_job(plan) for plan in plans]


def concerned(files: Iterable[Path]) -> list[Job]:
    """The jobs whose plans name any of these files, found beside them; damaged plans raise."""
    wanted = {file.resolve() for file in files}
    folders = dict.fromkeys(file.parent for file in wanted)
    jobs = [job for folder in folders for job in read(folder)]
    return [job for job in jobs if any(x.file.resolve() in wanted for x in job.launches)]


def checks_of(lines: Iterable[str]) -> list[Check]:
    """Lines `node<TAB>check<TAB>verdict<TAB>text` of the preflight; others are passed over."""
    rows = [line.rstrip("\n").split("\t", 3) for line in lines]
    return [Check(*row) for row in rows if len(row) == 4 and row[2] in ("ok", "warn", "bad")]


def unlike(checks: Iterable[Check]) -> list[Check]:
    """Nodes whose processor, kernel, firmware, ports or adapters are not those of most nodes.

    Where no text is that of more than half of the nodes, each is named with its own.
    """
    told = []
    rows = list(checks)
    nodes = {one.node for one in rows if one.check not in _NOT_ITS_OWN}
    for name in _ALIKE:
        texts = dict.fromkeys(nodes, "")
        for one in rows:
            if one.check == name and one.node in texts:
                texts[one.node] += ("; " if texts[one.node] else "") + one.text
        ((most, count),) = Counter(texts.values()).most_common(1) or [("", 0)]
        if count == len(nodes):
            continue
        usual = f"{count} of {len(nodes)} nodes have {most or 'none'}"
        if 2 * count <= len(nodes):
            most, usual = "\0", f"{len(set(texts.values()))} kinds among {len(nodes)} nodes"
        told += [
            Check(node, name, "warn", f"{text or 'none'}, and {usual}")
            for node, text in sorted(texts.items())
            if text != most
        ]
    return told


def points_done(file: Path) -> tuple[int, int]:
    """Points that are done with, and all points, of a file that may be running."""
    return ask(file, reading.points_done)


def _job(plan: Path) -> Job:
    number = plan.stem.removeprefix("plan-")
    facts, rows = _table(plan, PLAN_COLUMNS)
    log = plan.with_name(f"log-{number}.tsv")
    ended: dict[str, Logged] = {}
    for row in _table(log, LOG_COLUMNS)[1] if log.exists() else []:
        ended[row["launch"]] = _logged(log, row)  # the last one counts
    launches = [
        Launch(
            row["launch"],
            _count(plan, row["nodes"]),
            _count(plan, row["ppn"]),
            row["subset"],
            _settings(row["settings"]),
            _file(plan, row["file"]),
            ended.get(row["launch"]),
        )
        for row in rows
    ]
    nodes = plan.with_name(f"nodes-{number}.txt")
    checks = checks_of(_lines(_text(nodes, "replace"))) if nodes.exists() else []
    return Job(number, plan.parent, facts, launches, checks)


def _table(path: Path, columns: tuple[str, ...]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Facts (`# name<TAB>value`) above the header, and the rows below it."""
    is_log = columns == LOG_COLUMNS
    # The last column of a log is what others said, in whatever characters they have.
    text = _text(path, "replace" if is_log else "strict")
    lines = _lines(text)
    facts = dict(
        line[2:].split("\t", 1) for line in lines if line.startswith("# ") and "\t" in line
    )
    table = [line for line in lines if not line.startswith("# ")]
    if not table or tuple(table[0].split("\t")) != columns:
        what = "is empty"
        if text.strip():
            what = "has another header" if table else "has no header"
        raise InputError(f"{path} {what}: a file of a study has {' '.join(columns)}")
    rows = [line.split("\t", len(columns) - 1 if is_log else -1) for line in table[1:]]
    # A log is appended to: a full disk or a node that dies cuts its last line short, and no other.
    if is_log and rows and len(rows[-1]) < len(columns) and text[-1] != "\n":
        rows.pop()
    if any(len(row) != len(columns) for row in rows):
        raise InputError(f"{path}: a line has not {len(columns)} columns")
    return facts, [dict(zip(columns, row, strict=True)) for row in rows]


def _lines(text: str) -> list[str]:
    """At new lines alone: a carriage return or a form feed within a line ends none."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n") if text]


def _text(path: Path, errors: str = "strict") -> str:
    try:
        text = regular.read_bytes(path).decode("utf-8", errors)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{path} is not a text file")
    return text


def _file(plan: Path, name: str) -> Path:
    path = plan.parent / name
    try:
        path.resolve().exists()
    except (OSError, RuntimeError):  # too long, a link to itself
        raise InputError(f"{plan}: {name[:40]!r} is not a file name") from None
    return path


def _settings(text: str) -> tuple[str, ...]:
    if text == "-":
        return ()
    parts = re.split(r"(?<!\\)((?:\\\\)*);", text)
    joined = [a + b for a, b in zip(parts[::2], [*parts[1::2], ""], strict=True)]
    return tuple(re.sub(r"\\[tn\\;]", lambda found: _ESCAPED[found[0]], part) for part in joined)


def _logged(path: Path, row: dict[str, str]) -> Logged:
    status = None if row["status"] == "-" else _count(path, row["status"])
    return Logged(_time(path, row["started"]), _time(path, row["ended"]), status, row["reason"])


def _count(path: Path, text: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS:
        raise InputError(f"{path}: '{text[:40]}' is not a whole number of up to {_DIGITS} digits")
    return int(text)


def _time(path: Path, text: str) -> datetime | None:
    if text == "-":
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:  # without a zone it cannot be held against others
        raise InputError(f"{path}: '{text}' is not a time such as 2026-11-20T17:30:05Z")
    return found


def _natural(text: str) -> tuple[int, str]:
    digits = re.sub(r"\D", "", text)
    return int(digits or 0), text
