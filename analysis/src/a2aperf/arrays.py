# SPDX-License-Identifier: BSD-3-Clause
"""Results as labelled arrays. xarray is an extra: it is asked for only here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import grouping, roles, sample_columns, schema, tables
from a2aperf.datasets import RAW
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError, installing
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results

if TYPE_CHECKING:
    import xarray as xr

_SHAPE: Final = ("role", "message_size", "ranks", "nodes", "ranks_per_node")


def _xarray(what: str) -> ModuleType:
    try:
        import xarray
    except ImportError as error:
        hint = f"{what} needs xarray: {installing('xarray', 'xarray')}"
        raise ImportError(hint, name="xarray") from error
    return xarray


def tree(results: Results) -> xr.DataTree:
    """A node per launch with the columns of its points; see `Runs.tree`."""
    xarray = _xarray("tree")
    nodes: dict[str, Any] = {}
    for launch in results.launches.values():
        name = launch.id.replace("/", "|")  # which parts nodes of a tree
        nodes[name] = _of_launch(xarray, results, launch)
        for child, values in (("environment", launch.environment), ("labels", launch.labels)):
            nodes[f"{name}/{child}"] = xarray.Dataset(attrs=dict(values))
    made: xr.DataTree = xarray.DataTree.from_dict(nodes)
    return made


def _of_launch(xarray: ModuleType, results: Results, launch: Launch) -> Any:
    points = results.points[results.points["launch"] == launch.id]
    variables: dict[str, Any] = {}
    described = tables.described(results.columns, results.columns)
    for name in results.columns:
        variables[name] = ("point", _plain(points[name]), described[name])
    asked = {name: variables.pop(name) for name, column in results.columns.items()
             if not column.result}  # fmt: skip
    coordinates: dict[str, Any] = {"point": points["point"].to_numpy(), **asked}
    if launch.node_of_rank.size:
        hosts = [launch.host_of(rank) for rank in range(launch.node_of_rank.size)]
        coordinates |= {"rank": np.arange(len(hosts)), "host": ("rank", np.array(hosts))}
    return xarray.Dataset(variables, coordinates, launch.attributes)


def _plain(values: pd.Series[Any]) -> NDArray[Any]:
    """As numpy has it: an unknown integer makes the column float, with NaN."""
    if isinstance(values.dtype, pd.Int64Dtype):
        return values.to_numpy(dtype=np.float64 if values.hasnans else np.int64, na_value=np.nan)
    if pd.api.types.is_numeric_dtype(values):
        return values.to_numpy()
    return np.array([str(value) for value in values], dtype=np.str_)


@dataclass(frozen=True)
class _Quantity:
    """What is asked of each op, and how a point's file says it [attempts, …]."""

    long_name: str
    units: str
    dimensions: tuple[str, ...]
    of: Callable[[Results, pd.Series[Any], RawOps], NDArray[Any]]


def ops(results: Results, quantity: str, valid: bool) -> xr.DataArray:
    """The samples of the one point that `results` have, of all their launches; see `Runs.ops`."""
    found = _points(results)
    asked = _quantity(found, quantity)
    xarray = _xarray("ops")
    _require_one_point(found)
    parts = [_along_ops(found, row, asked, valid) for _, row in found.points.iterrows()]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    values = joined.pop("values")
    coordinates: dict[str, Any] = {name: ("op", array) for name, array in joined.items()}
    coordinates["op"] = np.arange(len(values))
    for name in asked.dimensions[1:]:
        coordinates[name] = np.arange(values.shape[1])
    if "rank" in asked.dimensions:
        hosts = {tuple(x.host_of(rank) for rank in range(values.shape[1]))
                 for x in found.launches.values()}  # fmt: skip
        if len(hosts) == 1:
            coordinates["host"] = ("rank", np.array(hosts.pop()))
    said = {"long_name": asked.long_name, "units": asked.units}
    attributes: dict[str, Any] = {name: text for name, text in said.items() if text}
    attributes["message_size"] = int(found.points["message_size"].iloc[0])
    made: xr.DataArray = xarray.DataArray(
        values, coordinates, asked.dimensions, name=quantity, attrs=attributes
    )
    return made


def _points(results: Results) -> Results:
    """All-to-alls; where there are none, what is measured of a workload that is not known here."""
    found = results.measured()
    if not found.points.empty:
        return found
    others = [role for role in results.points["role"].unique() if role not in roles.KNOWN]
    measured = [role for role in others if schema.is_counted(role)]
    found = results.measured(measured)
    if not found.points.empty:
        return found
    if (results.points["role"] == "measure").any():
        return results.complete(("measure",))  # which says why there is none
    # Rows of MPI's own alltoall, where these were chosen.
    return results.complete(("baseline", *(x for x in others if x.endswith("-baseline"))))


def _quantity(found: Results, name: str) -> _Quantity:
    if name in QUANTITIES:
        return QUANTITIES[name]
    files = {
        str(file): {n: c for n, c in found.own_columns(str(file)).items() if c.is_along_ops}
        for file in found.points["file"].unique()
    }
    known = dict.fromkeys([*QUANTITIES, *(name for columns in files.values() for name in columns)])
    if name not in known:
        raise InputError(f"ops: quantity {name}: expected one of {', '.join(known)}")
    with_it = {file: {name: columns[name]} for file, columns in files.items() if name in columns}
    column = sample_columns.joined(with_it)[name]

    def of(found: Results, row: pd.Series[Any], raw: RawOps) -> NDArray[Any]:
        file = str(row["file"])
        if file not in with_it:
            return np.full(column.shape(*raw.begin.shape), np.nan)
        return column.marked(found.own(file, int(row["point"]), column))

    return _Quantity(column.long_name, column.units, column.dimensions, of)


def _along_ops(
    found: Results, row: pd.Series[Any], asked: _Quantity, valid: bool
) -> dict[str, NDArray[Any]]:
    raw = found.raw(str(row["file"]), int(row["point"]))
    kept = raw.valid if valid else np.ones_like(raw.valid)
    count = int(kept.sum())
    origin = int(found.launches[row["launch"]].attributes["time_origin"])
    return {
        "values": asked.of(found, row, raw)[kept],
        "launch": np.full(count, row["launch"]),
        "point": np.full(count, row["point"]),
        "attempt": np.flatnonzero(kept),
        "start": raw.start[kept] + origin,
        "valid": raw.valid[kept],
    }


def _send_done(found: Results, row: pd.Series[Any], raw: RawOps) -> NDArray[Any]:
    if not raw.has_send_done:
        raise InputError(
            f"ops: quantity send_done: in mode {row['mode']} the receivers fetch the messages, "
            "and nothing tells their sources; expected another quantity, such as recv_done"
        )
    return raw.send_done


def _require_one_point(found: Results) -> None:
    """Refuse points that differ in more than the launch: their ops are no sample of one thing."""
    names = dict.fromkeys([*_SHAPE, *grouping.setting_names(found, found.points, ())])
    for name in names:
        told = ["not set" if pd.isna(value) else f"{value}" for value in found.values(name)]
        words = list(dict.fromkeys(told))
        if len(words) > 1:
            listed = ", ".join(words[:6]) + (", …" if len(words) > 6 else "")
            raise InputError(f"ops: the points differ in {name} ({listed}); choose one of them")


def _of_rank(long_name: str, of: Callable[[RawOps], NDArray[np.int64]]) -> _Quantity:
    return _Quantity(long_name, "ns", ("op", "rank"), lambda found, row, raw: of(raw))


QUANTITIES: Final[Mapping[str, _Quantity]] = {
    "end": _of_rank("end of the rank's op, from the op's start", lambda raw: raw.end),
    "begin": _of_rank(RAW["begin"].long_name, lambda raw: raw.begin),
    "send_done": _Quantity(RAW["send_done"].long_name, "ns", ("op", "rank"), _send_done),
    "recv_done": _of_rank(RAW["recv_done"].long_name, lambda raw: raw.recv_done),
    "rank_time": _of_rank("end minus begin of the rank's op", lambda raw: raw.end - raw.begin),
}
