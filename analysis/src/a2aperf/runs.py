# SPDX-License-Identifier: BSD-3-Clause
"""Results in a notebook: `runs = a2aperf.open("runs/*.h5")`.

A thin layer over what the commands of `a2a` use; the same question has the same answer in both.
Messages of errors may name a command's option: the argument has the same name here. What draws is
imported when it is asked for: it takes seconds to load.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from a2aperf import (
    arrays,
    baselines,
    clusters,
    filters,
    labels,
    launch_table,
    layouts,
    loading,
    roles,
    tables,
    workloads,
)
from a2aperf.compared import Compared
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.explain.findings import Findings
from a2aperf.results import Results
from a2aperf.studies import first
from a2aperf.workloads.workload import Listing

if TYPE_CHECKING:
    import xarray as xr

    from a2aperf.figures import Figures

_GLOB = frozenset("*?[")
_LINK_RATE = {"long_name": "data rate of an adapter, one direction", "units": "Gbit/s"}


def open(  # noqa: A001
    *files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], mixed: bool = False
) -> Runs:
    """The results of files, folders (their `.h5` files, at any depth) or patterns.

    `open("runs/*.h5")`, `open("a.h5", "b.h5")`, `open(Path("runs").glob("*.h5"))`, `open("runs")`.
    Reads nothing yet: the files' summaries are read when the first question is asked, raw samples
    never before `ops` or an analysis needs them. `mixed` takes files of different clusters
    together. Raises InputError where a file is not there or a pattern has no file.
    """
    given = [path for one in files for path in _paths(one)]
    if not given:
        raise InputError("open: no files given; expected files, folders or patterns")
    said = str(given[0]) if len(given) == 1 else f"{len(given)} files"

    def load() -> Results:
        files = baselines.files_of(given)
        return replace(loading.load(files), compared=first.values(files))

    return Runs(load, said, mixed)


def _paths(one: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    if not isinstance(one, str | os.PathLike):
        return [path for each in one for path in _paths(each)]
    if not str(one):
        raise InputError("open: an empty name; expected files, folders or patterns")
    path = Path(one).expanduser()
    if path.exists() or str(path) in baselines.read():
        return [path]
    if not _GLOB & set(str(path)):
        raise InputError(f"{path}: no such file or folder")
    found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
    if not found:
        raise InputError(f"{path}: no file matches the pattern")
    return found


class Runs:
    """Points of results files, their launches, and the questions that can be asked of them.

    Times are in ns and rates in Gbit/s, under the names of docs/file-format.md; what is not known
    is <NA> or NaN. Bad input raises `a2aperf.InputError`, a file that is damaged as well.
    """

    def __init__(
        self,
        load: Callable[[], Results],
        said: str = "",
        mixed: bool = False,
        has_roles: bool = False,
    ) -> None:
        self._load, self._said, self._mixed = load, said, mixed
        self._has_roles = has_roles  # somebody chose among the roles: no other choice is made

    @cached_property
    def results(self) -> Results:
        """The layer below (`a2aperf.results.Results`); the files' summaries are read here."""
        return self._load()

    def __repr__(self) -> str:
        if "results" not in self.__dict__:
            return f"<Runs of {self._said}: not read yet>"
        points = self.results.points
        counts = (
            labels.count_text(points["file"].nunique(), "file"),
            labels.count_text(len(self.results.launches), "launch", "launches"),
            labels.count_text(len(points), "point"),
        )
        return f"<Runs: {', '.join(counts)}>"

    def __len__(self) -> int:
        """Number of points."""
        return len(self.results.points)

    def sel(self, *expressions: str, **settings: Any) -> Runs:
        """Only the points for which everything holds; the rest as it is.

        `sel(ppn=2)`, `sel(mode="tagged", ranks=[4, 8])`, `sel(message_size=slice("1kB", "8kB"))`
        (both ends belong to it), `sel(PSM2_RCVTHREAD=None)` (not recorded); and any expression of
        the commands' `--where`: `sel("message_size>=10kB")`. A name is a column, label, variable,
        attribute of the launch or fact of a node. Raises InputError where no file knows the name
        and where no point is left.
        """
        wanted = [*expressions]
        for name, value in settings.items():
            wanted += _expressions(name, value)
        found = filters.where(self.results, wanted, "sel:")
        has_roles = self._has_roles or filters.names_role(wanted)
        chosen = Runs(lambda: found, self._said, self._mixed, has_roles)
        _ = chosen.results
        return chosen

    def to_dataframe(self, role: str = "") -> pd.DataFrame:
        """One tidy row a point: what `a2a table --json` has, nothing rounded.

        The file's columns and a column per recorded setting (label, variable, how it was measured).
        `.attrs["units"]` and `.attrs["long_names"]` describe columns by name. Points that are not
        measured yet are left out. `role`: some of those that the points have, such as
        `measure,baseline` or `sentinel`, or all; without it those that `sel` chose, else measure,
        baseline and pipelined, and all where none is one of these.
        """
        role = role or ("all" if self._has_roles or self._has_others() else roles.DEFAULT)
        chosen = roles.chosen(self.results, role, "to_dataframe: role ")
        chosen = chosen.select(chosen.points["state"] != "pending")
        frame = layouts.frame(chosen, layouts.every_column(chosen))
        return _described(
            frame,
            {**tables.described(chosen.columns, map(str, frame)), "link_rate_gbps": _LINK_RATE},
        )

    def _has_others(self) -> bool:
        """Whether all points are of workloads that have no table of their own."""
        present = (one for one in workloads.present(self.results) if one.files(self.results))
        usual = self.results.points["role"].isin(roles.DEFAULT.split(",")).any()
        return not usual and not any(one.listing for one in present)

    def __getattr__(self, name: str) -> Callable[[], pd.DataFrame]:
        """`pairs()`: one row an ordered pair of ranks and message size, of `a2aperf pairs`.

        Likewise of other workloads that have a table of their own. Columns and units as in the JSON
        of `a2a table`; no rows where no file has such a table.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._listings().get(name)
        if found is None:
            raise AttributeError(f"Runs has no '{name}'")
        return lambda: _described(
            found.frame(self.results), tables.described(found.columns, found.columns)
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._listings()})

    @staticmethod
    def _listings() -> dict[str, Listing]:
        return {one.listing.method: one.listing for one in workloads.ALL if one.listing}

    @property
    def launches(self) -> pd.DataFrame:
        """One row a launch: `launch` (as in `to_dataframe`), `file`, `segment`, `start` (UTC).

        Then `state`, `message`, `nodes` and `ranks` (counts), `provider`, `points` (chosen here),
        and a column per setting and label, as text; missing where it is not set or not recorded.
        """
        return launch_table.frame(self.results)

    @property
    def tree(self) -> xr.DataTree:
        """A node per launch, by its name with `|` for `/`, with the columns of its points [point].

        What was asked for is a coordinate, what was measured a variable; the launch's attributes
        are the node's, its variables and labels those of its children `environment` and `labels`.
        No raw samples. Needs xarray (the extra `xarray`), or raises ImportError.
        """
        return arrays.tree(self.results)

    def ops(self, quantity: str = "end", valid: bool = True, **settings: Any) -> xr.DataArray:
        """Samples of one point, measured by one or several launches: DataArray(op, rank), int64 ns.

        `quantity`: `end` of the rank's op (the maximum over ranks is the op time T), `begin`,
        `send_done` (not of mode read), `recv_done`, all from the op's start; `rank_time` is
        end − begin. Of a workload that is not known here a column of samples of its own, by its
        name: type and units are the file's; NaN, and so floating, where there is no value. With
        `valid=False` also the attempts in which a rank began late. Along `op` stand `launch`,
        `point`, `attempt`, `start` (ns since 1970) and `valid`. `settings` as for `sel`. Reads that
        point now. Raises InputError where points of different settings, sizes or clusters are
        left, or no raw samples are there; ImportError without xarray
        (the extra `xarray`).
        """
        found = self.sel(**settings).results
        clusters.require_one(found, self._mixed)
        return arrays.ops(found, quantity, valid)

    def compare(
        self, *names: str, baseline: str | None = None, margin: float | None = None
    ) -> Compared:
        """Every value of a setting (all combinations of several) compared with the baseline's.

        As `a2a compare --by`, by whole launches. `baseline`: a value; default: MPI, the value that
        is not set, or the one measured first. `margin`: the relative difference that doesn't
        matter, default 0.02. Raises InputError where there are no two values.
        """
        return Compared.of(self.results, names, baseline, margin, self._mixed)

    def findings(self, *kinds: str) -> Findings:
        """What stands out: what `a2a explain` finds, all kinds or those named.

        A sequence of objects with `kind`, `where`, `text`, `n`, `unit` and `numbers`; `.frame` is
        the same as a DataFrame. Empty where nothing stands out. Reads raw samples.
        """
        return Findings.of(self.results, kinds, self._mixed)

    @property
    def plot(self) -> Figures:
        """The figures of `a2a plot`: `plot.sizes()`, `plot.scaling()`, … (see `dir(runs.plot)`)."""
        from a2aperf.figures import Figures

        return Figures(self.results, self._mixed)


def _described(frame: pd.DataFrame, columns: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    for attribute, key in (("units", "units"), ("long_names", "long_name")):
        frame.attrs[attribute] = {name: of[key] for name, of in columns.items() if key in of}
    return frame


def _expressions(name: str, value: Any) -> list[str]:
    """A setting and its value as expressions of `filters`."""
    if isinstance(value, slice):
        if value.step is not None or (value.start is None and value.stop is None):
            raise InputError(f"sel: {name}={value}: expected slice(lowest, highest)")
        ends = ((">=", value.start), ("<=", value.stop))
        return [f"{name}{sign}{_number(end)}" for sign, end in ends if end is not None]
    values = list(value) if pd.api.types.is_list_like(value) else [value]
    if not values:
        raise InputError(f"sel: {name}={value}: expected a value or some")
    return [f"{name}={','.join(_text(one) for one in values)}"]


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool | np.bool_) else str(value)


def _text(value: Any) -> str:
    """One value; text in quotes, as a comma in it separates nothing."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return f'"{value.replace(chr(34), 2 * chr(34))}"' if isinstance(value, str) else _number(value)
