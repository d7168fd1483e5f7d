# SPDX-License-Identifier: BSD-3-Clause
"""Which points make one line, and what a line says where launches repeat it.

A *setting* is everything that was chosen and differs between the points at hand: columns such as
mode or schedule, how ops start, and variables and labels of the launches. Points of different
settings are never averaged silently. Plots, findings, histories, tables and comparisons all ask
here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import draws, labels, schema
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.schema import Column

Floats = NDArray[np.float64]

CHOICES = ("engine", "provider", "mode", "schedule", "window", "post", "ppn")
"""Columns that are choices, in the order a label names them."""
OF_LAUNCH = ("sync", "poll", "memory")
"""Attributes of a launch that are choices; `auto` takes them by the scale."""
FAMILIES = (
    "PSM2_", "PSM3_", "HFI_", "FI_", "UCX_", "IBV_", "MLX5_", "OMPI_MCA_pml", "OMPI_MCA_btl",
    "OMPI_MCA_mtl", "OMPI_MCA_coll",
)  # fmt: skip
"""Variables that decide results, of which a file has all that were set."""
LAUNCHERS = (
    "OMPI_", "OPAL_", "ORTE_", "PMIX_", "PMI_", "PRTE_", "PRRTE_", "SLURM", "SBATCH_", "SRUN_",
    "MPICH_", "MPIEXEC_", "MPIRUN_", "HYDRA_", "HYDI_", "PBS_", "LSB_", "LS_", "LSF_", "SGE_",
    "FLUX_", "COBALT_", "A2APERF_",
)  # fmt: skip
"""Variables of launchers and schedulers, which differ by nature, and of the program itself."""
_GATHERED = (
    *FAMILIES, "OMPI_", "OPAL_", "PMIX_MCA_", "PRTE_MCA_", "SLURM_", "MPICH_", "A2APERF_",
)  # fmt: skip
"""Of these, too, a file has all."""
_IDENTITIES = ("JOBID", "JOB_ID", "HOSTNAME", "_PID", "SESSION_ID")
"""Names that end so say which job, host or process it is."""
HOW_MEASURED = (
    *OF_LAUNCH, "warmup", "seed", "shuffle_ranks", "domain", "program_version",
    "provider_version", "libfabric_version", "mpi_version", "baseline_transport", "started",
    "slurm_job_id",
)  # fmt: skip
"""Attributes of a launch that tell how it was measured; those after `domain`, by what and when."""
NOT_SETTINGS = {"FI_PSM2_UUID", "FI_PSM3_UUID", "FI_UNIVERSE_SIZE", "HFI_NO_BACKTRACE"}
"""Differ from job to job or from scale to scale by their nature, or are a library's own doing."""
_OF_SESSION = {"PATH", "HOME", "USER", "LOGNAME", "PWD", "OLDPWD", "SHELL", "TERM", "TMPDIR", "_"}
"""Differ from user to user and from shell to shell."""


def is_setting(variable: str) -> bool:
    """Whether a recorded variable is one where it differs.

    A file has those of FAMILIES and of launchers, and what was required: all but the launchers'.
    """
    if variable.startswith(FAMILIES):
        return variable not in NOT_SETTINGS
    is_identity = variable.startswith(LAUNCHERS) or variable.endswith(_IDENTITIES)
    return not is_identity and variable not in _OF_SESSION


def is_known_unset(results: Results, name: str) -> bool:
    """Whether a launch of the program that does not record a setting has seen that it is not set.

    Others than those that are gathered are recorded where they were required; a study's plan knows
    of its own.
    """
    if name.startswith(_GATHERED) or name in results.compared:
        return True
    return not any(name in one.environment for one in results.launches.values())


def differing_names(launches: Mapping[str, Launch]) -> list[str]:
    """Variables and labels that do not have one value in all launches.

    A label, or a variable of no family, whose value is new in every one of many launches counts
    them; it is no setting.
    """
    many = 4
    found = []
    everyone = list(launches.values())

    def differs(values: list[str | None], may_count: bool) -> bool:
        different = len(set(values))
        counts = may_count and different == len(values) > many
        return different > 1 and not counts

    names = {n for launch in everyone for n in launch.environment if is_setting(n)}
    tuned = {name for launch in everyone for name in launch.tuned}  # follow from other choices
    for name in sorted(names - tuned):
        values = [launch.environment.get(name) for launch in everyone]
        if differs(values, not name.startswith(FAMILIES)):
            found.append(name)
    for name in sorted({n for launch in everyone for n in launch.labels}):
        if differs([launch.labels.get(name) for launch in everyone], may_count=True):
            found.append(name)
    return found


def recorded_names(results: Results) -> list[str]:
    """Settings that some launch records and no column has: how it was measured, variables, labels.

    Whether or not they differ here: files that are exported one by one have the same columns.
    """
    everyone = list(results.launches.values())
    variables = {
        name
        for launch in everyone
        for name in launch.environment
        if name.startswith(FAMILIES) or is_setting(name)
    }
    words = {name for launch in everyone for name in launch.labels}
    names = [*HOW_MEASURED, *sorted(variables), *sorted(words)]
    return [
        name
        for name in dict.fromkeys(names)
        if name not in results.points and any(name in x.setting_names for x in everyone)
    ]


WINDOW_BYTES = "window_bytes"
"""What a window was asked for as; 0: in messages."""


CHUNK = "chunk"
"""What longer messages are cut into, in bytes; 0: they are whole."""
ENDPOINTS = "endpoints"
QUEUES = "queues"
"""That several endpoints of a rank have: `each` its own, or `one` for all of them."""
THREADS = "threads"
"""That drive several endpoints of a rank: its `one`, or `each` has its own."""
PINNED_THREADS = "pinned_threads"
"""How many of those had a core of their own, of the rank with the fewest."""
POLLING = "polling"
"""How ranks waited, where points of a launch differ by it; else empty."""


def asked_windows(points: pd.DataFrame) -> pd.Series[Any]:
    """The window as it was asked for: messages, 0 where all, and in bytes as a negative number.

    One of bytes is the same at every message size, of which another number is in force at each.
    """
    if WINDOW_BYTES not in points:
        return points["window"]
    asked = points[WINDOW_BYTES].fillna(0).astype("int64")
    return points["window"].astype("Int64").mask(asked > 0, -asked)


def scales_over_ranks(points: pd.DataFrame) -> bool:
    """Whether ranks per node are the scale and no setting: the nodes are known and as many."""
    return bool(points["nodes"].notna().all() and points["nodes"].nunique() == 1)


def scale_text(ranks: Any, nodes: Any) -> str:
    """`8 ranks on 4 nodes`; the ranks alone where nobody knows the nodes."""
    text = labels.count_text(int(ranks), "rank")
    return text if pd.isna(nodes) else f"{text} on {labels.count_text(int(nodes), 'node')}"


def setting_names(
    results: Results, points: pd.DataFrame, by: Sequence[str], axes: Sequence[str] = ()
) -> list[str]:
    """The names that tell the settings of `points` apart: `by` if given, else all that differ.

    Those of `axes` tell nothing apart.
    """
    if by:
        return [name for name in by if name not in axes]
    measured = set(points["launch"])
    present = {key: launch for key, launch in results.launches.items() if key in measured}
    columns: list[str] = []
    asked = points.assign(window=asked_windows(points))
    for name in (*CHOICES, *results.choices):
        if name in axes or (name == "ppn" and scales_over_ranks(points)):
            continue
        if asked[name].nunique(dropna=False) < 2:
            continue
        groups = asked.groupby(columns, dropna=False)[name] if columns else asked[name]
        if np.max(groups.nunique(dropna=False)) > 1:  # not told by the columns before it
            columns.append(name)
    if draws.MATRIX not in axes and draws.are_several(results, asked, columns):
        columns.append(draws.MATRIX)
    names = columns + differing_starts(results, points) + differing_names(present)
    return names + [
        name
        for name in results.compared
        if name not in names and len({one.environment.get(name) for one in present.values()}) > 1
    ]


def asked_values(results: Results, name: str) -> pd.Series[Any]:
    """`results.values`, of a window as it was asked for, of a matrix in words."""
    if name == draws.MATRIX:
        return draws.words(results, results.points)
    return asked_windows(results.points) if name == "window" else results.values(name)


def window_text(value: Any) -> str:
    """`all`, `8`, `256 KiB`; a value of `asked_windows`."""
    return "all" if value == 0 else labels.size_text(-value) if value < 0 else str(value)


def differing_starts(results: Results, points: pd.DataFrame) -> list[str]:
    """Of OF_LAUNCH what differs at one place; what follows from the scale tells nothing apart."""
    place = [*CHOICES, *results.choices, "ranks", "nodes", "message_size"]
    differing = []
    for name in OF_LAUNCH:
        of_launch = {key: launch.setting(name) or "" for key, launch in results.launches.items()}
        if len(set(of_launch.values())) < 2 or name in results.choices:  # then points have it
            continue
        values = points.assign(value=points["launch"].map(of_launch))
        if values.groupby(place, dropna=False)["value"].nunique().max() > 1:
            differing.append(name)
    return differing


def setting_labels(
    results: Results, points: pd.DataFrame, by: Sequence[str] = (), axes: Sequence[str] = ()
) -> pd.Series[str]:
    """The setting of every point in words; "" everywhere when nothing differs.

    Raises InputError where `by` holds a name that no file records.
    """
    parts: list[list[str]] = [[] for _ in range(len(points))]
    program = points[["engine", "provider"]].agg("\0".join, axis=1)
    for name in setting_names(results, points, by, axes):
        values = asked_values(results, name).loc[points.index]
        if name == draws.MATRIX:  # uniform traffic has none
            for part, value in zip(parts, values, strict=True):
                part += [str(value)] if value else []
            continue
        absent = values.isna() | (values == "").fillna(False)
        # What no launch of a program has is not its setting; `by` asks for it all the same.
        of = points["engine"] if name == "provider" else program
        apart = of.nunique() > 1 and name not in ("engine", "ppn", *by)
        nowhere = absent.groupby(of).transform("all") if apart else absent & False
        foreign = ~points["has_raw"] | (not is_known_unset(results, name))
        for part, value, unknown, silent in zip(parts, values, foreign, nowhere, strict=True):
            if not silent:
                text = column_text(results.columns.get(name), value)
                part.append(text if name in results.choices else _text(name, value, unknown))
    return pd.Series([", ".join(part) for part in parts], index=points.index, dtype=object)


def with_scale(points: pd.DataFrame, setting: pd.Series[str]) -> pd.Series[str]:
    """The settings, with ranks and nodes in words where they differ: no launch repeats another."""
    scale = points["ranks"].map(lambda ranks: labels.count_text(int(ranks), "rank"))
    if points["nodes"].nunique(dropna=False) > 1:
        scale += " on " + points["nodes"].map(_nodes)
    elif points["ranks"].nunique() == 1:
        return setting
    return setting.where(setting == "", setting + ", ") + scale


def _nodes(count: object) -> str:
    return "unknown nodes" if pd.isna(count) else labels.count_text(int(count), "node")  # type: ignore


_ALONE_UNCLEAR = {
    "asked_inject": "inject", "completion": "completion", "memory": "memory", POLLING: "poll",
    QUEUES: "queues", THREADS: "threads",
}  # fmt: skip
"""What goes before a word that says too little: `auto`, `default`."""
_EMPTY: dict[str, str] = {POLLING: "poll as in all of the launch", "load_class": "no load class"}
"""What an empty text means that is a value like any other."""


def column_text(column: Column | None, value: object) -> str:
    """A choice of one workload: `free delay 10 µs`, `section 2`, `basic.read`."""
    if column is None:
        return str(value)
    name = column.name.replace("_", " ")
    if isinstance(value, str) and not value and column.name in _EMPTY:
        return _EMPTY[column.name]
    if pd.isna(value) or value == "":  # type: ignore[call-overload]
        return f"{name} unknown"
    if column.kind == "string":
        before = _ALONE_UNCLEAR.get(column.name)
        return f"{before} {value}" if before else str(value)
    if column.units == "ns":
        return f"{name} {labels.time_text(float(value))}" if value else f"no {name}"  # type: ignore[arg-type]
    if column.name == CHUNK and not value:
        return "whole messages"
    if column.units == "B":
        return f"{name} {labels.size_text(float(value))}"  # type: ignore[arg-type]
    return f"{name} {value}"


def _text(name: str, value: object, foreign: bool) -> str:
    absent = pd.isna(value) or value == ""  # type: ignore[call-overload]
    if name in ("ppn", "ranks_per_node"):
        return "ranks per node unknown" if absent else f"{value:g} per node"
    if name == "window":
        return "window unknown" if absent else f"window {window_text(value)}"
    if name == "post":
        return "post unknown" if absent else f"posted {value}"
    if name == "sync":
        if absent:
            return "start unknown"
        return "no common start" if value == "none" else f"{value} start"
    if name in OF_LAUNCH:
        return f"{name} unknown" if absent else f"{name} {value}"
    if name in CHOICES:
        return f"{name} unknown" if absent else str(value)
    if absent:  # a program that stores every variable has seen that it is not set; a text has not
        return f"{name} unknown" if foreign else f"{name} not set"
    return f"{name}={value}"


def representative(coverage: Mapping[float, int], most: int) -> list[float]:
    """At most `most` of the values: the ends, and between them spread evenly in the logarithm.

    `coverage` tells how many lines or places have the value; well covered values are preferred.
    """
    values = sorted(coverage)
    if len(values) <= most:
        return values
    logs = np.log(np.maximum(values, 1e-9))
    scarcity = 1 - np.array([coverage[value] for value in values]) / max(coverage.values())
    cost = 0.3 * (logs[-1] - logs[0]) * scarcity
    chosen = {0, len(values) - 1}
    for target in np.linspace(logs[0], logs[-1], most)[1:-1]:
        free = [i for i in range(len(values)) if i not in chosen]
        chosen.add(min(free, key=lambda i: abs(logs[i] - target) + cost[i]))
    return [values[i] for i in sorted(chosen)]


@dataclass(frozen=True)
class Line:
    """One value per x with its interval; all arrays have the same length."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    ops: tuple[tuple[int, ...], ...]
    launches: NDArray[np.int64]


def line(points: pd.DataFrame, x: str, metric: str, count: str = "ops") -> Line:
    """One value per distinct `x`: the median over launches, with their range as interval.

    With a single launch it is the 95 % interval of its median op time, carried over to the metric.
    `count` is the column that has the n of a value.
    """
    xs, ys, lows, highs, ops, launches = [], [], [], [], [], []
    for place, rows in points[points[metric].notna()].groupby(x, sort=True):
        values = rows[metric].to_numpy(dtype=float)
        value = float(np.median(values))
        if len(rows) > 1:
            low, high = float(values.min()), float(values.max())
        else:
            low, high = _interval(rows.iloc[0], metric, value)
        xs.append(float(place))  # type: ignore[arg-type]
        ys.append(value)
        lows.append(low)
        highs.append(high)
        ops.append(tuple(int(n) for n in rows[count].dropna()))
        launches.append(rows["launch"].nunique())
    x_values, y_values, low_values, high_values = (
        np.array(v, dtype=float) for v in (xs, ys, lows, highs)
    )
    counts = np.array(launches, dtype=np.int64)
    return Line(x_values, y_values, low_values, high_values, tuple(ops), counts)


def _interval(row: pd.Series[float], metric: str, value: float) -> tuple[float, float]:
    low, high, p50 = row["time_p50_low"], row["time_p50_high"], row["time_p50"]
    if metric == "time_p50":
        return float(low), float(high)
    if metric.startswith("gbps_") and "sustained" not in metric and low > 0 and _is_of_p50(row):
        return value * float(p50) / float(high), value * float(p50) / float(low)
    return float("nan"), float("nan")


def _is_of_p50(row: pd.Series[Any]) -> bool:
    """Whether its rates are bytes by the median time: not of drawn traffic or ops in a row."""
    draws = row.get("traffic_draws", 1)
    return row.get("role") != schema.PIPELINED and not (pd.notna(draws) and int(draws) > 1)


def values_in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """Distinct values in the order they first come."""
    return list(dict.fromkeys(labels))
