# SPDX-License-Identifier: BSD-3-Clause
"""Results files of paths side by side: what stands in /paths is what the ranks noted."""

from pathlib import Path

import h5py
import numpy as np

COLUMNS = ("of_point", "number", "source", "destination", "message_size", "window", "start", "connected", "core")
INTERVALS = ("begin", "length", "bytes", "messages", "idle")


def paths_of(file: Path, point: int) -> list[dict[str, object]]:
    """The paths of a point, with their intervals as arrays."""
    with h5py.File(file) as opened:
        group = opened["paths"]
        rows = np.flatnonzero(group["of_point"][:] == point)
        paths = []
        for row in rows:
            path = {name: int(group[name][row]) for name in COLUMNS}
            path |= {name: group[name].asstr()[row] for name in ("class_requested", "mode")}
            path |= {name: group[name][row].rstrip(b"\0").decode() for name in ("class_granted", "class_verified", "class_trouble", "port")}
            there = group["interval_begin"][row] >= 0
            path |= {name: group[f"interval_{name}"][row][there] for name in INTERVALS}
            paths.append(path)
    assert [path["number"] for path in paths] == list(range(len(paths)))
    return paths


def noted(file: Path, point: int, rank: int, path: int) -> dict[str, np.ndarray]:
    """Rows of one path at one rank: end, number, sent, received, idle."""
    with h5py.File(file) as opened:
        count = opened["ticks"][point]
        rows = {name: opened[f"raw/tick_{name}"][point, :count, rank] for name in ("path", "end", "number", "sent", "received", "idle")}
    mine = rows["path"] == path
    return {name: values[mine] for name, values in rows.items()}


def are_true_intervals(file: Path, point: int) -> None:
    """What came in the intervals of each path, and for how long its sender had nothing outstanding, is what its two ends noted."""
    with h5py.File(file) as opened:
        ticks = -(-int(opened["asked_duration"][point]) // int(opened["interval"][point]))
    for path in paths_of(file, point):
        at_sender = noted(file, point, path["source"], path["number"])
        at_receiver = noted(file, point, path["destination"], path["number"])
        assert at_sender["sent"].sum() == at_receiver["received"].sum(), "every message that was sent came"
        assert (at_sender["received"] == 0).all() and (at_receiver["sent"] == 0).all()
        assert (at_receiver["idle"] == -1).all() and (at_sender["idle"] >= 0).all()
        ends = path["begin"] + path["length"]
        assert (path["begin"] >= path["start"]).all() and (path["length"] > 0).all()
        assert (ends[:-1] == path["begin"][1:]).all(), "one follows another"
        assert (path["bytes"] == path["messages"] * path["message_size"]).all()
        for begin, end, messages, idle in zip(path["begin"], ends, path["messages"], path["idle"], strict=True):
            inside = (at_receiver["end"] > begin) & (at_receiver["end"] <= end) & (at_receiver["number"] < ticks)
            assert at_receiver["received"][inside].sum() == messages
            numbers = at_receiver["number"][inside]
            assert at_sender["idle"][np.isin(at_sender["number"], numbers)].sum() == idle
