# SPDX-License-Identifier: BSD-3-Clause
"""The launches that confirm what a screening leaves, and what they say: `a2a screen --confirm`."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading
from a2aperf.errors import InputError
from a2aperf.screening import (
    catalogue,
    choosing,
    contrast,
    outcome,
    outcome_json,
    plan,
    recommendation,
    trial,
)
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial
from a2aperf.studies import screened
from conftest import Outcome
from support.synthetic_screening import SETUP, confirmed, launched

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("summed_once")]

A2A = Callable[..., Outcome]
DUMMIES = tuple(f"A2APERF_DUMMY_{i}=1" for i in range(6))
SIZES = (1000, 20000, 80000)
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


@pytest.fixture(scope="module")
def screening_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a screening in which two settings matter."""
    folder = tmp_path_factory.mktemp("screening")
    made = screening()
    launched(folder, made, FAST, setup=replace(SETUP, sizes=SIZES))
    (folder / plan.NAME).write_text(made.as_json())
    return folder


@pytest.fixture(scope="module")
def planned_of(screening_of: Path) -> tuple[Path, Trial]:
    """The same with its trial planned."""
    made = screening()
    path = screening_of / plan.NAME
    left = outcome.judge(loading.load([*screening_of.glob("*.h5")]), made).candidates
    confirming = trial.make(made, left)
    assert confirming
    screened.add(path, [made], confirming)
    return screening_of, confirming


def said(
    planned_of: tuple[Path, Trial], folder: Path, changes: Mapping[str, float], **more: object
) -> outcome.Outcome:
    """What comes out where the trial's launches show these changes."""
    path, confirming = planned_of
    files = confirmed(folder, confirming, changes, SIZES, **more)  # type: ignore[arg-type]
    found = loading.load([*path.glob("*.h5"), *files])
    return outcome.judge(found, screening(), confirming)


def words(made: outcome.Outcome) -> str:
    return "\n".join(outcome.lines(made))


def test_it_is_planned_once_from_what_is_left(screening_of: Path, tmp_path: Path, a2a: A2A) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(screening_of, folder)
    (folder / trial.NAME).unlink(missing_ok=True)
    first = a2a("screen", folder, "--confirm")
    assert (
        first.out
        == "to be confirmed by 32 launches (confirm.json): PSM2_TID=0 and PSM2_RCVTHREAD=0\n"
    )
    before = (folder / trial.NAME).read_text()
    for file in folder.glob("*.h5"):
        file.unlink()
    assert a2a("screen", folder, "--confirm").out == first.out
    assert (folder / trial.NAME).read_text() == before


def test_before_its_launches_there_is_no_line(planned_of: tuple[Path, Trial], a2a: A2A) -> None:
    waiting = a2a("screen", planned_of[0])
    assert waiting.status == 0, waiting
    assert (
        "to be confirmed: PSM2_TID=0 and PSM2_RCVTHREAD=0; not yet: no file is of this"
        in waiting.out
    )
    assert "export" not in waiting.out


def test_a_line_is_recommended_with_what_it_gains(
    planned_of: tuple[Path, Trial], tmp_path: Path
) -> None:
    made = said(planned_of, tmp_path / "files", FAST)
    told = words(made)
    assert told.endswith("  export PSM2_TID=0 PSM2_RCVTHREAD=0")
    assert "recommended: faster at 3 of 3 sizes, by " in told
    assert "Gbit/s per node" in told
    assert "left out" not in told
    document = json.loads(outcome_json.as_json(made))
    assert document["confirmed"] is True
    confirmation = document["confirmation"]
    assert confirmation["recommended"] == {"PSM2_TID": "0", "PSM2_RCVTHREAD": "0"}
    assert confirmation["launches_a_side"] == [8, 8, 8, 8]
    for one in confirmation["contrasts"]:
        truth = 1.0
        for name, change in FAST.items():
            truth *= (1 + change) ** ((name in one["settings"]) - (name in one["against"]))
        for cell in one["cells"]:
            assert cell["low"] < truth - 1 < cell["high"]
            assert cell["rate"] / cell["rate_against"] == pytest.approx(1 + cell["change"])


def test_the_largest_gain_is_one_that_is_confirmed(
    planned_of: tuple[Path, Trial], tmp_path: Path
) -> None:
    """Where chance is not excluded the difference is larger, and is none that is promised."""
    made = said(planned_of, tmp_path / "files", FAST).confirmation
    assert made is not None
    side = made.recommended
    assert side is not None
    sure = made.against_default(side)
    unsure = replace(sure, low=np.where(np.arange(3) == 2, -sure.high, sure.low))
    each = [unsure if one is sure else one for one in made.contrasts.each]
    rates = made.rates.copy()
    rates[:, :] = 10.0
    rates[side] = [11.0, 12.0, 30.0]
    other = replace(made, contrasts=replace(made.contrasts, each=each), rates=rates)
    assert other.recommended == side
    (told,) = [line for line in recommendation.lines(other) if line.startswith("recommended")]
    assert "faster at 2 of 3 sizes" in told
    assert told.endswith("up to 2.00 Gbit/s per node")


def test_what_is_not_confirmed_is_not_recommended(
    planned_of: tuple[Path, Trial], tmp_path: Path
) -> None:
    made = said(planned_of, tmp_path / "files", {})
    assert "nothing is recommended" in words(made)
    assert "export" not in words(made)
    assert json.loads(outcome_json.as_json(made))["confirmation"]["recommended"] is None


def test_of_one_that_is_slower_now_the_other_is_recommended(
    planned_of: tuple[Path, Trial], tmp_path: Path
) -> None:
    told = words(said(planned_of, tmp_path / "f", {"PSM2_TID": 0.12, "PSM2_RCVTHREAD": -0.08}))
    assert told.endswith("  export PSM2_TID=0")
    assert "PSM2_RCVTHREAD=0: slower at 3 of 3 sizes" in told


def test_one_that_does_nothing_is_told_to_be_unproven(
    planned_of: tuple[Path, Trial], tmp_path: Path
) -> None:
    told = words(said(planned_of, tmp_path / "files", {"PSM2_TID": 0.12}))
    assert "PSM2_RCVTHREAD=0: not confirmed alone; what is confirmed is the line" in told


def test_what_is_slower_alone_and_faster_beside_the_other_is_recommended(
    planned_of: tuple[Path, Trial], tmp_path: Path
) -> None:
    made = said(planned_of, tmp_path / "files", FAST).confirmation
    assert made is not None and made.against_best is not None
    second, both = made.against_default(2), made.against_best
    slower = replace(second, low=second.low - 10, high=second.low - 9)
    assert slower.slower.all() and both.faster.all()
    each = [slower if one is second else one for one in made.contrasts.each]
    other = replace(made, contrasts=replace(made.contrasts, each=each))
    assert other.recommended == made.trial.together
    # Where nothing says that it helps there, it is left out.
    even = replace(both, low=-abs(both.low), high=abs(both.high))
    each = [even if one is both else one for one in each]
    assert replace(made, contrasts=replace(made.contrasts, each=each)).recommended == 1


def test_lost_launches_are_told(planned_of: tuple[Path, Trial], tmp_path: Path) -> None:
    told = words(said(planned_of, tmp_path / "files", FAST, lost=[3]))
    assert "note: 1 of 32 launches of the confirmation is missing" in told
    assert told.endswith("  export PSM2_TID=0 PSM2_RCVTHREAD=0")


def test_nothing_is_left(tmp_path: Path, a2a: A2A) -> None:
    made = screening()
    launched(tmp_path, made, {}, setup=replace(SETUP, sizes=SIZES))
    (tmp_path / plan.NAME).write_text(made.as_json())
    assert a2a("screen", tmp_path, "--confirm").out == "nothing is left to be confirmed\n"
    assert not (tmp_path / trial.NAME).exists()


def test_rows_that_an_end_left_out_are_added(tmp_path: Path, a2a: A2A) -> None:
    """A full disk or a kill between the trial and its rows; the script begins again with them."""
    made = screening()
    (tmp_path / "given.json").write_text(made.as_json())
    folder = tmp_path / "results"
    ready = screened.prepare(str(tmp_path / "given.json"), folder, None)
    before = ready.rows.read_text()
    confirming = of("PSM2_TID")
    (folder / trial.NAME).write_text(confirming.as_json())
    told = a2a("screen", folder, "--confirm").out
    assert told == "16 launches that are planned already are still to come\n"
    rows = ready.rows.read_text()
    assert rows.startswith(before) and rows.count("\n") == before.count("\n") + 16
    assert a2a("screen", folder, "--confirm").out.startswith(
        "to be confirmed by 16 launches (confirm.json)"
    )
    assert ready.rows.read_text() == rows


def test_rows_for_the_script(tmp_path: Path) -> None:
    made = screening()
    folder = tmp_path / "results"
    (tmp_path / "given.json").write_text(made.as_json())
    ready = screened.prepare(str(tmp_path / "given.json"), folder, None)
    before = ready.rows.read_text()
    confirming = of("PSM2_TID")
    screened.add(folder / plan.NAME, [made], confirming)
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
    refused = a2a("screen", *(tmp_path if word == "FOLDER" else word for word in words))
    assert refused.status == 2, refused
    assert said in refused.err
    assert len(refused.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [plan.NAME]
