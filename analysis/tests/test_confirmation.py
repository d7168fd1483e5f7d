# SPDX-License-Identifier: BSD-3-Clause
"""The launches that confirm what a screening leaves, and what they say: `a2a screen --confirm`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from a2aperf.errors import InputError
from a2aperf.screening import catalogue, choosing, contrast, plan, trial
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial
from a2aperf.studies import screened
from conftest import Outcome
from support.synthetic_screening import confirmed, launched

A2A = Callable[..., Outcome]
DUMMIES = tuple(f"A2APERF_DUMMY_{i}=1" for i in range(6))
FAST = {"PSM2_RCVTHREAD": 0.08, "PSM2_TID": 0.12}


def screening(**more: object) -> Plan:
    wanted = Wanted("psm2", ("PSM2_RCVTHREAD", "PSM2_TID", *DUMMIES), **more)  # type: ignore[arg-type]
    return choosing.make(catalogue.of("psm2"), wanted, 5)


def of(*names: str, made: Plan | None = None) -> Trial:
    """A trial of some of its settings."""
    made = made or screening()
    chosen = [next(one for one in made.factors if one.name == name) for name in names]
    found = trial.make(made, chosen)
    assert found
    return found


# Plans -------------------------------------------------------------------------------------------


def test_two_sides_in_turn() -> None:
    made = of("PSM2_RCVTHREAD")
    blocks = "".join("AB"[side] for side in made.order)
    assert re.fullmatch("(ABBA|BAAB){4}", blocks)
    assert {made.block(i) for i in range(16)} == {0, 1, 2, 3}
    assert made.environment(made.order.index(1)) == {"PSM2_RCVTHREAD": "0"}
    assert made.environment(made.order.index(0)) == {}


def test_each_block_has_every_side_once() -> None:
    made = of("PSM2_TID", "PSM2_RCVTHREAD", "A2APERF_DUMMY_3")
    assert [len(one) for one in made.sides] == [0, 1, 1, 1, 3]
    assert made.launches == 5 * trial.LAUNCHES
    for block in range(trial.LAUNCHES):
        members = [made.order[i] for i in range(made.launches) if made.block(i) == block]
        assert sorted(members) == [0, 1, 2, 3, 4]
    assert len({made.order[i : i + 5] for i in range(0, made.launches, 5)}) > 1
    assert made.settings == ["PSM2_TID=0", "PSM2_RCVTHREAD=0", "A2APERF_DUMMY_3=1"]


def test_what_is_fixed_is_in_every_launch() -> None:
    made = of("PSM2_RCVTHREAD", made=screening(fixed={"PSM2_MTU": "4096"}))
    assert {made.environment(i)["PSM2_MTU"] for i in range(made.launches)} == {"4096"}


def test_nothing_left_is_no_trial() -> None:
    assert trial.make(screening(), []) is None


def test_the_largest_only_have_room() -> None:
    many = [Factor(f"A_{i}", "1") for i in range(trial.MOST + 2)]
    made = trial.make(screening(), many)
    assert made
    assert made.settings == [one.assignment for one in many[: trial.MOST]]


def test_a_trial_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = of("PSM2_TID", "PSM2_RCVTHREAD")
    path = tmp_path / trial.NAME
    path.write_text(made.as_json())
    assert trial.read(path) == made
    assert trial.of(screening(), tmp_path / plan.NAME) == made
    assert trial.of(screening(fixed={"PSM2_MTU": "4096"}), tmp_path / plan.NAME) is None
    rows = json.loads(made.as_json())["launches"]
    assert [row["label"] for row in rows] == [made.label(i) for i in range(made.launches)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"PSM2_TID": "0"', '"PSM2_TID": "1"', "was changed after it was written"),
        ('"order"', '"ordr"', "not a plan as it was written"),
        ("{", "", "not a plan: "),
        (trial.SCHEMA, "another", "expected one that 'a2a screen --confirm' has written"),
    ],
)
def test_a_trial_that_is_none(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / trial.NAME
    path.write_text(of("PSM2_TID").as_json().replace(old, new))
    with pytest.raises(InputError, match=re.escape(said)):
        trial.read(path)


# Contrasts ---------------------------------------------------------------------------------------


def test_without_noise_the_changes_are_exact() -> None:
    made = of("PSM2_TID", "PSM2_RCVTHREAD")
    side = np.array(made.order)
    block = np.array([made.block(i) for i in range(made.launches)])
    truth = np.array([[0.0, 0.0], [0.1, -0.2], [0.3, 0.0], [0.4, 0.1]])
    rng = np.random.default_rng(1)
    y = truth[side] + block[:, None] + rng.normal(0, 1e-9, (len(side), 2))
    found = contrast.contrasts(y, side, block, [(1, 0), (2, 0), (3, 0), (3, 1)])
    wanted = [truth[1], truth[2], truth[3], truth[3] - truth[1]]
    for one, change in zip(found.each, wanted, strict=True):
        assert one.change == pytest.approx(change, abs=1e-8)
    assert found.freedom == len(side) - trial.LAUNCHES - 3
    assert found.each[0].faster.tolist() == [True, False]
    assert found.each[0].slower.tolist() == [False, True]


def test_too_few_launches_tell_no_sides_apart() -> None:
    y = np.zeros((4, 1))
    side, block = np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="too few to tell its sides apart"):
        contrast.contrasts(y, side, block, [(2, 0)])
    with pytest.raises(InputError, match="too few to tell its sides apart"):
        contrast.contrasts(y, side, np.arange(4), [(1, 0)])


# From files to a line ----------------------------------------------------------------------------


def study(folder: Path, a2a: A2A, changes: Mapping[str, float]) -> Trial | None:
    """A folder with a screening, and the trial that `a2a screen --confirm` plans of it."""
    made = screening()
    launched(folder, made, changes)
    (folder / plan.NAME).write_text(made.as_json())
    outcome = a2a("screen", folder, "--confirm")
    assert outcome.status == 0, outcome
    return trial.of(made, folder / plan.NAME)


def test_a_line_is_recommended_with_what_it_gains(tmp_path: Path, a2a: A2A) -> None:
    made = study(tmp_path, a2a, FAST)
    assert made
    assert made.settings == ["PSM2_TID=0", "PSM2_RCVTHREAD=0"]
    waiting = a2a("screen", tmp_path).out
    assert (
        "to be confirmed: PSM2_TID=0 and PSM2_RCVTHREAD=0; not yet: no file is of this" in waiting
    )
    assert "export" not in waiting
    confirmed(tmp_path, made, FAST)
    outcome = a2a("screen", tmp_path)
    assert outcome.status == 0, outcome
    assert outcome.out.endswith("  export PSM2_TID=0 PSM2_RCVTHREAD=0\n")
    assert "recommended: faster at 7 of 7 sizes, by " in outcome.out
    assert "Gbit/s per node" in outcome.out
    assert "left out" not in outcome.out
    told = json.loads(a2a("screen", tmp_path, "--json").out)
    assert told["confirmed"] is True
    said = told["confirmation"]
    assert said["recommended"] == {"PSM2_TID": "0", "PSM2_RCVTHREAD": "0"}
    assert said["launches_a_side"] == [8, 8, 8, 8]
    for one in said["contrasts"]:
        truth = 1.0
        for name, change in FAST.items():
            truth *= (1 + change) ** ((name in one["settings"]) - (name in one["against"]))
        for cell in one["cells"]:
            assert cell["low"] < truth - 1 < cell["high"]
            assert cell["rate"] / cell["rate_against"] == pytest.approx(1 + cell["change"])


def test_nothing_is_left(tmp_path: Path, a2a: A2A) -> None:
    assert study(tmp_path, a2a, {"PSM2_TID": -0.08}) is None
    assert "nothing is left to be confirmed" in a2a("screen", tmp_path, "--confirm").out
    assert not (tmp_path / trial.NAME).exists()


def test_what_is_not_confirmed_is_not_recommended(tmp_path: Path, a2a: A2A) -> None:
    made = study(tmp_path, a2a, FAST)
    assert made
    confirmed(tmp_path, made, {})
    outcome = a2a("screen", tmp_path)
    assert "nothing is recommended" in outcome.out
    assert "export" not in outcome.out
    assert json.loads(a2a("screen", tmp_path, "--json").out)["confirmation"]["recommended"] is None


def test_of_one_that_is_slower_now_the_other_is_recommended(tmp_path: Path, a2a: A2A) -> None:
    made = study(tmp_path, a2a, FAST)
    assert made
    confirmed(tmp_path, made, {"PSM2_TID": 0.12, "PSM2_RCVTHREAD": -0.08})
    outcome = a2a("screen", tmp_path)
    assert outcome.out.endswith("  export PSM2_TID=0\n")
    assert "PSM2_RCVTHREAD=0: slower at 7 of 7 sizes" in outcome.out


def test_one_that_does_nothing_is_told_to_be_unproven(tmp_path: Path, a2a: A2A) -> None:
    made = study(tmp_path, a2a, FAST)
    assert made
    confirmed(tmp_path, made, {"PSM2_TID": 0.12})
    outcome = a2a("screen", tmp_path)
    assert "PSM2_RCVTHREAD=0: not confirmed alone; what is confirmed is the line" in outcome.out


def test_lost_launches_are_told(tmp_path: Path, a2a: A2A) -> None:
    made = study(tmp_path, a2a, FAST)
    assert made
    confirmed(tmp_path, made, FAST, lost=[3])
    outcome = a2a("screen", tmp_path)
    assert "note: 1 of 32 launches of the confirmation are missing" in outcome.out
    assert outcome.out.endswith("  export PSM2_TID=0 PSM2_RCVTHREAD=0\n")


def test_a_trial_is_planned_once(tmp_path: Path, a2a: A2A) -> None:
    first = study(tmp_path, a2a, FAST)
    assert first
    next(tmp_path.glob("*.h5")).unlink()
    outcome = a2a("screen", tmp_path, "--confirm")
    assert outcome.out == "to be confirmed by 32 launches: PSM2_TID=0 and PSM2_RCVTHREAD=0\n"
    assert trial.read(tmp_path / trial.NAME) == first


def test_rows_for_the_script(tmp_path: Path) -> None:
    made = screening()
    folder = tmp_path / "results"
    (tmp_path / "given.json").write_text(made.as_json())
    ready = screened.prepare(str(tmp_path / "given.json"), folder, None)
    before = ready.rows.read_text()
    confirming = of("PSM2_TID")
    screened.add(folder / plan.NAME, made, confirming)
    rows = ready.rows.read_text()
    assert rows.startswith(before)
    added = [line.split("\t") for line in rows.removeprefix(before).splitlines()]
    assert [row[0] for row in added] == [confirming.label(i) for i in range(16)]
    assert Counter(row[1] for row in added) == {"-": 8, "PSM2_TID=0": 8}
    last = max(int(line.split("\t")[2]) for line in before.splitlines())
    assert sorted({int(row[2]) for row in added}) == [last + 1 + i for i in range(4)]
    # The same command finds them again.
    assert screened.prepare(str(tmp_path / "given.json"), folder, None).rows.read_text() == rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--provider", "psm2", "--confirm"), "--confirm with no files"),
        (("FOLDER", "--confirm", "--json"), "--json with --confirm"),
        (("FOLDER", "--confirm", "--plot", "a.pdf"), "--plot with --confirm"),
    ],
)
def test_bad_input(a2a: A2A, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / plan.NAME).write_text(screening().as_json())
    outcome = a2a("screen", *(tmp_path if word == "FOLDER" else word for word in words))
    assert outcome.status == 2, outcome
    assert said in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [plan.NAME]
