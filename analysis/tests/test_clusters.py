# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from a2aperf import clusters, loading, results
from a2aperf.errors import InputError
from conftest import Outcome
from support import synthetic

pytestmark = pytest.mark.usefixtures("summed_once")

Run = Callable[..., Outcome]
SETUP = synthetic.Setup(nodes=2, sizes=(1000, 8000), ops=20)


def load(folder: Path, *kinds: list[str]) -> results.Results:
    """One launch per argument, whose two nodes are of these kinds."""
    paths = [
        synthetic.write_launch(folder / f"{seed}.h5", replace(SETUP, seed=seed))
        for seed in range(len(kinds))
    ]
    found = loading.load(paths)
    for launch, models in zip(found.launches.values(), kinds, strict=True):
        launch.node_facts["cpu_model"][:] = models
    return found


@pytest.mark.parametrize(
    "kinds",
    [
        [["A", "A"], ["A", "A"]],
        [["A", "B"], ["B", "A"], ["A", "A"]],
        [["A", "A"], ["B", "B"], ["A", "B"]],  # the third shows that one cluster has both
        [["A", "A"], ["", ""]],
    ],
)
def test_one_cluster(tmp_path: Path, kinds: list[list[str]]) -> None:
    clusters.require_one(load(tmp_path, *kinds))


def test_two_clusters(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cpu_model is 'A' in 0\.h5#0 and 'B, C' in 2\.h5#0"):
        clusters.require_one(load(tmp_path, ["A", "A"], ["A", "A"], ["B", "C"]))


@pytest.mark.parametrize(
    "command", [("plot", "sizes", "-o", "x.png"), ("report", "-o", "x.html"), ("explain",)]
)
def test_commands_that_draw_conclusions_refuse_two(
    a2a: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed, model in enumerate(("A", "B")):
        setup = replace(SETUP, seed=seed, node_facts={"cpu_model": model})
        synthetic.write_launch(tmp_path / f"{model}.h5", setup)
    a2a(*command, "A.h5", "B.h5").refused("cpu_model is 'A' in A.h5#0 and 'B'", "--mixed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.h5", "B.h5"]
    assert a2a(*command, "A.h5", "B.h5", "--mixed").status == 0
    assert a2a(*command, "A.h5", "B.h5", "--where", "cpu_model=A").status == 0


def test_an_import_goes_with_everything(table_2019: Path, launch: Path) -> None:
    clusters.require_one(loading.load([table_2019, launch]))
