# SPDX-License-Identifier: BSD-3-Clause
"""compare.sbatch: it finds the difference that is there, and none that is not."""

import json
import subprocess

import pytest
from study import BRIEF
from results import COMPLETE, Results

# By chance alone a test below this p fails one time in 500; with eight launches a side p can be as small as 0.0016.
CHANCE = 0.002


def verdicts(analysis, study, id: str, by: str) -> list[dict]:
    """The cells of the one comparison."""
    outcome = subprocess.run(
        [analysis, "compare", *study.files(id), "--by", by, "--json"], capture_output=True, text=True
    )
    (made,) = json.loads(outcome.stdout)
    return made["cells"]


def sides(study, id: str) -> str:
    """The order of the settings, as letters."""
    rows = study.plan(id)
    letters: dict[str, str] = {}
    return "".join(letters.setdefault(row["settings"], chr(ord("A") + len(letters))) for row in rows)


@pytest.mark.slow
def test_a_variable_that_matters(study, program, analysis):
    """With one value every message comes 100 ms late (test/faults), which shows whatever else the cores do."""
    library = program.parents[2] / "test/faults/libfault-fabric.so"
    assert library.is_file(), f"{library} is not built"
    delayed = study.folder / "a2aperf"
    delayed.write_text(f'#!/usr/bin/env bash\nexec env LD_PRELOAD={library} {program} "$@"\n')
    delayed.chmod(0o755)
    study.environment = {**study.environment, "A2APERF": str(delayed)}
    late = "call=received do=late:100 count=1000000"
    id = study.submit("compare.sbatch", f"A2APERF_TEST_FAULT={late},call=none", "--sizes", "60000",
                      "--", "--ops", "10", slurm=["-N", "2"])  # fmt: skip
    study.done(id)
    assert sides(study, id) == "ABBA" * 4
    for row in study.plan(id):
        environment = Results(study.results / row["file"]).segments[0].environment
        assert row["settings"] == f"A2APERF_TEST_FAULT={environment['A2APERF_TEST_FAULT']}"
    (cell,) = verdicts(analysis, study, id, "A2APERF_TEST_FAULT")
    assert cell["verdict"] == "faster"
    said = (study.results / f"compare-{id}.txt").read_text()
    assert "faster" in said and said in study.output(id)
    assert (study.results / f"report-{id}.html").is_file()
    assert (study.results / "merged" / f"compare-{id}.h5").is_file()


@pytest.mark.slow
def test_a_variable_that_does_not(study, analysis):
    """Buffers of shm are nothing to net."""
    id = study.submit("compare.sbatch", "FI_SHM_TX_SIZE=512,1024", "--sizes", "1000", "--", *BRIEF, slurm=["-N", "4"])
    study.done(id)
    assert len(study.files(id)) == 16
    (cell,) = verdicts(analysis, study, id, "FI_SHM_TX_SIZE")
    assert cell["p"] > CHANCE


@pytest.mark.slow
def test_the_receive_thread_without_an_adapter(study, analysis):
    """psm2 starts its receive thread on the adapter's path only: here nothing can differ."""
    adapter = study.cluster.folder / "opa1.adapter/hfi1_0"
    study.environment = {**study.environment, "HFI_SYSFS_PATH": str(adapter), "PSM2_DEVICES": "self,shm"}
    id = study.submit("compare.sbatch", "PSM2_RCVTHREAD=0,1", "--ppn", "2", "--sizes", "8000",
                      "--", "--provider", "psm2", "--ops", "100", slurm=["-p", "opa", "-N", "1"])  # fmt: skip
    study.done(id)
    assert sides(study, id) == "ABBA" * 4
    for row in study.plan(id):
        results = Results(study.results / row["file"])
        assert set(results.words("provider")) == {"psm2"}
        assert row["settings"] == f"PSM2_RCVTHREAD={results.segments[0].environment['PSM2_RCVTHREAD']}"
    (cell,) = verdicts(analysis, study, id, "PSM2_RCVTHREAD")
    assert cell["p"] > CHANCE
    assert "opa1\tcontexts\tok\t16 free, 2 needed" in (study.results / f"nodes-{id}.txt").read_text()


def test_values_stay_text_and_options_are_compared(study):
    value = "$(touch pwned);`touch pwned` 'a\"b"
    id = study.submit("compare.sbatch", f"X={value},plain", "--window=1,all", "--launches", "1", "--sizes", "1000",
                      "--", *BRIEF, slurm=["-N", "20"])  # fmt: skip
    study.done(id)
    seen = []
    for row in study.plan(id):
        results = Results(study.results / row["file"])
        assert results.states() == [COMPLETE]
        seen.append((results.segments[0].environment["X"], int(results.columns["window"][0])))
        spelled = value.replace(";", "\\;") if seen[-1][0] == value else "plain"
        assert row["settings"] == f"X={spelled};--window={'1' if seen[-1][1] == 1 else 'all'}"
    assert sorted(seen) == sorted([(value, 1), (value, 0), ("plain", 1), ("plain", 0)])
    assert not list(study.folder.rglob("pwned"))
    assert "X=" in (study.results / f"compare-{id}.txt").read_text()


@pytest.mark.parametrize(
    ("values", "apart"),
    [
        ("uniform,moe(experts=8,top=2)", ["uniform", "moe(experts=8,top=2)"]),
        ("a(1,b(2,3)),c", ["a(1,b(2,3))", "c"]),
        ("run(1.csv,moe(top=2,tokens=9)", ["run(1.csv", "moe(top=2,tokens=9)"]),
        ("a)b,c(", ["a)b", "c("]),
        ("a,", ["a", ""]),
    ],
)
def test_a_comma_in_parentheses_divides_nothing(script, values, apart):
    outcome = script("compare.sbatch", "--plan", "4", f"--traffic={values}", "--launches", "1")
    assert outcome.returncode == 0, outcome.stderr
    rows = [line.split("\t") for line in outcome.stdout.splitlines() if not line.startswith("#")]
    assert [row[4] for row in rows[1:]] == [f"--traffic={value}" for value in apart]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["PSM2_RCVTHREAD=0"], "expected two or more different values, such as PSM2_RCVTHREAD=0,1"),
        (["X=1,1"], "two or more different values"),
        (["X=1,2", "X=3,4"], "X is given twice"),
        (["1X=1,2"], "neither a variable nor an option"),
        ([], "no setting to compare"),
        (["X=1,2", "--ppn", "none"], "--ppn 'none': expected ranks per node, such as --ppn 2"),
        (["X=1,2", "--nodes", "9"], "--nodes 9: there are 4 to measure on"),
        (["X=1,2", "--frobnicate"], "unknown option '--frobnicate'"),
        (["X=1,2", "--seed"], "--seed needs a value"),
        (["X=1,2", "--", "-o", "mine.h5"], "--results chooses the folder"),
    ],
)
def test_bad_input_is_one_line(script, tmp_path, words, says):
    outcome = script("compare.sbatch", "--plan", "4", *words)
    assert outcome.returncode == 2
    assert says in outcome.stderr
    assert outcome.stderr.count("\n") == 1 and outcome.stdout == ""
    assert list(tmp_path.iterdir()) == []
