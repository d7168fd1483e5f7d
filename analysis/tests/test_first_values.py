# SPDX-License-Identifier: BSD-3-Clause
"""The first value of a study's plan is the baseline, whichever launch was made first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import a2aperf
from a2aperf import loading, sides
from a2aperf.studies import first
from conftest import Outcome
from support import synthetic
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
SETUP = Setup(nodes=2, ppn=1, sizes=(60000,), ops=20)


def study(folder: Path, name: str, error: str = "") -> Path:
    """A B B A twice, of which the first launch was made again at the end; B is slower."""
    folder.mkdir()
    lines = ["# kind\tcompare", "# job\trun", *([f"# error\t{error}"] if error else [])]
    lines.append("launch\tnodes\tppn\tsubset\tsettings\tfile")
    log = ["launch\tstarted\tended\tstatus\treason"]
    for i, side in enumerate("ABBAABBA", 1):
        file = f"compare-run-n2-s{1 + (side == 'B')}-{i:03}.h5"
        lines.append(f"{i:03}\t2\t1\t-\t{name}={'on' if side == 'A' else 'off'}\t{file}")
        log.append(f"{i:03}\t2026-11-20T17:30:05Z\t2026-11-20T17:31:05Z\t0\t-")
        made = replace(
            SETUP,
            seed=i,
            started=SETUP.started + timedelta(minutes=9 if i == 1 else i),
            environment={name: "on" if side == "A" else "off"},
            effects=Effects(slowdown=1.5 if side == "B" else 1.0, launch_spread=0.01, noise=0.01),
        )
        synthetic.write_launch(folder / file, made)
    (folder / "plan-run.tsv").write_text("\n".join(lines) + "\n")
    (folder / "log-run.tsv").write_text("\n".join(log) + "\n")
    return folder


def test_it_is_the_first_of_the_plan(a2a: A2A, tmp_path: Path) -> None:
    folder = study(tmp_path / "r", "PSM2_RCVTHREAD")
    assert first.values(sorted(folder.glob("*.h5"))) == {"PSM2_RCVTHREAD": "on"}
    told = a2a("compare", folder, "--by", "PSM2_RCVTHREAD")
    assert told.out.startswith(
        "A (baseline): PSM2_RCVTHREAD=on\nB:            PSM2_RCVTHREAD=off\n"
    )
    assert told.status == 3 and "slower by 3" in told.out.replace("\xa0", " ")
    named = a2a("compare", folder, "--by", "PSM2_RCVTHREAD", "--baseline", "off").out
    assert named.startswith("A (baseline): PSM2_RCVTHREAD=off")
    assert a2aperf.open(folder).compare("PSM2_RCVTHREAD").verdict == "slower"
    (folder / "plan-run.tsv").unlink()  # then nobody knows
    told = a2a("compare", folder, "--by", "PSM2_RCVTHREAD")
    assert told.out.startswith("A (baseline): PSM2_RCVTHREAD=off")


def test_what_was_made_again_much_later_is_in_no_block_of_the_others(tmp_path: Path) -> None:
    """Else what has changed until then would look like an effect of its side."""
    folder = study(tmp_path / "r", "PSM2_RCVTHREAD")
    found = loading.load(sorted(folder.glob("*.h5"))).to_judge(("measure",))
    sides_of = sides.levels(found, ["PSM2_RCVTHREAD"]) == "PSM2_RCVTHREAD=on"
    soon = sides.pair(found, sides_of, ["PSM2_RCVTHREAD"])
    assert max(Counter(soon.block.tolist()).values()) > 1 and soon.units["stretch"].nunique() == 1
    late = found.points.assign(
        started=found.points["started"] + (found.points["file"].str.contains("001")) * 7200 * 10**9
    )
    again = sides.pair(replace(found, points=late), sides_of, ["PSM2_RCVTHREAD"])
    assert again.units["stretch"].tolist() == [0] * 7 + [1]
    assert (again.block[:7] != again.block[7]).all()


def test_a_setting_of_the_plan_is_one_whatever_its_name(a2a: A2A, tmp_path: Path) -> None:
    """Of variables those of a fabric are settings by themselves."""
    folder = study(tmp_path / "r", "MY_SWITCH")
    page = tmp_path / "r.html"
    assert a2a("report", folder, "-o", page).status == 0
    assert "MY_SWITCH=off (B) against MY_SWITCH=on (A, baseline)" in page.read_text()
    picture = tmp_path / "sizes.svg"
    assert a2a("plot", "sizes", folder, "-o", picture).status == 0
    assert "MY_SWITCH=off" in picture.read_text()


@pytest.mark.parametrize(("error", "level"), [("", 95), ("3%", 97)])
def test_a_figure_has_the_error_of_the_look(
    a2a: A2A, tmp_path: Path, error: str, level: int
) -> None:
    folder = study(tmp_path / "r", "MY_SWITCH", error)
    picture = tmp_path / "c.svg"
    assert a2a("plot", "compare", folder, "-o", picture).status == 0
    assert f"{level} % interval" in picture.read_text().replace("\xa0", " ")


def test_a_window_that_is_compared(a2a: A2A, tmp_path: Path) -> None:
    """Its values are texts in a plan, and numbers in a column."""
    folder = study(tmp_path / "r", "--window")
    for file in folder.glob("*.h5"):
        file.unlink()
    for i, window in enumerate((1, 0, 0, 1, 1, 0, 0, 1), 1):
        made = replace(SETUP, seed=i, started=SETUP.started + timedelta(minutes=i), window=window)
        synthetic.write_launch(folder / f"compare-run-n2-s{2 - window}-{i:03}.h5", made)
    plan = folder / "plan-run.tsv"
    plan.write_text(plan.read_text().replace("=on", "=1").replace("=off", "=all"))
    told = a2a("compare", folder, "--by", "window").out
    assert told.startswith("A (baseline): window=1\nB:            window=all\n")
    assert a2a("report", folder, "-o", tmp_path / "r.html").status == 0


def test_options_are_named_as_their_columns(tmp_path: Path) -> None:
    folder = study(tmp_path / "r", "--endpoint-polls")
    assert first.values(folder.glob("*.h5")) == {"endpoint_polls": "on"}
    assert first.values([tmp_path / "nowhere.h5"]) == {}
