# SPDX-License-Identifier: BSD-3-Clause
"""What `explain` may say of paths beside an arbitration that the launch read itself of its port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.launch import ARBITRATION, Launch
from a2aperf.workloads.qos import findings, stored
from a2aperf.workloads.qos.experiments import Experiment
from nulls import shared
from nulls.row import Outcome, Row

_NAMES: Final = ("bulk", "scavenger", "low-latency")
_TYPES_OF_SERVICE: Final = (0x28, 0x20, 0xB8)
_INTERVAL: Final = 10**9  # ns
_CARRIED: Final = 12.5e6  # B in it, of all paths


def of_tc(weights: Sequence[int]) -> str:
    """As `tc` prints classes of these weights."""
    lines = ["qdisc htb 1: root refcnt 3 r2q 10 default 0x1 direct_packets_stat 0"]
    for i, weight in enumerate(weights):
        lines += [
            f"class htb 1:{i + 2} parent 1:fff prio 1 rate {weight}Mbit ceil 100Mbit burst 1592b",
            f"filter parent 1: protocol ip pref 2 u32 chain 0 fh 801::{800 + i} order {2048 + i} "
            f"key ht 801 bkt 0 *flowid 1:{i + 2} not_in_hw",
            f"  match {_TYPES_OF_SERVICE[i] << 16:08x}/00fc0000 at 0",
        ]
    lines.append("class htb 1:fff root rate 100Mbit ceil 100Mbit burst 1600b cburst 1600b")
    return "\n".join(lines)


def of_smpquery(weights: Sequence[int]) -> str:
    """As `smpquery` prints lanes of these weights in the low table."""
    lanes = "|".join(f"{lane:#x}" for lane in range(len(weights)))
    return (
        "# SL2VL table: Lid 1\n"
        f"ports: in  0, out  0: |{'|'.join(str(level % 4) for level in range(16))}|\n"
        "# VLArbitration tables: Lid 1 port 1 LowCap 8 HighCap 8\n"
        "# Low priority VL Arbitration Table:\n"
        f"VL    : |{lanes}|\nWEIGHT: |{'|'.join(hex(weight) for weight in weights)}|\n"
        "# High priority VL Arbitration Table:\n"
        f"VL    : |{lanes}|\nWEIGHT: |{'|'.join('0x0' for _ in weights)}|\n"
    )


@dataclass(frozen=True)
class Arbitrated:
    """Classes of these weights, `each` paths of every one."""

    weights: Sequence[int] = (1, 2)
    got: Sequence[float] | None = None
    """Weights by which they share in truth; None: as the port says."""
    each: int = 1
    by: str = "tc"
    noise: Mapping[str, Any] = field(default_factory=dict)
    intervals: int = 30

    def experiment(self, rng: np.random.Generator) -> Experiment:
        """As a launch has it of two nodes whose sender has read this of its port."""
        paths = self.each * len(self.weights)
        of_path = np.repeat(np.asarray(self.got or self.weights, float), self.each)
        drawn = shared.Paths(paths, self.intervals, **self.noise)
        came = drawn.came(rng) * (of_path / of_path.sum() * _CARRIED)[:, None]
        text = (of_tc if self.by == "tc" else of_smpquery)(self.weights)
        names = _NAMES if self.by == "tc" else tuple(f"sl{lane}" for lane in range(3))
        classes = [names[i] for i in range(len(self.weights)) for _ in range(self.each)]
        row = pd.Series({"clock_error": 0.0, "path_list": "paths"})
        rows = np.arange(paths)
        return Experiment(
            "a.h5", 0, _launch(text), row, _paths(came, classes), rows, np.full(paths, np.nan)
        )


def _launch(text: str) -> Launch:
    facts = {"nic": ["e0", "e0"], ARBITRATION: [text, ""]}
    nodes, of_rank = ["a", "b"], np.arange(2, dtype=np.int32)
    provider = {"provider": "tcp"}
    return Launch("a", Path("a.h5"), 0, provider, {}, {}, {}, nodes, of_rank, facts, {})


def _paths(came: NDArray[np.float64], classes: Sequence[str]) -> stored.Paths:
    paths, count = came.shape
    messages = np.round(came / 1000).astype(np.int64)
    zeros, asked = np.zeros(paths, np.int64), np.array(classes, object)
    begin = np.arange(count) * _INTERVAL + zeros[:, None]
    told = dict.fromkeys(("of_point", "source", "core", "start", "connected"), zeros)
    texts = ("class_granted", "class_verified", "class_trouble")
    return stored.Paths(
        **told,
        **{name: np.full(paths, "", object) for name in texts},
        number=np.arange(paths),
        destination=zeros + 1,
        class_requested=asked,
        message_size=zeros + 1000,
        window=zeros + 32,
        mode=np.full(paths, "tagged", object),
        port=np.full(paths, "e0", object),
        interval_begin=begin,
        interval_length=np.full_like(begin, _INTERVAL),
        interval_bytes=messages * 1000,
        interval_messages=messages,
        interval_idle=np.zeros_like(begin),
    )


_AGREE, _NOT = "agree", "do not agree"


def _row(
    name: str,
    truth: Arbitrated,
    false: Mapping[str, float] | None = None,
    true: Mapping[str, float] | None = None,
) -> Row:
    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        (said,) = findings.model_of(truth.experiment(rng))
        return {
            claim: Outcome.CALLED if f": {claim}" in said.text else Outcome.SILENT
            for claim in (_AGREE, _NOT)
        }

    return Row(f"arbitration: {name}", study, false or {}, true or {})


_WEIGHTS: Final = ((1, 2), (1, 1, 2), (1, 4, 8))
_NOISES: Final[Mapping[str, Mapping[str, Any]]] = {
    "noise of 2 %": {"noise": 0.02},
    "noise of 10 %": {"noise": 0.1},
    "noise of 10 %, memory 0.8": {"noise": 0.1, "memory": 0.8},
    "noise of 20 %, memory 0.5": {"noise": 0.2, "memory": 0.5},
}


def _pair(name: str, truth: Arbitrated) -> tuple[Row, Row]:
    """Weights that are honoured, and the same ones where all paths get the same."""
    equal = replace(truth, got=[1] * len(truth.weights))
    return (
        _row(f"{name}, honoured", truth, false={_NOT: 0.05}),
        _row(f"{name}, equal in truth", equal, false={_AGREE: 0.05}),
    )


def _named(truth: Arbitrated, noise: str) -> str:
    weights = ":".join(map(str, truth.weights))
    each = f" of {truth.each} paths each" if truth.each > 1 else ""
    return f"{weights}{each}, by {truth.by}, {truth.intervals} intervals, {noise}"


ROWS: Final = (
    *(
        row
        for weights in _WEIGHTS
        for n in (1, 3, 5, 10, 30)
        for noise, of in _NOISES.items()
        for truth in (Arbitrated(weights, intervals=n, noise=of),)
        for row in _pair(_named(truth, noise), truth)
    ),
    *(
        row
        for each in (4, 8, 20)
        for n in (1, 5, 10, 30)
        for noise in ("noise of 2 %", "noise of 10 %")
        for truth in (Arbitrated((1, 2), each=each, intervals=n, noise=_NOISES[noise]),)
        for row in _pair(_named(truth, noise), truth)
    ),
    *(
        row
        for n in (5, 30)
        for truth in (Arbitrated(by="smpquery", intervals=n, noise=_NOISES["noise of 10 %"]),)
        for row in _pair(_named(truth, "noise of 10 %"), truth)
    ),
    *(
        _row(f"{told}, noise of 2 %", replace(truth, noise=_NOISES["noise of 2 %"]), true=power)
        for told, truth, power in (
            ("1:2 is honoured, 30 intervals", Arbitrated(), {_AGREE: 0.9}),
            ("1:4:8 is honoured, 5 intervals", Arbitrated((1, 4, 8), intervals=5), {_AGREE: 0.9}),
            ("1:2 is equal, 10 intervals", Arbitrated(got=(1, 1), intervals=10), {_NOT: 0.9}),
            ("1:2 of 20 is equal", Arbitrated(got=(1, 1), each=20, intervals=60), {_NOT: 0.9}),
        )
    ),
)
