# SPDX-License-Identifier: BSD-3-Clause
"""Made-up files of streams and round trips: summaries whose law is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2aperf import writer
from a2aperf.importers import columns
from a2aperf.importers.block import Block, Given, Kind, document
from a2aperf.schema import Column
from support import made

SIZES = tuple(1 << power for power in range(0, 21, 2))
PAIRS = Column("stream_pairs", "string", "who sends to whom", result=False)
ASKED = (
    Column("completion", "string", "what the completion of a send was asked to mean", result=False),
    Column("cq_mod", "int64", "messages of which one asked for it", result=False),
)
MEMORY = Column("memory", "string", "pages of the message buffers", result=False)
SECOND_NS = 10**9
TRIP = {
    "message_size": 1024, "ops": 500, "time_min": 1000.0, "time_p50": 1100.0, "time_p90": 1500.0,
    "time_p99": 3000.0, "time_max": 9000.0, "byte_rate": 0.8e9, "gbps": 6.4,
}  # fmt: skip
"""Of a round trip, times in ns."""


@dataclass(frozen=True)
class Pipe:
    """A stream at the lowest of its bounds: messages/s, Gbit/s, and window per round trip."""

    mode: str = "tagged"
    window: int | None = 32
    messages: float = 2e6
    gbps: float = 20.0
    round_trip_ns: float = 4000.0
    sizes: Sequence[int] = SIZES
    speed: float = 1.0
    free_delay: int = 0
    ranks: int = 2
    pairs: str = ""
    """As `--pairs` has it; empty: the file does not say."""
    completion: str = ""
    """With a cq_mod; empty: the file, of an older program, does not say."""
    cq_mod: int = 1
    memory: str = ""
    """Empty: the file does not say, and the launch does (`memories` of `write_streams`)."""
    inject: int | None = None
    """None: the file does not say."""

    def rows(self) -> list[dict[str, Any]]:
        return [self._row(size) for size in self.sizes]

    def _row(self, size: int) -> dict[str, Any]:
        bounds = [self.messages, self.gbps * 1e9 / 8 / size if size else self.messages]
        if self.window:
            bounds.append(self.window / self.round_trip_ns * 1e9)
        messages = round(self.speed * min(bounds))
        amount = messages * size
        row = {
            "ranks": self.ranks, "section": 1, "mode": self.mode, "message_size": size,
            "free_delay": self.free_delay, "stream_time": SECOND_NS, "messages": messages,
            "bytes": amount, "msg_rate": float(messages), "byte_rate": float(amount),
            "gbps": amount * 8e-9,
        }  # fmt: skip
        told = {"window": self.window, "stream_pairs": self.pairs or None, "inject": self.inject}
        if self.completion:
            told |= {"completion": self.completion, "cq_mod": self.cq_mod}
        if self.memory:
            told["memory"] = self.memory
        return {**row, **{name: value for name, value in told.items() if value is not None}}


@made.once
def write_streams(
    path: Path,
    launches: Sequence[Sequence[Pipe]],
    labels: Sequence[dict[str, str]] = (),
    memory: str = "",
    day: int = 1,
) -> Path:
    """A launch for each sequence of pipes, with its labels; `memory` is that of all launches."""
    blocks = [
        Block(
            [row for pipe in pipes for row in pipe.rows()],
            "a2aperf",
            ppn=1,
            labels=labels[index] if labels else {},
            attributes={"started": f"2026-01-{index + day:02}T00:00:00", "memory": memory},
        )
        for index, pipes in enumerate(launches)
    ]
    says_pairs = any(pipe.pairs for pipes in launches for pipe in pipes)
    says_asked = any(pipe.completion for pipes in launches for pipe in pipes)
    says_memory = any(pipe.memory for pipes in launches for pipe in pipes)
    more = [*([PAIRS] if says_pairs else []), *(ASKED if says_asked else [])]
    more += [MEMORY] if says_memory else []
    kind = Kind("stream", (*columns.STREAM, *more))
    return _written(path, blocks, kind)


@made.once
def write_trips(path: Path, launches: Sequence[Sequence[dict[str, Any]]]) -> Path:
    """Round trips: a launch for each sequence of rows, which need `message_size` and times."""
    known = {"ranks": 2, "section": 1, "operation": "echo", "request_size": 30}
    blocks = [
        Block([{**known, "run": index + 1, **row} for row in rows], "a2aperf")
        for index, rows in enumerate(launches)
    ]
    return _written(path, blocks, Kind("echo", columns.ECHO))


def _written(path: Path, blocks: list[Block], kind: Kind) -> Path:
    writer.write(path, document(blocks, Given(), "synthetic", "rank", kind), force=True)
    return path
