# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from a2aperf import loading
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
SETUP = synthetic.Setup(sizes=(1000, 8000), environment={"PSM2_RCVTHREAD": "0"})


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Launches of different size, one with invalid ops, one with partners and sentinels."""
    setups = {
        "a": replace(SETUP, baseline=True, sentinel=True),
        "b": replace(SETUP, nodes=3, seed=1, effects=synthetic.Effects(late_share=0.1)),
        "c": replace(SETUP, ppn=4, seed=2, ops=30, sync="barrier"),
    }
    return [synthetic.write_launch(tmp_path / f"{name}.h5", s) for name, s in setups.items()]


def test_merged_holds_everything(a2a: Run, three: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "merged.h5"
    with edited(three[0]) as file:
        # the others are of an older program
        file.attrs.update({"workload": "alltoall", "replicate": "launch", "block": np.int32(10)})
    assert a2a("merge", *three, "-o", path).status == 0
    before, after = loading.load(three), loading.load([path])
    own = ["file", "point", "launch", "segment", "partner"]
    pd.testing.assert_frame_equal(before.points.drop(columns=own), after.points.drop(columns=own))
    assert after.points["segment"].tolist() == [0] * 6 + [1] * 2 + [2] * 2
    assert after.points["partner"].fillna(-1).tolist() == [-1, 2, 1, 4, 3, -1, -1, -1, -1, -1]
    for (_, old), (_, new) in zip(before.points.iterrows(), after.points.iterrows(), strict=True):
        first, second = before.raw(old["file"], old["point"]), after.raw(*new[["file", "point"]])
        for name in ("begin", "send_done", "recv_done", "start", "valid"):
            assert np.array_equal(getattr(first, name), getattr(second, name)), name
        one, two = (
            before.counters(old["file"], old["point"]),
            after.counters("merged.h5", new.point),
        )
        assert one is not None
        assert two is not None
        assert one.thread_affinity == two.thread_affinity
        assert all(np.array_equal(one.per_rank[name], two.per_rank[name]) for name in one.per_rank)
        assert all(np.array_equal(one.ports[name], two.ports[name]) for name in one.ports)
    launches = zip(before.launches.values(), after.launches.values(), strict=True)
    for old_launch, new_launch in launches:
        assert old_launch.nodes == new_launch.nodes
        assert old_launch.environment == new_launch.environment
        assert old_launch.attributes["command_line"] == new_launch.attributes["command_line"]
    merged = after.attributes["merged.h5"]
    assert (merged["workload"], merged["replicate"], merged["block"]) == ("alltoall", "launch", 10)
    assert a2a("check", path).status == 0


def test_several_launches_in_a_file_are_told_apart(
    a2a: Run, three: list[Path], tmp_path: Path
) -> None:
    path = tmp_path / "merged.h5"
    # each has two points; sentinels and baselines are none
    assert a2a("merge", *three, "-o", path).out == f"{path}: 6 points of 3 launches\n"
    assert "merged.h5#2" in a2a("table", path).out


def test_summaries_merge_too(a2a: Run, table_2019: Path, tmp_path: Path) -> None:
    text = tmp_path / "more.txt"
    text.write_text(a2a("table", table_2019, "--where", "ranks=320", "--layout", "compat").out)
    assert a2a("import", text, "-o", tmp_path / "more.h5").status == 0
    path = tmp_path / "merged.h5"
    assert a2a("merge", table_2019, tmp_path / "more.h5", "-o", path).status == 0
    merged = loading.load([path])
    assert len(merged.points) == 247 + 6
    assert merged.attributes["merged.h5"]["raw_samples"] == 0
    assert not merged.points["has_raw"].any()


def test_what_was_imported_stays_sound_beside_what_was_measured(a2a: Run, tmp_path: Path) -> None:
    """It knows a mean alone, and no attempts."""
    text = tmp_path / "osu.txt"
    heading = "# OSU MPI All-to-All Personalized Exchange Latency Test v5.9\n"
    heading += "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations\n"
    text.write_text(f"{heading}1000  10.50  10.00  12.00  1000\n")
    assert a2a("import", text, "--ranks", "8", "-o", tmp_path / "osu.h5").status == 0
    own = synthetic.write_launch(tmp_path / "own.h5", synthetic.Setup(sizes=(1000,), ops=20))
    for files in ((tmp_path / "osu.h5", own), (own, tmp_path / "osu.h5")):
        merged = a2a("merge", *files, "-o", tmp_path / "both.h5", "--force")
        assert merged.status == 0, merged
        told = a2a("check", tmp_path / "both.h5")
        assert (told.status, told.out.endswith("sound\n")) == (0, True), told


def test_mixed_clusters_are_refused(a2a: Run, three: list[Path], tmp_path: Path) -> None:
    other = replace(SETUP, seed=7, node_facts={"cpu_model": "another CPU"})
    path = synthetic.write_launch(tmp_path / "other.h5", other)
    outcome = a2a("merge", three[0], path, "-o", tmp_path / "x.h5")
    outcome.refused("different clusters", "cpu_model", "synthetic CPU", "another CPU", "--mixed")
    assert a2a("merge", three[0], path, "-o", tmp_path / "x.h5", "--mixed").status == 0


def test_different_rules_are_refused(
    a2a: Run, three: list[Path], table_2019: Path, tmp_path: Path
) -> None:
    outcome = a2a("merge", three[0], table_2019, "-o", tmp_path / "x.h5")
    outcome.refused("percentile_rule differs", "'rank' in a.h5", "'index' in 2019.h5")


def test_one_file_is_no_merge(a2a: Run, three: list[Path], tmp_path: Path) -> None:
    a2a("merge", three[0], "-o", tmp_path / "x.h5").refused("at least two files")


def test_a_resume_that_measured_nothing_is_no_launch(
    a2a: Run, three: list[Path], tmp_path: Path
) -> None:
    before = a2a("merge", *three, "-o", tmp_path / "before.h5").out
    with edited(three[0]) as file:
        place = file["segments"]
        place.copy(place["0"], str(len(place)))
    after = a2a("merge", *three, "-o", tmp_path / "after.h5").out
    assert after.partition(": ")[2] == before.partition(": ")[2]
