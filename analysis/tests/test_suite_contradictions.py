# SPDX-License-Identifier: BSD-3-Clause
"""Round trips that a link has no time for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2aperf import halves, loading
from a2aperf.results import Results
from a2aperf.workloads.echo.contradictions import contradictions as of_echo
from a2aperf.workloads.open_loop.contradictions import contradictions as of_open_loop
from support import synthetic
from support.synthetic import Setup

SIZES = (1000, 8000, 60000)
Told = Callable[[Results], Iterator[str]]


def trips(folder: Path, *times: float, **others: Any) -> Results:
    """Of one pair over a link of 10 Gbit/s, which takes 1.6, 12.8 and 96 µs there and back."""
    path = synthetic.write_launch(
        folder / "a.h5", Setup(nodes=2, ppn=1, sizes=SIZES, ops=20, sync="barrier")
    )
    found = loading.load([path])
    of_pairs: dict[str, Any] = {
        "echo_pairs": halves.ASKED,
        "relays": 0,
        "outstanding": 1,
        "trip_rate": 1.0,
    }
    of_link: dict[str, Any] = {"gbps": 1.0, "link_rate_gbps": 10.0, "rails": 1}
    points = found.points.assign(**of_pairs, **of_link, time_min=times)
    points["request_size"] = points["message_size"]
    return replace(found, points=points.assign(**others))


@pytest.mark.parametrize("told", [of_echo, of_open_loop])
def test_round_trips_that_the_link_has_no_time_for(told: Told, tmp_path: Path) -> None:
    (text,) = told(trips(tmp_path, 1_600.0, 10_000.0, 95_000.0))
    assert text.replace("\u00a0", " ").endswith(
        "a round trip of 10.0 µs at 8 kB, and the recorded link rate of 10.0 Gbit/s needs "
        "12.8 µs to pass request and answer (8 kB and 60 kB)"
    )


@pytest.mark.parametrize("told", [of_echo, of_open_loop])
def test_nothing_is_said_where_it_has(told: Told, tmp_path: Path) -> None:
    assert list(told(trips(tmp_path, 1_600.0, 12_800.0, 96_001.0))) == []
    fast = trips(tmp_path, 1_000.0, 1_000.0, 1_000.0)
    unknown: list[dict[str, Any]] = [
        {"rails": 100}, {"link_rate_gbps": float("nan")}, {"echo_pairs": "neighbours"},
    ]  # fmt: skip
    for other in unknown:
        assert list(told(trips(tmp_path, 1_000.0, 1_000.0, 1_000.0, **other))) == []
    ((key, launch),) = fast.launches.items()
    stated = {**launch.attributes, "asked_link_rate": 10.0}
    unlikes: list[dict[str, Any]] = [
        {"node_of_rank": launch.node_of_rank * 0}, {"attributes": stated},
    ]  # fmt: skip
    for unlike in unlikes:
        assert list(told(replace(fast, launches={key: replace(launch, **unlike)}))) == []


def test_over_a_relay_pairs_are_others(tmp_path: Path) -> None:
    assert list(of_open_loop(trips(tmp_path, 1.0, 1.0, 1.0, relays=1))) == []


def test_an_answer_may_have_another_size_than_its_request(tmp_path: Path) -> None:
    assert list(of_echo(trips(tmp_path, 820.0, 6_410.0, 48_010.0, request_size=8))) == []
