# SPDX-License-Identifier: BSD-3-Clause
"""a2a run: a study without Slurm, from its plan to its exit status."""

import ast
import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from launched_study import LaunchedStudy
from processes import PATIENCE, running_in, wait_until
from results import Results

ROOT = Path(__file__).resolve().parents[2]
CALM = ["--sync", "barrier", "--poll", "yield", "--no-sentinel"]
SHM = ["--provider", "shm", *CALM]
FEW = ["--ops", "5", "--warmup", "1"]
HARMLESS = "FI_SHM_TX_SIZE=512,1024"
LATE = "call=received do=late:{} count=1000000"  # test/faults: ms, of every message


class Study(LaunchedStudy):
    """A program in it whose second launch is in trouble while the file `trouble` is there."""

    def __init__(self, folder: Path, program: Path, a2a: Path) -> None:
        super().__init__("run", folder, folder / "a2aperf", a2a)
        self.trouble = folder / "trouble"
        library = program.parents[2] / "test/faults/libfault-fabric.so"
        assert library.is_file(), f"{library} is not built"
        self.program.write_text(
            "#!/usr/bin/env bash\n"
            f"if [[ $* == *-002.h5* && -e {self.trouble} ]]; then export A2APERF_TEST_FAULT=$(<{self.trouble}); fi\n"
            f"[[ ! ${{A2APERF_TEST_FAULT-}} ]] || export LD_PRELOAD={library}\n"
            f'exec {program} "$@"\n'
        )
        self.program.chmod(0o755)


@pytest.fixture
def study(program: Path, analysis: Path, tmp_path: Path) -> Study:
    return Study(tmp_path, program, analysis)


def test_the_looks_of_the_scripts_are_those_that_are_simulated():
    script = 'for i in "${!kLooks[@]}"; do echo "${kLooks[i]} ${kErrors[i]%\\%}"; done'
    told = subprocess.run(["bash", "-c", f". {ROOT}/jobs/lib/looks.sh; {script}"], capture_output=True, text=True, check=True)
    scripts = [(int(n), float(error) / 100) for n, error in map(str.split, told.stdout.splitlines())]
    text = (ROOT / "analysis/src/a2aperf/decision.py").read_text()
    (simulated,) = re.findall(r"^LOOKS: Final = (.*)$", text, re.M)
    assert scripts == [(n, pytest.approx(error)) for n, error in ast.literal_eval(simulated)]
    assert len(scripts) > 1


@pytest.mark.parametrize(("slow", "fast", "status"), [(0, 1, 0), (1, 0, 3)])
def test_a_variable_that_matters(study, slow, fast, status):
    """With one value every message comes 50 ms late. 8 a side: by chance alone a p as small comes once in 600."""
    values = {slow: LATE.format(50), fast: "call=none"}
    words = ["-n", "2", "--compare", f"A2APERF_TEST_FAULT={values[0]},{values[1]}", "--sizes", "1000", "--", *SHM, *FEW]
    outcome = study.run(*words)
    assert outcome.returncode == status, outcome.stderr
    letters = {f"A2APERF_TEST_FAULT={values[0]}": "A", f"A2APERF_TEST_FAULT={values[1]}": "B"}
    assert "".join(letters[row["settings"]] for row in study.plan()) == "ABBA" * 4
    for row in study.plan():
        environment = Results(study.results / row["file"]).segments[0].environment
        assert row["settings"] == f"A2APERF_TEST_FAULT={environment['A2APERF_TEST_FAULT']}"
    assert [row["status"] for row in study.log()] == ["0"] * 16
    assert f"{'slower' if status else 'faster'}: 1 of 1 cells" in outcome.stdout
    assert (study.results / "compare-run.txt").read_text() in outcome.stdout
    assert (study.results / "compare-run.svg").read_text().startswith("<?xml")
    assert (study.results / "report-run.html").is_file()
    # Nobody looks on: only what is at the end is told.
    assert "launch 1 of 16" not in outcome.stderr
    told = study.status()
    assert told.returncode == 0
    assert "16 of 16 launches good; complete" in told.stdout
    # Again: nothing is missing, and the answer is the same.
    again = study.run(*words)
    assert again.returncode == status, again.stderr
    assert len(study.log()) == 16


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


def test_an_option_over_tcp(study):
    """Two launches a side decide nothing."""
    outcome = study.run(
        "-n", "2", "--compare=--window=1,all", "--launches", "2", "--sizes", "1000", "--", "--provider", "tcp", *CALM,
        "--ops", "5",
    )  # fmt: skip
    assert outcome.returncode == 4, outcome.stderr
    assert [row["settings"] for row in study.plan()] == ["--window=1", "--window=all", "--window=all", "--window=1"]
    windows = [Results(study.results / row["file"]).columns["window"].tolist() for row in study.plan()]
    assert windows[0] == windows[3] != windows[1] == windows[2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_and_gone_on_with(study, number):
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000,2000", "--", *SHM, "--ops", "100"]
    study.trouble.write_text(LATE.format(300))
    process = study.start(*words)
    second = study.results / "compare-run-n1-s2-002.h5"
    assert wait_until(lambda: second.exists() or process.poll() is not None, PATIENCE)
    told = study.status()
    assert told.returncode == 0, told.stdout
    assert "1 of 4 launches good; running; launch 002: 0 of 2 points" in told.stdout
    other = study.run(*words)
    assert other.returncode == 2
    assert other.stderr.endswith(f"another run is at work in {study.results}: --results names another folder\n")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number, stderr
    assert "1 of 4 launches are good" in stderr
    assert stderr.endswith("stopped: the same command again goes on\n")
    assert running_in(study.folder) == []
    first, *rest = study.log()
    assert first["status"] == "0"
    name = number.name
    assert rest[0]["reason"] == f"the run was stopped by {name}: stopped at an op, what was complete is kept"
    assert {row["reason"] for row in rest[1:]} == {f"not begun: the run was stopped by {name}"}
    told = study.status()
    assert told.returncode == 1
    assert "1 of 4 launches good; ended: the same 'a2a run' makes what is missing" in told.stdout

    study.trouble.unlink()
    before = Path(study.results / study.plan()[0]["file"]).read_bytes()
    outcome = study.run(*words)
    assert outcome.returncode == 4, outcome.stderr
    assert Path(study.results / study.plan()[0]["file"]).read_bytes() == before
    assert [row["launch"] for row in study.log()[4:]] == ["002", "003", "004"]
    assert {row["status"] for row in study.log()[4:]} == {"0"}
    assert len(Results(second).segments) == 2
    assert study.status().returncode == 0


def test_a_launch_that_fails(study):
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000", "--", *SHM, "--ops", "5"]
    study.trouble.write_text("call=send do=kill nth=5 rank=1")
    outcome = study.run(*words)
    assert outcome.returncode == 1, outcome.stderr
    reason = study.log()[1]["reason"]
    assert reason.startswith("signal 9 (Killed) ended a rank on ")
    assert f"launch 2 failed: {reason}" in outcome.stderr
    assert [row["status"] == "0" for row in study.log()] == [True, False, True, True]
    assert "undecided: 1 of 1 cells" in outcome.stdout
    told = study.status()
    assert told.returncode == 1
    assert "3 of 4 launches good" in told.stdout
    assert reason in told.stdout
    study.trouble.unlink()
    assert study.run(*words).returncode == 4
    assert study.status().returncode == 0


def test_hosts(study):
    """Two hosts of a file: UTS namespaces, into which the launcher's daemons are put."""
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True).returncode:
        pytest.skip("no host names can be made here")
    agent = study.folder / "agent"
    agent.write_text(
        "#!/usr/bin/env bash\n"
        """exec unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$1" "${*:2}"\n"""
    )
    agent.chmod(0o755)
    (study.folder / "hosts").write_text("# both\nh1 slots=1\nh2 slots=3  # more than is asked of it\n")
    words = ["-n", "2", "--hostfile", "hosts", "--compare=--window=1,all", "--launches", "2", "--sizes", "1000"]
    words += ["--", "--provider", "tcp", *CALM, "--ops", "3"]
    remote = {"OMPI_MCA_plm_rsh_agent": str(agent)}
    outcome = study.run(*words, env=remote)
    assert outcome.returncode == 4, outcome.stderr
    assert {(row["nodes"], row["ppn"], row["subset"]) for row in study.plan()} == {("2", "1", "h1,h2")}
    assert {line.split("\t")[0] for line in (study.results / "nodes-run.txt").read_text().splitlines()} == {"h1", "h2"}
    # With the launches on other hosts it would be another comparison.
    (study.folder / "hosts").write_text("h1\nh3\n")
    other = study.run(*words, env=remote)
    assert other.returncode == 2
    assert "has launches on h1,h2, and this run is on h1,h3" in other.stderr


GOOD = ["-n", "2", "--compare", HARMLESS]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "1", "--compare", HARMLESS], "greater than or equal to 2"),
        (["-n", "2", "--compare", "FI_SHM_TX_SIZE"], "--compare FI_SHM_TX_SIZE: expected a variable or an option"),
        (["-n", "2", "--compare", "1A=2,3"], "'1A' is neither a variable nor an option of a2aperf"),
        (["-n", "2", "--compare", "A=1"], "A=1: expected two or more different values, such as A=0,1"),
        (["-n", "2", "--compare", "A=1,1"], "A=1,1: expected two or more different values"),
        ([*GOOD, "--launches", "1"], "greater than or equal to 2"),
        ([*GOOD, "--until-decided", "--launches", "8"], "--until-decided: with --compare, and without --launches"),
        ([*GOOD, "--hostfile", "none"], "--hostfile none: no such file that can be read"),
        ([*GOOD, "--hostfile", "empty"], "--hostfile empty: there is no host in it"),
        ([*GOOD, "--hostfile", "odd"], "odd, line 2: 'slots=many': expected a line such as 'node1 slots=4'"),
        (["-n", "3", "--compare", HARMLESS, "--hostfile", "two"], "--ranks 3: the 2 hosts of two have equally many ranks"),
        (["-n", "4", "--compare", HARMLESS, "--hostfile", "two"], "--ranks 4: not enough slots: b has 1 of them in two"),
        ([*GOOD, "--program", "nowhere"], "nowhere cannot be run"),
        ([*GOOD, "--sizes", "many"], "--sizes"),
        ([*GOOD, "--", "--odd"], "--odd"),
        ([*GOOD, "--", "-o", "a.h5"], "the job sets -o itself"),
    ],
)
def test_bad_input(study, words, said):
    for name, text in {"empty": "# nobody\n", "odd": "a\nb slots=many\n", "two": "a slots=2\nb slots=1\n"}.items():
        (study.folder / name).write_text(text)
    before = sorted(study.folder.iterdir())
    outcome = study.run(*words)
    assert outcome.returncode == 2, outcome.stderr
    assert said in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert sorted(study.folder.iterdir()) == before


def test_no_program(study):
    """Neither beside the scripts nor in PATH."""
    jobs = study.folder / "jobs"
    shutil.copytree(ROOT / "jobs", jobs)
    outcome = subprocess.run(
        [study.a2a, "run", *GOOD], cwd=study.folder, env=study.environment | {"A2APERF_JOBS": str(jobs)},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("a2a: a2aperf is not found")


def test_the_folder_of_another_plan(study):
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000", "--", *SHM, "--ops", "3"]
    assert study.run(*words).returncode == 4
    before = {file: file.stat().st_mtime_ns for file in study.results.rglob("*.*") if file.is_file()}
    outcome = study.run(*words, "--seed", "4")  # an option of the program: another plan all the same
    assert outcome.returncode == 2
    assert f"{study.results} has the plan of another run (FI_SHM_TX_SIZE=512" in outcome.stderr
    assert {file: file.stat().st_mtime_ns for file in study.results.rglob("*.*") if file.is_file()} == before


def make_plan(study: Study, *words: str) -> Path:
    """A plan over shm of a variable without which every message comes 20 ms late, and of one that means nothing."""
    text = study.program.read_text()
    line = f"[[ ${{A2APERF_QUICK-}} ]] || export A2APERF_TEST_FAULT='{LATE.format(20)}'\n"
    if line not in text:
        study.program.write_text(text.replace("\n", "\n" + line, 1))
    tried = ["--try", "A2APERF_QUICK=1", "--try", "A2APERF_DUMMY=1"]
    made = subprocess.run(
        [study.a2a, "screen", "--provider", "shm", *tried, *words, "-o", "plan.json"],
        cwd=study.folder, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return study.folder / "plan.json"


def planned(file: Path) -> list[dict]:
    return json.loads(file.read_text())["launches"]


def test_only_what_this_libfabric_knows_is_screened(study, program):
    listed = subprocess.run([program, "providers", "--variables"], capture_output=True, text=True, check=True).stdout
    known = re.findall(r"^  (FI_SHM_\w+) ", listed, re.M)
    assert "FI_SHM_TX_SIZE" in known
    outcome = study.run("-n", "2", "--screen", "shm", "--dry-run", "--sizes", "1000")
    assert outcome.returncode == 0, outcome.stderr
    left_out = re.findall(r"^not in this round: (FI_SHM_\w+): the libfabric of this machine does not know it$", outcome.stdout, re.M)
    planned_names = set(re.findall(r"FI_SHM_\w+", outcome.stdout)) - set(re.findall(r"^not in this round: (\w+)", outcome.stdout, re.M))
    assert planned_names and planned_names <= set(known)
    assert not set(left_out) & set(known)


@pytest.mark.slow
def test_a_screening_confirms_the_setting_that_matters(study):
    """Stopped during the confirmation, and gone on with."""
    make_plan(study, "--seed", "5")
    words = ["-n", "2", "--screen", "plan.json", "--sizes", "1000", "--", *CALM, *FEW]
    # What is set around it is set in no launch but those that the plan sets it in.
    study.environment["A2APERF_DUMMY"] = "1"
    process = study.start(*words)
    confirm = study.results / "confirm.json"
    last = study.results / "screen-run-n1-s29-029.h5"
    assert wait_until(lambda: last.exists() or process.poll() is not None, 4 * PATIENCE)
    process.terminate()
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM, stderr
    assert "to be confirmed by" in stderr and "A2APERF_QUICK=1" in stderr
    before = confirm.read_text()

    outcome = study.run(*words)
    assert outcome.returncode == 0, outcome.stderr
    assert confirm.read_text() == before
    first, second = planned(study.results / "screen.json"), planned(confirm)
    # The one that means nothing is left as well once in 25 times.
    assert len(first) == 28 and len(second) in (16, 32)
    assert len(study.plan()) == len(first) + len(second)
    for row, launch in zip(study.plan(), first + second, strict=True):
        segment = Results(study.results / row["file"]).segments[0]
        names = ("A2APERF_QUICK", "A2APERF_DUMMY")
        assert {k: segment.environment[k] for k in names if segment.environment.get(k)} == launch["environment"]
        assert segment.labels["screen"] == launch["label"]
    assert "A2APERF_QUICK=1" in outcome.stdout.partition("beyond chance")[2].partition("tried without effect")[0]
    assert "  export A2APERF_QUICK=1" in outcome.stdout.partition("recommended: faster")[2]
    assert (study.results / "screen-run.txt").read_text() == outcome.stdout
    assert (study.results / "screen-run.svg").read_text().startswith("<?xml")
    assert "<pre>export A2APERF_QUICK=1" in (study.results / "report-run.html").read_text()
    count = len(first) + len(second)
    assert f"{count} of {count} launches good; complete" in study.status().stdout
    # Again: nothing is missing.
    log = study.log()
    assert study.run(*words).returncode == 0
    assert study.log() == log
    make_plan(study, "--seed", "6")
    other = study.run(*words)
    assert (other.returncode, study.log()) == (2, log)
    assert "results has the plan of another screening" in other.stderr


@pytest.mark.slow
def test_a_screening_that_is_not_confirmed(study):
    make_plan(study, "--seed", "5")
    words = ["-n", "2", "--screen", "plan.json", "--no-confirm", "--sizes", "1000", "--", *CALM, "--ops", "3", "--warmup", "1"]
    outcome = study.run(*words)
    assert outcome.returncode == 0, outcome.stderr
    assert len(study.plan()) == 28
    assert "candidate, to be confirmed by launches of its own" in outcome.stdout
    assert not (study.results / "confirm.json").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "give --compare KEY=V1,V2 or --screen PROVIDER, one of them"),
        (["--screen", "shm", "--compare", HARMLESS], "one of them"),
        (["--screen", "shm", "--launches", "8"], "--launches: the plan of a screening says how many"),
        (["--compare", HARMLESS, "--no-confirm"], "--no-confirm: only a screening is confirmed"),
        (["--screen", "shn"], "did you mean shm?"),
        (["--screen", "shm", "--minutes", "1"], "the smallest design has 44 launches, "),
        (["--screen", "shm", "--minutes", "1", "--node-hours", "1"], "--minutes or --node-hours: choose one"),
        (["--compare", HARMLESS, "--minutes", "1"], "--minutes: with --screen"),
        (["--screen", "none.json"], "none.json: not a plan: No such file"),
        (["--screen", "shm", "--hostfile", "none"], "--hostfile none: no such file"),
        (["--screen", "shm", "--", "--sizes", "x"], "size 'x' does not start with a number"),
    ],
)
def test_a_screening_that_cannot_be(study, words, why):
    outcome = study.run("-n", "2", *words)
    assert outcome.returncode == 2, outcome.stderr
    assert why in outcome.stderr
    assert not study.results.exists()
