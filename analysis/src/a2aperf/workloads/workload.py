# SPDX-License-Identifier: BSD-3-Clause
"""What the analysis knows of a workload: all that another one does otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

from a2aperf import schema
from a2aperf.carried import Timed
from a2aperf.curves import Kind
from a2aperf.datasets import Described
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finder
from a2aperf.moved import Moved
from a2aperf.nodes.night import Night, Per
from a2aperf.nodes.study import Study
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.tables import Table
from a2aperf.traits import Judged, Traits, Unsaid

Verify = Callable[["pd.Series[Any]", RawOps], Iterator[str]]
"""What is wrong of a point, in words, by its row and its samples."""


@dataclass(frozen=True)
class Listing:
    """A table of a workload whose points are not what its users look at."""

    what: str
    """What such a file is: `a matrix of pairs`."""
    method: str
    """Of `Runs`: what gives the data in a notebook."""
    nothing: str
    """What is said where it has no rows."""
    columns: Mapping[str, schema.Column]
    frame: Callable[[Results], pd.DataFrame]
    """All rows, with these columns."""
    table: Callable[[pd.DataFrame], tuple[Table, str]]
    """The rows worth a line, and a note on what is left out (empty where nothing is)."""
    heading: str
    """Of the part of a report that shows it."""
    reported: Callable[[Results], Table | None]
    texts: Mapping[str, Callable[[Results], list[str]]] = field(default_factory=dict)
    """Layouts of text that only it has, by name."""
    texts_say: str = ""
    """What there is to know of them, for the help text."""


Arrays = Mapping[str, NDArray[Any]]
"""Datasets of a group, by name."""
Row: TypeAlias = "Mapping[str, Any] | pd.Series"
"""A point's columns by name."""
Steps = Iterable[tuple[Row, RawOps]]
"""Points with their samples."""


@dataclass(frozen=True)
class Remaking:
    """How a group is made anew where it is damaged."""

    remade: Callable[[Arrays, Steps, int, bool], dict[str, NDArray[Any]]]
    """Of what could be read, the sound points, R, and whether percentiles are by index."""
    surely: Callable[[Arrays], dict[str, NDArray[Any]]]
    """The same without what does not follow from the samples."""
    unsure: str
    """What that is."""


@dataclass(frozen=True)
class Joining:
    """How groups of several files become one."""

    index: str
    """Column of the points: the row of the group at which what is theirs begins."""
    joined: Callable[[Sequence[Arrays]], tuple[dict[str, NDArray[Any]], list[int]]]
    """One group of all, and what is to be added to the index of each; MemoryError if too large."""


@dataclass(frozen=True)
class Group:
    """What a workload keeps in its files beside the points and their samples."""

    name: str
    datasets: Mapping[str, Described]
    holds: str
    """Why such files are not merged: `one matrix`."""
    remaking: Remaking
    optional: bool = False
    """Only files that need it have it."""
    joining: Joining | None = None
    """None: a file has one alone, and such files are not merged."""


@dataclass(frozen=True)
class Suite:
    """How it is launched over several interconnects side by side (`a2a suite`)."""

    options: Sequence[str]
    """Words for a2aperf, each with its value: `--ops=100`."""
    quick: Sequence[str]
    """The same in a hurry."""
    contradictions: Callable[[Results], Iterable[str]] = lambda results: ()
    """What of its points cannot be true, in words; only what is sure."""
    doubts: Callable[[Results], Iterable[str]] = lambda results: ()
    """Of those over one interconnect, what says less than it seems to, in words."""


@dataclass(frozen=True)
class Workload:
    """One row of the table of workloads."""

    key: str
    """As in `a2aperf KEY` and in the file's attribute `workload`."""
    roles: tuple[str, ...]
    """Of its points, and of no other's (`loading.load` makes it so)."""
    title: str
    """Of a report; {} are its ranks."""
    instead: str = ""
    """What files of it have, and what shows them: said where an all-to-all is asked for."""
    columns: frozenset[str] = frozenset()
    """Of its points, beside those that the points of every workload have."""
    recomputed: frozenset[str] = frozenset()
    """Columns that follow from the samples by the formulas of `derived`."""
    otherwise: Callable[[Row], frozenset[str]] = lambda row: frozenset()
    """Of these, by a point's row, what `verify` computes by other formulas."""
    exchanged: Callable[[Results, pd.Series[Any]], NDArray[Any] | None] = lambda found, row: None
    """[destination, source]: whether an op of a point has the message; None: as `distance` says."""
    finders: Sequence[Finder] = ()
    plots: Mapping[str, Kind] = field(default_factory=dict)
    sentences: Callable[[Results], list[str]] = lambda results: []
    """What was measured, at a glance; nothing where no point of it is complete."""
    listing: Listing | None = None
    group: Group | None = None
    table: Sequence[str] = ()
    """Columns that `a2a table` and the report show of its points; empty: those of an all-to-all."""
    seldom: Sequence[str] = ()
    """Those of them that are shown where any point has a value."""
    choices: Sequence[str] = ()
    """Columns that tell settings of its points apart, beside `grouping.CHOICES`."""
    before: Mapping[str, str | int] = field(default_factory=dict)
    """What points were measured with before a2aperf could do otherwise, and had a column for it."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Samples in /raw by the names that older files have, and those that they have now."""
    lengths: Sequence[str] = ()
    """Columns that say how long a point was asked to be."""
    timed: Timed | None = None
    """A time that the start of its points need not carry; without it no rate is told."""
    impossible: Verify = lambda row, raw: iter(())
    """What is wrong of the op times of a point, from which then nothing follows, in words."""
    untold: Callable[[Results], Results] = lambda results: results
    """The same without figures that their ops do not carry, as if they had never been told."""
    unsaid: Unsaid = field(default_factory=Unsaid)
    """Figures of points that say nothing, and are not shown."""
    judged: Judged | None = None
    """By what its points are compared; None: they are not."""
    suite: Suite | None = None
    """None: interconnects are not held against each other by it."""
    least_ranks: int = 2
    ops_are_attempts: bool = True
    """Whether an attempt is one op; else `ops` is the n of samples along another dimension."""
    moved: Callable[[Results, pd.Series[Any]], Moved] = lambda results, row: Moved()
    """By a point's row, how much was moved while its counters counted."""
    nodes: Callable[[Results, Per], Iterable[Night]] = lambda results, per: ()
    """What each launch says of its nodes beside each other, for `a2a history --per`."""
    study: Callable[[Results], Study | None] = lambda results: None
    """What its launches say together of each node; None where they say nothing."""
    verify: Callable[[Results, str], Verify] | None = None
    """What `check` asks of the points of a file, beyond what holds of all."""
    beside: Callable[[Results, str], Iterator[str]] | None = None
    """What is wrong of its own group in a file, where no point's samples tell, in words."""

    @property
    def traits(self) -> Traits:
        """What any analysis asks of its points."""
        return Traits(
            self.instead,
            tuple(self.choices),
            tuple(self.lengths),
            self.judged,
            tuple(self.table),
            self.before,
            self.unsaid,
        )

    def files(self, results: Results) -> list[str]:
        """Files that have a complete point of it here."""
        return results.files_with(self.roles)
