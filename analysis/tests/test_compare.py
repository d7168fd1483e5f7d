# SPDX-License-Identifier: BSD-3-Clause
"""`a2a compare` on files with known effects, through the command and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a2aperf import compare, decision, jobs, loading, verdicts
from conftest import Outcome
from support import native_streams, synthetic
from support.edited import edited
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
START = datetime(2025, 6, 15, tzinfo=UTC)


def launches(
    folder: Path,
    sides: Mapping[str, Setup],
    each: int,
    spread: float = 0.01,
    order: str = "ABBA",
) -> list[Path]:
    """Launches of the sides A, B, … in turn, one minute apart; the file name says the side."""
    files = []
    for i in range(each * len(sides)):
        name = order[i % len(order)]
        setup = sides[name]
        effects = replace(setup.effects, launch_spread=spread)
        made = replace(setup, effects=effects, seed=i, started=START + timedelta(minutes=i))
        files.append(synthetic.write_launch(folder / f"{name}{i:02}.h5", made))
    return files


def pair(slowdown: float, **changes: Any) -> dict[str, Setup]:
    a = Setup(sizes=(1000, 8000, 60000), ops=60, **changes)
    b = replace(a, environment={"PSM2_RCVTHREAD": "0"}, effects=Effects(slowdown=slowdown))
    return {"A": a, "B": b}


@pytest.mark.parametrize(
    ("fact", "one", "other"),
    [
        ("nic_active_mtu", "port 1 1024", "port 1 4096"),
        ("nic_max_read_request", "512", "4096"),
    ],
)
def test_what_an_adapter_says_of_itself_tells_sides_apart(
    a2a: A2A, tmp_path: Path, fact: str, one: str, other: str
) -> None:
    """A file of an older program has no such fact, and is a side of its own."""
    small = Setup(sizes=(1000,), ops=60, node_facts={fact: one})
    large = replace(small, node_facts={fact: other})
    files = launches(tmp_path, {"A": small, "B": large}, 2)
    found = of(a2a("compare", *files, "--by", fact, "--json"))
    assert {found["baseline"], found["candidate"]} == {f"{fact}={one}", f"{fact}={other}"}
    (tmp_path / "old").mkdir()
    old = launches(tmp_path / "old", {"A": small, "B": replace(small, node_facts={})}, 2)
    found = of(a2a("compare", *old, "--by", fact, "--json"))
    assert f"{fact}={one}" in {found["baseline"], found["candidate"]}


def test_a_variable_that_libfabric_does_not_know_changed_nothing(a2a: A2A, tmp_path: Path) -> None:
    base = Setup(sizes=(1000,), ops=60)
    set_ = replace(base, environment={"FI_TCP_NO_SUCH": "1"})
    files = launches(tmp_path, {"A": base, "B": set_}, 2)
    words = "FI_TCP_NO_SUCH: the libfabric of 2 launches that set it does not know it"
    asked = ["compare", *files, "--by", "FI_TCP_NO_SUCH"]
    assert words not in a2a(*asked).out, "older files do not say it"
    for file in files:
        with edited(file) as opened:
            ignored = "FI_TCP_NO_SUCH" if file.name.startswith("B") else ""
            opened["segments/0"].attrs["ignored_environment"] = ignored
    assert f"{words}: it changed nothing" in a2a(*asked).out


def of(outcome: Outcome) -> dict[str, Any]:
    found = json.loads(outcome.out)
    assert len(found) == 1
    return dict(found[0])


def test_a_faster_setting_is_called_faster_by_its_true_amount(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1 / 1.1), 8)
    outcome = a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json")
    assert outcome.status == 0
    found = of(outcome)
    assert (found["baseline"], found["candidate"]) == (
        "PSM2_RCVTHREAD not set",
        "PSM2_RCVTHREAD=0",
    )
    assert (found["blocks"], found["arrangements"], found["notes"]) == (4, 1296, [])
    for cell in found["cells"]:
        assert cell["verdict"] == "faster"
        assert cell["p"] <= 0.05
        assert cell["ratio_low"] < 1.1 < cell["ratio_high"]
        assert cell["launches_baseline"] == cell["launches_candidate"] == 8
        assert cell["rate_candidate"] / cell["rate_baseline"] == pytest.approx(cell["ratio"])
    text = a2a("compare", *files, "--by", "PSM2_RCVTHREAD").out
    assert "faster: 3 of 3 cells" in text
    assert "nothing else that was recorded differs" in text


def test_a_slower_side_is_status_3_and_the_files_are_the_sides(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1.1), 8)
    today, before = files[1::4] + files[2::4], files[::4] + files[3::4]
    outcome = a2a("compare", *today, "--against", *before)
    assert outcome.status == 3
    assert "slower: 3 of 3 cells" in outcome.out
    # All files up to the next option belong to --against.
    swapped = a2a("compare", "--against", *today, "--margin", "1%", *before)
    assert swapped.status == 0
    assert "faster: 3 of 3 cells" in swapped.out


@pytest.mark.slow
def test_equal_sides_are_equal_within_the_margin_or_undecided_never_more(
    a2a: A2A, tmp_path: Path
) -> None:
    files = launches(tmp_path, pair(1.0), 8, spread=0.005)
    outcome = a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--margin", "3%", "--json")
    assert outcome.status == 0
    assert {cell["verdict"] for cell in of(outcome)["cells"]} == {"no difference"}
    narrow = a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--margin", "0.1%", "--json")
    assert narrow.status == 4
    for cell in of(narrow)["cells"]:
        assert cell["verdict"] == "undecided"
        assert cell["launches_needed"] > 8


def test_a_difference_inside_the_margin_is_no_difference(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1.01), 8, spread=0.002)
    cells = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--margin", "5%", "--json"))[
        "cells"
    ]
    assert {cell["verdict"] for cell in cells} == {"no difference"}
    strict = a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--margin", "0.2%")
    assert strict.status == 3


def test_a_single_launch_a_side_gets_no_significance_at_all(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(3.0), 1, order="AB")
    outcome = a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json")
    assert outcome.status == 4
    for cell in of(outcome)["cells"]:
        assert cell["verdict"] == "undecided"
        assert cell["p"] is None and cell["ratio_low"] is None and cell["detectable"] is None
        assert cell["launches_needed"] is None
    text = a2a("compare", *files, "--by", "PSM2_RCVTHREAD").out
    assert "with 1 launch on one side no difference can be significant: at least 5 a side" in text
    assert "a side needed" not in text


@pytest.mark.parametrize("each", [2, 4])
def test_too_few_launches_never_claim(a2a: A2A, tmp_path: Path, each: int) -> None:
    files = launches(tmp_path, pair(2.0), each)
    outcome = a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json")
    assert outcome.status == 4
    assert any("significant" in note for note in of(outcome)["notes"])
    assert any("at least 5 a side" in note for note in of(outcome)["notes"])
    # So few do not tell how far launches differ.
    assert all(cell["launches_needed"] is None for cell in of(outcome)["cells"])
    assert set(of(outcome)["needed"].values()) == {None}
    assert "a side needed" not in a2a("compare", *files, "--by", "PSM2_RCVTHREAD").out


def test_four_launches_a_side_claim_no_equality_either(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1.0), 4, spread=0.0001)
    found = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))
    assert {cell["verdict"] for cell in found["cells"]} == {"undecided"}


def test_sides_one_after_the_other_are_said_to_be_confounded_with_time(
    a2a: A2A, tmp_path: Path
) -> None:
    files = launches(tmp_path, pair(1.0), 6, order="AAAAAABBBBBB")
    assert (
        "not interleaved: the candidate ran later"
        in a2a("compare", *files, "--by", "PSM2_RCVTHREAD").out
    )


def test_two_of_each_in_turn_are_interleaved_and_lean(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1.0), 2, order="ABAB")
    out = a2a("compare", *files, "--by", "PSM2_RCVTHREAD").out
    assert "the candidate ran later on the whole, so a change over time" in out
    assert "not interleaved" not in out


def in_jobs(folder: Path, name: str, days: range, slowdown: float, each: int = 1) -> list[Path]:
    """`each` launches a day; the jobs of the days differ by 2 %, their launches by 0.2 %."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(days.start)
    files = []
    for day in days:
        factor = float(np.exp(rng.normal(0, 0.02)))
        for i in range(each):
            setup = Setup(
                sizes=(1000, 60000),
                ops=30,
                seed=100 * day + i,
                started=START + timedelta(days=day, minutes=i),
                attributes={"slurm_job_id": str(day)},
                effects=Effects(slowdown=slowdown * factor, launch_spread=0.002),
            )
            files.append(synthetic.write_launch(folder / f"{name}{day}-{i}.h5", setup))
    return files


def test_another_job_is_no_other_setting(a2a: A2A, tmp_path: Path) -> None:
    before = in_jobs(tmp_path, "a", range(1), 1.0, 6)
    today = in_jobs(tmp_path, "b", range(9, 10), 1.1, 6)
    outcome = a2a("compare", *today, "--against", *before)
    assert outcome.status == 4
    assert "1 job (6 launches) of A, 1 job (6 launches) of B; no test" in outcome.out
    assert "not decided: the sides are different jobs (job 0 against job 9)" in outcome.out
    found = of(a2a("compare", *today, "--against", *before, "--json"))
    assert found["unit"] == "job"
    for cell in found["cells"]:
        assert cell["p"] is None and cell["ratio_low"] is None
        assert cell["ratio"] == pytest.approx(1 / 1.1, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("candidates", [1, 3])
def test_a_job_of_one_launch_is_not_held_to_the_spread_of_jobs_of_eight(candidates: int) -> None:
    rng = np.random.default_rng(7)
    job = np.repeat(np.arange(8 + candidates), [8] * 8 + [1] * candidates)
    side = np.arange(8 + candidates) >= 8
    block = np.zeros(len(side), dtype=np.intp)
    begun = np.arange(1.0, 1 + len(side)) * 86400e9
    called = 0
    for _ in range(200):
        effects = rng.normal(0, 0.01, len(side))[job] + rng.normal(0, 0.03, len(job))
        y = effects[:, None] + rng.normal(0, 0.005, (len(job), 6))
        more = jobs.excess(y, [job], ~side[job])
        made = decision.between_jobs(
            jobs.medians(y, [job]), side, begun, block, 0.02, rng, excess=more
        )
        called += bool((made.p <= decision.LEVEL).any())
    assert called <= 19  # 10 are expected; without `excess` 35 are


def test_a_job_beyond_the_spread_between_jobs_is_called(a2a: A2A, tmp_path: Path) -> None:
    before = in_jobs(tmp_path, "a", range(12), 1.0)
    same = in_jobs(tmp_path, "b", range(20, 21), 1.0, 2)
    slow = in_jobs(tmp_path, "c", range(30, 31), 1.4, 2)
    assert a2a("compare", *same, "--against", *before).status == 4
    outcome = a2a("compare", *slow, "--against", *before)
    assert outcome.status == 3
    assert "prediction from the spread between the jobs of A" in outcome.out
    assert a2a("compare", *slow, "--against", *before[:4]).status == 4


def test_launches_of_jobs_with_one_side_are_left_out_where_others_have_both(
    a2a: A2A, tmp_path: Path
) -> None:
    files = launches(tmp_path, pair(1.0), 6)
    far = in_jobs(tmp_path, "z", range(40, 41), 3.0, 3)
    found = of(a2a("compare", *files, *far, "--by", "PSM2_RCVTHREAD", "--json"))
    assert found["unit"] == "launch"
    assert any("left out: 3 launches of job 40" in note for note in found["notes"])
    assert all(cell["launches_baseline"] == 6 for cell in found["cells"])


def test_other_settings_are_never_averaged_in(a2a: A2A, tmp_path: Path) -> None:
    base = Setup(sizes=(60000,), ops=30, modes=("tagged", "write"))
    sides = {
        "A": replace(base, environment={"FI_X": "0"}),
        "B": replace(base, environment={"FI_X": "1"}, effects=Effects(slowdown=3.0)),
        "C": replace(base, environment={"FI_X": "2"}, modes=("tagged",)),
    }
    files = launches(tmp_path, sides, 5, order="ABCCBA")
    found = of(a2a("compare", *files, "--by", "mode", "--json"))
    assert [cell["FI_X"] for cell in found["cells"]] == ["0", "1"]
    assert all(cell["launches_baseline"] == 5 for cell in found["cells"])
    assert any("left out: 5 points" in note and "FI_X 2" in note for note in found["notes"])


def test_clock_and_barrier_starts_are_never_averaged(a2a: A2A, tmp_path: Path) -> None:
    sides = pair(1.0)
    sides |= {name: replace(sides[of], sync="barrier") for name, of in (("C", "A"), ("D", "B"))}
    files = launches(tmp_path, sides, 5, order="ABDCCDBA")
    found = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))
    assert [cell["sync"] for cell in found["cells"]] == ["clock", "barrier"] * 3
    apart = launches(tmp_path, {"E": sides["A"], "F": sides["D"]}, 6, order="EFFE")
    outcome = a2a("compare", *apart, "--by", "PSM2_RCVTHREAD")
    assert outcome.status == 4
    assert "ops of the baseline start by clock, of the candidate by barrier" in outcome.out


def test_other_ways_of_polling_are_never_averaged(a2a: A2A, tmp_path: Path) -> None:
    sides = {
        name + poll[0]: replace(of, attributes={"poll": poll})
        for name, of in pair(1.0).items()
        for poll in ("spin", "yield")
    }
    named = {one: sides[of] for one, of in zip("ABCD", sorted(sides), strict=True)}
    files = launches(tmp_path, named, 5, order="ACDBBDCA")
    found = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))
    assert [cell["poll"] for cell in found["cells"]] == ["spin", "yield"] * 3


def with_an_outlier(folder: Path, each: int) -> list[Path]:
    """40 % faster, and the sixth launch takes 6 times the time."""
    sides = pair(1 / 1.4)
    files = launches(folder, sides, each)
    files[5].unlink()
    slow = replace(sides["B"], seed=5, started=START + timedelta(minutes=5))
    synthetic.write_launch(files[5], replace(slow, effects=Effects(slowdown=6.0)))
    return files


def test_an_outlier_is_named_and_decides_nothing(a2a: A2A, tmp_path: Path) -> None:
    files = with_an_outlier(tmp_path, 8)
    found = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))
    assert {cell["verdict"] for cell in found["cells"]} == {"faster"}
    said = f"outlier: {files[5].name}#0, far from the other launches of the same side; drawn in to"
    assert any(said in note and note.endswith("deviations") for note in found["notes"])
    for cell in found["cells"]:
        assert cell["ratio"] == pytest.approx(1.4, rel=0.05)


def test_an_outlier_among_five_a_side_is_not_drawn_in(a2a: A2A, tmp_path: Path) -> None:
    files = with_an_outlier(tmp_path, 5)
    told = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))["notes"]
    assert (
        f"outlier: {files[5].name}#0, far from the other launches of the same side; not drawn in, "
        "which takes 6 launches a side: with fewer, one such launch can hide a change"
    ) in told


def test_every_other_recorded_difference_is_listed(a2a: A2A, tmp_path: Path) -> None:
    sides = pair(1.0)
    sides["B"] = replace(
        sides["B"],
        node_facts={"kernel": "6.6.1", "governor": "powersave"},
        labels={"rack": "7"},
        environment={"PSM2_RCVTHREAD": "0", "PSM2_MTU": "8192"},
        attributes={"libfabric_version": "2.1.0"},
        sync="barrier",
    )
    found = of(a2a("compare", *launches(tmp_path, sides, 2), "--by", "PSM2_RCVTHREAD", "--json"))
    assert found["differences"] == {
        "node kernel": {"baseline": ["6.1.0"], "candidate": ["6.6.1"]},
        "node governor": {"baseline": ["performance"], "candidate": ["powersave"]},
        "label rack": {"baseline": [""], "candidate": ["7"]},
        "variable PSM2_MTU": {"baseline": [""], "candidate": ["8192"]},
        "libfabric_version": {"baseline": ["1.17.0"], "candidate": ["2.1.0"]},
        "sync": {"baseline": ["clock"], "candidate": ["barrier"]},
    }
    assert found["changes_with_every_launch"] == ["seed"]


def test_a_setting_inside_a_launch_is_compared_launch_by_launch(a2a: A2A, tmp_path: Path) -> None:
    setup = Setup(sizes=(1000, 60000), ops=40, schedules=("shift", "xor"))
    files = launches(tmp_path, {"A": setup}, 7, spread=0.3, order="A")
    found = of(a2a("compare", *files, "--by", "schedule", "--json"))
    assert found["baseline"] == "schedule=shift"
    # A launch spread of 30 % is common to both of its sides and drops out.
    for cell in found["cells"]:
        assert cell["launches_baseline"] == 7
        assert cell["ratio_high"] - cell["ratio_low"] < 0.03
    assert found["blocks"] == 7
    assert any("in every launch the candidate was measured later" in x for x in found["notes"])


def test_the_library_is_the_baseline_of_engines(a2a: A2A, tmp_path: Path) -> None:
    setup = Setup(sizes=(1000, 60000), ops=40, baseline=True)
    files = launches(tmp_path, {"A": setup}, 6, order="A")
    outcome = a2a("compare", *files, "--by", "engine", "--json")
    found = of(outcome)
    assert (outcome.status, found["baseline"]) == (0, "engine=mpi")
    for cell in found["cells"]:
        assert cell["verdict"] == "faster"
        assert cell["ratio"] == pytest.approx(1.2, abs=0.03)
    assert any(note.startswith("schedule: library (baseline)") for note in found["notes"])


@pytest.mark.slow
def test_several_settings_make_a_factorial_table(a2a: A2A, tmp_path: Path) -> None:
    base = Setup(sizes=(1000, 60000), ops=40)
    sides = {}
    for name, thread, mtu in (("A", "1", "4"), ("B", "0", "4"), ("C", "1", "8"), ("D", "0", "8")):
        speed = (1.2 if thread == "0" else 1.0) * (1.1 if mtu == "8" else 1.0)
        sides[name] = replace(
            base, environment={"T": thread, "M": mtu}, effects=Effects(slowdown=1 / speed)
        )
    files = launches(tmp_path, sides, 8, order="ABCDDCBA")
    found = json.loads(a2a("compare", *files, "--by", "T", "--by", "M", "--json").out)
    ratios = {one["candidate"]: one["cells"][0]["ratio"] for one in found}
    assert {one["baseline"] for one in found} == {"T=1, M=4"}
    assert ratios["T=0, M=8"] == pytest.approx(1.32, abs=0.06)
    effects = compare.main_effects(loading.load(files).measured(), ["T", "M"])
    for name, true in (("T", 1.2), ("M", 1.1)):
        (one,) = effects[name]
        assert (one.cells["ratio"] - true).abs().max() < 0.05
        assert one.status == 0 and set(one.cells["verdict"]) == {"faster"}
        assert (one.cells["launches_baseline"] == 16).all()
    text = a2a("compare", *files, "--by", "T", "--by", "M").out
    assert "Each setting by itself, the others fixed:" in text


def test_the_effect_of_the_receive_thread_in_2019(a2a: A2A, table_2019: Path) -> None:
    outcome = a2a("compare", table_2019, "--by", "PSM2_RCVTHREAD", "--json")
    assert outcome.status == 4
    found = of(outcome)
    ratios = {
        cell["message_size"]: round(cell["ratio"], 2)
        for cell in found["cells"]
        if (cell["ranks"], cell["ppn"]) == (160, 2)
    }
    assert ratios == {
        15000: 1.73, 20000: 2.08, 25000: 2.38, 30000: 2.33, 35000: 2.29, 40000: 2.26,
    }  # fmt: skip
    assert any("of the baseline are unknown" in note for note in found["notes"])
    # A text has not seen whether the variable was set.
    assert (found["baseline"], found["candidate"]) == (
        "PSM2_RCVTHREAD unknown",
        "PSM2_RCVTHREAD=0",
    )


def test_bad_input_is_one_line_and_status_2(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1.0), 1, order="AB")
    a2a("compare", *files).refused("--by", "--against")
    a2a("compare", files[0], "--by", "provider", "--against", files[1]).refused("either")
    a2a("compare", *files, "--by", "PSM2_RCVTHRAED").refused("did you mean PSM2_RCVTHREAD")
    a2a("compare", *files, "--by", "ranks").refused("same ranks", "scaling")
    a2a("compare", *files, "--by", "provider").refused("every point has provider=psm2")
    a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--baseline", "2").refused(
        "expected one of", "=0"
    )
    a2a("compare", files[0], "--against", files[1], "--baseline", "0").refused("--baseline")
    for margin in ("0", "-1%", "200%", "wide"):
        a2a("compare", *files, "--by", "PSM2_RCVTHREAD", f"--margin={margin}").refused("--margin")
    other = synthetic.write_launch(tmp_path / "big.h5", Setup(nodes=8, seed=77))
    a2a("compare", other, "--against", files[0]).refused("ranks is 16 on one side, 8 on the other")
    a2a("compare", files[0], "--against", tmp_path / "missing.h5").refused("no such file")
    a2a("compare", files[0], "--against", files[0]).refused("given twice")
    a2a("compare", "--against", files[0]).refused("FILE")


def test_one_side_is_one_cluster(a2a: A2A, tmp_path: Path) -> None:
    sides = pair(1.0)
    sides["B"] = replace(sides["B"], node_facts={"cpu_model": "another"})
    files = launches(tmp_path, sides, 1, order="AB")
    third = synthetic.write_launch(tmp_path / "third.h5", replace(sides["B"], seed=9))
    assert a2a("compare", files[0], "--against", third).status == 4  # said, not refused
    assert "node cpu_model" in a2a("compare", files[0], "--against", third).out
    a2a("compare", files[0], third, "--against", files[1]).refused("cpu_model", "--mixed")
    a2a("history", *files).refused("cpu_model", "--mixed")


def test_results_do_not_change_from_run_to_run(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, pair(1.03), 3)
    once, again = (a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--csv").out for _ in "ab")
    assert once == again and once.count("\n") == 4


def test_what_is_far_beyond_use_is_told_as_such() -> None:
    assert verdicts._percent(0.0421) == "4.2 %"
    assert verdicts._percent(4.858) == "485.8 %"
    assert verdicts._percent(0.99985) == "more than 99.9 %"
    assert verdicts._percent(6.4e73) == "more than 1000 %"
    wide = {"ratio_low": 6.06e-17, "ratio_high": 1.6e16}
    assert verdicts._interval(wide) == "less than 0.000001 to more than 1000"


def test_a_file_of_another_workload_is_no_side(a2a: A2A, tmp_path: Path) -> None:
    (own,) = launches(tmp_path, {"A": Setup(sizes=(1000,), ops=20)}, 1, order="A")
    stream = native_streams.write(tmp_path / "stream.h5")
    a2a("compare", own, "--against", stream).refused(
        "nothing to compare: stream.h5 has no complete point of the workload of A00.h5"
    )


def test_a_window_of_all_is_called_that(a2a: A2A, tmp_path: Path) -> None:
    own, other = launches(tmp_path, {"A": Setup(sizes=(1000,), ops=20)}, 2, order="A")
    with edited(other) as file:
        file["window"][...] = 1
    outcome = a2a("compare", own, "--against", other)
    assert "window: 1 (baseline) against all (candidate)" in outcome.out


def test_launches_that_no_cell_has_all_of_are_counted_in_a_cell(a2a: A2A, tmp_path: Path) -> None:
    files = []
    for i in range(16):
        made = Setup(
            nodes=2, ppn=1, sizes=(1000,), ops=20, seed=i, window=(8, 64)[i % 2],
            environment={"UCX_TLS": "rc" if i % 4 < 2 else "ud"},
        )  # fmt: skip
        files.append(synthetic.write_launch(tmp_path / f"{i}.h5", made))
    both = a2a("compare", *files, "--by", "UCX_TLS").out
    said = "4 launches of A in a cell (8 launches in all), 4 launches of B in a cell"
    assert f"{said} (8 launches in all); " in both
    one = a2a("compare", *files, "--by", "UCX_TLS", "--where", "window=8").out
    assert "4 launches of A, 4 launches of B; " in one


@pytest.mark.parametrize(
    ("verdict", "ratio", "words"),
    [
        ("slower", 0.000153, "slower: 0.000153 times the speed"),
        ("slower", 0.62, "slower by 38.0 %"),
        ("faster", 2.3, "faster by 130.0 %"),
        ("faster", 12.4, "faster: 12.400 times the speed"),
        ("undecided", 0.01, "undecided"),
    ],
)
def test_what_is_left_of_the_speed_is_told_where_it_is_little(
    verdict: str, ratio: float, words: str
) -> None:
    assert verdicts.words({"verdict": compare.Verdict(verdict), "ratio": ratio}) == words
    assert verdicts._interval({"ratio_low": 0.00015, "ratio_high": 0.2}) == "0.000150 to 0.200"


def test_an_interval_that_excludes_1_beside_undecided_is_explained(
    a2a: A2A, tmp_path: Path
) -> None:
    files = launches(tmp_path, {x: replace(s, sizes=(1000,)) for x, s in pair(2.0).items()}, 4)
    found = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))
    (cell,) = found["cells"]
    assert cell["verdict"] == "undecided" and cell["ratio_high"] < 1
    why = "the interval excludes 1 and the verdict is undecided: the verdict rests on the test; "
    why += "the test exchanges launches between the sides; the interval resamples them"
    assert why in found["notes"]
    files = launches(tmp_path, pair(2.0), 4)
    notes = of(a2a("compare", *files, "--by", "PSM2_RCVTHREAD", "--json"))["notes"]
    assert any(x.startswith("in 3 of 3 cells the interval excludes 1") for x in notes)
    assert any("shared by all cells; an interval is of its cell alone" in x for x in notes)
