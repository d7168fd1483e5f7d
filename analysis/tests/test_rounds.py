# SPDX-License-Identifier: BSD-3-Clause
"""A screening whose dominant setting is fixed, and the rest screened again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import studies
from a2aperf import loading
from a2aperf.errors import InputError
from a2aperf.screening import (
    catalogue,
    choosing,
    design,
    estimate,
    folder,
    outcome,
    outcome_json,
    plan,
    rounds,
    trial,
)
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.launches import Measured
from a2aperf.screening.outcome import Outcome as Screened
from a2aperf.screening.plan import Factor, Plan
from a2aperf.studies import screened
from conftest import Outcome
from support.synthetic_screening import SETUP, START, Truth, confirmed, launched

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
DUMMIES = tuple(f"A2APERF_DUMMY_{i}=1" for i in range(4))
SHORT = replace(SETUP, sizes=(1000, 20000, 80000), ops=10)
SPEED = {"PSM2_RCVTHREAD": 1.3, "PSM2_TID": 0.12}
BOTH = "PSM2_RCVTHREAD=0 and PSM2_TID=0"


def first_plan() -> Plan:
    wanted = Wanted("psm2", ("PSM2_RCVTHREAD", "PSM2_TID", *DUMMIES))
    return choosing.make(catalogue.of("psm2"), wanted, 5)


def begun(where: Path, lost: Sequence[int] = ()) -> Path:
    """A study whose first round is made, but for the launches `lost`."""
    made = first_plan()
    (where / "given.json").write_text(made.as_json())
    screened.prepare(str(where / "given.json"), where / "results", None)
    launched(where / "results", made, SPEED, lost, setup=SHORT)
    return where / "results"


def rows(where: Path) -> list[list[str]]:
    return [line.split("\t") for line in (where / "screen.tsv").read_text().splitlines()]


# Truths -------------------------------------------------------------------------------------------


def outcome_of(plan_of: Plan, truth: Truth, rng: np.random.Generator) -> Screened:
    y = truth.speeds(plan_of.design, rng)
    bands = tuple(f"band {i}" for i in range(truth.bands))
    found = estimate.estimate(y, plan_of.design, plan_of.names)
    return Screened(plan_of, Measured(y, bands, truth.bands, ()), found)


TRUTHS = {
    "only beside it": (Truth(changes={3: 1.3}, both={(3, 5): 0.04}), 0.04, {"S3", "S5"}),
    "faster beside it": (
        Truth(changes={3: 1.3, 5: -0.1}, both={(3, 5): 0.25}),
        0.125,
        {"S3", "S5"},
    ),
    "slower beside it": (Truth(changes={3: 1.3, 5: 0.2}, both={(3, 5): -0.25}), -0.1, {"S3"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TRUTHS)
def test_what_a_dominant_setting_hides_is_found_in_the_next_round(case: str) -> None:
    """One of 20 makes +130 %; what S5 does beside it is another thing than without."""
    truth, beside, wanted = TRUTHS[case]
    rng = np.random.default_rng(3)
    right = 0
    for _ in range(50):
        factors = tuple(Factor(f"S{i}", "1") for i in range(20))
        made = Plan("none", int(rng.integers(2**31)), factors, design.make(20, rng))
        again = rounds.following(before := outcome_of(made, truth, rng))
        assert again is not None and again.fixed["S3"] == "1" and "S3" not in again.names
        changes = {again.names.index("S5"): beside} if "S5" in again.names else {}
        last = outcome_of(again, Truth(len(again.names), changes), rng)
        found = {one.name for one in replace(last, earlier=(before,)).candidates}
        right += found == wanted
    assert right >= 40


def test_where_nothing_dominates_there_is_no_other_round() -> None:
    rng = np.random.default_rng(4)
    factors = tuple(Factor(f"S{i}", "1") for i in range(8))
    made = Plan("none", 1, factors, design.make(8, rng))
    assert rounds.following(outcome_of(made, Truth(8, {3: 0.08}), rng)) is None
    dominated = outcome_of(made, Truth(8, {3: 1.0}), rng)
    assert rounds.following(dominated) is not None
    assert rounds.following(replace(dominated, earlier=(dominated,) * 2)) is None
    few = Plan("none", 1, factors[:2], design.make(2, rng))
    assert rounds.following(outcome_of(few, Truth(2, {0: 1.0}), rng)) is None


def test_a_setting_that_is_slower_stays_at_its_default() -> None:
    rng = np.random.default_rng(5)
    factors = tuple(Factor(f"S{i}", "1") for i in range(8))
    made = Plan("none", 1, factors, design.make(8, rng), {"X": "2"}, ("Y: no",))
    again = rounds.following(outcome_of(made, Truth(8, {3: -0.5}), rng))
    assert again is not None
    assert (again.fixed, again.follows) == ({"X": "2"}, made.id)
    assert again.left_out == ("Y: no", "S3: dominates, and is faster not set")
    assert "S3" not in again.names and len(again.names) == 7


# A study ------------------------------------------------------------------------------------------


def test_a_screening_goes_on_round_by_round_to_its_line(a2a: A2A, tmp_path: Path) -> None:
    results = begun(tmp_path)
    path = results / plan.NAME
    told = a2a("screen", results, "--confirm").out
    assert told == (
        "round 2 (screen-2.json): PSM2_RCVTHREAD dominates; the rest is screened again, "
        "5 settings, 28 launches\n"
    )
    told = a2a("screen", results, "--confirm").out
    assert told == "round 2 (screen-2.json): its 28 launches are still to be made\n"
    one, two = rounds.read(path)
    assert (two.follows, dict(two.fixed)) == (one.id, {"PSM2_RCVTHREAD": "0"})
    planned = rows(results)
    assert [row[0] for row in planned] == [*one.labels, *two.labels]
    pairs = [row[3] for row in planned if row[3] != "-"]
    assert len(set(pairs)) == 24 and all(pairs.count(pair) == 2 for pair in pairs)
    assert len({row[2] for row in planned}) == 14
    screened.prepare(str(tmp_path / "given.json"), results, None)
    assert rows(results) == planned
    # Nothing of it is made yet.
    (pending,) = outcome.so_far(loading.load([*results.glob("*.h5")]), [one, two], None).pending
    assert pending.startswith("round 2, not yet: no file is of this plan")

    launched(results, two, SPEED, setup=SHORT, start=START + timedelta(hours=1))
    told = a2a("screen", results, "--confirm").out
    assert told == f"to be confirmed by 32 launches (confirm.json): {BOTH}\n"
    confirming = trial.of(two, path)
    assert confirming is not None and dict(confirming.fixed) == {}
    assert [row[0] for row in rows(results)] == [*one.labels, *two.labels, *confirming.labels]

    confirmed(results, confirming, SPEED, SHORT.sizes, start=START + timedelta(hours=2))
    told = a2a("screen", results, "--confirm").out
    assert told.startswith("all 32 launches of the confirmation (confirm.json) are there: ")
    a2a("screen", results, "--confirm", "--budget", "1h").refused("--budget: give --seconds, too")
    a2a("screen", results, "--seed", "3").refused("--seed with files")
    made = folder.judged(loading.load([*results.glob("*.h5")]))
    said = "\n".join(outcome.lines(made))
    assert said.startswith("round 1: screening of psm2")
    assert "PSM2_RCVTHREAD=0 dominates, +" in said
    assert "it is set in all launches of the next round" in said
    assert "  export PSM2_RCVTHREAD=0 PSM2_TID=0" in said
    assert "of no plan or another one" not in said
    document = json.loads(outcome_json.as_json(made))
    assert [one["dominant"] for one in document["rounds"]] == [{"PSM2_RCVTHREAD": "0"}]
    assert document["confirmation"]["recommended"] == {"PSM2_RCVTHREAD": "0", "PSM2_TID": "0"}


def test_nothing_follows_while_launches_of_the_round_are_still_to_come(
    a2a: A2A, tmp_path: Path
) -> None:
    """What comes next is planned once, from all of them, but for those that failed."""
    made = first_plan()
    results = begun(tmp_path, lost=[25, 26, 27])
    lines = ["# kind\tscreen", "# job\t7", "launch\tnodes\tppn\tsubset\tsettings\tfile"]
    lines += [f"{i:03}\t2\t2\t-\t-\t{label}.h5" for i, label in enumerate(made.labels, 1)]
    (results / "plan-7.tsv").write_text("\n".join(lines) + "\n")
    (results / "log-7.tsv").write_text("launch\tstarted\tended\tstatus\treason\n")
    studies.log(results, "7", 26, "205", "it failed")
    before = sorted(results.iterdir())
    told = a2a("screen", results, "--confirm").out
    assert told == (
        "screening (screen.json): 2 of its 28 launches are still to come; 'a2a screen' without "
        "--confirm shows what those say that are there\n"
    )
    assert sorted(results.iterdir()) == before
    for number in (27, 28):
        studies.log(results, "7", number, "-", "the node-hours are used up")
    assert a2a("screen", results, "--confirm").out.startswith("round 2 (screen-2.json): ")


def test_what_there_is_no_time_for_is_not_screened_again(a2a: A2A, tmp_path: Path) -> None:
    results = begun(tmp_path)
    told = a2a("screen", results, "--confirm", "--budget", "40min", "--seconds", "60").out
    assert told.startswith("not screened again: 5 settings with the confirmation of one take 44 ")
    assert "to be confirmed by 32 launches (confirm.json)" in told
    assert not (results / "screen-2.json").exists()


def test_a_round_that_follows_another_plan_is_none_of_it(tmp_path: Path) -> None:
    made = first_plan()
    (tmp_path / "screen.json").write_text(made.as_json())
    other = replace(made, follows="00000000")
    (tmp_path / "screen-2.json").write_text(other.as_json())
    assert [one.id for one in rounds.read(tmp_path / "screen.json")] == [made.id]
    (tmp_path / "screen-2.json").write_text("{}")
    with pytest.raises(InputError, match="not a plan"):
        rounds.read(tmp_path / "screen.json")
