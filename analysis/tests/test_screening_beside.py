# SPDX-License-Identifier: BSD-3-Clause
"""What a screening says of that which differs between its launches beside its settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from a2aperf import loading
from a2aperf.screening import launches
from support import synthetic
from support.synthetic import Setup

NAMES = ["PSM2_A", "PSM2_B"]
DESIGN = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Which of the settings each launch has."""


def notes(where: Path, crowded: Sequence[int], labels: Sequence[str] = ()) -> list[str]:
    """Of launches of which these are oversubscribed, with these values of another variable."""
    files = []
    for i, levels in enumerate(DESIGN):
        made = {name: "1" for name, is_made in zip(NAMES, levels, strict=True) if is_made}
        more = {"PSM2_C": labels[i]} if labels else {}
        setup = Setup(
            nodes=1, ppn=4, sizes=(1000,), ops=10, seed=i, environment={**made, **more},
            node_facts={"cores_of_ranks": "2" if i in crowded else "4"},
        )  # fmt: skip
        files.append(synthetic.write_launch(where / f"{i}.h5", setup))
    return launches.beside(loading.load(files), NAMES)


def test_the_setting_of_the_oversubscribed_launches_is_named(tmp_path: Path) -> None:
    counted = "oversubscribed: 4 ranks on 2 cores, in 2 of 4 launches"
    same = "the oversubscribed launches are those with {}: what it does is not told from what "
    same += "oversubscription does"
    assert notes(tmp_path, [2, 3]) == [counted, same.format("PSM2_A=1")]
    assert notes(tmp_path, [0, 2]) == [counted, same.format("PSM2_B not set")]
    assert notes(tmp_path, [0, 3]) == [counted]
    assert notes(tmp_path, [0, 1, 2, 3]) == [
        "oversubscribed: 4 ranks on 2 cores, in 4 of 4 launches"
    ]
    assert not notes(tmp_path, [])


def test_a_setting_that_another_variable_follows_is_named(tmp_path: Path) -> None:
    told = "PSM2_C differs between the launches, too"
    assert notes(tmp_path, [], "xxyy") == [
        f"{told}, just as PSM2_A: their effects are not told apart"
    ]
    assert notes(tmp_path, [], "xyyx") == [told]
