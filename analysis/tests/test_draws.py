# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of one name whose matrices differ is not one setting, and what differs is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from a2aperf import compare, draws, grouping, layouts, loading
from a2aperf.curves import Options
from a2aperf.results import Results
from a2aperf.workloads.alltoall import plots
from support import synthetic
from support.synthetic import Setup

SETUP = Setup(nodes=2, sizes=(8000,), ops=20)


def launches(folder: Path, name: str, digests: tuple[int, int], count: int = 12) -> Results:
    """In turn of both values of a variable, each with its matrix; the second takes three times."""
    paths = []
    for i in range(count):
        setup = replace(SETUP, seed=i, environment={"FI_X": str(i % 2)})
        paths.append(synthetic.write_launch(folder / f"{i:02}.h5", setup))
    found = loading.load(paths)
    odd = np.array([list(found.launches).index(one) % 2 for one in found.points["launch"]])
    points = found.points.assign(traffic=name, traffic_digest=np.where(odd, *digests[::-1]))
    for column in points.filter(regex="^time_"):
        points[column] = points[column].astype(float) * np.where(odd, 3.0, 1.0)
    return replace(found, points=points)


def named(found: Results) -> list[str]:
    return sorted(set(grouping.setting_labels(found, found.points)))


@pytest.mark.parametrize("name", ["app.csv", "zipf=1.2"])
def test_another_matrix_of_the_name_is_another_setting(tmp_path: Path, name: str) -> None:
    found = launches(tmp_path, name, (0x111, 0x222))
    assert draws.MATRIX in grouping.setting_names(found, found.points, ())
    assert "traffic matrix 00000111, FI_X=0" in named(found)
    assert draws.MATRIX in layouts.varying(found, ["message_size"])
    (made,) = compare.by_setting(found.to_judge(), ["FI_X"])
    assert (
        "traffic_digest: traffic matrix 00000111 (baseline) against traffic matrix 00000222"
        in " ".join(made.notes).replace("\u00a0", " ")
    )


def test_a_figure_has_a_line_for_each(tmp_path: Path) -> None:
    found = launches(tmp_path, "app.csv", (0x111, 0x222), 2)
    plain = replace(
        found,
        launches={key: replace(one, environment={}) for key, one in found.launches.items()},
    )
    drawn = plots.KINDS["sizes"].make(plain, Options())
    names = " ".join(curve.name for chart in drawn.charts for curve in chart.curves)
    assert "00000111" in names and "00000222" in names


@pytest.mark.parametrize(
    ("name", "digests"),
    [("app.csv", (0x111, 0x111)), ("uniform", (-1, -1)), ("hot-node=4x", (0x111, 0x222))],
)
def test_the_same_is_the_same(tmp_path: Path, name: str, digests: tuple[int, int]) -> None:
    """Also where ranks are elsewhere, and the hot node's columns with them."""
    found = launches(tmp_path, name, digests)
    seeded = {key: replace(one, attributes={**one.attributes, "seed": 1})
              for key, one in found.launches.items()}  # fmt: skip
    found = replace(found, launches=seeded)
    assert draws.MATRIX not in grouping.setting_names(found, found.points, ())
    assert draws.MATRIX not in layouts.varying(found, ["message_size"])
    (made,) = compare.by_setting(found.to_judge(), ["FI_X"])
    assert not any("traffic" in note for note in made.notes)


def test_the_hot_node_of_another_seed_is_another(tmp_path: Path) -> None:
    found = launches(tmp_path, "hot-node=4x", (0x111, 0x222), 2)
    assert "traffic drawn by seed 0, FI_X=0" in named(found)
    assert "traffic drawn by seed 1, FI_X=1" in named(found)


def test_other_ranks_have_another_matrix_of_themselves(tmp_path: Path) -> None:
    paths = [synthetic.write_launch(tmp_path / f"{n}.h5", replace(SETUP, nodes=n)) for n in (2, 4)]
    found = loading.load(paths)
    points = found.points.assign(traffic="shift=1", traffic_digest=found.points["ranks"])
    assert named(replace(found, points=points)) == [""]
