# SPDX-License-Identifier: BSD-3-Clause
"""Results as labelled arrays. xarray is an extra: it is asked for only here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from a2aperf import grouping, tables
from a2aperf.errors import InputError
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results

if TYPE_CHECKING:
    import xarray as xr

QUANTITIES: Final[Mapping[str, tuple[str, Callable[[RawOps], NDArray[np.int64]]]]] = {
    "end": ("end of the rank's op, from the op's start", lambda raw: raw.end),
    "begin": ("begin of the rank's op, from the op's start", lambda raw: raw.begin),
    "send_done": ("all sends of the rank are done, from the op's start", lambda raw: raw.send_done),
    "recv_done": (
        "all arrivals at the rank are seen, from the op's start",
        lambda raw: raw.recv_done,
    ),
    "rank_time": ("end minus begin of the rank's op", lambda raw: raw.end - raw.begin),
}
_SHAPE: Final = ("message_size", "ranks", "nodes", "ranks_per_node")


def _xarray(what: str) -> ModuleType:
    try:
        import xarray
    except ImportError as error:
        hint = f"{what} needs xarray: pip install 'a2aperf[xarray]'"
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


def ops(results: Results, quantity: str, valid: bool) -> xr.DataArray:
    """The samples of the one point that `results` have, of all their launches; see `Runs.ops`."""
    if quantity not in QUANTITIES:
        raise InputError(f"ops: quantity {quantity}: expected one of {', '.join(QUANTITIES)}")
    xarray = _xarray("ops")
    long_name, _ = QUANTITIES[quantity]
    found = results.measured()
    if found.points.empty:  # rows of MPI's own alltoall, where these were chosen
        found = results.complete(("measure", "baseline"))
    _require_one_point(found)
    parts = [_along_ops(found, row, quantity, valid) for _, row in found.points.iterrows()]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    values = joined.pop("values")
    coordinates: dict[str, Any] = {name: ("op", array) for name, array in joined.items()}
    coordinates |= {"op": np.arange(len(values)), "rank": np.arange(values.shape[1])}
    hosts = {tuple(x.host_of(rank) for rank in range(values.shape[1]))
             for x in found.launches.values()}  # fmt: skip
    if len(hosts) == 1:
        coordinates["host"] = ("rank", np.array(hosts.pop()))
    size = int(found.points["message_size"].iloc[0])
    attributes = {"long_name": long_name, "units": "ns", "message_size": size}
    made: xr.DataArray = xarray.DataArray(
        values, coordinates, ("op", "rank"), name=quantity, attrs=attributes
    )
    return made


def _along_ops(
    found: Results, row: pd.Series[Any], quantity: str, valid: bool
) -> dict[str, NDArray[Any]]:
    raw = found.raw(str(row["file"]), int(row["point"]))
    if quantity == "send_done" and not raw.has_send_done:
        raise InputError(
            f"ops: quantity send_done: in mode {row['mode']} the receivers fetch the messages, "
            "and nothing tells their sources; expected another quantity, such as recv_done"
        )
    kept = raw.valid if valid else np.ones_like(raw.valid)
    count = int(kept.sum())
    origin = int(found.launches[row["launch"]].attributes["time_origin"])
    return {
        "values": QUANTITIES[quantity][1](raw)[kept],
        "launch": np.full(count, row["launch"]),
        "point": np.full(count, row["point"]),
        "attempt": np.flatnonzero(kept),
        "start": raw.start[kept] + origin,
        "valid": raw.valid[kept],
    }


def _require_one_point(found: Results) -> None:
    """Refuse points that differ in more than the launch: their ops are no sample of one thing."""
    names = dict.fromkeys([*_SHAPE, *grouping.setting_names(found, found.points, ())])
    for name in names:
        told = ["not set" if pd.isna(value) else f"{value}" for value in found.values(name)]
        words = list(dict.fromkeys(told))
        if len(words) > 1:
            listed = ", ".join(words[:6]) + (", …" if len(words) > 6 else "")
            raise InputError(f"ops: the points differ in {name} ({listed}); choose one of them")
