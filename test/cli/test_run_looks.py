# SPDX-License-Identifier: BSD-3-Clause
"""a2a run --until-decided: launches end at a look that was planned."""

import ast
import re
import subprocess
from pathlib import Path

import pytest
from run_study import HARMLESS, LATE, SHM

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def study(run_study):
    return run_study


def test_the_looks_of_the_scripts_are_those_that_are_simulated():
    script = 'for i in "${!kLooks[@]}"; do echo "${kLooks[i]} ${kErrors[i]%\\%}"; done'
    told = subprocess.run(["bash", "-c", f". {ROOT}/jobs/lib/looks.sh; {script}"], capture_output=True, text=True, check=True)
    scripts = [(int(n), float(error) / 100) for n, error in map(str.split, told.stdout.splitlines())]
    text = (ROOT / "analysis/src/a2aperf/decision.py").read_text()
    (simulated,) = re.findall(r"^LOOKS: Final = (.*)$", text, re.M)
    assert scripts == [(n, pytest.approx(error)) for n, error in ast.literal_eval(simulated)]
    assert len(scripts) > 1


@pytest.mark.slow
@pytest.mark.parametrize("setting", [f"A2APERF_TEST_FAULT={LATE.format(150)},{LATE.format(50)}", HARMLESS], ids=["late", "harmless"])
def test_launches_until_it_is_decided(study, setting):
    """Whatever the launches say, they end at a look that was planned, and at the first that decides."""
    words = ["-n", "2", "--compare", setting, "--until-decided", "--sizes", "1000", "--", *SHM, "--ops", "3", "--warmup", "0"]
    outcome = study.run(*words)
    assert outcome.returncode in (0, 3, 4), outcome.stderr
    assert [row["status"] for row in study.log()] == ["0"] * len(study.plan())
    looks = {16: (1, 8, "0.5"), 32: (2, 16, "1.5"), 64: (3, 32, "3")}
    number, launches, error = looks[len(study.plan())]
    assert f"look {number} of 3, at {launches} launches of each value: error {error} %\n" in outcome.stdout
    assert f"{error} % error" in outcome.stdout and f"{100 - float(error):g} % interval" in outcome.stdout
    assert re.search(rf"{100 - float(error):g}\s%\sinterval", (study.results / "compare-run.svg").read_text())
    said = [f"undecided at {count} launches of each value: on to {2 * count}" for count in (8, 16)]
    assert [line for line in outcome.stderr.splitlines() if line.startswith("undecided")] == said[: number - 1]
    assert number == 3 or "undecided: " not in outcome.stdout
    again = subprocess.run([study.a2a, "compare", study.results, "--by", setting.partition("=")[0]], capture_output=True, text=True)
    assert f"{100 - float(error):g} % interval" in again.stdout
    assert again.stdout.endswith("for which the launches of results are planned\n".replace("results", str(study.results)))
    if setting != HARMLESS:  # 64 launches are not judged twice
        again = study.run(*words)
        assert (again.returncode, again.stdout, len(study.log())) == (outcome.returncode, outcome.stdout, len(study.plan()))
