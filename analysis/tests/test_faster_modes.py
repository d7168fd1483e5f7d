# SPDX-License-Identifier: BSD-3-Clause
"""What is said where a launch has another mode that moves more, or half of a link."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from a2aperf import loading
from a2aperf.explain import faster as faster_module
from a2aperf.explain.finders import explain
from a2aperf.explain.finding import Finding
from a2aperf.results import Results
from support import synthetic
from support.edited import edited
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

LARGE = Setup(sizes=(1000, 1 << 20, 8 << 20), ops=60, ppn=1, link_rate_gbps=100.0)
BOTH = ("tagged", "write-imm")


def found(folder: Path, setup: Setup, factors: Mapping[str, float], **other: Any) -> list[Finding]:
    setups = [replace(setup, seed=seed, effects=Effects(modes=factors, **other)) for seed in (0, 1)]
    paths = [synthetic.write_launch(folder / f"{s.seed}.h5", s) for s in setups]
    return explain(loading.load(paths).measured(), ("faster",))


@pytest.mark.parametrize(("factor", "half"), [(1.5, False), (2.0, True)])
def test_the_faster_mode_is_told(tmp_path: Path, factor: float, half: bool) -> None:
    (one,) = found(tmp_path, replace(LARGE, modes=BOTH), {"tagged": factor})
    assert one.text.startswith("write-imm was ")
    assert one.numbers["times"] == pytest.approx(factor, rel=0.03)
    assert ("half duplex" in one.text) is half
    assert one.where.startswith("4 ranks, 3 of 3 points in 2 launches: 1000 B, 1048576 B")


def test_half_is_one_direction_only_between_nodes(tmp_path: Path) -> None:
    alone = replace(LARGE, modes=BOTH, nodes=1, ppn=4)
    (one,) = found(tmp_path, alone, {"tagged": 2.0})
    assert "half duplex" not in one.text


SHAPED = replace(
    LARGE, sizes=(1000000,), ops=20, ppn=2, link_rate_gbps=0.1, port_gbps=0.1156, modes=BOTH
)
"""As docs/validation.md measured over tcp;ofi_rxm: 60.7 by tag, 99.1 Mbit/s written.

The port carries a seventh within the node, too.
"""
MEASURED = 99.1 / 60.7


@pytest.mark.parametrize("sizes", [(1000000,), (1000, 1 << 20, 8 << 20)])
def test_nearly_half_of_a_link_that_another_mode_fills(tmp_path: Path, sizes: tuple[int]) -> None:
    (one,) = found(tmp_path, replace(SHAPED, sizes=sizes), {"tagged": MEASURED})
    assert " % of what write-imm did, which fills the link" in one.text
    assert "half duplex" in one.text
    assert one.numbers["half_duplex"] == 1


@pytest.mark.parametrize(
    "setup",
    [
        replace(SHAPED, link_rate_gbps=0.15),  # the other mode fills no link
        replace(SHAPED, link_rate_gbps=0.09),  # more than it carries
        replace(SHAPED, link_rate_gbps=float("nan")),
        replace(SHAPED, nodes=1, ppn=8),
        replace(SHAPED, modes=("write-imm", "tagged"), sizes=(1000, 60000)),  # nothing is large
        replace(SHAPED, modes=("tagged", "msg")),  # the other goes one way, too
    ],
)
def test_what_is_not_known_is_no_half(tmp_path: Path, setup: Setup) -> None:
    for one in found(tmp_path, setup, {"tagged": MEASURED}):
        assert "half duplex" not in one.text


def test_other_ratios_are_no_half_whatever_the_noise(tmp_path: Path) -> None:
    seeds = iter(range(1000))
    for factor in (1.0, 1.2, 1.4, 1.45, 2.5, 4.0):
        for noise in (0.0, 0.02, 0.1, 0.3):
            effects = Effects(modes={"tagged": factor}, noise=noise, autocorrelation=0.5)
            setups = [replace(SHAPED, seed=next(seeds), effects=effects) for _ in range(2)]
            paths = [
                synthetic.write_launch(tmp_path / f"{setup.seed}.h5", setup) for setup in setups
            ]
            for one in explain(loading.load(paths).measured(), ("faster",)):
                assert "half duplex" not in one.text, (factor, noise)


def test_a_ratio_that_changes_with_size_is_no_half(tmp_path: Path) -> None:
    setup = replace(SHAPED, sizes=(1 << 20, 8 << 20), effects=Effects(modes={"tagged": 1.55}))
    path = synthetic.write_launch(tmp_path / "a.h5", setup)
    points = loading.load([path]).measured().points
    large = (points["message_size"] == 8 << 20) & (points["mode"] == "tagged")
    for factor, told in ((1.0, True), (1.2, False)):
        changed = points.copy()
        changed.loc[large, changed.filter(regex="^time_").columns] *= factor
        (one,) = faster_module.find(replace(loading.load([path]).measured(), points=changed))
        assert ("half duplex" in one.text) is told


def of_traffic(found: Results, name: str, slower: float = 1.0) -> pd.DataFrame:
    """The same points as of another traffic; `slower`: by tag."""
    points = found.points.assign(traffic=name)
    times = points.filter(regex="^time_").columns
    points.loc[points["mode"] == "tagged", times] *= slower
    return points


@pytest.mark.parametrize("name", ["zipf=1.2", "permutation", "shift=1", "app.csv"])
def test_uneven_traffic_is_told_of_its_faster_settings_and_of_no_half(
    tmp_path: Path, name: str
) -> None:
    """A node of it may have less than the others to send, or nothing to receive meanwhile."""
    for factor in (2.0, MEASURED):
        setup = replace(SHAPED, effects=Effects(modes={"tagged": factor}))
        even = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
        uneven = replace(even, points=of_traffic(even, name))
        (one,) = explain(uneven, ("faster",))
        assert one.text.startswith("write-imm was ")
        assert one.numbers["times"] == pytest.approx(factor, rel=0.03)
        assert one.where.endswith(f"1000000 B of {name}")
        assert "half duplex" not in one.text
    alone = replace(LARGE, port_gbps=47.5)
    even = loading.load([synthetic.write_launch(tmp_path / "b.h5", alone)]).measured()
    assert explain(even, ("faster",))
    assert not explain(replace(even, points=of_traffic(even, name)), ("faster",))


@pytest.mark.parametrize("factor", [2.0, MEASURED])
@pytest.mark.parametrize(("slower", "told"), [(1.0, False), (0.0, True)])
def test_traffic_without_a_way_back_that_is_as_slow_is_no_half(
    tmp_path: Path, factor: float, slower: float, told: bool
) -> None:
    """One direction at a time costs nothing where nothing goes back."""
    setup = replace(SHAPED, effects=Effects(modes={"tagged": factor}))
    even = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
    incast = of_traffic(even, "incast", slower or 1 / factor)
    both = replace(even, points=pd.concat([even.points, incast], ignore_index=True))
    (one,) = explain(both, ("faster",))
    assert ("half duplex" in one.text) is told


@pytest.mark.parametrize("launch_spread", [0.0, 0.3])
def test_equal_modes_are_equal(tmp_path: Path, launch_spread: float) -> None:
    """A launch that is slow as a whole is no mode that is."""
    assert not found(tmp_path, replace(LARGE, modes=BOTH), {}, launch_spread=launch_spread)


def test_a_change_of_the_machine_in_one_launch_is_no_mode(tmp_path: Path) -> None:
    """One launch becomes slower on its way, the other does not."""
    paths = []
    for seed, drift in ((0, 0.6), (1, 0.0)):
        setup = replace(
            LARGE, modes=("write-imm", "tagged"), seed=seed, effects=Effects(drift=drift)
        )
        paths.append(synthetic.write_launch(tmp_path / f"{seed}.h5", setup))
    assert not explain(loading.load(paths).measured(), ("faster",))
    assert explain(loading.load(paths[:1]).measured(), ("faster",))


@pytest.mark.parametrize(("port", "told"), [(47.5, True), (80.0, False), (33.0, False)])
def test_half_of_a_known_link_is_a_suspicion(tmp_path: Path, port: float, told: bool) -> None:
    one_mode = replace(LARGE, port_gbps=port)
    findings = found(tmp_path, one_mode, {})
    assert bool(findings) is told
    if told:
        assert "of the link at every size from 1048576 B on" in findings[0].text
        assert "so does a path that two nodes share" in findings[0].text


def test_half_at_one_size_is_no_suspicion(tmp_path: Path) -> None:
    assert not found(tmp_path, replace(LARGE, sizes=(1000, 1 << 20), port_gbps=47.5), {})


@pytest.mark.parametrize("faster", ["node-aware", "shift"])
def test_so_is_a_schedule_that_is_faster(tmp_path: Path, faster: str) -> None:
    """Of both modes, at each size; what goes by way of leaders is another setting like any."""
    setup = replace(LARGE, ppn=2, modes=BOTH, schedules=("shift", "node-aware"))
    path = synthetic.write_launch(tmp_path / "a.h5", setup)
    with edited(path) as file:
        slow = file["schedule"].asstr()[()] != faster
        for name in [name for name in file if name.startswith("time_")]:
            times = file[name][()]
            times[slow] *= 1.3
            file[name][...] = times
    points = loading.load([path]).measured()
    told = [one for one in faster_module.find(points) if one.numbers["axis"] == "schedule"]
    if faster == "shift":  # the first is the usual one, and nothing beats it
        assert told == []
        return
    (one,) = told
    assert one.text.startswith("node-aware was 1.2") or one.text.startswith("node-aware was 1.3")
    assert "as fast as shift" in one.text
    assert one.text.endswith(
        "a study with --compare=--schedule=shift,node-aware tells how sure that is"
    )
    assert one.where.startswith("8 ranks, 6 of 6 points in 1 launch")


def test_traffic_is_held_against_itself(tmp_path: Path) -> None:
    """An incast takes longer in either mode, which hides nothing of the modes."""
    setup = replace(LARGE, modes=BOTH, effects=Effects(modes={"tagged": 1.5}))
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
    uniform = found.points.assign(traffic="uniform")
    incast = found.points.assign(traffic="incast")
    incast[incast.filter(regex="^time_").columns] *= 4
    points = pd.concat([uniform, incast], ignore_index=True)
    (one,) = faster_module.find(replace(found, points=points))
    assert one.text.startswith("write-imm was ")
    assert one.numbers["times"] == pytest.approx(1.5, rel=0.03)
    assert one.where.startswith("4 ranks, 6 of 6 points in 1 launch")
    assert "1000 B, 1000 B of incast, 1048576 B, 1048576 B of incast" in one.where


def test_several_are_told_as_several(tmp_path: Path) -> None:
    setup = replace(LARGE, modes=BOTH, effects=Effects(modes={"tagged": 1.5}))
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
    two = found.points["mode"] == "write-imm"
    points = found.points.assign(mode="tagged", endpoints=np.where(two, 2, 1))
    (one,) = faster_module.find(replace(found, points=points))
    assert one.text.startswith("2 endpoints were 1.5 times as fast as 1 endpoint")


def test_one_queue_is_held_against_a_queue_each(tmp_path: Path) -> None:
    setup = replace(LARGE, modes=BOTH, effects=Effects(modes={"tagged": 1.5}))
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
    is_faster = found.points["mode"] == "write-imm"
    two = found.points.assign(mode="tagged", endpoints=2, queues=np.where(is_faster, "one", "each"))
    (one,) = faster_module.find(replace(found, points=two))
    assert one.text.startswith("one queue was 1.5 times as fast as a queue each")
    assert "a study with --compare=--queues=each,one " in one.text
    # A rank with one endpoint has one queue: nothing but the number of endpoints is told of it.
    alone = two.assign(endpoints=np.where(is_faster, 2, 1))
    (one,) = faster_module.find(replace(found, points=alone))
    assert one.text.startswith("2 endpoints were 1.5 times as fast as 1 endpoint")


def test_a_thread_for_each_endpoint_is_held_against_one(tmp_path: Path) -> None:
    setup = replace(LARGE, modes=BOTH, effects=Effects(modes={"tagged": 1.5}))
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
    threads = np.where(found.points["mode"] == "write-imm", "each", "one")
    points = found.points.assign(mode="tagged", endpoints=2, threads=threads)
    (one,) = faster_module.find(replace(found, points=points))
    assert one.text.startswith("a thread for each endpoint was 1.5 times as fast as one thread")
    assert "a study with --compare=--threads=one,each " in one.text


@pytest.mark.parametrize(
    ("one", "usual", "said", "asked"),
    [
        (1.5, 1, "2 endpoints with a queue each were # times as fast as 1 endpoint", "1,2"),
        (1.1, 2, "1 endpoint was # times as fast as 2 endpoints with one queue", "2,1"),
    ],
)
def test_endpoints_are_told_with_each_kind_of_their_queues(
    tmp_path: Path, one: float, usual: int, said: str, asked: str
) -> None:
    """One endpoint has one queue, so it is beside both, and each is told by itself."""
    setup = replace(LARGE, modes=("tagged", "write-imm", "msg"))
    setup = replace(setup, effects=Effects(modes={"tagged": one, "msg": 1.6}))
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)]).measured()
    kinds = {"tagged": (1, "each"), "write-imm": (2, "each"), "msg": (2, "one")}
    endpoints, queues = zip(*(kinds[mode] for mode in found.points["mode"]), strict=True)
    points = found.points.assign(mode="tagged", endpoints=endpoints, queues=queues)
    points = points.sort_values("endpoints", ascending=usual == 1, ignore_index=True)
    findings = faster_module.find(replace(found, points=points))
    (told,) = [x for x in findings if x.numbers.get("axis") == "endpoints"]
    kind = "each" if usual == 1 else "one"
    assert re.sub(r"1\.[45].* times", "# times", told.text).startswith(said)
    assert told.text.endswith(
        f"a study with --compare=--endpoints={asked} and --queues {kind} tells how sure that is"
    )
    assert told.numbers["queues"] == kind
    assert told.where.startswith("4 ranks, 3 of 3 points in 1 launch")


@pytest.mark.parametrize(
    ("axis", "value", "words", "option"),
    [
        ("window", 0, "window all", "all"),
        ("window", 8, "window 8", "8"),
        ("window", -262144, "window 256 KiB", "262144B"),
        ("chunk", 0, "whole messages", "whole"),
        ("chunk", 65536, "chunk 64 KiB", "65536"),
        ("endpoints", 1, "1 endpoint", "1"),
        ("queues", "each", "a queue each", "each"),
        ("queues", "one", "one queue", "one"),
        ("polling", "throttle=16", "poll throttle=16", "throttle=16"),
        ("mode", "msg", "msg", "msg"),
    ],
)
def test_values_are_told_as_they_are_asked_for(
    axis: str, value: Any, words: str, option: str
) -> None:
    assert faster_module._words(axis, value).replace("\u00a0", " ") == words
    assert faster_module._option(axis, value) == option
