# SPDX-License-Identifier: BSD-3-Clause
"""Results of one or many files: points as a table, launches by name, raw samples on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from a2aperf import counted, metrics, reading, schema
from a2aperf.asking import ask
from a2aperf.datasets import Described
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.sample_columns import SampleColumn
from a2aperf.sample_reader import SampleReader
from a2aperf.traits import Judged, Traits

Made = TypeVar("Made")

ALIASES = {
    "ppn": "ranks_per_node",
    "size": "message_size",
    "msg": "message_size",
    "n": "ops",
    "version": "program_version",
    "cq-mod": "cq_mod",
    "free-delay": "free_delay",
}

_NO_START = (
    "ops that follow one another (--sync none) have no common start, and are compared with nothing"
)
_SAMPLES = (*schema.RAW_MOMENTS, "start", "valid", "exit")
_ENDS = ("send_done", "recv_done", "valid")


def _of_role(count: int, role: str) -> str:
    return f"{count_text(count, 'point')} of role {role} left out"


@dataclass(frozen=True, eq=False)
class Results:
    """Points of all files, one row each, and the launches that measured them.

    `points` has every column of the file (integers that are unknown are <NA>, enumerations are
    words) plus `file`, `point`, `launch`, `ppn`, `link_rate_gbps`, `rails` and `has_raw`.
    """

    points: pd.DataFrame
    launches: dict[str, Launch]
    files: dict[str, Path]
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    columns: dict[str, schema.Column] = field(default_factory=lambda: dict(schema.COLUMN))
    """What the columns of the points are, as the files describe them."""
    absent: frozenset[str] = frozenset()
    """Columns that no file has: blank in `points`, and refused where they are asked for."""
    traits: Callable[[str], Traits] = lambda role: Traits()
    """What any analysis asks of the points of a role."""
    unjudged: tuple[str, ...] = ()
    """Notes on points that `to_judge` has left out."""
    damaged: tuple[str, ...] = ()
    """What the first look at the files met that is not as it was written, each with its file."""
    untold: tuple[str, ...] = ()
    """Figures of the files that nothing carries, in words: they are not in `points`."""
    older: tuple[str, ...] = ()
    """Likewise those that a program of their time could not know better: no fault of the file."""
    left_out: tuple[str, ...] = ()
    """Why files that only a folder stands for are not among `files`, in words."""
    compared: Mapping[str, str] = field(default_factory=dict)
    """Of settings that a study of these files compares, the value that is its first."""
    _times: dict[tuple[str, int], NDArray[np.float64]] = field(default_factory=dict, repr=False)
    """Op times read so far, shared by all selections: several analyses ask for the same."""
    _switches: dict[tuple[str, int], NDArray[np.int64] | None] = field(
        default_factory=dict, repr=False
    )
    """What `switches` has read so far, shared likewise."""
    _samples: SampleReader = field(default_factory=SampleReader, repr=False)

    def raw(self, file: str, point: int) -> RawOps:
        """Every sample of one point (read-only); InputError where the file has only a summary."""
        raw: dict[str, Any] = self._read(file, point, _SAMPLES)
        return RawOps(**raw, complete_at=self._complete_at(file))

    def op_times(self, file: str, point: int) -> NDArray[np.float64]:
        """T of the valid ops of one point, ns, in the order of measurement."""
        known = self._times.get((file, point))
        if known is None:
            ends: dict[str, Any] = self._read(file, point, _ENDS)
            end = metrics.rank_end(ends["send_done"], ends["recv_done"], self._complete_at(file))
            known = self._times[file, point] = metrics.op_time(end)[ends["valid"]]
        return known.copy()

    def _read(self, file: str, point: int, names: Sequence[str]) -> dict[str, Any]:
        return self._samples.read(self.files[file], point, names, *self._shape(file, point))

    def arrival(
        self, file: str, point: int, attempts: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64] | None:
        """When each message of these attempts (default: all) came [attempts, destination, source].

        In ns from the op's start; −1: none. None where the launch did not trace.
        """
        count, ranks = self._shape(file, point)
        wanted = np.arange(count) if attempts is None else np.sort(attempts)
        return ask(self.files[file], reading.read_arrival, point, wanted, ranks)

    def own_columns(self, file: str) -> dict[str, SampleColumn]:
        """The columns of samples that the file has beside those of every workload."""
        return ask(self.files[file], reading.own_columns)

    def own(
        self, file: str, point: int, column: SampleColumn, some: range | None = None
    ) -> NDArray[Any]:
        """One of them at a point, as it is stored: these attempts, or what it runs along; or all.

        No values where the file does not say how many a point has.
        """
        _, ranks = self._shape(file, point)
        wanted = some or range(self.count(file, point, column))
        return ask(self.files[file], reading.read_own, column, point, wanted, ranks)

    def count(self, file: str, point: int, column: SampleColumn) -> int:
        """Attempts of a point, or how many it has of what the column runs along."""
        attempts, _ = self._shape(file, point)
        if column.is_along_ops:
            return attempts
        told = self.points[column.count].iloc[self._row(file, point)]
        return 0 if pd.isna(told) else max(int(told), 0)

    def is_traced(self, file: str) -> bool:
        """Whether the file says when each message came."""
        return ask(self.files[file], reading.has_arrival)

    def files_with(self, roles: Sequence[str]) -> list[str]:
        """Files that have a complete point of these roles here."""
        wanted = self._complete(roles)
        return list(dict.fromkeys(self.points["file"][wanted])) if wanted.any() else []

    @property
    def described(self) -> tuple[schema.Column, ...]:
        """The columns that any file has."""
        return tuple(one for name, one in self.columns.items() if name not in self.absent)

    def group(
        self,
        file: str,
        name: str,
        described: Mapping[str, Described],
        make: Callable[[dict[str, NDArray[Any]]], Made],
    ) -> Made:
        """What is made of the datasets of a workload's own group; `make` may raise ValueError."""
        path = self.files[file]
        arrays = ask(path, reading.read_group, name, described)
        with reading.refusing_damage(path):
            return make(arrays)

    def _complete_at(self, file: str) -> str:
        return str(self.attributes[file].get("complete_at", "receiver"))

    def _shape(self, file: str, point: int) -> tuple[int, int]:
        """Attempts and ranks of a point; InputError where it has no raw samples."""
        row = self._row(file, point)
        if not self.points["has_raw"].iloc[row]:
            raise InputError(f"{self.files[file]}: point {point} has no raw samples")
        return int(self.points["attempts"].iloc[row]), int(self.points["ranks"].iloc[row])

    def counters(self, file: str, point: int) -> schema.Counters | None:
        """What the operating system and the ports counted during one point; None if not there."""
        row = self._row(file, point)
        if not self.points["has_raw"].iloc[row]:
            return None
        nodes = len(self.launches[str(self.points["launch"].iloc[row])].nodes)
        _, ranks = self._shape(file, point)
        read = ask(self.files[file], counted.read, point, ranks, nodes)
        if read is not None:  # who asks for all needs not read them again
            self._switches[file, point] = read.per_rank["involuntary_switches"]
        return read

    def switches(self, file: str, point: int) -> NDArray[np.int64] | None:
        """How often each rank lost its core during one point [R]; None where nobody counted."""
        if not self.points["has_raw"].iloc[self._row(file, point)]:
            return None
        if (file, point) not in self._switches:
            _, ranks = self._shape(file, point)
            found = ask(self.files[file], counted.involuntary_switches, point, ranks)
            self._switches[file, point] = found
        return self._switches[file, point]

    def _row(self, file: str, point: int) -> int:
        """Position of a point among the rows; KeyError where it is not there."""
        return self._rows[file, point]

    @cached_property
    def _rows(self) -> dict[tuple[str, int], int]:
        keys = zip(self.points["file"], self.points["point"], strict=True)
        return {(str(file), int(point)): row for row, (file, point) in enumerate(keys)}

    def select(self, mask: pd.Series[bool]) -> Results:
        """The same results with only the points of the mask, and only their launches."""
        points = self.points[mask].reset_index(drop=True)
        used = set(points["launch"].dropna())
        launches = {name: launch for name, launch in self.launches.items() if name in used}
        return replace(self, points=points, launches=launches)

    def reordered(self, index: pd.Index[Any]) -> Results:
        """The same points in the order of the given row labels."""
        points = self.points.loc[index].reset_index(drop=True)
        return replace(self, points=points)

    def measured(self, roles: Sequence[str] = ("measure",)) -> Results:
        """Only complete points of the given roles."""
        return self.select(self._complete(roles))

    def _complete(self, roles: Sequence[str]) -> pd.Series[bool]:
        return (self.points["state"] == "complete") & self.points["role"].isin(roles)

    def complete(self, roles: Sequence[str] = ("measure",)) -> Results:
        """The same, where there must be one: InputError says what became of the points."""
        chosen = self.measured(roles)
        if chosen.points.empty:
            asked = self.points[self.points["role"].isin(roles)]
            if asked.empty:
                self.refuse_others()
                if (self.points["role"] == schema.PIPELINED).any():
                    raise InputError(f"{_NO_START}: 'a2a table' shows them")
                here = ", ".join(dict.fromkeys(map(str, self.points["role"]))) or "none"
                raise InputError(f"no point has role {' or '.join(roles)}; roles here: {here}")
            raise InputError(", ".join(["no point is complete", *_fates(asked)]))
        return chosen

    def to_explain(self, roles: Sequence[str]) -> Results:
        """The same; where points are there that count, one of them must be: no sentinel alone."""
        chosen = self.complete(roles)
        asked = self.points[self.points["role"].isin(roles)]
        counted = asked[asked["role"].map(schema.is_counted).astype(bool)]
        if len(counted) and (counted["state"] != "complete").all():
            raise InputError(", ".join(["no point is complete", *_fates(counted)]))
        return chosen

    def to_judge(self, roles: Sequence[str] = ("measure",)) -> Results:
        """The complete points that can be held against each other, of one workload.

        Those of these roles; where none is here, of the one other workload whose points can be
        compared, as far as their times are known. InputError says what is here else.
        """
        if not self.measured(roles).points.empty:
            return self.complete(roles)._beside(self)._with_rates()
        done = self.points[self.points["state"] == "complete"]
        others = [role for role in done["role"].unique() if self.traits(str(role)).judged]
        if not others or others[0] in schema.OF_ALL_TO_ALLS:
            return self.complete(roles)
        if len(others) > 1:
            ways = " or ".join(f"--where role={role}" for role in others)
            raise InputError(f"one workload is judged at a time: choose with {ways}")
        found = self.measured(others)._beside(self)
        times = found.judged.time(found.points)
        timed = found.select((times.notna() & (times > 0)).astype(bool))
        if timed.points.empty:
            raise InputError(
                f"{self.files[str(done['file'].iloc[0])]}: no point has {found.judged.missing}"
            )
        if without := len(found.points) - len(timed.points):
            note = f"{count_text(without, 'point')} without {found.judged.missing} left out"
            return replace(timed, unjudged=(*timed.unjudged, note))
        return timed

    def _with_rates(self) -> Results:
        """Without the points whose times tell no speed, with a note."""
        untold = self.judged.untold(self)
        if not untold.any():
            return self
        note = f"{count_text(int(untold.sum()), 'point')} left out: {self.judged.why_untold}"
        if untold.all():
            raise InputError(f"nothing to judge: {note}")
        return replace(self.select(~untold), unjudged=(*self.unjudged, note))

    def _beside(self, everything: Results) -> Results:
        """The same, with a note on each workload there whose points are not among these."""
        done = everything.points[everything.points["state"] == "complete"]
        notes: list[str] = []
        for role, rows in done.groupby("role", sort=False):
            if not schema.is_counted(role) or (self.points["role"] == role).any():
                continue
            if role == schema.PIPELINED:
                notes += everything.pipelined_left_out()
                continue
            note = _of_role(len(rows), str(role))
            chosen = everything.traits(str(role)).judged is not None
            can = chosen and role not in schema.OF_ALL_TO_ALLS  # of those "measure" alone
            notes.append(f"{note} (--where role={role} chooses them)" if can else note)
        return replace(self, unjudged=(*everything.unjudged, *notes))

    def pipelined_left_out(self) -> tuple[str, ...]:
        """That points are here whose ops have no common start, for what shows those of others."""
        done = self.points[self.points["state"] == "complete"]
        count = int((done["role"] == schema.PIPELINED).sum())
        return (_of_role(count, schema.PIPELINED) + f": {_NO_START}",) if count else ()

    @property
    def judged(self) -> Judged:
        """By what the points here are held against each other; they are of one workload."""
        found = (self.traits(str(role)).judged for role in self.points["role"].unique())
        return next((one for one in found if one), Judged())

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """Columns of the workloads here that tell settings apart, as far as any file has them."""
        return self._named_by(lambda traits: traits.choices)

    @cached_property
    def lengths(self) -> tuple[str, ...]:
        """Columns of the workloads here that say how long a point was asked to be."""
        return self._named_by(lambda traits: traits.lengths)

    def _named_by(self, names: Callable[[Traits], tuple[str, ...]]) -> tuple[str, ...]:
        """What the workloads here name, as far as any file has it."""
        roles = self.points["role"].unique()
        columns = dict.fromkeys(name for role in roles for name in names(self.traits(str(role))))
        return tuple(x for x in columns if x in self.points and x not in self.absent)

    def refuse_others(self) -> None:
        """Say what is here, and what shows it, where an all-to-all was asked for and none is."""
        points = self.points[self.points["state"] == "complete"]
        for file, role in zip(points["file"], points["role"], strict=True):
            if said := self.traits(role).instead:
                raise InputError(f"{self.files[file]}: {said}")

    def values(self, name: str) -> pd.Series[Any]:
        """A column, or what each point's launch recorded under that name (str or <NA>).

        Looks among columns, labels, environment variables, segment attributes and node facts, in
        this order. Raises InputError where no file knows the name.
        """
        name = ALIASES.get(name, name)
        if name in self.absent:
            raise InputError(f"no file has the column '{name}'")
        if name in self.points:
            return self.points[name]
        if not any(name in launch.setting_names for launch in self.launches.values()):
            raise InputError(f"no file records '{name}'; {self._known(name)}")
        by_launch = {key: launch.setting(name) for key, launch in self.launches.items()}
        return self.points["launch"].map(by_launch).astype("string").rename(name)

    def _known(self, name: str) -> str:
        names = (set(self.points.columns) - self.absent).union(
            *(x.setting_names for x in self.launches.values())
        )
        close = get_close_matches(name, sorted(names), n=3, cutoff=0.5)
        stem = name.removesuffix("s")
        if len(stem) > 2 and (holding := [x for x in sorted(names) if stem in x.split("_")]):
            close = holding[:3]  # an option's name, as --sizes, rather than letters alike
        if close:
            return f"did you mean {' or '.join(close)}?"
        return "expected a column of docs/file-format.md, a label or a recorded variable"


def _fates(points: pd.DataFrame) -> list[str]:
    """`12 failed (none of 200 ops was valid)`, for every state that points are in."""
    told = []
    for state, rows in points.groupby("state", sort=False):
        reasons = [reason for reason in dict.fromkeys(rows["skip_reason"]) if reason]
        why = f" ({reasons[0]}{', …' if len(reasons) > 1 else ''})" if reasons else ""
        told.append(f"{len(rows)} {state}{why}")
    return told
