# SPDX-License-Identifier: BSD-3-Clause
"""`a2a check` computes the figures of every workload again, and names the one that is not so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from conftest import Outcome
from support import native_echo, native_interference, native_open_loop, native_streams
from support.edited import edited
from support.native_open_loop import Loop

Run = Callable[..., Outcome]


@dataclass(frozen=True)
class Case:
    """A file, one of its points by the words of `check`, and its figures."""

    write: Callable[[Path], Path]
    point: str
    names: tuple[str, ...]
    is_slow: bool = False


CASES = {
    "stream": Case(
        native_streams.write,
        "point 1 (4 ranks, 1000 B)",
        ("stream_time", "messages", "bytes", "msg_rate", "byte_rate", "gbps", "longest_wait"),
    ),
    "stream of an older program": Case(
        partial(native_streams.write, has_times=True),
        "point 1 (4 ranks, 1000 B)",
        ("time_p50", "time_max", "rank_time_p50"),
    ),
    "echo": Case(
        native_echo.write,
        "point 1 (4 ranks, 1024 B)",
        (
            *("time_min", "time_mean", "time_p50", "time_p90", "time_p99", "time_p999", "time_max"),
            *("ops", "round_trips", "trip_rate", "byte_rate", "gbps", "under_way", "time_p50_low"),
        ),
        is_slow=True,
    ),
    "echo by its histogram": Case(
        native_echo.write_counted,
        "point 1 (4 ranks, 1024 B)",
        ("ops", "time_p50", "time_p99", "time_p999", "time_mean"),
    ),
    "ways of an echo": Case(
        native_echo.write_told,
        "point 1 (4 ranks, 1024 B)",
        (
            *("way_trips", "way_there_min", "way_there_p50", "way_there_p99", "server_p50"),
            *("way_back_min", "way_back_p90", "way_bound"),
        ),
    ),
    "open loop": Case(
        native_open_loop.write,
        "point 2 (4 ranks, 8 B)",
        (
            *("offered_rate", "achieved_rate", "backlog", "unanswered", "paced", "gbps"),
            *("under_way", "pacing_p50", "pacing_p99", "pacing_max", "time_p999", "round_trips"),
        ),
    ),
    "relay": Case(
        partial(native_open_loop.write, loops=(Loop(50_000, relays=1),)),
        "point 0 (",
        ("relay_mean", "relay_p50", "relay_p99", "relay_back_mean"),
    ),
    "interference": Case(
        native_interference.write,
        "point 2 (4 ranks, 1024 B)",
        (
            *("alone_trips", "silent_phases", "load_full_gbps", "load_gbps", "alone_p50"),
            *("loaded_p99", "impact_mean", "impact_p50", "impact_p50_low", "impact_p99_high"),
        ),
    ),
}


def _figures() -> Iterator[object]:
    for of, case in CASES.items():
        marks = [pytest.mark.slow] if case.is_slow else []
        for name in case.names:
            yield pytest.param(case, name, id=f"{of}-{name}", marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "name"), list(_figures()))
def test_a_figure_is_computed_again(a2a: Run, tmp_path: Path, case: Case, name: str) -> None:
    path = case.write(tmp_path / "runs.h5")
    point = int(case.point.split()[1])
    with edited(path) as file:
        file[name][point] = file[name][point] * 1.01 + 1
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert case.point in outcome.out
    assert f": {name} is " in outcome.out


@pytest.mark.parametrize("case", list(CASES.values()), ids=list(CASES))
def test_a_file_as_it_was_written_is_sound(a2a: Run, tmp_path: Path, case: Case) -> None:
    path = case.write(tmp_path / "runs.h5")
    assert a2a("check", path).out == f"{path}: sound\n"
