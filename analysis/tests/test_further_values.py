# SPDX-License-Identifier: BSD-3-Clause
"""Further values of settings, one at a time beside the best so far: `a2a screen --confirm`."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading
from a2aperf.errors import InputError
from a2aperf.screening import (
    design,
    failures,
    folder,
    further,
    outcome,
    outcome_json,
    plan,
    planned,
    section,
    trial,
)
from a2aperf.screening.costing import Cost
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial
from a2aperf.studies import screened
from a2aperf.studies.study import Fate, Job, Launch, Logged
from conftest import Outcome
from support.synthetic_screening import SETUP, START, confirmed, launched

pytestmark = pytest.mark.slow

A2A = Callable[..., Outcome]
SHORT = replace(SETUP, sizes=(1000, 20000), ops=10)
NOT_TRIED = "further values that were not tried, and have no verdict"
SPEED = {"A=1": 0.08, "A=2": 0.16, "A=3": -0.1, "B=9": 0.1}


def screening() -> Plan:
    """A matters, and has a better value; B does only at a further value."""
    factors = (
        Factor("A", "1", others=("2", "3")),
        Factor("B", "1", others=("9",)),
        *(Factor(f"A2APERF_DUMMY_{i}", "1") for i in range(3)),
    )
    return Plan("psm2", 5, factors, design.make(len(factors), np.random.default_rng(5)))


@pytest.fixture(scope="module")
def round_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose only round is made."""
    where = tmp_path_factory.mktemp("round")
    made = screening()
    (where / "given.json").write_text(made.as_json())
    screened.prepare(str(where / "given.json"), where / "results", None)
    launched(where / "results", made, SPEED, setup=SHORT)
    return where


@pytest.fixture
def results(round_of: Path, tmp_path: Path) -> Path:
    """The same, to be gone on with."""
    shutil.copytree(round_of, tmp_path / "study")
    return tmp_path / "study" / "results"


def rows(where: Path) -> list[list[str]]:
    return [line.split("\t") for line in (where / screened.ROWS).read_text().splitlines()]


def values_of(where: Path) -> Trial:
    made = trial.values_of(screening(), where / plan.NAME)
    assert made
    return made


# Plans --------------------------------------------------------------------------------------------


def test_one_value_is_tried_in_turn_with_the_line() -> None:
    made = further.make(screening(), {"A": "1"}, [{"A": "2"}])
    assert re.fullmatch("(ABBA|BAAB){4}", "".join("AB"[side] for side in made.order))
    assert made.environment(made.order.index(0)) == {"A": "1"}
    assert made.environment(made.order.index(1)) == {"A": "2"}


def test_each_block_has_the_line_and_some_of_the_values() -> None:
    values = [{"A": str(i)} for i in range(2, 9)]
    made = further.make(screening(), {"A": "1", "B": "1"}, values)
    assert made.launches == trial.launches_for_values(7) == 8 * 10
    blocks = [[made.order[i] for i in range(80) if made.block(i) == b] for b in range(24)]
    assert all(block.count(0) == 1 and len(set(block)) == len(block) <= 4 for block in blocks)
    assert Counter(made.order) == {0: 24, **dict.fromkeys(range(1, 8), 8)}
    assert len({tuple(sorted(block)) for block in blocks}) > 3
    assert made.environment(made.order.index(3)) == {"A": "4", "B": "1"}


def test_they_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = further.make(screening(), {"A": "1"}, [{"A": "2"}, {"B": "9"}])
    path = tmp_path / trial.VALUES_NAME
    path.write_text(made.as_json())
    assert values_of(tmp_path) == made
    assert trial.of(screening(), tmp_path / plan.NAME) is None
    path.write_text(made.as_json().replace('"B": "9"', '"B": "8"'))
    with pytest.raises(InputError, match="was changed after it was written"):
        values_of(tmp_path)
    path.write_text(made.as_json().replace(trial.VALUES_SCHEMA, trial.SCHEMA))
    with pytest.raises(InputError, match="not a plan"):
        values_of(tmp_path)


def test_the_dry_run_shows_them_and_what_they_cost() -> None:
    told = "\n".join(planned.lines(screening(), 0.02, Cost(60.0)))
    assert "confirmation: 16 launches for one, 32 launches for all 3, 16 min to 32 min;" in told
    assert re.search(r"1  A=1 +- +2, 3 +-", told)
    without = "\n".join(planned.lines(screening(), 0.02, Cost(60.0, confirms=False)))
    assert "further values of settings" not in without


# A study ------------------------------------------------------------------------------------------


def test_the_best_of_all_values_is_confirmed_and_recommended(a2a: A2A, results: Path) -> None:
    told = a2a("screen", results, "--confirm", "--budget", "10h", "--seconds", "60").out
    line = (
        "further values (values.json), 32 launches in turn with the best so far, A=1: "
        "A=2, A=3 and B=9\n"
    )
    assert told == line
    assert a2a("screen", results, "--confirm").out == line  # planned once
    made = values_of(results)
    new = rows(results)[28:]
    assert [row[0] for row in new] == made.labels
    assert Counter(row[3] for row in new) == {"-": 8, "value-1": 8, "value-2": 8, "value-3": 8}
    screened.prepare(str(results.parent / "given.json"), results, None)
    assert rows(results)[28:] == new
    assert "further values: no verdict: no file is of this plan" in a2a("screen", results).out

    confirmed(results, made, SPEED, SHORT.sizes)
    told = a2a("screen", results, "--confirm").out
    assert told == "to be confirmed by 32 launches (confirm.json): A=2 and B=9\n"
    last = trial.of(screening(), results / plan.NAME)
    assert last is not None
    assert [row[0] for row in rows(results)[28:]] == [*made.labels, *last.labels]
    assert len({row[2] for row in rows(results)}) == 7 + 8 + 8
    confirmed(results, last, SPEED, SHORT.sizes, start=START + timedelta(hours=2))
    found = folder.judged(loading.load([*results.glob("*.h5")]))
    said = "\n".join(outcome.lines(found))
    assert "further values: 8 new launches of each, against the best so far, A=1; 98 %" in said
    assert re.search(r"^A=2: faster at 2 of 2 sizes, by .*; it takes the place of 1$", said, re.M)
    assert re.search(r"^A=3: slower at 2 of 2 sizes, by [^;]*$", said, re.M)
    assert re.search(r"^B=9: faster at 2 of 2 sizes, by .*; it comes into the line$", said, re.M)
    assert said.endswith("  export A=2 B=9")
    assert "further values to try" not in said and "left out" not in said
    assert "not tried" not in said
    assert not json.loads(outcome_json.as_json(found))["values_not_tried"]
    document = json.loads(outcome_json.as_json(found))["further_values"]
    assert (document["line"], document["better"]) == ({"A": "1"}, {"A": "2", "B": "9"})
    for one, truth in zip(document["values"], (1.16 / 1.08, 0.9 / 1.08, 1.1), strict=True):
        assert all(cell["low"] < truth - 1 < cell["high"] for cell in one["cells"])


def test_what_has_no_room_is_told(a2a: A2A, results: Path) -> None:
    """With the confirmation of two settings one value takes 48 launches, two take 56."""
    told = a2a("screen", results, "--confirm", "--budget", "47min", "--seconds", "60").out
    assert told.startswith("further values that do not fit into the time: A=2 and A=3\nto be conf")
    (results / trial.NAME).unlink()
    told = a2a("screen", results, "--confirm", "--budget", "50min", "--seconds", "60").out
    assert told == (
        "further values that do not fit into the time: A=3\n"
        "further values (values.json), 16 launches in turn with the best so far, A=1: A=2\n"
    )


def test_without_a_limit_those_of_settings_that_mattered(a2a: A2A, results: Path) -> None:
    told = a2a("screen", results, "--confirm").out
    assert told == (
        "further values (values.json), 24 launches in turn with the best so far, A=1: A=2 and A=3\n"
    )
    confirmed(results, values_of(results), SPEED, SHORT.sizes)
    said = a2a("screen", results)
    assert said.status == 0, said
    assert said.out.count(NOT_TRIED) == 1
    assert f"{NOT_TRIED}: B=9\n" in said.out
    made = folder.judged(loading.load([*results.glob("*.h5")]))
    assert json.loads(outcome_json.as_json(made))["values_not_tried"] == {"B": ["9"]}


def test_what_was_not_tried_is_told_once(results: Path) -> None:
    """Those of a setting that matters among what may be tried, the others by themselves."""
    results_of = loading.load([*results.glob("*.h5")])
    found = folder.judged(results_of)
    said = "\n".join(outcome.lines(found))
    assert "A: further values to try: 2, 3\n" in said
    assert f"{NOT_TRIED}: B=9" in said
    document = json.loads(outcome_json.as_json(found))
    assert document["values_not_tried"] == {"A": ["2", "3"], "B": ["9"]}
    page = section.of(results_of, [])
    assert page is not None
    assert f"{NOT_TRIED}: B=9" in page.notes


def test_a_value_with_which_launches_fail_has_no_verdict(a2a: A2A, results: Path) -> None:
    a2a("screen", results, "--confirm")
    made = values_of(results)
    failed = [i for i, side in enumerate(made.order) if side == 1][2:]
    confirmed(results, made, SPEED, SHORT.sizes, lost=failed)
    assert a2a("screen", results, "--confirm").out.startswith(
        "to be confirmed by 16 launches (confirm.json): A=1"
    )
    said = a2a("screen", results).out
    assert "A=2: no verdict: 2 launches of 8 count" in said
    assert "A=3: slower at 2 of 2 sizes" in said
    assert "6 of 24 launches of further values are missing" in said


def test_where_no_value_has_launches_enough(a2a: A2A, results: Path) -> None:
    """What the rounds left is confirmed all the same."""
    a2a("screen", results, "--confirm")
    made = values_of(results)
    failed = [i for i, side in enumerate(made.order) if side != 0]
    confirmed(results, made, SPEED, SHORT.sizes, lost=failed)
    assert (
        a2a("screen", results, "--confirm").out
        == "to be confirmed by 16 launches (confirm.json): A=1\n"
    )
    said = a2a("screen", results)
    assert said.status == 0, said
    assert "A=2: no verdict: 0 launches of 8 count" in said.out


def test_what_was_confirmed_before_all_was_there(a2a: A2A, results: Path) -> None:
    a2a("screen", results, "--confirm")
    made = values_of(results)
    late = [i for i, side in enumerate(made.order) if side == 1]
    confirmed(results, made, SPEED, SHORT.sizes, lost=late)
    a2a("screen", results, "--confirm")
    confirmed(results, made, SPEED, SHORT.sizes)
    said = a2a("screen", results).out
    assert "the best line known by now is A=2: it is not what was confirmed" in said


def launch_of(folder: Path, fate: Fate) -> Launch:
    """One of a plan, of which this became."""
    file = folder / f"{fate.name}.h5"
    if fate in (Fate.GOOD, Fate.STARTED):
        file.write_bytes(bytes(64))
    has_end = fate in (Fate.GOOD, Fate.FAILED)
    last = Logged(None, None, int(fate is Fate.FAILED), "it was") if has_end else None
    return Launch("1", 1, 2, "-", (), file, last)


def test_launches_that_are_still_to_come(tmp_path: Path) -> None:
    """Those that failed are not; where no log has them, nobody knows."""
    made = further.make(screening(), {}, [{"A": "2"}])
    first = 28
    fates = [Fate.GOOD] * first + [Fate.GOOD] * 3 + [Fate.FAILED, Fate.STARTED]
    fates += [Fate.WAITING] * (made.launches - 5)
    job = Job("1", tmp_path, {"kind": "screen"}, [launch_of(tmp_path, one) for one in fates], [])
    there = made.labels[:3]
    assert failures.to_come(made.labels, [job], first, there) == made.launches - 4
    assert failures.to_come(made.labels, [], first, there) == 0
