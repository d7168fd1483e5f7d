# SPDX-License-Identifier: BSD-3-Clause
"""A results file read back with h5py alone, and its statistics computed again from the raw samples."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

# The program may be writing while we read.
os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

import checksums
import h5py
import numpy as np

PENDING, COMPLETE, SKIPPED, FAILED = 0, 1, 2, 3
NO_MOMENT = np.iinfo(np.int64).min  # a send_done of which nothing tells
STOP_RULE = {"ops": 1, "precision": 2, "max-ops": 3, "time-budget": 4, "attempts": 6}

# fmt: off
END_REASONS = (
    "running", "finished", "signal", "peer-lost", "fabric-deadline", "disk-deadline", "bad-data", "out-of-memory",
    "disk-full", "other",
)
# fmt: on


def text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@dataclass
class Segment:
    attributes: dict[str, str]
    environment: dict[str, str]
    labels: dict[str, str]
    rank_order: list[int]
    end_state: int
    end_reason: str
    message: str

    @classmethod
    def of(cls, group: h5py.Group) -> "Segment":
        def pairs(kind: str) -> dict[str, str]:
            if f"{kind}_name" not in group:
                return {}
            names, values = group[f"{kind}_name"][()], group[f"{kind}_value"][()]
            return {text(name): text(value) for name, value in zip(names, values, strict=True)}

        return cls(
            attributes={name: text(value) for name, value in group.attrs.items()},
            environment=pairs("environment"),
            labels=pairs("label"),
            rank_order=list(group["rank_order"][()]),
            end_state=int(group["end_state"][()]),
            end_reason=END_REASONS[int(group["end_reason"][()])],
            message=text(group["message"][()]).rstrip("\0"),
        )


class Results:
    """All of a file, in memory: columns [point], raw [point, attempt, rank] as far as anything was attempted."""

    def __init__(self, path: Path) -> None:
        with h5py.File(path, "r") as file:
            self.attributes = {name: text(value) for name, value in file.attrs.items()}
            self.columns = {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}
            self.columns["state"] = checksums.states(file)
            self.shapes = {name: item.shape for name, item in file["raw"].items()}
            # While it is written a file has room for all that may come, which is gigabytes of nothing.
            most = max([0, *self.columns["attempts"]])
            self.raw = {name: item[:, :most] for name, item in file["raw"].items() if item.ndim >= 2}
            self.segments = [Segment.of(file[f"segments/{i}"]) for i in range(len(file["segments"]))]

    def __len__(self) -> int:
        return len(self.columns["state"])

    def words(self, column: str) -> list[str]:
        return [text(value) for value in self.columns[column]]

    def rows(self, role: str = "measure") -> list[int]:
        return [i for i, word in enumerate(self.words("role")) if word == role]

    def states(self, role: str = "measure") -> list[int]:
        return [int(self.columns["state"][i]) for i in self.rows(role)]

    def samples(self, point: int) -> dict[str, np.ndarray]:
        """begin, send_done, recv_done, zero [attempt, rank] and valid [attempt] of one point."""
        attempts, ranks = int(self.columns["attempts"][point]), int(self.columns["ranks"][point])
        moments = {name: self.raw[name][point, :attempts, :ranks] for name in ("begin", "send_done", "recv_done")}
        # When each rank's zero was, on the common clock: with a barrier start its exit from the barrier.
        moments["zero"] = self.raw["exit"][point, :attempts, :ranks]
        return moments | {"valid": self.raw["valid"][point, :attempts].astype(bool)}

    def op_times(self, point: int) -> np.ndarray:
        """T in ns of the valid ops, in the order of time."""
        samples = self.samples(point)
        end = samples["send_done"]
        if self.attributes["complete_at"] == "receiver":
            end = np.maximum(end, samples["recv_done"])
        return end.max(axis=1)[samples["valid"]]

    def percentile(self, times: np.ndarray, q: float) -> float:
        n = len(times)
        index = min(int(q * n), n - 1) if self.attributes["percentile_rule"] == "index" else math.ceil(q * n) - 1
        return float(np.sort(times)[max(index, 0)])


def complete_points(path: Path, role: str = "measure") -> int:
    """Of a file that may not be there yet, or that its writer has locked to create it."""
    try:
        with h5py.File(path, "r") as file:
            rows = zip(file["role"].asstr()[()], checksums.states(file), strict=True)
            return sum(of == role and state == COMPLETE for of, state in rows)
    except (OSError, KeyError, IndexError):
        return 0


def has_true_statistics(results: Results, point: int) -> None:
    """The figures of one complete point are those of its samples, by the formulas of docs/metrics.md."""
    samples, times = results.samples(point), results.op_times(point)
    n, ranks = len(times), int(results.columns["ranks"][point])
    size = int(results.columns["message_size"][point])
    bits = 8.0 * size
    assert n > 0
    p50, mean = results.percentile(times, 0.5), float(times.mean())
    expected = {
        "ops": n,
        "invalid": len(samples["valid"]) - n,
        "time_min": times.min(),
        "time_mean": mean,
        "time_p50": p50,
        "time_p90": results.percentile(times, 0.9),
        "time_p99": results.percentile(times, 0.99),
        "time_max": times.max(),
        "time_stddev": times.std(ddof=1) if n > 1 else math.nan,
        "gbps_rank": bits * (ranks - 1) / p50,
        "gbps_compat": bits * ranks / p50,
        "gbps_aggregate": ranks * bits * (ranks - 1) / p50,
        "gbps_bisection": bits * (ranks // 2) * (ranks - ranks // 2) / p50,
        "gbps_sustained": bits * (ranks - 1) / mean,
        "gbps_sustained_compat": bits * ranks / mean,
        "msg_rate": ranks * (ranks - 1) / p50 * 1e9,
    }
    if results.columns["nodes"][point] == 1:  # several: has_true_node_figures
        expected |= {
            "gbps_node_total": ranks * bits * (ranks - 1) / p50,
            "gbps_node_net": math.nan,  # nothing leaves it
            "gbps_duplex": math.nan,
        }
    found = {name: float(results.columns[name][point]) for name in expected}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, err_msg=f"{name} of point {point}")


def has_true_node_figures(results: Results, point: int, on_node: list[int]) -> None:
    """What leaves each of several nodes, by the formulas of docs/metrics.md; on_node: ranks of each."""
    size, p50 = int(results.columns["message_size"][point]), float(results.columns["time_p50"][point])
    ranks = sum(on_node)
    assert results.columns["nodes"][point] == len(on_node)
    net = [8 * size * k * (ranks - k) / p50 for k in on_node]
    expected = {
        "gbps_node_total": 8 * size * (ranks - 1) * (ranks / len(on_node)) / p50,
        "gbps_node_net": sum(net) / len(net),
        "gbps_node_net_min": min(net),
        "gbps_node_net_max": max(net),
        "gbps_duplex": 2 * sum(net) / len(net),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(results.columns[name][point], value, rtol=1e-9, err_msg=f"{name} of point {point}")


def has_plausible_moments(results: Results, point: int) -> None:
    """Every rank of every op ended after it began, and not later than the point lasted."""
    samples = results.samples(point)
    began, sent, arrived = samples["begin"], samples["send_done"], samples["recv_done"]
    assert (arrived > 0).all()
    if results.words("mode")[point] == "read":  # its source is not told
        assert (sent == NO_MOMENT).all()
    else:
        assert (sent >= began).all()
    assert (arrived >= began).all()
    assert np.maximum(sent, arrived).max() <= results.columns["duration"][point]
