# SPDX-License-Identifier: BSD-3-Clause
"""A damaged file in a folder: the rest is used, it is listed, and the exit status says so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from a2aperf import loading
from a2aperf.errors import InputError
from conftest import Outcome
from support import synthetic

pytestmark = pytest.mark.usefixtures("summed_once")

Run = Callable[..., Outcome]
COMMANDS = {
    "history": ("history", "runs"),
    "compare": ("compare", "runs", "--by", "PSM2_RCVTHREAD"),
    "against": ("compare", "runs", "--against", "others"),
    "report": ("report", "runs", "-o", "page.html"),
    "plot": ("plot", "scaling", "runs", "-o", "a.svg"),
    "plot history": ("plot", "history", "runs", "-o", "a.svg"),
    "export": ("export", "runs", "--flat", "--force", "-o", "a.csv"),
}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four launches of each value, a file that is none, and another that is cut off."""
    monkeypatch.chdir(tmp_path)
    for folder, first in (("runs", 0), ("others", 8)):
        Path(folder).mkdir()
        for i in range(first, first + 8):
            setup = synthetic.Setup(seed=i, environment={"PSM2_RCVTHREAD": str(i % 2)})
            synthetic.write_launch(Path(folder, f"{i:02}.h5"), setup)
    Path("runs", "none.h5").write_bytes(b"no HDF5")
    whole = Path("runs", "00.h5").read_bytes()
    Path("runs", "cut.h5").write_bytes(whole[: len(whole) // 3])
    return Path("runs")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_rest_is_used(a2a: Run, runs: Path, name: str) -> None:
    damaged = a2a(*COMMANDS[name])
    listed = [line for line in damaged.err.splitlines() if line.startswith("a2a: left out: ")]
    assert [
        str(Path("runs", one)) in line
        for one, line in zip(("cut.h5", "none.h5"), listed, strict=True)
    ] == [True] * 2
    for one in ("none.h5", "cut.h5"):
        Path("runs", one).unlink()
    sound = a2a(*COMMANDS[name])
    assert damaged.out == sound.out and sound.status in (0, 3, 4), sound
    lacking = 4 if name in ("compare", "against") else 3
    assert damaged.status == (sound.status or lacking)
    assert "left out: runs" not in sound.err


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_named_is_refused(a2a: Run, runs: Path, name: str) -> None:
    words = [
        part
        for word in COMMANDS[name]
        for part in (["runs", "runs/none.h5"] if word == "runs" else [word])
    ]
    assert a2a(*words).status == 2


def test_where_no_file_is_left(a2a: Run, runs: Path) -> None:
    for one in runs.glob("0*.h5"):
        one.unlink()
    outcome = a2a("history", "runs")
    assert outcome.status == 2 and outcome.out == ""
    assert outcome.err.splitlines()[-1] == "a2a: none of 2 files can be used"
    with pytest.raises(InputError, match="not an HDF5 file"):
        loading.load([runs / "none.h5"])


def test_the_page_says_it(a2a: Run, runs: Path) -> None:
    a2a(*COMMANDS["report"])
    assert "Left out: runs/none.h5" in Path("page.html").read_text()


def test_a_baseline_is_of_what_can_be_used(a2a: Run, runs: Path) -> None:
    outcome = a2a("history", "runs", "--save-baseline", "good")
    assert (outcome.status, outcome.out.split(": ")[1]) == (3, "good is 8 files\n")
    assert len(json.loads(Path("a2a-baselines.json").read_text())["good"]) == 8


def test_nodes_that_cannot_be_told_apart_are_no_damage(a2a: Run, runs: Path) -> None:
    """Of sound files beside a damaged one it is not said that none can be read."""
    for one in runs.glob("0*.h5"):
        one.unlink()
    synthetic.write_launch(runs / "one-node.h5", synthetic.Setup(nodes=1))
    outcome = a2a("history", "--per", "node", "runs")
    assert outcome.status == 2 and "nothing here tells nodes apart" in outcome.err
    assert outcome.err.count("a2a: left out: ") == 2
