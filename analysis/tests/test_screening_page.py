# SPDX-License-Identifier: BSD-3-Clause
"""What a screening comes to on a page and in pictures, and with which settings launches fail."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading, plots
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.screening import catalogue, choosing, failures, folder, outcome, pareto, plan, trial
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.pareto import Tradeoff
from a2aperf.screening.plan import Plan
from a2aperf.studies import screened
from a2aperf.studies.study import Job, Launch, Logged
from conftest import Outcome
from support.synthetic_screening import SETUP, confirmed, launched

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
SIZES = (1000, 8000, 60000)
TRIED = ("PSM2_RCVTHREAD", "PSM2_TID", *(f"A2APERF_DUMMY_{i}=1" for i in range(5)))
CHANGES = {"PSM2_RCVTHREAD": 0.12, "PSM2_TID": -0.08}


def screening() -> Plan:
    return choosing.make(catalogue.of("psm2"), Wanted("psm2", TRIED), 5)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A screening with its confirmation: one setting is faster, one slower, five do nothing."""
    where = tmp_path_factory.mktemp("screening")
    made = screening()
    launched(where, made, CHANGES, setup=replace(SETUP, sizes=SIZES))
    (where / plan.NAME).write_text(made.as_json())
    left = outcome.judge(loading.load([*where.glob("*.h5")]), made).candidates
    confirming = trial.make(made, left)
    assert confirming
    screened.add(where / plan.NAME, [made], confirming)
    confirmed(where, confirming, CHANGES, SIZES)
    return where


def page(a2a: A2A, results: Path, out: Path) -> str:
    made = a2a("report", results, "-o", out)
    assert made.status == 0, made
    text = out.read_text(encoding="utf-8")
    return re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)


def test_the_report_has_what_a_screening_comes_to(a2a: A2A, whole: Path, tmp_path: Path) -> None:
    text = page(a2a, whole, tmp_path / "page.html")
    assert "<pre>export PSM2_RCVTHREAD=0</pre>" in text
    assert re.search(r"recommended: faster at 3 of 3 sizes, by [\d.]+ % to [\d.]+ %, up to", text)
    table = text[text.index('<table id="screening-effects"') :].partition("</table>")[0]
    rows = re.findall(r"<tr><td class=.word.>([A-Z0-9_]+)=.*?</tr>", table)
    names = screening().names
    assert {name: rows.count(name) for name in names} == dict.fromkeys(
        names, len(rows) / len(names)
    )
    assert rows[0] == "PSM2_RCVTHREAD"
    assert text.count("not beyond chance; excluded is a change beyond ±") == len(rows) * 5 / 7
    assert "without effect" not in text
    assert 'data-chart="screening-effects-0"' in text
    assert 'data-chart="screening-pareto-0"' in text
    # Launches with half of the settings each say nothing of the machine.
    assert "A2APERF_DUMMY_0=1" not in text[: text.index('id="screening"')]
    assert 'id="comparison"' not in text


def test_where_nothing_matters_there_is_no_line(a2a: A2A, tmp_path: Path) -> None:
    made = screening()
    results = tmp_path / "results"
    launched(results, made, {}, setup=replace(SETUP, sizes=SIZES))
    (results / plan.NAME).write_text(made.as_json())
    text = page(a2a, results, tmp_path / "page.html")
    assert "No setting is beyond chance" in text
    assert "export" not in text
    found = loading.load([*results.glob("*.h5")])
    assert pareto.front(pareto.tradeoffs(folder.judged(found))) == [pareto.NOTHING]


def test_a_folder_without_its_plan_has_no_section(a2a: A2A, whole: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.h5"
    one.write_bytes(next(whole.glob("*.h5")).read_bytes())
    assert 'id="screening"' not in page(a2a, one, tmp_path / "page.html")
    refused = a2a("plot", "effects", one, "-o", tmp_path / "x.svg")
    assert refused.status == 2
    assert "screen.json beside the results" in refused.err
    with pytest.raises(InputError, match="no launch of a screening"):
        folder.judged(replace(loading.load([one]), launches={}))


def test_the_pictures(a2a: A2A, whole: Path, tmp_path: Path) -> None:
    for kind in ("effects", "pareto"):
        assert a2a("plot", kind, whole, "-o", tmp_path / f"{kind}.svg").status == 0
    found = loading.load([*whole.glob("*.h5")])
    (effects,) = plots.made("effects", found, Options()).charts
    filled = {name for x in effects.curves if x.form == "points" for name in x.hover}
    assert filled == {"PSM2_RCVTHREAD=0", "PSM2_TID=0"}
    assert next(text for _, text in effects.x.ticks) == "PSM2_RCVTHREAD=0"
    made = plots.made("pareto", found, Options())
    mark = made.charts[0].curves[0]
    assert (mark.name, mark.form) == ("PSM2_RCVTHREAD=0 (recommended)", "points")
    assert mark.low is not None
    assert mark.high is not None
    assert 0 < mark.x[0] <= mark.y[0] < 20
    assert mark.low[0] < 12 < mark.high[0]


def test_the_front_has_what_no_other_one_exceeds() -> None:
    def place(name: str, gain: float, least: float, is_sure: bool = True) -> Tradeoff:
        return Tradeoff(name, gain, gain - 0.01, gain + 0.01, least, "1 kB", is_sure)

    good, bold = place("good", 0.1, 0.05), place("bold", 0.3, -0.2)
    worse = place("worse", 0.09, 0.04)
    chance = place("chance", 0.5, 0.06, is_sure=False)
    assert pareto.front([bold, worse, chance, good]) == [good, bold]
    assert pareto.front([bold]) == [pareto.NOTHING, bold]


# Launches that failed ----------------------------------------------------------------------------


CRASHED = "signal 11 ended a rank"


def job(where: Path, made: Plan, failed: Sequence[int], because: str = CRASHED) -> Job:
    """As a study's folder has it."""
    where.mkdir(exist_ok=True)
    launches = []
    for row in range(made.design.launches):
        file = where / f"{row}.h5"
        file.write_bytes(bytes(64))
        status, why = (1, because) if row in failed else (0, "-")
        words = tuple(f"{name}={value}" for name, value in made.environment(row).items())
        launches.append(
            Launch(f"{row + 1:03}", 2, 1, "a,b", words, file, Logged(None, None, status, why))
        )
    return Job("run", where, {"kind": "screen"}, launches)


def test_a_setting_with_which_launches_fail_is_named(tmp_path: Path) -> None:
    made = screening()
    having = np.flatnonzero(made.design.levels[:, 0] > 0).tolist()
    first, *others = failures.sentences(made, [job(tmp_path / "a", made, having)])
    assert first == "12 of 28 launches failed: signal 11 ended a rank (exit status 1)"
    assert others == [
        "PSM2_RCVTHREAD=0: 12 of 12 launches with it failed, 0 of 16 without: significantly more "
        "often than expected"
    ]
    assert failures.sentences(made, [job(tmp_path / "b", made, [])]) == []
    ended = job(tmp_path / "d", made, having, "the time limit is near: stopped before its first op")
    assert failures.sentences(made, [ended]) == [], "the job stopped them"
    one = failures.sentences(made, [job(tmp_path / "c", made, having[:1])])
    assert one[1:] == ["no setting was in them significantly more often than expected"]


def test_none_is_named_where_launches_fail_by_chance() -> None:
    """Of 500 screenings in which each launch fails by chance in one of five, 5 % may name one."""
    made = screening()
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(500):
        failed = rng.random(made.design.launches) < 0.2
        wrong += any(
            failures.chance(len(failed), int(failed.sum()), int(x.sum()), int((failed & x).sum()))
            * len(made.factors)
            <= failures.LEVEL
            for x in (made.design.levels > 0).T
        )
    assert wrong <= 0.05 * 500 + 2 * math.sqrt(500 * 0.05 * 0.95)


def test_the_chance_of_a_table() -> None:
    assert failures.chance(8, 4, 4, 4) == pytest.approx(1 / 70)
    assert failures.chance(8, 4, 4, 0) == 1.0
