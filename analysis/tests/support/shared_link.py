# SPDX-License-Identifier: BSD-3-Clause
"""Notes on service levels as texts: the published settings and shares, and made-up ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from a2aperf import writer
from a2aperf.importers import formats, shared_link
from a2aperf.importers.block import Given, document
from support import made

MODIFIED = """\
Tests with modified opensm QOS settings.
========================================

opensm.conf:
qos TRUE
qos_max_vls 4
qos_high_limit 255
qos_vlarb_high 0:255,0:255,0:255,0:255,0:255,0:255,0:255,0:255
qos_vlarb_low 1:128,1:128,1:128,1:128,1:128,1:128,1:128,2:64
qos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3
"""
"""By the description of the published notes."""

PUBLISHED: tuple[tuple[str, int, float, tuple[float, ...]], ...] = (
    ("0,0,0", 4096, 15.42, (1 / 3, 1 / 3, 1 / 3)),
    ("0,0,1", 4096, 24.62, (0.250, 0.250, 0.499)),
    ("0,0,0", 8388608, 16.75, (1 / 3, 1 / 3, 1 / 3)),
    ("0,0,1", 8388608, 25.30, (0.25, 0.25, 0.50)),
    ("1,1,2", 8388608, 21.89, (0.25, 0.25, 0.50)),
    ("2,2,3", 8388608, 11.70, (0.5, 0.5, 0.0)),
)
"""Service levels, size, Gbit/s together and shares, of the modified settings."""
BY_THE_TABLES = (
    *((1 / 3, 1 / 3, 1 / 3), (0.5, 0.5, 0), (1 / 3, 1 / 3, 1 / 3), (0.5, 0.5, 0)),
    *((7 / 15, 7 / 15, 1 / 15), (0.5, 0.5, 0)),
)
"""Shares of them that the modified tables give, of lanes with high priority and without."""


def commands(levels: str, size: int, prompt: str = "$ ") -> str:
    """A pair of command lines."""
    paths = range(levels.count(",") + 1)
    devices = ",".join("mlx4_0" for _ in paths)
    ports = ",".join("1" for _ in paths)
    return "".join(
        f"{prompt}ibv_message_bw --thread={','.join(f'{end}:{i}' for i in paths)} "
        f"--ib-dev={devices} --ib-port={ports} --ib-sl={levels} --max-msg-size={size}\n"
        for end in ("tx", "rx")
    )


def received(path: int, messages: int, size: int, length: float = 10.0) -> str:
    """What a receiver prints."""
    return (
        f"Rx_{path} received {messages * size} data bytes in {messages} messages "
        f"over last {length:.1f} seconds\n"
    )


def modified() -> str:
    """All published settings of the modified tables; their letters repeat.

    The last one was begun before it printed, and one of its paths gets nothing.
    """
    text = MODIFIED
    for index, (levels, size, gbps, shares) in enumerate(PUBLISHED):
        text += f"\n\n{'abc'[index % 3]}) Three paths with SL {levels}\n" + commands(levels, size)
        if levels == "2,2,3":
            text += "Rx_0 connected\n" + received(0, 1009, size)
            text += "Rx_1 connected\n" + received(1, 705, size) + "Rx_2 connected\n"
        for path, share in enumerate(shares):
            if share:
                text += received(path, round(share * gbps * 1e9 / 8 * 10 / size), size)
    return text


@dataclass(frozen=True)
class Setting:
    """Paths by service level, and messages of each in each interval [X, n]."""

    levels: tuple[int, ...]
    messages: tuple[tuple[int, ...], ...]
    size: int = 4096
    length: float = 1.0
    tables: str = ""
    """Above its command lines."""

    def text(self) -> str:
        levels = ",".join(map(str, self.levels))
        told = [self.tables, commands(levels, self.size)]
        told += [f"Rx_{path} connected\n" for path in range(len(self.levels))]
        for at in range(max(map(len, self.messages))):
            told += [
                received(path, mine[at], self.size, self.length)
                for path, mine in enumerate(self.messages)
                if at < len(mine)
            ]
        return "".join(told)


def drawn(
    weights: Sequence[float],
    n: int,
    rng: np.random.Generator,
    alike: float = 0.0,
    noise: float = 0.02,
) -> tuple[tuple[int, ...], ...]:
    """Messages of paths whose expected shares are these weights, with autocorrelated noise."""
    left: NDArray[np.float64] = rng.normal(size=(len(weights), n))
    for at in range(1, n):
        left[:, at] = alike * left[:, at - 1] + np.sqrt(1 - alike**2) * left[:, at]
    share = np.array(weights)[:, None] / sum(weights)
    return tuple(tuple(int(x) for x in row) for row in np.round(1e6 * share * (1 + noise * left)))


@made.once
def write(path: Path, settings: Sequence[Setting]) -> Path:
    """An imported file of these experiments."""
    return write_text(path, "".join(one.text() for one in settings))


def write_text(path: Path, text: str) -> Path:
    """An imported file of a text."""
    blocks = shared_link.parse(Path("notes.txt"), text)
    made_of = document(blocks, Given(), "synthetic", "rank", formats.ALL["qos"].kind)
    writer.write(path, made_of, force=True)
    return path
